"""What is computed once for several names is no object that one of them changes, or that is returned twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, vjp
from tests.oracle import richardson_jvp

X = np.array([0.3, 0.4, 0.9])


def added_to(x: Any) -> Any:
    s = np.sin(x)
    t = np.cos(x)
    q = np.exp(s * x)
    z = x * x - s - t
    return np.sum(z * z) + np.sum(q)


def added_to_in_a_loop(x: Any) -> Any:
    s, t = np.sin(x), np.cos(x)
    for i in range(3):
        q = np.exp(s * x)
        z = i * x - s - t
        x = np.sin(z) + q
    return np.sum(x)


def added_to_in_a_branch(x: Any) -> Any:
    s, t = np.sin(x), np.cos(x)
    q = np.exp(s * x) if x[0] < 1.0 else s
    z = x * x - s - t
    return np.sum(z * z) + np.sum(q)


def subtracted_from_rows(x: Any) -> Any:
    a = np.outer(x, x)
    s, t = np.sin(a), np.cos(a)
    q = s[1] * x
    z = a * a - s - t
    return np.sum(z * z) + np.sum(q)


def zero_difference(x: Any) -> Any:
    a = np.sin(x)
    s = x - x
    b = a + s
    c = b - s
    d = c - x * x / (1.0 + a)
    return np.sum(d * d * x)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(
    "f", [added_to, added_to_in_a_loop, added_to_in_a_branch, subtracted_from_rows, zero_difference]
)
def test_what_is_added_to_is_an_array_of_its_own(f: Callable[..., Any], single: bool) -> None:
    x = X.astype(np.float32) if single else X
    for way in np.eye(3):
        slope = richardson_jvp(f, (X,), (way,))
        assert grad(f)(x) @ way == pytest.approx(slope, rel=1e-4 if single else 1e-8)


def test_second_derivatives() -> None:
    way, df = np.array([1.0, -2.0, 0.7]), grad(zero_difference)
    assert np.allclose(vjp(df, X)[1](way)[0], richardson_jvp(df, (X,), (way,)), atol=1e-8)


def test_equal_gradients_are_two_arrays() -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        z = c - a - b
        return np.sum(z * z)

    a_bar, b_bar = grad(f, (0, 1))(X, 2 * X, X * X)
    assert not np.shares_memory(a_bar, b_bar)
    assert np.array_equal(a_bar, b_bar)
