"""Derivatives of the QR decomposition of matrices, in the transpose convention."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.matrices import adjoint, identity, negligible, solve_triangular


def with_complement(u: Any, rest: Any, u_bar: Any, rest_bar: Any) -> tuple[Any, Any]:
    """The columns ``u`` and their adjoint, with that of the orthonormal ``rest``, which turns against them."""
    if np.any(rest_bar != 0):
        turn = adjoint(rest) @ rest_bar
        if not negligible(turn - adjoint(turn), rest_bar):
            raise undefined_choice()
        u_bar = u_bar - rest @ (adjoint(rest_bar) @ u)
    return u, u_bar


def undefined_choice() -> UndefinedDerivativeError:
    """What is said where the choice of the vectors matters that complete a basis."""
    return UndefinedDerivativeError(
        "how the vectors are chosen that complete a basis has no derivative",
        "Leave them out, as full_matrices=False or mode='reduced' does; in reverse mode the result may also depend on "
        "the space that they span alone.",
    )


def qr_adjoint(q_bar: Any, r_bar: Any, q: Any, r: Any, a: Any) -> Any:
    """Adjoint of ``a`` in ``q, r = np.linalg.qr(a)``, with the columns of ``q`` that ``mode="complete"`` adds or not.

    Of a matrix with more columns than rows the first ones determine ``q``, and the others are products with it.

    Source: H.-J. Liao et al., "Differentiable programming tensor networks", Physical Review X 9 (2019), appendix A; for
    complex matrices, JAX, where the diagonal of ``r`` is real.

    Raises:
        UndefinedDerivativeError: the first columns of ``a`` are linearly dependent, or the loss depends on how the
            columns that ``mode="complete"`` adds are chosen.
    """
    a = np.asarray(a)
    k = min(a.shape[-2:])
    # In terms of plain conjugate adjoints.
    q_bar, r_bar = np.conj(q_bar), np.conj(r_bar)[..., :k, :]
    q, q_bar = with_complement(q[..., :k], q[..., k:], q_bar[..., :k], q_bar[..., k:])
    right, right_bar = a[..., k:], r_bar[..., k:]
    q_bar = q_bar + right @ adjoint(right_bar)
    upper, upper_bar = r[..., :k, :k], r_bar[..., :k]
    middle = adjoint(q) @ q_bar - upper_bar @ adjoint(upper)
    low = np.tril(middle - adjoint(middle), -1)
    if np.iscomplexobj(middle):
        low = low + 1j * np.imag(middle) * identity(k, upper)
    turned = q_bar + q @ (low - middle)
    a_bar = adjoint(_solve_factor(upper, adjoint(turned)))
    return np.conj(np.concatenate([a_bar, q @ right_bar], -1))


def qr_adjoint_of(mode: str, z_bar: Any, z: Any, a: Any) -> Any:
    """Adjoint of ``a`` in ``z = np.linalg.qr(a, mode)``."""
    _check_mode(mode)
    if mode != "r":
        return qr_adjoint(z_bar[0], z_bar[1], z[0], z[1], a)
    q = np.linalg.qr(a)[0]
    return qr_adjoint(np.zeros_like(q), z_bar, q, z, a)


def qr_tangent_of(mode: str, a_dot: Any, z: Any, a: Any) -> Any:
    """Tangent of ``z = np.linalg.qr(a, mode)``."""
    _check_mode(mode)
    return qr_tangent(a_dot, np.linalg.qr(a)[0], z, a)[1] if mode == "r" else qr_tangent(a_dot, z[0], z[1], a)


def _check_mode(mode: str) -> None:
    if mode not in ("reduced", "complete", "r"):
        raise UndefinedDerivativeError(
            f"np.linalg.qr(a, {mode!r}) has no derivative here: it gives the vectors of reflections",
            "Use mode='reduced', 'complete' or 'r'.",
        )


def qr_tangent(a_dot: Any, q: Any, r: Any, a: Any) -> tuple[Any, Any]:
    """Tangents of ``q, r = np.linalg.qr(a)``, with those of the columns that ``mode="complete"`` adds."""
    a = np.asarray(a)
    k = min(a.shape[-2:])
    q, rest, upper = q[..., :k], q[..., k:], r[..., :k, :k]
    scaled = adjoint(_solve_factor(adjoint(upper), adjoint(a_dot[..., :k]), lower=True))
    inner = adjoint(q) @ scaled
    turn = _turn(inner)
    q_dot = q @ (turn - inner) + scaled
    right_dot = adjoint(q_dot) @ a[..., k:] + adjoint(q) @ a_dot[..., k:]
    r_dot = np.concatenate([(inner - turn) @ upper, right_dot], -1)
    below = np.zeros_like(r_dot, shape=(*r.shape[:-2], r.shape[-2] - k, r.shape[-1]))
    return np.concatenate([q_dot, _rest_tangent(q_dot, q, rest, a)], -1), np.concatenate([r_dot, below], -2)


def completing_tangent(a_dot: Any, q: Any, r: Any, a: Any) -> Any:
    """Tangent of the columns that ``mode="complete"`` adds to those of ``q, r = np.linalg.qr(a)``."""
    return qr_tangent(a_dot, q, r, a)[0][..., min(a.shape[-2:]) :]


def _rest_tangent(q_dot: Any, q: Any, rest: Any, a: Any) -> Any:
    """Tangent of the columns that complete ``q``.

    One real vector that is orthogonal to all others cannot but follow them.  Others turn among themselves as the
    reflections ``1 - v t v^H`` of LAPACK have it: with ``q = e - v u``, where the rows of ``v`` at the top are a
    triangle with ones on its diagonal, ``u`` is triangular as well, and all follows from ``q``.
    """
    k, added = q.shape[-1], rest.shape[-1]
    if added == 0 or (added == 1 and not np.iscomplexobj(q)):
        return -q @ (adjoint(q_dot) @ rest)
    packed, sizes = np.linalg.qr(a[..., :k], "raw")
    if np.any(sizes == 0):
        raise UndefinedDerivativeError(
            "the vectors that complete a basis have no derivative where a column is reduced without a reflection",
            "Use mode='reduced'.",
        )
    below = np.tril(np.swapaxes(packed, -1, -2), -1)
    low, rows = below[..., :k, :] + identity(k, below), below[..., k:, :]
    u = solve_triangular(low, identity(k, low) - q[..., :k, :], lower=True)
    # The derivative of a product of triangles, of which the first has ones on its diagonal.
    inner = -solve_triangular(low, q_dot[..., :k, :], lower=True)
    inner = np.swapaxes(solve_triangular(np.swapaxes(u, -1, -2), np.swapaxes(inner, -1, -2), lower=True), -1, -2)
    low_dot, u_dot = low @ np.tril(inner, -1), np.triu(inner) @ u
    moved = -(q_dot[..., k:, :] + rows @ u_dot)
    rows_dot = np.swapaxes(solve_triangular(np.swapaxes(u, -1, -2), np.swapaxes(moved, -1, -2), lower=True), -1, -2)
    # rest = e - v u across, where across = low^-H rows^H.
    across = solve_triangular(adjoint(low), adjoint(rows))
    across_dot = solve_triangular(adjoint(low), adjoint(rows_dot) - adjoint(low_dot) @ across)
    v, v_dot = np.concatenate([low, rows], -2), np.concatenate([low_dot, rows_dot], -2)
    return -(v_dot @ (u @ across) + v @ (u_dot @ across + u @ across_dot))


def _turn(matrix: Any) -> Any:
    """The skew-Hermitian matrix that agrees with ``matrix`` below the diagonal, and in what is imaginary on it."""
    low = np.tril(matrix, -1)
    turn = low - adjoint(low)
    return turn + 1j * np.imag(matrix) * identity(matrix.shape[-1], matrix) if np.iscomplexobj(matrix) else turn


def _solve_factor(upper: Any, b: Any, lower: bool = False) -> Any:
    """Solve with the triangular factor of a QR decomposition, or its conjugate transpose."""
    sizes = np.abs(np.diagonal(upper, axis1=-2, axis2=-1))
    if np.any(sizes <= np.finfo(sizes.dtype).eps * np.max(sizes, axis=-1, keepdims=True, initial=0)):
        raise UndefinedDerivativeError(
            "np.linalg.qr has no derivative where the first columns of the matrix are linearly dependent"
        )
    return solve_triangular(upper, b, lower)
