"""``bisect`` and ``insort`` of objects, ``itertools.tee``, windows of a length that is not known."""

from __future__ import annotations

import bisect
import copy
import itertools
import logging
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.transform.remaining import check_every_way

X = np.array([0.3, 0.7, -0.4])
SETTINGS = {"window": 2}
LOG = logging.getLogger(__name__)


@dataclass(order=True)
class Burn:
    time: float
    speed: Any
    kind: str = "prograde"


class Event:
    def __init__(self, time: float, value: Any) -> None:
        self.time, self.value = time, value

    def __lt__(self, other: Event) -> bool:
        return self.time < other.time


def plan(*events: Any) -> list[Any]:
    found: list[Any] = []
    for event in events:
        bisect.insort(found, event)
    return found


def dataclasses_in_order(x: Any) -> Any:
    burns = plan(Burn(2.0, x[0]), Burn(1.0, x[1]), Burn(1.5, x[2]))
    return sum((i + 1) * b.speed**2 for i, b in enumerate(burns))


def behind_equal_ones(x: Any) -> Any:
    events = plan(Event(2.0, x[0]), Event(1.0, x[1]), Event(2.0, x[2]))
    return sum((i + 1) * e.value**2 for i, e in enumerate(events))


def tuples_before_equal_ones(x: Any) -> Any:
    rows: list[Any] = []
    for time, value in ((3, x[0]), (1, x[1]), (2, x[2])):
        bisect.insort_left(rows, (time, value))
    return sum((i + 1) * value for i, (_, value) in enumerate(rows))


def by_a_key(x: Any) -> Any:
    burns = [Burn(1.0, x[0]), Burn(2.0, x[1])]
    i = bisect.bisect(burns, 1.5, key=lambda b: b.time)
    bisect.insort(burns, Burn(1.2, x[2]), key=lambda b: b.time)
    return burns[i].speed * 2 + burns[i - 1].speed * x[0] + burns[2].speed


def places_among_numbers(x: Any) -> Any:
    knots, values = [0.0, 1.0, 2.0], [x[0], x[1], x[2]]
    i = bisect.bisect_right(knots, 1.2) - 1
    j = bisect.bisect_left([x[2], x[0], 0.5], 0.4) - 1
    return values[i] * 0.8 + values[i + 1] * 0.2 + values[j] ** 2


def pairwise(rows: Any) -> Iterator[Any]:
    first, second = itertools.tee(rows)
    next(second, None)
    return zip(first, second, strict=False)


def neighbours(x: Any) -> Any:
    return sum((q - p) ** 2 for p, q in pairwise(x))


def neighbours_of_objects(x: Any) -> Any:
    burns = plan(Burn(2.0, x[0]), Burn(1.0, x[1]), Burn(3.0, x[2]))
    return sum(q.speed - p.speed**2 for p, q in pairwise(burns))


def asked_for_in_turns(x: Any) -> Any:
    rows = [x[0], x[1], x[2]]
    a, b = itertools.tee(rows)
    return next(a) * next(a) * next(b) + sum(b) * next(a)


def smoothed(rows: Any, n: int) -> Iterator[Any]:
    window: deque[Any] = deque(maxlen=n)
    for value in rows:
        window.append(value)
        yield sum(window) / len(window)


def thinned(rows: Any, n: int) -> Iterator[Any]:
    for i, value in enumerate(rows):
        if i % n == 0:
            yield value


def stages(x: Any) -> Any:
    parts = (partial(smoothed, n=SETTINGS["window"]), partial(thinned, n=2))
    return sum(v * v for v in reduce(lambda rows, stage: stage(rows), parts, x))


def window_without_bound(x: Any) -> Any:
    window: deque[Any] = deque(maxlen=SETTINGS.get("none"))
    for value in x:
        window.append(value * x[0])
        if len(window) > 2:
            window.popleft()
    return sum(window)


@dataclass
class State:
    v: Any
    n: int = 0
    twice: Any = field(init=False)

    def __post_init__(self) -> None:
        self.twice = 2.0 * self.v

    def moved(self, k: float) -> State | None:
        if self.v > 0.0:
            return replace(self, v=self.v * k, n=self.n + 1)
        if self.v < -1.0:
            return None
        return replace(self, v=self.v - k)


def replaced_on_some_ways(x: Any) -> Any:
    s = State(x[0]).moved(2.0)
    t = replace(s, v=s.v * x[1])  # type: ignore[type-var, union-attr]
    u = copy.copy(t)
    u.v = u.v * 2.0
    return t.v * u.v * u.n + t.twice


class Mission:
    def __init__(self, start: Any) -> None:
        self.start = start
        self.parts: list[Any] = []

    def __copy__(self) -> Mission:
        made = Mission(self.start)
        made.parts = list(self.parts)
        return made


def copied_by_a_method(x: Any) -> Any:
    m = Mission(x[0])
    m.parts.append(x[1])
    other = copy.copy(m)
    other.parts.append(x[2])
    return m.start * sum(other.parts) + len(m.parts) * x[0]


def logged(x: Any) -> Any:
    seen = []
    for i in range(3):
        seen.append(x[i] * i)
        LOG.info("round %d: %.2f", i, seen[-1])
    return sum(seen)


PROGRAMS = [
    dataclasses_in_order,
    behind_equal_ones,
    tuples_before_equal_ones,
    by_a_key,
    places_among_numbers,
    neighbours,
    neighbours_of_objects,
    asked_for_in_turns,
    stages,
    window_without_bound,
    replaced_on_some_ways,
    copied_by_a_method,
    logged,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[..., Any]) -> None:
    check_every_way(f, X)


def test_what_is_none_is_not_replaced() -> None:
    with pytest.raises((TypeError, AttributeError)):
        grad(replaced_on_some_ways)(np.array([-3.0, 0.7, 0.2]))


def test_an_order_that_depends_on_the_run_is_refused_with_its_cause() -> None:
    def f(x: Any) -> Any:
        burns = plan(Burn(x[0], x[0]), Burn(x[1], x[1]))
        return burns[0].speed

    with pytest.raises(S2SADError, match=r"whether this holds is not known\n.*insort"):
        grad(f)(X)


def test_a_negative_length() -> None:
    SETTINGS["window"] = -1
    try:
        with pytest.raises(ValueError, match="non-negative"):
            grad(stages)(X)
    finally:
        SETTINGS["window"] = 2
