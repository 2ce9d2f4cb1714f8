"""Arguments of classes that do something when made, or that have operators of their own: objects and arrays."""

from __future__ import annotations

import collections
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from s2sad import check_grads, grad
from s2sad.errors import ArgumentError, UnsupportedError

V = np.array([0.7, 1.3, 0.4, 0.9])


@dataclass
class Fit:
    scale: Any
    shift: Any

    def __post_init__(self) -> None:
        self.scale = np.abs(self.scale)


@dataclass
class Area:
    width: float
    area: float = field(init=False)

    def __post_init__(self) -> None:
        self.area = self.width * 2.0


class Point(collections.namedtuple("Point", "x y")):
    def __new__(cls, x: float, y: float) -> Point:
        return super().__new__(cls, abs(x), abs(y))


def test_what_a_class_does_when_made_is_not_done_to_gradients() -> None:
    def loss(p: Any, x: Any) -> Any:
        return np.sum((p.scale * x + p.shift) ** 2)

    p, x = Fit(np.array([1.0, 2.0]), np.array([-1.0, -5.0])), np.array([1.0, 2.0])
    np.testing.assert_allclose(grad(loss)(p, x).scale, 2.0 * (p.scale * x + p.shift) * x)
    assert check_grads(loss, (p, x)).ok
    assert grad(lambda p: p.width * p.area)(Area(3.0)).area == pytest.approx(3.0)
    assert grad(lambda p: -2.0 * p.x + p.y)(Point(1.0, 2.0))[0] == pytest.approx(-2.0)


class Unit(np.ndarray):
    def __mul__(self, other: Any) -> Any:
        return np.asarray(self) * 2.0 * np.asarray(other)


class Odd:
    def __mul__(self, other: Any) -> Any:
        return 3.0 + other * other


@dataclass
class Indexed:
    x: float

    def __getitem__(self, i: int) -> float:
        return self.x


def product(x: Any, y: Any) -> Any:
    return np.sum(x * y)


MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)


MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((MATRIX, np.ones((2, 2))), "x is of class matrix.*\nPass an array: np.asarray"),
        ((np.ones((2, 2)), MATRIX), "y is of class matrix"),
        ((MASKED, 1.0), r"x is of class MaskedArray.*\nPass an array: x.filled"),
        ((np.ones(3), MASKED), "y is of class MaskedArray"),
        ((V.view(Unit), 2.0), "x is of class Unit"),
        ((Indexed(1.0), 2.0), "no derivative can pass through Indexed.__getitem__"),
        (({"a": MASKED}, 2.0), r"x\['a'\] is of class MaskedArray"),
    ],
    ids=lambda v: "",
)
def test_operators_of_their_own(args: Any, message: str) -> None:
    with pytest.raises((ArgumentError, UnsupportedError), match=message):
        grad(product)(*args)


def test_an_object_with_operators_of_its_own_beside_a_variable() -> None:
    def f(x: Any, a: Any) -> Any:
        return np.sum(a * x)

    np.testing.assert_allclose(grad(f)(V, Odd()), 2.0 * V)
    assert grad(f)(2.0, Fraction(1, 4)) == pytest.approx(0.25)


def test_a_float_beside_an_array_without_axes() -> None:
    def f(x: Any, y: Any) -> Any:
        x = x * 1.1
        return x * y

    first, second = grad(f, (0, 1))(0.5, np.array(0.6))
    assert (first, second) == (pytest.approx(0.66), pytest.approx(0.55))
    assert isinstance(second, np.ndarray)
