"""Calls with an argument behind a star of which the number of items is known only at run time."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient

GRID = np.linspace(0.0, 1.0, 4)


def weighted(a: Any, b: Any, c: Any = 2.0, d: Any = 3.0) -> Any:
    return a * b + c**2 * d


def peaks(at: Any, *params: Any) -> Any:
    total = np.zeros_like(at)
    for i in range(0, len(params), 2):
        height, width = params[i : i + 2]
        total = total + height * np.exp(-at * width)
    return total


def scaled(a: Any, *others: Any, k: Any = 2.0) -> Any:
    return a * k + others[0] * len(others)


class Rotation:
    def __init__(self, w: Any = 1.0, i: Any = 0.0, j: Any = 0.0, k: Any = 0.5) -> None:
        self.parts = np.array([w, i, j, k])

    def turned(self, a: Any, b: Any = 1.0) -> Any:
        return np.sum(self.parts**2) * a + b


def handed_on(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def wrapper(first: Any, *args: Any) -> Any:
        return f(first * 2.0, *args)

    return wrapper


@handed_on
def product(a: Any, b: Any) -> Any:
    return a * b**2


def some_defaults(x: Any) -> Any:
    return weighted(2.0, *x)


def all_required(x: Any) -> Any:
    return weighted(*x[:2])


def one_by_name(x: Any) -> Any:
    return weighted(*x[:2], d=x[0])


def into_a_star(x: Any) -> Any:
    return np.sum(peaks(GRID, *x) ** 2)


def into_names_and_a_star(x: Any) -> Any:
    return scaled(*x, k=x[0]) + scaled(x[1], *x)


def into_a_class(x: Any) -> Any:
    return np.sum(Rotation(*x).parts ** 3)


def into_a_method(x: Any) -> Any:
    return Rotation(*x).turned(*x[:2]) + Rotation(*x[:1]).turned(*x[:1])


def into_a_lambda(x: Any) -> Any:
    return (lambda a, b, c=1.0: a * b * c)(*x[:2])


def through_a_wrapper(x: Any) -> Any:
    return product(*x[:2])


PROGRAMS: list[Callable[[Any], Any]] = [
    some_defaults, all_required, one_by_name, into_a_star, into_names_and_a_star, into_a_class, into_a_method,
    into_a_lambda, through_a_wrapper,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_each_item_is_an_argument(f: Callable[[Any], Any]) -> None:
    for count in (2, 4) if f is not some_defaults else (1, 2, 3):
        x = np.array([0.3, -0.4, 0.7, 1.2])[:count]
        expected = numeric_gradient(f, (x,), 0)
        np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6, atol=1e-9)
        direction = np.array([1.0, 0.5, -2.0, 0.3])[:count]
        np.testing.assert_allclose(jvp(f, (x,), (direction,))[1], expected @ direction, rtol=1e-6, atol=1e-9)


def test_too_few_or_too_many_raise() -> None:
    with pytest.raises(ValueError, match="too many"):
        grad(some_defaults)(np.ones(4))
    with pytest.raises(UndefinedDerivativeError, match="as many"):
        grad(some_defaults)(np.ones(0))
