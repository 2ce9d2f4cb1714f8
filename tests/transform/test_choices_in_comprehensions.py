"""Functions that a text chooses, called in comprehensions: these become loops where statements stand in them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.transform.remaining import check_every_way


def tree(x: Any, steps: int = 5, kind: str = "put") -> Any:
    price, strike, spread, rate = x
    up = math.exp(spread)
    down = 1 / up
    p = (math.exp(rate) - down) / (up - down)
    payoff = {"put": lambda s: max(strike - s, 0.0), "call": lambda s: max(s - strike, 0.0)}[kind]
    values = [payoff(price * up**j * down ** (steps - j)) for j in range(steps + 1)]
    for i in reversed(range(steps)):
        values = [
            max(
                payoff(price * up**j * down ** (i - j)),
                math.exp(-rate) * (p * values[j + 1] + (1 - p) * values[j]),
            )
            for j in range(i + 1)
        ]
    return values[0]


def called_before_an_item_is_read(x: Any, kind: str = "rising") -> Any:
    f = {"rising": lambda s: s * x[1], "falling": lambda s: s / x[1]}[kind]
    values = [x[0] * 1.1**j for j in range(4)]
    for i in reversed(range(3)):
        values = [f(x[0] * j) + values[j + 1] for j in range(i + 1)]
    return values[0] ** 2


def in_a_condition(x: Any, kind: str = "rising") -> Any:
    f = {"rising": lambda s: s * x[1], "falling": lambda s: s / x[1]}[kind]
    values = [x[0], x[1], x[0] * x[1]]
    for _ in range(2):
        values = [f(v) + values[j] for j, v in enumerate(values) if f(v) > 0.0]
    return sum(values)


X = np.array([100.0, 105.0, 0.1, 0.01])
Y = np.array([1.3, 0.7])


@pytest.mark.parametrize(("f", "x"), [(tree, X), (called_before_an_item_is_read, Y), (in_a_condition, Y)])
def test_right_in_both_modes(f: Any, x: Any) -> None:
    check_every_way(f, x)


@pytest.mark.parametrize("kind", ["put", "call"])
def test_the_text_that_is_given_decides(kind: str) -> None:
    found = grad(tree)(X, 5, kind)
    step = 1e-6 * X
    ends = [(X + step * e, X - step * e) for e in np.eye(4)]
    slopes = [(tree(a, 5, kind) - tree(b, 5, kind)) / (2 * step[i]) for i, (a, b) in enumerate(ends)]
    np.testing.assert_allclose(found, slopes, rtol=1e-5, atol=1e-6)
