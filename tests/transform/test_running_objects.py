"""What runs through existing objects: loops, comprehensions, functions of Python; counters; lists that are empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.3, -0.2, 0.5, 1.1])
_RANDOM = np.random.default_rng(0)


class Dense:
    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, x: Any) -> Any:
        return np.tanh(self.w @ x)

    def __repr__(self) -> str:
        return f"Dense{self.w.shape}"

    def __len__(self) -> int:
        return len(self.w)


class Listed:
    """Gives an iterator of a list."""

    def __init__(self, layers: list[Any]) -> None:
        self.layers = layers

    def __iter__(self) -> Iterator[Any]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    def __getitem__(self, i: int) -> Any:
        return self.layers[i]

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x

    def loss(self, x: Any, y: Any) -> Any:
        e = self(x) - y
        s = 0.0
        for i in range(2):
            s = s + np.sum(e**2) * (i + 1)
        if s > 3:
            s = s * 2
        return s


class Generated(Listed):
    """A generator of them."""

    def __iter__(self) -> Iterator[Any]:
        yield from self.layers


class Solver:
    def __init__(self) -> None:
        self.evaluations = 0
        self.best = np.inf
        self.callbacks: list[Callable[[Any], None]] = []
        self.history: list[float] = []

    def step(self, x: Any) -> Any:
        self.evaluations += 1
        return x - 0.1 * x**3

    def solve(self, x: Any) -> Any:
        for _ in range(20):
            new = self.step(x)
            if np.max(np.abs(new - x)) < 1e-3:
                break
            x = new
        return x

    def loss(self, x: Any) -> Any:
        loss = np.sum(self.solve(x) ** 2)
        self.history.append(float(loss))
        if loss < self.best:
            self.best = float(loss)
        for callback in self.callbacks:
            callback(loss)
        return loss


def _layers() -> list[Any]:
    return [Dense(_RANDOM.normal(size=(4, 4))) for _ in range(3)]


LISTED, GENERATED, SOLVER = Listed(_layers()), Generated(_layers()), Solver()


def by_a_loop(x: Any) -> Any:
    for layer in LISTED:
        x = layer(x)
    return np.sum(x)


def by_a_generator(x: Any) -> Any:
    for layer in GENERATED:
        x = layer(x)
    return np.sum(x)


def by_number(x: Any) -> Any:
    for i, layer in enumerate(GENERATED):
        x = layer(x) * (i + 1)
    return np.sum(x)


def by_a_sum(x: Any) -> Any:
    return sum(np.sum(layer(x)) for layer in LISTED) + sum(np.sum(layer(x)) for layer in GENERATED)


def by_a_comprehension(x: Any) -> Any:
    return np.sum(np.stack([layer(x) for layer in GENERATED]) ** 2)


def by_items(x: Any) -> Any:
    return np.max(LISTED[1](LISTED[0](x))) * len(LISTED)


def by_a_method(x: Any) -> Any:
    return np.sqrt(LISTED.loss(x, X))


def counted(x: Any) -> Any:
    return np.sum(SOLVER.solve(x))


def recorded(x: Any) -> Any:
    return SOLVER.loss(x)


@pytest.mark.parametrize(
    "f",
    [by_a_loop, by_a_generator, by_number, by_a_sum, by_a_comprehension, by_items, by_a_method, counted, recorded],
    ids=lambda f: f.__name__,
)
def test_gradients(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-9)


def test_counters_count_as_in_python() -> None:
    SOLVER.evaluations = 0
    value = recorded(X)
    expected = SOLVER.evaluations
    SOLVER.evaluations, SOLVER.best = 0, np.inf
    SOLVER.history.clear()
    assert value_and_grad(recorded)(X)[0] == value
    assert SOLVER.evaluations == expected
    assert SOLVER.history == [value]
    assert SOLVER.best == value


def test_a_list_that_was_empty_is_run_through_when_it_is_not() -> None:
    seen: list[Any] = []
    df = grad(recorded)
    expected = df(X)
    SOLVER.callbacks.append(seen.append)
    try:
        np.testing.assert_allclose(df(X), expected)
        assert len(seen) == 1
    except S2SADError:
        pass
    finally:
        SOLVER.callbacks.clear()
    np.testing.assert_allclose(df(X), expected)


class Hooked:
    def __init__(self) -> None:
        self.hooks: list[Any] = []
        self.total = 0.0

    def add(self, value: Any) -> None:
        self.total = self.total + value

    def with_a_hook(self, x: Any) -> Any:
        self.total = 0.0
        self.hooks.append(self.add)
        for hook in self.hooks:
            hook(np.sum(x**2))
        self.hooks.pop()
        return self.total * x[0]


HOOKED = Hooked()


def hooked(x: Any) -> Any:
    return HOOKED.with_a_hook(x)


def test_a_list_that_gets_items_meanwhile() -> None:
    expected = numeric_gradient(hooked, (X,))
    try:
        found = grad(hooked)(X)
    except S2SADError:
        HOOKED.hooks.clear()
        return
    np.testing.assert_allclose(found, expected, rtol=1e-6)
