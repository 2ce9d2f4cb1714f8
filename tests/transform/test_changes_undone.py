"""What exists is changed around a computation, and changed back whichever way that ends.

    old = CONFIG["eps"]
    CONFIG["eps"] = x[0]
    try:
        y = norm(x)
    finally:
        CONFIG["eps"] = old

Derivatives pass through what is there meanwhile; afterwards, and where the body raises, everything is as Python has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, hvp, jvp, value_and_grad
from tests.oracle import numeric_gradient
from tests.sources import names_of

X, WAY = np.array([0.8, 0.5, 0.3]), np.array([0.6, -1.1, 0.4])
HEAD = """
import contextlib
import numpy as np

class Model:
    def __init__(self):
        self.gain = 1.5
        self.params = {"w": 2.0, "b": np.array([0.5, 0.25, 1.0])}
        self.layers = [1.25, 0.5]

class Holder:
    table = {"w": 2.0}

D = {"w": 2.0, "b": np.array([0.5, 0.25, 1.0])}
L = [2.0, 0.75]
M = Model()

@contextlib.contextmanager
def changed(value):
    old = PLACE
    PLACE = value
    try:
        yield PLACE
    finally:
        PLACE = old

class Changed:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        self.old = PLACE
        PLACE = self.value
        return self

    def __exit__(self, *args):
        PLACE = self.old

def read(x):
    return np.sum(x ** 2) * PLACE

def checked(x):
    if np.sum(x) > 10.0:
        raise ValueError(x)
    return np.sum(np.tanh(x)) + PLACE ** 2
"""
#: What is changed, which is a number.
PLACES = {
    "item": 'D["w"]',
    "item of a list": "L[1]",
    "attribute": "M.gain",
    "item of an attribute": 'M.params["w"]',
    "item of a list of an object": "M.layers[0]",
    "item of a class": 'Holder.table["w"]',
}
#: How it is changed and changed back; VALUE is what it is meanwhile.
WAYS = {
    "finally": """
old = PLACE
PLACE = VALUE
try:
    y = read(x) + checked(x)
finally:
    PLACE = old
return y * PLACE
""",
    "returned": """
old = PLACE
PLACE = VALUE
try:
    return read(x) * checked(x)
finally:
    PLACE = old
""",
    "changed inside": """
y = x[0]
old = PLACE
try:
    PLACE = VALUE
    y = y + read(x)
    PLACE = PLACE * 2.0
    y = y * checked(x)
finally:
    PLACE = old
return y + PLACE
""",
    "reckoned back": """
PLACE += VALUE
try:
    y = read(x) + checked(x)
finally:
    PLACE -= VALUE
return y * PLACE
""",
    "handler": """
old = PLACE
PLACE = VALUE
try:
    y = read(x) + checked(x)
except ValueError:
    PLACE = old
    raise
PLACE = old
return y * PLACE
""",
    "other way": """
old = PLACE
PLACE = VALUE
try:
    y = read(x) * checked(x)
except ValueError:
    y = x[1] * PLACE
finally:
    PLACE = old
return y + PLACE * x[0]
""",
    "generator": """
with changed(VALUE):
    y = read(x) + checked(x)
return y * PLACE
""",
    "generator returned": """
with changed(VALUE) as v:
    return read(x) * checked(x) + v
""",
    "generator twice": """
with changed(VALUE):
    y = read(x)
    with changed(x[1]) as v:
        y = y + v * checked(x)
    y = y * PLACE
return y + PLACE
""",
    "class": """
with Changed(VALUE):
    y = read(x) + checked(x)
return y * PLACE
""",
    "class returned": """
with Changed(VALUE):
    return read(x) * checked(x)
""",
    "loop": """
y = x[2]
for i in range(3):
    old = PLACE
    PLACE = VALUE * (i + 1)
    try:
        y = y + read(x)
        if i == 1:
            continue
        y = y * checked(x)
    finally:
        PLACE = old
return y * PLACE
""",
    "loop that is left": """
y = x[2]
for i in range(3):
    with changed(VALUE * (i + 1)):
        y = y + read(x)
        if i == 1:
            break
return y * PLACE
""",
}
WAYS |= {
    "returned out of a loop": """
with changed(VALUE):
    for i in range(3):
        y = read(x) * x[i]
        if x[i] < 0.6:
            return y + checked(x)
return x[0]
""",
    "returned out of a loop that is tried": """
y, old = x[1], PLACE
PLACE = VALUE
try:
    for i in range(3):
        y = y + x[i] * PLACE
        if x[i] < 0.6:
            return y * checked(x)
    y = y * 2.0
finally:
    PLACE = old
return y * PLACE
""",
    "returned in branches": """
with changed(VALUE) as v:
    if x[1] > 0.1:
        return read(x) * v
    elif x[0] > 3.0:
        return x[1]
    y = checked(x)
