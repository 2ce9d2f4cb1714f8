"""Loops over more objects than are written out one by one: what their methods do is met as they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from s2sad.transform.written_out import MOST_ROUNDS
from tests.oracle import numeric_gradient

COUNT = MOST_ROUNDS + 6


class Joint:
    def __init__(self, length: float, twist: float) -> None:
        self.length, self.twist = length, twist

    def moved(self, point: Any, angle: Any) -> Any:
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return turn @ point * np.cos(self.twist) + np.array([self.length, 0.0])


class Chain:
    def __init__(self, joints: list[Joint]) -> None:
        self.joints = joints


CHAIN = Chain([Joint(0.01 * i, 0.01 * (i % 5)) for i in range(COUNT)])
ANGLES, START = np.linspace(-0.3, 0.4, COUNT), np.array([0.5, -0.2])


def beside_each_other(angles: Any) -> Any:
    point = START
    for joint, angle in zip(CHAIN.joints, angles, strict=False):
        point = joint.moved(point, angle)
    return np.sum(point**2)


def numbered(angles: Any) -> Any:
    point = START
    for i, (joint, angle) in enumerate(zip(CHAIN.joints, angles, strict=False)):
        point = joint.moved(point, angle * (1.0 + 0.01 * i))
    return np.sum(point**2)


def by_places(angles: Any) -> Any:
    point = START
    for i, joint in enumerate(CHAIN.joints):
        point = joint.moved(point, angles[i])
    return np.sum(point**2)


def in_a_comprehension(angles: Any) -> Any:
    rows = [joint.moved(START, angle) for joint, angle in zip(CHAIN.joints, angles, strict=False)]
    return np.sum(np.array(rows) ** 2)


def with_what_was_there(angles: Any) -> Any:
    points = [START]
    for joint, angle in zip(CHAIN.joints, angles, strict=False):
        points.append(joint.moved(points[-1], angle))
    return np.sum(points[-1] ** 2) + np.sum(points[3] * points[7])


CASES = [beside_each_other, numbered, by_places, in_a_comprehension, with_what_was_there]


class Store:
    def __init__(self, k: float) -> None:
        self.k, self.values = k, np.ones(3) * k

    def own(self, x: Any) -> Any:
        return self.values

    def part(self, x: Any) -> Any:
        return self.values[:2]

    def new(self, x: Any) -> Any:
        return self.values * x[0]

    def given(self, x: Any) -> Any:
        return x

    def total(self, x: Any) -> Any:
        return np.sum(self.values) * x[0]


STORES = [Store(0.1 * i) for i in range(COUNT)]


def writing_what_is_new(x: Any) -> Any:
    s = 0.0
    for store, number in zip(STORES, x, strict=False):
        row = store.new(x)
        row[0] = number * number
        s = s + store.total(x) + np.sum(row)
    return s


def writing_what_it_has(x: Any) -> Any:
    s = 0.0
    for store, number in zip(STORES, x, strict=False):
        row = store.own(x)
        row[0] = number * number
        s = s + np.sum(store.values) * number
    return s


def writing_a_part(x: Any) -> Any:
    s = 0.0
    for store, number in zip(STORES, x, strict=False):
        row = store.part(x)
        row += number
        s = s + store.total(x) * number
    return s


def writing_in_a_list(x: Any) -> Any:
    s, rows = 0.0, []
    for store, number in zip(STORES, x, strict=False):
        rows.append(store.own(x))
        rows[-1][0] = number
        s = s + store.total(x)
    return s


def writing_what_it_is_given(x: Any) -> Any:
    s, y = 0.0, x * 1.0
    for store, number in zip(STORES, x, strict=False):
        row = store.given(y)
        row[0] = number * number
        s = s + store.total(y) + np.sum(row * y)
    return s


WRITING = [writing_what_is_new, writing_what_it_has, writing_a_part, writing_in_a_list, writing_what_it_is_given]


def reset() -> None:
    for store in STORES:
        store.values = np.ones(3) * store.k


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_right_in_both_modes(f: Callable[..., Any]) -> None:
    found = grad(f)(ANGLES)
    np.testing.assert_allclose(found, numeric_gradient(f, (ANGLES,)), rtol=1e-6, atol=1e-8)
    v = np.cos(np.arange(COUNT))
    np.testing.assert_allclose(jvp(f, (ANGLES,), (v,))[1], found @ v, rtol=1e-9)


@pytest.mark.parametrize("f", WRITING, ids=lambda f: f.__name__)
def test_right_or_refused_where_results_are_written(f: Callable[..., Any]) -> None:
    x = np.linspace(0.3, 1.0, COUNT)

    def anew(x: Any) -> Any:
        reset()
        return f(x)

    expected = numeric_gradient(anew, (x,))
    for way in (lambda: grad(f)(x), lambda: jvp(f, (x,), (np.ones(COUNT),))[1]):
        reset()
        try:
            found = way()
        except S2SADError:
            assert f is not writing_what_is_new
            continue
        np.testing.assert_allclose(found, expected if np.ndim(found) else np.sum(expected), rtol=1e-6, atol=1e-8)
