"""Operators between objects that exist and objects that the program makes: both are asked, in the order of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, value_and_grad
from tests.oracle import numeric_gradient


class Vector:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Any) -> Any:
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other: Any) -> Any:
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return NotImplemented
        return Vector(self.x * other, self.y * other)

    def __rmul__(self, other: Any) -> Any:
        return Vector(self.x * other * 3, self.y)

    def __lt__(self, other: Any) -> Any:
        return self.x < other.x

    def dot(self, other: Any) -> Any:
        return self.x * other.x + self.y * other.y


class Turned(Vector):
    """What is subtracted from, or added to, such a vector on the right is for this class to say."""

    def __rsub__(self, other: Any) -> Any:
        return Vector(other.x * 5 - self.y, other.y)

    def __mul__(self, other: Any) -> Any:
        return NotImplemented


class Counting(Vector):
    asked = 0

    def __sub__(self, other: Any) -> Any:
        self.asked += 1
        return super().__sub__(other)


EYE, TURNED, COUNTING = Vector(1.0, 2.0), Turned(0.3, 0.4), Counting(1.0, 2.0)


class Sphere:
    def __init__(self, center: Any) -> None:
        self.center = center

    def hit(self, origin: Any) -> Any:
        return (origin - self.center).dot(origin)


def on_the_left(x: Any) -> Any:
    return (EYE - Vector(x[0], x[1])).dot(EYE)


def on_both_sides(x: Any) -> Any:
    made = Vector(x[0], x[1])
    return (EYE + made - EYE + made).dot(made - EYE)


def in_methods_of_others(x: Any) -> Any:
    scene = [Sphere(Vector(x[0], x[1])), Sphere(Vector(x[1] * 2, 0.5))]
    return sum([s.hit(EYE) for s in scene]) * scene[0].hit(EYE + scene[1].center)


def a_subclass_on_the_right(x: Any) -> Any:
    return (Vector(x[0], x[1]) - TURNED).dot(Vector(x[1], 1.0))


def a_subclass_on_the_left(x: Any) -> Any:
    return (TURNED - Vector(x[0], x[1])).dot(Vector(x[1], 1.0))


def one_that_does_not_know_the_other(x: Any) -> Any:
    class Weight:
        def __init__(self, v: Any) -> None:
            self.v = v

        def __rmul__(self, other: Any) -> Any:
            return Vector(other.x * self.v, other.y + self.v)

    return (TURNED * Weight(x[0])).dot(Vector(x[1], 2.0))


def compared(x: Any) -> Any:
    return x[0] * 2 if EYE < Vector(x[0] * 9, x[1]) else x[1]  # noqa: SIM300


def of_an_argument(x: Any, eye: Any) -> Any:
    return (eye - Vector(x[0], x[1])).dot(eye)


@pytest.mark.parametrize(
    "f",
    [
        on_the_left, on_both_sides, in_methods_of_others, a_subclass_on_the_right, a_subclass_on_the_left,
        one_that_does_not_know_the_other, compared,
    ],
)  # fmt: skip
def test_right(f: Callable[[Any], Any]) -> None:
    x = np.array([0.3, 0.8])
    value, gradient = value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, numeric_gradient(f, (x,)), rtol=1e-7)


def test_an_object_of_the_caller() -> None:
    x = np.array([0.3, 0.8])
    for eye in (Vector(1.0, 2.0), Turned(2.0, 0.5)):
        np.testing.assert_allclose(
            grad(of_an_argument)(x, eye), numeric_gradient(lambda t, e=eye: of_an_argument(t, e), (x,)), rtol=1e-7
        )


def test_the_operator_is_that_of_the_class_at_the_call() -> None:
    class Point:
        def __init__(self, x: Any) -> None:
            self.x = x

        def __sub__(self, other: Any) -> Any:
            return Point(self.x - other.x)

    origin = Point(2.0)

    def f(x: Any) -> Any:
        return (origin - Point(x)).x

    derivative = grad(f)
    assert derivative(0.5) == -1.0
    Point.__sub__ = lambda self, other: Point(self.x * other.x)  # type: ignore[method-assign]
    assert derivative(0.5) == 2.0
    origin.x = 7.0
    assert derivative(0.5) == 7.0


def test_one_that_changes_itself() -> None:
    """It does what it does, once, or is refused."""

    def f(x: Any) -> Any:
        return (COUNTING - Vector(x[0], x[1])).dot(EYE)

    COUNTING.asked = 0
    try:
        gradient = grad(f)(np.array([0.3, 0.8]))
    except S2SADError:
        assert COUNTING.asked == 0
    else:
        assert COUNTING.asked == 1
        np.testing.assert_array_equal(gradient, [-1.0, -2.0])
