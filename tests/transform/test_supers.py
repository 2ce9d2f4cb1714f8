"""What ``super()`` finds: methods, properties, static and class methods, constants, and nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from tests.oracle import numeric_gradient


class Base:
    scale = 3.0

    def __init__(self, v: Any) -> None:
        self.v = v

    @property
    def area(self) -> Any:
        return self.v**2

    @staticmethod
    def twice(x: Any) -> Any:
        return 2 * x

    @classmethod
    def make(cls, v: Any) -> Any:
        return cls(v)

    def cooperative(self) -> Any:
        following = getattr(super(), "cooperative", None)
        if following is not None:
            return following()
        return self.v


class Derived(Base):
    scale = 5.0

    @property
    def area(self) -> Any:
        return super().area * np.sin(self.v)

    @staticmethod
    def twice(x: Any) -> Any:
        return 7 * x

    @classmethod
    def make(cls, v: Any) -> Any:
        return super().make(v * 2.0)

    def all(self) -> Any:
        return super().twice(self.v) + super().scale * self.scale * self.area

    def above(self) -> Any:
        return super(Derived, self).area * self.twice(self.v)  # noqa: UP008

    def asks(self) -> Any:
        return self.v**3 if hasattr(super(), "area") and not hasattr(super(), "nothing") else 3.0

    def lacks(self) -> Any:
        return super().nothing * self.v  # type: ignore[misc]


class Mixin:
    def cooperative(self) -> Any:
        return self.v**3 * 4  # type: ignore[attr-defined]


class Both(Base, Mixin):
    pass


def a_property_a_function_and_a_constant(x: Any) -> Any:
    return Derived(x).all()


def a_property_by_class_and_object(x: Any) -> Any:
    return Derived(x).above()


def a_class_method(x: Any) -> Any:
    return Derived.make(x).area


def asked_for(x: Any) -> Any:
    return Derived(x).asks()


def cooperating(x: Any) -> Any:
    return Base(x).cooperative() * 2 + Both(x).cooperative()


@pytest.mark.parametrize(
    "f",
    [a_property_a_function_and_a_constant, a_property_by_class_and_object, a_class_method, asked_for, cooperating],
)
def test_right(f: Callable[[Any], Any]) -> None:
    value, gradient = value_and_grad(f)(0.7)
    assert value == f(0.7)
    np.testing.assert_allclose(gradient, numeric_gradient(f, (0.7,)), rtol=1e-7)


def test_what_is_not_there_raises_as_in_python() -> None:
    with pytest.raises(AttributeError) as expected:
        Derived(0.7).lacks()
    with pytest.raises(AttributeError) as found:
        grad(lambda x: Derived(x).lacks())(0.7)
    assert str(found.value) == str(expected.value)


def test_a_member_that_comes_later() -> None:
    """The answer of ``hasattr`` and the property are those of the classes as they are at the call."""

    class Above:
        def __init__(self, v: Any) -> None:
            self.v = v

    class Below(Above):
        def both(self) -> Any:
            return super().extra if hasattr(super(), "extra") else self.v  # type: ignore[misc]

    derivative = grad(lambda x: Below(x).both())
    assert derivative(0.7) == 1.0
    Above.extra = property(lambda self: self.v**2)  # type: ignore[attr-defined]
    assert derivative(0.7) == 1.4
    Above.extra = property(lambda self: self.v * 3)  # type: ignore[attr-defined]
    assert derivative(0.7) == 3.0
    del Above.extra  # type: ignore[attr-defined]
    assert derivative(0.7) == 1.0
