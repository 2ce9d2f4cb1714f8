"""Rules of reductions, cumulative functions and averages.

``max`` and ``min`` share the adjoint equally among equal extremes.  ``std`` has
no derivative where the deviation is 0: the adjoint there is NaN, as in JAX,
unless that of the deviation is 0 too.
A parameter after ``*`` is taken by keyword only: those that stand before it in
the NumPy function (``out`` above all) have no rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.spec import Function, Sample, linear, real, rule, sample
from s2sad.runtime.arrays import (
    Axis,
    align_weights,
    count,
    count_numbers,
    mean_ties,
    share_ties,
    unalign_weights,
    unreduce,
)
from s2sad.runtime.edges import quotient
from s2sad.runtime.scans import (
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


@linear(np.sum, wrt=["a"], samples=sampling.SUMS, infer=infer.axes.reduced, odd=1)
def sum(z_bar: Array, a: Array, axis: Axis = None, dtype: DType = None, *, keepdims: bool = False) -> Array:
    return unreduce(z_bar, np.shape(a), axis, keepdims)


@linear(np.mean, wrt=["a"], samples=sampling.MEANS, infer=infer.axes.reduced)
def mean(z_bar: Array, a: Array, axis: Axis = None, dtype: DType = None, *, keepdims: bool = False) -> Array:
    return unreduce(z_bar / count(np.shape(a), axis), np.shape(a), axis, keepdims)


def _nansum_jvp(a_dot: Array, a: Array, axis: Axis, dtype: DType, keepdims: bool) -> Array:
    return np.sum(np.where(np.isnan(a), 0, a_dot), axis=axis, dtype=dtype, keepdims=keepdims)


@rule(np.nansum, wrt=["a"], jvp=_nansum_jvp, samples=sampling.NAN_REDUCTIONS, infer=infer.axes.reduced)
def nansum(z_bar: Array, a: Array, axis: Axis = None, dtype: DType = None, *, keepdims: bool = False) -> Array:
    return np.where(np.isnan(a), 0, unreduce(z_bar, np.shape(a), axis, keepdims))


def _nanmean_jvp(a_dot: Array, a: Array, axis: Axis, dtype: DType, keepdims: bool) -> Array:
    total = np.sum(np.where(np.isnan(a), 0, a_dot), axis=axis, dtype=dtype, keepdims=keepdims)
    return total / count_numbers(a, axis, keepdims)


@rule(np.nanmean, wrt=["a"], jvp=_nanmean_jvp, samples=sampling.NAN_REDUCTIONS, infer=infer.axes.reduced)
def nanmean(z_bar: Array, a: Array, axis: Axis = None, dtype: DType = None, *, keepdims: bool = False) -> Array:
    share = unreduce(z_bar / count_numbers(a, axis, keepdims), np.shape(a), axis, keepdims)
    return np.where(np.isnan(a), 0, share)


# --- spread ---


def _var_jvp(a_dot: Array, a: Array, axis: Axis, dtype: DType, ddof: float, keepdims: bool) -> Array:
    d = a - np.mean(a, axis=axis, dtype=dtype, keepdims=True)
    total = np.sum(np.real(np.conj(d) * a_dot), axis=axis, keepdims=keepdims)
    return 2 * total / (count(np.shape(a), axis) - ddof)


@rule(np.var, wrt=["a"], jvp=_var_jvp, samples=sampling.VARIANCES, infer=infer.axes.reduced)
def var(
    z_bar: Array, a: Array, axis: Axis = None, dtype: DType = None, *, ddof: float = 0, keepdims: bool = False
) -> Array:
    d = a - np.mean(a, axis=axis, dtype=dtype, keepdims=True)
    if real(a):
        return unreduce(2 * z_bar, np.shape(a), axis, keepdims) * d / (count(np.shape(a), axis) - ddof)
    share = unreduce(2 * np.real(z_bar), np.shape(a), axis, keepdims)
    return share * np.conj(d) / (count(np.shape(a), axis) - ddof)


def _std_jvp(a_dot: Array, z: Array, a: Array, axis: Axis, dtype: DType, ddof: float, keepdims: bool) -> Array:
    d = a - np.mean(a, axis=axis, dtype=dtype, keepdims=True)
    total = np.sum(np.real(np.conj(d) * a_dot), axis=axis, keepdims=keepdims)
    return total / z / (count(np.shape(a), axis) - ddof)


@rule(np.std, wrt=["a"], jvp=_std_jvp, samples=sampling.DEVIATIONS, infer=infer.axes.reduced)
def std(
    z: Array,
    z_bar: Array,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    *,
    ddof: float = 0,
    keepdims: bool = False,
) -> Array:
    d = a - np.mean(a, axis=axis, dtype=dtype, keepdims=True)
    if real(a):
        return unreduce(quotient(z_bar, z), np.shape(a), axis, keepdims) * d / (count(np.shape(a), axis) - ddof)
    share = unreduce(quotient(np.real(z_bar), z), np.shape(a), axis, keepdims)
    return share * np.conj(d) / (count(np.shape(a), axis) - ddof)


def _nanvar_jvp(a_dot: Array, a: Array, axis: Axis, dtype: DType, ddof: float, keepdims: bool) -> Array:
    d = np.where(np.isnan(a), 0, a - np.nanmean(a, axis=axis, dtype=dtype, keepdims=True))
    total = np.sum(np.where(np.isnan(a), 0, np.real(np.conj(d) * a_dot)), axis=axis, keepdims=keepdims)
    return 2 * total / (count_numbers(a, axis, keepdims) - ddof)


@rule(np.nanvar, wrt=["a"], jvp=_nanvar_jvp, samples=sampling.NAN_VARIANCES, infer=infer.axes.reduced)
def nanvar(
    z_bar: Array, a: Array, axis: Axis = None, dtype: DType = None, *, ddof: float = 0, keepdims: bool = False
) -> Array:
    d = np.where(np.isnan(a), 0, a - np.nanmean(a, axis=axis, dtype=dtype, keepdims=True))
    share = 2 * np.real(z_bar) / (count_numbers(a, axis, keepdims) - ddof)
    return unreduce(share, np.shape(a), axis, keepdims) * np.conj(d)


def _nanstd_jvp(a_dot: Array, z: Array, a: Array, axis: Axis, dtype: DType, ddof: float, keepdims: bool) -> Array:
    d = np.where(np.isnan(a), 0, a - np.nanmean(a, axis=axis, dtype=dtype, keepdims=True))
    total = np.sum(np.where(np.isnan(a), 0, np.real(np.conj(d) * a_dot)), axis=axis, keepdims=keepdims)
    return total / z / (count_numbers(a, axis, keepdims) - ddof)


@rule(np.nanstd, wrt=["a"], jvp=_nanstd_jvp, samples=sampling.NAN_DEVIATIONS, infer=infer.axes.reduced)
def nanstd(
    z: Array,
    z_bar: Array,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    *,
    ddof: float = 0,
    keepdims: bool = False,
) -> Array:
    d = np.where(np.isnan(a), 0, a - np.nanmean(a, axis=axis, dtype=dtype, keepdims=True))
    share = quotient(np.real(z_bar), z) / (count_numbers(a, axis, keepdims) - ddof)
    return unreduce(share, np.shape(a), axis, keepdims) * np.conj(d)


# --- extremes ---


def _extreme_jvp(a_dot: Array, z: Array, a: Array, axis: Axis, keepdims: bool) -> Array:
    return mean_ties(a_dot, a, z, axis, keepdims)


def _extreme(function: Function, samples: Function = sampling.REDUCTIONS) -> Function:
    return rule(function, wrt=["a"], jvp=_extreme_jvp, samples=samples, infer=infer.axes.reduced)


@_extreme(np.max)
def max(z: Array, z_bar: Array, a: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    return share_ties(z_bar, a, z, axis, keepdims)


_extreme(np.min)(max)
_extreme(np.amax)(max)
_extreme(np.amin)(max)
_extreme(np.nanmax, sampling.NAN_REDUCTIONS)(max)
_extreme(np.nanmin, sampling.NAN_REDUCTIONS)(max)


def _ptp_jvp(a_dot: Array, a: Array, axis: Axis, keepdims: bool) -> Array:
    high = mean_ties(a_dot, a, np.max(a, axis=axis, keepdims=keepdims), axis, keepdims)
    return high - mean_ties(a_dot, a, np.min(a, axis=axis, keepdims=keepdims), axis, keepdims)


@rule(np.ptp, wrt=["a"], jvp=_ptp_jvp, samples=sampling.REDUCTIONS, infer=infer.axes.reduced)
def ptp(z_bar: Array, a: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    high = share_ties(z_bar, a, np.max(a, axis=axis, keepdims=keepdims), axis, keepdims)
    return high - share_ties(z_bar, a, np.min(a, axis=axis, keepdims=keepdims), axis, keepdims)


# --- products ---


def _prod_jvp(a_dot: Array, a: Array, axis: Axis, dtype: DType, keepdims: bool) -> Array:
    return np.sum(a_dot * other_products(a, axis), axis=axis, dtype=dtype, keepdims=keepdims)


@rule(np.prod, wrt=["a"], jvp=_prod_jvp, samples=sampling.PRODUCTS, infer=infer.axes.reduced)
def prod(z_bar: Array, a: Array, axis: Axis = None, dtype: DType = None, *, keepdims: bool = False) -> Array:
    return unreduce(z_bar, np.shape(a), axis, keepdims) * other_products(a, axis)


def _nanprod_jvp(a_dot: Array, a: Array, axis: Axis, dtype: DType, keepdims: bool) -> Array:
    others = other_products(np.where(np.isnan(a), 1, a), axis)
    return np.sum(np.where(np.isnan(a), 0, a_dot * others), axis=axis, dtype=dtype, keepdims=keepdims)


@rule(np.nanprod, wrt=["a"], jvp=_nanprod_jvp, samples=sampling.NAN_REDUCTIONS, infer=infer.axes.reduced)
def nanprod(z_bar: Array, a: Array, axis: Axis = None, dtype: DType = None, *, keepdims: bool = False) -> Array:
    others = other_products(np.where(np.isnan(a), 1, a), axis)
    return np.where(np.isnan(a), 0, unreduce(z_bar, np.shape(a), axis, keepdims) * others)


# --- cumulative functions ---


@linear(np.cumsum, wrt=["a"], samples=sampling.SCANS, infer=infer.axes.scan)
def cumsum(z_bar: Array, a: Array, axis: int | None = None, dtype: DType = None) -> Array:
    return np.reshape(np.flip(np.cumsum(np.flip(z_bar, axis), axis), axis), np.shape(a))


def _nancumsum_jvp(a_dot: Array, a: Array, axis: int | None, dtype: DType) -> Array:
    return np.cumsum(np.where(np.isnan(a), 0, a_dot), axis=axis, dtype=dtype)


@rule(np.nancumsum, wrt=["a"], jvp=_nancumsum_jvp, samples=sampling.NAN_SCANS, infer=infer.axes.scan)
def nancumsum(z_bar: Array, a: Array, axis: int | None = None, dtype: DType = None) -> Array:
    a_bar = np.reshape(np.flip(np.cumsum(np.flip(z_bar, axis), axis), axis), np.shape(a))
    return np.where(np.isnan(a), 0, a_bar)


def _cumprod_jvp(a_dot: Array, z: Array, a: Array, axis: int | None, dtype: DType) -> Array:
    x = merge_axes(a, axis)
    x_dot = recurrence(products_before(x) * merge_axes(a_dot, axis), x)
    return split_axes(x_dot, np.shape(z), axis)


@rule(np.cumprod, wrt=["a"], jvp=_cumprod_jvp, samples=sampling.SCANS, infer=infer.axes.scan)
def cumprod(z_bar: Array, a: Array, axis: int | None = None, dtype: DType = None) -> Array:
    x = merge_axes(a, axis)
    x_bar = products_before(x) * backward_recurrence(merge_axes(z_bar, axis), x)
    return split_axes(x_bar, np.shape(a), axis)


def _nancumprod_jvp(a_dot: Array, z: Array, a: Array, axis: int | None, dtype: DType) -> Array:
    x = merge_axes(np.where(np.isnan(a), 1, a), axis)
    x_dot = recurrence(products_before(x) * merge_axes(np.where(np.isnan(a), 0, a_dot), axis), x)
    return split_axes(x_dot, np.shape(z), axis)


@rule(np.nancumprod, wrt=["a"], jvp=_nancumprod_jvp, samples=sampling.NAN_SCANS, infer=infer.axes.scan)
def nancumprod(z_bar: Array, a: Array, axis: int | None = None, dtype: DType = None) -> Array:
    x = merge_axes(np.where(np.isnan(a), 1, a), axis)
    x_bar = products_before(x) * backward_recurrence(merge_axes(z_bar, axis), x)
    return np.where(np.isnan(a), 0, split_axes(x_bar, np.shape(a), axis))


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
    first = np.zeros_like(a_dot, shape=(*np.shape(a_dot)[:-1], int(include_initial)))
    return split_axes(np.concatenate((first, a_dot), axis=-1), np.shape(z), axis)


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
            return np.flip(np.cumsum(np.flip(z_bar, axis), axis), axis)
        if include_initial is True:
            return np.delete(np.flip(np.cumsum(np.flip(z_bar, axis), axis), axis), 0, axis)
        return np.delete(np.flip(np.cumsum(np.flip(z_bar, axis), axis), axis), range(include_initial), axis)

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
    a_dot: Array, weights_dot: Array, z: Array, a: Array, axis: Axis, weights: Array, keepdims: bool
) -> Array:
    if weights is None:
        return np.mean(a_dot, axis=axis, keepdims=keepdims)
    w = align_weights(weights, np.shape(a), axis)
    w_dot = align_weights(weights_dot, np.shape(a), axis)
    shifted = a_dot * w + (a - unreduce(z, np.shape(a), axis, keepdims)) * w_dot
    return np.sum(shifted, axis=axis, keepdims=keepdims) / np.sum(w, axis=axis, keepdims=keepdims)


@rule(np.average, wrt=["a", "weights"], jvp=_average_jvp, samples=sampling.AVERAGES, infer=infer.axes.reduced)
def average(
    z: Array, z_bar: Array, a: Array, axis: Axis = None, weights: Array = None, *, keepdims: bool = False
) -> Array:
    if weights is None:
        return unreduce(z_bar / count(np.shape(a), axis), np.shape(a), axis, keepdims), 0.0
    w = align_weights(weights, np.shape(a), axis)
    share = unreduce(z_bar / np.sum(w, axis=axis, keepdims=keepdims), np.shape(a), axis, keepdims)
    w_bar = share * (a - unreduce(z, np.shape(a), axis, keepdims))
    return share * w, unalign_weights(w_bar, np.shape(weights), axis)
