"""Loops over objects of which branches end a round, or the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad
from s2sad.errors import UnsupportedError
from tests.transform.remaining import check_both_modes


class Body:
    def __init__(self, x: Any, number: int) -> None:
        self.x, self.number = x, number


def bodies(v: Any) -> list[Body]:
    return [Body(v[i], i) for i in range(3)]


def total(items: list[Body]) -> Any:
    return sum(p.x * k for k, p in enumerate(items, 1))


def next_round(v: Any) -> Any:
    items, t = bodies(v), 0.0
    for p in items:
        if p.x < 0:
            continue
        t += p.x**2
        p.x = p.x * 2
    return t + total(items)


def left(v: Any) -> Any:
    items, t = bodies(v), 0.0
    for p in items:
        if p.x < 0:
            break
        t += p.x**2
        p.x = p.x * 2
    return t + total(items)


def both(v: Any) -> Any:
    items, t = bodies(v), 0.0
    for i, p in enumerate(items):
        if p.x < 0:
            t += p.x
            if p.x < -0.5:
                break
            continue
        if p.x > 0.9:
            t += p.x**3
        else:
            if i == 0:
                continue
            p.x = p.x * 3
        t += p.x**2
        p.x = p.x * 2
    else:
        t *= 2
    return t + total(items)


def of_a_dict(v: Any) -> Any:
    items, t = {k: Body(v[i], i) for i, k in enumerate("abc")}, 0.0
    for key, p in items.items():
        if p.x < 0 and key != "a":
            break
        if key == "b":
            continue
        t += p.x**2
    return t * v[0]


def while_some_are_left(v: Any) -> Any:
    items, i = bodies(v), 0
    while i < 3:
        p = items[i]
        i += 1
        if p.x < 0:
            continue
        p.x = p.x**2
        if p.x > 0.8:
            break
    return total(items) * i


def last_one(v: Any) -> Any:
    for p in bodies(v):
        if p.x < 0:
            break
    return p.x * v[0]


def another_object(v: Any) -> Any:
    best = None
    for p in bodies(v):
        if best is None or p.x > best.x:
            best = p
        if p.x < 0:
            continue
        best.x = best.x * 1.5
    return best.x**2 if best is not None else 0.0


def one_in_the_other(v: Any) -> Any:
    items = bodies(v)
    for a in items:
        for b in items:
            if a is b:
                continue
            if a.x < b.x:
                break
            a.x = a.x + 0.1 * b.x**2
        else:
            a.x = a.x * 2
    return total(items)


PROGRAMS = [next_round, left, both, of_a_dict, while_some_are_left, last_one, another_object, one_in_the_other]
POINTS = [[0.3, 0.4, 1.1], [0.3, -0.4, 1.1], [-0.7, 0.4, 1.2], [0.5, 0.6, -0.2], [1.5, 0.6, 0.95]]


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_gradient(f: Callable[[Any], Any]) -> None:
    for point in POINTS:
        v, d = np.array(point), np.array([1.0, 2.0, -1.0])
        check_both_modes(f, v, d)


def gone_on(v: Any) -> Any:
    """The second loop sees how far the first one has come."""
    items, t = bodies(v), 0.0
    rest = iter(items)
    for p in rest:
        if p.x < 0:
            break
        t += p.x
    for p in rest:
        t += p.x**2
    return t


def test_an_iterator_that_is_used_again() -> None:
    with pytest.raises(UnsupportedError):
        value_and_grad(gone_on)(np.array(POINTS[1]))
