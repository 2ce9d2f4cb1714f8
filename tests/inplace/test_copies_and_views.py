"""What is a copy and what a view of an array that is written: by positions, masks, diagonals, slices and methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.4, 0.5, 0.6, 0.7])


def gathered_into_a_buffer(x: Any) -> Any:
    """Positions and masks copy, so that a write does not go back."""
    a = np.outer(x, x)
    a[0] = 2.0
    t = (a * np.mean(x))[[2, 0, 0]]
    t[0] = x
    d = a[a > 0.1]
    d[0] *= 3.0
    a[2] = 1.0
    return np.sum(t * t) + np.sum(d) + np.sum(a)


def diagonal_of_a_buffer(x: Any) -> Any:
    """``np.diag`` copies a vector and views a matrix."""
    a = np.outer(x, x)
    a[0] = 2.0
    d = np.diag(a)
    a[1] *= 3.0
    m = np.diag(x)
    m[0] += d
    return np.sum(np.sin(d)) + np.sum(m * m)


def made_by_the_class(x: Any) -> Any:
    """``np.ndarray(shape)`` is an empty array; ``np.arange`` may be reshaped and written."""
    a = np.ndarray((5, 5))
    a[...] = x
    b = np.arange(25.0).reshape(5, 5)
    b[1] = x * x
    c = np.ndarray(shape=(5, 5), dtype=float, order="F")
    c[...] = b * x
    d = np.ndarray((5,), np.float64)
    d[:] = x[0] ** 2
    return np.sum(a * b) + np.sum(c * d)


def views_of_what_a_loop_overwrites(x: Any) -> Any:
    """A view of which only the shape is needed does not stand for the copy of its elements."""
    a = x * 1.0
    for _ in range(1, 4):
        a[:3] -= a[2:] * a[:3]
    return np.sum(a)


@pytest.mark.parametrize(
    "f",
    [gathered_into_a_buffer, diagonal_of_a_buffer, made_by_the_class, views_of_what_a_loop_overwrites],
    ids=lambda f: f.__name__,
)
def test_value_and_gradient(f: Callable[[Any], Any]) -> None:
    value, gradient = value_and_grad(f)(X)
    assert value == f(X.copy())
    np.testing.assert_allclose(gradient, numeric_gradient(lambda a: f(a.copy()), (X,), 0), rtol=1e-7, atol=1e-9)


# --- what is no copy


V = np.array([0.7, 1.3, 0.4, 0.9])


def conjugate_written(x: Any) -> Any:
    y = x * 1.0
    c = y.conj()
    c[0] = 0.0
    return np.sum(y * y)


def own_conjugate_written(x: Any) -> Any:
    x = x.conjugate()
    x[0] = 2.0
    return np.sum(x * x)


def conjugate_of_what_is_written(x: Any) -> Any:
    n = x.conj()
    x[0] = 2.0
    return np.sum(n * x)


def array_if_needed(x: Any) -> Any:
    y = x * 1.0
    c = np.array(y, copy=None)
    c[0] = 0.0
    return np.sum(y * y)


def test_an_array_that_is_copied_only_if_needed() -> None:
    np.testing.assert_allclose(
        value_and_grad(array_if_needed)(V)[1], numeric_gradient(array_if_needed, (V,)), atol=1e-9
    )


@pytest.mark.parametrize("f", [conjugate_written, own_conjugate_written, conjugate_of_what_is_written])
def test_a_real_array_is_its_own_conjugate(f: Callable[[Any], Any]) -> None:
    before = V.copy()
    with pytest.raises(UnsupportedError, match="Take a copy"):
        value_and_grad(f)(before)
    np.testing.assert_array_equal(before, V)


def test_the_function_conj_makes_a_copy() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        c = np.conj(y)
        c[0] = 0.0
        return np.sum(y * y)

    np.testing.assert_allclose(grad(f)(V), 2.0 * V)
