"""Stores through every form of index, augmented stores, and whole arrays changed in place."""

# Programs are written as numerical people write them, with their own layout of operators.
# ruff: noqa: PLR6104

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.3, -1.2, 2.5, 0.7])
W = np.array([1.5, 0.25, -0.75, 1.1])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [0.1, 0.7, -0.3]])


def element(x: Any) -> Any:
    a = np.zeros(3)
    a[0] = x[0] * x[1]
    a[-1] = a[0] * x[2]
    return np.sum(a * a)


def element_overwritten(x: Any) -> Any:
    a = x * 1.0
    b = a[0] * a[0]
    a[0] = 5.0
    return np.sum(a) + b


def element_of_argument(x: Any) -> Any:
    x[1] = x[0] * x[2]
    return np.sum(x * x)


def element_of_itself(x: Any) -> Any:
    a = x.copy()
    a[1] = a[1] * a[1] * a[0]
    a[1] = np.sin(a[1])
    return np.sum(a * x)


def slice_store(x: Any) -> Any:
    a = np.ones(5)
    a[1:] = x
    a[:2] = a[2:4] * 2.0
    return np.sum(a * a * np.arange(5.0))


def slice_broadcast(x: Any) -> Any:
    a = np.zeros((3, 4))
    a[:] = x
    a[1:, ::2] = x[0]
    a[:, 3] = x[1:]
    return np.sum(np.sin(a))


def slice_step(x: Any) -> Any:
    a = x.copy()
    a[::-2] = x[:2] * 3.0
    a[::2] = a[1::2] * a[::2]
    return np.sum(a**2)


def overlapping(x: Any) -> Any:
    a = x.copy()
    a[1:] = a[:-1] * a[1:]
    a[:-1] = a[1:] + a[:-1]
    return np.sum(a * a)


def reverse_in_place(x: Any) -> Any:
    a = x * 1.0
    a[:] = a[::-1]
    a[::-1] = a * a
    return np.sum(a * np.arange(4.0))


def several_axes(m: Any) -> Any:
    a = np.zeros((2, 3, 3))
    a[0, :, 1] = m[1]
    a[1, 1:] = m[:2] * m[1:]
    a[..., 0] = m[0, 0]
    a[:, None, 2, :1] = m[0, 1]
    return np.sum(np.sin(a) * 2.0)


def whole(x: Any) -> Any:
    a = np.empty(4)
    a[:] = x * x
    b = np.empty_like(a)
    b[...] = a
    b[()] = b * x
    return np.sum(b)


def mask(x: Any) -> Any:
    a = x * 2.0
    a[a > 1.0] = x[0]
    a[a < 0.0] *= 3.0
    a[x > 0.0] = a[x > 0.0] * x[x > 0.0]
    return np.sum(a * a)


def mask_array_value(x: Any) -> Any:
    a = np.zeros(4)
    chosen = np.array([True, False, True, True])
    a[chosen] = x[1:] * x[:-1]
    return np.sum(a * a)


def index_array(x: Any) -> Any:
    a = np.zeros(4)
    a[[3, 1]] = x[:2] * x[2:]
    a[np.array([0, 3])] += x[0]
    return np.sum(a**2)


def index_array_repeats(x: Any) -> Any:
    """The last write wins; an augmented store counts each place once."""
    a = np.ones(4)
    a[[1, 1, 2]] = x[:3]
    b = a * 1.0
    b[[0, 0, 3]] += x[1:]
    b[[2, 2]] *= x[:2]
    return np.sum(a * np.arange(4.0)) + np.sum(b * b)


def index_array_two_axes(m: Any) -> Any:
    a = m.copy()
    a[[0, 1], [2, 0]] = m[2, :2] * m[0, :2]
    a[1, [0, 2, 0]] = m[:, 0]
    return np.sum(a * a)


def augmented_elements(x: Any) -> Any:
    a = x.copy()
    a[0] += x[1] * x[2]
    a[1] *= a[0]
    a[2] -= a[1] / 2.0
    a[3] /= 1.0 + a[2] ** 2
    a[0] **= 2
    return np.sum(a * x)


def augmented_slices(x: Any) -> Any:
    a = x.copy()
    a[1:] += a[:-1] * 2.0
    a[:2] *= x[2:]
    a[::2] -= a[1::2]
    a[:] /= 2.0 + x * x
    return np.sum(a * a)


def augmented_whole(x: Any, b: Any) -> Any:
    a = x * 1.0
    a *= b
    a += x
    a /= 2.0
    a **= 2
    a -= b * a
    return np.sum(a)


def augmented_number_or_array(x: Any) -> Any:
    y = x
    y = y * 1.0
    z = y
    y *= 2.0
    return np.sum(y * z)


def augmented_alias_decides(x: Any) -> Any:
    """For an array both names change, for a number one."""
    y = x
    y *= 3.0
    return np.sum(x * y)


def augmented_broadcast(m: Any, x: Any) -> Any:
    a = m * 1.0
    a += x[:3]
    a *= x[0]
    a[0] -= x[1]
    return np.sum(a * a)


def augmented_matmul(m: Any) -> Any:
    a = m.copy()
    a @= m
    return np.sum(a * a)


def power_in_place(x: Any) -> Any:
    a = x * x + 1.0
    a **= x
    return np.sum(a)


def zero_then_fill(x: Any) -> Any:
    a = np.ones(4) * x
    b = a * a
    a[:] = 0.0
    a[1] = x[3]
    return np.sum(b) + np.sum(a * a)


def read_before_and_after(x: Any) -> Any:
    a = x.copy()
    before = np.sin(a)
    a[1] = x[0] * 2.0
    middle = np.sin(a) * before
    a[1] = a[1] * a[2]
    return np.sum(middle) + np.sum(np.cos(a) * before)


