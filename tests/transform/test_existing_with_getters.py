"""Existing objects of classes with ``__getattr__`` or ``__setattr__``: their calls with stars are taken apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, -0.4])


class Layer:
    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.forward(*args, **named)

    def forward(self, x: Any, scale: Any = 1.0) -> Any:
        return x * self.w * scale


class Asked(Layer):
    def __getattr__(self, name: str) -> Any:
        if name == "twice":
            return 2.0 * self.__dict__["w"]
        raise AttributeError(name)


class Kept(Layer):
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


class Stack(Layer):
    def __init__(self, *layers: Any) -> None:
        self.layers = layers

    def forward(self, x: Any, scale: Any = 1.0) -> Any:
        for layer in self.layers:
            x = layer(x, scale=scale)
        return x


PLAIN, ASKED, KEPT = Layer(2.0), Asked(3.0), Kept(np.array([1.0, 2.0, 3.0]))
STACK, MIXED = Stack(PLAIN, KEPT), Stack(PLAIN, ASKED)


def one_that_is_asked(x: Any) -> Any:
    return np.sum(ASKED(x) ** 2)


def one_that_keeps(x: Any) -> Any:
    return np.sum(KEPT(x, scale=x[0]) ** 2)


def what_it_is_asked_for(x: Any) -> Any:
    return np.sum(x[1] * x * ASKED.twice)


def some_in_a_row(x: Any) -> Any:
    return np.sum(STACK(x, x[2]) ** 2)


PROGRAMS = [one_that_is_asked, one_that_keeps, what_it_is_asked_for, some_in_a_row]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[..., Any]) -> None:
    wanted = numeric_gradient(f, [X])
    np.testing.assert_allclose(grad(f)(X), wanted, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose([jvp(f, (X,), (e,))[1] for e in np.eye(3)], wanted, rtol=1e-6, atol=1e-9)


def test_some_that_are_asked_in_a_row() -> None:
    def f(x: Any) -> Any:
        return np.sum(MIXED(x) ** 2)

    try:
        got = grad(f)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(got, numeric_gradient(f, [X]), rtol=1e-6)


class Growing(Layer):
    def __getattr__(self, name: str) -> Any:
        if name == "weight":
            self.w = self.w * 2.0
            return self.w
        raise AttributeError(name)


def test_one_that_changes_when_it_is_asked() -> None:
    """What an attribute sets that an object has not, is seen by what reads it afterwards."""

    def fresh(x: Any) -> Any:
        layer = Growing(1.5)
        return np.sum(layer(x) * layer.weight + layer(x))

    held = Growing(1.5)

    def f(x: Any) -> Any:
        held.w = 1.5
        return np.sum(held(x) * held.weight + held(x))

    np.testing.assert_allclose(f(X), fresh(X))
    held.w = 1.5
    try:
        got = grad(f)(X)
    except S2SADError:
        pass
    else:
        np.testing.assert_allclose(got, numeric_gradient(fresh, [X]), rtol=1e-6)
