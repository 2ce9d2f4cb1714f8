"""Objects of classes with ``__new__``, which the program makes."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.sources import function_of, names_of
from tests.transform.remaining import check_both_modes, check_right_or_refused

CLASSES = """
import copy

class Point:
    __slots__ = ("u", "v", "w")

    def __new__(cls, u=None, v=None, w=0.5):
        single = u is not None and v is None
        if single and not isinstance(u, (int, float)):
            arg = u
            if isinstance(arg, Point):
                return cls.of_point(arg)
            elif isinstance(arg, str):
                return cls.of_text(arg)
            else:
                try:
                    items = iter(arg)
                except TypeError:
                    raise TypeError(f"no point: {arg}")
                else:
                    return cls.of_items(items)
        self = super().__new__(cls)
        self.u = u
        self.v = v
        self.w = w
        return self

    @classmethod
    def of_point(cls, p):
        return cls(p.u, p.v, p.w)

    @classmethod
    def of_text(cls, text):
        return cls(float(text), 1.0)

    @classmethod
    def of_items(cls, items):
        return cls(*tuple(items))

    def size(self):
        return self.u**2 + 3 * self.v * self.w

class Scaled(Point):
    def __new__(cls, u, v, scale):
        self = Point.__new__(cls, u * scale, v, scale)
        return self

    def size(self):
        return super().size() * self.w

class Pair:
    def __new__(cls, *args, **kwargs):
        self = object.__new__(cls)
        self.count = len(args)
        return self

    def __init__(self, u, v):
        self.u, self.v = u * self.count, v

class Other:
    def __new__(cls, u):
        return Point(u, 2.0) if u > 0 else Point(u, 3.0)

    def __init__(self, u):
        raise RuntimeError("not of this class")

class Number:
    def __new__(cls, u):
        return u * 3.0

class Single:
    made = None

    def __new__(cls):
        if cls.made is None:
            cls.made = super().__new__(cls)
        return cls.made
"""
FOLLOWED = {
    "arguments": "Point(x[0], x[1]).size()",
    "default": "Point(x[0], v=x[1], w=x[2]).size()",
    "a tuple": "Point((x[0], x[1])).size() * x[2]",
    "items of the array": "Point((x[0], x[1], x[2])).size()",
    "another": "Point(Point(x[0], x[1])).size()",
    "a subclass": "Scaled(x[0], x[1], x[2]).size()",
    "initialised": "Pair(x[0], x[1]).u ** 2 + Pair(x[2], 1.0).v * Pair(x[1], x[2]).u",
    "of another class": "Other(x[0]).size() * x[1]",
    "in a list": "sum(p.size() for p in [Point(a, a**2) for a in x])",
}
OTHERS = {
    "a number": "Number(x[0]) * x[1]",
    "one for all": "setattr(Single(), 'u', x[0]) or Single().u ** 2",
    "a copy": "copy.copy(Pair(x[0], x[1])).u ** 2",
    "a deep copy": "copy.deepcopy(Point(x[0], x[1])).size()",
}
X, WAY = np.array([0.4, 0.7, 1.3]), np.array([0.5, -1.0, 0.7])


def _of(text: str) -> Any:
    return function_of(f"{CLASSES}\ndef f(x):\n    return {text}\n")


@pytest.mark.parametrize("text", FOLLOWED.values(), ids=FOLLOWED)
def test_what_new_makes_is_an_object(text: str) -> None:
    check_both_modes(_of(text), X, WAY)


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_what_is_not_followed_is_refused(text: str) -> None:
    f = _of(text)
    f(X)
    check_right_or_refused(f, X, WAY)


def test_its_exceptions_are_raised() -> None:
    f = _of("Point(None if x[0] > 1 else 3 + 0 * 1j, x[1]).size().real if x[0] > 5 else Pair(x[0]).u")
    with pytest.raises((TypeError, S2SADError)):
        grad(f)(X)


def test_another_new_is_another_program() -> None:
    names = names_of(f"{CLASSES}\ndef f(x):\n    return Point(x[0], x[1]).size()\n")
    f, df = names["f"], grad(names["f"])
    check_both_modes(f, X, WAY)
    before = df(X)

    def new(cls: Any, u: Any, v: Any) -> Any:
        made = object.__new__(cls)
        made.u, made.v, made.w = 2 * u, v, 0.5
        return made

    names["Point"].__new__ = new
    assert f(X) != before[0]
    with contextlib.suppress(S2SADError):
        np.testing.assert_allclose(df(X), [8 * X[0], 1.5, 0.0])
