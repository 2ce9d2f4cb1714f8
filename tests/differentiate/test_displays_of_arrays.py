"""Arrays that are made of rows and blocks: each gets the part of the adjoint that stands in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp
from tests.oracle import numeric_gradient

X = np.array([[0.3, -1.2, 0.7], [0.9, 0.4, -0.6], [1.1, -0.2, 0.5]])


def rows(x: Any) -> Any:
    r = x[0]
    return np.sum(np.array([r, r * 2.0, x[1]]) ** 2 * np.array([[1.0], [2.0], [3.0]]))


def blocks(x: Any) -> Any:
    return np.sum(np.array([[x, x * 2], [x**2, x]]) ** 3)


def written(x: Any) -> Any:
    y = np.array([x, x])
    y[0] *= 2
    y[1, 0] = x[2, 2]
    z = x * 1.0
    z[0] = y[1, 1]
    return np.sum(np.array([z, y[0]]) ** 2 * z)


def in_a_loop(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        w = np.array([x[i], x[i] * s])
        s = s + np.sum(w * w)
    return s


def of_complex_rows(x: Any) -> Any:
    return np.sum(np.abs(np.array([x[0] * 1j + x[1], x[2]])) ** 2)


def beside_a_constant(x: Any) -> Any:
    return np.sum(np.array([[1.0, 2.0, 3.0], x[0]]) * np.array([x[0], x[1]]))


def of_a_list_that_grew(x: Any) -> Any:
    t = [x[0], x[1]]
    t.append(x[2] * 2)
    return np.sum(np.array(t) ** 2)


def numbers(x: Any) -> Any:
    return np.sum(np.array([np.sum(x), x[0, 0], 2.0]) ** 2)


def written_after(x: Any) -> Any:
    u = np.array((x[0],))
    u += x[1]
    return np.sum(u * x)


CASES = [
    rows, blocks, written, in_a_loop, of_complex_rows, beside_a_constant, of_a_list_that_grew, numbers, written_after,
]  # fmt: skip


@pytest.mark.parametrize("x", [X, np.asfortranarray(X)], ids=["rows", "columns"])
@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_right_to_second_order(f: Callable[..., Any], x: Any) -> None:
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-7, atol=1e-9)
    step = 1e-5
    slope = (grad(f)(x + step) - grad(f)(x - step)) / (2 * step)
    np.testing.assert_allclose(hvp(f, (x,), (np.ones_like(x),)), slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", [blocks, written_after, numbers])
def test_parts_are_taken_by_their_places(f: Callable[..., Any]) -> None:
    assert "like(" not in grad(f).source_for(X).replace("zeros_like(", "")
