"""Tests of the number of axes and of sizes that are known: one branch stays, and it is the one that Python takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.language.support import case, check_gradient


def of_axes(x: Any) -> Any:
    if x.ndim < 2:
        y = np.zeros(3)
        y[0] = x[0] * x[1]
        return np.sum(y * y)
    y = np.zeros((2, 2))
    y[0, :] = x[0] * x[1]
    return np.sum(y)


def of_axes_of_two_kinds(x: Any) -> Any:
    """What one branch gives is no array that the other may write."""
    rows, angles = (x[None, :], None) if np.ndim(x) == 1 else (x, np.zeros(2))
    if angles is None:
        angles = np.zeros(1)
        angles[0] = rows[0, 1] * 2.0
    return np.sum(angles * rows[:, 0])


def of_a_shape(x: Any) -> Any:
    m = np.zeros((2, 3))
    if m.shape != (2, 3):
        raise ValueError("shape")
    if m.shape in ((3, 2), (2, 2)):
        return x
    m[:, 0] = x[:2] * x[:2] if m.shape[0] == len(m) else 1.0
    return np.sum(m * m)


def of_sizes_that_are_computed(x: Any) -> Any:
    m = np.zeros((2, 2))
    n = m.shape[0] + 1
    big = np.zeros((n, n))
    big[:-1, :-1] = np.outer(x[:2], x[:2])
    inner = big[: n - 1, 1:]
    if inner.shape == (2, 2):
        inner = inner + 1.0
    if n * 2 - 6:
        return x
    return np.sum(inner**2) * n


def of_a_list(x: Any) -> Any:
    items = [x[0], x[1] * 2, x[0] * x[1]]
    v = np.array(items)
    if len(v) != len(items):
        return x
    v[1] = v[0] * v[1]
    return np.sum(v)


def of_products_of_vectors(x: Any) -> Any:
    rows = np.zeros((2, 3)) + x
    n, m = np.cross(x, [0.0, 1.0, 2.0]), np.cross(rows, x * x)
    if n.shape != (3,) or m.shape != (2, 3):
        return x
    return np.sum(n * np.cross(n, x)) + m[1, 2] * n[0]


def of_a_size_that_is_not_known(x: Any) -> Any:
    if len(x) == 3 and x.shape[0] > 2:
        return np.sum(x * x)
    return np.sum(x) if x.size else 0.0 * np.sum(x)


def truth_of_a_number_of_axes(x: Any) -> Any:
    s = np.sum(x)
    if s.ndim:
        return s[0]
    return s * s if not np.ndim(s) else 1.0


def effect_in_a_test(x: Any) -> Any:
    """What a test does besides is done."""
    log: list[int] = []

    def counted(v: Any) -> int:
        log.append(1)
        return 3 if len(v) else 2

    if counted(x) == 3:
        return np.sum(x * x) * len(log)
    return np.sum(x)


X, M = np.array([0.7, 1.3, 0.4]), np.array([[0.7, 1.3], [0.4, 0.9]])
CASES: list[tuple[Callable[..., Any], Any]] = [
    (of_axes, X), (of_axes, M), (of_axes_of_two_kinds, X), (of_axes_of_two_kinds, M), (of_a_shape, X),
    (of_sizes_that_are_computed, X), (of_a_list, X), (of_products_of_vectors, X), (of_a_size_that_is_not_known, X),
    (of_a_size_that_is_not_known, X[:2]), (truth_of_a_number_of_axes, X), (effect_in_a_test, X),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x"), CASES)
def test_derivatives(f: Callable[..., Any], x: Any) -> None:
    check_gradient(case(f, x))
    dx = np.linspace(0.3, -0.7, x.size).reshape(x.shape)
    value, tangent = jvp(f, (x,), (dx,))
    assert value == f(x)
    assert np.isclose(tangent, np.sum(grad(f)(x) * dx), rtol=1e-12)


def test_one_branch_stays() -> None:
    for f, x in CASES[:2]:
        assert "if " not in grad(f).source_for(x).replace("def ", "")
    assert "raise" not in grad(of_a_shape).source_for(X)
    assert "if " in grad(of_a_size_that_is_not_known).source_for(X)


def rows_of_arrays(x: Any) -> Any:
    a, b = x / np.sqrt(np.sum(x * x)), x[::-1] * 2.0
    m = np.array([a, b, a * b]).T
    if np.linalg.det(m) < 0:
        m[:, 0] *= -1
    return m[0, 1] * np.sum(m[:, 0] ** 2) + m[1, 2]


def rows_of_unknown_sizes(x: Any) -> Any:
    a = x[x > 0.5]
    m = np.array([a, a * a])
    m[1] *= x[0]
    return np.sum(m)


def rows_of_a_list_that_grows(x: Any) -> Any:
    rows = []
    for i in range(3):
        rows.append(x * i)  # noqa: PERF401
    m = np.array(rows)
    m[1, :] = m[1, :] * m[2, 0]
    return np.sum(m)


def numbers_of_a_list_that_grows(x: Any) -> Any:
    rows = []
    for i in range(3):
        rows.append(x[i] * i)  # noqa: PERF401
    m = np.asarray(rows)
    m += x[0]
    return np.sum(m * m)


@pytest.mark.parametrize(
    "f", [rows_of_arrays, rows_of_unknown_sizes, rows_of_a_list_that_grows, numbers_of_a_list_that_grows]
)
def test_an_array_of_a_list_is_an_array(f: Callable[..., Any]) -> None:
    check_gradient(case(f, X))
