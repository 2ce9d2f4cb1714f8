"""Indices with tuples of positions in them, which NumPy takes for lists: elements may be named twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from tests.oracle import numeric_gradient

X = np.array([[0.5, 1.2, -0.7], [0.3, -0.4, 0.9]])
INDICES = [((0, 0, 1),), (slice(None), (0, 0, 2)), ((0, 0), (1, 1)), ((0, 1), 2), (..., (2, 2)), ((0, 1), [1, 1])]


def read(x: Any, i: Any) -> Any:
    return np.sum(np.sin(x)[i] ** 3)


def read_of_what_is_written(x: Any, i: Any) -> Any:
    a = np.sin(x)
    v = a[i]
    a[0] = x[1] * x[0]
    w = a[i]
    return np.sum(v * v * w) + np.sum(a)


def read_in_a_loop(x: Any, i: Any) -> Any:
    total = 0.0
    for k in range(3):
        total = total + np.sum((x * k)[i] ** 2)
        x = x * 1.5
    return total


def put(x: Any, i: Any) -> Any:
    a = x * 2.0
    a[i] = np.sin(x[0, 1])
    return np.sum(a**2)


def added(x: Any, i: Any) -> Any:
    a = x * 2.0
    a[i] += x[1, 0] ** 2
    a[i] *= x[0, 0]
    return np.sum(a**2)


def added_at(x: Any, i: Any) -> Any:
    a = x * 2.0
    np.add.at(a, i, x[1, 0] ** 2)
    return np.sum(a**2)


FUNCTIONS = [read, read_of_what_is_written, read_in_a_loop, put, added, added_at]


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any], index: Any) -> None:
    wanted = numeric_gradient(f, (X, index), 0)
    np.testing.assert_allclose(grad(f)(X, index), wanted, rtol=1e-7, atol=1e-9)
    way = np.cos(X)
    np.testing.assert_allclose(jvp(f, (X, index), (way, None))[1], np.sum(wanted * way), rtol=1e-7)


@pytest.mark.parametrize("index", INDICES[:3], ids=str)
def test_second_derivatives(index: Any) -> None:
    way = np.cos(X)
    wanted = numeric_gradient(lambda x: np.sum(grad(read)(x, index) * way), (X,), 0)
    np.testing.assert_allclose(hvp(read, (X, index), (way, None)), wanted, rtol=1e-6, atol=1e-9)


def test_written_in_the_index() -> None:
    def f(x: Any) -> Any:
        return np.sum(x[(0, 0, 1),] ** 2) + np.sum(x[:, (1, 1)] ** 3)

    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,), 0), rtol=1e-8, atol=1e-9)
