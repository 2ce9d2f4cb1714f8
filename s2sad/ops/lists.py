"""Rules of Python's functions of several numbers, or of a sequence of them."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.spec import (
    Sample,
    linear,
    rule,
    sample,
)
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.dicts import at_keys, by_key, values_of
from s2sad.runtime.items import (
    items_like,
    mean_items,
    repeat_items,
    scale_items,
    share_items,
    sorted_tangent,
    unsorted,
    weigh_items,
)
from s2sad.runtime.scans import other_products

Number = Any

# --- several numbers, or a sequence of them ---


def _extreme_samples() -> Sequence[Sample]:
    a = np.array([0.3, -1.0, 2.5, 0.4])
    return [
        sample(0.3, 1.2),
        sample(0.3, 1.2, -0.4),
        sample([0.3, -1.2, 0.7]),
        sample((0.3, -1.2)),
        sample([0.3]),
        sample(a),
        sample(np.float64(0.5), 0.2),
        sample(0, 1.5),
    ]


def _extreme_jvp(args_dot: tuple[Number, ...], z: Number, args: tuple[Number, ...]) -> Number:
    return mean_items(args_dot, z, args)


@rule(
    builtins.max,
    wrt=["args"],
    lower_bound=infer.bounds.larger,
    jvp=_extreme_jvp,
    samples=_extreme_samples,
    infer=infer.python.extreme,
    dtype="choice",
    result="element",
    calls=("key",),
    consumes=("args",),
)
def max(z: Number, z_bar: Number, *args: Number) -> Number:
    return share_items(z_bar, z, args)


rule(
    builtins.min,
    wrt=["args"],
    jvp=_extreme_jvp,
    samples=_extreme_samples,
    infer=infer.python.extreme,
    dtype="choice",
    result="element",
    calls=("key",),
    consumes=("args",),
)(max)


def _sum_samples() -> Sequence[Sample]:
    a = np.arange(6.0).reshape(2, 3)
    return [
        sample([0.3, 1.2]),
        sample((0.3, 1.2, -0.5), 2.5),
        sample(a[0]),
        sample(a),
        sample([a[0], a[1]]),
        sample([a, 1.5], start=0.5),
        sample([], 1.5),
    ]


@linear(
    builtins.sum,
    wrt=["iterable", "start"],
    samples=_sum_samples,
    infer=infer.python.total,
    dtype="python",
    result="unknown",
    closer=infer.memory.of_sum,
    consumes=("iterable",),
)
def sum(z_bar: Number, iterable: Number, start: Number = 0) -> Number:
    return repeat_items(z_bar, iterable), unbroadcast(z_bar, np.shape(start))


def _sequence_samples() -> Sequence[Sample]:
    return [sample([0.3, 1.2, -0.7]), sample((0.3, 1.2)), sample(np.array([0.3, -0.6, 2.0])), sample([2.5])]


@linear(math.fsum, wrt=["seq"], samples=_sequence_samples, infer=infer.common.a_number, dtype="float")
def fsum(z_bar: Number, seq: Number) -> Number:
    return repeat_items(z_bar, seq)


def _prod_samples() -> Sequence[Sample]:
    return [*_sequence_samples(), sample([0.0, 1.5, 2.0]), sample([0.0, 0.0, 2.0]), sample((0.5, 2.0), start=3.0)]


def _prod_jvp(iterable_dot: Number, start_dot: Number, iterable: Number, start: Number) -> Number:
    return start * weigh_items(iterable_dot, other_products(np.array(iterable))) + start_dot * math.prod(iterable)


@rule(
    math.prod,
    wrt=["iterable", "start"],
    jvp=_prod_jvp,
    samples=_prod_samples,
    infer=infer.python.total_product,
    dtype="whole",
    real_only=False,
)
def prod(z_bar: Number, iterable: Number, *, start: Number = 1) -> Number:
    return scale_items(z_bar * start, other_products(np.array(iterable)), iterable), z_bar * math.prod(iterable)


def _hypot_samples() -> Sequence[Sample]:
    return [sample(0.3, 1.2), sample(0.3, -1.2, 2.0), sample(1.5), sample(3, 4.0)]


def _hypot_jvp(coordinates_dot: tuple[Number, ...], z: Number, coordinates: tuple[Number, ...]) -> Number:
    return weigh_items(coordinates_dot, coordinates) / (z + (z == 0))


@rule(
    math.hypot, wrt=["coordinates"], jvp=_hypot_jvp, samples=_hypot_samples, infer=infer.common.a_number, dtype="float"
)
def hypot(z: Number, z_bar: Number, *coordinates: Number) -> Number:
    return scale_items(z_bar / (z + (z == 0)), coordinates, coordinates)


def _dist_samples() -> Sequence[Sample]:
    return [sample([0.3, 1.2], [0.5, -0.7]), sample((0.3,), [1.0]), sample(np.array([1.0, 2.0]), (0.5, 0.5))]


def _dist_jvp(p_dot: Number, q_dot: Number, z: Number, p: Number, q: Number) -> Number:
    d = np.array(p) - np.array(q)
    return (weigh_items(p_dot, d) - weigh_items(q_dot, d)) / (z + (z == 0))


@rule(math.dist, jvp=_dist_jvp, samples=_dist_samples, infer=infer.common.a_number, dtype="float")
def dist(z: Number, z_bar: Number, p: Number, q: Number) -> Number:
    d = np.array(p) - np.array(q)
    return scale_items(z_bar / (z + (z == 0)), d, p), scale_items(-z_bar / (z + (z == 0)), d, q)


def _sumprod_samples() -> Sequence[Sample]:
    return [sample([0.3, 1.2], [0.5, -0.7]), sample((0.3,), [1.0]), sample([], [])]


def _sumprod_jvp(p_dot: Number, q_dot: Number, p: Number, q: Number) -> Number:
    return weigh_items(p_dot, q) + weigh_items(q_dot, p)


def sumprod(z_bar: Number, p: Number, q: Number) -> Number:
    return scale_items(z_bar, q, p), scale_items(z_bar, p, q)


if hasattr(math, "sumprod"):  # Python 3.12
    rule(math.sumprod, jvp=_sumprod_jvp, samples=_sumprod_samples)(sumprod)

# --- lists of numbers ---


def _unordered() -> Sequence[Sample]:
    xs = [0.3, 1.2, -0.7, 1.9]
    return [
        sample(xs),
        sample(tuple(xs)),
        sample(np.array(xs)),
        sample(xs, reverse=True),
        sample(xs, key=abs),
        sample([1.5, 0.5, 2]),
        sample([]),
        sample(np.array(xs, np.float32)),
    ]


def _sorted_jvp(iterable_dot: Any, z: Any, iterable: Any) -> Any:
    return sorted_tangent(iterable_dot, z, iterable)


@rule(
    sorted,
    wrt=["iterable"],
    jvp=_sorted_jvp,
    samples=_unordered,
    infer=infer.python.listed("list"),
    dtype="inferred",
    result="unknown",
    calls=("key",),
    consumes=("iterable",),
    makes=list,
)
def sorted_(z: Any, z_bar: Any, iterable: Any, *, key: Any = None, reverse: bool = False) -> Any:
    return unsorted(z_bar, z, iterable)


# --- dicts of numbers ---


@linear(
    values_of,
    wrt=["d"],
    samples=lambda: [sample({"a": 0.3, "b": 1.2}), sample({2: np.array([0.3, 0.7])}), sample({})],
    infer=infer.python.values,
    dtype="inferred",
    result="unknown",
    makes=list,
)
def values_of_dict(z_bar: Any, d: Any) -> Any:
    return by_key(d, z_bar)


@linear(
    by_key,
    wrt=["values"],
    steps=frozenset({"d"}),
    samples=lambda: [sample({"a": 0, "b": 0}, [0.3, 1.2]), sample({"a": 0}, (1.5,))],
    infer=infer.python.of_keys,
    dtype="inferred",
    result="unknown",
    makes=dict,
)
def by_key_of_dict(z_bar: Any, d: Any, values: Any) -> Any:
    return items_like(values, values_of(z_bar))


@linear(
    at_keys,
    wrt=["bar"],
    steps=frozenset({"keys"}),
    samples=lambda: [sample({"a": 0.3, "b": 1.2}, ("a", "b")), sample({"b": 0.3, "a": 1.2}, ("b", "a", "b"))],
    infer=infer.python.at_keys,
    dtype="inferred",
    result="unknown",
    makes=list,
)
def at_keys_of_dict(z_bar: Any, bar: Any, keys: Any) -> Any:
    return by_key(keys, z_bar)
