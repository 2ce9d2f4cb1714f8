"""Arguments of which one holds another, or the same array twice, and that are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient

X = 0.5


def item_of_the_list_is_written(x: Any, k: Any, p: Any) -> Any:
    p += [k]
    q = [k]
    q[0][0] = 0.0
    return sum(t[0] for t in p) * x


def item_of_the_list_is_replaced(x: Any, k: Any, p: Any) -> Any:
    p[1] = x * k
    k[0] = 0.0
    return (p[0][0] + 2.0 * p[1][0]) * x


@pytest.mark.parametrize("f", [item_of_the_list_is_written, item_of_the_list_is_replaced])
def test_list_that_holds_a_written_argument(f: Callable[..., Any]) -> None:
    k = np.array([0.8, 0.4, 1.5])
    with pytest.raises(UndefinedDerivativeError, match="share memory"):
        value_and_grad(f)(X, k, [k, k])
    assert k[0] == 0.8
    other = k * 2.0
    value, slope = value_and_grad(f)(X, k, [other, other])
    assert value == f(X, k.copy(), [other, other])
    np.testing.assert_allclose(slope, numeric_gradient(lambda x: f(x, k.copy(), [other, other]), [X]))


def _both(p: Any) -> Any:
    p[0][0] = p[1][2] ** 2
    return np.sum(p[0] * p[1])


def test_one_array_twice_in_an_argument() -> None:
    a = np.array([1.0, 2.0, 3.0])
    with pytest.raises(UndefinedDerivativeError, match="share memory"):
        grad(_both)((a, a))
    first, second = grad(_both)((a, a.copy()))
    np.testing.assert_allclose(first, [0.0, 2.0, 3.0])
    np.testing.assert_allclose(second, [9.0, 2.0, 9.0])
