"""Iterators of `itertools` over lists of which items get other values before they are asked for."""

# ruff: noqa: B031, B905

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.3, -0.7, 0.9, 1.1])


def neighbours(x: Any) -> Any:
    items = [x[0], x[1], 2.0, x[3]]
    pairs = itertools.pairwise(items)
    items[1] = x[2] * 2.0
    total = 0.0
    for a, b in pairs:
        total = total * 0.9 + a * b
    return total + sum(items)


def neighbours_that_the_loop_sets(x: Any) -> Any:
    items = [x[0], x[1], 2.0, x[3]]
    total, pairs = 0.0, itertools.pairwise(items)
    for k, (a, b) in enumerate(pairs):
        total = total + a * b
        items[k + 1] = total * x[2]
    return total + sum(items)


def padded(x: Any) -> Any:
    items, others = [x[0], x[1], x[2]], [x[3], 2.0]
    pairs = itertools.zip_longest(items, others, fillvalue=x[1])
    items[0], items[1] = items[1], items[0]
    others[1] = x[0] ** 2
    return sum(a * b for a, b in pairs) * items[0]


def padded_while_it_is_set(x: Any) -> Any:
    items, others, total = [x[0], x[1], x[2]], [x[3], 2.0], 0.0
    for a, b in itertools.zip_longest(items, others, fillvalue=3.0):
        total = total + a * b
        items[2] = total
        others[1] = x[1] * 2.0
    return total


def in_turns(x: Any) -> Any:
    fs = [np.sin, np.cos, lambda v: v * x[1]]
    turns, y = itertools.cycle(fs), x[0]
    fs[1] = np.tanh
    for f, _ in zip(turns, range(5)):
        y = f(y) + x[2]
        fs[0] = np.exp
    return y


def composed_from_none(x: Any) -> Any:
    fs = [np.sin, np.cos, lambda v: v * x[1]]
    y = x[0]
    for f in itertools.accumulate(fs, lambda f, g: lambda v: g(f(v)), initial=None):
        y = y + f(x[2])
    return y


def groups_that_are_left(x: Any) -> Any:
    items = [(0, x[0]), (0, x[1]), (1, x[2])]
    groups = [(k, g) for k, g in itertools.groupby(items, key=lambda t: t[0])]
    return x[3] * 2.0 + sum(x[0] + sum(v for _, v in g) for _, g in groups)


def group_before_the_one_at_hand(x: Any) -> Any:
    total, before = x[3], None
    for k, group in itertools.groupby([(0, x[0]), (0, x[1]), (1, x[2]), (2, x[0])], key=lambda t: t[0]):
        if before is not None:
            total = total + 10.0 * x[0] * sum(v for _, v in before)
        if k != 1:
            total = total * sum(v for _, v in group)
        before = group
    return total


FUNCTIONS = [
    groups_that_are_left,
    group_before_the_one_at_hand,
    composed_from_none,
    neighbours,
    neighbours_that_the_loop_sets,
    padded,
    padded_while_it_is_set,
    in_turns,
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X,))
    value, found = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (X,), (np.cos(X),))[1], expected @ np.cos(X), rtol=1e-7)
