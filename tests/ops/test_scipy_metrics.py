"""`cdist` and `pdist` with functions of the program's as metrics, and sparse matrices by their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import distance

from s2sad import grad, hvp, jvp
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([[0.1, 0.2], [1.0, 0.3], [0.5, 2.0]])
Y = np.array([[0.4, 1.2], [1.5, 0.7]])
DOT = np.array([[0.3, -0.5], [0.8, 0.2], [-1.1, 0.4]])
ROWS, COLUMNS, V = np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 2, 2, 0]), np.array([0.3, 0.7, 1.1])


def energy(u: Any, v: Any) -> Any:
    return np.abs(u[0] - v[0]) * np.exp(u[1] * v[1])


def between(x: Any) -> Any:
    return np.sum(distance.cdist(x, Y, lambda u, v: np.sum((u - v) ** 2) * u[0]) ** 2)


def by_name(x: Any) -> Any:
    return np.sum(distance.cdist(x, Y * x[0, 0], metric=energy)) + np.sum(distance.cdist(x, Y, distance.cityblock))


def scaled(x: Any) -> Any:
    scale = np.exp(x[0, 1])
    d = distance.pdist(x, lambda u, v: scale * np.sum(np.abs(u - v)) ** 1.5)
    return np.sum(distance.squareform(d) ** 2)


def of_lists(x: Any) -> Any:
    points = [x[0], x[1] * 2]
    return np.sum(distance.cdist(points, Y, lambda u, v: np.dot(u, v)))


def placed(x: Any) -> Any:
    matrix = sparse.coo_matrix((np.ravel(x) ** 2, (ROWS, COLUMNS)), shape=(3, 3))
    rows = matrix.tocsr()
    return np.sum((matrix @ V) ** 2) + np.sum(rows.T @ V * rows.toarray()[0]) + np.sum((rows @ rows).tocsc().dot(V))


_PROGRAMS: list[Callable[[Any], Any]] = [between, by_name, scaled, of_lists, placed]


@pytest.mark.parametrize("f", _PROGRAMS)
def test_derivatives(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-8)
    value, tangent = jvp(f, (X,), (DOT,))
    np.testing.assert_allclose(value, f(X), rtol=1e-13)
    np.testing.assert_allclose(tangent, richardson_jvp(f, (X,), (DOT,)), rtol=1e-6)


@pytest.mark.parametrize("f", [between, placed])
def test_second_derivatives(f: Callable[[Any], Any]) -> None:
    expected = richardson_jvp(lambda x: grad(f)(x), (X,), (DOT,))
    np.testing.assert_allclose(hvp(f, (X,), (DOT,)), expected, rtol=1e-6, atol=1e-8)
