"""``np.r_`` and ``np.c_`` under names of their own, and where it is not known which of them is subscripted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.transform.remaining import check_both_modes

X = np.array([0.3, 0.7, 0.9])
WAY = np.array([1.0, 0.5, -0.7])


def of_a_list(x: Any) -> Any:
    rows = np.r_
    a, b, c = rows[[x[0] - 0.2, x[1], x[2]]]
    return a * b + c


def by_name(x: Any) -> Any:
    columns = np.c_
    return np.sum(columns[x * x, x] ** 2)


def triangle(u: Any, corners: Any) -> Any:
    a, b, _ = np.r_[corners]
    y = np.zeros(len(u))
    if a != b:
        inside = np.nonzero(np.logical_and(a < u, u < b))[0]
        y[inside] = (u[inside] - a) / float(b - a)
    return y


def of_a_list_that_is_made_before(x: Any) -> Any:
    return np.sum(triangle(np.linspace(0.0, 1.0, 11), [x[0] - 0.2, x[1], x[2]]) ** 2)


@pytest.mark.parametrize("f", [of_a_list, by_name, of_a_list_that_is_made_before])
def test_under_a_name(f: Callable[..., Any]) -> None:
    check_both_modes(f, X + 0.013, WAY)


def either(x: Any) -> Any:
    make = np.c_ if len(x) > 5 else np.r_
    return np.sum(make[x * 2, x] ** 2)


def of_a_table(x: Any) -> Any:
    return np.sum([np.r_][0][x * 2, x] ** 2)


@pytest.mark.parametrize("f", [either, of_a_table])
def test_refused_where_it_is_a_value(f: Callable[..., Any]) -> None:
    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (WAY,))):
        with pytest.raises(S2SADError, match="makes something of an index"):
            derivative()
