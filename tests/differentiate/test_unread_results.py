"""Results of a call that nobody reads have no adjoint: zero times a derivative that is not finite is none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, value_and_grad
from tests.oracle import numeric_gradient, richardson_jvp


def sides(x: Any, y: Any) -> Any:
    product = x * y
    root = np.sqrt(x - 0.5)
    undefined = math.nan * y
    return product, root, undefined


def nested(x: Any, y: Any) -> Any:
    a, b, c = sides(x, y)
    return a * a, (b, c)


def into(u: Any, x: Any) -> Any:
    u[0] = x * x
    return x * 3.0, math.inf * x


def counted(x: Any, n: Any) -> Any:
    if n == 0:
        return x, math.inf * x
    a, b = counted(x * 2.0, n - 1)
    return a * x, b


def by_names(x: Any, y: Any) -> Any:
    a, _, _ = sides(x, y)
    return a * y


def by_place(x: Any, y: Any) -> Any:
    return sides(x, y)[0] * 2.0


def one_call_each(x: Any, y: Any) -> Any:
    a, _, _ = sides(x, y)
    _, b, _ = sides(x + 1.0, y)
    return a * b


def in_a_loop(x: Any, y: Any) -> Any:
    for _k in range(3):
        y, _, _ = sides(x, y)
    return y


def in_a_callee(x: Any, y: Any) -> Any:
    a, _ = nested(x, y)
    return a


def beside_a_write(x: Any, y: Any) -> Any:
    u = np.zeros(2)
    a, _ = into(u, x)
    return a + u[0] * y


def by_recursion(x: Any, y: Any) -> Any:
    a, _ = counted(x, 3)
    return a * y


EVERY = [by_names, by_place, one_call_each, in_a_loop, in_a_callee, beside_a_write, by_recursion]


@pytest.mark.parametrize("f", EVERY)
def test_the_gradient_is_right(f: Any) -> None:
    with np.errstate(invalid="ignore", divide="ignore"):
        found = grad(f, (0, 1))(0.5, 0.7)
        np.testing.assert_allclose(value_and_grad(f, (0, 1))(0.5, 0.7)[1], found)
    # The root has values on one side only.
    for argnum, value in enumerate(found):
        with np.errstate(invalid="ignore"):
            expected = numeric_gradient(f, (0.5, 0.7), argnum)
        np.testing.assert_allclose(value, expected, rtol=1e-7)


@pytest.mark.parametrize("f", [by_names, by_place, in_a_callee, by_recursion])
def test_so_is_that_of_the_gradient(f: Any) -> None:
    with np.errstate(invalid="ignore", divide="ignore"):
        product = hvp(f, (0.5, 0.7), (0.3, -0.2))
        expected = richardson_jvp(lambda x, y: np.array(grad(f, (0, 1))(x, y)), (0.5, 0.7), (0.3, -0.2))
    np.testing.assert_allclose(product, expected, rtol=1e-6)
