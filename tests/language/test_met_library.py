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


@pytest.mark.parametrize("f", [held_by_a_deque, held_by_a_queue, held_by_an_array])
def test_objects_of_the_library_may_keep_what_they_are_given(f: Callable[..., Any]) -> None:
    with pytest.raises(S2SADError):
        grad(f)(np.array([0.3, 0.7, 0.4]))


SERIES = np.polynomial.Chebyshev([1.0, 2.0, 0.5])


def test_an_object_without_hash_is_refused() -> None:
    def f(x: Any) -> Any:
        return np.sum(SERIES(x) ** 2)

    with pytest.raises(S2SADError, match="SERIES"):
        grad(f)(np.array([0.3, 0.2]))
