"""Sparse matrices by their entries in least squares, exponentials, triangular systems and products with ``*``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from s2sad import grad, hvp, jvp, value_and_grad
from s2sad.errors import S2SADError, UndefinedDerivativeError
from tests.oracle import numeric_gradient, richardson_jvp

X, WAY = np.array([1.2, 0.7, 1.4, 2.1, 0.3]), np.array([0.3, -0.2, 0.5, 0.1, -0.7])
V = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
EXACT = {"atol": 1e-14, "btol": 1e-14}
TALL = np.array([0, 1, 2, 3, 4, 0]), np.array([0, 1, 2, 2, 1, 2])
SQUARE = np.array([0, 1, 2, 3, 3, 1]), np.array([0, 1, 2, 2, 3, 2])
LOW = np.array([0, 1, 2, 2, 1]), np.array([0, 1, 2, 0, 0])


def tall(x: Any) -> Any:
    return sparse.csr_matrix((np.append(x, x[0] * x[1]), TALL))


def square(x: Any) -> Any:
    return sparse.csr_matrix((np.append(x, x[0] * x[1]), SQUARE))


def overdetermined(x: Any) -> Any:
    u, stop, _ = linalg.lsqr(tall(x), V, **EXACT)[:3]
    assert stop < 100
    return np.sum(u**2)


def damped(x: Any) -> Any:
    return np.sum(linalg.lsqr(tall(x), x, damp=0.5, **EXACT)[0] ** 2)


def underdetermined(x: Any) -> Any:
    return np.sum(linalg.lsmr(tall(x).T, x[:3], **EXACT)[0] ** 3)


def damped_too(x: Any) -> Any:
    return np.sum(linalg.lsmr(tall(x).T, x[:3], 0.3, **EXACT)[0] ** 2)


def grown(x: Any) -> Any:
    return np.sum(linalg.expm_multiply(square(x), V[:4]) ** 2)


def several_grown(x: Any) -> Any:
    return np.sum(linalg.expm_multiply(-0.5 * square(x), np.stack([x[:4], x[1:]], 1)) ** 2)


def lower(x: Any) -> Any:
    return np.sum(linalg.spsolve_triangular(sparse.csr_matrix((x, LOW)), x[:3]) ** 2)


def upper(x: Any) -> Any:
    a = sparse.csc_array((x, LOW[::-1]))
    return np.sum(linalg.spsolve_triangular(a, np.stack([x[:3], x[2:]], 1), lower=False) ** 2)


def parts(x: Any) -> Any:
    a = square(x)
    low, high = sparse.tril(a + a.T, format="csr"), sparse.triu(a, 1)
    return np.sum(linalg.spsolve_triangular(low, x[:4]) ** 2) + np.sum((high @ x[:4]) ** 2)


def starred(x: Any) -> Any:
    a = square(x)
    product = a * a.T * x[0] * 2 + 3 * a
    return np.sum((a * V[:4]) ** 2) + np.sum((x[:4] * a) ** 3) + np.sum((product * x[1:]) ** 2)


def given_data(x: Any) -> Any:
    a = square(x)
    a.data = a.data**2
    b = a.copy()
    b.data = x[0] * V[:1] * np.arange(1.0, 7.0)
    return np.sum((a @ x[:4]) ** 2) + np.sum((b @ x[:4]) ** 2)


FUNCTIONS = [
    overdetermined, damped, underdetermined, damped_too, grown, several_grown, lower, upper, parts, starred, given_data,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_against_differences(f: Callable[..., Any]) -> None:
    value, found = value_and_grad(f)(X)
    expected = numeric_gradient(f, (X,))
    assert value == f(X)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X,), (WAY,))[1], expected @ WAY, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("f", [f for f in FUNCTIONS if f is not underdetermined], ids=lambda f: f.__name__)
def test_second_derivatives(f: Callable[..., Any]) -> None:
    expected = richardson_jvp(grad(f), [X], [WAY])
    np.testing.assert_allclose(hvp(f, (X,), (WAY,)), expected, rtol=1e-5, atol=1e-6)


def test_what_has_no_derivative() -> None:
    with pytest.raises(UndefinedDerivativeError, match="not the only one"):
        hvp(underdetermined, (X,), (WAY,))
    with pytest.raises(UndefinedDerivativeError, match="sparse array"):
        grad(lambda x: np.sum((sparse.csr_array((x[:3], LOW[1][:3], [0, 1, 2, 3])) * x[:3]).sum()))(X)
    with pytest.raises(UndefinedDerivativeError, match="several times"):
        grad(lambda x: np.sum(linalg.expm_multiply(square(x), V[:4], 0.0, 1.0, 3)))(X)
    with pytest.raises(UndefinedDerivativeError, match="unit_diagonal"):
        grad(lambda x: np.sum(linalg.spsolve_triangular(sparse.csr_matrix((x, LOW)), V[:3], unit_diagonal=True)))(X)
    with pytest.raises(S2SADError):
        grad(lambda x: linalg.lsqr(tall(x), V)[3])(X)
