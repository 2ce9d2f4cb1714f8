"""Methods of objects of Python's library that are met at run time: what they may keep is refused."""

from __future__ import annotations

import array
import collections
import queue
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.oracle import numeric_gradient


def held_by_a_deque(x: Any) -> Any:
    items = collections.deque(maxlen=int(x[0]) + 3)
    items.appendleft(x[0] * 2)
    return items.popleft() * x[1]


def held_by_a_queue(x: Any) -> Any:
    items: Any = queue.LifoQueue(int(x[0]) + 3)
    items.put_nowait(x[0] * 2)
    return items.get_nowait() * x[1]


def held_by_an_array(x: Any) -> Any:
    items = array.array("d", [0.0] * int(x[0] + 3))
    items.fromlist([x[0] * 2])
    return items[-1] * x[1]


def test_a_deque_of_a_length_that_is_not_known_is_a_list() -> None:
    x = np.array([0.3, 0.7, 0.4])
    np.testing.assert_allclose(grad(held_by_a_deque)(x), numeric_gradient(held_by_a_deque, [x]), rtol=1e-6)


@pytest.mark.parametrize("f", [held_by_a_queue, held_by_an_array])
def test_objects_of_the_library_may_keep_what_they_are_given(f: Callable[..., Any]) -> None:
    with pytest.raises(S2SADError):
        grad(f)(np.array([0.3, 0.7, 0.4]))


SERIES, POWERS = np.polynomial.Chebyshev([1.0, 2.0, 0.5]), np.poly1d([1.0, -2.0, 0.3])


def test_objects_without_hash_are_called() -> None:
    def f(x: Any) -> Any:
        return np.sum(SERIES(x) ** 2) + np.sum(POWERS(x) ** 3)

    x = np.array([0.3, 0.2])
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-8)
