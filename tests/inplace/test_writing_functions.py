"""NumPy's writing functions: `out=`, `ufunc.at`, `np.copyto`, `np.put` and its like, `a.fill` and `a.sort`."""

# Programs are written as numerical people write them, with their own layout of operators.
# ruff: noqa: PLR6104, B023

from __future__ import annotations

import bisect
import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.errors import S2SADError, UnsupportedError
from tests.language.support import PLACE, Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient

V = np.array([0.3, -1.2, 2.5, 0.7])
W = np.array([1.5, 0.25, -0.75, 1.1])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [0.1, 0.7, -0.3]])
WEIGHTS = np.array([0.7, -1.3, 2.1, 0.4])
SQUARE = np.array([[0.3, 1.7, -0.8], [1.1, -0.6, 0.9], [-1.4, 0.2, 0.5]])


# --- out=


def out_name(x: Any, y: Any) -> Any:
    c = np.empty(4)
    np.multiply(x, y, out=c)
    return np.sum(c * c * WEIGHTS)


def out_tuple(x: Any) -> Any:
    c = np.empty(4)
    np.add(x, x[0], out=(c,))
    return np.sum(c * c * x)


def out_positional(x: Any) -> Any:
    c = np.zeros(4)
    np.multiply(x, x[1], c)
    np.sin(c, c)
    return np.sum(c * WEIGHTS)


def out_positional_function(m: Any) -> Any:
    c, d, e = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    np.sum(m, 0, None, c)
    np.cumsum(m, 1, None, d)
    np.dot(d, m, e)
    np.clip(e, -1.0, 1.0, d)
    return np.sum(c * c) + np.sum(d * SQUARE) + np.sum(e * e)


def out_positional_then_more(m: Any) -> Any:
    c = np.zeros((3, 1))
    np.sum(m * m, 1, None, c, True)
    return np.sum(c * c)


def out_slice(x: Any) -> Any:
    a = x.copy()
    np.multiply(a[:-2], x[2:], out=a[1:-1])
    np.exp(a[::2], out=a[1::2])
    return np.sum(a * a * WEIGHTS)


def out_overlapping(x: Any) -> Any:
    a = x * 1.0
    np.multiply(a[:-1], a[1:], out=a[1:])
    np.subtract(a[::-1], a, out=a)
    return np.sum(a * a * WEIGHTS)


def out_itself(x: Any) -> Any:
    a = x * 0.5
    np.exp(a, out=a)
    np.multiply(a, a, out=a)
    np.tanh(a, out=a)
    return np.sum(a * WEIGHTS)


def out_row_in_loop(m: Any) -> Any:
    a = np.zeros((3, 3))
    for k in range(3):
        np.multiply(m[k], m[0], out=a[k])
        np.add(a[k, 1:], a[k, :-1], out=a[k, 1:])
    return np.sum(a * a * SQUARE)


def out_view(m: Any) -> Any:
    a = m.copy()
    row, column, turned = a[1], a[:, 2], a.T
    np.multiply(row, m[0], out=row)
    np.sin(column, out=column)
    np.multiply(turned, 2.0, out=turned)
    return np.sum(a * a * SQUARE)


def out_alias(x: Any) -> Any:
    a = np.zeros(4)
    b = a
    np.multiply(x, x, out=b)
    return np.sum(a * WEIGHTS)


def out_value(x: Any) -> Any:
    c = np.zeros(4)
    y = np.multiply(x, x, out=c)
    c[0] = 2.0
    z = np.add(np.sin(y, out=y), np.multiply(c, 3.0), out=c)
    return np.sum(z * WEIGHTS)


def out_inside_expression(x: Any) -> Any:
    c = np.zeros(4)
    total = np.sum(np.exp(x, out=c)) + c[1] * 2.0
    return total * np.sum(np.multiply(c, x, out=np.empty(4)))


def out_swapped(x: Any) -> Any:
    a, b = x.copy(), np.zeros(4)
    for k in range(3):
        np.multiply(a, np.cos(a), out=b)
        a, b = b, a
    return np.sum(a * WEIGHTS)


def out_in_branches(x: Any) -> Any:
    a = x.copy()
    for k in range(4):
        if a[k] > 0.0:
            np.multiply(a, a[k], out=a)
        else:
            np.add(a, x, out=a)
    return np.sum(a * WEIGHTS)


def out_broadcast(x: Any) -> Any:
    a = np.zeros((3, 4))
    np.multiply(x, x[0], out=a)
    np.add(a, 1.0, out=a)
    b = np.zeros(4)
    np.add(x[0], 2.0, out=b)
    return np.sum(a * a) + np.sum(b * WEIGHTS)


