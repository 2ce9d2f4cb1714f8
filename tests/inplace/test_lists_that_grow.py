"""Lists that methods and functions of a program change: right in both modes, or refused where others hold the list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import S2SADError
from tests.inplace.test_arrays_of_lists import X, check
from tests.oracle import numeric_gradient


class Smoother:
    def __init__(self, past: Any = None) -> None:
        self.x = np.zeros(2)
        self.past = [] if past is None else past
        self.count = 0

    def smooth(self, z: Any) -> None:
        k = self.count
        before = self.x * 0.9
        self.past.append(before.copy())
        if k >= 2:
            for i in range(2):
                self.past[k - i] = before * z
        else:
            self.past[k] = self.x.copy()
        self.x = before + z * np.array([1.0, 0.5])
        self.count += 1

    def drop(self, z: Any) -> Any:
        first = self.past.pop(0)
        self.x = self.x + first * z + np.sin(first) - np.cos(z) * np.array([0.2, 0.1])
        return np.sum(self.x) + self.x[0] * z


def lagged(x: Any) -> Any:
    s = Smoother()
    for z in x:
        s.smooth(z)
    return np.sum(np.array(s.past) ** 2) + np.sum(s.x)


def lagged_and_dropped(x: Any) -> Any:
    s, total = Smoother(), 0.0
    for z in x:
        s.smooth(z)
    for z in x[1:]:
        total = total + s.drop(z * 2.0)
    return total + np.sum(np.array(s.past))


def two_objects(x: Any) -> Any:
    s, t = Smoother(), Smoother()
    for z in x:
        s.smooth(z)
        t.smooth(z * np.sum(s.x))
    return np.sum(np.array(s.past) * np.array(t.past))


def record(past: Any, weights: Any, z: Any, scale: float) -> Any:
    y = np.sin(z) * scale + np.sum(weights) * z - np.cos(z * scale)
    past.append(y * z)
    past[-1] = past[-1] * y
    return y * past[0]


def by_a_function(x: Any) -> Any:
    past: list[Any] = []
    total = 0.0
    for z in x:
        total = total + record(past, x, z, 0.5) + past[-1]
    return total * len(past)


@pytest.mark.parametrize("f", [lagged, lagged_and_dropped, two_objects, by_a_function], ids=lambda f: f.__name__)
def test_what_changes_a_list_of_its_caller(f: Callable[..., Any]) -> None:
    check(f)


def shared_by_two_objects(x: Any) -> Any:
    past: list[Any] = []
    s, t = Smoother(past), Smoother(past)
    for z in x:
        s.smooth(z)
        t.x = s.x * 0.5
    t.count = 1
    t.smooth(x[0])
    return np.sum(np.array(s.past) ** 2) + len(past) * np.sum(past[1])


def under_another_name(x: Any) -> Any:
    s = Smoother()
    log = s.past
    for z in x:
        s.smooth(z)
    log[0] = x[1] * np.ones(2)
    return np.sum(np.array(s.past) ** 2) + np.sum(log[0])


def item_taken_before(x: Any) -> Any:
    s, total = Smoother(), 0.0
    for z in x:
        s.smooth(z)
        last = s.past[-1]
        last *= z
        total = total + np.sum(s.past[-1])
    return total


def held_by_another_list(x: Any) -> Any:
    s, runs = Smoother(), []
    for z in x:
        s.smooth(z)
        runs.append(s.past)
    return sum([np.sum(np.array(run)) for run in runs])


def passed_twice(x: Any) -> Any:
    past = [x[0]]
    for z in x:
        past.append(record(past, past, z, 0.1))
    return past[-1]


def list_of_the_argument(x: Any) -> Any:
    rows = list(x)
    for z in x:
        record(rows, x, z, 0.3)
    return sum(rows)


@pytest.mark.parametrize(
    "f",
    [
        shared_by_two_objects, under_another_name, item_taken_before, held_by_another_list, passed_twice,
        list_of_the_argument,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_a_list_that_others_hold_is_right_or_refused(f: Callable[..., Any]) -> None:
    check(f, refused=True)


def test_a_list_that_is_an_argument_stays_as_it_is() -> None:
    def f(x: Any, past: Any) -> Any:
        for z in x:
            record(past, x, z, 0.5)
        return past[-1] * past[0]

    given = [0.5]
    try:
        found = grad(f)(X, given)
    except S2SADError:
        pass
    else:
        np.testing.assert_allclose(found, numeric_gradient(lambda x: f(x, [0.5]), [X]), rtol=1e-7)
    assert given == [0.5]
