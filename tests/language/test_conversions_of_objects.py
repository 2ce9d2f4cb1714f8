"""``float``, ``int``, ``abs`` and ``round`` of objects that the program makes do what their methods say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient


class Angle:
    def __init__(self, degrees: Any) -> None:
        self.degrees = degrees

    def __float__(self) -> float:
        return float(self.degrees)

    def __int__(self) -> int:
        return int(self.degrees)

    def __abs__(self) -> Angle:
        return Angle(abs(self.degrees))

    def __round__(self, digits: int = 0) -> Angle:
        return Angle(round(self.degrees, digits))

    def __mod__(self, turn: float) -> Angle:
        return Angle(self.degrees % turn)


class Plain:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __float__(self) -> float:
        result: float = self.value * 2.0
        return result


def as_a_float(x: Any) -> Any:
    return float(Angle(x * x)) * float(Plain(float(x)))


def as_an_integer(x: Any) -> Any:
    return int(Angle(x + 3.0)) * x * x


def absolute(x: Any) -> Any:
    return float(abs(Angle(-x * x))) + float(Angle(x) % 0.4)


def rounded(x: Any) -> Any:
    return float(round(Angle(x * x), 1)) * x + float(round(Angle(x + 2.0))) * x


def in_loops(x: Any) -> Any:
    angles = [Angle(x**i) for i in range(4)]
    return sum(float(a) for a in angles) * sum(map(float, angles))


def into_numpy(x: Any) -> Any:
    return np.sin(float(Angle(x))) * np.exp(float(Angle(2 * x)))


FUNCTIONS = [as_a_float, as_an_integer, absolute, rounded, in_loops, into_numpy]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_objects_are_converted(function: Any) -> None:
    expected = numeric_gradient(function, (0.7,))
    value, dot = jvp(function, (0.7,), (1.0,))
    assert value == function(0.7)
    assert np.allclose([grad(function)(0.7), dot], expected, rtol=1e-6)
