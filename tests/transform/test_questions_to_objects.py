"""Objects that the program makes are asked whether they are true, what they contain and which is less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.transform.remaining import check_both_modes

X = np.array([0.3, 0.5, 0.7])
WAY = np.array([0.7, 0.2, -0.5])


class Bag:
    def __init__(self, held: Any) -> None:
        self.held = held

    def __getitem__(self, key: str) -> Any:
        return self.held[key]

    def __contains__(self, key: str) -> bool:
        return key in self.held

    def __len__(self) -> int:
        return len(self.held)

    def __lt__(self, other: Any) -> Any:
        return self.held["a"] < other.held["a"]


class Greater:
    """Is asked by ``max`` before ``__lt__`` is, which says something else."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __lt__(self, other: Any) -> Any:
        return self.v < other.v

    def __gt__(self, other: Any) -> Any:
        return self.v < other.v


class Range:
    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high

    def __contains__(self, v: Any) -> Any:
        return self.low <= v <= self.high

    def __bool__(self) -> bool:
        return bool(self.low < self.high)


class Stack:
    def __init__(self) -> None:
        self.items: list[Any] = []

    def __len__(self) -> int:
        return len(self.items)


@dataclass(order=True)
class Event:
    time: Any
    weight: float = field(compare=False, default=1.0)


def contains(x: Any) -> Any:
    bag = Bag({"a": x[0], "b": x[1] * x[2]})
    return bag["b"] * 2.0 if "c" in bag else bag["a"] ** 2


def contains_not(x: Any) -> Any:
    bag = Bag({"a": x[0], "b": x[1] * x[2]})
    if "b" in bag and "c" not in bag:
        return bag["b"]
    return 3 * x[0]


def within(x: Any) -> Any:
    total = 0.0
    ranges = Range(0.4, x[2] + 0.1), Range(x[1], 0.2)
    for v in x:
        for r in ranges:
            if v in r:
                total = total + v * r.low
            if v not in r and not r:
                total = total + v**2 * r.high
    return total


def is_true(x: Any) -> Any:
    bag, empty = Bag({"a": x[0], "b": x[1] * x[2]}), Bag({})
    return (bag["b"] if bag else x[0]) + (1.0 if empty else x[1] ** 2) + (x[2] if bag and not empty else 0.0)


def while_true(x: Any) -> Any:
    stack = Stack()
    for v in x:
        stack.items.append(v * v)
    total, factor = 0.0, 1.0
    while stack:
        total = total + factor * stack.items.pop()
        factor = factor + 1.0
    return total


def while_known(x: Any) -> Any:
    stack = Stack()
    stack.items += [np.sin, np.tanh]
    y = x[0]
    while stack:
        y = stack.items.pop()(y)
    return y


def in_order(x: Any) -> Any:
    first, second = Bag({"a": x[0]}), Bag({"a": x[1] * x[2]})
    low, high = sorted([second, first])
    return low["a"] ** 2 + 3 * high["a"] + max(first, second)["a"] * min(first, second)["a"] ** 2


def by_the_other(x: Any) -> Any:
    first, second = Bag({"a": x[0]}), Bag({"a": x[1]})
    return first["a"] ** 2 if first > second else second["a"] ** 3


def by_its_own(x: Any) -> Any:
    found = max(Greater(x[0]), Greater(x[1]), Greater(x[2]))
    return found.v**2


def dataclasses_in_order(x: Any) -> Any:
    events = [Event(x[0], 2.0), Event(x[1] * x[2], 3.0), Event(x[2])]
    events.sort()
    total = max(events).time * min(events).time
    for n, event in enumerate(events):
        total = total + (n + 1) * event.time**2 * event.weight
    return total if Event(x[1]) >= Event(x[0], 7.0) else 0.0 * x[0]


@pytest.mark.parametrize(
    "f",
    [
        contains,
        contains_not,
        within,
        is_true,
        while_true,
        while_known,
        in_order,
        by_the_other,
        by_its_own,
        dataclasses_in_order,
    ],
)
def test_what_objects_are_asked(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)


class Matrix:
    def __init__(self, rows: Any) -> None:
        self.rows = [list(row) for row in rows]

    def __getitem__(self, at: Any) -> Any:
        i, j = at
        return self.rows[i][j]

    def __matmul__(self, other: Any) -> Any:
        n = len(self.rows)
        return Matrix([[sum(self[i, k] * other[k, j] for k in range(n)) for j in range(n)] for i in range(n)])

    def transposed(self) -> Any:
        return Matrix(zip(*self.rows, strict=True))


def generators_in_comprehensions(x: Any) -> Any:
    m = Matrix([[x[0], 1.0], [x[1], x[2]]])
    return (m @ m.transposed() @ m)[0, 1] + sum(m[i, 0] * sum(m[i, j] for j in range(2)) for i in range(2))


def lambdas_in_comprehensions(x: Any) -> Any:
    m = Matrix([[x[0], 1.0], [x[1], x[2]]])
    total = 0.0
    for row in range(2):
        read = [lambda j: m[i, j] * (row + 1) for i in range(2)]  # noqa: B023
        total = total + read[0](0) * read[1](1) ** 2
    return total


def kept_over_evaluations(x: Any) -> Any:
    m = Matrix([[x[0], 1.0], [x[1], x[2]]])
    read = []
    for row in range(2):
        read.append([lambda: m[i, 0] for i in range(row + 1)][0])  # noqa: B023, RUF015, PERF401
    return read[0]() + 5.0 * read[1]() ** 2


@pytest.mark.parametrize("f", [generators_in_comprehensions, lambdas_in_comprehensions, kept_over_evaluations])
def test_variables_of_comprehensions_that_functions_read(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)
