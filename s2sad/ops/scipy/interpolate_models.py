"""Rules of what models of interpolants compute with: values by coefficients, and coefficients by data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops.points import numbers
from s2sad.ops.scipy.interpolate import at_points, grid_of, knots, places, tck
from s2sad.ops.spec import Sample, constant, linear, rule, sample
from s2sad.runtime.scipy.interpolants import (
    by_points,
    evaluated,
    evaluated_adjoint,
    evaluated_slope,
    fill_adjoint,
    fitted_adjoint,
    fitted_coefficients,
    fitted_knots,
    fitted_tangent,
    grid_method,
    grid_place_adjoint,
    grid_value,
    grid_value_tangent,
    grid_values_adjoint,
    interpolated,
    interpolated_adjoint,
    interpolated_tangent,
    kept,
    places_adjoint,
    require_unchanged,
    values_adjoint,
)
from s2sad.runtime.scipy.splines import (
    cubic_coefficients,
    cubic_places_adjoint,
    cubic_places_tangent,
    cubic_values_adjoint,
    cubic_values_tangent,
    derived_adjoint,
    derived_coefficients,
    extrapolation,
    integrated_adjoints,
    integrated_coefficients,
    integrated_tangent,
    local_adjoints,
    local_again,
    local_coefficients,
    local_tangent,
    piecewise,
    piecewise_breaks_adjoint,
    piecewise_breaks_tangent,
    piecewise_coefficients_adjoint,
    piecewise_integral,
    piecewise_integral_adjoints,
    piecewise_integral_tangent,
    piecewise_points_adjoint,
    slopes_given,
    slopes_given_adjoints,
    slopes_given_tangent,
)

Array = Any
Function = Callable[..., Any]

constant(kept, signature=lambda cls, *args: None)
constant(grid_method, signature=lambda method: None)
constant(extrapolation, signature=lambda extrapolate, bc_type=None: None)
constant(require_unchanged, signature=lambda places, given: None, ordered=True)
constant(fitted_knots, signature=lambda x, y, w=None, k=3, s=None, smooth=False: None)


# --- what models compute with


def _line() -> Sequence[Sample]:
    x, y, grid = knots(7), numbers(7), at_points()
    cubic = interpolate.CubicSpline
    c, wide = cubic(x, y).c, cubic(x, numbers(7, 2)).c
    round_ = cubic(x, np.append(y[:6], y[0]), bc_type="periodic").c
    return [
        sample(c, x, grid),
        sample(wide, x, grid.reshape(2, 2), 1),
        sample(wide, x, grid, 0, 1),
        sample(c, x, grid, extrapolate=False),
        sample(round_, x, grid + 9.0, extrapolate="periodic"),
        sample(c, x, float(grid[1]), 2),
        sample(c, x, 2 * grid - 2.0),
    ]


def _piecewise_jvp(
    c_dot: Array,
    breaks_dot: Array,
    x_dot: Array,
    z: Array,
    c: Array,
    breaks: Array,
    x: Array,
    nu: int = 0,
    axis: int = 0,
    extrapolate: Any = True,
) -> Array:
    return (
        piecewise(c_dot + np.zeros_like(c), breaks, x, nu, axis, extrapolate)
        + by_points(piecewise(c, breaks, x, nu + 1, axis, extrapolate), x_dot, x, axis)
        + piecewise_breaks_tangent(breaks_dot, z, c, breaks, x, nu, axis, extrapolate)
    )


@rule(piecewise, wrt=["c", "breaks", "x"], jvp=_piecewise_jvp, samples=_line, dtype="unknown")
def piecewise_rule(
    z_bar: Array, c: Array, breaks: Array, x: Array, nu: int = 0, axis: int = 0, extrapolate: Any = True
) -> tuple[Array, Array, Array]:
    return (
        piecewise_coefficients_adjoint(z_bar, c, breaks, x, nu, axis, extrapolate),
        piecewise_breaks_adjoint(z_bar, c, breaks, x, nu, axis, extrapolate),
        piecewise_points_adjoint(z_bar, c, breaks, x, nu, axis, extrapolate),
    )


def _derivatives() -> Sequence[Sample]:
    return [sample(numbers(4, 3)), sample(numbers(4, 3, 2), 2), sample(numbers(3, 3), nu=1)]


@linear(derived_coefficients, wrt=["c"], samples=_derivatives, dtype="unknown")
def derived_rule(z_bar: Array, c: Array, nu: int = 1) -> Array:
    return derived_adjoint(z_bar, c, nu)


def _antiderivatives() -> Sequence[Sample]:
    return [sample(numbers(4, 6), knots(7)), sample(numbers(3, 6, 2), knots(7))]


def _integrated_jvp(c_dot: Array, breaks_dot: Array, z: Array, c: Array, breaks: Array) -> Array:
    return integrated_tangent(z, (c_dot, breaks_dot), c, breaks)


@rule(integrated_coefficients, wrt=["c", "breaks"], jvp=_integrated_jvp, samples=_antiderivatives, dtype="unknown")
def integrated_rule(z_bar: Array, c: Array, breaks: Array) -> tuple[Array, Array]:
    c_bar, breaks_bar = integrated_adjoints(z_bar, c, breaks)
    return c_bar, breaks_bar


def _integrals() -> Sequence[Sample]:
    x, y = knots(7), numbers(7, 2)
    c, wide = interpolate.CubicSpline(x, y[:, 0]).c, interpolate.CubicSpline(x, y).c
    return [sample(c, x, 0.7, 2.9), sample(wide, x, 2.9, 1.1), sample(c, x, 0.2, 9.5)]


def _integral_jvp(
    c_dot: Array,
    breaks_dot: Array,
    a_dot: Array,
    b_dot: Array,
    z: Array,
    c: Array,
    breaks: Array,
    a: Array,
    b: Array,
    extrapolate: Any = True,
) -> Array:
    return piecewise_integral_tangent(z, (c_dot, breaks_dot, a_dot, b_dot), c, breaks, a, b, extrapolate)


@rule(piecewise_integral, wrt=["c", "breaks", "a", "b"], jvp=_integral_jvp, samples=_integrals, dtype="unknown")
def integral_rule(
    z_bar: Array, c: Array, breaks: Array, a: Array, b: Array, extrapolate: Any = True
) -> tuple[Array, Array, Array, Array]:
    c_bar, breaks_bar, a_bar, b_bar = piecewise_integral_adjoints(z_bar, c, breaks, a, b, extrapolate)
    return c_bar, breaks_bar, a_bar, b_bar


# --- coefficients by data


def _cubics() -> Sequence[Sample]:
    x, y = knots(7), numbers(7)
    return [
        sample(x, y),
        sample(x, numbers(7, 2)),
        sample(x, numbers(2, 7), 1),
        sample(x, y, bc_type="natural"),
        sample(x, y, bc_type="clamped"),
        sample(x, y, bc_type=((1, 0.7), (2, -0.4))),
        sample(x, y, bc_type=("not-a-knot", "natural")),
        sample(x[:3], y[:3]),
        sample(x[:4], y[:4]),
        sample(x[:2], y[:2]),
        sample(x[:2], y[:2], bc_type="natural"),
    ]


def _cubic_jvp(
    x_dot: Array, y_dot: Array, z: Array, x: Array, y: Array, axis: int = 0, bc_type: Any = "not-a-knot"
) -> Array:
    moved = cubic_values_tangent(y_dot, x, y, axis, bc_type)
    return moved + cubic_places_tangent(x_dot, z, x, y, axis, bc_type)


@rule(cubic_coefficients, wrt=["x", "y"], jvp=_cubic_jvp, samples=_cubics, dtype="unknown")
def cubic_rule(
    z: Array, z_bar: Array, x: Array, y: Array, axis: int = 0, bc_type: Any = "not-a-knot"
) -> tuple[Array, Array]:
    return cubic_places_adjoint(z_bar, z, x, y, axis, bc_type), cubic_values_adjoint(z_bar, x, y, axis, bc_type)


def _shapes_kept() -> Sequence[Sample]:
    x, y = knots(7), numbers(7)
    points = [sample(x, y, 0, method) for method in ("pchip", "akima", "makima")]
    points += [sample(x, numbers(2, 7), 1, method) for method in ("pchip", "akima")]
    return [*points, sample(x[:2], y[:2], 0, "pchip"), sample(x, np.cumsum(np.abs(y)), 0, "pchip")]


def _local_jvp(x_dot: Array, y_dot: Array, z: Array, x: Array, y: Array, axis: int, method: str) -> Array:
    return local_tangent(z, (x_dot, y_dot), x, y, axis, method)


@rule(local_coefficients, wrt=["x", "y"], jvp=_local_jvp, samples=_shapes_kept, dtype="unknown")
def local_rule(z_bar: Array, x: Array, y: Array, axis: int, method: str) -> tuple[Array, Array]:
    x_bar, y_bar = local_adjoints(z_bar, x, y, axis, method)
    return x_bar, y_bar


def _local_adjoints() -> Sequence[Sample]:
    return [sample(np.cos(local_coefficients(*p.args)), *p.args) for p in _shapes_kept()]


def _local_adjoints_jvp(
    c_bar_dot: Array, x_dot: Array, y_dot: Array, c_bar: Array, x: Array, y: Array, axis: int, method: str
) -> tuple[Array, Array]:
    x_more, y_more = local_adjoints(c_bar_dot + np.zeros_like(c_bar), x, y, axis, method)
    x_bar_dot, y_bar_dot = local_again(c_bar, x_dot, y_dot, x, y, axis, method)
    return x_bar_dot + x_more, y_bar_dot + y_more


@rule(
    local_adjoints,
    wrt=["c_bar", "x", "y"],
    jvp=_local_adjoints_jvp,
    samples=_local_adjoints,
    dtype="unknown",
    gives=(tuple,),
)
def local_adjoints_rule(
    z_bar: Any, c_bar: Array, x: Array, y: Array, axis: int, method: str
) -> tuple[Array, Array, Array]:
    x_bar, y_bar = local_again(c_bar, z_bar[0], z_bar[1], x, y, axis, method)
    return local_tangent(c_bar, (z_bar[0], z_bar[1]), x, y, axis, method), x_bar, y_bar


def _hermites() -> Sequence[Sample]:
    x = knots(5)
    return [sample(x, numbers(5), numbers(5, seed=2)), sample(x, numbers(2, 5), numbers(2, 5, seed=2), 1)]


def _hermite_jvp(
    x_dot: Array, y_dot: Array, dydx_dot: Array, z: Array, x: Array, y: Array, dydx: Array, axis: int = 0
) -> Array:
    return slopes_given_tangent(z, (x_dot, y_dot, dydx_dot), x, y, dydx, axis)


@rule(slopes_given, wrt=["x", "y", "dydx"], jvp=_hermite_jvp, samples=_hermites, dtype="unknown")
def hermite_rule(z_bar: Array, x: Array, y: Array, dydx: Array, axis: int = 0) -> tuple[Array, Array, Array]:
    x_bar, y_bar, dydx_bar = slopes_given_adjoints(z_bar, x, y, dydx, axis)
    return x_bar, y_bar, dydx_bar


# --- B-splines


def _fits() -> Sequence[Sample]:
    x, y = knots(7), numbers(7)
    weighted = [sample(x, y, y**2 + 1.0, 3, 0), sample(x, y, y**2 + 1.0, 2, 0, True)]
    return [sample(x, y), sample(x, y, None, 2), sample(x, y, k=3, s=0), sample(x, y, None, 3, 0, True), *weighted]


def _fitted_jvp(
    y_dot: Array, w_dot: Array, x: Array, w: Any = None, k: int = 3, s: Any = None, smooth: bool = False
) -> Array:
    # A spline through all points does not change with their weights.
    return fitted_tangent(y_dot, x, w, k, s, smooth)


@rule(fitted_coefficients, wrt=["y", "w"], jvp=_fitted_jvp, samples=_fits, dtype="unknown")
def fitted_rule(
    z_bar: Array, x: Array, y: Array, w: Any = None, k: int = 3, s: Any = None, smooth: bool = False
) -> tuple[Array, Array]:
    y_bar = fitted_adjoint(z_bar, x, y, w, k, s, smooth)
    return y_bar, 0.0 * y_bar


def _fitted_adjoints() -> Sequence[Sample]:
    x, y = knots(7), numbers(7)
    return [sample(fitted_coefficients(x, y, None, k, 0), x, y, None, k, 0, False) for k in (2, 3)]


@linear(fitted_adjoint, wrt=["c_bar"], steps={"y"}, samples=_fitted_adjoints, dtype="unknown")
def fitted_adjoint_rule(z_bar: Array, c_bar: Array, x: Array, y: Array, w: Any, k: int, s: Any, smooth: bool) -> Array:
    return fitted_tangent(z_bar, x, w, k, s, smooth)


def _splev_of_values() -> Sequence[Sample]:
    (t, c, k), grid = tck(), at_points()
    points = [sample(grid, t, c, k), sample(grid.reshape(2, 2), t, c, k, 1), sample(float(grid[0]), t, c, k)]
    return [*points, sample(grid * 2 - 3.0, t, c, k, 0, 1), sample(grid * 2 - 3.0, t, c, k, 0, 3)]


def _evaluated_jvp(
    x_dot: Array, c_dot: Array, x: Array, t: Array, c: Array, k: int, der: int = 0, ext: int = 0
) -> Array:
    return evaluated(x, t, c_dot + np.zeros(c.shape), k, der, ext) + evaluated_slope(x, t, c, k, der, ext) * x_dot


@rule(evaluated, wrt=["x", "c"], jvp=_evaluated_jvp, samples=_splev_of_values, dtype="unknown")
def evaluated_rule(
    z_bar: Array, x: Array, t: Array, c: Array, k: int, der: int = 0, ext: int = 0
) -> tuple[Array, Array]:
    return evaluated_slope(x, t, c, k, der, ext) * z_bar, evaluated_adjoint(z_bar, x, t, c, k, der, ext)


# --- values between points, and on grids


def _kept_samples() -> Sequence[Sample]:
    x, y, grid = knots(7), numbers(7), at_points()
    far, wide = 2 * grid - 3.0, numbers(2, 7)

    def line(x: Any, y: Any, kind: Any, axis: int, fill: Any) -> Any:
        return kept(interpolate.interp1d, x, y, kind, axis, True, False, fill), x, y

    return [
        sample(*line(x, y, "linear", -1, np.nan), grid),
        sample(*line(x[::-1].copy(), y, "linear", -1, "extrapolate"), far, -1, "extrapolate"),
        sample(*line(x, y, "linear", -1, (0.5, 2.0)), far, -1, (0.5, 2.0)),
        sample(*line(x, y, "linear", -1, 0.7), far, -1, 0.7),
        sample(*line(x, wide, "linear", -1, np.nan), grid.reshape(2, 2)),
        sample(*line(x, wide.T, "linear", 0, np.nan), float(grid[0]), 0),
    ]


def _interpolated_jvp(
    x_dot: Array,
    y_dot: Array,
    points_dot: Array,
    fill_value_dot: Any,
    z: Array,
    f: Any,
    x: Array,
    y: Array,
    points: Array,
    axis: int = -1,
    fill_value: Any = np.nan,
) -> Array:
    return interpolated_tangent(z, (x_dot, y_dot, points_dot, fill_value_dot), f, x, y, points, axis, fill_value)


@rule(
    interpolated, wrt=["x", "y", "points", "fill_value"], jvp=_interpolated_jvp, samples=_kept_samples, dtype="unknown"
)
def interpolated_rule(
    z_bar: Array, f: Any, x: Array, y: Array, points: Array, axis: int = -1, fill_value: Any = np.nan
) -> tuple[Array, Array, Array, Any]:
    return (
        places_adjoint(z_bar, f, x, y, points, axis),
        values_adjoint(z_bar, f, x, y, points, axis),
        interpolated_adjoint(z_bar, f, points),
        fill_adjoint(z_bar, f, y, points, axis, fill_value),
    )


def _grid_samples() -> Sequence[Sample]:
    def made(shape: tuple[int, ...], down: bool = False, **options: Any) -> Any:
        axes, values = grid_of().grid, numbers(*shape)
        axes = (axes[0][::-1].copy(), axes[1]) if down else axes
        others = options.get("bounds", True), options.get("fill", np.nan)
        return kept(interpolate.RegularGridInterpolator, axes, values, "linear", *others), axes, values

    return [
        sample(*made((5, 6)), places()),
        sample(*made((5, 6)), (places()[:, 0], 2.2)),
        sample(*made((5, 6, 2), down=True), places()),
        sample(*made((5, 6), bounds=False, fill=0.5), places() + np.array([0.0, 3.0])),
        sample(*made((5, 6), bounds=False, fill=None), places() + np.array([0.0, 3.0])),
    ]


def _grid_value_jvp(
    values_dot: Array, xi_dot: Any, f: Any, points: Any, values: Array, xi: Any, method: Any = None
) -> Array:
    return grid_value_tangent(values_dot, xi_dot, f, points, values, xi, method)


@rule(grid_value, wrt=["values", "xi"], steps={"f"}, jvp=_grid_value_jvp, samples=_grid_samples, dtype="unknown")
def grid_value_rule(
    z_bar: Array, f: Any, points: Any, values: Array, xi: Any, method: Any = None, fill_value: Any = None
) -> tuple[Array, Any]:
    return grid_values_adjoint(z_bar, f, points, values, xi, method), grid_place_adjoint(z_bar, f, xi, method)


def _grid_adjoints() -> Sequence[Sample]:
    found = []
    for call in _grid_samples():
        f, points, values, xi = call.args
        found.append(sample(numbers(*np.shape(grid_value(f, points, values, xi))), f, points, values, xi, None))
    return found


# By the places there is none: interpolation is linear in the values, and in the places it is not.
@linear(grid_values_adjoint, wrt=["g"], steps={"f", "values"}, samples=_grid_adjoints, dtype="unknown")
def grid_values_adjoint_rule(z_bar: Array, g: Array, f: Any, points: Any, values: Array, xi: Any, method: Any) -> Array:
    return grid_value_tangent(z_bar, 0.0, f, points, values, xi, method)
