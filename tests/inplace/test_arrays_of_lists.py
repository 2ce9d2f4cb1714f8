"""Arrays that NumPy makes of lists and tuples share no memory with their items, and are no other name of the list."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient

X = np.array([1.5, 3.0, 2.0, 1.0])


def outcomes(f: Callable[..., Any]) -> list[Any]:
    """The gradients of both modes; None where a mode refuses."""

    def forward(x: Any) -> Any:
        return [jvp(f, (x,), (unit,))[1] for unit in np.eye(x.size)]

    found = []
    for derivative in (grad(f), forward):
        x = X.copy()
        try:
            found.append(derivative(x))
        except S2SADError:
            found.append(None)
        np.testing.assert_array_equal(x, X)
    return found


def check(f: Callable[..., Any], refused: bool = False) -> None:
    """Both modes agree with differences; with ``refused`` a mode may refuse."""
    expected = numeric_gradient(lambda x: f(copy.deepcopy(x)), [X])
    for found in outcomes(f):
        if refused and found is None:
            continue
        assert found is not None
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def product(rows: Any) -> Any:
    out = rows[0]
    for row in rows[1:]:
        out = out @ row
    return out


def moved(x: Any) -> Any:
    total = 0.0
    for level in (1.0, 2.0):
        rows = []
        if x[0] > level:
            for i in range(3):
                rows.append(np.outer(x, x * i + 1.0))
        else:
            for z in x:
                rows.append(np.outer(x * z, x))
        if x[0] > level:
            rows = np.moveaxis(rows, 1, 2)
        total = total + np.sum(product(rows))
    return total


def flipped_and_written(x: Any) -> Any:
    rows = []
    for z in x:
        rows.append(z * x)
    first = rows[0]
    rows = np.flipud(rows)
    rows[0] = first * 2.0
    rows[-1, 1:] *= x[0]
    return np.sum(rows**2) + np.sum(first)


def array_of_a_copy(x: Any) -> Any:
    rows = [x * 2.0]
    rows.append(x * x)
    kept = rows
    rows = np.asarray(rows)
    rows[0] = x[1]
    return np.sum(rows) + np.sum(kept[0] ** 3) + np.sum(kept[-1])


def reshaped(x: Any) -> Any:
    parts = []
    for i in range(2):
        if x[i] > 2.0:
            parts.append(x[i] * x)
        else:
            parts.append(np.sin(x))
    parts = np.reshape(parts, (4, 2)) if x[0] > 1.0 else np.transpose(parts)
    parts = np.squeeze(parts)
    return np.sum(parts[1:] * parts[:-1])


def views_of_displays(x: Any) -> Any:
    rows = (x * x[0], x)
    first = np.flipud(rows)
    second = np.transpose([x, rows[0]])
    third = np.squeeze([x])
    fourth = np.swapaxes([[x[0], x[1]]], 0, 1)
    first[-1, 1:] *= x[0]
    second[0] = second[1] * x[2]
    third *= x[3]
    fourth[1] = fourth[0] ** 2
    return np.sum(first**2) + np.sum(second * x[1]) + np.sum(third) + np.sum(fourth) + np.sum(rows[0])


def parts_of_displays(x: Any) -> Any:
    rows = [x * x[0], x]
    low = np.fliplr(rows)[0]
    low *= rows[0]
    real = np.real(rows)
    real[-1, 1:] *= x[0]
    rows[0][1] = x[3] * x[2]
    return np.sum(low**2) + np.sum(real**2) + np.sum(rows[0] ** 3)


def of_a_callee(x: Any) -> Any:
    def turned(rows: Any) -> Any:
        q = np.flipud(rows)
        q[0] = q[1] * q[0]
        return q

    return np.sum(turned([x, x * x]) ** 2) + np.sum(turned((x, x**3))) + np.sum(turned(np.outer(x, x)))


@pytest.mark.parametrize(
    "f",
    [
        moved, flipped_and_written, array_of_a_copy, reshaped, views_of_displays, parts_of_displays, of_a_callee,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_an_array_made_of_a_list_is_no_view_and_no_other_name_of_it(f: Callable[..., Any]) -> None:
    check(f)
