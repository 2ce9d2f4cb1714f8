"""``out=None`` by a name: the call makes an array, and writes into none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.transform.remaining import check_both_modes, check_right_or_refused

X = np.array([0.7, 1.3, -0.4])
WAY = np.array([0.3, -1.1, 0.8])


def activation(x: Any, out: Any = None) -> Any:
    return np.sin(x, out=out)


def scaled(u: Any, out: Any = None) -> Any:
    out = np.multiply(u, 2.0, out=out)
    return out


def default_value(x: Any) -> Any:
    return np.sum(activation(x) ** 2)


def default_value_and_array(x: Any) -> Any:
    made = np.zeros(3)
    activation(x * x, made)
    return np.sum(activation(x) * made)


def local_variable(x: Any) -> Any:
    out = None
    return np.sum(np.add(x, x[::-1], out) ** 2)


def items_of_a_list(x: Any) -> Any:
    total = 0.0
    for out in [None, np.zeros(3)]:
        total = total + np.sum(np.sin(x, out=out) ** 2)
    return total


def none_or_an_array(x: Any) -> Any:
    out = np.zeros(3) if x[0] > 0 else None
    return np.sum(np.sin(x, out=out) ** 2)


def handed_on_by_a_loop(x: Any) -> Any:
    made = None
    for i in range(3):
        made = scaled(x * (i + 1), made)
    return np.sum(made**2)


@pytest.mark.parametrize(
    "f",
    [default_value, default_value_and_array, local_variable, items_of_a_list, none_or_an_array],
    ids=lambda f: f.__name__,
)
def test_none_is_not_written(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)


def test_none_that_becomes_an_array_is_right_or_refused() -> None:
    check_right_or_refused(handed_on_by_a_loop, X, WAY)
