"""Callees that run special methods, which write, of objects that an argument leads to: the argument stays as it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError

X, K = np.array([0.5, 1.2, -0.7]), np.array([0.8, -0.4, 1.5])


class Box:
    def __init__(self, v: Any) -> None:
        self.v = v


class Writing:
    """Each of its methods writes into its array."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __iter__(self) -> Any:
        self.v[0] = 0.35
        return iter([1.0])

    def __len__(self) -> int:
        self.v[0] = 0.35
        return 1

    def __float__(self) -> float:
        self.v[0] = 0.35
        return 1.0

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.v[0] = 0.35
        return np.ones(1)

    def __abs__(self) -> float:
        self.v[0] = 0.35
        return 1.0


READERS = [
    list, tuple, sum, sorted, len, float, abs, np.asarray, np.sum, np.exp, math.sqrt,
    lambda o: [*o], lambda o: (*o, 1.0), lambda o: np.array([o]), lambda o: [v for v in o],
]  # fmt: skip


def reader(read: Callable[[Any], Any]) -> Callable[..., Any]:
    def callee(x: Any, h: Any) -> Any:
        w = read(h[0].v)  # noqa: F841
        return np.sum(x * x)

    def f(x: Any, h: Any) -> Any:
        return callee(x, h)

    return f


@pytest.mark.parametrize("read", READERS)
def test_arguments_stay_as_they_are(read: Callable[[Any], Any]) -> None:
    k = K.copy()
    h = [Box(Writing(k))]
    try:
        found = grad(reader(read))(X, h)
    except UnsupportedError:
        found = 2.0 * X
    np.testing.assert_array_equal(k, K)
    np.testing.assert_allclose(found, 2.0 * X)
