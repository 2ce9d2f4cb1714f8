"""Objects that change as wholes: by ``__dict__``, ``__class__``, ``__init__`` and ``__setstate__``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.number_and_constants import MODES, X, check_as_python, check_refused_at_its_place

RIGHT: list[Callable[..., Any]] = []
REFUSED: list[Callable[..., Any]] = []


def right(f: Callable[..., Any]) -> Callable[..., Any]:
    RIGHT.append(f)
    return f


def refused(f: Callable[..., Any]) -> Callable[..., Any]:
    REFUSED.append(f)
    return f


# --- attributes that are no attributes


class Box:
    def __init__(self, v: Any, w: Any = 0.4) -> None:
        self.v = v
        self.w = w

    def scaled(self) -> Any:
        return self.v * 3.0


class Other(Box):
    def scaled(self) -> Any:
        return self.v * 5.0


@refused
def dict_of_an_object_is_set(x: Any, k: Any, *_: Any) -> Any:
    o = Box(x)
    o.__dict__ = {"v": k, "w": x * k}
    return o.v * o.w


@refused
def dict_of_an_object_is_set_by_name(x: Any, k: Any, *_: Any) -> Any:
    o = Box(x)
    object.__setattr__(o, "__dict__", {"v": k, "w": x * k})
    return o.v * o.w


@refused
def class_of_an_object_is_set(x: Any, *_: Any) -> Any:
    o = Box(x)
    o.__class__ = Other
    return o.scaled()


# --- objects that are initialised again


@right
def list_and_dict_are_initialised_again(x: Any, k: Any, *_: Any) -> Any:
    items, table = [k], {"q": k}
    before = items[0] * table["q"]
    items.__init__([5.0])  # type: ignore[misc]
    dict.__init__(table, q=3.0)
    return x * items[0] * table["q"] * before


@right
def state_of_an_array_is_set(x: Any, k: Any, a: Any, *_: Any) -> Any:
    a.__setstate__((1, (3,), np.dtype(float), False, np.arange(3.0).tobytes()))
    np.ndarray.real.__set__(a[:1], 3.0)  # type: ignore[attr-defined]
    return np.sum(a) * x


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_as_python(f: Callable[..., Any], mode: str) -> None:
    check_as_python(f, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_is_refused_at_its_place(f: Callable[..., Any], mode: str) -> None:
    check_refused_at_its_place(f, mode)


@dataclass
class Data:
    v: Any
    w: Any = 0.4


def begun_again(p: Any) -> None:
    p.__init__(3.0, 2.0)


def begun_again_by_a_callee(x: Any, p: Any) -> Any:
    begun_again(p)
    return x * p.v * p.w


def begun_again_here(x: Any, p: Any) -> Any:
    q = [p]
    q[0].__init__(3.0, 2.0)
    return x * p.v * p.w


@pytest.mark.parametrize("f", [begun_again_by_a_callee, begun_again_here])
def test_dataclass_that_is_initialised_again(f: Callable[..., Any]) -> None:
    p = Data(1.5, 0.7)
    assert value_and_grad(f)(X, p) == (3.0, 6.0)
    assert jvp(f, (X, p), (1.0, None)) == (3.0, 6.0)
    assert p == Data(1.5, 0.7)
