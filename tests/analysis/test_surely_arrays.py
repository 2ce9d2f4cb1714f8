"""Arrays that are known to be such: at positions that NumPy has found, of lists, transposed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([1.5, 0.2, -0.7, 2.1])


def at_nonzero(x: Any) -> Any:
    u = x[np.nonzero(x > 0.3)]
    v = u
    u += 1.0
    return np.sum(u * v)


def by_the_method(x: Any) -> Any:
    u = x[(x > 0.3).nonzero()]
    v = u
    x = x * 2.0
    u *= x[0]
    return np.sum(u * v)


def above_the_diagonal(x: Any) -> Any:
    a = np.outer(x, x)
    d = a[np.triu_indices(4, 1)]
    e = d
    a *= 2.0
    d *= 3.0
    return np.sum(d * e) + np.sum(a)


def below_the_diagonal_written(x: Any) -> Any:
    a = np.outer(x, x)
    a[np.tril_indices_from(a)] = 0.0
    a[np.diag_indices(4)] += x
    return np.sum(a * a)


def where_of_one_argument(x: Any) -> Any:
    places = np.where(x > 0.3)
    u = x[places]
    v = u
    u += 1.0
    x = x * 2.0
    x[places] = 5.0
    return np.sum(u * v) + np.sum(x)


def where_unpacked(x: Any) -> Any:
    rows, columns = np.where(np.outer(x, x) > 0.1)
    u = np.outer(x, x)[rows, columns]
    v = u
    u *= 2.0
    return np.sum(u * v)


def rows_at_positions(x: Any) -> Any:
    rows = np.outer(x, x)[np.nonzero(x > 0.3)]
    for row in rows:
        row *= x
    return np.sum(rows)


def either(x: Any) -> Any:
    """What is known of this is only that it exists."""
    return x if np.sum(x) > 0.0 else 1.0 * np.sum(x)


def of_a_list(x: Any) -> Any:
    rows = np.array([either(x), either(x * x), either(x + 1.0)])
    columns = rows.T
    if columns[0, 0] > 0.0:
        columns[:, 0] *= -x
    return np.sum(rows * rows * rows)


def of_a_size(x: Any) -> Any:
    table = np.array([x, x * x])[np.nonzero(x[:2] > -1.0)]
    n = table.shape[0] + 1
    whole = np.zeros((n, n))
    whole[: table.shape[0], :2] = table[:, :2]
    whole[-1, -1] = x[0]
    return np.sum(whole @ whole)


PROGRAMS = [
    of_a_list, of_a_size, at_nonzero, by_the_method, above_the_diagonal, below_the_diagonal_written,
    where_of_one_argument, where_unpacked, rows_at_positions,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[[Any], Any]) -> None:
    way = np.array([0.3, -1.0, 0.5, 0.2])
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(hvp(f, (X,), (way,)), richardson_jvp(grad(f), [X], [way]), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("f", PROGRAMS)
def test_nothing_is_checked_when_it_runs(f: Callable[[Any], Any]) -> None:
    assert "require_" not in grad(f).source_for(X)
