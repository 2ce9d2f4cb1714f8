"""Containers in which one list stands twice: deep copies of them, and those that are arguments."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, value_and_grad
from tests.sources import function_of
from tests.transform.remaining import check_both_modes

PROGRAM = """
import copy

def f(x):
    row = [x[0], x[1]]
    whole = {whole}
    made = copy.deepcopy(whole)
    {write}
    {both}
    return sum(made{first}) * made{second}[0] + made{second}[-1] * whole{first}[0] * whole{second}[1]
"""
WHOLES = {
    "repeated": ("[row] * 2", "[0]", "[1]"),
    "displayed": ("[row, [x[2], 1.0], row]", "[2]", "[0]"),
    "tuple": ("(row, row)", "[0]", "[1]"),
    "dict": ('{"a": row, "b": row}', '["a"]', '["b"]'),
    "nested": ("[[row], [[x[2]], row]]", "[0][0]", "[1][1]"),
    "held twice": ("[[row, [x[2]]]] * 2", "[0][0]", "[1][0]"),
}
WRITES = {
    "item": "made{first}[0] = made{second}[1] * x[2]",
    "loop": "for i in range(2):\n        made{first}[i] = made{second}[1 - i] * x[i]",
    "append": "made{first}.append(made{second}[0] * x[2])",
    "by a name": "other = made{second}\n    other[1] *= other[0]",
    "in a branch": "if x[0] > 0.0:\n        made{second}[0] = x[2] * x[2]",
}
BOTH = {"copy alone": "pass", "original too": "row[1] = x[2] * made{second}[0]"}
X, WAY = np.array([0.3, 0.7, -0.4]), np.array([0.3, -0.5, 0.8])


@pytest.mark.parametrize(("whole", "write", "both"), list(itertools.product(WHOLES, WRITES, BOTH)))
def test_what_is_one_list_is_one_in_a_deep_copy(whole: str, write: str, both: str) -> None:
    display, first, second = WHOLES[whole]
    places = {"first": first, "second": second}
    parts = {"write": WRITES[write].format(**places), "both": BOTH[both].format(**places)}
    check_both_modes(function_of(PROGRAM.format(whole=display, **parts, **places)), X, WAY)


def copied(held: Any) -> Any:
    import copy

    made = copy.deepcopy(held)
    made[0][0] = made[0][1] * 2
    return made[1][0] * held[0][0]


def test_a_list_in_two_places_of_an_argument_has_one_derivative() -> None:
    row = [0.3, 0.7]
    np.testing.assert_allclose(grad(copied)([row, row]), [[1.4, 0.6], [0.0, 0.0]])
    with pytest.raises(S2SADError, match="holds one list or array in two places"):
        jvp(copied, ([row, row],), ([[1.0, 0.5], [0.2, 0.1]],))


def rows_of_a_list(rows: Any, other: Any) -> Any:
    rows[0][1] = rows[0][0] * 2
    rows[1][0] *= rows[1][1]
    return rows[0][0] * rows[1][1] * rows[0][1] * other[0][1]


def rows_of_a_tuple(rows: Any, other: Any) -> Any:
    rows[0][0] = rows[1][1] * 2
    return rows[1][0] * rows[0][1] * other[0][1]


def rows_that_grow(rows: Any, other: Any) -> Any:
    rows[0].append(rows[1][0])
    return sum(rows[1]) * rows[0][0] * other[0][1]


ROW = [0.3, 0.7]


@pytest.mark.parametrize("f", [rows_of_a_list, rows_of_a_tuple, rows_that_grow])
@pytest.mark.parametrize(
    ("rows", "other"),
    [([ROW, ROW], [[1.0, 2.0]]), ([ROW, [0.5, 0.2]], [ROW]), ([[0.5, 0.2], ROW], [[1.0, 2.0], ROW])],
)
def test_a_list_that_is_found_twice_among_arguments_is_not_two(
    f: Callable[..., Any], rows: list[Any], other: list[Any]
) -> None:
    for argnums in (0, (0, 1)):
        with pytest.raises(S2SADError, match="share a list that the function may change"):
            value_and_grad(f, argnums)(rows, other)
    with pytest.raises(S2SADError, match="share a list that the function may change"):
        jvp(f, (rows, other), ([[1.0, 0.5], [0.2, 0.1]], [[0.0, 0.0]] * len(other)))


@pytest.mark.parametrize("f", [rows_of_a_list, rows_of_a_tuple, rows_that_grow])
def test_a_list_that_is_found_twice_in_a_constant_argument_is_one(f: Callable[..., Any]) -> None:
    rows, other = [list(ROW)] * 2, [[1.0, 2.0]]
    value, gradient = value_and_grad(f, 1)(rows, other)
    assert rows == [ROW, ROW]
    assert value == f(rows, other)
    np.testing.assert_allclose(gradient, [[0.0, value / 2.0]])
