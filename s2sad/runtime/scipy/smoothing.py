"""Splines that are fitted to data, in the values of these, and their integrals."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.errors import UndefinedDerivativeError

Array = Any


def smoothing_knots(x: Array, w: Any, lam: Any) -> Array:
    """The knots of ``make_smoothing_spline(x, y, w, lam)``."""
    if lam is None:
        raise UndefinedDerivativeError(
            "make_smoothing_spline without lam, which then is chosen by the data, has no derivative rule",
            "Give it lam.",
        )
    return interpolate.make_smoothing_spline(x, np.zeros(len(x)), w, lam).t


def smoothing_coefficients(y: Array, x: Array, w: Any, lam: Any) -> Array:
    """The coefficients of ``make_smoothing_spline(x, y, w, lam)``."""
    return interpolate.make_smoothing_spline(x, y, w, lam).c


def smoothing_adjoint(g: Array, x: Array, w: Any, lam: Any) -> Array:
    """The adjoint of the values in `smoothing_coefficients`."""
    return np.tensordot(interpolate.make_smoothing_spline(x, np.eye(len(x)), w, lam).c, g, (0, 0))


def smoothing_misses(c: Array, y: Array, x: Array, w: Any, lam: Any) -> Array:
    """How far the values are above the spline with the coefficients ``c``."""
    return y - interpolate.BSpline(smoothing_knots(x, w, lam), c, 3)(x)


def smoothing_adjoints(g: Array, c: Array, y: Array, x: Array, w: Any, lam: Any) -> tuple[Array, Array, Array]:
    """The adjoints of the values, the weights and the smoothing in `smoothing_coefficients`, of which ``c`` are the
    result.

    Where ``(B.T W B + lam P) c = B.T W y``, another weight is a change of the value by its part of what is missed, and
    another ``lam`` the opposite one of all.
    """
    y_bar = smoothing_adjoint(g, x, w, lam)
    pulled = _of_each(y_bar * smoothing_misses(c, y, x, w, lam))
    return y_bar, 0.0 if w is None else pulled / w, -np.sum(pulled) / lam


def smoothing_tangent(
    y_dot: Array, w_dot: Array, lam_dot: Array, c: Array, y: Array, x: Array, w: Any, lam: Any
) -> Array:
    """The tangent of `smoothing_coefficients`."""
    share = -lam_dot / lam if w is None else w_dot / w - lam_dot / lam
    moved = y_dot + _rows(share, y) * smoothing_misses(c, y, x, w, lam)
    return smoothing_coefficients(moved, x, w, lam)


def closest_coefficients(y: Array, x: Array, t: Array, k: int, w: Any) -> Array:
    """The coefficients of ``make_lsq_spline(x, y, t, k, w)``."""
    return interpolate.make_lsq_spline(x, y, t, k, w).c


def closest_adjoint(g: Array, x: Array, t: Array, k: int, w: Any) -> Array:
    """The adjoint of the values in `closest_coefficients`."""
    return np.tensordot(interpolate.make_lsq_spline(x, np.eye(len(x)), t, k, w).c, g, (0, 0))


def closest_misses(c: Array, y: Array, x: Array, t: Array, k: int) -> Array:
    """How far the values are above the spline with the coefficients ``c``."""
    return y - interpolate.BSpline(t, c, k)(x)


def closest_adjoints(g: Array, c: Array, y: Array, x: Array, t: Array, k: int, w: Any) -> tuple[Array, Array]:
    """The adjoints of the values and the weights, which are squared, in `closest_coefficients`."""
    y_bar = closest_adjoint(g, x, t, k, w)
    if w is None:
        return y_bar, 0.0
    # A point without weight has no effect on the spline, also not to first order.
    return y_bar, 2 * _of_each(y_bar * closest_misses(c, y, x, t, k)) / np.where(np.equal(w, 0), 1.0, w)


def closest_tangent(y_dot: Array, w_dot: Array, c: Array, y: Array, x: Array, t: Array, k: int, w: Any) -> Array:
    """The tangent of `closest_coefficients`."""
    moved = y_dot + np.zeros(np.shape(y))
    if w is not None:
        share = 2 * w_dot / np.where(np.equal(w, 0), 1.0, w)
        moved = moved + _rows(share, y) * closest_misses(c, y, x, t, k)
    return closest_coefficients(moved, x, t, k, w)


def _of_each(products: Array) -> Array:
    """The sums over all axes but the first."""
    return np.sum(np.reshape(products, (len(products), -1)), axis=1)


def _rows(share: Array, y: Array) -> Array:
    """A number for each row of ``y``, to be multiplied with these."""
    return np.reshape(share, (-1,) + (1,) * (np.ndim(y) - 1))


def spline_integral(a: Array, b: Array, t: Array, c: Array, k: int) -> Array:
    """``splint(a, b, (t, c, k))``."""
    return interpolate.splint(a, b, (t, c, k))


def spline_integrals(a: Array, b: Array, t: Array, c: Array, k: int) -> Array:
    """The integrals of the basis: the derivatives of `spline_integral` by the coefficients."""
    count = len(t) - k - 1
    found = np.zeros(len(c))
    low, high = np.clip([a, b], t[k], t[count])
    found[:count] = interpolate.BSpline(t, np.eye(count), k).integrate(low, high)
    return found


def spline_value(x: Array, t: Array, c: Array, k: int) -> Array:
    """The spline at a bound; it is zero outside of its domain, as `splint` takes it."""
    return interpolate.splev(x, (t, c, k), ext=1)
