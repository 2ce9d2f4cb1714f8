"""Functions that a text chooses, called in comprehensions: these become loops where statements stand in them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient


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


def called_before_an_item_is_read(a: Any, b: Any, kind: str = "rising") -> Any:
    f = {"rising": lambda s: max(s * b, 0.1), "falling": lambda s: max(s / b, 0.1)}[kind]
    values = [a * 1.1**j for j in range(4)]
    for i in reversed(range(3)):
        values = [f(a * (j + 1)) + values[j + 1] for j in range(i + 1)]
    return values[0] ** 2


X = np.array([100.0, 105.0, 0.1, 0.01])


@pytest.mark.parametrize("kind", ["rising", "falling"])
def test_right_in_both_modes(kind: str) -> None:
    expected = [numeric_gradient(called_before_an_item_is_read, (1.3, 0.7, kind), i) for i in (0, 1)]
    found = grad(called_before_an_item_is_read, (0, 1))(1.3, 0.7, kind)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    slope = jvp(called_before_an_item_is_read, (1.3, 0.7, kind), (1.0, -0.5, None))[1]
    np.testing.assert_allclose(slope, expected[0] - 0.5 * expected[1], rtol=1e-8)


@pytest.mark.parametrize("kind", ["put", "call"])
def test_the_text_that_is_given_decides(kind: str) -> None:
    found = grad(tree)(X, 5, kind)
    step = 1e-6 * X
    ends = [(X + step * e, X - step * e) for e in np.eye(4)]
    slopes = [(tree(a, 5, kind) - tree(b, 5, kind)) / (2 * step[i]) for i, (a, b) in enumerate(ends)]
    np.testing.assert_allclose(found, slopes, rtol=1e-5, atol=1e-6)
