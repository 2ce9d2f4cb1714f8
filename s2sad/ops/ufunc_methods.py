"""Rules of ``reduce``, ``accumulate``, ``reduceat`` and ``outer`` of universal functions.

``np.add.reduce`` is ``np.sum`` along the first axis, and so on. A running extreme hands its adjoint to the first of
equal elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Function, Sample, bilinear, constant, linear, rule, sample
from s2sad.runtime.arrays import Axis, count_ties, share_ties, unreduce
from s2sad.runtime.quantiles import spread_behind, sum_behind
from s2sad.runtime.reductions import (
    column,
    outer_left,
    outer_right,
    reduceat_places,
    running_adjoint,
    running_tangent,
    unreduceat,
)
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

# --- reductions ---


def _reductions() -> Sequence[Sample]:
    a, t = numbers(3, 4), numbers(2, 3, 4)
    mask = np.arange(12).reshape(3, 4) % 3 != 1
    return [
        sample(numbers(4)),
        sample(a),
        sample(a, 1),
        sample(a, axis=-1, keepdims=True),
        sample(a, axis=None),
        sample(t, axis=(0, 2)),
        sample(a, axis=0, initial=0.123),
        sample(a, axis=1, initial=-1.5),
        sample(a, axis=1, initial=0.123, where=mask),
        sample(singles(2, 3)),
    ]


def _sums() -> Sequence[Sample]:
    return [*_reductions(), sample(complexes(2, 2)), sample(numbers(2, 3), where=np.array([True, False, True]))]


def _add_reduce_jvp(
    array_dot: Array, initial_dot: Array, axis: Axis, dtype: DType, keepdims: bool, initial: Array, where: Any
) -> Array:
    return np.sum(array_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where) + initial_dot


@rule(
    np.add.reduce,
    wrt=["array", "initial"],
    jvp=_add_reduce_jvp,
    samples=_sums,
    infer=infer.axes.reduced,
    steps=frozenset({"where"}),
)
def add_reduce(
    z_bar: Array,
    array: Array,
    axis: Axis = 0,
    dtype: DType = None,
    *,
    keepdims: bool = False,
    initial: Array = 0,
    where: Any = True,
) -> tuple[Array, Array]:
    return np.where(where, unreduce(z_bar, np.shape(array), axis, keepdims), 0), np.sum(z_bar)


def _multiply_reduce_jvp(
    array_dot: Array,
    initial_dot: Array,
    array: Array,
    axis: Axis,
    dtype: DType,
    keepdims: bool,
    initial: Array,
    where: Any,
) -> Array:
    others = other_products(np.where(where, array, 1), axis)
    total = np.sum(array_dot * others, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    whole = np.prod(array, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return initial * total + initial_dot * whole


@rule(
    np.multiply.reduce,
    wrt=["array", "initial"],
    jvp=_multiply_reduce_jvp,
    samples=_sums,
    infer=infer.axes.reduced,
    steps=frozenset({"where"}),
)
def multiply_reduce(
    z_bar: Array,
    array: Array,
    axis: Axis = 0,
    dtype: DType = None,
    *,
    keepdims: bool = False,
    initial: Array = 1,
    where: Any = True,
) -> tuple[Array, Array]:
    whole = np.prod(array, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    others = other_products(np.where(where, array, 1), axis)
    share = unreduce(z_bar * initial, np.shape(array), axis, keepdims) * others
    return np.where(where, share, 0), np.sum(z_bar * whole)


def _extreme_reduce_jvp(
    array_dot: Array,
    initial_dot: Array,
    z: Array,
    array: Array,
    axis: Axis,
    dtype: DType,
    keepdims: bool,
    initial: Array,
    where: Any,
) -> Array:
    array = np.asarray(array, dtype)
    hit = (array == unreduce(z, np.shape(array), axis, keepdims)) & where
    total = np.sum(np.where(hit, array_dot, 0), axis=axis, keepdims=keepdims)
    first = 0 if initial is None else np.where(z == initial, initial_dot, 0)
    return (total + first) / count_ties(array, z, axis, keepdims, initial, where)


def _extreme(function: Function) -> Function:
    return rule(
        function,
        wrt=["array", "initial"],
        jvp=_extreme_reduce_jvp,
        samples=_reductions,
        infer=infer.axes.reduced,
        steps=frozenset({"where"}),
    )


@_extreme(np.maximum.reduce)
def extreme_reduce(
    z: Array,
    z_bar: Array,
    array: Array,
    axis: Axis = 0,
    dtype: DType = None,
    *,
    keepdims: bool = False,
    initial: Array = None,
    where: Any = True,
) -> tuple[Array, Array]:
    if dtype is None and initial is None and where is True:
        return share_ties(z_bar, array, z, axis, keepdims), 0.0
    cast = np.asarray(array, dtype)
    share = z_bar / count_ties(cast, z, axis, keepdims, initial, where)
    hit = (cast == unreduce(z, np.shape(array), axis, keepdims)) & where
    return np.where(hit, unreduce(share, np.shape(array), axis, keepdims), 0), np.sum(np.where(z == initial, share, 0))


_extreme(np.minimum.reduce)(extreme_reduce)
_extreme(np.fmax.reduce)(extreme_reduce)
_extreme(np.fmin.reduce)(extreme_reduce)


def _plain_reductions() -> Sequence[Sample]:
    points = [s for s in _reductions() if not {"initial", "where"} & set(s.kwargs)]
    return [*points, sample(np.array([0.5, -np.inf, 1.5]))]


def _logaddexp_reduce_jvp(array_dot: Array, z: Array, array: Array, axis: Axis, keepdims: bool) -> Array:
    level = np.where(np.isneginf(z), 0, z)
    part = np.exp(array - unreduce(level, np.shape(array), axis, keepdims))
    return np.sum(part * array_dot, axis=axis, keepdims=keepdims)


@rule(
    np.logaddexp.reduce,
    wrt=["array"],
    jvp=_logaddexp_reduce_jvp,
    samples=_plain_reductions,
    infer=infer.axes.reduced,
)
def logaddexp_reduce(
    z: Array, z_bar: Array, array: Array, axis: Axis = 0, dtype: DType = None, *, keepdims: bool = False
) -> Array:
    level = np.where(np.isneginf(z), 0, z)
    part = np.exp(array - unreduce(level, np.shape(array), axis, keepdims))
    return part * unreduce(z_bar, np.shape(array), axis, keepdims)


# --- accumulations ---


def _scans() -> Sequence[Sample]:
    zero = numbers(3, 4)
    zero[1, 2] = zero[1, 0] = 0.0
    return [
        sample(numbers(4)),
        sample(numbers(3, 4)),
        sample(numbers(3, 4), 1),
        sample(numbers(3, 4), axis=(1,)),
        sample(zero, axis=-1),
        sample(numbers(4), axis=None),
        sample(numbers(2, 3, 2), axis=1),
        sample(np.zeros((0, 2))),
        sample(singles(2, 3)),
    ]


def _add_accumulate_jvp(array_dot: Array, axis: int, dtype: DType) -> Array:
    return np.add.accumulate(array_dot, axis, dtype)


@rule(
    np.add.accumulate,
    wrt=["array"],
    jvp=_add_accumulate_jvp,
    samples=_scans,
    infer=infer.common.same_array,
)
def add_accumulate(z_bar: Array, array: Array, axis: int = 0, dtype: DType = None) -> Array:
    return np.flip(np.add.accumulate(np.flip(z_bar, axis), axis), axis)


def _multiply_accumulate_jvp(array_dot: Array, z: Array, array: Array, axis: int) -> Array:
    x = merge_axes(array, axis)
    return split_axes(recurrence(products_before(x) * merge_axes(array_dot, axis), x), np.shape(z), axis)


@rule(
    np.multiply.accumulate,
    wrt=["array"],
    jvp=_multiply_accumulate_jvp,
    samples=_scans,
    infer=infer.common.same_array,
)
def multiply_accumulate(z_bar: Array, array: Array, axis: int = 0, dtype: DType = None) -> Array:
    x = merge_axes(array, axis)
    x_bar = products_before(x) * backward_recurrence(merge_axes(z_bar, axis), x)
    return split_axes(x_bar, np.shape(array), axis)


def _running_jvp(array_dot: Array, z: Array, array: Array, axis: int, dtype: DType) -> Array:
    return running_tangent(array_dot, np.asarray(array, dtype), z, axis)


def _running(function: Function) -> Function:
    return rule(function, wrt=["array"], jvp=_running_jvp, samples=lambda: _scans()[:4], infer=infer.common.same_array)


@_running(np.maximum.accumulate)
def running_extreme(z: Array, z_bar: Array, array: Array, axis: int = 0, dtype: DType = None) -> Array:
    if dtype is None:
        return running_adjoint(z_bar, array, z, axis)
    return running_adjoint(z_bar, np.asarray(array, dtype), z, axis)


_running(np.minimum.accumulate)(running_extreme)

# --- parts of an axis ---


def _parts() -> Sequence[Sample]:
    return [
        sample(numbers(5), [0, 2, 3]),
        sample(numbers(5), [0, 3, 1, 4]),
        sample(numbers(4, 3), [0, 2], axis=0),
        sample(numbers(2, 5), np.array([1, 1, 3]), -1),
        sample(complexes(4), [0, 2]),
        sample(singles(4), [0, 2]),
    ]


def _add_reduceat_jvp(array_dot: Array, indices: Any, axis: int, dtype: DType) -> Array:
    return np.add.reduceat(array_dot, indices, axis, dtype)


@rule(
    np.add.reduceat,
    wrt=["array"],
    jvp=_add_reduceat_jvp,
    samples=_parts,
    infer=infer.axes.with_axes(infer.axes.same("array")),
    steps=frozenset({"indices"}),
)
def add_reduceat(z_bar: Array, array: Array, indices: Any, axis: int = 0, dtype: DType = None) -> Array:
    return unreduceat(z_bar, np.shape(array), indices, axis)


# --- tables of all pairs ---


def _pairs() -> Sequence[Sample]:
    return [
        sample(numbers(3), numbers(4, seed=1)),
        sample(numbers(2, 3), numbers(4, seed=1)),
        sample(numbers(3), numbers(2, 2, seed=1)),
        sample(numbers(3), 1.5),
        sample(1.5, numbers(3)),
        sample(complexes(2), numbers(3)),
        sample(singles(2), singles(3)),
    ]


def _real_pairs() -> Sequence[Sample]:
    return [s for s in _pairs() if not np.iscomplexobj(s.args[0])]


@linear(np.add.outer, wrt=["A", "B"], samples=_pairs, infer=infer.axes.outer)
def add_outer(z_bar: Array, A: Array, B: Array) -> tuple[Array, Array]:
    return outer_left(z_bar, A), outer_right(z_bar, B)


@linear(np.subtract.outer, wrt=["A", "B"], samples=_pairs, infer=infer.axes.outer)
def subtract_outer(z_bar: Array, A: Array, B: Array) -> tuple[Array, Array]:
    return outer_left(z_bar, A), -outer_right(z_bar, B)


@bilinear(np.multiply.outer, samples=_pairs, infer=infer.axes.outer)
def multiply_outer(z_bar: Array, A: Array, B: Array) -> tuple[Array, Array]:
    return outer_left(z_bar * B, A), outer_right(z_bar * column(A, B), B)


def _divide_outer_jvp(A_dot: Array, B_dot: Array, z: Array, A: Array, B: Array) -> Array:
    return (column(A_dot, B) - z * B_dot) / B


@rule(np.divide.outer, jvp=_divide_outer_jvp, samples=_pairs, infer=infer.axes.outer)
def divide_outer(z: Array, z_bar: Array, A: Array, B: Array) -> tuple[Array, Array]:
    return outer_left(z_bar / B, A), outer_right(-z_bar * z / B, B)


def _extreme_outer_jvp(A_dot: Array, B_dot: Array, z: Array, A: Array, B: Array) -> Array:
    a, t = column(A, B), column(A_dot, B)
    both = np.where(a == B, (t + B_dot) / 2, 0)
    return np.where(a == B, both, np.where(z == a, t, B_dot))


@rule(np.maximum.outer, jvp=_extreme_outer_jvp, samples=_real_pairs, infer=infer.axes.outer)
def extreme_outer(z: Array, z_bar: Array, A: Array, B: Array) -> tuple[Array, Array]:
    shared = np.where(column(A, B) == B, z_bar / 2, z_bar)
    return (
        outer_left(np.where(z == column(A, B), shared, 0), A),
        outer_right(np.where(z == B, shared, 0), B),
    )


rule(np.minimum.outer, jvp=_extreme_outer_jvp, samples=_real_pairs, infer=infer.axes.outer)(extreme_outer)


@linear(outer_left, wrt=["g"], samples=lambda: [sample(numbers(2, 3, 4), numbers(2))], steps=frozenset({"a"}))
def outer_left_rule(z_bar: Array, g: Array, a: Array) -> Array:
    return spread_behind(z_bar, g)


@linear(
    outer_right,
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3, 4), numbers(3, 4)), sample(numbers(2, 3), numbers(3))],
    steps=frozenset({"b"}),
)
def outer_right_rule(z_bar: Array, g: Array, b: Array) -> Array:
    return np.broadcast_to(z_bar, np.shape(g))


@linear(
    column,
    wrt=["a"],
    samples=lambda: [sample(numbers(2), numbers(3, 4)), sample(0.5, numbers(3))],
    result="unknown",
    steps=frozenset({"b"}),
)
def column_rule(z_bar: Array, a: Array, b: Array) -> Array:
    return sum_behind(z_bar, a)


@linear(
    unreduceat, wrt=["g"], samples=lambda: [sample(numbers(3), (5,), [0, 3, 1])], steps=frozenset({"indices", "shape"})
)
def unreduceat_rule(z_bar: Array, g: Array, shape: Any, indices: Any, axis: int = 0) -> Array:
    return np.add.reduceat(z_bar, indices, axis)


constant(
    reduceat_places,
    signature=lambda indices, n: None,
    samples=lambda: [sample([0, 2, 1], 4)],
    infer=infer.positions.of_matrix,
    gives=(tuple,),
)
