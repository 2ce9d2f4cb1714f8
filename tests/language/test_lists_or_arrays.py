"""`+` and `*` of what is a list in one call and an array in another: lists are joined and repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.5, 1.2, -0.7])
D = np.array([1.0, -0.5, 0.25])


def rows(x: Any, listed: bool) -> Any:
    return [x, x * 2] if listed else np.outer(x, x)


def numbers(x: Any, listed: bool) -> Any:
    return [x[0], x[1] * 2, 0.3] if listed else x * 1.0


def joined(x: Any, listed: bool) -> Any:
    h = rows(x, listed)
    return np.sum((h + h)[1]) * x[0]


def joined_numbers(x: Any, listed: bool) -> Any:
    h = numbers(x, listed)
    return (h + h)[-2] * x[0]


def joined_to_another(x: Any, listed: bool) -> Any:
    return np.sum((rows(x, listed) + rows(x * 2, listed))[1])


def repeated(x: Any, listed: bool) -> Any:
    h = rows(x, listed)
    return np.sum((h * 2)[-1]) * x[0]


def repeated_in_a_loop(x: Any, listed: bool) -> Any:
    s = 0.0
    for n, t in enumerate(rows(x, listed) * 2):
        s = s + n * np.sum(t * x)
    return s


CASES = (joined, joined_numbers, joined_to_another, repeated, repeated_in_a_loop)


@pytest.mark.parametrize("f", CASES)
def test_arrays_are_added_and_multiplied(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(X, False), numeric_gradient(f, (X, False)), rtol=1e-8)


@pytest.mark.parametrize("f", CASES)
def test_lists_are_told_from_arrays_as_it_runs(f: Callable[..., Any]) -> None:
    with pytest.raises(UndefinedDerivativeError, match=r":\d+:\d+: error: a list .* is joined or repeated"):
        grad(f)(X, True)


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("f", CASES)
def test_tangents_of_lists_are_joined_and_repeated(f: Callable[..., Any], listed: bool) -> None:
    expected = richardson_jvp(f, (X, listed), (D, None))
    np.testing.assert_allclose(jvp(f, (X, listed), (D, None))[1], expected, rtol=1e-8)


def test_the_remedy_gives_arrays() -> None:
    def f(x: Any, listed: bool) -> Any:
        h = np.array(rows(x, listed))
        return np.sum((h + h)[1]) * x[0]

    np.testing.assert_allclose(grad(f)(X, True), numeric_gradient(f, (X, True)), rtol=1e-8)
