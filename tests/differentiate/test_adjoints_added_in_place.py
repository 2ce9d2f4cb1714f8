"""Adjoints that are added to in place, and values that a callee saves by reference: neither is another's object."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad
from tests.oracle import numeric_gradient


def read_by_callee_then_overwritten(x: Any, y: Any) -> Any:
    """What a callee saves by reference must not be overwritten before its reverse part runs."""
    row = x[:2]
    total = _weighted(row, y)
    x[0] = 2.0 * x[1]
    return total + np.sum(x * x)


def _weighted(row: Any, y: Any) -> Any:
    return np.sum(np.sin(row)) * np.sum(y)


def augmented_by_its_own_alias(x: Any, y: Any) -> Any:
    """An adjoint that is added to in place must not take the name of what is added."""
    return np.sum(_weighted(x, y)) + _weighted(x[0], y) + np.sum(x)


def minus_minus(x: Any, y: Any) -> Any:
    """Two signs that cancel must not make an adjoint that is added to in place another's object."""
    z = np.arctan(x - 0.7 * np.mean(y) - -x)
    return np.mean(z) ** 2


PROGRAMS = [read_by_callee_then_overwritten, augmented_by_its_own_alias, minus_minus]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_value_and_gradients(f: Any) -> None:
    def args() -> tuple[Any, Any]:
        return np.array([0.4, -0.3, 0.7]), np.array([0.5, 0.3, 0.2])

    value, gradients = value_and_grad(f, (0, 1))(*args())
    assert value == f(*args())
    for number, gradient in enumerate(gradients):

        def at(*moved: Any) -> Any:
            return f(*(np.array(a) for a in moved))

        np.testing.assert_allclose(gradient, numeric_gradient(at, args(), number), rtol=1e-7, atol=1e-9)
