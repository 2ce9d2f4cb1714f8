"""Sizes and shapes of names, items and arguments that are others in another iteration, call or function."""

# ruff: noqa: F841 (a variable that is read in the next iteration)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient

X = np.array([0.7, 1.3, 0.4])


W = np.arange(6.0).reshape(2, 3) + 0.5


def size_of_the_iteration_before(x: Any) -> Any:
    s = 0.0
    for i in range(1, 4):
        if i > 1:
            a = np.ones((m, 3)) * x  # type: ignore[has-type]  # noqa: F821
            c = np.concatenate([a, a + np.ones((i, 3))]) if i == 2 else a
            z = np.exp(x * np.ones(m))  # type: ignore[has-type]  # noqa: F821
            s = s + np.sum(c) + np.sum(np.outer(z + np.arange(m), z))  # type: ignore[has-type]  # noqa: F821
        m = i
    return s


def grown_if_a_number(w: Any, v: Any, flag: Any) -> Any:
    y = w * v[0] if flag else w * v
    y = y * 2.0
    y += v
    return np.sum(y * y)


def reduced_along(x: Any, v: Any, axis: Any) -> Any:
    y = np.sum(x, axis=axis)
    y += v
    return np.sum(y * y)


def shaped_by_a_variable(x: Any, y: Any) -> Any:
    m = -1
    return np.sum(x.reshape(m, 3) * y.reshape(m, 3))


CASES = [
    case(size_of_the_iteration_before, 0.7),
    *[case(grown_if_a_number, 0.5, X, flag, wrt=(0, 1), name=f"grown_if_{flag}") for flag in (True, False)],
    case(reduced_along, X, 2.0 * X, 0, wrt=(0, 1)),
    case(reduced_along, W, 2.0 * X, 0, wrt=(0, 1), name="reduced_along_rows"),
    case(shaped_by_a_variable, X, W.ravel()),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
