"""Lists and tuples where NumPy's functions take an array: constants and arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient

V = np.array([0.5, 1.2, 2.0])
P = [0.5, 1.2, 2.0]
CONSTANT = [
    case(f, V)
    for f in (
        lambda v: np.sum(np.sort(v) * [1.0, 2.0, 3.0]),
        lambda v: np.sum(v * (1.0, 2.0, 3.0) * v),
        lambda v: np.sum([1.0, 2.0, 3.0] / v) + np.sum(v - [0.5, 1.0, 2.0]),
        lambda v: np.sum(v ** [1.0, 2.0, 3.0]),
        lambda v: np.sum(np.multiply([1.0, 2.0, 3.0], np.sin(v))),
        lambda v: np.sum(np.maximum(v, [0.0, 1.5, 0.5])),
        lambda v: np.sum(np.where([True, False, True], v, [1.0, 2.0, 3.0])),
    )
]
ACTIVE = [
    case(f, P)
    for f in (
        lambda p: np.sum(np.multiply(p, p)),
        lambda p: np.sum(np.multiply(p, 2.0)) * p[0],
        lambda p: np.sum(np.sin(p)) + np.sum(np.hypot(p, 1.0)),
        lambda p: np.sum(np.array(p) * p),
        lambda p: np.sum(np.clip(p, 0.6, 1.5)) + np.sum(np.add(p, [1.0, 2.0, 3.0])),
    )
]


@pytest.mark.parametrize("c", [*CONSTANT, *ACTIVE], ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", [*CONSTANT, *ACTIVE], ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def divided(v: Any) -> Any:
    q = [v[0], *(v[1:] * 2.0)]
    q /= np.linalg.norm(q)
    return q[0] + q[1] * q[2]


def subtracted_from_a_tuple(v: Any) -> Any:
    t = v[0], v[1]
    t -= v[1:]
    return np.sum(t * v[:2])


def in_a_loop(v: Any) -> Any:
    q = [v[0], 2.0, v[2]]
    for i in range(3):
        q = [q[1], q[0], q[2]]
        q **= v + i
    return q[0] * q[1] + q[2]


@pytest.mark.parametrize("f", [divided, subtracted_from_a_tuple, in_a_loop])
def test_assignments_that_make_arrays_of_lists(f: Callable[..., Any]) -> None:
    check_gradient(case(f, V))
    way = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(jvp(f, (V,), (way,))[1], numeric_gradient(f, (V,)) @ way, rtol=1e-7)


# --- NumPy adds an array to a list by elements, what is written ``+=`` too


def a_list_becomes_an_array(v: Any) -> Any:
    a = [v[0]]
    a += np.sin(v)
    return a[0] * v[0]


def joined_or_added(items: Any, more: Any) -> Any:
    items += more
    return items


def a_list_becomes_an_array_in_a_callee(v: Any) -> Any:
    return sum(joined_or_added([v[0]], v)) * v[1]


def a_list_changes_and_becomes_an_array(v: Any) -> Any:
    a = [v[0]]
    a[0] = v[1]
    a += v[:2]
    return sum(a) * a[1]


def a_list_is_changed_twice_in_a_line(v: Any) -> Any:
    a = [v[0], 2.0]; a[0] = v[1]; a *= 2  # fmt: skip  # noqa: E702
    return sum(a) * a[1]


def a_list_that_nothing_is_taken_from(v: Any) -> Any:
    a = [v[0], 2.0]; a[0] = v[1]; a -= [v[0]]  # fmt: skip  # noqa: E702
    return sum(a) * v[1]


@pytest.mark.parametrize(
    "f",
    [
        *(a_list_becomes_an_array, a_list_becomes_an_array_in_a_callee, a_list_changes_and_becomes_an_array),
        *(a_list_is_changed_twice_in_a_line, a_list_that_nothing_is_taken_from),
    ],
)
def test_right_or_refused(f: Callable[..., Any]) -> None:
    try:
        found = grad(f)(V)
    except UnsupportedError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, (V,)), rtol=1e-7, atol=1e-9)


# --- a number times a list repeats the list


def repeated_in_place(v: Any) -> Any:
    n = 2
    n *= [v[0], v[1] * v[2]]
    return sum(n) * len(n)


def repeated_in_place_from_one(v: Any) -> Any:
    n = 3
    n *= [v[0]]
    return n[0] * n[1] + n[2]


def as_often_as_a_value_says(v: Any) -> Any:
    n = (v + 0.5).astype(int)[2]
    return np.sum((v[0], v[1]) * n) + sum(n * [v[1] * v[1]])


@pytest.mark.parametrize("f", [repeated_in_place, repeated_in_place_from_one, as_often_as_a_value_says])
def test_repeated_lists(f: Callable[..., Any]) -> None:
    check_gradient(case(f, V))
    way = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(jvp(f, (V,), (way,))[1], numeric_gradient(f, (V,)) @ way, rtol=1e-7)


@pytest.mark.parametrize(
    "f",
    [
        lambda v: sum([[v[0]], [v[1]]], [])[1] * v[2],
        lambda v: sum(((v[0], v[1]), (v[2],)), ())[1] * v[2],
        lambda v: max((v[0], 1.0), (v[2], v[1]))[1] * v[0],
        lambda v: min([[v[0], v[1]], [v[2], v[0]]])[1] * v[0],
    ],
)
def test_sums_and_extremes_of_lists_are_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(UndefinedDerivativeError, match="of lists or tuples"):
        grad(f)(V)
