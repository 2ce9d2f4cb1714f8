"""Lists of numbers that other lists and dicts hold: stores, items at the end, slices, callees, unread records."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.5, 0.8, 0.3])


def table(x: Any) -> Any:
    n = len(x)
    best = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            best[i][j] = max(best[i - 1][j], best[i][j - 1]) + x[i - 1] * x[j - 1]
    return best[n][n]


def named_rows(x: Any) -> Any:
    a, b = [0.0, 0.0], [0.0, 0.0]
    rows = [a, b]
    for i in range(2):
        row = rows[i]
        for j in range(2):
            row[j] = x[i] * x[j]
    return a[1] * rows[1][1] + b[0]


def one_list_twice(x: Any) -> Any:
    rows = [[x[0], 0.0]] * 2
    rows[0][1] = x[1] * x[2]
    return rows[1][1] * rows[0][0]


def of_two_lists(x: Any) -> Any:
    rows = [[x[0], x[1]], [x[1], x[2]]]
    row = rows[0]
    if x[0] > 0.2:
        row = rows[1]
    row[0] = x[0] ** 3
    return rows[0][0] * rows[1][0]


def history(x: Any) -> Any:
    log: dict[str, Any] = {"loss": [], "w": []}
    w = x
    for _ in range(3):
        w = w - 0.1 * w**2
        log["loss"].append(np.sum(w**2))
        log["w"].append(w)
    return np.sum(w) + log["loss"][-1] * log["loss"][0] + np.sum(log["w"][1])


def unread_history(x: Any) -> Any:
    log: list[Any] = [[], []]
    w = x
    for _ in range(3):
        w = w - 0.1 * w**2
        log[0].append(np.sum(w**2))
        log[1].append(w)
    return np.sum(w)


def longer_rows(x: Any) -> Any:
    rows: list[list[Any]] = [[] for _ in range(3)]
    for i in range(3):
        for j in range(3):
            rows[i].append(x[i] * x[j])
    rows[0].append(rows[1][-1])
    return rows[0][1] * rows[1][2] + sum(rows[2]) + rows[0][-1]


def slices(x: Any) -> Any:
    rows = [[x[0], x[1], x[2]], [x[1], 0.0, x[2]]]
    parts = [row[:2] for row in rows]
    rows[0][0] = 3.0
    parts[1][1] = x[0] * x[2]
    return parts[0][0] * parts[1][1] + rows[0][0] * rows[1][1]


def copies(x: Any) -> Any:
    row = [x[0], x[1]]
    rows = [row, list(row), row.copy(), row + [x[2]]]
    row[0] = x[2]
    rows[1][1] *= x[0]
    return rows[0][0] * rows[1][0] * rows[2][0] + rows[1][1] * rows[3][0]


def put(rows: Any, i: int, value: Any) -> Any:
    rows[i][0] = value
    return rows[i][-1]


def note(log: Any, value: Any) -> None:
    log["a"].append(value)


def callees(x: Any) -> Any:
    rows = [[x[0], 0.0, x[1]], [0.0, 1.0, 2.0]]
    log: dict[str, Any] = {"a": []}
    for i in range(2):
        note(log, put(rows, i, x[i] ** 2) * x[2])
    return rows[1][0] * log["a"][-1] + log["a"][0]


def whole(x: Any) -> Any:
    rows = [[x[0], x[1]], [x[1], x[2]]]
    rows[0][0] *= 2
    a, b = np.array(rows), np.asarray(rows[1])
    rows[1][1] = 7.0
    return np.sum(a @ a) + b[1] + sum(rows[0])


def enumerated(x: Any) -> Any:
    rows = [[x[0], 0.0, x[1]], [0.0, 1.0, 2.0]]
    for k, row in enumerate(rows):
        row[k] = row[k] * 0.5 + x[k]
    return sum(rows[0]) * sum(rows[1])


def whole_numbers(x: Any) -> Any:
    """Zeros that are whole numbers until something else takes their place."""
    rows = [[0] * 2, [0, 1]]
    rows[0][1] = x[0] * x[1]
    rows[1][1] += x[2]
    return rows[0][1] * rows[1][1] + rows[0][0]


RIGHT = [
    table, named_rows, one_list_twice, of_two_lists, history, unread_history, longer_rows, slices, copies, callees,
    whole, enumerated, whole_numbers,
]  # fmt: skip


@pytest.mark.parametrize("f", RIGHT)
def test_derivatives(f: Callable[..., Any]) -> None:
    near = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), near, rtol=1e-7)
    np.testing.assert_allclose([jvp(f, (X,), (way,))[1] for way in np.eye(3)], near, rtol=1e-7)


def test_a_record_that_nobody_reads_costs_nothing() -> None:
    text = grad(unread_history).source_for(X)
    assert "log_bar" not in text
    assert "shadow" not in text


def test_items_are_taken_again_in_the_reverse_part() -> None:
    """Neither rows nor their shadows are saved."""
    assert "saved" not in grad(named_rows).source_for(X)


def numbers_among_arrays(x: Any) -> Any:
    held = [x * 1.0, x[0]]
    held[0][0] = x[1]
    part = held[:]
    return part[1] * part[0][0]


def test_slices_of_lists_of_numbers_and_written_arrays() -> None:
    near = numeric_gradient(numbers_among_arrays, (X,))
    np.testing.assert_allclose(grad(numbers_among_arrays)(X), near, rtol=1e-7)


def copied_arrays(x: Any) -> Any:
    y = copy.copy(x)
    y[0] = x[1] ** 2
    z = copy.copy(y)
    z[1] *= x[2]
    return np.sum(y * z * x)


def test_copies_of_arrays() -> None:
    """``copy.copy`` of an array keeps the layout, as ``np.copy`` does."""
    np.testing.assert_allclose(grad(copied_arrays)(X), numeric_gradient(copied_arrays, (X,)), rtol=1e-7)
    assert "y = np.copy(x)" in grad(copied_arrays).source_for(X)


def fill(c: Any, d: Any, n: int) -> None:
    for i in range(1, n):
        c[i] = d * i + c[i - 1] * 0.5


def filled_by_a_callee(x: Any) -> Any:
    c = [0.0] * 4
    fill(c, x[0], 4)
    fill(c, x[1], 2)
    return c[1] * c[3]


def test_a_callee_fills_a_list() -> None:
    np.testing.assert_allclose(grad(filled_by_a_callee)(X), numeric_gradient(filled_by_a_callee, (X,)), rtol=1e-7)


@dataclass
class Table:
    rows: Any


def in_a_dataclass(x: Any) -> Any:
    table = Table([[0, 0], [1, 2]])
    row = table.rows[0]
    row[1] = x[0] * x[1]
    table.rows[1][0] = row[1] * x[2]
    return table.rows[0][1] * table.rows[1][0]


def test_whole_numbers_in_a_dataclass_do_not_stay_so() -> None:
    np.testing.assert_allclose(grad(in_a_dataclass)(X), numeric_gradient(in_a_dataclass, (X,)), rtol=1e-7)


def test_copies_of_numbers() -> None:
    """``copy.copy`` of a number is the number, in a loop too."""

    def f(x: Any, v: Any) -> Any:
        a = x
        for i in range(3):
            b = copy.copy(a)
            a = np.sin(b) * v[i]
        return a * copy.copy(x)

    args = (1.5, np.array([0.7, -0.4, 1.2]))
    value, gradients = value_and_grad(f, argnums=(0, 1))(*args)
    assert value == f(*args)
    for i, found in enumerate(gradients):
        assert np.allclose(found, numeric_gradient(f, args, i), rtol=1e-7)
