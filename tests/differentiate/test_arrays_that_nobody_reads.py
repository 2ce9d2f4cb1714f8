"""What is differentiated is written into an array of which the result is independent: it needs no tangent."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from tests.oracle import richardson_jvp
from tests.sources import function_of
from tests.transform.remaining import check_both_modes

X, WAY = np.array([0.7, -0.3, 0.45]), np.array([0.2, -0.6, 1.1])

WRITES = {
    "an item": "u[1] = t[0]",
    "an augmented item": "u[-1] += t[2]",
    "a slice": "u[1:] = t[:2]",
    "a whole": "u[...] = t",
    "an augmented whole": "u += t",
    "add.at": "np.add.at(u, [0, 2, 0], t)",
    "copyto": "np.copyto(u, t)",
    "out": "np.multiply(t, t, out=u)",
    "fill": "u.fill(t[1])",
    "a view": "w = u[1:]; w[0] = t[1]; w *= t[0]",
    "under a condition": "\n    if t[0] > 0.1:\n        u[0] = t[0]",
    "in a loop": "\n    for i in range(3):\n        u[i] = t[i] + u[i - 1]",
    "by a callee": "put(u, t)",
    "itself": "u[0] = t[0]; u[1] = u[0] * t[1]",
}
ARRAYS = {"zeros": "np.zeros(3)", "a copy": "x.copy()", "an array that is read before": "np.cos(x); t = t + u"}
#: What reads the array afterwards, but not what is in it.
READ = {"nothing": "0.0", "its size": "0.1 * u.size", "a condition": "(0.5 if u[0] > 5.0 else 0.25)"}


def function(array: str, write: str, read: str) -> str:
    return f"""
def put(a, b):
    a[0] = b[1]

def f(x):
    t = np.tanh(x)
    u = {ARRAYS[array]}
    {WRITES[write]}
    return np.sum(t * t * t) + {READ[read]}
"""


CASES = [(array, write, read) for array in ARRAYS for write in WRITES for read in READ]


@pytest.mark.parametrize(("array", "write", "read"), CASES)
def test_first_derivatives(array: str, write: str, read: str) -> None:
    check_both_modes(function_of(function(array, write, read)), X, WAY)


@pytest.mark.parametrize(("array", "write", "read"), CASES)
def test_second_derivatives(array: str, write: str, read: str) -> None:
    f = function_of(function(array, write, read))
    expected = richardson_jvp(grad(f), (X,), (WAY,))
    np.testing.assert_allclose(hvp(f, (X,), (WAY,)), expected, rtol=1e-6)
    np.testing.assert_allclose(grad(lambda x: jvp(f, (x,), (WAY,))[1])(X), expected, rtol=1e-6)
