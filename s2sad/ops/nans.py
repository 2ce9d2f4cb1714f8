"""Rules of the reductions and cumulative functions that leave NaN out.

What is NaN gets zero, whatever the adjoint; a slice of NaN alone has no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.ops import infer, masked, sampling
from s2sad.ops.reductions import spread
from s2sad.ops.spec import rule
from s2sad.runtime.arrays import Axis, count_here, deviation, unbroadcast, unreduce
from s2sad.runtime.edges import quotient_or_zero
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


def _nansum_jvp(
    a_dot: Array,
    initial_dot: Array,
    a: Array,
    axis: Axis,
    dtype: DType,
    keepdims: bool,
    initial: Array = 0,
    where: Any = True,
) -> Array:
    here = ~np.isnan(a) & where
    return np.sum(np.where(here, a_dot, 0), axis=axis, dtype=dtype, keepdims=keepdims, initial=initial_dot)


@rule(
    np.nansum,
    wrt=["a", "initial"],
    jvp=_nansum_jvp,
    samples=masked.MASKED_NAN_SUMS,
    infer=infer.axes.reduced,
    steps=frozenset({"where"}),
    reads_first=True,
)
def nansum(
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
        return np.where(np.isnan(a), 0, unreduce(z_bar, np.shape(a), axis, keepdims)), np.sum(z_bar)
    return np.where(~np.isnan(a) & where, unreduce(z_bar, np.shape(a), axis, keepdims), 0), np.sum(z_bar)


def _nanmean_jvp(a_dot: Array, a: Array, axis: Axis, dtype: DType, keepdims: bool, where: Any = True) -> Array:
    here = ~np.isnan(a) & where
    total = np.sum(np.where(here, a_dot, 0), axis=axis, dtype=dtype, keepdims=keepdims)
    return total / count_here(here, a, axis, keepdims)


@rule(
    np.nanmean,
    wrt=["a"],
    jvp=_nanmean_jvp,
    samples=masked.MASKED_NAN_MEANS,
    infer=infer.axes.reduced,
    steps=frozenset({"where"}),
    reads_first=True,
)
def nanmean(
    z_bar: Array, a: Array, axis: Axis = None, dtype: DType = None, *, keepdims: bool = False, where: Any = True
) -> Array:
    if where is True:
        share = z_bar / count_here(~np.isnan(a), a, axis, keepdims)
        return np.where(np.isnan(a), 0, unreduce(share, np.shape(a), axis, keepdims))
    here = ~np.isnan(a) & where
    return np.where(here, unreduce(z_bar / count_here(here, a, axis, keepdims), np.shape(a), axis, keepdims), 0)


# --- spread ---


def _nanvar_jvp(
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
    here = ~np.isnan(a) & where
    moved = 2 * spread(a_dot, mean_dot, a, axis, ddof, keepdims, mean, here)
    return moved + ddof_dot * (z / (count_here(here, a, axis, keepdims) - ddof))


@rule(
    np.nanvar,
    wrt=["a", "mean", "ddof"],
    jvp=_nanvar_jvp,
    samples=masked.MASKED_NAN_VARIANCES,
    infer=infer.axes.reduced,
    steps=frozenset({"where"}),
    aliases={"correction": "ddof"},
    reads_first=True,
)
def nanvar(
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
    here = ~np.isnan(a) & where
    part = np.real(z_bar) / (count_here(here, a, axis, keepdims) - ddof)
    share = unreduce(2 * part, np.shape(a), axis, keepdims)
    if mean is None:
        d = np.where(here, a - np.mean(a, axis=axis, dtype=dtype, keepdims=True, where=here), 0)
        return np.where(here, share * np.conj(d), 0), 0.0, np.sum(part * z)
    a_bar = np.where(here, share * np.conj(deviation(a, mean)), 0)
    return a_bar, unbroadcast(-a_bar, np.shape(mean)), np.sum(part * z)


def _nanstd_jvp(
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
    here = ~np.isnan(a) & where
    moved = quotient_or_zero(spread(a_dot, mean_dot, a, axis, ddof, keepdims, mean, here), z)
    return moved + ddof_dot * (z / (2 * (count_here(here, a, axis, keepdims) - ddof)))


@rule(
    np.nanstd,
    wrt=["a", "mean", "ddof"],
    jvp=_nanstd_jvp,
    samples=masked.MASKED_NAN_DEVIATIONS,
    infer=infer.axes.reduced,
    steps=frozenset({"where"}),
    aliases={"correction": "ddof"},
    reads_first=True,
)
def nanstd(
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
    here = ~np.isnan(a) & where
    g, n = np.real(z_bar), count_here(here, a, axis, keepdims) - ddof
    share = unreduce(quotient_or_zero(g, z) / n, np.shape(a), axis, keepdims)
    if mean is None:
        d = np.where(here, a - np.mean(a, axis=axis, dtype=dtype, keepdims=True, where=here), 0)
        return np.where(here, share * np.conj(d), 0), 0.0, np.sum(g * z / (2 * n))
    a_bar = np.where(here, share * np.conj(deviation(a, mean)), 0)
    return a_bar, unbroadcast(-a_bar, np.shape(mean)), np.sum(g * z / (2 * n))


# --- products ---


def _nanprod_jvp(
    a_dot: Array,
    initial_dot: Array,
    a: Array,
    axis: Axis,
    dtype: DType,
    keepdims: bool,
    initial: Array = 1,
    where: Any = True,
) -> Array:
    here = ~np.isnan(a) & where
    others = other_products(np.where(here, a, 1), axis)
    total = np.sum(np.where(here, a_dot * others, 0), axis=axis, dtype=dtype, keepdims=keepdims)
    return initial * total + initial_dot * np.prod(a, axis=axis, dtype=dtype, keepdims=keepdims, where=here)


@rule(
    np.nanprod,
    wrt=["a", "initial"],
    jvp=_nanprod_jvp,
    samples=masked.MASKED_NAN_PRODUCTS,
    infer=infer.axes.reduced,
    steps=frozenset({"where"}),
    reads_first=True,
)
def nanprod(
    z_bar: Array,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    *,
    keepdims: bool = False,
    initial: Array = 1,
    where: Any = True,
) -> tuple[Array, Array]:
    here = ~np.isnan(a) & where
    others = other_products(np.where(here, a, 1), axis)
    whole = np.prod(a, axis=axis, dtype=dtype, keepdims=keepdims, where=here)
    share = unreduce(z_bar * initial, np.shape(a), axis, keepdims) * others
    return np.where(here, share, 0), np.sum(z_bar * whole)


# --- cumulative functions ---


def _nancumsum_jvp(a_dot: Array, a: Array, axis: int | None, dtype: DType) -> Array:
    return np.cumsum(np.where(np.isnan(a), 0, a_dot), axis=axis, dtype=dtype)


@rule(np.nancumsum, wrt=["a"], jvp=_nancumsum_jvp, samples=sampling.NAN_SCANS, infer=infer.axes.scan, reads_first=True)
def nancumsum(z_bar: Array, a: Array, axis: int | None = None, dtype: DType = None) -> Array:
    a_bar = np.reshape(np.flip(np.cumsum(np.flip(z_bar, axis), axis), axis), np.shape(a))
    return np.where(np.isnan(a), 0, a_bar)


def _nancumprod_jvp(a_dot: Array, z: Array, a: Array, axis: int | None, dtype: DType) -> Array:
    x = merge_axes(np.where(np.isnan(a), 1, a), axis)
    x_dot = recurrence(products_before(x) * merge_axes(np.where(np.isnan(a), 0, a_dot), axis), x)
    return split_axes(x_dot, np.shape(z), axis)


@rule(
    np.nancumprod, wrt=["a"], jvp=_nancumprod_jvp, samples=sampling.NAN_SCANS, infer=infer.axes.scan, reads_first=True
)
def nancumprod(z_bar: Array, a: Array, axis: int | None = None, dtype: DType = None) -> Array:
    x = merge_axes(np.where(np.isnan(a), 1, a), axis)
    x_bar = products_before(x) * backward_recurrence(merge_axes(z_bar, axis), x)
    return np.where(np.isnan(a), 0, split_axes(x_bar, np.shape(a), axis))
