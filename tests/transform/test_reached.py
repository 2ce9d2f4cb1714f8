"""What a program can reach by its names, in search of what changes objects: long chains, dead proxies."""

from __future__ import annotations

import types
import weakref
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
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


class Silent:
    @property
    def __class__(self) -> Any:
        raise RuntimeError("it does not say of what class it is")


class Claims:
    """Says that it is of another class, as proxies and mocks do."""

    def __init__(self, cls: type) -> None:
        self.claimed = cls

    @property
    def __class__(self) -> Any:
        return self.claimed


def dead() -> Any:
    return weakref.proxy(Target())


ODD: Any = None
HELD, LISTED = Gain(), [2.0]


def of_odd_objects(x: Any) -> Any:
    if ODD is None:
        return x[0]
    x[0] = LISTED[0] * x[1]
    return np.sum(HELD.value(x))


def of_default(x: Any, odd: Any) -> Any:
    x[0] = 2.0 * x[1]
    return np.sum(x**2)


def of_closure(odd: Any) -> Any:
    def f(x: Any) -> Any:
        x[0] = 2.0 * x[1]
        return np.sum(2.0 * x**2) if odd is not None else x[0]

    return f


@pytest.mark.parametrize("claimed", [None, "gone", dict, np.ndarray, types.FunctionType, types.ModuleType, type])
def test_objects_that_are_not_what_they_say(claimed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of them, wherever they are: there is a gradient, or a refusal, and no other error."""
    odd: Any = dead() if claimed == "gone" else Silent() if claimed is None else Claims(claimed)
    monkeypatch.setitem(globals(), "ODD", odd)
    monkeypatch.setattr(HELD, "nodes", odd)
    monkeypatch.setitem(globals(), "LISTED", [2.0, odd])
    with_default = types.FunctionType(of_default.__code__, globals(), "of_default", (odd,))
    wanted = [0.0, 20.0 * X[1], 4.0 * X[2]]
    for f, factor in ((of_odd_objects, 1.0), (of_closure(odd), 1.0), (with_default, 0.5)):
        try:
            got = grad(f)(X)
            ahead = jvp(f, (X,), (np.ones(3),))[1]
        except S2SADError:
            continue
        np.testing.assert_allclose(got, np.multiply(wanted, factor), rtol=1e-12)
        np.testing.assert_allclose(ahead, np.sum(wanted) * factor, rtol=1e-12)


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
