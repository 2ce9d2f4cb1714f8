"""Lists that grow and shrink: histories of time steppers, stacks, lists of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError
from tests.language.support import PLACE, Case, case, check_gradient, check_primal

V = np.array([0.3, -1.2, 2.5, 0.7])
W = np.array([1.5, 0.25, -0.75, 1.1])

LOG: list[float] = []


def step(u: Any) -> Any:
    return u + 0.1 * np.sin(u) * u


def collect(x: Any, n: Any) -> Any:
    h = []
    u = x
    for i in range(n):
        u = step(u)
        h.append(u)
    return h


def read_then_append_in_callee(x: Any) -> Any:
    h = [x[0]]
    for i in range(3):
        h.append(h[-1] * x[i])
    t = np.sum(np.array(h) ** 2)
    h.append(t)
    return h


def total(h: Any) -> Any:
    return np.sum(np.array(h) ** 2) + h[0] * h[-1]


def two(x: Any) -> Any:
    h = [x[0]]
    return h, h


def make(x: Any) -> Any:
    return [x[0]], [x[1]]


def ident(h: Any) -> Any:
    return h


def step_e(u: Any) -> Any:
    h = []
    for i in range(2):
        h.append(u * (i + 1.0))
    return h[0] * h[1], np.sum(h[1])


def add_to(h: Any, v: Any) -> Any:
    h.append(v * v)


def hist_stack(x: Any) -> Any:
    h = []
    u = x
    for i in range(5):
        u = step(u)
        h.append(u)
    return np.sum(np.stack(h) ** 2)


def hist_array(x: Any) -> Any:
    h = [x]
    for i in range(5):
        h.append(step(h[-1]))
    return np.sum(np.array(h) ** 2)


def hist_copy_inplace(x: Any) -> Any:
    u = x.copy()
    h = [u.copy()]
    for i in range(4):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
        h.append(u.copy())
    return np.sum(np.stack(h) ** 3) + np.sum(h[-1] * h[2])


def hist_sin_inplace(x: Any) -> Any:
    a = x * 1.0
    h = []
    for i in range(3):
        h.append(np.sin(a))
        a[i] = a[i + 1] * a[i]
    return np.sum(h[0] * h[1] * h[2]) + np.sum(a)


def hist_alias(x: Any) -> Any:
    a = x * 1.0
    h = []
    for i in range(3):
        h.append(a)
        a[i] = a[i + 1] * a[i]
    return np.sum(h[0] * h[1] * h[2]) + np.sum(a)


def hist_sum_numbers(x: Any) -> Any:
    e = []
    u = x
    for i in range(4):
        u = step(u)
        e.append(np.sum(u * u))
    return sum(e) + e[0] * e[-1]


def hist_numbers_array(x: Any) -> Any:
    e = []
    for v in x:
        e.append(v * v)
    return np.sum(np.sin(np.array(e)))


def hist_mean(x: Any) -> Any:
    e = []
    for v in x:
        e.append(v * v)
    return np.mean(e) * len(e)


def hist_loop(x: Any) -> Any:
    h = []
    u = x
    for i in range(4):
        u = step(u)
        h.append(u)
    total = 0.0
    for k, v in enumerate(h):
        total += np.sum(v * v) * k
    return total


def hist_return_aux(x: Any) -> Any:
    h = []
    for i in range(4):
        h.append(x[i] ** 2)
    a = h[0] * h[1]
    h.append(a)
    return h[-1] * h[2]


def hist_in_branch(x: Any) -> Any:
    h = [x[0]]
    for i in range(4):
        if x[i] > 0:
            h.append(x[i] * h[-1])
        else:
            h.append(x[i] + 1)
            h.append(x[i] * x[0])
    return sum(h) * h[1]


def hist_tuples(x: Any) -> Any:
    h = []
    u = x
    for i in range(4):
        u = step(u)
        h.append((u, np.sum(u)))
    return np.sum(h[1][0] * h[2][1])


def hist_while(x: Any) -> Any:
    h = [x[0]]
    while len(h) < 6:
        h.append(h[-1] * x[1] + x[2] * 0.1)
    return h[-1] * h[3]


def rows_nested(x: Any) -> Any:
    rows = []
    for i in range(3):
        row = []
        for j in range(4):
            row.append(x[j] * x[i])
        rows.append(row)
    return np.sum(np.array(rows) ** 2)


def augmented_list(x: Any) -> Any:
    h = []
    for i in range(4):
        h += [x[i] ** 2]
    return np.sum(np.array(h) * x)


def extend_list(x: Any) -> Any:
    h = [x[0]]
    h.extend([x[1], x[2] * x[3]])
    return h[0] * h[1] * h[2]


def pops(x: Any) -> Any:
    s = [x[0], x[1]]
    for i in range(4):
        a = s.pop()
        b = s.pop()
        s.append(a * b + x[i])
        s.append(a - b)
    return s[0] * s[1]


def stack_machine(x: Any) -> Any:
    s = []
    for i in range(4):
        s.append(x[i] * x[i])
    total = 0.0
    while s:
        total = total * 0.5 + s.pop()
    return total


def callee_returns_list(x: Any) -> Any:
    h = collect(x, 4)
    h.append(x * 2.0)
    return np.sum(np.array(h) ** 2)


def callee_returns_stack(x: Any) -> Any:
    return np.sum(np.stack(collect(x, 4))[1:] ** 2)


def two_lists(x: Any) -> Any:
    ts, us = [0.0], [x]
    for k in range(4):
        us.append(us[-1] + 0.1 * np.cos(us[-1]))
        ts.append(ts[-1] + 0.1)
    return np.sum(np.array(us) ** 2 * np.array(ts)[:, None])


def constant_append_facts(x: Any) -> Any:
    c = [1.0]
    c.append(np.ones(4))
    return np.sum(x[1] * c[1])


def insert_front(x: Any) -> Any:
    h = []
    for i in range(4):
        h.insert(0, x[i] ** 2)
    return np.sum(np.array(h) * x)


def hist_slice(x: Any) -> Any:
    h = [x[0], x[1]]
    for i in range(4):
        h.append(h[-1] * x[i] + h[-2])
    return np.sum(np.array(h[1:-1])) * sum(h[2:4])


def hist_concat(x: Any) -> Any:
    h = []
    for i in range(3):
        h.append(x * x[i])
    return np.sum(np.concatenate(h) ** 2) + np.sum(np.vstack(h)[1] * np.hstack(h)[:4])


def hist_read_midway(x: Any) -> Any:
    h = []
    total = 0.0
    for i in range(4):
        h.append(np.sin(x) * x[i])
        total += np.sum(np.array(h) ** 2)
    return total


def hist_zip(x: Any) -> Any:
    h, g = [], []
    for i in range(4):
        h.append(x[i] ** 2)
        g.append(x[i] ** 3)
    total = 0.0
    for a, b in zip(h, g):
        total += a * b
    return total


def hist_written_after(x: Any) -> Any:
    h = []
    for i in range(3):
        h.append(x * x[i])
    h[0][1] = x[2] * x[3]
    h[2] *= x[0]
    return np.sum(h[0] * h[1] * h[2])


def hist_rebind(x: Any) -> Any:
    u = x * 1.0
    h = []
    for i in range(3):
        h.append(u)
        u = u.copy()
        u[i] = u[i + 1] * 2.0 * u[i]
    return np.sum(h[0] * h[1] * h[2]) + np.sum(u)


def hist_row_views(x: Any) -> Any:
    u = np.zeros((3, 4))
    h = []
    for i in range(3):
        u[i] = x * x[i]
        h.append(u[i])
    u[0, 1] = 3.0 * x[0]
    return np.sum(h[0] * h[1] * h[2])


def early_return(x: Any) -> Any:
    h = []
    for i in range(4):
        if x[i] > 2.0:
            return sum(h) * x[0]
        h.append(x[i] * x[i])
    return sum(h)


def list_argument(q: Any) -> Any:
    q.append(q[0] * q[1])
    q[0] = 2.0
    return q[0] * q[1] * q[2]


def stack_midway_of_written(x: Any) -> Any:
    u = x * 1.0
    h = [u]
    v = np.sum(np.stack(h) ** 2)
    h.append(u * 2.0)
    u[0] = 4.0 * x[1]
    return np.sum(np.stack(h) ** 3) + v


def callee_list_changed_by_caller(x: Any) -> Any:
    h = read_then_append_in_callee(x)
    s = sum(h)
    h.append(s * x[1])
    h.pop(0)
    return sum(h) * h[-1]


def callee_reads_list_then_changed(x: Any) -> Any:
    h = [x[0], x[1]]
    t = total(h)
    h.append(x[2])
    return t + total(h)


def callee_reads_in_loop(x: Any) -> Any:
    h = [x[0]]
    t = 0.0
    for i in range(3):
        t += total(h)
        h.append(x[i] * t)
    return t + total(h)


def list_rebound_each_turn(x: Any) -> Any:
    t = 0.0
    for i in range(3):
        h = []
        for j in range(4):
            h.append(x[j] * x[i])
        t += sum(h) * h[1]
    return t


def last_list_of_a_loop(x: Any) -> Any:
    h = [x[0], x[1]]
    for i in range(3):
        g = []
        for v in h:
            g.append(v * x[i])
        h = g
    return sum(h)


def branch_list(x: Any) -> Any:
    h = [x[0]]
    if x[1] < 0:
        h.append(x[1] * x[2])
    else:
        h = [x[3], x[2]]
        h.append(h[0])
    h.append(x[0])
    return sum(h) * h[1]


def break_list(x: Any) -> Any:
    h = []
    for i in range(4):
        h.append(x[i] * 2.0)
        if x[i] > 2.0:
            h.append(x[0] * x[i])
            break
        h.append(1.0)
    return sum(h) * h[2]


def while_pop(x: Any) -> Any:
    h = [x[0], x[1], x[2], x[3]]
    s = 0.0
    while len(h) > 1:
        a = h.pop(0)
        s = s * a + h[0] * a
    return s


def pop_and_len(x: Any) -> Any:
    h = [x[0], x[1], x[2]]
    s = 0.0
    while h:
        s += len(h) * h.pop() * len(h)
    return s


def append_self_item(x: Any) -> Any:
    h = [x[0]]
    h.append(h[0])
    h.append(h[1])
    h[0] = h[2] * 3.0
    return h[0] * h[1] * h[2]


def same_array_twice(x: Any) -> Any:
    u = x * 2.0
    h = []
    h.append(u)
    h.append(u)
    h[0] = h[0] * x
    return np.sum(h[0] * h[1] * u)


def same_array_twice_written(x: Any) -> Any:
    u = x * 2.0
    h = []
    h.append(u)
    h.append(u)
    h[0][1] = x[0]
    h[1] *= 2.0
    return np.sum(h[0] * h[1] * u)


def grow_matrix(x: Any) -> Any:
    rows = []
    for i in range(3):
        rows.append([x[i], x[i] * x[0], 1.0])
    m = np.array(rows)
    return np.sum(m @ m)


def dict_history(x: Any) -> Any:
    hist = {"u": [], "t": []}
    u = x
    us, ts = [], []
    for i in range(3):
        u = step(u)
        us.append(u)
        ts.append(np.sum(u))
    hist["u"] = us
    hist["t"] = ts
    return np.sum(np.array(hist["u"]) ** 2) + sum(hist["t"])


def dict_pop(x: Any) -> Any:
    d = {"a": x[0], "b": x[1] * x[2]}
    b = d.pop("b")
    d["a"] *= b
    return d["a"] * b


def list_alias_dead(x: Any) -> Any:
    a = [x[0]]
    a.append(x[1])
    b = a
    return sum(b) * b[0]


def alias_then_rebound(x: Any) -> Any:
    a = [x[0]]
    b = a
    a = [x[1]]
    a.append(x[2])
    return sum(a) * b[0]


def float_of(x: Any) -> Any:
    e = []
    for i in range(4):
        e.append(float(x[i] ** 2))
    return max(e) + min(e) * e[1]


def numpy_of_lists(x: Any) -> Any:
    e = []
    for i in range(4):
        e.append(x[i] ** 2)
    return np.max(e) + np.dot(e, x) + np.linalg.norm(e) + np.sum(np.sin(e)) + np.std(e) + np.cumsum(e)[2] + np.prod(e)


def list_times_scalar_array(x: Any) -> Any:
    h = []
    for i in range(3):
        h.append(x * x[i])
    w = np.array([1.0, 2.0, 3.0])
    return np.sum(w[:, None] * h)


def bufs_rotated_pop(x: Any) -> Any:
    bufs = [x * 1.0, x * 2.0, x * 3.0]
    for k in range(4):
        bufs[2][:] = bufs[0] * bufs[1] + 0.1 * bufs[2]
        last = bufs.pop()
        bufs.insert(0, last)
    return np.sum(bufs[0] * bufs[1])


def snapshots_dict_each(x: Any) -> Any:
    hist = []
    u = x * 1.0
    for i in range(3):
        u[1:] += 0.1 * u[:-1] * u[1:]
        hist.append({"u": u.copy(), "e": np.sum(u * u)})
    return hist[0]["e"] * np.sum(hist[1]["u"] * hist[2]["u"])


def hist_every_other(x: Any) -> Any:
    hist = []
    u = x * 1.0
    for i in range(6):
        u[1:] += 0.1 * u[:-1] * u[1:]
        if i % 2 == 0:
            hist.append(u.copy())
    return np.sum(np.array(hist) ** 2)


def hist_sequence_loop_reverse(x: Any) -> Any:
    hist = []
    for i in range(4):
        hist.append(x[i] * x)
    s = np.zeros(4)
    for h in reversed(hist):
        s = s * 0.5 + h * h
    return np.sum(s)


def hist_list_of_tuples_unpacked(x: Any) -> Any:
    hist = []
    for i in range(4):
        hist.append((x[i], x * x[i]))
    s = 0.0
    for a, b in hist:
        s += a * np.sum(b)
    return s


def unpack_changed(x: Any) -> Any:
    h = [x[0], x[1]]
    h.append(x[2])
    a, b, c = h
    h[0] = a * b
    d, *e = h
    return d * c + e[0]


def plus_after(x: Any) -> Any:
    h = [x[0]]
    g = h + [x[1]]
    h.append(x[2])
    return sum(g) * sum(h)


def plus_before_change(x: Any) -> Any:
    h = [x[0], x[1]]
    g = h + [x[2]]
    h.append(x[3])
    h.append(x[0])
    return sum(g) * sum(h) * g[2]


def append_in_both(x: Any) -> Any:
    u = x * 2.0
    h, g = [], []
    h.append(u)
    g.append(u)
    g[0] = g[0] + h[0]
    return np.sum(h[0] * g[0])


def early(x: Any) -> Any:
    h = []
    for i in range(4):
        h.append(x[i] ** 2)
        if len(h) == 3:
            return sum(h) * h[0]
    return h[0]


def global_list(x: Any) -> Any:
    LOG.append(1.0)
    h = []
    h.append(x[0])
    return h[0] * x[1]


def cond_item(x: Any) -> Any:
    h = [x[0]]
    h.append(x[1] if x[2] > 0 else x[3])
    h[0] = h[1] if x[0] > 0 else x[2]
    return h[0] * h[1]


def const_effect(x: Any) -> Any:
    c = [1.0]
    c.append(np.ones(4) * 2.0)
    w = c[0]
    c[0] = np.arange(4.0)
    return np.sum(x[1] * c[1]) + np.sum(x[0] * c[0]) * w


def const_extend(x: Any) -> Any:
    c = [1.0, 2.0]
    c.extend([np.arange(4.0)])
    c.reverse()
    return np.sum(x[1] * c[0]) + x[2] * c[1]


def const_nested_alias(x: Any) -> Any:
    c = [[1.0], 2.0]
    r = c[0]
    r.append(3.0)
    r[0] = np.arange(4.0)
    return np.sum(x[1] * c[0][0]) * c[0][1]


def args_order(x: Any) -> Any:
    h = [x[0], x[1]]
    return np.hypot(sum(h), h.pop()) * len(h)


def pop_in_display(x: Any) -> Any:
    h = [x[0], x[1], x[2]]
    a = [h.pop(), h.pop()]
    return a[0] * h[0] + a[1]


def len_and_pop(x: Any) -> Any:
    h = [x[0], x[1], x[2]]
    y = x[3] * len(h) + h.pop() * len(h)
    return y


def index_by_pop(x: Any) -> Any:
    h = [x[0], x[1], x[2]]
    return h[0] * h.pop() - h[-1] * h.pop(0) + h[0]


def nested_rows(x: Any) -> Any:
    rows = [[x[0]], [x[1]]]
    r = rows[0]
    rows.append([x[2]])
    rows[1] = r
    return sum(rows[0]) * sum(rows[1]) * rows[2][0]


def in_test(x: Any) -> Any:
    h = [x[0]]
    n = 0
    while len(h) < 4 and n < 10:
        if h[-1] > 0.1:
            h.append(h[-1] * x[1])
        else:
            h.append(h[-1] + x[2])
        n += 1
    return h[-1] * h[-2]


def if_list(x: Any) -> Any:
    h = []
    for i in range(4):
        if h:
            h.append(h[-1] * x[i])
        else:
            h.append(x[i])
    return h[-1]


def pop_active_cond(x: Any) -> Any:
    s = [x[0], x[1], x[2], x[3]]
    out = []
    while s:
        v = s.pop()
        if v > 0:
            out.append(v * v)
        elif len(s) > 1:
            s.append(-v)
            s.append(v * x[0] + 3.0)
            s.pop()
    return sum(out) * out[0]


def complex_items(x: Any) -> Any:
    h = []
    for i in range(4):
        h.append(np.exp(1j * x[i]))
    return np.sum(np.abs(np.array(h) + h[0]) ** 2)


def hist_axis(x: Any) -> Any:
    h = []
    for i in range(3):
        h.append(x * x[i])
    return np.sum(np.mean(h, axis=0) ** 2) + np.sum(np.stack(h, axis=1)[0] ** 3) + np.sum(np.column_stack(h)[1])


def asarray_T(x: Any) -> Any:
    h = []
    for i in range(3):
        h.append(x * x[i])
    a = np.asarray(h).T
    return np.sum(a[:, 0] * a[:, 2])


def adams(x: Any) -> Any:
    fs, y = [], x
    for n in range(6):
        fs.append(np.sin(y))
        if len(fs) > 3:
            fs.pop(0)
        y = y + 0.1 * (fs[-1] if len(fs) < 3 else 1.5 * fs[-1] - 0.5 * fs[-2] + 0.1 * fs[0])
    return np.sum(y**2)


def momentum_history(x: Any) -> Any:
    g, m = [], x * 0.0
    for i in range(4):
        g.append(x * (i + 1) - m)
        m = 0.9 * m + g[-1]
        if i > 0:
            m = m + 0.1 * g[-2]
    return np.sum(m * m)


def callee_hist(x: Any) -> Any:
    us = []
    u = x
    for k in range(3):
        u, e = step_e(u)
        us.append((u, e))
    return np.sum(us[-1][0]) * us[0][1]


def list_alias_names(x: Any) -> Any:
    a = [x[0], x[1]]
    b = a
    b.append(x[2] * x[3])
    a.append(b[2] * 2.0)
    return a[2] * b[3]


def callee_appends(x: Any) -> Any:
    h = []
    for i in range(4):
        add_to(h, x[i])
    return h[0] * h[1] + sum(h)


def dict_of_lists(x: Any) -> Any:
    d = {"u": [], "e": []}
    u = x
    for i in range(3):
        u = step(u)
        d["u"].append(u)
        d["e"].append(np.sum(u * u))
    return np.sum(np.array(d["u"]) ** 2) + sum(d["e"])


def conditional_alias(x: Any) -> Any:
    a = [x[0]]
    b = [x[1]]
    c = a if x[2] > 0 else b
    c.append(x[2] * x[3])
    return sum(a) * sum(b)


def last_list_only(x: Any) -> Any:
    for i in range(3):
        h = []
        for j in range(4):
            h.append(x[j] * x[i])
    return sum(h)


def iter_while_appending(x: Any) -> Any:
    h = [x[0]]
    for v in h:
        if len(h) < 5:
            h.append(v * x[1])
    return sum(h)


def list_in_tuple(x: Any) -> Any:
    h = []
    t = (h, x)
    h.append(x[0])
    return sum(t[0]) * x[1]


def list_swap_names(x: Any) -> Any:
    a, b = [x[0]], [x[1]]
    for i in range(3):
        b.append(a[-1] * x[i])
        a, b = b, a
    return sum(a) * sum(b)


def list_sorted(x: Any) -> Any:
    h = []
    for i in range(4):
        h.append(x[i] ** 2)
    h.sort()
    return h[0] * h[1]


def same_list_twice_returned(x: Any) -> Any:
    a, b = two(x)
    a.append(x[1])
    return sum(a) * sum(b)


def two_lists_returned(x: Any) -> Any:
    a, b = make(x)
    a.append(x[1])
    return sum(a) * sum(b)


def through_identity(x: Any) -> Any:
    h = [x[0]]
    g = ident(h)
    g.append(x[1])
    return sum(h)


def item_list_changed(x: Any) -> Any:
    t = ([x[0]], x)
    h = t[0]
    h.append(x[1])
    return sum(t[0])


def ifexp(x: Any) -> Any:
    a = [x[0]]
    h = a if x[0] > 0 else [x[1]]
    h.append(x[2])
    return sum(a)


def list_then_pop_pair(x: Any) -> Any:
    h = [x[0], x[1], x[2]]
    p = (h, h.pop())
    return sum(p[0]) * p[1]


def tuple_of_hist(x: Any) -> Any:
    h = []
    for i in range(3):
        h.append(x * x[i])
    g = tuple(h)
    h.append(x)
    return np.sum(g[0] * g[1] * h[-1])


def log_of_a_sum(p: Any) -> Any:
    m = np.max(p)
    return m + np.log(np.exp(p - m).sum())


def taken_for_an_array_by_a_function(x: Any) -> Any:
    terms = []
    for i in range(3):
        terms.append(x[i] * x[i])
    return log_of_a_sum(terms)


CASES = [
    case(list_then_pop_pair, V),
    case(callee_appends, V),
    case(two_lists_returned, V),
    *[
        case(f, V)
        for f in (
            dict_of_lists,
            tuple_of_hist,
            hist_stack,
            hist_array,
            hist_copy_inplace,
            hist_sin_inplace,
            hist_alias,
            hist_sum_numbers,
            hist_numbers_array,
            hist_mean,
            hist_loop,
            hist_return_aux,
            hist_in_branch,
            hist_tuples,
            hist_while,
            rows_nested,
            augmented_list,
            extend_list,
            pops,
            stack_machine,
            callee_returns_list,
            callee_returns_stack,
            two_lists,
            constant_append_facts,
            insert_front,
            hist_slice,
            hist_concat,
            hist_read_midway,
            hist_zip,
            hist_written_after,
            hist_rebind,
            hist_row_views,
            early_return,
            stack_midway_of_written,
            callee_list_changed_by_caller,
            callee_reads_list_then_changed,
            callee_reads_in_loop,
            list_rebound_each_turn,
            last_list_of_a_loop,
            branch_list,
            break_list,
            while_pop,
            pop_and_len,
            append_self_item,
            same_array_twice,
            same_array_twice_written,
            grow_matrix,
            dict_history,
            dict_pop,
            list_alias_dead,
            alias_then_rebound,
            float_of,
            numpy_of_lists,
            list_times_scalar_array,
            bufs_rotated_pop,
            snapshots_dict_each,
            hist_every_other,
            hist_sequence_loop_reverse,
            hist_list_of_tuples_unpacked,
            unpack_changed,
            plus_after,
            plus_before_change,
            append_in_both,
            early,
            global_list,
            cond_item,
            const_effect,
            const_extend,
            const_nested_alias,
            args_order,
            pop_in_display,
            len_and_pop,
            index_by_pop,
            nested_rows,
            in_test,
            if_list,
            pop_active_cond,
            complex_items,
            hist_axis,
            asarray_T,
            adams,
            momentum_history,
            callee_hist,
            last_list_only,
            iter_while_appending,
            list_swap_names,
            list_sorted,
            list_alias_names,
            list_in_tuple,
            through_identity,
            item_list_changed,
        )
    ],
    case(list_argument, [0.3, 1.7]),
    case(taken_for_an_array_by_a_function, V),
]

#: What is refused, and what is said of it.
REFUSED = [
    (conditional_alias, V, "another name may hold the container c, which this changes"),
    (same_list_twice_returned, V, "another name may hold the container a, which this changes"),
    (ifexp, V, "another name may hold the container h, which this changes"),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


@pytest.mark.parametrize(("f", "argument", "message"), REFUSED, ids=lambda v: getattr(v, "__name__", ""))
def test_refused(f: Any, argument: Any, message: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        grad(f)(argument)
    assert message in str(caught.value)
    assert PLACE.search(str(caught.value))
