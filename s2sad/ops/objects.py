"""Rules of what has a method only: ``x.item()``."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.forms import METHOD, Form
from s2sad.ops.infer.common import broadcast_of_all
from s2sad.ops.spec import Sample, constant, linear, operation, sample
from s2sad.runtime.arrays import as_subtracted as as_subtracted_
from s2sad.runtime.arrays import in_full as in_full_
from s2sad.runtime.arrays import signed, unbroadcast
from s2sad.runtime.arrays import widened as widened_
from s2sad.runtime.copies import copy_arrays as copy_arrays_
from s2sad.runtime.copies import copy_reachable as copy_reachable_
from s2sad.runtime.copies import copy_together
from s2sad.runtime.items import items_like, key_among, place_among, with_keywords
from s2sad.runtime.items import no_function as no_function_
from s2sad.runtime.linear import untake
from s2sad.runtime.marks import stop_gradient
from s2sad.runtime.objects import array_of as array_of_
from s2sad.runtime.objects import as_many_rows as as_many_rows_
from s2sad.runtime.objects import at_least as at_least_
from s2sad.runtime.objects import compressed as compressed_
from s2sad.runtime.objects import copy_of as copy_of_
from s2sad.runtime.objects import item as item_
from s2sad.runtime.objects import longest, named_only, object_with, unitem, unless_empty, untolist
from s2sad.runtime.objects import number as number_
from s2sad.runtime.objects import object_of as object_of_
from s2sad.runtime.objects import plain as plain_
from s2sad.runtime.objects import sole_number as sole_number_
from s2sad.runtime.objects import state_of as state_of_
from s2sad.runtime.objects import still as still_
from s2sad.runtime.objects import tolist as tolist_
from s2sad.runtime.objects import viewed as viewed_
from s2sad.runtime.tangents import as_tangent as as_tangent_
from s2sad.runtime.tangents import real_array as real_array_
from s2sad.runtime.trees import add as add_
from s2sad.runtime.trees import conformed as conformed_
from s2sad.runtime.trees import fresh as fresh_
from s2sad.runtime.trees import in_item as in_item_
from s2sad.runtime.trees import in_slice as in_slice_
from s2sad.runtime.trees import own as own_
from s2sad.runtime.trees import real_like, scalar_seed, unadd, zeros


def _numbers() -> Sequence[Sample]:
    return [sample(1.5), sample(np.array([2.5, -1.0])), sample(np.array([1.0 + 2.0j]))]


@linear(own_, wrt=["x"], samples=_numbers, infer=infer.common.first, dtype="inferred")
def own(z_bar: Any, x: Any) -> Any:
    return z_bar


@linear(copy_arrays_, wrt=["x"], samples=_numbers, infer=infer.common.first, dtype="inferred")
def copy_arrays(z_bar: Any, x: Any) -> Any:
    return z_bar


@linear(copy_reachable_, wrt=["x"], samples=_numbers, infer=infer.common.first, dtype="inferred")
def copy_reachable(z_bar: Any, x: Any) -> Any:
    return z_bar


# What it does classes may say themselves.
@linear(
    copy.deepcopy, wrt=["x"], samples=_numbers, infer=infer.common.first,
    dtype="inferred", ordered=True,
)  # fmt: skip
def deepcopy(z_bar: Any, x: Any, memo: Any = None) -> Any:
    return z_bar


@linear(plain_, wrt=["x"], samples=_numbers, infer=infer.common.first, dtype="inferred", result="element")
def plain(z_bar: Any, x: Any, name: str | None = None) -> Any:
    return z_bar


def _reals() -> Sequence[Sample]:
    return [sample(1.5), sample(np.array([2.5, -1.0]))]


def _held() -> Sequence[Sample]:
    return [sample([1.5, 2.5], [1.0, 2.0]), sample({"a": 1.5}, {"a": 2.0})]


@linear(
    still_, wrt=["x"], samples=_held, infer=infer.common.first, dtype="inferred", result="element",
    special=frozenset(),
)  # fmt: skip
def still(z_bar: Any, x: Any, known: Any) -> Any:
    return z_bar


def _rows() -> Sequence[Sample]:
    return [sample(np.array([2.5, -1.0]), 2), sample([1.5, 2.5, 0.5], 2)]


@linear(at_least_, wrt=["x"], samples=_rows, infer=infer.common.first, dtype="inferred", result="element")
def at_least(z_bar: Any, x: Any, count: int) -> Any:
    return z_bar


constant(longest, signature=lambda maxlen: None, ordered=True, special=frozenset(), samples=lambda: [sample(3)])


def _columns() -> Sequence[Sample]:
    return [sample(np.array([[2.5, -1.0], [0.5, 3.0]]), 2), sample([[1.5, 2.5], [0.5]], 2)]


@linear(as_many_rows_, wrt=["rows"], samples=_columns, infer=infer.common.first, dtype="inferred", result="element")
def as_many_rows(z_bar: Any, rows: Any, count: int) -> Any:
    return unless_empty(z_bar, rows, count)


constant(
    named_only,
    signature=lambda x, required, optional=(): None,
    ordered=True,
    special=frozenset(),
    samples=lambda: [sample({"w": 1.5}, ("w",)), sample({"w": 1.5}, ("w",), ("b",))],
)


def _arrays() -> Sequence[Sample]:
    return [sample(np.array([2.5, -1.0]), 1, "d"), sample(np.array([[1.5, 2.5], [0.5, 1.0]]), 2, "d")]


@linear(
    array_of_, wrt=["x"], samples=_arrays, infer=infer.creation.with_axes, dtype="inferred", result="element",
    special=frozenset(), only_arrays=True,
)  # fmt: skip
def array_of(z_bar: Any, x: Any, ndim: int, dtype: str) -> Any:
    return z_bar


constant(object_with, signature=lambda cls, names, *values: None, calls=(), special=frozenset())


@linear(
    object_of_, wrt=["x"], steps=["values"], samples=lambda: [sample(s.args[0], np.ndarray, ()) for s in _arrays()],
    infer=infer.common.first, dtype="inferred", result="view", special=frozenset(), calls=(),
)  # fmt: skip
def object_of(z_bar: Any, x: Any, cls: Any, names: Any, *values: Any) -> Any:
    return z_bar


@linear(
    state_of_, wrt=["x"], samples=_arrays, infer=infer.creation.with_axes, dtype="inferred", result="element",
    special=frozenset(), only_arrays=True,
)  # fmt: skip
def state_of(z_bar: Any, x: Any, ndim: int, dtype: str) -> Any:
    return z_bar


@linear(
    copy_of_, wrt=["x"], samples=_arrays, infer=infer.creation.with_axes, dtype="inferred", result="fresh",
    special=frozenset(), only_arrays=True,
)  # fmt: skip
def copy_of(z_bar: Any, x: Any, ndim: int, dtype: str) -> Any:
    return z_bar


def _scalars() -> Sequence[Sample]:
    return [sample(1.5), sample(np.float64(-0.5)), sample(1.0 + 2.0j)]


@linear(
    sole_number_,
    wrt=["x"],
    samples=lambda: [sample(1.5), sample(-0.5)],
    infer=infer.common.first,
    dtype="inferred",
    result="element",
)
def sole_number(z_bar: Any, x: Any) -> Any:
    return z_bar


@linear(number_, wrt=["x"], samples=_scalars, infer=infer.common.first, dtype="inferred", result="element")
def number(z_bar: Any, x: Any) -> Any:
    return z_bar


def _items() -> Sequence[Sample]:
    matrix = np.array([[1.5, -2.5, 0.5], [3.0, 0.25, -1.0]])
    return [
        sample(np.array(1.5)),
        sample(np.array([2.5])),
        sample(np.float64(0.5)),
        sample(matrix, 4),
        sample(matrix.T, -2),
        sample(matrix, 1, -1),
        sample(matrix, (0, 2)),
        sample(1j * matrix, 3),
    ]


@linear(item_, wrt=["a"], samples=_items, infer=infer.creation.item, dtype="item", forms=METHOD)
def item(z_bar: Any, a: Any, *args: Any) -> Any:
    if args == ():
        return np.full_like(a, z_bar)
    return unitem(z_bar, a, args)


def _unitems() -> Sequence[Sample]:
    matrix = np.array([[1.5, -2.5, 0.5], [3.0, 0.25, -1.0]])
    return [sample(0.5, matrix, (4,)), sample(0.5, matrix, (1, -1)), sample(0.5, matrix, ((0, 2),))]


@linear(
    unitem, steps=frozenset({"a"}), wrt=["g"], samples=_unitems, infer=infer.adjoints.adjoint_of("a"), dtype="unknown"
)
def of_unitem(z_bar: Any, g: Any, a: Any, args: tuple[Any, ...]) -> Any:
    return item_(z_bar, *args)


def _lists() -> Sequence[Sample]:
    matrix = np.array([[1.5, -2.5, 0.5], [3.0, 0.25, -1.0]])
    points = [matrix, matrix[0], np.array(1.5), np.float64(0.5), matrix[:, :0], matrix.T, 1j * matrix]
    return [sample(a) for a in points]


@linear(tolist_, wrt=["a"], samples=_lists, infer=infer.creation.nested_list, dtype="inferred", forms=METHOD)
def tolist(z_bar: Any, a: Any) -> Any:
    return untolist(z_bar, a)


def _views() -> Sequence[Sample]:
    a = np.array([1.5, -2.5, 0.5])
    return [sample(a), sample(a, np.float64), sample(a, np.ndarray), sample(a[::2]), sample(a.astype(np.float32))]


@linear(
    viewed_,
    wrt=["a"],
    samples=_views,
    infer=infer.creation.viewed,
    dtype="inferred",
    result="view",
    forms=(Form("view"),),
)
def viewed(z_bar: Any, a: Any, kind: Any = None) -> Any:
    return z_bar


def _compressions() -> Sequence[Sample]:
    a = np.array([[1.5, -2.5, 0.5], [3.0, 0.25, -1.0]])
    return [sample(a, [True, False], 0), sample(a, [0, 1], axis=-1), sample(a, np.array([True, False, True]))]


@linear(
    compressed_,
    wrt=["a"],
    samples=_compressions,
    infer=infer.axes.with_axes(infer.axes.along("a")),
    forms=(Form("compress"),),
    steps=frozenset({"condition"}),
)
def compressed(z_bar: Any, a: Any, condition: Any, axis: int | None = None) -> Any:
    return untake(z_bar, np.shape(a), np.flatnonzero(condition), axis)


# --- what the compiler puts around values

operation(stop_gradient, signature=lambda x, name=None: None, infer=infer.common.first, dtype="inferred", leading=1)
operation(copy_together, signature=lambda *arguments: None, result="fresh", infer=infer.common.row, dtype="inferred")
constant(zeros, signature=lambda x: None, infer=infer.adjoints.zeros, dtype="inferred", samples=_numbers, zeros=True)
constant(scalar_seed, signature=lambda loss: None, infer=infer.python.a_float, dtype="inferred", ordered=True)


@linear(widened_, wrt=["x"], samples=_numbers, infer=infer.common.first, dtype="wide", result="maybe_view")
def widened(z_bar: Any, x: Any) -> Any:
    return z_bar


@linear(in_full_, wrt=["x"], samples=_numbers, infer=infer.common.first, dtype="wide", result="maybe_view")
def in_full(z_bar: Any, x: Any) -> Any:
    return z_bar


def _pairs() -> Sequence[Sample]:
    a = np.array([2.5, -1.0])
    return [sample(a, a + 1.0), sample(a, a[:, None]), sample(1.5, a), sample(1.5, 0.5)]


@linear(
    as_subtracted_, wrt=["x"], samples=_pairs, infer=broadcast_of_all, dtype="wide", result="maybe_view", steps={"y"}
)
def as_subtracted(z_bar: Any, x: Any, y: Any) -> Any:
    return unbroadcast(z_bar, np.shape(x))


constant(signed, signature=lambda x: None, infer=infer.common.first, samples=_numbers, result="element")


@linear(no_function_, wrt=["x"], samples=_numbers, infer=infer.common.first, dtype="inferred", result="element")
def no_function(z_bar: Any, x: Any) -> Any:
    return z_bar


constant(
    key_among,
    signature=lambda key, keys: None,
    samples=lambda: [sample("a", ("a", "b")), sample(1, (0, 1))],
)
# No derivative passes through what a function is given that is met at run time.
operation(
    with_keywords,
    signature=lambda function, keywords, others=(): None,
    samples=lambda: [sample(np.sum, {"axis": 0}), sample(np.sum, {"axis": 0}, ("dtype",))],
    remedy="write the arguments one by one",
)
constant(
    place_among,
    signature=lambda index, count: None,
    samples=lambda: [sample(1, 2), sample(-1, 3)],
)


def _sums() -> Sequence[Sample]:
    a = np.array([2.5, -1.0])
    lists = [sample([1.5, a], [2.0, a + 1.0]), sample([1.5, a], (2.0, a + 1.0))]
    return [sample(a, a + 1.0), sample(1.5, 2.0), sample(a, 2.0), *lists]


@linear(
    add_, wrt=["a", "b"], samples=_sums, infer=infer.adjoints.total, dtype="inferred", result="element",
    closer=infer.memory.of_numbers(0, 1),
)  # fmt: skip
def add(z_bar: Any, a: Any, b: Any) -> tuple[Any, Any]:
    return unadd(z_bar, a), unadd(z_bar, b)


def _slices() -> Sequence[Sample]:
    a = np.array([2.5, -1.0])
    numbers = [1.5, 2.5, 0.5]
    arrays = sample([a, 2 * a], slice(-1), [a + 1.0])
    return [sample(numbers, slice(1, None), [2.0, -1.0]), sample(numbers, slice(1, None), a), arrays]


@linear(
    in_slice_, wrt=["g"], steps=["x", "place"], samples=_slices, infer=infer.adjoints.in_the_form_of("x"),
    dtype="inferred", result="element", makes=list,
)  # fmt: skip
def in_slice(z_bar: Any, x: Any, place: Any, g: Any) -> Any:
    return items_like(g, z_bar[place])


def _placed() -> Sequence[Sample]:
    a, rows = np.array([2.5, -1.0, 0.5]), np.ones((3, 2))
    chosen = [sample(a, np.array([2, 0, 2]), a + 1.0), sample(rows, (slice(None), 1), a), sample(a + 1.0j, 1, 2.0)]
    return [sample(a, 1, 0.5), sample(rows, -1, np.array([1.0, 2.0])), *chosen]


@linear(
    in_item_, wrt=["g"], steps=["x", "index"], samples=_placed, infer=infer.adjoints.zeros, dtype="inferred",
    result="fresh",
)  # fmt: skip
def in_item(z_bar: Any, x: Any, index: Any, g: Any) -> Any:
    return real_like(unbroadcast(z_bar[index], np.shape(g)), g)


def _adjoints() -> Sequence[Sample]:
    a = np.array([2.5, -1.0])
    return [sample(a, a + 1.0), sample(1.5, 2.0), sample(a + 1.0j, a + 2.0j), sample([1.5, a], [2.0, a + 1.0])]


@linear(conformed_, wrt=["g"], steps=["x"], samples=_adjoints, infer=infer.common.last, dtype="inferred")
def conformed(z_bar: Any, g: Any, x: Any) -> Any:
    return z_bar


def _tangents() -> Sequence[Sample]:
    a = np.array([2.5, -1.0])
    return [sample(a, a + 1.0), sample(1.5, 2.0), sample(a + 1.0j, a + 2.0j)]


@linear(
    as_tangent_,
    wrt=["x_dot"],
    steps=["x"],
    samples=_tangents,
    infer=infer.common.last,
    dtype="inferred",
    result="element",
)
def as_tangent(z_bar: Any, x_dot: Any, x: Any) -> Any:
    return z_bar


@linear(real_array_, wrt=["x"], samples=_reals, infer=infer.common.first, dtype="inferred", result="element")
def real_array(z_bar: Any, x: Any) -> Any:
    return z_bar


@linear(fresh_, wrt=["g"], samples=_numbers, infer=infer.common.first, dtype="inferred")
def fresh(z_bar: Any, g: Any) -> Any:
    return z_bar
