"""Smooth functions of what is not smooth, as operations of their own: see `s2sad.differentiate.smooth`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.spec import Sample, elementwise, real, rule, sample
from s2sad.runtime.arrays import unreduce
from s2sad.runtime.smooth import (
    logistic_density,
    modulus_from_left,
    modulus_from_right,
    number_from_left,
    number_from_right,
    softplus_rest,
    softplus_rest_slope,
    squared_hypot,
    squared_modulus,
    squared_norm,
)

Array = Any


def _modulus_jvp(x_dot: Array, x: Array) -> Array:
    return 2 * np.real(np.conj(x) * x_dot)


@rule(
    squared_modulus, jvp=_modulus_jvp, samples=sampling.REAL_OR_COMPLEX, infer=infer.python.absolute, dtype="python",
    lower_bound=infer.bounds.not_negative,
)  # fmt: skip
def modulus(z_bar: Array, x: Array) -> Array:
    return np.real(z_bar) * (2 * np.conj(x))


@elementwise(squared_hypot, samples=sampling.PAIRS, infer=infer.common.number_or_array, dtype="python")
def hypot(x: Array, y: Array) -> Array:
    return 2 * x, 2 * y


def _norms() -> Sequence[Sample]:
    x, z = sampling.spread((2, 3, 4)), sampling.spread((2, 3)) * (1 + 0.5j)
    options: list[dict[str, Any]] = [{}, {"axis": 1}, {"axis": (0, 2), "keepdims": True}, {"keepdims": True}]
    return [*(sample(x, **option) for option in options), sample(z), sample(z, axis=-1)]


def _norm_jvp(x_dot: Array, x: Array, axis: Any = None, keepdims: bool = False) -> Array:
    if real(x):
        return 2 * np.sum(x * x_dot, axis=axis, keepdims=keepdims)
    return 2 * np.sum(np.real(np.conj(x) * x_dot), axis=axis, keepdims=keepdims)


@rule(
    squared_norm, wrt=["x"], jvp=_norm_jvp, samples=_norms, infer=infer.axes.reduced,
    lower_bound=infer.bounds.not_negative,
)  # fmt: skip
def norm(z_bar: Array, x: Array, axis: Any = None, keepdims: bool = False) -> Array:
    if real(x) and axis is None:
        return z_bar * (2 * x)
    if real(x):
        return unreduce(z_bar, np.shape(x), axis, keepdims) * (2 * x)
    return unreduce(np.real(z_bar), np.shape(x), axis, keepdims) * (2 * np.conj(x))


@elementwise(softplus_rest, samples=sampling.REAL, infer=infer.common.number_or_array, dtype="python")
def rest(x: Array) -> Array:
    return softplus_rest_slope(x)


@elementwise(softplus_rest_slope, samples=sampling.REAL, infer=infer.common.number_or_array, dtype="python")
def slope(x: Array) -> Array:
    return logistic_density(x)


@elementwise(logistic_density, samples=sampling.REAL, infer=infer.common.number_or_array, dtype="python")
def density(z: Array, x: Array) -> Array:
    return -z * np.tanh(x / 2)


def _numbers() -> Sequence[Sample]:
    return [sample(0.7), sample(-1.2)]


@elementwise(
    modulus_from_right, samples=sampling.REAL, infer=infer.python.absolute, dtype="python",
    lower_bound=infer.bounds.not_negative,
)  # fmt: skip
def from_right(z_bar: Array, x: Array) -> Array:
    return np.where(x >= 0, z_bar, -z_bar)


@elementwise(
    modulus_from_left, samples=sampling.REAL, infer=infer.python.absolute, dtype="python",
    lower_bound=infer.bounds.not_negative,
)  # fmt: skip
def from_left(z_bar: Array, x: Array) -> Array:
    return np.where(x > 0, z_bar, -z_bar)


@elementwise(
    number_from_right, samples=_numbers, infer=infer.python.absolute, dtype="python",
    lower_bound=infer.bounds.not_negative,
)  # fmt: skip
def of_number_from_right(z_bar: Array, x: Array) -> Array:
    return z_bar if x >= 0 else -z_bar


@elementwise(
    number_from_left, samples=_numbers, infer=infer.python.absolute, dtype="python",
    lower_bound=infer.bounds.not_negative,
)  # fmt: skip
def of_number_from_left(z_bar: Array, x: Array) -> Array:
    return z_bar if x > 0 else -z_bar
