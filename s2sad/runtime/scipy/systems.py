"""Derivatives of SciPy's solvers of linear systems: by the same factors and structure, without an inverse.

If ``z = inv(A) @ b``, then ``b_bar = inv(A).T @ z_bar`` and ``A_bar = -b_bar @ z.T``, of which the part remains that is
read.  Nothing is conjugated beyond what the function itself conjugates.  Matrices are in the last two axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.matrices import adjoint, transposed

#: What ``scipy.linalg.solve`` calls the structures of matrices, by the shortest name.
_STRUCTURES = {
    "general": "gen",
    "symmetric": "sym",
    "hermitian": "her",
    "positive definite": "pos",
    "lower triangular": "lower",
    "upper triangular": "upper",
}


def triangle(a: Any, lower: bool, unit_diagonal: bool = False) -> Any:
    """One triangle of each matrix, without the diagonal if that is taken to be 1.

    Example:
        >>> triangle(np.ones((2, 2)), lower=True)
        array([[1., 0.],
               [1., 1.]])
    """
    return np.tril(a, -1 if unit_diagonal else 0) if lower else np.triu(a, 1 if unit_diagonal else 0)


def folded(a_bar: Any, lower: bool, conjugate: bool = True) -> Any:
    """Adjoint of the triangle that is read of matrices taken to be Hermitian (or symmetric), given that of all entries.

    Example:
        >>> folded(np.array([[1.0, 2.0], [3.0, 4.0]]), lower=True)
        array([[1., 0.],
               [5., 4.]])
    """
    other = triangle(a_bar, not lower, True)
    if not (conjugate and np.iscomplexobj(a_bar)):
        return triangle(a_bar, lower) + transposed(other)
    diagonal = np.real(np.diagonal(a_bar, axis1=-2, axis2=-1))
    same = np.eye(a_bar.shape[-1], dtype=diagonal.dtype)
    return triangle(a_bar, lower, True) + adjoint(other) + np.expand_dims(diagonal, -2) * same


def unfolded(a: Any, lower: bool, conjugate: bool = True) -> Any:
    """The Hermitian (or symmetric) matrices of which one triangle is read: `folded` is the transpose.

    Example:
        >>> unfolded(np.array([[1.0, 2.0], [3.0, 4.0]]), lower=True)
        array([[1., 3.],
               [3., 4.]])
    """
    strict = triangle(a, lower, True)
    if not (conjugate and np.iscomplexobj(a)):
        return triangle(a, lower) + transposed(strict)
    diagonal = np.real(np.diagonal(a, axis1=-2, axis2=-1))
    same = np.eye(a.shape[-1], dtype=diagonal.dtype)
    return strict + adjoint(strict) + np.expand_dims(diagonal, -2) * same


def read_part(a_bar: Any, assume_a: str | None, lower: bool) -> Any:
    """Adjoint of the entries that are read of matrices of a structure, given that of all entries."""
    match _STRUCTURES.get(str(assume_a), assume_a):
        case "sym":
            return folded(a_bar, lower, conjugate=False)
        case "her" | "pos":
            return folded(a_bar, lower)
        case "lower" | "upper" as kept:
            return triangle(a_bar, kept == "lower")
        case "diagonal":
            return np.tril(np.triu(a_bar))
        case "tridiagonal":
            return np.tril(np.triu(a_bar, -1), 1)
    return a_bar


def as_read(a: Any, assume_a: str | None, lower: bool) -> Any:
    """The matrices that a solver takes these for: the tangent of what it reads."""
    match _STRUCTURES.get(str(assume_a), assume_a):
        case "sym":
            return unfolded(a, lower, conjugate=False)
        case "her" | "pos":
            return unfolded(a, lower)
    return read_part(a, assume_a, lower)


# --- right-hand sides


def columns(x: Any, b: Any) -> Any:
    """What belongs to the right-hand side ``b``, which may be a vector, or what is in place of it, as columns."""
    return np.expand_dims(x, -1) if np.ndim(b) == 1 and np.ndim(x) else x


def like_side(x: Any, b: Any) -> Any:
    """Columns in the form of the solution for the right-hand side ``b``."""
    return x[..., 0] if np.ndim(b) == 1 else x


# --- solve


def solve_adjoint(
    z_bar: Any, z: Any, a: Any, b: Any, lower: bool = False, assume_a: str | None = None, flipped: bool = False
) -> tuple[Any, Any]:
    """Adjoints of ``a`` and ``b`` in ``z = linalg.solve(a, b, lower, assume_a=assume_a, transposed=flipped)``."""
    if np.size(a) == 1:  # a number, by which all of b is divided, however long that is
        b_bar = z_bar / np.sum(a)
        return np.reshape(-np.sum(b_bar * z), np.shape(a)), unbroadcast(b_bar, np.shape(b))
    column = np.ndim(b) == 1
    if column:
        z_bar, z = np.expand_dims(z_bar, -1), np.expand_dims(z, -1)
    b_bar = _solved_transposed(a, z_bar, lower, assume_a, not flipped)
    left, right = (z, b_bar) if flipped else (b_bar, z)
    a_bar = read_part(-left @ transposed(right), assume_a, lower)
    return unbroadcast(a_bar, np.shape(a)), unbroadcast(b_bar[..., 0] if column else b_bar, np.shape(b))


def _solved_transposed(a: Any, b: Any, lower: bool, assume_a: str | None, flipped: bool) -> Any:
    """Solve with the matrices that ``a`` is taken for, or their transposes."""
    structure = _STRUCTURES.get(str(assume_a), assume_a)
    if not flipped or structure in ("sym", "diagonal"):
        return linalg.solve(a, b, lower=lower, assume_a=assume_a)
    if structure in ("her", "pos"):
        # The transpose of a Hermitian matrix is its conjugate.
        return np.conj(linalg.solve(a, np.conj(b), lower=lower, assume_a=assume_a))
    if structure in ("lower", "upper"):
        assume_a = "upper triangular" if structure == "lower" else "lower triangular"
    return linalg.solve(transposed(a), b, lower=lower, assume_a=assume_a)


def solve_tangent(
    a_dot: Any,
    b_dot: Any,
    z: Any,
    a: Any,
    b: Any,
    lower: bool = False,
    assume_a: str | None = None,
    flipped: bool = False,
) -> Any:
    """Tangent of ``z = linalg.solve(a, b, lower, assume_a=assume_a, transposed=flipped)``."""
    if np.size(a) == 1:
        return (b_dot - np.sum(a_dot) * z) / np.sum(a)
    a_dot = as_read(a_dot, assume_a, lower)
    if flipped:
        a_dot = transposed(a_dot)
    if np.ndim(b) > 1:
        return linalg.solve(a, b_dot - a_dot @ z, lower=lower, assume_a=assume_a, transposed=flipped)
    right = np.expand_dims(b_dot, -1) - a_dot @ np.expand_dims(z, -1)
    return linalg.solve(a, right, lower=lower, assume_a=assume_a, transposed=flipped)[..., 0]


# --- solve_triangular


def solve_triangular_adjoint(
    z_bar: Any, z: Any, a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> tuple[Any, Any]:
    """Adjoints of ``a`` and ``b`` in ``z = linalg.solve_triangular(a, b, trans, lower, unit_diagonal)``."""
    column = np.ndim(b) == 1
    if column:
        z_bar, z = np.expand_dims(z_bar, -1), np.expand_dims(z, -1)
    if trans in (2, "C"):
        b_bar = np.conj(linalg.solve_triangular(a, np.conj(z_bar), 0, lower, unit_diagonal))
        a_bar = -np.conj(z @ transposed(b_bar))
    elif trans in (1, "T"):
        b_bar = linalg.solve_triangular(a, z_bar, 0, lower, unit_diagonal)
        a_bar = -z @ transposed(b_bar)
    else:
        b_bar = linalg.solve_triangular(a, z_bar, 1, lower, unit_diagonal)
        a_bar = -b_bar @ transposed(z)
    a_bar = triangle(unbroadcast(a_bar, np.shape(a)), lower, unit_diagonal)
    return a_bar, unbroadcast(b_bar[..., 0] if column else b_bar, np.shape(b))


def solve_triangular_tangent(
    a_dot: Any, b_dot: Any, z: Any, a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> Any:
    """Tangent of ``z = linalg.solve_triangular(a, b, trans, lower, unit_diagonal)``."""
    a_dot = triangle(a_dot, lower, unit_diagonal)
    if trans not in (0, "N"):
        a_dot = adjoint(a_dot) if trans in (2, "C") else transposed(a_dot)
    if np.ndim(b) > 1:
        return linalg.solve_triangular(a, b_dot - a_dot @ z, trans, lower, unit_diagonal)
    right = np.expand_dims(b_dot, -1) - a_dot @ np.expand_dims(z, -1)
    return linalg.solve_triangular(a, right, trans, lower, unit_diagonal)[..., 0]


# --- by factors


def cho_side_adjoint(z_bar: Any, c_and_lower: Any, b: Any) -> Any:
    """Adjoint of ``b`` in ``linalg.cho_solve(c_and_lower, b)``, in columns: of each of a stack of systems."""
    return np.conj(linalg.cho_solve(c_and_lower, np.conj(columns(z_bar, b))))


def cho_factor_of_solve_adjoint(b_bar: Any, z: Any, c_and_lower: Any, b: Any) -> tuple[Any, float]:
    """Adjoint of ``c_and_lower`` in ``z = linalg.cho_solve(c_and_lower, b)``, given that of ``b`` in columns."""
    c, lower = c_and_lower
    # Of the product of the factor and its conjugate transpose the adjoint is left @ right, which is not formed.
    left, right, factor = -b_bar, transposed(columns(z, b)), c_of(c, lower)
    if lower:
        c_bar = left @ (right @ np.conj(factor)) + adjoint((transposed(factor) @ left) @ right)
    else:
        c_bar = (np.conj(factor) @ left) @ right + adjoint(left @ (right @ transposed(factor)))
    return triangle(unbroadcast(c_bar, np.shape(c)), lower), 0.0


def c_of(c: Any, lower: bool) -> Any:
    """The factor in what ``linalg.cho_factor`` returned, whose other triangle is not defined."""
    return np.tril(c) if lower else np.triu(c)


def cho_solve_tangent(c_dot: Any, b_dot: Any, z: Any, c_and_lower: Any, b: Any) -> Any:
    """Tangent of ``z = linalg.cho_solve(c_and_lower, b)``."""
    c, lower = c_and_lower
    c, c_dot = c_of(c, lower), c_of(c_dot, lower)
    half = c_dot @ adjoint(c) if lower else adjoint(c) @ c_dot
    right = (np.expand_dims(b_dot, -1) if np.ndim(b) == 1 else b_dot) - (half + adjoint(half)) @ (
        np.expand_dims(z, -1) if np.ndim(b) == 1 else z
    )
    z_dot = linalg.cho_solve(c_and_lower, right)
    return z_dot[..., 0] if np.ndim(b) == 1 else z_dot


def lu_side_adjoint(z_bar: Any, lu_and_piv: Any, b: Any, trans: int = 0) -> Any:
    """Adjoint of ``b`` in ``linalg.lu_solve(lu_and_piv, b, trans)``, in columns: of each of a stack of systems."""
    z_bar = columns(z_bar, b)
    if trans == 2:
        return np.conj(linalg.lu_solve(lu_and_piv, np.conj(z_bar), 0))
    return linalg.lu_solve(lu_and_piv, z_bar, 0 if trans == 1 else 1)


def lu_factors_of_solve_adjoint(b_bar: Any, z: Any, lu_and_piv: Any, b: Any, trans: int = 0) -> tuple[Any, Any]:
    """Adjoint of ``lu_and_piv`` in ``z = linalg.lu_solve(lu_and_piv, b, trans)``, given that of ``b`` in columns."""
    lu, piv = lu_and_piv
    z = columns(z, b)
    if trans == 2:
        left, right = -np.conj(z), np.conj(transposed(b_bar))
    elif trans == 1:
        left, right = -z, transposed(b_bar)
    else:
        left, right = -b_bar, transposed(z)
    # The adjoint of the matrix is left @ right, which is not formed.
    left = np.take_along_axis(left, np.expand_dims(rows(piv), -1), axis=-2)
    low, up = lower_factor(lu), np.triu(lu)
    lu_bar = np.tril(left @ (right @ transposed(up)), -1) + np.triu((transposed(low) @ left) @ right)
    return unbroadcast(lu_bar, np.shape(lu)), np.zeros(np.shape(piv))


def lu_solve_tangent(lu_dot: Any, b_dot: Any, z: Any, lu_and_piv: Any, b: Any, trans: int = 0) -> Any:
    """Tangent of ``z = linalg.lu_solve(lu_and_piv, b, trans)``."""
    lu, piv = lu_and_piv
    a_dot = np.empty_like(lu_dot @ lu)
    product = np.tril(lu_dot, -1) @ np.triu(lu) + lower_factor(lu) @ np.triu(lu_dot)
    np.put_along_axis(a_dot, np.expand_dims(rows(piv), -1), product, axis=-2)
    if trans:
        a_dot = adjoint(a_dot) if trans == 2 else transposed(a_dot)
    if np.ndim(b) > 1:
        return linalg.lu_solve(lu_and_piv, b_dot - a_dot @ z, trans)
    return linalg.lu_solve(lu_and_piv, np.expand_dims(b_dot, -1) - a_dot @ np.expand_dims(z, -1), trans)[..., 0]


def lower_factor(lu: Any) -> Any:
    """The lower factor in what ``linalg.lu_factor`` returned of square matrices, whose diagonal is 1."""
    return np.tril(lu, -1) + np.eye(lu.shape[-1], dtype=lu.dtype)


def rows(piv: Any, count: int | None = None) -> Any:
    """The order of ``count`` rows that the interchanges of ``linalg.lu_factor`` lead to.

    Example:
        >>> rows(np.array([2, 2, 2]))
        array([2, 0, 1])
    """
    if np.ndim(piv) > 1:
        return np.stack([rows(p, count) for p in piv])
    order = np.arange(len(piv) if count is None else count)
    for i, other in enumerate(piv):
        order[i], order[other] = order[other], order[i]
    return order
