"""What is asked of a dtype, or a dtype that may be None, does not hide that an array of numbers is one."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.4, 0.5])
NOON = datetime.datetime(2020, 3, 4, 12)


def homogeneous(r: Any) -> Any:
    n = r.shape[0]
    if r.dtype == "O":
        t = np.zeros((n + 1, n + 1), dtype="O")
    else:
        t = np.zeros((n + 1, n + 1))
    t[:n, :n] = r
    t[-1, -1] = 1
    return t


def of_an_array(x: Any) -> Any:
    return np.sum(homogeneous(np.outer(x, x)) ** 2)


def of_a_display(x: Any) -> Any:
    c, s = np.cos(x[0]), np.sin(x[1])
    return np.sum(homogeneous(np.array([[1, 0, 0], [0, c, -s], [0, s, c]])) ** 3)


def otherwise(x: Any) -> Any:
    y = x * x
    out = np.zeros(3) if y.dtype != "int64" else [0, 0, 0]
    out[1:] = y[1:]
    return np.sum(out**2)


def as_vector(v: Any, symbolic: bool = False, dtype: Any = np.float64) -> Any:
    if isinstance(v, (list, tuple)):
        if symbolic or sum(v) > 100:
            dtype = None
        return np.array(v, dtype=dtype)
    return v


def dtype_or_none(x: Any) -> Any:
    q = as_vector([1.0, x[0], x[2]])
    q[0] *= x[1]
    q[1:] /= q[0]
    return np.sum(q)


FUNCTIONS = [of_an_array, of_a_display, otherwise, dtype_or_none]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_an_array_stays_known(function: Any) -> None:
    expected = numeric_gradient(function, (X,))
    d = np.array([0.2, -0.7, 1.1])
    value, dot = jvp(function, (X,), (d,))
    assert value == function(X)
    assert np.allclose(grad(function)(X), expected, rtol=1e-6)
    assert np.allclose(dot, expected @ d, rtol=1e-6)


def as_date(when: Any) -> Any:
    if isinstance(when, datetime.datetime):
        return when
    if isinstance(when, str):
        return datetime.datetime.fromisoformat(when)
    return when.values.astype("datetime64[us]").astype(datetime.datetime)


def test_the_class_of_a_date_is_known() -> None:
    def angle(x: Any, when: Any) -> Any:
        return x**2 * as_date(when).day

    assert np.isclose(grad(angle)(0.7, NOON), 5.6)
    assert np.isclose(grad(lambda x: angle(x, NOON))(0.7), 5.6)
    assert np.isclose(grad(angle)(0.7, "2020-03-05"), 7.0)
