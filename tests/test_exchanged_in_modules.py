"""Items and attributes of the module that are exchanged: each side is read before one is set, in every mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from tests.oracle import numeric_gradient
from tests.sources import names_of

HEAD = """
class Layer:
    def __init__(self, a):
        self.v, self.p = a, dict(a=a, b=2.0)
layers = [Layer(0.5), Layer(0.75)]
first = layers[0]
L, A, S = [0.75, 1.0, 2.0], np.array([0.5, 1.5, 2.5]), dict(a=0.5, b=2.0)
M = L
def swap(d, e, k):
    d[k], e[k] = e[k], d[k]
def set_item(l, i, v):
    l[i] = v
    return v
def read(layer):
    return layer.p['a']
def of_callee(l):
    l[0], l[2] = L[2], L[0]
"""
CHANGES = {
    "items of a list": "L[0], L[2] = L[2], L[0]",
    "items by another name": "M[0], M[2] = L[2], L[0]",
    "items of a dict": "S['a'], S['b'] = S['b'], S['a']",
    "attributes": "first.v, layers[1].v = layers[1].v, first.v",
    "elements": "A[0], A[2] = A[2], A[0]",
    "an element with an item": "A[0], L[0] = L[0], A[0]",
    "items of a parameter": "of_callee(L)",
    "before a call sets it": "L[1] = L[0] + set_item(L, 0, 5.0)",
    "taken out": "L.append(L[0] + L.pop(0))",
    "in a loop": "for i in range(2):\n        L[i], L[i + 1] = L[i + 1], L[i]",
    "in a branch": "if x[0] > 0.5:\n        L[0], L[2] = L[2], L[0]",
}
#: What a call that is not followed changes leaves the rest of the module as it is written.
BEFORE = {"alone": "pass", "after a call": "swap(layers[0].p, layers[1].p, 'a')"}
READS = ("read(layers[1])", "L[0] * x[0]", "A[2] + S['a'] * x[1]")
X, WAY = np.array([0.7, -0.4]), np.array([0.6, 1.1])


def state(module: dict[str, Any]) -> str:
    parts = [module["L"], module["A"].tolist(), module["S"], *map(vars, module["layers"])]
    return repr(parts).replace("np.float64", "")


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("change", CHANGES)
def test_state_and_derivatives(change: str, before: str, read: str) -> None:
    text = HEAD + f"def f(x):\n    {BEFORE[before]}\n    {CHANGES[change]}\n    return x[0] * x[1] + {read}\n"
    expected = numeric_gradient(lambda x: names_of(text)["f"](x), (X,))
    plain, reverse, both, forward = (names_of(text) for _ in range(4))
    result = plain["f"](X)
    np.testing.assert_allclose(grad(reverse["f"])(X), expected, rtol=1e-7)
    value, gradient = value_and_grad(both["f"])(X)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)
    found, along = jvp(forward["f"], (X,), (WAY,))
    np.testing.assert_allclose(along, expected @ WAY, rtol=1e-7)
    np.testing.assert_allclose([value, found], result)
    assert state(reverse) == state(both) == state(forward) == state(plain)
