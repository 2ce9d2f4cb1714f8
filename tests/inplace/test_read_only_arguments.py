"""Arguments that are read-only stay so: to write into one raises where it does in Python, and may be caught."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient

K = np.array([1.0, 2.0, 3.0])


def augmented(x):
    try:
        x += 1.0
    except ValueError:
        x = x * 3.0
    return np.sum(x * x * K)


def item(x):
    y = x[::-1]
    try:
        x[0] = x[1]
    except ValueError:
        y = y * x
    return np.sum(x * y * K)


def augmented_after_a_branch(x):
    if x[0] < 0.0:
        x = x * 2.0
    try:
        x *= x
    except ValueError:
        x = x + x[0]
    return np.sum(x * K)


def row_of_a_loop(x):
    total = 1.0
    for row in (x, 2.0 * x):
        try:
            row += 1.0
        except ValueError:
            total = total + x[1]
        total = total * row[0]
    return total * np.sum(x * x)


def of_a_callee(x):
    def doubled(row):
        try:
            row += row
        except ValueError:
            row = row * x
        return row

    return np.sum(doubled(x) * K)


def in_a_list(x):
    return listed([x])


def listed(rows):
    try:
        rows[0][0] = 2.0
    except ValueError:
        rows[0] = rows[0] * K
    rows[0][1] = rows[0][2]
    return np.sum(rows[0] * rows[0])


def never_written(x):
    if x[0] < 0.0:
        x[0] = 1.0
    return np.sum(x * x * K)


def read_only(x: Any) -> Any:
    x = np.array(x)
    x.flags.writeable = False
    return x


FUNCTIONS = [augmented, item, augmented_after_a_branch, row_of_a_loop, of_a_callee, in_a_list, never_written]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    """Of one function for arrays that may be written and those that may not, in turns."""
    x, along = np.array([0.5, 1.2, -0.7]), np.array([0.3, -1.0, 0.7])
    derivative = value_and_grad(f)
    for made in (np.array, read_only, np.array):
        expected = numeric_gradient(lambda x, made=made: f(made(x)), (x,))
        value, gradient = derivative(made(x))
        assert value == f(made(x))
        np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(jvp(f, (made(x),), (read_only(along),))[1], expected @ along, rtol=1e-7)


def test_a_list_that_holds_one() -> None:
    x = np.array([0.5, 1.2, -0.7])
    for made in (np.array, read_only):
        expected = numeric_gradient(lambda x, made=made: listed([made(x)]), (x,))
        np.testing.assert_allclose(value_and_grad(listed)([made(x)])[1][0], expected, rtol=1e-7, atol=1e-8)


def test_what_is_not_caught_is_raised() -> None:
    def overwritten(x):
        x[0] = x[1]
        return np.sum(x * K)

    with pytest.raises(ValueError, match="read-only"):
        value_and_grad(overwritten)(read_only(K))
    with pytest.raises(ValueError, match="read-only"):
        jvp(overwritten, (read_only(K),), (K,))
