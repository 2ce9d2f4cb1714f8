"""The adjoint of a variable that each turn of a loop sets anew: the number 0.0 in all turns but the last.

Rules that take an array apart get an array of zeros for it, also where the shapes of arrays are not known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from s2sad import grad, value_and_grad, vjp
from tests.oracle import numeric_gradient

M = np.array([[0.5, -0.3, 0.8], [0.1, 0.9, -0.7]])
SHAPES = [np.ones((2, 2)), np.ones((3, 1))]


def raveled(m: Any, parts: Any) -> Any:
    for q in parts:
        b = q.ravel() * m[0, 0]
        b *= m[1, 1]
    return np.sum(b * b) + np.sum(m)


def summed_up(m: Any, parts: Any) -> Any:
    for q in parts:
        b = np.cumsum(q.ravel() * m[0, 0] * m[0, 1])
        c = np.stack([b, b]) * m[1, 0]
    return np.sum(c * c)


def in_rows(m: Any, parts: Any) -> Any:
    for q in parts:
        b = np.lib.stride_tricks.sliding_window_view(m, len(q) - 1, axis=1)[0].ravel() * 1.0
        b *= m[-1, -1]
    return np.sum(b * b)


def broadcast_to_rows(m: Any, parts: Any) -> Any:
    for q in parts:
        a = (q.ravel() * m[0, 0])[:3]
        b = a * np.ones((2, 1)) * m[1, 1]
        c = b.T * m[0, 1]
    return np.sum(c * c)


@pytest.mark.parametrize("f", [raveled, summed_up, in_rows, broadcast_to_rows], ids=lambda f: f.__name__)
@pytest.mark.parametrize("count", [1, 2, 80])
def test_gradients(f: Callable[..., Any], count: int) -> None:
    parts = (SHAPES * 40)[:count]
    value, slope = value_and_grad(f)(M, parts)
    assert value == f(M, parts)
    expected = numeric_gradient(lambda m: f(m, parts), [M])
    np.testing.assert_allclose(slope, expected, rtol=1e-8, atol=1e-9)
    pulled, _ = vjp(f, M, parts)[1](1.0)
    np.testing.assert_allclose(pulled, expected, rtol=1e-8, atol=1e-9)


def largest(m: Any, factors: Any) -> Any:
    for q in factors:
        z = ndimage.maximum(m * q)
        z = z * 0.9
    return np.sum(z)


def test_of_a_number_that_a_library_gives() -> None:
    slope = grad(largest)(M, [1.0, 2.0])
    np.testing.assert_allclose(slope, numeric_gradient(lambda m: largest(m, [1.0, 2.0]), [M]), atol=1e-9)
