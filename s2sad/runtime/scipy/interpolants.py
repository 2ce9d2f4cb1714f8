"""Interpolants of ``scipy.interpolate`` that are no piecewise polynomials by coefficients: B-splines, lines, grids."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.callables import tangent_by_adjoints
from s2sad.runtime.scipy.splines import along, in_double, zeros_kept

Array = Any


def by_points(slope: Array, x_dot: Array, x: Array, axis: int) -> Array:
    """The tangent of values, of the slopes at points and the tangent of these."""
    ndim = np.ndim(x)
    front = np.moveaxis(slope, range(axis, axis + ndim), range(ndim))
    moved = front * np.reshape(x_dot + np.zeros(np.shape(x)), np.shape(x) + (1,) * (np.ndim(front) - ndim))
    return np.moveaxis(moved, range(ndim), range(axis, axis + ndim))


def points_tangent(x_dot: Array, spline: Any, x: Array, nu: int, extrapolate: Any) -> Array:
    """The tangent of ``spline(x, nu, extrapolate)`` by the points."""
    return by_points(spline(x, nu + 1, extrapolate), x_dot, x, spline.axis)


def points_adjoint(z_bar: Array, spline: Any, x: Array, nu: int, extrapolate: Any) -> Array:
    """The adjoint of points in ``spline(x, nu, extrapolate)``."""
    return along(zeros_kept(spline(x, nu + 1, extrapolate), z_bar), x, spline.axis)


def univariate_tangent(x_dot: Array, spline: Any, x: Array, nu: int, ext: Any) -> Array:
    """The tangent of ``spline(x, nu, ext)`` by the points, for a ``UnivariateSpline``."""
    return spline(x, nu + 1, ext) * x_dot


def univariate_adjoint(z_bar: Array, spline: Any, x: Array, nu: int, ext: Any) -> Array:
    """The adjoint of points in ``spline(x, nu, ext)`` for a ``UnivariateSpline``."""
    return zeros_kept(spline(x, nu + 1, ext), z_bar)


# --- B-splines


def bspline(t: Array, c: Array, k: int, x: Array, nu: int = 0, axis: int = 0, extrapolate: Any = True) -> Array:
    """``BSpline(t, c, k, extrapolate, axis)(x, nu)``, with the axis of interpolation of ``c`` first."""
    return interpolate.BSpline.construct_fast(np.asarray(t, np.float64), in_double(c), k, extrapolate, axis)(x, nu)


def bspline_coefficients_adjoint(
    g: Array, t: Array, c: Array, k: int, x: Array, nu: int, axis: int, extrapolate: Any
) -> Array:
    """The adjoint of the coefficients in `bspline`."""
    units = interpolate.BSpline(t, np.eye(len(t) - k - 1), k)
    weights = np.nan_to_num(units(np.ravel(x), nu, extrapolate), nan=0.0)
    front = np.moveaxis(g, range(axis, axis + np.ndim(x)), range(np.ndim(x)))
    found = np.zeros(c.shape)
    found[: len(t) - k - 1] = (weights.T @ front.reshape(np.size(x), -1)).reshape(-1, *c.shape[1:])
    return found


def bspline_points_adjoint(
    g: Array, t: Array, c: Array, k: int, x: Array, nu: int, axis: int, extrapolate: Any
) -> Array:
    """The adjoint of the points in `bspline`."""
    return along(zeros_kept(bspline(t, c, k, x, nu + 1, axis, extrapolate), g), x, axis)


def require_unchanged(places: Array, given: Any) -> None:
    """Raise `UndefinedDerivativeError` unless what an interpolant was ``given`` still has its ``places``.

    What it has computed of them before is not computed again.
    """
    if not np.array_equal(places, given):
        raise UndefinedDerivativeError(
            "the places or knots of an interpolant are written after it was made of them", "Write into a copy of them."
        )


def interpolating_coefficients(
    x: Array, y: Array, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0
) -> Array:
    """The coefficients of ``make_interp_spline(x, y, k, t, bc_type, axis)``, which are linear in ``y``."""
    return np.array(interpolate.make_interp_spline(x, y, k, t, bc_type, axis).c)


def interpolating_adjoint(c_bar: Array, x: Array, y: Array, k: int, t: Any, bc_type: Any, axis: int) -> Array:
    """The adjoint of the values in `interpolating_coefficients`."""
    front = np.moveaxis(np.asarray(y, float), axis, 0)
    flat = np.asarray(c_bar, float).reshape(len(c_bar), -1)
    if bc_type is None:
        knots = interpolate.make_interp_spline(x, y, k, t, bc_type, axis).t
        rows = interpolate.BSpline.design_matrix(np.asarray(x, float), knots, k).toarray()
        found = np.linalg.solve(rows.T, flat)
    elif isinstance(bc_type, str) and bc_type != "periodic":
        found = interpolate.make_interp_spline(x, np.eye(len(x)), k, t, bc_type).c.T @ flat
    else:
        raise UndefinedDerivativeError(
            "a B-spline that is periodic, or has derivatives at its ends, has no derivative rule",
            "Use CubicSpline(x, y, bc_type=...).",
        )
    return np.moveaxis(found.reshape(front.shape), 0, axis)


def fitted_knots(x: Array, y: Array, w: Any = None, k: int = 3, s: Any = None, smooth: bool = False) -> Array:
    """The knots of `fitted_coefficients`."""
    return _fitted(x, y, w, k, s, smooth)[0]


def fitted_coefficients(x: Array, y: Array, w: Any = None, k: int = 3, s: Any = None, smooth: bool = False) -> Array:
    """The coefficients of ``splrep(x, y, w, k=k, s=s)``; those of ``UnivariateSpline`` for a ``smooth`` one."""
    return _fitted(x, y, w, k, s, smooth)[1]


def _fitted(x: Array, y: Array, w: Any, k: int, s: Any, smooth: bool) -> Any:
    return (
        interpolate.UnivariateSpline(x, y, w, k=k, s=s)._eval_args if smooth else interpolate.splrep(x, y, w, k=k, s=s)
    )


def _must_interpolate(w: Any, s: Any, smooth: bool) -> None:
    """Refuse splines that do not go through all points: their knots and smoothing depend on the values."""
    if s != 0 and (smooth or s is not None or w is not None):
        raise UndefinedDerivativeError(
            "a smoothing spline has no derivative rule in its values", "Use s=0, or make_interp_spline(x, y)."
        )


def fitted_tangent(y_dot: Array, x: Array, w: Any, k: int, s: Any, smooth: bool) -> Array:
    """The tangent of `fitted_coefficients`, if the spline goes through all points."""
    _must_interpolate(w, s, smooth)
    return fitted_coefficients(x, y_dot, w, k, s, smooth)


def fitted_adjoint(c_bar: Array, x: Array, y: Array, w: Any, k: int, s: Any, smooth: bool) -> Array:
    """The adjoint of the values in `fitted_coefficients`, if the spline goes through all points."""
    _must_interpolate(w, s, smooth)
    knots = fitted_knots(x, y, w, k, s, smooth)
    rows = interpolate.BSpline.design_matrix(np.asarray(x, float), knots, k).toarray()
    return np.linalg.solve(rows.T, c_bar[: len(x)])


def evaluated(x: Array, t: Array, c: Array, k: int, der: int = 0, ext: int = 0) -> Array:
    """``splev(x, (t, c, k), der, ext)``."""
    return interpolate.splev(x, (t, c, k), der, ext)


def outside(x: Array, t: Array, ext: Any) -> Array:
    """Where points are outside of the knots, and what is there is no polynomial."""
    ext = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}.get(ext, ext) if isinstance(ext, str) else ext
    x = np.asarray(x)
    return (x < t[0]) | (x > t[-1]) if ext in (1, 3) else np.zeros(x.shape, bool)


def evaluated_slope(x: Array, t: Array, c: Array, k: int, der: int, ext: int) -> Array:
    """The derivative of `evaluated` by the points."""
    if der >= k:
        return np.zeros(np.shape(x))
    return interpolate.splev(x, (t, c, k), der + 1, 1 if ext == 3 else ext)


def evaluated_adjoint(z_bar: Array, x: Array, t: Array, c: Array, k: int, der: int, ext: int) -> Array:
    """The adjoint of the coefficients in `evaluated`."""
    size = len(t) - k - 1
    points = np.clip(x, t[k], t[-k - 1]) if ext == 3 else np.asarray(x, float)
    weights = interpolate.BSpline(t, np.eye(size), k)(np.ravel(points), der)
    if ext == 1:
        weights = np.where(np.ravel(outside(x, t, ext))[:, None], 0.0, weights)
    found = np.zeros(np.shape(c))
    found[:size] = weights.T @ np.ravel(z_bar)
    return found


# --- interpolation of values at points, by kinds


def interp1d_slope(f: Any, x: Array, order: int = 1) -> Array:
    """The derivative of an order of ``f(x)`` for an interpolant of one variable."""
    x = np.asarray(x, float)
    if not isinstance(f, interpolate.interp1d):
        return f.derivative(x, order)
    flat = np.ravel(x)
    spline = getattr(f, "_spline", None)
    if spline is not None:
        slopes = np.asarray(spline(flat, order)).reshape(len(flat), -1)
    elif f._kind == "linear" and order == 1:
        high = np.clip(np.searchsorted(f.x, flat), 1, len(f.x) - 1)
        slopes = (f._y[high] - f._y[high - 1]) / (f.x[high] - f.x[high - 1])[:, None]
    else:
        slopes = np.zeros((len(flat), *f._y.shape[1:]))
    if not f._extrapolate:
        slopes[(flat < f.x[0]) | (flat > f.x[-1])] = 0.0
    return f._finish_y(slopes, x.shape)


def interp1d_tangent(moves: Array, f: Any, points: Array, order: int = 1) -> Array:
    """The tangent of ``f(points)``, or of a derivative of ``f`` there: of the order before ``order``."""
    return by_points(interp1d_slope(f, points, order), moves, points, f._y_axis)


def interp1d_adjoint(g: Array, f: Any, points: Array, order: int = 1) -> Array:
    """The adjoint of points in ``f(points)``, or in a derivative of ``f`` there: of the order before ``order``."""
    return along(zeros_kept(interp1d_slope(f, points, order), g), points, f._y_axis)


class Kept:
    """An object of SciPy's, and of what it was made."""

    def __init__(self, cls: Any, *args: Any) -> None:
        self.cls, self.args = cls, args
        self.found = cls(*args)

    def of(self, *args: Any) -> Any:
        """The object for arguments that may have changed, the first ones."""
        if all(a is b for a, b in zip(args, self.args, strict=False)):
            return self.found
        return self.cls(*args, *self.args[len(args) :])


