"""``items.index(v)`` and ``items.count(v)`` of lists, tuples and texts are whole numbers: lists change at them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.8, 0.5])


def in_order(keys: Any, values: Any) -> Any:
    keys, values = list(keys), list(values)
    found, out = [], []
    for _ in range(len(keys)):
        k = keys.index(min(keys))
        found.append(k)
        keys[k] = 100.0
    for k in found:
        out.append(values[k])
    return out


def sorted_by_hand(x: Any) -> Any:
    y = in_order([3.0, 1.0, 2.0], [x[0], x[1], x[2]])
    return y[0] + 2 * y[1] + 4 * y[2] ** 2


def of_a_tuple(x: Any) -> Any:
    names = ("a", "b")
    k = names.index("b")
    y = [v * 2 for v in x]
    y[k] = y[k] ** 2
    return sum(y)


def of_a_text(x: Any) -> Any:
    k = "xyz".index("z")
    y = [v * 2 for v in x]
    y[k] = y[k] ** 2
    y["aab".count("a")] *= y[0]
    return sum(y)


@pytest.mark.parametrize("function", [sorted_by_hand, of_a_tuple, of_a_text], ids=lambda f: f.__name__)
def test_places_are_integers(function: Any) -> None:
    assert np.allclose(grad(function)(X), numeric_gradient(function, (X,)), rtol=1e-6)
