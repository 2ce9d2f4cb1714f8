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


def closest_coefficients(y: Array, x: Array, t: Array, k: int, w: Any) -> Array:
    """The coefficients of ``make_lsq_spline(x, y, t, k, w)``."""
    return interpolate.make_lsq_spline(x, y, t, k, w).c


def closest_adjoint(g: Array, x: Array, t: Array, k: int, w: Any) -> Array:
    """The adjoint of the values in `closest_coefficients`."""
    return np.tensordot(interpolate.make_lsq_spline(x, np.eye(len(x)), t, k, w).c, g, (0, 0))


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
