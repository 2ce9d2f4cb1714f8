"""What makes another array only where the dtype is another: the tangent of whole numbers has a dtype of its own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.sources import function_of
from tests.transform.remaining import check_right_or_refused

MADE = {
    "whole numbers": "np.arange(4)",
    "truth values": "np.array([True, False, True, True])",
    "short floats": "np.float32([1.5, 2.0, 0.5, 1.0])",
    "floats": "x * 1.5",
}
CONVERTED = {
    "asarray": "np.asarray(y, dtype=float)",
    "by position": "np.asarray(y, float)",
    "asanyarray": "np.asanyarray(y, dtype=float)",
    "ascontiguousarray": "np.ascontiguousarray(y, dtype=float)",
    "asfortranarray": "np.asfortranarray(y, dtype=float)",
    "require": "np.require(y, float)",
    "array": "np.array(y, dtype=float, copy=None)",
    "astype": "y.astype(float, copy=False)",
    "a view of it": "np.asarray(y, dtype=np.float64).reshape(2, 2).T.reshape(4)",
    "raveled": "np.ravel(np.asarray(y, dtype=float))",
    "twice": "np.asarray(np.asarray(y), dtype=float)",
}
WRITES = {"one": "z[1:] = x[1:] * 2", "both": "z[1:] = x[1:] * 2\n    y[0] = 1", "added": "z += x"}
X, WAY = np.array([0.3, 0.7, -0.4, 1.1]), np.array([0.3, -0.5, 0.8, 0.2])


@pytest.mark.parametrize(("values", "converted", "write"), list(itertools.product(MADE, CONVERTED, WRITES)))
def test_a_tangent_is_converted_as_the_value_is(values: str, converted: str, write: str) -> None:
    f = function_of(
        f"""
        def f(x):
            y = {MADE[values]}
            z = {CONVERTED[converted]}
            {WRITES[write].replace(chr(10), chr(10) + " " * 8)}
            return np.sum(z * y * x)
        """
    )
    check_right_or_refused(f, X, WAY)