def out_constant_result(x: Any) -> Any:
    """What has no derivative writes zeros into the adjoint."""
    a = x * x
    b = a * 3.0
    np.floor(x, out=a)
    np.sign(b, out=b[:])
    positive = np.zeros(4, dtype=bool)
    np.greater(x, 0.0, out=positive)
    return np.sum(a * x) + np.sum(b * x) + np.sum(x * positive)


def out_constant_operands(x: Any) -> Any:
    a = x * x
    np.add(1.5, WEIGHTS, out=a)
    a[0] = a[1] * x[0]
    return np.sum(a * x)


def out_of_argument(x: Any) -> Any:
    np.multiply(x, x, out=x)
    return np.sum(x * WEIGHTS)


def out_none(x: Any) -> Any:
    return np.sum(np.multiply(x, x, out=None) * np.sum(x, out=None))


def out_zero_dim(x: Any) -> Any:
    c = np.zeros(())
    np.multiply(x, x, out=c)
    np.exp(c, out=c)
    return c * 2.0


def out_empty(x: Any) -> Any:
    c = np.zeros(0)
    np.multiply(x, x, out=c)
    return np.sum(c) + np.sum(x)


def out_sums(m: Any) -> Any:
    a, b, c, d, e = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(()), np.zeros((3, 3))
    np.sum(m, axis=0, out=a)
    np.prod(m, axis=1, out=b)
    np.mean(m * m, axis=1, out=c)
    np.sum(m * SQUARE, out=d)
    np.cumprod(m, axis=1, out=e)
    return np.sum(a * a) + np.sum(b * c) + d * d + np.sum(e * e)


def out_extremes(m: Any) -> Any:
    a, b, c = np.zeros(3), np.zeros(3), np.zeros(3)
    np.max(m, axis=0, out=a)
    m.min(axis=1, out=b)
    np.std(m, axis=0, out=c)
    return np.sum(a * a) + np.sum(b * c)


def out_methods(m: Any) -> Any:
    a, b, c = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    m.sum(axis=1, out=a)
    m.sum(0, None, a)
    m.dot(SQUARE, out=b)
    m.clip(-0.4, 0.6, out=c)
    m.cumsum(axis=0, out=b[:])
    m.mean(axis=1, out=a[::-1])
    return np.sum(a * a) + np.sum(b * c * c)


def out_products(m: Any) -> Any:
    a, b, c = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    np.matmul(m, SQUARE, out=a)
    np.dot(a, m, out=b)
    np.outer(m[0], m[1], out=c)
    np.einsum("ij,jk->ik", m, SQUARE, out=a[::-1])
    return np.sum(a * b * c)


def out_joined(x: Any, y: Any) -> Any:
    a, b = np.zeros(8), np.zeros((2, 4))
    np.concatenate([x, y], out=a)
    np.stack((y, x * x), out=b)
    c = np.zeros(3)
    np.take(a, [1, -1, 1], out=c)
    return np.sum(a * a * a) + np.sum(b[0] * b[1]) + np.sum(c * c)


def out_accumulated(x: Any) -> Any:
    s = np.zeros(4)
    t = np.empty(4)
    for k in range(3):
        np.multiply(x, float(k) + 1.0, out=t)
        np.sin(t, out=t)
        np.add(s, t, out=s)
    return np.sum(s * WEIGHTS)


def out_where(x: Any, y: Any) -> Any:
    c = x * 2.0
    np.divide(y, x - 0.3, out=c, where=x > 0.5)
    np.log(x, out=c, where=x > 0.5)
    return np.sum(c * c * WEIGHTS)


def out_where_constants(x: Any) -> Any:
    c = x * x
    np.multiply(W, 2.0, out=c, where=np.array([True, False, True, False]))
    np.sqrt(c, out=c, where=c > 0.01)
    return np.sum(c * x)


def out_where_slice(m: Any) -> Any:
    a = m.copy()
    np.multiply(a[1:], m[:1], out=a[:2], where=m[0] > 0.0)
    np.arccosh(a + 1.0, out=a, where=a > 0.2)
    return np.sum(a * a * SQUARE)


def out_of_callee(x: Any) -> Any:
    a = np.zeros(4)
    write_square(x, a)
    return np.sum(a * WEIGHTS)


def write_square(x: Any, out: Any) -> None:
    np.multiply(x, x, out=out)


