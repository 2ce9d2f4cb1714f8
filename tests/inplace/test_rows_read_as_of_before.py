"""Lists of lists that lose a row on some ways: the rows are read as of before by what made the list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.8, 1.3, 0.6, 1.7, 0.4])


def without_a_row(x: Any, c: Any) -> Any:
    t = [[x[0], 1.0], [x[1], 2.0], [x[2], 3.0]]
    for p in t:
        p[0] = p[0] * 2
    if c > 0.5:
        t.pop(0)
    for p in t:
        p[0] = p[0] ** 2
    return sum(p[0] * p[1] for p in t)


def by_itself(x: Any) -> Any:
    return without_a_row(x, x[3])


def in_a_callee(x: Any) -> Any:
    return without_a_row(x, x[3]) * x[4] + without_a_row(x * 2.0, x[4])


def in_rounds(x: Any) -> Any:
    s = 0.0
    for k in range(len(x) - 2):
        s = s + without_a_row(x * (k + 1), x[k])
    return s


@pytest.mark.parametrize("f", [by_itself, in_a_callee, in_rounds])
def test_rows_read_as_of_before(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, [X.copy()])
    np.testing.assert_allclose(grad(f)(X.copy()), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (np.ones(5),))[1], np.sum(expected), rtol=1e-7)
