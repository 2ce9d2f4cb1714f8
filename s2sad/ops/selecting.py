"""Rules of choices among several arrays, of elements put between others, and of arrays made to fit each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.forms import METHOD
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, constant, linear, real, rule, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.linear import cast, like
from s2sad.runtime.selecting import (
    inserted_values,
    key_order,
    piece_conditions,
    result_dtype,
    unchoose,
    uninsert,
    unselect,
)
from s2sad.runtime.trees import real_like

Array = Any

constant(piece_conditions, result_dtype, key_order)

# --- choices ---


def _choices() -> Sequence[Sample]:
    a = np.array([[0, 1, 0], [1, 1, 0]])
    x, y = numbers(2, 3), numbers(3, seed=1)
    return [
        sample(a, [x, y]),
        sample(a, (x, 2.5)),
        sample(a, numbers(2, 3)),
        sample(a + 3, [x, y], mode="wrap"),
        sample(a - 5, [x, y], mode="clip"),
        sample(1, [x, y]),
        sample(a, [complexes(3), y]),
        sample(a, [singles(3), singles(3, seed=1)]),
    ]


@linear(
    np.choose,
    wrt=["choices"],
    samples=_choices,
    infer=infer.positions.by_number,
    steps=frozenset({"a"}),
    dtype="unknown",
    forms=METHOD,
)
def choose(z_bar: Array, a: Array, choices: Any, *, mode: str = "raise") -> Any:
    return unchoose(z_bar, a, choices, mode)


@linear(
    unchoose,
    steps=frozenset({"choices"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(2), np.array([1, 0]), [numbers(2), numbers(2)])],
)
def unchoose_rule(z_bar: Any, g: Array, a: Array, choices: Any, mode: Any = "raise") -> Array:
    return np.choose(a, z_bar, mode=mode)


def _selections() -> Sequence[Sample]:
    x, y = numbers(2, 3), numbers(3, seed=1)
    return [
        sample([x > 0.5, x < -0.5], [x, 2 * x]),
        sample([x > 0.5, x < -0.5], [x, y], 1.5),
        sample([x > 0, x > -1], [x, 2 * x], y),
        sample([y > 0], [y], default=2.5),
        sample([y > 0], [complexes(3)]),
        sample([y > 0], [singles(3)], np.float32(1.5)),
    ]


@linear(
    np.select,
    only_arrays=True,
    wrt=["choicelist", "default"],
    samples=_selections,
    infer=infer.positions.selected,
    steps=frozenset({"condlist"}),
)
def select(z_bar: Array, condlist: Any, choicelist: Any, default: Array = 0) -> tuple[Any, Array]:
    bars = unselect(z_bar, condlist, choicelist, default)
    return bars[0], bars[1]


# --- elements between others ---


def _insertions() -> Sequence[Sample]:
    a = numbers(3, 4)
    return [
        sample(numbers(4), 1, 2.5),
        sample(numbers(4), [0, 2], numbers(2)),
        sample(numbers(4), [0, 2, 2], 1.5),
        sample(numbers(4), slice(0, 4, 2), numbers(2)),
        sample(numbers(4), 2, numbers(3)),
        sample(numbers(4), -1, [0.5, 1.5]),
        sample(a, 5, 1.5),
        sample(a, 1, numbers(4), axis=0),
        sample(a, 1, numbers(3), axis=1),
        sample(a, [1, 3], numbers(3, 2), axis=1),
        sample(a, [0, 2], numbers(4), axis=0),
        sample(a, 2, 0.5, axis=-1),
        sample(complexes(3), 1, 0.5j),
        sample(singles(3), 1, singles(2)),
    ]


def _insert_jvp(arr_dot: Any, values_dot: Any, z: Array, obj: Any, axis: int | None = None) -> Array:
    return cast(np.insert(arr_dot, obj, values_dot, axis), np.result_type(z))


@rule(
    np.insert,
    wrt=["arr", "values"],
    jvp=_insert_jvp,
    samples=_insertions,
    infer=infer.axes.with_axes_of("arr"),
    dtype="array",
    steps=frozenset({"obj"}),
)
def insert(z: Array, z_bar: Array, arr: Array, obj: Any, values: Array, axis: int | None = None) -> tuple[Array, Array]:
    return uninsert(z_bar, arr, obj, values, axis), inserted_values(z_bar, z.dtype, np.shape(arr), obj, values, axis)


# --- arrays made to fit each other ---


def _several() -> Sequence[Sample]:
    return [
        sample(numbers(2, 1), numbers(3)),
        sample(numbers(2, 3)),
        sample(numbers(3), 1.5),
        sample(complexes(2), numbers(1)),
        sample(singles(2), singles(1)),
    ]


@linear(
    np.broadcast_arrays,
    wrt=["args"],
    samples=_several,
    infer=infer.several.broadcast_together,
    result="unknown",
    mirrors=False,
    dtype="unknown",
    gives=(tuple,),
)
def broadcast_arrays(z_bar: Any, *args: Array) -> list[Array]:
    return [unbroadcast(z_bar[i], np.shape(args[i])) for i in range(len(args))]


def _rows() -> Sequence[Sample]:
    return [sample(numbers(2), numbers(3)), sample(numbers(2), [0.5, 2.5]), sample(numbers(2))]


@linear(
    np.ix_,
    wrt=["args"],
    samples=_rows,
    infer=infer.several.open_mesh,
    result="unknown",
    mirrors=False,
    dtype="unknown",
    gives=(tuple,),
)
def ix_(z_bar: Any, *args: Array) -> list[Array]:
    return [like(np.reshape(z_bar[i], np.shape(args[i])), args[i]) for i in range(len(args))]


# --- conversions that look at the values ---


def _finite() -> Sequence[Sample]:
    return [sample(numbers(3)), sample([0.5, 1.5]), sample(complexes(2)), sample(singles(2)), sample(0.5)]


@linear(
    np.asarray_chkfinite,
    only_arrays=True,
    wrt=["a"],
    samples=_finite,
    infer=infer.joining.array_from("a"),
    result="maybe_view",
    closer=infer.memory.of_list,
    dtype="inferred",
)
def asarray_chkfinite(z_bar: Array, a: Array) -> Any:
    return like(z_bar, a)


def _nearly_real() -> Sequence[Sample]:
    return [sample(numbers(3)), sample(complexes(2)), sample(0.5), sample(singles(2))]


def _real_if_close_jvp(a_dot: Array, z: Array) -> Array:
    return real_like(a_dot, z)


@rule(np.real_if_close, wrt=["a"], jvp=_real_if_close_jvp, samples=_nearly_real, result="unknown", dtype="unknown")
def real_if_close(z: Array, z_bar: Array, a: Array, tol: float = 100) -> Array:
    if real(a):
        return z_bar
    return real_like(z_bar, z)
