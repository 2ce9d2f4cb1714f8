"""What is tried and surely raises, or surely does not: attributes that are computed once, and keys."""
# ruff: noqa: SIM105

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient
from tests.transform.remaining import check_both_modes, check_gradient


class Lazy:
    def __init__(self, x: Any) -> None:
        self.x = x

    @property
    def fourth(self) -> Any:
        try:
            return self._fourth
        except AttributeError:
            if self.x > 10.0:
                raise
            return self.x**4

    @property
    def square(self) -> Any:
        try:
            return self._square
        except AttributeError:
            self._square = self.x**2
            return self._square

    def cube(self) -> Any:
        try:
            self._cube  # noqa: B018
        except AttributeError:
            self._cube = self.x**3
        return self._cube

    def one_of_two(self) -> Any:
        try:
            v = self._v
        except (KeyError, AttributeError):
            v = self._v = self.x * 4
        else:
            v = v * 3.0
        return v

    def named(self) -> Any:
        try:
            return self._n
        except Exception as error:  # noqa: F841
            self._n = self.x * 5
        return self._n


def returned(v: Any) -> Any:
    one = Lazy(v[0])
    return one.square * one.square + v[1]


def set_before(v: Any) -> Any:
    one = Lazy(v[0])
    one._square = v[1] * v[0]
    return one.square * one.square


def in_a_loop(v: Any) -> Any:
    one, t = Lazy(v[0]), 0.0
    for _ in range(3):
        t += one.square * v[1]
    return t


def asked(v: Any) -> Any:
    one = Lazy(v[0])
    return one.cube() * one.cube() + v[1]


def of_two_classes(v: Any) -> Any:
    one = Lazy(v[0])
    return one.one_of_two() * one.one_of_two() * v[1]


def with_a_name(v: Any) -> Any:
    one = Lazy(v[0])
    return one.named() * one.named() * v[1]


def a_key(v: Any) -> Any:
    held = {"a": v[0] * 2}
    try:
        b = held["b"]
    except KeyError:
        b = held["b"] = v[1] ** 2
    try:
        a = held["a"]
    except KeyError:
        a = 0.0
    return a * b * held["b"]


PROGRAMS = [returned, set_before, in_a_loop, asked, of_two_classes, with_a_name, a_key]


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_gradient(f: Callable[[Any], Any]) -> None:
    v, d = np.array([0.3, 0.7]), np.array([1.0, -2.0])
    check_both_modes(f, v, d)


def raised_again(v: Any) -> Any:
    return Lazy(v[0]).fourth * v[1]


def test_a_handler_that_raises_again_is_no_statement_of_its_own() -> None:
    check_gradient(raised_again, False)
    with pytest.raises((AttributeError, S2SADError)):
        grad(raised_again)(np.array([20.0, 1.0]))


def two(_: Any) -> float:
    return 2.0


def a_name_that_is_not_there(x: Any) -> Any:
    try:
        factor = two(NOT_THERE)  # type: ignore[name-defined]
    except NameError:
        factor = 3.0
    return factor * x[0]


def a_function_by_a_name_that_is_not_there(x: Any) -> Any:
    functions = [np.sin]
    try:
        function = functions[int(two(NOT_THERE)) - 2]  # type: ignore[name-defined]
    except NameError:
        function = np.cos
    return function(x[0])


@pytest.mark.parametrize("f", [a_name_that_is_not_there, a_function_by_a_name_that_is_not_there])
def test_names_that_are_not_there_are_tried(f: Callable[..., Any]) -> None:
    check_gradient(f, np.array([0.3, 0.5]))


def check_by_differences(f: Callable[[Any], Any], x: Any) -> None:
    expected = numeric_gradient(f, [x])
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (x,))[1], np.sum(expected * x), rtol=1e-7)


asarray, empty_like = np.asarray, np.empty_like


def without_numpy_perhaps(x: Any) -> Any:
    """As in modules that do without NumPy where it is not installed."""
    try:
        x = asarray(x)
    except NameError:
        pass
    root = np.sqrt(x * x)
    try:
        part = empty_like(root)
        small = root < 0.5
        part[small] = np.sin(root[small])
        part[~small] = root[~small] ** 2
    except NameError:
        part = 0.0 if root < 0.5 else 1.0
    return np.sum(part * x)


def one_or_several(x: Any) -> Any:
    """The second depends on what the first leaves: an array, whatever came in."""
    try:
        x = np.atleast_1d(x)
    except (NameError, ImportError):
        pass
    try:
        small = abs(x) < 0.5
        x[small] = 2.0 * x[small]
    except TypeError:
        x = 2.0 * x if abs(x) < 0.5 else x
    return np.sum(x * x)


@pytest.mark.parametrize("x", [np.array([0.3, 0.7]), np.array([[0.3, 0.7], [0.2, -0.9]])])
def test_operations_say_of_no_name_that_it_is_missing(x: Any) -> None:
    check_by_differences(without_numpy_perhaps, x)
    check_by_differences(one_or_several, x)


def test_a_number_has_become_an_array() -> None:
    check_by_differences(one_or_several, 0.3)
    check_by_differences(one_or_several, 0.7)


def a_variable_without_a_value(x: Any) -> Any:
    try:
        y = x * 2.0
        if x > 1.0:
            factor = 5.0
        y = y * factor
    except NameError:
        y = 3.0 * x
    return y


@pytest.mark.parametrize("x", [0.5, 1.5])
def test_a_variable_that_has_no_value_is_a_name_that_is_missing(x: float) -> None:
    check_by_differences(a_variable_without_a_value, x)
