"""What draws does so once, in its place, whether or not the number is used."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.transform.remaining import check_both_modes

X = np.array([0.7, 1.3, -0.4])
WAY = np.array([0.3, -1.1, 0.8])


def ends_of_a_range(x: Any) -> Any:
    g = np.random.default_rng(0)
    r = x[0]
    for i in range(int(g.uniform(1, 3)), int(g.uniform(5, 8))):
        r = r * x[1] + i * x[2]
    return r


def step_of_a_range(x: Any) -> Any:
    g = np.random.RandomState(0)
    r = x[0]
    for i in range(0, 12, int(g.uniform(1, 5))):
        r = r * x[1] + i * x[2] * g.rand()
    return r


def ends_of_ranges_in_loops(x: Any) -> Any:
    g = np.random.default_rng(0)
    r = x[0]
    for i in range(int(3 * g.uniform(1, 2))):
        for j in range(i, int(g.uniform(2, 9))):
            r = r * x[1] + i * j * x[2]
    return r


def end_of_a_comprehension(x: Any) -> Any:
    g = np.random.default_rng(0)
    return sum(x[0] * i for i in range(int(g.uniform(1, 3)), int(g.uniform(5, 8))))


def walked(x: Any, g: Any) -> Any:
    z = x[0]
    for k in range(int(g.uniform(3, 6))):
        z = z * x[k % 3] + x[1]
    return z


def ends_in_calls(x: Any) -> Any:
    g = np.random.default_rng(0)
    return walked(x, g) * walked(2 * x, g)


def numbers_that_nobody_reads(x: Any) -> Any:
    g = np.random.default_rng(0)
    first = int(g.uniform(1, 50))
    _ = int(g.uniform(1, 50))
    return x[0] * first * g.uniform(1, 2)


def pythons_generator(x: Any) -> Any:
    g = random.Random(0)
    r = x[0]
    for i in range(int(g.uniform(2, 9))):
        r = r * x[int(g.uniform(0, 3))] + i * x[2]
    return r


@pytest.mark.parametrize(
    "f",
    [
        ends_of_a_range,
        step_of_a_range,
        ends_of_ranges_in_loops,
        end_of_a_comprehension,
        ends_in_calls,
        numbers_that_nobody_reads,
        pythons_generator,
    ],
    ids=lambda f: f.__name__,
)
def test_what_draws_does_so_once(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)
