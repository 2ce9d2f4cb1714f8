"""Rules of the statistics of ``scipy.stats`` that leave out a part of the sample: beyond limits, or its extremes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from s2sad.ops import infer
from s2sad.ops.sampling import spread
from s2sad.ops.spec import Sample, rule, sample
from s2sad.runtime.linear import like
from s2sad.runtime.scipy.summaries import per_number, tmean_slopes, trim_mean_slopes, tvar_slopes

Array = Any
Axis = Any


def _positive(*shape: int) -> Any:
    return spread(shape, 0.4, 3.0)


def _trimmed() -> Sequence[Sample]:
    a = _positive(4, 5)
    return [
        sample(_positive(7), 0.2),
        sample(a, 0.3),
        sample(a, 0.2, 1),
        sample(a, 0.1, None),
        sample(a, 0.25, keepdims=True),
    ]


def _trim_mean_jvp(a_dot: Array, a: Array, proportiontocut: Any, axis: Axis = 0, *, keepdims: bool = False) -> Array:
    return np.sum(trim_mean_slopes(a, proportiontocut, axis) * a_dot, axis=axis, keepdims=keepdims)


@rule(
    stats.trim_mean,
    wrt=["a"],
    jvp=_trim_mean_jvp,
    samples=_trimmed,
    infer=infer.axes.reduced,
    dtype="unknown",
    real_only=True,
    steps=frozenset({"proportiontocut"}),
)
def trim_mean(z_bar: Array, a: Array, proportiontocut: Any, axis: Axis = 0, *, keepdims: bool = False) -> Array:
    return like(per_number(z_bar, a, axis, keepdims) * trim_mean_slopes(a, proportiontocut, axis), a)


def _limited() -> Sequence[Sample]:
    a = _positive(4, 5)
    return [
        sample(_positive(7)),
        sample(_positive(7), (0.7, 2.5)),
        sample(a, (None, 2.5), (False, False)),
        sample(a, (0.6, None), axis=1),
        sample(a, (0.6, 2.8), axis=0, keepdims=True),
    ]


def _tmean_jvp(
    a_dot: Array,
    a: Array,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Axis = None,
    *,
    keepdims: bool = False,
) -> Array:
    return np.sum(tmean_slopes(a, limits, inclusive, axis) * a_dot, axis=axis, keepdims=keepdims)


@rule(
    stats.tmean,
    wrt=["a"],
    jvp=_tmean_jvp,
    samples=_limited,
    infer=infer.axes.reduced,
    dtype="unknown",
    real_only=True,
    steps=frozenset({"limits"}),
)
def tmean(
    z_bar: Array,
    a: Array,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Axis = None,
    *,
    keepdims: bool = False,
) -> Array:
    return like(per_number(z_bar, a, axis, keepdims) * tmean_slopes(a, limits, inclusive, axis), a)


def _tvar_jvp(
    a_dot: Array,
    a: Array,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Axis = 0,
    ddof: Any = 1,
    *,
    keepdims: bool = False,
) -> Array:
    return np.sum(tvar_slopes(a, limits, inclusive, axis, ddof) * a_dot, axis=axis, keepdims=keepdims)


@rule(
    stats.tvar,
    wrt=["a"],
    jvp=_tvar_jvp,
    samples=_limited,
    infer=infer.axes.reduced,
    dtype="unknown",
    real_only=True,
    steps=frozenset({"limits"}),
)
def tvar(
    z_bar: Array,
    a: Array,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Axis = 0,
    ddof: Any = 1,
    *,
    keepdims: bool = False,
) -> Array:
    return like(per_number(z_bar, a, axis, keepdims) * tvar_slopes(a, limits, inclusive, axis, ddof), a)


def _tstd_jvp(
    a_dot: Array,
    z: Array,
    a: Array,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Axis = 0,
    ddof: Any = 1,
    *,
    keepdims: bool = False,
) -> Array:
    return np.sum(tvar_slopes(a, limits, inclusive, axis, ddof) * a_dot, axis=axis, keepdims=keepdims) / (2 * z)


@rule(
    stats.tstd,
    wrt=["a"],
    jvp=_tstd_jvp,
    samples=_limited,
    infer=infer.axes.reduced,
    dtype="unknown",
    real_only=True,
    steps=frozenset({"limits"}),
)
def tstd(
    z: Array,
    z_bar: Array,
    a: Array,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Axis = 0,
    ddof: Any = 1,
    *,
    keepdims: bool = False,
) -> Array:
    g = per_number(0.5 * z_bar / z, a, axis, keepdims)
    return like(g * tvar_slopes(a, limits, inclusive, axis, ddof), a)
