"""Loops over ``zip`` and ``enumerate`` whose items have one name, or are taken apart later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, -0.4])
LAYERS = [(np.eye(3) * 0.5, np.ones(3)), (np.full((3, 3), 0.3), -np.ones(3))]


def counted(x: Any) -> Any:
    for item in enumerate(LAYERS):
        i, (w, b) = item
        x = np.sin(x @ w + b * i)
    return np.sum(x) * item[0]


def zipped(x: Any) -> Any:
    total = 0.0
    for pair in zip(x, x[1:], strict=False):
        total = total + pair[0] * pair[1] ** 2
    return total * pair[0]


def counted_and_zipped(x: Any) -> Any:
    total = 0.0
    for n, pair in enumerate(zip(x, x[::-1], strict=True), 1):
        total = total + n * pair[0] * np.sin(pair[1])
    for t in enumerate(zip(x, x * x)):
        total = total + t[0] * t[1][0] * t[1][1]
    return total


def starred(x: Any) -> Any:
    total = 0.0
    for first, *rest in zip(x, x * x, np.cos(x), strict=True):
        total = total + first * rest[0] * rest[1]
    return total


def of_one(x: Any) -> Any:
    total = 0.0
    for one in zip(x):
        total += one[0] ** 2
    return total


def kept(x: Any) -> Any:
    pairs = []
    for pair in zip(x, x[1:], strict=False):
        if pair[0] > 0.0:
            pairs.append(pair)
    return sum(a * b for a, b in pairs) * pairs[-1][1]


def into_an_attribute(x: Any) -> Any:
    row = [0.0, (0.0, 0.0)]
    for row[1] in zip(x, np.exp(x), strict=True):
        row[0] = row[0] + row[1][0] * row[1][1]
    return row[0] * row[1][1]


@pytest.mark.parametrize(
    "f", [counted, zipped, counted_and_zipped, starred, of_one, kept, into_an_attribute], ids=lambda f: f.__name__
)
def test_derivatives(f: Callable[..., Any]) -> None:
    wanted = numeric_gradient(f, (X,), 0)
    np.testing.assert_allclose(grad(f)(X), wanted, rtol=1e-8)
    way = np.array([0.2, -0.5, 1.0])
    value, dot = jvp(f, (X,), (way,))
    assert value == f(X)
    np.testing.assert_allclose(dot, wanted @ way, rtol=1e-8)


def test_one_that_is_longer_raises_as_in_python() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for pair in zip(x, x[1:], strict=True):
            total = total + pair[0]
        return total

    with pytest.raises(ValueError, match="shorter"):
        grad(f)(X)
