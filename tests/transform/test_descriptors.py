"""Attributes that descriptors give: properties, methods and cached ones of subclasses that find something else."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.transform.remaining import check_both_modes, check_right_or_refused

X = np.array([0.7, 0.4, 0.9])
WAY = np.array([0.3, -0.7, 1.1])


class Doubled(property):
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return 2.0 * super().__get__(instance, owner)


class Storing(property):
    def __set__(self, instance: Any, value: Any) -> None:
        instance.x = value * 5.0


class DoubledOnce(functools.cached_property[Any]):
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return 2.0 * self.func(instance)


class Tripling(staticmethod):  # type: ignore[type-arg]
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        function = super().__get__(instance, owner)
        return lambda x: 3.0 * function(x)


class OfObject(classmethod):  # type: ignore[type-arg]
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return lambda x: instance.x * x


class Named(property):
    """One that finds what properties do."""

    title = "named"


class Base:
    def __init__(self, x: Any) -> None:
        self.x = x


class WithProperty(Base):
    @Doubled
    def cube(self) -> Any:
        return self.x**3


class WithCached(Base):
    @DoubledOnce
    def sine(self) -> Any:
        return np.sin(self.x)


class WithStatic(Base):
    @Tripling
    def square(x: Any) -> Any:
        return x * x


class WithClassMethod(Base):
    @OfObject
    def times(cls, x: Any) -> Any:
        return x + 1.0


class WithSetter(Base):
    stored = Storing(lambda self: self.x, lambda self, value: None)


class Derived(WithProperty, WithStatic):
    def both(self) -> Any:
        return super().cube + super().square(self.x)


class Plain(Base):
    @Named
    def cube(self) -> Any:
        return self.x**3


def set_through(x: Any) -> Any:
    model = WithSetter(x)
    model.stored = x * x
    return np.sum(model.x)


def read(model: Any) -> Any:
    return model.cube * model.x


FUNCTIONS = {
    "property": lambda x: np.sum(WithProperty(x).cube),
    "cached property": lambda x: np.sum(WithCached(x).sine),
    "static method": lambda x: np.sum(WithStatic(x).square(x)),
    "static method of the class": lambda x: np.sum(WithStatic.square(x)),
    "class method": lambda x: np.sum(WithClassMethod(x).times(x)),
    "setter": set_through,
    "inherited": lambda x: np.sum(Derived(x).both()),
    "in a callee": lambda x: np.sum(read(WithProperty(x))),
    "property of an object of the module": lambda x: np.sum(MODEL.cube * x),
    "methods of an object of the module": lambda x: np.sum(MODEL.square(x)),
}
MODEL = Derived(np.array([1.5, 0.5, 2.0]))


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_subclasses_of_those_of_python_find_what_they_say(f: Callable[..., Any]) -> None:
    check_right_or_refused(f, X, WAY)


def test_subclasses_that_find_the_same_are_followed() -> None:
    check_both_modes(lambda x: np.sum(Plain(x).cube), X, WAY)
