"""Calls that are other expressions or statements: `typing.cast`, functions of NumPy that give one array for each
argument, `operator.setitem`."""

from __future__ import annotations

import operator
import typing
from typing import Any, cast

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.oracle import numeric_gradient

Array = np.ndarray
put_item, clean, planes = operator.setitem, np.nan_to_num, np.atleast_2d
X = np.array([0.3, 0.7, -0.4])


def by_name(x: Any) -> Any:
    y = cast(Array, x)
    y = y * y
    return np.sum(cast("Array", y) * cast(typing.Any, x))


def under_other_names(x: Any) -> Any:
    y = x * x
    put_item(y, 0, x[1] * 3.0)
    clean(y, copy=False)
    a, b = planes(y, x)
    return np.sum(a * b)


def by_module(x: Any) -> Any:
    return np.sum(typing.cast(tuple[float, ...], x) ** 2)


def written_through(x: Any) -> Any:
    y = x * 1.0
    z = cast(Array, y)
    z[0] = z[1] * 3.0
    return np.sum(y**2)


def two_dimensions(x: Any) -> Any:
    a = x[0]
    a, b = np.atleast_2d(a, x)
    return np.sum(a @ b)


def kept_together(x: Any) -> Any:
    rows = np.atleast_1d(x, 2.0, x)
    return np.sum(rows[0] * rows[1] * rows[2] ** 2) + len(rows)


def written_views(x: Any) -> Any:
    y = x * 2.0
    a, b = np.atleast_2d(y, x)
    a[0, 1] = b[0, 0] ** 2
    return np.sum(y**2)


NOT_FINITE = np.array([np.nan, np.inf, -np.inf])


def finite(x: Any) -> Any:
    y = np.stack([x * x, NOT_FINITE])
    np.nan_to_num(y, copy=False, nan=2.0, posinf=3.0, neginf=5.0)
    return np.sum(y**2 * x)


def finite_part(x: Any) -> Any:
    y = np.stack([x * x, NOT_FINITE, NOT_FINITE])
    z = y
    np.nan_to_num(z[1:, 1:], False, 3.0, posinf=7.0, neginf=-np.inf)
    return np.sum(y[0]) * y[1, 1] * y[2, 1] + x[0] * float(y[1, 2] < -100.0)


def finite_attribute(x: Any) -> Any:
    held = Holder(np.concatenate([x * x[0], NOT_FINITE[:1]]))
    np.nan_to_num(held.values, copy=False, nan=4.0)
    return np.sum(held.values**2 * x[1])


class Holder:
    def __init__(self, values: Any) -> None:
        self.values = values


def own_cast(x: Any) -> Any:
    cast = lambda kind, value: value * 2.0  # noqa: E731
    return np.sum(cast(Array, x) ** 2)


def in_a_function(x: Any) -> Any:
    def scaled(cast: Any) -> Any:
        return np.sum(cast(Array, x) ** 2)

    return scaled(lambda kind, value: value * 3.0)


def set_by_an_operator(x: Any) -> Any:
    y, i = x * 2.0, 1
    operator.setitem(y, i, np.sin(x[0]))
    operator.setitem(y, (2,), y[1] * x[1])
    return np.sum(y**2)


def set_in_containers(x: Any) -> Any:
    items, table = [x[0], x[1], 2.0], {"a": x[2]}
    operator.setitem(items, 2, x[1] * x[0])
    operator.setitem(table, "b", items[2] ** 2)
    operator.delitem(items, 0)
    return sum(items) * table["a"] + table["b"]


class Doubled:
    """Items are set to twice the value."""

    def __init__(self) -> None:
        self.held: Any = 0.0

    def __setitem__(self, key: int, value: Any) -> None:
        self.held = self.held + key * 2.0 * value


def set_in_an_object(x: Any) -> Any:
    o = Doubled()
    operator.setitem(o, 3, x[1] ** 2)  # type: ignore[misc]
    return o.held


FUNCTIONS = [
    by_name, under_other_names,
    by_module, written_through, two_dimensions, kept_together, written_views, own_cast, in_a_function,
    set_by_an_operator, set_in_containers, set_in_an_object, finite, finite_part, finite_attribute,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_differences(function: Any) -> None:
    np.testing.assert_allclose(grad(function)(X), numeric_gradient(function, (X,)), rtol=1e-6)


def rebound_by_the_value(x: Any) -> Any:
    y = z = x * 1.0
    operator.setitem(y, 0, np.sum(y := x * 3.0))
    return np.sum(z * y)


def rebound_by_what_it_calls(x: Any) -> Any:
    y = z = x * 1.0

    def renewed() -> Any:
        nonlocal y
        y = x * 3.0
        return x[0] ** 2

    operator.setitem(y, 0, renewed())
    return np.sum(z * y)


@pytest.mark.parametrize("function", [rebound_by_the_value, rebound_by_what_it_calls])
def test_what_has_the_item_is_evaluated_first(function: Any) -> None:
    try:
        found = grad(function)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(function, (X,)), rtol=1e-6)


def missing(x: Any) -> Any:
    return np.sum(cast(Missing, x))  # type: ignore[name-defined] # noqa: F821


def test_a_type_that_does_not_exist_is_not_passed_over() -> None:
    with pytest.raises((NameError, S2SADError)):
        grad(missing)(X)
