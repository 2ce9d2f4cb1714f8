"""What the reverse and forward parts do not do twice, or in two steps: the text, and the gradients by differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.4, -0.8, 1.3, 0.2, 0.7])
W = np.array([[0.2, -0.4, 0.1, 0.0, 0.3], [0.5, 0.3, -0.2, 0.1, 0.1], *np.eye(3, 5)])


def kernel_of_signs(u: Any) -> Any:
    for i in range(1, 3):
        u[i, 1:] -= np.log(np.exp(-u[i - 1, :-1]) + np.exp(-u[i - 1, 1:]))
    return u


def signs(u: Any) -> Any:
    result = kernel_of_signs(u)
    return np.sum(result)


def a_sign_in_front_of_a_number(x: Any) -> Any:
    return np.sum(3.0 * (1.0 - x[:-1]) ** 2 - x[1:] * x[:-1])


def kernel_of_waves(u: Any, v: Any) -> Any:
    for _ in range(3):
        v[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u += v
    return u


def waves(x: Any) -> Any:
    result = kernel_of_waves(x * 1.0, x * x)
    return np.sum(result * result)


def kernel_of_products(x: Any) -> Any:
    for i in range(1, len(x)):
        x[i] = x[i] * x[i - 1]
    return x


def products(x: Any) -> Any:
    result = kernel_of_products(x)
    return np.sum(result)


def products_from_the_end(x: Any) -> Any:
    y = x * 1.0
    for i in range(len(y) - 1, -1, -1):
        y[i] = y[i] * y[i - 1]
    return np.sum(y * y)


def states(w: Any) -> Any:
    h = np.zeros(5)
    for x in X:
        h = np.tanh(w @ h + x)
    return np.sum(h * h)


def states_that_are_left(w: Any) -> Any:
    h = np.ones(5)
    for x in X:
        if x > 1.0:
            break
        h = np.tanh(w @ h + x)
    return np.sum(h * h)


def states_of_two_loops(w: Any) -> Any:
    total = 0.0
    for x in X[:3]:
        h = np.ones(5)
        for _ in range(2):
            h = np.tanh(w @ h + x)
        total = total + np.sum(h * h)
        h = h * h
    return total + np.sum(h)


def states_in_place(w: Any) -> Any:
    h = np.ones(5)
    for x in X:
        g = np.tanh(w @ h + x)
        h = g
    h += 1.0
    h *= h
    return np.sum(h * h)


def kernel_of_horner(c: Any, x: Any) -> Any:
    result = np.zeros_like(x)
    for i in range(len(c)):
        result *= x
        result += c[i]
    return result


def horner(x: Any) -> Any:
    return np.sum(kernel_of_horner(X, x) ** 2)


TEXTS: dict[Callable[..., Any], tuple[list[str], list[str]]] = {
    signs: (["+= t_bar_3 * t_2", "+= t_bar_3 * t\n", "u_bar = np.ones_like(u)"], ["= -("]),
    a_sign_in_front_of_a_number: (["x_bar[1:] -= t_3", "x_bar[:-1] -= t_2 + 6.0 * t"], ["-= -"]),
    waves: (["v_bar += u_bar\n"], [".copy()"]),
    products: (["x_bar[i - 1] += t_bar_2 * t\n        x_bar[i] = t_bar_2 * x[i - 1]"], ["x_bar[i] = 0.0"]),
    products_from_the_end: (["y_bar[i] = 0.0"], []),
    states: (["saved.append(h) ", "h_2 = h\n        h = saved.pop()"], ["saved.append((h"]),
    states_that_are_left: ([], []),
    states_of_two_loops: ([], []),
    states_in_place: ([], []),
    horner: (["result = result * x ", "result += c[i]"], ["own("]),
}


@pytest.mark.parametrize("f", TEXTS, ids=lambda f: f.__name__)
def test_text_and_gradient(f: Callable[..., Any]) -> None:
    point = W.copy() if f in (signs, states, states_that_are_left, states_of_two_loops, states_in_place) else X.copy()
    value, found = value_and_grad(f)(point)
    assert value == pytest.approx(f(point.copy()))
    np.testing.assert_allclose(found, numeric_gradient(f, (point,)), rtol=1e-7, atol=1e-9)
    gradient = grad(f)
    np.testing.assert_allclose(gradient(point), found, rtol=1e-13)
    text, (there, absent) = gradient.source_for(point), TEXTS[f]
    assert all(line in text for line in there), text
    assert not any(line in text for line in absent), text


def test_arrays_of_two_axes_keep_their_layout() -> None:
    """What is copied has the strides of the array, on which it rests whether ``reshape`` gives a view."""

    def f(x: Any) -> Any:
        y = np.zeros((2, 5)).T
        total = 0.0
        for i in range(3):
            y += np.outer(x, x[:2])
            y *= x[i]
            flat = y.reshape(10)
            flat[0] = 5.0
            total = total + np.sum(y * y)
        return total

    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7)
