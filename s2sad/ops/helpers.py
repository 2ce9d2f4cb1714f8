"""Rules of the runtime's own helpers, so that emitted derivatives can be differentiated again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.spec import Sample, bilinear, constant, linear, rule, sample
from s2sad.runtime.arrays import (
    Axis,
    Shape,
    align_weights,
    clip_share,
    count,
    count_here,
    count_numbers,
    count_ties,
    deviation,
    finite_part,
    high_share,
    low_share,
    mean_ties,
    share_ties,
    unalign_weights,
    unbroadcast,
    undiff,
    unreduce,
)
from s2sad.runtime.items import (
    add_items,
    items_like,
    mean_items,
    repeat_items,
    scale_items,
    share_items,
    weigh_items,
)
from s2sad.runtime.scans import (
    advance,
    backward_recurrence,
    delay,
    merge_axes,
    other_products,
    products_before,
    recurrence,
    split_axes,
)
from s2sad.runtime.undefined import require_rule

Array = Any
Samples = Sequence[Sample]
_array = sampling.spread

constant(count, count_here, count_numbers, count_ties)
constant(require_rule, signature=lambda there, message, remedy: None, ordered=True)

# --- broadcasting and reductions ---


def _unbroadcast_samples() -> Samples:
    a = _array((2, 3))
    return [
        sample(a, (3,)),
        sample(a, (2, 1)),
        sample(a, ()),
        sample(a, (2, 3)),
        sample(a[0], (2, 3)),
        sample(a[:, :1], (1, 4)),
        sample(1.5, ()),
        sample(1.5, (2,)),
        sample(a.astype(np.float32), (1, 1)),
    ]


@linear(
    unbroadcast,
    wrt=["g"],
    samples=_unbroadcast_samples,
    result="unknown",
    infer=infer.adjoints.of_shape,
    dtype="python",
    steps=frozenset({"shape"}),
)
def unbroadcast_rule(z_bar: Array, g: Array, shape: Shape) -> Array:
    return unbroadcast(z_bar, np.shape(g))


def _unreduce_samples() -> Samples:
    a = _array((2, 3))
    return [
        sample(a, (2, 4, 3), 1),
        sample(a, (4, 2, 5, 3), (0, -2)),
        sample(a[:, :1], (2, 3), -1, True),
        sample(1.5, (2, 3)),
        sample(1.5, (), 0),
        sample(np.array([[1.5]]), (2, 3), None, True),
        sample(a[0].astype(np.float32), (2, 3), 0),
    ]


@linear(
    unreduce,
    wrt=["g"],
    samples=_unreduce_samples,
    result="view",
    infer=infer.adjoints.of_shape,
    dtype="python",
    steps=frozenset({"shape"}),
)
def unreduce_rule(z_bar: Array, g: Array, shape: Shape, axis: Axis = None, keepdims: bool = False) -> Array:
    return np.sum(z_bar, axis=axis, keepdims=keepdims)


def _weights_samples() -> Samples:
    w = _array((2, 3))
    return [sample(w, (2, 3)), sample(w[0], (2, 3), -1), sample(w[:, 0], (2, 3), 0), sample(w, (3, 4, 2), (2, 0))]


@linear(align_weights, wrt=["weights"], samples=_weights_samples, result="view", steps=frozenset({"shape"}))
def align_weights_rule(z_bar: Array, weights: Array, shape: Shape, axis: Axis = None) -> Array:
    return unalign_weights(z_bar, np.shape(weights), axis)


def _unweights_samples() -> Samples:
    g, h = _array((2, 3)), _array((3, 4, 2))
    return [sample(g, (2, 3)), sample(g, (3,), -1), sample(g, (2,), 0), sample(h, (2, 3), (2, 0))]


@linear(unalign_weights, wrt=["g"], samples=_unweights_samples, result="unknown", steps=frozenset({"shape"}))
def unalign_weights_rule(z_bar: Array, g: Array, shape: Shape, axis: Axis = None) -> Array:
    return align_weights(z_bar, np.shape(g), axis)


def _undiff_samples() -> Samples:
    a = _array((3, 4))
    return [sample(a, (3, 5)), sample(a, (5, 4), 2, 0), sample(a, (3, 4), 0), sample(a[:, :0], (3, 1), 2)]


@linear(undiff, wrt=["g"], samples=_undiff_samples, infer=infer.adjoints.into_shape, steps=frozenset({"n", "shape"}))
def undiff_rule(z_bar: Array, g: Array, shape: Shape, n: int = 1, axis: int = -1) -> Array:
    return np.diff(z_bar, n, axis)


# --- choices ---


def _share_samples() -> Samples:
    a = np.array([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]])
    return [
        sample(np.array([0.5, -1.5]), a, np.max(a, 1), 1),
        sample(np.array([[0.5], [-1.5]]), a, np.max(a, 1, keepdims=True), 1, True),
        sample(0.7, a, 3.0),
    ]


@linear(
    share_ties,
    steps=frozenset({"a", "p"}),
    wrt=["g"],
    samples=_share_samples,
    infer=infer.adjoints.adjoint_of("a"),
)
def share_ties_rule(z_bar: Array, g: Array, a: Array, p: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    return mean_ties(z_bar, a, p, axis, keepdims)


def _mean_samples() -> Samples:
    a = np.array([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]])
    t = _array((2, 3))
    return [sample(t, a, np.max(a, 1), 1), sample(t, a, np.max(a, 1, keepdims=True), 1, True), sample(t, a, 3.0)]


@linear(
    mean_ties,
    steps=frozenset({"a", "p"}),
    wrt=["t"],
    samples=_mean_samples,
    infer=infer.adjoints.adjoint_of("p"),
)
def mean_ties_rule(z_bar: Array, t: Array, a: Array, p: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    return share_ties(z_bar, a, p, axis, keepdims)


def _finite_samples() -> Samples:
    x = np.array([1.0, np.nan, np.inf])
    return [sample(_array((3,)), x), sample(_array((3,)) + 0.5j, x + 1j)]


@linear(finite_part, steps=frozenset({"x"}), wrt=["g"], samples=_finite_samples)
def finite_part_rule(z_bar: Array, g: Array, x: Array) -> Array:
    return finite_part(z_bar, x)


def _deviations() -> Samples:
    return [sample(_array((2, 3)), _array((2, 1))), sample(_array((3,)), 0.5)]


@linear(deviation, wrt=["a", "mean"], samples=_deviations, broadcasts=True)
def deviation_rule(z_bar: Array, a: Array, mean: Array) -> tuple[Array, Array]:
    return unbroadcast(z_bar, np.shape(a)), unbroadcast(-z_bar, np.shape(mean))


def _clip_samples() -> Samples:
    a = np.array([[-1.0, 0.0, 1.0], [2.0, 0.5, 3.0]])
    g = _array((2, 3))
    bounds: list[tuple[Any, Any]] = [(0.0, 2.0), (None, 1.0), (0.5, None), (a[0], 2.5)]
    return [*(sample(g, a, low, high) for low, high in bounds), sample(1.5, a, 0.0, 2.0)]


@linear(clip_share, steps=frozenset({"a", "low", "high"}), wrt=["g"], samples=_clip_samples)
def clip_share_rule(z_bar: Array, g: Array, a: Array, low: Array, high: Array) -> Array:
    return unbroadcast(clip_share(z_bar, a, low, high), np.shape(g))


@linear(low_share, steps=frozenset({"a", "low", "high"}), wrt=["g"], samples=_clip_samples)
def low_share_rule(z_bar: Array, g: Array, a: Array, low: Array, high: Array) -> Array:
    return unbroadcast(low_share(z_bar, a, low, high), np.shape(g))


@linear(high_share, steps=frozenset({"a", "low", "high"}), wrt=["g"], samples=_clip_samples)
def high_share_rule(z_bar: Array, g: Array, a: Array, low: Array, high: Array) -> Array:
    return unbroadcast(high_share(z_bar, a, low, high), np.shape(g))


# --- scans ---


def _merge_samples() -> Samples:
    a = _array((2, 3, 4))
    return [sample(a), sample(a, 1), sample(a, -1), sample(a, (0, 2)), sample(a, (2, 0)), sample(_array(()), 0)]


@linear(merge_axes, wrt=["a"], samples=_merge_samples, result="unknown")
def merge_axes_rule(z_bar: Array, a: Array, axis: Axis = None) -> Array:
    return split_axes(z_bar, np.shape(a), axis)


def _split_samples() -> Samples:
    a, shape = _array((3, 8)), (2, 3, 4)
    return [sample(a, shape, (0, 2)), sample(a, shape, (2, 0)), sample(a, shape, (0, -1)), sample(a, (3, 8), 1)]


@linear(split_axes, wrt=["a"], samples=_split_samples, result="unknown", steps=frozenset({"shape"}))
def split_axes_rule(z_bar: Array, a: Array, shape: Shape, axis: Axis = None) -> Array:
    return merge_axes(z_bar, axis)


def _rows() -> Samples:
    zero = _array((2, 4))
    zero[0, 1] = zero[1, 0] = zero[1, 3] = 0.0
    return [sample(_array((4,))), sample(_array((2, 3))), sample(zero), sample(np.ones((0,))), sample(_array((3, 1)))]


@linear(delay, wrt=["a"], samples=_rows, infer=infer.common.same_as_first)
def delay_rule(z_bar: Array, a: Array) -> Array:
    return advance(z_bar)


@linear(advance, wrt=["a"], samples=_rows, infer=infer.common.same_as_first)
def advance_rule(z_bar: Array, a: Array) -> Array:
    return delay(z_bar)


def _products_before_jvp(a_dot: Array, z: Array, a: Array) -> Array:
    return recurrence(delay(z * a_dot), delay(a))


@rule(products_before, jvp=_products_before_jvp, samples=_rows, infer=infer.common.same_as_first)
def products_before_rule(z: Array, z_bar: Array, a: Array) -> Array:
    return z * advance(backward_recurrence(z_bar, delay(a)))


def _other_samples() -> Samples:
    a = _array((2, 3, 2))
    return [*_rows(), sample(a, 1), sample(a, (0, 2)), *(sample(s.args[0], 0) for s in _rows())]


def _other_products_jvp(a_dot: Array, a: Array, axis: Axis) -> Array:
    x = merge_axes(a, axis)
    t = merge_axes(a_dot, axis)
    before = products_before(x)
    after = products_before(np.flip(x, -1))
    before_dot = recurrence(delay(before * t), delay(x))
    after_dot = recurrence(delay(after * np.flip(t, -1)), delay(np.flip(x, -1)))
    return split_axes(before_dot * np.flip(after, -1) + before * np.flip(after_dot, -1), np.shape(a), axis)


@rule(other_products, wrt=["a"], jvp=_other_products_jvp, samples=_other_samples, infer=infer.common.same_as_first)
def other_products_rule(z_bar: Array, a: Array, axis: Axis = None) -> Array:
    x = merge_axes(a, axis)
    g = merge_axes(z_bar, axis)
    before = products_before(x)
    after = products_before(np.flip(x, -1))
    before_bar = before * advance(backward_recurrence(g * np.flip(after, -1), delay(x)))
    after_bar = after * advance(backward_recurrence(np.flip(g * before, -1), delay(np.flip(x, -1))))
    return split_axes(before_bar + np.flip(after_bar, -1), np.shape(a), axis)


def _recurrence_samples() -> Samples:
    return [sample(_array(shape), _array(shape, seed=1)) for shape in [(4,), (2, 3), (1,), (2, 0)]]


def _recurrence_jvp(b_dot: Array, c_dot: Array, z: Array, b: Array, c: Array) -> Array:
    return recurrence(b_dot + c_dot * delay(z), c)


@rule(recurrence, jvp=_recurrence_jvp, samples=_recurrence_samples, infer=infer.common.same_as_first)
def recurrence_rule(z: Array, z_bar: Array, b: Array, c: Array) -> Array:
    b_bar = backward_recurrence(z_bar, c)
    return b_bar, b_bar * delay(z)


def _backward_recurrence_jvp(b_dot: Array, c_dot: Array, z: Array, b: Array, c: Array) -> Array:
    return backward_recurrence(b_dot + advance(c_dot * z), c)


@rule(backward_recurrence, jvp=_backward_recurrence_jvp, samples=_recurrence_samples, infer=infer.common.same_as_first)
def backward_recurrence_rule(z: Array, z_bar: Array, b: Array, c: Array) -> Array:
    b_bar = recurrence(z_bar, c)
    return b_bar, delay(b_bar) * z


# --- sequences of numbers ---


@linear(
    items_like,
    steps=frozenset({"xs"}),
    wrt=["values"],
    samples=lambda: [sample([0, 0], [0.5, 1.5]), sample((0, 0), [0.5, 1.5])],
)
def items_like_rule(z_bar: Array, xs: Array, values: Array) -> Array:
    return items_like(values, z_bar)


@linear(
    share_items, steps=frozenset({"p", "args"}), wrt=["g"],
    samples=lambda: [sample(0.7, 2.0, ([2.0, 1.0, 2.0],)), sample(0.7, 1.0, (3.0, 1.0))],
    infer=infer.adjoints.in_the_form_of("args"), gives=(tuple,),
)  # fmt: skip
def share_items_rule(z_bar: Array, g: Array, p: Array, args: Array) -> Array:
    return mean_items(z_bar, p, args)


def _mean_items_samples() -> Samples:
    return [sample(([0.3, 0.5, 0.7],), 2.0, ([2.0, 1.0, 2.0],)), sample((0.3, 0.4), 1.0, (3.0, 1.0))]


@linear(mean_items, steps=frozenset({"p", "args"}), wrt=["t"], samples=_mean_items_samples)
def mean_items_rule(z_bar: Array, t: Array, p: Array, args: Array) -> Array:
    return share_items(z_bar, p, args)


def _repeat_samples() -> Samples:
    a = _array((2, 3))
    return [sample(0.7, [1.0, 2.0]), sample(a[0], a), sample(a, (a, 1.5)), sample(a, [1.5])]


@linear(
    repeat_items, steps=frozenset({"xs"}), wrt=["g"], samples=_repeat_samples, result="unknown",
    infer=infer.adjoints.in_the_form_of("xs"), closer=infer.memory.of_numbers(1), gives=(list, tuple, np.ndarray),
)  # fmt: skip
def repeat_items_rule(z_bar: Array, g: Array, xs: Array) -> Array:
    return unbroadcast(sum(z_bar), np.shape(g))


def _scale_samples() -> Samples:
    return [sample(0.7, [1.0, 2.0], (0, 0)), sample(0.7, np.array([1.0, 2.0]), [0, 0])]


def _scale_items_jvp(g_dot: Array, values_dot: Array, g: Array, values: Array, xs: Array) -> Array:
    return add_items(scale_items(g_dot, values, xs), scale_items(g, values_dot, xs))


@rule(
    scale_items, steps=frozenset({"xs"}), wrt=["g", "values"], jvp=_scale_items_jvp, samples=_scale_samples,
    infer=infer.adjoints.in_the_form_of("xs"),
)  # fmt: skip
def scale_items_rule(z_bar: Array, g: Array, values: Array, xs: Array) -> Array:
    return weigh_items(z_bar, values), scale_items(g, z_bar, values)


@bilinear(weigh_items, samples=lambda: [sample([0.3, 0.5], (1.0, 2.0)), sample((0.3,), np.array([1.5]))])
def weigh_items_rule(z_bar: Array, t: Array, values: Array) -> Array:
    return scale_items(z_bar, values, t), scale_items(z_bar, t, values)


@linear(add_items, wrt=["a", "b"], samples=lambda: [sample([0.3, 0.5], [1.0, 2.0]), sample((0.3,), (1.5,))])
def add_items_rule(z_bar: Array, a: Array, b: Array) -> Array:
    return items_like(a, z_bar), items_like(b, z_bar)
