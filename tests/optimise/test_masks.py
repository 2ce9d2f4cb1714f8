"""What two masks select one after the other is selected by one, which has a name where it is used again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient

X = np.array([[0.5, -0.7, 2.0, -3.0], [1.5, 0.2, -1.5, 0.9]])


def of_three(x: Any) -> Any:
    rising, falling, slow = x * x, np.sin(x), np.exp(0.1 * x)
    middle = rising * falling * slow
    return np.sum(np.where(x > 1.0, rising, np.where(x < -1.0, falling, middle * np.cos(middle))))


def with_poles(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, np.log(x), np.where(x < -1.0, np.sqrt(-1.0 - x), x**3)))


def inside(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, np.where(x < 1.0, np.sqrt(x), 0.0), 0.0) * x)


def of_rows(x: Any) -> Any:
    first = x[:, 0]
    last = np.where(first > 1.0, x[:, 1], np.where(first < 0.7, x[:, 2], first * x[:, 3] * x[:, 1]))
    return np.sum(last**2)


def of_numbers(x: Any) -> Any:
    flags = (x > 0.0) * 1
    return np.sum(np.where(flags, x, np.where(x < -1.0, x * x, x * x * x)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", [of_three, with_poles, inside, of_rows, of_numbers], ids=lambda f: f.__name__)
def test_right(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-8)


def of_parameters(a: Any, b: Any, x: Any) -> Any:
    return np.sum(np.where(x > 1.0, x, np.where(x < -1.0, -x, a * x * x + b * np.sin(x))) ** 2)


def test_one_mask_is_named() -> None:
    derivative = grad(of_parameters, (0, 1))
    for position in (0, 1):
        expected = numeric_gradient(of_parameters, (0.3, -0.8, X), position)
        np.testing.assert_allclose(derivative(0.3, -0.8, X)[position], expected, rtol=1e-7)
    text = derivative.source_for(0.3, -0.8, X)
    assert text.count("|") == 1
    assert text[text.index("b_bar = ") :].count("np.where") == 2
    assert grad(of_three).source_for(X).count("|") == 1


def test_whole_numbers_are_no_masks() -> None:
    """``|`` of 1 and 2 is another number than either."""
    assert "|" not in grad(of_numbers).source_for(X)
