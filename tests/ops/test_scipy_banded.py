"""Structured and banded matrices of scipy.linalg, and factors and angles that are made of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg

from s2sad import S2SADError, grad, hvp, value_and_grad
from tests.ops.test_modelled_functions import as_scipy_has_it, total
from tests.oracle import richardson_jvp

Function = Callable[[Any], Any]
X = np.array([[0.7, 1.3, 0.4, 2.0], [2.2, 2.9, 3.1, 2.5]])

MADE: dict[str, Function] = {
    "convolution": lambda x: linalg.convolution_matrix(x[0], 3),
    "convolution same": lambda x: linalg.convolution_matrix(x[0], 6, "same"),
    "convolution valid": lambda x: linalg.convolution_matrix(x[0], 3, mode="valid"),
    "fiedler": lambda x: linalg.fiedler(x[0]),
    "fiedler of rows": lambda x: linalg.fiedler(x),
    "leslie": lambda x: linalg.leslie(x[0], x[1, :3]),
    "diagsvd wide": lambda x: linalg.diagsvd(x[0], 4, 6),
    "diagsvd high": lambda x: linalg.diagsvd(x[0], 6, 4),
    "circulant": lambda x: linalg.solve_circulant(x[0], x[1]),
    "circulant of columns": lambda x: linalg.solve_circulant(x[0], x.T),
    "circulant axes": lambda x: linalg.solve_circulant(x[0], x, baxis=1, outaxis=1),
    "circulant complex": lambda x: np.abs(linalg.solve_circulant(x[0] + 1j, x[1])),
    "rq": lambda x: linalg.rq(x[:, :2] @ x[:, :2].T + x[:, 2:])[0],
    "rq economic": lambda x: linalg.rq(x, mode="economic")[1],
    "rq complex": lambda x: np.abs(linalg.rq(x[:, :2] + 1j * x[:, 2:], mode="r")),
    "angles": lambda x: linalg.subspace_angles(x.T, x.T**2 + np.arange(8.0).reshape(4, 2)),
    "angle": lambda x: linalg.subspace_angles(x[:1].T ** 2, x.T),
    "eigenvalues": lambda x: linalg.eigvals_banded(x),
    "eigenvalues lower": lambda x: linalg.eigvals_banded(x, lower=True),
    "eigenvalues only": lambda x: linalg.eig_banded(x, eigvals_only=True),
    "eigenvectors": lambda x: linalg.eig_banded(x)[1][:, 0],
    "eigenvectors lower": lambda x: linalg.eig_banded(x[::-1], lower=True)[1][:, 1],
    "cholesky": lambda x: linalg.cholesky_banded(x),
    "cholesky lower": lambda x: linalg.cholesky_banded(x[::-1], lower=True),
    "solved": lambda x: linalg.cho_solve_banded((linalg.cholesky_banded(x), False), x[0]),
    "solved lower": lambda x: linalg.cho_solve_banded((linalg.cholesky_banded(x[::-1], lower=True), True), x.T),
}


@pytest.mark.parametrize("name", MADE)
def test_values_and_both_modes(name: str) -> None:
    as_scipy_has_it(MADE[name], X)


@pytest.mark.parametrize("name", ["circulant", "eigenvalues", "cholesky", "solved", "fiedler"])
def test_second_derivatives(name: str) -> None:
    f, way = total(MADE[name]), np.cos(np.arange(8.0)).reshape(2, 4)
    np.testing.assert_allclose(hvp(f, (X,), (way,)), richardson_jvp(grad(f), [X], [way]), rtol=1e-5, atol=1e-7)


def test_what_has_no_derivative_is_said() -> None:
    for f in (
        lambda x: linalg.convolution_matrix(x, 2),
        lambda x: linalg.leslie(x, x[1, :3]),
        lambda x: linalg.rq(x)[0],
        lambda x: linalg.subspace_angles(np.stack([x[0], x[0]], axis=1), x.T),
        lambda x: linalg.eig_banded(x, select="i", select_range=(0, 1))[0],
    ):
        with pytest.raises(S2SADError):
            grad(total(f))(X)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        grad(total(lambda x: linalg.solve_circulant(x[0] - np.mean(x[0]), x[1])))(X)


MADE_IN_SINGLE: dict[str, Any] = {
    "leslie": lambda x: linalg.leslie(x, x[1:]),
    "convolution": lambda x: linalg.convolution_matrix(x, 4),
    "wide": lambda x: linalg.diagsvd(x, 3, 5),
    "high": lambda x: linalg.diagsvd(x, 5, 3),
}


@pytest.mark.parametrize("name", MADE_IN_SINGLE)
def test_matrices_of_single_precision_stay_so(name: str) -> None:
    x = np.array([0.3, 0.7, 1.1], np.float32)
    value, found = value_and_grad(lambda x: np.sum(MADE_IN_SINGLE[name](x) ** 2))(x)
    assert value == np.sum(MADE_IN_SINGLE[name](x) ** 2)
    assert (value.dtype, found.dtype) == (np.float32, np.float32)
