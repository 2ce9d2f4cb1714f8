"""Derivatives of SciPy's factorisations.

Nothing is conjugated in an adjoint beyond what the function itself conjugates.  A derivative that does not exist raises
``UndefinedDerivativeError``.

Sources of the formulas: I. Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527; F. R. de Hoog,
R. S. Anderssen, M. A. Lukas, "Differentiation of matrix functionals using triangular factorization", Mathematics of
Computation 80 (2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime import systems
from s2sad.runtime.arrays import unbroadcast, unreduce
from s2sad.runtime.decompositions import (
    anchor,
    check_phases,
    cholesky_adjoint,
    cholesky_tangent,
    phases_adjoint,
    turning,
)
from s2sad.runtime.matrices import adjoint, hermitian_part, ratio, transposed
from s2sad.runtime.norms import norm_gradient
from s2sad.runtime.qr import qr_adjoint, qr_adjoint_of, qr_tangent_of
from s2sad.runtime.scipy.systems import folded, lower_factor, rows, triangle, unfolded

# --- Cholesky


def cho_factor_adjoint(c_bar: Any, c: Any, lower: bool = False) -> Any:
    """Adjoint of ``a`` in ``c, lower = linalg.cho_factor(a, lower)``; the other triangle of ``c`` is that of ``a``."""
    a_bar = cholesky_adjoint(triangle(c_bar, lower), triangle(c, lower), not lower)
    return a_bar + triangle(c_bar, not lower, True)


def cho_factor_tangent(a_dot: Any, c: Any, lower: bool = False) -> Any:
    """Tangent of ``c`` in ``c, lower = linalg.cho_factor(a, lower)``."""
    return cholesky_tangent(a_dot, triangle(c, lower), not lower) + triangle(a_dot, not lower, True)


# --- LU


def _product_adjoint(l_bar: Any, u_bar: Any, low: Any, up: Any) -> Any:
    """Adjoint of the product ``low @ up`` of triangular factors, the diagonal of ``low`` being 1.

    Raises:
        UndefinedDerivativeError: a pivot with others to choose from is zero, and adjoints of rows below are not.
    """
    size = min(low.shape[-2], up.shape[-1])
    first, top = low[..., :size, :], up[..., :, :size]
    undefined = _undefined(low, up)
    if undefined is not None:
        _require_zeros(np.where(undefined, l_bar, 0))
        _require_zeros(np.where(undefined[..., : up.shape[-2], :], u_bar, 0))
    top = _without_zero_pivots(top)
    parts = []
    if up.shape[-1] > size:
        wide = linalg.solve_triangular(first, u_bar[..., size:], 1, lower=True, unit_diagonal=True)
        l_bar = l_bar - wide @ transposed(up[..., size:])
        parts = [wide]
    if low.shape[-2] > size:
        tall = transposed(linalg.solve_triangular(top, transposed(l_bar[..., size:, :])))
        u_bar = u_bar - transposed(low[..., size:, :]) @ tall
        l_bar = l_bar[..., :size, :]
    # No row divides by its own pivot: of a square matrix the last one may be zero.
    below = np.tril(transposed(first) @ l_bar - u_bar[..., :size] @ transposed(top), -1)
    middle = u_bar[..., :size] + transposed(linalg.solve_triangular(top, transposed(below)))
    square = linalg.solve_triangular(first, middle, 1, lower=True, unit_diagonal=True)
    if low.shape[-2] > size:
        return np.concatenate([square, tall], axis=-2)
    return np.concatenate([square, *parts], axis=-1)


def _product_tangent(a_dot: Any, low: Any, up: Any) -> tuple[Any, Any]:
    """Tangents of triangular factors, given that of their product.

    Raises:
        UndefinedDerivativeError: a pivot with others to choose from is zero.
    """
    size = min(low.shape[-2], up.shape[-1])
    first, top = low[..., :size, :], up[..., :, :size]
    undefined = _undefined(low, up)
    if undefined is not None:
        _require_zeros(np.where(np.any(undefined, axis=(-2, -1), keepdims=True), a_dot, 0))
    middle = linalg.solve_triangular(first, a_dot[..., :size, :size], lower=True, unit_diagonal=True)
    divided = transposed(linalg.solve_triangular(_without_zero_pivots(top), transposed(middle), 1))
    below = np.tril(divided, -1)
    l_dot, u_dot = first @ below, np.triu(middle - below @ top)
    if up.shape[-1] > size:
        right = a_dot[..., size:] - l_dot @ up[..., size:]
        more = linalg.solve_triangular(first, right, lower=True, unit_diagonal=True)
        u_dot = np.concatenate([u_dot, more], axis=-1)
    if low.shape[-2] > size:
        below = a_dot[..., size:, :] - low[..., size:, :] @ u_dot
        more = transposed(linalg.solve_triangular(_without_zero_pivots(top), transposed(below), 1))
        l_dot = np.concatenate([l_dot, more], axis=-2)
    return l_dot, u_dot


def _undefined(low: Any, up: Any) -> Any:
    """Which rows of triangular factors have no derivative, as a column; None if all have.

    Where a pivot is zero, all that it was chosen from are, and whichever becomes the largest is the next one.  The last
    row of a matrix has none to choose from.
    """
    chosen = np.diagonal(up, axis1=-2, axis2=-1)[..., : low.shape[-2] - 1] == 0
    if not np.any(chosen):
        return None
    after = np.logical_or.accumulate(chosen, axis=-1)
    rest = np.repeat(after[..., -1:], low.shape[-2] - after.shape[-1], axis=-1)
    return np.expand_dims(np.concatenate([after, rest], axis=-1), -1)


def _require_zeros(changes: Any) -> None:
    if np.any(changes):
        raise UndefinedDerivativeError(
            "the LU factors of a matrix without full rank have no derivative",
            "Let the result depend on the rows above the first pivot that is zero alone.",
        )


def _without_zero_pivots(top: Any) -> Any:
    """A triangular matrix with 1 in place of zeros on its diagonal, where what is divided by them is zero."""
    zero = np.diagonal(top, axis1=-2, axis2=-1) == 0
    return top + np.expand_dims(zero, -1) * np.eye(top.shape[-1], dtype=top.dtype) if np.any(zero) else top


def _rows(a: Any, order: Any) -> Any:
    """The rows of matrices in an order."""
    return np.take_along_axis(a, np.expand_dims(order, -1), axis=-2)


def _factors(z: Any, a: Any, permute_l: bool, p_indices: bool) -> tuple[Any, Any, Any]:
    """The triangular factors in ``z = linalg.lu(a)``, and the row of their product that each row of ``a`` is."""
    if permute_l:
        p = linalg.lu(a, p_indices=True)[0]
        return p, _rows(z[0], np.argsort(p)), z[1]
    return z[0] if p_indices else np.argmax(z[0], axis=-1), z[1], z[2]


def lu_adjoint(z_bar: Any, z: Any, a: Any, permute_l: bool = False, p_indices: bool = False) -> Any:
    """Adjoint of ``a`` in ``z = linalg.lu(a)``."""
    if not np.size(a):
        return np.zeros(np.shape(a), z[-1].dtype)
    p, low, up = _factors(z, a, permute_l, p_indices)
    l_bar = _rows(z_bar[0], np.argsort(p)) if permute_l else z_bar[1]
    return _rows(_product_adjoint(np.tril(l_bar, -1), np.triu(z_bar[-1]), low, up), p)


def lu_tangent(a_dot: Any, z: Any, a: Any, permute_l: bool = False, p_indices: bool = False) -> Any:
    """Tangent of ``z = linalg.lu(a)``."""
    if not np.size(a):
        return tuple(np.zeros_like(item) for item in z)
    p, low, up = _factors(z, a, permute_l, p_indices)
    l_dot, u_dot = _product_tangent(_rows(a_dot, np.argsort(p)), low, up)
    return (_rows(l_dot, p), u_dot) if permute_l else (0.0 if p_indices else np.zeros_like(z[0]), l_dot, u_dot)


def lu_factor_adjoint(lu_bar: Any, lu: Any, piv: Any) -> Any:
    """Adjoint of ``a`` in ``lu, piv = linalg.lu_factor(a)``."""
    if np.ndim(lu) < 2:  # of a number
        return lu_bar
    low, up = _split(lu)
    product_bar = _product_adjoint(
        np.tril(lu_bar[..., : low.shape[-1]], -1), np.triu(lu_bar[..., : up.shape[-2], :]), low, up
    )
    return np.take_along_axis(product_bar, np.expand_dims(np.argsort(_order(lu, piv)), -1), axis=-2)


def lu_factor_tangent(a_dot: Any, lu: Any, piv: Any) -> Any:
    """Tangent of ``lu`` in ``lu, piv = linalg.lu_factor(a)``."""
    if np.ndim(lu) < 2:
        return a_dot
    low, up = _split(lu)
    order = np.expand_dims(_order(lu, piv), -1)
    l_dot, u_dot = _product_tangent(np.take_along_axis(a_dot, order, axis=-2), low, up)
    if lu.shape[-2] > lu.shape[-1]:
        u_dot = np.concatenate([u_dot, np.zeros_like(l_dot[..., u_dot.shape[-2] :, :])], axis=-2)
    if lu.shape[-2] < lu.shape[-1]:
        l_dot = np.concatenate([l_dot, np.zeros_like(u_dot[..., l_dot.shape[-1] :])], axis=-1)
    return l_dot + u_dot


def _split(lu: Any) -> tuple[Any, Any]:
    size = min(lu.shape[-2:])
    if lu.shape[-2] == lu.shape[-1]:
        return lower_factor(lu), np.triu(lu)
    low = np.tril(lu[..., :size], -1)
    return low + np.eye(low.shape[-2], low.shape[-1], dtype=lu.dtype), np.triu(lu[..., :size, :])


def _order(lu: Any, piv: Any) -> Any:
    """Which row of the matrix each row of the product of its factors is."""
    if np.ndim(piv) > 1:
        return np.stack([_order(a, p) for a, p in zip(lu, piv, strict=True)]) if len(piv) else np.zeros(0, int)
    return rows(piv, lu.shape[-2])


# --- eigenvalues of Hermitian matrices, generalised


def eigh_adjoint(w_bar: Any, v_bar: Any, w: Any, v: Any, a: Any, b: Any, lower: bool) -> tuple[Any, Any]:
    """Adjoints of ``a`` and ``b`` in ``w, v = linalg.eigh(a, b, lower=lower)``, or of some of its pairs.

    Each complex vector is free up to a factor of modulus one, which LAPACK chooses as for ``np.linalg.eigh``; with a
    matrix ``b``, the loss must not depend on it.

    Raises:
        UndefinedDerivativeError: the loss depends on how the vectors of a repeated eigenvalue are chosen, or on these
            factors.
    """
    some = np.any(v_bar != 0)
    if some and np.iscomplexobj(v):
        if b is None:
            v_bar = np.conj(phases_adjoint(np.conj(v_bar), v, anchor("L" if lower else "U")))
        check_phases(transposed(v) @ v_bar, v_bar)
    if some and v.shape[-1] < v.shape[-2]:
        w, v, w_bar, v_bar = _completed(w, v, w_bar, v_bar, a, b, lower)
    middle = np.expand_dims(np.real(w_bar), -2) * np.eye(w.shape[-1], dtype=w.dtype)
    scaled = middle
    if some:
        turn = transposed(v) @ v_bar
        if b is None:
            turn = (turn - adjoint(turn)) / 2
        middle = middle + _over_gaps(turn, w)
        scaled = middle
    a_bar = folded(unbroadcast(hermitian_part(np.conj(v) @ middle @ transposed(v)), np.shape(a)), lower)
    if b is None:
        return a_bar, None
    inner = scaled * np.expand_dims(w, -2)
    if some:
        inner = inner + np.real(turn) * np.eye(w.shape[-1], dtype=w.dtype) / 2
    b_bar = -hermitian_part(np.conj(v) @ inner @ transposed(v))
    return a_bar, folded(unbroadcast(b_bar, np.shape(b)), lower)


def eigh_or_values_adjoint(
    z_bar: Any, z: Any, a: Any, b: Any, lower: bool, eigvals_only: bool, subset_by_index: Any
) -> tuple[Any, Any]:
    """Adjoints of ``a`` and ``b`` in ``z = linalg.eigh(a, b, lower=lower, eigvals_only=eigvals_only)``."""
    if not eigvals_only:
        return eigh_adjoint(z_bar[0], z_bar[1], z[0], z[1], a, b, lower)
    v = linalg.eigh(a, b, lower=lower, subset_by_index=subset_by_index)[1]
    return eigh_adjoint(z_bar, np.zeros_like(v), z, v, a, b, lower)


def eigh_or_values_tangent(
    a_dot: Any, b_dot: Any, z: Any, a: Any, b: Any, lower: bool, eigvals_only: bool, subset_by_index: Any
) -> Any:
    """Tangent of ``z = linalg.eigh(a, b, lower=lower, eigvals_only=eigvals_only)``."""
    w, v = linalg.eigh(a, b, lower=lower, subset_by_index=subset_by_index) if eigvals_only else z
    w_dot, v_dot = eigh_tangent(a_dot, b_dot, w, v, a, b, lower, vectors=not eigvals_only)
    return w_dot if eigvals_only else (w_dot, v_dot)


def eigh_tangent(
    a_dot: Any, b_dot: Any, w: Any, v: Any, a: Any, b: Any, lower: bool, vectors: bool = True
) -> tuple[Any, Any]:
    """Tangents of ``w, v = linalg.eigh(a, b, lower=lower)``, or of some of its pairs."""
    count, some = w.shape[-1], v
    if vectors and count < v.shape[-2]:
        w, v, _, _ = _completed(w, v, w, v, a, b, lower)
    mine = np.eye(v.shape[-1], count, dtype=w.dtype)
    inner = adjoint(v) @ unfolded(a_dot, lower) @ some
    if b is not None:
        metric = adjoint(v) @ unfolded(b_dot, lower) @ some
        inner = inner - metric * np.expand_dims(w[..., :count], -2)
    w_dot = np.real(np.sum(inner * mine, axis=-2))
    if not vectors:
        return w_dot, None
    gaps = np.expand_dims(w[..., :count], -2) - np.expand_dims(w, -1)
    inner = _quotient(inner * (1 - mine), gaps + mine)
    if b is not None:
        inner = inner - metric * mine / 2
    v_dot = v @ inner
    if np.iscomplexobj(v):
        v_dot = v_dot - _phases(v_dot, some, b_dot, b, lower) * some
    return w_dot, v_dot


def _phases(v_dot: Any, v: Any, b_dot: Any, b: Any, lower: bool) -> Any:
    """By how much tangents turn vectors in the plane that stay real in a row, or in that of a product with ``b``."""
    if b is None or not lower:
        return turning(v, v_dot, anchor("L" if lower else "U"))
    row = _first_row(b)
    moved = row @ v_dot
    moved = moved + _first_row(b_dot) @ v if np.ndim(b_dot) else moved
    return turning(row @ v, moved, 0, np.max(np.abs(row), axis=-1, keepdims=True) * v)


def _first_row(b: Any) -> Any:
    """The first row of a Hermitian matrix of which the lower triangle is read."""
    row = np.conj(np.swapaxes(np.asarray(b)[..., :, :1], -1, -2)).copy()
    row[..., 0, 0] = np.real(row[..., 0, 0])
    return row


def _completed(w: Any, v: Any, w_bar: Any, v_bar: Any, a: Any, b: Any, lower: bool) -> tuple[Any, Any, Any, Any]:
    """All eigenvalues and vectors, of which these are some: those first, with their adjoints, then the others."""
    all_w, all_v = linalg.eigh(a, b, lower=lower)
    count = w.shape[-1]
    # Of each of a stack they are the same in order.
    start = int(np.ravel(np.argmin(np.abs(all_w - w[..., :1]), axis=-1))[0]) if np.size(w) else 0
    rest = np.r_[0:start, start + count : all_w.shape[-1]]
    other_w, other_v = all_w[..., rest], all_v[..., rest]
    return (
        np.concatenate([w, other_w], axis=-1),
        np.concatenate([v, other_v], axis=-1),
        np.concatenate([w_bar, np.zeros_like(other_w)], axis=-1),
        np.concatenate([v_bar, np.zeros_like(other_v)], axis=-1),
    )


def _over_gaps(matrix: Any, values: Any) -> Any:
    """Entry (i, j) of ``matrix`` divided by ``values[j] - values[i]``; the diagonal becomes zero."""
    same = np.eye(values.shape[-1], dtype=values.dtype)
    gaps = np.expand_dims(values, -2) - np.expand_dims(values, -1)
    return _quotient(matrix * (1 - same), gaps + same)


def _quotient(matrix: Any, gaps: Any) -> Any:
    """``matrix / gaps``, and zero where both are zero.

    Raises:
        UndefinedDerivativeError: where a gap alone is zero.
    """
    if np.any((gaps == 0) & (np.abs(matrix) > 1e-8 * (1 + np.max(np.abs(matrix), initial=0.0)))):
        raise UndefinedDerivativeError(
            "the vectors of a repeated eigenvalue or singular value have no derivative",
            "Let the result depend on the values alone, or on what does not depend on the choice of the vectors.",
        )
    return ratio(matrix, gaps)


# --- QR


def qr_in_mode_adjoint(mode: str, z_bar: Any, z: Any, a: Any) -> Any:
    """Adjoint of ``a`` in ``z = linalg.qr(a, mode=mode)``."""
    if mode == "r":  # of a stack it is no tuple
        r_bar, r = (z_bar, z) if isinstance(z, np.ndarray) else (z_bar[0], z[0])
        return qr_adjoint_of("r", r_bar, r, a)
    if mode == "raw":
        raise UndefinedDerivativeError(
            "what linalg.qr gives in mode='raw' has no derivative", "Pass mode='full', 'r' or 'economic'."
        )
    return qr_adjoint(z_bar[0], z_bar[1], z[0], z[1], a)


def qr_in_mode_tangent(mode: str, a_dot: Any, z: Any, a: Any) -> Any:
    """Tangent of ``z = linalg.qr(a, mode=mode)``."""
    if mode == "r":
        if isinstance(z, np.ndarray):
            return qr_tangent_of("r", a_dot, z, a)
        return (qr_tangent_of("r", a_dot, z[0], a),)
    return qr_tangent_of("complete" if mode == "full" else "reduced", a_dot, z, a)


# --- least squares, norms


def least_ratio(a: Any, atol: Any, rtol: Any) -> Any:
    """The singular values, relative to the largest, up to which ``linalg.pinv(a, atol=atol, rtol=rtol)`` has none.

    >>> least_ratio(np.diag([4.0, 1.0]), 1.0, 0.1)
    np.float64(0.35)
    """
    a = np.asarray(a)
    least = max(a.shape[-2:]) * np.finfo(a.dtype).eps if rtol is None else rtol
    return least + ratio(0.0 if atol is None else atol, np.linalg.norm(a, 2, axis=(-2, -1)))


def lstsq_adjoint(z_bar: Any, z: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Adjoints of ``a`` and ``b`` in ``z = linalg.lstsq(a, b)``."""
    _must_be_one_system(a, b)
    x_bar, left_bar, _, s_bar = z_bar
    if np.size(left_bar):
        left_bar = np.atleast_1d(left_bar)
    return systems.lstsq_adjoint((x_bar, left_bar, 0.0, s_bar), _as_numpy(z), a, b)


