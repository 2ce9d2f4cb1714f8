"""Lists and dicts of the module that hold numbers alone: what is read of them is a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient

RATES = {"slow": 0.5, "fast": 2.0}
TABLE = {(1, 1): [0.3, -0.2], (1, 2): [1.1, 0.4]}
STEPS = [0.1, 0.2, 0.4]
NESTED = [{"a": 1.0}, {"a": 3.0}]
GROWN = {"a": 1.0}


def by_text(x, which):
    total = RATES[which]
    for _ in range(3):
        total += np.sum(x) / total
    return total


def by_pair(x, i, j):
    total = TABLE[i, j][0]
    for k in range(2):
        total += TABLE[(i, j)][k] / x[k] ** (k + 1)
    return total


def by_place(x, k):
    best = STEPS[k]
    while best < 5.0:
        best *= 1.2 + x[0] + best
    return best


def of_items(x):
    total = 0.0
    for step in STEPS:
        trial = step
        trial -= x[0] * step**2
        total += trial
    return total


def nested(x, k):
    total = NESTED[k]["a"]
    total *= np.sum(x)
    return total


def helper(total, x):
    total += np.sum(x)
    return total * total


def of_callee(x, which):
    return helper(RATES[which], x)


@pytest.mark.parametrize(
    ("function", "rest"),
    [(by_text, ("fast",)), (by_pair, (1, 2)), (by_place, (1,)), (of_items, ()), (nested, (1,)), (of_callee, ("slow",))],
)
def test_numbers_of_containers(function: Any, rest: tuple[Any, ...]) -> None:
    x = np.array([0.7, 1.3])
    np.testing.assert_allclose(
        grad(function)(x, *rest), numeric_gradient(lambda v: function(v, *rest), (x,)), rtol=1e-6
    )


def test_other_contents_are_noticed() -> None:
    """A dict that holds an array at the next call is another variant, in which that is written or refused."""
    x, held = np.array([0.7, 1.3]), RATES["slow"]
    derivative = grad(by_text)
    np.testing.assert_allclose(derivative(x, "slow"), numeric_gradient(lambda v: by_text(v, "slow"), (x,)), rtol=1e-6)
    array = np.array(0.5)
    try:
        RATES["slow"] = array  # type: ignore[assignment]
        with pytest.raises(S2SADError):
            derivative(x, "slow")
        assert array == 0.5
    finally:
        RATES["slow"] = held


def grows(x):
    total = GROWN["a"]
    GROWN["a"] = np.sum(x) * np.ones(1)
    other = GROWN["a"]
    other += 1.0
    return total + other[0]


def test_containers_that_change() -> None:
    """What the function itself writes there is no constant."""
    x = np.array([0.7, 1.3])
    np.testing.assert_allclose(grad(grows)(x), [1.0, 1.0])
    np.testing.assert_allclose(GROWN["a"], [np.sum(x) + 1.0])
    GROWN["a"] = 1.0
