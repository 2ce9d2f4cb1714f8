"""Calls of functions that are refused where all their arguments carry derivatives, and are fine where few do; and of
functions that call what a parameter is by default."""

from __future__ import annotations

import decimal
import itertools
import queue
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.3, 0.7, 1.1, -0.4])
W = np.array([2.0, 3.0, 5.0, 7.0])
QUEUE: queue.SimpleQueue[Any] = queue.SimpleQueue()


def half_up(number: Any) -> int:
    return int(decimal.Decimal(number).quantize(decimal.Decimal("1"), rounding=decimal.ROUND_HALF_UP))


def cleared(a: Any, n: Any) -> Any:
    memoryview(a).cast("B")[:8] = bytes(8)
    return n


def put(a: Any, n: Any) -> Any:
    QUEUE.put(a)
    return n


def direct(x: Any, n: Any) -> Any:
    return x[: half_up(n)] ** 2


def through(x: Any, n: Any) -> Any:
    n = n * 1.0
    return direct(x, n)


def in_loop(x: Any, n: Any) -> Any:
    y = x
    for i in range(half_up(n)):
        y = y * x * half_up(i + 0.5)
    return y


def window(n: Any) -> Any:
    return np.hamming(n)


def of_function(x: Any, n: Any, w: Any = window) -> Any:
    return x[: half_up(n)] * w(half_up(n))


def of_lambda(x: Any, n: Any, w: Any = lambda n: np.ones((n,)) * 3) -> Any:
    return x[: int(n)] * w(int(n))


def of_library(x: Any, n: Any, *, w: Any = np.hanning) -> Any:
    k = w(int(n))
    return x[: int(n)] * k


def of_varied(x: Any, n: Any, w: Any = window, f: Any = np.tanh) -> Any:
    return f(x[: int(n)]) * w(3)


def by_name(x: Any, n: Any, f: Any = np.sin, w: Any = window) -> Any:
    return of_varied(x, n=n, f=f) * w(3)


CALLEES = (direct, through, in_loop, of_function, of_lambda, of_library, of_varied, by_name)


@pytest.mark.parametrize(
    ("callee", "number"), list(itertools.product(CALLEES, (2.6, 3))), ids=lambda v: getattr(v, "__name__", str(v))
)
def test_few_arguments(callee: Callable[..., Any], number: float) -> None:
    if callee in (of_varied, by_name):
        number = 3

    def function(x: Any) -> Any:
        return np.sum(callee(x * 2, number) ** 2) + x[0]

    dot = np.cos(np.arange(4.0))
    np.testing.assert_allclose(grad(function)(X), numeric_gradient(function, [X]), rtol=1e-7)
    np.testing.assert_allclose(jvp(function, (X,), (dot,))[1], richardson_jvp(function, [X], [dot]), rtol=1e-7)


def test_what_it_writes_is_known() -> None:
    def function(x: Any, w: Any) -> Any:
        first = np.sum(x * w) * cleared(w, 2)
        return first + np.sum(w * x**2)

    want = numeric_gradient(lambda x: function(x, W.copy()), [X])
    np.testing.assert_allclose(grad(function)(X, W.copy()), want, rtol=1e-7)


def test_what_it_keeps_is_refused() -> None:
    def function(x: Any) -> Any:
        y = np.zeros(2)
        n = put(y, 3)
        y[0] = x[0]
        return QUEUE.get()[0] * n

    with pytest.raises(UnsupportedError, match=r"puts what is differentiated into QUEUE"):
        grad(function)(X)


def test_defaults_that_change() -> None:
    def scaled(x: Any, w: Any = window) -> Any:
        return x[:3] * w(3)

    def function(x: Any) -> Any:
        return np.sum(scaled(x))

    found = grad(function)
    np.testing.assert_allclose(found(X)[:3], np.hamming(3))
    scaled.__defaults__ = (np.ones,)
    np.testing.assert_allclose(found(X)[:3], np.ones(3))
