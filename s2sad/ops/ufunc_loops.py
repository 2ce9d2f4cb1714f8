"""Rules of ``reduce``, ``accumulate`` and ``reduceat`` of universal functions that have none of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import numbers, singles
from s2sad.ops.spec import Sample, constant, operation, rule, sample
from s2sad.runtime.ufunc_loops import (
    accumulated_adjoint,
    accumulated_by,
    accumulated_tangent,
    element_places,
    reduced_adjoint,
    reduced_between,
    reduced_between_adjoint,
    reduced_between_tangent,
    reduced_by,
    reduced_tangent,
)

Array = Any
Function = Any


def _positive(*shape: int) -> Array:
    return np.abs(numbers(*shape)) + 0.3


def _reductions() -> Sequence[Sample]:
    a = _positive(3, 4)
    return [
        *(sample(a, f) for f in (np.hypot, np.arctan2, np.float_power, np.logaddexp2, np.subtract, np.copysign)),
        sample(a, np.hypot, 1, True),
        sample(_positive(4), np.float_power, axis=-1),
        sample(_positive(2, 3, 2), np.hypot, 1),
        sample(_positive(1, 2), np.hypot),
        sample(np.zeros((0, 2)), np.hypot),
        sample(singles(3), np.divide),
    ]


def _reduced_jvp(
    array_dot: Array, z: Array, array: Array, function: Function, axis: int = 0, keepdims: bool = False
) -> Array:
    return reduced_tangent(array_dot, z, array, function, axis, keepdims)


@rule(
    reduced_by,
    wrt=["array"],
    steps=frozenset({"function"}),
    jvp=_reduced_jvp,
    samples=_reductions,
    infer=infer.axes.reduced,
)
def reduced_by_rule(
    z: Array, z_bar: Array, array: Array, function: Function, axis: int = 0, keepdims: bool = False
) -> Array:
    return reduced_adjoint(z_bar, z, array, function, axis, keepdims)


def _accumulations() -> Sequence[Sample]:
    a = _positive(3, 4)
    points = [sample(a, f) for f in (np.hypot, np.arctan2, np.float_power, np.logaddexp, np.fmax, np.divide)]
    return [
        *points,
        sample(a, np.hypot, 1),
        sample(_positive(4), np.hypot, axis=-1),
        sample(np.zeros((0, 2)), np.hypot),
    ]


def _accumulated_jvp(array_dot: Array, z: Array, array: Array, function: Function, axis: int = 0) -> Array:
    return accumulated_tangent(array_dot, z, array, function, axis)


@rule(
    accumulated_by,
    wrt=["array"],
    steps=frozenset({"function"}),
    jvp=_accumulated_jvp,
    samples=_accumulations,
    infer=infer.common.same_array,
)
def accumulated_by_rule(z: Array, z_bar: Array, array: Array, function: Function, axis: int = 0) -> Array:
    return accumulated_adjoint(z_bar, z, array, function, axis)


def _between() -> Sequence[Sample]:
    a = _positive(5)
    points = [sample(a, f, [0, 2, 3]) for f in (np.hypot, np.multiply, np.maximum, np.remainder)]
    return [*points, sample(a, np.multiply, [0, 3, 1, 4]), sample(_positive(2, 5), np.hypot, np.array([1, 1, 3]), -1)]


def _between_jvp(array_dot: Array, z: Array, array: Array, function: Function, indices: Any, axis: int = 0) -> Array:
    return reduced_between_tangent(array_dot, z, array, function, indices, axis)


@rule(
    reduced_between,
    wrt=["array"],
    steps=frozenset({"function", "indices"}),
    jvp=_between_jvp,
    samples=_between,
    infer=infer.axes.with_axes(infer.axes.same("array")),
)
def reduced_between_rule(
    z: Array, z_bar: Array, array: Array, function: Function, indices: Any, axis: int = 0
) -> Array:
    return reduced_between_adjoint(z_bar, z, array, function, indices, axis)


operation(
    reduced_adjoint,
    reduced_tangent,
    accumulated_adjoint,
    accumulated_tangent,
    reduced_between_adjoint,
    reduced_between_tangent,
    remedy="write the steps as a loop: z = x[0], then z = np.hypot(z, x[i]), which has derivatives of all orders",
)
constant(element_places, signature=lambda shape, index: None, samples=lambda: [sample((3,), [2, 0, 2])])
