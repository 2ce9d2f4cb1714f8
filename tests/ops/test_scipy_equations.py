"""Matrix equations and factors of ``scipy.linalg`` in whole programs, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg

from s2sad import grad, hvp, jvp
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.7, 1.3, 0.4, 1.9])
A = np.arange(16.0).reshape(4, 4) / 20 + np.eye(4)
B = np.cos(np.arange(8.0)).reshape(4, 2)


def regulator(x: Any) -> Any:
    p = linalg.solve_continuous_are(A, B, np.diag(x), np.diag(x[:2]))
    return np.trace(p) + np.sum(p**2)


def sampled_regulator(x: Any) -> Any:
    p = linalg.solve_discrete_are(0.3 * A, B * x[0], np.diag(x), np.diag(1 + x[:2]))
    return np.sum(np.linalg.solve(np.diag(x[:2]) + B.T @ p @ B, B.T @ p) ** 2)


def rotation(x: Any) -> Any:
    u, p = linalg.polar(A.T + np.diag(x))
    return np.sum(u * A) + np.sum(p**3)


def aligned(x: Any) -> Any:
    r, scale = linalg.orthogonal_procrustes(A, A.T + np.diag(x))
    return np.sum(r**2 * A) * scale


def hopping(x: Any) -> Any:
    w, v = linalg.eigh_tridiagonal(x, x[1:])
    return np.sum(w**3) + np.sum(v[:, 0] ** 4)


def lowest(x: Any) -> Any:
    w = linalg.eigvalsh_tridiagonal(x, x[1:] ** 2, select="i", select_range=(0, 1))
    return w[0] * w[1]


def columns(x: Any) -> Any:
    return np.sum(linalg.khatri_rao(A, A * x) ** 2) + np.sum(linalg.companion(x) ** 3)


def factors(x: Any) -> Any:
    return np.sum(linalg.lu(A.T + np.diag(x))[2] ** 2 * A)


CASES = [regulator, sampled_regulator, rotation, aligned, hopping, lowest, columns, factors]


@pytest.mark.parametrize("f", CASES)
def test_gradients(f: Callable[..., Any]) -> None:
    expected, dot = numeric_gradient(f, (X,)), np.array([0.3, -0.5, 0.2, 0.8])
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(jvp(f, (X,), (dot,))[1], expected @ dot, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", CASES)
def test_second_derivatives(f: Callable[..., Any]) -> None:
    dot = np.array([0.3, -0.5, 0.2, 0.8])
    expected = richardson_jvp(grad(f), (X,), (dot,))
    np.testing.assert_allclose(hvp(f, (X,), (dot,)), expected, rtol=1e-5, atol=1e-6)


def wide(x: Any) -> Any:
    return np.sum(linalg.polar(A[:2] * x)[1])


def test_polar_factors_of_a_singular_kind_are_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match="fewer rows than columns"):
        grad(wide)(X)


def descriptor(x: Any) -> Any:
    return np.sum(linalg.solve_continuous_are(A, B, np.diag(x), np.eye(2), 2 * np.eye(4)))


def cross_weights(x: Any) -> Any:
    return np.sum(linalg.solve_discrete_are(0.3 * A, B, np.diag(x), np.eye(2), s=0.1 * B))


@pytest.mark.parametrize("f", [descriptor, cross_weights])
def test_equations_with_more_matrices_are_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(UndefinedDerivativeError, match="with e or s"):
        grad(f)(X)
    with pytest.raises(UndefinedDerivativeError, match="with e or s"):
        jvp(f, (X,), (X,))
