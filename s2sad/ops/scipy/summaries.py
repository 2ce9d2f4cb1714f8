"""Rules of the summary statistics of ``scipy.stats``: means, moments, scores, entropies.

Of one statistic for each slice along an axis, they are products with its derivatives by the numbers of the slice
(``*_slopes``).  Only what ``nan_policy="propagate"`` does has a derivative here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from s2sad.ops import infer
from s2sad.ops.sampling import spread
from s2sad.ops.spec import Sample, Samples, rule, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.linear import like
from s2sad.runtime.scipy.summaries import (
    center_slopes,
    entropy_slopes,
    gstd_slopes,
    kurtosis_slopes,
    moment_slopes,
    paired_part,
    per_number,
    pmean_by_power,
    pmean_by_weights,
    pmean_slopes,
    scores_adjoint,
    scores_tangent,
    sem_slopes,
    skew_slopes,
    summed_as,
    unpaired,
    variation_slopes,
)

Array = Any
Axis = Any


def _positive(*shape: int, seed: int = 0) -> Any:
    return spread(shape, 0.4, 3.0, seed=seed)


def along(*more: dict[str, Any], low: bool = True) -> Samples:
    """Positive samples along every axis, with further options."""

    def points() -> Sequence[Sample]:
        a = _positive(4, 5)
        found = [
            sample(_positive(6)),
            sample(a),
            sample(a, axis=1),
            sample(a, axis=-1, keepdims=True),
            sample(a, axis=None),
            sample(_positive(2, 4, 5), axis=(0, 2)),
            sample([0.5, 1.5, 2.5, 0.7]),
            *(sample(a, **options) for options in more),
        ]
        return [*found, sample(_positive(5).astype(np.float32))] if low else found

    return points


# --- means


def _weighted() -> Sequence[Sample]:
    a, w = _positive(4, 5), _positive(4, 5, seed=1)
    return [
        *along()(),
        sample(a, weights=w),
        sample(a[0], weights=w[0]),
        sample(a, axis=None, weights=w),
        sample(a, axis=1, weights=w[0]),
        sample(a[:1], weights=w),
        sample(a[0], weights=w),
        sample(a, axis=None, weights=w.T, keepdims=True),
        sample(np.stack([a, w]), axis=1, weights=w, keepdims=True),
    ]


def _gmean_jvp(
    a_dot: Array,
    weights_dot: Array,
    z: Array,
    a: Array,
    axis: Axis = 0,
    dtype: Any = None,
    weights: Array = None,
    *,
    keepdims: bool = False,
) -> Array:
    if weights is None:
        return np.sum(pmean_slopes(a, 0, axis) * a_dot, axis=axis, keepdims=keepdims)
    parts = paired_part(pmean_slopes(a, 0, axis, weights), a_dot, axis)
    parts = parts + paired_part(pmean_by_weights(a, 0, axis, weights), weights_dot, axis)
    return summed_as(z, parts, axis)


@rule(
    stats.gmean,
    wrt=["a", "weights"],
    jvp=_gmean_jvp,
    samples=_weighted,
    infer=infer.axes.reduced_in_pairs,
    dtype="unknown",
    real_only=True,
)
def gmean(
    z_bar: Array, a: Array, axis: Axis = 0, dtype: Any = None, weights: Array = None, *, keepdims: bool = False
) -> tuple[Array, Array]:
    if weights is None:
        return like(per_number(z_bar, a, axis, keepdims) * pmean_slopes(a, 0, axis), a), None
    slopes = pmean_slopes(a, 0, axis, weights)
    g = per_number(z_bar, slopes, axis, keepdims)
    w_bar = unpaired(g * pmean_by_weights(a, 0, axis, weights), weights, axis)
    return like(unpaired(g * slopes, a, axis), a), like(w_bar, weights)


def _hmean_jvp(
    a_dot: Array,
    weights_dot: Array,
    z: Array,
    a: Array,
    axis: Axis = 0,
    dtype: Any = None,
    *,
    weights: Array = None,
    keepdims: bool = False,
) -> Array:
    if weights is None:
        return np.sum(pmean_slopes(a, -1, axis) * a_dot, axis=axis, keepdims=keepdims)
    parts = paired_part(pmean_slopes(a, -1, axis, weights), a_dot, axis)
    parts = parts + paired_part(pmean_by_weights(a, -1, axis, weights), weights_dot, axis)
    return summed_as(z, parts, axis)


@rule(
    stats.hmean,
    wrt=["a", "weights"],
    jvp=_hmean_jvp,
    samples=_weighted,
    infer=infer.axes.reduced_in_pairs,
    dtype="unknown",
    real_only=True,
)
def hmean(
    z_bar: Array, a: Array, axis: Axis = 0, dtype: Any = None, *, weights: Array = None, keepdims: bool = False
) -> tuple[Array, Array]:
    if weights is None:
        return like(per_number(z_bar, a, axis, keepdims) * pmean_slopes(a, -1, axis), a), None
    slopes = pmean_slopes(a, -1, axis, weights)
    g = per_number(z_bar, slopes, axis, keepdims)
    w_bar = unpaired(g * pmean_by_weights(a, -1, axis, weights), weights, axis)
    return like(unpaired(g * slopes, a, axis), a), like(w_bar, weights)


def _powers() -> Sequence[Sample]:
    found = [Sample((s.args[0], p), s.kwargs) for s in _weighted() for p in (2.5, -1.0, 0.0)]
    return [*found[::2], sample(_positive(4), 2), sample(_positive(4), 0.0)]


def _pmean_jvp(
    a_dot: Array,
    p_dot: Array,
    weights_dot: Array,
    z: Array,
    a: Array,
    p: Any,
    *,
    axis: Axis = 0,
    dtype: Any = None,
    weights: Array = None,
    keepdims: bool = False,
) -> Array:
    parts = paired_part(pmean_slopes(a, p, axis, weights), a_dot, axis)
    parts = parts + paired_part(pmean_by_power(a, p, axis, weights), p_dot, axis)
    if weights is None:
        return summed_as(z, parts, axis)
    parts = parts + paired_part(pmean_by_weights(a, p, axis, weights), weights_dot, axis)
    return summed_as(z, parts, axis)


@rule(
    stats.pmean,
    wrt=["a", "p", "weights"],
    jvp=_pmean_jvp,
    samples=_powers,
    infer=infer.axes.reduced_in_pairs,
    dtype="unknown",
    real_only=True,
)
def pmean(
    z_bar: Array,
    a: Array,
    p: Any,
    *,
    axis: Axis = 0,
    dtype: Any = None,
    weights: Array = None,
    keepdims: bool = False,
) -> tuple[Array, Array, Array]:
    slopes = pmean_slopes(a, p, axis, weights)
    g = per_number(z_bar, slopes, axis, keepdims)
    p_bar = np.sum(g * pmean_by_power(a, p, axis, weights))
    if weights is None:
        return like(g * slopes, a), p_bar, None
    w_bar = unpaired(g * pmean_by_weights(a, p, axis, weights), weights, axis)
    return like(unpaired(g * slopes, a, axis), a), p_bar, like(w_bar, weights)


# --- moments


def _orders() -> Sequence[Sample]:
    found = [Sample((s.args[0], k), s.kwargs) for s in along()() for k in (2, 3, 1)]
    return [*found[::2], sample(_positive(5)), sample(_positive(5), 3, center=1.2), sample(_positive(5), 4, 0)]


def _moment_jvp(
    a_dot: Array,
    center_dot: Any,
    a: Array,
    order: Any = 1,
    axis: Axis = 0,
    *,
    center: Any = None,
    keepdims: bool = False,
) -> Array:
    parts = moment_slopes(a, order, axis, center) * a_dot - center_slopes(a, order, axis, center) * center_dot
    return np.sum(parts, axis=axis, keepdims=keepdims)


@rule(
    stats.moment,
    wrt=["a", "center"],
    jvp=_moment_jvp,
    samples=_orders,
    infer=infer.axes.reduced,
    dtype="unknown",
    real_only=True,
)
def moment(
    z_bar: Array, a: Array, order: Any = 1, axis: Axis = 0, *, center: Any = None, keepdims: bool = False
) -> tuple[Array, Array]:
    slopes = moment_slopes(a, order, axis, center)
    g = per_number(z_bar, slopes, axis, keepdims)
    center_bar = -unbroadcast(g * center_slopes(a, order, axis, center), np.shape(center))
    return like(g * slopes, a), center_bar


def _skew_jvp(a_dot: Array, a: Array, axis: Axis = 0, bias: bool = True, *, keepdims: bool = False) -> Array:
    return np.sum(skew_slopes(a, axis, bias) * a_dot, axis=axis, keepdims=keepdims)


@rule(
    stats.skew,
    wrt=["a"],
    jvp=_skew_jvp,
    samples=along({"bias": False}),
    infer=infer.axes.reduced,
    dtype="unknown",
    real_only=True,
)
def skew(z_bar: Array, a: Array, axis: Axis = 0, bias: bool = True, *, keepdims: bool = False) -> Array:
    return like(per_number(z_bar, a, axis, keepdims) * skew_slopes(a, axis, bias), a)


def _kurtosis_jvp(
    a_dot: Array, a: Array, axis: Axis = 0, fisher: bool = True, bias: bool = True, *, keepdims: bool = False
) -> Array:
    return np.sum(kurtosis_slopes(a, axis, bias) * a_dot, axis=axis, keepdims=keepdims)


@rule(
    stats.kurtosis,
    wrt=["a"],
    jvp=_kurtosis_jvp,
    samples=along({"bias": False, "axis": 1}, {"fisher": False}),
    infer=infer.axes.reduced,
    dtype="unknown",
    real_only=True,
)
def kurtosis(
    z_bar: Array, a: Array, axis: Axis = 0, fisher: bool = True, bias: bool = True, *, keepdims: bool = False
) -> Array:
    return like(per_number(z_bar, a, axis, keepdims) * kurtosis_slopes(a, axis, bias), a)


def _variation_jvp(a_dot: Array, a: Array, axis: Axis = 0, *, ddof: Any = 0, keepdims: bool = False) -> Array:
    return np.sum(variation_slopes(a, axis, ddof) * a_dot, axis=axis, keepdims=keepdims)


@rule(
    stats.variation,
    wrt=["a"],
    jvp=_variation_jvp,
    samples=along({"ddof": 1}),
    infer=infer.axes.reduced,
    dtype="unknown",
    real_only=True,
)
def variation(z_bar: Array, a: Array, axis: Axis = 0, *, ddof: Any = 0, keepdims: bool = False) -> Array:
    return like(per_number(z_bar, a, axis, keepdims) * variation_slopes(a, axis, ddof), a)


def _sem_jvp(a_dot: Array, a: Array, axis: Axis = 0, ddof: Any = 1, *, keepdims: bool = False) -> Array:
    return np.sum(sem_slopes(a, axis, ddof) * a_dot, axis=axis, keepdims=keepdims)


@rule(
    stats.sem,
    wrt=["a"],
    jvp=_sem_jvp,
    samples=along({"ddof": 0}),
    infer=infer.axes.reduced,
    dtype="unknown",
    real_only=True,
)
def sem(z_bar: Array, a: Array, axis: Axis = 0, ddof: Any = 1, *, keepdims: bool = False) -> Array:
    return like(per_number(z_bar, a, axis, keepdims) * sem_slopes(a, axis, ddof), a)


def _gstd_jvp(a_dot: Array, z: Array, a: Array, axis: Axis = 0, ddof: Any = 1, *, keepdims: bool = False) -> Array:
    return np.sum(gstd_slopes(z, a, axis, ddof, keepdims) * a_dot, axis=axis, keepdims=keepdims)


@rule(
    stats.gstd,
    wrt=["a"],
    jvp=_gstd_jvp,
    samples=along({"ddof": 0}),
    infer=infer.axes.reduced,
    dtype="unknown",
    real_only=True,
)
def gstd(z: Array, z_bar: Array, a: Array, axis: Axis = 0, ddof: Any = 1, *, keepdims: bool = False) -> Array:
    return like(per_number(z_bar, a, axis, keepdims) * gstd_slopes(z, a, axis, ddof, keepdims), a)


# --- scores


def _scores() -> Sequence[Sample]:
    a = _positive(4, 5)
    return [
        sample(_positive(6)),
        sample(a),
        sample(a, axis=1),
        sample(a, axis=None),
        sample(a, ddof=1),
        sample([0.5, 1.5, 2.5, 0.7]),
        sample(_positive(5).astype(np.float32)),
    ]


def _zscore_jvp(a_dot: Array, z: Array, a: Array, axis: Axis = 0, ddof: Any = 0) -> Array:
    return scores_tangent(a_dot, a_dot, z, a, axis, ddof)


@rule(
    stats.zscore,
    wrt=["a"],
    jvp=_zscore_jvp,
    samples=_scores,
    infer=infer.axes.values_at("a"),
    dtype="unknown",
    real_only=True,
)
def zscore(z: Array, z_bar: Array, a: Array, axis: Axis = 0, ddof: Any = 0) -> Array:
    a_bar, compare_bar = scores_adjoint(z_bar, z, a, axis, ddof)
    return like(a_bar + compare_bar, a)


def _gzscore_jvp(a_dot: Array, z: Array, a: Array, *, axis: Axis = 0, ddof: Any = 0) -> Array:
    moved = a_dot / np.asarray(a)
    return scores_tangent(moved, moved, z, np.log(a), axis, ddof)


@rule(
    stats.gzscore,
    wrt=["a"],
    jvp=_gzscore_jvp,
    samples=_scores,
    infer=infer.axes.values_at("a"),
    dtype="unknown",
    real_only=True,
)
def gzscore(z: Array, z_bar: Array, a: Array, *, axis: Axis = 0, ddof: Any = 0) -> Array:
    a_bar, compare_bar = scores_adjoint(z_bar, z, np.log(a), axis, ddof)
    return like((a_bar + compare_bar) / np.asarray(a), a)


def _compared() -> Sequence[Sample]:
    found = [Sample((_positive(*np.shape(s.args[0]), seed=1), *s.args), s.kwargs) for s in _scores()[:5]]
    return [
        *found,
        sample(_positive(3), _positive(5)),
        sample(0.7, _positive(5)),
        sample(_positive(2, 5), _positive(4, 5)),
    ]


def _zmap_jvp(
    scores_dot: Array, compare_dot: Array, z: Array, scores: Array, compare: Array, axis: Axis = 0, ddof: Any = 0
) -> Array:
    return scores_tangent(scores_dot, compare_dot, z, compare, axis, ddof)


@rule(
    stats.zmap,
    wrt=["scores", "compare"],
    jvp=_zmap_jvp,
    samples=_compared,
    dtype="unknown",
    real_only=True,
)
def zmap(z: Array, z_bar: Array, scores: Array, compare: Array, axis: Axis = 0, ddof: Any = 0) -> tuple[Array, Array]:
    scores_bar, compare_bar = scores_adjoint(z_bar, z, compare, axis, ddof)
    compare_bar = unbroadcast(compare_bar, np.shape(compare))
    return like(unbroadcast(scores_bar, np.shape(scores)), scores), like(compare_bar, compare)


# --- entropies


def _masses() -> Sequence[Sample]:
    p, q = _positive(4, 5), _positive(4, 5, seed=1)
    return [
        *along({"base": 2})(),
        sample(p, q),
        sample(p, q, axis=1),
        sample(p[0], q[0], base=2.0),
        sample(p, q, keepdims=True),
        sample(p, q[None]),
        sample(p[0], q, axis=1),
        sample(p, q.T, axis=None, keepdims=True),
        sample(p, q, 10, None),
    ]


def _entropy_jvp(
    pk_dot: Array,
    qk_dot: Array,
    base_dot: Array,
    z: Array,
    pk: Array,
    qk: Array = None,
    base: Any = None,
    axis: Axis = 0,
    *,
    keepdims: bool = False,
) -> Array:
    by_p, by_q = entropy_slopes(pk, qk, base, axis)
    moved = summed_as(z, paired_part(by_p, pk_dot, axis) + paired_part(by_q, qk_dot, axis), axis)
    return moved if base is None else moved - z * base_dot / (base * np.log(base))


@rule(
    stats.entropy,
    wrt=["pk", "qk", "base"],
    jvp=_entropy_jvp,
    samples=_masses,
    dtype="unknown",
    real_only=True,
)
def entropy(
    z: Array,
    z_bar: Array,
    pk: Array,
    qk: Array = None,
    base: Any = None,
    axis: Axis = 0,
    *,
    keepdims: bool = False,
) -> tuple[Array, Array, Array]:
    by_p, by_q = entropy_slopes(pk, qk, base, axis)
    g = per_number(z_bar, by_p, axis, keepdims)
    base_bar = None if base is None else -np.sum(z_bar * z) / (base * np.log(base))
    p_bar = like(unpaired(g * by_p, pk, axis), pk)
    return p_bar, like(unpaired(g * by_q, qk, axis), qk), base_bar
