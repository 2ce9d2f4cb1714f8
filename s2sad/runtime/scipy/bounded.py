"""Least squares of linear systems with bounds: derivatives of the solution by the implicit function theorem.

The unknowns that are at a bound stay there, and the others, the free ones, solve the normal equations
``A_f.T @ (A @ x - b) = 0``.  Where an unknown comes to a bound or leaves it the solution has a kink.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.matrices import ratio

Array = Any


def free_of(x: Array) -> Array:
    """Ones for the unknowns of ``nnls`` that are free, zeros for the others."""
    return np.where(x > 0, 1.0, 0.0)


def free_of_report(report: Any) -> Array:
    """The same for the unknowns of what ``lsq_linear`` gives."""
    if not report.success:
        raise UndefinedDerivativeError(
            f"no solution was found ({report.message}), and what was found has no derivative",
            "Let it be found: give other tolerances or more iterations.",
        )
    return np.where(report.active_mask == 0, 1.0, 0.0)


def must_be_one(a: Array, free: Array) -> None:
    """Refuse systems of which there are more solutions than one."""
    columns = np.asarray(a)[:, free > 0]
    if np.linalg.matrix_rank(columns) < columns.shape[1]:
        raise UndefinedDerivativeError(
            "this system has more than one solution of least squares, and which of them is found has no derivative",
            "Leave out columns of the matrix, or add a multiple of the identity below it, and zeros to b.",
        )


def _solved(a: Array, free: Array, right: Array) -> Array:
    """The solution of the normal equations of the free unknowns, zero for the others."""
    normal = a.T @ a * np.outer(free, free) + np.diag(1 - free)
    return np.linalg.solve(normal, free * right)


def solution_adjoints(x_bar: Array, x: Array, a: Array, b: Array, free: Array) -> tuple[Array, Array]:
    """The adjoints of the matrix and the right-hand side, given that of the solution."""
    held = _solved(a, free, x_bar)
    moved = a @ held
    return -np.outer(a @ x - b, held) - np.outer(moved, x), moved


def solution_tangent(a_dot: Array, b_dot: Array, x: Array, a: Array, b: Array, free: Array) -> Array:
    """The tangent of the solution."""
    a_dot, b_dot = a_dot + np.zeros_like(a), b_dot + np.zeros_like(b)
    return -_solved(a, free, a_dot.T @ (a @ x - b) + a.T @ (a_dot @ x - b_dot))


def nnls_adjoints(z_bar: Any, z: Any, a: Array, b: Array) -> tuple[Array, Array]:
    """The adjoints of both operands in ``x, norm = optimize.nnls(a, b)``."""
    free = free_of(z[0])
    must_be_one(a, free)
    a_bar, b_bar = solution_adjoints(z_bar[0], z[0], a, b, free)
    # The norm of the residual is least there: what moves the solution does not change it.
    unit = z_bar[1] * ratio(a @ z[0] - b, z[1])
    return a_bar + np.outer(unit, z[0]), b_bar - unit


def nnls_tangent(a_dot: Array, b_dot: Array, z: Any, a: Array, b: Array) -> tuple[Array, Array]:
    """The tangents of the solution and of the norm of the residual."""
    free = free_of(z[0])
    must_be_one(a, free)
    a_dot, b_dot = a_dot + np.zeros_like(a), b_dot + np.zeros_like(b)
    residual = a @ z[0] - b
    return solution_tangent(a_dot, b_dot, z[0], a, b, free), ratio(residual @ (a_dot @ z[0] - b_dot), z[1])


def found_bounded(
    a: Array, b: Array, bounds: Any, method: str, tol: float, lsq_solver: Any, max_iter: Any
) -> tuple[Array, Array, Any]:
    """The solution, half of the sum of squares there, and all that ``optimize.lsq_linear`` gives."""
    found = optimize.lsq_linear(a, b, bounds, method, tol, lsq_solver, max_iter=max_iter)
    return found.x, found.cost, found


def bounded_adjoints(z_bar: Any, z: Any, a: Array, b: Array) -> tuple[Array, Array]:
    """The adjoints of both operands in `found_bounded`."""
    free = free_of_report(z[2])
    must_be_one(a, free)
    a_bar, b_bar = solution_adjoints(z_bar[0], z[0], a, b, free)
    rising = z_bar[1] * (a @ z[0] - b)
    return a_bar + np.outer(rising, z[0]), b_bar - rising


def bounded_tangent(a_dot: Array, b_dot: Array, z: Any, a: Array, b: Array) -> tuple[Array, Array]:
    """The tangents of the solution and of half of the sum of squares."""
    free = free_of_report(z[2])
    must_be_one(a, free)
    a_dot, b_dot = a_dot + np.zeros_like(a), b_dot + np.zeros_like(b)
    return solution_tangent(a_dot, b_dot, z[0], a, b, free), (a @ z[0] - b) @ (a_dot @ z[0] - b_dot)
