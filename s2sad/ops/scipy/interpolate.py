"""Rules of ``scipy.interpolate``: interpolants at points, and what models of interpolants compute with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, constant, elementwise, operation, rule, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.scipy.interpolants import (
    grid_points_adjoint,
    grid_tangent,
    interp1d_adjoint,
    interp1d_tangent,
    points_adjoint,
    points_tangent,
    univariate_adjoint,
    univariate_tangent,
)

Array = Any
Function = Callable[..., Any]


def knots(n: int) -> Any:
    """Breakpoints that are not equally spaced, for samples."""
    return np.cumsum(0.4 + np.abs(numbers(n, seed=5)))


def at_points(count: int = 4, seed: int = 8) -> Any:
    """Points among seven knots, for samples."""
    return np.linspace(knots(7)[0], knots(7)[-1], count + 2)[1:-1] + 0.03 * numbers(count, seed=seed)


# --- values of an interpolant that is a constant, at points

for _class in (interpolate.PPoly, interpolate.BSpline, interpolate.UnivariateSpline):
    constant(_class.derivative, _class.antiderivative, signature=lambda self, nu=1: None, calls=())


def _splines() -> Sequence[Sample]:
    x, y, grid = knots(7), numbers(7, 2), at_points()
    cubic = interpolate.CubicSpline(x, y)
    return [
        sample(cubic, grid),
        sample(cubic, grid.reshape(2, 2), 1),
        sample(cubic, float(grid[0]), nu=2),
        sample(interpolate.CubicSpline(x, y.T, axis=1), grid),
        sample(interpolate.PchipInterpolator(x, y[:, 0]), grid),
        sample(interpolate.Akima1DInterpolator(x, y[:, 0]), grid),
        sample(interpolate.CubicSpline(x, np.append(y[:6, 0], y[0, 0]), bc_type="periodic"), grid + 3.0),
        sample(cubic.antiderivative(), grid),
    ]


def _ppoly_jvp(x_dot: Array, self: Any, x: Array, nu: int = 0, extrapolate: Any = None) -> Array:
    return points_tangent(x_dot, self, x, nu, extrapolate)


@rule(
    interpolate.PPoly.__call__,
    name="scipy.interpolate.PPoly.__call__",
    wrt=["x"],
    jvp=_ppoly_jvp,
    samples=_splines,
    dtype="unknown",
    calls=(),
)
def ppoly(z_bar: Array, self: Any, x: Array, nu: int = 0, extrapolate: Any = None) -> Array:
    return points_adjoint(z_bar, self, x, nu, extrapolate)


# --- their slopes: of what a value is the derivative of an order, the slope is that of the next one


def _slopes() -> Sequence[Sample]:
    grid, cubic = at_points(), interpolate.CubicSpline(knots(7), numbers(7, 2))
    flat = interpolate.make_interp_spline(knots(7), numbers(7))
    return [sample(numbers(4, 2), cubic, grid, 0, None), sample(numbers(4), flat, grid, 1, None)]


def _adjoint_jvp(g_dot: Array, x_dot: Array, g: Array, spline: Any, x: Array, nu: int, extrapolate: Any) -> Array:
    moved = points_adjoint(g_dot + np.zeros_like(g), spline, x, nu, extrapolate)
    return moved + x_dot * points_adjoint(g, spline, x, nu + 1, extrapolate)


@rule(points_adjoint, wrt=["g", "x"], jvp=_adjoint_jvp, samples=_slopes, dtype="unknown", calls=())
def points_adjoint_rule(
    z_bar: Array, g: Array, spline: Any, x: Array, nu: int, extrapolate: Any
) -> tuple[Array, Array]:
    return (
        points_tangent(z_bar, spline, x, nu, extrapolate),
        z_bar * points_adjoint(g, spline, x, nu + 1, extrapolate),
    )


def _moves() -> Sequence[Sample]:
    return [sample(numbers(4), *s.args[1:]) for s in _slopes()]


def _tangent_jvp(dot_dot: Array, x_dot: Array, dot: Array, spline: Any, x: Array, nu: int, extrapolate: Any) -> Array:
    moved = points_tangent(dot_dot, spline, x, nu, extrapolate)
    return moved + points_tangent(x_dot * dot, spline, x, nu + 1, extrapolate)


@rule(points_tangent, wrt=["dot", "x"], jvp=_tangent_jvp, samples=_moves, dtype="unknown", calls=())
def points_tangent_rule(
    z_bar: Array, dot: Array, spline: Any, x: Array, nu: int, extrapolate: Any
) -> tuple[Array, Array]:
    return (
        unbroadcast(points_adjoint(z_bar, spline, x, nu, extrapolate), np.shape(dot)),
        dot * points_adjoint(z_bar, spline, x, nu + 1, extrapolate),
    )


def _bsplines() -> Sequence[Sample]:
    x, y, grid = knots(7), numbers(7, 2), at_points()
    cubic = interpolate.make_interp_spline(x, y)
    return [
        sample(cubic, grid),
        sample(cubic, grid.reshape(2, 2), 1),
        sample(interpolate.make_interp_spline(x, y[:, 0], k=2), float(grid[1])),
        sample(interpolate.make_interp_spline(x, y.T, axis=1), grid),
    ]


@rule(
    interpolate.BSpline.__call__,
    name="scipy.interpolate.BSpline.__call__",
    wrt=["x"],
    jvp=_ppoly_jvp,
    samples=_bsplines,
    dtype="unknown",
    calls=(),
)
def bspline_at(z_bar: Array, self: Any, x: Array, nu: int = 0, extrapolate: Any = None) -> Array:
    return points_adjoint(z_bar, self, x, nu, extrapolate)


def _smooth() -> Sequence[Sample]:
    x, y, grid = knots(7), numbers(7), at_points()
    return [
        sample(interpolate.UnivariateSpline(x, y, s=0.1), grid),
        sample(interpolate.InterpolatedUnivariateSpline(x, y), grid.reshape(2, 2), 1),
        sample(interpolate.UnivariateSpline(x, y, k=4), float(grid[0])),
    ]


def _univariate_jvp(x_dot: Array, self: Any, x: Array, nu: int = 0, ext: Any = None) -> Array:
    return univariate_tangent(x_dot, self, x, nu, ext)


@rule(
    interpolate.UnivariateSpline.__call__,
    name="scipy.interpolate.UnivariateSpline.__call__",
    wrt=["x"],
    jvp=_univariate_jvp,
    samples=_smooth,
    dtype="unknown",
    calls=(),
)
def univariate(z_bar: Array, self: Any, x: Array, nu: int = 0, ext: Any = None) -> Array:
    return univariate_adjoint(z_bar, self, x, nu, ext)


@elementwise(
    univariate_adjoint,
    wrt=["g", "x"],
    samples=lambda: [sample(numbers(4), *s.args[:2], *(s.args[2:] or (0,)), None) for s in _smooth()[:1]],
    dtype="unknown",
    broadcasts=False,
    calls=(),
)
def univariate_adjoint_rule(g: Array, spline: Any, x: Array, nu: int, ext: Any) -> tuple[Array, Array]:
    return univariate_tangent(1.0, spline, x, nu, ext), univariate_adjoint(g, spline, x, nu + 1, ext)


@elementwise(
    univariate_tangent,
    wrt=["dot", "x"],
    samples=lambda: [sample(numbers(4), *s.args[:2], *(s.args[2:] or (0,)), None) for s in _smooth()[:1]],
    dtype="unknown",
    broadcasts=False,
    calls=(),
)
def univariate_tangent_rule(dot: Array, spline: Any, x: Array, nu: int, ext: Any) -> tuple[Array, Array]:
    return univariate_tangent(1.0, spline, x, nu, ext), univariate_tangent(dot, spline, x, nu + 1, ext)


def _interpolants() -> Sequence[Sample]:
    x, y, grid = knots(7), numbers(7), at_points()
    points = [sample(interpolate.interp1d(x, y, kind), grid) for kind in ("linear", "cubic", "nearest", 2)]
    points += [sample(interpolate.interp1d(x, numbers(7, 2), axis=0), grid.reshape(2, 2))]
    points += [sample(interpolate.interp1d(x, numbers(2, 7)), float(grid[0]))]
    points += [sample(interpolate.interp1d(x, y, bounds_error=False, fill_value=(1.0, 2.0)), grid * 2 - 3.0)]
    points += [sample(interpolate.interp1d(x, y, fill_value="extrapolate"), grid * 2 - 3.0)]
    return [*points, sample(interpolate.BarycentricInterpolator(x[:4], y[:4]), grid)]


def _interp1d_jvp(x_dot: Array, self: Any, x: Array) -> Array:
    return interp1d_tangent(x_dot, self, x)


@rule(
    interpolate.interp1d.__call__,
    name="scipy.interpolate.interp1d.__call__",
    wrt=["x"],
    jvp=_interp1d_jvp,
    samples=_interpolants,
    dtype="unknown",
)
def interp1d_at(z_bar: Array, self: Any, x: Array) -> Array:
    return interp1d_adjoint(z_bar, self, x)


def _interpolant_slopes() -> Sequence[Sample]:
    cubic, flat = (
        interpolate.interp1d(knots(7), numbers(7, 2), "cubic", 0),
        interpolate.interp1d(knots(7), numbers(7)),
    )
    through = interpolate.BarycentricInterpolator(knots(7)[:4], numbers(4))
    points = [sample(numbers(4, 2), cubic, at_points(), n) for n in (1, 2)]
    return [*points, sample(numbers(4), flat, at_points()), sample(numbers(4), through, at_points())]


def _interp1d_adjoint_jvp(g_dot: Array, points_dot: Array, g: Array, f: Any, points: Array, order: int = 1) -> Array:
    moved = interp1d_adjoint(g_dot + np.zeros_like(g), f, points, order)
    return moved + points_dot * interp1d_adjoint(g, f, points, order + 1)


@rule(
    interp1d_adjoint,
    wrt=["g", "points"],
    jvp=_interp1d_adjoint_jvp,
    samples=_interpolant_slopes,
    dtype="unknown",
    calls=(),
)
def interp1d_adjoint_rule(z_bar: Array, g: Array, f: Any, points: Array, order: int = 1) -> tuple[Array, Array]:
    return (
        interp1d_tangent(z_bar, f, points, order),
        z_bar * interp1d_adjoint(g, f, points, order + 1),
    )


def _interp1d_tangent_jvp(
    moves_dot: Array, points_dot: Array, moves: Array, f: Any, points: Array, order: int = 1
) -> Array:
    moved = interp1d_tangent(moves_dot, f, points, order)
    return moved + interp1d_tangent(points_dot * moves, f, points, order + 1)


@rule(
    interp1d_tangent,
    wrt=["moves", "points"],
    jvp=_interp1d_tangent_jvp,
    samples=lambda: [sample(numbers(4), *s.args[1:]) for s in _interpolant_slopes()],
    dtype="unknown",
    calls=(),
)
def interp1d_tangent_rule(z_bar: Array, moves: Array, f: Any, points: Array, order: int = 1) -> tuple[Array, Array]:
    return (
        unbroadcast(interp1d_adjoint(z_bar, f, points, order), np.shape(moves)),
        moves * interp1d_adjoint(z_bar, f, points, order + 1),
    )


def grid_of(method: str = "linear", trailing: bool = False, **options: Any) -> Any:
    """Values on a grid, for samples."""
    size = 7 if method == "quintic" else 5
    shape = (size, 6, 2) if trailing else (size, 6)
    axes = (knots(7)[:size], np.cumsum(0.5 + np.abs(numbers(6, seed=3))))
    return interpolate.RegularGridInterpolator(axes, numbers(*shape), method, **options)


def places() -> Any:
    """Points inside of the grid, for samples."""
    return np.array([[1.6, 1.7], [2.4, 2.9], [2.1, 3.3]])


def _grids() -> Sequence[Sample]:
    return [
        sample(grid_of(), places()),
        sample(grid_of(), places()[0]),
        sample(grid_of(), (places()[:, 0], 2.2)),
        sample(grid_of(trailing=True), places()),
        sample(grid_of("nearest"), places()),
        sample(grid_of("cubic"), places()),
        sample(grid_of(bounds_error=False, fill_value=0.5), places() + np.array([0.0, 3.0])),
        sample(grid_of(bounds_error=False, fill_value=None), places() + np.array([0.0, 3.0])),
    ]


def _grid_jvp(xi_dot: Any, self: Any, xi: Any, method: Any = None) -> Array:
    return grid_tangent(xi_dot, self, xi, method)


@rule(
    interpolate.RegularGridInterpolator.__call__,
    name="scipy.interpolate.RegularGridInterpolator.__call__",
    wrt=["xi"],
    jvp=_grid_jvp,
    samples=_grids,
    dtype="unknown",
)
def grid_at(z_bar: Array, self: Any, xi: Any, method: Any = None) -> Any:
    return grid_points_adjoint(z_bar, self, xi, method)


def tck() -> Any:
    """A B-spline as ``splrep`` gives it, for samples."""
    return interpolate.splrep(knots(7), numbers(7))


def _evaluations() -> Sequence[Sample]:
    grid = at_points()
    points = [sample(grid, tck()), sample(grid, tck(), 1), sample(float(grid[0]), tck(), der=2)]
    return [*points, sample(grid * 2 - 3.0, tck(), 0, 1), sample(grid * 2 - 3.0, tck(), ext=3)]


def _splev_jvp(x_dot: Array, x: Array, tck: Any, der: int = 0, ext: int = 0) -> Array:
    return interpolate.splev(x, tck, der + 1, 1 if ext == 3 else ext) * x_dot


@rule(interpolate.splev, wrt=["x"], jvp=_splev_jvp, samples=_evaluations, dtype="unknown")
def splev(z_bar: Array, x: Array, tck: Any, der: int = 0, ext: int = 0) -> Array:
    return interpolate.splev(x, tck, der + 1, 1 if ext == 3 else ext) * z_bar


_OBJECT = (
    "make it and call it in one function, or in functions that it calls; derivatives pass through its values and, of "
    "piecewise polynomials, through derivative(), antiderivative() and integrate(a, b)"
)

for _cls in (
    interpolate.CubicSpline, interpolate.PchipInterpolator, interpolate.Akima1DInterpolator,
    interpolate.CubicHermiteSpline, interpolate.PPoly, interpolate.BSpline, interpolate.make_interp_spline,
    interpolate.splrep, interpolate.interp1d, interpolate.RegularGridInterpolator,
    interpolate.InterpolatedUnivariateSpline, interpolate.UnivariateSpline,
):  # fmt: skip
    operation(_cls, result="fresh", remedy=_OBJECT)

_FIT = "use CubicSpline(x, y) or make_interp_spline(x, y), or constant data"

operation(interpolate.SmoothBivariateSpline, interpolate.LSQUnivariateSpline, result="fresh", remedy=_FIT)
operation(interpolate.RectBivariateSpline, result="fresh", remedy="use RegularGridInterpolator, or constant places")
