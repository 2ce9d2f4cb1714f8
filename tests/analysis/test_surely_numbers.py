"""Numbers that are known to be such, whatever they are computed from: what is updated is then no array."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

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


#: Methods of numbers of NumPy, whose results are numbers: `+=` makes new ones, and other names keep the old.
OF_NUMBERS = (
    "x[1].copy()", "x[1].copy().copy()", "np.sum(x).reshape(())", "(x @ x).squeeze()", "x[0].transpose()",
    "[v.copy() for v in x][2]", "divmod(y, 10.0)[1]", "np.max(x).astype(float)",
)  # fmt: skip
UPDATED = (
    "n *= x[0]",
    "n += m",
    "for i in range(2):\n        n *= 0.5 + x[0]",
    "def changed(v):\n        v *= x[2]\n        return v\n    n = changed(n)",
)


@pytest.mark.parametrize(("made", "updated"), list(itertools.product(OF_NUMBERS, UPDATED)))
def test_a_method_of_a_number_gives_a_number(made: str, updated: str) -> None:
    text = f"def f(x, y):\n    n = {made}\n    m = n\n    {updated}\n    return n * m * y + m\n"
    f, y = function_of(text), np.array(0.7)
    x_bar, y_bar = (numeric_gradient(f, (X, y), i) for i in (0, 1))
    along = jvp(f, (X, y), (X, np.array(1.5)))[1]
    np.testing.assert_allclose(along, x_bar @ X + 1.5 * y_bar, rtol=1e-6, atol=1e-8)
    if "divmod" not in made:  # of an item of its result it is not known here that it is a number
        for found, wanted in zip(grad(f, (0, 1))(X, y), (x_bar, y_bar), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)
