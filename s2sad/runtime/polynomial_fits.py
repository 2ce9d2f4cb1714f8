"""Derivatives of fits of polynomials: of the coefficients, of what is left, of their covariances."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.systems import lstsq_adjoint, lstsq_tangent


def _system(x: Any, deg: int, w: Any) -> tuple[Any, Any, Any, Any]:
    """The powers of ``x``, the weights as a column, and the factors of the weighted powers."""
    if np.iscomplexobj(x) or np.iscomplexobj(w):
        # The least squares are those of the conjugate system, which is no analytic function of these.
        message = "np.polyfit has no derivative at complex points or with complex weights"
        raise UndefinedDerivativeError(message, "Solve for the coefficients, with np.linalg.lstsq(np.vander(x, n), y).")
    if np.ndim(deg):
        raise UndefinedDerivativeError("np.polyfit of a list of degrees has no derivative", "Give one degree.")
    v = np.vander(x, deg + 1)
    column = np.ones((np.size(x), 1)) if w is None else np.reshape(w, (-1, 1))
    # Columns of one length, as in np.polyfit, for the sake of the factors.
    scale = np.sqrt(np.sum((column * v) ** 2, axis=0))
    q, r = np.linalg.qr(column * v / scale)
    return v, column, q, r * scale


def _left(x: Any, y: Any, p: Any, deg: int, w: Any) -> tuple[Any, ...]:
    """The system, and beside it values and coefficients as columns, and what the fit leaves of the weighted values."""
    v, column, q, r = _system(x, deg, w)
    ys, ps = np.reshape(y, (np.shape(y)[0], -1)), np.reshape(p, (np.shape(p)[0], -1))
    return v, column, q, r, ys, ps, column * (ys - v @ ps)


def _into_points(a_bar: Any, b_bar: Any, v: Any, column: Any, y: Any) -> tuple[Any, Any, Any]:
    """The adjoints of points, values and weights, given those of the weighted powers and the weighted values."""
    ys = np.reshape(y, np.shape(b_bar))
    x_bar = np.sum(column * a_bar[:, :-1] * np.arange(np.shape(v)[1] - 1, 0, -1) * v[:, 1:], axis=1)
    w_bar = np.sum(a_bar * v, axis=1) + np.sum(b_bar * ys, axis=1)
    return x_bar, np.reshape(column * b_bar, np.shape(y)), w_bar


def _from_points(x_dot: Any, y_dot: Any, w_dot: Any, v: Any, column: Any, ys: Any, w: Any) -> tuple[Any, Any]:
    """The tangents of the weighted powers and the weighted values."""
    weight = 0.0 if w is None else np.reshape(w_dot, (-1, 1))
    a_dot = np.zeros_like(v)
    a_dot[:, :-1] = column * np.arange(np.shape(v)[1] - 1, 0, -1) * v[:, 1:] * np.reshape(x_dot, (-1, 1))
    return a_dot + weight * v, column * np.reshape(y_dot, np.shape(ys)) + weight * ys


def _rank(r: Any, x: Any, rcond: Any) -> Any:
    """The rank that np.polyfit finds, of the factor of the weighted powers; it leaves out small singular values."""
    s = np.linalg.svd(r / np.sqrt(np.sum(r**2, axis=0)), compute_uv=False)
    least = np.size(x) * np.finfo(np.result_type(np.asarray(x), 0.0)).eps if rcond is None else rcond
    return np.count_nonzero(s > least * s[0])


def _least_adjoint(
    g: Any, left_bar: Any, s_bar: Any, rank: Any, v: Any, column: Any, ps: Any, ys: Any
) -> tuple[Any, Any]:
    """The adjoints of weighted powers and values, given those of what np.linalg.lstsq finds for scaled columns."""
    a = column * v
    scale = np.sqrt(np.sum(a**2, axis=0))
    rows = np.reshape(scale, (-1, 1))
    given = (np.reshape(g, np.shape(ps)) / rows, left_bar, 0, s_bar)
    scaled_bar, b_bar = lstsq_adjoint(given, (ps * rows, left_bar, rank, s_bar), a / scale, column * ys)
    scaled_bar = np.real(scaled_bar)
    scale_bar = np.real(np.sum(given[0] * ps, axis=1)) + np.sum(scaled_bar * a, axis=0) / scale**2
    return scaled_bar / scale - a / scale * scale_bar, b_bar


def polyfit_adjoint(g: Any, p: Any, x: Any, y: Any, deg: int, w: Any = None, rcond: Any = None) -> tuple[Any, Any, Any]:
    """Return the adjoints of ``x``, ``y`` and ``w``, given ``g``, that of ``p = np.polyfit(x, y, deg, rcond, w=w)``.

    From the normal equations ``a.T @ (a @ p - b) = 0`` of the weighted powers ``a``, solved by their QR factors. If the
    points do not determine all coefficients, from the singular values that np.polyfit keeps.

    >>> polyfit_adjoint(np.array([1.0, 0.0]), np.array([2.0, 1.0]), [0.0, 1.0], [1.0, 3.0], 1)[1]
    array([-1.,  1.])
    """
    v, column, q, r, ys, ps, residual = _left(x, y, p, deg, w)
    rank = _rank(r, x, rcond)
    if rank <= deg:
        return _into_points(*_least_adjoint(g, np.zeros(0), 0.0, rank, v, column, ps, ys), v, column, y)
    solved = np.linalg.solve(r.T, np.reshape(g, np.shape(ps)))
    step, into_b = np.linalg.solve(r, solved), q @ solved
    return _into_points(residual @ step.T - into_b @ ps.T, into_b, v, column, y)


def _least_tangents(
    a_dot: Any, b_dot: Any, left: Any, rank: Any, v: Any, column: Any, ps: Any, ys: Any
) -> tuple[Any, Any, Any]:
    """The tangents of coefficients, of what is left and of singular values, see `_least_adjoint`."""
    a = column * v
    scale = np.sqrt(np.sum(a**2, axis=0))
    rows, scale_dot = np.reshape(scale, (-1, 1)), np.sum(a * a_dot, axis=0) / scale
    scaled_dot = (a_dot - a / scale * scale_dot) / scale
    z_dot = lstsq_tangent(scaled_dot, b_dot, (ps * rows, left, rank, 0.0), a / scale, column * ys)
    return (z_dot[0] - ps * np.reshape(scale_dot, (-1, 1))) / rows, z_dot[1], z_dot[3]


def polyfit_tangent(
    x_dot: Any, y_dot: Any, w_dot: Any, p: Any, x: Any, y: Any, deg: int, w: Any = None, rcond: Any = None
) -> Any:
    """Return the tangent of ``p = np.polyfit(x, y, deg, rcond, w=w)``.

    >>> polyfit_tangent(np.zeros(2), np.ones(2), 0.0, np.array([2.0, 1.0]), [0.0, 1.0], [1.0, 3.0], 1).round(12) + 0.0
    array([0., 1.])
    """
    v, column, q, r, ys, ps, residual = _left(x, y, p, deg, w)
    a_dot, b_dot = _from_points(x_dot, y_dot, w_dot, v, column, ys, w)
    rank = _rank(r, x, rcond)
    if rank <= deg:
        return np.reshape(_least_tangents(a_dot, b_dot, np.zeros(0), rank, v, column, ps, ys)[0], np.shape(p))
    moved = np.linalg.solve(r.T, a_dot.T @ residual) + q.T @ (b_dot - a_dot @ ps)
    return np.reshape(np.linalg.solve(r, moved), np.shape(p))


# --- with full=True: what is left, and the singular values; with cov: the covariances


def polyfit_parts_adjoint(
    g: Any,
    z: Any,
    x: Any,
    y: Any,
    deg: int,
    w: Any = None,
    full: Any = False,
    cov: Any = False,
    rcond: Any = None,
) -> tuple[Any, Any, Any]:
    """Return the adjoints of ``x``, ``y`` and ``w``, given ``g``, that of a ``np.polyfit`` that returns a tuple.

    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0])
    >>> g = (np.zeros(2), np.ones(1), 0.0, np.zeros(2), 0.0)
    >>> polyfit_parts_adjoint(g, np.polyfit(x, y, 1, full=True), x, y, 1, full=True)[1].round(9)
    array([-0.33333333,  0.66666667, -0.33333333])
    """
    if not full and not cov:
        return polyfit_adjoint(g, z, x, y, deg, w, rcond)
    v, column, q, r, ys, ps, residual = _left(x, y, z[0], deg, w)
    if full:
        left_bar = g[1] if np.size(z[1]) else z[1]
        return _into_points(*_least_adjoint(g[0], left_bar, g[3], z[2], v, column, ps, ys), v, column, y)
    _determined(r, x, rcond)
    solved = np.linalg.solve(r.T, np.reshape(g[0], np.shape(ps)))
    a_bar, b_bar = residual @ np.linalg.solve(r, solved).T - q @ solved @ ps.T, q @ solved
    a = column * v
    inverse, covariance_bar = _inverse(r), np.reshape(g[1], (*np.shape(r), -1))
    left_bar, factor = 0.0, 1.0
    if cov != "unscaled":
        free = np.shape(v)[0] - np.shape(v)[1]
        left_bar = np.sum(covariance_bar * inverse[:, :, np.newaxis], axis=(0, 1)) / free
        factor = np.sum(np.abs(residual) ** 2, axis=0) / free
    inverse_bar = np.sum(covariance_bar * factor, axis=2)
    a_bar = a_bar - a @ inverse @ (inverse_bar + inverse_bar.T) @ inverse
    into = 2 * np.conj(residual) * left_bar
    return _into_points(a_bar - into @ ps.T, b_bar + into, v, column, y)


def polyfit_parts_tangent(
    x_dot: Any,
    y_dot: Any,
    w_dot: Any,
    z: Any,
    x: Any,
    y: Any,
    deg: int,
    w: Any = None,
    full: Any = False,
    cov: Any = False,
    rcond: Any = None,
) -> Any:
    """Return the tangent of ``z``, what ``np.polyfit`` returns.

    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0])
    >>> z = np.polyfit(x, y, 1, full=True)
    >>> polyfit_parts_tangent(np.zeros(3), np.eye(3)[1], 0.0, z, x, y, 1, full=True)[1].round(9)
    array([0.66666667])
    """
    if not full and not cov:
        return polyfit_tangent(x_dot, y_dot, w_dot, z, x, y, deg, w, rcond)
    v, column, _, r, ys, ps, residual = _left(x, y, z[0], deg, w)
    a_dot, b_dot = _from_points(x_dot, y_dot, w_dot, v, column, ys, w)
    if full:
        p_dot, left_dot, s_dot = _least_tangents(a_dot, b_dot, z[1], z[2], v, column, ps, ys)
        return np.reshape(p_dot, np.shape(z[0])), left_dot, 0.0, s_dot, 0.0
    _determined(r, x, rcond)
    p_dot = polyfit_tangent(x_dot, y_dot, w_dot, z[0], x, y, deg, w)
    a, left_dot = column * v, 2 * np.real(np.sum(np.conj(residual) * (b_dot - a_dot @ ps), axis=0))
    inverse = _inverse(r)
    moved = -inverse @ (a_dot.T @ a + a.T @ a_dot) @ inverse
    if cov == "unscaled":
        covariance_dot = moved
    else:
        free = np.shape(v)[0] - np.shape(v)[1]
        left = np.sum(np.abs(residual) ** 2, axis=0)
        covariance_dot = (moved[:, :, np.newaxis] * left + inverse[:, :, np.newaxis] * left_dot) / free
    return p_dot, np.reshape(covariance_dot, np.shape(z[1]))


def _inverse(r: Any) -> Any:
    """The inverse of ``r.T @ r``."""
    half = np.linalg.solve(r, np.eye(np.shape(r)[0]))
    return half @ half.T


def _determined(r: Any, x: Any, rcond: Any) -> None:
    """Raise an error if the points do not determine all coefficients."""
    if _rank(r, x, rcond) < np.shape(r)[1]:
        message = "the covariances of coefficients that the points do not determine have no derivative rule"
        raise UndefinedDerivativeError(message, "Fit fewer coefficients, or leave out cov=.")
