"""A list that grows after a function has been given it has, in that call, the adjoint of what it was then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.8, 0.5])


def power(y: Any, table: Any, a: int) -> Any:
    if a == 0:
        value = y[a]
    else:
        value = power(y, table, a - 1) * y[a]
    return value


def appended_in_a_loop(x: Any) -> Any:
    y = [x[0], x[1], x[2]]
    table: list[Any] = []
    for i in range(3):
        table.append(power(y, table, i))
    return sum(table)


def first_power(y: Any, table: Any, a: int) -> Any:
    if a == 0:
        value = y[a]
    else:
        value = first_power(y, table, a - 1) * y[a] + table[0]
    return value


def read_in_the_call(x: Any) -> Any:
    y = [x[0], x[1], x[2]]
    table = [x[0] * x[1]]
    for i in range(3):
        table.append(first_power(y, table, i))
    return sum(table)


class Newton:
    def __init__(self, xs: Any, ys: Any) -> None:
        self.x, self.y = xs, ys
        self.table: list[Any] = []
        for i in range(len(self.x)):
            self.table.append(self.difference(0, i))

    def difference(self, a: int, b: int) -> Any:
        if a == b:
            value = self.y[a]
        else:
            value = (self.difference(a, b - 1) - self.difference(a + 1, b)) / (self.x[a] - self.x[b])
        return value


def of_an_object(x: Any) -> Any:
    return sum(Newton([3.0, 1.0, 2.0], [x[0], x[1], x[2] ** 2]).table)


FUNCTIONS = [appended_in_a_loop, read_in_the_call, of_an_object]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_adjoint_has_the_length_of_the_moment(function: Any) -> None:
    assert np.allclose(grad(function)(X), numeric_gradient(function, (X,)), rtol=1e-6)


def last_power(y: Any, table: Any, a: int) -> Any:
    if a == 0:
        value = y[a] * table[-1]
    else:
        value = last_power(y, table, a - 1) * y[a]
    return value


def counted_from_the_end(x: Any) -> Any:
    y = [x[0], x[1], x[2]]
    table = [x[0] * x[1]]
    for i in range(3):
        table.append(last_power(y, table, i))
    return sum(table)


def test_what_is_counted_from_the_end_is_right_or_refused() -> None:
    try:
        found = grad(counted_from_the_end)(X)
    except S2SADError:
        return
    assert np.allclose(found, numeric_gradient(counted_from_the_end, (X,)), rtol=1e-6)
