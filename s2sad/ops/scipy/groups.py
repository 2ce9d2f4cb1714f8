"""Rules of ``scipy.stats``: analysis of variance, measures of spread by order, and a power transformation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from s2sad.ops import infer
from s2sad.ops.sampling import spread
from s2sad.ops.scipy.summaries import along
from s2sad.ops.spec import Sample, constant, elementwise, rule, sample
from s2sad.runtime.linear import like
from s2sad.runtime.scipy.groups import f_adjoints, f_tangent, iqr_slopes, mad_slopes, yeojohnson_slopes
from s2sad.runtime.scipy.summaries import per_number

Array = Any
Axis = Any

# --- analysis of variance


def _groups() -> Sequence[Sample]:
    a, b, c = spread((5,)), spread((4,), seed=1), spread((6,), seed=2)
    x, y = spread((4, 3)), spread((5, 3), seed=1)
    found = [sample(a, b), sample(a, b, c), sample(x, y), sample(x.T, y.T, axis=1), sample(list(a), list(b))]
    return [*found, sample(x, y[:, :1]), sample(x.T, y[:, 0], axis=1), sample(x, y, axis=None)]


def _f_oneway_jvp(samples_dot: Any, z: Any, samples: Any, axis: Axis = 0) -> tuple[Array, Array]:
    statistic, pvalue = f_tangent(samples_dot, samples, z, axis)
    return statistic, pvalue


@rule(
    stats.f_oneway,
    wrt=["samples"],
    jvp=_f_oneway_jvp,
    samples=_groups,
    infer=infer.scipy.pair_of_statistics,
    dtype="unknown",
    real_only=True,
    gives=(tuple,),
)
def f_oneway(z: Any, z_bar: Any, *samples: Array, axis: Axis = 0) -> list[Array]:
    return f_adjoints(z_bar, samples, z, axis)


# --- spread, by order

constant(iqr_slopes, signature=lambda x, axis, rng, scale, interpolation: None)
constant(mad_slopes, signature=lambda x, axis, center, scale: None)


def _iqr_jvp(
    x_dot: Array,
    x: Array,
    axis: Axis = None,
    rng: Any = (25, 75),
    scale: Any = 1.0,
    interpolation: str = "linear",
    keepdims: bool = False,
) -> Array:
    return np.sum(iqr_slopes(x, axis, rng, scale, interpolation) * x_dot, axis=axis, keepdims=keepdims)


@rule(
    stats.iqr,
    wrt=["x"],
    jvp=_iqr_jvp,
    samples=along({"rng": (10, 80), "axis": 1}, {"scale": 2.0, "axis": 0}, {"scale": "normal"}),
    infer=infer.axes.reduced,
    dtype="unknown",
    real_only=True,
)
def iqr(
    z_bar: Array,
    x: Array,
    axis: Axis = None,
    rng: Any = (25, 75),
    scale: Any = 1.0,
    interpolation: str = "linear",
    keepdims: bool = False,
) -> Array:
    return like(per_number(z_bar, x, axis, keepdims) * iqr_slopes(x, axis, rng, scale, interpolation), x)


def _deviations() -> Sequence[Sample]:
    # No two numbers are nearly as far from the median as each other.
    a = spread((4, 5), seed=1) ** 3
    points = [sample(a), sample(a, 1, keepdims=True), sample(a, axis=None), sample(a, scale=2.0), sample(list(a[0]))]
    return [*points, sample(a, scale="normal"), sample(a[0].astype(np.float32))]


def _mad_jvp(
    x_dot: Array, x: Array, axis: Axis = 0, center: Any = None, scale: Any = 1.0, *, keepdims: bool = False
) -> Array:
    return np.sum(mad_slopes(x, axis, center, scale) * x_dot, axis=axis, keepdims=keepdims)


@rule(
    stats.median_abs_deviation,
    wrt=["x"],
    jvp=_mad_jvp,
    samples=_deviations,
    infer=infer.axes.reduced,
    dtype="unknown",
    real_only=True,
)
def median_abs_deviation(
    z_bar: Array, x: Array, axis: Axis = 0, center: Any = None, scale: Any = 1.0, *, keepdims: bool = False
) -> Array:
    return like(per_number(z_bar, x, axis, keepdims) * mad_slopes(x, axis, center, scale), x)


# --- power transformations


def _transformed() -> Sequence[Sample]:
    x = spread((6,))
    return [*(sample(x, power) for power in (0.3, 0.0, 2.0, 1.0, -0.7, 2.6)), sample(spread((2, 3)), lmbda=0.4)]


@elementwise(
    stats.yeojohnson,
    wrt=["x", "lmbda"],
    samples=_transformed,
    infer=infer.common.unknown,
    dtype="unknown",
    result="unknown",
    real_only=True,
)
def yeojohnson(x: Array, lmbda: Any = None) -> tuple[Array, Array]:
    by_x, by_power = yeojohnson_slopes(x, lmbda)
    return by_x, by_power
