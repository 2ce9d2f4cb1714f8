"""Loops over ``zip`` and ``enumerate`` that a variable holds, and over ``zip`` of others."""
# ruff: noqa: B007, B905, RUF007

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient

P = np.array([0.3, 0.4, 0.7])


def held(p: Any) -> Any:
    pairs = zip(p[:-1], p[1:])
    total = 0.0
    for a, b in pairs:
        total = total + a * b**2
    return total


def held_twice(p: Any) -> Any:
    upper = zip(p[:-1], 2 * p[:-1], p[1:])
    lower = zip(p[1:], 3 * p[1:])
    total = 0.0
    for up, lo in zip(upper, lower):
        up = np.array(up)
        total = total + np.sum(up) * lo[0] * lo[1]
    return total


def counted(p: Any) -> Any:
    numbered = enumerate(p)
    total = 0.0
    for i, v in numbered:
        total = total + i * v**2
    return total


def nested(p: Any) -> Any:
    total = 0.0
    for i, ((a, b), c) in enumerate(zip(zip(p[:-1], p[1:]), p)):
        total = total + a * b * c * i
    for pair, (c, rest) in zip(zip(p, p[1:]), zip(p, zip(p * 2, p))):
        total = total + pair[0] * pair[1] * c * rest[0]
    return total


def rebound(p: Any) -> Any:
    q = p * 2
    pairs = zip(p, q)
    q = p * 3
    total = 0.0
    for a, b in pairs:
        total = total + a * b * q[0]
    return total


def written_meanwhile(p: Any) -> Any:
    q = p * 2
    pairs = zip(p, q)
    q[1] = p[0] ** 2
    total = 0.0
    for a, b in pairs:
        total = total + a * b
    return total


def in_a_branch(p: Any) -> Any:
    total = 0.0
    for k in range(2):
        if k:
            pairs = zip(p, p[1:])
            for a, b in pairs:
                total = total + a * b * k
    return total


CASES = [held, held_twice, counted, nested, rebound, written_meanwhile, in_a_branch]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_the_gradient_of_what_runs_through_pairs(f: Any) -> None:
    expected = numeric_gradient(f, (P,))
    np.testing.assert_allclose(grad(f)(P), expected, rtol=1e-7)
    value, dot = jvp(f, (P,), (np.array([1.0, 0.5, -1.0]),))
    assert value == f(P)
    np.testing.assert_allclose(dot, expected @ np.array([1.0, 0.5, -1.0]), rtol=1e-7)


def run_through_twice(p: Any) -> Any:
    pairs = zip(p, p[1:])
    total = 0.0
    for _ in range(2):
        for a, b in pairs:
            total = total + a * b
    return total


def mentioned_again(p: Any) -> Any:
    pairs = zip(p, p[1:])
    total = 0.0
    for a, b in pairs:
        total = total + a * b
    for a, b in pairs:
        total = total + a
    return total


def taken_before(p: Any) -> Any:
    pairs = zip(p, p[1:])
    first = next(pairs)
    total = first[0]
    for a, b in pairs:
        total = total + a * b
    return total


@pytest.mark.parametrize("f", [run_through_twice, mentioned_again, taken_before], ids=lambda f: f.__name__)
def test_what_is_used_elsewhere_stays(f: Any) -> None:
    try:
        found = grad(f)(P)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, (P,)), rtol=1e-7)


def bound_twice(p: Any) -> Any:
    total = 0.0
    for v, v in zip(zip(p, 2 * p), p[1:]):
        total = total + np.sum(v) ** 2
    return total


def item_by_the_next_name(p: Any) -> Any:
    rows, k = [0.0, 0.0, 0.0], 0
    for rows[k], k in zip(zip(p, 2 * p), [1, 2, 0]):
        pass
    return rows[0][0] * rows[1][1] + rows[2][0] ** 2


def item_by_the_name_before(p: Any) -> Any:
    rows = [0.0, 0.0, 0.0]
    for k, rows[k] in zip([1, 2, 0], zip(p, 2 * p)):
        pass
    return rows[0][0] * rows[1][1] + rows[2][0] ** 2


@pytest.mark.parametrize("f", [bound_twice, item_by_the_next_name, item_by_the_name_before], ids=lambda f: f.__name__)
def test_targets_are_assigned_in_order(f: Any) -> None:
    try:
        found = grad(f)(P)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, (P,)), rtol=1e-7)


def another_zip(p: Any) -> Any:
    def zip(a: Any, b: Any) -> Any:
        return [(a[1], b[0])]

    pairs = zip(p, p[1:])
    total = 0.0
    for a, b in pairs:
        total = total + a * b
    return total


def test_a_function_of_that_name_is_another() -> None:
    np.testing.assert_allclose(grad(another_zip)(P), numeric_gradient(another_zip, (P,)), rtol=1e-7)
