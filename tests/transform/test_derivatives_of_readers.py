"""Derivatives, inside of a function, of functions that read what it has set on an object that exists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, hvp, jvp, value_and_grad
from tests.oracle import numeric_gradient
from tests.sources import names_of

HEAD = """
class Model:
    def __init__(self):
        self.v, self.d = 0.75, dict(a=0.5)
    def loss(self, z):
        return z**3 * self.v
m = Model()
S = dict(a=0.5)
def of_attribute(z):
    return z**3 * m.v
def of_item(z):
    return z**3 * m.d["a"]
def of_dict(z):
    return z**3 * S["a"]
def by_call(z):
    return of_attribute(z) * 2.0
made = grad(of_attribute)
"""
CHANGES = {"of_attribute": "m.v = t", "of_item": "m.d['a'] = t", "of_dict": "S['a'] = t"}
CHANGES |= {"by_call": "m.v = t", "m.loss": "m.v = t", "(lambda z: of_attribute(z) + z)": "m.v = t"}
DERIVATIVES = {
    "gradient": "grad({f})(0.3)",
    "value": "value_and_grad({f})(0.3)[0]",
    "tangent": "jvp({f}, (0.3,), (1.0,))[1]",
    "second": "grad(grad({f}))(0.3)",
    "product": "hvp({f}, (0.3,), (1.0,))",
    "of what is differentiated": "grad({f})(x[1])",
    "a name": "g(0.3)",
}
X, WAY = np.array([0.7, -0.4]), np.array([0.6, 1.1])


@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.parametrize("reader", CHANGES)
def test_right_or_refused(reader: str, name: str) -> None:
    body = f"g = grad({reader})\n    t = x[0] * x[1]\n    {CHANGES[reader]}\n"
    text = HEAD + f"def f(x):\n    {body}    return {DERIVATIVES[name].format(f=reader)} * x[1]\n"
    check_right_or_refused(text, must=reader == "m.loss" and name == "gradient")


@pytest.mark.parametrize("call", ["made(0.3)", "made(x[1])", "made(t)"])
def test_of_the_module_right_or_refused(call: str) -> None:
    text = HEAD + f"def f(x):\n    t = x[0] * x[1]\n    m.v = t\n    return {call} * x[1]\n"
    check_right_or_refused(text)


def check_right_or_refused(text: str, must: bool = False) -> None:
    names = {"grad": grad, "jvp": jvp, "hvp": hvp, "value_and_grad": value_and_grad}
    module = names_of(text, names)

    def plain(x: Any) -> Any:
        return module["f"](x)

    expected = numeric_gradient(plain, (X,))
    for found, wanted in ((lambda f: grad(f)(X), expected), (lambda f: jvp(f, (X,), (WAY,))[1], expected @ WAY)):
        try:
            np.testing.assert_allclose(found(names_of(text, names)["f"]), wanted, rtol=1e-6)
        except S2SADError:
            assert not must


#: Functions that change what they are given, and are differentiated inside of another one.
CHANGING = """
class Model:
    def __init__(self):
        self.p, self.v = dict(w=0.5), 1.0
    def of_item(self, w):
        self.p["w"] = w
        return self.p["w"] ** 2 * w
    def of_attribute(self, w):
        self.v = w
        return self.v ** 2 * w
m = Model()
def given_item(w, m):
    m.p["w"] = w
    return m.p["w"] ** 2 * w
def given_attribute(w, m):
    m.v = w
    return m.v ** 2 * w
def given_dict(w, d):
    d["w"] = w
    return d["w"] ** 2 * w
def given_list(w, s):
    s.append(w)
    return s[-1] ** 2 * w
def given_array(w, a):
    a[0] = w
    return a[0] ** 2 * w
def of_module(w):
    m.v = w
    return m.v ** 2 * w
def made():
    return dict(w=2.0)
"""
CALLS = [
    "{d}(given_item)({x}, m)",
    "{d}(given_attribute)({x}, m)",
    "{d}(given_dict)({x}, m.p)",
    "{d}(given_dict)({x}, dict(w=1.0))",
    "{d}(given_dict)({x}, made())",
    "{d}(given_list)({x}, [1.0])",
    "{d}(given_array)({x}, np.ones(2))",
    "{d}(given_array)({x}, [1.0, 2.0])",
    "{d}(m.of_item)({x})",
    "{d}(m.of_attribute)({x})",
    "{d}(of_module)({x})",
]


@pytest.mark.parametrize("inner", ["grad", "made_of"])
@pytest.mark.parametrize("call", CALLS)
def test_of_what_changes_things_right_or_refused(call: str, inner: str) -> None:
    text = "import numpy as np\ndef made_of(f):\n    return grad(f)\n" + CHANGING
    written = call.format(d=inner, x="x[0]")
    check_right_or_refused(text + f"def f(x):\n    return {written} * x[1]\n")
