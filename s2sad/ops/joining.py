"""Rules of the functions that join several arrays and that cut one into several.

Each is the other's transpose.  The adjoint of a list of arrays is a list of
their adjoints (a tuple for a tuple, an array for an array that was taken as the
sequence of its first axis); so is ``z_bar`` where the result is a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, linear, literal, rule, sample
from s2sad.runtime.indexed import c_, joined_adjoints, joined_tangent, r_
from s2sad.runtime.linear import (
    unblock,
    uncolumn_stack,
    unconcatenate,
    undstack,
    unhstack,
    unsplit,
    unstack,
    unvstack,
)

Array = Any

# --- joining ---


def _concatenations() -> Sequence[Sample]:
    a, b = numbers(2, 3), numbers(2, 3, seed=1)
    return [
        sample([a, b]),
        sample((a, b), 1),
        sample([a, numbers(1, 3)], axis=0),
        sample([a, numbers(2, 1)], axis=-1),
        sample([a, numbers(4), 2.5], axis=None),
        sample([numbers(2), numbers(0), numbers(3)]),
        sample([numbers(2)]),
        sample(numbers(3, 2, 2)),
        sample([complexes(2), complexes(3)]),
        sample([singles(2), singles(3)]),
        sample([numbers(2), singles(3)], dtype=np.float32),
        sample([singles(2), [0.5]], dtype=float, casting="safe"),
        sample([numbers(2), complexes(2)], dtype=complex),
    ]


@linear(np.concatenate, wrt=["arrays"], samples=_concatenations, infer=infer.joining.concatenated)
def concatenate(
    z_bar: Array, arrays: Any, axis: int | None = 0, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    return unconcatenate(z_bar, arrays, axis)


def _stacks() -> Sequence[Sample]:
    a, b = numbers(2, 3), numbers(2, 3, seed=1)
    return [
        sample([a, b]),
        sample((a, b), 1),
        sample([a, b], axis=2),
        sample([a, b], axis=-1),
        sample([a]),
        sample([1.5, 2.5]),
        sample([numbers(), 2.5]),
        sample([numbers(0), numbers(0)], axis=1),
        sample(numbers(3, 2), axis=1),
        sample([complexes(2), complexes(2, seed=1)], axis=1),
        sample([singles(2), singles(2, seed=1)]),
        sample([singles(2), numbers(2, seed=1)], dtype=np.float32),
    ]


@linear(np.stack, wrt=["arrays"], samples=_stacks, infer=infer.joining.stacked)
def stack(z_bar: Array, arrays: Any, axis: int = 0, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return unstack(z_bar, arrays, axis)


def _sets() -> Sequence[Sample]:
    """Lists of arrays of up to four dimensions, equal in shape."""
    return [
        sample([1.5, numbers()]),
        sample([numbers(3), numbers(3, seed=1)]),
        sample((numbers(2, 3), numbers(2, 3, seed=1))),
        sample([numbers(2, 3, 2), numbers(2, 3, 2, seed=1)]),
        sample([numbers(1, 2, 1, 2), numbers(1, 2, 1, 2, seed=1)]),
        sample([numbers(3)]),
        sample(numbers(3, 2)),
        sample([complexes(2), complexes(2, seed=1)]),
        sample([singles(2), singles(2, seed=1)]),
    ]


def _rows() -> Sequence[Sample]:
    typed = sample([singles(3), numbers(3)], dtype=float, casting="safe")
    return [*_sets(), sample([numbers(3), numbers(2, 3)]), sample([numbers(0, 3), numbers(3)]), typed]


@linear(np.vstack, wrt=["tup"], samples=_rows, infer=infer.joining.on_top)
def vstack(z_bar: Array, tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return unvstack(z_bar, tup)


def _sides() -> Sequence[Sample]:
    typed = sample([numbers(2), singles(3)], dtype=np.float32)
    sides = [sample([numbers(2), numbers(3), 1.5]), sample([numbers(2, 1), numbers(2, 0), numbers(2, 3)])]
    return [*_sets(), *sides, typed]


@linear(np.hstack, wrt=["tup"], samples=_sides, infer=infer.joining.side_by_side)
def hstack(z_bar: Array, tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return unhstack(z_bar, tup)


def _depths() -> Sequence[Sample]:
    return [*_sets(), sample([numbers(2, 3), numbers(2, 3, 2)]), sample([numbers(3), numbers(1, 3, 2)])]


@linear(np.dstack, wrt=["tup"], samples=_depths, infer=infer.axes.with_axes(infer.joining.joined(3)))
def dstack(z_bar: Array, tup: Any) -> Any:
    return undstack(z_bar, tup)


def _columns() -> Sequence[Sample]:
    return [*_sets()[1:], sample([numbers(2), numbers(2, 3), numbers(2, seed=1)]), sample([1.5, 2.5])]


@linear(np.column_stack, wrt=["tup"], samples=_columns, infer=infer.axes.with_axes(infer.joining.joined(2)))
def column_stack(z_bar: Array, tup: Any) -> Any:
    return uncolumn_stack(z_bar, tup)


def _appends() -> Sequence[Sample]:
    a = numbers(2, 3)
    return [
        sample(a, numbers(2)),
        sample(a, 2.5),
        sample(a, numbers(1, 3), 0),
        sample(a, numbers(2, 2), axis=-1),
        sample(numbers(0), numbers(2)),
        sample(complexes(2), complexes(3)),
        sample(singles(2), singles(3)),
    ]


@linear(np.append, wrt=["arr", "values"], samples=_appends, infer=infer.axes.with_axes(infer.axes.along("arr")))
def append(z_bar: Array, arr: Array, values: Array, axis: int | None = None) -> Any:
    return unconcatenate(z_bar, [arr, values], axis)[0], unconcatenate(z_bar, [arr, values], axis)[1]


def _blocks() -> Sequence[Sample]:
    a, b, c, d = numbers(2, 2), numbers(2, 1), numbers(1, 2), numbers(1, 1)
    return [
        sample([[a, b], [c, d]]),
        sample([a, b]),
        sample([[a], [c]]),
        sample([numbers(3), 1.5, numbers(2)]),
        sample([[1.5, 2.5], [3.5, 4.5]]),
        sample([[numbers(2), numbers(1)], [numbers(1, 3)]]),
        sample([[[numbers(2)]], [[numbers(2, seed=1)]]]),
        sample(a),
        sample([[numbers(3, 2, 2), numbers(3, 2, 1)]]),
        sample([complexes(2), complexes(1)]),
    ]


@linear(np.block, wrt=["arrays"], samples=_blocks, infer=infer.joining.blocks)
def block(z_bar: Array, arrays: Any) -> Any:
    return unblock(z_bar, arrays)


def _rows_of() -> Sequence[Sample]:
    a = numbers(3)
    return [
        sample(a, numbers(2)),
        sample(a, 1.5, numbers()),
        sample(numbers(2, 3), numbers(2, 3, seed=1)),
        sample([0.5, 1.5], a),
        sample(a),
        sample(complexes(2), 0.5),
        sample(singles(2), singles(3)),
        sample(singles(2), 0.5),
    ]


def _r_jvp(items_dot: Any, items: Any) -> Array:
    return joined_tangent(items_dot, items)


@rule(r_, wrt=["items"], jvp=_r_jvp, samples=_rows_of, infer=infer.joining.rows_joined)
def r__rule(z_bar: Array, *items: Any) -> Any:
    return joined_adjoints(z_bar, items)


def _columns_of() -> Sequence[Sample]:
    a = numbers(3)
    points = [sample(a, numbers(3, seed=1)), sample(a, numbers(3, 2)), sample(a), sample(1.5, 0.5)]
    return [*points, sample([0.5, 1.5], numbers(2)), sample(numbers(2, 2, 2), numbers(2, 2, 1))]


def _c_jvp(items_dot: Any, items: Any) -> Array:
    return joined_tangent(items_dot, items, True)


@rule(c_, wrt=["items"], jvp=_c_jvp, samples=_columns_of, infer=infer.joining.columns_joined, dtype="unknown")
def c__rule(z_bar: Array, *items: Any) -> Any:
    return joined_adjoints(z_bar, items, True)


# --- cutting ---


def _splits() -> Sequence[Sample]:
    a = numbers(4, 6)
    return [
        sample(a, 2),
        sample(a, 3, 1),
        sample(a, [1, 3]),
        sample(a, [2, 4], axis=-1),
        sample(a, [0, 9]),
        sample(a, [3, 1]),
        sample(a, np.array([-2, 1, 4]), 1),
        sample(numbers(3), 1),
        sample(complexes(4), 2),
        sample(singles(4), 2),
    ]


@linear(
    np.split,
    wrt=["ary"],
    samples=_splits,
    result="view",
    infer=infer.several.split,
    steps=frozenset({"indices_or_sections"}),
    gives=(list,),
)
def split(z_bar: Any, ary: Array, indices_or_sections: Any, axis: int = 0) -> Array:
    if literal(indices_or_sections):
        return np.concatenate(z_bar, axis)
    return unsplit(z_bar, ary, indices_or_sections, axis)


def _uneven_splits() -> Sequence[Sample]:
    return [*_splits(), sample(numbers(5), 3), sample(numbers(3, 5), 3, axis=1), sample(numbers(2), 4)]


@linear(
    np.array_split,
    wrt=["ary"],
    samples=_uneven_splits,
    result="view",
    infer=infer.several.split,
    steps=frozenset({"indices_or_sections"}),
    gives=(list,),
)
def array_split(z_bar: Any, ary: Array, indices_or_sections: Any, axis: int = 0) -> Array:
    if literal(indices_or_sections) and axis == 0:
        return np.concatenate(z_bar, axis)
    return unsplit(z_bar, ary, indices_or_sections, axis)


def _splits_sideways() -> Sequence[Sample]:
    return [
        sample(numbers(4), 2),
        sample(numbers(2, 4), [3, 1]),
        sample(numbers(2, 4, 2), 2),
        sample(complexes(4), [1, 3]),
    ]


@linear(
    np.hsplit,
    wrt=["ary"],
    samples=_splits_sideways,
    result="view",
    infer=infer.several.split,
    steps=frozenset({"indices_or_sections"}),
    gives=(list,),
)
def hsplit(z_bar: Any, ary: Array, indices_or_sections: Any) -> Array:
    if literal(indices_or_sections):
        return np.hstack(z_bar)
    return unsplit(z_bar, ary, indices_or_sections, int(np.ndim(ary) > 1))


def _splits_down() -> Sequence[Sample]:
    return [sample(numbers(4, 2), 2), sample(numbers(4, 3, 2), [1, 3])]


@linear(
    np.vsplit,
    wrt=["ary"],
    samples=_splits_down,
    result="view",
    infer=infer.several.split,
    steps=frozenset({"indices_or_sections"}),
    gives=(list,),
)
def vsplit(z_bar: Any, ary: Array, indices_or_sections: Any) -> Array:
    if literal(indices_or_sections):
        return np.concatenate(z_bar)
    return unsplit(z_bar, ary, indices_or_sections)


def _splits_deep() -> Sequence[Sample]:
    return [sample(numbers(2, 2, 4), 2), sample(numbers(2, 1, 4, 2), [1, 3])]


@linear(
    np.dsplit,
    wrt=["ary"],
    samples=_splits_deep,
    result="view",
    infer=infer.several.split,
    steps=frozenset({"indices_or_sections"}),
    gives=(list,),
)
def dsplit(z_bar: Any, ary: Array, indices_or_sections: Any) -> Array:
    if literal(indices_or_sections):
        return np.concatenate(z_bar, axis=2)
    return unsplit(z_bar, ary, indices_or_sections, 2)


def _layers() -> Sequence[Sample]:
    a = numbers(2, 3)
    return [sample(a), sample(a, axis=1), sample(a, axis=-1), sample(numbers(2)), sample(complexes(2, 2))]


if hasattr(np, "unstack"):  # NumPy 2.1

    @linear(
        np.unstack,
        wrt=["x"],
        samples=_layers,
        result="view",
        closer=infer.memory.of_layers_of_one,
        infer=infer.several.unstacked,
        gives=(tuple,),
    )
    def unstack_(z_bar: Any, x: Array, *, axis: Any = 0) -> Array:
        if literal(axis):
            return np.stack(z_bar, axis)
        return np.moveaxis(np.stack(z_bar), 0, axis)  # NumPy takes an axis in a tuple too
