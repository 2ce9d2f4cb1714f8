"""Constant arrays that are written after they were read, in ways that no store shows."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient

X = np.array([0.71, 1.32, 0.57, 1.81, 1.13])
RNG = np.random.default_rng(0)


def by_a_generator_of_numbers(x: Any) -> Any:
    a = np.arange(5.0)
    y = a * x
    RNG.random(None, float, a)
    return np.sum(y * y)


def by_one_that_is_made_here(x: Any) -> Any:
    a = np.arange(5.0)
    y = a * x
    np.random.default_rng(0).standard_normal(None, float, a)
    return np.sum(y * y)


def by_one_with_starred_keywords(x: Any) -> Any:
    a = np.arange(5.0)
    y = a * x
    options = {"out": a}
    RNG.random(**options)
    return np.sum(y * y)


def by_a_reduction(x: Any) -> Any:
    a = np.arange(5.0)
    y = a * x
    functools.reduce(operator.imul, [a, 2.0, 3.0])
    return np.sum(y * y)


def by_a_mapped_function_of_numpy(x: Any) -> Any:
    a = np.arange(5.0)
    y = a * x
    list(map(np.multiply, [a], [a], [a]))
    return np.sum(y * y)


def by_a_mapped_method(x: Any) -> Any:
    a = np.arange(5.0)
    fill = a.fill
    y = a * x
    list(map(fill, [3.0]))
    return np.sum(y * y)


def by_a_partial_function(x: Any) -> Any:
    a = np.arange(5.0)
    put = functools.partial(np.put, a)
    y = a * x
    put(0, 9.0)
    return np.sum(y * y)


def while_an_iteration_makes_rows(x: Any) -> Any:
    a = np.ones((2, 5))
    y = x
    for i, v in enumerate(u * 2 for u in a):
        y = y * v * (i + 1)
        a[1] += 1.0
    return np.sum(y * y)


def through_the_result_of_out(x: Any) -> Any:
    a = np.arange(5.0)
    b = np.add(a, 1.0, a)
    b[0] = 8.0
    c = np.cumsum(a, out=a)
    c[1] = 3.0
    return np.sum(a * x)


def through_what_is_not_copied(x: Any) -> Any:
    a = np.arange(5.0)
    b = np.array(a, None, copy=False)
    b[0] = 8.0
    c = np.nan_to_num(a, False)
    c[1] = 3.0
    return np.sum(a * x)


def through_the_longest(x: Any) -> Any:
    a = np.arange(5.0)
    y = a * x
    b = max([a, a[1:]], key=len)
    b[0] = 8.0
    return np.sum(y * y)


def by_a_function_that_is_given(x: Any, f: Any = np.sqrt) -> Any:
    y = x
    for v in map(f, [1.0, 2.0]):
        y = y * v
    return np.sum(y * y)


def by_a_lambda_of_a_parameter(x: Any, s: Any = 2.0) -> Any:
    f = lambda v: v * s  # noqa: E731
    y = x
    for v in map(f, [1.0, 2.0]):
        y = y * v
    return np.sum(y * y)


CASES = [
    case(f, X)
    for f in (
        through_the_result_of_out,
        through_what_is_not_copied,
        through_the_longest,
        by_a_function_that_is_given,
        by_a_lambda_of_a_parameter,
        by_a_generator_of_numbers,
        by_one_that_is_made_here,
        by_one_with_starred_keywords,
        by_a_reduction,
        by_a_mapped_function_of_numpy,
        by_a_mapped_method,
        by_a_partial_function,
        while_an_iteration_makes_rows,
    )
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def by_a_generator_expression_later(x: Any) -> Any:
    a = np.arange(5.0)
    later = (a.fill(3.0) for _ in range(2))  # type: ignore[func-returns-value]
    y = a * x
    list(later)
    return np.sum(y * y)


def by_a_generator_expression_that_is_iterated(x: Any) -> Any:
    a = np.arange(5.0)
    y = x
    for _ in (a.fill(k) for k in range(2)):  # type: ignore[func-returns-value]
        y = y * a
    return np.sum(y * y)


def by_a_map_later(x: Any) -> Any:
    a = np.arange(5.0)
    later = map(a.fill, [3.0])
    y = a * x
    list(later)
    return np.sum(y * y)


def by_a_map_of_a_method_later(x: Any) -> Any:
    a = np.arange(5.0)
    fill = a.fill
    y = x
    for _ in map(fill, [1.0, 2.0]):
        y = y * a
    return np.sum(y * y)


LATER = [
    by_a_map_later, by_a_map_of_a_method_later, by_a_generator_expression_later,
    by_a_generator_expression_that_is_iterated,
]  # fmt: skip


@pytest.mark.parametrize("f", LATER, ids=lambda f: f.__name__)
def test_what_writes_when_it_is_asked(f: Any) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-8, atol=1e-8)
