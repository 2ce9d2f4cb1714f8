"""Variables that have another shape in each iteration of a loop: their adjoints have, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient, check_primal

X = np.array([0.7, 1.3])
Y = np.array([0.4, 0.9])
M = np.outer(Y, X)


def grown(x: Any, y: Any) -> Any:
    a = np.sum(x * x)
    for _ in range(3):
        a = a + y
    return np.sum(a * a)


def grown_on_the_right(x: Any, y: Any) -> Any:
    a = np.sum(x * x)
    for _ in range(3):
        a = y - a
    return np.sum(a * a)


def grown_augmented(x: Any, y: Any) -> Any:
    a = np.sum(x * x)
    for _ in range(3):
        a += y
    return np.sum(a * a)


def grown_while(x: Any, y: Any) -> Any:
    a, i = np.sum(x * x), 0
    while i < 3:
        a = y + a
        i += 1
    return np.sum(a * a)


def grown_in_nested_loops(x: Any, y: Any) -> Any:
    a = np.sum(x * x)
    for _ in range(2):
        for j in range(2):
            a = a + y * j
        a = a * 1.1
    return np.sum(a * a)


def grown_in_a_branch(x: Any, y: Any) -> Any:
    a = np.sum(x * x) * 0.3
    for i in range(3):
        a = a + y if i == 1 else a * a
    return np.sum(a * a)


def grown_by_another(x: Any, y: Any) -> Any:
    s, t = np.sum(x * x), np.sum(y)
    for _ in range(3):
        s = s + t
        t = y * t
    return np.sum(s * s)


def row_grown_to_a_matrix(x: Any, y: Any) -> Any:
    s = np.mean(np.outer(x, x), axis=0, keepdims=True)
    for _ in range(2):
        s = s + np.outer(y, y)
    return np.sum(s * s)


def vector_grown_to_a_matrix_inside(x: Any, y: Any) -> Any:
    a = x[0]
    for _ in range(2):
        b = a * y
        for _ in range(2):
            a = b + a
            b = np.outer(y, y) + b
    return np.sum(a)


def grown_and_left(x: Any, y: Any) -> Any:
    a = x[0]
    for i in range(4):
        a = a + y
        if i == 2:
            break
        a = a * a
    return np.sum(a)


def argument_grown(x: Any, y: Any) -> Any:
    for _ in range(3):
        x = x + y
    return np.sum(x * x)


def argument_grown_by_rows(x: Any, m: Any) -> Any:
    for row in m:
        x = x * 2.0 + row
    return np.sum(x * x)


CASES = [
    *[
        case(f, X, Y)
        for f in (
            grown,
            grown_on_the_right,
            grown_augmented,
            grown_while,
            grown_in_nested_loops,
            grown_in_a_branch,
            grown_by_another,
            row_grown_to_a_matrix,
            vector_grown_to_a_matrix_inside,
            grown_and_left,
        )
    ],
    case(argument_grown, 0.5, Y),
    case(argument_grown, Y, M, name="vector_grown"),
    case(argument_grown, np.array(0.5), Y, name="array_without_axes_grown"),
    case(argument_grown_by_rows, 0.5, M),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
