"""Interpolants of ``scipy.interpolate`` whose data carry derivatives: their coefficients are values of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops.models import model
from s2sad.runtime.scipy.derived import (
    derived_bspline_coefficients,
    derived_knots,
    fitted_between,
    integral,
    knots_between,
    padded,
    product_spline,
)
from s2sad.runtime.scipy.interpolants import (
    bspline,
    evaluated,
    fitted_coefficients,
    fitted_knots,
    grid_method,
    grid_value,
    interpolated,
    interpolating_coefficients,
    kept,
    require_unchanged,
)
from s2sad.runtime.scipy.places import interpolating_knots, through
from s2sad.runtime.scipy.smoothing import (
    closest_coefficients,
    smoothing_coefficients,
    smoothing_knots,
    spline_integral,
)
from s2sad.runtime.scipy.splines import (
    cubic_coefficients,
    derived_coefficients,
    extrapolation,
    integrated_coefficients,
    local_coefficients,
    piecewise,
    piecewise_integral,
    slopes_given,
)


class Piecewise:
    """A piecewise polynomial: coefficients, breakpoints, the axis of its values, and how it goes on outside."""

    def __init__(self, c: Any, x: Any, axis: Any, extrapolate: Any) -> None:
        self.c = c
        self.x = x
        self.axis = axis
        self.extrapolate = extrapolate

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        return piecewise(self.c, self.x, x, nu, self.axis, self.extrapolate if extrapolate is None else extrapolate)

    def derivative(self, nu: Any = 1) -> Any:
        return Piecewise(derived_coefficients(self.c, nu), self.x, self.axis, self.extrapolate)

    def antiderivative(self) -> Any:
        return Piecewise(integrated_coefficients(self.c, self.x), self.x, self.axis, self.extrapolate)

    def integrate(self, a: Any, b: Any) -> Any:
        return piecewise_integral(self.c, self.x, a, b, self.extrapolate)


@model(interpolate.PPoly, given="anything")
class PPoly(Piecewise):
    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: Any = 0) -> None:
        self.c = np.ascontiguousarray(c)
        self.x = np.ascontiguousarray(x)
        self.axis = axis
        self.extrapolate = extrapolation(extrapolate)


@model(interpolate.CubicSpline, given="anything")
class CubicSpline(Piecewise):
    def __init__(self, x: Any, y: Any, axis: Any = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> None:
        self.c = cubic_coefficients(x, y, axis, bc_type)
        self.x = np.array(x)
        self.axis = axis
        self.extrapolate = extrapolation(extrapolate, bc_type)


@model(interpolate.PchipInterpolator, given="anything")
class PchipInterpolator(Piecewise):
    def __init__(self, x: Any, y: Any, axis: Any = 0, extrapolate: Any = None) -> None:
        self.c = local_coefficients(x, y, axis, "pchip")
        self.x = np.array(x)
        self.axis = axis
        self.extrapolate = extrapolation(extrapolate)


@model(interpolate.Akima1DInterpolator, given="anything")
class Akima1DInterpolator(Piecewise):
    def __init__(self, x: Any, y: Any, axis: Any = 0, *, method: Any = "akima", extrapolate: Any = None) -> None:
        self.c = local_coefficients(x, y, axis, method)
        self.x = np.array(x)
        self.axis = axis
        self.extrapolate = False if extrapolate is None else extrapolate


@model(interpolate.CubicHermiteSpline, given="anything")
class CubicHermiteSpline(Piecewise):
    def __init__(self, x: Any, y: Any, dydx: Any, axis: Any = 0, extrapolate: Any = None) -> None:
        self.c = slopes_given(x, y, dydx, axis)
        self.x = np.array(x)
        self.axis = axis
        self.extrapolate = extrapolation(extrapolate)


@model(interpolate.BSpline, given="anything")
class BSpline:
    """Of one curve: the axis of interpolation is the first of its coefficients."""

    def __init__(self, t: Any, c: Any, k: Any, extrapolate: Any = True) -> None:
        self.t = np.ascontiguousarray(t)
        self.c = np.ascontiguousarray(c)
        self.k = k
        self.axis = 0
        self.extrapolate = extrapolate

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        beyond = self.extrapolate if extrapolate is None else extrapolate
        return bspline(self.t, self.c, self.k, x, nu, self.axis, beyond)

    def derivative(self, nu: Any = 1) -> Any:
        return derived_bspline(self.t, padded(self.c, self.t), self.k, nu, self.axis, self.extrapolate)

    def antiderivative(self, nu: Any = 1) -> Any:
        return derived_bspline(self.t, padded(self.c, self.t), self.k, -nu, self.axis, self.extrapolate)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        return integral(a, b, self.t, self.c, self.k, self.extrapolate if extrapolate is None else extrapolate)


class Interpolating:
    """A B-spline through data, with knots that depend on the places of these."""

    def __init__(self, x: Any, t: Any, c: Any, k: Any, bc_type: Any, axis: Any) -> None:
        self.places = np.array(x)
        self.bc_type = bc_type
        self.knots = t
        self.t = np.array(t)
        self.c = c
        self.k = k
        self.axis = axis
        self.extrapolate = True

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        require_unchanged(self.knots, self.t)
        beyond = self.extrapolate if extrapolate is None else extrapolate
        return through(self.places, self.c, self.k, self.bc_type, x, nu, self.axis, beyond)

    def derivative(self, nu: Any = 1) -> Any:
        require_unchanged(self.knots, self.t)
        return Slope(self.places, self.c, self.k, self.bc_type, self.axis, nu)


class Slope:
    """The derivative of a B-spline through data."""

    def __init__(self, x: Any, c: Any, k: Any, bc_type: Any, axis: Any, order: Any) -> None:
        self.places = x
        self.c = c
        self.k = k
        self.bc_type = bc_type
        self.axis = axis
        self.order = order

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        beyond = True if extrapolate is None else extrapolate
        return through(self.places, self.c, self.k, self.bc_type, x, nu, self.axis, beyond, self.order)

    def derivative(self, nu: Any = 1) -> Any:
        return Slope(self.places, self.c, self.k, self.bc_type, self.axis, self.order + nu)


class Collocated(BSpline):
    def __init__(self, t: Any, c: Any, k: Any, axis: Any, extrapolate: Any = True) -> None:
        self.t = t
        self.c = c
        self.k = k
        self.axis = axis
        self.extrapolate = extrapolate


def derived_bspline(t: Any, c: Any, k: Any, n: Any, axis: Any, extrapolate: Any) -> Any:
    """The ``n``-th derivative of a B-spline, of the antiderivative if ``n`` is negative."""
    return Collocated(derived_knots(t, c, k, n), derived_bspline_coefficients(c, t, k, n), k - n, axis, extrapolate)


@model(interpolate.make_interp_spline, given="anything")
def make_interp_spline(x: Any, y: Any, k: Any = 3, t: Any = None, bc_type: Any = None, axis: Any = 0) -> Any:
    c = interpolating_coefficients(x, y, k, t, bc_type, axis)
    if t is None:
        return Interpolating(x, interpolating_knots(x, k, bc_type), c, k, bc_type, axis)
    return Collocated(np.ascontiguousarray(t), c, k, axis)


@model(interpolate.splrep)
def splrep(x: Any, y: Any, w: Any = None, *, k: Any = 3, s: Any = None) -> Any:
    return fitted_knots(x, y, w, k, s), fitted_coefficients(x, y, w, k, s), k


@model(interpolate.splev, given="structured")
def splev(x: Any, tck: Any, der: Any = 0, ext: Any = 0) -> Any:
    return evaluated(x, tck[0], tck[1], tck[2], der, ext)


@model(interpolate.splint, given="structured")
def splint(a: Any, b: Any, tck: Any) -> Any:
    return spline_integral(a, b, tck[0], tck[1], tck[2])


@model(interpolate.splder, given="structured")
def splder(tck: Any, n: Any = 1) -> Any:
    t, c, k = tck
    return derived_knots(t, c, k, n), derived_bspline_coefficients(c, t, k, n), k - n


@model(interpolate.splantider, given="structured")
def splantider(tck: Any, n: Any = 1) -> Any:
    t, c, k = tck
    return derived_knots(t, c, k, -n), derived_bspline_coefficients(c, t, k, -n), k + n


@model(interpolate.bisplev, given="structured")
def bisplev(x: Any, y: Any, tck: Any, dx: Any = 0, dy: Any = 0) -> Any:
    return product_spline(x, y, tck[2], tck[0], tck[1], tck[3], tck[4], dx, dy)


@model(interpolate.make_smoothing_spline)
def make_smoothing_spline(x: Any, y: Any, w: Any = None, lam: Any = None) -> Any:
    return Collocated(smoothing_knots(x, w, lam), smoothing_coefficients(y, x, w, lam), 3, 0)


@model(interpolate.make_lsq_spline)
def make_lsq_spline(x: Any, y: Any, t: Any, k: Any = 3, w: Any = None) -> Any:
    return Collocated(t, closest_coefficients(y, x, t, k, w), k, 0)


class Univariate:
    """A spline of FITPACK."""

    def __init__(self, t: Any, c: Any, k: Any) -> None:
        self.t = t
        self.c = c
        self.k = k

    def __call__(self, x: Any, nu: Any = 0) -> Any:
        return evaluated(x, self.t, self.c, self.k, nu, 0)

    def derivative(self, n: Any = 1) -> Any:
        return derived_univariate(self.t, self.c, self.k, n)

    def antiderivative(self, n: Any = 1) -> Any:
        return derived_univariate(self.t, self.c, self.k, -n)

    def integral(self, a: Any, b: Any) -> Any:
        return spline_integral(a, b, self.t, self.c, self.k)


def derived_univariate(t: Any, c: Any, k: Any, n: Any) -> Any:
    """The ``n``-th derivative of a spline of FITPACK, of the antiderivative if ``n`` is negative."""
    return Univariate(derived_knots(t, c, k, n), derived_bspline_coefficients(c, t, k, n), k - n)


@model(interpolate.UnivariateSpline)
class UnivariateSpline(Univariate):
    def __init__(self, x: Any, y: Any, w: Any = None, *, k: Any = 3, s: Any = None) -> None:
        self.t = fitted_knots(x, y, w, k, s, True)
        self.c = fitted_coefficients(x, y, w, k, s, True)
        self.k = k


@model(interpolate.InterpolatedUnivariateSpline)
class InterpolatedUnivariateSpline(Univariate):
    def __init__(self, x: Any, y: Any, w: Any = None, *, k: Any = 3) -> None:
        self.t = fitted_knots(x, y, w, k, 0, True)
        self.c = fitted_coefficients(x, y, w, k, 0, True)
        self.k = k


@model(interpolate.LSQUnivariateSpline)
class LSQUnivariateSpline(Univariate):
    def __init__(self, x: Any, y: Any, t: Any, w: Any = None, *, k: Any = 3) -> None:
        self.t = knots_between(x, t, k)
        self.c = fitted_between(y, x, t, w, k)
        self.k = k


@model(interpolate.interp1d, given="anything")
class interp1d:
    def __init__(
        self,
        x: Any,
        y: Any,
        kind: Any = "linear",
        axis: Any = -1,
        copy: Any = True,
        bounds_error: Any = None,
        fill_value: Any = np.nan,
        assume_sorted: Any = False,
    ) -> None:
        held = assume_sorted and not copy
        self.places = np.asarray(x) if held else np.array(x)
        self.values = np.asarray(y) if held else np.array(y)
        self.interpolant = kept(
            interpolate.interp1d, self.places, self.values, kind, axis, copy, bounds_error, fill_value, assume_sorted
        )
        self.along = axis
        self.outside = fill_value

    def __call__(self, x: Any) -> Any:
        return interpolated(self.interpolant, self.places, self.values, x, self.along, self.outside)


@model(interpolate.RegularGridInterpolator)
class RegularGridInterpolator:
    def __init__(
        self, points: Any, values: Any, method: Any = "linear", bounds_error: Any = True, fill_value: Any = np.nan
    ) -> None:
        self.interpolant = kept(interpolate.RegularGridInterpolator, points, values, method, bounds_error, fill_value)
        self.grid = points
        self.values = values
        self.fill_value = fill_value

    def __call__(self, xi: Any, method: Any = None) -> Any:
        return grid_value(self.interpolant, self.grid, self.values, xi, method, self.fill_value)


@model(interpolate.interpn)
def interpn(
    points: Any, values: Any, xi: Any, method: Any = "linear", bounds_error: Any = True, fill_value: Any = np.nan
) -> Any:
    return RegularGridInterpolator(points, values, grid_method(method), bounds_error, fill_value)(xi)


class Scattered:
    """An interpolant between scattered points."""

    def __init__(self, points: Any, values: Any, method: Any, fill_value: Any, rescale: Any) -> None:
        self.given = points
        self.places = np.array(points)
        self.held = values
        self.method = method
        self.fill_value = fill_value
        self.rescale = rescale

    def __call__(self, x: Any, y: Any = None, z: Any = None) -> Any:
        require_unchanged(self.places, self.given)
        if y is None:
            xi = x
        else:
            xi = (x, y) if z is None else (x, y, z)
        return interpolate.griddata(self.places, self.held, xi, self.method, self.fill_value, self.rescale)


@model(interpolate.LinearNDInterpolator)
def linear_between(points: Any, values: Any, fill_value: Any = np.nan, rescale: Any = False) -> Any:
    return Scattered(points, np.ascontiguousarray(values), "linear", fill_value, rescale)


@model(interpolate.NearestNDInterpolator)
def of_nearest(x: Any, y: Any, rescale: Any = False) -> Any:
    return Scattered(x, y, "nearest", np.nan, rescale)