def out_is_a_parameter(x: Any) -> Any:
    return np.sum(scaled(x, out=2.0) * WEIGHTS)


def scaled(x: Any, out: float) -> Any:
    return x * x * out


# --- ufunc.at


def at_repeated(x: Any) -> Any:
    a = x * x
    np.add.at(a, [0, 0, -1, 0], x * 2.0)
    np.subtract.at(a, np.array([1, 1]), x[2:])
    return np.sum(a * a * WEIGHTS)


def at_scalar(x: Any) -> Any:
    a = np.zeros(4)
    np.add.at(a, [2, 2, 1], x[0])
    np.add.at(a, 3, x[1])
    np.add.at(a, slice(1, None), x[2])
    np.subtract.at(a, ..., x[3])
    return np.sum(a * a * WEIGHTS)


def at_mask(x: Any) -> Any:
    a = x.copy()
    np.add.at(a, x > 0.0, x[1:])
    np.add.at(a, (a > 100.0), 1.0)
    return np.sum(a * a)


def at_two_axes(m: Any) -> Any:
    a = m.copy()
    np.add.at(a, ([0, 0, 2], [1, 1, -1]), m[1])
    np.add.at(a, (slice(None), [0, 0]), m[:, :2])
    np.add.at(a, [0, 2, 0], m[1:, None, 0] * np.ones((2, 3, 3)) if m[0, 0] > 9.0 else m)
    return np.sum(a * a * SQUARE)


def at_itself(x: Any) -> Any:
    a = x.copy()
    np.add.at(a, [1, 2], a[:2])
    np.add.at(a, [3, 3], a[0] * a[1])
    return np.sum(a * a * WEIGHTS)


def at_in_loop(x: Any) -> Any:
    a = np.zeros(3)
    links = np.array([[0, 1, 1, 2], [2, 2, 0, 0]])
    for k in range(2):
        np.add.at(a, links[k], np.sin(x) * a[links[k]] + x)
    return np.sum(a * a)


def at_view(m: Any) -> Any:
    a = m * 1.0
    np.add.at(a[1], [0, 0], m[0, :2])
    flat = a[:, 1]
    np.subtract.at(flat, [2, 2, 0], m[2])
    return np.sum(a * a * SQUARE)


def at_broadcast(x: Any) -> Any:
    a = np.zeros((2, 3))
    np.add.at(a, ([0, 1, 1], [2, 0, 0]), x[:1])
    np.add.at(a, [0, 0, 1], x[1:])
    return np.sum(a * a * np.arange(6.0).reshape(2, 3))


def at_multiplied(x: Any) -> Any:
    a = x.copy()
    np.multiply.at(a, [0, 0], x[:2])
    return np.sum(a * a)


def at_negated(x: Any) -> Any:
    a = x.copy()
    np.negative.at(a, [0, 0])
    return np.sum(a * a)


# --- np.copyto


def copyto_plain(x: Any) -> Any:
    a = np.zeros(4)
    np.copyto(a, x * x)
    b = a * 1.0
    np.copyto(b, a[0])
    np.copyto(src=3.0, dst=a)
    np.copyto(a[1:], x[:-1])
    return np.sum(a * a * WEIGHTS) + np.sum(b * x)


def copyto_where(x: Any) -> Any:
    a = x * x
    np.copyto(a, x[::-1], where=x > 0.5)
    np.copyto(a, x[0], where=[True, False, False, True])
    np.copyto(a[::2], a[1::2], where=a[::2] < 2.0)
    np.copyto(a, 0.5, "same_kind", where=a > 5.0)
    return np.sum(a * a * WEIGHTS)


def copyto_broadcast(m: Any) -> Any:
    a = np.ones((3, 3))
    np.copyto(a, m[0])
    np.copyto(a, m[:, :1], where=m[1] > 0.0)
    np.copyto(a.T, m, where=np.eye(3, dtype=bool))
    np.copyto(a, [1.0, 2.0, 3.0], where=m[0] > 1.0)
    return np.sum(a * a * SQUARE)


def copyto_list(x: Any) -> Any:
    a = np.zeros(2)
    np.copyto(a, [x[0] * x[1], x[2]])
    return np.sum(a * a)


def copyto_zero_dim(x: Any) -> Any:
    a = np.zeros(())
    np.copyto(a, x * x)
    np.copyto(a, 2.0, where=False)
    return a * 3.0


