"""Several names for one array: aliases, views, swaps, and callees that write into what they get."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, stop_gradient
from s2sad.errors import UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.3, -1.2, 2.5, 0.7])
W = np.array([1.5, 0.25, -0.75, 1.1])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [0.1, 0.7, -0.3]])


def alias(x: Any) -> Any:
    a = x * 1.0
    b = a
    b[0] = x[1] * x[2]
    a[1] *= b[0]
    return np.sum(a * b)


def alias_ended_by_copy(x: Any) -> Any:
    a = x * 1.0
    b = a
    a = a.copy()
    a[0] = 7.0
    b[1] = a[0] * x[2]
    return np.sum(a * b)


def alias_ended_by_rebinding(x: Any) -> Any:
    a = x * 1.0
    b = a
    a = a + 1.0
    a[0] *= 2.0
    b[0] *= 3.0
    return np.sum(a * b)


def alias_of_argument_written(x: Any) -> Any:
    b = x
    b[0] = b[1] * b[2]
    return np.sum(x * x)


def conditional_alias(x: Any, flag: Any) -> Any:
    a = x * 1.0
    c = x * 2.0
    b = a if flag else c
    b[0] = x[1] ** 2
    return np.sum(a * c)


def conditional_alias_by_branch(x: Any) -> Any:
    a = x * 1.0
    if x[0] > 0.0:
        b = a
    else:
        b = a.copy()
    b[1] = x[0] * x[2]
    return np.sum(a * b)


def alias_in_loop(x: Any) -> Any:
    a = x * 1.0
    b = a
    for i in range(3):
        a[i] = b[i + 1] * 2.0
        if i == 1:
            b = a.copy()
        b[0] += a[i]
    return np.sum(a * b)


def swapped_buffers(x: Any) -> Any:
    u = x.copy()
    v = np.zeros_like(u)
    for i in range(5):
        v[1:-1] = 0.3 * (u[:-2] + u[2:]) * u[1:-1] + 0.1 * i
        u, v = v, u
    return np.sum(u * u) + np.sum(v)


def three_buffers(x: Any) -> Any:
    a, b, c = x.copy(), x * 0.5, np.zeros(4)
    for _ in range(4):
        c[:] = 2.0 * a - b + 0.1 * a * a
        a, b, c = c, a, b
    return np.sum(a * b)


def in_a_list(x: Any) -> Any:
    a = x * 1.0
    items = [a, a, x]
    items[0][1] = x[0] * x[3]
    return np.sum(items[1] * items[2]) + a[1]


def in_a_tuple(x: Any) -> Any:
    pair = (x * 1.0, x * 2.0)
    first, second = pair
    first[0] = second[1] * second[2]
    second *= first
    return np.sum(pair[0] * pair[1])


def in_a_dict(x: Any) -> Any:
    d = {"a": x * 1.0}
    a = d["a"]
    a[0] = x[1] * x[2]
    d["a"][1] += a[0]
    return np.sum(d["a"] * a)


def in_a_loop_over_a_list(x: Any) -> Any:
    a, b = x * 1.0, x * 2.0
    for item in (a, b, a):
        item[0] = item[1] * item[0]
    return np.sum(a * b)


def view(x: Any) -> Any:
    a = x * 1.0
    v = a[1:]
    v[0] = x[0] * x[3]
    a[2] *= v[0]
    return np.sum(a * a) + np.sum(v)


def view_of_view(x: Any) -> Any:
    a = x * 1.0
    v = a[::-1]
    w = v[1:3]
    w *= x[:2]
    v[0] = w[1]
    return np.sum(a * a)


def view_read_after_base_written(x: Any) -> Any:
    a = x * 1.0
    v = a[:2]
    before = v * v
    a[0] = x[3] * 2.0
    return np.sum(before) + np.sum(v * v)


def view_of_argument(x: Any) -> Any:
    v = x[1:3]
    v *= x[0]
    return np.sum(x * x)


def views_by_method(m: Any) -> Any:
    a = m * 1.0
    t = a.T
    t[0, 1] = m[0, 0] * m[1, 1]
    r = a.reshape(9)
    r[4] *= t[0, 1]
    f = a.ravel()
    f[8] = r[4] * r[0]
    s = a.swapaxes(0, 1)
    s[2, 0] += f[8]
    return np.sum(a * a)


def view_or_copy(m: Any) -> Any:
    """`reshape` of a transposed array is a copy: writing into it does not reach the base."""
    a = m * 1.0
    r = a.T.reshape(9)
    r[1] = m[0, 0] * m[2, 2]
    c = a.flatten()
    c[0] = 9.0
    s = np.asarray(a)
    s[0, 0] *= r[1]
    return np.sum(a * a) + np.sum(r * r)


def rows_by_iteration(m: Any) -> Any:
    a = m * 1.0
    for i, row in enumerate(a):
        row *= m[i, 0]
        row[1] = row[0] * row[2]
    return np.sum(a * a)


def column_view_in_loop(m: Any) -> Any:
    a = m * 1.0
    for j in range(3):
        column = a[:, j]
        column -= np.mean(column * column)
    return np.sum(a * a * m)


def views_by_split(x: Any) -> Any:
    a = x * 1.0
    left, right = np.split(a, 2)
    left *= right
    right[0] = left[1] * x[0]
    return np.sum(a * a)


def overlapping_views(x: Any) -> Any:
    a = x * 1.0
    left = a[:-1]
    right = a[1:]
    left += right
    right *= left
    return np.sum(a * a)


def scale_in_place(a: Any, k: Any) -> None:
    a *= k


def set_first(a: Any, value: Any) -> Any:
    a[0] = value
    return a


def tail(a: Any) -> Any:
    return a[1:]


def axpy(y: Any, a: Any, x: Any) -> Any:
    y += a * x
    return np.sum(y)


def callee_writes(x: Any) -> Any:
    a = x * 1.0
    scale_in_place(a, x[0])
    scale_in_place(a[1:], 2.0)
    return np.sum(a * a)


def callee_writes_into_argument(x: Any) -> Any:
    scale_in_place(x, x[1])
    return np.sum(x * x)


def callee_returns_its_argument(x: Any) -> Any:
    a = x * 1.0
    b = set_first(a, x[2] * x[3])
    b[1] *= a[0]
    return np.sum(a * b)


def callee_returns_a_view(x: Any) -> Any:
    a = x * 1.0
    t = tail(a)
    t[0] = x[0] * x[0]
    a[2] *= t[0]
    return np.sum(a * a) + np.sum(tail(t))


def same_array_passed_twice(x: Any) -> Any:
    a = x * 1.0
    total = axpy(a, x[0], a)
    return total * np.sum(a) + axpy(a[1:], 2.0, a[:-1])


def recursive_writer(a: Any, n: int) -> None:
    if n == 0:
        return
    a[n] = a[n - 1] * a[n]
    recursive_writer(a, n - 1)
    a[0] += 0.5 * a[n]


def callee_writes_recursively(x: Any) -> Any:
    a = x * 1.0
    recursive_writer(a, 3)
    return np.sum(a * a)


def callee_fills_in_loop(x: Any) -> Any:
    a = np.zeros((3, 4))
    for i in range(3):
        set_first(a[i], x[i])
        axpy(a[i], x[i + 1], x)
    return np.sum(a * a)


def global_stays(x: Any) -> Any:
    a = CONSTANT.copy()
    a[0] = x[0]
    return np.sum(a * x)


CONSTANT = np.array([1.0, 2.0, 3.0, 4.0])


def active_in_one_iteration(x: Any) -> Any:
    a = np.ones(4)
    for i in range(4):
        b = a * 2.0
        if i == 2:
            a[1] = x[0] * b[1]
    return np.sum(a * a)


def number_alias(x: Any) -> Any:
    total = x[0]
    kept = total
    for i in range(4):
        total += x[i] * kept
    return total * kept


def saved_before_overwritten(x: Any) -> Any:
    a = x * 1.0
    history = []
    for i in range(3):
        history = [*history, np.sin(a)]
        a[i] = a[i + 1] * a[i]
    return np.sum(history[0] * history[1] * history[2]) + np.sum(a)


def container_argument(p: Any) -> Any:
    p["a"][0] = p["b"][1] * p["a"][1]
    p["b"] *= 2.0
    return np.sum(p["a"] * p["b"])


CASES = [
    *[
        case(f, V)
        for f in (
            *(alias, alias_ended_by_copy, alias_ended_by_rebinding, alias_of_argument_written),
            *(conditional_alias_by_branch, alias_in_loop, swapped_buffers, three_buffers, in_a_list, in_a_tuple),
            *(in_a_dict, in_a_loop_over_a_list, view, view_of_view, view_read_after_base_written, view_of_argument),
            *(views_by_split, overlapping_views, callee_writes, callee_writes_into_argument),
            *(callee_returns_its_argument, callee_returns_a_view, same_array_passed_twice),
            *(callee_writes_recursively, callee_fills_in_loop, global_stays, active_in_one_iteration, number_alias),
        )
    ],
    case(saved_before_overwritten, V),
    case(conditional_alias_by_branch, -V, name="conditional_alias_by_branch_else"),
    *[case(conditional_alias, V, flag, wrt=0, name=f"conditional_alias_{flag}") for flag in (True, False)],
    *[case(f, M) for f in (views_by_method, view_or_copy, rows_by_iteration, column_view_in_loop)],
    case(container_argument, {"a": V, "b": W}),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def stop_then_write(x: Any) -> Any:
    """The value read through the stopped result before the write is a constant; the array stays active."""
    a = x * 1.0
    weight = np.sum(stop_gradient(a) * 2.0)
    a[0] = x[1] * x[2]
    return np.sum(a) * weight


def write_through_stopped(x: Any) -> Any:
    """`stop_gradient` gives back the same array: what is written through it is seen by the other name."""
    a = x * 1.0
    s = stop_gradient(a)
    s[0] = 5.0
    return np.sum(a * a)


@pytest.mark.parametrize("f", [stop_then_write, write_through_stopped], ids=lambda f: f.__name__)
def test_stop_gradient_of_a_written_array(f: Any) -> None:
    from s2sad import value_and_grad

    value, gradient = value_and_grad(f)(V.copy())
    if f is stop_then_write:
        weight = np.sum(V * 2.0)
        expected = np.array([0.0, 1.0 + V[2], 1.0 + V[1], 1.0]) * weight
    else:
        expected = np.array([0.0, *(2.0 * V[1:])])
    assert value == f(V.copy())
    np.testing.assert_allclose(gradient, expected, rtol=1e-12)


def windows(x: Any) -> Any:
    a = x * 2.0
    b = np.lib.stride_tricks.sliding_window_view(a, 2)
    a[0] = a[1] * a[2]
    return np.sum(b * b[:, ::-1])


def copied_windows(x: Any) -> Any:
    a = x * 2.0
    b = np.lib.stride_tricks.sliding_window_view(a, 2)[:, 0].copy()
    a[0] = a[1] * a[2]
    return np.sum(b * b)


def broadcast_windows(x: Any) -> Any:
    a = x * 2.0
    b = np.broadcast_to(a, (2, len(a)))
    a[0] = a[1] * a[2]
    return np.sum(b * b)


@pytest.mark.parametrize("f", [windows, copied_windows, broadcast_windows], ids=lambda f: f.__name__)
def test_views_whose_elements_share_memory(f: Any) -> None:
    with pytest.raises(UnsupportedError):
        grad(f)(V.copy())
