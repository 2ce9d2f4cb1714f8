"""Derivatives of linear systems, inverses, least squares, powers and determinants.

Nothing is conjugated in an adjoint beyond what the function itself conjugates
(the transpose convention).  A derivative that does not exist raises
``UndefinedDerivativeError`` rather than giving infinities.

Source of the formulas: M. B. Giles, "Collected matrix derivative results for
forward and reverse mode algorithmic differentiation" (2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.matrices import (
    adjoint,
    doubled_triangle,
    folded_triangle,
    hermitian_part,
    identity,
    ratio,
    solve_triangular,
    transposed,
)

#: Stands for an argument that is not given, where None means something.
UNSET = "unset"

# --- solving ---


def solve_transposed(g: Any, a: Any, b: Any) -> Any:
    """Solve with the transpose of ``a`` for ``g``, which has the shape of ``np.linalg.solve(a, b)``."""
    if np.ndim(b) == 1:
        return np.linalg.solve(transposed(a), np.expand_dims(g, -1))[..., 0]
    return np.linalg.solve(transposed(a), g)


def solve_matrix(b_bar: Any, z: Any, a: Any, b: Any) -> Any:
    """Adjoint of ``a`` in ``z = np.linalg.solve(a, b)``, from what `solve_transposed` returned."""
    if np.ndim(b) == 1:
        return unbroadcast(-np.expand_dims(b_bar, -1) * np.expand_dims(z, -2), np.shape(a))
    return unbroadcast(-b_bar @ transposed(z), np.shape(a))


def solve_tangent(a_dot: Any, b_dot: Any, z: Any, a: Any, b: Any) -> Any:
    """Tangent of ``z = np.linalg.solve(a, b)``."""
    if np.ndim(b) == 1:
        return np.linalg.solve(a, np.expand_dims(b_dot - (a_dot @ np.expand_dims(z, -1))[..., 0], -1))[..., 0]
    return np.linalg.solve(a, b_dot - a_dot @ z)


def tensorsolve_order(a: Any, axes: Any = None) -> list[int]:
    """The axes of ``a`` in the order in which ``np.tensorsolve(a, b, axes)`` takes them."""
    order = list(range(np.ndim(a)))
    for k in axes or ():
        order.remove(k)
        order.insert(np.ndim(a), k)
    return order


def tensorsolve_adjoint(g: Any, z: Any, a: Any, b: Any, axes: Any = None) -> tuple[Any, Any]:
    """Adjoints of ``a`` and ``b`` in ``z = np.linalg.tensorsolve(a, b, axes)``."""
    order = tensorsolve_order(a, axes)
    moved = np.transpose(a, order)
    b_bar = np.linalg.solve(np.reshape(moved, (z.size, z.size)).T, np.ravel(g))
    a_bar = np.transpose(np.reshape(-np.outer(b_bar, z), moved.shape), np.argsort(order))
    return a_bar, np.reshape(b_bar, np.shape(b))


def tensorsolve_tangent(a_dot: Any, b_dot: Any, z: Any, a: Any, b: Any, axes: Any = None) -> Any:
    """Tangent of ``z = np.linalg.tensorsolve(a, b, axes)``."""
    a_dot = np.transpose(a_dot, tensorsolve_order(a, axes))
    return np.linalg.tensorsolve(a, b_dot - np.tensordot(a_dot, z, np.ndim(z)).reshape(np.shape(b)), axes)


# --- least squares ---


def pinv_adjoint(g: Any, z: Any, a: Any) -> Any:
    """Adjoint of ``a`` in ``z = np.linalg.pinv(a)``, while the rank of ``a`` stays the same.

    Source: G. H. Golub, V. Pereyra, SIAM Journal on Numerical Analysis 10 (1973), equation 4.12.
    """
    a = np.asarray(a)
    zh, gt = adjoint(z), transposed(g)
    # Multiplied so that what arises is as small as the smaller side of the matrix.
    if a.shape[-2] < a.shape[-1]:
        inner = gt @ z
        left, size = inner @ zh, zh @ z
        right = size @ gt - (size @ inner) @ a
        return np.conj(left - (a @ z) @ left + right) - transposed(z @ inner)
    left = gt @ (z @ zh)
    right = z @ gt
    turned = right @ z
    return np.conj(left - a @ (z @ left) + zh @ (right - turned @ a)) - transposed(turned)


def pinv_tangent(a_dot: Any, z: Any, a: Any) -> Any:
    """Tangent of ``z = np.linalg.pinv(a)``, while the rank of ``a`` stays the same."""
    a = np.asarray(a)
    zh, ah_dot = adjoint(z), adjoint(a_dot)
    if a.shape[-2] < a.shape[-1]:
        left, right = z @ (zh @ ah_dot), ah_dot @ (zh @ z)
        return left - left @ (a @ z) + right - z @ (a @ right) - z @ (a_dot @ z)
    left = (z @ zh) @ ah_dot
    right = (ah_dot @ zh) @ z
    return left - (left @ a) @ z + right - z @ (a @ right) - z @ a_dot @ z


def truncated_pinv_adjoint(g: Any, a: Any, rcond: Any = None, hermitian: bool = False, rtol: Any = UNSET) -> Any:
    """Adjoint of ``a`` in ``np.linalg.pinv(a, rcond, hermitian, rtol=rtol)``, whatever it leaves out."""
    a = np.asarray(a)
    if not a.size:
        return np.zeros_like(a)
    if hermitian:
        a = hermitian_part(doubled_triangle(a, upper=False))
    svd = np.linalg.svd(a, full_matrices=False)
    a_bar = _pinv_derivative(transposed(g), svd, _kept(svd, a, rcond, rtol))
    return np.conj(folded_triangle(a_bar, upper=False) if hermitian else a_bar)


def truncated_pinv_tangent(a_dot: Any, a: Any, rcond: Any = None, hermitian: bool = False, rtol: Any = UNSET) -> Any:
    """Tangent of ``np.linalg.pinv(a, rcond, hermitian, rtol=rtol)``, whatever it leaves out."""
    a = np.asarray(a)
    if not a.size:
        return adjoint(a)
    if hermitian:
        a, a_dot = (hermitian_part(doubled_triangle(x, upper=False)) for x in (a, a_dot))
    svd = np.linalg.svd(a, full_matrices=False)
    return adjoint(_pinv_derivative(a_dot, svd, _kept(svd, a, rcond, rtol)))


def _kept(svd: Any, a: Any, rcond: Any, rtol: Any) -> Any:
    """Which singular values ``np.linalg.pinv`` does not leave out."""
    if rcond is None:
        rcond = rtol if rtol is not None else max(a.shape[-2:]) * np.finfo(a.dtype).eps
    if isinstance(rcond, str):  # neither is given
        rcond = 1e-15
    return svd[1] > np.asarray(rcond)[..., np.newaxis] * svd[1][..., :1]


def _pinv_derivative(t: Any, svd: Any, kept: Any) -> Any:
    """Derivative along ``t`` of the conjugate transpose of a pseudoinverse; it is its own transpose.

    Of ``u @ diag(s) @ vh`` that is ``u @ diag(f(s)) @ vh``, where ``f`` is ``1 / s``, or zero where ``s`` is not
    ``kept``.  In the basis of the singular vectors the Hermitian part of ``t`` is multiplied by the divided
    differences of ``f``, the other part by those of ``f`` continued to an odd function.
    """
    u, s, vh = svd
    uh, v, f = adjoint(u), adjoint(vh), ratio(kept.astype(s.dtype), s)
    row, column, f_row, f_column = s[..., None, :], s[..., None], f[..., None, :], f[..., None]
    alike = kept[..., None, :] == kept[..., None]
    differences = np.where(alike, -f_row * f_column, ratio(f_row - f_column, row - column))
    odd_differences = ratio(f_row + f_column, row + column)
    by_v, by_u = t @ v, uh @ t
    inner = by_u @ v
    turned = adjoint(inner)
    core = (differences * (inner + turned) + odd_differences * (inner - turned)) / 2
    rate = f_row**2
    return (u @ core + (by_v - u @ inner) * rate) @ vh + (u * rate) @ (by_u - inner @ vh)


def lstsq_adjoint(z_bar: Any, z: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Adjoints of ``a`` and ``b`` in ``z = np.linalg.lstsq(a, b)``.

    Of a matrix of full rank one factorisation serves for all; of one of deficient rank the derivative is that of
    ``np.linalg.pinv(a) @ b``, as long as the rank stays the same.
    """
    a, b = np.asarray(a), np.asarray(b)
    if b.ndim == 1:
        x_bar, x, column = np.expand_dims(z_bar[0], -1), np.expand_dims(z[0], -1), np.expand_dims(b, -1)
        a_bar, b_bar = _lstsq_adjoints(x_bar, z_bar[1], z_bar[3], x, z[2], a, column)
        return a_bar, b_bar[:, 0]
    return _lstsq_adjoints(z_bar[0], z_bar[1], z_bar[3], z[0], z[2], a, b)