def copyto_alias(x: Any) -> Any:
    a = x * 1.0
    b = a
    c = a[1:]
    np.copyto(b, x * x)
    np.copyto(c, x[1:] * a[:-1], where=x[1:] > 0.0)
    return np.sum(a * WEIGHTS) + np.sum(b * c[0])


def copyto_overlapping(x: Any) -> Any:
    a = x * 1.0
    np.copyto(a[1:], a[:-1])
    np.copyto(a[:-1], a[1:] * 2.0, where=a[1:] > 0.0)
    return np.sum(a * a * WEIGHTS)


def copyto_ping_pong(x: Any) -> Any:
    u, v = x.copy(), np.zeros(4)
    for k in range(3):
        v[1:-1] = u[1:-1] * u[:-2] + u[2:]
        np.copyto(u, v)
    return np.sum(u * u * WEIGHTS)


# --- np.put and its like


def put_plain(x: Any) -> Any:
    a = x * 1.0
    np.put(a, [0, -1], x[1:3] * 2.0)
    np.put(a, 1, x[0])
    a.put([2], x[0] * x[1])
    return np.sum(a * a * WEIGHTS)


def put_repeats(x: Any) -> Any:
    """Values repeat or are left over; the last write to a place wins."""
    a = np.ones(5)
    np.put(a, [0, 1, 2, 3], x[:2])
    b = np.ones(5)
    np.put(b, [1], x)
    np.put(b, [2, 2, -3, 0], x)
    return np.sum(a * a * np.arange(5.0)) + np.sum(b * b)


def put_two_axes(m: Any) -> Any:
    a = m.copy()
    np.put(a, np.array([[0, 4], [8, -2]]), m[:2, :2])
    np.put(a.T, [1], m[2, 2] * m[0, 1])
    a[2].put([0, 0], m[0, :2], mode="raise")
    np.put(v=7.0, ind=[3], a=a)
    return np.sum(a * a * SQUARE)


def put_around(m: Any) -> Any:
    """Places outside are counted around, or cut off."""
    a = m.copy()
    np.put(a, [0, 21, -4], m[0] ** 2, mode="wrap")
    a.put([30, -5], m[1, :2] * m[2, 0], "clip")
    a[1].put(8, m[0, 0] * 2.0, mode="wrap")
    return np.sum(a * a * SQUARE)


def partitioned(m: Any) -> Any:
    a, b = m * m, m[0] * 2.0
    a.partition(1)
    a[::-1].partition([1], axis=0, kind="introselect")
    a[2].partition(kth=-1)
    b.partition(1)
    return np.sum(a * a * SQUARE) + b[1] ** 2 + np.sum(b[2:]) ** 2


def put_in_loop(x: Any) -> Any:
    a = x.copy()
    for k in range(4):
        np.put(a, [k, (k + 1) % 4], a[k] * x[:2])
    return np.sum(a * WEIGHTS)


def put_nothing(x: Any) -> Any:
    a = x.copy()
    np.put(a, [], x[0])
    np.put(a, [0, 1], [])
    return np.sum(a * a)


def put_size_one(x: Any) -> Any:
    a = np.zeros(1)
    np.put(a, [0, 0], x)
    return a[0] * a[0]


def put_along_plain(m: Any) -> Any:
    a = m * 1.0
    np.put_along_axis(a, np.array([[1], [0], [2]]), m[:, :1] * m[:, 1:2], axis=1)
    np.put_along_axis(a, np.array([[0, -1, 1], [0, 0, 2]]), m[1:], 0)
    np.put_along_axis(a, np.argmax(m, axis=1)[:, None], m[0, 0], axis=-1)
    return np.sum(a * a * SQUARE)


def put_along_flat(m: Any) -> Any:
    a = m.copy()
    np.put_along_axis(a, np.array([1, -1, 5]), m[0] * 2.0, axis=None)
    np.put_along_axis(a, np.array([0, 2, 4]), m[1, :1], None)
    return np.sum(a * a * SQUARE)


def put_along_three(x: Any) -> Any:
    a = np.zeros((2, 2, 3))
    np.put_along_axis(a, np.array([[[1], [2]], [[0], [0]]]), np.reshape(x, (2, 2, 1)), 2)
    np.put_along_axis(a, np.array([[[1, 0, 1]]]), x[0] * x[1], 1)
    return np.sum(a * a * np.arange(12.0).reshape(2, 2, 3))


def diagonal_vector(x: Any) -> Any:
    a = np.outer(x, x)
    np.fill_diagonal(a, x * 2.0)
    b = a * 1.0
    np.fill_diagonal(b, x[0])
    np.fill_diagonal(a[1:, 1:], x[:2])
    np.fill_diagonal(b[::-1], 1.0)
    return np.sum(a * a) + np.sum(b * a)


