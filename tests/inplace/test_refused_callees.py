"""Callees that write and cannot be differentiated, called more than once: the refusal says why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError

X = np.array([0.3, 0.4, 0.5, 0.6, 0.7])


def _tries(a: Any) -> None:
    class Unread(Any): ...

    try:
        a[0] = 1.0
    finally:
        a[1] = 2.0


def _calls(b: Any) -> Any:
    b[::1] *= 4
    _tries(b)
    return b


def refused_twice(x: Any) -> Any:
    y = _calls(x)
    return np.sum(_calls(y))


def test_a_callee_that_is_refused_twice() -> None:
    with pytest.raises(UnsupportedError, match="a class defined inside"):
        grad(refused_twice)(X)
