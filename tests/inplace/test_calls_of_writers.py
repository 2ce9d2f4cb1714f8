"""Functions that write, called by another name, with ``*`` and ``**``, or with arguments that they do not take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError
from tests.language.support import case, check_gradient
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.0, 2.0])


def put(q: Any, v: Any) -> None:
    q[0] = v


def halve(q: Any) -> Any:
    q *= 0.5
    return q


def nothing(q: Any, x: Any) -> None:
    q[0] = 1.0


# -- by another name ---------------------------------------------------------------------------------------------------


def active(x: Any) -> Any:
    w = halve
    b = x * x
    w(b)
    return np.sum(b * x)


def active_and_not_read(x: Any) -> Any:
    w = nothing
    b = x * x
    w(b, x)
    return np.sum(x * x)


def constant_beside_what_is_active(x: Any) -> Any:
    w = nothing
    b = np.zeros(3)
    w(b, x)
    return np.sum(x * x * b)


def in_a_loop(x: Any) -> Any:
    w = nothing
    b = x * x
    for _ in range(2):
        w(b, x)
    return np.sum(x * x)


def in_a_branch(x: Any) -> Any:
    w = nothing
    b = x * x
    if x[0] > 0.0:
        w(b, x)
    return np.sum(x * x)


def in_a_condition(x: Any) -> Any:
    w = halve
    b = np.ones(3)
    while w(b)[0] > 0.1:
        x = x * 1.5
    return np.sum(b * x)


def in_a_comprehension(x: Any) -> Any:
    w = halve
    b = np.ones(3)
    parts = [w(b)[0] for _ in range(2)]
    return np.sum(b * x) * parts[0]


def given_to_map(x: Any) -> Any:
    w = halve
    b = np.ones(3)
    parts = list(map(w, [b, b]))
    return np.sum(b * x) * len(parts)


def of_a_name(x: Any) -> Any:
    w = halve
    u = w
    b = x * x
    u(b)
    return np.sum(b)


def rebound_of_constants(x: Any) -> Any:
    b = np.ones(3)
    w = halve
    w(b)
    w = np.negative
    c = w(b)
    return np.sum(b * c * x)


@pytest.mark.parametrize(
    "f",
    [
        active,
        active_and_not_read,
        constant_beside_what_is_active,
        in_a_loop,
        in_a_branch,
        in_a_condition,
        in_a_comprehension,
        given_to_map,
        of_a_name,
        rebound_of_constants,
    ],
    ids=lambda f: f.__name__,
)
def test_a_local_name_for_a_function_that_writes(f: Callable[[Any], Any]) -> None:
    check_gradient(case(f, X))


# -- with * and **, and wrongly ----------------------------------------------------------------------------------------


def constant_by_keywords(x: Any) -> Any:
    a = np.ones(3)
    put(**{"q": a, "v": 0.35})
    return np.sum(a * x)


def constant_by_a_tuple(x: Any) -> Any:
    a = np.ones(3)
    put(*(a, 0.35))
    b = halve(*[a])
    return np.sum(a * b * x)


def active_by_a_tuple(x: Any) -> Any:
    a = x * x
    put(*(a, 0.35))
    return np.sum(a)


@pytest.mark.parametrize("f", [constant_by_keywords, constant_by_a_tuple, active_by_a_tuple], ids=lambda f: f.__name__)
def test_arguments_may_be_given_in_these_forms(f: Callable[[Any], Any]) -> None:
    check_gradient(case(f, X))


def active_by_keywords(x: Any) -> Any:
    a = x * x
    put(**{"q": a, "v": 0.35})
    return np.sum(a)


def active_by_a_keyword_and_more(x: Any) -> Any:
    a = np.zeros(3)
    put(a, **{"v": x[1]})
    return np.sum(a)


def active_result(x: Any) -> Any:
    a = x * x
    b = halve(**{"q": a})
    return np.sum(b)


def by_another_name(x: Any) -> Any:
    a = x * x
    w = halve
    w(*[a])
    return np.sum(a)


@pytest.mark.parametrize(
    "f",
    [active_by_keywords, active_by_a_keyword_and_more, active_result, by_another_name],
    ids=lambda f: f.__name__,
)
def test_what_is_differentiated_may_be_given_with_stars(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-8, atol=1e-8)


def unknown_keyword(x: Any) -> Any:
    a = x * x
    if x[0] < 0.0:
        put(a, w=x[1])
    return np.sum(a)


def too_many(x: Any) -> Any:
    a = x * x
    b = halve(a, 2.0) if x[0] < 0.0 else a
    return np.sum(b)


def twice(x: Any) -> Any:
    a = x * x
    put(a, q=a)
    return np.sum(a)


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (unknown_keyword, "put writes into what it is given, and cannot be called so: got an unexpected keyword"),
        (too_many, "halve cannot be called so: too many positional arguments"),
        (twice, "put writes into what it is given, and cannot be called so: multiple values for argument 'q'"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_arguments_that_the_function_does_not_take(f: Callable[[Any], Any], why: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        grad(f)(X)
    (violation,) = caught.value.violations
    assert violation.message.startswith(why)


def constants_that_it_does_not_take(x: Any) -> Any:
    a = np.ones(3)
    if x[0] < 0.0:
        put(a, w=2.0)
        a = halve(a, 2.0)
    return np.sum(a * x)


def length_by_a_name(x: Any) -> Any:
    return np.sum(x) * (len(x) if x[0] > 0.0 else len(q=[1.0]))  # type: ignore[call-arg]


@pytest.mark.parametrize("f", [constants_that_it_does_not_take, length_by_a_name], ids=lambda f: f.__name__)
def test_a_wrong_call_fails_where_python_would(f: Callable[[Any], Any]) -> None:
    check_gradient(case(f, X))
    with pytest.raises(TypeError, match="keyword"):
        grad(f)(-X)
