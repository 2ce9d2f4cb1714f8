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
from s2sad.runtime.quantiles import (
    mean_values,
    partition_order,
    scatter_order,
    share_values,
    unique_adjoint,
    unique_tangent,
)
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


@linear(
    untrim,
    wrt=["g"],
    steps=frozenset({"a"}),
    samples=lambda: [
        sample(numbers(2), np.array([0.0, 0.5, 1.5, 0.0])),
        sample(numbers(2), np.array([0, 2.0, 0]), "f"),
    ],
    result="unknown",
    infer=infer.adjoints.adjoint_of("a"),
)
def untrim_rule(z_bar: Array, g: Array, a: Array, trim: str = "fb") -> Array:
    return np.asarray(z_bar)[trimmed_part(a, trim)]


# --- values without repetition ---


def _values() -> Sequence[Sample]:
    return [sample(numbers(4)), sample(numbers(2, 3)), sample(np.zeros(0)), sample(singles(3)), sample(1.5)]


def _uniques() -> Sequence[Sample]:
    points = [sample(a, True, return_counts=True) for a in (numbers(4), numbers(2, 3), 1.5, np.zeros(0))]
    points += [sample(numbers(3, 2), axis=axis) for axis in (0, 1, -1)]
    points += [sample(numbers(2, 2, 2), False, True, axis=1), sample(complexes(3), return_inverse=True)]
    points += [sample(singles(3, 2), axis=0), sample(singles(3), equal_nan=False)]
    if np.lib.NumpyVersion(np.__version__) >= "2.3.0":
        points.append(sample(numbers(3), sorted=False))
    return [*_values(), *points, sample(numbers(3), equal_nan=False)]


def _unique_jvp(
    ar_dot: Array,
    z: Any,
    ar: Array,
    return_index: bool,
    return_inverse: bool,
    return_counts: bool,
    axis: int | None,
    equal_nan: bool,
    sorted: bool,
) -> Any:
    if (
        return_index is False
        and return_inverse is False
        and return_counts is False
        and axis is None
        and equal_nan is True
        and sorted is True
    ):
        return mean_values(ar_dot, ar)
    return unique_tangent(ar_dot, z, ar, axis, equal_nan, sorted)


# The number of results jumps where two elements meet; what is equal shares equally.
@rule(
    np.unique,
    wrt=["ar"],
    jvp=_unique_jvp,
    samples=_uniques,
    infer=infer.axes.unique,
    gives=(tuple, np.ndarray),
    integers=(1, 2, 3),
)
def unique(
    z: Any,
    z_bar: Any,
    ar: Array,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Array:
    if (
        return_index is False
        and return_inverse is False
        and return_counts is False
        and axis is None
        and equal_nan is True
        and sorted is True
    ):
        return share_values(z_bar, ar)
    return unique_adjoint(z_bar, z, ar, axis, equal_nan, sorted)


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


def _named_jvp(x_dot: Array, z: Any, x: Array) -> Any:
    return unique_tangent(x_dot, z, x, None, False)


for _name, _fields in (
    ("unique_all", ("values", "indices", "inverse_indices", "counts")),
    ("unique_inverse", ("values", "inverse_indices")),
    ("unique_counts", ("values", "counts")),
):
    if hasattr(np, _name):  # NumPy 2.0

        @rule(
            getattr(np, _name),
            wrt=["x"],
            jvp=_named_jvp,
            samples=_values,
            infer=infer.axes.named_values(_fields),
            gives=(tuple,),
            integers=(1, 2, 3, *_fields[1:]),
        )
        def named(z: Any, z_bar: Any, x: Array) -> Array:
            return unique_adjoint(z_bar, z, x, None, False)


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


@linear(
    unique_adjoint,
    steps=frozenset({"values", "a"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), numbers(2, 3), np.concatenate([numbers(2, 3), numbers(2, 3)[:1]]), 0)],
)
def unique_adjoint_rule(
    z_bar: Array, g: Array, values: Any, a: Array, axis: int | None = None, equal_nan: bool = True, ordered: bool = True
) -> Array:
    return unique_tangent(z_bar, values, a, axis, equal_nan, ordered)


@linear(
    unique_tangent,
    steps=frozenset({"values", "a"}),
    wrt=["t"],
    samples=lambda: [sample(numbers(3, 3), numbers(2, 3), np.concatenate([numbers(2, 3), numbers(2, 3)[:1]]), 0)],
)
def unique_tangent_rule(
    z_bar: Array, t: Array, values: Any, a: Array, axis: int | None = None, equal_nan: bool = True, ordered: bool = True
) -> Array:
    return unique_adjoint(z_bar, values, a, axis, equal_nan, ordered)