def diagonal_wrapped(x: Any) -> Any:
    a, b, c = np.zeros((9, 2)), np.zeros((2, 5)), np.zeros((3, 3, 3))
    np.fill_diagonal(a, x, wrap=True)
    np.fill_diagonal(a[1:], x[1:3], True)
    np.fill_diagonal(b, x)
    np.fill_diagonal(c, x[0] * x)
    return np.sum(a * a * np.arange(18.0).reshape(9, 2)) + np.sum(b * b) + np.sum(c * c)


def diagonal_nothing(x: Any) -> Any:
    a = np.outer(x, x)
    np.fill_diagonal(a, [])
    return np.sum(a)


def place_plain(x: Any) -> Any:
    a = x * 1.0
    np.place(a, x > 0.0, x[:2] * x[1])
    np.place(a, [False, True, False, True], [x[0], x[3]])
    np.place(a, a > 1e3, x)
    return np.sum(a * a * WEIGHTS)


def place_two_axes(m: Any) -> Any:
    a = m.copy()
    np.place(a, m > 0.3, m[1])
    np.place(a[1], np.array([1, 0, 2]), m[0, 2])
    np.place(a.T, m.T > 1.0, [4.0])
    return np.sum(a * a * SQUARE)


def putmask_plain(x: Any) -> Any:
    """Values repeat by position, not by count."""
    a = x * 1.0
    np.putmask(a, x > 0.0, x[1:3])
    np.putmask(a, a > 2.0, a * a)
    np.putmask(a, a < -1.0, 0.25)
    np.putmask(a, [True, False, False, True], [])
    return np.sum(a * a * WEIGHTS)


def putmask_two_axes(m: Any) -> Any:
    a = m.copy()
    np.putmask(a, m > 0.2, m[0, :2])
    np.putmask(a[:, 1], [True, True, False], m[2])
    return np.sum(a * a * SQUARE)


# --- methods


def fill_plain(x: Any) -> Any:
    a = x * x
    b = a * 1.0
    a.fill(x[0])
    a[1:] = a[1:] * x[1:]
    b[1:].fill(x[2] * b[0])
    b[:1].fill(3)
    return np.sum(a * a * WEIGHTS) + np.sum(b * b)


def fill_alias(m: Any) -> Any:
    a = m * 1.0
    row = a[1]
    row.fill(m[0, 0])
    for k in range(3):
        a[k, k:].fill(a[k, 0] * m[k, 2])
    np.ndarray.fill(a[2], m[1, 1])
    return np.sum(a * a * SQUARE)


def fill_zero_dim(x: Any) -> Any:
    a = np.zeros(())
    a.fill(x * x)
    return a + x


def fill_each_step(x: Any) -> Any:
    total = 0.0
    work = np.empty(4)
    for k in range(3):
        work.fill(0.0)
        work[k] = x[k] * x[k + 1]
        total = total + np.sum(work * x)
    return total


def sort_plain(x: Any) -> Any:
    a = x * 2.0
    a.sort()
    b = a[::-1]
    b.sort()
    return np.sum(a * a * WEIGHTS)


def sort_axes(m: Any) -> Any:
    a, b = m.copy(), m * 1.0
    a.sort(axis=0)
    b.sort(0, "stable")
    a[1].sort()
    b.T.sort(axis=-1, kind="stable")
    np.ndarray.sort(a[:2], 0)
    return np.sum(a * b * SQUARE)


def sort_in_loop(x: Any) -> Any:
    a = x.copy()
    for k in range(3):
        a[0] = a[0] * x[k]
        a.sort()
        if a[1] > 0.0:
            a[1:].sort()
    return np.sum(a * a * WEIGHTS)


def sort_of_a_small_one(x: Any) -> Any:
    a = x[:1].copy()
    a.sort()
    b = x[:0].copy()
    b.sort()
    return np.sum(a * a) + np.sum(b)


def constants_stay_constant(x: Any) -> Any:
    """What is written into arrays that carry no derivative."""
    order = np.zeros(4, dtype=int)
    np.copyto(order, np.argsort(x))
    order[1:].sort()
    np.add.at(order, [0, 0], 1)
    order.fill(2)
    np.put(order, [0, 1], [3, 1])
    steps = [3, 1, 2]
    steps.sort()
    return np.sum(x[order] * x) * steps[0]


