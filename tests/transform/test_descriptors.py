"""Attributes that descriptors give: properties, methods and cached ones of subclasses that find something else."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient
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


# --- descriptors of the program's own, which are asked only


class Remembered:
    """What a method gives the first time, as an attribute from then on."""

    def __init__(self, method: Callable[[Any], Any]) -> None:
        self.method = method

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        value = self.method(instance)
        instance.__dict__[self.method.__name__] = value
        return value


class Scaled:
    def __init__(self, read: Callable[[Any], Any], scale: float) -> None:
        self.read = read
        self.scale = scale

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self.read(instance) * self.scale


class ScaledMore(Scaled):
    pass


class OfClass:
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return owner.weight * 3.0


class Missing:
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if not hasattr(instance, "w"):
            raise AttributeError("w")
        return instance.w


class Bound:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return functools.partial(self.function, instance)


def doubled(body: Any) -> Any:
    return 2.0 * body.x


class Body(Base):
    weight = 2.0
    scaled = Scaled(doubled, 1.5)
    more = ScaledMore(doubled, 0.5)
    of_class = OfClass()
    missing = Missing()

    @Remembered
    def sine(self) -> Any:
        return np.sin(self.x)

    @Remembered
    def product(self) -> Any:
        return self.sine * self.x

    @Bound
    def times(self, y: Any) -> Any:
        return self.x * y

    @classmethod
    def weighted(cls, x: Any) -> Any:
        return cls.of_class * x


class Heavy(Body):
    weight = 5.0


def remembered(x: Any) -> Any:
    body = Body(x)
    before = body.sine
    body.x = x * x
    return np.sum(before * body.sine + body.product)


def hidden_by_an_attribute(x: Any) -> Any:
    body = Body(x)
    body.scaled = x**3
    return np.sum(body.scaled * body.more)


def caught(x: Any) -> Any:
    body = Body(x)
    try:
        t = body.missing
    except AttributeError:
        t = x**2
    body.w = x**3
    return np.sum(t + body.missing)


def asked_for(x: Any) -> Any:
    body = Body(x)
    return np.sum(x**2 if hasattr(body, "missing") else x**3)


OWN = {
    "scaled": lambda x: np.sum(Body(x).scaled * Body(x).more),
    "of the class": lambda x: np.sum(Body(x).of_class * x) + np.sum(Heavy(x).of_class * x),
    "of the class itself": lambda x: np.sum(Body.of_class * x) + np.sum(Heavy.weighted(x**2)),
    "bound": lambda x: np.sum(Body(x).times(x)),
    "remembered": remembered,
    "hidden": hidden_by_an_attribute,
    "caught": caught,
    "asked for": asked_for,
}


@pytest.mark.parametrize("f", OWN.values(), ids=OWN)
def test_those_of_the_program_are_asked(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)


def test_they_are_what_they_are_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        return np.sum(Body(x).scaled * x)

    derivative = grad(f)
    for name, value in (("scale", 4.0), ("read", lambda body: body.x**2)):
        np.testing.assert_allclose(derivative(X), numeric_gradient(f, [X]), rtol=1e-7)
        monkeypatch.setattr(vars(Body)["scaled"], name, value)
    np.testing.assert_allclose(derivative(X), numeric_gradient(f, [X]), rtol=1e-7)
    monkeypatch.setattr(Body, "scaled", Scaled(doubled, 7.0), raising=False)
    np.testing.assert_allclose(derivative(X), numeric_gradient(f, [X]), rtol=1e-7)
    monkeypatch.setattr(Scaled, "__get__", lambda self, instance, owner: instance.x**3)
    np.testing.assert_allclose(derivative(X), numeric_gradient(f, [X]), rtol=1e-7)
    monkeypatch.setattr(Body, "scaled", property(lambda self: self.x * 9.0), raising=False)
    np.testing.assert_allclose(derivative(X), numeric_gradient(f, [X]), rtol=1e-7)
