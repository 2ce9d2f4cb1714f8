"""Derivatives of polar factors, and of eigenvalues of symmetric tridiagonal matrices: of real ones, or stacks of them.

With ``a = w @ diag(s) @ vh`` the factors of ``a = u @ p`` are ``u = w @ vh`` and ``p = vh.T @ diag(s) @ vh``.  In the
frame of the singular vectors, where ``m = w.T @ da @ vh.T``, their tangents are ``(m - m.T) / (s_i + s_j)`` and
``(s m + m.T s) / (s_i + s_j)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.matrices import transposed

Array = Any


def _frame(a: Array) -> tuple[Array, Array, Array, Array]:
    """The singular vectors and values of a matrix with no fewer rows than columns, and the sums of pairs of values."""
    if a.shape[-2] < a.shape[-1]:
        raise UndefinedDerivativeError(
            "the polar decomposition of a matrix with fewer rows than columns has no derivative",
            "Use side='left', of which the factor with this side is regular.",
        )
    w, s, vh = np.linalg.svd(a, full_matrices=False)
    return w, s, vh, s[..., :, np.newaxis] + s[..., np.newaxis, :]


def polar_tangent(a_dot: Array, a: Array, side: str = "right") -> tuple[Array, Array]:
    """The tangents of the factors in ``u, p = linalg.polar(a, side)``."""
    if side == "left":
        u_dot, p_dot = polar_tangent(a_dot.mT, a.mT)
        return u_dot.mT, p_dot
    w, s, vh, sums = _frame(a)
    m = w.mT @ a_dot @ vh.mT
    outside = a_dot @ vh.mT - w @ m
    u_dot = (w @ ((m - m.mT) / sums) + outside / s[..., np.newaxis, :]) @ vh
    left = s[..., :, np.newaxis] * m
    return u_dot, vh.mT @ ((left + left.mT) / sums) @ vh


def polar_adjoint(u_bar: Array, p_bar: Array, a: Array, side: str = "right") -> Array:
    """The adjoint of ``a`` in ``u, p = linalg.polar(a, side)``."""
    if side == "left":
        return polar_adjoint(u_bar.mT, p_bar, a.mT).mT
    w, s, vh, sums = _frame(a)
    turned = u_bar @ vh.mT
    m_bar = w.mT @ turned
    turning, stretching = m_bar / sums, (vh @ p_bar @ vh.mT) / sums
    inside = turning - turning.mT + s[..., :, np.newaxis] * (stretching + stretching.mT)
    return (w @ inside + (turned - w @ m_bar) / s[..., np.newaxis, :]) @ vh


def procrustes_adjoints(z_bar: Any, z: Any, a: Array, b: Array) -> tuple[Array, Array]:
    """The adjoints of both matrices in ``linalg.orthogonal_procrustes(a, b)``: polar factor and sum of a.T @ b."""
    product = transposed(a) @ b
    bar = polar_adjoint(z_bar[0], np.zeros_like(product), product) + np.expand_dims(z_bar[1], (-2, -1)) * z[0]
    return unbroadcast(b @ transposed(bar), np.shape(a)), unbroadcast(a @ bar, np.shape(b))


def procrustes_tangent(a_dot: Array, b_dot: Array, z: Any, a: Array, b: Array) -> tuple[Array, Array]:
    """The tangents of what ``linalg.orthogonal_procrustes(a, b)`` returns."""
    at = transposed(a)
    moved = transposed(a_dot + np.zeros_like(a)) @ b + at @ (b_dot + np.zeros_like(b))
    return polar_tangent(moved, at @ b)[0], np.sum(z[0] * moved, axis=(-2, -1))


# --- eigenvalues of symmetric tridiagonal matrices


def _spectrum(w: Array, d: Array, e: Array) -> tuple[Array, Array]:
    """All eigenvectors, and the reciprocal distances from all eigenvalues to some, zero from each to itself."""
    values, vectors = linalg.eigh_tridiagonal(d, e)
    # Which they are is a matter of order alone.
    count, all_ = np.shape(w)[-1], np.shape(values)[-1]
    first = np.argmin(np.abs(values - w[..., :1]), axis=-1) if count else np.zeros(np.shape(w)[:-1], int)
    distances = np.expand_dims(w, -2) - np.expand_dims(values, -1)
    same = np.arange(all_)[:, np.newaxis] == np.expand_dims(first, (-2, -1)) + np.arange(count)
    return vectors, np.where(same, 0.0, 1 / np.where(same, 1.0, distances))


def _times(d: Array, e: Array, v: Array) -> Array:
    """The product of a tridiagonal matrix with the columns of another."""
    below, above = np.zeros_like(v), np.zeros_like(v)
    e = np.expand_dims(e, -1)
    below[..., 1:, :], above[..., :-1, :] = e * v[..., :-1, :], e * v[..., 1:, :]
    return np.expand_dims(d, -1) * v + below + above


def eigenvalues_tangent(d_dot: Array, e_dot: Array, v: Array) -> Array:
    """The tangent of the eigenvalues of which ``v`` are the vectors."""
    size = np.shape(v)[-2]
    d_dot, e_dot = np.expand_dims(d_dot + np.zeros(size), -1), np.expand_dims(e_dot + np.zeros(size - 1), -1)
    return np.sum(d_dot * v**2, axis=-2) + 2 * np.sum(e_dot * v[..., :-1, :] * v[..., 1:, :], axis=-2)


def eigenvalues_adjoints(w_bar: Array, v: Array) -> tuple[Array, Array]:
    """The adjoints of the diagonals, given that of the eigenvalues."""
    w_bar = np.expand_dims(w_bar, -2)
    return np.sum(v**2 * w_bar, axis=-1), 2 * np.sum(v[..., :-1, :] * v[..., 1:, :] * w_bar, axis=-1)


def eigenvectors_tangent(d_dot: Array, e_dot: Array, w: Array, v: Array, d: Array, e: Array) -> Array:
    """The tangent of the eigenvectors."""
    vectors, gaps = _spectrum(w, d, e)
    size = np.shape(v)[-2]
    d_dot, e_dot = d_dot + np.zeros(size), e_dot + np.zeros(size - 1)
    return vectors @ (gaps * (transposed(vectors) @ _times(d_dot, e_dot, v)))


def eigenvectors_adjoints(v_bar: Array, w: Array, v: Array, d: Array, e: Array) -> tuple[Array, Array]:
    """The adjoints of the diagonals, given that of the eigenvectors."""
    vectors, gaps = _spectrum(w, d, e)
    moved = vectors @ (gaps * (transposed(vectors) @ v_bar))
    neighbours = moved[..., :-1, :] * v[..., 1:, :] + moved[..., 1:, :] * v[..., :-1, :]
    return np.sum(moved * v, axis=-1), np.sum(neighbours, axis=-1)


def tridiagonal_tangent(
    d_dot: Array, e_dot: Array, z: Any, d: Array, e: Array, eigvals_only: bool, select: str, select_range: Any
) -> Any:
    """The tangent of ``z = linalg.eigh_tridiagonal(d, e, eigvals_only, select, select_range)``."""
    v = vectors_of(z, d, e, eigvals_only, select, select_range)
    w_dot = eigenvalues_tangent(d_dot, e_dot, v)
    return w_dot if eigvals_only else (w_dot, eigenvectors_tangent(d_dot, e_dot, z[0], v, d, e))


def tridiagonal_adjoints(
    z_bar: Any, z: Any, d: Array, e: Array, eigvals_only: bool, select: str, select_range: Any
) -> tuple[Array, Array]:
    """The adjoints of both diagonals in ``z = linalg.eigh_tridiagonal(d, e, eigvals_only, select, select_range)``."""
    v = vectors_of(z, d, e, eigvals_only, select, select_range)
    d_bar, e_bar = eigenvalues_adjoints(z_bar if eigvals_only else z_bar[0], v)
    if not eigvals_only:
        d_more, e_more = eigenvectors_adjoints(z_bar[1], z[0], v, d, e)
        d_bar, e_bar = d_bar + d_more, e_bar + e_more
    return unbroadcast(d_bar, np.shape(d)), unbroadcast(e_bar, np.shape(e))


def vectors_of(z: Any, d: Array, e: Array, eigvals_only: bool, select: str, select_range: Any) -> Array:
    """The eigenvectors of what ``eigh_tridiagonal`` gives, found again if it gives the values alone."""
    return linalg.eigh_tridiagonal(d, e, False, select, select_range)[1] if eigvals_only else z[1]
