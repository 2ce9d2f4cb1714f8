"""Adjoints of right-hand sides of systems with a sparse matrix, direct and iterative."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import linalg

from s2sad.errors import UndefinedDerivativeError


def spsolve_adjoint(z_bar: Any, a: Any, b: Any) -> Any:
    """Adjoint of ``b``, an array, in ``linalg.spsolve(a, b)``."""
    b_bar = linalg.spsolve(a.T.tocsc(), z_bar)
    return b_bar.reshape(np.shape(b))


def iterated_adjoint(name: str, z_bar: Any, a: Any, b: Any, m: Any = None, **options: Any) -> Any:
    """Adjoint of ``b`` in ``linalg.name(a, b, M=m, **options)[0]``, found by the same solver to the same tolerance."""
    b_bar = getattr(linalg, name)(a.T, z_bar, M=None if m is None else m.T, **options)[0]
    return b_bar.reshape(np.shape(b))


def matrix_adjoint(b_bar: Any, z: Any) -> Any:
    """Adjoint of a whole matrix in the solution ``z`` of a system with it, in that of the right-hand side."""
    return -np.multiply.outer(np.ravel(b_bar), np.ravel(z))


def moved(a_dot: Any, z: Any) -> Any:
    """What the right-hand side of a system has to change by for a tangent of its matrix, an array or a number 0."""
    return a_dot @ np.ravel(z) if np.ndim(a_dot) else 0.0


def triangular_adjoint(z_bar: Any, a: Any, b: Any, lower: bool, unit_diagonal: bool) -> Any:
    """Adjoint of ``b`` in ``linalg.spsolve_triangular(a, b, lower)``."""
    rows, columns = a.nonzero()
    if np.any(rows < columns if lower else rows > columns):
        raise UndefinedDerivativeError(
            "the matrix given to spsolve_triangular is not triangular, and SciPy's result no solution",
            "Give it sparse.tril(A) or sparse.triu(A).",
        )
    return linalg.spsolve_triangular(a.T.tocsr(), z_bar, not lower, unit_diagonal=unit_diagonal)
