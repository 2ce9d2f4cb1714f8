"""Random programs with functions and objects; `python -m tests.random_objects` runs as many as one likes.

What such programs have found stands here as small ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests import random_containers
from tests.random_objects import generate, run_one
from tests.transform.remaining import check_gradient, check_same


@pytest.mark.parametrize("seed", range(0, 30, 10))
def test_random_programs(seed: int) -> None:
    with np.errstate(all="ignore"):
        for number in range(seed, seed + 10):
            text, verdict = run_one(number)
            assert verdict.kind != "failed", f"{text}\n{verdict.message}"


@pytest.mark.parametrize("seed", range(0, 20, 10))
def test_random_programs_with_containers(seed: int) -> None:
    with np.errstate(all="ignore"):
        for number in range(seed, seed + 10):
            text, verdict = run_one(number, random_containers.generate)
            assert verdict.kind != "failed", f"{text}\n{verdict.message}"


def test_most_programs_are_specialised_and_have_gradients() -> None:
    verdicts = [run_one(number)[1] for number in range(500, 520)]
    assert sum(verdict.kind == "same" for verdict in verdicts) >= 10
    assert sum(verdict.gradient == "right" for verdict in verdicts) >= 10
    assert generate(500) == generate(500)


# --- what they have found


def long_with_default(f: Any, t: Any) -> Any:
    a = f(t)
    b = f(a) * t
    if a > 100.0:
        return b
    c = a * b + t
    return f(c) * b + a


def default_and_captured(x: Any) -> Any:
    def inner(t: Any, k: float = -0.5) -> Any:
        if t > 50.0:
            return x[2]
        a = np.sin(x[0] + t) * k
        b = a * t + x[1]
        return np.sin(b + x[0] * a)

    return long_with_default(inner, x[1])


def makes_and_needs_functions(h: Any, t: Any) -> Any:
    a = np.ones(3) * np.sin(t)
    total = 0.0
    for i in range(2):
        fs = [(lambda v: np.tanh(t * v)), (lambda v: np.tanh(i * v))]  # noqa: B023
        total = total + fs[0](t) + h(total)
    if total > 100.0:
        return total
    return np.sin(a[0] * t) + total


def call_that_is_undone(x: Any) -> Any:
    f = np.sin
    y = x[0] * x[1]
    for _ in range(2):
        f = f if y > 0 else np.cos
    return y + makes_and_needs_functions(f, x[0] * y) + y * x[2]


class Limits:
    low = -np.inf
    high = np.float64(0.5)
    shift = -2

    def __init__(self, w: Any) -> None:
        self.w = w

    def within(self, v: Any) -> Any:
        return self.w * v if self.low < v < self.high else (v + 3.0) ** self.shift * self.shift**2


def constants_of_a_class(x: Any) -> Any:
    return Limits(x[0]).within(x[1]) * Limits(x[1]).shift


def below(x: Any) -> Any:
    limits = Limits(x[0])
    return limits.w if limits.low < x[1] else (x[1] + 3.0) ** limits.shift * limits.shift**2


def constant_of_a_class_that_is_set(x: Any) -> Any:
    Limits.shift = 4
    result = Limits(x[0]).shift * x[0]
    Limits.shift = -2
    return result


def negative_index(x: Any) -> Any:
    fs = [lambda v: v * x[0], lambda v: v * v]
    i = -1
    return fs[i](x[i]) + x[-1] ** 2


PROGRAMS = [
    default_and_captured, call_that_is_undone, constants_of_a_class, below, constant_of_a_class_that_is_set,
    negative_index,
]  # fmt: skip
TAKEN = [default_and_captured, below, negative_index]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_remains_does_the_same(f: Callable[..., Any]) -> None:
    check_same(f, f in TAKEN)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f: Callable[..., Any]) -> None:
    check_gradient(f, f in TAKEN)
