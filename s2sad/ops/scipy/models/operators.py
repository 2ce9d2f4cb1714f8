"""Linear operators that a program makes of functions, and systems with these."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import linalg

from s2sad.ops.models import model
from s2sad.ops.scipy.models.sparse import Sparse, system_of
from s2sad.runtime.marks import stop_gradient
from s2sad.runtime.scipy.entries import factor_of, iterated
from s2sad.runtime.scipy.matrix_free import free_solution, require_columns, require_rows


@model(linalg.LinearOperator, given="functions")
class Operator:
    """A matrix that is known by functions, of its products with vectors."""

    def __init__(
        self, shape: Any, matvec: Any, rmatvec: Any = None, matmat: Any = None, dtype: Any = None, rmatmat: Any = None
    ) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype
        self.product = matvec
        self.adjoint_product = rmatvec
        self.products = matmat
        self.adjoint_products = rmatmat

    def matvec(self, x: Any) -> Any:
        x = require_columns(x, self.shape[1])
        return np.reshape(np.asarray(self.product(x)), (self.shape[0], 1)[: x.ndim])

    def rmatvec(self, x: Any) -> Any:
        x = require_columns(x, self.shape[0])
        return np.reshape(np.asarray(self.adjoint_product(x)), (self.shape[1], 1)[: x.ndim])

    def matmat(self, X: Any) -> Any:
        X = require_rows(X, self.shape[1])
        if self.products is not None:
            return self.products(X)
        return np.hstack([self.matvec(X[:, [k]]) for k in range(X.shape[1])])

    def rmatmat(self, X: Any) -> Any:
        X = require_rows(X, self.shape[0])
        if self.adjoint_products is not None:
            return self.adjoint_products(X)
        return np.hstack([self.rmatvec(X[:, [k]]) for k in range(X.shape[1])])

    @property
    def H(self) -> Any:
        shape = (self.shape[1], self.shape[0])
        return Operator(
            shape, self.adjoint_product, self.product, self.adjoint_products, self.dtype, self.products
        )  # fmt: skip

    def adjoint(self) -> Any:
        return self.H

    @property
    def T(self) -> Any:
        return Operator(
            (self.shape[1], self.shape[0]),
            lambda x: np.conj(self.rmatvec(np.conj(x))),
            lambda x: np.conj(self.matvec(np.conj(x))),
            lambda x: np.conj(self.rmatmat(np.conj(x))),
            self.dtype,
            lambda x: np.conj(self.matmat(np.conj(x))),
        )

    def transpose(self) -> Any:
        return self.T

    def dot(self, x: Any) -> Any:
        return self @ x

    def __call__(self, x: Any) -> Any:
        return self @ x

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, Operator):
            return Operator(
                (self.shape[0], x.shape[1]),
                lambda v: self.matvec(x.matvec(v)),
                lambda v: x.rmatvec(self.rmatvec(v)),
                lambda v: self.matmat(x.matmat(v)),
                None,
                lambda v: x.rmatmat(self.rmatmat(v)),
            )
        x = np.asarray(x)
        return self.matvec(x) if x.ndim == 1 or x.shape[1] == 1 else self.matmat(x)

    def __mul__(self, x: Any) -> Any:
        return self @ x if isinstance(x, Operator) else scaled(self, factor_of(x))

    def __rmul__(self, x: Any) -> Any:
        return scaled(self, factor_of(x))

    def __truediv__(self, x: Any) -> Any:
        return scaled(self, 1.0 / factor_of(x))

    def __neg__(self) -> Any:
        return scaled(self, -1)

    def __add__(self, other: Any) -> Any:
        other = operator_of(other)
        return Operator(
            self.shape,
            lambda v: self.matvec(v) + other.matvec(v),
            lambda v: self.rmatvec(v) + other.rmatvec(v),
            lambda v: self.matmat(v) + other.matmat(v),
            None,
            lambda v: self.rmatmat(v) + other.rmatmat(v),
        )

    def __radd__(self, other: Any) -> Any:
        return operator_of(other) + self

    def __sub__(self, other: Any) -> Any:
        return self + scaled(operator_of(other), -1)

    def __rsub__(self, other: Any) -> Any:
        return operator_of(other) + scaled(self, -1)


class Scaled(Operator):
    """An operator times a number."""

    def __init__(self, of: Any, factor: Any) -> None:
        super().__init__(
            of.shape,
            lambda v: factor * of.matvec(v),
            lambda v: np.conj(factor) * of.rmatvec(v),
            lambda v: factor * of.matmat(v),
            None,
            lambda v: np.conj(factor) * of.rmatmat(v),
        )
        self.of = of
        self.factor = factor


def scaled(a: Any, factor: Any) -> Any:
    """An operator times a number; SciPy multiplies the numbers first."""
    return Scaled(a.of, factor * a.factor) if isinstance(a, Scaled) else Scaled(a, factor)


def operator_of(a: Any) -> Any:
    """A linear operator, or one that is constant."""
    if isinstance(a, Operator):
        return a
    return Operator(
        a.shape,
        lambda v: linalg.LinearOperator.matvec(a, v),
        lambda v: linalg.LinearOperator.rmatvec(a, v),
        lambda v: linalg.LinearOperator.matmat(a, v),
        None,
        lambda v: linalg.LinearOperator.rmatmat(a, v),
    )


@model(linalg.aslinearoperator, given="structured")
def aslinearoperator(A: Any) -> Any:
    return A if isinstance(A, Operator) else of_matrix(A)


def of_matrix(a: Any) -> Any:
    """A matrix as an operator, which has columns multiplied."""
    return Operator(
        a.shape,
        lambda v: a @ np.reshape(v, (-1, 1)),
        lambda v: np.conj(a.T @ np.conj(np.reshape(v, (-1, 1)))),
        lambda v: a @ v,
        None,
        lambda v: np.conj(a.T @ np.conj(v)),
    )


def solution_by(name: Any, A: Any, b: Any, x0: Any, M: Any, options: Any) -> Any:
    """The solution of a system by one of SciPy's functions, and whether it was found."""
    options = {"x0": stop_gradient(x0), **options}
    if isinstance(A, Operator) or isinstance(M, (Operator, Sparse)):
        return free(name, aslinearoperator(A), b, M, options)
    A = system_of(A)
    return iterated(name, A.values, A.pattern, b, M, options)


def free(name: Any, A: Any, b: Any, M: Any, options: Any) -> Any:
    """The same with functions for products with the matrix, and perhaps with a preconditioner."""
    turns = name in ("bicg", "qmr") and A.adjoint_product is not None
    adjoint = (lambda v, b: A.adjoint_product(v)) if turns else None
    if isinstance(M, (Operator, Sparse)):
        m = aslinearoperator(M)
        return free_solution(
            lambda v, b: A.product(v), (b,), name, A.shape, A.dtype, options, adjoint, lambda v, b: m.product(v)
        )
    options = options if M is None else {**options, "M": M}
    return free_solution(lambda v, b: A.product(v), (b,), name, A.shape, A.dtype, options, adjoint)
