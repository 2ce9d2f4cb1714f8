"""What each of several results of a call shares: with an argument, another result, the module, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([0.7, -0.4, 1.3])
NUMBERS = [1.0, 2.1, 2.9]
HELD = np.array([0.5, 0.25, 2.0])


def corrected(state: Any, gain: Any, z: Any) -> Any:
    residual = z - state[0]
    state[0] = state[0] + gain * residual
    state[1] = state[1] * residual
    return state, residual


def filtered(x: Any) -> Any:
    state = np.zeros(2)
    state[0], state[1] = x[0], 1.0
    residual = 0.0
    for z in NUMBERS:
        state, residual = corrected(state, x[1], z)
    return np.sum(state**2) + residual * x[2]


def both_of_one(n: Any) -> Any:
    made = np.ones(n)
    return made, made[::-1]


def written_through_the_other(x: Any) -> Any:
    a, b = both_of_one(3)
    a[0] = x[0] * x[1]
    b[0] = b[2] * x[2]
    return np.sum(a * np.array([1.0, 2.0, 3.0]))


def in_turn(a: Any, b: Any) -> Any:
    return b, a * 1.0, a


def exchanged(x: Any) -> Any:
    p, q = x * 2.0, x**2
    u, v, w = in_turn(p, q)
    u[0] = x[1]
    w[1] = x[2] ** 2
    v[2] = 0.0
    return np.sum(p * q) + np.sum(v)


def parts(a: Any) -> Any:
    return a[:2], a[1:], np.sum(a)


def overlapping(x: Any) -> Any:
    a = x * 1.0
    head, tail, total = parts(a)
    head[1] = head[0] * total
    tail[1] *= x[0]
    return np.sum(a**2) + head[1] * tail[0]


def chained(a: Any, b: Any) -> Any:
    pair = [a, b]
    return a, b, pair


def held_by_the_third(x: Any) -> Any:
    a, b = x * 1.0, x + 1.0
    first, second, pair = chained(a, b)
    pair[1][0] = x[0] ** 2
    first[1] = 3.0 * x[1]
    return np.sum(second * pair[0]) + np.sum(b)


def with_a_default(a: Any, out: Any = HELD) -> Any:
    return a * out, a


def given_or_not(x: Any) -> Any:
    scaled, same = with_a_default(x * 1.0)
    same[0] = x[1] * x[2]
    return np.sum(scaled * same)


def again(a: Any, n: int) -> Any:
    if n == 0:
        return a, a[0] * 2.0
    a[0] = a[0] * a[1]
    same, value = again(a, n - 1)
    return same, value + a[2]


def recursive(x: Any) -> Any:
    a = x * 1.0
    same, value = again(a, 2)
    same[1] = value
    return np.sum(a**2)


def written_in_a_tuple(k: Any) -> Any:
    a = np.zeros(3)
    both = (k, a)
    both[1][0] = 5.0
    return np.sum(both[1] * k * k)


def written_in_a_dict(k: Any) -> Any:
    held = {"a": np.zeros(3), "k": k}
    for i in range(2):
        held["a"][i] = i + 1.0
    return held["a"] * held["k"] ** 2


def of_containers(x: Any) -> Any:
    return written_in_a_tuple(x * 2.0) + np.sum(written_in_a_dict(x))


def nested(a: Any, b: Any) -> Any:
    return a, (b, a * 2.0)


def kept_whole(x: Any) -> Any:
    pair, (u, v, _) = nested(x * 1.0, x**2), in_turn(x * 2.0, x)
    pair[1][0][0] = x[1] * u[2]
    pair[1][1][:] += pair[0] * v
    return np.sum(pair[1][0] * pair[1][1]) + in_turn(pair[0], x)[2][1]


def taken_at_once(x: Any) -> Any:
    a = x * 2.0
    b = in_turn(a, np.ones(3))[2]
    b += x**2
    b[1] *= x[0]
    return np.sum(a * b)


def advanced(pair: Any) -> Any:
    pair[0][1] = pair[1][0] ** 2
    return pair


def handed_on(x: Any) -> Any:
    pair = in_turn(x * 1.0, x * 3.0)[:2]
    for _ in range(2):
        pair = advanced(pair)
    chosen = pair if x[0] > 0.0 else in_turn(x, x)[:2]
    return np.sum(chosen[0] * chosen[1] ** 2)


PROGRAMS: list[Callable[[Any], Any]] = [
    filtered, exchanged, overlapping, held_by_the_third, given_or_not, recursive, of_containers, kept_whole,
    taken_at_once, handed_on,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_results_share_what_they_share_in_python(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (X,), 0)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    direction = np.array([0.3, 1.0, -0.7])
    np.testing.assert_allclose(jvp(f, (X,), (direction,))[1], expected @ direction, rtol=1e-6, atol=1e-8)


def test_two_results_that_are_one_new_array_are_refused_where_both_are_written() -> None:
    with pytest.raises(UnsupportedError, match="a, b = both_of_one"):
        grad(written_through_the_other)(X)
