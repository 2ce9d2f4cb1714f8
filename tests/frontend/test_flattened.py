"""Items of ``a.flat`` that are run through, of arrays in any layout, and where something is written meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from s2sad.errors import S2SADError, UnsupportedError
from tests.oracle import numeric_gradient

X = np.random.default_rng(2).normal(size=(3, 2))


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for i, v in enumerate(x.T.flat):
        total += v * v * i
    return total


def in_expressions(x: Any) -> Any:
    return sum(v * v for v in x.flat) + np.sum(np.array([v * 2.0 for v in x[::2].flat])) + max(x.T.flat)


def unpacked(x: Any) -> Any:
    a, b, c, *rest = x.flat
    p, q = x[0].flat
    return a * b + c * rest[0] + p * q


def listed(x: Any) -> Any:
    values = list(x.T.flat)
    return values[1] * values[2] + np.sum(np.array(values) ** 2)


@pytest.mark.parametrize("f", [in_a_loop, in_expressions, unpacked, listed])
def test_derivatives(f: Callable[..., Any]) -> None:
    expected, way = numeric_gradient(f, (X,)), np.cos(np.arange(6.0)).reshape(3, 2)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (way,))[1], np.sum(expected * way), rtol=1e-7)


def double(a: Any) -> None:
    a *= 2.0


def written_by_a_store(x: Any) -> Any:
    y, total = x.T * 1.0, 0.0
    for v in y.flat:
        y[0] = y[0] * 1.5
        total = total + v * v
    return total


def written_by_a_call(x: Any) -> Any:
    y, total = x.T * 1.0, 0.0
    for v in y.flat:
        double(y)
        total = total + v * v
    return total


def written_by_an_element(x: Any) -> Any:
    y = (x * 1.0).T
    return sum([v * (1.0 if double(y) is None else 2.0) for v in y.flat])


def written_by_an_operation(x: Any) -> Any:
    y, total = (x * 1.0).T, 0.0
    for v in y.flat:
        np.multiply(y, 1.5, out=y)
        total = total + v * v
    return total


def written_by_a_method(x: Any) -> Any:
    y, total = (x * 1.0).T, 0.0
    for v in y.flat:
        y.fill(0.5)
        total = total + v * v
    return total


def written_by_a_key(x: Any) -> Any:
    y = (x * 1.0).T
    return sum(sorted(y.flat, key=lambda v: y.fill(0.5) or v)) + np.sum(y)


def written_by_another_name(x: Any) -> Any:
    y, total = (x * 1.0).T, 0.0
    row = y[1]
    for v in y.flat:
        row += v
        total += v * v
    return total


def written_as_a_number_would_be(x: Any) -> Any:
    total: Any = 0.0
    total += x
    y, found = total.T, 0.0
    for v in y.flat:
        total += v
        found += v * v
    return found


def written_by_position(x: Any) -> Any:
    y, total = (x * 1.0).T, 0.0
    row = y[1]
    for v in y.flat:
        np.multiply(row, 1.1, row)
        total = total + v * v
    return total


def written_by_a_target(x: Any) -> Any:
    y, total = (x * 1.0).T, 0.0
    for y[1, 1] in y.flat:  # noqa: B020
        total = total + y[1, 1] * y[0, 1]
    return total


def written_before_it_is_run_through(x: Any) -> Any:
    y = (x * 1.0).T
    later = (v * v for v in y.flat)
    y[0, 1] = x[1, 1]
    return sum(later)


def written_by_the_next_argument(x: Any) -> Any:
    y = (x * 1.0).T
    return sum(y.flat, 2.0 if double(y) is None else 1.0)


def in_turn(y: Any) -> Any:
    for v in y.flat:  # noqa: UP028
        yield v


def written_between_two_items(x: Any) -> Any:
    y, total = (x * 1.0).T, 0.0
    for v in in_turn(y):
        y[1, 1] = v * v
        total = total + v
    return total


@pytest.mark.parametrize(
    "f",
    [
        written_by_another_name,
        written_as_a_number_would_be,
        written_by_position,
        written_by_a_target,
        written_before_it_is_run_through,
        written_by_the_next_argument,
        written_between_two_items,
        written_by_a_method,
        written_by_a_key,
        written_by_a_store,
        written_by_a_call,
        written_by_an_element,
        written_by_an_operation,
    ],
)
def test_what_is_written_meanwhile(f: Callable[..., Any]) -> None:
    try:
        found = grad(f)(X)
    except UnsupportedError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, (X,)), rtol=1e-7)


class Layers:
    def __init__(self, x: Any) -> None:
        self.flat = [x[0, 0], x[1, 1] ** 2]


SIZES = Layers(np.eye(2))


def attribute_of_another_class(x: Any) -> Any:
    layers, total = Layers(x), 0.0
    for v in layers.flat:
        total += v * v
    a, b = layers.flat
    return total + a * b + sum(layers.flat) + sum(v * x[0, 1] for v in SIZES.flat)


def test_an_attribute_of_another_class() -> None:
    f = attribute_of_another_class
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7, atol=1e-9)
    assert grad(lambda x, layers: sum(v * x for v in layers.flat))(2.0, SIZES) == 2.0


# --- NumPy gives a view of an array for ``np.array(a.flat)``, where the items lie in its order


def array_of_a_written_array(x: Any) -> Any:
    a = x * 2.0
    b = np.array(a.flat)
    a[0] = a[1] * a[2]
    return np.sum(b * b)


def array_that_is_written(x: Any) -> Any:
    a = x * 2.0
    b = np.array(a.flat)
    b *= x[0, 0]
    return np.sum(a * a)


def array_of_a_transposed_array(x: Any) -> Any:
    a = x * 2.0
    b = np.array(a.T.flat)
    a[0] = a[1] * a[2]
    return np.sum(b * b * np.arange(6.0))


def array_of_a_constant(x: Any) -> Any:
    a = np.arange(6.0).reshape(2, 3)
    b, c, d = np.array(a.flat), np.array(a.flat, dtype=float), np.copy(a.flat)
    a *= 2.0
    return np.sum(x * x) * np.sum(b * c * d)


@pytest.mark.parametrize(
    "f", [array_of_a_written_array, array_that_is_written, array_of_a_transposed_array, array_of_a_constant]
)
def test_an_array_of_items_is_a_view(f: Callable[..., Any]) -> None:
    value, found = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(found, numeric_gradient(f, (X,)), rtol=1e-7)


def copied(items: Any) -> Any:
    return np.array(items)


def copied_by_a_callee(x: Any) -> Any:
    a = x * 2.0
    b = copied(a.flat)
    b *= 3.0
    return np.sum(a * a)


def copied_by_another_function(x: Any) -> Any:
    a = x * 2.0
    b = np.copy(a.flat)
    a[0] = a[1] * a[2]
    return np.sum(b * b)


@pytest.mark.parametrize("f", [copied_by_a_callee, copied_by_another_function])
def test_what_may_be_a_view_is_no_copy(f: Callable[..., Any]) -> None:
    with pytest.raises(S2SADError):
        grad(f)(X)
