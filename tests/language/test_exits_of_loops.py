"""Loops that end by ``break`` or ``return``, never begin, or have no adjoint statement, against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad
from tests.oracle import numeric_gradient


def break_of_a_loop_kept_for_its_item(x: Any, y: Any) -> Any:
    """A loop that is needed for the item it runs over must still end where its break says."""
    for row in y:
        for k, item in enumerate(row):
            x[k] = np.tanh(item) * x[k]
        if np.mean(row) > 0.0:
            break
    return np.sum(np.cos(x))


def move_in_a_loop_without_adjoint_statements(x: Any, y: Any) -> Any:
    """A loop that only names another buffer has no adjoint statement, but its shadows move."""
    x[-1] += np.tanh(np.sum(x) * 0.2)
    for _ in range(1):
        x = y * 1.0
    return np.sum(x) + np.sum(y * y)


def zero_trip_loop_with_else_in_branch(x: Any, y: Any) -> Any:
    """The else part of a loop in a branch runs when the loop has nothing to run over."""
    u = np.exp(-y)
    if np.mean(u) > 0:
        for _ in range(0):
            y = np.sin(x[: y.size])
        else:
            u = np.outer(y, y)
    return np.sum(u) + np.sum(y) + np.sum(x)


def return_in_nested_loops(x: Any, y: Any) -> Any:
    """Early exits at several depths: every tape is popped as often as it was pushed."""
    for v in range(3):
        for _ in range(2):
            if v == 1:
                if x[0] > 5.0:
                    return np.sum(x * x)
                x = x * 1.1
            elif v == 2:
                x = np.sin(x)
        if x[0] > 0.9:
            return np.sum(np.cos(x) * y[0])
    return np.sum(x)


def rebuilt_from_the_item(x: Any, y: Any) -> Any:
    """A view of a loop's item is made again after the item is."""
    for row in y * np.ones((3, 3)):
        x = np.tanh(np.sum(row[:, None] * row + np.mean(x), axis=0))
    for row in np.outer(x, x):
        x = np.sin(row[:, None] * row)[0] + np.mean(x)
    return np.sum(x)


PROGRAMS = [
    break_of_a_loop_kept_for_its_item,
    move_in_a_loop_without_adjoint_statements,
    zero_trip_loop_with_else_in_branch,
    return_in_nested_loops,
    rebuilt_from_the_item,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_value_and_gradients(f: Any) -> None:
    def args() -> tuple[Any, Any]:
        return np.array([0.4, -0.3, 0.7]), np.array([[-0.2, 0.1, -0.4], [0.5, 0.3, 0.2], [0.3, 0.9, 0.1]])

    def second() -> tuple[Any, Any]:
        x, y = args()
        return (x, y) if f is break_of_a_loop_kept_for_its_item else (x, y[1])

    value, gradients = value_and_grad(f, (0, 1))(*second())
    assert value == f(*second())
    for number, gradient in enumerate(gradients):

        def at(*moved: Any) -> Any:
            return f(*(np.array(a) for a in moved))

        np.testing.assert_allclose(gradient, numeric_gradient(at, second(), number), rtol=1e-7, atol=1e-9)
