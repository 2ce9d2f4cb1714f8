"""What operators, functions of Python and subscripts do to objects that the program makes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, value_and_grad
from tests.oracle import numeric_gradient


class Body:
    def __init__(self, place: Any) -> None:
        self.place = place


@dataclass
class Point:
    x: Any
    y: Any


class Even:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: Any) -> Any:
        return self.value == other.value if isinstance(other, Even) else NotImplemented

    def __ne__(self, other: Any) -> Any:
        return True


class Slots:
    __slots__ = ("_items", "size")

    def __init__(self, *items: Any) -> None:
        self._items = list(items)
        self.size = len(items)

    @classmethod
    def doubled(cls, *items: Any) -> Any:
        return cls(*[2 * item for item in items])

    def more(self) -> Any:
        return self.doubled(*self._items)

    def __getitem__(self, at: int) -> Any:
        return self._items[at]

    def __setitem__(self, at: int, value: Any) -> None:
        self._items[at] = value

    def __abs__(self) -> Any:
        return math.sqrt(sum(v * v for v in self._items))

    def normalise(self) -> None:
        norm = abs(self)
        for i in range(self.size):
            self[i] = self[i] / norm


class Vector:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __mul__(self, other: Any) -> Any:
        if type(other) is Vector:
            return self.x * other.x + self.y * other.y
        raise TypeError

    def __rmul__(self, other: Any) -> Any:
        if type(other) is int or type(other) is float:
            return Vector(self.x * other, self.y * other)
        raise TypeError


class Unequal(Body):
    def __ne__(self, other: Any) -> Any:
        return other.place > self.place


def others(x: float) -> Any:
    bodies = [Body(x), Body(x * x), Body(3.0)]
    total = 0.0
    for a in bodies:
        for b in bodies:
            if a != b:
                total += (a.place - b.place) ** 2
            if a == bodies[0] and a == a:
                total += b.place
    return total if bodies[0] != None else 0.0  # noqa: E711


def method_of_its_own(x: float) -> Any:
    return x if Even(x) != Even(x) else x * x


def equal_by_fields(x: float) -> Any:
    a, b = Point(x, 2.0), Point(x, 2.0)
    return (x if a == b else x * x) + (x**3 if a != Point(x, 3.0) else 0.0)


def by_slots(x: float) -> Any:
    v = Slots(x, x * x, 2.0)
    w = v.more()
    v.normalise()
    return v[0] * w[1] + abs(w)


def by_class(x: float) -> Any:
    v = Vector(x, 2.0)
    return (2.0 * v) * Vector(1.0, x) + (1.0 if type(v) == Vector else 0.0) * x  # noqa: E721


def area(a: Any, b: Any) -> Any:
    return a * b


def sides(x: Any) -> Any:
    return [x, x + 1.0]


def starred(x: float) -> Any:
    return area(*sides(x)) + area(*(np.array([x, 2.0])))


def shown(x: float) -> Any:
    v = Vector(x, 2.0)
    if x > 100:
        print(f"{v.x:^12.6g} {v.y!r:>{10}}")
    return v.x * v.y


RIGHT = (others, method_of_its_own, equal_by_fields, by_slots, by_class, starred, shown)


@pytest.mark.parametrize("program", RIGHT, ids=lambda p: p.__name__)
def test_right(program: Callable[[float], Any]) -> None:
    value, gradient = value_and_grad(program)(0.8)
    assert value == program(0.8)
    np.testing.assert_allclose(gradient, numeric_gradient(program, [0.8]), rtol=1e-7)


def with_an_array(x: Any) -> Any:
    return np.sum(x) if Body(x) == x else np.sum(x * x)


def no_such_slot(x: float) -> Any:
    v = Slots(x)
    v.other = x  # type: ignore[attr-defined]
    return v.other  # type: ignore[attr-defined]


@pytest.mark.parametrize(("program", "x"), [(with_an_array, np.ones(2)), (no_such_slot, 0.8)])
def test_refused(program: Callable[[Any], Any], x: Any) -> None:
    with pytest.raises(S2SADError):
        grad(program)(x)


def test_methods_of_what_calls_of_the_module_make() -> None:
    """The parts of an expression that has been specialised stand in one place: only the receiver is checked."""

    def drawn(x: Any, k: Any) -> Any:
        z = Body(k).place
        np.random.default_rng(0).standard_normal(out=z)
        return np.sum(z * x)

    k = np.ones(3)
    np.testing.assert_array_equal(grad(drawn)(np.ones(3), k), np.random.default_rng(0).standard_normal(3))
    np.testing.assert_array_equal(k, np.ones(3))
