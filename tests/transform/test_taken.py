"""Objects of the module whose attributes a function sets, and reads again: what they remember has derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, -0.4])


class Layer:
    def __init__(self, w: Any) -> None:
        self.w = w
        self.inputs: Any = np.zeros(3)
        self.output: Any = None

    def __call__(self, x: Any) -> Any:
        return self.forward(x)

    def forward(self, x: Any) -> Any:
        self.inputs = x
        self.output = x * self.w
        return self.output

    def penalty(self) -> Any:
        return np.sum(self.inputs**2)


class Filter:
    def __init__(self) -> None:
        self.x = 0.0
        self.n = 0

    def update(self, z: Any) -> Any:
        self.n += 1
        if self.n > 2 and z > 0:
            self.x = self.x + 0.5 * (z - self.x)
        else:
            self.x += 0.1 * z
        return self


class Model:
    def __init__(self, layers: Any) -> None:
        self.layers = layers
        self.out: Any = None

    def run(self, x: Any) -> Any:
        for layer in self.layers:
            x = np.tanh(layer(x))
        self.out = x
        return self.loss()

    def loss(self) -> Any:
        return np.sum(self.out**2) + self.layers[0].penalty()


class Holder:
    def __init__(self, layer: Any) -> None:
        self.layer = layer

    def read(self) -> Any:
        return np.sum(self.layer.inputs)


L, K, F = Layer(2.0), Layer(3.0), Filter()
ALIAS, HOLDER, OTHER, LAYERS, MODEL = L, Holder(L), Holder(K), [L, K], Model([L, K])


@pytest.fixture(autouse=True)
def _reset() -> Iterator[None]:
    reset()
    yield
    globals().update(L=FIRST, ALIAS=FIRST)
    HOLDER.layer, OTHER.layer = FIRST, K


FIRST = L


def reset() -> None:
    L.inputs, K.inputs = np.array([0.1, 0.2, 0.3]), np.zeros(3)
    L.output = K.output = None
    F.x, F.n = 0.0, 0


def forward(x: Any) -> Any:
    return np.sum(K(np.tanh(L(x))))


def read_again(x: Any) -> Any:
    return np.sum(L.forward(x)) + np.sum(L.inputs**2) + K.penalty()


def by_the_output(x: Any) -> Any:
    L.forward(x)
    return np.sum(np.maximum(0.0, L.output) ** 2)


def states(x: Any) -> Any:
    F.x = 0.0
    F.n = 0
    for v in x:
        F.update(v)
    return F.x**2


def model(x: Any) -> Any:
    return MODEL.run(x)


def two_names(x: Any) -> Any:
    y = L(x)
    return np.sum(y) + np.sum(ALIAS.inputs**2)


def held(x: Any) -> Any:
    y = L(x)
    return np.sum(y) + HOLDER.read()


def of_another(x: Any) -> Any:
    y = L(x)
    return np.sum(y) + OTHER.read()


def on_one_way(x: Any) -> Any:
    if x[0] > 0:
        L(x)
    return np.sum(L.inputs * x)


def in_a_loop(x: Any) -> Any:
    for _ in range(3):
        L(x * L.inputs)
    return np.sum(L.inputs)


def in_place(x: Any) -> Any:
    L.inputs = x * 1.0
    y = L.inputs
    y *= x
    L.inputs[0] = 7.0
    return np.sum(L.inputs * L.penalty())


def comprehended(x: Any) -> Any:
    return sum([np.sum(layer(x) * layer.inputs) for layer in LAYERS])


RIGHT = [forward, read_again, by_the_output, states, model, two_names, held, of_another, on_one_way, in_a_loop]


def unseen() -> Any:
    try:
        return np.sum(L.inputs * 3.0)
    except ValueError:
        return 0.0


def read_where_it_is_not_seen(x: Any) -> Any:
    return np.sum(L(x)) + unseen()


def by_any_name(x: Any, name: str = "inputs") -> Any:
    return np.sum(L(x)) + np.sum(getattr(L, name) ** 2)


def by_dict(x: Any) -> Any:
    return np.sum(L(x)) + np.sum(vars(L)["inputs"] ** 2)


def by_number(x: Any) -> Any:
    total = np.sum(L(x))
    for i in range(len(x) - 1):
        total = total + np.sum(LAYERS[i].inputs)
    return total


def by_a_function(x: Any, read: Any = lambda: np.sum(L.inputs)) -> Any:
    return np.sum(L(x)) + read()


def recursive(x: Any, n: int = 3) -> Any:
    L(x)
    return np.sum(L.inputs) if n == 0 else recursive(L.inputs * x, n - 1)


def deleted(x: Any) -> Any:
    L(x)
    total = L.penalty()
    del L.inputs
    L.inputs = x * 2.0
    return total + L.penalty()


UNSURE = [read_where_it_is_not_seen, by_any_name, by_dict, by_number, by_a_function, recursive, deleted]


def wanted(f: Callable[..., Any], x: Any = X) -> Any:
    def again(v: Any) -> Any:
        reset()
        return f(v)

    found = numeric_gradient(again, [x.copy()])
    reset()
    return found


@pytest.mark.parametrize("f", [*RIGHT, in_place, comprehended], ids=lambda f: f.__name__)
def test_gradient(f: Callable[..., Any]) -> None:
    df = grad(f)
    for x in (X, -X, X):
        expected = wanted(f, x)
        np.testing.assert_allclose(df(x.copy()), expected, rtol=1e-6, atol=1e-7)
        reset()
        np.testing.assert_allclose(jvp(f, (x.copy(),), (np.ones(3),))[1], np.sum(expected), rtol=1e-6, atol=1e-7)


def test_the_object_is_set() -> None:
    x = X.copy()
    value, _ = value_and_grad(forward)(x)
    assert L.inputs is x
    np.testing.assert_array_equal(K.inputs, np.tanh(2.0 * X))
    assert value == np.sum(K.output)


@pytest.mark.parametrize("f", UNSURE, ids=lambda f: f.__name__)
def test_right_or_refused(f: Callable[..., Any]) -> None:
    expected = wanted(f)
    try:
        found = grad(f)(X.copy())
    except S2SADError:
        return
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("f", "exchange"),
    [
        (two_names, lambda: globals().update(ALIAS=K)),
        (held, lambda: setattr(HOLDER, "layer", K)),
        (of_another, lambda: setattr(OTHER, "layer", L)),
        (forward, lambda: globals().update(L=Layer(5.0))),
    ],
    ids=["another_name", "no_longer_held", "held_now", "another_object"],
)
def test_which_object_it_is_may_change_between_calls(f: Callable[..., Any], exchange: Callable[[], None]) -> None:
    df = grad(f)
    df(X.copy())
    exchange()
    np.testing.assert_allclose(df(X.copy()), wanted(f), rtol=1e-6, atol=1e-7)


def test_an_argument_that_is_the_object_is_refused() -> None:
    def f(x: Any, layer: Any) -> Any:
        return np.sum(L(x)) + layer.penalty()

    with pytest.raises(S2SADError):
        grad(f)(X.copy(), L)
