"""Objects of the module that remember, held in dicts, with properties that set, and met in functions of their own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7])


class Affine:
    def __init__(self, weights: Any) -> None:
        self.weights = weights
        self.inputs: Any = None
        self.seen_shape: Any = None

    def forward(self, x: Any) -> Any:
        # Enough statements that the method is a function of its own.
        self.seen_shape = x.shape
        first = x.reshape(-1)
        second = first * 1.0
        third = second + 0.0
        fourth = third.reshape(self.seen_shape)
        fifth = fourth * 2.0 - fourth
        self.inputs = fifth
        out = np.dot(self.inputs, self.weights)
        return out - 0.1 * np.sum(first * second)


class Squash:
    def forward(self, x: Any) -> Any:
        return np.tanh(x)


class Net:
    def __init__(self, layers: Any) -> None:
        self.layers = layers
        self.last = Affine(np.array([[0.5], [1.5]]))
        self.loss_value: Any = None

    def predict(self, x: Any) -> Any:
        for layer in self.layers.values():
            x = layer.forward(x)
        return x

    def named(self, x: Any) -> Any:
        total = 0.0
        for name, layer in self.layers.items():
            x = layer.forward(x)
            if name != "squash":
                total = total + np.sum(layer.inputs)
        return total

    def loss(self, x: Any) -> Any:
        y = self.predict(x)
        first = np.sum(y)
        second = first * 1.0
        third = second + 0.0
        fourth = third * 2.0 - third
        self.loss_value = np.sum(self.last.forward(y) ** 2) + fourth
        return self.loss_value


class Gauge:
    def __init__(self) -> None:
        self._level = 0.0
        self.factor = 2.0

    @property
    def level(self) -> Any:
        return self._level

    @level.setter
    def level(self, value: Any) -> None:
        self._level = value * self.factor


def layers(cls: Any) -> Any:
    made = cls()
    made["first"] = Affine(np.array([[1.0, 0.5], [-0.5, 2.0]]))
    made["squash"] = Squash()
    made["second"] = Affine(np.array([[0.3, 1.0], [1.5, -1.0]]))
    return made


PLAIN, ORDERED, GAUGE = Net(layers(dict)), Net(layers(OrderedDict)), Gauge()


def of_a_dict(x: Any) -> Any:
    return PLAIN.loss(x)


def of_an_ordered_dict(x: Any) -> Any:
    return ORDERED.loss(x) + np.sum(ORDERED.layers["second"].inputs)


def by_name(x: Any) -> Any:
    return ORDERED.named(x) + PLAIN.named(x * 2.0)


def under_a_local_name(x: Any) -> Any:
    net = PLAIN
    return net.loss(x) + np.sum(net.layers["first"].inputs)


def by_a_property(x: Any) -> Any:
    GAUGE.level = x[0]
    first = GAUGE.level
    GAUGE.level = first * x[1]
    return GAUGE.level + first


@pytest.mark.parametrize(
    "f", [of_a_dict, of_an_ordered_dict, by_name, under_a_local_name, by_a_property], ids=lambda f: f.__name__
)
def test_gradient(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (X,), 0)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X,), (np.array([1.0, -2.0]),))[1], expected @ [1.0, -2.0], rtol=1e-6, atol=1e-8)


def test_what_a_dict_holds_may_change_between_calls() -> None:
    df = grad(of_a_dict)
    df(X)
    before = dict(PLAIN.layers)
    try:
        PLAIN.layers["second"] = Affine(np.array([[2.0, 1.0], [0.5, -1.0]]))
        np.testing.assert_allclose(df(X), numeric_gradient(of_a_dict, (X,), 0), rtol=1e-6, atol=1e-8)
        del PLAIN.layers["squash"]
        np.testing.assert_allclose(df(X), numeric_gradient(of_a_dict, (X,), 0), rtol=1e-6, atol=1e-8)
    finally:
        PLAIN.layers.clear()
        PLAIN.layers.update(before)


def test_the_objects_are_set() -> None:
    grad(of_an_ordered_dict)(X)
    np.testing.assert_array_equal(ORDERED.layers["first"].inputs, X)
