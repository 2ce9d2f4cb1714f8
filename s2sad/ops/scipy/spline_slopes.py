"""Rules of the adjoints of piecewise polynomials and cubic splines, for second derivatives by values and points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops.points import numbers
from s2sad.ops.scipy.interpolate import at_points, knots
from s2sad.ops.spec import Sample, bilinear, linear, operation, rule, sample
from s2sad.runtime.scipy.interpolants import by_points
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


@bilinear(by_points, wrt=["slope", "x_dot"], samples=_moved, dtype="unknown")
def by_points_rule(z_bar: Array, slope: Array, x_dot: Array, x: Array, axis: int) -> tuple[Array, Array]:
    return by_points(z_bar, x_dot, x, axis), along(z_bar * slope, x, axis)


@linear(
    along,
    wrt=["product"],
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


operation(
    piecewise_breaks_adjoint,
    piecewise_breaks_tangent,
    cubic_places_adjoint,
    cubic_places_tangent,
    remedy="second derivatives pass through the values and the points of a spline, and not through its knots",
)
