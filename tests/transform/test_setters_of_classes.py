"""Objects of classes that say how their attributes are set: ``__setattr__``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, -0.4])


class Parameter:
    def __init__(self, data: Any) -> None:
        self.data = data


class Module:
    def __init__(self) -> None:
        object.__setattr__(self, "_parameters", {})
        self.training = True

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            self._parameters[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        store = self.__dict__.get("_parameters", {})
        if name in store:
            return store[name]
        raise AttributeError(name)


class Linear(Module):
    def __init__(self, w: Any, b: Any = None) -> None:
        super().__init__()
        self.w = Parameter(w)
        self.b = b

    def __call__(self, x: Any) -> Any:
        y = x * self.w.data
        return y if self.b is None else y + self.b


class Stack(Module):
    def __init__(self, *layers: Any) -> None:
        super().__init__()
        object.__setattr__(self, "_layers", {})
        for i, layer in enumerate(layers):
            self._layers[str(i)] = layer

    def __call__(self, x: Any) -> Any:
        for layer in self._layers.values():
            x = layer(x)
        return x


def parameters_kept_apart(x: Any) -> Any:
    return np.sum(Linear(x)(x))


def attributes_that_vary(x: Any) -> Any:
    layer = Linear(x, x[0])
    layer.training = False
    layer.out = layer(x)
    return np.sum(layer.out * layer.out)


def layers_by_numbers(x: Any) -> Any:
    return np.sum(Stack(Linear(x, x[1]), Linear(2.0 * x))(x))


class Doubled:
    def __init__(self, v: Any) -> None:
        self.v = v
        self.log: list[Any] = []

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "v":
            value = value * 2.0
        super().__setattr__(name, value)


def set_through_super(x: Any) -> Any:
    q = Doubled(x)
    q.v = q.v + 1.0
    q.v *= x
    return np.sum(q.v**2)


@dataclass
class Position:
    latitude: float = 0.0
    longitude: float = 0.0
    parts: list[Any] = field(default_factory=list)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("latitude", "longitude"):
            value = value * (np.pi / 180)
        super().__setattr__(name, value)


class Seen(Position):
    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "latitude":
            self.__dict__["seen"] = value


def fields_of_a_dataclass(x: Any) -> Any:
    p = Position(x[0] * 50.0, x[1] * 50.0)
    p.latitude += x[2] * 50.0
    return p.latitude * p.longitude + len(p.parts)


def replaced_fields(x: Any) -> Any:
    p = replace(Position(x[0] * 50.0, longitude=x[1] * 50.0), latitude=x[2] * 50.0)
    return p.latitude * p.longitude


def setters_of_two_classes(x: Any) -> Any:
    p = Seen(x[0] * 50.0, x[1] * 50.0)
    return p.latitude * p.seen + p.longitude  # type: ignore[attr-defined]


class Fixed:
    _names = ("a", "b")

    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise AttributeError(f"no {name}")
        self.__dict__[name] = value


def set_by_name(x: Any) -> Any:
    k = Fixed(a=x[0], b=x[1])
    for i in range(3):
        k.a *= k.b + i
    if x[0] > 0.1:
        k.b = x[2]
    return k.a * k.b


def setter_that_raises(x: Any) -> Any:
    k = Fixed(a=x[0], b=x[1])
    k.c = k.a * k.b
    return k.a


PROGRAMS = [
    parameters_kept_apart,
    attributes_that_vary,
    layers_by_numbers,
    set_through_super,
    fields_of_a_dataclass,
    replaced_fields,
    setters_of_two_classes,
    set_by_name,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradient(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, [X]), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("f", PROGRAMS)
def test_tangent(f: Callable[..., Any]) -> None:
    got = [jvp(f, (X,), (e,)) for e in np.eye(3)]
    assert got[0][0] == f(X)
    np.testing.assert_allclose([dot for _, dot in got], numeric_gradient(f, [X]), rtol=1e-6, atol=1e-9)


def test_what_a_setter_raises() -> None:
    with pytest.raises(AttributeError, match="no c"):
        grad(setter_that_raises)(X)


def test_setter_that_is_changed_later() -> None:
    """The new function is met at the next call."""
    df = grad(set_through_super)
    before = df(X)
    old = Doubled.__setattr__
    try:

        def plain(self: Any, name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        Doubled.__setattr__ = plain  # type: ignore[method-assign]
        got = df(X)
        np.testing.assert_allclose(got, numeric_gradient(set_through_super, [X]), rtol=1e-6)
        assert not np.allclose(got, before)
    finally:
        Doubled.__setattr__ = old  # type: ignore[method-assign]


class Undone(Doubled):
    def __delattr__(self, name: str) -> None:
        raise AttributeError(name)


def test_other_special_methods_are_refused() -> None:
    def f(x: Any) -> Any:
        return np.sum(Undone(x).v)

    with pytest.raises(S2SADError):
        grad(f)(X)
