"""Functions that are written once, whatever is known of the arguments of each call, and those that differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient

X, Y = np.array([0.5, 1.2, -0.7, 0.3]), np.array([0.8, -0.4, 1.5, 0.9])


def stepped(new, old, rate):
    new[1:-1] = old[1:-1] + rate[1:-1] * (old[2:] - old[:-2])


def of_one_array_or_two(x, y):
    a, b = x.copy(), y.copy()
    stepped(a, x * 1.0, y)
    old = a * b
    stepped(b, old, old)
    return np.sum(a * b)


def scaled(a, b):
    return np.sin(a * b)


def of_other_activities(x, y):
    return np.sum(scaled(x, 2.0) * scaled(3.0, y) * scaled(x, y))


def nested(a, b):
    return scaled(a, b) * scaled(b, a)


def in_callees(x, y):
    return np.sum(nested(x, y) + nested(y, x * 1.0))


CASES = [(of_one_array_or_two, "stepped", 1), (of_other_activities, "scaled", 3), (in_callees, "nested", 1)]


@pytest.mark.parametrize(("f", "callee", "count"), CASES, ids=[c[0].__name__ for c in CASES])
def test_written_once(f: Any, callee: str, count: int) -> None:
    found = grad(f, (0, 1))(X, Y)
    for position in (0, 1):
        np.testing.assert_allclose(found[position], numeric_gradient(f, (X, Y), position), rtol=1e-7, atol=1e-9)
    text = grad(f, (0, 1)).source_for(X, Y)
    assert text.count(f"def {callee}_forward") == count
    assert text.count(f"def {callee}_reverse") == count
