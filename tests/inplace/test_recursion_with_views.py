"""A function that writes an array, hands a view of it to itself, and counts down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient

X = np.array([-0.33, 1.186, 0.531])


def by_number(w: Any, a: Any, fuel: int = 2) -> Any:
    if fuel <= 0:
        return a[:1]
    a.fill(np.tanh(a.mean()))
    w.T[1] = np.arctan(-w.mean())
    a = a + a
    return by_number(w=w.T, a=a, fuel=fuel - 1)


def by_literals(w: Any, a: Any, n: int) -> Any:
    if n <= 0:
        return a[:1]
    a.fill(np.tanh(a.mean()))
    w.T[1] = np.arctan(-w.mean())
    a = a + a
    if n == 2:
        return by_literals(w.T, a, 1)
    return by_literals(w.T, a, 0)


@pytest.mark.parametrize("g", [by_number, by_literals])
def test_gradient(g: Any) -> None:
    def f(x: Any) -> Any:
        u = np.cos(np.full((1, 4), 0.7) * np.mean(x))
        w = np.arctan(np.outer(x, x))
        v = g(w, u, 2)
        return np.mean(v) + np.sum(w) + np.sum(u)

    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6)
