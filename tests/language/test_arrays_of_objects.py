"""Arrays that objects of the module have: their types are known, until something gives the attribute another value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.4])
WEIGHTS = np.array([[1.0, 2.0], [0.5, -1.0]])


class Inner:
    def __init__(self) -> None:
        self.bias = np.array([0.1, -0.2])


class Model:
    shared = np.array([2.0, 3.0])

    def __init__(self) -> None:
        self.weights: Any = WEIGHTS.copy()
        self.inner = Inner()
        self.seen: Any = None

    def clipped(self, x: Any) -> Any:
        y = x @ self.weights + self.inner.bias
        y[y > 0.5] = 0.5 * y[y > 0.5]
        return np.sum(y**2)

    def replaced(self, weights: Any) -> None:
        self.weights = weights


class Relu:
    def __init__(self, weights: Any) -> None:
        self.weights: Any = weights
        self.mask: Any = None

    def forward(self, x: Any) -> Any:
        x = np.dot(x, self.weights)
        self.mask = x <= 0
        out = x.copy()
        out[self.mask] = 0.1 * out[self.mask]
        return out


class Plain:
    def __init__(self, weights: Any) -> None:
        self.weights: Any = weights

    def forward(self, x: Any) -> Any:
        out = np.dot(x, self.weights)
        out[out > 1.0] = 1.0
        return out


MODEL, LAYERS, KEPT = Model(), {"a": Relu(WEIGHTS), "b": Plain(WEIGHTS.T)}, [WEIGHTS]


@pytest.fixture(autouse=True)
def _reset() -> Iterator[None]:
    yield
    MODEL.weights, MODEL.inner.bias = WEIGHTS.copy(), np.array([0.1, -0.2])
    LAYERS["a"].weights = WEIGHTS


def of_an_object(x: Any) -> Any:
    y = x @ MODEL.weights
    y[0] *= x[1]
    return np.sum(y**2)


def of_an_object_in_one(x: Any) -> Any:
    y = x * MODEL.inner.bias
    y += x[0]
    return np.sum(y**2)


def by_a_method(x: Any) -> Any:
    return MODEL.clipped(x)


def in_a_dict(x: Any) -> Any:
    for layer in LAYERS.values():
        x = layer.forward(x)
    return np.sum(x**2)


RIGHT = [of_an_object, of_an_object_in_one, by_a_method, in_a_dict]


def check(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (X,), 0)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X,), (np.array([1.0, -2.0]),))[1], expected @ [1.0, -2.0], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_gradient(f: Callable[[Any], Any]) -> None:
    check(f)


@pytest.mark.parametrize(
    "other",
    [
        WEIGHTS.astype(np.float32), WEIGHTS[:, :1] @ np.ones((1, 2)), np.stack([WEIGHTS, 2.0 * WEIGHTS]),
        np.array([1.0, 2.0]), np.array([[2, 1], [0, 3]]),
    ],
    ids=["single", "values", "axes", "vector", "whole"],
)  # fmt: skip
def test_the_array_may_be_another_one_in_the_next_call(other: Any) -> None:
    def f(x: Any) -> Any:
        y = x @ MODEL.weights + np.zeros(2)
        y += x[1]
        return np.sum(y**3)

    df = grad(f)
    df(X)
    MODEL.weights = other
    np.testing.assert_allclose(df(X), numeric_gradient(f, (X,), 0), rtol=1e-5, atol=1e-8)
    LAYERS["a"].weights = np.asarray(WEIGHTS, dtype=np.float32)
    check(in_a_dict)


def set_by_a_method(x: Any) -> Any:
    y = x @ MODEL.weights
    MODEL.replaced(KEPT)
    z = x @ MODEL.weights
    z[z > 0.4] = 0.0
    return np.sum(y * z[0])


def set_by_name(x: Any) -> Any:
    setattr(MODEL, "weights", [x[0], 2.0])  # noqa: B010
    y = x * MODEL.weights
    y += 1.0
    return np.sum(y**2)


def set_by_what_is_called(x: Any, change: Any = lambda: MODEL.replaced(np.ones((2, 2, 2)))) -> Any:
    change()
    y = x @ MODEL.weights
    y[0] = x[0]
    return np.sum(y**2)


def set_inside(x: Any) -> Any:
    other = Inner()
    other.bias = np.array([[1.0, 2.0], [3.0, 4.0]])
    MODEL.inner = other
    y = x * MODEL.inner.bias
    y += x[0]
    MODEL.inner = INNER
    return np.sum(y**2)


INNER = MODEL.inner


@pytest.mark.parametrize(
    "f", [set_by_a_method, set_by_name, set_by_what_is_called, set_inside], ids=lambda f: f.__name__
)
def test_right_or_refused_where_something_sets_it(f: Callable[[Any], Any]) -> None:
    def again(x: Any) -> Any:
        MODEL.weights, MODEL.inner = WEIGHTS.copy(), INNER
        return f(x)

    expected = numeric_gradient(again, (X,), 0)
    MODEL.weights, MODEL.inner = WEIGHTS.copy(), INNER
    try:
        found = grad(f)(X)
    except S2SADError:
        return
    finally:
        MODEL.inner = INNER
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


class Medium:
    def __init__(self, damping: Any) -> None:
        self.damping = damping


MEDIUM = Medium(0.3)


def powers(x: Any) -> Any:
    """What ``power *= ratio`` does depends on whether the attribute is a number."""
    ratio = MEDIUM.damping * x
    power, total = ratio, 0.0
    for k in range(3):
        total = total + power * (k + 1)
        power *= ratio
    return np.sum(total * ratio)


@pytest.mark.parametrize("others", [(0.4, 2), (np.array([0.2, 0.5]), 0.7)])
def test_a_number_may_be_another_one_or_an_array_in_the_next_call(
    others: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    derivative = grad(powers)
    for attribute in (0.3, *others):
        monkeypatch.setattr(MEDIUM, "damping", attribute)
        np.testing.assert_allclose(derivative(0.7), numeric_gradient(powers, (0.7,)), rtol=1e-7)


def doubled_on_the_way(x: Any) -> Any:
    before = MEDIUM.damping * x
    Medium.__init__(MEDIUM, np.array([MEDIUM.damping, 1.0]))
    y = MEDIUM.damping * x
    y *= before
    Medium.__init__(MEDIUM, 0.3)
    return np.sum(y)


def test_a_number_that_the_program_replaces_is_not_taken_for_one() -> None:
    assert MEDIUM.damping == 0.3
    try:
        found = grad(doubled_on_the_way)(0.7)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(doubled_on_the_way, (0.7,)), rtol=1e-7)
