"""Exceptions that are given objects which the program makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.8])


class OutOfRangeError(ValueError):
    def __init__(self, color: Any) -> None:
        super().__init__(f"{color} is out of range")
        self.color = color


class Color:
    def __init__(self, red: Any, green: Any, space: str) -> None:
        self.red, self.green = red, green
        self.space = str(space)
        if not self.red > -1.0:
            raise OutOfRangeError(self)

    def __str__(self) -> str:
        return f"{self.space}({self.red}, {self.green})"

    def luminance(self) -> Any:
        if self.green > 1.0:
            raise ValueError("too bright", self)
        return self.red**2 + 3 * self.green * self.red


def luminance(x: Any) -> Any:
    return Color(x[0], x[1] * 1.1, "rgb").luminance()


def caught(x: Any) -> Any:
    try:
        return Color(x[0], x[1], "rgb").luminance()
    except ValueError as error:
        return 2.0 * x[0] + (3.0 if "rgb" in str(error) else 1.0) * x[1]


@pytest.mark.parametrize("f", [luminance, caught])
def test_an_object_that_an_exception_would_get(f: Any) -> None:
    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, numeric_gradient(f, (X,)), rtol=1e-7)


@pytest.mark.parametrize("x", [np.array([-2.0, 0.5]), np.array([0.5, 2.0])])
def test_the_exception_has_it(x: Any) -> None:
    with pytest.raises(ValueError, match=r"rgb|bright") as wanted:
        luminance(x)
    with pytest.raises(ValueError, match=r"rgb|bright") as found:
        value_and_grad(luminance)(x)
    assert type(found.value) is type(wanted.value)
    colors = [getattr(e.value, "color", e.value.args[-1]) for e in (wanted, found)]
    assert [vars(c) for c in colors[1:]] == [vars(c) for c in colors[:1]]
    assert [type(c) for c in colors] == [Color, Color]


def test_an_exception_that_is_caught() -> None:
    x = np.array([-2.0, 0.5])
    value, gradient = value_and_grad(caught)(x)
    assert value == caught(x)
    np.testing.assert_allclose(gradient, numeric_gradient(caught, (x,)), rtol=1e-7)


def kept(x: Any) -> Any:
    error = OutOfRangeError(Color(x[0] + 4.0, x[1], "rgb"))
    return error.color.red * x[1]


def changed(x: Any) -> Any:
    color = Color(x[0] + 4.0, x[1], "rgb")
    error = OutOfRangeError(color)
    color.red = color.red * 2
    return color.red * x[1] if error.color.red > 7.0 else x[1]


def read(x: Any) -> Any:
    try:
        return Color(x[0], x[1], "rgb").luminance()
    except OutOfRangeError as error:
        return error.color.red * x[1]


@pytest.mark.parametrize("f", [kept, changed, read])
def test_what_an_exception_has_is_not_read(f: Any) -> None:
    with pytest.raises(S2SADError):
        value_and_grad(f)(np.array([-2.0, 0.5]))
