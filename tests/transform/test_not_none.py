"""Branches for arguments that are None, which cannot be differentiated: nothing to those that are numbers or arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, value_and_grad
from tests.oracle import numeric_gradient

REGISTRY: list[Any] = []


class Model:
    """It is registered, as a whole, where nothing is known of its parameters."""

    def __init__(self, data: Any, start: Any = None, scale: Any = None) -> None:
        self.data = data
        if start is None:
            REGISTRY.append(self)
            start = np.zeros(2)
        self.set(start)
        self.scale = 1.0 if scale is None else scale

    def set(self, start: Any) -> None:
        if start is not None and len(start) != 2:
            raise ValueError("two parameters")
        self.start = start

    def loss(self) -> Any:
        return np.sum((self.start * self.scale - self.data) ** 2)


def an_argument(t: Any) -> Any:
    return Model(np.array([1.0, 2.0]), start=t).loss()


def an_array_that_is_made(t: Any) -> Any:
    return Model(t, np.array([0.5, 0.7])).loss()


def what_is_computed(t: Any) -> Any:
    return Model(t, start=2 * np.sin(t), scale=t[0]).loss()


def in_a_loop(t: Any) -> Any:
    total = 0.0
    for k in range(3):
        total = total + Model(t * k, start=t + k).loss()
    return total


@pytest.mark.parametrize("f", [an_argument, an_array_that_is_made, what_is_computed, in_a_loop])
def test_right(f: Callable[[Any], Any]) -> None:
    for x in (np.array([0.3, 0.8]), np.array([0.1, -0.4])):
        value, gradient = value_and_grad(f)(x)
        assert value == f(x)
        np.testing.assert_allclose(gradient, numeric_gradient(f, (x,)), rtol=1e-7)
        assert jvp(f, (x,), (np.ones(2),))[1] == pytest.approx(np.sum(gradient))


def of_another(t: Any, start: Any) -> Any:
    return Model(t, start).loss()


def test_one_that_is_none_in_another_call() -> None:
    x, start = np.array([0.3, 0.8]), np.array([0.5, 0.7])
    derivative = grad(of_another)
    np.testing.assert_allclose(derivative(x, start), 2 * (x - start), rtol=1e-12)
    with pytest.raises(S2SADError, match=r"used here as a whole|not followed here"):
        derivative(x, None)
    np.testing.assert_allclose(derivative(x, start + 1), 2 * (x - start - 1), rtol=1e-12)
    with pytest.raises(ValueError, match="two parameters"):
        derivative(x, np.ones(3))
    assert REGISTRY == []


class Line:
    def __init__(self, slope: float = 2.0) -> None:
        self.slope = slope

    def __call__(self, x: Any) -> Any:
        return self.slope * x


class Fitted:
    """A class, or an object of one, that is given."""

    def __init__(self, kind: Any) -> None:
        self.curve: Any = kind() if inspect.isclass(kind) else kind


LINE = Line(3.0)


def a_class(t: Any) -> Any:
    return Fitted(Line).curve(t)


def an_object(t: Any) -> Any:
    return Fitted(Line(t)).curve(t)


def one_of_the_module(t: Any) -> Any:
    return Fitted(LINE).curve(t)


def a_function(t: Any) -> Any:
    return Fitted(np.sin).curve(t)


@pytest.mark.parametrize("f", [a_class, an_object, one_of_the_module, a_function])
def test_a_class_or_an_object(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(grad(f)(0.7), numeric_gradient(f, (0.7,)), rtol=1e-7)