def counts(x: Any) -> Any:
    hits = np.zeros(3, dtype=int)
    np.add.at(hits, np.array([0, 2, 2, 2]), 1)
    a = x[:3] * hits
    np.multiply(a, hits, out=a)
    return np.sum(a * a)


def single_precision(x: Any) -> Any:
    a = np.zeros(4, dtype=np.float32)
    np.multiply(x, x, out=a)
    np.copyto(a[1:], x[1:])
    return np.sum(a * x)


def double_from_single(x: Any) -> Any:
    """NumPy sums in the precision of `out`."""
    total = np.zeros(())
    np.sum(x, out=total)
    parts = np.zeros(4)
    np.cumprod(x, out=parts)
    return total + np.sum(parts)


P = np.array([0.7])
F = np.array([0.1, 0.7, 1.3, 0.9], dtype=np.float32)


def _of_sum_and_products(x: Any) -> Any:
    """The gradient of the sum of `x` and of its leading products."""
    by = [1.0 + sum(np.prod(np.delete(x[: k + 1], j)) for k in range(j, len(x))) for j in range(len(x))]
    return np.array(by, dtype=x.dtype)


def out_through_mask(x: Any) -> Any:
    a = x.copy()
    np.sin(x[:2], out=a[np.array([0, 1])])  # writes into a copy
    return np.sum(a)


def in_an_index(x: Any) -> Any:
    c, d = np.zeros(4), np.zeros(4)
    d[np.argmax(np.multiply(x, x, out=c))] = x[0]
    return np.sum(c * d)


class Tank:
    """An object with methods of the names of an array's."""

    def __init__(self) -> None:
        self.level = 1.0

    def fill(self, amount: Any) -> None:
        self.level = amount * 2.0

    def put(self, place: Any, amount: Any) -> None:
        self.level = amount

    def sort(self) -> None:
        self.level = -1.0


TANK = Tank()
GENERATOR = np.random.default_rng(1)


def in_a_lambda_called_later(x: Any) -> Any:
    c = np.zeros(4)
    write = lambda v: np.multiply(v, 2.0, out=c)  # noqa: E731
    write(x)
    return np.sum(c)


def other_fill(x: Any) -> Any:
    tank = Tank()
    tank.fill(x[0])
    return tank.level * x[1]


def in_a_comprehension(x: Any) -> Any:
    c = np.zeros(4)
    rows = [np.multiply(x, k, out=c) for k in (0, 1)]
    return np.sum(c) + len(rows)


def in_a_lambda(x: Any) -> Any:
    c = np.zeros(4)
    rows = list(map(lambda v: np.multiply(v, x, c), [1.0, 2.0]))
    return np.sum(c) + len(rows)


