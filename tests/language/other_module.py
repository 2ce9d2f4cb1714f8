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


WEIGHTS = np.array([1.0, 2.0, 3.0])
HELD = [np.array([1.0, 2.0, 3.0])]


def weighted(x: Any) -> Any:
    return x * WEIGHTS


def weighted_by_a_callee(x: Any) -> Any:
    return weighted(x)


def weighted_by_what_is_held(x: Any) -> Any:
    return x * HELD[0]


def first_weight() -> float:
    return float(WEIGHTS[0])


class Scale:
    """An object with methods that read an array of the module."""

    OWN = np.array([1.0, 2.0, 3.0])

    def weigh(self, x: Any) -> Any:
        return x * WEIGHTS

    @property
    def first(self) -> float:
        return float(WEIGHTS[0])

    def __call__(self, x: Any) -> Any:
        return self.weigh(x)

    @staticmethod
    def by_its_own(x: Any) -> Any:
        return x * Scale.OWN


SCALER = Scale()


def make() -> tuple[Any, Any]:
    """A function that writes its first argument and calls one that has captured an array, and the array."""
    captured = np.array([1.0, 2.0, 3.0])

    def inner(x: Any) -> Any:
        return x * captured

    def outer(a: Any, x: Any) -> Any:
        a[0] = 5.0
        return np.sum(inner(x) * x)

    return outer, captured
