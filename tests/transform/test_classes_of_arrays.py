"""Tests of the class of an array that the program has made decide what a function gives back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, -0.4])


class Turn:
    """A rotation of the plane, which gives back what it is given: a list, a tuple, another rotation or an array."""

    def __init__(self, angle: Any) -> None:
        self.angle = angle

    def apply(self, v: Any) -> Any:
        if isinstance(v, Turn):
            return Turn(self.angle + v.angle)
        c, s = np.cos(self.angle), np.sin(self.angle)
        turned = np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])
        self.last = turned
        if isinstance(v, list):
            return [turned[0], turned[1]]
        if isinstance(v, (tuple, dict)):
            return turned[0], turned[1]
        return turned


def of_array(x: Any) -> Any:
    return np.sum(Turn(x[0]).apply(np.array([1.0, 2.0])) ** 3)


def of_active_array(x: Any) -> Any:
    return np.sum(Turn(x[0]).apply(np.asarray(x[1:])) ** 3)


def of_list(x: Any) -> Any:
    a, b = Turn(x[0]).apply([x[1], 2.0])
    return a * b


def of_turn(x: Any) -> Any:
    return Turn(x[0]).apply(Turn(x[1])).angle ** 2


def of_both(x: Any) -> Any:
    turn = Turn(x[0])
    start = np.zeros(2)
    first = turn.apply(np.ones(2) if x[1] > 0 else start)
    return np.sum(turn.apply(turn.apply((x[1], x[2]))[0] * np.ones(2)) * first)


class Signal(np.ndarray):
    pass


SIGNAL = np.array([1.0, 2.0]).view(Signal)


def kept_class(x: Any) -> Any:
    made = np.array(SIGNAL, subok=True)
    return weight(x, lambda v: v * 2.0, made)


def own_class(x: Any) -> Any:
    made = np.array(SIGNAL)
    return weight(x, lambda v: v * 2.0, made)


def weight(x: Any, function: Any, made: Any) -> Any:
    return np.sum(function(x)) * (3.0 if isinstance(made, Signal) else 5.0)


@pytest.mark.parametrize("function", [of_array, of_active_array, of_list, of_turn, kept_class, own_class])
def test_as_differences(function: Any) -> None:
    np.testing.assert_allclose(grad(function)(X), numeric_gradient(function, (X,)), rtol=1e-6)


def test_what_is_not_known_is_right_or_refused() -> None:
    try:
        got = grad(of_both)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(got, numeric_gradient(of_both, (X,)), rtol=1e-6)