def kept(cls: Any, *args: Any) -> Kept:
    """An object of SciPy's, as a constant."""
    return Kept(cls, *args)


def interpolated(f: Any, x: Array, y: Array, points: Array, axis: int = -1, fill_value: Any = np.nan) -> Array:
    """``f(points)``, where ``f`` is an ``interp1d`` of ``x`` and ``y``."""
    return f.of(x, y, *f.args[2:6], fill_value)(points)


def _front(z_bar: Array, y: Array, points: Array, axis: int) -> Array:
    """The adjoint of interpolated values, one row for each point."""
    at, ndim = axis % np.ndim(y), np.ndim(points)
    return np.moveaxis(np.asarray(z_bar), range(at, at + ndim), range(ndim)).reshape(np.size(points), -1)


def interpolated_slope(f: Any, points: Array) -> Array:
    """The derivative of `interpolated` by the points."""
    return interp1d_slope(f.found, points)


def interpolated_adjoint(z_bar: Array, f: Any, points: Array) -> Array:
    """The adjoint of the points in `interpolated`."""
    return interp1d_adjoint(z_bar, f.found, points)


def _inside(f: Any, points: Array) -> Array:
    flat = np.ravel(points)
    return np.ones(flat.shape, bool) if f._extrapolate else (flat >= f.x[0]) & (flat <= f.x[-1])


