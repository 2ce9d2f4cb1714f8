"""Attributes that an object gets in a ``try`` for the first time, by its body, its handlers or either."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

POINTS = [np.array([0.3, 0.4, 0.5]), np.array([0.9, 0.4, 0.5])]


class Point:
    pass


class Root:
    def __init__(self, x: Any) -> None:
        self.a = x[0]
        try:
            self.b = math.sqrt(self.a - 0.35)
            self.c = self.b * 2
        except ValueError:
            pass

    def value(self) -> Any:
        if hasattr(self, "b"):
            return self.b * self.c
        return self.a**3


def by_either(x: Any) -> Any:
    p: Any = Point()
    try:
        p.e = math.log(x[0] - 0.35)
    except ValueError:
        p.e = x[1] * 2
    return p.e * x[2]


def or_none(x: Any) -> Any:
    p: Any = Point()
    try:
        p.e = math.sqrt(x[0] - 0.35) * x[1]
    except ValueError:
        p.e = None
    return x[0] if p.e is None else p.e * x[2]


def asked_for_later(x: Any) -> Any:
    return Root(x).value() + Root(x + 0.3).value()


def caught_where_it_is_read(x: Any) -> Any:
    r = Root(x)
    try:
        return r.c
    except AttributeError:
        return r.a**2


def by_its_last_statement(x: Any) -> Any:
    p: Any = Point()
    try:
        p.e = x[0] ** 2
        p.f = math.sqrt(x[0] - 0.35)
    except ValueError:
        p.f = p.e * x[1]
    else:
        p.g = p.f * p.e
    return p.f * p.e + getattr(p, "g", x[2])


def without_one(x: Any) -> Any:
    return Root(x).c * x[1]


def taken_away_again(x: Any) -> Any:
    p: Any = Point()
    try:
        p.e = x[0]
        p.f = math.sqrt(x[0] - 0.35)
    except ValueError:
        return x[1]
    return p.e * p.f


@pytest.mark.parametrize("x", POINTS)
@pytest.mark.parametrize(
    "f",
    [
        by_either, or_none, asked_for_later, caught_where_it_is_read, by_its_last_statement, without_one,
        taken_away_again,
    ],
)  # fmt: skip
def test_attributes_that_are_first_set_in_a_try(f: Callable[..., Any], x: Any) -> None:
    way = np.array([1.0, 0.5, -0.7])
    try:
        wanted = numeric_gradient(f, [x])
    except AttributeError as error:
        for derivative in (lambda: grad(f)(x), lambda: jvp(f, (x,), (way,))):
            with pytest.raises(AttributeError, match=f"^{error}$"):
                derivative()
        return
    np.testing.assert_allclose(grad(f)(x), wanted, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (x,), (way,))[1], wanted @ way, rtol=1e-6, atol=1e-9)
