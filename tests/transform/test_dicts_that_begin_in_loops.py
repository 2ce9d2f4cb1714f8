"""Dicts that get their keys in the first round of a loop: the caches and moments of optimisers."""

# The names and the shapes of these loops are those of programs.
# ruff: noqa: B007

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.language.support import case, check_gradient

X = np.array([0.3, 0.7])
W = np.array([[0.2, 0.5], [0.4, -0.1], [0.7, 0.3]])


class Momentum:
    def __init__(self, lr: Any, decay: float = 0.9) -> None:
        self.lr, self.decay = lr, decay
        self.cache: dict[str, Any] = {}

    def update(self, p: Any, g: Any, name: str) -> Any:
        if name not in self.cache:
            self.cache[name] = {"t": 0, "mean": np.zeros_like(g)}
        held = self.cache[name]
        held["t"] = held["t"] + 1
        held["mean"] = self.decay * held["mean"] + (1 - self.decay) * g
        return p - self.lr * held["mean"] / (1 - self.decay ** held["t"])


class Layer:
    def __init__(self, w: Any) -> None:
        self.params: dict[str, Any] = {"w": w}
        self.grads: dict[str, Any] = {}

    def forward(self, x: Any) -> Any:
        self.x = x
        return np.tanh(x @ self.params["w"])

    def backward(self, g: Any) -> Any:
        self.grads["w"] = np.outer(self.x, g)
        return self.params["w"] @ g

    def step(self, lr: Any) -> None:
        for name, value in self.params.items():
            self.params[name] = value - lr * self.grads[name]


def momentum(x: Any) -> Any:
    o = Momentum(x[0])
    p = x * 1.0
    for _ in range(5):
        p = o.update(p, 2 * p * x[1], "p")
    return np.sum(p * p)


def two_names(x: Any) -> Any:
    o = Momentum(x[0])
    p, q = x * 1.0, x[1] * 2.0
    for i in range(1, 6, 2):
        p = o.update(p, p * i, "p")
        q = o.update(q, q + p[0], "q")
    return np.sum(p * p) * q


def trained(x: Any) -> Any:
    a, b = Layer(np.ones((2, 3)) * x[1]), Layer(W)
    for _ in range(4):
        y = b.forward(a.forward(np.array([1.0, 0.5])))
        a.backward(b.backward(y - x))
        for layer in (a, b):
            layer.step(x[0])
    return np.sum(b.forward(a.forward(np.array([1.0, 0.5]))))


def keys_of_the_second_round(x: Any) -> Any:
    d: dict[Any, Any] = {}
    s = 0.0
    for i in range(4):
        d[i % 2] = d.get(i % 2, 1.0) * x[0] + i
        s = s + d[i % 2] * x[1]
    return s


def with_an_else(x: Any) -> Any:
    d: dict[str, Any] = {}
    s = 0.0
    for i in range(6):
        d["a"] = d.get("a", x[1]) * x[0]
        s = s + d["a"]
    else:
        s = s * d["a"]
    return s * i + d["a"]


def passed_over(x: Any) -> Any:
    d: dict[str, Any] = {}
    s = 0.0
    for i in range(5):
        if "a" not in d:
            d["a"] = x * i
        if i == 3:
            continue
        d["a"] = d["a"] + x * s
        s = s + np.sum(d["a"])
    return s * (i + x[0])


def no_round(x: Any) -> Any:
    d: dict[str, Any] = {}
    for i in range(3, 3):
        d["a"] = x[0] * i
    return x[1] * len(d) + x[0]


def one_round(x: Any) -> Any:
    d: dict[str, Any] = {}
    for i in range(7, 8):
        d["a"] = x[0] * i
    return d["a"] * x[1] * i


def in_two_loops(x: Any) -> Any:
    o = Momentum(x[0])
    p = x * 1.0
    for i in range(3):
        for j in range(2):
            p = o.update(p, p * x[1] + j, "p")
    return np.sum(p) * i * j


def of_a_default(x: Any) -> Any:
    d: Any = defaultdict(float)
    for i in range(4):
        d["s"] += x[0] * i
        d["p"] += d["s"] * x[1]
    return d["p"] * d["s"]


def of_objects(x: Any) -> Any:
    d: dict[str, Any] = {}
    for i in range(3):
        if "o" not in d:
            d["o"] = Momentum(x[1])
        x = d["o"].update(x, x * i, "x")
    return np.sum(x)


PROGRAMS = [
    momentum,
    two_names,
    trained,
    keys_of_the_second_round,
    with_an_else,
    passed_over,
    no_round,
    one_round,
    in_two_loops,
    of_a_default,
    of_objects,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    check_gradient(case(f, X))
    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    for direction in np.eye(2):
        assert abs(jvp(f, (X,), (direction,))[1] - gradient @ direction) < 1e-9