def cumulative(x: Any) -> Any:
    a = np.zeros(4)
    a[0] = x[0]
    for i in range(1, 4):
        a[i] = a[i - 1] * x[i] + np.sin(a[i - 1])
    return a[3] + a[1] * a[2]


def fibonacci_in_place(x: Any) -> Any:
    for i in range(2, 4):
        x[i] = x[i - 1] * x[i - 2] + x[i]
    return x[-1]


def in_nested_loops(m: Any) -> Any:
    a = m.copy()
    for i in range(3):
        for j in range(i):
            a[i, j] -= a[j, i] * a[i, i]
            a[j, j] *= 1.0 + 0.1 * a[i, j]
    return np.sum(a * a)


def in_branches(x: Any) -> Any:
    a = np.zeros(4)
    for i in range(4):
        if x[i] > 0.5:
            a[i] = x[i] * x[0]
        elif x[i] > 0.0:
            a[0] += x[i] ** 2
        else:
            continue
        a[3] = a[i] * 0.5
        if i == 3:
            break
    return np.sum(a * a)


def in_while(x: Any) -> Any:
    a = x.copy()
    n = 0
    while np.sum(a * a) < 100.0:
        a[n % 4] += a[(n + 1) % 4] ** 2 + 0.5
        n += 1
    return np.sum(a) / n


def early_return(x: Any) -> Any:
    a = x.copy()
    for i in range(4):
        a[i] *= a[0] + 1.0
        if i == 2:
            return np.sum(a * a)
    return np.sum(a)


def index_changes(x: Any) -> Any:
    a = np.zeros(4)
    i = 0
    a[i] = x[0] * x[1]
    i = 2
    a[i] = x[2] ** 2
    i += 1
    a[i] = a[i - 1] * a[0]
    return np.sum(a * x)


def index_array_changes(x: Any) -> Any:
    order = np.array([0, 1, 2, 3])
    a = x.copy()
    for k in range(3):
        a[order[k]] = a[order[k + 1]] * 2.0
        order[k + 1] = (order[k] + 2) % 4
    return np.sum(a * a)


def integer_arrays_stay_constant(x: Any) -> Any:
    count = np.zeros(3, dtype=int)
    flags = np.zeros(4, dtype=bool)
    for i in range(4):
        count[i % 3] += 1
        flags[i] = x[i] > 0.0
    return np.sum(x[flags] ** 2) * count[0]


def diagonal_and_fill(x: Any) -> Any:
    a = np.zeros((4, 4))
    np.fill_diagonal(a, x)
    b = np.empty(4)
    b.fill(x[0])
    return np.sum(a @ a) + np.sum(b * x)


def ufunc_at(x: Any) -> Any:
    a = np.zeros(3)
    np.add.at(a, [0, 1, 1, 0], x * x)
    return np.sum(a * a)


def ufunc_out(x: Any) -> Any:
    a = np.empty(4)
    np.multiply(x, x, out=a)
    np.sin(a, out=a)
    np.add(a, x, a)
    return np.sum(a * a)


def copy_and_put(x: Any) -> Any:
    a = np.zeros(4)
    np.copyto(a, x * 2.0)
    np.put(a, [0, 2], x[1:3] ** 2)
    np.putmask(a, a < 0.0, x)
    return np.sum(a * a)


def sort_in_place(x: Any) -> Any:
    a = x * 1.0
    a.sort()
    return np.sum(a * np.arange(4.0) * a)


def empty_read_partly(x: Any) -> Any:
    a = np.empty((2, 4))
    a[1] = x * x
    return np.sum(a[1])


def list_items(x: Any) -> Any:
    items = [x, x * x, 0.0]
    items[2] = items[0] * items[1]
    items[0] = 3.0
    return items[2] * items[0] + items[1]


def zero_dimensional(x: Any) -> Any:
    a = np.array(0.0)
    a[()] = x * x
    a += x
    return a * x


def single_precision(x: Any) -> Any:
    a = np.zeros(4, dtype=np.float32)
    a[:] = x
    a *= a
    return np.sum(a)


def element_of_other_argument(x: Any, k: Any) -> Any:
    x[0] = 2.0
    return k * np.sum(x)


CASES = [
    case(element_of_other_argument, V, 0.7, wrt=1),
    *[
        case(f, V)
        for f in (
            *(element, element_overwritten, element_of_argument, element_of_itself, slice_store, slice_broadcast),
            *(slice_step, overlapping, reverse_in_place, whole, mask, mask_array_value, index_array),
            *(index_array_repeats, augmented_elements, augmented_slices, augmented_number_or_array),
            *(augmented_alias_decides, power_in_place, zero_then_fill, read_before_and_after, cumulative),
            *(fibonacci_in_place, in_branches, in_while, early_return, index_changes, index_array_changes),
            *(integer_arrays_stay_constant, diagonal_and_fill, ufunc_at, ufunc_out, copy_and_put, sort_in_place),
            *(empty_read_partly,),
        )
    ],
    *[case(f, M) for f in (several_axes, index_array_two_axes, augmented_matmul, in_nested_loops)],
    case(augmented_whole, V, W),
    case(augmented_whole, 1.3, 0.4, name="augmented_whole_numbers"),
    case(augmented_number_or_array, 1.3, name="augmented_number_or_array_number"),
    case(augmented_alias_decides, 1.3, name="augmented_alias_decides_number"),
    case(augmented_broadcast, M, V),
    case(list_items, 0.7),
    case(zero_dimensional, 0.7),
    case(single_precision, V.astype(np.float32), expected=((2.0 * V).astype(np.float32),), rtol=1e-6),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
