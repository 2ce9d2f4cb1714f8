"""Assignments of every form, and the names that they bind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.3, -1.2, 2.5])
W = np.array([1.5, 0.25, -0.75])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])


def chained(x: Any) -> Any:
    a = b = x * x
    return a * 3.0 + b


def chained_then_rebound(x: Any) -> Any:
    a = b = np.sin(x)
    a = a * 2.0
    return a * b


def chained_with_unpacking(x: Any, y: Any) -> Any:
    pair = a, b = x * y, x + y
    return a * pair[1] + b * pair[0]


def unpacked(x: Any, y: Any) -> Any:
    a, b = x * y, x - y
    return a * b


def unpacked_from_list(x: Any) -> Any:
    [a, b] = [x, x * x]
    return a - b


def unpacked_from_array(v: Any) -> Any:
    a, b, c = v
    return a * b - c


def unpacked_rows(m: Any) -> Any:
    top, bottom = m
    return top @ bottom


def unpacked_nested(x: Any, y: Any) -> Any:
    (a, b), (c, (d,)) = (x, y), (x * y, [x - y])
    return a * d + b * c


def starred_middle(x: Any, y: Any) -> Any:
    first, *middle, last = x, y, x * y, x + y, y * y
    return first * middle[0] + middle[-1] * last


def starred_empty(x: Any) -> Any:
    first, *rest = (x * 2.0,)
    return first * len(rest) + first


def starred_front_of_array(v: Any) -> Any:
    *front, last = v
    return front[0] * front[1] * last


def step(v: Any, w: Any) -> Any:
    states = {-1: np.copy(v)}
    loss = 0
    for t in range(2):
        states[t] = np.tanh(states[t - 1] * w[t])
        loss += -np.log(states[t][0] + 3)
    w_bar = np.zeros(2)
    w_bar[0] = loss
    return loss, w_bar, 2.5, states[1]


def starred_results_of_calls(v: Any) -> Any:
    loss, *others, state = step(v, [0.5, 2.0])
    more, *_ = step(state, [1.5, 0.7])
    *first, last = step(state, [others[1], loss])
    return loss * more + others[0][0] * last[1] + first[0]


def annotated(x: float) -> float:
    y: float = x * 2.0
    z: float
    z = y * y
    return z


def augmented_scalar(x: Any) -> Any:
    y = x * 1.0
    y += x * x
    y -= 0.5
    y *= x
    y /= 3.0
    y **= 2
    return y


def augmented_argument_number(x: float, y: float) -> float:
    x += y
    x *= x
    return x


def augmented_constant_start(x: Any) -> Any:
    total = 0
    total += x
    total += x * x
    return total


def augmented_tuple(x: Any) -> Any:
    items = (x,)
    items += (x * x, 2.0)
    return items[0] * items[1] * items[2]


def augmented_integer_counter(x: Any) -> Any:
    n = 1
    n += 2
    n <<= 1
    n //= 2
    n %= 5
    return x**n


def swapped(x: Any, y: Any) -> Any:
    x, y = y, x
    return x * x - y


def rotated(x: Any, y: Any, z: Any) -> Any:
    x, y, z = y, z, x
    return x * y * y * z * z * z


def swapped_in_loop(u: Any, v: Any) -> Any:
    for _ in range(5):
        u, v = v * 1.1, np.sin(u)
    return np.sum(u * u - v)


def ping_pong(u: Any, v: Any) -> Any:
    for i in range(4):
        new = u * 0.9 + v * i
        u, v = v, new
    return np.sum(u - v * v)


def rebound_argument(x: Any) -> Any:
    x = x * x
    x = x + 1.0
    return np.sum(x)


def rebound_argument_used_before(x: Any) -> Any:
    y = x
    x = np.cos(x)
    return np.sum(x * y)


def rebound_to_constant(x: Any, y: Any) -> Any:
    z = x * y
    x = 3.0
    return z * x


def rebound_to_constant_unused(x: Any) -> Any:
    x = 3.0
    return x * 1.0


def changes_type(x: Any) -> Any:
    t = 3
    t = t * x
    t = (t, x)
    t = [t[0] * t[1], t[1]]
    t = t[0] - t[1]
    return t


def changes_shape(v: Any) -> Any:
    t = v
    t = np.outer(t, t)
    t = t[0]
    t = np.sum(t)
    t = t * v
    return np.sum(t)


def changes_shape_in_loop(v: Any) -> Any:
    t = v
    for _ in range(2):
        t = np.sum(t * v)
    return t


def grows_in_loop(v: Any) -> Any:
    t = v
    for i in range(3):
        t = np.concatenate([t, t[: i + 1] * 2.0])
    return np.sum(t * t)


def string_then_number(x: Any) -> Any:
    t = "abc"
    t = len(t) * x
    return t


def none_then_number(x: Any) -> Any:
    best = None
    for k in range(3):
        candidate = x * k
        if best is None or candidate > best:
            best = candidate
    return best


def identity(x: Any) -> Any:
    return x


def identity_by_name(x: Any) -> Any:
    y = x
    z = y
    return z


def constant_result(x: Any) -> Any:
    return 3.5


def unused_argument(x: Any, y: Any, z: Any) -> Any:
    return np.sum(y * y)


def same_array_twice(x: Any, y: Any) -> Any:
    return np.sum(x * y)


def alias_of_argument(x: Any) -> Any:
    y = x
    return np.sum(y * x)


def dead_code(x: Any) -> Any:
    unused = np.exp(x)
    unused = np.sum(unused)
    return x * x


def deleted_name(x: Any) -> Any:
    # A value that is overwritten after it was used nonlinearly has to be kept.
    y = x * x
    z = y * y
    y = np.sin(x)
    w = y * z
    y = 0.0
    return w + y


def same_name_many_times(x: Any) -> Any:
    x = np.sin(x) * x
    x = np.sin(x) * x
    x = np.sin(x) * x
    x = np.sin(x) * x
    return x


def gradient_is_argument(w: Any, x: Any) -> Any:
    """The gradient in w is x itself: it must not be the caller's own array."""
    return np.sum(w * x)