return y * PLACE
""",
    "a loop of its own": """
with Changed(VALUE):
    y = x[1]
    while True:
        y = y * 0.5 * PLACE + 0.1 * x[0]
        if y < 0.4 or y > 2.0:
            break
    if y > 5.0:
        return x[0]
return y * checked(x) * PLACE
""",
}
VALUES = {"differentiated": "x[0] ** 2", "constant": "3.0"}
CASES = [(place, way, value) for place in PLACES for way in WAYS for value in VALUES]
#: Those that are refused: a variable has a value on those ways alone that do not return.
REFUSED = {(place, "returned in branches", "differentiated") for place in PLACES}


def program(place: str, way: str, value: str) -> str:
    """The text of a module with a function ``f``."""
    body = "def f(x):" + WAYS[way].replace("\n", "\n    ")
    return (HEAD + body).replace("PLACE", PLACES[place]).replace("VALUE", VALUES[value])


def state(module: dict[str, Any]) -> str:
    return repr((module["D"], module["L"], vars(module["M"]), module["Holder"].table))


@pytest.mark.parametrize(("place", "way", "value"), CASES)
def test_derivatives_and_what_is_left(place: str, way: str, value: str) -> None:
    text = program(place, way, value)
    expected = numeric_gradient(names_of(text)["f"], (X,))
    plain, reverse, forward = (names_of(text) for _ in range(3))
    result = plain["f"](X)
    try:
        found, gradient = value_and_grad(reverse["f"])(X)
        tangent = jvp(forward["f"], (X,), (WAY,))[1]
    except S2SADError:
        assert (place, way, value) in REFUSED
        return
    np.testing.assert_allclose(found, result)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)
    np.testing.assert_allclose(tangent, expected @ WAY, rtol=1e-6)
    assert state(reverse) == state(forward) == state(plain)
    assert (place, way, value) not in REFUSED


@pytest.mark.parametrize(("place", "way", "value"), [case for case in CASES if case not in REFUSED])
def test_what_is_left_where_the_body_raises(place: str, way: str, value: str) -> None:
    text = program(place, way, value)
    plain, reverse, forward = (names_of(text) for _ in range(3))
    x = 20 * X
    try:
        result = plain["f"](x)
    except ValueError:
        for run in (lambda: value_and_grad(reverse["f"])(x), lambda: jvp(forward["f"], (x,), (WAY,))):
            with pytest.raises(ValueError, match="6"):
                run()
    else:
        found, gradient = value_and_grad(reverse["f"])(x)
        np.testing.assert_allclose(found, result)
        np.testing.assert_allclose(gradient, numeric_gradient(names_of(text)["f"], (x,)), rtol=1e-6)
        assert jvp(forward["f"], (x,), (WAY,))[0] == result
    assert state(reverse) == state(forward) == state(plain)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", WAYS)
def test_second_order(place: str, way: str) -> None:
    f, step = names_of(program(place, way, "differentiated"))["f"], 1e-4
    ahead, behind = (numeric_gradient(f, (X + sign * step * WAY,)) for sign in (1, -1))
    try:
        found = hvp(f, (X,), (WAY,))
    except S2SADError:
        return
    np.testing.assert_allclose(found, (ahead - behind) / (2 * step), rtol=1e-4, atol=1e-5)


#: Managers that are used otherwise than by `with` alone.
OTHERWISE = {
    "by its methods": """
c = changed(x[0])
c.__enter__()
y = read(x)
c.__exit__(None, None, None)
return y * PLACE
""",
    "by a stack": """
with contextlib.ExitStack() as stack:
    stack.enter_context(changed(x[0]))
    y = read(x)
return y * PLACE
""",
    "as a decorator": """
return changed(x[0])(lambda t: t * PLACE)(x[1]) * PLACE
""",
    "both ways": """
with changed(x[2]) as v:
    y = read(x) * v
c = changed(x[0])
c.__enter__()
y = y * read(x)
c.__exit__(None, None, None)
return y * PLACE
""",
    "in a variable": """
c = changed(x[0])
with c as v:
    y = read(x) * v
return y * PLACE
""",
    "the generator": """
y = x[1]
for v in changed.__wrapped__(x[0]):
    y = y * read(x) * v
return y * PLACE
""",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", OTHERWISE)
def test_right_or_refused(name: str, place: str) -> None:
    text = (HEAD + "def f(x):" + OTHERWISE[name].replace("\n", "\n    ")).replace("PLACE", PLACES[place])
    expected = numeric_gradient(names_of(text)["f"], (X,))
    for found in (lambda f: value_and_grad(f)(X)[1] @ WAY, lambda f: jvp(f, (X,), (WAY,))[1]):
        try:
            np.testing.assert_allclose(found(names_of(text)["f"]), expected @ WAY, rtol=1e-6)
        except S2SADError:
            continue
