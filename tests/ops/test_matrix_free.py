"""Linear systems whose matrix is a function that captures what is differentiated: against differences."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, sparse
from scipy.sparse import linalg
from scipy.sparse.linalg import LinearOperator, aslinearoperator, bicgstab, cg, gmres, minres

from s2sad import grad, hvp, jvp, value_and_grad
from s2sad.errors import S2SADError, UndefinedDerivativeError
from tests.oracle import numeric_gradient

SIDES = 0.3 * np.eye(4, k=1)
SYMMETRIC = sparse.csr_matrix(np.diag([3.0, 4.0, 5.0, 6.0]) + SIDES + SIDES.T)
OTHER = sparse.csr_array(np.diag([3.0, 4.0, 5.0, 6.0]) + SIDES + SIDES.T / 3)
X, WAY = np.array([1.2, 0.7, 1.5, 2.0]), np.array([0.3, -0.2, 0.5, 0.1])
FINE = 1e-13


def diagonal(x: Any) -> Any:
    return np.sum(cg(LinearOperator((4, 4), matvec=lambda v: x * v), np.ones(4), rtol=FINE)[0] ** 2)


def stencil(x: Any) -> Any:
    def matvec(v: Any) -> Any:
        w = x * v
        w[1:] += 0.2 * v[:-1]
        w[:-1] += 0.1 * v[1:]
        return w

    u, info = gmres(LinearOperator((4, 4), matvec=matvec, dtype=float), x**2, rtol=FINE)
    assert info == 0
    return np.sum(u**3)


def with_adjoint(x: Any) -> Any:
    a = LinearOperator((4, 4), matvec=lambda v: OTHER @ v + x * v, rmatvec=lambda v: OTHER.T @ v + x * v)
    return np.sum(bicgstab(a, np.sin(x), rtol=FINE)[0] ** 2)


def preconditioned(x: Any) -> Any:
    a = LinearOperator((4, 4), matvec=lambda v: SYMMETRIC @ v + x * v, dtype=np.float64)
    m = LinearOperator((4, 4), matvec=lambda v: v / (SYMMETRIC.diagonal() + x))
    return np.sum(minres(a, np.sin(x), M=m, rtol=FINE, shift=0.2)[0] ** 2)


def product(x: Any, c: Any, v: Any) -> Any:
    return SYMMETRIC @ v + c * x * v


def steps(x: Any) -> Any:
    a, u = LinearOperator((4, 4), matvec=functools.partial(product, x, 2.0)), np.ones(4)
    for _ in range(3):
        u = cg(a, u, x0=u, rtol=FINE)[0]
    return np.sum(u**2)


class Heat:
    def __init__(self, k: Any) -> None:
        self.k = k

    def apply(self, v: Any) -> Any:
        return SYMMETRIC @ v + self.k * v

    def operator(self) -> Any:
        return LinearOperator((4, 4), matvec=self.apply)


def method(x: Any) -> Any:
    return np.sum(cg(Heat(x).operator(), np.reshape(x, (4, 1)), rtol=FINE)[0] ** 2)


def grid(x: Any) -> Any:
    def matvec(u: Any) -> Any:
        u = u.reshape(2, 2)
        return (x.reshape(2, 2) * u + u.sum() * 0.1).ravel()

    lu = linalg.spilu(sparse.csc_matrix(SYMMETRIC))
    m = LinearOperator((4, 4), matvec=lu.solve)
    return np.sum(gmres(LinearOperator((4, 4), matvec), x, M=m, rtol=FINE)[0] ** 2)


def of_entries(x: Any) -> Any:
    a = sparse.diags(x) + SYMMETRIC
    d = a.diagonal()
    m = LinearOperator((4, 4), matvec=lambda r: r / d)
    return np.sum(cg(a, x, M=m, rtol=FINE)[0] ** 2)


def complex_(x: Any) -> Any:
    a = LinearOperator((4, 4), matvec=lambda v: (1j * x + 2) * v + OTHER @ v)
    return np.sum(np.abs(gmres(a, x, rtol=FINE)[0]) ** 2)


def multiplied(v: Any) -> Any:
    return OTHER @ v


def constant_matrix(x: Any) -> Any:
    return np.sum(gmres(LinearOperator((4, 4), matvec=multiplied), x, rtol=FINE)[0] ** 2)


def others(x: Any) -> Any:
    a = LinearOperator((4, 4), lambda v: x * v + 0.3 * v.sum())
    found = linalg.lgmres(a, x, rtol=FINE)[0] + linalg.cgs(a, x, rtol=FINE)[0]
    return np.sum((found + linalg.tfqmr(a, x, rtol=FINE)[0]) ** 2)


def both_sides(x: Any) -> Any:
    a = LinearOperator((4, 4), matvec=lambda v: OTHER @ v + x * v, rmatvec=lambda v: OTHER.T @ v + x * v)
    found = linalg.bicg(a, np.ones(4), rtol=FINE)[0] + linalg.qmr(a, x, rtol=FINE)[0]
    return np.sum(found**2) + np.sum(linalg.bicg(sparse.diags(x) + OTHER, x, rtol=FINE)[0] ** 2)


def algebra(x: Any) -> Any:
    d = LinearOperator((4, 4), matvec=lambda v: x * v, rmatvec=lambda v: x * v)
    b = LinearOperator((4, 4), matvec=lambda v: OTHER @ v, rmatvec=lambda v: OTHER.T @ v)
    a = b.H @ (d / 2) @ b - (-d) + 2 * (3 * d)
    return np.sum(cg(a, np.ones(4), rtol=FINE)[0] ** 2) + np.sum((a @ x) ** 2) + np.sum(a.T.dot(x)) * a.shape[0]


def products(x: Any) -> Any:
    a = LinearOperator((4, 4), matvec=lambda v: np.ravel(v) * x, rmatvec=lambda v: np.ravel(v) * x**2)
    several = a.matmat(np.stack([x, x**2], axis=1)) * a.rmatmat(np.ones((4, 2)))
    return np.sum(a.matvec(x) ** 2) + np.sum(a.rmatvec(x)) + np.sum(a(x[:, None])) + np.sum(several**2)


def of_a_matrix(x: Any) -> Any:
    a = aslinearoperator(sparse.diags(x) + SYMMETRIC)
    return np.sum(cg(a, np.ones(4), rtol=FINE)[0] ** 2) + np.sum((a @ x) ** 2)


SYSTEMS = [
    diagonal, stencil, with_adjoint, preconditioned, steps, method, grid, of_entries, complex_, constant_matrix,
    others, both_sides, algebra, products, of_a_matrix,
]  # fmt: skip


@pytest.mark.parametrize("f", SYSTEMS, ids=lambda f: f.__name__)
def test_systems_with_functions(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, [X])
    value, found = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X,), (WAY,))[1], expected @ WAY, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("f", SYSTEMS, ids=lambda f: f.__name__)
def test_their_second_derivatives(f: Callable[..., Any]) -> None:
    def along(t: Any) -> Any:
        return np.sum(grad(f)(t) * WAY)

    expected = numeric_gradient(along, [X])
    np.testing.assert_allclose(hvp(f, (X,), (WAY,)), expected, rtol=1e-5, atol=1e-6)
    if f in (diagonal, preconditioned, of_entries):
        np.testing.assert_allclose(grad(along)(X), expected, rtol=1e-5, atol=1e-6)


def test_what_is_no_solution_has_no_derivative() -> None:
    def stopped(x: Any) -> Any:
        a = LinearOperator((4, 4), matvec=lambda v: x * v + OTHER @ v)
        return np.sum(gmres(a, np.ones(4), maxiter=1, restart=1, rtol=1e-12)[0])

    def bent(x: Any) -> Any:
        return np.sum(cg(LinearOperator((4, 4), matvec=lambda v: x * v + 5.0), np.ones(4), maxiter=3)[0])

    for f in (stopped, bent):
        for derivative in (lambda f=f: grad(f)(X), lambda f=f: jvp(f, (X,), (WAY,))):
            with pytest.raises(UndefinedDerivativeError):
                derivative()


def test_functions_that_change_what_they_capture_are_refused() -> None:
    def counted(x: Any) -> Any:
        calls = [0]

        def matvec(v: Any) -> Any:
            calls[0] += 1
            return x * v

        return np.sum(cg(LinearOperator((4, 4), matvec=matvec), np.ones(4))[0])

    with pytest.raises(S2SADError):
        grad(counted)(X)


def test_integrands_with_a_sparse_matrix() -> None:
    def integral(x: Any) -> Any:
        return integrate.quad(lambda t: np.sum((SYMMETRIC @ (t * x)) ** 2), 0, 1)[0]

    np.testing.assert_allclose(grad(integral)(X), numeric_gradient(integral, [X]), rtol=1e-7)


def turned(v: Any, x: Any) -> Any:
    return OTHER.T @ v + x * v


def test_second_derivatives_through_constant_matrices_that_loops_save() -> None:
    operator = aslinearoperator(OTHER)

    def walk(x: Any) -> Any:
        y = x
        for _ in range(3):
            y = turned(y, x) / 4
        return np.sum(y**3)

    def applied(v: Any, x: Any) -> Any:
        return operator @ v * x

    def of_operator(x: Any) -> Any:
        y = x
        for _ in range(2):
            y = applied(y, x) / 4
        return np.sum(y**3)

    for f in (walk, of_operator):
        expected = numeric_gradient(lambda t, f=f: np.sum(grad(f)(t) * WAY), [X])
        np.testing.assert_allclose(hvp(f, (X,), (WAY,)), expected, rtol=1e-6)
