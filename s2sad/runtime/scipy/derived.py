"""Derivatives and integrals of splines as splines of their own, and values of products of splines."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.runtime.scipy.smoothing import closest_adjoints, closest_tangent

Array = Any


def derived_knots(t: Array, c: Array, k: int, n: int) -> Array:
    """The knots of the ``n``-th derivative of a spline, of the antiderivative if ``n`` is negative."""
    return _derived(t, np.zeros(len(c)), k, n)[0]


def derived_bspline_coefficients(c: Array, t: Array, k: int, n: int) -> Array:
    """The coefficients of the ``n``-th derivative of a spline, of the antiderivative if ``n`` is negative."""
    return _derived(t, c, k, n)[1]


def derived_adjoint(g: Array, c: Array, t: Array, k: int, n: int) -> Array:
    """The adjoint of the coefficients in `derived_bspline_coefficients`."""
    return np.tensordot(_derived(t, np.eye(len(c)), k, n)[1], g, (0, 0))


def _derived(t: Array, c: Array, k: int, n: int) -> Any:
    t = np.asarray(t, float)
    return interpolate.splder((t, c, k), n) if n >= 0 else interpolate.splantider((t, c, k), -n)


def padded(c: Array, t: Array) -> Array:
    """As many coefficients as knots, as FITPACK has them."""
    return np.concatenate([c, np.zeros((len(t) - len(c), *np.shape(c)[1:]))])


def integral(a: Array, b: Array, t: Array, c: Array, k: int, extrapolate: Any) -> Array:
    """``BSpline(t, c, k).integrate(a, b, extrapolate)``"""
    return interpolate.BSpline(t, c, k).integrate(a, b, extrapolate)


def integral_shares(a: Array, b: Array, t: Array, c: Array, k: int, extrapolate: Any) -> Array:
    """The derivatives of `integral` by the coefficients: a number for each row of them."""
    found = np.zeros(len(c))
    count = len(t) - k - 1
    found[:count] = interpolate.BSpline(t, np.eye(count), k).integrate(a, b, extrapolate)
    return found


def integrand(x: Array, t: Array, c: Array, k: int, extrapolate: Any) -> Array:
    """What `integral` is of, at a bound; zero outside of the domain, if the spline is not extrapolated."""
    return np.nan_to_num(interpolate.BSpline(t, c, k)(x, 0, extrapolate))


def product_spline(x: Array, y: Array, c: Array, tx: Array, ty: Array, kx: int, ky: int, dx: int, dy: int) -> Array:
    """``bisplev(x, y, (tx, ty, c, kx, ky), dx, dy)``"""
    return interpolate.bisplev(x, y, (tx, ty, c, kx, ky), dx, dy)


def product_slope(
    x: Array, y: Array, c: Array, tx: Array, ty: Array, kx: int, ky: int, dx: int, dy: int, by_x: int, by_y: int
) -> Array:
    """`product_spline` as a matrix, differentiated ``by_x`` and ``by_y`` times more.

    Outside of its rectangle it has the values of its edge, and does not change there.
    """
    across, up = _basis(x, tx, kx, dx, by_x), _basis(y, ty, ky, dy, by_y)
    return across @ np.reshape(c, (across.shape[1], up.shape[1])) @ up.T


def _basis(x: Array, t: Array, k: int, order: int, more: int) -> Array:
    """The values of all basis functions at points, a row for each."""
    x = np.atleast_1d(x)
    found = interpolate.BSpline(t, np.eye(len(t) - k - 1), k)(np.clip(x, t[0], t[-1]), order + more)
    outside = (x < t[0]) | (x > t[-1])
    return np.where(outside[:, np.newaxis] & bool(more), 0.0, found)


def product_adjoints(
    g: Array, x: Array, y: Array, c: Array, tx: Array, ty: Array, kx: int, ky: int, dx: int, dy: int
) -> tuple[Array, Array, Array]:
    """The adjoints of the points and of the coefficients in `product_spline`."""
    across, up = _basis(x, tx, kx, dx, 0), _basis(y, ty, ky, dy, 0)
    g = np.reshape(g, (len(across), len(up)))
    by_x, by_y = (product_slope(x, y, c, tx, ty, kx, ky, dx, dy, *by) for by in ((1, 0), (0, 1)))
    x_bar = np.reshape(np.sum(g * by_x, axis=1), np.shape(x))
    return x_bar, np.reshape(np.sum(g * by_y, axis=0), np.shape(y)), np.reshape(across.T @ g @ up, np.shape(c))


def product_tangent(
    dots: tuple[Array, Array, Array],
    z: Array,
    x: Array,
    y: Array,
    c: Array,
    tx: Array,
    ty: Array,
    kx: int,
    ky: int,
    dx: int,
    dy: int,
) -> Array:
    """The tangent of `product_spline`, of those of the points and of the coefficients."""
    x_dot, y_dot, c_dot = (np.zeros(np.shape(of)) + dot for dot, of in zip(dots, (x, y, c), strict=True))
    by_x, by_y = (product_slope(x, y, c, tx, ty, kx, ky, dx, dy, *by) for by in ((1, 0), (0, 1)))
    moved = np.reshape(x_dot, (-1, 1)) * by_x + np.reshape(y_dot, (1, -1)) * by_y
    moved = moved + product_slope(x, y, c_dot, tx, ty, kx, ky, dx, dy, 0, 0)
    return np.reshape(moved, np.shape(z))


def fitted_between(y: Array, x: Array, inner: Array, w: Any, k: int) -> Array:
    """The coefficients of ``LSQUnivariateSpline(x, y, inner, w, k=k)``, of which there are as many as knots."""
    return interpolate.LSQUnivariateSpline(x, y, inner, w, k=k)._eval_args[1]


def knots_between(x: Array, inner: Array, k: int) -> Array:
    """The knots of ``LSQUnivariateSpline``: those inside, and the ends as often as they are in FITPACK."""
    return np.concatenate([np.repeat(x[0], k + 1), inner, np.repeat(x[-1], k + 1)])


def fitted_between_adjoints(
    g: Array, z: Array, y: Array, x: Array, inner: Array, w: Any, k: int
) -> tuple[Array, Array]:
    """The adjoints of the values and the weights in `fitted_between`."""
    count = len(z) - k - 1
    t, weights = knots_between(x, inner, k), np.ones(len(x)) if w is None else w
    y_bar, w_bar = closest_adjoints(g[:count], z[:count], y, x, t, k, weights)
    return y_bar, 0.0 if w is None else w_bar


def fitted_between_tangent(
    y_dot: Array, w_dot: Array, z: Array, y: Array, x: Array, inner: Array, w: Any, k: int
) -> Array:
    """The tangent of `fitted_between`."""
    t, weights = knots_between(x, inner, k), np.ones(len(x)) if w is None else w
    moved = closest_tangent(y_dot, 0.0 if w is None else w_dot, z[: len(z) - k - 1], y, x, t, k, weights)
    return padded(moved, t)
