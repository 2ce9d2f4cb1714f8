"""Methods that are called by their class or by name, and functions without source that write what they are given."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.number_and_constants import MODES, X, check_as_python, check_refused_at_its_place

RIGHT: list[Callable[..., Any]] = []
REFUSED: list[Callable[..., Any]] = []


def right(f: Callable[..., Any]) -> Callable[..., Any]:
    RIGHT.append(f)
    return f


def refused(f: Callable[..., Any]) -> Callable[..., Any]:
    REFUSED.append(f)
    return f


@right
def filled_by_its_class(x: Any, k: Any, a: Any, *_: Any) -> Any:
    type(a).fill(a, k)
    return np.sum(a) * x


@refused
def active_array_is_sorted_by_its_class(x: Any, k: Any, *_: Any) -> Any:
    a = np.array([2.0 * x, x, k])
    type(a).sort(a)
    return a[0] * a[1]


@refused
def active_array_is_reshaped_by_its_class(x: Any, k: Any, *_: Any) -> Any:
    a = np.array([2.0 * x, x])
    return np.sum(type(a).reshape(a, 2, 1) * k)


@right
def functions_are_called_by_name(x: Any, k: Any, a: Any, *_: Any) -> Any:
    np.add.__call__(a, 1.0, a)
    np.add.at.__call__(a, [0], k)
    np.copyto.__call__(a[2:], 4.0)
    return np.sum(a) * x


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_as_python(f: Callable[..., Any], mode: str) -> None:
    check_as_python(f, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_is_refused_at_its_place(f: Callable[..., Any], mode: str) -> None:
    check_refused_at_its_place(f, mode)


def filled_by_a_variable(x: Any, a: Any) -> Any:
    c = type(a)
    c.fill(a, 2.0)
    return np.sum(a) * x


def filled_by_a_given_class(x: Any, a: Any, c: Any = np.ndarray) -> Any:
    c.fill(a, 2.0)
    return np.sum(a) * x


@pytest.mark.parametrize("f", [filled_by_a_variable, filled_by_a_given_class])
def test_method_of_a_class(f: Callable[..., Any]) -> None:
    a = np.ones(3)
    with pytest.raises(UndefinedDerivativeError, match="a method of the class ndarray is called by itself"):
        value_and_grad(f)(X, a)
    np.testing.assert_array_equal(a, 1.0)


def appended_to(c: Any, items: Any) -> None:
    c.append(items, 3.0)


def appended_by_a_callee(x: Any, items: Any) -> Any:
    appended_to(list, items)
    return items[-1] * x


def test_class_that_a_callee_is_given() -> None:
    items = [1.0]
    assert value_and_grad(appended_by_a_callee)(X, items) == (3.0 * X, 3.0)
    assert items == [1.0]


def appended_by_name(x: Any) -> Any:
    items = [x, 2.0 * x]
    operator.methodcaller("append", 3.0)(items)
    return items[-1] * x


def test_list_that_a_call_without_source_changes() -> None:
    for derivative in (lambda: value_and_grad(appended_by_name)(X), lambda: jvp(appended_by_name, (X,), (1.0,))):
        with pytest.raises(UnsupportedError, match=r"written into|changes an object"):
            derivative()


def packed_into(x: Any, a: Any) -> Any:
    struct.pack_into("d", a, 0, 5.0)
    return np.sum(a) * x


def test_numbers_that_are_packed_into_an_array() -> None:
    a = np.ones(3)
    assert value_and_grad(packed_into)(X, a) == (3.5, 7.0)
    np.testing.assert_array_equal(a, 1.0)


def added_at_by_the_class(x: Any) -> Any:
    a = np.array([x, x * x])
    np.ufunc.at(np.add, a, [0], x)  # type: ignore[arg-type]
    return np.sum(a)


def test_function_of_the_class_of_ufuncs() -> None:
    with pytest.raises(UnsupportedError, match="has no derivative rule"):
        value_and_grad(added_at_by_the_class)(X)
