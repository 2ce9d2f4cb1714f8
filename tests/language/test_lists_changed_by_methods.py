"""Lists among the arguments that their methods change: what was known of their items holds no more."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, -0.4])


def inserted(x: Any, rows: Any) -> Any:
    rows.insert(0, 2.0)
    first, *others = rows
    return np.sum(x * x * first) * len(others)


def appended(x: Any, rows: Any) -> Any:
    rows.append(2.0)
    *others, last = rows
    return np.sum(x * x * last) * len(others)


def deleted(x: Any, rows: Any) -> Any:
    del rows[0]
    first, *others = rows
    return np.sum(x * x * first) * len(others)


def popped(x: Any, rows: Any) -> Any:
    rows.pop()
    first, *others = rows
    return np.sum(x * x * first) * len(others)


def extended(x: Any, rows: Any) -> Any:
    rows.extend([1.0, 0.5])
    first, *others = rows
    return np.sum(x * x * first) * len(others)


def inserted_under_a_key(x: Any, rows: Any) -> Any:
    held = {"rows": rows}
    held["rows"].insert(0, 3.0)
    first, *others = held["rows"]
    return np.sum(x * x * first) * len(others)


NUMBERS = [1.0, 3.0, 4.0]


def reversed_and_copied(x: Any, rows: Any) -> Any:
    rows.reverse()
    first = copy.copy(rows[0])
    return np.sum(x * (first + first))


def reversed_and_divided(x: Any, rows: Any) -> Any:
    rows.reverse()
    kept = rows[0]
    kept /= 2.0
    return np.sum(x * x * rows[0])


MIXED = [[1.0, 2.0, 3.0], np.array([0.5, -1.0, 2.0])]
CASES = (
    *((f, NUMBERS) for f in (inserted, appended, deleted, popped, extended, inserted_under_a_key)),
    (reversed_and_copied, MIXED),
    (reversed_and_divided, MIXED),
)


@pytest.mark.parametrize(("f", "rows"), CASES)
def test_gradient(f: Callable[..., Any], rows: Any) -> None:
    given = copy.deepcopy(rows)
    value, gradient = value_and_grad(f)(X, given)
    assert value == f(X, copy.deepcopy(rows))
    assert repr(given) == repr(rows)
    expected = numeric_gradient(lambda x: f(x, copy.deepcopy(rows)), (X,))
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)


@pytest.mark.parametrize(("f", "rows"), CASES)
def test_tangent(f: Callable[..., Any], rows: Any) -> None:
    dot = np.array([0.4, -1.1, 0.7])
    value, tangent = jvp(f, (X, copy.deepcopy(rows)), (dot, None))
    assert value == f(X, copy.deepcopy(rows))
    expected = numeric_gradient(lambda x: f(x, copy.deepcopy(rows)), (X,)) @ dot
    np.testing.assert_allclose(tangent, expected, rtol=1e-7)
