"""``total += x`` of a number that may become an array: nobody else has that object until it is returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, value_and_grad
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.4, -0.5])
THINGS = [np.array([[1.5, 0.5], [2.0, 1.0]]), np.array([1.0, 2.0]), 3.0]


def added(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        total += THINGS[i] * x[i]
    return total


def scaled(x: Any) -> Any:
    total = 1.0
    for i in range(3):
        total *= np.sum(THINGS[0]) * x[i] + THINGS[i]
    return total


def both(x: Any) -> Any:
    total = 0.0
    for thing in THINGS:
        total += thing * x[0]
        total *= x[1]
        total -= x[2] ** 2
    out = total
    return out


RIGHT = [added, scaled, both]


def finally_(x: Any) -> Any:
    total = THINGS[1] * x[0]
    try:
        return total
    finally:
        total += x[1]


def returned_early(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        total += THINGS[2 - i] * x[i]
        if i == 1:
            return total
    return total


def kept(x: Any) -> Any:
    result: Any = THINGS[1] * x[2]
    keep = result
    for i in (2, 1):
        result += THINGS[i] * x[i]
    keep[0] = x[0]
    return result


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_gradient(f: Callable[[Any], Any]) -> None:
    def loss(x: Any) -> Any:
        return np.sum(f(x) ** 2)

    expected = numeric_gradient(loss, (X,), 0)
    value, found = value_and_grad(loss)(X)
    assert value == loss(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(loss, (X,), (np.ones(3),))[1], np.sum(expected), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [finally_, returned_early, kept], ids=lambda f: f.__name__)
def test_right_or_refused_where_it_is_seen_elsewhere(f: Callable[[Any], Any]) -> None:
    def loss(x: Any) -> Any:
        return np.sum(f(x) ** 2)

    try:
        _, found = value_and_grad(loss)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(loss, (X,), 0), rtol=1e-6, atol=1e-8)


def test_the_value_is_the_functions_own_object() -> None:
    value, tangent = jvp(added, (X,), (np.ones(3),))
    np.testing.assert_array_equal(value, added(X))
    np.testing.assert_allclose(tangent, THINGS[0] + THINGS[1] + THINGS[2])


# --- sums over items of the module's tables


TABLE = np.array([0.2, 0.5, 0.8])


NUMBERS = (0.2, 0.5)


NUMBERS_AND_ARRAYS = [0.2, np.array([0.5, 0.1]), 0.3]


def counted_over_a_table(x: Any) -> Any:
    s = 0.0
    for k, w in enumerate(TABLE):
        s += w * np.sin(k * x)
    for w, v in zip(TABLE, range(3), strict=True):
        s += w * x * v
    for w in reversed(TABLE):
        s *= w
    return s


def summed_over_numbers(x: Any) -> Any:
    s = 0.0
    for w in NUMBERS:
        s += w * x
    return s


def summed_over_what_may_be_arrays(x: Any) -> Any:
    s = 0.0
    for w in NUMBERS_AND_ARRAYS:
        before = s
        s += w * x
    return np.sum(s + before)


@pytest.mark.parametrize("f", [counted_over_a_table, summed_over_numbers])
def test_items_of_tables_of_the_module_are_numbers(f: Any) -> None:
    assert grad(f)(0.7) == pytest.approx(numeric_gradient(f, (0.7,), 0), rel=1e-8)


def test_one_error_where_it_is_written() -> None:
    with pytest.raises(UnsupportedError, match="s may be written in place") as refusal:
        grad(summed_over_what_may_be_arrays)(0.7)
    assert str(refusal.value).count("error:") == 1
    assert "s += w * x" in str(refusal.value)
    assert "write x = x + y" in str(refusal.value)
