"""Branches that whole numbers decide which the function itself has written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.4, 0.7])


def total(x: Any) -> Any:
    if x <= 0:
        return 0.0, 0.0
    a = np.zeros(3)
    for i in range(3):
        a[i] = x * x * i
    return np.sum(a), np.sum(a * a)


def of_numbers_or_arrays(x: Any) -> Any:
    """As functions are written that take one number or many, by how many there are."""
    length = 0
    if hasattr(x, "__len__"):
        length = len(x)
    if length == 0:
        return total(x)
    first = np.empty(length)
    second = np.empty(length)
    for i in range(length):
        first[i], second[i] = total(x[i])
    return first, second


def of_a_number(x: Any) -> Any:
    a, b = of_numbers_or_arrays(x[0] * x[1])
    return a + b


def of_an_array(x: Any) -> Any:
    a, b = of_numbers_or_arrays(x * x[1])
    return np.sum(a + b)


def counted_up(x: Any) -> Any:
    """A number that changes is not what it began with."""
    count = 0
    total = x[0]
    for v in x:
        if count == 0:
            total = total * v
        count = count + 1
    if count == 0:
        total = total * 100.0
    return total


def set_on_some_ways(x: Any) -> Any:
    mode = 1
    if x[0] > 0:
        mode = 2
    if mode == 1:
        return x[1]
    if mode == 2:
        return x[1] ** 2 * x[0]
    return x[2]


def set_in_a_try(x: Any) -> Any:
    tried = 0
    try:
        tried = 1
        y = 1.0 / int(x[0])
        tried = 2
    except ZeroDivisionError:
        y = x[0] * x[1]
    return y * tried if tried == 1 else x[2] * tried


CASES = [of_a_number, of_an_array, counted_up, set_on_some_ways, set_in_a_try]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_the_gradient_is_of_the_way_that_runs(f: Any) -> None:
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-7)
    value, dot = jvp(f, (X,), (np.array([1.0, 0.5, -1.0]),))
    assert value == f(X)
    np.testing.assert_allclose(dot, expected @ np.array([1.0, 0.5, -1.0]), rtol=1e-7)


def test_what_no_number_leads_to_is_not_in_the_text() -> None:
    text = grad(of_a_number).source_for(X)
    assert "np.empty" not in text
    assert "length" not in text
