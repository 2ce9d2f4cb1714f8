"""Integers that meet what is differentiated: of short kinds, in arrays that turn into floats, and as factors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from s2sad import grad, vjp
from s2sad.errors import UndefinedDerivativeError
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient

V = np.array([0.7, 1.3])


W = np.array([0.5, -0.2])


BYTES = np.array([200, 16], np.uint8)


def enumerated_bytes(x: Any) -> Any:
    s = 0.0
    for i, v in enumerate(BYTES):
        s = s + np.arctan2(x[i], v)
    z = tuple(BYTES)
    return s + np.arctan2(x[0], z[0])


def largest_byte(x: Any) -> Any:
    return np.arctan2(x[0], max(BYTES[0], x[1]))


def grown_from_integers(x: Any) -> Any:
    h = np.array([0, 0])
    for _ in range(3):
        h = np.tanh(x * h[::-1] + x) + h
    return np.sum(h)


def integers_on_one_path(x: Any) -> Any:
    y = np.arange(2)
    if x[1] < 0:
        y = y * x
    return np.sum(y[1:] * y[:1] * x[1:])


def integers_and_their_sum(x: Any) -> Any:
    z = np.arange(2) * 1
    z = z * x + np.sum(z[1:])
    return np.sum(z)


FUNCTIONS = [enumerated_bytes, largest_byte, grown_from_integers, integers_on_one_path, integers_and_their_sum]
CASES = [case(f, x, name=f"{f.__name__}_{n}") for f in FUNCTIONS for n, x in enumerate((V, W))]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_value_and_gradient(c: Case) -> None:
    check_primal(c)
    check_gradient(c)


def filled_with_the_larger(x: Any) -> Any:
    y = np.full(2, max(3, 2.5))
    y[0] = x[0] * 10
    return np.sum(y)


def filled_with_a_product(x: Any) -> Any:
    y = np.full(2, math.prod([3, 2]))
    y[0] = x[0] * 10
    return np.sum(y)


@pytest.mark.parametrize("f", [filled_with_the_larger, filled_with_a_product])
def test_arrays_filled_with_integers_hold_no_derivative(f: Any) -> None:
    with pytest.raises(UndefinedDerivativeError, match="dtype int"):
        grad(f)(V)


def stepped(rate: Any, p: Any, g: Any) -> Any:
    return p - rate * g


def counted_in_a_call(x: Any, n: int) -> Any:
    p = stepped(x[0], x, x * x[1])
    return np.sum(p) * n


def counted_behind_a_loop(x: Any, n: int) -> Any:
    p = x * 1.0
    for _ in range(n):
        p = stepped(x[0], p, p * x[1])
    return np.sum(p) * n * (n - 1)


def counted_and_written(x: Any, n: int) -> Any:
    p = stepped(x[0], np.outer(x, x), x)
    q = np.zeros((2, 2))
    q[:] = p
    q[0] *= x
    return np.sum(q) * n


@pytest.mark.parametrize("f", [counted_in_a_call, counted_behind_a_loop, counted_and_written])
def test_a_sum_times_an_integer_has_an_adjoint_of_floats(f: Any) -> None:
    np.testing.assert_allclose(grad(f)(V, 3), numeric_gradient(f, (V, 3)), rtol=1e-8)
    np.testing.assert_allclose(vjp(lambda x: f(x, 3), V)[1](1)[0], numeric_gradient(f, (V, 3)), rtol=1e-8)
