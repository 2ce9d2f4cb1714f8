"""Objects that the program makes, run through by ``__next__`` or by their places; abstract classes of containers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.transform.remaining import check_both_modes

X = np.array([0.3, -0.7, 0.9, 1.4])
WAY = np.array([0.7, 0.2, -0.5, 0.4])


class Steps:
    """Gives the items of a sequence, and remembers how often it was asked."""

    def __init__(self, items: Any) -> None:
        self.items, self.i = items, 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self.i >= len(self.items):
            raise StopIteration
        self.i += 1
        return self.items[self.i - 1]


class Countdown:
    """Computes what it gives from what it gave before."""

    def __init__(self, x: Any, scale: Any) -> None:
        self.x, self.scale, self.left = x, scale, 3

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        self.x = self.x * self.scale
        return self.x


class ByPlace:
    def __init__(self, items: Any) -> None:
        self.items = items

    def __getitem__(self, i: int) -> Any:
        return self.items[i]


class Squares:
    """Ends by an exception of its own."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __getitem__(self, i: int) -> Any:
        if i == 3:
            raise IndexError
        return self.x[i] ** 2


class Stages(Sequence[Any]):
    def __init__(self, *stages: Any) -> None:
        self.stages = list(stages)

    def __len__(self) -> int:
        return len(self.stages)

    def __getitem__(self, i: Any) -> Any:
        return self.stages[i]

    def __or__(self, other: Any) -> Any:
        return Stages(*self.stages, other)

    def __call__(self, x: Any) -> Any:
        return functools.reduce(lambda a, f: f(a), self, x)


class Terms(Iterator[Any]):
    def __init__(self, x: Any) -> None:
        self.term, self.x, self.n = 1.0, x, 0

    def __next__(self) -> Any:
        self.n += 1
        self.term = self.term * self.x / self.n
        return self.term


class Settings(Mapping[str, Any]):
    def __init__(self, held: Any) -> None:
        self.held = held

    def __getitem__(self, key: str) -> Any:
        return self.held[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)


class Model(Protocol):
    def predict(self, x: Any) -> Any: ...

    def twice(self, x: Any) -> Any:
        return 2 * self.predict(x)


class Linear(Model):
    def __init__(self, w: Any) -> None:
        self.w = w

    def predict(self, x: Any) -> Any:
        return self.w * x


class Fixed(Model):
    offset = 3.0

    def predict(self, x: Any) -> Any:
        return self.offset * x**2


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for v in Steps(x):
        total = total + v * v
    return total


def stopped(x: Any) -> Any:
    total = 0.0
    steps = Steps(x)
    for v in steps:
        if v > 0.5:
            break
        total = total + v**3
    return total + steps.i * x[0]


def first_and_others(x: Any) -> Any:
    steps = Steps(x)
    first = next(steps)
    total = 0.0
    for v in steps:
        total += first * v**2
    return total


def twice_next(x: Any) -> Any:
    steps = Countdown(x[0], x[1])
    return next(steps) * next(steps)


def until_it_stops(x: Any) -> Any:
    steps = Steps(x)
    total = 0.0
    while True:
        try:
            v = next(steps)
        except StopIteration:
            break
        total = total + np.sin(v)
    return total


def with_default(x: Any) -> Any:
    steps = Steps(x[:1])
    return next(steps, x[1]) * next(steps, x[2]) ** 2 * next(steps, 3.0)


def in_a_comprehension(x: Any) -> Any:
    return sum([v**2 for v in Countdown(x[0], x[1])]) + max(v * 2 for v in Countdown(x[2], x[3]))


def counted(x: Any) -> Any:
    total = 0.0
    for i, v in enumerate(Countdown(x[0], x[1])):
        total = total + (i + 1) * v
    return total


def by_place(x: Any) -> Any:
    total = 0.0
    for v in ByPlace(x):
        total = total + v**2
    return total


