"""Rules of quantiles, and of what else looks at the order of the elements.

A quantile lies between two neighbours of the sorted elements and hands its adjoint to these two; among equal elements
it is those that NumPy's partition puts there. By ``q`` it has a derivative too: the slope between the neighbours,
where the method interpolates, else zero. An element of a sorted array hands its adjoint
to the one that NumPy's argsort puts in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.points import numbers, singles
from s2sad.ops.spec import Function, Sample, constant, linear, literal, rule, sample
from s2sad.runtime.arrays import Axis, Shape
from s2sad.runtime.linear import like
from s2sad.runtime.quantiles import (
    mean_values,
    partition_order,
    quantile_adjoint,
    quantile_tangent,
    scatter_order,
    share_values,
    spread_behind,
    sum_behind,
)

Array = Any

constant(partition_order)

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
    np.median, wrt=["a"], jvp=_median_jvp, samples=sampling.REDUCTIONS, infer=infer.axes.quantiles, overwrites=_WORKING
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
    a_dot: Array, q_dot: Array, a: Array, q: Array, axis: Axis, method: str, keepdims: bool, weights: Array
) -> Array:
    slope = quantile_tangent(a, a, q, axis, method, keepdims, weights, slope=True)
    along = spread_behind(q_dot, slope)
    return quantile_tangent(a_dot, a, q, axis, method, keepdims, weights) + along * slope


@rule(
    np.quantile,
    wrt=["a", "q"],
    jvp=_quantile_jvp,
    samples=_quantiles(1.0),
    infer=infer.axes.quantiles,
    steps=frozenset({"weights"}),
    overwrites=_WORKING,
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
    a_dot: Array, q_dot: Array, a: Array, q: Array, axis: Axis, method: str, keepdims: bool, weights: Array
) -> Array:
    slope = quantile_tangent(a, a, q, axis, method, keepdims, weights, nan=True, slope=True)
    along = spread_behind(q_dot, slope)
    return quantile_tangent(a_dot, a, q, axis, method, keepdims, weights, nan=True) + along * slope


@rule(
    np.nanquantile,
    wrt=["a", "q"],
    jvp=_nanquantile_jvp,
    samples=_nan_quantiles(1.0),
    infer=infer.axes.quantiles,
    steps=frozenset({"weights"}),
    overwrites=_WORKING,
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
    a_dot: Array, q_dot: Array, a: Array, q: Array, axis: Axis, method: str, keepdims: bool, weights: Array
) -> Array:
    part, part_dot = np.divide(q, 100), np.divide(q_dot, 100)
    return _quantile_jvp(a_dot, part_dot, a, part, axis, method, keepdims, weights)


@rule(
    np.percentile,
    wrt=["a", "q"],
    jvp=_percentile_jvp,
    samples=_quantiles(100.0),
    infer=infer.axes.quantiles,
    steps=frozenset({"weights"}),
    overwrites=_WORKING,
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
    a_dot: Array, q_dot: Array, a: Array, q: Array, axis: Axis, method: str, keepdims: bool, weights: Array
) -> Array:
    part, part_dot = np.divide(q, 100), np.divide(q_dot, 100)
    return _nanquantile_jvp(a_dot, part_dot, a, part, axis, method, keepdims, weights)


@rule(
    np.nanpercentile,
    wrt=["a", "q"],
    jvp=_nanpercentile_jvp,
    samples=_nan_quantiles(100.0),
    infer=infer.axes.quantiles,
    steps=frozenset({"weights"}),
    overwrites=_WORKING,
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


@linear(sum_behind, wrt=["g"], samples=lambda: [sample(numbers(2, 3, 4), numbers(2, 3)), sample(numbers(3), 0.5)])
def sum_behind_rule(z_bar: Array, g: Array, q: Array) -> Array:
    return spread_behind(z_bar, g)


@linear(
    spread_behind,
    wrt=["q"],
    samples=lambda: [sample(numbers(2, 3), numbers(2, 3, 4)), sample(0.5, numbers(3))],
    result="unknown",
)
def spread_behind_rule(z_bar: Array, q: Array, whole: Array) -> Array:
    return sum_behind(z_bar, q)


# --- sorting ---


def _sort_jvp(a_dot: Array, a: Array, axis: int | None) -> Array:
    return np.take_along_axis(a_dot, np.argsort(a, axis=axis), axis)


# `order` names fields of structured arrays, which have no derivative.
@rule(np.sort, wrt=["a"], jvp=_sort_jvp, samples=sampling.SORTS, infer=infer.axes.scan)
def sort(
    z_bar: Array, a: Array, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None
) -> Array:
    return scatter_order(z_bar, np.argsort(a, axis=axis), np.shape(a), axis)


def _partitions() -> Sequence[Sample]:
    a = numbers(3, 4)
    tied = np.array([2.0, 1.0, 2.0, 0.5, 3.0])
    return [
        sample(numbers(6), 2),
        sample(numbers(6), -1),
        sample(a, [0, 2]),
        sample(a, (1, 2), axis=0),
        sample(a, 5, None),
        sample(numbers(1), 0),
        sample(singles(5), 2),
        sample(np.arange(5.0)[::-1] + 0.1 * tied, 3, kind="introselect"),
    ]


def _partition_jvp(a_dot: Array, z: Array, a: Array, kth: Any, axis: int | None) -> Array:
    return np.take_along_axis(a_dot, partition_order(a, z, kth, axis), axis)


@rule(np.partition, wrt=["a"], jvp=_partition_jvp, samples=_partitions, infer=infer.axes.scan)
def partition(z: Array, z_bar: Array, a: Array, kth: Any, axis: int | None = -1, kind: str = "introselect") -> Array:
    return scatter_order(z_bar, partition_order(a, z, kth, axis), np.shape(a), axis)


def _orders() -> Sequence[Sample]:
    a = numbers(3, 4)
    return [sample(a, np.argsort(a, axis), (3, 4), axis) for axis in (0, 1, -1)] + [
        sample(np.ravel(a), np.argsort(a, None), (3, 4), None)
    ]


@linear(scatter_order, wrt=["g"], samples=_orders, infer=infer.adjoints.into_shape, steps=frozenset({"shape"}))
def scatter_order_rule(z_bar: Array, g: Array, order: Any, shape: Shape, axis: int | None = -1) -> Array:
    return np.take_along_axis(z_bar, order, axis)


# --- values without repetition ---


def _values() -> Sequence[Sample]:
    return [sample(numbers(4)), sample(numbers(2, 3)), sample(np.zeros(0)), sample(singles(3)), sample(1.5)]


def _unique_jvp(ar_dot: Array, ar: Array) -> Array:
    return mean_values(ar_dot, ar)


# The number of results jumps where two elements meet; what is equal shares equally.
@rule(np.unique, wrt=["ar"], jvp=_unique_jvp, samples=_values, infer=infer.axes.with_axes(infer.axes.always(1)))
def unique(z_bar: Array, ar: Array) -> Array:
    return share_values(z_bar, ar)


def _unique_values_jvp(x_dot: Array, z: Array, x: Array) -> Array:
    return mean_values(x_dot, x, z)


if hasattr(np, "unique_values"):  # NumPy 2.0; since 2.3 the values are in no order

    @rule(
        np.unique_values,
        wrt=["x"],
        jvp=_unique_values_jvp,
        samples=_values,
        infer=infer.axes.with_axes(infer.axes.always(1)),
    )
    def unique_values(z: Array, z_bar: Array, x: Array) -> Array:
        return share_values(z_bar, x, z)


@linear(share_values, wrt=["g"], samples=lambda: [sample(numbers(2), np.array([[1.5, 0.5], [1.5, 1.5]]))])
def share_values_rule(z_bar: Array, g: Array, a: Array, values: Array = None) -> Array:
    return mean_values(z_bar, a, values)


@linear(mean_values, wrt=["t"], samples=lambda: [sample(numbers(2, 2), np.array([[1.5, 0.5], [1.5, 1.5]]))])
def mean_values_rule(z_bar: Array, t: Array, a: Array, values: Array = None) -> Array:
    return share_values(z_bar, a, values)
