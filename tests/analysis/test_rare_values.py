"""What is believed of values in rare corners: kinds, axes, and which results are one object or several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient

X = np.array([[0.71, 1.32, 0.57], [1.13, 0.43, 1.67]])


def items_of_a_matrix_or_a_list(p: Any, k: Any) -> Any:
    t = np.zeros(3)
    for v in p[k]:
        t = t + v
    return np.sum(t**2)


def parameters_of_two_kinds(p: Any) -> Any:
    s = 0.0
    for k in p:
        for v in p[k]:
            s = s + np.sum(v) ** 2
    return s


def clipped_from_below_by_an_array(x: Any) -> Any:
    return np.sum(np.mean(x).clip(min=x) ** 2 * x)


def clipped_from_above_and_written(x: Any) -> Any:
    y = np.mean(x).clip(max=x)
    y = y * 1.0
    y *= x
    return np.sum(y * x)


def rate_that_is_an_array_without_axes(x: Any, n: Any) -> Any:
    rate = np.where(n > 10, 0.1, 0.5)
    y = x
    for _ in range(3):
        y = y - rate * y**2
        rate *= 0.9
    return np.sum(y)


def axis_by_a_variable(x: Any, axis: Any = None) -> Any:
    y = np.cumsum(x, axis)
    m = y[0] * 1.0
    m *= 2.0
    return np.sum(m * x)


def axis_of_repeat(x: Any, axis: Any = None) -> Any:
    y = np.repeat(x, 2, axis)
    m = y[1]
    m *= 2.0
    return np.sum(m * x)


def axis_of_concatenate(x: Any, axis: Any = None) -> Any:
    y = np.concatenate([x, x * 2], axis)
    m = y[1]
    m *= 2.0
    return np.sum(m * x) + np.sum(y)


def axis_of_take(x: Any, axis: Any = None) -> Any:
    y = np.take(x, [1, 0], axis)
    m = y[1]
    m *= 2.0
    return np.sum(m * x)


def axis_of_a_column(x: Any, axis: Any = None) -> Any:
    y = np.cumsum(x[:, :1], axis=axis)
    return np.sum((y * x[0, 0]) ** 2)


def one_array_twice(x: Any) -> Any:
    a, b = (np.zeros(3),) * 2
    a += x[0]
    b *= x[1]
    return np.sum(a * b)


def one_array_three_times(x: Any) -> Any:
    t = 0.0
    for r in [np.zeros(3)] * 3:
        r += x[0]
        t += np.sum(r * r)
    return t


def sum_that_is_its_start(x: Any) -> Any:
    parts = [x * 2.0]
    total = sum(parts[1:], parts[0])
    total += 1.0
    return np.sum(parts[0] * total)


def least_of_two_arrays(x: Any) -> Any:
    a = x[0, :1] * 2
    b = x[0, 1:2] * 3
    least = min(a, b)
    least -= 1.0
    return np.sum(a * b * least)


def places_of_a_diagonal(x: Any) -> Any:
    i, j = np.diag_indices(1)
    j += 1
    return np.sum(x[i, j] ** 2)


def open_mesh_that_is_a_view(x: Any) -> Any:
    i = np.array([0])
    g = np.ix_(i, i)
    i += 1
    y = x[g] ** 2
    i -= 1
    return np.sum(y * x[0, 0])


def open_mesh_of_rows(x: Any) -> Any:
    a, b = np.ix_(x[0], x[1])
    return np.sum((a - b) ** 2)


def number_transposed(t: Any) -> Any:
    w = np.transpose(t)
    y = 2.0 * w
    v = w
    v += 1
    return np.sum(y * w)


def flat_of_a_constant(x: Any) -> Any:
    w = np.arange(1.0, 4.0)
    v = w.flat
    y = x[0, 0] * v
    w *= 3.0
    return np.sum(y * y) + np.sum(v) * x[0, 1]


def memory_of_a_constant(x: Any) -> Any:
    w = np.arange(1.0, 4.0)
    v = memoryview(w)
    y = x[0, 0] * v
    w *= 3.0
    return np.sum(y * y)


def not_copied_by_position(x: Any) -> Any:
    w = np.arange(1.0, 4.0)
    v = np.nan_to_num(w, False)
    y = x[0] * w
    v *= 3.0
    return np.sum(y * y) + np.sum(w) * x[1, 0]


def second_of_two(x: Any) -> Any:
    w = np.arange(1.0, 4.0)
    v = np.atleast_1d([1.0], w)[1]
    v *= 2.0
    return np.sum(w * x[0])


def inserted(x: Any) -> Any:
    w = np.arange(1.0, 3.0)
    return np.sum(x[0] * np.insert(w, 0, 1.0))


def list_as_a_factor(x: Any) -> Any:
    rows = [[0.0] * 3 for _ in range(2)]
    for i in range(3):
        rows[0][i] = float(i)
    return np.sum(x[0] * rows[0])


def item_taken_of_no_axes(t: Any) -> Any:
    w = np.array(3.0)
    v = w.take([0], axis=0)
    y = t * v
    return np.sum(y)


CASES = [
    case(items_of_a_matrix_or_a_list, {"W": np.ones((2, 3)), "b": [1.0, 2.0]}, "W", wrt=0),
    case(parameters_of_two_kinds, {"W": 0.3 * np.ones((2, 3)), "b": [1.0, 2.0]}),
    case(clipped_from_below_by_an_array, X),
    case(clipped_from_above_and_written, X),
    case(rate_that_is_an_array_without_axes, X[0], 3, wrt=0),
    case(axis_by_a_variable, X),
    case(axis_of_repeat, X),
    case(axis_of_concatenate, X),
    case(axis_of_take, X),
    case(axis_of_a_column, X),
    case(places_of_a_diagonal, X),
    case(open_mesh_that_is_a_view, X),
    case(open_mesh_of_rows, X),
    case(flat_of_a_constant, X),
    case(memory_of_a_constant, X),
    case(not_copied_by_position, X),
    case(second_of_two, X),
    case(inserted, X),
    case(list_as_a_factor, X),
    case(item_taken_of_no_axes, 0.5),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


@pytest.mark.parametrize("f", [one_array_twice, sum_that_is_its_start, least_of_two_arrays])
def test_what_may_be_one_object_is_refused(f: Any) -> None:
    with pytest.raises(UnsupportedError):
        grad(f)(X)


def right_or_refused(f: Any, x: Any) -> None:
    """Check a gradient; what is no array may be refused, when it is compiled or when it runs."""
    try:
        found = grad(f)(x)
    except (UnsupportedError, UndefinedDerivativeError):
        return
    # Of a number the differences are taken at numbers, which nobody writes.
    expected = numeric_gradient(lambda v: f(v if v.shape else float(v)), (np.array(x),))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def test_a_number_that_may_become_an_array() -> None:
    right_or_refused(number_transposed, 0.5)


def without_axes_cleaned(t: Any) -> Any:
    y = np.nan_to_num(np.array(t))
    w = y
    y += t
    return w * y


def without_axes_reversed(t: Any) -> Any:
    y = np.flip(np.array(t))
    w = y
    y += t
    return w * y


@pytest.mark.parametrize("f", [without_axes_cleaned, without_axes_reversed])
def test_an_array_without_axes_that_may_become_a_number(f: Any) -> None:
    right_or_refused(f, 0.5)


def first_set(a: Any) -> Any:
    a[0] = 0.8


def as_given(r: Any) -> Any:
    return r


def row_in_a_list(x: Any) -> Any:
    a = 0.3
    for _ in range(1):
        a = np.ones((3, 3))
    y = np.outer(x[0], x[0]) - a
    bufs = [y, y[-1]]
    first_set(bufs[0][::-1])
    return np.sum(bufs[1] ** 2) + np.sum(y)


def row_in_a_dict(x: Any) -> Any:
    a = 0.3
    for _ in range(1):
        a = np.ones((3, 3))
    y = np.outer(x[0], x[0]) - a
    d = {"r": y[-1], "s": y}
    y[2] = x[0, 1]
    return np.sum(d["r"] ** 2) + np.sum(y)


def one_of_two_rows(x: Any) -> Any:
    a = 0.3
    for _ in range(1):
        a = np.ones((3, 3))
    y = np.outer(x[0], x[0]) - a
    r = y[-1] if x[0, 0] > 0 else y[0]
    y[2] = x[0, 1]
    return np.sum(r**2) + np.sum(y)


def rows_in_a_tuple(x: Any) -> Any:
    a = 0.3
    for _ in range(1):
        a = np.ones((3, 3))
    y = np.outer(x[0], x[0]) - a
    r = (y[-1], y[0])
    y[2] = x[0, 1]
    return np.sum(r[0] ** 2) + np.sum(y)


def row_appended(x: Any) -> Any:
    a = 0.3
    for _ in range(1):
        a = np.ones((3, 3))
    y = np.outer(x[0], x[0]) - a
    h = []
    h.append(y[-1])
    y[2] = x[0, 1]
    return np.sum(h[0] ** 2) + np.sum(y)


def row_from_a_function(x: Any) -> Any:
    a = 0.3
    for _ in range(1):
        a = np.ones((3, 3))
    y = np.outer(x[0], x[0]) - a
    r = as_given(y[-1])
    y[2] = x[0, 1]
    return np.sum(r**2) + np.sum(y)


def row_as_an_array(x: Any) -> Any:
    a = 0.3
    for _ in range(1):
        a = np.ones((3, 3))
    y = np.outer(x[0], x[0]) - a
    r = np.asarray(y[-1])
    y[2] = x[0, 1]
    return np.sum(r**2) + np.sum(y)


def row_used_at_once(x: Any) -> Any:
    a = 0.3
    for _ in range(1):
        a = np.ones((3, 3))
    y = np.outer(x[0], x[0]) - a
    r = y[-1] * 2
    y[2] = x[0, 1]
    return np.sum(r**2) + np.sum(y)


ROWS_KEPT = [row_in_a_list, row_in_a_dict, one_of_two_rows, rows_in_a_tuple, row_appended, row_from_a_function]


@pytest.mark.parametrize("f", [*ROWS_KEPT, row_as_an_array], ids=lambda f: f.__name__)
def test_what_may_be_a_row_and_is_kept(f: Any) -> None:
    right_or_refused(f, X)


def test_what_may_be_a_row_may_be_used_at_once() -> None:
    check_gradient(case(row_used_at_once, X))


def product_of_pairs(x: Any) -> Any:
    """Of two components each the cross product is a number, which is written nowhere else."""
    c = np.cross(np.array([1.0, 2.0]), np.array([3.0, 5.0]))
    d = c
    d += x[0, 0]
    return np.sum(c * x) + d


def product_of_pairs_or_triples(x: Any) -> Any:
    c = np.cross(x[0, :2], x[1, :2])
    d = c
    d += x[0, 0]
    return np.sum(c * x) + d


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("f", [product_of_pairs, product_of_pairs_or_triples], ids=lambda f: f.__name__)
def test_a_product_that_may_be_a_number_is_not_taken_for_an_array(f: Any) -> None:
    right_or_refused(f, X)


def test_an_array_that_stands_in_a_list_three_times() -> None:
    np.testing.assert_allclose(grad(one_array_three_times)(X), numeric_gradient(one_array_three_times, (X,)), rtol=1e-7)
