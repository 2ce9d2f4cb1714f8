"""Forward mode where an item is read before a call in the same expression that writes it, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.2, 0.7])
K = np.array([0.8, 0.4, 0.6])


def scaled(q: Any) -> Any:
    q *= 2.0
    return q


def first_of_scaled(q: Any) -> Any:
    q *= 3.0
    return q[0]


def put(q: Any, v: Any) -> None:
    q[0] = v


def item_times_call(x: Any) -> Any:
    z = np.sin(x) * K
    return z[0] * first_of_scaled(z)


def items_around_a_call(x: Any) -> Any:
    z = np.sin(x) * K
    return np.sum(z[0] * scaled(z) * z[1])


def greatest(x: Any) -> Any:
    z = np.sin(x) * K
    return np.sum(max(z[0], first_of_scaled(z)) * z)


def kept_over_a_call(x: Any) -> Any:
    z = np.sin(x) * K
    total = 0.0
    for i in range(3):
        item = z[i] * x[i]
        put(z, item)
        total = total + item * z[0] + np.sum(z[1:] * first_of_scaled(z))
    return total


@pytest.mark.parametrize("f", [item_times_call, items_around_a_call, greatest, kept_over_a_call])
def test_items_that_are_read_before_a_call_writes(f: Callable[..., Any]) -> None:
    wanted = numeric_gradient(f, (X,))
    np.testing.assert_allclose([jvp(f, (X,), (d,))[1] for d in np.eye(3)], wanted, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(grad(f)(X), wanted, rtol=1e-6, atol=1e-9)
