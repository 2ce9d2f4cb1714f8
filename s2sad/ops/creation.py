"""Rules of the functions that make, copy and convert arrays.

A conversion to integers or booleans has no derivative; one from complex to real
numbers passes the real part on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.forms import METHOD
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, linear, rule, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.linear import cast, like, uncast, unfirst

Array = Any

# --- arrays of arrays and numbers ---


def _nests() -> Sequence[Sample]:
    x = numbers(3)
    return [
        sample(1.5),
        sample(x),
        sample([1.5, 2.5]),
        sample((1.5, 2.5)),
        sample([[1.5, 2.5], (3.5, 4.5)]),
        sample([x, 2 * x]),
        sample([[x], [2 * x]]),
        sample([x[0], numbers()]),
        sample(numbers(0)),
        sample(numbers(2, 3)),
        sample([1.5 + 2j, 0.5]),
        sample(singles(2)),
    ]


def _conversions() -> Sequence[Sample]:
    x = numbers(3)
    return [
        *_nests(),
        sample(x, float),
        sample(x, np.float32),
        sample(x, dtype=np.float64),
        sample(singles(3), dtype=float),
        sample(x, dtype=complex),
    ]


def _deep_conversions() -> Sequence[Sample]:
    return [
        *_conversions(),
        sample(numbers(3), ndmin=2),
        sample([1.5, 2.5], dtype=float, ndmin=3),
        sample(1.5, ndmin=1),
    ]


def _array_jvp(object_dot: Any, object: Any, dtype: Any = None, ndmin: int = 0) -> Array:
    if dtype is None:
        return np.array(object_dot, ndmin=ndmin)
    return cast(np.array(object_dot, ndmin=ndmin), dtype)


@rule(
    np.array,
    only_arrays=True,
    wrt=["object"],
    jvp=_array_jvp,
    samples=_deep_conversions,
    infer=infer.joining.array_from("object"),
    closer=infer.memory.of_copy,
    casts=True,
)
def array(z_bar: Array, object: Any, dtype: Any = None, *, order: str = "K", ndmin: int = 0) -> Any:
    if dtype is None and ndmin == 0:
        return like(z_bar, object)
    if dtype is None:
        return like(np.reshape(z_bar, np.shape(object)), object)
    return like(uncast(np.reshape(z_bar, np.shape(object)), dtype, object), object)


def _iterated() -> Sequence[Sample]:
    return [
        sample([0.5, 1.5], float),
        sample((0.5, 1.5, 2.5), np.float64, 2),
        sample(numbers(3), dtype=float, count=2),
        sample(numbers(2), np.float32),
        sample([], float),
        sample(complexes(2), complex),
    ]


def _fromiter_jvp(iter_dot: Any, dtype: Any, count: int = -1) -> Array:
    return cast(np.array(iter_dot[:count] if count >= 0 else iter_dot), dtype)


@rule(
    np.fromiter,
    wrt=["iter"],
    jvp=_fromiter_jvp,
    samples=_iterated,
    infer=infer.axes.with_axes(infer.axes.always(1)),
    casts=True,
    consumes=("iter",),
    dtype="unknown",
)
def fromiter(z_bar: Array, iter: Any, dtype: Any, count: int = -1) -> Any:
    return like(unfirst(z_bar, iter, dtype), iter)


def _conversions_at_most() -> Sequence[Sample]:
    return [*_conversions(), sample(numbers(3), copy=False), sample(numbers(3), copy=True)]


def _asarray_jvp(a_dot: Any, dtype: Any = None) -> Array:
    if dtype is None:
        return np.asarray(a_dot)
    return cast(np.asarray(a_dot), dtype)


@rule(
    np.asarray,
    only_arrays=True,
    wrt=["a"],
    jvp=_asarray_jvp,
    samples=_conversions_at_most,
    infer=infer.joining.array_from("a"),
    result="maybe_view",
    closer=infer.memory.of_list,
    casts=True,
)
def asarray(z_bar: Array, a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> Any:
    if dtype is None:
        return like(z_bar, a)
    return like(uncast(z_bar, dtype, a), a)


@rule(
    np.asanyarray,
    wrt=["a"],
    jvp=_asarray_jvp,
    samples=_conversions,
    infer=infer.joining.array_from("a"),
    result="maybe_view",
    closer=infer.memory.of_list,
    casts=True,
)
def asanyarray(z_bar: Array, a: Any, dtype: Any = None, order: Any = None) -> Any:
    if dtype is None:
        return like(z_bar, a)
    return like(uncast(z_bar, dtype, a), a)


def _required() -> Sequence[Sample]:
    x = numbers(2, 3)
    return [
        sample(x),
        sample(x, float, "C"),
        sample(x, requirements=["F", "W"]),
        sample([0.5, 1.5], float),
        sample(singles(2)),
    ]


@rule(
    np.require,
    wrt=["a"],
    jvp=_asarray_jvp,
    samples=_required,
    infer=infer.joining.array_from("a"),
    result="maybe_view",
    closer=infer.memory.of_list,
    casts=True,
)
def require(z_bar: Array, a: Any, dtype: Any = None, requirements: Any = None) -> Any:
    if dtype is None:
        return like(z_bar, a)
    return like(uncast(z_bar, dtype, a), a)


def _contiguous_jvp(z: Array, a_dot: Any, dtype: Any = None) -> Array:
    return cast(np.reshape(a_dot, np.shape(z)), np.result_type(z))


@rule(
    np.ascontiguousarray,
    only_arrays=True,
    wrt=["a"],
    jvp=_contiguous_jvp,
    samples=_conversions,
    infer=infer.axes.with_axes(infer.axes.same("a")),
    result="maybe_view",
    closer=infer.memory.of_list,
    casts=True,
)
def ascontiguousarray(z_bar: Array, a: Any, dtype: Any = None) -> Any:
    if dtype is None:
        return like(np.reshape(z_bar, np.shape(a)), a)
    return like(uncast(np.reshape(z_bar, np.shape(a)), dtype, a), a)


@rule(
    np.asfortranarray,
    only_arrays=True,
    wrt=["a"],
    jvp=_contiguous_jvp,
    samples=_conversions,
    infer=infer.axes.with_axes(infer.axes.same("a")),
    result="maybe_view",
    closer=infer.memory.of_list,
    casts=True,
)
def asfortranarray(z_bar: Array, a: Any, dtype: Any = None) -> Any:
    if dtype is None:
        return like(np.reshape(z_bar, np.shape(a)), a)
    return like(uncast(np.reshape(z_bar, np.shape(a)), dtype, a), a)


def _copies() -> Sequence[Sample]:
    return [sample(numbers(2, 3)), sample(numbers(3), "C"), sample(numbers()), sample(complexes(2)), sample(singles(2))]


@linear(
    np.copy,
    wrt=["a"],
    samples=_copies,
    infer=infer.joining.array_from("a"),
    closer=infer.memory.of_copy,
    forms=METHOD,
)
def copy(z_bar: Array, a: Array, order: str = "K") -> Array:
    return z_bar


def _casts() -> Sequence[Sample]:
    x = numbers(2, 3)
    return [
        sample(x, float),
        sample(x, np.float32),
        sample(singles(2), np.float64),
        sample(x, complex),
        sample(complexes(2), np.complex64),
        sample(x, np.dtype("float64")),
        sample(x, np.float32, copy=False),
        sample(x, float, copy=False),
    ]


def _astype_jvp(x_dot: Array, dtype: Any, copy: bool = True) -> Array:
    return cast(x_dot, dtype)


if hasattr(np, "astype"):  # NumPy 2.1

    @rule(
        np.astype,
        wrt=["x"],
        jvp=_astype_jvp,
        samples=_casts,
        infer=infer.common.same_as_first,
        result="maybe_view",
        closer=infer.memory.of_cast,
        forms=METHOD,
        casts=True,
    )
    def astype(z_bar: Array, x: Array, dtype: Any, *, copy: bool = True) -> Array:
        return uncast(z_bar, dtype, x)


# --- arrays of one number ---


def _fills() -> Sequence[Sample]:
    return [
        sample(3, 1.5),
        sample((2, 3), 1.5),
        sample((2, 3), numbers(3)),
        sample((2, 3), numbers(2, 1)),
        sample((), 1.5),
        sample((0, 2), 1.5),
        sample((2,), 1.5, float),
        sample((2,), 1.5, dtype=np.float64),
        sample((2,), 1.5 + 2j),
        sample((2,), singles(2)),
    ]


def _full_jvp(fill_value_dot: Array, shape: Any, dtype: Any = None) -> Array:
    if dtype is None:
        return np.full(shape, fill_value_dot)
    return cast(np.full(shape, fill_value_dot), dtype)


@rule(
    np.full,
    only_arrays=True,
    wrt=["fill_value"],
    jvp=_full_jvp,
    samples=_fills,
    infer=infer.creation.filled,
    dtype="fill_value",
    casts=True,
    steps=frozenset({"shape"}),
)
def full(z_bar: Array, shape: Any, fill_value: Array, dtype: Any = None, order: str = "C") -> Array:
    if dtype is None:
        return unbroadcast(z_bar, np.shape(fill_value))
    return unbroadcast(uncast(z_bar, dtype, fill_value), np.shape(fill_value))


def _fills_like() -> Sequence[Sample]:
    a = numbers(2, 3)
    return [
        sample(a, 1.5),
        sample(a, numbers(3)),
        sample(a, numbers(2, 1)),
        sample(numbers(), 1.5),
        sample(numbers(0), 1.5),
        sample(np.arange(3), 1.5, float),
        sample(a, 1.5, shape=(4, 1)),
        sample(complexes(2), 1.5 + 1j),
        sample(singles(2), singles(2)),
    ]


def _full_like_jvp(z: Array, fill_value_dot: Array) -> Array:
    return cast(np.broadcast_to(fill_value_dot, np.shape(z)), np.result_type(z))


@rule(
    np.full_like,
    wrt=["fill_value"],
    jvp=_full_like_jvp,
    samples=_fills_like,
    infer=infer.creation.filled_like,
    dtype="array",
    steps=frozenset({"a", "shape"}),
    casts=True,
)
def full_like(
    z_bar: Array,
    a: Array,
    fill_value: Array,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Array:
    # The result has the dtype of ``a``: where ``a`` holds integers, nothing depends on the value.
    if dtype is None:
        return unbroadcast(uncast(z_bar, np.asarray(a).dtype, fill_value), np.shape(fill_value))
    return unbroadcast(uncast(z_bar, dtype, fill_value), np.shape(fill_value))


# --- ranges


def _ranges() -> Sequence[Sample]:
    points = [sample(1.5, 4), sample(0.0, 5, 2), sample(3, dtype=float), sample(2.5)]
    return [*points, sample(0.3, 2.15, 0.5), sample(0.3, 3.15), sample(2.2, 0.1, step=-0.5), sample(0, 2.2, 0.7)]


def _arange_jvp(z: Array, start_dot: Array, step_dot: Array, stop: Any = None) -> Array:
    if stop is None:
        return np.zeros(np.shape(z))
    return start_dot + step_dot * np.arange(np.size(z))


# Alone, the first argument is where the range ends.
@rule(
    np.arange,
    wrt=["start", "step"],
    steps=frozenset({"stop"}),
    jvp=_arange_jvp,
    infer=infer.creation.arange,
    dtype="operands",
    leading=3,
    samples=_ranges,
)
def arange(
    z_bar: Array, start: Array = None, stop: Any = None, step: Array = None, dtype: Any = None
) -> tuple[Array, Array]:
    if stop is None:
        return 0.0, 0.0
    return np.sum(z_bar), np.sum(z_bar * np.arange(np.size(z_bar)))
