"""A second module for the language tests: its names are the same as those of the module that calls it."""

from __future__ import annotations

from typing import Any

import numpy as np

SCALE = 5.0


def helper(x: Any) -> Any:
    return np.cos(x) * SCALE


def helper_of_helper(x: Any) -> Any:
    return helper(x) * x


def even(n: int, x: Any) -> Any:
    if n == 0:
        return x
    return odd(n - 1, x * 1.1)


def odd(n: int, x: Any) -> Any:
    return even(n - 1, np.sin(x))
