"""Least squares with a sparse matrix whose entries carry derivatives, and systems with its normal equations."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.entries import Pattern, product, turned

Array = Any


def least(values: Array, pattern: Pattern, b: Array, name: str, damp: Any, options: Any) -> Any:
    """``linalg.lsqr(A, b, damp, **options)``, or ``lsmr``."""
    return getattr(linalg, name)(pattern.matrix(values), np.asarray(b), damp, **options)


def normal(values: Array, pattern: Pattern, g: Array, damp: Any, options: Any) -> Array:
    """The solution of least length of ``(A.T @ A + damp**2) @ x = g``, to tolerances as those of ``lsqr``."""
    matrix, given = pattern.matrix(values), {key: options[key] for key in ("atol", "btol") if key in options}
    if damp:
        a = linalg.aslinearoperator(matrix)
        count, size = a.shape

        def below(x: Array) -> Array:
            return np.append(a.matvec(x), damp * x)

        def above(y: Array) -> Array:
            return a.rmatvec(y[:count]) + damp * y[count:]

        matrix = linalg.LinearOperator((count + size, size), below, above, dtype=np.result_type(values, g))
    adjoint = matrix.T if isinstance(matrix, np.ndarray) or sparse.issparse(matrix) else matrix.H
    found: Array = linalg.lsqr(matrix, linalg.lsqr(adjoint, g, **given)[0], **given)[0]
    return found


def matrix_tangent(dot: Array, values: Array, pattern: Pattern, w: Array) -> Array:
    """The tangent of ``A.T @ A``, of that of the entries, times a vector."""
    first = product(dot, turned(pattern), product(values, pattern, w))
    return first + product(values, turned(pattern), product(dot, pattern, w))


def require_solved(w: Array, values: Array, pattern: Pattern, g: Array, damp: Any) -> float:
    """0.0, where ``w`` in `normal` is a solution, and no nearest thing to one."""
    rest = product(values, turned(pattern), product(values, pattern, w)) + damp**2 * w - g
    if not np.linalg.norm(rest) <= 1e-4 * np.linalg.norm(g):
        raise UndefinedDerivativeError(
            "a solution of least squares that is not the only one has no second derivative",
            "Give damp, so that there is one, or let it be found to smaller tolerances.",
        )
    return 0.0


def require_real(values: Array, b: Array) -> Array:
    """The right-hand side of least squares, where all is real."""
    if np.iscomplexobj(values) or np.iscomplexobj(b):
        raise UndefinedDerivativeError(
            "least squares with complex numbers has no derivative rule", "Solve for real and imaginary parts."
        )
    return np.asarray(b)
