"""Numbers that are known to be such, whatever they are computed from: what is updated is then no array."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.linspace(0.4, 1.5, 4)


def of_what_may_be_an_array(x: Any) -> Any:
    r = 0.4
    total, both = 0.0, (x[0], x[1])
    for k in range(3):
        t = math.cos(np.mean(r) if k else list(both)[1])
        t -= 0.3 * np.sin(t * t)
        total = total + t * t
        if t < 0.7:
            x, r = t + x, x
    return total + np.sum(x)


def of_two(x: Any) -> Any:
    both = (x[0], x[1])
    r = list(both)[1]
    t = math.atan2(r, x[2])
    u = t
    t *= x[3]
    return t * u


class Controller:
    def __init__(self) -> None:
        self.integral, self.before = 0.0, None

    def force(self, gains: Any, error: Any) -> Any:
        self.integral += error * 0.1
        if self.before is None:
            slope = 0.0
        else:
            slope = error - self.before
        self.before = error
        return gains[0] * error + gains[1] * self.integral + gains[2] * slope


def of_an_attribute_or_none(x: Any) -> Any:
    controller, y, cost = Controller(), 0.0, 0.0
    for _ in range(4):
        y += controller.force(x, 1.0 - y) * 0.1
        cost += (y - x[3]) ** 2
    return cost


def of_an_item_or_none(x: Any) -> Any:
    state = {"before": None, "sum": 0.0}
    for v in x:
        if state["before"] is not None and state["before"] < v:
            state["sum"] += (v - state["before"]) ** 2
        state["before"] = v
    return state["sum"]


@pytest.mark.parametrize("function", [of_what_may_be_an_array, of_two], ids=lambda f: f.__name__)
def test_results_of_math_are_numbers(function: Callable[..., Any]) -> None:
    derivative = grad(function)
    np.testing.assert_allclose(derivative(X), numeric_gradient(function, (X,), 0), rtol=1e-6, atol=1e-8)
    for word in ("own(", "shadow(", "require_ndarray", "unbroadcast(np.", ".copy()"):
        assert word not in derivative.source


@pytest.mark.parametrize("function", [of_an_attribute_or_none, of_an_item_or_none], ids=lambda f: f.__name__)
def test_what_is_none_in_the_first_round_is_a_number_where_it_is_computed_with(function: Callable[..., Any]) -> None:
    wanted = numeric_gradient(function, (X,), 0)
    np.testing.assert_allclose(grad(function)(X), wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(function, (X,), (X,))[1], wanted @ X, rtol=1e-6, atol=1e-8)


def of_none(x: Any) -> Any:
    found = None
    for v in x:
        if v > 5.0:
            found = v * 1.0
    return found + x[0]


def test_what_is_none_raises_as_in_python_where_nobody_needs_the_sum() -> None:
    for run in (of_none, grad(of_none), lambda x: jvp(of_none, (x,), (x,))):
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'NoneType' and 'float'"):
            run(X)
