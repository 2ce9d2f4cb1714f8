"""Lists and tuples taken apart, put together, copied and repeated."""

# ruff: noqa: B007, RUF005 (written as people write)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.4, -1.2, 0.9])
M = np.array([[0.3, -0.8], [1.1, 0.6]])


def list_of_a_list(x: Any) -> Any:
    a = [x, x * x]
    b = list(a)
    b = b + [x**3]
    return b[0] * b[2] + a[1]


def tuple_of_a_list(x: Any) -> Any:
    a = [x, x * x]
    b = tuple(a) + (x,)
    return b[0] * b[2] * b[1]


def list_of_an_array(v: Any) -> Any:
    a = list(v)
    return a[0] * a[1] + a[2]


def rows_of_a_matrix(m: Any) -> Any:
    rows = tuple(m)
    return np.sum(rows[0] * rows[1]) * rows[1][0]


def numbers_of_an_array_repeated(v: Any) -> Any:
    a = list(v) * 2
    return a[1] * a[4] + a[5]


def copy_of_a_list_that_changes(x: Any) -> Any:
    a = [x]
    b = list(a)
    b.append(x * x)
    a.append(3.0 * x)
    return b[1] * a[1] * len(a)


def list_grown_by_copies(x: Any) -> Any:
    a: list[Any] = []
    for i in range(3):
        a = list(a) + [x * i]
    return sum(a) * a[1]


def nested_list(x: Any) -> Any:
    a = [x, [x * x, x]]
    b = list(a)
    return b[1][0] * b[0]


def keys_of_a_dict(x: Any) -> Any:
    p = {"a": x, "b": x * x}
    keys = list(p)
    return p[keys[0]] * p["b"]


def repeated(x: Any) -> Any:
    a = [x, x * x] * 3
    b = 2 * (x, 3.0)
    return a[0] * a[3] * b[2] * len(a)


def repeated_arrays(x: Any) -> Any:
    a = [np.ones(2) * x, np.ones(3) * x]
    b = a * 2
    return np.sum(b[0] * b[2]) + np.sum(b[3])


def repeated_by_a_number_of_the_run(x: Any, n: int) -> Any:
    a = [x, x * x] * n
    return x + sum(a)


def starred_in_the_middle(x: Any) -> Any:
    a = [x, *[x * x, x**3], 2.0]
    return a[0] * a[1] * a[2] * a[3] * len(a)


def starred_twice(x: Any) -> Any:
    a = (x, x * x)
    b = [*a, *a, x]
    return b[0] * b[3] * b[4] + len(b)


def starred_alone(x: Any) -> Any:
    a = (x, x * x)
    b = [*a]
    b.append(x)
    return b[1] * b[2] + len(a)


def starred_rows(m: Any) -> Any:
    rows = [*m, m[0] * 2.0]
    return np.sum(rows[0] * rows[2]) + np.sum(rows[1])


def starred_with_a_shadowed_name(x: Any) -> Any:
    list = [x]  # noqa: A001
    both = [*list, x]
    return both[0] * both[1]


def tuple_augmented_in_a_loop(x: Any) -> Any:
    items = (x,)
    other = items
    for _ in range(2):
        items += (items[-1] * x,)
    items *= 2
    return items[2] * items[5] + len(other)


def zip_strict(v: Any, w: Any) -> Any:
    total = 0.0
    for a, b in zip(v, w, strict=True):
        total = total + a * b * a
    return total


def zip_not_strict(v: Any, w: Any) -> Any:
    total = 0.0
    for i, (a, b) in enumerate(zip(v, w, strict=False), 1):
        total = total + a * b * i
    return total


def rows_of_two_zipped(m: Any, n: Any) -> Any:
    a = m * 1.0
    for row, other in zip(a, n, strict=True):
        row[0] *= other[1]
    return np.sum(a * a)


def complex_from_an_item(v: Any) -> Any:
    held = [v, v * 2.0]
    z = held[1] * 1j + held[0]
    return np.sum(abs(z + 1.0))


def complex_from_a_sum(v: Any) -> Any:
    """What the items get back is real, as they are, before it is added to what was there."""
    held = []
    for k in range(3):
        held.append(v * k)
    return np.sum(abs(sum(held) * 1j + 1.0))


def complex_from_the_rest(v: Any) -> Any:
    first, *rest = v
    return abs(first * 1j + 1.0 + rest[0] * 2j)


def complex_and_real_items(v: Any) -> Any:
    held = [*(v * 1j), *(v * 2.0)]
    return abs(held[3] * held[0] * 1j + held[4] + 1.0)


def complex_and_real_arrays_repeated(v: Any) -> Any:
    held = [v * 1j, v * 2.0] * 2
    return np.sum(abs(held[3] * held[0] * 1j + 1.0))


CASES = [
    *[
        case(f, 0.7)
        for f in (
            list_of_a_list,
            tuple_of_a_list,
            copy_of_a_list_that_changes,
            list_grown_by_copies,
            nested_list,
            keys_of_a_dict,
            repeated,
            repeated_arrays,
            starred_in_the_middle,
            starred_twice,
            starred_alone,
            starred_with_a_shadowed_name,
            tuple_augmented_in_a_loop,
        )
    ],
    *[case(f, V) for f in (list_of_an_array, numbers_of_an_array_repeated)],
    *[
        case(f, V)
        for f in (
            complex_from_an_item,
            complex_from_a_sum,
            complex_from_the_rest,
            complex_and_real_items,
            complex_and_real_arrays_repeated,
        )
    ],
    *[case(f, M) for f in (rows_of_a_matrix, starred_rows)],
    *[case(repeated_by_a_number_of_the_run, 0.7, n, wrt=0, name=f"repeated_{n}_times") for n in (-1, 0, 1, 3)],
    *[case(f, V, V[::-1] * 1.5) for f in (zip_strict, zip_not_strict)],
    case(zip_not_strict, V, V[:2] * 1.5, name="zip_of_different_lengths"),
    case(rows_of_two_zipped, M, M.T * 2.0),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def strict_and_unused(v: Any, w: Any) -> Any:
    for a, b in zip(v, w, strict=True):
        pass
    return np.sum(v)


@pytest.mark.parametrize("f", [zip_strict, strict_and_unused])
def test_strict_zip_of_different_lengths_raises(f: Any) -> None:
    with pytest.raises(ValueError, match="shorter"):
        grad(f)(V, V[:2])
    assert "strict=True" in value_and_grad(f).source_for(V, V)
