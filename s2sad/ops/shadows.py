"""Rules of the helpers that keep adjoints of arrays that are written in place, and of their checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.spec import Sample, constant, linear, sample
from s2sad.runtime.arrays import in_memory
from s2sad.runtime.copies import laid_out_like
from s2sad.runtime.items import (
    require_arithmetic,
    require_as_long,
    require_convertible,
    require_layout,
    require_ndarray,
    require_nothing_left,
    require_number,
    require_real,
    require_real_operand,
    require_replaceable,
    require_same_numbers,
    require_sequence,
    require_unswallowed,
    require_unwritten,
    store_item,
)
from s2sad.runtime.objects import require_dict, require_value
from s2sad.runtime.positions import unread
from s2sad.runtime.shadows import each_once as each_once_
from s2sad.runtime.shadows import part_shadow, require_floats, require_shared_alike, shadow
from s2sad.runtime.sharing import apart, in_one_place, sole, unshared
from s2sad.runtime.tangents import same_value
from s2sad.runtime.trees import as_pair, zeros
from s2sad.runtime.unseen import unseen
from s2sad.runtime.zero_tangents import (
    joined_tangent,
    joined_tangent_adjoint,
    own_tangent,
    own_tangent_adjoint,
    viewed_tangent,
    viewed_tangent_own,
    viewed_tangent_source,
    zero_tangent,
)


def _arrays() -> Sequence[Sample]:
    return [sample(np.array([2.5, -1.0])), sample(np.ones((3, 2)).T), sample(np.array([1.0 + 2.0j]))]


def _like(x: Any) -> None: ...


def _values() -> Sequence[Sample]:
    """Arrays, and containers of them."""
    a, b = np.array([2.5, -1.0]), np.ones((3, 2))
    return [*_arrays(), sample([a, b]), sample((a, b)), sample({"a": a, "b": [b]})]


constant(
    shadow, part_shadow, signature=_like, infer=infer.adjoints.zeros, dtype="inferred", leading=1, samples=_values,
    zeros=True,
)  # fmt: skip
constant(
    zero_tangent,
    signature=_like,
    infer=infer.adjoints.tangent,
    dtype="inferred",
    leading=1,
    samples=_values,
    zeros=True,
)
constant(in_memory, signature=_like, infer=infer.axes.order, samples=_arrays)
constant(laid_out_like, signature=_like, infer=infer.creation.filled_like, dtype="array", samples=_arrays, zeros=True)
# Checks, which may raise.
constant(apart, unshared, sole, in_one_place, special=frozenset(), calls=(), ordered=True)
constant(
    as_pair, require_arithmetic, require_as_long, require_convertible, require_dict, require_floats, require_layout,
    require_ndarray, require_nothing_left, require_number, require_real, require_real_operand, require_replaceable,
    require_same_numbers, require_sequence, require_shared_alike, require_unswallowed, require_unwritten, require_value,
    same_value, store_item, unread, unseen, ordered=True,
)  # fmt: skip


def _shared() -> Sequence[Sample]:
    """Shadows of lists; where a list stands twice in one, the tangents of the places are one as well."""
    row, other = [1.0, 2.0], [0.5]
    return [sample([row, other]), sample({"a": row, "b": [other]})]


@linear(each_once_, wrt=["x_bar"], samples=_shared, steps=["like"], infer=infer.common.first, dtype="inferred")
def each_once(z_bar: Any, x_bar: Any, like: Any = None) -> Any:
    return each_once_(z_bar, x_bar)


# --- tangents that share memory with others, or with none ---


def _owned() -> Sequence[Sample]:
    """Tangents of the shape of an array, and broadcast to it; a view's columns are not in order."""
    a = np.arange(6.0).reshape(2, 3)
    return [sample(0.5 * a, a), sample(0.5 * a[0], a.T[:, 0]), sample(1.5, a), sample(1.5, 2.5)]


def _viewed() -> Sequence[Sample]:
    """What is a part of another array, and what is not."""
    a, b = np.arange(6.0).reshape(2, 3), np.ones(3)
    repeated = np.broadcast_to(a[1], (2, 3)), np.lib.stride_tricks.sliding_window_view(a, 2, axis=1)
    return [sample(x, a, np.cos(a), 0.5 * x) for x in (a[1], a[:, 1:], a.T, b, *repeated)]


@linear(
    own_tangent,
    wrt=["x_dot"],
    steps=["x"],
    samples=_owned,
    result="fresh",
    infer=infer.adjoints.tangent_of("x"),
    dtype="inferred",
)
def own_tangent_rule(z_bar: Any, x_dot: Any, x: Any) -> Any:
    return own_tangent_adjoint(z_bar, x_dot, x)


@linear(
    own_tangent_adjoint,
    wrt=["g"],
    result="unknown",
    steps=["x_dot", "x"],
    samples=lambda: [sample(s.args[1], *s.args) for s in _owned()],
)
def own_tangent_adjoint_rule(z_bar: Any, g: Any, x_dot: Any, x: Any) -> Any:
    return own_tangent(z_bar, x)


@linear(
    joined_tangent,
    wrt=["x_dot"],
    steps=["x"],
    samples=_owned,
    result="unknown",
    infer=infer.adjoints.tangent_of("x"),
    dtype="inferred",
)
def joined_tangent_rule(z_bar: Any, x_dot: Any, x: Any) -> Any:
    return joined_tangent_adjoint(z_bar, x_dot, x)


@linear(
    joined_tangent_adjoint,
    wrt=["g"],
    result="unknown",
    steps=["x_dot", "x"],
    samples=lambda: [sample(s.args[1], *s.args) for s in _owned()],
)
def joined_tangent_adjoint_rule(z_bar: Any, g: Any, x_dot: Any, x: Any) -> Any:
    return joined_tangent(z_bar, x)


@linear(
    viewed_tangent,
    wrt=["source_dot", "x_dot"],
    steps=["x", "source"],
    samples=_viewed,
    result="unknown",
    infer=infer.adjoints.tangent_of("x"),
    dtype="inferred",
)
def viewed_tangent_rule(z_bar: Any, x: Any, source: Any, source_dot: Any, x_dot: Any) -> tuple[Any, Any]:
    return viewed_tangent_source(z_bar, x, source, source_dot), viewed_tangent_own(z_bar, x, source, x_dot)


@linear(
    viewed_tangent_source,
    wrt=["g"],
    result="unknown",
    steps=["x", "source", "source_dot"],
    samples=lambda: [sample(2.0 * s.args[0], *s.args[:3]) for s in _viewed()],
)
def viewed_tangent_source_rule(z_bar: Any, g: Any, x: Any, source: Any, source_dot: Any) -> Any:
    return viewed_tangent(x, source, z_bar, zeros(g))


@linear(
    viewed_tangent_own,
    wrt=["g"],
    result="unknown",
    steps=["x", "source", "x_dot"],
    samples=lambda: [sample(2.0 * s.args[0], s.args[0], s.args[1], s.args[3]) for s in _viewed()],
)
def viewed_tangent_own_rule(z_bar: Any, g: Any, x: Any, source: Any, x_dot: Any) -> Any:
    return viewed_tangent(x, source, zeros(source), z_bar)
