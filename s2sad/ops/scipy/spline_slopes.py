"""Rules of the adjoints of piecewise polynomials and cubic splines, for second derivatives by values and points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops.points import numbers
from s2sad.ops.scipy.interpolate import at_points, knots
from s2sad.ops.spec import Sample, bilinear, linear, operation, rule, sample
from s2sad.runtime.scipy.interpolants import (
    bspline,
    bspline_coefficients_adjoint,
    bspline_points_adjoint,
    by_points,
    interpolating_adjoint,
    interpolating_coefficients,
)
from s2sad.runtime.scipy.places import (
    coefficients_adjoint,
    coefficients_tangent,
    spline_knots,
    through_places_adjoint,
    through_places_tangent,
)
from s2sad.runtime.scipy.splines import (
    along,
    cubic_places_adjoint,
    cubic_places_tangent,
    cubic_values_adjoint,
    cubic_values_tangent,
    piecewise,
    piecewise_breaks_adjoint,
    piecewise_breaks_tangent,
    piecewise_coefficients_adjoint,
    piecewise_points_adjoint,
)

Array = Any


def _moved() -> Sequence[Sample]:
    x, grid = numbers(4), numbers(2, 2)
    return [sample(numbers(4, 2), numbers(4), x, 0), sample(numbers(2, 2, 3), numbers(2, 2), grid, 0)]


@bilinear(by_points, wrt=["slope", "x_dot"], steps={"x"}, samples=_moved, dtype="unknown")
def by_points_rule(z_bar: Array, slope: Array, x_dot: Array, x: Array, axis: int) -> tuple[Array, Array]:
    return by_points(z_bar, x_dot, x, axis), along(z_bar * slope, x, axis)


@linear(
    along,
    wrt=["product"],
    steps={"x"},
    samples=lambda: [sample(numbers(4, 2), numbers(4), 0), sample(numbers(3, 4), numbers(4), 1)],
    dtype="unknown",
)
def along_rule(z_bar: Array, product: Array, x: Array, axis: int, spare: int = 0) -> Array:
    return by_points(np.ones_like(product), z_bar, x, axis)


def _lines() -> Sequence[Sample]:
    x, grid = knots(7), at_points()
    one, wide = interpolate.CubicSpline(x, numbers(7)).c, interpolate.CubicSpline(x, numbers(7, 2)).c
    return [
        sample(numbers(4), one, x, grid, 0, 0, True),
        sample(numbers(4, 2), wide, x, grid, 1, 0, True),
        sample(numbers(2, 4), wide, x, grid, 0, 1, True),
    ]


def _points_jvp(
    g_dot: Array,
    c_dot: Array,
    x_dot: Array,
    g: Array,
    c: Array,
    breaks: Array,
    x: Array,
    nu: int,
    axis: int,
    extrapolate: Any,
) -> Array:
    moved = piecewise_points_adjoint(g_dot + np.zeros_like(g), c, breaks, x, nu, axis, extrapolate)
    moved = moved + piecewise_points_adjoint(g, c_dot + np.zeros_like(c), breaks, x, nu, axis, extrapolate)
    return moved + x_dot * piecewise_points_adjoint(g, c, breaks, x, nu + 1, axis, extrapolate)


@rule(piecewise_points_adjoint, wrt=["g", "c", "x"], jvp=_points_jvp, samples=_lines, dtype="unknown")
def points_rule(
    z_bar: Array, g: Array, c: Array, breaks: Array, x: Array, nu: int, axis: int, extrapolate: Any
) -> tuple[Array, Array, Array]:
    return (
        by_points(piecewise(c, breaks, x, nu + 1, axis, extrapolate), z_bar, x, axis),
        piecewise_coefficients_adjoint(by_points(g, z_bar, x, axis), c, breaks, x, nu + 1, axis, extrapolate),
        z_bar * piecewise_points_adjoint(g, c, breaks, x, nu + 1, axis, extrapolate),
    )


def _coefficients_jvp(
    g_dot: Array,
    x_dot: Array,
    g: Array,
    c: Array,
    breaks: Array,
    x: Array,
    nu: int,
    axis: int,
    extrapolate: Any,
) -> Array:
    moved = piecewise_coefficients_adjoint(g_dot + np.zeros_like(g), c, breaks, x, nu, axis, extrapolate)
    turned = by_points(g, x_dot, x, axis)
    return moved + piecewise_coefficients_adjoint(turned, c, breaks, x, nu + 1, axis, extrapolate)


@rule(
    piecewise_coefficients_adjoint,
    wrt=["g", "x"],
    steps={"c"},
    jvp=_coefficients_jvp,
    samples=_lines,
    dtype="unknown",
)
def coefficients_rule(
    z_bar: Array, g: Array, c: Array, breaks: Array, x: Array, nu: int, axis: int, extrapolate: Any
) -> tuple[Array, Array]:
    return (
        piecewise(z_bar, breaks, x, nu, axis, extrapolate),
        piecewise_points_adjoint(g, z_bar, breaks, x, nu, axis, extrapolate),
    )


def _cubic_adjoints() -> Sequence[Sample]:
    x, y = knots(7), numbers(7)
    given = ((1, 0.7), (2, -0.4))
    wide = sample(numbers(4, 6, 2), x, numbers(7, 2), 0, "natural")
    return [wide, sample(numbers(4, 6), x, y, 0, "not-a-knot"), sample(numbers(4, 6), x, y, 0, given)]


@linear(cubic_values_adjoint, wrt=["g"], steps={"y"}, samples=_cubic_adjoints, dtype="unknown")
def values_adjoint_rule(z_bar: Array, g: Array, x: Array, y: Array, axis: int, bc_type: Any) -> Array:
    return cubic_values_tangent(z_bar, x, y, axis, bc_type)


def _cubic_tangents() -> Sequence[Sample]:
    return [sample(0.7 * s.args[2], *s.args[1:]) for s in _cubic_adjoints()]


@linear(cubic_values_tangent, wrt=["y_dot"], steps={"y"}, samples=_cubic_tangents, dtype="unknown")
def values_tangent_rule(z_bar: Array, y_dot: Array, x: Array, y: Array, axis: int, bc_type: Any) -> Array:
    return cubic_values_adjoint(z_bar, x, y, axis, bc_type)


# --- B-splines


def _bspline_adjoints() -> Sequence[Sample]:
    x, grid = knots(7), at_points()
    cubic, wide = (interpolate.make_interp_spline(x, y) for y in (numbers(7), numbers(7, 2)))
    return [
        sample(numbers(4), cubic.t, cubic.c, 3, grid, 0, 0, True),
        sample(numbers(4, 2), wide.t, wide.c, 3, grid, 1, 0, True),
        sample(numbers(2, 4), wide.t, wide.c, 3, grid, 0, 1, True),
    ]


def _bspline_points_jvp(
    g_dot: Array,
    c_dot: Array,
    x_dot: Array,
    g: Array,
    t: Array,
    c: Array,
    k: int,
    x: Array,
    nu: int,
    axis: int,
    extrapolate: Any,
) -> Array:
    moved = bspline_points_adjoint(g_dot + np.zeros_like(g), t, c, k, x, nu, axis, extrapolate)
    moved = moved + bspline_points_adjoint(g, t, c_dot + np.zeros_like(c), k, x, nu, axis, extrapolate)
    return moved + x_dot * bspline_points_adjoint(g, t, c, k, x, nu + 1, axis, extrapolate)


@rule(bspline_points_adjoint, wrt=["g", "c", "x"], jvp=_bspline_points_jvp, samples=_bspline_adjoints, dtype="unknown")
def bspline_points_rule(
    z_bar: Array, g: Array, t: Array, c: Array, k: int, x: Array, nu: int, axis: int, extrapolate: Any
) -> tuple[Array, Array, Array]:
    return (
        by_points(bspline(t, c, k, x, nu + 1, axis, extrapolate), z_bar, x, axis),
        bspline_coefficients_adjoint(by_points(g, z_bar, x, axis), t, c, k, x, nu + 1, axis, extrapolate),
        z_bar * bspline_points_adjoint(g, t, c, k, x, nu + 1, axis, extrapolate),
    )


def _bspline_coefficients_jvp(
    g_dot: Array,
    x_dot: Array,
    g: Array,
    t: Array,
    c: Array,
    k: int,
    x: Array,
    nu: int,
    axis: int,
    extrapolate: Any,
) -> Array:
    moved = bspline_coefficients_adjoint(g_dot + np.zeros_like(g), t, c, k, x, nu, axis, extrapolate)
    return moved + bspline_coefficients_adjoint(by_points(g, x_dot, x, axis), t, c, k, x, nu + 1, axis, extrapolate)


@rule(
    bspline_coefficients_adjoint,
    wrt=["g", "x"],
    steps={"c"},
    jvp=_bspline_coefficients_jvp,
    samples=_bspline_adjoints,
    dtype="unknown",
)
def bspline_coefficients_rule(
    z_bar: Array, g: Array, t: Array, c: Array, k: int, x: Array, nu: int, axis: int, extrapolate: Any
) -> tuple[Array, Array]:
    return (
        bspline(t, z_bar, k, x, nu, axis, extrapolate),
        bspline_points_adjoint(g, t, z_bar, k, x, nu, axis, extrapolate),
    )


def _interpolating() -> Sequence[Sample]:
    x, y = knots(7), numbers(7)
    wide = sample(numbers(7, 2), x, numbers(2, 7), 2, None, None, 1)
    return [sample(numbers(7, seed=3), x, y, 3, None, None, 0), wide, sample(numbers(9), x, y, 3, None, "natural", 0)]


@linear(interpolating_adjoint, wrt=["c_bar"], steps={"y"}, samples=_interpolating, dtype="unknown")
def interpolating_adjoint_rule(
    z_bar: Array, c_bar: Array, x: Array, y: Array, k: int, t: Any, bc_type: Any, axis: int
) -> Array:
    return interpolating_coefficients(x, z_bar, k, t, bc_type, axis)


def _moved_places() -> Sequence[Sample]:
    x = knots(7)
    return [sample(numbers(7), interpolate.make_interp_spline(x, numbers(7)).c, x, 3, None, None)]


@linear(coefficients_tangent, wrt=["x_dot"], samples=_moved_places, dtype="unknown")
def coefficients_tangent_rule(z_bar: Array, x_dot: Array, c: Array, x: Array, k: int, t: Any, bc_type: Any) -> Array:
    return coefficients_adjoint(z_bar, c, x, k, t, bc_type)


def _through() -> Sequence[Sample]:
    x = knots(7)
    wide = interpolate.make_interp_spline(x, numbers(7, 2))
    return [sample(numbers(7), x, wide.c, 3, None, at_points(), 0, axis, True) for axis in (0, 1)]


@linear(through_places_tangent, wrt=["x_dot"], samples=_through, dtype="unknown")
def through_places_rule(
    z_bar: Array,
    x_dot: Array,
    x: Array,
    c: Array,
    k: int,
    bc_type: Any,
    points: Array,
    nu: int,
    axis: int,
    extrapolate: Any,
) -> Array:
    return through_places_adjoint(z_bar, x, c, k, bc_type, points, nu, axis, extrapolate)


operation(
    spline_knots,
    through_places_adjoint,
    coefficients_adjoint,
    piecewise_breaks_adjoint,
    cubic_places_adjoint,
    cubic_places_tangent,
    remedy="second derivatives pass through the values and the points of a spline, and not through its knots",
)


def _moved_breaks() -> Sequence[Sample]:
    x, grid = knots(7), at_points()
    curve = interpolate.CubicSpline(x, numbers(7))
    return [sample(numbers(7), curve(grid), curve.c, x, grid, 0, 0, True)]


@linear(piecewise_breaks_tangent, wrt=["moves"], steps={"values"}, samples=_moved_breaks, dtype="unknown")
def piecewise_breaks_tangent_rule(
    z_bar: Array,
    moves: Array,
    values: Array,
    c: Array,
    breaks: Array,
    x: Array,
    nu: int,
    axis: int,
    extrapolate: Any,
) -> Array:
    return piecewise_breaks_adjoint(z_bar, c, breaks, x, nu, axis, extrapolate)
