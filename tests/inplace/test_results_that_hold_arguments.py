"""Results that hold an array that a function is given, beside what other functions give, and are written afterwards."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

X, D = np.array([-0.961, 0.09, -0.972, -1.147]), np.array([0.3, 0.2, -0.4, 0.6])
HEAD = """
def pair(b):
    return b.copy(), np.exp(b)

def number(b):
    return np.mean(b)

def into(other, t):
    t += other * other

def all_into(held, x):
    t, other = held[0], held[1]
    into(first_of(other), t)
    t[0] *= x[1]

def first_of(other):
    return other[0] if isinstance(other, (tuple, list)) else other
"""
HELD = {
    "a call of several": "({T}, pair(x))",
    "a call": "({T}, np.sin(x), number(x))",
    "a call in a list": "({T}, [x * 2.0, number(x)])",
    "a display": "({T}, (x * 2.0, x + 1.0))",
}
VIEWS = ("T", "T.reshape(2, 4)", "T[:]")
RETURNS = {"beside a number": ("x[0], {held}", "m, held"), "alone": ("{held}", "held")}
WRITES = {
    "here": "held[0][...] += first_of(held[1])",
    "in a function": "into(first_of(held[1]), held[0])",
    "in a function of a function": "all_into(held, x)",
    "through its own name": "t = held[0]\n    t *= 2.0\n    t += first_of(held[1])",
}


@pytest.mark.parametrize("writes", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_what_is_written_is_seen_by_the_argument(held: str, writes: str) -> None:
    for view, (returns, targets) in itertools.product(VIEWS, RETURNS.values()):
        text = (
            f"{HEAD}\ndef made(x, T):\n    return {returns.format(held=held.format(T=view))}\n\n"
            f"def f(x):\n    T = np.zeros((2, 4))\n    T[1] = x * x\n    {targets} = made(x, T)\n    {writes}\n"
            "    return np.sum(T ** 2 * x) + T[0, 1]\n"
        )
        f: Any = function_of(text)
        want = numeric_gradient(f, (X,))
        np.testing.assert_allclose(grad(f)(X), want, rtol=1e-7, err_msg=text)
        np.testing.assert_allclose(jvp(f, (X,), (D,))[1], want @ D, rtol=1e-7, err_msg=text)
        along = numeric_gradient(lambda x, f=f: grad(f)(x) @ D, (X,))
        np.testing.assert_allclose(hvp(f, (X,), (D,)), along, rtol=1e-6, err_msg=text)
