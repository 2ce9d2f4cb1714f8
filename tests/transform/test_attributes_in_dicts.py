"""The ``__dict__`` of objects that a program makes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad
from s2sad.errors import UnsupportedError
from tests.transform.remaining import check_both_modes


class Bag:
    factor = 3.0

    def __init__(self, **options: Any) -> None:
        self.__dict__.update(options)

    def total(self) -> Any:
        return sum(v for v in self.__dict__.values())

    def scaled(self, factor: Any) -> Any:
        return Bag(**{k: v * factor for k, v in vars(self).items()})


def options(v: Any) -> Any:
    b: Any = Bag(x=v[0], y=v[1])
    b.x = b.x * 2
    return b.x * b.y * b.factor


def values(v: Any) -> Any:
    b: Any = Bag(a=v[0], b=v[1], c=2.0)
    return b.total() * b.c * len(vars(b)) + ("a" in b.__dict__)


def spread(v: Any) -> Any:
    b: Any = Bag(a=v[0], b=v[1]).scaled(v[0])
    return b.a * b.b


def namespace(v: Any) -> Any:
    n = SimpleNamespace(a=v[0], b=v[1])
    return vars(n)["a"] * n.b + vars(n).get("c", 2.0) * n.a


def items_that_are_set(v: Any) -> Any:
    b: Any = Bag(a=v[0])
    b.__dict__["c"] = v[1]
    b.__dict__.setdefault("e", 4.0)
    b.__dict__["a"] += 1.0
    return b.a * b.c * b.e


def of_another(v: Any) -> Any:
    b: Any = Bag(a=v[0], b=v[1])
    c: Any = Bag()
    c.__dict__.update(b.__dict__)
    c.a = c.a**2
    return c.a * b.a * c.b


def copied(v: Any) -> Any:
    b: Any = Bag(a=v[0], b=v[1])
    c = dict(b.__dict__)
    c["a"] = c["a"] ** 2
    return b.a * c["a"] * c["b"]


def in_a_variable(v: Any) -> Any:
    """What is set later is there, under both names."""
    b: Any = Bag(a=v[0], b=v[1])
    d = b.__dict__
    b.y = b.a**2
    d["z"] = b.a * 3
    return b.z * b.b * d["y"]


MODELS = {"weak": {"a": 0.5, "b": [1.0, 2.0]}, "strong": {"a": 2.0, "b": [3.0, 4.0]}}


class Model:
    def __init__(self, kind: str, x: Any) -> None:
        self.__dict__.update(MODELS[kind])
        self.x = x

    def slope(self) -> Any:
        """Computed once."""
        try:
            return self._slope
        except AttributeError:
            self._slope = self.a * self.x**2  # type: ignore[attr-defined]
            return self._slope


def of_the_module(v: Any) -> Any:
    m: Any = Model("strong", v[0])
    defaults: Any = Bag()
    defaults.__dict__.update(MODELS["weak"])
    return m.slope() * m.slope() * m.b[1] * v[1] * defaults.a


def on_a_way(v: Any) -> Any:
    b: Any = Bag(a=v[0], b=v[1])
    if v[0] > 0:
        b.__dict__["a"] = v[0] ** 2
    else:
        b.__dict__.update(a=v[1])
    return b.a * b.b


def in_a_loop(v: Any) -> Any:
    b: Any = Bag(a=v[0], b=v[1])
    for _ in range(3):
        b.__dict__["a"] = b.a * b.b
    return b.a


def by_names(v: Any) -> Any:
    b: Any = Bag(a=v[0], b=v[1])
    for name in list(b.__dict__):
        setattr(b, name + "2", getattr(b, name) ** 2)
    for name, x in b.__dict__.items():
        if name.endswith("2"):
            b.__dict__[name] = x * 2
    return b.a2 * b.b2 + b.a


PROGRAMS = [
    options, values, spread, namespace, items_that_are_set, of_another, copied, in_a_variable, of_the_module,
    on_a_way, in_a_loop, by_names,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_gradient(f: Callable[[Any], Any]) -> None:
    v, d = np.array([0.3, 0.7]), np.array([1.0, -2.0])
    check_both_modes(f, v, d)


def kept(v: Any) -> Any:
    """The dict itself goes where nothing is known of it."""
    b: Any = Bag(a=v[0])
    held = [b.__dict__ for _ in range(int(v[1] * 10))]
    b.a = b.a**2
    return held[0]["a"]


def removed(v: Any) -> Any:
    b: Any = Bag(a=v[0], b=v[1])
    b.__dict__.pop("b")
    return b.a * len(b.__dict__)


@pytest.mark.parametrize("f", [kept, removed])
def test_refused(f: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedError):
        value_and_grad(f)(np.array([0.3, 0.7]))
