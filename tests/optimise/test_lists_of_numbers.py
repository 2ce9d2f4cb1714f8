"""Lists of numbers that are filled item by item: the adjoint is a list that is written as a person would."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp
from tests.oracle import numeric_gradient, richardson_jvp

X = [0.5, 1.2, 0.8]


def scaled(xs: Any) -> Any:
    n = len(xs)
    total = 0.0
    ys = [0.0] * n
    for i in range(n):
        v = xs[i] * (i + 1.0)
        ys[i] = v
        total += v
    factor = 1.0 / total
    for i in range(n):
        ys[i] *= factor
    return ys[0] * ys[1] + ys[2] ** 2


def added_up(xs: Any) -> Any:
    ys = [0.0] * len(xs)
    for i in range(len(xs)):
        for j in range(len(xs)):
            ys[i] += xs[j] * xs[i] * (i + j)
        if i % 2:
            ys[i] = ys[i] / xs[0]
    return sum(ys)


def shifted(xs: Any) -> Any:
    ys = [1.0, *xs]
    for i in range(len(xs)):
        ys[i + 1] = ys[i] * xs[i]
        ys[i] = ys[i + 1] * xs[0]
    return ys[0] * ys[1] + ys[-1]


def by_negative_places(xs: Any) -> Any:
    ys = [0.0] * 3
    for i in range(3):
        ys[i] = ys[i - 1] * xs[i] + xs[0]
        ys[-1] += ys[i]
    return ys[0] * ys[1] * ys[2]


def of_arrays(xs: Any) -> Any:
    v = np.array(xs)
    ys = [v] * 2
    for i in range(2):
        ys[i] = ys[i] * v
        ys[i] = ys[i] + ys[0] * i
    return np.sum(ys[0] * ys[1])


def of_one_array_twice(xs: Any) -> Any:
    ys = [np.zeros(3)] * 2
    for i in range(3):
        ys[0][i] += xs[i] ** 2
    return np.sum(ys[1] * ys[0])


def repeated_list(xs: Any) -> Any:
    row = [0.0]
    ys = row * 3
    for i in range(3):
        ys[i] += xs[i] ** 2
        row[0] += ys[i]
    return ys[0] * ys[2] + row[0] ** 2


def joined(xs: Any) -> Any:
    head = [0.0, 1.0]
    tail = [2.0]
    ys = head + tail
    for i in range(3):
        ys[i] += xs[i] ** 2
    head[0] = ys[1] * xs[0]
    return ys[0] * head[0] + ys[2]


def rows(xs: Any) -> Any:
    m = [[0.0] * 2 for _ in range(3)]
    for i in range(3):
        for j in range(2):
            m[i][j] += xs[i] * xs[j]
            m[i][j] = m[i][j] * 2.0
    return m[0][1] * m[2][0] + m[1][1]


def one_row_twice(xs: Any) -> Any:
    m = [[0.0] * 2] * 3
    for i in range(3):
        m[i][i % 2] += xs[i] ** 2
    return m[0][0] * m[1][1]


def eliminated(xs: Any) -> Any:
    return solved([[xs[0], 1.0, 0.3], [2.0, xs[1], 0.5], [0.2, 0.5, xs[2]]], [1.0, xs[0], 0.5])


def solved(matrix: Any, right: Any) -> Any:
    a = [row[:] for row in matrix]
    b = right[:]
    for i in range(3):
        p = max(range(i, 3), key=lambda r: abs(a[r][i]))
        if p != i:
            a[i], a[p] = a[p], a[i]
            b[i], b[p] = b[p], b[i]
        for r in range(i + 1, 3):
            m = a[r][i] / a[i][i]
            for c in range(i, 3):
                a[r][c] -= m * a[i][c]
            b[r] -= m * b[i]
    x = [0.0] * 3
    for i in reversed(range(3)):
        x[i] = (b[i] - sum(a[i][j] * x[j] for j in range(i + 1, 3))) / a[i][i]
    return sum(v * v for v in x)


EVERY = [
    scaled, added_up, shifted, by_negative_places, of_arrays, of_one_array_twice, repeated_list, joined, rows,
    one_row_twice, eliminated,
]  # fmt: skip


@pytest.mark.parametrize("f", EVERY)
def test_the_gradient_is_right(f: Any) -> None:
    expected = numeric_gradient(lambda v: f(list(v)), (np.array(X),))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("f", [scaled, added_up, shifted, joined])
def test_so_is_that_of_the_gradient(f: Any) -> None:
    v = [0.3, -0.2, 0.5]
    expected = richardson_jvp(lambda *xs: np.array(grad(f)(list(xs))), tuple(X), tuple(v))
    np.testing.assert_allclose(hvp(f, (X,), (v,)), expected, rtol=1e-6, atol=1e-8)


def test_its_text() -> None:
    text = grad(scaled).source_for(X)
    assert "shadow" not in text
    assert "own(" not in text
    assert "ys = [0.0] * n" in text
    assert re.search(r"ys_bar\[i\] = t_bar\w* \* factor", text)
