"""Rules of what looks at the order of the elements, or leaves some of them out for what they are.

An element of a sorted array hands its adjoint to the one that NumPy's argsort puts in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, constant, linear, real, rule, sample
from s2sad.runtime.arrays import Shape
from s2sad.runtime.quantiles import mean_values, partition_order, scatter_order, share_values
from s2sad.runtime.selecting import trimmed_part, untrim
from s2sad.runtime.trees import real_like

Array = Any

constant(partition_order, trimmed_part)

# --- sorting ---


def _sort_jvp(a_dot: Array, a: Array, axis: int | None) -> Array:
    return np.take_along_axis(a_dot, np.argsort(a, axis=axis), axis)


# `order` names fields of structured arrays, which have no derivative.
@rule(np.sort, wrt=["a"], jvp=_sort_jvp, samples=sampling.SORTS, infer=infer.axes.scan)
def sort(
    z_bar: Array, a: Array, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None
) -> Array:
    return scatter_order(z_bar, np.argsort(a, axis=axis), np.shape(a), axis)


def _partitions() -> Sequence[Sample]:
    a = numbers(3, 4)
    tied = np.array([2.0, 1.0, 2.0, 0.5, 3.0])
    return [
        sample(numbers(6), 2),
        sample(numbers(6), -1),
        sample(a, [0, 2]),
        sample(a, (1, 2), axis=0),
        sample(a, 5, None),
        sample(numbers(1), 0),
        sample(singles(5), 2),
        sample(np.arange(5.0)[::-1] + 0.1 * tied, 3, kind="introselect"),
    ]


def _partition_jvp(a_dot: Array, z: Array, a: Array, kth: Any, axis: int | None) -> Array:
    return np.take_along_axis(a_dot, partition_order(a, z, kth, axis), axis)


@rule(np.partition, wrt=["a"], jvp=_partition_jvp, samples=_partitions, infer=infer.axes.scan)
def partition(z: Array, z_bar: Array, a: Array, kth: Any, axis: int | None = -1, kind: str = "introselect") -> Array:
    return scatter_order(z_bar, partition_order(a, z, kth, axis), np.shape(a), axis)


def _orders() -> Sequence[Sample]:
    a = numbers(3, 4)
    return [sample(a, np.argsort(a, axis), (3, 4), axis) for axis in (0, 1, -1)] + [
        sample(np.ravel(a), np.argsort(a, None), (3, 4), None)
    ]


@linear(scatter_order, wrt=["g"], samples=_orders, infer=infer.adjoints.into_shape, steps=frozenset({"shape"}))
def scatter_order_rule(z_bar: Array, g: Array, order: Any, shape: Shape, axis: int | None = -1) -> Array:
    return np.take_along_axis(z_bar, order, axis)


def _complex_sorts() -> Sequence[Sample]:
    return [sample(numbers(4)), sample(numbers(2, 3)), sample(complexes(4)), sample(numbers(0)), sample(singles(3))]


def _sort_complex_jvp(a_dot: Array, a: Array) -> Array:
    return np.take_along_axis(a_dot, np.argsort(a), -1) + 0j


@rule(
    np.sort_complex,
    wrt=["a"],
    jvp=_sort_complex_jvp,
    samples=_complex_sorts,
    infer=infer.axes.complex_numbers,
    dtype="unknown",
)
def sort_complex(z_bar: Array, a: Array) -> Array:
    if real(a):
        return scatter_order(np.real(z_bar), np.argsort(a), np.shape(a))
    return real_like(scatter_order(z_bar, np.argsort(a), np.shape(a)), a)


def _trimmed() -> Sequence[Sample]:
    # The number of results jumps where zeros change.
    return [sample(numbers(4)), sample(numbers(3), "f"), sample(complexes(3)), sample(singles(2)), sample(numbers(0))]


def _trim_zeros_jvp(filt_dot: Array, filt: Array, trim: str = "fb") -> Array:
    return np.asarray(filt_dot)[trimmed_part(filt, trim)]


# An element that is zero is cut off; where it is not it is its own.
@rule(np.trim_zeros, wrt=["filt"], jvp=_trim_zeros_jvp, samples=_trimmed, result="unknown", infer=infer.axes.trimmed)
def trim_zeros(z_bar: Array, filt: Array, trim: str = "fb") -> Array:
    return untrim(z_bar, filt, trim)


# --- values without repetition ---


def _values() -> Sequence[Sample]:
    return [sample(numbers(4)), sample(numbers(2, 3)), sample(np.zeros(0)), sample(singles(3)), sample(1.5)]


def _unique_jvp(ar_dot: Array, ar: Array) -> Array:
    return mean_values(ar_dot, ar)


# The number of results jumps where two elements meet; what is equal shares equally.
@rule(
    np.unique,
    wrt=["ar"],
    jvp=_unique_jvp,
    samples=_values,
    infer=infer.axes.with_axes(infer.axes.always(1)),
    gives=(tuple, np.ndarray),
)
def unique(z_bar: Array, ar: Array) -> Array:
    return share_values(z_bar, ar)


def _unique_values_jvp(x_dot: Array, z: Array, x: Array) -> Array:
    return mean_values(x_dot, x, z)


if hasattr(np, "unique_values"):  # NumPy 2.0; since 2.3 the values are in no order

    @rule(
        np.unique_values,
        wrt=["x"],
        jvp=_unique_values_jvp,
        samples=_values,
        infer=infer.axes.with_axes(infer.axes.always(1)),
    )
    def unique_values(z: Array, z_bar: Array, x: Array) -> Array:
        return share_values(z_bar, x, z)


@linear(
    share_values,
    steps=frozenset({"a", "values"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(2), np.array([[1.5, 0.5], [1.5, 1.5]]))],
)
def share_values_rule(z_bar: Array, g: Array, a: Array, values: Array = None) -> Array:
    return mean_values(z_bar, a, values)


@linear(
    mean_values,
    steps=frozenset({"a", "values"}),
    wrt=["t"],
    samples=lambda: [sample(numbers(2, 2), np.array([[1.5, 0.5], [1.5, 1.5]]))],
)
def mean_values_rule(z_bar: Array, t: Array, a: Array, values: Array = None) -> Array:
    return share_values(z_bar, a, values)
