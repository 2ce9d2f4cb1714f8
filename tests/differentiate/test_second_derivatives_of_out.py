"""Second derivatives of functions that write their results into ``out``, as the text of the gradient has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from tests.oracle import numeric_gradient

X = np.array([0.6, -0.5, 0.9])
D = np.array([0.3, -0.7, 0.5])
WRITERS: dict[str, Callable[[Any, Any], Any]] = {
    "cumsum": lambda a, w: np.cumsum(np.cos(a), out=w),
    "cumprod": lambda a, w: np.cumprod(np.cos(a), out=w),
    "add.accumulate": lambda a, w: np.add.accumulate(np.cos(a), out=w),
    "multiply.accumulate": lambda a, w: np.multiply.accumulate(np.cos(a), out=w),
    "sin": lambda a, w: np.sin(a, out=w),
    "multiply": lambda a, w: np.multiply(a, np.cos(a), out=w),
    "power": lambda a, w: np.power(np.cos(a), 3, w),
    "clip": lambda a, w: np.clip(np.cos(a) * a, -0.4, 0.5, out=w),
    "dot": lambda a, w: np.dot(np.outer(a, a), np.cos(a), out=w),
    "mean": lambda a, w: np.mean(np.outer(a, np.cos(a)), axis=0, out=w),
    "take": lambda a, w: np.take(a * a, [2, 0, 1], out=w, mode="clip"),
}


def in_a_row(write: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        ring = np.zeros((2, 3))
        for w in ring:
            write(x, w)
        return np.mean(np.cos(ring) * x)

    return f


@pytest.mark.parametrize("name", WRITERS)
def test_in_rows(name: str) -> None:
    f = in_a_row(WRITERS[name])

    def slope(x: Any) -> Any:
        return grad(f)(x) @ D

    expected = numeric_gradient(slope, (X,))
    np.testing.assert_allclose(hvp(f, (X,), (D,)), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(slope, (X,), (D,))[1], expected @ D, rtol=1e-6, atol=1e-8)
