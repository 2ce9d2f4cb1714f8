"""Adjoints of right-hand sides of systems with a sparse matrix, direct and iterative."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import linalg

from s2sad.errors import UndefinedDerivativeError


def spsolve_adjoint(z_bar: Any, a: Any, b: Any) -> Any:
    """Adjoint of ``b``, an array, in ``linalg.spsolve(a, b)``."""
    a = np.asarray(a) if isinstance(a, (list, tuple)) else a
    b_bar = np.linalg.solve(a.T, z_bar) if isinstance(a, np.ndarray) else linalg.spsolve(a.T.tocsc(), z_bar)
    return b_bar.reshape(np.shape(b))


def turned_matrix(a: Any) -> Any:
    """The transpose of a matrix, a sparse one or a linear operator."""
    return a.T


def turned_preconditioner(m: Any) -> Any:
    """The transpose of a preconditioner, if there is one."""
    return None if m is None else m.T


def matrix_adjoint(b_bar: Any, x: Any) -> Any:
    """Adjoint of a whole matrix in the solution ``x`` of a system with it, in that of the right-hand side."""
    count = len(x)
    return -np.reshape(b_bar, (count, -1)) @ np.reshape(x, (count, -1)).T


def moved(a_dot: Any, z: Any) -> Any:
    """What the right-hand side of a system has to change by for a tangent of its matrix, an array or a number 0."""
    return a_dot @ z if np.ndim(a_dot) else 0.0


def moved_by_transpose(a_dot: Any, z: Any, g: Any) -> Any:
    """The same for a system with the transpose, whose right-hand side is ``g``."""
    return np.reshape(a_dot.T @ np.reshape(z, np.shape(g)), np.shape(g)) if np.ndim(a_dot) else 0.0


def spsolve_tangent(a_dot: Any, b_dot: Any, z: Any, a: Any) -> Any:
    """Tangent of ``z = linalg.spsolve(a, b)``, with a tangent of the matrix if that is an array."""
    change = np.reshape(b_dot + np.zeros(np.size(z)).reshape(np.shape(b_dot) or -1), np.shape(z)) - moved(a_dot, z)
    return np.linalg.solve(a, change) if isinstance(a, np.ndarray) else linalg.spsolve(a, change)


def triangular_adjoint(g: Any, a: Any, b: Any, lower: bool, unit_diagonal: bool) -> Any:
    """Adjoint of ``b`` in ``linalg.spsolve_triangular(a, b, lower)``."""
    rows, columns = a.nonzero()
    if np.any(rows < columns if lower else rows > columns):
        raise UndefinedDerivativeError(
            "the matrix given to spsolve_triangular is not triangular, and SciPy's result no solution",
            "Give it sparse.tril(A) or sparse.triu(A).",
        )
    return linalg.spsolve_triangular(a.T.tocsr(), g, not lower, unit_diagonal=unit_diagonal)
