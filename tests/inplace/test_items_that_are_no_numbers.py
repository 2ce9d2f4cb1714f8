"""Items of arrays that are no numbers, but records and objects: what is written into them stands in the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.number_and_constants import MODES, RECORD, check_as_python

RIGHT: list[Callable[..., Any]] = []


def right(f: Callable[..., Any]) -> Callable[..., Any]:
    RIGHT.append(f)
    return f


@right
def record_of_an_array(x: Any, k: Any, *_: Any) -> Any:
    z = np.zeros(2, dtype=[("u", float), ("v", float)])
    z[1]["v"] = k
    return z["v"][1] * x


@right
def record_of_an_array_under_a_name(x: Any, k: Any, *_: Any) -> Any:
    z = np.zeros(2, dtype=RECORD)
    r = z[1]
    r["v"] = k
    return z["v"][1] * x


@right
def records_in_a_loop(x: Any, k: Any, a: Any, z: Any, *_: Any) -> Any:
    for r in z:
        r["v"] *= k
    return z["v"][1] * x


@right
def records_of_an_argument(x: Any, k: Any, a: Any, z: Any, dtype: Any) -> Any:
    y = np.zeros_like(z)
    r, q = y[1], np.zeros(2, z.dtype)[0]
    r["u"] = k
    q["u"] = k
    w = np.zeros(2, dtype)
    w[0]["v"] = k
    return y["u"][1] * q["u"] * w["v"][0] * x


@right
def records_of_another_shape(x: Any, k: Any, a: Any, z: Any, *_: Any) -> Any:
    r = z.reshape(2, 1)[1, 0]
    r["u"] = k
    return z["u"][1] * x


@right
def object_of_an_array_of_a_dtype(x: Any, k: Any, a: Any, *_: Any) -> Any:
    z = np.empty(2, dtype=np.dtype(object))
    z[0] = a
    b = z[0]
    b[0] = 3.0
    return a[0] * x


@right
def object_of_an_array_by_item(x: Any, k: Any, a: Any, *_: Any) -> Any:
    z = np.empty(2, dtype=object)
    z[0] = a
    z.item(0)[0] = 3.0
    return a[0] * x


@right
def object_of_an_array_of_another_shape(x: Any, k: Any, a: Any, *_: Any) -> Any:
    z = np.empty(2, dtype=object)
    z[0] = a
    y = z.reshape(2, 1)
    y[0, 0][0] = 3.0
    return a[0] * x


@right
def object_of_arrays_that_are_joined(x: Any, k: Any, a: Any, *_: Any) -> Any:
    z = np.empty(2, dtype=object)
    z[0] = a
    y, w = np.concatenate([z, z]), np.stack([z, z])
    y[2][0] = 3.0
    w[1, 0][1] = 2.0
    return a[0] * a[1] * x


@right
def object_that_is_the_largest(x: Any, k: Any, a: Any, *_: Any) -> Any:
    z = np.empty(1, dtype=object)
    z[0] = a
    b, c = np.max(z), z.sum()
    b[0] = 3.0
    c[1] = 2.0
    return a[0] * a[1] * x


@right
def numbers_of_a_joined_dtype(x: Any, k: Any, a: Any, *_: Any) -> Any:
    z = np.zeros(2, dtype=np.result_type(x, a))
    z[0] = x
    y = np.zeros(2, dtype=float if k > 0.0 else complex)
    y[1] = z[0] * k
    return y[1] * x


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_as_python(f: Callable[..., Any], mode: str) -> None:
    check_as_python(f, mode)
