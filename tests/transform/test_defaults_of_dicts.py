"""Methods that take a default value, of what may be no dict, or of a class of dicts with methods of its own."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, value_and_grad
from tests.oracle import numeric_gradient


class Sorting:
    """Has methods under the names of those of dicts."""

    @staticmethod
    def setdefault(q: Any, *, axis: Any = None) -> Any:
        q.sort()
        return q

    def pop(self, q: Any, v: Any) -> Any:
        q[0] = v
        return q


class Counted(dict):  # type: ignore[type-arg]
    def setdefault(self, key: Any, default: Any = None) -> Any:
        return super().setdefault(key, 2.0 * default)


def set_by_default(x: Any, o: Any) -> Any:
    a = x * 2.0
    r = a * x
    w = o.setdefault(a)
    w[2] = x[2] * 1.5
    return np.sum(r * r) + np.sum(np.sin(a) * x)


def popped_by_default(x: Any, o: Any) -> Any:
    a = x * 2.0
    w = o.pop(a, x[1])
    return np.sum(w * np.arange(3.0)) + np.sum(np.sin(a) * x)


def set_to_twice(x: Any, o: Any) -> Any:
    return o.setdefault("k", x[0]) * x[1]


@pytest.mark.parametrize(
    ("f", "o"),
    [(set_by_default, Sorting), (set_by_default, Sorting()), (popped_by_default, Sorting()), (set_to_twice, Counted())],
)
def test_methods_of_other_classes_are_no_dicts(f: Callable[..., Any], o: Any) -> None:
    x = np.array([0.5, 1.2, -0.7])
    expected = numeric_gradient(lambda x: f(x, copy.copy(o)), (x,))
    try:
        value, gradient = value_and_grad(f)(x, copy.copy(o))
    except S2SADError:
        return
    assert value == f(x, copy.copy(o))
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)
