"""Programs in which an object, an attribute or a function is not what it looks like: what remains does as Python does.

A program may be too much for the specialiser, which leaves it as it is then; those named `TAKEN` are not.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.transform.odd_callers import called_often
from tests.transform.remaining import check_gradient, check_same


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


# --- iterators, and lists that change while they are run through


def iterator_twice(x: Any) -> Any:
    backwards = reversed([lambda v: v * x[0], lambda v: v * v])
    y = x[1]
    for f in backwards:
        y = f(y)
    for f in backwards:
        y = f(y) * 10.0
    return y


def iterator_in_two_loops(x: Any) -> Any:
    numbered = enumerate([lambda v: v * x[0], lambda v: v * v, lambda v: v + x[2]])
    y = x[1]
    for number, f in numbered:
        y = f(y) + number
        for more, g in numbered:
            y = g(y) * 3.0 + more
            if more > 0:
                break
    return y


def iterator_of_an_iterator(x: Any) -> Any:
    numbered = enumerate([lambda v: v * x[0], lambda v: v * v])
    pairs = zip(numbered, [1.0, 2.0], strict=False)
    y = x[1]
    for number, _ in numbered:
        y = y * 2.0 + number
    for (number, f), k in pairs:
        y = f(y) + number * k
    return y


def list_that_grows(x: Any) -> Any:
    fs = [lambda v: v * x[0], lambda v: v * v]
    y = x[1]
    for f in fs:
        y = f(y)
        if len(fs) < 5:
            fs.append(lambda v: v + x[2])
    return y


def list_that_grew(x: Any) -> Any:
    fs = [lambda v: v * x[0]]
    pairs = zip(fs, fs, strict=True)
    y = x[1]
    fs.append(lambda v: v + x[2])
    for f, g in pairs:
        y = f(g(y))
    return y


def view_of_a_dict(x: Any) -> Any:
    table = {"a": lambda v: v * x[0], "b": lambda v: v * v}
    values, y = table.values(), x[1]
    for f in values:
        for g in values:
            y = f(g(y))
    return y


def view_of_a_dict_that_changes(x: Any) -> Any:
    table = {"a": lambda v: v * x[0]}
    values = table.values()
    table["b"] = lambda v: v + x[1]
    y = x[2]
    for f in values:
        y = f(y)
    return y


# --- conditions


def condition_that_changes(x: Any) -> Any:
    flag = np.array([True])
    f = (lambda v: v * x[0]) if flag else (lambda v: v * v)
    flag[0] = False
    return f(x[1])


def list_as_a_condition(x: Any) -> Any:
    flag = [1] if x[0] > 0 else []
    if flag:
        f = lambda v: v * x[0]  # noqa: E731
    else:
        f = lambda v: v * v  # noqa: E731
    flag.append(1)
    return f(x[1])


class Empty:
    def __call__(self, v: Any) -> Any:
        return v * 2.0

    def __len__(self) -> int:
        return 0


EMPTY = Empty()


def callable_that_is_false(x: Any) -> Any:
    either = lambda v, f: f(v) if f else v  # noqa: E731
    return either(x[0], EMPTY)


def object_and_its_method(x: Any) -> Any:
    if x[0] > 0:
        layer = Layer(x[0])
        f = layer.__call__
    else:
        layer = Layer(x[1])
        f = lambda v: v * x[2]  # noqa: E731
    layer.w = layer.w * 3.0
    return f(x[1]) * layer.w


# --- which object it is


def one_function_or_two(x: Any) -> Any:
    f, h = (lambda v: v * x[0]), (lambda v: v * x[0])
    g = f
    return f(x[1]) if f is g and f is not h else x[2]


def equal_functions(x: Any) -> Any:
    f = lambda v: v * x[0]  # noqa: E731
    g = f
    return f(x[1]) if f == g else x[2]


def function_as_a_key(x: Any) -> Any:
    f = lambda v: v * x[0]  # noqa: E731
    weights = {f: 2.0}
    return weights[f] * f(x[1])


def functions_in_two_lists(x: Any) -> Any:
    f, g = (lambda v: v * x[0]), (lambda v: v * v)
    total = 0.0
    for i in range(int(abs(x[1] * 4))):
        places = [f, g] * (i + 1)
        total = total + places.index(g) * x[0]
    return total + (f in [g] * int(1.0 + x[0] * x[0]))


def one_object_or_two(x: Any) -> Any:
    a, c = Layer(x[0]), Layer(x[0])
    b = a
    return x[0] if a is b and a is not c else x[1]


def order_of_keywords(x: Any) -> Any:
    def nested(**named: Any) -> Any:
        total = 0.0
        for v in named.values():
            total = total * 2.0 + v
        return total

    return functools.partial(nested, a=x[0], b=x[1])(c=x[2], a=x[1])


PROGRAMS = [
    other_names_in_another_module, class_attribute_in_a_loop, class_attribute_in_a_branch,
    class_attribute_in_a_function, attribute_in_a_branch, unset_in_a_branch, raised_when_made,
    put_back_after_an_exception, set_before_an_exception, set_by_a_function_that_raises,
    set_before_a_suppressed_exception, break_in_try, break_in_with, property_above, fields_that_are_not_set, cycle,
    iterator_twice, iterator_in_two_loops, iterator_of_an_iterator, list_that_grows, list_that_grew, view_of_a_dict,
    view_of_a_dict_that_changes, condition_that_changes, list_as_a_condition, callable_that_is_false,
    object_and_its_method, one_function_or_two, equal_functions, function_as_a_key, functions_in_two_lists,
    one_object_or_two, order_of_keywords,
]  # fmt: skip
TAKEN = [
    class_attribute_in_a_loop, class_attribute_in_a_branch, class_attribute_in_a_function, raised_when_made, cycle,
    iterator_twice, iterator_in_two_loops, list_that_grows, view_of_a_dict, condition_that_changes,
    list_as_a_condition, one_function_or_two, one_object_or_two, order_of_keywords,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_remains_does_the_same(f: Callable[..., Any]) -> None:
    check_same(f, f in TAKEN)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f: Callable[..., Any]) -> None:
    check_gradient(f, f in TAKEN)
