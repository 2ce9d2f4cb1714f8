"""Augmented assignment of what may be a number or an array: right for numbers, an error at run time for arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient


def square(x: Any) -> Any:
    return x * x


def pair(x: Any) -> Any:
    return np.array([x, 2 * x])


def listed(x: Any) -> Any:
    return [x, 2 * x]


def nothing(x: Any) -> None:
    return None


def kept(x: Any, f: Any) -> Any:
    t = f(x)
    u = t
    t += x
    return np.sum(u * t)


def in_a_loop(x: Any, f: Any) -> Any:
    t = f(x)
    for _ in range(3):
        t *= x
        t += f(t)
        u = t
        u -= x
    return t * u


def in_a_callee(x: Any, f: Any) -> Any:
    y = f(x)
    return wrapped(y) + wrapped(x)


def wrapped(angle: Any) -> Any:
    while angle > 0.5:
        angle -= 0.3
    return angle * angle


@pytest.mark.parametrize("program", [kept, in_a_loop, in_a_callee], ids=lambda p: p.__name__)
@pytest.mark.parametrize("function", [square, np.sin], ids=["square", "sin"])
def test_numbers(program: Any, function: Any) -> None:
    value, gradient = value_and_grad(program)(0.9, function)
    expected = numeric_gradient(lambda x: program(x, function), [0.9])
    assert value == program(0.9, function)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(program, (0.9, function), (1.0, None))[1], expected, rtol=1e-7)


@pytest.mark.parametrize("function", [pair, listed], ids=["array", "list"])
def test_arrays_and_lists_are_an_error_at_run_time(function: Any) -> None:
    with pytest.raises(UndefinedDerivativeError, match="written in place"):
        value_and_grad(kept)(0.9, function)


def with_none(x: Any, f: Any) -> Any:
    d = f(x)
    return x if d is None else d * x


def test_what_is_met_may_return_none() -> None:
    assert value_and_grad(with_none)(0.8, nothing) == (0.8, 1.0)


def with_an_array_that_is_stored_into(x: Any, f: Any) -> Any:
    t = f(x)
    t[0] = x
    return np.sum(t)


def test_stores_into_what_is_not_known_are_refused() -> None:
    with pytest.raises(S2SADError):
        value_and_grad(with_an_array_that_is_stored_into)(0.8, pair)
