"""Rules of quantiles, and of what else looks at the order of the elements.

A quantile lies between two neighbours of the sorted elements and hands its adjoint to these two; among equal elements
it is those that NumPy's partition puts there. By ``q`` it has a derivative too: the slope between the neighbours,
where the method interpolates, else zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.points import numbers, singles
from s2sad.ops.spec import Function, Sample, linear, literal, rule, sample
from s2sad.runtime.arrays import Axis
from s2sad.runtime.linear import like
from s2sad.runtime.quantiles import (
    quantile_adjoint,
    quantile_tangent,
    spread_behind,
    sum_behind,
)

Array = Any

METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear "
    "median_unbiased normal_unbiased lower higher midpoint nearest"
).split()

#: The option by which they use their operand as working space.
_WORKING = ("overwrite_input", False)

# --- medians ---


def _median_jvp(a_dot: Array, a: Array, axis: Axis, keepdims: bool) -> Array:
    return quantile_tangent(a_dot, a, 0.5, axis, keepdims=keepdims)


@rule(
    np.median,
    wrt=["a"],
    jvp=_median_jvp,
    samples=sampling.REDUCTIONS,
    infer=infer.axes.quantiles,
    overwrites=_WORKING,
    picks="elements",
)
def median(z_bar: Array, a: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    return quantile_adjoint(z_bar, a, 0.5, axis)


def _nanmedian_jvp(a_dot: Array, a: Array, axis: Axis, keepdims: bool) -> Array:
    return quantile_tangent(a_dot, a, 0.5, axis, keepdims=keepdims, nan=True)


@rule(
    np.nanmedian,
    wrt=["a"],
    jvp=_nanmedian_jvp,
    samples=sampling.NAN_REDUCTIONS,
    infer=infer.axes.quantiles,
    overwrites=_WORKING,
    picks="numbers",
)
def nanmedian(z_bar: Array, a: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    return quantile_adjoint(z_bar, a, 0.5, axis, nan=True)


# --- quantiles ---


def _quantiles(whole: float) -> Function:
    """Samples of quantiles in parts of ``whole``: every method, every form of the axis."""

    def samples() -> Sequence[Sample]:
        a, w = numbers(5), sampling.spread((3, 4), 0.2, 1.5, seed=1)
        m = numbers(3, 4)
        several = whole * np.array([[0.21], [0.83]])
        points = [sample(a, whole * 0.33, method=method) for method in METHODS]
        points += [sample(m, several, axis=1, method=method, keepdims=True) for method in METHODS]
        points += [sample(a, int(whole) * q) for q in (0, 1)]
        return [
            *points,
            sample(m, whole * 0.4),
            sample(m, whole * 0.4, 0),
            sample(m, whole * 0.4, axis=-1, keepdims=True),
            sample(numbers(2, 3, 4), whole * 0.4, axis=(0, -1)),
            sample(numbers(2, 3, 4), several, axis=(2, 0), keepdims=True),
            sample(m, [whole * 0.4, whole * 0.9], 0),
            sample(numbers(1), whole * 0.4),
            sample(numbers(), whole * 0.4),
            sample(singles(4), np.float32(whole * 0.4)),
            sample(singles(4), whole * 0.4),
            sample(np.ones((0, 3)), whole * 0.4, axis=1),
            sample(m, whole * 0.45, axis=1, method="inverted_cdf", weights=w),
            sample(m, whole * 0.45, axis=0, method="inverted_cdf", weights=w[:, 0]),
            sample(m, several, method="inverted_cdf", weights=w, keepdims=True),
        ]

    return samples


def _nan_quantiles(whole: float) -> Function:
    def samples() -> Sequence[Sample]:
        points = []
        for s in _quantiles(whole)():
            if np.ndim(s.kwargs.get("weights")) == 1:
                continue  # NumPy does not broadcast these
            a = np.array(s.args[0])
            if a.ndim == 2 and a.size:
                a[0, 1] = a[2, 0] = a[2, 3] = np.nan
            q = s.args[1]
            if np.ndim(q) == 2 and s.kwargs.get("axis") is not None:
                q = np.ravel(q)
            points.append(Sample((a, q, *s.args[2:]), s.kwargs))
        return points

    return samples


def _quantile_jvp(
    z: Array, a_dot: Array, q_dot: Array, a: Array, q: Array, axis: Axis, method: str, keepdims: bool, weights: Array
) -> Array:
    slope = quantile_tangent(a, a, q, axis, method, keepdims, weights, slope=True)
    along = spread_behind(q_dot, slope)
    z_dot = quantile_tangent(a_dot, a, q, axis, method, keepdims, weights) + along * slope
    return z_dot.astype(z.dtype)


@rule(
    np.quantile,
    wrt=["a", "q"],
    jvp=_quantile_jvp,
    samples=_quantiles(1.0),
    infer=infer.axes.quantiles,
    steps=frozenset({"weights"}),
    overwrites=_WORKING,
    picks="elements",
)
def quantile(
    z_bar: Array,
    a: Array,
    q: Array,
    axis: Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Array = None,
) -> tuple[Array, Array]:
    rise = z_bar * quantile_tangent(a, a, q, axis, method, keepdims, weights, slope=True)
    if method == "linear" and weights is None and literal(q):
        return quantile_adjoint(z_bar, a, q, axis), like(sum_behind(rise, q), q)
    return quantile_adjoint(z_bar, a, q, axis, method, weights), like(sum_behind(rise, q), q)


def _nanquantile_jvp(
    z: Array, a_dot: Array, q_dot: Array, a: Array, q: Array, axis: Axis, method: str, keepdims: bool, weights: Array
) -> Array:
    slope = quantile_tangent(a, a, q, axis, method, keepdims, weights, nan=True, slope=True)
    along = spread_behind(q_dot, slope)
    z_dot = quantile_tangent(a_dot, a, q, axis, method, keepdims, weights, nan=True) + along * slope
    return z_dot.astype(z.dtype)


@rule(
    np.nanquantile,
    wrt=["a", "q"],
    jvp=_nanquantile_jvp,
    samples=_nan_quantiles(1.0),
    infer=infer.axes.quantiles,
    steps=frozenset({"weights"}),
    overwrites=_WORKING,
    picks="numbers",
)
def nanquantile(
    z_bar: Array,
    a: Array,
    q: Array,
    axis: Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Array = None,
) -> tuple[Array, Array]:
    rise = z_bar * quantile_tangent(a, a, q, axis, method, keepdims, weights, nan=True, slope=True)
    if method == "linear" and weights is None and literal(q):
        return quantile_adjoint(z_bar, a, q, axis, nan=True), like(sum_behind(rise, q), q)
    return quantile_adjoint(z_bar, a, q, axis, method, weights, nan=True), like(sum_behind(rise, q), q)


def _percentile_jvp(
    z: Array, a_dot: Array, q_dot: Array, a: Array, q: Array, axis: Axis, method: str, keepdims: bool, weights: Array
) -> Array:
    part, part_dot = np.divide(q, 100), np.divide(q_dot, 100)
    return _quantile_jvp(z, a_dot, part_dot, a, part, axis, method, keepdims, weights)


@rule(
    np.percentile,
    wrt=["a", "q"],
    jvp=_percentile_jvp,
    samples=_quantiles(100.0),
    infer=infer.axes.quantiles,
    steps=frozenset({"weights"}),
    overwrites=_WORKING,
    picks="elements",
)
def percentile(
    z_bar: Array,
    a: Array,
    q: Array,
    axis: Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Array = None,
) -> tuple[Array, Array]:
    part = np.divide(q, 100)
    rise = z_bar / 100 * quantile_tangent(a, a, part, axis, method, keepdims, weights, slope=True)
    if method == "linear" and weights is None and literal(q):
        return quantile_adjoint(z_bar, a, q / 100, axis), like(sum_behind(rise, q), q)
    return quantile_adjoint(z_bar, a, part, axis, method, weights), like(sum_behind(rise, q), q)


def _nanpercentile_jvp(
    z: Array, a_dot: Array, q_dot: Array, a: Array, q: Array, axis: Axis, method: str, keepdims: bool, weights: Array
) -> Array:
    part, part_dot = np.divide(q, 100), np.divide(q_dot, 100)
    return _nanquantile_jvp(z, a_dot, part_dot, a, part, axis, method, keepdims, weights)


@rule(
    np.nanpercentile,
    wrt=["a", "q"],
    jvp=_nanpercentile_jvp,
    samples=_nan_quantiles(100.0),
    infer=infer.axes.quantiles,
    steps=frozenset({"weights"}),
    overwrites=_WORKING,
    picks="numbers",
)
def nanpercentile(
    z_bar: Array,
    a: Array,
    q: Array,
    axis: Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Array = None,
) -> tuple[Array, Array]:
    part = np.divide(q, 100)
    rise = z_bar / 100 * quantile_tangent(a, a, part, axis, method, keepdims, weights, nan=True, slope=True)
    if method == "linear" and weights is None and literal(q):
        return quantile_adjoint(z_bar, a, q / 100, axis, nan=True), like(sum_behind(rise, q), q)
    return quantile_adjoint(z_bar, a, part, axis, method, weights, nan=True), like(sum_behind(rise, q), q)


# --- the helpers of these rules, so that emitted derivatives can be differentiated again ---


def _pieces(g: Function, **kept: bool) -> Function:
    def samples() -> Sequence[Sample]:
        a, q = numbers(3, 4), np.array([0.21, 0.83])
        holes = np.where(np.arange(12).reshape(3, 4) % 5 == 1, np.nan, a)
        w = sampling.spread((4,), 0.2, 1.5, seed=1)
        return [
            sample(g(a, q, 1), a, q, 1),
            sample(g(a, q, 1), a, q, 1, "hazen", slope=True),
            sample(g(a, q, None), a, q, None, "weibull", **kept),
            sample(g(a, 0.4, 0), a, 0.4, 0, "lower"),
            sample(g(a, 0.4, 0), holes, 0.4, 0, nan=True),
            sample(g(a, 0.4, 1), a, 0.4, 1, "inverted_cdf", weights=w),
        ]

    return samples


def _tangent_jvp(
    t_dot: Array,
    q_dot: Array,
    t: Array,
    a: Array,
    q: Array,
    axis: Axis,
    method: str,
    keepdims: bool,
    weights: Array,
    nan: bool,
    slope: bool,
) -> Array:
    found = quantile_tangent(t_dot, a, q, axis, method, keepdims, weights, nan=nan, slope=slope)
    if slope:
        return found
    rise = quantile_tangent(t, a, q, axis, method, keepdims, weights, nan=nan, slope=True)
    return found + spread_behind(q_dot, rise) * rise


@rule(
    quantile_tangent,
    wrt=["t", "q"],
    jvp=_tangent_jvp,
    samples=_pieces(lambda a, q, axis: numbers(*np.shape(a), seed=1), keepdims=True),
    steps=frozenset({"a", "weights"}),
)
def quantile_tangent_rule(
    z_bar: Array,
    t: Array,
    a: Array,
    q: Array,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    weights: Array = None,
    *,
    nan: bool = False,
    slope: bool = False,
) -> tuple[Array, Array]:
    t_bar = quantile_adjoint(z_bar, a, q, axis, method, weights, nan=nan, slope=slope)
    if slope is True:
        return t_bar, np.zeros(np.shape(q))
    rise = z_bar * quantile_tangent(t, a, q, axis, method, keepdims, weights, nan=nan, slope=True)
    return t_bar, sum_behind(rise, q)


def _adjoint_jvp(
    g_dot: Array,
    q_dot: Array,
    g: Array,
    a: Array,
    q: Array,
    axis: Axis,
    method: str,
    weights: Array,
    nan: bool,
    slope: bool,
) -> Array:
    found = quantile_adjoint(g_dot, a, q, axis, method, weights, nan=nan, slope=slope)
    if slope:
        return found
    moved = g * spread_behind(q_dot, g)
    return found + quantile_adjoint(moved, a, q, axis, method, weights, nan=nan, slope=True)


@rule(
    quantile_adjoint,
    wrt=["g", "q"],
    jvp=_adjoint_jvp,
    samples=_pieces(lambda a, q, axis: numbers(*np.shape(np.quantile(a, q, axis)), seed=1)),
    infer=infer.adjoints.adjoint_of("a"),
    steps=frozenset({"a", "weights"}),
)
def quantile_adjoint_rule(
    z_bar: Array,
    g: Array,
    a: Array,
    q: Array,
    axis: Axis = None,
    method: str = "linear",
    weights: Array = None,
    *,
    nan: bool = False,
    slope: bool = False,
) -> tuple[Array, Array]:
    g_bar = quantile_tangent(z_bar, a, q, axis, method, False, weights, nan=nan, slope=slope)
    if slope is True:
        return np.reshape(g_bar, np.shape(g)), np.zeros(np.shape(q))
    rise = g * np.reshape(quantile_tangent(z_bar, a, q, axis, method, False, weights, nan=nan, slope=True), np.shape(g))
    return np.reshape(g_bar, np.shape(g)), sum_behind(rise, q)


@linear(
    sum_behind,
    steps=frozenset({"q"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3, 4), numbers(2, 3)), sample(numbers(3), 0.5)],
)
def sum_behind_rule(z_bar: Array, g: Array, q: Array) -> Array:
    return spread_behind(z_bar, g)


@linear(
    spread_behind,
    steps=frozenset({"whole"}),
    wrt=["q"],
    samples=lambda: [sample(numbers(2, 3), numbers(2, 3, 4)), sample(0.5, numbers(3))],
    result="unknown",
)
def spread_behind_rule(z_bar: Array, q: Array, whole: Array) -> Array:
    return sum_behind(z_bar, q)
