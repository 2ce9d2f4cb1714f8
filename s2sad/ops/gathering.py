"""Rules of the functions that pick elements by their positions.

An element that is picked several times gets the sum of its adjoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.forms import METHOD
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, linear, sample
from s2sad.runtime.linear import like, undelete, unflat_values, untake, untake_along_axis
from s2sad.runtime.positions import flat_values

Array = Any


def _takes() -> Sequence[Sample]:
    a = numbers(3, 4)
    repeated = np.array([0, 2, 0])
    return [
        sample(a, 5),
        sample(a, repeated),
        sample(a, repeated, 0),
        sample(a, [[0, 1], [-1, 0]], axis=1),
        sample(a, 1, axis=0),
        sample(a, -1, axis=-1),
        sample(a, [5, -7], axis=1, mode="wrap"),
        sample(a, [5, -7, 1], axis=1, mode="clip"),
        sample(a, [20, 3], mode="wrap"),
        sample(a, np.zeros((0,), int)),
        sample(numbers(1), [0, 0]),
        sample(complexes(3), repeated),
        sample(singles(3), repeated),
        sample(numbers(2, 3, 2), np.array([[0, 1, 1]]), axis=1),
    ]


@linear(
    np.take,
    wrt=["a"],
    samples=_takes,
    infer=infer.axes.with_known_axes(infer.axes.taken),
    forms=METHOD,
    reads_first=True,
    steps=frozenset({"indices"}),
    picks="elements",
)
def take(z_bar: Array, a: Array, indices: Any, axis: int | None = None, *, mode: str = "raise") -> Array:
    return untake(z_bar, np.shape(a), indices, axis, mode)


def _takes_along() -> Sequence[Sample]:
    a = numbers(3, 4)
    return [
        sample(a, np.argsort(a, axis=0), 0),
        sample(a, np.argsort(a, axis=1), axis=1),
        sample(a, np.array([[0], [0], [3]]), axis=-1),
        sample(a, np.array([[1, 0, 0, 2]]), axis=0),
        sample(a, np.array([[1, 1, 3]]), axis=1),
        sample(numbers(1, 4), np.array([[0, 0], [1, 3]]), axis=1),
        sample(a, np.array([3, 3, -1]), axis=None),
        sample(complexes(3), np.array([1, 1]), axis=0),
        sample(singles(3), np.array([1, 1]), axis=0),
    ]


@linear(
    np.take_along_axis,
    wrt=["arr"],
    samples=_takes_along,
    infer=infer.axes.with_axes(infer.axes.along("arr")),
    steps=frozenset({"indices"}),
    picks="elements",
)
def take_along_axis(z_bar: Array, arr: Array, indices: Any, axis: int | None = -1) -> Array:
    return untake_along_axis(z_bar, np.shape(arr), indices, axis)


def _compressions() -> Sequence[Sample]:
    a = numbers(3, 4)
    return [
        sample([True, False, True], a, 0),
        sample([0, 1], a, axis=-1),
        sample(np.array([True, False, True, True]), a),
        sample([False], numbers(2)),
        sample([True, True], complexes(2)),
    ]


@linear(
    np.compress,
    wrt=["a"],
    samples=_compressions,
    infer=infer.axes.with_axes(infer.axes.along("a")),
    reads_first=True,
    steps=frozenset({"condition"}),
    picks="numbers",
)
def compress(z_bar: Array, condition: Any, a: Array, axis: int | None = None) -> Array:
    return untake(z_bar, np.shape(a), np.flatnonzero(condition), axis)


def _extractions() -> Sequence[Sample]:
    a = numbers(3, 4)
    return [sample(a > 0, a), sample(a > 9, a), sample([1, 0, 1], complexes(3)), sample(a.T > 0, singles(3, 4))]


@linear(
    np.extract,
    wrt=["arr"],
    samples=_extractions,
    infer=infer.axes.with_axes(infer.axes.always(1)),
    steps=frozenset({"condition"}),
    picks="numbers",
)
def extract(z_bar: Array, condition: Any, arr: Array) -> Array:
    return untake(z_bar, np.shape(arr), np.flatnonzero(condition))


def _deletions() -> Sequence[Sample]:
    a = numbers(3, 4)
    return [
        sample(a, 1),
        sample(a, 1, 0),
        sample(a, [0, -1], axis=1),
        sample(a, slice(None, None, 2), axis=1),
        sample(a, np.array([True, False, True]), axis=0),
        sample(numbers(3), []),
        sample(complexes(3), 0),
        sample(singles(3), 0),
    ]


@linear(
    np.delete,
    wrt=["arr"],
    samples=_deletions,
    infer=infer.axes.with_axes(infer.axes.along("arr")),
    steps=frozenset({"obj"}),
)
def delete(z_bar: Array, arr: Array, obj: Any, axis: int | None = None) -> Array:
    return undelete(z_bar, np.shape(arr), obj, axis)


def _resizes() -> Sequence[Sample]:
    return [
        sample(numbers(3), 5),
        sample(numbers(2, 3), (2, 2)),
        sample(numbers(2, 2), (3, 3)),
        sample(numbers(2), (0,)),
        sample(complexes(2), 3),
    ]


@linear(
    np.resize,
    wrt=["a"],
    samples=_resizes,
    infer=infer.axes.with_known_axes(infer.axes.resized),
    steps=frozenset({"new_shape"}),
)
def resize(z_bar: Array, a: Array, new_shape: Any) -> Array:
    return untake(z_bar, np.shape(a), np.resize(np.arange(np.size(a)), new_shape))


def _stored_in_flat() -> Sequence[Sample]:
    every, one = (2, 3), (numbers(6), numbers(2, 3), numbers(2), numbers(8), 0.7, complexes(2), singles(2))
    rows = [sample(values, every, slice(None)) for values in one]
    rows += [sample(0.7, every, 2), sample(numbers(2), every, np.array([1, 4, 0]))]
    return [*rows, sample([0.5, 1.5], (3,), slice(2))]


# Several values are a row.
@linear(
    flat_values,
    wrt=["values"],
    samples=_stored_in_flat,
    infer=infer.axes.stored_row,
    result="maybe_view",
    dtype="unknown",
    steps={"index"},
)
def stored_in_flat(z_bar: Array, values: Any, shape: Any, index: Any) -> Any:
    return like(unflat_values(z_bar, np.shape(values)), values)


def _counts() -> Sequence[Sample]:
    x = np.array([0, 2, 0, 3])
    return [sample(x, numbers(4)), sample(x, numbers(4), 6), sample(x, weights=numbers(4), minlength=2)]


@linear(
    np.bincount,
    wrt=["weights"],
    samples=_counts,
    infer=infer.axes.with_axes(infer.axes.always(1)),
    dtype="unknown",
    steps=frozenset({"x"}),
)
def bincount(z_bar: Array, x: Any, weights: Any = None, minlength: int = 0) -> Array:
    return np.take(z_bar, x)
