"""Constant arrays that something differentiated is written into through an expression, and that a callee then reads."""

# Programs spell the same write in many ways.
# ruff: noqa: C416, PLC3002, RUF015

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.2, -0.7])
D = np.array([1.0, -0.5, 0.25])


def use(q: Any) -> Any:
    return np.sum(q * q)


def put(q: Any, t: Any) -> None:
    q[0] = t


def pair(q: Any, p: Any) -> Any:
    return q, p


def view_of_another_form(x: Any) -> Any:
    a = np.ones(3)
    a.reshape(3)[0] = x[1]
    return use(q=a)


def transposed(x: Any) -> Any:
    a = np.ones(3)
    np.transpose(a)[0] = x[1]
    return use(q=a) * x[0]


def conditional(x: Any) -> Any:
    a, b = np.ones(3), np.ones(3)
    (a if x[0] > 0.0 else b)[0] = x[1]
    return use(a) * x[0] + use(b)


def item_of_a_list(x: Any) -> Any:
    a = np.ones(3)
    [a][0][0] = x[1]
    return use(a) * x[0]


def item_of_a_dict(x: Any) -> Any:
    a = np.ones(3)
    {"q": a}["q"][0] = x[1]
    return use(a) * x[0]


def item_of_a_sum(x: Any) -> Any:
    a = np.ones(3)
    ([a] + [x])[0][0] = x[1]
    return use(a) * x[0]


def item_of_a_comprehension(x: Any) -> Any:
    a = np.ones(3)
    q = [t for t in [a]]
    q[0][0] = x[1]
    return use(a) * x[0]


def result_of_a_function(x: Any) -> Any:
    a = np.ones(3)
    pair(a, x)[0][0] = x[1]
    return sum(map(use, [a]))


def given_to_a_function(x: Any) -> Any:
    a = np.ones(3)
    put(np.asarray(a), x[1])
    return use(a) * x[0]


def given_to_a_function_in_a_display(x: Any) -> Any:
    a = np.ones(3)
    put([a, x][0], x[1])
    return use(a) * x[0]


def entered(x: Any) -> Any:
    a = np.ones(3)
    with contextlib.nullcontext(a) as t:
        t[0] = x[1]
    return use(a)


def read_by_a_lambda(x: Any) -> Any:
    a = np.ones(3)
    a.view()[0] = x[1]
    return (lambda: use(a))()


CASES = (
    view_of_another_form, result_of_a_function, transposed, conditional, item_of_a_list, item_of_a_dict, item_of_a_sum,
    item_of_a_comprehension, given_to_a_function, given_to_a_function_in_a_display, entered, read_by_a_lambda,
)  # fmt: skip


@pytest.mark.parametrize("f", CASES)
def test_what_is_written_through_an_expression_is_differentiated(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(jvp(f, (X,), (D,))[1], expected @ D, rtol=1e-8)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-8)
