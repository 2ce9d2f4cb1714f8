"""``a.partition(k)`` changes the order of elements in place, as ``np.partition`` gives it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient


def of_a_row(x: Any) -> Any:
    y = x * x
    y.partition(1)
    return y[0] * 3 + y[2]


def along_an_axis(x: Any) -> Any:
    y = np.outer(x, np.array([1.0, -2.0, 3.0, 0.5]))
    y.partition((1, 2), axis=1)
    return np.sum(y * np.arange(12.0).reshape(3, 4) ** 2)


def by_keywords(x: Any) -> Any:
    y = np.outer(x, x)
    y.partition(kth=1, axis=0, kind="introselect")
    return np.sum(y[1] * y[0])


def of_views(x: Any) -> Any:
    y = np.outer(x, x * x)
    y[0].partition(2)
    y[:, 1].partition(1)
    return np.sum(y * np.arange(9.0).reshape(3, 3))


def in_a_loop(x: Any) -> Any:
    y = x * 1.0
    for k in range(2):
        y *= x[::-1]
        y.partition(k)
    return y @ np.arange(3.0)


def in_a_callee(x: Any) -> Any:
    def median(a: Any, k: int) -> Any:
        a.partition(k)
        return a[k]

    y = x * x
    return median(y, 1) * y[0]


FUNCTIONS = [of_a_row, along_an_axis, by_keywords, of_views, in_a_loop, in_a_callee]


@pytest.mark.parametrize("x", [np.array([0.3, 0.8, 0.5]), np.array([-1.3, 0.8, -2.5])], ids=["up", "mixed"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_elements_change_places(function: Any, x: Any) -> None:
    expected, d, before = numeric_gradient(function, (x,)), np.array([0.3, -1.0, 2.0]), x.copy()
    value, dot = jvp(function, (x,), (d,))
    assert value == function(x)
    assert np.allclose(grad(function)(x), expected, rtol=1e-6)
    assert np.allclose(dot, expected @ d, rtol=1e-6)
    assert np.array_equal(x, before)
