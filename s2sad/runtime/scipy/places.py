"""Interpolating B-splines by the places of their data, on which their knots depend.

By a knot between the ends a spline has a derivative that is a spline with that knot doubled.  By the knots at the ends,
which stand together, it follows from two facts: a spline stays the same where all knots and the point are moved by one
distance, and where they are scaled by one number, but for the power of it that is the order of a derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.callables import tangent_by_adjoints
from s2sad.runtime.scipy.interpolants import bspline
from s2sad.runtime.scipy.splines import in_double

Array = Any

#: By the condition at both ends, the order of the derivative that is zero there.
_ENDS = {"natural": 2, "clamped": 1}


def through(
    x: Array,
    c: Array,
    k: int,
    bc_type: Any,
    points: Array,
    nu: int = 0,
    axis: int = 0,
    extrapolate: Any = True,
    order: int = 0,
) -> Array:
    """The values at points of the spline of ``make_interp_spline(x, y, k, bc_type=bc_type)``, of its coefficients.

    With ``order`` it is its derivative, as a spline of its own.
    """
    knots = spline_knots(x, k, bc_type)
    if order:
        own = interpolate.BSpline(knots, in_double(c), k).derivative(order)
        return bspline(own.t, own.c, own.k, points, nu, axis, extrapolate)
    return bspline(knots, c, k, points, nu, axis, extrapolate)


def through_places_adjoint(
    g: Array, x: Array, c: Array, k: int, bc_type: Any, points: Array, nu: int, axis: int, extrapolate: Any
) -> Array:
    """The adjoint of the places in `through`."""
    front = np.moveaxis(g, range(axis, axis + np.ndim(points)), range(np.ndim(points)))
    slopes = _by_places(x, c, k, bc_type, np.ravel(points), nu, extrapolate)
    return np.einsum("mpe,pe->m", slopes, front.reshape(np.size(points), -1))


def through_places_tangent(
    x_dot: Array, x: Array, c: Array, k: int, bc_type: Any, points: Array, nu: int, axis: int, extrapolate: Any
) -> Array:
    """The tangent of `through`, of that of the places."""
    slopes = _by_places(x, c, k, bc_type, np.ravel(points), nu, extrapolate)
    front = np.einsum("mpe,m->pe", slopes, np.zeros(len(x)) + x_dot)
    moved = front.reshape((*np.shape(points), *c.shape[1:]))
    return np.moveaxis(moved, range(np.ndim(points)), range(axis, axis + np.ndim(points)))


def coefficients_tangent(x_dot: Array, c: Array, x: Array, k: int, t: Any, bc_type: Any) -> Array:
    """The tangent of `interpolating_coefficients`, of that of the places."""
    return tangent_by_adjoints(c, lambda g: (coefficients_adjoint(g, c, x, k, t, bc_type),), (x_dot,))


def coefficients_adjoint(c_bar: Array, c: Array, x: Array, k: int, t: Any, bc_type: Any) -> Array:
    """The adjoint of the places in `interpolating_coefficients`: what these fulfil holds wherever the places are."""
    knots = spline_knots(x, k, bc_type) if t is None else np.asarray(t)
    order = _order_at_ends(bc_type)
    sites, orders = [*x], [0] * len(x)
    at = [*range(len(x))]
    if order:
        sites, orders, at = [x[0], *sites, x[-1]], [order, *orders, order], [0, *at, len(x) - 1]
    units, flat = interpolate.BSpline(knots, np.eye(len(c)), k), c.reshape(len(c), -1)
    own = interpolate.BSpline(knots, flat, k)
    rows = np.array([units(p, nu) for p, nu in zip(sites, orders, strict=True)])
    shares = np.linalg.solve(rows.T, np.reshape(c_bar, flat.shape))
    found = np.zeros(len(x))
    for p, nu, i, share in zip(sites, orders, at, shares, strict=True):
        found[i] -= own(p, nu + 1) @ share
        if t is None:
            found -= _by_places(x, c, k, bc_type, np.array([p]), nu, True)[:, 0] @ share
    return found


def _order_at_ends(bc_type: Any) -> int:
    if bc_type is None or bc_type == "not-a-knot":
        return 0
    if isinstance(bc_type, str) and bc_type in _ENDS:
        return _ENDS[bc_type]
    raise UndefinedDerivativeError(
        "a B-spline that is periodic, or has derivatives at its ends, has no derivative rule by the places of its data",
        "Use CubicSpline(x, y, bc_type=...).",
    )


def spline_knots(x: Array, k: int, bc_type: Any) -> Array:
    """The knots of a spline through values at places."""
    return interpolate.make_interp_spline(x, np.zeros(len(x)), k, None, bc_type).t


def interpolating_knots(x: Array, k: int, bc_type: Any) -> Array:
    """The knots of ``make_interp_spline(x, y, k, None, bc_type)``."""
    return np.array(spline_knots(x, k, bc_type))


def interpolating_knots_tangent(x_dot: Array, x: Array, k: int, bc_type: Any) -> Array:
    """The tangent of `interpolating_knots`."""
    low, high, rest = _around_knots(x, k, bc_type)
    moved = x_dot + np.zeros(len(x))
    return (1 - rest) * moved[low] + rest * moved[high]


def interpolating_knots_adjoint(g: Array, x: Array, k: int, bc_type: Any) -> Array:
    """The adjoint of the places in `interpolating_knots`."""
    low, high, rest = _around_knots(x, k, bc_type)
    return np.bincount(low, (1 - rest) * g, len(x)) + np.bincount(high, rest * g, len(x))


def _around_knots(x: Array, k: int, bc_type: Any) -> tuple[Array, Array, Array]:
    """The places before and after each knot, and how far it is from the first of them."""
    _order_at_ends(bc_type)
    # Knots are places, or lie between two of them: it does not matter at which.
    steps = spline_knots(np.arange(float(len(x))), k, bc_type)
    low = np.floor(steps).astype(int)
    return low, np.minimum(low + 1, len(x) - 1), steps - low


def _by_places(x: Array, c: Array, k: int, bc_type: Any, points: Array, nu: int, extrapolate: Any) -> Array:
    """The derivatives of a spline by the places of its data, with its coefficients kept: places, points, others."""
    low, high, rest = _around_knots(x, k, bc_type)
    by_knots = _by_knots(spline_knots(x, k, bc_type), c.reshape(len(c), -1), k, points, nu, extrapolate)
    found = np.zeros((len(x), *by_knots.shape[1:]))
    np.add.at(found, low, (1 - rest[:, None, None]) * by_knots)
    np.add.at(found, high, rest[:, None, None] * by_knots)
    return found


def _by_knots(t: Array, c: Array, k: int, points: Array, nu: int, extrapolate: Any) -> Array:
    """The derivatives of a spline by its knots, those at each end as by one: knots, points, others."""
    own = interpolate.BSpline(t, c, k, bool(extrapolate))
    value, slope = (np.nan_to_num(own(points, order), nan=0.0) for order in (nu, nu + 1))
    found = np.zeros((len(t), *value.shape))
    for j in range(k + 1, len(c)):
        doubled = np.zeros((len(c) + 1, c.shape[1]))
        for i in range(j - k, j + 1):
            doubled[i] = (c[i - 1] - c[i]) / (t[i + k] - t[i])
        spline = interpolate.BSpline(np.insert(t, j, t[j]), doubled, k, bool(extrapolate))
        found[j] = np.nan_to_num(spline(points, nu), nan=0.0)
    total = -slope - np.sum(found, axis=0)
    moment = -nu * value - points[:, None] * slope - np.tensordot(t, found, 1)
    found[-1] = (moment - t[0] * total) / (t[-1] - t[0])
    found[0] = total - found[-1]
    return found
