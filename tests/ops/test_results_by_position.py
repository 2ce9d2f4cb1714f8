"""Results that are given by position and not as ``out=``, and axes that are given as lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad import grad
from tests.oracle import numeric_gradient

V = np.array([0.7, 1.3])


def transposed_by_sublists(x: Any) -> Any:
    y = x * 1.0
    v = np.einsum(y, [0, 1], [1, 0])
    v[0] = 2.0 * v[1]
    return np.sum(y * y * x)


def reduced_into(x: Any) -> Any:
    y = np.zeros(2)
    np.add.reduce(np.stack([x, x]), 0, None, y)
    return np.sum(y * y)


def median_into(x: Any) -> Any:
    y = np.zeros(2)
    np.median(np.stack([x, x]), 0, y)
    return np.sum(y * y)


def test_a_view_by_lists_of_axes_that_is_written() -> None:
    x = np.outer(V, V)
    np.testing.assert_allclose(
        grad(transposed_by_sublists)(x), numeric_gradient(transposed_by_sublists, (x,)), rtol=1e-7
    )


def test_a_reduction_by_a_method_of_a_ufunc_into_an_array() -> None:
    np.testing.assert_allclose(grad(reduced_into)(V), 8.0 * V)


def test_a_result_given_by_position_is_written() -> None:
    np.testing.assert_allclose(grad(median_into)(V[:2]), 2 * V[:2])
