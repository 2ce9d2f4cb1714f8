"""Lists, tuples and dicts of arrays that are given to what writes into them, or whose items it replaces."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.7, 1.3])


W = np.array([0.5, -0.2])


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


FUNCTIONS = [given_a_list, given_a_tuple, given_a_dict, given_a_list_and_written]
CASES = [
    *[case(f, x, name=f"{f.__name__}_{n}") for f in FUNCTIONS for n, x in enumerate((V, W))],
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
