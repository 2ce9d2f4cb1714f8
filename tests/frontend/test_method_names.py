"""Methods that a function gives names: read where they are called, unless that may be another method then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.frontend.method_names import with_methods_called
from s2sad.frontend.source import read_source
from tests.oracle import numeric_gradient

X = np.array([1.1, 2.3, 3.2])


def appended(x):
    out = []
    push = out.append
    for v in x:
        push(v * v)
    return np.sum(np.array(out) * x)


def two_at_once(x):
    out = []
    push, pop, total = out.append, out.pop, 0.0
    for v in x:
        push(v * v)
    while out:
        total = total * 2.0 + pop()
    return total


def of_what_is_written_afterwards(x):
    a = x * 1.0
    total, again = a.sum, a.copy
    a[0] = x[1] ** 2
    return total() * x[0] + np.sum(again() ** 2)


def of_an_argument(x):
    dot = x.dot
    return dot(x) * dot(np.cos(x))


def in_inner_functions(x):
    out = [x[0]]
    push = out.append

    def add(v):
        push(v * out[-1])

    for v in x:
        add(v)
    squares = [out.index(v) * v for v in out]
    return sum(out) + squares[1]


CALLED = [appended, two_at_once, of_what_is_written_afterwards, of_an_argument, in_inner_functions]


@pytest.mark.parametrize("f", CALLED, ids=lambda f: f.__name__)
def test_gradients(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (X,), (np.cos(X),))[1], expected @ np.cos(X), rtol=1e-7)


def test_what_else_is_assigned_stays() -> None:
    text = gast.unparse(with_methods_called(read_source(two_at_once)).node)
    assert "total = 0.0" in text
    assert "out.append(v * v)" in text
    assert "out.pop()" in text
    assert "push" not in text


def another_object(x):
    a = x * 1.0
    total = a.sum
    a = a * 2.0
    return total() + a[0]


def another_method(x):
    take = x.max
    take = x.min
    return take()


def in_a_branch(x):
    a = x * 1.0
    if a[0] > 0.0:
        take = a.max
    else:
        take = a.min
    return take()


def handed_on(x):
    take = x.max
    return float(callable(take)) * take()


def in_an_argument_of_that_name(x):
    take = x.max

    def scaled(take):
        return take(2.0)

    return scaled(lambda v: v * x[0]) + take()


class Model:
    def copy(self):
        return 1.0


def with_another_attribute(x):
    model = Model()
    made = model.copy
    model.copy = lambda: 5.0
    return made() * x[0]


class Meter:
    def __init__(self):
        self.total, self.append = 0.0, self.first

    def first(self, v):
        self.total, self.append = v, self.others

    def others(self, v):
        self.total = self.total + 2.0 * v


def with_an_attribute_that_its_class_sets(x):
    meter = Meter()
    push = meter.append
    push(x[0])
    push(x[1])
    meter.append(x[2])
    return meter.total


def test_an_attribute_that_its_class_sets() -> None:
    f = with_an_attribute_that_its_class_sets
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7, atol=1e-9)


STAYING = [
    another_object,
    another_method,
    in_a_branch,
    handed_on,
    in_an_argument_of_that_name,
    with_another_attribute,
    with_an_attribute_that_its_class_sets,
]


@pytest.mark.parametrize("f", STAYING, ids=lambda f: f.__name__)
def test_what_may_be_another_method_stays(f: Callable[..., Any]) -> None:
    source = read_source(f)
    assert with_methods_called(source) is source
