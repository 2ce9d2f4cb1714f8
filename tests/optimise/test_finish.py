"""Adjoints and tangents as short as they get: the text, and that it has the values of the longer one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.pushforwards import pushforward
from tests.oracle import richardson_jvp

X = np.array([0.4, -0.8, 1.3, 0.2])
D = np.array([1.0, -0.5, 0.3, 2.0])


def constants(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def one_tangent(x: Any) -> Any:
    return np.sum(np.exp(x * np.sin(x)))


def difference(x: Any) -> Any:
    return np.sum(np.tanh(x * np.sin(x) - x * np.cos(x) ** 2 - 3.0 * x))


def dot(x: Any) -> Any:
    return np.log(np.sum(np.exp(x))) * x[0]


def divisor(x: Any) -> Any:
    y = np.sin(x)
    return np.sum(np.cos(y) / (1.0 + y**2))


def squares(x: Any) -> Any:
    r = np.outer(np.sin(x), x) - 1.0
    return 0.5 * np.mean(np.sum(r * r, axis=1)) - np.mean(np.exp(-x))


def a_mean(x: Any) -> Any:
    margin = D * x
    return np.mean(np.log1p(np.exp(-margin)))


def a_root(x: Any) -> Any:
    f = np.sin(x[0])
    return np.sqrt(f * f + 1.0) * np.sqrt(x[2] * x[2])


@pytest.mark.parametrize("f", [constants, one_tangent, difference, dot, divisor, squares, a_mean, a_root])
def test_tangents(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(jvp(f, (X,), (D,))[1], richardson_jvp(f, [X], [D]), rtol=1e-8)
    np.testing.assert_allclose(grad(f)(X) @ D, richardson_jvp(f, [X], [D]), rtol=1e-8)
    along, expected = lambda x: grad(f)(x) @ D, richardson_jvp(lambda x: grad(f)(x) @ D, [X], [D])
    np.testing.assert_allclose(jvp(along, (X,), (D,))[1], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("constants", "200.0 * (x_dot[1:] - 2 * t_dot * t) * t_2 - 2 * t_dot * t_3"),
        ("one_tangent", "(t + np.cos(x) * x) * x_dot"),
        ("dot", "t @ x_dot / t_2 * x[0]"),
        ("squares", "np.mean(np.sum(r * r_dot, axis=1)) + x_dot @ t_2 / len(x_dot)"),
        ("a_mean", "-(margin_dot @ (t / (1 + t)) / len(margin_dot))"),
        ("divisor", "(-np.sin(y) - 2 * y * t_2) * y_dot / t"),
    ],
)
def test_texts(name: str, line: str) -> None:
    text = pushforward(globals()[name], 1).compiled((X,), (0,)).compiled.text
    assert line in text


def test_a_root_of_what_is_surely_positive_is_no_zero() -> None:
    """The other one may be zero, and has a condition for it."""
    text = pushforward(a_root, 1).compiled((X,), (0,)).compiled.text
    assert text.count(" if ") == 1


def test_variables_of_the_user_stay_as_they_are() -> None:
    """Another order of operations would round otherwise."""

    def f(x: Any) -> Any:
        x_dot = 1.0 / (x + 3.0) * 0.1 - 3.0 * (0.7 * x)
        y_dot = np.zeros(4)
        y_dot[:] = 1.0 / (x + 7.0) * 0.3 - 3.0 * (0.7 * x)
        return np.sum(x_dot * x) + np.sum(y_dot * x)

    assert jvp(f, (X,), (D,))[0] == f(X)
    np.testing.assert_allclose(jvp(f, (X,), (D,))[1], richardson_jvp(f, [X], [D]), rtol=1e-8)
