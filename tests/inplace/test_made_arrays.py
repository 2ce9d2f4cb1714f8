"""Arrays that functions, shapes and callees surely make, and that are then written or returned from loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.7, 1.3])
W = np.array([0.5, -0.2])


def made_by_tile(x: Any) -> Any:
    n = np.tile(x, 2)
    n[0] *= 3
    return np.sum(n * n)


def made_by_column_stack(x: Any) -> Any:
    n = np.column_stack([x, x])
    n[0] *= 3
    return np.sum(n * n)


def made_by_dstack(x: Any) -> Any:
    n = np.dstack([x, x])
    n[0] *= 3
    return np.sum(n * n)


def made_by_block(x: Any) -> Any:
    n = np.block([x, x])
    n[0] *= 3
    return np.sum(n * n)


def made_by_append(x: Any) -> Any:
    n = np.append(x, x)
    n[0] *= 3
    return np.sum(n * n)


def made_by_convolve(x: Any) -> Any:
    n = np.convolve(x, x)
    n[0] *= 3
    return np.sum(n * n)


def made_by_correlate(x: Any) -> Any:
    n = np.correlate(x, x, "full")
    n[0] *= 3
    return np.sum(n * n)


def made_by_interp(x: Any) -> Any:
    n = np.interp(x, np.arange(3.0), np.array([1.0, 3.0, 4.0]))
    n[0] *= 3
    return np.sum(n * n)


def made_by_take(x: Any) -> Any:
    n = np.take(x, [1, 0, 1])
    n[0] *= 3
    return np.sum(n * n)


def made_by_take2(x: Any) -> Any:
    n = x.take([1, 0, 1])
    n[0] *= 3
    return np.sum(n * n)


def made_by_delete(x: Any) -> Any:
    n = np.delete(x, 1)
    n[0] *= 3
    return np.sum(n * n)


def made_by_pinv(x: Any) -> Any:
    n = np.linalg.pinv(np.outer(x, x) + np.eye(2))
    n[0] *= 3
    return np.sum(n * n)


def made_by_inv(x: Any) -> Any:
    n = np.linalg.inv(np.outer(x, x) + np.eye(2))
    n[0] *= 3
    return np.sum(n * n)


def made_by_contig(x: Any) -> Any:
    n = np.ascontiguousarray(x * 2)
    n[0] *= 3
    return np.sum(n * n)


def made_by_atleast(x: Any) -> Any:
    n = np.atleast_2d(x).copy()
    n[0] *= 3
    return np.sum(n * n)


def made_by_rot(x: Any) -> Any:
    n = np.rot90(np.outer(x, x)).copy()
    n[0] *= 3
    return np.sum(n * n)


def made_by_arr(x: Any) -> Any:
    n = np.array(np.tile(x, 2))
    n[0] *= 3
    return np.sum(n * n)


def made_by_einsum(x: Any) -> Any:
    n = np.einsum("i,ij->j", x, np.outer(x, x))
    n[0] *= 3
    return np.sum(n * n)


def einsum_of_written(x: Any) -> Any:
    f = np.outer(x, x)
    f[0] *= x
    n = np.einsum("i,ij->j", x, f)
    f[0] *= 2
    n[0] *= 3
    return np.sum(n * n) + np.sum(f)


def diff_of_written(x: Any) -> Any:
    f = np.concatenate([x, x])
    f[0] *= x[1]
    n = np.diff(f)
    n[0] *= 3
    f[1] *= 2
    return np.sum(n * n) + np.sum(f)


def positions_exchanged(x: Any) -> Any:
    p = np.arange(2)
    p[[0, 1]] = p[[1, 0]]
    n = x[p]
    n[0] *= 3
    return np.sum(n * n * x)


def perm(n: Any) -> Any:
    p = np.arange(n)
    p[[0, 1]] = p[[1, 0]]
    return p


def positions_of_a_callee(x: Any) -> Any:
    n = x[perm(2)]
    n[0] *= 3
    return np.sum(n * n * x)


def stacked_product(x: Any) -> Any:
    q = np.outer(x, np.arange(1.0, 5.0))
    T, D = q.shape
    s = q.reshape(T, 2, D // 2)
    t = s.transpose(0, 2, 1) @ s
    t[0] = 1
    return np.sum(t * t)


def shape_with_a_star(x: Any) -> Any:
    h = np.zeros((3, *x.shape))
    h[1] = x * x
    return np.sum(h * h)


def sum_of_shapes(x: Any) -> Any:
    m = np.outer(x, x)
    h = np.zeros((3,) + m.shape[1:])
    h[1] = x * x
    return np.sum(h * h)


def part_of_a_shape(x: Any) -> Any:
    m = np.outer(x, np.arange(3.0))
    sh = m.shape
    h = np.zeros(sh[::-1])
    h[:, 1] = x[0]
    return np.sum(h * h)


def mask_written(x: Any) -> Any:
    y = x.copy()
    alive = np.ones(2, bool)
    for i in range(3):
        y[alive] *= y[alive]
        out = alive & (np.abs(y) > 0.6)
        alive &= ~out
    return np.sum(y)


def masks_combined(x: Any) -> Any:
    y = x * 1.0
    alive = y > 0
    for i in range(2):
        out = alive & (np.abs(y) > 0.6)
        alive = alive & ~out
        y = np.where(alive, y * y, y)
    return np.sum(y)


def nothing_at_first(x: Any) -> Any:
    prev = None
    s = 0.0
    cur = x.copy()
    for i in range(3):
        if prev is not None:
            cur -= 0.1 * prev
        prev = cur * x
        s = s + np.sum(cur * cur)
    return s


def returned_from_a_loop(x: Any) -> Any:
    u = np.concatenate([x, x])
    return relaxed_sum(u)


def relaxed_sum(u: Any) -> Any:
    for it in range(10):
        old = u.copy()
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
        if np.max(np.abs(u - old)) < 1e-2:
            return np.sum(u * u)
    return np.sum(u)


def array_returned_from_a_loop(x: Any) -> Any:
    u = np.concatenate([x, x * x, x])
    v = relax(u)
    return np.sum(v * v)


def relax(u: Any) -> Any:
    for it in range(10):
        old = u.copy()
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
        if np.max(np.abs(u - old)) < 1e-2:
            return u
    return u


def array_returned_from_while_true(x: Any) -> Any:
    u = np.concatenate([x, x * x, x])
    v = relax2(u)
    v[0] *= 2
    return np.sum(v * v) + np.sum(u)


def relax2(u: Any) -> Any:
    while True:
        old = u.copy()
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
        if np.max(np.abs(u - old)) < 1e-2:
            return u


def one_of_three_returns(x: Any) -> Any:
    u = np.concatenate([x, x * x, x])
    v = relax3(u, 3)
    w = relax3(u, 20)
    return np.sum(v * v) + np.sum(u * w)


def relax3(u: Any, n: Any) -> Any:
    for it in range(n):
        old = u.copy()
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
        if np.max(np.abs(u - old)) < 1e-2:
            return u * 2.0
        if it > 5:
            return u[::-1]
    return u


def numbers_in_a_vector(x: Any) -> Any:
    a, b = x
    c = np.array([a * b, a, 1.0])
    return c @ c


def numbers_in_a_matrix(x: Any) -> Any:
    a, b = x
    c = np.array([[a * b, a], [b, 2.0]])
    return np.sum(c @ c)


def complex_numbers_in_a_vector(x: Any) -> Any:
    c = np.array([x[0] * 1j, x[1]])
    return np.sum(np.abs(c) ** 2 * x)


def numbers_in_a_vector_written(x: Any) -> Any:
    c = np.array([x[0], x[1], x[0]])
    c[0] *= x[1]
    return np.sum(c) + np.sum(np.array([x[0], 3]))


def vector_of_each_turn(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        v = np.array([x[0] * i, x[1]])
        s = s + np.sum(v * v)
    return s


def vector_of_the_last_turn(x: Any) -> Any:
    for i in range(3):
        v = np.array([x[0] * i, x[1]])
    return v[1] * 2


def while_true_with_an_inner_break(x: Any) -> Any:
    n = 0
    while True:
        n += 1
        x = x * 0.5
        for i in range(3):
            if i == 2:
                break
        if np.sum(np.abs(x)) < 0.1:
            return np.sum(x) * n


def while_true_left_both_ways(x: Any) -> Any:
    s = 0.0
    for j in range(2):
        while True:
            s = s + x[0] * x[0] + 0.1 * x[1]
            if s > 0.5:
                return s * 3
            if j or s > 0.3:
                break
    return s


def while_one_returns(x: Any) -> Any:
    while 1:
        x = x * 0.7
        if np.sum(x) < 0.5:
            if x[0] > 0:
                return x[0]
            else:
                return x[1]


def early(u: Any, k: Any) -> Any:
    if u[0] > k:
        return u[:1], u * 2
    for i in range(3):
        u *= 0.9
        if u[1] > 0.9:
            return u, u[1:]
    return u[::-1], np.zeros(2)


def views_of_several_returns(x: Any) -> Any:
    y = x * x
    p, q = early(y, 0.4)
    p[0] *= 2
    q[0] += y[1]
    return np.sum(p) + np.sum(q * q) + np.sum(y)


def minmax(a: Any) -> Any:
    n = len(a)
    if n == 1:
        return a[0], a[0]
    lo, hi = minmax(a[: n // 2])
    lo2, hi2 = minmax(a[n // 2 :])
    return min(lo, lo2), max(hi, hi2)


def smallest_and_largest(x: Any) -> Any:
    lo, hi = minmax(np.concatenate([x, x * x, 1 / x]))
    return lo * hi


def back(a: Any, b: Any, fuel: Any) -> Any:
    if fuel <= 0:
        return a, b
    a *= np.sin(b)
    p, q = back(b, a, fuel - 1)
    p += q
    return q, p


def exchanged_by_recursion(x: Any) -> Any:
    p, q = back(x.copy(), x + 1, 3)
    q -= p
    return np.sum(q * q) + np.sum(p)


def mixed(x: Any, k: Any) -> Any:
    if k:
        return x, {"a": x * 2}
    return x * 2, {"a": x}


def arrays_and_dicts(x: Any) -> Any:
    u, d = mixed(x, 1)
    v, e = mixed(x, 0)
    return np.sum(u * d["a"] * v * e["a"])


def three(x: Any) -> Any:
    while True:
        x = x * 0.8
        if np.sum(x) < 0.5:
            return x, x[0], [x * 2, x]
        if np.sum(x) > 100:
            return x, x[1], [x, x]


def lists_out_of_while_true(x: Any) -> Any:
    u, s, pair = three(x * 3)
    return np.sum(u) * s + np.sum(pair[0] * pair[1])


CASES = [
    case(f, x, name=f"{f.__name__}_{n}")
    for f in (
        views_of_several_returns,
        smallest_and_largest,
        exchanged_by_recursion,
        arrays_and_dicts,
        lists_out_of_while_true,
        made_by_tile,
        made_by_column_stack,
        made_by_dstack,
        made_by_block,
        made_by_append,
        made_by_convolve,
        made_by_correlate,
        made_by_interp,
        made_by_take,
        made_by_take2,
        made_by_delete,
        made_by_pinv,
        made_by_inv,
        made_by_contig,
        made_by_atleast,
        made_by_rot,
        made_by_arr,
        made_by_einsum,
        einsum_of_written,
        diff_of_written,
        positions_exchanged,
        positions_of_a_callee,
        stacked_product,
        shape_with_a_star,
        sum_of_shapes,
        part_of_a_shape,
        mask_written,
        masks_combined,
        nothing_at_first,
        returned_from_a_loop,
        array_returned_from_a_loop,
        array_returned_from_while_true,
        one_of_three_returns,
        numbers_in_a_vector,
        numbers_in_a_matrix,
        complex_numbers_in_a_vector,
        numbers_in_a_vector_written,
        vector_of_each_turn,
        vector_of_the_last_turn,
        while_true_with_an_inner_break,
        while_true_left_both_ways,
        while_one_returns,
    )
    for n, x in enumerate((V, W))
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
