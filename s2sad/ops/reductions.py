"""Rules of reductions, cumulative functions and averages.

``max`` and ``min`` share the adjoint equally among equal extremes.  ``std`` has
no derivative where the deviation is 0: the adjoint there is NaN, as in JAX,
unless that of the deviation is 0 too.
A parameter after ``*`` is taken by keyword only: those that stand before it in
the NumPy function (``out`` above all) have no rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from s2sad.ops import infer, masked, sampling
from s2sad.ops.forms import METHOD, Form
from s2sad.ops.spec import Function, Sample, linear, real, rule, sample
from s2sad.runtime.arrays import (
    Axis,
    average_adjoints,
    average_tangent,
    count,
    count_here,
    count_ties,
    deviation,
    mean_ties,
    share_ties,
    unbroadcast,
    unreduce,
)
from s2sad.runtime.edges import quotient_or_zero
from s2sad.runtime.scans import (
    after_zeros,
    backward_recurrence,
    merge_axes,
    other_products,
    products_before,
    recurrence,
    split_axes,
)

Array = Any
DType = Any

# --- sums and means ---


@linear(
    np.sum,
    wrt=["a", "initial"],
    samples=masked.MASKED_SUMS,
    infer=infer.axes.reduced,
    lower_bound=infer.bounds.total,
    odd=1,
    steps=frozenset({"where"}),
    forms=METHOD,
    reads_first=True,
)
def sum(
    z_bar: Array,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    *,
    keepdims: bool = False,
    initial: Array = 0,
    where: Any = True,
) -> tuple[Array, Array]:
    if where is True:
        return unreduce(z_bar, np.shape(a), axis, keepdims), np.sum(z_bar)
    return np.where(where, unreduce(z_bar, np.shape(a), axis, keepdims), 0), np.sum(z_bar)


@linear(
    np.mean,
    wrt=["a"],
    samples=masked.MASKED_MEANS,
    infer=infer.axes.reduced,
    lower_bound=infer.bounds.total,
    steps=frozenset({"where"}),
    forms=METHOD,
    reads_first=True,
)
def mean(
    z_bar: Array, a: Array, axis: Axis = None, dtype: DType = None, *, keepdims: bool = False, where: Any = True
) -> Array:
    if where is True:
        return unreduce(z_bar / count(np.shape(a), axis), np.shape(a), axis, keepdims)
    share = unreduce(z_bar / count_here(where, a, axis, keepdims), np.shape(a), axis, keepdims)
    return np.where(where, share, 0)


# --- spread ---


def spread(
    a_dot: Array,
    mean_dot: Array,
    a: Array,
    axis: Axis,
    ddof: Any,
    keepdims: bool,
    mean: Array,
    where: Any,
) -> Array:
    """Half the tangent of the variance of what is ``where``."""
    centre = np.mean(a, axis=axis, keepdims=True, where=where) if mean is None else mean
    d = np.where(where, a - centre, 0)
    moved = a_dot if mean is None else a_dot - mean_dot
    total = np.sum(np.real(np.conj(d) * moved), axis=axis, keepdims=keepdims, where=where)
    return total / (count_here(where, a, axis, keepdims) - ddof)


def _var_jvp(
    a_dot: Array,
    mean_dot: Array,
    ddof_dot: Array,
    z: Array,
    a: Array,
    axis: Axis,
    dtype: DType,
    ddof: Any,
    keepdims: bool,
    mean: Array = None,
    where: Any = True,
) -> Array:
    moved = 2 * spread(a_dot, mean_dot, a, axis, ddof, keepdims, mean, where)
    return moved + ddof_dot * (z / (count_here(where, a, axis, keepdims) - ddof))


@rule(
    np.var,
    wrt=["a", "mean", "ddof"],
    jvp=_var_jvp,
    samples=masked.MASKED_VARIANCES,
    infer=infer.axes.reduced,
    lower_bound=infer.bounds.not_negative,
    steps=frozenset({"where"}),
    aliases={"correction": "ddof"},
    forms=METHOD,
    reads_first=True,
)
def var(
    z_bar: Array,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    *,
    ddof: Any = 0,
    keepdims: bool = False,
    mean: Array = None,
    where: Any = True,
) -> tuple[Array, Array, Array]:
    # The result may be a multiple of the variance: that of a deviation is the rule of squares of these, too.
    if mean is None and where is True:
        v = np.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims)
        d = a - np.mean(a, axis=axis, dtype=dtype, keepdims=True)
        n = count(np.shape(a), axis) - ddof
        if real(a):
            return (
                unreduce(2 * z_bar, np.shape(a), axis, keepdims) * d / (count(np.shape(a), axis) - ddof),
                0.0,
                np.sum(z_bar * v) / n,
            )
        share = unreduce(2 * np.real(z_bar), np.shape(a), axis, keepdims)
        return share * np.conj(d) / (count(np.shape(a), axis) - ddof), 0.0, np.sum(np.real(z_bar) * v) / n
    part = np.real(z_bar) / (count_here(where, a, axis, keepdims) - ddof)
    share = unreduce(2 * part, np.shape(a), axis, keepdims)
    if mean is None:
        v = np.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)
        d = a - np.mean(a, axis=axis, dtype=dtype, keepdims=True, where=where)
        return np.where(where, share * np.conj(d), 0), 0.0, np.sum(part * v)
    v = np.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, mean=mean, where=where)
    a_bar = np.where(where, share * np.conj(deviation(a, mean)), 0)
    return a_bar, unbroadcast(-a_bar, np.shape(mean)), np.sum(part * v)


def _std_jvp(
    a_dot: Array,
    mean_dot: Array,
    ddof_dot: Array,
    z: Array,
    a: Array,
    axis: Axis,
    dtype: DType,
    ddof: Any,
    keepdims: bool,
    mean: Array = None,
    where: Any = True,
) -> Array:
    moved = quotient_or_zero(spread(a_dot, mean_dot, a, axis, ddof, keepdims, mean, where), z)
    return moved + ddof_dot * (z / (2 * (count_here(where, a, axis, keepdims) - ddof)))


@rule(
    np.std,
    wrt=["a", "mean", "ddof"],
    jvp=_std_jvp,
    samples=masked.MASKED_DEVIATIONS,
    infer=infer.axes.reduced,
    lower_bound=infer.bounds.not_negative,
    steps=frozenset({"where"}),
    aliases={"correction": "ddof"},
    forms=METHOD,
    reads_first=True,
)
def std(
    z: Array,
    z_bar: Array,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    *,
    ddof: Any = 0,
    keepdims: bool = False,
    mean: Array = None,
    where: Any = True,
) -> tuple[Array, Array, Array]:
    if mean is None and where is True:
        d = a - np.mean(a, axis=axis, dtype=dtype, keepdims=True)
        n = count(np.shape(a), axis) - ddof
        if real(a):
            return (
                unreduce(quotient_or_zero(z_bar, z), np.shape(a), axis, keepdims) * d / n,
                0.0,
                np.sum(z_bar * z) / (2 * n),
            )
        share = unreduce(quotient_or_zero(np.real(z_bar), z), np.shape(a), axis, keepdims)
        return share * np.conj(d) / n, 0.0, np.sum(np.real(z_bar) * z) / (2 * n)
    g, n = np.real(z_bar), count_here(where, a, axis, keepdims) - ddof
    share = unreduce(quotient_or_zero(g, z) / n, np.shape(a), axis, keepdims)
    if mean is None:
        d = a - np.mean(a, axis=axis, dtype=dtype, keepdims=True, where=where)
        return np.where(where, share * np.conj(d), 0), 0.0, np.sum(g * z / (2 * n))
    a_bar = np.where(where, share * np.conj(deviation(a, mean)), 0)
    return a_bar, unbroadcast(-a_bar, np.shape(mean)), np.sum(g * z / (2 * n))


# --- extremes ---


def _extreme_jvp(
    a_dot: Array,
    initial_dot: Array,
    z: Array,
    a: Array,
    axis: Axis,
    keepdims: bool,
    initial: Array = None,
    where: Any = True,
) -> Array:
    if initial is None and where is True:
        return mean_ties(a_dot, a, z, axis, keepdims)
    hit = (a == unreduce(z, np.shape(a), axis, keepdims)) & where
    total = np.sum(np.where(hit, a_dot, 0), axis=axis, keepdims=keepdims)
    first = 0 if initial is None else np.where(z == initial, initial_dot, 0)
    return (total + first) / count_ties(a, z, axis, keepdims, initial, where)


def _extreme(
    function: Function,
    samples: Function = masked.MASKED_EXTREMES,
    forms: tuple[Form, ...] = (),
    picks: Literal["elements", "numbers"] = "elements",
) -> Function:
    return rule(
        function,
        wrt=["a", "initial"],
        jvp=_extreme_jvp,
        forms=forms,
        reads_first=True,
        samples=samples,
        infer=infer.axes.reduced,
        steps=frozenset({"where"}),
        picks=picks,
    )


@_extreme(np.max, forms=METHOD)
def max(
    z: Array,
    z_bar: Array,
    a: Array,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    initial: Array = None,
    where: Any = True,
) -> tuple[Array, Array]:
    if initial is None and where is True:
        return share_ties(z_bar, a, z, axis, keepdims), 0.0
    share = z_bar / count_ties(a, z, axis, keepdims, initial, where)
    hit = (a == unreduce(z, np.shape(a), axis, keepdims)) & where
    return np.where(hit, unreduce(share, np.shape(a), axis, keepdims), 0), np.sum(np.where(z == initial, share, 0))


_extreme(np.min, forms=METHOD)(max)
_extreme(np.amax)(max)
_extreme(np.amin)(max)
_extreme(np.nanmax, masked.MASKED_NAN_EXTREMES, picks="numbers")(max)
_extreme(np.nanmin, masked.MASKED_NAN_EXTREMES, picks="numbers")(max)


def _ptp_jvp(a_dot: Array, a: Array, axis: Axis, keepdims: bool) -> Array:
    high = mean_ties(a_dot, a, np.max(a, axis=axis, keepdims=keepdims), axis, keepdims)
    return high - mean_ties(a_dot, a, np.min(a, axis=axis, keepdims=keepdims), axis, keepdims)


@rule(np.ptp, wrt=["a"], jvp=_ptp_jvp, samples=sampling.REDUCTIONS, infer=infer.axes.reduced, picks="elements")
def ptp(z_bar: Array, a: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    high = share_ties(z_bar, a, np.max(a, axis=axis, keepdims=keepdims), axis, keepdims)
    return high - share_ties(z_bar, a, np.min(a, axis=axis, keepdims=keepdims), axis, keepdims)


# --- products ---


def _prod_jvp(
    a_dot: Array,
    initial_dot: Array,
    a: Array,
    axis: Axis,
    dtype: DType,
    keepdims: bool,
    initial: Array = 1,
    where: Any = True,
) -> Array:
    others = other_products(np.where(where, a, 1), axis)
    total = np.sum(a_dot * others, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    whole = np.prod(a, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return initial * total + initial_dot * whole


@rule(
    np.prod,
    wrt=["a", "initial"],
    jvp=_prod_jvp,
    samples=masked.MASKED_PRODUCTS,
    infer=infer.axes.reduced,
    steps=frozenset({"where"}),
    forms=METHOD,
    reads_first=True,
)
def prod(
    z_bar: Array,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    *,
    keepdims: bool = False,
    initial: Array = 1,
    where: Any = True,
) -> tuple[Array, Array]:
    whole = np.prod(a, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    if where is True:
        others = other_products(a, axis)
        return unreduce(z_bar * initial, np.shape(a), axis, keepdims) * others, np.sum(z_bar * whole)
    others = other_products(np.where(where, a, 1), axis)
    share = unreduce(z_bar * initial, np.shape(a), axis, keepdims) * others
    return np.where(where, share, 0), np.sum(z_bar * whole)


# --- cumulative functions ---


@linear(np.cumsum, wrt=["a"], samples=sampling.SCANS, infer=infer.axes.scan, forms=METHOD, reads_first=True)
def cumsum(z_bar: Array, a: Array, axis: int | None = None, dtype: DType = None) -> Array:
    return np.reshape(np.flip(np.cumsum(np.flip(z_bar, axis), axis), axis), np.shape(a))


def _cumprod_jvp(a_dot: Array, z: Array, a: Array, axis: int | None, dtype: DType) -> Array:
    x = merge_axes(a, axis)
    x_dot = recurrence(products_before(x) * merge_axes(a_dot, axis), x)
    return split_axes(x_dot, np.shape(z), axis)


@rule(
    np.cumprod,
    wrt=["a"],
    jvp=_cumprod_jvp,
    samples=sampling.SCANS,
    infer=infer.axes.scan,
    forms=METHOD,
    reads_first=True,
)
def cumprod(z_bar: Array, a: Array, axis: int | None = None, dtype: DType = None) -> Array:
    x = merge_axes(a, axis)
    x_bar = products_before(x) * backward_recurrence(merge_axes(z_bar, axis), x)
    return split_axes(x_bar, np.shape(a), axis)


def _initials() -> Sequence[Sample]:
    a = sampling.spread((2, 3))
    return [
        sample(sampling.spread((4,))),
        sample(sampling.spread((4,)), include_initial=True),
        sample(a, axis=0),
        sample(a, axis=-1, include_initial=True),
        sample(a, axis=0, include_initial=True, dtype=float),
        sample(np.array([1.5, 0.0, 2.0, 0.0]), include_initial=True),
        sample(np.zeros(0), include_initial=True),
        sample(a.astype(np.float32), axis=1, include_initial=True),
    ]


def _cumulative_prod_jvp(
    x_dot: Array, z: Array, x: Array, *, axis: int | None = None, dtype: DType = None, include_initial: bool = False
) -> Array:
    a = merge_axes(x, axis)
    a_dot = recurrence(products_before(a) * merge_axes(x_dot, axis), a)
    return split_axes(after_zeros(a_dot, int(include_initial)), np.shape(z), axis)


def _cumulative_sum_jvp(
    x_dot: Array, *, axis: int | None = None, dtype: DType = None, include_initial: bool = False
) -> Array:
    return np.cumulative_sum(x_dot, axis=axis, dtype=dtype, include_initial=include_initial)


if hasattr(np, "cumulative_sum"):  # NumPy 2.1

    @rule(
        np.cumulative_sum,
        wrt=["x"],
        jvp=_cumulative_sum_jvp,
        samples=_initials,
        infer=infer.axes.with_axes(infer.axes.same("x")),
    )
    def cumulative_sum(
        z_bar: Array, x: Array, *, axis: int | None = None, dtype: DType = None, include_initial: Any = False
    ) -> Array:
        if include_initial is False:
            return np.reshape(np.flip(np.cumsum(np.flip(z_bar, axis), axis), axis), np.shape(x))
        x_bar = np.delete(np.flip(np.cumsum(np.flip(z_bar, axis), axis), axis), range(include_initial), axis)
        return np.reshape(x_bar, np.shape(x))

    @rule(
        np.cumulative_prod,
        wrt=["x"],
        jvp=_cumulative_prod_jvp,
        samples=_initials,
        infer=infer.axes.with_axes(infer.axes.same("x")),
    )
    def cumulative_prod(
        z_bar: Array, x: Array, *, axis: int | None = None, dtype: DType = None, include_initial: Any = False
    ) -> Array:
        a = merge_axes(x, axis)
        if include_initial is False:
            a_bar = products_before(a) * backward_recurrence(merge_axes(z_bar, axis), a)
            return split_axes(a_bar, np.shape(x), axis)
        g = merge_axes(np.delete(z_bar, range(include_initial), axis), axis)
        return split_axes(products_before(a) * backward_recurrence(g, a), np.shape(x), axis)


# --- averages ---


def _average_jvp(
    a_dot: Array, weights_dot: Array, z: Array, a: Array, axis: Axis, weights: Array, returned: bool, keepdims: bool
) -> Array:
    if returned is False and weights is None:
        return np.mean(a_dot, axis=axis, keepdims=keepdims)
    return average_tangent(a_dot, weights_dot, z, a, axis, weights, keepdims, returned)


def _averages() -> Sequence[Sample]:
    a, w = sampling.spread((3, 4)), sampling.spread((3, 4), 0.2, 1.5, seed=1)
    weighted = [sample(a, 0, w, True), sample(a, None, w, returned=True, keepdims=True)]
    return [*sampling.AVERAGES(), *weighted, sample(a, 1, w[0], True), sample(a, 0, returned=True)]


@rule(
    np.average,
    wrt=["a", "weights"],
    jvp=_average_jvp,
    samples=_averages,
    infer=infer.axes.averaged,
    gives=(tuple, np.ndarray),
)
def average(
    z: Any,
    z_bar: Any,
    a: Array,
    axis: Axis = None,
    weights: Array = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Array:
    if returned is False and weights is None:
        return unreduce(z_bar / count(np.shape(a), axis), np.shape(a), axis, keepdims), 0.0
    bars = average_adjoints(z_bar, z, a, axis, weights, keepdims, returned)
    return bars[0], bars[1]
