"""Forward mode where lists, dicts and their items are changed in place under several names, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp
from tests.oracle import numeric_jvp, tree_map

X = np.array([0.3, -0.45, 0.62, 0.81])
CONSTANT = np.array([1.0, 2.0, -1.0])


def repeated_in_place(x: Any) -> Any:
    """The items of a list that repeats itself are one array, of which each augmented store is seen by all."""
    many = [x * 1.0]
    many *= 3
    many[0] *= x
    many[1] /= x + 2.0
    return np.sum(many[2] ** 2)


def repeated_in_branches(x: Any) -> Any:
    many = [x * 1.0]
    if x[0] > 0:
        many *= 2
    else:
        many += many
    many[0] /= x * 2
    return np.sum(many[1] ** 2)


def repeated_within(x: Any) -> Any:
    y = x * 1.0
    rows = [[y] * 2 for _ in range(2)]
    rows[0][1] *= x
    rows[1][0] **= 2
    return np.sum(rows[1][1] ** 2)


def other_name_of_a_list(x: Any) -> Any:
    """A list that repeats itself is the same list to all its names."""
    many = [x * 1.0]
    other = many
    many *= 2
    return np.sum(other[1] ** 2)


def other_name_of_an_item(x: Any) -> Any:
    rows = [[x[0], x[1]], [x[2]]]
    first = rows[0]
    rows[0] *= 2
    for row in rows:
        row *= 2
        row[0] *= x[3]
    return first[0] * first[6] * rows[1][1]


def other_name_of_a_dict(x: Any) -> Any:
    table = {"a": x * 1.0}
    other = table
    table |= {"b": x * 2}
    return np.sum(other["b"] ** 2)


def extended_by_what_is_no_list(x: Any) -> Any:
    """``+=`` of a list takes the items of anything that has some; ``+`` of the tangents would not."""
    items = [x[0]]
    items += (1.0, x[2])
    items += x[:0].tolist()
    items += {0.5: 1.0}
    return items[0] * items[2] * items[3]


def list_and_array(x: Any) -> Any:
    """NumPy, not the list, adds an array to a list: the sum is an array, and the list stays as it was."""
    items = [x[0]]
    other = items
    items += x
    return np.sum(items * other[0])


def list_less_an_array(x: Any) -> Any:
    items = [x[0], x[1]]
    other = items
    items -= x[2:]
    items *= x[:2]
    return np.sum(items) + other[0] * other[1]


def rest_of_a_list(x: Any) -> Any:
    """What is added to the rest of a list is appended to it, as its tangent is."""
    items = [x[0], x[1], x[2]]
    first, *rest = items
    more = [x[3]]
    *most, last = rest + more
    return first * rest[0] * last + sum(most)


def list_over_a_number(x: Any) -> Any:
    items = [x[0], x[1]]
    a = np.exp(x[2])
    return np.sum(items / a) + np.sum(a / items)


def number_that_becomes_an_array(x: Any) -> Any:
    """A constant array added to a number that varies makes an array, which may be written."""
    s = x[0] * x[1]
    s += CONSTANT
    t = s
    t *= CONSTANT
    items = [x[2]]
    items[0] += CONSTANT
    u = items[0]
    u *= x[3]
    return np.sum(s) + np.sum(items[0])


def added_to_a_constant(x: Any) -> Any:
    """The tangent of a constant array that something is added to is its own, whatever becomes of that."""
    y = x * 1.0
    w = np.ones(4)
    w += y
    y[0] = 3 * y[1]
    z = np.zeros(4)
    z -= y
    y *= w
    return np.sum(y * w * z)


def items_of_an_argument(x: Any) -> Any:
    return _of_argument([x * 1.0, x * 2.0])


def _of_argument(arrays: list[Any]) -> Any:
    arrays += arrays[:1]
    arrays[2] *= arrays[1]
    arrays *= 2
    arrays[3] /= 2 + arrays[0]
    return np.sum(arrays[0] ** 2) + np.sum(arrays[4] * arrays[5])


PROGRAMS = [
    repeated_in_place, repeated_in_branches, repeated_within, other_name_of_a_list, other_name_of_an_item,
    other_name_of_a_dict, extended_by_what_is_no_list, list_and_array, list_less_an_array, rest_of_a_list,
    list_over_a_number, number_that_becomes_an_array, added_to_a_constant, items_of_an_argument,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [X, -X[::-1] + 0.1], ids=["one", "two"])
def test_tangents(f: Callable[[Any], Any], x: Any) -> None:
    x_dot = np.array([0.7, -1.1, 0.4, 0.9])
    value, tangent = jvp(f, (x,), (x_dot,))
    assert value == f(x)
    assert np.allclose(tangent, numeric_jvp(f, (x,), (x_dot,)), rtol=1e-7, atol=1e-7)


def test_lists_that_are_given() -> None:
    """The lists of the caller stay as they are, and their tangents follow every name."""
    arrays = [X, X[::-1] * 0.8]
    dots = [np.ones(4), np.arange(4.0)]
    value, tangent = jvp(_of_argument, (arrays,), (dots,))

    def copied(arrays: list[Any]) -> Any:
        return _of_argument(tree_map(np.copy, arrays))

    assert value == copied(arrays)
    assert len(arrays) == len(dots) == 2
    assert np.array_equal(arrays[0], X)
    assert np.allclose(tangent, numeric_jvp(copied, (arrays,), (dots,)), rtol=1e-7, atol=1e-7)
