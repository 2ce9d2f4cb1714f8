"""What a function records in containers of objects that exist: as Python does it, and no derivative passes there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, value_and_grad
from s2sad.frontend.lower_statements import lower_function
from s2sad.frontend.source import read_source
from s2sad.transform.recording import recordings
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.2, -0.7])
SHARED: list[Any] = []


class Layer:
    def __init__(self, w: float) -> None:
        self.w = w
        self.inputs: list[Any] = []
        self.cache: dict[str, Any] = {"z": None, "all": []}
        self.last: deque[Any] = deque(maxlen=2)
        self.seen: set[Any] = set()

    def forward(self, x: Any) -> Any:
        z = np.tanh(self.w * x)
        self.inputs.append(x)
        self.cache["z"] = z
        self.cache["all"].append(z)
        self.last.append(float(z[0]))
        self.seen.add(len(x))
        return z * x

    def read_again(self, x: Any) -> Any:
        self.inputs.append(x * x)
        return np.sum(self.inputs[-1])

    def counted(self, x: Any) -> Any:
        self.inputs.append(x)
        return np.sum(x) * len(self.inputs)

    def read_by_a_method(self, x: Any) -> Any:
        self.cache["z"] = x * x
        return np.sum(self.cached())

    def cached(self) -> Any:
        return self.cache["z"]

    def shown(self, x: Any) -> Any:
        self.cache["z"] = x * x
        return np.sum(x) * len(str(self))

    def __str__(self) -> str:
        return str(self.cache["z"])

    def replaced(self, x: Any) -> Any:
        self.inputs = []
        self.inputs.append(x * x)
        return np.sum(self.inputs[0])


class Net:
    def __init__(self) -> None:
        self.layers = [Layer(0.3), Layer(-1.1)]
        self.losses: list[float] = []

    def loss(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer.forward(x)
        loss = np.sum(x**2)
        if loss > 0.0:
            self.losses.append(float(loss))
        return loss


LAYER = Layer(0.8)
NET = Net()
SHARING = Layer(0.4)
SHARING.inputs = SHARED


def of_a_layer(x: Any) -> Any:
    return np.sum(LAYER.forward(x))


def of_a_net(x: Any) -> Any:
    return NET.loss(x)


def in_a_loop(x: Any) -> Any:
    for _ in range(3):
        x = LAYER.forward(x)
    return np.sum(x)


def read_again(x: Any) -> Any:
    return LAYER.read_again(x)


def counted(x: Any) -> Any:
    return LAYER.counted(x)


def read_by_a_method(x: Any) -> Any:
    return LAYER.read_by_a_method(x)


def shown(x: Any) -> Any:
    return LAYER.shown(x)


def replaced(x: Any) -> Any:
    return LAYER.replaced(x)


def of_a_local_object_too(x: Any) -> Any:
    own = Layer(0.5)
    return np.sum(LAYER.forward(x)) + own.read_again(own.forward(x)) + np.sum(own.cache["z"])


def read_by_its_path(x: Any) -> Any:
    y = LAYER.forward(x)
    return np.sum(y * LAYER.cache["z"])


def under_another_name(x: Any) -> Any:
    y = SHARING.forward(x)
    return np.sum(y) + np.sum(SHARED[-1])


def emptied() -> None:
    for layer in (LAYER, SHARING, *NET.layers):
        layer.inputs.clear()
        layer.cache["all"].clear()
        layer.last.clear()
    NET.losses.clear()


@pytest.fixture(autouse=True)
def _empty() -> None:
    emptied()


@pytest.mark.parametrize("f", [of_a_layer, of_a_net, in_a_loop], ids=lambda f: f.__name__)
def test_gradients_are_right(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (X,))
    df = value_and_grad(f)
    for _ in range(2):
        value, gradient = df(X)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6)
        assert value == f(X)
    np.testing.assert_allclose(jvp(f, (X,), (np.ones(3),))[1], np.sum(expected), rtol=1e-6)


@pytest.mark.parametrize("f", [of_a_layer, of_a_net, in_a_loop], ids=lambda f: f.__name__)
def test_what_is_recorded_is_what_python_records(f: Callable[[Any], Any]) -> None:
    def state() -> Any:
        layers = (LAYER, *NET.layers)
        return [(v.inputs, v.cache, list(v.last), v.seen) for v in layers], NET.losses

    f(X)
    expected = repr(state())
    emptied()
    grad(f)(X)
    assert repr(state()) == expected
    emptied()
    jvp(f, (X,), (np.ones(3),))
    assert repr(state()) == expected


@pytest.mark.parametrize(
    "f",
    [
        of_a_local_object_too,
        read_again,
        counted,
        read_by_a_method,
        shown,
        replaced,
        read_by_its_path,
        under_another_name,
    ],
    ids=lambda f: f.__name__,
)
def test_what_is_read_again_is_right_or_refused(f: Callable[[Any], Any]) -> None:
    if f is not counted:
        expected = numeric_gradient(f, (X,))
    else:
        expected = np.full(3, 1.0)
    emptied()
    try:
        found = grad(f)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_container_that_comes_to_be_shared_is_an_error() -> None:
    df = grad(of_a_layer)
    df(X)
    kept = LAYER.inputs
    LAYER.cache["other"] = kept
    try:
        with pytest.raises(S2SADError, match="found in two places"):
            df(X)
    finally:
        del LAYER.cache["other"]


def test_a_container_that_is_replaced_is_recorded_in() -> None:
    df = grad(of_a_layer)
    df(X)
    LAYER.inputs = []
    df(X)
    assert len(LAYER.inputs) == 1
    LAYER.inputs = ()  # type: ignore[assignment]
    try:
        with pytest.raises((AttributeError, S2SADError)):
            df(X)
    finally:
        LAYER.inputs = []


def program(self: Any, x: Any) -> Any:
    self.a.append(x)
    self.b["k"][0].append(x)
    self.c["k"] = x
    used = self.d.append(x)
    kept = self.e
    kept.append(x)
    return used, self.f["k"]


def test_which_statements_only_record() -> None:
    found = recordings(lower_function(read_source(program).node))  # type: ignore[arg-type]
    assert {(op.data, r.keys, r.method) for op, r in found.items()} == {
        ("a", (), "append"),
        ("b", ("k", 0), "append"),
        ("c", (), "__setitem__"),
        ("e", (), "append"),
    }
