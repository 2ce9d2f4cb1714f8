"""``with`` of managers that are given what is differentiated: by methods and by generators, however they are left."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from tests.transform.remaining import check_both_modes

X = np.array([1.3, 0.7, 2.1])
WAY = np.array([0.3, -0.2, 0.5])


class Scope:
    def __init__(self, x):
        self.x, self.depth = x, 0

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, *exception):
        self.depth -= 1


class Scale:
    """Multiplies an array in place for a while."""

    def __init__(self, a, k):
        self.a, self.k = a, k

    def __enter__(self):
        self.a *= self.k
        return self.a

    def __exit__(self, kind, error, trace):
        self.a /= self.k
        return False


class Frames:
    """A frame on a stack of rotations."""

    def __init__(self, stack, m):
        self.stack, self.m = stack, m

    def __enter__(self):
        self.stack.append(self.stack[-1] @ self.m)
        return self.stack[-1]

    def __exit__(self, *exception):
        self.stack.pop()


class Sum:
    """Doubles its total where nothing was raised."""

    def __init__(self):
        self.total, self.n = 0.0, 0

    def __enter__(self):
        self.n += 1
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.total = self.total * 2

    def add(self, v):
        self.total = self.total + v


class Loud:
    """Says when it is left, and how."""

    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.begun = time.perf_counter()
        return self.x

    def __exit__(self, kind, error, trace):
        print("left", self.x, kind, error)


class Parameters:
    """Sets the items of a dict back, unless something was raised."""

    def __init__(self, held):
        self.held, self.stack = held, []

    def __enter__(self):
        self.stack.append(dict(self.held))
        return self.held

    def __exit__(self, kind, error, trace):
        if kind is not None:
            return False
        self.held.update(self.stack.pop())
        return None


@contextmanager
def scaled(a, k):
    a *= k
    yield a
    a /= k


@contextmanager
def scaled_surely(a, k):
    a *= k
    try:
        yield a
    finally:
        a /= k


@contextmanager
def clipped(a, low):
    saved = a.copy()
    np.maximum(a, low, out=a)
    yield a
    a[:] = saved


@contextmanager
def replaced(thing, **values):
    old = {name: getattr(thing, name) for name in values}
    for name, value in values.items():
        setattr(thing, name, value)
    try:
        yield thing
    finally:
        for name, value in old.items():
            setattr(thing, name, value)


class Settings:
    def __init__(self, g):
        self.g, self.h = g, 2.0


class Net:
    def __init__(self, w):
        self.w, self.kept = w, []

    @contextmanager
    def forgetting(self):
        kept = self.kept
        self.kept = []
        try:
            yield
        finally:
            self.kept = kept

    def forward(self, x):
        h = np.tanh(self.w * x)
        self.kept.append(h)
        return np.sum(h)


def an_object(x):
    s = Scope(x)
    with s as entered:
        v = np.sum(entered.x**2)
    return v * (1 + s.depth)


def two_at_once(x):
    with Scope(x) as s, Scope(x * 2) as r:
        v = s.x @ r.x
    return v


def an_array_in_place(x):
    y = x * 1.0
    with Scale(y, x[0]) as a:
        v = np.sum(np.sin(a))
    return v + np.sum(y * y)


def a_stack(x):
    def rotation(t):
        return np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])

    stack, p = [np.eye(2)], np.zeros(2)
    with Frames(stack, rotation(x[0])) as m:
        p = p + m @ np.array([1.0, 0.0])
        with Frames(stack, rotation(x[1])) as m2:
            p = p + m2 @ np.array([x[2], 0.0])
        p = p + stack[-1] @ np.array([0.0, 1.0])
    return p @ np.array([1.0, 2.0])


def asked_whether_it_raised(x):
    s = Sum()
    with s:
        for i in range(3):
            s.add(x[i] ** 2)
    with s as again:
        again.add(x[0])
    return s.total * s.n


def in_a_loop(x):
    s = Sum()
    while s.n < 3:
        with s:
            s.add(np.sum(np.sin(x)))
    return s.total


def left_by_return(x):
    for k in range(3):
        with Scope(x * k) as s:
            if k == 1:
                return np.sum(s.x**2)
    return x[0]


def _chosen(x, k):
    with Loud(x):
        if x[0] > 5.0:
            raise ValueError("large")
        if k > 1:
            return x * k
        y = np.sin(x)
    return y


def in_functions_that_return(x):
    return np.sum(_chosen(x, 1) * _chosen(x, 2))


def items_set_back(x):
    d = {"a": x[0], "b": x[1]}
    with Parameters(d) as p:
        p["a"] = p["a"] * x[2]
        r = p["a"] * p["b"]
    return r + d["a"]


def a_generator(x):
    y = x * 1.0
    with scaled(y, x[0]) as a:
        v = np.sum(np.sin(a))
    return v + np.sum(y * y)


def a_generator_with_finally(x):
    y = x * 1.0
    with scaled_surely(y, x[0]) as a:
        v = np.sum(np.sin(a))
    return v + np.sum(y * y)


def a_generator_in_a_loop(x):
    y = x * 1.0
    for k in range(3):
        with clipped(y, 0.8 + 0.1 * k) as z:
            v = np.sum(z**2)
        y = y * 1.1 + v * 0.01
    return np.sum(y)


def attributes_replaced(x):
    c = Settings(x[0])
    with replaced(c, g=x[1], h=3.0):
        a = c.g * c.h
    return a + c.g * c.h * x[2]


def a_method_that_yields(x):
    n = Net(x[0] * np.ones(3))
    a = n.forward(x)
    with n.forgetting():
        b = n.forward(x * 2)
    return a + b * 2 + np.sum(n.kept[0]) + len(n.kept)


def a_generator_made_inside(x):
    @contextmanager
    def with_scale(v):
        nonlocal scale
        old = scale
        scale = v
        yield
        scale = old

    scale = 1.0
    with with_scale(x[0]):
        a = np.sum(x) * scale
    return a * x[1] + scale


def a_generator_left_by_return(x):
    y = x * 1.0

    def inner(k):
        with scaled(y, k) as a:
            return np.sum(np.sin(a))

    return inner(x[0]) + np.sum(y * y)


class Setting:
    """Sets an attribute of another object for a while."""

    def __init__(self, thing, value):
        self.thing, self.value = thing, value

    def __enter__(self):
        self.old = self.thing.g
        self.thing.g = self.value
        return self.value

    def __exit__(self, *exception):
        self.thing.g = self.old


def returned_out_of_two(x):
    c = Settings(x[0])

    def inner():
        with Setting(c, x[1]), Setting(c, x[2] * c.g) as g:
            return g * c.g

    return inner() + c.g**2


def left_out_of_two_in_loops(x):
    c = Settings(x[0])
    t = 0.0
    for k in range(4):
        with Setting(c, c.g + x[1]):
            for j in range(3):
                with Setting(c, c.g * x[2]) as g:
                    t = t + np.sin(g) * (j + 1) * c.g
                    if k + j == 2:
                        break
                    if j == 1:
                        continue
                    t = t + c.g
            t = t + c.g
            if k == 2:
                break
        t = t * 1.1
    return t + c.g**2


def returned_around_a_yield(x):
    c = Settings(x[0])

    def inner():
        with Setting(c, x[1]), replaced(c, g=x[2], h=x[0]):
            return c.g * c.h

    return inner() + c.g * c.h


def returned_out_of_a_try(x):
    with Loud(x * 2) as y, Loud(y * 3) as z:
        return np.sum(z**2) * y[0]


@pytest.mark.parametrize(
    "f",
    [
        returned_out_of_two,
        left_out_of_two_in_loops,
        returned_around_a_yield,
        returned_out_of_a_try,
        an_object,
        two_at_once,
        an_array_in_place,
        a_stack,
        asked_whether_it_raised,
        in_a_loop,
        left_by_return,
        in_functions_that_return,
        items_set_back,
        a_generator,
        a_generator_with_finally,
        a_generator_in_a_loop,
        attributes_replaced,
        a_method_that_yields,
        a_generator_made_inside,
        a_generator_left_by_return,
    ],
)
def test_managers_that_hold_what_is_differentiated(f: Callable[..., Any]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        check_both_modes(f, X, WAY)


def raising_inside(x):
    with Loud(x * 2) as y:
        z = np.linalg.cholesky(np.outer(y, y) - np.eye(3))
    return np.sum(z)


def raising_in_a_loop(x):
    total = 0.0
    for k in range(3):
        with Loud(x * k) as y:
            if k == 2:
                raise ValueError(f"round {k}")
            total = total + np.sum(y)
    return total


def writing_the_argument(x):
    with Scale(x, 2.0) as a:
        if a[0] > 1.0:
            raise ValueError("large")
        v = np.sum(a**2)
    return v


def _said(f: Callable[..., Any], *args: Any) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        f(*args)
    return said.getvalue()


def broken_off(x):
    t = 0.0
    for k in range(3):
        with Loud(x * k) as y:
            t = t + np.sum(y)
            with Loud(y + 1.0) as z:
                t = t + np.sum(z * z)
                if k == 1:
                    break
    return t


@pytest.mark.parametrize("f", [returned_out_of_a_try, in_functions_that_return, broken_off])
def test_managers_are_left_in_order(f: Callable[..., Any]) -> None:
    expected = _said(f, X)
    assert "left" in expected
    assert _said(value_and_grad(f), X) == expected
    assert _said(lambda x: jvp(f, (x,), (WAY,)), X) == expected


def _with_output(f: Callable[..., Any], *args: Any) -> tuple[str, str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), pytest.raises((ValueError, np.linalg.LinAlgError)) as raised:
        f(*args)
    return said.getvalue(), f"{raised.type} {raised.value}"


@pytest.mark.parametrize("f", [raising_inside, raising_in_a_loop, in_functions_that_return])
def test_managers_are_left_where_the_body_raises(f: Callable[..., Any]) -> None:
    x = np.array([6.0, 0.7, 2.1])
    expected = _with_output(f, x)
    assert "left" in expected[0]
    assert _with_output(value_and_grad(f), x) == expected
    assert _with_output(lambda x: jvp(f, (x,), (WAY,)), x) == expected


def test_an_array_that_is_scaled_for_a_while_is_as_before_where_the_body_raises() -> None:
    x = X.copy()
    with pytest.raises(ValueError, match="large"):
        grad(writing_the_argument)(x)
    np.testing.assert_array_equal(x, X)


class Swallowing:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self.x

    def __exit__(self, kind, error, trace):
        return True


def always_swallowed(x):
    v = x[2]
    with Swallowing(x) as y:
        v = np.sum(y**2)
        if v > 1.0:
            raise ValueError("large")
        v = v * 3.0
    return v * x[0]


def test_an_exception_that_a_manager_keeps_back_ends_its_body_alone() -> None:
    for x in (X, X / 10.0):
        check_both_modes(always_swallowed, x, WAY)


@contextmanager
def swallowing(x):
    try:
        yield x * 2
    except ValueError:
        print("caught")


def swallowed_by_a_generator(x):
    v = x[2]
    with swallowing(x) as y:
        v = np.sum(y**2)
        if v > 1.0:
            raise ValueError("large")
        v = v * 3.0
    return v * x[0]


def test_an_exception_that_a_generator_catches_ends_the_body_alone() -> None:
    for x in (X, X / 10.0):
        with contextlib.redirect_stdout(io.StringIO()):
            check_both_modes(swallowed_by_a_generator, x, WAY)
