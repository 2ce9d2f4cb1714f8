"""Reading by index in every form, containers built and read, array methods and attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient

V = np.array([0.3, -1.2, 2.5, 0.7])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])
T = np.linspace(-1.0, 1.5, 24).reshape(2, 3, 4)
PICK = np.array([3, 0, 0, 1])


def integer(v: Any) -> Any:
    return v[0] * v[2] + v[0]


def negative_integer(v: Any) -> Any:
    return v[-1] * v[-4]


def computed_integer(v: Any) -> Any:
    i = len(v) // 2
    return v[i] * v[i - 1]


def numpy_integer(v: Any) -> Any:
    return v[np.int64(1)] * v[np.argmax(v)]


def slices(v: Any) -> Any:
    return np.sum(v[1:] * v[:-1]) + np.sum(v[:] * v[1:2])


def steps(v: Any) -> Any:
    return np.sum(v[::2] * v[1::2]) + np.sum(v[::-1] * v) + np.sum(v[-1:0:-2])


def slice_beyond(v: Any) -> Any:
    return np.sum(v[2:100]) * np.sum(v[-100:2])


def empty_slice(v: Any) -> Any:
    return np.sum(v[3:1]) + v[0] * v[0]


def slice_object(v: Any) -> Any:
    where = slice(1, None)
    return np.sum(v[where] ** 2)


def several_axes(t: Any) -> Any:
    return np.sum(t[0, 1:, ::2] * t[1, :-1, 1::2])


def mixed_axes(t: Any) -> Any:
    return np.sum(t[:, 1] * t[:, -1]) + t[1, 2, 3] ** 2


def chained_index(t: Any) -> Any:
    return np.sum(t[1][2][:3] * t[0][1:][0][1:])


def ellipsis(t: Any) -> Any:
    return np.sum(t[..., 0] * t[..., -1]) + np.sum(t[0, ...] ** 2)


def newaxis(v: Any) -> Any:
    return np.sum(np.sin(v[:, None] * v[None, :])) + np.sum(v[np.newaxis, ..., None] ** 2)


def boolean_mask(v: Any) -> Any:
    return np.sum(v[v > 0.0] ** 2)


def boolean_mask_none_true(v: Any) -> Any:
    return np.sum(v[v > 100.0]) + np.sum(v)


def boolean_mask_matrix(m: Any) -> Any:
    return np.sum(np.exp(m[m > 0.3]))


def boolean_mask_rows(m: Any) -> Any:
    return np.sum(m[np.array([True, False])] ** 2)


def boolean_mask_and_integer(m: Any) -> Any:
    return np.sum(m[m[:, 0] > 1.0, 2] ** 2)


def index_array(v: Any) -> Any:
    return np.sum(v[PICK] * np.arange(4.0))


def index_list(v: Any) -> Any:
    return np.sum(v[[1, 1, 1]] ** 2)


def index_array_two_axes(m: Any) -> Any:
    return np.sum(m[[0, 1, 0], [2, 2, 2]] ** 2)


def index_array_and_slice(t: Any) -> Any:
    return np.sum(t[1, [0, 2, 2], 1:] ** 2) + np.sum(t[:, [0, 0]] ** 3)


def index_array_matrix(v: Any) -> Any:
    return np.sum(v[np.array([[0, 1], [1, 0]])] ** 2)


def index_grid(m: Any) -> Any:
    return np.sum(m[np.ix_([0, 1], [0, 2])] ** 2)


def index_negative_array(v: Any) -> Any:
    return np.sum(v[np.array([-1, -1, 0])] ** 3)


def index_newaxis_array(v: Any) -> Any:
    return np.sum(v[None, [0, 0, 1]] ** 2)


def index_zero_dimensional(x: Any) -> Any:
    return x[()] * x[()]


def index_sorted(v: Any) -> Any:
    order = np.argsort(v)
    return np.sum(v[order] * np.arange(4.0))


def index_by_loop(m: Any) -> Any:
    total = 0.0
    for i in range(2):
        for j in range(3):
            total = total + m[i, j] * m[1 - i, (j + 1) % 3]
    return total


def index_evaluated_once(v: Any) -> Any:
    return v[announce(2)] * v[announce(1)]


def announce(i: int) -> int:
    print("index", i)
    return i


def tuple_built(x: Any, y: Any) -> Any:
    pair = (x * y, x + y)
    return pair[0] * pair[1] * pair[-1]


def list_built(x: Any, y: Any) -> Any:
    items = [x, y, x * y]
    return items[0] * items[2] + items[-2]


def list_sliced(x: Any, y: Any) -> Any:
    items = [x, y, x * y, x - y]
    return sum(items[1:]) * items[::2][1]


def list_concatenated(x: Any) -> Any:
    items = [x] + [x * x, 2.0]
    items = items * 2
    return items[1] * items[3] * len(items)


def list_nested(x: Any, y: Any) -> Any:
    table = [[x, y], [x * y, (y, 3.0)]]
    return table[1][0] * table[1][1][0] + table[0][1]


def tuple_compared(x: Any) -> Any:
    if (1, 2) < (1, 3) and [1] == [1]:
        return x * x
    return x


def dict_built(x: Any, y: Any) -> Any:
    d = {"a": x, "b": y * y}
    return d["a"] * d["b"]


def array_of_scalars(x: Any, y: Any) -> Any:
    return np.sum(np.array([x, y, x * y, 2.0]) ** 2)


def array_of_nested(x: Any, y: Any) -> Any:
    return np.sum(np.array([[x, 1.0], [y, x * y]]) @ np.array([x, y]))


def array_of_rows(v: Any) -> Any:
    return np.sum(np.array([v, v * v]) ** 2)


def stack_and_concatenate(v: Any) -> Any:
    return np.sum(np.stack([v, v * 2.0], axis=1) ** 2) + np.sum(np.concatenate((v, v[:2])) ** 3)


def methods_reduce(m: Any) -> Any:
    return m.sum() * m.mean() + np.sum(m.sum(axis=0) ** 2) + m.sum(axis=-1, keepdims=True)[0, 0] + m.prod()


def methods_spread(m: Any) -> Any:
    return m.std() + m.var() + m.max() * m.min() + m.max(axis=1).sum()


def methods_shape(m: Any) -> Any:
    return np.sum(m.T @ m) + np.sum(m.reshape(3, 2) @ m) + np.sum(m.reshape((6,))[1:] * m.ravel()[:-1])


def methods_shape_more(m: Any) -> Any:
    return np.sum(m.flatten() ** 2) + np.sum(m.transpose() ** 3) + np.sum(m.swapaxes(0, 1)[0]) + m.reshape(-1)[2] ** 2


def methods_dot(m: Any, v: Any) -> Any:
    return np.sum(m.dot(v[:3]) ** 2)


def methods_copy(v: Any) -> Any:
    w = v.copy()
    return np.sum(w * v)


def methods_cumulative(v: Any) -> Any:
    return np.sum(v.cumsum() ** 2) + v.cumsum()[-1]


def methods_clip(v: Any) -> Any:
    return np.sum(v.clip(-1.0, 1.0) ** 2)


def methods_astype(v: Any) -> Any:
    return np.sum(v.astype(float) ** 2)


def methods_item(v: Any) -> Any:
    return v[1].item() ** 2 + v[2].item()


def item_by_number(v: Any) -> Any:
    return v.item(2) ** 2


def item_by_numbers(m: Any) -> Any:
    total = m.item(1, 0) ** 2 * m.item((0, -1)) + m.item(-2)
    for i in range(2):
        total = total * m.item(i, i + 1)
    return total


def methods_squeeze(m: Any) -> Any:
    return np.sum(m[:1].squeeze() ** 2) + np.sum(m.trace())


def methods_argmax(v: Any) -> Any:
    return v[v.argmax()] * v[v.argmin()]


def methods_repeat(v: Any) -> Any:
    return np.sum(v.repeat(2) * np.arange(8.0))


def attributes(m: Any) -> Any:
    rows, columns = m.shape
    return np.sum(m) * rows / columns + m.ndim * m.size * m[0, 0] + len(m.dtype.name) * m[0, 1]


def attribute_real(v: Any) -> Any:
    return np.sum(v.real**2) + np.sum(v.imag)


def attribute_flat(m: Any) -> Any:
    return np.sum(m.T.T * m.T.T)


def bound_method_name(v: Any) -> Any:
    return (v * 2.0).sum() * (v[1:] - v[:-1]).mean()


def constructors_like(v: Any) -> Any:
    return np.sum(np.zeros_like(v) + np.ones_like(v) * v + np.full_like(v, 2.0) * v)


def constructors_active_fill(x: Any) -> Any:
    return np.sum(np.full((2, 3), x) * M)


def shape_used_as_value(m: Any) -> Any:
    return np.sum(np.ones(m.shape) * m) / np.prod(m.shape)


def linspace_constants(x: Any) -> Any:
    grid = np.linspace(0.0, 1.0, 5)
    return np.sum(np.sin(grid * x)) * (grid[1] - grid[0])


def slices_in_loop(v: Any) -> Any:
    for _ in range(3):
        v = 0.25 * (v[:-2] + v[2:]).sum() + v * v[1]
    return np.sum(v)


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def softmax_loss(z: Any, w: Any) -> Any:
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return np.sum(e / np.sum(e, axis=-1, keepdims=True) * w)


def overlapping_reads(v: Any) -> Any:
    a = v[1:]
    b = a[1:]
    return np.sum(a) * np.sum(b * b) + v[2]


CASES = [
    *[
        case(f, V)
        for f in (
            *(integer, negative_integer, computed_integer, numpy_integer, slices, steps, slice_beyond, empty_slice),
            *(slice_object, newaxis, boolean_mask, boolean_mask_none_true, index_array, index_list, index_array_matrix),
            *(index_negative_array, index_newaxis_array, index_sorted, index_evaluated_once, array_of_rows),
            *(stack_and_concatenate, methods_copy, methods_cumulative, methods_clip, methods_astype, methods_item),
            *(methods_argmax, methods_repeat, attribute_real, bound_method_name, constructors_like, slices_in_loop),
            *(rosenbrock, overlapping_reads),
        )
    ],
    *[case(f, T) for f in (several_axes, mixed_axes, chained_index, ellipsis, index_array_and_slice)],
    *[
        case(f, M)
        for f in (
            *(boolean_mask_matrix, boolean_mask_rows, boolean_mask_and_integer, index_array_two_axes, index_grid),
            *(index_by_loop, methods_reduce, methods_spread, methods_shape, methods_shape_more, methods_squeeze),
            *(attributes, attribute_flat, shape_used_as_value),
        )
    ],
    *[
        case(f, 0.7, -1.3)
        for f in (tuple_built, list_built, list_sliced, list_nested, dict_built, array_of_scalars, array_of_nested)
    ],
    *[case(f, 0.7) for f in (tuple_compared, constructors_active_fill, linspace_constants)],
    case(list_concatenated, 0.7),
    case(item_by_number, V),
    case(item_by_numbers, M),
    case(index_zero_dimensional, np.array(0.6)),
    case(methods_dot, M, V),
    case(softmax_loss, M, M**2),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_shapes_behind_a_star(n: int) -> None:
    def f(x: Any) -> Any:
        shape = [-1] + n * [1]
        y = x.reshape(*shape)
        axes = tuple(range(y.ndim))[::-1]
        return np.sum(y * y) + np.sum(np.sin(x).reshape(*shape).transpose(*axes) ** 3)

    x = np.array([0.3, 0.7, -0.4])
    np.testing.assert_allclose(grad(f)(x), 2.0 * x + 3.0 * np.sin(x) ** 2 * np.cos(x))


@pytest.mark.parametrize("rows", [np.array([[1, 2, 2], [0, 1, 1]]), np.array([1]), np.array(2)], ids=str)
def test_shapes_behind_a_star_beside_others(rows: Any) -> None:
    def f(x: Any) -> Any:
        taken = x[rows.ravel()].reshape(*rows.shape, 2)
        other = np.sin(x).reshape(*x.shape[:1], *x.shape[1:], 1, order="F").reshape(x.shape[1], *x.shape[:1])
        return np.sum(taken**3) + np.sum(other[0] * other[1] ** 2)

    x = np.arange(6.0).reshape(3, 2) / 5
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("x", [np.array(0.7), np.array(0.7, np.float32), np.array(0.7 + 0.2j)], ids=str)
def test_item_of_an_array_without_axes_beside_other_uses(x: Any) -> None:
    def f(x: Any) -> Any:
        return np.real(x * x[()] + np.sum(x[None]) + x[()] * x.item())

    found = grad(f)(x)
    assert type(found) is np.ndarray
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, 4.0 * x + 1.0, rtol=1e-6)
