"""``map`` of functions that the program makes, and generator expressions with names, that are consumed at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.4, 1.2])


def named(x: Any) -> Any:
    squares = (v * x[0] for v in x)
    return sum(squares)


def with_a_condition(x: Any) -> Any:
    large = (v**2 for v in x if v > 0.35)
    return np.sum(np.fromiter(large, dtype=float))


def capturing(x: Any) -> Any:
    factor = x[0] * 2.0
    scaled = map(lambda v: v * factor, x)  # noqa: C417
    return np.sum(np.fromiter(scaled, dtype=float) ** 2)


def of_a_nested_function(x: Any) -> Any:
    def branched(v: Any) -> Any:
        if v > 0.35:
            return v**2
        return v * x[1]

    return max(map(branched, x)) + sum(map(branched, x * 2.0))


def for_each(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if hasattr(args[0], "__iter__"):
            others = args[1:]
            mapping = map(lambda h: f(h, *others, **kwargs), args[0])  # noqa: C417
            return np.fromiter(mapping, dtype=float)
        return f(*args, **kwargs)

    return wrapper


@for_each
def spherical(h: Any, r: Any, c: Any, b: Any = 0.0) -> Any:
    if h <= r:
        return b + c * (1.5 * h / r - 0.5 * (h / r) ** 3)
    return b + c


LAGS = np.array([0.1, 0.25, 0.5])


def by_a_wrapper(x: Any) -> Any:
    return np.sum(spherical(LAGS, x[0], x[1], b=x[2]) ** 2) + spherical(0.1, x[0], x[1])


def read_twice(x: Any) -> Any:
    squares = (v**2 for v in x)
    return sum(squares) + sum(squares)


def changed_before(x: Any) -> Any:
    y = x * 1.0
    squares = (v**2 for v in y)
    y[0] = 5.0 * x[1]
    return sum(squares)


@pytest.mark.parametrize(
    "f", [named, with_a_condition, capturing, of_a_nested_function, by_a_wrapper], ids=lambda f: f.__name__
)
def test_gradient(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (X,), 0)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    direction = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(jvp(f, (X,), (direction,))[1], expected @ direction, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [read_twice, changed_before], ids=lambda f: f.__name__)
def test_right_or_refused(f: Callable[[Any], Any]) -> None:
    try:
        found = grad(f)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, (X,), 0), rtol=1e-6, atol=1e-8)
