"""Numbers that are known to be such, whatever they are computed from: what is updated is then no array."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient

X = np.linspace(0.4, 1.5, 4)


def of_what_may_be_an_array(x: Any) -> Any:
    r = 0.4
    total, both = 0.0, (x[0], x[1])
    for k in range(3):
        t = math.cos(np.mean(r) if k else list(both)[1])
        t -= 0.3 * np.sin(t * t)
        total = total + t * t
        if t < 0.7:
            x, r = t + x, x
    return total + np.sum(x)


def of_two(x: Any) -> Any:
    both = (x[0], x[1])
    r = list(both)[1]
    t = math.atan2(r, x[2])
    u = t
    t *= x[3]
    return t * u


@pytest.mark.parametrize("function", [of_what_may_be_an_array, of_two], ids=lambda f: f.__name__)
def test_results_of_math_are_numbers(function: Callable[..., Any]) -> None:
    derivative = grad(function)
    np.testing.assert_allclose(derivative(X), numeric_gradient(function, (X,), 0), rtol=1e-6, atol=1e-8)
    for word in ("own(", "shadow(", "require_ndarray", "unbroadcast(np.", ".copy()"):
        assert word not in derivative.source
