"""Pullbacks that are called twice: they give the same again."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad import vjp
from tests.oracle import numeric_gradient


def swapped_in_a_loop(x: Any) -> Any:
    a, b = x.copy(), x * 2.0
    for _ in range(2):
        a[0] = b[1] * a[0]
        a, b = b, a
    return a * 1.0


def nested_tapes(x: Any) -> Any:
    for _ in range(3):
        x = _damped(x) + x
    return x


def _damped(x: Any) -> Any:
    for _ in range(2):
        x = np.sin(x) * x
    return x


def holding_numbers(x: Any, w: Any, n: Any) -> Any:
    c = w
    for i in range(2):
        c = x
        c[i] += 1.0
    return {"a": c, "b": n, "c": [n, n]}


def test_numbers_that_a_dict_among_the_results_holds() -> None:
    x, s = np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0, 100.0])
    _, pullback = vjp(holding_numbers, x, 2.0 * x, [0.1, 0.2])
    for _ in range(2):
        x_bar, w_bar, n_bar = pullback({"a": s, "b": [5.0, 7.0], "c": [[0.5, 0.0], [0.25, 1.0]]})
        np.testing.assert_array_equal(x_bar, s)
        np.testing.assert_array_equal(w_bar, 0.0 * x)
        assert n_bar == [5.75, 8.0]


def test_a_pullback_gives_the_same_again() -> None:
    bar = np.array([1.0, -0.5])
    for f in (nested_tapes, swapped_in_a_loop):
        _, pullback = vjp(f, np.array([0.3, 0.8]))
        (first,) = pullback(bar)
        expected = numeric_gradient(lambda a, f=f: np.sum(bar * f(a.copy())), (np.array([0.3, 0.8]),), 0)
        np.testing.assert_allclose(first, expected, rtol=1e-7)
        (second,) = pullback(bar)
        np.testing.assert_array_equal(first, second)


def tried_in_a_loop(y: Any, k: Any, w: Any) -> Any:
    c = k[::-1]
    for i in range(2):
        try:
            np.putmask(np.asarray(c), w > 0.2, y)
            [][0]
        except Exception:
            np.multiply(np.asarray(k), w[i], out=c)
    return c


def test_a_shadow_that_what_is_tried_keeps_on_a_tape_of_its_own() -> None:
    """It shares memory with others, so that what is added to it is added after these are cleared."""
    y, k, w, s = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.6, 0.7]), np.array([0.4, 0.1, 0.8]), np.array([1.0, 2, 5])
    _, pullback = vjp(tried_in_a_loop, y, k.copy(), w, argnums=(0, 2))
    for _ in range(2):
        for n, found in zip((0, 2), pullback(s), strict=True):
            expected = numeric_gradient(lambda *a: np.sum(s * tried_in_a_loop(a[0], k.copy(), a[2])), (y, k, w), n)
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
