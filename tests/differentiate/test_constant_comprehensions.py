"""What comprehensions, views and loops over pairs give is known by type: the text is as plain as people write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

A = np.array([0.7, 0.4, 1.2, 0.9])


def of_numbers(a: Any, n: int) -> Any:
    s = 0.0
    for x in [0.1 * i for i in range(n)]:
        s += a[0] * x
    return s


def in_a_variable(a: Any, n: int) -> Any:
    xs = [0.1 * i for i in range(n)]
    s = 0.0
    for x in xs:
        s += a[1] * x * s + a[0]
    return s


def of_a_dict(a: Any, n: int) -> Any:
    weights = {k: 1.0 + k for k in range(n)}
    s = 0.0
    for k in range(n):
        s += a[k] * weights[k]
    return s


def of_pairs(a: Any, n: int) -> Any:
    pairs = [(i, j) for i in range(n) for j in range(i)]
    s = 0.0
    for i, j in pairs:
        s += a[i] * a[j]
    return s


def of_numbered_pairs(a: Any, n: int) -> Any:
    pairs = [(i, j) for i in range(n) for j in range(i)]
    s = 0.0
    for k, (i, j) in enumerate(pairs):
        s += a[i] * np.exp(a[j] * k)
    return s


def of_pairs_beside_what_is_saved(a: Any, n: int) -> Any:
    pairs = [(i, j) for i in range(n) for j in range(i)]
    s = 0.0
    for i, j in pairs:
        r = (a[i] - a[j]) ** 2 + 0.1
        s += 1 / r**6 - a[i] / r**3
    return s


def of_nested_pairs(a: Any, n: int) -> Any:
    s = a[3]
    for x, (y, z) in zip([1.0, 2.0], [(2.0, 3.0), (1.0, 4.0)], strict=True):
        s = s * a[0] * x * y**z
    return s


def of_items(a: Any, n: int) -> Any:
    s = 0.0
    for k, v in {0: 1.0, 1: n * 2.0}.items():
        s = s + a[k] * v
    return s


def of_lists(a: Any, n: int) -> Any:
    rows = [[i * 0.5, i + 1.0] for i in range(n)]
    return sum(row[0] * a[0] + row[1] * a[1] ** 2 for row in rows)


def of_arrays(a: Any, n: int) -> Any:
    s = a
    for w in [np.full(4, 0.5 + i) for i in range(n)]:
        s = s * w + a
    return np.sum(s)


def with_a_condition(a: Any, n: int) -> Any:
    s = 0.0
    for i in [i for i in range(4) if i % 2 == n % 2]:
        s += a[i] ** 2
    return s


def of_other_names(a: Any, n: int) -> Any:
    i = 5
    squares = {str(i): i * i for i in range(n)}
    s = 0.0
    for i, name in enumerate(squares):
        s += a[i] * squares[name]
    return s + i * a[0]


def changed_later(a: Any, n: int) -> Any:
    xs = [0.1 * i for i in range(n)]
    s = 0.0
    for k in range(n):
        s += a[0] * xs[k] * s + a[1] * xs[k]
        xs[k] = a[k]
    return s + xs[0] * xs[1]


def changed_in_turns(a: Any, n: int) -> Any:
    weights = {k: 1.0 + k for k in range(n)}
    s = 0.0
    for k in range(n):
        s += a[k] * weights[k % 2]
        weights[k % 2] = weights[k % 2] + 1.0
    return s


def pairs_read_again(a: Any, n: int) -> Any:
    s = 0.0
    for pair in [(0, 1), (1, 2), (3, 0)]:
        i, j = pair
        s += a[i] * a[j] * pair[0]
    return s


def pairs_after_the_loop(a: Any, n: int) -> Any:
    s = 0.0
    for i, j in [(0, 1), (1, 2), (3, 0)]:
        s = s * a[i] + a[j]
    return s * a[i] * a[j]


EVERY = [
    of_numbers, in_a_variable, of_a_dict, of_pairs, of_numbered_pairs, of_pairs_beside_what_is_saved, of_nested_pairs,
    of_items, of_lists, of_arrays, with_a_condition, of_other_names, changed_later, changed_in_turns, pairs_read_again,
    pairs_after_the_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", EVERY)
def test_the_gradient_is_right(f: Any) -> None:
    expected = numeric_gradient(lambda a: f(a, 3), (A,))
    np.testing.assert_allclose(grad(f)(A, 3), expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(jvp(lambda a: f(a, 3), (A,), (A,))[1], expected @ A, rtol=1e-8)


@pytest.mark.parametrize("f", [f for f in EVERY[:12] if f is not of_arrays])
def test_its_text_has_no_helpers_for_what_is_unknown(f: Any) -> None:
    text = grad(f).source_for(A, 3)
    assert not any(helper in text for helper in ("plain(", "own(", "scalar_seed", "unbroadcast", "widened", "add_at"))


def test_loops_over_constants_are_run_once() -> None:
    assert "saved" not in grad(of_pairs).source_for(A, 3)
    assert "for i_2, j_2 in reversed(pairs):" in grad(of_pairs).source_for(A, 3)
    assert "for i_2, j_2 in reversed(pairs):" in grad(of_pairs_beside_what_is_saved).source_for(A, 3)
    assert "saved" not in grad(of_a_dict).source_for(A, 3)
    assert "weights[k_2]" in grad(of_a_dict).source_for(A, 3)
    assert "for x, (y, z) in zip(" in grad(of_nested_pairs).source_for(A, 3)