def values_adjoint(z_bar: Array, f: Any, x: Array, y: Array, points: Array, axis: int) -> Array:
    """The adjoint of the values ``y`` in `interpolated`."""
    f = f.found
    flat = np.asarray(np.ravel(points), float)
    rows = np.where(_inside(f, points)[:, None], _front(z_bar, y, points, axis), 0.0)
    found = np.zeros((len(f.x), rows.shape[1]))
    if f._kind == "linear":
        high = np.clip(np.searchsorted(f.x, flat), 1, len(f.x) - 1)
        share = ((flat - f.x[high - 1]) / (f.x[high] - f.x[high - 1]))[:, None]
        np.add.at(found, high, share * rows)
        np.add.at(found, high - 1, (1.0 - share) * rows)
    else:
        kind = f._kind if f._kind != "spline" else f._spline.k
        units = interpolate.interp1d(f.x, np.eye(len(f.x)), kind, 0, bounds_error=False, fill_value="extrapolate")
        found = units(flat).T @ rows
    order = np.argsort(x, kind="mergesort")
    front = np.moveaxis(np.asarray(y, float), axis, 0)
    back = np.empty_like(found)
    back[order] = found
    return np.moveaxis(back.reshape(front.shape), 0, axis)


def places_adjoint(z_bar: Array, f: Any, x: Array, y: Array, points: Array, axis: int) -> Array:
    """The adjoint of the points ``x`` in `interpolated`."""
    f = f.found
    if f._kind != "linear":
        raise UndefinedDerivativeError(
            "interp1d has a derivative rule by its points x for kind='linear' alone", "Use CubicSpline(x, y)."
        )
    flat = np.asarray(np.ravel(points), float)
    rows = np.where(_inside(f, points)[:, None], _front(z_bar, y, points, axis), 0.0)
    high = np.clip(np.searchsorted(f.x, flat), 1, len(f.x) - 1)
    share = (flat - f.x[high - 1]) / (f.x[high] - f.x[high - 1])
    slopes = (f._y[high] - f._y[high - 1]) / (f.x[high] - f.x[high - 1])[:, None]
    moved = -np.sum(slopes * rows, axis=1)
    found = np.zeros(len(f.x))
    np.add.at(found, high, share * moved)
    np.add.at(found, high - 1, (1.0 - share) * moved)
    back = np.empty_like(found)
    back[np.argsort(x, kind="mergesort")] = found
    return back


