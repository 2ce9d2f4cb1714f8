"""Rules of correlations, lines and t-tests of ``scipy.stats``: of the statistics, and of the p-values by these.

A statistic has its derivatives by the numbers of each sample (``*_slopes``), a p-value that by the statistic, which is
a density.  In ranks there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from s2sad.ops import infer
from s2sad.ops.sampling import spread
from s2sad.ops.spec import Sample, constant, rule, sample
from s2sad.runtime.arrays import count, unbroadcast
from s2sad.runtime.linear import like
from s2sad.runtime.scipy.comparisons import (
    correlation_density,
    correlation_slopes,
    degrees,
    line_adjoints,
    line_tangents,
    one_sample_slopes,
    related_slopes,
    t_parts,
    t_rate,
    tail_slope,
    two_samples_slopes,
)
from s2sad.runtime.scipy.summaries import paired_part, per_number, summed_as, unpaired

Array = Any
Axis = Any


def _pairs() -> Sequence[Sample]:
    x, y = spread((4, 5)), spread((4, 5), seed=1)
    return [
        sample(x[0], y[0]),
        sample(x[0], y[0], alternative="less"),
        sample(x[0], y[0], alternative="greater"),
        sample(list(x[0]), list(y[0])),
    ]


def _rows() -> Sequence[Sample]:
    x, y = spread((4, 5)), spread((4, 5), seed=1)
    return [
        *_pairs(),
        sample(x, y),
        sample(x, y, axis=1),
        sample(x, y[0], axis=1),
        sample(x, y[:, :1]),
        sample(x, y[None], axis=2),
    ]


# --- correlations and lines


def _pearsonr_jvp(
    x_dot: Array, y_dot: Array, z: Any, x: Array, y: Array, *, alternative: str = "two-sided", axis: int = 0
) -> tuple[Array, Array]:
    by_x, by_y = correlation_slopes(x, y, axis)
    moved = summed_as(z[0], paired_part(by_x, x_dot, axis) + paired_part(by_y, y_dot, axis), axis)
    return moved, moved * tail_slope(correlation_density(z[0], count(np.shape(by_x), axis)), z[0], alternative)


@rule(
    stats.pearsonr,
    wrt=["x", "y"],
    jvp=_pearsonr_jvp,
    samples=_rows,
    infer=infer.scipy.statistics("statistic", "pvalue"),
    dtype="unknown",
    real_only=True,
    gives=(tuple,),
)
def pearsonr(
    z: Any, z_bar: Any, x: Array, y: Array, *, alternative: str = "two-sided", axis: int = 0
) -> tuple[Array, Array]:
    by_x, by_y = correlation_slopes(x, y, axis)
    density = correlation_density(z[0], count(np.shape(by_x), axis))
    g = per_number(z_bar[0] + z_bar[1] * tail_slope(density, z[0], alternative), by_x, axis)
    return like(unpaired(g * by_x, x, axis), x), like(unpaired(g * by_y, y, axis), y)


def _linregress_jvp(
    x_dot: Array, y_dot: Array, z: Any, x: Array, y: Array, alternative: str = "two-sided"
) -> tuple[Array, Array, Array, Array, Array]:
    slope, intercept, rvalue, pvalue, stderr = line_tangents(x_dot, y_dot, z, x, y, alternative)
    return slope, intercept, rvalue, pvalue, stderr


@rule(
    stats.linregress,
    wrt=["x", "y"],
    jvp=_linregress_jvp,
    samples=_pairs,
    infer=infer.scipy.statistics("slope", "intercept", "rvalue", "pvalue", "stderr"),
    dtype="unknown",
    real_only=True,
    gives=(tuple,),
)
def linregress(z: Any, z_bar: Any, x: Array, y: Array, alternative: str = "two-sided") -> tuple[Array, Array]:
    x_bar, y_bar = line_adjoints(z_bar, z, x, y, alternative)
    return like(x_bar, x), like(y_bar, y)


# --- tests


def _one_sample() -> Sequence[Sample]:
    a = spread((4, 5))
    return [
        sample(a[0], 0.3),
        sample(a, 0.3),
        sample(a, 0.3, 1, alternative="less"),
        sample(a, spread((1, 5), seed=1)),
        sample(a, spread((2, 1, 1), seed=1), 1),
        sample(a, 0.3, None, alternative="greater", keepdims=True),
        sample(list(a[0]), 0.3),
    ]


def _one_sample_jvp(
    a_dot: Array,
    popmean_dot: Array,
    z: Any,
    a: Array,
    popmean: Any,
    axis: Axis = 0,
    *,
    alternative: str = "two-sided",
    keepdims: bool = False,
) -> tuple[Array, Array]:
    by_a, by_mean = one_sample_slopes(a, popmean, axis)
    moved = np.sum(by_a * a_dot, axis=axis, keepdims=keepdims)
    moved = moved + np.sum(by_mean * popmean_dot, axis=axis, keepdims=keepdims)
    statistic, pvalue = t_parts(moved, z, count(np.shape(by_a), axis) - 1, alternative)
    return statistic, pvalue


@rule(
    stats.ttest_1samp,
    wrt=["a", "popmean"],
    jvp=_one_sample_jvp,
    samples=_one_sample,
    infer=infer.scipy.statistics("statistic", "pvalue"),
    dtype="unknown",
    real_only=True,
    gives=(tuple,),
)
def ttest_1samp(
    z: Any,
    z_bar: Any,
    a: Array,
    popmean: Any,
    axis: Axis = 0,
    *,
    alternative: str = "two-sided",
    keepdims: bool = False,
) -> tuple[Array, Array]:
    by_a, by_mean = one_sample_slopes(a, popmean, axis)
    g = t_rate(z_bar, z, count(np.shape(by_a), axis) - 1, alternative)
    popmean_bar = unbroadcast(np.reshape(g, np.shape(by_mean)) * by_mean, np.shape(popmean))
    a_bar = unbroadcast(per_number(g, by_a, axis, keepdims) * by_a, np.shape(a))
    return like(a_bar, a), like(popmean_bar, popmean)


def _two_samples() -> Sequence[Sample]:
    a, b = spread((4, 5)), spread((6, 5), seed=1)
    return [
        sample(a[0], b[0]),
        sample(a, b),
        sample(a, b[:3], alternative="less"),
        sample(a, b[:, :1]),
        sample(a, b[0], axis=1),
        sample(a, b[:4, :4], axis=1, alternative="greater"),
        sample(list(a[0]), list(b[0])),
    ]


def _two_samples_jvp(
    a_dot: Array,
    b_dot: Array,
    z: Any,
    a: Array,
    b: Array,
    *,
    axis: Axis = 0,
    alternative: str = "two-sided",
    keepdims: bool = False,
) -> tuple[Array, Array]:
    by_a, by_b = two_samples_slopes(a, b, axis)
    moved = np.sum(by_a * a_dot, axis=axis, keepdims=keepdims) + np.sum(by_b * b_dot, axis=axis, keepdims=keepdims)
    statistic, pvalue = t_parts(moved, z, degrees(a, b, axis), alternative)
    return statistic, pvalue


@rule(
    stats.ttest_ind,
    wrt=["a", "b"],
    jvp=_two_samples_jvp,
    samples=_two_samples,
    infer=infer.scipy.statistics("statistic", "pvalue"),
    dtype="unknown",
    real_only=True,
    gives=(tuple,),
)
def ttest_ind(
    z: Any,
    z_bar: Any,
    a: Array,
    b: Array,
    *,
    axis: Axis = 0,
    alternative: str = "two-sided",
    keepdims: bool = False,
) -> tuple[Array, Array]:
    g = t_rate(z_bar, z, degrees(a, b, axis), alternative)
    by_a, by_b = two_samples_slopes(a, b, axis)
    a_bar = unbroadcast(per_number(g, by_a, axis, keepdims) * by_a, np.shape(a))
    b_bar = unbroadcast(per_number(g, by_b, axis, keepdims) * by_b, np.shape(b))
    return like(a_bar, a), like(b_bar, b)


def _related() -> Sequence[Sample]:
    a, b = spread((4, 5)), spread((4, 5), seed=1)
    return [
        sample(a[0], b[0]),
        sample(a, b),
        sample(a, b, 1, alternative="less"),
        sample(a, b, keepdims=True),
        sample(a, b[:, :1]),
        sample(a, np.stack([b, b[::-1]]), 1),
        sample(a, b.T, None, keepdims=True),
    ]


def _related_jvp(
    a_dot: Array,
    b_dot: Array,
    z: Any,
    a: Array,
    b: Array,
    axis: Axis = 0,
    *,
    alternative: str = "two-sided",
    keepdims: bool = False,
) -> tuple[Array, Array]:
    slopes = related_slopes(a, b, axis)
    moved = summed_as(z[0], paired_part(slopes, a_dot, axis) - paired_part(slopes, b_dot, axis), axis)
    statistic, pvalue = t_parts(moved, z, count(np.shape(slopes), axis) - 1, alternative)
    return statistic, pvalue


@rule(
    stats.ttest_rel,
    wrt=["a", "b"],
    jvp=_related_jvp,
    samples=_related,
    infer=infer.scipy.statistics("statistic", "pvalue"),
    dtype="unknown",
    real_only=True,
    gives=(tuple,),
)
def ttest_rel(
    z: Any,
    z_bar: Any,
    a: Array,
    b: Array,
    axis: Axis = 0,
    *,
    alternative: str = "two-sided",
    keepdims: bool = False,
) -> tuple[Array, Array]:
    slopes = related_slopes(a, b, axis)
    g = t_rate(z_bar, z, count(np.shape(slopes), axis) - 1, alternative)
    g = per_number(g, slopes, axis, keepdims) * slopes
    return like(unpaired(g, a, axis), a), like(-unpaired(g, b, axis), b)


# --- ranks

constant(stats.rankdata, signature=lambda a, method="average", *, axis=None, nan_policy="propagate": None)
constant(stats.spearmanr, signature=lambda a, b=None, axis=0, nan_policy="propagate", alternative="two-sided": None)
