"""What a program can reach by its names, in search of what changes objects: long chains, dead proxies."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, -0.4])


class Node:
    def __init__(self, after: Any) -> None:
        self.after = after
        self.weight = 1.0


class Gain:
    def __init__(self) -> None:
        self.weight = 2.0
        self.nodes: Any = None

    def value(self, x: Any) -> Any:
        return self.weight * x**2


class Target:
    pass


def chain(length: int) -> Node | None:
    first = None
    for _ in range(length):
        first = Node(first)
    return first


GAIN, LONG, FIRST = Gain(), Gain(), Gain()
LONG.nodes = chain(3000)
_target = Target()
FIRST.nodes = weakref.proxy(_target)
del _target


def of_long_chain(x: Any) -> Any:
    return np.sum(LONG.value(x))


def of_dead_proxy(x: Any) -> Any:
    return np.sum(FIRST.value(x))


def of_change_at_the_end(x: Any) -> Any:
    total = GAIN.value(x[0])
    change_weight()
    return total + GAIN.value(x[1])


def change_weight() -> None:
    GAIN.weight = GAIN.weight + 0.5 if GAIN.weight < 3.0 else 2.0


@pytest.mark.parametrize("function", [of_long_chain, of_dead_proxy])
def test_whatever_objects_hold_is_gone_through(function: Any) -> None:
    np.testing.assert_allclose(grad(function)(X), numeric_gradient(function, (X,)), rtol=1e-6)


def test_what_is_reached_changes_what_is_known() -> None:
    GAIN.weight = 2.0
    np.testing.assert_allclose(grad(of_change_at_the_end)(X), [4 * X[0], 5 * X[1], 0.0], rtol=1e-12)
