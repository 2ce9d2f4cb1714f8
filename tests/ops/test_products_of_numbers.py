"""``math.prod`` of numbers, real and complex; of arrays it is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UndefinedDerivativeError
from tests.language.support import case, check_gradient

X = np.array([0.7, 1.3, 0.4])


def product_of_numbers(x: Any) -> Any:
    return math.prod([x, 2.0 * x, 3.0]) + abs(math.prod([x, x + 1j]))


def test_gradient() -> None:
    check_gradient(case(product_of_numbers, 0.7))


def test_products_of_arrays_are_refused() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(math.prod([x, y]))

    with pytest.raises(UndefinedDerivativeError, match=r"math.prod of arrays"):
        grad(f)(X, X)
