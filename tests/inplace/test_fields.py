"""Dataclasses and named tuples whose arrays are written, and dataclasses whose fields are replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.3, -1.2, 2.5, 0.7])
W = np.array([1.5, 0.25, -0.75, 1.1])


@dataclass
class State:
    u: Any
    v: Any
    k: float


@dataclass(frozen=True, slots=True)
class Frozen:
    u: Any
    k: float


class Pair(NamedTuple):
    a: Any
    b: Any


STATE = State(V, W, 0.6)


def array_written(s: Any) -> Any:
    s.u[1:] += s.v[:-1] * s.k
    return np.sum(s.u * s.u)


def array_scaled(s: Any) -> Any:
    s.u *= s.k
    return np.sum(s.u * s.v)


def fields_replaced(s: Any) -> Any:
    s.u = s.u * s.v
    s.k = s.k * 2.0
    return np.sum(s.u * s.k)


def two_names(s: Any) -> Any:
    u = s.u
    u[0] = s.v[1] * s.v[2]
    s.u[1] *= u[0]
    return np.sum(s.u * u)


def written_in_loop(s: Any) -> Any:
    for _ in range(3):
        s.u[1:] += s.k * s.u[:-1] * s.v[1:]
        s.v -= 0.1 * s.u
    return np.sum(s.u * s.v)


def replaced_in_loop(s: Any) -> Any:
    for _ in range(3):
        s.u = s.u + s.k * np.sin(s.v)
        s.v = s.v - s.k * s.u
        s.k *= 0.9
    return np.sum(s.u * s.v) * s.k


def swapped(s: Any) -> Any:
    s.u, s.v = s.v, s.u
    return np.sum(s.u**2 * s.v)


def number_replaced(s: Any) -> Any:
    s.k = s.k * s.u[0]
    s.k += s.v[1]
    return s.k**2 * np.sum(s.u)


def replaced_in_branch(s: Any) -> Any:
    if s.u[0] > 0:
        s.u = s.u * s.v
    else:
        s.k = 2.0
    return np.sum(s.u) * s.k


def write_field(s: Any) -> None:
    s.u[1:] += s.v[:-1] * s.k


def callee_writes_field(s: Any) -> Any:
    write_field(s)
    write_field(s)
    return np.sum(s.u**2)


def frozen_written(s: Any) -> Any:
    s.u[0] = s.u[1] * s.k
    return np.sum(s.u**2)


def named_tuple_written(p: Any) -> Any:
    a = p.a
    a[0] = p.b[1] * p.a[1]
    p[1][2] *= a[0]
    return np.sum(p.a * p.b)


def with_dict(s: Any, d: Any) -> Any:
    d["q"] *= s.k
    s.u[0] = d["q"][1]
    return np.sum(s.u * d["q"])


def set_field(s: Any) -> None:
    s.k = s.k * 2.0


def callee_sets_field(s: Any) -> Any:
    set_field(s)
    return s.k * np.sum(s.u)


def another_name(s: Any) -> Any:
    t = s
    t.k = s.k * s.u[0]
    return s.k * np.sum(s.u)


def no_field(s: Any) -> Any:
    s.w = s.u * 2.0
    return np.sum(s.w * s.v)


def replaced_and_written(s: Any) -> Any:
    s.u = s.u * 2.0
    s.u[0] = s.v[1] * s.u[1]
    s.v[2] = 3.0 * s.u[0]
    return np.sum(s.u * s.v)


CASES = [
    *[
        case(f, STATE)
        for f in (
            *(array_written, array_scaled, fields_replaced, two_names, written_in_loop, replaced_in_loop, swapped),
            *(number_replaced, replaced_in_branch, callee_writes_field, callee_sets_field),
            *(another_name, no_field, replaced_and_written),
        )
    ],
    case(replaced_in_branch, State(-V, W, 0.6), name="replaced_in_branch_else"),
    case(frozen_written, Frozen(V, 0.6)),
    case(named_tuple_written, Pair(V, W)),
    case(with_dict, STATE, {"q": V * 0.5}),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