def shared_contribution(x: Any, y: Any) -> Any:
    """Both gradients are the same array of ones: they must not be one object."""
    return np.sum(x + y)


def sum_of_three(x: Any, y: Any, z: Any) -> Any:
    return np.sum((x + y) + (z + x))


def lambda_free_walrus(x: Any) -> Any:
    return (y := x * x) * y


def multiple_targets_of_array(v: Any) -> Any:
    a = b = c = v
    return np.sum(a * b * c)


def unpack_result_of_split(v: Any) -> Any:
    left, right = np.split(v, 2)
    return np.sum(left * right)


def unpack_shape(m: Any) -> Any:
    rows, columns = m.shape
    return np.sum(m) / (rows * columns)


CASES = [
    case(chained, 1.3),
    case(chained_then_rebound, 0.7),
    case(chained_with_unpacking, 1.2, -0.4),
    case(unpacked, 1.2, 0.4),
    case(unpacked_from_list, 0.9),
    case(unpacked_from_array, V),
    case(unpacked_rows, M),
    case(unpacked_nested, 1.1, 0.3),
    case(starred_middle, 0.8, -1.1),
    case(starred_empty, 0.8),
    case(starred_front_of_array, V),
    case(starred_results_of_calls, V),
    case(annotated, 0.6),
    case(augmented_scalar, 1.4),
    case(augmented_argument_number, 1.4, -0.2),
    case(augmented_constant_start, 1.4),
    case(augmented_tuple, 1.4),
    case(augmented_integer_counter, 1.4),
    case(swapped, 1.4, 0.6),
    case(rotated, 1.1, 0.9, 0.7),
    case(swapped_in_loop, V, W),
    case(ping_pong, V, W),
    case(rebound_argument, V),
    case(rebound_argument_used_before, V),
    case(rebound_to_constant, 1.2, 0.3),
    case(rebound_to_constant_unused, 1.2),
    case(changes_type, 1.2),
    case(changes_shape, V),
    case(changes_shape_in_loop, V),
    case(grows_in_loop, V),
    case(string_then_number, 0.4),
    case(none_then_number, 0.4),
    case(identity, 0.4),
    case(identity_by_name, 0.4),
    case(constant_result, V),
    case(unused_argument, M, V, 0.5),
    case(same_array_twice, V, V),
    case(alias_of_argument, V),
    case(dead_code, 0.4),
    case(deleted_name, 0.4),
    case(same_name_many_times, 0.9),
    case(gradient_is_argument, V, W),
    case(shared_contribution, V, W),
    case(sum_of_three, V, W, V + W),
    case(lambda_free_walrus, 0.8),
    case(multiple_targets_of_array, V),
    case(unpack_result_of_split, np.arange(4.0)),
    case(unpack_shape, M),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
