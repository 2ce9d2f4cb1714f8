"""Methods of universal functions that have no rule of their own, in whole programs, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from s2sad import grad, hvp, jvp, value_and_grad
from s2sad.errors import S2SADError, UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient, richardson_jvp
from tests.sources import function_of

X = np.array([[0.3, 0.7, 1.2], [0.9, 0.4, 1.6]])
WEIGHTS = np.cos(np.arange(24.0))


def weighted(z: Any) -> Any:
    z = np.ravel(z)
    return np.sum(z * WEIGHTS[: len(z)]) + np.sum(z**2)


def outer(x: Any) -> Any:
    return weighted(np.hypot.outer(x[0], x[:, :2])) + weighted(np.fmax.outer(x[1], [0.5, 1.0])) + special.xlogy.outer(
        x[0], x[1]
    )[1, 2]  # fmt: skip


def reduced(x: Any) -> Any:
    rows = np.float_power.reduce(x, axis=1, keepdims=True)
    return weighted(np.hypot.reduce(x)) + weighted(rows) + np.logaddexp2.reduce(x[0]) * np.divide.reduce(x[1])


def accumulated(x: Any) -> Any:
    return (
        weighted(np.hypot.accumulate(x, 1)) + weighted(np.logaddexp.accumulate(x)) + weighted(np.fmin.accumulate(x[0]))
    )


def between(x: Any) -> Any:
    return weighted(np.multiply.reduceat(x, [0, 2], axis=1)) + weighted(np.maximum.reduceat(x[1], [1, 0, 2]))


def at(x: Any) -> Any:
    y, z = x.copy(), x[0] ** 2
    np.multiply.at(y, (np.array([0, 1, 0]), np.array([1, 1, 1])), x[1])
    np.hypot.at(y[1], [2, 2], 0.5)
    np.exp.at(z, [0, 0, 2])
    np.maximum.at(z, z < 1.3, x[0, 0])
    np.divide.at(z, slice(1, None), x[1, :2])
    return weighted(y) + weighted(z)


def begun(x: Any) -> Any:
    ends = weighted(np.hypot.reduce(x, 0, None, None, True)) + weighted(np.hypot.reduce(x, axis=1, initial=2.0))
    return ends + weighted(np.subtract.reduce(x, initial=x[1, 0])) + np.divide.reduce(x[0], 0, initial=x[1, 1])


PROGRAMS = [outer, begun, reduced, accumulated, between, at]


@pytest.mark.parametrize("f", PROGRAMS)
def test_methods(f: Callable[..., Any]) -> None:
    value, found = value_and_grad(f)(X)
    expected = numeric_gradient(f, (X,))
    assert value == f(X)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)
    dot = np.array([[0.3, -0.2, 0.5], [0.1, 0.6, -0.4]])
    np.testing.assert_allclose(jvp(f, (X,), (dot,))[1], np.sum(expected * dot), rtol=1e-7)


def test_what_is_reduced_otherwise_than_step_by_step_is_refused() -> None:
    x = np.array([0.5, 0.3, 0.2, 0.9])
    if np.isclose(np.power.reduce(x), ((0.5**0.3) ** 0.2) ** 0.9):
        # So it is where NumPy's loop for this machine takes one step at a time.
        found = grad(lambda x: np.power.reduce(x))(x)
        np.testing.assert_allclose(found, numeric_gradient(np.power.reduce, (x,)), rtol=1e-6)
        return
    with pytest.raises(UndefinedDerivativeError, match="something else than its steps"):
        grad(lambda x: np.power.reduce(x))(x)


def test_further_arguments_are_refused() -> None:
    with pytest.raises(S2SADError, match="reduce has no derivative rule"):
        grad(lambda x: np.hypot.reduce(x, where=x > 0))(X[0])
    with pytest.raises(S2SADError, match="with dtype or out"):
        grad(lambda x: np.hypot.reduce(x, 0, np.float64))(X[0])
    with pytest.raises(S2SADError, match="several axes with initial"):
        grad(lambda x: np.hypot.reduce(x, axis=None, initial=2.0))(X)


def products_of_parts(x: Any) -> Any:
    return np.sum(np.multiply.reduceat(x, [2, 0, 1], axis=-1) ** 3)


@pytest.mark.parametrize("x", [X, X * [[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]], ids=["regular", "zeros"])
def test_products_of_parts_have_derivatives_of_all_orders(x: Any) -> None:
    way = WEIGHTS[:6].reshape(2, 3)
    expected = richardson_jvp(grad(products_of_parts), (x,), (way,))
    np.testing.assert_allclose(grad(products_of_parts)(x), numeric_gradient(products_of_parts, (x,)), atol=1e-7)
    np.testing.assert_allclose(hvp(products_of_parts, (x,), (way,)), expected, atol=1e-7)
    again = grad(lambda y: np.sum(grad(products_of_parts)(y) * way))
    np.testing.assert_allclose(again(x), expected, atol=1e-7)


def test_what_has_no_second_derivative_is_one_error() -> None:
    with pytest.raises(UnsupportedError, match="reduced_adjoint has no derivative rule") as refused:
        hvp(lambda x: np.hypot.reduce(x) ** 3, (X[0],), (X[0],))
    assert len(refused.value.violations) == 1


@pytest.mark.parametrize("ufunc", ["multiply", "divide", "maximum", "add", "subtract", "power"])
@pytest.mark.parametrize(
    ("indices", "operand"),
    [("[0, 1]", "a.ravel()[:1]"), ("[0, 2, 0]", "a[::-1]"), ("slice(0, 3)", "a[::-1]"), ("[1, 1]", "a[1]")],
)
def test_at_with_an_operand_that_is_written(ufunc: str, indices: str, operand: str) -> None:
    f = function_of(
        f"def f(x):\n    a = x * 1.0\n    np.{ufunc}.at(a, {indices}, {operand})\n    return np.sum(a * a * x)"
    )
    x = np.array([1.1, 2.3, 1.7])
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (x,)), [f(x), expected @ x], rtol=1e-7)
