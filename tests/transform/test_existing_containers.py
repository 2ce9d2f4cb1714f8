"""Lists and dicts that exist, and whose items the function sets and reads: ``self.cache["h"] = np.tanh(x)``.

Derivatives pass through them, and they hold afterwards what they hold after the function itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp, value_and_grad
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient
from tests.sources import names_of
from tests.transform.container_changes import ANY, HEAD, NEW, OF_DICTS, OF_LISTS, body_of

X, WAY = np.array([0.8, 0.5]), np.array([0.6, -1.1])

#: Where the container is, and how it is read.
HOLDERS = {
    "variable": ("D = {new}", "D"),
    "attribute": ("net = Net({new})", "net.d"),
    "inner object": ("net = Net(None)\nnet.d = Net({new})", "net.d.d"),
    "object of a list": ("layers = [Net({new}), Net({new})]", "layers[1].d"),
    "dict": ("E = dict(k={new})", 'E["k"]'),
    "class": ("class C:\n    d = {new}", "C.d"),
}
CASES = [(holder, "dict", name) for holder in HOLDERS for name in (*ANY, *OF_DICTS)]
CASES += [(holder, "list", name) for holder in ("variable", "object of a list") for name in (*ANY, *OF_LISTS)]
# What an object of a list gives is checked as it is read, and that may raise.
CASES = [(h, new, name) for h, new, name in CASES if name != "raises" or h in ("variable", "attribute", "inner object")]
CASES += [("attribute", "empty dict", name) for name in (*ANY, *OF_DICTS)]


def program(holder: str, new: str, name: str) -> tuple[str, str]:
    """The text of a module, and how its container is read."""
    (start, a, b), (held, c) = NEW[new], HOLDERS[holder]
    return HEAD.format(holder=held.format(new=start), c=c, a=a, body=body_of(name, c, a, b)), c


def state(module: dict[str, Any], container: str) -> str:
    return repr(eval(container, module))


@pytest.mark.parametrize(("holder", "new", "name"), CASES)
def test_items_are_set(holder: str, new: str, name: str) -> None:
    text, container = program(holder, new, name)
    expected = numeric_gradient(lambda x: names_of(text)["f"](x), (X,))
    plain, reverse, forward = (names_of(text) for _ in range(3))
    result = plain["f"](X)
    value, gradient = value_and_grad(reverse["f"])(X)
    np.testing.assert_allclose(value, result)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(forward["f"], (X,), (WAY,))[1], expected @ WAY, rtol=1e-6)
    assert state(reverse, container) == state(forward, container) == state(plain, container)


@pytest.mark.parametrize("name", ["set", "loop", "callee with a loop", "read before", "branch"])
@pytest.mark.parametrize("holder", HOLDERS)
def test_what_a_call_leaves_is_there_in_the_next_one(holder: str, name: str) -> None:
    text, container = program(holder, "dict", f"{name}")
    text = text.replace(
        "def f(x):", f"def f(x):\n    if {container}['a'] is not None:\n        x = x * {container}['a']"
    )
    plain, module = names_of(text), names_of(text)
    f = grad(module["f"])
    for _ in range(3):
        before = repr(eval(container, plain))
        expected = numeric_gradient(_from(text, container, before), (X,))
        np.testing.assert_allclose(f(X), expected, rtol=1e-6)
        plain["f"](X)
        assert state(module, container) == state(plain, container)


def _from(text: str, container: str, before: str) -> Callable[[Any], Any]:
    """The function, in a module whose container holds what ``before`` says."""

    def f(x: Any) -> Any:
        module = names_of(text)
        eval(container, module).update(eval(before, {"np": np, "array": np.array}))
        return module["f"](x)

    return f


@pytest.mark.parametrize("name", ["set", "set an array", "loop", "branches", "callee reads", "update"])
@pytest.mark.parametrize("holder", HOLDERS)
def test_second_order(holder: str, name: str) -> None:
    text, _ = program(holder, "dict", name)
    f, step = names_of(text)["f"], 1e-4

    def gradient(x: np.ndarray) -> np.ndarray:
        return numeric_gradient(lambda x: names_of(text)["f"](x), (x,))

    expected = (gradient(X + step * WAY) - gradient(X - step * WAY)) / (2 * step)
    np.testing.assert_allclose(hvp(f, (X,), (WAY,)), expected, rtol=1e-4, atol=1e-5)


#: Where the container, or one that was there before, is reached in two ways.
SHARED = {
    "two variables": ("D = dict(a=1.5)\nA = D", 'D["a"] = x[0]\nreturn A["a"] * x[1]'),
    "two objects": ("a = Net(dict(a=1.5))\nb = Net(a.d)", 'a.d["a"] = x[0]\nreturn b.d["a"] * x[1]'),
    "another one is there": (
        "a = Net(dict(a=1.5))",
        'd = a.d\na.d = dict(a=x[1])\nd["a"] = x[0] ** 2\na.d["a"] *= 3.0\nreturn d["a"] * x[1] + a.d["a"]',
    ),
    "another object is there": (
        "a = Net(Net(dict(a=1.5)))",
        'd = a.d.d\na.d = Net(dict(a=2.0))\nd["a"] = x[0] ** 2\nreturn d["a"] * x[1] + a.d.d["a"]',
    ),
    "an item of a dict": (
        "D = dict(e=dict(z=1.0))",
        'e = D["e"]\nD["e"] = dict(z=x[1])\ne["z"] = x[0]\nreturn D["e"]["z"] * e["z"] ** 2',
    ),
    "a function of a library reads it": (
        "D = dict(a=1.5)",
        'D["a"] = x[0]\ng = np.vectorize(lambda t: t * D["a"])\nreturn np.sum(g(x))',
    ),
    "sorted by it": (
        "D = dict(a=1.5)",
        'D["a"] = -x[0]\nreturn sorted([x[0], x[1]], key=lambda t: t * D["a"])[0] ** 2',
    ),
    "an object keeps it": (
        "D = dict(a=1.5)\nnet = Net(None)",
        'net.d = D\nD["a"] = x[0]\nreturn net.d["a"] * x[1]',
    ),
    "a new dict keeps it": (
        "D = dict(a=1.5)",
        'e = dict(d=D)\nD["a"] = x[1]\nreturn e["d"]["a"] * x[0]',
    ),
    "a key that only the run knows": (
        "D = dict(a=1.5, b=2.0)",
        'k = "a" if x[0] > 0.5 else "b"\nD[k] = x[0]\nreturn D["a"] * x[1]',
    ),
    "what is raised": (
        "D = dict(a=1.5)",
        'try:\n    D["a"] = x[0]\n    raise ValueError\nexcept ValueError:\n    return D["a"] * x[1]',
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_shared_right_or_refused(name: str) -> None:
    start, body = SHARED[name]
    text = HEAD.partition("{holder}")[0] + start + "\ndef f(x):\n    " + body.replace("\n", "\n    ") + "\n"
    expected = numeric_gradient(lambda x: names_of(text)["f"](x), (X,))
    for found in (lambda f: grad(f)(X) @ WAY, lambda f: jvp(f, (X,), (WAY,))[1]):
        try:
            np.testing.assert_allclose(found(names_of(text)["f"]), expected @ WAY, rtol=1e-6)
        except S2SADError:
            continue


def test_a_dict_that_is_passed_as_well_is_refused() -> None:
    module = names_of('D = dict(a=1.5)\ndef f(x, d):\n    D["a"] = x[0]\n    return d["a"] * x[1]\n')
    np.testing.assert_allclose(grad(module["f"])(X, {"a": 2.0}), [0.0, 2.0])
    with pytest.raises(S2SADError, match="share a dict"):
        grad(module["f"])(X, module["D"])


def test_another_module_has_a_variable_of_the_same_name() -> None:
    def modules() -> tuple[dict[str, Any], dict[str, Any]]:
        other = names_of("D = dict(a=2.0)\ndef put(x):\n    D['a'] = x[0] ** 2\n    return D['a']\n")
        text = "D = dict(a=3.0)\ndef f(x):\n    y = put(x)\n    D['a'] = D['a'] * x[1]\n    return y * D['a']\n"
        return other, names_of(text, {"put": other["put"]})

    expected = numeric_gradient(lambda x: modules()[1]["f"](x), (X,))
    (plain_other, plain), (other, module) = modules(), modules()
    plain["f"](X)
    try:
        found = grad(module["f"])(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert (other["D"], module["D"]) == (plain_other["D"], plain["D"])
