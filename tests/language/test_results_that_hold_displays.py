"""Results that hold displays: pairs in pairs, dicts and lists in tuples, views, and what is no number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import vjp
from s2sad.errors import ArgumentError
from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.7, 1.3])


W = np.array([0.5, -0.2])


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


FUNCTIONS = [
    pair_in_a_pair,
    pair_kept_whole,
    dict_in_a_pair,
    comprehension_in_a_pair,
    views_in_a_pair,
    views_in_a_pair_written,
    pair_in_a_tuple_of_one,
]
CASES = [case(f, x, name=f"{f.__name__}_{n}") for f in FUNCTIONS for n, x in enumerate((V, W))]


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


def with_a_name(x: Any) -> Any:
    return x * 2, "name"


def test_adjoints_of_what_is_no_number() -> None:
    _, pullback = vjp(with_a_name, V)
    np.testing.assert_array_equal(pullback((np.ones(2), "name"))[0], [2.0, 2.0])
    for wrong in ("3", [None, None]):
        with pytest.raises(ArgumentError, match="a number or an array"):
            pullback((wrong, "name"))