def lstsq_tangent(a_dot: Any, b_dot: Any, z: Any, a: Any, b: Any) -> tuple[Any, Any, int, Any]:
    """Tangent of ``z = linalg.lstsq(a, b)``."""
    _must_be_one_system(a, b)
    x_dot, left_dot, rank_dot, s_dot = systems.lstsq_tangent(a_dot, b_dot, _as_numpy(z), a, b)
    return x_dot, np.reshape(left_dot, np.shape(z[1])), rank_dot, s_dot


def _must_be_one_system(a: Any, b: Any) -> None:
    if np.ndim(a) > 2 or np.ndim(b) > 2:
        raise UndefinedDerivativeError(
            "linalg.lstsq of a stack of systems has no derivative rule",
            "Use np.linalg.pinv(a) @ b, or solve them in a loop.",
        )


def _as_numpy(z: Any) -> tuple[Any, ...]:
    """The results in the forms that NumPy gives them: what is left of one right-hand side is an array of one number."""
    x, left, rank, s = z
    return x, np.atleast_1d(left), rank, s


def norm_adjoint(z_bar: Any, z: Any, a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Adjoint of ``a`` in ``z = linalg.norm(a, ord, axis, keepdims)``, in the precision of ``a``."""
    a = np.asarray(a)
    gradient = norm_gradient(z, a, ord, axis, keepdims) * unreduce(np.real(z_bar), np.shape(a), axis, keepdims)
    return gradient.astype(np.result_type(a, 0.0), copy=False)
