"""The first contribution to an array of zeros takes their place, and no other does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient

X = np.array([0.3, -0.4, 0.9, 1.2])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [0.1, 0.7, -0.3]])
PICKS = np.array([0, 2, 2])


def differences(x: Any) -> Any:
    d = x[1:] * x[:-1]
    return np.sum(d * d * d)


def an_item(x: Any) -> Any:
    return np.sin(x[1]) * np.cos(x[-1]) * x[1]


def rows(m: Any) -> Any:
    return np.sum(m[0, 1:] * m[1:, 2]) + np.sum(m[::2] * m[0])


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        d = x[i:] * x[i]
        total = total + np.sum(d * d)
    return total


def before_a_loop(x: Any) -> Any:
    total = np.sum(x[1:] * x[1:])
    for i in range(3):
        total = total * x[i]
    return total


def by_positions(x: Any) -> Any:
    return np.sum(np.sin(x[PICKS]) * x[PICKS])


def by_a_mask(x: Any) -> Any:
    return np.sum(np.sin(x[x > 0.0]) * x[x > 0.0])


def in_a_branch(x: Any) -> Any:
    y = x * x
    if x[0] > 0.0:
        y[1:] = np.sin(y[:-1])
    return np.sum(y * y)


def real_part(x: Any) -> Any:
    z = np.zeros(4, dtype=complex)
    z[1:] = x[1:] * (1.0 + 2.0j)
    z[:2] = z[2:] * x[0]
    return np.sum(np.abs(z[:3]) ** 2)


FUNCTIONS = [differences, an_item, rows, in_a_loop, before_a_loop, by_positions, by_a_mask, in_a_branch, real_part]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient(f: Callable[..., Any]) -> None:
    x = M if f is rows else X
    np.testing.assert_allclose(grad(f)(x.copy()), numeric_gradient(f, (x,)), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("f", [differences, an_item], ids=lambda f: f.__name__)
def test_dtype_is_kept(f: Callable[..., Any]) -> None:
    found = grad(f)(X.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, grad(f)(X), rtol=1e-5)


def stores(f: Callable[..., Any], x: Any) -> list[str]:
    """What the text does to parts of the gradient."""
    return [line.strip() for line in grad(f).source_for(x).splitlines() if "_bar[" in line.partition("=")[0]]


def test_only_the_first_takes_the_place_of_zeros() -> None:
    assert stores(differences, X) == ["x_bar[:-1] = d_bar * t", "x_bar[1:] += d_bar * t_2"]
    first, *later = stores(rows, M)
    assert first.startswith("m_bar[0] = ")
    assert len(later) == 3
    assert all("] += " in line for line in later)
    assert all("] += " in line for line in (*stores(in_a_loop, X), *stores(before_a_loop, X)))


def test_indices_that_may_repeat_are_added() -> None:
    assert "add_at(x_bar, " in grad(by_positions).source_for(X)
    assert "add_at" not in grad(by_a_mask).source_for(X)


def doubled(u: Any) -> None:
    u[1:] = 2.0 * u[:-1]


def on_copies(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda u, w: f(np.copy(u), w)


def test_an_array_that_is_added_to_a_whole_of_its_shape_begins_it() -> None:
    def same_shape(u: Any, w: Any) -> Any:
        doubled(u)
        return np.sum(u * w)

    def one_axis_is_short(u: Any, w: Any) -> Any:
        doubled(u)
        return np.sum(u * w)

    w = np.cos(M)
    for f, weights in ((same_shape, w), (one_axis_is_short, w[:1]), (one_axis_is_short, w[:, :1])):
        found = grad(f, (0, 1))(M.copy(), weights)
        for position in (0, 1):
            np.testing.assert_allclose(
                found[position], numeric_gradient(on_copies(f), (M, weights), position), rtol=1e-8
            )
    text = grad(same_shape).source_for(M, w)
    assert "u_bar = w.copy()" in text
    assert "zeros" not in text
    assert "w.copy()" not in grad(one_axis_is_short).source_for(M, w[:1])


def test_integers_and_single_precision_do_not_begin_what_is_double() -> None:
    def f(u: Any, w: Any) -> Any:
        doubled(u)
        return np.sum(u * w)

    for weights in (np.arange(9).reshape(3, 3), np.cos(M).astype(np.float32)):
        found = grad(f)(M.copy(), weights)
        assert found.dtype == float
        np.testing.assert_allclose(found, numeric_gradient(on_copies(f), (M, weights.astype(float))), rtol=1e-6)
