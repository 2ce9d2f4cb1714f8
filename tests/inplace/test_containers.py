"""Lists and dicts whose items are replaced: by numbers, by arrays, by arrays that are written in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.3, -1.2, 2.5, 0.7])
W = np.array([1.5, 0.25, -0.75, 1.1])


def put(c: Any, i: Any, v: Any) -> Any:
    c[i] = v


def set_item(h: Any, i: Any, v: Any) -> Any:
    h[i] = v * v


def zeros_list(x: Any) -> Any:
    u = [0.0] * 4
    for i in range(4):
        u[i] = x[i] * x[i]
    return u[0] * u[1] + u[3]


def list_fib(x: Any) -> Any:
    u = [0.0] * 6
    u[0] = x[0]
    u[1] = x[1]
    for i in range(2, 6):
        u[i] = u[i - 1] * u[i - 2] + x[2]
    return u[5]


def list_augmented_item(x: Any) -> Any:
    u = [0.0, 0.0]
    for i in range(4):
        u[i % 2] += x[i] * x[i] * (1 + u[0])
    return u[0] * u[1]


def dict_store(x: Any) -> Any:
    d = {}
    d["a"] = x * 2.0
    d["b"] = np.sin(d["a"])
    d["a"] = d["b"] * x
    return np.sum(d["a"] * d["b"])


def dict_store_array_then_write(x: Any) -> Any:
    d = {}
    d["u"] = x * 2.0
    d["u"][0] = x[1] * x[2]
    d["u"][1:] *= x[0]
    return np.sum(d["u"] ** 2)


def pingpong_slices(x: Any) -> Any:
    bufs = [x.copy(), np.zeros_like(x)]
    for k in range(4):
        bufs[(k + 1) % 2][...] = np.sin(bufs[k % 2]) * x
    return np.sum(bufs[0] * bufs[1])


def pingpong_items(x: Any) -> Any:
    bufs = [x, x * 2.0]
    for k in range(4):
        bufs[k % 2] = np.sin(bufs[(k + 1) % 2]) * x
    return np.sum(bufs[0] * bufs[1])


def swap_items(x: Any) -> Any:
    bufs = [x * 1.0, x * 2.0]
    for k in range(3):
        bufs[1] = np.sin(bufs[0]) * x
        bufs[0], bufs[1] = bufs[1], bufs[0]
    return np.sum(bufs[0] * bufs[1] ** 2)


def swap_buffers_items(x: Any) -> Any:
    bufs = [x * 1.0, x * 2.0]
    for k in range(3):
        bufs[1][1:] = np.sin(bufs[0][:-1]) * x[1:]
        bufs[0], bufs[1] = bufs[1], bufs[0]
    return np.sum(bufs[0] * bufs[1] ** 2)


def reversed_bufs(x: Any) -> Any:
    bufs = [x * 1.0, x * 2.0]
    for k in range(3):
        bufs[1][1:] = np.sin(bufs[0][:-1]) * x[1:]
        bufs = bufs[::-1]
    return np.sum(bufs[0] * bufs[1] ** 2)


def list_copy_alias(x: Any) -> Any:
    a = [x * 1.0, x * 2.0]
    b = a.copy()
    b[0][0] = x[1] * x[2]
    return np.sum(a[0] * b[1])


def constant_list_facts(x: Any) -> Any:
    c = [1.0, 2.0]
    c[0] = np.ones(4)
    return np.sum(x[0] * c[0]) * c[1]


def items_numbers(x: Any) -> Any:
    items = [x, x * x, 0.0]
    items[2] = items[0] * items[1]
    items[0] = 3.0
    return items[0] * items[2] + items[1]


def dict_number(p: Any) -> Any:
    p["c"] = p["a"] * p["b"]
    p["a"] *= 2.0
    return p["a"] * p["c"]


def list_arg_scaled(q: Any, s: Any) -> Any:
    q[0] *= s
    q[1] += q[0]
    return np.sum(q[0] * q[1])


def alias_of_list_item_scaled(x: Any) -> Any:
    q = [x * 1.0, x * 2.0]
    a = q[0]
    q[0] *= x[1]
    q[1] += a
    a[2] = 5.0
    return np.sum(q[0] * q[1] * a)


def item_rebound_not_scaled(x: Any) -> Any:
    q = [x * 1.0, x * 2.0]
    a = q[0]
    q[0] = q[0] * x[1]
    a[2] = 5.0 * x[0]
    return np.sum(q[0] * q[1] * a)


def dict_int_keys(x: Any) -> Any:
    memo = {}
    memo[0] = x[0]
    memo[1] = x[1]
    for i in range(2, 5):
        memo[i] = memo[i - 1] * memo[i - 2] + x[2]
    return memo[4] * memo[3]


def dict_loop_items(x: Any) -> Any:
    d = {"a": x[0], "b": x[1]}
    for k in ("a", "b", "a"):
        d[k] = d[k] * x[2] + d["a"]
    s = 0.0
    for k, v in d.items():
        s += v * v
    return s


def dict_grown_in_loop(x: Any) -> Any:
    d = {"u": x}
    for i in range(3):
        d["v"] = d["u"] * x
        d["u"] = np.sin(d["v"])
    return np.sum(d["u"] * d["v"])


def changed_shapes(x: Any) -> Any:
    b = [x, x[:2]]
    b[0] = x[1:]
    b[1] = np.outer(x, x)
    return np.sum(b[0] ** 2) + np.sum(b[1] ** 2)


def items_of_kinds(x: Any) -> Any:
    b = [0.0, 0.0]
    for i in range(2):
        b[i] = x * x[i]
    return np.sum(b[0] * b[1])


def number_becomes_array(x: Any) -> Any:
    b = [0.0, x[1]]
    t = b[0] + b[1]
    b[0] = x * x
    return np.sum(b[0]) * t


def pingpong_two_names(x: Any) -> Any:
    bufs = [x.copy(), np.zeros(4), np.zeros(4)]
    for k in range(5):
        src, dst = bufs[k % 3], bufs[(k + 1) % 3]
        dst[1:] = 0.5 * src[:-1] * src[1:]
        dst[0] = x[0]
    return np.sum(bufs[0] * bufs[1] + bufs[2])


def bufs_rotated(x: Any) -> Any:
    bufs = [x * 1.0, x * 2.0, x * 3.0]
    for k in range(4):
        bufs[2][:] = bufs[0] * bufs[1] + 0.1 * bufs[2]
        bufs = [bufs[2], bufs[0], bufs[1]]
    return np.sum(bufs[0] * bufs[1])


def augmented_number_twice(x: Any) -> Any:
    c = [0.0, 0.0]
    for i in range(4):
        c[0] += x[i]
        c[1] += c[0] * x[i]
        c[0] -= 0.5 * c[1]
    return c[0] * c[1]


def nested_update(x: Any) -> Any:
    s = [[x[0], x[1]], [x[2]]]
    s[0] = [s[0][1], s[1][0]]
    return s[0][0] * s[0][1]


def thomas(d: Any) -> Any:
    n = 4
    cp = [0.0] * n
    dp = [0.0] * n
    cp[0] = 0.5 / d[0]
    dp[0] = d[1] / d[0]
    for i in range(1, n):
        m = 1.0 / (d[i] + 3.0 - cp[i - 1])
        cp[i] = 0.5 * m
        dp[i] = (d[i] - dp[i - 1]) * m
    xs = [0.0] * n
    xs[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        xs[i] = dp[i] - cp[i] * xs[i + 1]
    return sum(xs) * xs[0]


def alias_of_item_scaled(p: Any) -> Any:
    b = p["b"]
    p["b"] *= 2.0
    return np.sum(b * p["a"]) + np.sum(b**2)


def entry_kept_after_replaced(p: Any) -> Any:
    p["a"][0] = p["b"][1] * 2.0
    p["a"] = p["a"] * p["b"]
    p["a"][1] *= 3.0
    return np.sum(p["a"] * p["b"])


def number_item_in_mixed(p: Any) -> Any:
    p["a"][0] = p["k"] * p["a"][1]
    p["a"] *= p["k"]
    return np.sum(p["a"] * p["k"])


def const_callee(x: Any) -> Any:
    c = [1.0, 2.0]
    put(c, 0, np.arange(4.0))
    return np.sum(x[1] * c[0])


def const_nested(x: Any) -> Any:
    c = [[1.0], 2.0]
    c[0][0] = np.arange(4.0)
    return np.sum(x[1] * c[0][0])


def const_is_none(x: Any) -> Any:
    c = [None, 1.0]
    c[0] = 2.0
    y = c[0]
    if y is None:
        return x[0]
    return x[1] * y


def const_callee_none(x: Any) -> Any:
    c = [None, 1.0]
    put(c, 0, 2.0)
    y = c[0]
    if y is None:
        return x[0]
    return x[1] * y


def mixed_dep(x: Any) -> Any:
    c = [1.0, x[0]]
    b = c
    s = b[0] * 2.0
    return s * c[1] * x[1]


def iterate_copy(x: Any) -> Any:
    h = [x[0], x[1], x[2]]
    for i, v in enumerate(h.copy()):
        h[i] = v * v + h[0]
    return sum(h) * h[0]


def negative_store(x: Any) -> Any:
    h = [x[0], x[1]]
    h[-1] = h[0] * x[2]
    h[-2] += h[-1]
    return h[0] * h[1]


def store_array_row(x: Any) -> Any:
    h = [np.zeros(4)] * 3
    for i in range(3):
        h[i] = x * x[i]
    return np.sum(np.array(h) ** 2)


def store_same_zero(x: Any) -> Any:
    h = [np.zeros(4)] * 3
    h[0] = x * 2.0
    return np.sum(h[0] * h[1]) + np.sum(h[0])


def nones(x: Any) -> Any:
    h = [None] * 4
    for i in range(4):
        h[i] = x[i] * x
    return np.sum(np.stack(h))


def none_list_read(x: Any) -> Any:
    h = [None, None]
    h[0] = x * 2.0
    h[1] = h[0] * x
    return np.sum(h[1])


def int_float(x: Any) -> Any:
    h = [0, 1]
    h[0] = x[0] * h[1]
    h[1] = h[0] * 2
    return h[0] * h[1]


def array_test_plus(x: Any) -> Any:
    h = [x * 1.0] + [x * 2.0]
    h[0][1] = x[2] * x[3]
    h[1] *= x[0]
    return np.sum(h[0] * h[1])


def plus_shared(x: Any) -> Any:
    a = x * 1.0
    h = [a] + [x * 2.0, a]
    h[0][1] = x[2] * x[3]
    h[2][0] *= x[0]
    return np.sum(h[0] * h[1]) + np.sum(a)


def times_tuple(x: Any) -> Any:
    a = x * 1.0
    h = (a,) * 2
    h[0][1] = x[2] * x[3]
    return np.sum(h[1] ** 2)


def slices_shared(x: Any) -> Any:
    h = [x * 1.0, x * 2.0, x * 3.0]
    g = h[1:]
    g[0][0] = x[1] * x[2]
    g[1] *= x[0]
    return np.sum(h[0] * h[1] * h[2])


def dict_copy_shared(x: Any) -> Any:
    d = {"a": x * 1.0}
    e = d.copy()
    e["a"][0] = x[2] * x[1]
    e["b"] = x * 2.0
    return np.sum(d["a"] * e["b"])


def not_put_back(x: Any) -> Any:
    q = [x * 1.0, x * 2.0]
    t = x * 3.0
    t *= x[1]
    q[0] = t
    t2 = q[1]
    t2 *= x[0]
    q[0] = t2
    t3 = q[1]
    t3 += 1.0
    q[1] = t3
    return np.sum(q[0] * q[1])


def put_back_named(x: Any) -> Any:
    q = [x * 1.0, x * 2.0]
    for i in range(2):
        t = q[i]
        t *= x[i]
        q[i] = t
        t[0] = x[3]
    return np.sum(q[0] * q[1] * t)


def put_back_elsewhere(x: Any) -> Any:
    q = [x * 1.0, x * 2.0]
    i = 0
    t = q[i]
    i = 1
    t *= x[2]
    q[i] = t
    return np.sum(q[0] * q[1])


def list_alias_store(x: Any) -> Any:
    a = [x[0], x[1]]
    b = a
    b[0] = x[2] * x[3]
    return a[0] * b[1]


def callee_stores(x: Any) -> Any:
    h = [0.0, 0.0]
    set_item(h, 0, x[0])
    set_item(h, 1, x[1] * h[0])
    return h[0] * h[1]


def list_of_lists_store(x: Any) -> Any:
    g = [[0.0, 0.0], [0.0, 0.0]]
    for i in range(2):
        for j in range(2):
            g[i][j] = x[i] * x[j + 2]
    return g[0][0] * g[1][1] + g[0][1]


def stored_slice(x: Any) -> Any:
    h = [x[0], x[1], x[2]]
    h[1:] = [x[3], x[0] * x[1]]
    return sum(h)


def del_item(x: Any) -> Any:
    h = [x[0], x[1], x[2]]
    del h[0]
    return h[0] * h[1]


def number_item_changed_in_mixed(p: Any) -> Any:
    p["a"][0] = p["k"] * p["a"][1]
    p["k"] *= 2.0
    return np.sum(p["a"] * p["k"])


def const_update(x: Any) -> Any:
    d = {"a": 1.0}
    d.update({"a": np.arange(4.0)})
    return np.sum(x[1] * d["a"])


def const_callee_alias(x: Any) -> Any:
    c = [1.0, 2.0]
    b = c
    b[0] = np.arange(4.0)
    return np.sum(x[1] * c[0])


def const_is_none_alias(x: Any) -> Any:
    c = [None, 1.0]
    b = c
    b[0] = 2.0
    y = c[0]
    if y is None:
        return x[0]
    return x[1] * y


def iterate_and_replace(x: Any) -> Any:
    h = [x[0], x[1], x[2]]
    for i, v in enumerate(h):
        h[i] = v * v + h[0]
    return sum(h)


def store_same_zero_written(x: Any) -> Any:
    h = [np.zeros(4)] * 3
    h[0][1] = x[1]
    h[1] *= 2.0
    return np.sum(h[0] * h[2] * x)


def scaled_then_appended_to(x: Any) -> Any:
    """A view of the list as it is in between."""
    g = [x * 1.0, x, x * 1.0]
    g[-1] += x
    for _ in range(2):
        g.append(x)
    g[0], g[1] = g[1], g[0]
    g.append(np.sin(x + np.sum(g[-2] * x)))
    return np.sum(g[-3] * x) + x[1] * np.sum(g[4] * x)


def summed_with_what_is_written(x: Any) -> Any:
    k = (x, x * 2.0)
    x[0] = 1.0
    return np.sum(k) + np.mean(k + k) + np.sum(k * 2)


def summed_in_a_function(x: Any) -> Any:
    k = [x, x * 2.0]
    return _summed(k, x)


def _summed(k: Any, x: Any) -> Any:
    x[1:2] = 1.0
    return np.sum(k)


CASES = [
    case(del_item, V),
    case(summed_with_what_is_written, V),
    case(summed_in_a_function, V),
    *[
        case(f, V)
        for f in (
            zeros_list,
            list_fib,
            list_augmented_item,
            dict_store,
            dict_store_array_then_write,
            list_alias_store,
            callee_stores,
            list_of_lists_store,
            store_same_zero_written,
            pingpong_slices,
            pingpong_items,
            swap_items,
            swap_buffers_items,
            reversed_bufs,
            list_copy_alias,
            constant_list_facts,
            alias_of_list_item_scaled,
            item_rebound_not_scaled,
            dict_int_keys,
            dict_loop_items,
            dict_grown_in_loop,
            changed_shapes,
            items_of_kinds,
            number_becomes_array,
            pingpong_two_names,
            bufs_rotated,
            augmented_number_twice,
            nested_update,
            const_callee,
            const_nested,
            const_is_none,
            const_callee_none,
            mixed_dep,
            iterate_copy,
            negative_store,
            store_array_row,
            store_same_zero,
            nones,
            none_list_read,
            int_float,
            array_test_plus,
            plus_shared,
            times_tuple,
            slices_shared,
            dict_copy_shared,
            not_put_back,
            iterate_and_replace,
            put_back_named,
            put_back_elsewhere,
            stored_slice,
            const_callee_alias,
            const_is_none_alias,
        )
    ],
    case(scaled_then_appended_to, V),
    case(const_update, V),
    case(items_numbers, 0.7),
    case(dict_number, {"a": 1.3, "b": 0.4}),
    case(list_arg_scaled, [V, W], 0.7),
    case(thomas, np.abs(V) + 1.0),
    case(alias_of_item_scaled, {"a": V, "b": W}),
    case(entry_kept_after_replaced, {"a": V, "b": W}),
    case(number_item_in_mixed, {"a": V, "k": 0.7}),
    case(number_item_changed_in_mixed, {"a": V, "k": 0.7}),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
