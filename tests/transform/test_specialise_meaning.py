"""Programs in which an object, an attribute or a function is not what it looks like: what remains does as Python does.

A program may be too much for the specialiser, which leaves it as it is then; those named `TAKEN` are not.
"""

from __future__ import annotations

import contextlib
import dataclasses
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from s2sad.frontend.source import read_source
from s2sad.transform.specialise import specialised
from tests.oracle import numeric_gradient
from tests.transform.odd_callers import called_often

POINTS = [np.array([0.3, 0.7, -0.4]), np.array([-0.3, -0.7, 0.4]), np.array([1.2, 0.1, 0.6])]


def fails(x: Any) -> Any:
    if x[0] > -100.0:
        raise ValueError("fails")
    return x[0]


# --- names of other modules


def other_names_in_another_module(x: Any) -> Any:
    scaled = lambda v: v * x[0]  # noqa: E731
    return called_often(np.cos, x[1]) + called_often(scaled, x[1])


# --- attributes that an object has on some ways only


class Layer:
    calls = 0
    factor = 2.0

    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, v: Any) -> Any:
        self.calls += 1
        return self.w * v * self.factor


def class_attribute_in_a_loop(x: Any) -> Any:
    layer, y = Layer(x[0]), x[1]
    for _ in range(int(abs(x[2]) * 6)):
        y = layer(y)
    return y + layer.calls


def class_attribute_in_a_branch(x: Any) -> Any:
    layer = Layer(x[0])
    if x[1] > 0:
        layer.factor = x[1]
    return layer(x[2]) * layer.factor


def class_attribute_in_a_function(x: Any) -> Any:
    layer = Layer(x[0])
    sets_late(layer, x[1])
    return layer(x[2]) * layer.factor


def sets_late(layer: Any, v: Any) -> Any:
    if v < 0:
        return v
    a = v * v
    b = a * v
    c = b * a + v
    d = c * v
    if d > 100:
        return d
    layer.factor = d * b
    return a


def attribute_in_a_branch(x: Any) -> Any:
    layer = Layer(x[0])
    if x[1] > 0:
        layer.more = x[1]
    return layer.more * 2.0


def unset_in_a_branch(x: Any) -> Any:
    if x[0] > 0:
        a = x[1]

    def late(t: Any) -> Any:
        if t < 0:
            return t * x[2]
        b = t * t
        c = b * t
        d = c * b
        e = d * c + b
        if e > 1e9:
            return e
        return a * e * d

    return late(x[0])


# --- exceptions


class Positive:
    def __init__(self, v: Any, kind: Any = None) -> None:
        self.v = v
        if kind is None:
            raise ValueError("kind")


def raised_when_made(x: Any) -> Any:
    return Positive(x[0]).v * x[1]


def put_back_after_an_exception(x: Any) -> Any:
    layer = Layer(x[0])
    try:
        old = layer.w
        layer.w = x[1] * 3.0
        fails(x)
        layer.w = old
    except ValueError:
        return layer.w
    return x[2]


def set_before_an_exception(x: Any) -> Any:
    layer = Layer(x[0])
    try:
        if x[0] > -100.0:
            layer.w = x[1] * 3.0
            raise ValueError
    except ValueError:
        pass
    return layer.w


def set_by_a_function_that_raises(x: Any) -> Any:
    layer = Layer(x[0])
    try:  # noqa: SIM105
        sets_and_raises(layer, x)
    except ValueError:
        pass
    return layer.w


def sets_and_raises(layer: Any, x: Any) -> Any:
    a = layer.w * layer.w
    b = a * a
    c = b + a
    d = c * b
    if d > -1e9:
        layer.w = x[1] * 5.0
        raise ValueError
    return d * d


def set_before_a_suppressed_exception(x: Any) -> Any:
    layer = Layer(x[0])
    with contextlib.suppress(ValueError):
        if x[0] > -100.0:
            layer.w = x[1] * 3.0
            raise ValueError
    return layer.w


# --- loops that are left from inside of other statements


def break_in_try(x: Any) -> Any:
    fs = [lambda v: v * x[0], lambda v: v * v, lambda v: v + 1.0]
    y = x[1]
    for _ in range(3):
        for f in fs:
            try:
                y = f(y)
                if y > 0.2:
                    break
            except ValueError:
                pass
        y = y * 2.0
    return y


def break_in_with(x: Any) -> Any:
    fs = [lambda v: v * x[0], lambda v: v * v]
    y = x[1]
    for _ in range(3):
        for f in fs:
            with np.errstate(all="ignore"):
                y = f(y)
                break
        y = y * 2.0
    return y


# --- members of classes


class HasProperty:
    @property
    def q(self) -> Any:
        return 5.0


class HasMethod:
    def q(self) -> Any:
        return 2.0


class Both(HasProperty, HasMethod):
    def __init__(self, w: Any) -> None:
        self.w = w

    def weighted(self) -> Any:
        return super().q * self.w  # type: ignore[operator]


def property_above(x: Any) -> Any:
    return Both(x[0]).weighted()


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any


@dataclasses.dataclass(init=False)
class Triple(Pair):
    c: Any = 1.0


def fields_that_are_not_set(x: Any) -> Any:
    return Triple(x[0], x[1]).b


class Node:
    def __init__(self, v: Any) -> None:
        self.v = v
        self.next = self


def cycle(x: Any) -> Any:
    n, m = Node(x[0]), Node(x[1])
    n.next, m.next = m, n
    spread(n)
    return n.v * m.v


def spread(n: Any) -> Any:
    a = n.v * 2.0
    b = a * a
    c = b + a
    d = c * b
    e = d + a
    n.next.v = a * b
    n.next.next.v = e
    return e * d


PROGRAMS = [
    other_names_in_another_module, class_attribute_in_a_loop, class_attribute_in_a_branch,
    class_attribute_in_a_function, attribute_in_a_branch, unset_in_a_branch, raised_when_made,
    put_back_after_an_exception, set_before_an_exception, set_by_a_function_that_raises,
    set_before_a_suppressed_exception, break_in_try, break_in_with, property_above, fields_that_are_not_set, cycle,
]  # fmt: skip
TAKEN = [
    class_attribute_in_a_loop, class_attribute_in_a_branch, class_attribute_in_a_function, raised_when_made, cycle,
]  # fmt: skip


def outcome(f: Callable[..., Any], x: Any) -> Any:
    """The result of a call, or the class and text of its exception, and the argument after it."""
    x = x.copy()
    try:
        result: Any = f(x)
    except Exception as error:
        result = type(error), str(error)
    return repr(result), x.tobytes()


def remaining(f: Callable[..., Any]) -> types.FunctionType | None:
    made = specialised(read_source(f), read_source)
    return None if made is None else made.source.function


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_remains_does_the_same(f: Callable[..., Any]) -> None:
    made = remaining(f)
    assert made is not None or f not in TAKEN
    for x in POINTS:
        assert made is None or outcome(made, x) == outcome(f, x)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f: Callable[..., Any]) -> None:
    for x in POINTS:
        try:
            wanted = numeric_gradient(f, [x])
        except Exception as error:
            with pytest.raises((type(error), S2SADError)):
                grad(f)(x.copy())
            continue
        try:
            got = grad(f)(x.copy())
        except S2SADError:
            assert f not in TAKEN
            continue
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-7)
