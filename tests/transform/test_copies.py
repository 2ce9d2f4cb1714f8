"""``copy.deepcopy`` of values, containers and objects: what is one in the original is one in the copy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, -0.4])


class Node:
    def __init__(self, v: Any) -> None:
        self.v = v
        self.parts = [v, v * 2.0]
        self.other: Any = None


class Odd:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __deepcopy__(self, memo: Any) -> Odd:
        return Odd(self.v * 2.0)


def array(x: Any) -> Any:
    y = deepcopy(x)
    y[0] = 3.0
    return np.sum(y * x)


def number(x: Any) -> Any:
    return deepcopy(x[0]) * x[1]


def in_a_list(x: Any) -> Any:
    rows = [x, x * 2.0]
    others = deepcopy(rows)
    others[0][1] = 0.0
    return np.sum(others[0] * others[1]) + np.sum(rows[0])


def an_object(x: Any) -> Any:
    a = Node(x)
    b = deepcopy(a)
    b.v[0] = 2.0
    b.parts.append(x)
    return np.sum(b.v * a.v) + np.sum(b.parts[0]) * len(a.parts)


def objects_in_objects(x: Any) -> Any:
    a = Node(x)
    a.other = Node(x * 2.0)
    a.twin = a.other  # type: ignore[attr-defined]
    b = copy.deepcopy(a)
    b.other.v[0] = 3.0
    b.v = b.v * 2.0
    return np.sum(b.twin.v * a.v) + np.sum(a.other.v) + np.sum(b.v)  # type: ignore[attr-defined]


def one_array_twice(x: Any) -> Any:
    y = x * 1.0
    a = Node(y)
    a.other = y
    b = deepcopy(a)
    b.v[0] = 3.0
    return np.sum(b.other * x)


def one_array_in_a_list_twice(x: Any) -> Any:
    rows = deepcopy([x, x])
    rows[0][0] = 1.5
    return np.sum(rows[1] * 2.0)


def of_its_own(x: Any) -> Any:
    return np.sum(deepcopy(Odd(x)).v)


@pytest.mark.parametrize("f", [array, number, in_a_list, an_object, objects_in_objects], ids=lambda f: f.__name__)
def test_gradient(f: Callable[..., Any]) -> None:
    wanted = numeric_gradient(f, [X])
    np.testing.assert_allclose(grad(f)(X.copy()), wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(jvp(f, (X.copy(),), (np.ones(3),))[1], np.sum(wanted), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", [one_array_twice, one_array_in_a_list_twice, of_its_own], ids=lambda f: f.__name__)
def test_right_or_refused(f: Callable[..., Any]) -> None:
    try:
        found = grad(f)(X.copy())
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, [X]), rtol=1e-6, atol=1e-7)


class Held:
    def __init__(self, start: Any) -> None:
        if np.isscalar(start):
            self.x = np.full(2, start)
        else:
            self.x = np.copy(start)

    def moved(self, z: Any) -> Any:
        self.x[0] = self.x[0] + 0.5 * (z - self.x[0])
        return np.sum(self.x * z)


@pytest.mark.parametrize("start", [[0.0, 1.0], (0.5, 2.0), 0.7, np.array([0.2, 0.3])], ids=str)
def test_whether_something_is_a_scalar_is_known(start: Any) -> None:
    def f(x: Any, given: Any = start) -> Any:
        made = Held([x[0], 1.0]) if given is None else Held(given)
        return made.moved(x[0]) + made.moved(x[1])

    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, [X]), rtol=1e-6, atol=1e-7)
