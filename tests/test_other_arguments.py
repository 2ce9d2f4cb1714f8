"""``check_grads`` and ``vjp`` of functions that have arguments which are not differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import check_grads, vjp
from s2sad.errors import ArgumentError
from tests.oracle import numeric_gradient

V = np.array([0.7, 1.3, 0.4, 0.9])


def relax(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    return u


def chosen(x: Any, how: str) -> Any:
    return x**2 if how == "square" else x**3


def test_arguments_that_are_not_compared_stay_as_they_are() -> None:
    assert check_grads(relax, (V.copy(), 2)).ok
    assert check_grads(chosen, (V.copy(), "square")).ok
    assert check_grads(lambda n: n * n, (3,)).ok


def test_pullback_of_some_arguments() -> None:
    value, pullback = vjp(relax, V.copy(), 2, argnums=0)
    np.testing.assert_array_equal(value, relax(V.copy(), 2))
    (u_bar,) = pullback(np.ones(4))
    np.testing.assert_allclose(u_bar, numeric_gradient(lambda u: np.sum(relax(u.copy(), 2)), (V,), 0), rtol=1e-8)
    with pytest.raises(ArgumentError, match="argnums=3 does not fit 2 arguments"):
        vjp(relax, V.copy(), 2, argnums=3)