def functions_by_place(x: Any) -> Any:
    y = x
    for function in ByPlace([np.sin, lambda v: v * x[0], np.cumsum]):
        y = function(y)
    return np.sum(y)


def ended_by_itself(x: Any) -> Any:
    return sum([v * x[3] for v in Squares(x)])


def staged(x: Any) -> Any:
    stages = Stages(np.tanh) | (lambda v: v * x[0]) | functools.partial(np.multiply, x[1]) | np.cumsum
    return np.sum(stages(x)) + len(stages) * x[2]


def endless(x: Any) -> Any:
    total = 1.0
    for term in Terms(x[0]):
        total = total + term
        if abs(term) < 1e-12:
            break
    return total


def mapping(x: Any) -> Any:
    settings = Settings({"a": x[0], "b": x[1] * x[2]})
    total = 0.0
    for key in settings:
        total = total + settings[key] ** 2
    return total * settings["b"]


def protocols(x: Any) -> Any:
    return Linear(x[0]).twice(x[1]) + Fixed().twice(x[2])


@pytest.mark.parametrize(
    "f",
    [
        in_a_loop,
        stopped,
        first_and_others,
        twice_next,
        until_it_stops,
        with_default,
        in_a_comprehension,
        counted,
        by_place,
        functions_by_place,
        ended_by_itself,
        staged,
        endless,
        mapping,
        protocols,
    ],
)
def test_what_runs_through_objects(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)


def chosen_by_place(x: Any) -> Any:
    functions = [np.sin, np.cos]
    try:
        function = functions[2]
    except IndexError:
        function = functions[-1]
    return np.sum(function(x))


class Stop(Exception):
    pass


def checked(n: int) -> int:
    if n > 2:
        raise Stop
    return n


def ended_by_a_class(x: Any) -> Any:
    total = 0.0
    for n, function in enumerate([np.sin, np.cos, np.tanh, np.exp]):
        try:
            factor = checked(n)
        except Stop:
            break
        total = total + factor * function(x[n])
    return total


def caught_further_out(x: Any) -> Any:
    functions = [np.sin]
    total = x[0] * 0.0
    try:
        try:
            function = functions[1]
        except KeyError:
            function = np.cos
        total = total + function(x[0])
    except IndexError:
        total = total + x[1] ** 2
    return total


@pytest.mark.parametrize("f", [chosen_by_place, ended_by_a_class, caught_further_out])
def test_what_surely_raises(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)


def test_what_it_raises_is_raised_without_a_handler() -> None:
    def f(x: Any) -> Any:
        return [np.sin, np.cos][3](x[0])

    with pytest.raises(IndexError):
        grad(f)(X)


def taken_one_by_one(x: Any) -> Any:
    steps = iter(x)
    first = next(steps)
    total = 0.0
    for v in steps:
        total = total + first * v**2
    return total + next(steps, 3.0) * x[1]


def written_after_it_was_made(x: Any) -> Any:
    y = x * 2.0
    steps = iter(y)
    y[1] = y[0] * y[2]
    return next(steps) * next(steps) ** 2


def rows_of_a_matrix(x: Any) -> Any:
    values = iter(np.outer(x, x))
    return np.sum([next(values) * k for k in (2.0, 3.0)])


def products(x: Any) -> Any:
    powers = {(1, 0): x[0], (2, 1): x[2]}
    total = sum(c * math.prod(a**p for a, p in zip(x[1:3], k, strict=True)) for k, c in powers.items())
    return total + math.prod([v**2 for v in Countdown(x[1], x[3])], start=x[0])


@pytest.mark.parametrize("f", [taken_one_by_one, written_after_it_was_made, rows_of_a_matrix, products])
def test_iterators_of_sequences(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)


def test_iterator_of_something_else_is_refused() -> None:
    def f(x: Any) -> Any:
        return next(iter(x)) * x["b"]

    with pytest.raises(S2SADError, match="a list or iterator is made of a dict"):
        grad(f)({"a": 1.0, "b": 2.0})
