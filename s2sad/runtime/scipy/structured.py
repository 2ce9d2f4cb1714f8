"""Transposes of SciPy's constructors of matrices with constant diagonals, and of the solver for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.matrices import transposed
from s2sad.runtime.scipy.systems import columns, like_side


def diagonal_sums(a: Any) -> Any:
    """The sums of all diagonals of matrices, from that at the lower left corner to that at the upper right one.

    Example:
        >>> diagonal_sums(np.array([[1.0, 2.0], [3.0, 4.0]]))
        array([3., 5., 2.])
    """
    *stack, rows, columns = a.shape
    if not rows:
        return np.zeros((*stack, max(columns - 1, 0)), a.dtype)
    # Rows that are one element longer than the distance between them shift each against the one above.
    wide = np.zeros((*stack, rows, rows + columns), a.dtype)
    wide[..., :columns] = a[..., ::-1, :]
    flat = wide.reshape((*stack, rows * (rows + columns)))[..., : rows * (rows + columns - 1)]
    return np.sum(flat.reshape((*stack, rows, rows + columns - 1)), axis=-2)


def toeplitz_adjoint(z_bar: Any, c: Any, r: Any = None) -> tuple[Any, Any]:
    """Adjoints of ``c`` and ``r`` in ``linalg.toeplitz(c, r)``; of ``c`` alone where ``r`` is None."""
    return _split(diagonal_sums(z_bar), np.shape(z_bar)[-2], c, r)


def _split(sums: Any, rows: int, c: Any, r: Any) -> tuple[Any, Any]:
    """The adjoints of column and row, given those of the diagonals."""
    if not np.size(c) or (r is not None and not np.size(r)):  # no matrix
        return np.zeros(np.shape(c)), None if r is None else np.zeros(np.shape(r))
    c_bar, r_bar = sums[..., rows - 1 :: -1], np.array(sums[..., rows - 1 :])
    r_bar[..., :1] = 0  # the column says what stands in the corner
    if r is None:
        return _of_vector(c_bar + np.conj(r_bar), c), None
    return _of_vector(c_bar, c), _of_vector(r_bar, r)


def _of_vector(g: Any, x: Any) -> Any:
    """The adjoint of a vector, which may be given without axes or as a matrix, or of one of a stack of vectors."""
    return unbroadcast(g, np.shape(x)) if np.ndim(g) > 1 else g.reshape(np.shape(x))


def toeplitz_tangent(c_dot: Any, r_dot: Any, c: Any, r: Any = None) -> Any:
    """Tangent of ``linalg.toeplitz(c, r)``."""
    if r is None:
        return linalg.toeplitz(c_dot)
    return linalg.toeplitz(_tangent(c_dot, c), _tangent(r_dot, r))


def _tangent(dot: Any, x: Any) -> Any:
    return dot + np.zeros(np.shape(x))


def hankel_adjoint(z_bar: Any, c: Any, r: Any = None) -> tuple[Any, Any]:
    """Adjoints of ``c`` and ``r`` in ``linalg.hankel(c, r)``."""
    if not np.size(z_bar):
        return np.zeros(np.shape(c)), None if r is None else np.zeros(np.shape(r))
    rows = np.shape(z_bar)[-2]
    sums = diagonal_sums(z_bar[..., ::-1, :])
    c_bar, r_bar = sums[..., :rows], np.array(sums[..., rows - 1 :])
    r_bar[..., :1] = 0
    return _of_vector(c_bar, c), None if r is None else _of_vector(r_bar, r)


def hankel_tangent(c_dot: Any, r_dot: Any, c: Any, r: Any = None) -> Any:
    """Tangent of ``linalg.hankel(c, r)``."""
    return linalg.hankel(c_dot) if r is None else linalg.hankel(_tangent(c_dot, c), _tangent(r_dot, r))


def circulant_adjoint(z_bar: Any, c: Any) -> Any:
    """Adjoint of ``c`` in ``linalg.circulant(c)``, of which there may be many."""
    size = z_bar.shape[-1]
    sums = diagonal_sums(z_bar)[..., ::-1]
    c_bar = np.array(sums[..., size - 1 :])
    c_bar[..., 1:] += sums[..., : max(size - 1, 0)]
    return c_bar.reshape(np.shape(c))


def block_diag_adjoint(z_bar: Any, arrs: Any) -> list[Any]:
    """Adjoints of the matrices in ``linalg.block_diag(*arrs)``, which may be stacks of matrices."""
    parts, row, column = [], 0, 0
    for a in arrs:
        shape = np.shape(np.atleast_2d(a))
        part = z_bar[..., row : row + shape[-2], column : column + shape[-1]]
        parts.append(unbroadcast(part, shape).reshape(np.shape(a)))
        row, column = row + shape[-2], column + shape[-1]
    return parts


def solve_toeplitz_adjoint(z_bar: Any, z: Any, c_or_cr: Any, b: Any) -> tuple[Any, Any]:
    """Adjoints of ``c_or_cr`` and ``b`` in ``z = linalg.solve_toeplitz(c_or_cr, b)``."""
    pair = isinstance(c_or_cr, tuple)
    c, r = c_or_cr if pair else (c_or_cr, np.conj(c_or_cr))
    if not np.size(z):
        c_bar, r_bar = np.zeros(np.shape(c)), np.zeros(np.shape(r))
        return (c_bar, r_bar) if pair else c_bar, np.zeros(np.shape(b))
    # In the transpose column and row are exchanged; the corner is the column's.
    first, second = np.broadcast_arrays(np.atleast_1d(c), np.atleast_1d(r))
    column = np.concatenate([first[..., :1], second[..., 1:]], axis=-1)
    b_bar = linalg.solve_toeplitz((column, first), columns(z_bar, b))
    c_bar, r_bar = _split(_outer_sums(-b_bar, columns(z, b)), np.shape(first)[-1], c, r if pair else None)
    return (c_bar, r_bar) if pair else c_bar, unbroadcast(like_side(b_bar, b), np.shape(b))


def _outer_sums(x: Any, y: Any) -> Any:
    """The sums of all diagonals of ``x @ y.T``, which is not formed."""
    *stack, size, count = np.shape(x)
    rows = transposed(x).reshape(-1, size)[:, ::-1], transposed(y).reshape(-1, size)
    sums = np.array([np.convolve(p, q) for p, q in zip(*rows, strict=True)])
    return np.sum(sums.reshape(*stack, count, 2 * size - 1), axis=-2)


def solve_toeplitz_tangent(c_dot: Any, b_dot: Any, z: Any, c_or_cr: Any, b: Any) -> Any:
    """Tangent of ``z = linalg.solve_toeplitz(c_or_cr, b)``."""
    if not np.size(z):
        return np.zeros(np.shape(z))
    if isinstance(c_or_cr, tuple):
        matrix_dot = toeplitz_tangent(*c_dot, *c_or_cr) if isinstance(c_dot, tuple) else 0.0
    else:
        matrix_dot = linalg.toeplitz(_tangent(c_dot, c_or_cr))
    right = columns(b_dot, b) - (matrix_dot @ columns(z, b) if np.ndim(matrix_dot) else 0.0)
    return like_side(linalg.solve_toeplitz(c_or_cr, right), b)
