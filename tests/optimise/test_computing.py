"""Attempts that do no more than to compute numbers have no handler of a ValueError, and those of arrays have theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from tests.oracle import numeric_gradient

MISSING = object()
X = np.array([1.0, 2.0, 3.4])


def halved(u: Any) -> Any:
    try:
        return u / 2.0 if u > 1.0 else u * u
    except (ValueError, TypeError):
        return np.where(u > 1.0, u / 2.0, u * u)


def stepped(t: Any) -> Any:
    t = t - 1.3
    try:
        if t is np.ma.masked or t is MISSING:
            return t
        if t <= 0:
            return t * 2.0
        u = np.power(np.fabs(t), 1.5)
        while u > 0.5:
            u = halved(u)
        return u - t
    except ValueError:
        c = np.zeros(t.shape)
        c[t <= 0] = t[t <= 0] * 2.0
        c += np.fabs(t)
        return c


def numbers(x: Any) -> Any:
    return stepped(x[0]) + stepped(x[2]) * stepped(x[1])


def arrays(x: Any) -> Any:
    return np.sum(stepped(x) * x)


def both(x: Any) -> Any:
    return np.sum(stepped(x) * stepped(x[1]))


def powers(x: Any) -> Any:
    n, y = np.int64(2), x[0] * 3.0
    try:
        y = y * n ** np.int64(-1)
    except ValueError:
        y = y * y
    return y


def truth_values(x: Any) -> Any:
    y = x[0] * 3.0
    try:
        y = y * -(y > 1.0)
    except TypeError:
        y = y * y
    return y


def differences_of_truth_values(x: Any) -> Any:
    y = x[0] * 3.0
    try:
        y = y + ((y > 1.0) - (x[1] > 0.0))
    except TypeError:
        y = y * y
    return y


def bits(x: Any) -> Any:
    y = x[0] * 3.0
    try:
        y = y + np.left_shift(3.0, 1)  # type: ignore[call-overload]
    except TypeError:
        y = y * y
    return y


def products(x: Any) -> Any:
    y = x[0] * 3.0
    try:
        y = np.matmul(y, y)
    except ValueError:
        y = y * y * y
    return y


def without_value(x: Any) -> Any:
    y = x[0] * 3.0
    if x[1] > 100.0:
        z = 1.0
    try:
        try:
            y = y + z
        except ValueError:
            y = y * 7.0
    except NameError:
        y = y * y
    return y


def negative(n: Any) -> Any:
    if n == 0:
        raise ValueError("no number")
    return negative(n - 1) * 1.5


def recursive(x: Any) -> Any:
    y = x[0] * 3.0
    try:
        y = y + negative(2)
    except ValueError:
        y = y * y
    return y


PROGRAMS: list[Callable[..., Any]] = [
    numbers, arrays, both, powers, truth_values, differences_of_truth_values, bits, products, without_value, recursive,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_runs_is_what_python_runs(f: Callable[..., Any]) -> None:
    value, gradient = value_and_grad(f)(X)
    expected = numeric_gradient(f, (X,))
    assert value == f(X)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (np.cos(X),))[1], expected @ np.cos(X), rtol=1e-7)


def test_numbers_have_no_handler() -> None:
    assert "try" not in grad(numbers).source_for(X)
    assert "try" in grad(arrays).source_for(X)
