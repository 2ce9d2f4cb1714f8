"""Tuples with named fields whose classes define operators."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient

X = np.array([0.3, -0.2, 0.5, 1.1])
Pair = namedtuple("Pair", "a b")


class Vector(NamedTuple):
    x: float
    y: float
    z: float = 0.0

    def dot(self, other: Vector) -> Any:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def __add__(self, other: Any) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Any) -> Vector:
        return self + -other

    def __mul__(self, factor: Any) -> Vector:  # type: ignore[override]
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    __rmul__ = __mul__  # type: ignore[assignment]

    def __neg__(self) -> Vector:
        return self * -1.0

    def __truediv__(self, divisor: Any) -> Vector:
        return self * (1.0 / divisor)

    @property
    def unit(self) -> Vector:
        return self / np.sqrt(self.dot(self))


def of_sums(x: Any) -> Any:
    a, b = Vector(x[0], x[1]), Vector(x[2], x[3])
    return (a + b).dot(a - b * x[0])


def of_both_sides(x: Any) -> Any:
    a, b = Vector(x[0], x[1], 1.0), Vector(x[2], x[3], 2.0)
    c = 2.0 * a - b * x[0]
    return (-c).unit.dot(a)


def in_a_loop(x: Any) -> Any:
    p, v = Vector(x[0], x[1]), Vector(x[2], x[3])
    for _ in range(5):
        v = v - p * 0.1
        p = p + v * 0.1
    return p.dot(p)


def added_in_place(x: Any) -> Any:
    p = Vector(x[0], x[1])
    p += Vector(x[2], x[3])
    p *= x[0]
    return p.dot(p)


def of_tuples_without(x: Any) -> Any:
    p = Pair(x[0], x[1]) + (x[2],)  # noqa: RUF005
    return p[0] * p[2] + (p * 2)[3]


@pytest.mark.parametrize(
    "f", [of_sums, of_both_sides, in_a_loop, added_in_place, of_tuples_without], ids=lambda f: f.__name__
)
def test_gradients(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-9)
