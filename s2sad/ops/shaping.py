"""Rules of the functions that give the same elements another shape or order.

Each is linear in its array, so a rule is the transpose alone: what was moved
goes back.  Where one NumPy function is that transpose the body names it; else a
helper of `s2sad.runtime.linear` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.forms import METHOD, Form
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, linear, literal, ndim, rule, sample
from s2sad.runtime.linear import inverse_axes, layout_order, unrollaxis

Array = Any

# --- the same elements in another shape ---


def _reshapes() -> Sequence[Sample]:
    a = numbers(2, 3)
    return [
        sample(a, (3, 2)),
        sample(a, -1),
        sample(a, (1, 6, -1)),
        sample(a, (3, 2), order="F"),
        sample(a, (3, 2), "F"),
        sample(a, (6,), order="A"),
        sample(a, (3, 2), copy=True),
        sample(numbers(), (1, 1)),
        sample(numbers(1), ()),
        sample(numbers(0, 3), (3, 0)),
        sample(complexes(2, 3), 6),
        sample(singles(4), (2, 2)),
    ]


def _reshape_jvp(a_dot: Array, a: Array, shape: Any, order: str = "C") -> Array:
    if order == "C":
        return np.reshape(a_dot, shape)
    return np.reshape(a_dot, shape, order=layout_order(order, a))


@rule(
    np.reshape,
    wrt=["a"],
    jvp=_reshape_jvp,
    samples=_reshapes,
    infer=infer.shaping.reshaped,
    forms=(Form("reshape", gathers="shape"),),
    result="maybe_view",
    steps=frozenset({"shape"}),
)
def reshape(z_bar: Array, a: Array, shape: Any, order: str = "C", *, copy: bool | None = None) -> Array:
    if order == "C":
        return np.reshape(z_bar, np.shape(a))
    return np.reshape(z_bar, np.shape(a), order=layout_order(order, a))


def _ravels() -> Sequence[Sample]:
    a = numbers(2, 3)
    return [
        sample(a),
        sample(a, "F"),
        sample(a, order="C"),
        sample(a, order="A"),
        sample(a, order="K"),
        sample(numbers()),
        sample(numbers(0, 2)),
        sample(numbers(2, 1, 2)),
        sample(complexes(2, 2)),
        sample(singles(2, 2)),
    ]


def _ravel_jvp(a_dot: Array, a: Array, order: str = "C") -> Array:
    if order == "C":
        return np.ravel(a_dot)
    return np.ravel(a_dot, order=layout_order(order, a))


@rule(
    np.ravel,
    wrt=["a"],
    jvp=_ravel_jvp,
    samples=_ravels,
    infer=infer.shaping.in_one_row,
    result="maybe_view",
    closer=infer.memory.of_list,
    forms=(Form("ravel"), Form("flatten", result="fresh")),
)
def ravel(z_bar: Array, a: Array, order: str = "C") -> Array:
    if order == "C":
        return np.reshape(z_bar, np.shape(a))
    return np.reshape(z_bar, np.shape(a), order=layout_order(order, a))


def _transposes() -> Sequence[Sample]:
    a = numbers(2, 3, 4)
    return [
        sample(numbers(2, 3)),
        sample(a),
        sample(a, (1, 2, 0)),
        sample(a, (-1, 0, 1)),
        sample(a, axes=[2, 0, 1]),
        sample(a, axes=None),
        sample(numbers(3)),
        sample(numbers()),
        sample(numbers(0, 3)),
        sample(numbers(1, 3)),
        sample(complexes(2, 3)),
        sample(singles(2, 3)),
    ]


@linear(
    np.transpose,
    wrt=["a"],
    samples=_transposes,
    result="view",
    infer=infer.shaping.transposed,
    forms=(Form("transpose", gathers="axes"), Form("T", "attribute")),
)
def transpose(z_bar: Array, a: Array, axes: Any = None) -> Array:
    if axes is None and ndim(a) == 2:
        return z_bar.T
    if axes is None:
        return np.transpose(z_bar)
    if axes is not None:
        return np.transpose(z_bar, np.argsort(np.mod(axes, np.ndim(a))))
    return np.transpose(z_bar, inverse_axes(axes, np.ndim(a)))


def _matrix_stacks() -> Sequence[Sample]:
    return [sample(numbers(2, 3)), sample(numbers(2, 3, 4)), sample(numbers(1, 0)), sample(complexes(2, 2, 3))]


@linear(
    np.matrix_transpose,
    wrt=["x"],
    samples=_matrix_stacks,
    result="view",
    infer=infer.shaping.matrix_transposed,
    forms=(Form("mT", "attribute"),),
)
def matrix_transpose(z_bar: Array, x: Array) -> Array:
    return np.matrix_transpose(z_bar)


linear(
    np.linalg.matrix_transpose,
    wrt=["x"],
    samples=_matrix_stacks,
    result="view",
    infer=infer.shaping.matrix_transposed,
)(matrix_transpose)


def _axis_pairs() -> Sequence[Sample]:
    a = numbers(2, 3, 4)
    return [
        sample(a, 0, 2),
        sample(a, -1, 0),
        sample(a, 1, -1),
        sample(a, 1, 1),
        sample(numbers(1, 3), 0, 1),
        sample(numbers(0, 3), 0, 1),
        sample(numbers(3), 0, 0),
        sample(complexes(2, 3), 0, 1),
    ]


@linear(np.swapaxes, wrt=["a"], samples=_axis_pairs, result="view", infer=infer.shaping.axes_swapped, forms=METHOD)
def swapaxes(z_bar: Array, a: Array, axis1: int, axis2: int) -> Array:
    return np.swapaxes(z_bar, axis1, axis2)


def _moves() -> Sequence[Sample]:
    a = numbers(2, 3, 4)
    return [*_axis_pairs(), sample(a, (0, 1), (-1, 0)), sample(a, [2, 0, 1], [0, 1, 2]), sample(a, (-1,), (0,))]


@linear(
    np.moveaxis,
    wrt=["a"],
    samples=_moves,
    result="view",
    infer=infer.shaping.axis_moved,
    steps=frozenset({"destination", "source"}),
)
def moveaxis(z_bar: Array, a: Array, source: Any, destination: Any) -> Array:
    return np.moveaxis(z_bar, destination, source)


def _rolled_axes() -> Sequence[Sample]:
    a = numbers(2, 3, 4)
    return [sample(a, axis, start) for axis in (0, 1, 2, -1) for start in (0, 1, 2, 3, -1)] + [sample(a, 2)]


@linear(np.rollaxis, wrt=["a"], samples=_rolled_axes, result="view", infer=infer.axes.with_axes(infer.axes.same("a")))
def rollaxis(z_bar: Array, a: Array, axis: int, start: int = 0) -> Array:
    return unrollaxis(z_bar, axis, start)


def _squeezes() -> Sequence[Sample]:
    a = numbers(1, 3, 1)
    return [
        sample(a),
        sample(a, 0),
        sample(a, axis=-1),
        sample(a, axis=(0, 2)),
        sample(numbers(1)),
        sample(numbers()),
        sample(numbers(1, 0)),
        sample(complexes(1, 2)),
    ]


@linear(np.squeeze, wrt=["a"], samples=_squeezes, result="view", infer=infer.shaping.squeezed, forms=METHOD)
def squeeze(z_bar: Array, a: Array, axis: Any = None) -> Array:
    return np.reshape(z_bar, np.shape(a))


def _expansions() -> Sequence[Sample]:
    a = numbers(2, 3)
    return [
        sample(a, 0),
        sample(a, -1),
        sample(a, (0, 2)),
        sample(a, axis=(-1, 0)),
        sample(numbers(), 0),
        sample(numbers(0), 1),
        sample(complexes(2), 1),
    ]


@linear(np.expand_dims, wrt=["a"], samples=_expansions, result="view", infer=infer.shaping.expanded)
def expand_dims(z_bar: Array, a: Array, axis: Any) -> Array:
    return np.reshape(z_bar, np.shape(a))


def _any_dimensions() -> Sequence[Sample]:
    return [sample(numbers(*(2, 3, 2, 2)[:n])) for n in range(5)] + [
        sample(1.5),
        sample(numbers(0)),
        sample(complexes(2)),
    ]


@linear(
    np.atleast_1d,
    wrt=["ary"],
    samples=_any_dimensions,
    infer=infer.axes.with_axes(infer.axes.same("ary")),
    result="maybe_view",
    closer=infer.memory.of_list,
    gives=(tuple, np.ndarray),
)
def atleast_1d(z_bar: Array, ary: Array) -> Array:
    return np.reshape(z_bar, np.shape(ary))


@linear(
    np.atleast_2d,
    wrt=["ary"],
    samples=_any_dimensions,
    infer=infer.axes.with_axes(infer.axes.same("ary", 2)),
    result="maybe_view",
    closer=infer.memory.of_list,
    gives=(tuple, np.ndarray),
)
def atleast_2d(z_bar: Array, ary: Array) -> Array:
    return np.reshape(z_bar, np.shape(ary))


@linear(
    np.atleast_3d,
    wrt=["ary"],
    samples=_any_dimensions,
    result="unknown",
    infer=infer.axes.with_axes(infer.axes.same("ary", 3)),
    gives=(tuple, np.ndarray),
)
def atleast_3d(z_bar: Array, ary: Array) -> Array:
    return np.reshape(z_bar, np.shape(ary))


# --- the same elements in another order ---


def _flips() -> Sequence[Sample]:
    a = numbers(2, 3, 4)
    return [
        sample(a),
        sample(a, 1),
        sample(a, axis=-1),
        sample(a, axis=(0, -1)),
        sample(numbers(3)),
        sample(numbers()),
        sample(numbers(0, 2), 0),
        sample(complexes(3)),
    ]


@linear(
    np.flip,
    wrt=["m"],
    samples=_flips,
    result="view",
    infer=infer.common.same_as_first,
    closer=infer.memory.of_reversed,
)
def flip(z_bar: Array, m: Array, axis: Any = None) -> Array:
    return np.flip(z_bar, axis)


def _matrices() -> Sequence[Sample]:
    return [sample(numbers(2, 3)), sample(numbers(2, 3, 2)), sample(numbers(0, 2)), sample(complexes(1, 3))]


@linear(np.fliplr, wrt=["m"], samples=_matrices, result="view", infer=infer.common.same_as_first)
def fliplr(z_bar: Array, m: Array) -> Array:
    return np.fliplr(z_bar)


@linear(np.flipud, wrt=["m"], samples=_matrices, result="view", infer=infer.common.same_as_first)
def flipud(z_bar: Array, m: Array) -> Array:
    return np.flipud(z_bar)


def _rotations() -> Sequence[Sample]:
    a = numbers(2, 3, 4)
    turns = [sample(a, k, axes) for k in (-1, 0, 1, 2, 3, 5) for axes in ((0, 1), (2, 0), (-1, 1))]
    return [*turns, sample(numbers(2, 3)), sample(complexes(2, 3), k=3), sample(a, np.True_)]


@linear(
    np.rot90,
    wrt=["m"],
    samples=_rotations,
    result="view",
    infer=infer.axes.with_axes(infer.axes.same("m", 2)),
    steps=frozenset({"k"}),
)
def rot90(z_bar: Array, m: Array, k: int = 1, axes: Any = (0, 1)) -> Array:
    if literal(k):
        return np.rot90(z_bar, -k, axes)
    return np.rot90(z_bar, 3 * k, axes)  # NumPy's truth values have no negatives


def _rolls() -> Sequence[Sample]:
    a = numbers(3, 4)
    return [
        sample(a, 2),
        sample(a, -5),
        sample(a, 1, 0),
        sample(a, -1, axis=-1),
        sample(a, (1, 2), (0, 1)),
        sample(a, (1, -2), axis=(0, 0)),
        sample(a, 3, axis=(0, 1)),
        sample(a, np.array([1, 2]), (0, 1)),
        sample(a, True),
        sample(a, np.array([True, False]), (0, 1)),
        sample(a, np.uint8(1), 1),
        sample(numbers(0), 1),
        sample(numbers(), 1),
        sample(complexes(3), 1),
    ]


@linear(np.roll, wrt=["a"], samples=_rolls, infer=infer.common.same_as_first, steps=frozenset({"shift"}))
def roll(z_bar: Array, a: Array, shift: Any, axis: Any = None) -> Array:
    if literal(shift):
        return np.roll(z_bar, -shift, axis)
    return np.roll(z_bar, -np.asarray(shift, "int64"), axis)


def _shifts() -> Sequence[Sample]:
    a = numbers(3, 4)
    return [
        sample(a),
        sample(a, 0),
        sample(a, axes=-1),
        sample(a, axes=(0, 1)),
        sample(numbers(3)),
        sample(complexes(5)),
    ]


@linear(np.fft.fftshift, wrt=["x"], samples=_shifts, infer=infer.common.same_as_first)
def fftshift(z_bar: Array, x: Array, axes: Any = None) -> Array:
    return np.fft.ifftshift(z_bar, axes)


@linear(np.fft.ifftshift, wrt=["x"], samples=_shifts, infer=infer.common.same_as_first)
def ifftshift(z_bar: Array, x: Array, axes: Any = None) -> Array:
    return np.fft.fftshift(z_bar, axes)
