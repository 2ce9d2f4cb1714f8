"""Adjoints of what is chosen of two arrays: half where these are equal, and nothing where the other one is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.runtime.arrays import chosen_part

FEW = np.array([0.5, -1.0, 0.0, 1.0, 2.5, -0.0])
MANY = np.tile(FEW, 1000)


def above(x: Any) -> Any:
    return np.sum(np.maximum(x, 0.0) * (1.0 + x))


def within(x: Any) -> Any:
    return np.sum(np.clip(x, -1.0, 1.0) ** 2)


def of_both(x: Any) -> Any:
    return np.sum(np.minimum(x, x**2) * x)


SLOPES: dict[Callable[..., Any], Callable[..., Any]] = {
    above: lambda x: np.select([x > 0, x == 0], [1 + 2 * x, 0.5], 0.0),
    within: lambda x: np.select([np.abs(x) < 1, np.abs(x) == 1], [2 * x, x], 0.0),
    of_both: lambda x: np.select([x < x**2, x == x**2], [2 * x, np.minimum(x, x**2) + x * (1 + 2 * x) / 2], 3 * x**2),
}


@pytest.mark.parametrize("x", [FEW, MANY, FEW.astype(np.float32), MANY.reshape(60, 100)], ids=lambda x: str(x.shape))
@pytest.mark.parametrize("f", SLOPES, ids=lambda f: f.__name__)
def test_what_is_equal_shares(f: Callable[..., Any], x: Any) -> None:
    found, expected = grad(f)(x), SLOPES[f](x)
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found, expected)
    assert not np.any(np.signbit(found[(expected == 0) & (x != 0)]))
    np.testing.assert_allclose(jvp(f, (x,), (np.ones_like(x),))[1], np.sum(expected), rtol=1e-5)


def test_of_arrays_it_is_one_call() -> None:
    text = grad(above).source_for(FEW)
    assert "chosen_part(t, x > 0.0, x == 0.0)" in text
    assert "np.where" not in text
    assert "chosen_part" not in grad(above).source_for(0.3)


@pytest.mark.parametrize("x", [FEW, MANY], ids=["few", "many"])
def test_what_is_not_chosen_gets_nothing_of_what_is_infinite(x: Any) -> None:
    with np.errstate(all="raise"):
        for value in (np.inf, -np.inf, np.nan):
            g = np.where(x > 0, 3.0, value)
            np.testing.assert_array_equal(chosen_part(g, x > 0, x == 5.0), np.where(x > 0, 3.0, 0.0))
            np.testing.assert_array_equal(chosen_part(g, x < 0, x == 0.0)[x < 0], g[x < 0])


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(
    "x", [np.array([0.0, 0.3, 4.0, 1.0]), np.tile([0.0, 0.3, 4.0, 2.0], 1500)], ids=["few", "many"]
)
def test_second_derivatives_of_what_is_not_chosen(x: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.maximum(np.sqrt(x), 1.0) ** 3)

    def twice(x: Any) -> Any:
        return np.sum(grad(f)(x))

    expected = np.select([x > 1, x == 1], [0.75 / np.sqrt(np.maximum(x, 1.0)), 0.375], 0.0)
    np.testing.assert_allclose(grad(twice)(x)[x != 1], expected[x != 1])
