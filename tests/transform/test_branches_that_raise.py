"""Branches that do what is not followed to functions and objects: the program raises if it comes there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, value_and_grad
from tests.oracle import numeric_gradient
from tests.sources import function_of, names_of

CLASSES = """
class Wave:
    def __init__(self, a, k):
        self.a, self.k = a, k

    def at(self, t):
        return self.a * np.sin(self.k * t)

class Table:
    def __init__(self, items):
        self.items = dict(items)

def spoil(wave):
    return {id(wave): wave}
"""
#: The condition of what is not followed is `unusual`, which does not hold of X and holds of 3 * X.
PROGRAMS = {
    "an object among the keys": """
def f(x):
    wave = Wave(x[0], x[1])
    if x[2] > 1.0:
        wave = max(spoil(wave).values(), key=lambda w: hash(w))
    return wave.at(x[2])
""",
    "in a loop": """
def f(x):
    total = 0.0
    wave = Wave(x[0], x[1])
    for i in range(3):
        if x[i] > 1.0:
            total = total + max(spoil(wave).values(), key=lambda w: hash(w)).at(x[i])
        else:
            total = total + wave.at(x[i])
    return total
""",
    "in a method": """
class Sum(Wave):
    def at(self, t):
        if t > 1.0:
            return sum(w.at(t) for w in spoil(self).values() if hash(w))
        return super().at(t) ** 2

def f(x):
    return Sum(x[0], x[1]).at(x[2])
""",
    "that returns": """
def f(x):
    wave = Wave(x[0], x[1])
    if x[2] > 1.0:
        return max(spoil(wave).values(), key=lambda w: hash(w)).at(x[2])
    return wave.at(x[2]) * x[0]
""",
    "in a handler that raises": """
def f(x):
    wave = Wave(x[0], x[1])
    try:
        t = {0: x[2]}[int(x[2] > 1.0)]
    except KeyError:
        raise ValueError("%r" % (spoil(wave).keys(),))
    return wave.at(t)
""",
}
X, WAY = np.array([0.4, 0.7, 0.6]), np.array([0.5, -1.0, 0.7])


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_the_other_way_has_its_derivative(text: str) -> None:
    f = function_of(CLASSES + text)
    expected = numeric_gradient(f, [X])
    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (X,), (WAY,))[1], expected @ WAY, rtol=1e-7)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_this_way_raises(text: str) -> None:
    f = function_of(CLASSES + text)
    with pytest.raises((S2SADError, ValueError)) as found:
        grad(f)(3 * X)
    assert not isinstance(found.value, S2SADError) or "followed" in str(found.value) or "keep" in str(found.value)


def test_what_can_be_followed_is_followed_though_another_call_was_refused() -> None:
    f = function_of(CLASSES + PROGRAMS["that returns"])
    df: Any = grad(f)
    np.testing.assert_allclose(df(X), numeric_gradient(f, [X]), rtol=1e-7)
    with pytest.raises(S2SADError):
        df(3 * X)
    np.testing.assert_allclose(df(X / 2), numeric_gradient(f, [X / 2]), rtol=1e-7)


#: What catches an exception of a class around a statement of several lines, `y` being bound before it.
CATCHES = {
    "try": """
    try:
        STATEMENT
    except CLASS:
        y = x[0] * 7.0
""",
    "suppress": """
    with contextlib.suppress(CLASS):
        STATEMENT
""",
    "exit": """
    with Quiet():
        STATEMENT
""",
    "generator": """
    with quiet():
        STATEMENT
""",
    "nested": """
    try:
        try:
            STATEMENT
        except KeyError:
            y = x[0] * 3.0
    except CLASS:
        y = x[0] * 7.0
""",
    "loop": """
    for i in range(2):
        try:
            STATEMENT
        except CLASS:
            y = y * 7.0
""",
}
#: Statements that set `y`, with a way that is not followed.
STATEMENTS = {
    "branch": """if x[2] > 1.0:
    y = max(spoil(wave).values(), key=lambda w: hash(w)).at(x[2])
else:
    y = wave.at(x[2])""",
    "function": "y = read(wave, x)",
}
AROUND = """
import contextlib

class Quiet:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return True

@contextlib.contextmanager
def quiet():
    try:
        yield
    except CLASS:
        pass

def read(wave, x):
    if x[2] > 1.0:
        return max(spoil(wave).values(), key=lambda w: hash(w)).at(x[2])
    return wave.at(x[2])

def f(x):
    wave = Wave(x[0], x[1])
    y = x[0] * 7.0
"""
CAUGHT = ("Exception", "BaseException", "ArithmeticError", "(ValueError, KeyError)")


@pytest.mark.parametrize("catch", CATCHES)
@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("cls", CAUGHT)
def test_what_is_not_followed_is_not_caught(catch: str, statement: str, cls: str) -> None:
    indented = CATCHES[catch].splitlines()
    lines = [
        line.replace("STATEMENT", STATEMENTS[statement].replace("\n", "\n" + line[: line.find("STATEMENT")]))
        for line in indented
    ]
    f = function_of((CLASSES + AROUND + "\n".join(lines) + "\n    return y\n").replace("CLASS", cls))
    expected = numeric_gradient(f, [X])
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (X,), (WAY,))[1], expected @ WAY, rtol=1e-7)
    with pytest.raises(S2SADError):
        grad(f)(3 * X)
    with pytest.raises(S2SADError):
        jvp(f, (3 * X,), (WAY,))


#: What sets `STATE` back, whatever happens meanwhile.
SETTING_BACK = {
    "finally": """
    old, STATE["on"] = STATE["on"], x[0]
    try:
        STATEMENT
    finally:
        STATE["on"] = old
""",
    "generator": """
    with on(x[0]):
        STATEMENT
""",
    "handler": """
    STATE["on"] = x[0]
    try:
        STATEMENT
    except BaseException:
        STATE["on"] = 1.0
        raise
    STATE["on"] = 1.0
""",
}
STATEFUL = """
STATE = {"on": 1.0}

@contextlib.contextmanager
def on(value):
    old, STATE["on"] = STATE["on"], value
    try:
        yield
    finally:
        STATE["on"] = old

def f(x):
    wave = Wave(x[0], x[1])
"""


@pytest.mark.parametrize("way", SETTING_BACK)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_is_set_back_is_set_back_where_something_is_not_followed(way: str, statement: str) -> None:
    body = SETTING_BACK[way].replace("STATEMENT", STATEMENTS[statement].replace("\n", "\n        "))
    text = CLASSES + AROUND.partition("def f(x)")[0].replace("CLASS", "KeyError") + STATEFUL + body
    module = names_of(text + "    return y * STATE['on']\n")
    expected = numeric_gradient(module["f"], [X])
    np.testing.assert_allclose(grad(module["f"])(X), expected, rtol=1e-7)
    assert module["STATE"] == {"on": 1.0}
    with pytest.raises(S2SADError):
        grad(module["f"])(3 * X)
    assert module["STATE"] == {"on": 1.0}
