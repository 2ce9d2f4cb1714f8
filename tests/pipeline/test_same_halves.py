"""Functions that are written once, whatever is known of the arguments of each call, and those that differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X, Y = np.array([0.5, 1.2, -0.7, 0.3]), np.array([0.8, -0.4, 1.5, 0.9])


def stepped(new, old, rate):
    new[1:-1] = old[1:-1] + rate[1:-1] * (old[2:] - old[:-2])


def of_one_array_or_two(x, y):
    a, b = x.copy(), y.copy()
    stepped(a, x * 1.0, y)
    old = a * b
    stepped(b, old, old)
    return np.sum(a * b)


def scaled(a, b):
    return np.sin(a * b)


def of_other_activities(x, y):
    return np.sum(scaled(x, 2.0) * scaled(3.0, y) * scaled(x, y))


def nested(a, b):
    return scaled(a, b) * scaled(b, a)


def in_callees(x, y):
    return np.sum(nested(x, y) + nested(y, x * 1.0))


CASES = [(of_one_array_or_two, "stepped", 1), (of_other_activities, "scaled", 3), (in_callees, "nested", 1)]


@pytest.mark.parametrize(("f", "callee", "count"), CASES, ids=[c[0].__name__ for c in CASES])
def test_written_once(f: Any, callee: str, count: int) -> None:
    found = grad(f, (0, 1))(X, Y)
    for position in (0, 1):
        np.testing.assert_allclose(found[position], numeric_gradient(f, (X, Y), position), rtol=1e-7, atol=1e-9)
    text = grad(f, (0, 1)).source_for(X, Y)
    assert text.count(f"def {callee}_forward") == count
    assert text.count(f"def {callee}_reverse") == count


class Joint:
    def __init__(self, length: float, offset: float) -> None:
        self.length, self.offset = length, offset

    def moved(self, point, angle):
        turn = angle + self.offset
        if turn > 1.5:
            turn = 1.5 + np.tanh(turn - 1.5)
        return point + self.length * np.array([np.cos(turn), np.sin(turn)])


class Off:
    """A joint that does nothing, as dropout in a network that is not trained."""

    def moved(self, point, angle):
        return point


class Arm:
    def __init__(self, joints) -> None:
        self.joints = list(joints)


ARM = Arm([Joint(1.0, 0.1), Joint(0.5, -0.3), Off(), Joint(0.25, 0.7)])


def of_several_objects(angles, target):
    point = 0.1 * angles[:2]
    for joint, angle in zip(ARM.joints, angles, strict=True):
        point = joint.moved(point, angle)
    return np.sum((point - target) ** 2)


class Wave:
    def __init__(self, scale) -> None:
        self.scale = scale

    def __call__(self, x):
        return np.sin(x * self.scale) if self.scale > 1.5 else np.cos(x * self.scale)


WAVES = [Wave(1.0), Wave(2.0), Wave(0.5)]


def of_objects_that_differ(x):
    total = 0.0
    for wave in WAVES:
        total = total + np.sum(wave(x) ** 2)
    return total


def test_the_methods_of_several_objects_are_written_once() -> None:
    x, target = np.array([0.3, 0.5, 2.0, -0.4]), np.array([1.0, 0.5])
    found = grad(of_several_objects)(x, target)
    np.testing.assert_allclose(found, numeric_gradient(of_several_objects, (x, target)), rtol=1e-7, atol=1e-9)
    text = grad(of_several_objects).source_for(x, target)
    assert text.count("def moved_forward") == text.count("def moved_reverse") == 1
    assert text.count("moved_forward(") == 4
    assert text.count("ARM.joints") == 2, "as it is now, and as it was"
    gradient = text[text.index("def of_several") :]
    assert "copy()" not in gradient
    assert "# L1\n" not in gradient
    v = np.array([0.2, -1.0, 0.4, 0.6])
    value, slope = jvp(of_several_objects, (x, target), (v, None))
    assert value == of_several_objects(x, target)
    np.testing.assert_allclose(slope, found @ v, rtol=1e-12)


def test_methods_that_the_attributes_of_their_objects_decide() -> None:
    np.testing.assert_allclose(
        grad(of_objects_that_differ)(X), numeric_gradient(of_objects_that_differ, (X,)), rtol=1e-7
    )
    WAVES[0].scale = 3.0
    np.testing.assert_allclose(
        grad(of_objects_that_differ)(X), numeric_gradient(of_objects_that_differ, (X,)), rtol=1e-7
    )
    WAVES[0].scale = 1.0
