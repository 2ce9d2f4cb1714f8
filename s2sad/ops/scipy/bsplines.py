"""Rules of B-splines by coefficients and points, and of coefficients by the data that splines go through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops.points import numbers
from s2sad.ops.scipy.interpolate import at_points, knots
from s2sad.ops.spec import Sample, linear, rule, sample
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
    interpolating_knots,
    interpolating_knots_adjoint,
    interpolating_knots_tangent,
    spline_knots,
    through,
    through_places_adjoint,
    through_places_tangent,
)

Array = Any


def _basis() -> Sequence[Sample]:
    x, grid = knots(7), at_points()
    cubic = interpolate.make_interp_spline(x, numbers(7))
    wide = interpolate.make_interp_spline(x, numbers(7, 2), k=2)
    return [
        sample(cubic.t, cubic.c, 3, grid),
        sample(wide.t, wide.c, 2, grid.reshape(2, 2), 1),
        sample(wide.t, wide.c, 2, grid, axis=1),
        sample(cubic.t, cubic.c, 3, float(grid[0]), 0, 0, False),
    ]


def _bspline_jvp(
    c_dot: Array,
    x_dot: Array,
    z: Array,
    t: Array,
    c: Array,
    k: int,
    x: Array,
    nu: int = 0,
    axis: int = 0,
    extrapolate: Any = True,
) -> Array:
    moved = bspline(t, c_dot + np.zeros_like(c), k, x, nu, axis, extrapolate)
    return moved + by_points(bspline(t, c, k, x, nu + 1, axis, extrapolate), x_dot, x, axis)


@rule(bspline, wrt=["c", "x"], jvp=_bspline_jvp, samples=_basis, dtype="unknown")
def bspline_rule(
    z_bar: Array, t: Array, c: Array, k: int, x: Array, nu: int = 0, axis: int = 0, extrapolate: Any = True
) -> tuple[Array, Array]:
    return (
        bspline_coefficients_adjoint(z_bar, t, c, k, x, nu, axis, extrapolate),
        bspline_points_adjoint(z_bar, t, c, k, x, nu, axis, extrapolate),
    )


def _collocations() -> Sequence[Sample]:
    x, y = knots(7), numbers(7)
    points = [sample(x, y), sample(x, numbers(7, 2), 2), sample(x, numbers(2, 7), axis=1), sample(x, y, k=1)]
    return [*points, sample(x, y, bc_type="natural"), sample(x, y, 3, None, "clamped")]


def _coefficients_jvp(
    x_dot: Array,
    y_dot: Array,
    z: Array,
    x: Array,
    y: Array,
    k: int = 3,
    t: Any = None,
    bc_type: Any = None,
    axis: int = 0,
) -> Array:
    by_values = interpolating_coefficients(x, y_dot + np.zeros(np.shape(y)), k, t, bc_type, axis)
    return coefficients_tangent(x_dot, z, x, k, t, bc_type) + by_values


@rule(interpolating_coefficients, wrt=["x", "y"], jvp=_coefficients_jvp, samples=_collocations, dtype="unknown")
def interpolating_rule(
    z: Array, z_bar: Array, x: Array, y: Array, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0
) -> tuple[Array, Array]:
    return (
        coefficients_adjoint(z_bar, z, x, k, t, bc_type),
        interpolating_adjoint(z_bar, x, y, k, t, bc_type, axis),
    )


def _through_places() -> Sequence[Sample]:
    x, grid = knots(7), at_points()

    def made(k: int, bc_type: Any = None) -> Any:
        return x, interpolate.make_interp_spline(x, numbers(7), k, None, bc_type).c, k, bc_type

    wide = interpolate.make_interp_spline(x, numbers(7, 2), k=2).c
    return [
        sample(*made(3), grid),
        sample(*made(3, "natural"), grid, 1),
        sample(*made(5), 3 * grid - 3.0),
        sample(*made(1), grid),
        sample(*made(3), grid, 0, 0, False),
        sample(x, wide, 2, None, grid.reshape(2, 2), 1),
        sample(x, wide, 2, None, grid, axis=1),
        sample(*made(3, "clamped"), float(grid[0])),
        sample(*made(3), grid, 0, 0, True, 1),
        sample(x, wide, 2, None, grid, 1, 1, True, 1),
    ]


def _through_jvp(
    x_dot: Array,
    c_dot: Array,
    points_dot: Array,
    z: Array,
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
    knots, nu = spline_knots(x, k, bc_type), nu + order
    moved = bspline(knots, c_dot + np.zeros_like(c), k, points, nu, axis, extrapolate)
    moved = moved + by_points(bspline(knots, c, k, points, nu + 1, axis, extrapolate), points_dot, points, axis)
    return moved + through_places_tangent(x_dot, x, c, k, bc_type, points, nu, axis, extrapolate)


@rule(through, wrt=["x", "c", "points"], jvp=_through_jvp, samples=_through_places, dtype="unknown")
def through_rule(
    z_bar: Array,
    x: Array,
    c: Array,
    k: int,
    bc_type: Any,
    points: Array,
    nu: int = 0,
    axis: int = 0,
    extrapolate: Any = True,
    order: int = 0,
) -> tuple[Array, Array, Array]:
    knots, nu = spline_knots(x, k, bc_type), nu + order
    return (
        through_places_adjoint(z_bar, x, c, k, bc_type, points, nu, axis, extrapolate),
        bspline_coefficients_adjoint(z_bar, knots, c, k, points, nu, axis, extrapolate),
        bspline_points_adjoint(z_bar, knots, c, k, points, nu, axis, extrapolate),
    )


def _knots_of_places() -> Sequence[Sample]:
    x = knots(7)
    return [sample(x, 3, None), sample(x, 2, None), sample(x, 3, "natural"), sample(x, 1, None)]


def _knots_jvp(x_dot: Array, x: Array, k: int, bc_type: Any) -> Array:
    return interpolating_knots_tangent(x_dot, x, k, bc_type)


@rule(interpolating_knots, wrt=["x"], jvp=_knots_jvp, samples=_knots_of_places, dtype="unknown")
def knots_rule(z_bar: Array, x: Array, k: int, bc_type: Any) -> Array:
    return interpolating_knots_adjoint(z_bar, x, k, bc_type)


def _knots_adjoints() -> Sequence[Sample]:
    return [sample(interpolating_knots(*s.args), *s.args) for s in _knots_of_places()]


@linear(interpolating_knots_adjoint, wrt=["g"], steps={"x"}, samples=_knots_adjoints, dtype="unknown")
def knots_adjoint_rule(z_bar: Array, g: Array, x: Array, k: int, bc_type: Any) -> Array:
    return interpolating_knots_tangent(z_bar, x, k, bc_type)
