"""Rules of piecewise linear interpolation, in the points, the knots and the values.

At a knot the derivative is that of the segment to the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers
from s2sad.ops.spec import Sample, linear, rule, sample
from s2sad.runtime.interpolation import interp_slope, interp_values, slope_values, within

Array = Any


def _interpolations() -> Sequence[Sample]:
    xp, fp = np.array([0.0, 1.0, 2.5, 3.0]), numbers(4)
    outside = np.array([[0.2, -1.0], [4.0, 2.7]])
    return [
        sample(1.3, xp, fp),
        sample(np.array([0.2, 1.7, 2.6]), xp, fp),
        sample(outside, xp, fp),
        sample(np.zeros(0), xp, fp),
        sample(np.array([0.2, 1.7]), np.array([0.5]), np.array([2.0])),
        sample(outside, xp, fp, 1.5),
        sample(outside, xp, fp, 1.5, -0.5),
        sample(outside, xp, fp, right=2.5),
        sample(outside, xp, complexes(4)),
        sample(np.array([0.2, 9.0, -7.6]), np.array([3.5, 0.5, 1.7, 2.2]), fp, period=4.0),
        sample(np.array([0.2, 9.0]), xp, fp, None, None, 3.3),
    ]


def _interp_jvp(
    x_dot: Array,
    xp_dot: Array,
    fp_dot: Array,
    left_dot: Array,
    right_dot: Array,
    x: Array,
    xp: Array,
    fp: Array,
    left: Array = None,
    right: Array = None,
    period: Any = None,
) -> Array:
    slope = interp_slope(x, xp, fp, period)
    low = None if left is None else left_dot
    high = None if right is None else right_dot
    moved = slope * x_dot - slope * np.interp(x, xp, xp_dot, period=period)
    return moved + np.interp(x, xp, fp_dot, low, high, period)


@rule(
    np.interp,
    only_arrays=True,
    wrt=["x", "xp", "fp", "left", "right"],
    jvp=_interp_jvp,
    samples=_interpolations,
    infer=infer.creation.interpolated,
)
def interp(
    z_bar: Array, x: Array, xp: Array, fp: Array, left: Array = None, right: Array = None, period: Any = None
) -> tuple[Array, Array, Array, Array, Array]:
    slope = interp_slope(x, xp, fp, period)
    if left is None and right is None and period is None:
        return z_bar * slope, -interp_values(z_bar * slope, x, xp, fp), interp_values(z_bar, x, xp, fp), 0.0, 0.0
    # With a period NumPy takes the real parts of the points.
    return (
        np.real(z_bar * slope),
        -interp_values(np.real(z_bar * slope), x, xp, fp, period),
        interp_values(within(z_bar, x, xp, left, right, period), x, xp, fp, period),
        np.sum(z_bar - within(z_bar, x, xp, left, None, period)),
        np.sum(z_bar - within(z_bar, x, xp, None, right, period)),
    )


# --- the helpers of this rule, so that emitted derivatives can be differentiated again ---


def _points() -> Sequence[Sample]:
    x, xp = np.array([0.2, 1.7, 4.0]), np.array([0.0, 1.0, 2.5, 3.0])
    return [sample(numbers(3), x, xp, numbers(4)), sample(numbers(3), x, xp, numbers(4), 3.3)]


def _values_jvp(
    g_dot: Array, x_dot: Array, xp_dot: Array, g: Array, x: Array, xp: Array, fp: Array, period: Any = None
) -> Array:
    moved = x_dot - np.interp(x, xp, xp_dot, period=period)
    return interp_values(g_dot, x, xp, fp, period) + slope_values(g * moved, x, xp, fp, period)


@rule(interp_values, wrt=["g", "x", "xp"], jvp=_values_jvp, samples=_points, steps=frozenset({"fp"}))
def interp_values_rule(
    z_bar: Array, g: Array, x: Array, xp: Array, fp: Array, period: Any = None
) -> tuple[Array, Array, Array]:
    x_bar = g * interp_slope(x, xp, z_bar, period)
    return np.interp(x, xp, z_bar, period=period), x_bar, -interp_values(x_bar, x, xp, fp, period)


def _slope_values_jvp(g_dot: Array, xp_dot: Array, g: Array, x: Array, xp: Array, fp: Array, period: Any) -> Array:
    return slope_values(g_dot - g * interp_slope(x, xp, xp_dot, period), x, xp, fp, period)


@rule(slope_values, wrt=["g", "xp"], jvp=_slope_values_jvp, samples=_points, steps=frozenset({"x", "fp"}))
def slope_values_rule(
    z_bar: Array, g: Array, x: Array, xp: Array, fp: Array, period: Any = None
) -> tuple[Array, Array]:
    slope = interp_slope(x, xp, z_bar, period)
    return slope, slope_values(-g * slope, x, xp, fp, period)


def _slopes() -> Sequence[Sample]:
    return [Sample(s.args[1:]) for s in _points()]


def _slope_jvp(xp_dot: Array, fp_dot: Array, x: Array, xp: Array, fp: Array, period: Any = None) -> Array:
    slope = interp_slope(x, xp, fp, period)
    return interp_slope(x, xp, fp_dot, period) - slope * interp_slope(x, xp, xp_dot, period)


@rule(interp_slope, wrt=["xp", "fp"], jvp=_slope_jvp, samples=_slopes, steps=frozenset({"x"}))
def interp_slope_rule(z_bar: Array, x: Array, xp: Array, fp: Array, period: Any = None) -> tuple[Array, Array]:
    stretched = -z_bar * interp_slope(x, xp, fp, period)
    return slope_values(stretched, x, xp, fp, period), slope_values(z_bar, x, xp, fp, period)


def _cuts() -> Sequence[Sample]:
    return [sample(numbers(3), np.array([-1.0, 0.5, 2.0]), np.array([0.0, 1.0]), 7.0, None)]


@linear(within, wrt=["g"], samples=_cuts, steps=frozenset({"x", "xp", "left", "right"}), result="unknown")
def within_rule(z_bar: Array, g: Array, x: Array, xp: Array, left: Array, right: Array, period: Any = None) -> Array:
    return within(z_bar, x, xp, left, right, period)
