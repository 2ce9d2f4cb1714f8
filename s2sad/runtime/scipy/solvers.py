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
    """The transpose of a preconditioner, if there is one and it has one."""
    if isinstance(m, linalg.LinearOperator):
        try:
            m.T @ np.zeros(m.shape[0], m.dtype)
        except (NotImplementedError, TypeError):
            # Any preconditioner leads to the same solution, and so does none.
            return None
    return None if m is None else m.T


def found(result: Any, a: Any, b: Any) -> Any:
    """The solution ``x`` of ``a @ x = b`` that an iterative solver returns, with a number that is zero if it is one.

    In single precision, a tolerance may be out of reach, so that what is as precise as can be is a solution as well.

    Raises:
        UndefinedDerivativeError: if it is none, since the derivative is that of a solution.
    """
    x, info = result[0], result[1]
    if info != 0 and not _solves(a, x, b):
        raise UndefinedDerivativeError(
            f"an iterative solver has not converged (info = {info}), and what it gives is no solution: the "
            "derivative of a solution does not apply",
            "Let it run longer, precondition it, use a solver that suits the matrix, or spsolve.",
        )
    return x


def _solves(a: Any, x: Any, b: Any) -> bool:
    rest = np.linalg.norm(np.ravel(a @ x) - np.ravel(b))
    return bool(rest <= np.sqrt(np.finfo(x.dtype).eps) * np.linalg.norm(np.ravel(b)))


def relative_tolerance(rtol: float, atol: float, b: Any) -> float:
    """The relative tolerance to which the solution for the right-hand side ``b`` was found.

    That for another right-hand side, of another size, is found to the same one.
    """
    size = float(np.linalg.norm(np.ravel(b)))
    return max(rtol, atol / size) if size and atol else rtol


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
