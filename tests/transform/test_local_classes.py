"""Classes that a function defines are followed as those of the module are."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([1.3, 0.7, 2.1])


def with_members_of_all_sorts(x: Any) -> Any:
    class Gain:
        """A factor."""

        __slots__ = ("_k",)
        unit = 3.0

        def __init__(self, k: Any, *, offset: float = 0.5) -> None:
            self._k = k + offset

        @property
        def k(self) -> Any:
            return self._k

        @k.setter
        def k(self, value: Any) -> None:
            self._k = value * self.unit

        @staticmethod
        def twice(v: Any) -> Any:
            return 2.0 * v

        @classmethod
        def of_unit(cls, v: Any) -> Any:
            return cls(v * cls.unit)

        def __call__(self, t: Any) -> Any:
            return self._k * t**2

        def __add__(self, other: Any) -> Any:
            return Gain(self._k * other._k, offset=x[2])

    gain = Gain.of_unit(x[0]) + Gain(x[1])
    gain.k = gain.k * x[1]
    return gain(Gain.twice(x[2])) * Gain.unit + Gain.twice(gain.k)


def of_dataclasses_and_tuples(x: Any) -> Any:
    @dataclass(frozen=True)
    class Point:
        a: Any
        b: Any = 2.0

        def moved(self, by: Any) -> Any:
            return Point(self.a + by, self.b * x[1])

    class State(NamedTuple):
        q: Any
        p: Any

        def energy(self) -> Any:
            return self.q**2 + self.p**2

    point, state = Point(x[0]).moved(x[2]), State(x[0], 1.0)
    for _ in range(3):
        state = State(state.q + 0.1 * state.p, state.p - 0.1 * state.q * x[1])
    return point.a * point.b * state.energy()


def that_inherit(x: Any) -> Any:
    class Shape(abc.ABC):  # noqa: B024
        def area(self, t: Any) -> Any:
            return t * x[1]

    class Square(Shape):
        def area(self, t: Any) -> Any:
            return super().area(t) ** 2

    return sum(shape.area(x[0]) * (3.0 if isinstance(shape, Square) else x[2]) for shape in (Shape(), Square()))


def that_see_variables_late_and_set_them(x: Any) -> Any:
    total, k = 0.0, x[0]

    class Sum:
        def add(self, v: Any) -> Any:
            nonlocal total
            total += v * k
            return self

    first = Sum()
    for v in x:
        first.add(v * v)
    k = x[1] ** 2
    first.add(x[2]).add(x[0])
    return total**2


def made_anew(x: Any) -> Any:
    def maker(k: Any) -> Any:
        class Line:
            def at(self, t: Any) -> Any:
                return k * t**2

        return Line()

    one, two, total = maker(x[0]), maker(x[1]), 0.0
    for v in x:

        class Here:
            def of(self, t: Any) -> Any:
                return t * v  # noqa: B023

        total = total + Here().of(v)
    return one.at(x[2]) * two.at(x[0]) + total


@pytest.mark.parametrize(
    "function",
    [
        with_members_of_all_sorts,
        of_dataclasses_and_tuples,
        that_inherit,
        that_see_variables_late_and_set_them,
        made_anew,
    ],
    ids=lambda f: f.__name__,
)
def test_derivatives(function: Callable[..., Any]) -> None:
    wanted = numeric_gradient(function, (X,), 0)
    np.testing.assert_allclose(grad(function)(X), wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(function, (X,), (X,))[1], wanted @ X, rtol=1e-6, atol=1e-8)


def of_what_varies(x: Any) -> Any:
    class Gain:
        k = x[0]

    return Gain().k * x[1]


def that_remembers(x: Any) -> Any:
    class Log:
        seen: list[Any] = []  # noqa: RUF012

        def add(self, v: Any) -> None:
            self.seen.append(v)

    Log().add(x[0])
    return Log.seen[0] * len(Log.seen)


def with_a_private_attribute(x: Any) -> Any:
    class Base:
        def __init__(self, v: Any) -> None:
            self.__v = v

        def of_base(self) -> Any:
            return self.__v

    class Gain(Base):
        def __init__(self, v: Any) -> None:
            super().__init__(v)
            self.__v = v * v

    return Gain(x[0]).of_base() * x[1]


def of_a_class_that_is_made(x: Any) -> Any:
    class Gain(type("Base", (), {})):  # type: ignore[misc]
        def of(self, t: Any) -> Any:
            return t * x[0]

    return Gain().of(x[1])


def that_is_changed(x: Any) -> Any:
    class Gain:
        k = 2.0

    Gain.k = x[0]  # type: ignore[assignment]
    return Gain().k * x[1]


def given_away(x: Any) -> Any:
    class Pair(NamedTuple):
        a: Any

        def twice(self) -> Any:
            return self.a * x[1]

    return np.sum(x), Pair(x[0])


@pytest.mark.parametrize(
    "function",
    [of_what_varies, that_remembers, with_a_private_attribute, of_a_class_that_is_made, that_is_changed],
    ids=lambda f: f.__name__,
)
def test_what_has_more_than_methods_and_constants_is_refused(function: Callable[..., Any]) -> None:
    for run in (lambda: grad(function)(X), lambda: jvp(function, (X,), (X,))):
        with pytest.raises(UnsupportedError, match="a class defined inside"):
            run()


def test_an_object_that_leaves_the_function_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="class"):
        grad(given_away, has_aux=True)(X)