def fill_adjoint(z_bar: Array, f: Any, y: Array, points: Array, axis: int, fill_value: Any) -> Any:
    """The adjoint of what is put outside in `interpolated`: one number, or one for each side."""
    f = f.found
    flat = np.ravel(points)
    pair = isinstance(fill_value, tuple)
    if any(np.ndim(v) for v in (fill_value if pair else (fill_value,))):
        raise UndefinedDerivativeError(
            "fill_value has a derivative rule for numbers alone", "Put the values outside with np.where."
        )
    rows = _front(z_bar, y, points, axis)
    low, high = np.sum(rows[flat < f.x[0]]), np.sum(rows[flat > f.x[-1]])
    return [low, high] if pair else low + high


# --- grids


#: The methods that interpolate by a product of splines, and the degrees of these.
_DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}


def grid_slope(f: Any, xi: Any, method: Any = None) -> Array:
    """The derivative of ``f(xi, method)`` in each coordinate, in a first axis."""
    method = f.method if method is None else method
    points = _points(f, xi)
    if method == "nearest":
        return np.zeros((len(f.grid), *points.shape[:-1], *f.values.shape[len(f.grid) :]))
    if method in _DEGREES:
        units = np.eye(len(f.grid), dtype=int)
        return np.stack([f(xi, method, nu=tuple(int(i) for i in unit)) for unit in units])
    if method != "linear":
        raise UndefinedDerivativeError(
            f"interpolation on a grid by method {method!r} has no derivative rule", "Use 'linear' or 'cubic'."
        )
    shape = points.shape[:-1] + (1,) * (f.values.ndim - len(f.grid))

    def along_axis(axis: int) -> Array:
        return sum(_corner(f, points, bits, axis).reshape(shape) * f.values[at] for bits, at in _corners(f, points))

    slopes = np.stack([along_axis(axis) for axis in range(len(f.grid))])
    if not f.bounds_error and f.fill_value is not None:
        slopes[:, _beyond(f, points)] = 0.0
    return slopes


