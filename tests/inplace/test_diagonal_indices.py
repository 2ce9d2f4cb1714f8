"""Indices of diagonals: one array for all axes, which may be written, and none of the array of which they are asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([1.0, 2.0, 3.0])


def noisy(x: Any) -> Any:
    K = np.outer(x, x)
    K[np.diag_indices_from(K)] += 0.1
    K[np.diag_indices(3)] *= x
    return np.sum(K**2)


def tried(x: Any) -> Any:
    K = np.outer(x, x)
    try:
        K[np.diag_indices_from(K)] += 0.1**2
    except ValueError:
        K = K * 2.0
    return np.sum(K**2)


def unpacked(x: Any) -> Any:
    K = np.outer(x, x)
    ij = np.diag_indices_from(K)
    i, j = ij
    y = K[i, j] * x[1]
    i[0] = 2
    return np.sum(y * K[j, i])


def as_one(x: Any) -> Any:
    K = np.outer(x, x)
    ij = np.diag_indices_from(K)
    y = K[ij] ** 2
    ij[0][0] = 1
    return np.sum(y * K[ij])


def pair(K: Any) -> Any:
    i, j = np.diag_indices_from(K)
    return i, j


def shift(i: Any) -> None:
    i[0] = 2


def of_callees(x: Any) -> Any:
    K = np.outer(x, x)
    i, j = pair(K)
    y = K[i, j] * x[1]
    shift(i)
    return np.sum(y * K[j, i])


def weighed(K: Any, n: int) -> Any:
    ij = np.diag_indices_from(K)
    i, j = ij
    s = 0.0
    for k in range(n):
        i[0] = k
        K[i, j] *= 1.1
        s = s + np.sum(K[ij] ** 3)
    while s > 1e9:
        s = s - 1.0
    return s * K[ij]


def in_loops(x: Any) -> Any:
    K = np.outer(x, x)
    return np.sum(weighed(K, 3)) + np.sum(K**2)


def replaced(x: Any) -> Any:
    K = np.outer(x, x)
    ij = np.diag_indices_from(K)
    for k in range(2):
        K[ij] = K[ij] ** 2 * x
        K = np.vstack([K, x])[1:]
        ij[0][0] = k
    return np.sum(K**2)


PROGRAMS: list[Callable[..., Any]] = [noisy, tried, unpacked, as_one, of_callees, in_loops, replaced]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (X,), (np.cos(X),))[1], expected @ np.cos(X), rtol=1e-7)


def test_the_indices_share_no_memory_with_the_array() -> None:
    a = np.arange(9).reshape(3, 3)
    assert not any(np.shares_memory(a, i) for i in np.diag_indices_from(a))
