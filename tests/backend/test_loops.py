"""Loops in emitted sources: what a ``while`` begins with is computed before it."""

from __future__ import annotations

import numpy as np

from s2sad import grad
from tests.oracle import numeric_gradient
from tests.sources import function_of

TEXT = """
t = 7.0  # the name of what is computed before a loop is none of the module's

def pair(b):
    return b * 1.0, np.exp(b)

def scale(v, k):
    v *= k
    return v

def first(o):
    while isinstance(o, (tuple, list)):
        o = o[0]
    return o

def made(x, T):
    T[:, 1] += x[1]
    held = (T[:], pair(x)[1])
    return held

def f(x):
    T = np.zeros((2, 4))
    a, b = made(x, T)
    scale(b, first(a[0]))
    return np.sum(T ** 2 * x) + b[1]
"""


def test_an_item_that_a_loop_begins_with_is_taken_before_it() -> None:
    x = np.array([-0.961, 0.09, -0.972, -1.147])
    f = function_of(TEXT)
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-7)
