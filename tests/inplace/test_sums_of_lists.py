"""Sums, multiples, merges and copies of what may be lists or dicts of arrays, whose items are written by operators.

Where a container is written through one of its items, nothing is known of what that item is. The gradient is right, or
refused as it runs; the tangent is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, -0.4, 0.9])


def sum_of_an_item(x: Any) -> Any:
    u = x * 1.0
    held = [[u, u]]
    both = held[0] + held[0]
    both[-1] *= x[3]
    return np.sum(u * u)


def sum_with_a_display(x: Any) -> Any:
    u = x * 1.0
    held = [[u, u]]
    both = held[0] + [u]
    both[-1] *= x[3]
    return np.sum(u * u)


def multiple(x: Any) -> Any:
    u = x * 1.0
    held = {"rows": [u, u]}
    both = held["rows"] * 2
    both[-1] += x[3]
    return np.sum(u * u)


def multiple_by_an_argument(x: Any, n: int = 2) -> Any:
    u = x * 1.0
    held = [[u, u]]
    both = held[0] * n
    both[0] *= x[3]
    return np.sum(u * u)


def merged(x: Any) -> Any:
    u = x * 1.0
    held = [{"a": u}]
    both = held[0] | held[0]
    both["a"] *= x[3]
    return np.sum(u * u)


def sum_in_a_callee(x: Any) -> Any:
    def both_of(a: Any, b: Any) -> Any:
        both = a + b
        both[0] *= 2.0
        return both

    u = x * 1.0
    held = [[u, u]]
    both = both_of(held[0], held[0])
    both[0] *= x[3]
    return np.sum(u * u)


def sum_of_tuples(x: Any) -> Any:
    u = x * 1.0
    held = [(u, u)]
    both = held[0] + held[0]
    part = both[-1]
    part *= x[3]
    both[0][2] = x[1]
    return np.sum(u * u)


def sum_under_keys(x: Any) -> Any:
    u = x * 1.0
    held = {"a": {"b": [u]}}
    both = held["a"]["b"] + held["a"]["b"]
    both[-1] *= x[3]
    both[0] += x[1]
    return np.sum(u * u) + np.sum(held["a"]["b"][0])


def sum_beside_the_list(x: Any) -> Any:
    u = x * 1.0
    held = [[u, u]]
    rows = held[0] + held[0] if x[0] > 0 else held[0]
    rows[-1] *= x[3]
    return np.sum(u * u)


def copied_list(x: Any) -> Any:
    u = x * 1.0
    held = [[u, u * 2.0]]
    for part in held:
        part[0] *= 1.5
    other = held[0].copy()
    other[-1] *= x[3]
    return np.sum(u * u) + np.sum(held[0][1])


def copied_list_of_which_an_element_is_stored(x: Any) -> Any:
    u = x * 1.0
    held = [[u, u * 2.0]]
    for part in held:
        part[0] *= 1.5
    other = held[0].copy()
    other[0][0] = x[3]
    return np.sum(u * u) + np.sum(held[0][1])


def copied_dict(x: Any) -> Any:
    u = x * 1.0
    held = [{0: u, 1: u * 2.0}]
    for part in held:
        part[0] *= 1.5
    other = held[0].copy()
    item = other[0]
    item *= x[3]
    other[1][1] = x[0]
    return np.sum(u * u) + np.sum(held[0][1])


PROGRAMS = (
    copied_list,
    copied_list_of_which_an_element_is_stored,
    copied_dict,
    sum_of_an_item,
    sum_with_a_display,
    multiple,
    multiple_by_an_argument,
    merged,
    sum_in_a_callee,
    sum_of_tuples,
    sum_under_keys,
    sum_beside_the_list,
)


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradient_is_right_or_refused(f: Callable[..., Any]) -> None:
    try:
        value, gradient = value_and_grad(f)(X)
    except S2SADError:
        return
    assert value == f(X)
    np.testing.assert_allclose(gradient, numeric_gradient(f, (X,)), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("f", PROGRAMS)
def test_tangent(f: Callable[..., Any]) -> None:
    dot = np.array([0.4, -1.1, 0.7, 0.2])
    value, tangent = jvp(f, (X,), (dot,))
    assert value == f(X)
    np.testing.assert_allclose(tangent, numeric_gradient(f, (X,)) @ dot, rtol=1e-7, atol=1e-9)


def test_gradient_of_the_tangent_of_a_sum() -> None:
    dot = np.array([0.4, -1.1, 0.7, 0.2])

    def slope(x: Any) -> Any:
        return jvp(sum_with_a_display, (x,), (dot,))[1]

    try:
        gradient = grad(slope)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(gradient, numeric_gradient(slope, (X,)), rtol=1e-7, atol=1e-9)


def integral(f: Callable[..., Any], a: Any, b: Any) -> Any:
    h = (b - a) / 3
    total = 0.5 * (f(a) + f(b))
    for i in range(1, 3):
        total = total + f(a + i * h)
    return total * h


def test_sum_of_what_functions_give_is_checked() -> None:
    gradient = grad(integral, argnums=2)
    args = (math.sin, 0.1, 1.0)
    np.testing.assert_allclose(gradient(*args), numeric_gradient(integral, args, 2), rtol=1e-7)
    assert gradient.source_for(*args).count("require_arithmetic(t, t_2)") == 1