def _points(f: Any, xi: Any) -> Array:
    """Points of coordinates, which are in the last axis."""
    if isinstance(xi, tuple):
        return np.stack(np.broadcast_arrays(*xi), axis=-1).astype(float)
    points = np.asarray(xi, float)
    return points.reshape(-1, 1) if len(f.grid) == 1 and points.ndim == 1 else np.atleast_2d(points)


def _beyond(f: Any, points: Array) -> Array:
    return np.any([(points[..., k] < g[0]) | (points[..., k] > g[-1]) for k, g in enumerate(f.grid)], axis=0)


def _cells(f: Any, points: Array) -> list[tuple[Array, Array, Array]]:
    """For each axis the cell that holds each point, where in it, and its size."""
    found = []
    for k, g in enumerate(f.grid):
        i = np.clip(np.searchsorted(g, points[..., k], "right") - 1, 0, len(g) - 2)
        size = g[i + 1] - g[i]
        found.append((i, (points[..., k] - g[i]) / size, size))
    return found


def _corners(f: Any, points: Array) -> Any:
    cells = _cells(f, points)
    for bits in itertools.product((0, 1), repeat=len(f.grid)):
        yield bits, tuple(i + bit for (i, _, _), bit in zip(cells, bits, strict=True))


def _corner(f: Any, points: Array, bits: tuple[int, ...], axis: int = -1) -> Array:
    """The weight of a corner of the cells, or its derivative along an axis."""
    weight = np.ones(points.shape[:-1])
    for k, ((_, share, size), bit) in enumerate(zip(_cells(f, points), bits, strict=True)):
        part = share if bit else 1.0 - share
        weight = weight * ((1.0 if bit else -1.0) / size if k == axis else part)
    return weight


def grid_points_adjoint(z_bar: Array, f: Any, xi: Any, method: Any = None) -> Any:
    """The adjoint of the points in ``f(xi, method)``."""
    slopes = grid_slope(f, xi, method)
    products = zeros_kept(slopes, np.asarray(z_bar).reshape(slopes.shape[1:]))
    points = _points(f, xi)
    parts = np.sum(products, axis=tuple(range(points.ndim, products.ndim)))
    if isinstance(xi, tuple):
        return [_sum_to(part, np.shape(x)) for part, x in zip(parts, xi, strict=True)]
    return np.moveaxis(parts, 0, -1).reshape(np.shape(xi))


def _sum_to(g: Array, shape: tuple[int, ...]) -> Array:
    g = np.sum(g, axis=tuple(range(g.ndim - len(shape))))
    return np.sum(g, axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)[()]


def grid_method(method: Any) -> Any:
    """A method of ``interpn`` that ``RegularGridInterpolator`` has too."""
    if method == "splinef2d":
        raise UndefinedDerivativeError("interpn by the method 'splinef2d' has no derivative rule", "Use 'cubic'.")
    return method


def grid_value(f: Any, points: Any, values: Array, xi: Any, method: Any = None, fill_value: Any = None) -> Array:
    """``f(xi, method)``, where ``f`` is a ``RegularGridInterpolator`` of ``points`` and ``values``."""
    return f.of(points, values)(xi, method)


def grid_place_adjoint(z_bar: Array, f: Any, xi: Any, method: Any) -> Any:
    """The adjoint of the points at which `grid_value` interpolates."""
    return grid_points_adjoint(z_bar, f.found, xi, method)


