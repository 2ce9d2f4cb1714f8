"""Pullbacks called after somebody has written into arrays of the module, closures, objects or default values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import vjp
from tests.language import other_module
from tests.oracle import numeric_gradient

G = np.array([1.0, 2.0, 3.0])
HELD = [np.array([1.0, 2.0, 3.0])]
NAMED: dict[str, Any] = {"k": 2.0, "w": np.array([1.0, 2.0, 3.0])}
PLACES = np.array([0, 2])
MASK = np.array([True, False, True])
MATRIX = np.array([[2.0, 1.0, 0.0], [0.5, 3.0, 1.0], [0.0, 0.25, 4.0]])
X = np.array([0.5, 1.0, 1.5])


class Layer:
    def __init__(self) -> None:
        self.w = np.array([1.0, 2.0, 3.0])
        self.k = 2.0

    def __call__(self, x: Any) -> Any:
        return np.tanh(x * self.w) * self.k

    @property
    def doubled(self) -> Any:
        return self.w * 2.0


LAYER = Layer()
LAYERS = [LAYER, other_module.weighted, functools.partial(np.multiply, G)]


def scaled(x: Any) -> Any:
    return x * G


def product(x: Any) -> Any:
    return G @ x


def by_a_callee(x: Any) -> Any:
    return np.sum(scaled(x))


def by_a_callee_of_another_module(x: Any) -> Any:
    return np.sum(other_module.weighted_by_a_callee(x))


def by_items(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        s = s + x[i] * G[i] * NAMED["k"]
    return s


def by_what_is_held(x: Any) -> Any:
    for w in HELD:
        x = x * w
    return np.sum(x * NAMED["w"])


def by_places(x: Any) -> Any:
    y = x * 1.0
    y[MASK] = 0.0
    return np.sum(x[PLACES] ** 2) + np.sum(y * x)


def by_a_view(x: Any) -> Any:
    tail = G[1:]
    return np.sum(np.maximum(x[1:], tail) * tail)


def by_an_object(x: Any) -> Any:
    return np.sum(LAYER(x) * LAYER.doubled)


def by_calls_that_are_met(x: Any) -> Any:
    for layer in LAYERS:
        x = layer(x)
    return np.sum(x)


def by_a_default(x: Any, w: Any = G) -> Any:
    return np.sum(w * x)


def by_a_condition(x: Any) -> Any:
    if NAMED["k"] > 1.0:
        return np.sum(x * x * G)
    return np.sum(x)


def by_a_matrix(x: Any) -> Any:
    return x @ MATRIX @ np.linalg.solve(MATRIX, x)


def closed() -> Any:
    w = np.array([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        return np.sum(w * x)

    return f, w


CLOSED, CAPTURED = closed()
ARRAYS = (G, HELD[0], NAMED["w"], PLACES, MASK, MATRIX, LAYER.w, CAPTURED, other_module.WEIGHTS)


@pytest.mark.parametrize(
    "f",
    [product, by_a_callee, by_a_callee_of_another_module, by_items, by_what_is_held, by_places, by_a_view]
    + [by_an_object, by_calls_that_are_met, by_a_condition, by_a_matrix, CLOSED, functools.partial(by_a_default)],
)
def test_what_is_written_before_the_pullback(f: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = numeric_gradient(f, (X,))
    _, pullback = vjp(f, X.copy())
    before = [a.copy() for a in ARRAYS]
    try:
        for a in ARRAYS:
            a[...] = a[::-1].copy()
            a[...] = 1 - a if a.dtype != bool else ~a
        PLACES[:] = 1
        monkeypatch.setitem(NAMED, "k", -5.0)
        monkeypatch.setattr(LAYER, "k", -5.0)
        np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-6)
        np.testing.assert_allclose(pullback(2.0)[0], 2.0 * np.asarray(expected), rtol=1e-6)
    finally:
        for a, old in zip(ARRAYS, before, strict=True):
            a[...] = old
