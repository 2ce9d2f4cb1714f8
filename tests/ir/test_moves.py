"""Moves that nothing reads: source in, the names that are moved out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from s2sad.frontend.lower import lower
from s2sad.frontend.source import read_source
from s2sad.ir.nodes import Copy
from s2sad.ir.traverse import base, walk


def assigned_first(x, n):
    t = x
    for i in range(n):
        t = x * i
        x = x + t
    return x


def read_behind(x, n):
    t = x
    for i in range(n):
        t = x * i
        x = x + t
    return x * t


def read_in_the_next_turn(x, n):
    t = x
    for i in range(n):
        x = x + t
        t = x * i
    return x


def of_a_branch(x, n):
    if n > 1:
        t = x * n
        y = t + 1.0
    else:
        t = x
        y = t
    return y


def left_by_break(x, n):
    while True:
        t = x * n
        if t > 1.0:
            break
        x = x + t
    return x


CASES = [
    (assigned_first, {"x"}),
    (read_behind, {"x", "t"}),
    (read_in_the_next_turn, {"x", "t"}),
    (of_a_branch, {"y"}),
    (left_by_break, {"x"}),
]


@pytest.mark.parametrize(("f", "expected"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_names_that_are_moved(f: Callable[..., Any], expected: set[str]) -> None:
    moves = [stmt for stmt in walk(lower(read_source(f), ("x",)).function.body) if isinstance(stmt, Copy)]
    assert {base(name) for move in moves for name in move.targets} == expected