def grid_values_adjoint(g: Array, f: Any, points: Any, values: Array, xi: Any, method: Any) -> Array:
    """The adjoint of the values on the grid, in which interpolation is linear but for the method ``pchip``."""
    f = f.found
    method = f.method if method is None else method
    if method not in ("linear", "nearest", *_DEGREES):
        raise UndefinedDerivativeError(
            f"interpolation on a grid by method {method!r} has no derivative rule by its values",
            "Use 'linear' or 'cubic'.",
        )
    at = _points(f, xi)
    rows = np.asarray(g).reshape(at.shape[:-1] + f.values.shape[len(f.grid) :])
    if not f.bounds_error and f.fill_value is not None:
        rows = np.where(_beyond(f, at).reshape(at.shape[:-1] + (1,) * (rows.ndim - at.ndim + 1)), 0.0, rows)
    found = np.zeros(f.values.shape)
    if method in _DEGREES:
        found[...] = _through_splines(f, at, rows, _DEGREES[method])
    elif method == "nearest":
        np.add.at(found, tuple([np.where(share <= 0.5, i, i + 1) for i, share, _ in _cells(f, at)]), rows)
    for bits, corner in _corners(f, at) if method == "linear" else ():
        weight = _corner(f, at, bits)
        np.add.at(found, corner, weight.reshape(weight.shape + (1,) * (rows.ndim - weight.ndim)) * rows)
    # SciPy turns axes that go down.
    down = tuple(getattr(f, "_descending_dimensions", ()))
    return np.flip(found, axis=down) if down else found


def _through_splines(f: Any, points: Array, rows: Array, degree: int) -> Array:
    """The adjoint of the values that a product of splines along the axes goes through."""
    found = rows.reshape(-1, *f.values.shape[len(f.grid) :])
    flat = points.reshape(-1, len(f.grid))
    for k, g in reversed(list(enumerate(f.grid))):
        weights = interpolate.make_interp_spline(g, np.eye(len(g)), degree)(flat[:, k])
        shape = weights.shape + (1,) * (found.ndim - 1)
        found = weights.reshape(shape) * found[:, None]
    return np.sum(found, axis=0)


def interpolated_tangent(
    z: Array, dots: Any, f: Any, x: Array, y: Array, points: Array, axis: int, fill_value: Any
) -> Array:
    """The tangent of `interpolated`, of those of the points ``x``, the values, the places and what is put outside."""

    def adjoints(g: Array) -> Any:
        plain = isinstance(fill_value, (float, tuple))
        fill = 0.0 if not plain else fill_adjoint(g, f, y, points, axis, fill_value)
        # By the points ``x`` there is a rule for lines alone.
        first = places_adjoint(g, f, x, y, points, axis) if np.any(dots[0]) else 0.0
        return first, values_adjoint(g, f, x, y, points, axis), interpolated_adjoint(g, f, points), fill

    return tangent_by_adjoints(z, adjoints, dots)


def grid_tangent(xi_dot: Any, f: Any, xi: Any, method: Any = None) -> Array:
    """The tangent of ``f(xi, method)``, of that of the points."""
    slopes = grid_slope(f, xi, method)
    dots = list(xi_dot) if isinstance(xi, tuple) else list(np.moveaxis(np.asarray(xi_dot), -1, 0))
    z_dot = 0.0
    for slope, dot in zip(slopes, dots, strict=True):
        dot = np.atleast_1d(dot)
        z_dot = z_dot + slope * dot.reshape(dot.shape + (1,) * (slope.ndim - dot.ndim))
    return z_dot


def grid_value_tangent(
    values_dot: Array, xi_dot: Any, f: Any, points: Any, values: Array, xi: Any, method: Any = None
) -> Array:
    """The tangent of `grid_value`."""
    z_dot = f.of(points, values_dot + np.zeros(values.shape))(xi, method)
    if not f.found.bounds_error and f.found.fill_value is not None:
        z_dot = z_dot - f.of(points, np.zeros(values.shape))(xi, method)
    moves = isinstance(xi_dot, (list, tuple)) or np.ndim(xi_dot)
    return z_dot + (grid_tangent(xi_dot, f.found, xi, method) if moves else 0.0)
