"""Adjoints of single items are values in text that is differentiated again, and arrays of zeros in other text."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.2, -0.7])


def one_item(x: Any) -> Any:
    y = np.sin(x) * x
    return y[1] ** 3


def at_positions(x: Any) -> Any:
    y = np.sin(x) * x
    return np.sum(y[np.array([0, 2, 0])] ** 3)


def two_items(x: Any) -> Any:
    y = np.sin(x) * x
    return y[1] ** 3 * y[0]


def read_between(x: Any) -> Any:
    y = np.sin(x) * x
    return np.sum(np.cos(y)) * y[2]


def in_a_loop(x: Any) -> Any:
    for i in range(2):
        y = np.sin(x) * x
        x = x * y[i]
    return np.sum(x)


def in_each_turn(x: Any) -> Any:
    y = np.sin(x) * x
    s = 1.0
    for i in range(2):
        s = s * y[i]
    return s


@pytest.mark.parametrize(
    ("f", "placed"),
    [
        (one_item, True),
        (at_positions, True),
        (in_a_loop, True),
        (two_items, False),
        (read_between, True),
        (in_each_turn, False),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_second_derivatives(f: Callable[..., Any], placed: bool) -> None:
    def along(x: Any) -> Any:
        return grad(f)(x) @ np.array([0.3, -0.8, 0.5])

    before = set(linecache.cache)
    wanted = numeric_gradient(along, (X,), 0)
    np.testing.assert_allclose(grad(along)(X), wanted, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(hvp(f, (X,), (np.array([0.3, -0.8, 0.5]),)), wanted, rtol=1e-7, atol=1e-9)
    texts = ["".join(linecache.getlines(name)) for name in set(linecache.cache) - before]
    assert any("= in_item(" in text for text in texts) is placed
    assert "in_item(" not in grad(f).source_for(X)
