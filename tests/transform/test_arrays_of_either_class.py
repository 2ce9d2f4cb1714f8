"""Values that are an object of a subclass of arrays on one way, and an array or another such object on another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.transform.remaining import check_both_modes

POINTS = [np.array([0.3, 0.7, -0.4]), np.array([-0.3, -0.7, 0.4])]
WAY = np.array([1.0, 0.5, -0.7])


class Turn(np.ndarray):
    def __new__(cls, numbers: Any) -> Any:
        numbers = np.array(numbers, dtype=float)
        numbers = numbers / np.linalg.norm(numbers)
        made = super().__new__(cls, numbers.shape, float, numbers)
        made.plain = numbers
        return made

    def doubled(self) -> Any:
        return self * 2.0


class Other(Turn):
    pass


class Filter:
    def __init__(self, gain: Any) -> None:
        self.gain = gain

    def updated(self, q: Any, rate: Any) -> Any:
        turn = Turn(q)
        if np.sum(rate) < 0.0:
            return turn.plain
        new = turn + self.gain * rate
        new /= np.linalg.norm(new)
        return new


def rows_of_either(x: Any) -> Any:
    made = Filter(x[0])
    rows = np.zeros((3, 3))
    rows[0] = np.array([1.0, x[0], x[1]])
    for i in range(1, 3):
        rows[i] = made.updated(rows[i - 1], x * (2 - i) + 0.1)
    return np.sum(rows**3)


def computed_with(x: Any) -> Any:
    q = Filter(x[0]).updated(np.array([1.0, x[0], x[1]]), x)
    return np.linalg.norm(q * x[2] + 1.0) * q[1] + np.sum(np.asarray(np.sin(q)) ** 2) + np.asarray(q)[0] + q.dot(x)


def of_two_classes(x: Any) -> Any:
    q = Turn(x + 1.0) if x[0] > 0.0 else Other(x * 2.0)
    return np.sum(np.asarray(q.doubled() * x) ** 2) + isinstance(q, Other)


@pytest.mark.parametrize("x", POINTS)
@pytest.mark.parametrize("f", [rows_of_either, computed_with, of_two_classes])
def test_an_object_on_one_way_and_an_array_on_another(f: Callable[..., Any], x: Any) -> None:
    check_both_modes(f, x, WAY)
