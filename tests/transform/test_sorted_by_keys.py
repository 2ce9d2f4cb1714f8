"""``sorted`` by keys that are not known before the program runs: the items in the order that they have then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.7, 1.2])


def of_numbers(x: Any) -> Any:
    return sorted([x[0], x[1], x[2]], key=lambda v: -v)[0] ** 2


def of_an_array(x: Any) -> Any:
    nearest = sorted(x, key=lambda v: abs(v - 1.0))
    return nearest[0] * nearest[1] ** 2


def of_tuples(x: Any) -> Any:
    points = [(x[0], x[1]), (x[1], x[2]), (x[2], x[0] * 2)]
    best = sorted(points, key=lambda p: p[0] ** 2 + p[1] ** 2, reverse=True)
    return best[0][0] * best[1][1] + best[2][0]


def of_rows(x: Any) -> Any:
    rows = sorted(np.outer(x, x), key=np.sum)
    return np.sum(rows[0] ** 2) + rows[2][1]


def by_a_builtin(x: Any) -> Any:
    return sorted(x - 1.0, key=abs)[0] ** 2


def alike(x: Any) -> Any:
    pairs = sorted([(x[0], 1.0), (x[1], 2.0), (x[2], 3.0)], key=lambda p: p[0] > 1.0, reverse=True)
    return pairs[0][0] * pairs[1][0] ** 2 * pairs[2][1]


def with_an_effect(x: Any) -> Any:
    seen: list[Any] = []

    def key(v: Any) -> Any:
        seen.append(v)
        return -v

    return sorted(x, key=key)[0] ** 2 * len(seen)


def by_no_key(x: Any) -> Any:
    return sorted(x, key=None)[0] ** 2


def of_constants(x: Any) -> Any:
    return sorted([3, 1, 2], key=lambda i: -i)[0] * x[0]


def of_pairs(x: Any) -> Any:
    return sum(a * b for a, b in sorted(zip(x, x[::-1]), key=lambda p: p[0]))  # noqa: B905


def of_the_largest_pairs(x: Any) -> Any:
    a, b = max(zip(x * x, x))  # noqa: B905
    i, c = min(enumerate(x))
    ranks = ["b", "c", "c"]
    return a * b + c * (i + 2) + sum(max(zip(ranks, x * k))[1] for k in range(1, 3)) ** 2  # noqa: B905


PROGRAMS = [
    of_numbers, of_an_array, of_tuples, of_rows, by_a_builtin, alike, with_an_effect, by_no_key, of_constants,
    of_pairs, of_the_largest_pairs,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_in_order(f: Callable[..., Any]) -> None:
    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    expected = numeric_gradient(f, (X,), 0)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-9)
    _, along = jvp(f, (X,), (np.array([0.3, -0.5, 0.8]),))
    np.testing.assert_allclose(along, expected @ [0.3, -0.5, 0.8], rtol=1e-7)