CASES: list[Case] = [
    case(out_through_mask, V),
    case(out_name, V, W),
    case(out_tuple, V),
    case(out_positional, V),
    case(out_positional_function, M),
    case(out_positional_then_more, M),
    case(out_slice, V),
    case(out_overlapping, V),
    case(out_itself, V),
    case(out_row_in_loop, M),
    case(out_view, M),
    case(out_alias, V),
    case(out_value, V),
    case(out_inside_expression, V),
    case(out_swapped, V),
    case(out_in_branches, V),
    case(out_broadcast, V),
    case(out_constant_result, V),
    case(out_constant_operands, V),
    case(out_of_argument, V),
    case(out_none, V),
    case(out_zero_dim, np.array(0.4)),
    case(out_empty, np.zeros(0)),
    case(out_sums, M),
    case(out_extremes, M),
    case(out_methods, M),
    case(out_products, M),
    case(out_joined, V, W),
    case(out_accumulated, V),
    case(out_where, V, W),
    case(out_where_constants, V),
    case(out_where_slice, M),
    case(out_of_callee, V),
    case(out_is_a_parameter, V),
    case(at_repeated, V),
    case(at_scalar, V),
    case(at_mask, V),
    case(at_two_axes, M),
    case(at_itself, V),
    case(at_in_loop, V),
    case(at_view, M),
    case(at_broadcast, V),
    case(at_multiplied, V),
    case(at_negated, V),
    case(copyto_plain, V),
    case(in_a_lambda_called_later, V),
    case(other_fill, V),
    case(in_a_comprehension, V),
    case(in_a_lambda, V),
    case(copyto_where, V),
    case(copyto_broadcast, M),
    case(copyto_list, V),
    case(copyto_zero_dim, np.array(0.4)),
    case(copyto_alias, V),
    case(copyto_overlapping, V),
    case(copyto_ping_pong, V),
    case(put_plain, V),
    case(put_repeats, V),
    case(put_two_axes, M),
    case(put_around, M),
    case(partitioned, M),
    case(put_in_loop, V),
    case(put_nothing, V),
    case(put_size_one, V),
    case(put_size_one, P, name="put_size_one_of_one"),
    case(put_along_plain, M),
    case(put_along_flat, M),
    case(put_along_three, V),
    case(diagonal_vector, V),
    case(diagonal_wrapped, V),
    case(diagonal_nothing, V),
    case(place_plain, V),
    case(place_two_axes, M),
    case(putmask_plain, V),
    case(putmask_two_axes, M),
    case(fill_plain, V),
    case(fill_alias, M),
    case(fill_zero_dim, np.array(0.4)),
    case(fill_each_step, V),
    case(sort_plain, V),
    case(sort_axes, M),
    case(sort_in_loop, V),
    case(sort_of_a_small_one, V),
    case(constants_stay_constant, V),
    case(counts, V),
    case(in_an_index, V),
    # a = (x0 ** 2, x1, x2, x3): the sum is x0 ** 3 + x1 ** 2 + x2 ** 2 + x3 ** 2.
    case(single_precision, V, rtol=1e-5, expected=(np.array([3.0 * V[0] ** 2, *(2.0 * V[1:])]),)),
    case(double_from_single, F, rtol=1e-5, expected=(_of_sum_and_products(F),)),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


# --- what is refused, and NumPy's own errors


def integer_out(x: Any) -> Any:
    c = np.zeros(4, dtype=int)
    np.multiply(x, x, out=c)
    return np.sum(c * x)


def integer_fill(x: Any) -> Any:
    c = np.zeros(4, dtype=int)
    c.fill(x[0])
    return np.sum(c * x)


def integer_put(x: Any) -> Any:
    c = np.zeros(4, dtype=int)
    np.put(c, [0, 1], x)
    return np.sum(c * x)


def integer_at(x: Any) -> Any:
    c = np.zeros(4, dtype=int)
    np.add.at(c, [0, 1], x[:2])
    return np.sum(c * x)


def complex_into_real(x: Any) -> Any:
    c = np.zeros(4)
    np.multiply(x, 1j, out=c)
    return np.sum(c)


def complex_copied_into_real(x: Any) -> Any:
    c = np.zeros(4)
    np.copyto(c, x * 1j)
    return np.sum(c)


def too_small(x: Any) -> Any:
    c = np.zeros(3)
    np.multiply(x, x, out=c)
    return np.sum(c)


def out_of_another_shape(x: Any) -> Any:
    c = np.zeros((2, 4))
    np.cumsum(x, out=c)
    return np.sum(c)


def put_beyond(x: Any) -> Any:
    a = x.copy()
    np.put(a, [4], x)
    return np.sum(a)


def place_of_nothing(x: Any) -> Any:
    a = x.copy()
    np.place(a, x > 0.0, [])
    return np.sum(a)


def along_beyond(x: Any) -> Any:
    a = x.copy()
    np.put_along_axis(a, np.array([7]), x[:1], 0)
    return np.sum(a)


def diagonal_of_a_vector(x: Any) -> Any:
    a = x.copy()
    np.fill_diagonal(a, x[0])
    return np.sum(a)


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (integer_out, TypeError),
        (integer_fill, S2SADError),
        (integer_put, (S2SADError, TypeError)),
        (integer_at, (S2SADError, TypeError)),
        (complex_into_real, TypeError),
        (complex_copied_into_real, TypeError),
        (too_small, ValueError),
        (out_of_another_shape, ValueError),
        (put_beyond, IndexError),
        (place_of_nothing, ValueError),
        (along_beyond, IndexError),
        (diagonal_of_a_vector, ValueError),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_errors(f: Callable[..., Any], error: type[Exception]) -> None:
    """What NumPy refuses, and what would lose a derivative, is an error: never a number."""
    with pytest.raises(error):
        value_and_grad(f)(V)


def list_taken_for_active(x: Any) -> Any:
    order = [3, 1, 2]
    y = [x, order]
    y[0] = x * 2.0
    order.sort()
    return np.sum(y[0]) * order[0]


def other_put(x: Any) -> Any:
    TANK.put(0, x[0])
    return np.sum(x) * TANK.level


def test_methods_of_such_names_set_attributes() -> None:
    np.testing.assert_allclose(grad(other_put)(V), numeric_gradient(other_put, (V,)), rtol=1e-6)


def at_keyword(x: Any) -> Any:
    a = x.copy()
    np.add.at(a, [0, 0], b=x[0])  # refused
    return np.sum(a)


def copied_unsafely(x: Any) -> Any:
    a = x.copy()
    np.copyto(a, x * x, casting="unsafe")  # refused
    return np.sum(a)


def sorted_by_field(x: Any) -> Any:
    a = x.copy()
    a.sort(descending=True)  # refused
    return np.sum(a)


def out_two(x: Any) -> Any:
    a, b = x.copy(), x.copy()
    np.modf(x, out=(a, b), where=x > 0)  # refused
    return np.sum(a * b)


def out_starred(x: Any) -> Any:
    a = x.copy()
    options = {"out": a}
    np.sin(x, **options)
    return np.sum(a)


def out_through_columns(x: Any) -> Any:
    a = np.outer(x, x)
    np.sin(a[:, :2], out=a[:, [0, 3]])  # refused
    return np.sum(a)


def shuffled(x: Any) -> Any:
    a = x.copy()
    GENERATOR.shuffle(a)  # refused
    return np.sum(a)


def item_set(x: Any) -> Any:
    a = x.copy()
    a.__setitem__(0, x[1] * x[1])  # refused
    return np.sum(a)


def added_by_operator(x: Any) -> Any:
    a = x.copy()
    b = x + operator.iadd(a, x * x)  # refused
    return np.sum(a * b)


def list_method_unbound(x: Any) -> Any:
    items = [x[0]]
    list.append(items, x[1] * x[1])  # refused
    return items[-1]


def inserted_in_order(x: Any) -> Any:
    items = [x[0], x[2]]
    bisect.insort(items, x[3] * x[3])  # refused
    return items[1] * x[0]


def place_of_itself(x: Any) -> Any:
    a = x.copy()
    np.place(a, [True, False, True, True], a[::-1])  # refused
    return np.sum(a)


def diagonal_of_itself(x: Any) -> Any:
    a = np.outer(x, x)
    np.fill_diagonal(a, a[::-1, 0])  # refused
    return np.sum(a)


def joined_into_itself(x: Any) -> Any:
    a = x.copy()
    np.concatenate([a[2:], a[:2]], out=a)  # refused
    return np.sum(a)


def flat_along_itself(x: Any) -> Any:
    a = x.copy()
    np.put_along_axis(a, np.array([1, 2]), a[:2], None)  # refused
    return np.sum(a)


@pytest.mark.parametrize(
    "f",
    [
        place_of_itself, diagonal_of_itself, joined_into_itself, flat_along_itself,
        at_keyword,
        copied_unsafely, sorted_by_field, out_two,
        out_through_columns,
        shuffled, item_set, added_by_operator, list_method_unbound,
        inserted_in_order,
    ],
)  # fmt: skip
def test_refusals(f: Callable[..., Any]) -> None:
    """Refused where it stands."""
    lines, start = inspect.getsourcelines(f)
    wanted = [start + i for i, line in enumerate(lines) if line.rstrip().endswith("# refused")]
    with pytest.raises(UnsupportedError) as refusal:
        grad(f)(V)
    assert PLACE.search(str(refusal.value))
    found = [p.line for v in refusal.value.violations for p in (v.place, *v.calls) if p is not None]
    assert set(wanted) <= set(found)


def added_at_with_a_comprehension(x: Any) -> Any:
    y = np.zeros(4)
    np.add.at(y, [0, 2, 0], np.array([x[i] * x[3] for i in range(3)]))
    return np.sum(y * y)


def added_at_by_a_local_name(x: Any) -> Any:
    rows = [x * k for k in (1.0, 2.0)]
    put = np.add
    y = np.zeros(4)
    put.at(y, [0, 0, 3], rows[0][:3])
    return np.sum(y * rows[1])


def put_into_an_array_without_axes(x: Any) -> Any:
    a = np.zeros(())
    np.put(a, [0], x[0])
    return a * x[1]


@pytest.mark.parametrize(
    "f",
    [added_at_with_a_comprehension, added_at_by_a_local_name, put_into_an_array_without_axes],
    ids=lambda f: f.__name__,
)
def test_local_names_of_functions(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(V), numeric_gradient(f, (V,)), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("f", [list_taken_for_active, out_starred], ids=lambda f: f.__name__)
def test_known_containers_are_no_obstacle(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(V), numeric_gradient(f, (V,)), rtol=1e-8, atol=1e-8)