def _lstsq_adjoints(x_bar: Any, residuals_bar: Any, s_bar: Any, x: Any, rank: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Adjoints of the matrix and of columns ``b``."""
    g, r = np.conj(x_bar), b - a @ x
    if rank < min(a.shape):
        svd = np.linalg.svd(a, full_matrices=False)
        b_bar = np.conj(svd[0] @ _scaled(svd[2] @ g, svd[1], rank))
        a_bar = np.conj(_pinv_derivative(b @ transposed(x_bar), svd, np.arange(len(svd[1])) < rank))
    elif a.shape[0] >= a.shape[1]:
        q, upper = np.linalg.qr(a)
        low = solve_triangular(adjoint(upper), g, lower=True)
        b_bar = np.conj(q @ low)
        a_bar = np.conj(r @ adjoint(solve_triangular(upper, low))) - b_bar @ transposed(x)
    else:
        q, upper = np.linalg.qr(adjoint(a))
        y = solve_triangular(upper, adjoint(q) @ g)
        w = solve_triangular(upper, adjoint(q) @ x)
        b_bar = np.conj(y)
        a_bar = np.conj(w @ adjoint(g - adjoint(a) @ y)) - b_bar @ transposed(x)
    if np.size(residuals_bar):
        r_bar = 2 * np.conj(r) * np.real(residuals_bar)
        a_bar, b_bar = a_bar - r_bar @ transposed(x), b_bar + r_bar
    if np.any(s_bar != 0):
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        a_bar = a_bar + np.conj((u * np.real(s_bar)) @ vh)
    return a_bar, b_bar


def lstsq_tangent(a_dot: Any, b_dot: Any, z: Any, a: Any, b: Any) -> tuple[Any, Any, int, Any]:
    """Tangents of ``z = np.linalg.lstsq(a, b)``; that of the rank is 0."""
    a, b = np.asarray(a), np.asarray(b)
    if b.ndim == 1:
        x, column = np.expand_dims(z[0], -1), np.expand_dims(b, -1)
        x_dot, residuals_dot, s_dot = _lstsq_tangents(a_dot, np.expand_dims(b_dot, -1), x, z[1], z[2], a, column)
        return x_dot[:, 0], residuals_dot, 0, s_dot
    x_dot, residuals_dot, s_dot = _lstsq_tangents(a_dot, b_dot, z[0], z[1], z[2], a, b)
    return x_dot, residuals_dot, 0, s_dot


def _lstsq_tangents(a_dot: Any, b_dot: Any, x: Any, residuals: Any, rank: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Tangents of solution, residuals and singular values."""
    u, s, vh = svd = np.linalg.svd(a, full_matrices=False)
    s_dot = np.real(np.sum(np.conj(u) * (a_dot @ adjoint(vh)), axis=0))
    r, r_dot = b - a @ x, b_dot - a_dot @ x
    pinv_dot = adjoint(_pinv_derivative(a_dot, svd, np.arange(len(s)) < rank))
    x_dot = adjoint(vh) @ _scaled(adjoint(u) @ b_dot, s, rank) + pinv_dot @ b
    residuals_dot = 2 * np.sum(np.real(np.conj(r) * r_dot), axis=0) if np.size(residuals) else residuals
    return x_dot, residuals_dot, s_dot


def _scaled(rows: Any, s: Any, rank: int) -> Any:
    """The first ``rank`` of some rows divided by ``s``, the others zero."""
    return rows * np.expand_dims(np.where(np.arange(len(s)) < rank, ratio(1.0, s), 0), -1)


# --- powers ---


def matrix_power_adjoint(g: Any, z: Any, a: Any, n: int) -> Any:
    """Adjoint of ``a`` in ``z = np.linalg.matrix_power(a, n)``, ``n`` of either sign."""
    if n < 0:
        inverse = transposed(np.linalg.inv(a))
        return -inverse @ _power_derivative(g, inverse, -n) @ inverse
    return _power_derivative(g, transposed(a), n)


def matrix_power_tangent(a_dot: Any, a: Any, n: int) -> Any:
    """Tangent of ``np.linalg.matrix_power(a, n)``, ``n`` of either sign."""
    if n < 0:
        inverse = np.linalg.inv(a)
        return _power_derivative(-inverse @ a_dot @ inverse, inverse, -n)
    return _power_derivative(a_dot, a, n)


def _power_derivative(t: Any, a: Any, n: int) -> Any:
    """Derivative along ``t`` of the power ``n >= 0`` of ``a``, by repeated squaring."""
    if n == 0:
        return np.zeros_like(t)
    power, total = a, t
    for digit in bin(n)[3:]:
        power, total = power @ power, total @ power + power @ total
        if digit == "1":
            power, total = power @ a, total @ a + power @ t
    return total


# --- determinants ---


def cofactor(a: Any) -> Any:
    """Cofactors of ``a``: the gradient of its determinant, exact for any rank.

    Where the determinant is zero, ``det(a) * inv(a).T`` is found from the singular
    values, whose products without one of them stay finite.

    Example:
        >>> cofactor(np.array([[1.0, 0.0], [0.0, 0.0]]))
        array([[0., 0.],
               [0., 1.]])
    """
    determinant = np.linalg.det(a)
    if np.all(determinant != 0):
        return np.expand_dims(determinant, (-2, -1)) * transposed(np.linalg.inv(a))
    u, s, vh = np.linalg.svd(a)
    same = identity(s.shape[-1], s)
    sizes = np.expand_dims(s, -2) * (1 - same) + same
    others = np.prod(sizes, axis=-1) * np.expand_dims(np.linalg.det(u) * np.linalg.det(vh), -1)
    return (np.conj(u) * np.expand_dims(others, -2)) @ np.conj(vh)


def cofactor_derivative(t: Any, c: Any, a: Any) -> Any:
    """Derivative of ``c = cofactor(a)`` along ``t``; it is its own transpose.

    Raises:
        UndefinedDerivativeError: ``a`` is singular.
    """
    determinant = np.linalg.det(a)
    if np.any(determinant == 0):
        raise UndefinedDerivativeError("the second derivative of the determinant of a singular matrix is not available")
    total = np.sum(t * c, axis=(-2, -1), keepdims=True)
    return (total * c - c @ transposed(t) @ c) / np.expand_dims(determinant, (-2, -1))


def regular_inverse(a: Any, used: Any) -> Any:
    """The inverses of the matrices in ``a`` for which ``used`` is not zero; zeros for those of the others without one.

    Example:
        >>> regular_inverse(np.array([[[2.0]], [[0.0]]]), np.array([1.0, 0.0]))
        array([[[0.5]],
        <BLANKLINE>
               [[0. ]]])

    Raises:
        UndefinedDerivativeError: one of them is singular.
    """
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        singular = np.linalg.slogdet(a)[0] == 0
        if np.any(singular & (np.not_equal(used, 0))):
            raise UndefinedDerivativeError(
                "the logarithm of the determinant of a singular matrix has no derivative",
                "Leave such matrices out before: a[np.linalg.det(a) != 0].",
            ) from None
        holes = np.expand_dims(singular, (-2, -1))
        return np.where(holes, 0.0, np.linalg.inv(np.where(holes, identity(np.shape(a)[-1], a), a)))
