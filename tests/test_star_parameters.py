"""Derivatives of functions with ``*args`` and ``**options``, called in several forms."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hessian, jvp, value_and_grad, vjp
from s2sad.errors import ArgumentError
from tests.oracle import numeric_gradient

X = np.array([0.3, -0.2])


def polynomial(x: Any, *coefficients: Any, scale: float = 1.0) -> Any:
    s = 0.0
    for c in reversed(coefficients):
        s = s * x + c
    return s * scale


def chosen(x: Any, kind: str | None = None, **options: Any) -> Any:
    """Which norm it is may be among the options."""
    kind = kind or options.get("kind", "l2")
    norms = {"l1": lambda v: np.sum(np.abs(v)), "l2": lambda v: np.sqrt(np.sum(v**2))}
    return norms[kind](x) + norms["l1"](x) * options.get("weight", 1.0)


def anything(*args: Any, **options: Any) -> Any:
    return np.sum(args[0] * args[-1]) + sum(np.sum(v) for v in options.values())


class Model:
    def loss(self, x: Any, *more: Any, **options: Any) -> Any:
        return np.sum(x**2) * options.get("scale", 1.0) + sum(more)


@pytest.mark.parametrize("options", [{}, {"weight": 2.0}, {"weight": 3.0, "other": "a"}, {"kind": "l1"}], ids=repr)
def test_options(options: dict[str, Any]) -> None:
    expected = numeric_gradient(lambda x: chosen(x, **options), (X,))
    np.testing.assert_allclose(grad(chosen)(X, **options), expected, rtol=1e-6)


def test_one_derivative_serves_all_forms() -> None:
    df = grad(polynomial)
    for _ in range(2):
        assert df(2.0, 1.0, 2.0, 3.0) == 14.0
        assert df(2.0, 1.0) == 0.0
        assert df(2.0, 1.0, 2.0, scale=3.0) == 6.0
        assert df(2.0) == 0.0


def test_with_respect_to_arguments_behind_the_star() -> None:
    assert grad(polynomial, argnums=(1, 2, 3))(2.0, 1.0, 2.0, 3.0, scale=2.0) == (2.0, 4.0, 8.0)
    assert grad(anything, argnames="weight")(X, X, weight=2.0, other=3.0) == 1.0
    np.testing.assert_allclose(grad(anything, argnums=1)(X, 2 * X), X)


def test_both_modes_and_second_order() -> None:
    assert jvp(polynomial, (2.0, 1.0, 2.0), (1.0, 0.0, 0.0)) == (5.0, 2.0)
    assert vjp(polynomial, 2.0, 1.0, 2.0)[1](1.0) == (2.0, 1.0, 2.0)
    assert hessian(polynomial)(2.0, 1.0, 2.0, 3.0) == 6.0
    assert grad(grad(polynomial))(2.0, 1.0, 2.0, 3.0, scale=2.0) == 12.0


def test_methods_and_partials() -> None:
    np.testing.assert_allclose(grad(Model().loss)(X, 1.0, scale=2.0), 4 * X)
    assert grad(functools.partial(polynomial, scale=3.0))(2.0, 1.0, 5.0) == 15.0


def test_calls_inside_of_programs() -> None:
    def f(x: Any) -> Any:
        return polynomial(x[0], x[1], 2.0) + chosen(x, weight=1.5)

    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6)


def test_the_text_names_the_arguments() -> None:
    text = grad(polynomial).source_for(2.0, 1.0, 2.0)
    assert "def polynomial_grad_x(x, coefficients_0, coefficients_1, *, scale=1.0):" in text


def test_arguments_that_python_refuses() -> None:
    with pytest.raises(ArgumentError, match="missing a required argument: 'x'"):
        grad(polynomial)()
    with pytest.raises(ArgumentError, match="unexpected keyword argument 'other'"):
        grad(polynomial)(2.0, other=1)


def test_other_default_values() -> None:
    def f(x: Any, k: float = 2.0, *more: Any, scale: float = 1.0) -> Any:
        return x * k * scale + sum(more)

    df = grad(f)
    assert df(3.0) == 2.0
    f.__defaults__ = (5.0,)
    f.__kwdefaults__ = {"scale": 2.0}
    assert df(3.0) == 10.0
    assert df(3.0, 1.0, 4.0) == 2.0


def test_a_loop_sees_options_in_the_order_of_the_call() -> None:
    def f(x: Any, **options: Any) -> Any:
        s = 1.0
        for v in options.values():
            s = s * x + v
        return s

    df = value_and_grad(f)
    for _ in range(2):
        assert df(2.0, w=2.0, a=3.0) == (11.0, 6.0)
        assert df(2.0, a=3.0, w=2.0) == (12.0, 7.0)
    assert value_and_grad(functools.partial(f, w=2.0))(2.0, a=3.0) == (11.0, 6.0)
    assert value_and_grad(functools.partial(f, a=1.0, w=2.0))(2.0, a=3.0) == (12.0, 7.0)


FACTOR = 5.0


def test_options_named_as_what_the_function_reads() -> None:
    weight = 3.0

    def f(x: Any, *args: Any, power: float = 1.0, **options: Any) -> Any:
        """What the module, the function around it, and a function inside of it have."""
        return np.sum(x**power) * FACTOR * weight + sum(options.values()) * np.sum(x) + sum(args)

    def inside(x: Any, **options: Any) -> Any:
        return (lambda v: np.sum(v * FACTOR))(x) * options["FACTOR"]

    for name in ("FACTOR", "weight", "np", "args", "sum"):
        value, gradient = value_and_grad(f)(X, 4.0, power=2.0, **{name: 2.0, "other": 1.0})
        assert value == f(X, 4.0, power=2.0, **{name: 2.0, "other": 1.0})
        np.testing.assert_allclose(gradient, 2 * X * FACTOR * weight + 3.0)
        assert grad(f, argnames=name)(X, power=2.0, **{name: 2.0}) == np.sum(X)
    np.testing.assert_allclose(grad(inside)(X, FACTOR=2.0), np.full(2, 10.0))
    np.testing.assert_allclose(grad(lambda x, **o: x[0] * FACTOR * o["FACTOR"])(X, FACTOR=2.0), [10.0, 0.0])


def test_an_option_named_as_an_argument_by_position_is_refused() -> None:
    with pytest.raises(ArgumentError, match="the option x of <lambda> has the name of an argument"):
        grad(lambda x, /, **options: x * options["x"])(2.0, x=3.0)
