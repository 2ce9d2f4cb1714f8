"""Programs whose gradient was wrong or that failed, found by trying: results, arguments, arrays without axes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from s2sad import grad, vjp
from s2sad.errors import UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.7, 1.3])
W = np.array([0.5, -0.2])


# --- results that hold displays


def pairs(v: Any) -> Any:
    return (v * 2, v + 1), v * 3


def pair_in_a_pair(x: Any) -> Any:
    (a, b), c = pairs(x)
    return np.sum(a * b * c)


def pair_kept_whole(x: Any) -> Any:
    p, q = pairs(x)
    return np.sum(p[0] * p[1] * q)


def moments(v: Any) -> Any:
    return {"mean": np.mean(v), "all": v * 2}, len(v)


def dict_in_a_pair(x: Any) -> Any:
    d, n = moments(x)
    return np.sum(d["all"] * d["mean"]) * n


def multiples(v: Any) -> Any:
    return [v * k for k in range(1, 3)], v


def comprehension_in_a_pair(x: Any) -> Any:
    many, v = multiples(x)
    return np.sum(many[0] * many[1] * v)


def parts(a: Any) -> Any:
    return [a[:1], a[1:]], a


def views_in_a_pair(x: Any) -> Any:
    (u, v), w = parts(x)
    return np.sum(u * v * w)


def views_in_a_pair_written(x: Any) -> Any:
    y = x * 2
    (u, v), w = parts(y)
    u *= 3
    return np.sum(u * v * w) + np.sum(y)


def deep(v: Any) -> Any:
    return ((v * 2, v),), dict(a=v * v)  # noqa: C408


def pair_in_a_tuple_of_one(x: Any) -> Any:
    ((a, b),), d = deep(x)
    return np.sum(a * b * d["a"])


# --- displays given to what writes into them


def double_first(values: Any) -> None:
    values[0][0] *= 2.0


def double_a(values: Any) -> None:
    values["a"][0] *= 2.0


def first(values: Any) -> Any:
    return values[0]


def given_a_list(x: Any) -> Any:
    a, b = x.copy(), x * 2
    double_first([a, b])
    return np.sum(a * b)


def given_a_tuple(x: Any) -> Any:
    a, b = x.copy(), x * 2
    double_first((b, a))
    return np.sum(a * b)


def given_a_dict(x: Any) -> Any:
    a, b = x.copy(), x * 2
    double_a({"a": a, "b": b})
    return np.sum(a * b)


def given_a_list_and_written(x: Any) -> Any:
    a, b = x.copy(), x * 2
    r = first([a, b])
    r[0] *= 2
    return np.sum(a * b)


# --- arrays without axes


def factor_without_axes(x: Any) -> Any:
    t = x * 1.0
    total = np.mean(t < 0.9)
    factor = np.array(total)
    factor[...] = np.mean(t)
    t[:] *= factor
    return np.mean(t)


def transpose_without_axes(x: Any) -> Any:
    a = np.array(x[0] * x[1])
    b = a.T
    a *= x[0]
    return b * x[1]


def row_without_axes(x: Any) -> Any:
    a = x * x
    y = a[1, ...]
    y *= 2
    y += x[0]
    a[0, ...] = x[1] * y
    return np.sum(a)


FUNCTIONS = [
    *(pair_in_a_pair, pair_kept_whole, dict_in_a_pair, comprehension_in_a_pair, views_in_a_pair),
    *(views_in_a_pair_written, pair_in_a_tuple_of_one, given_a_list, given_a_tuple, given_a_dict),
    *(given_a_list_and_written, factor_without_axes, transpose_without_axes, row_without_axes),
]
CASES = [case(f, x, name=f"{f.__name__}_{n}") for f in FUNCTIONS for n, x in enumerate((V, W))]


# --- containers of the caller that change


def item_replaced_and_others_written(values: Any) -> Any:
    values[0] = values[1] * 2.0
    for i in range(2):
        values[1][i] *= 2.0
    return np.sum(values[0] * values[1])


def items_swapped_in_a_loop(d: Any) -> Any:
    for _ in range(3):
        d["u"], d["v"] = d["v"], d["u"]
        d["v"] *= d["u"]
    return np.sum(d["u"] + d["v"])


def item_appended(values: Any) -> Any:
    values.append(values[0] * values[1])
    for i in range(2):
        values[1][i] *= 2.0
    return np.sum(values[2] * values[1])


@dataclasses.dataclass
class State:
    """Two fields that change places."""

    u: Any
    v: Any


def fields_swapped_in_a_loop(s: Any) -> Any:
    for _ in range(3):
        s.u, s.v = s.v, s.u
        s.v *= s.u
    return np.sum(s.u + s.v)


CASES += [
    case(item_replaced_and_others_written, [V, W]),
    case(items_swapped_in_a_loop, {"u": V, "v": W}),
    case(item_appended, [V, W]),
    case(fields_swapped_in_a_loop, State(V, W)),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def test_a_pullback_of_a_result_that_holds_a_pair() -> None:
    _, pullback = vjp(pairs, V)
    one = np.ones(2)
    np.testing.assert_array_equal(pullback(((one, one), one))[0], [6.0, 6.0])


# --- what is read or changed at once, where nobody knows whether it is a number or a row


def swapped_rows(a: Any) -> Any:
    a[0], a[1] = a[1], a[0]
    return np.sum(a[:, 0])


def augmented_item(a: Any) -> Any:
    views = [a[:2], a[1:3]]
    views[1] *= 3.0
    return np.sum(a * a)


def test_rows_that_change_places() -> None:
    # Both are views: the second assignment reads what the first has written.
    got = grad(swapped_rows)(np.arange(9.0).reshape(3, 3))
    np.testing.assert_array_equal(got, [[0, 0, 0], [2, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(grad(augmented_item)(np.ones(3)), [2, 18, 18])


@pytest.mark.parametrize("f", [swapped_rows, augmented_item])
def test_a_general_text_does_not_take_rows_for_numbers(f: Any) -> None:
    with pytest.raises(UnsupportedError, match="not known here whether it is an array"):
        _ = grad(f).source
