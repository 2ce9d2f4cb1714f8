"""Objects that exist go to functions, with numbers that they hold, and into objects that the program makes."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.8, 1.7])
TIRE = SimpleNamespace(stiffness=2.5, friction=1.1, steps=3)
CAR = SimpleNamespace(mass=1.5, tire=TIRE, steering=SimpleNamespace(low=-0.4, high=0.4))


class Common:
    def __eq__(self, other: object) -> bool:
        try:
            return self is other or self.is_same(other)
        except AttributeError:
            return False

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return not equal

    __hash__ = None  # type: ignore[assignment]

    def is_same(self, other: Any) -> bool:
        raise NotImplementedError


class Frame(Common):
    def __init__(self, a: float) -> None:
        self.a = a

    def is_same(self, other: Any) -> bool:
        return bool(np.allclose(self.a, other.a))

    def point(self, x: Any) -> Point:
        return Point(x, self)


class Point(Common):
    def __init__(self, x: Any, frame: Frame | None = None) -> None:
        self.x = np.asarray(x)
        self.frame = frame if frame is not None else Frame(1.0)

    def __sub__(self, other: Point) -> Point:
        if self.frame != other.frame:
            raise ValueError("frames")
        return Point(self.x - other.x, self.frame)

    def length(self) -> Any:
        return np.sqrt(np.sum(self.x**2)) * self.frame.a


class Counted:
    """Not equal to what is further on, and equal to nothing."""

    def __init__(self, n: Any) -> None:
        self.n = n

    def __ne__(self, other: object) -> bool:
        return self.n < other.n  # type: ignore[attr-defined, no-any-return]


class Above(Counted):
    def __ne__(self, other: object) -> bool:
        return False


EARTH, OTHER, SAME = Frame(2.0), Frame(3.0), Frame(2.0)


def limited(v: Any, p: Any) -> Any:
    if v <= p.low:
        v = p.low
    elif v >= p.high:
        v = p.high
    return v


def moved(x: Any, u: Any, p: Any) -> Any:
    mu = p.tire.friction
    c = -p.tire.stiffness / p.tire.friction
    w = []
    w.append(limited(u[0], p.steering))
    w.append(limited(x[0] - 1.0, p.steering))
    if abs(x[0]) < 0.1:
        f = [x[1], w[0]]
        f.append(mu * w[1])
    else:
        f = [mu * p.mass * math.cos(x[1]), w[0] * x[0], c * w[1] * x[1]]
    return f


def in_functions(x: Any) -> Any:
    return np.sum(np.array(moved(x, [0.1, 2.0], CAR)) ** 2)


def drifted(x: Any, p: Any) -> Any:
    for _ in range(p.steps):
        x = x + 0.1 * p.stiffness * np.sin(x)
    return x


def counted(x: Any) -> Any:
    return np.sum(drifted(x, CAR.tire))


def distance(x: Any) -> Any:
    return (EARTH.point(x) - EARTH.point(2.0)).length()


def distance_of_constants_first(x: Any) -> Any:
    return (EARTH.point(np.ones(2)) - EARTH.point(x * x)).length()


def distance_in_an_equal_frame(x: Any) -> Any:
    return (EARTH.point(x) - SAME.point(x * x)).length()


def distance_in_the_frame_of_no_object(x: Any) -> Any:
    return (Point(x) - Point(x * x)).length()


def distance_in_a_frame_that_is_made(x: Any) -> Any:
    frame = Frame(2.0)
    return (Point(x, EARTH) - Point(x * x, frame)).length()


def one_that_is_not_equal_to_itself(x: Any) -> Any:
    a, b = Counted(x[0]), Counted(x[1])
    return np.sum(x**2) if a != b else np.sum(x)


def the_subclass_is_asked_first(x: Any) -> Any:
    return np.sum(x**2) if Counted(x[0]) != Above(x[1]) else np.sum(x)


def is_of_one(x: Any) -> Any:
    point = EARTH.point(x)
    return np.sum(x**2) if point.frame is EARTH and point.frame is not OTHER else np.sum(x)


PROGRAMS = [
    in_functions, counted, distance, distance_of_constants_first, distance_in_an_equal_frame,
    distance_in_the_frame_of_no_object, distance_in_a_frame_that_is_made, one_that_is_not_equal_to_itself,
    the_subclass_is_asked_first, is_of_one,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    value, tangent = jvp(f, (X,), (np.array([0.3, -0.2]),))
    assert value == f(X)
    np.testing.assert_allclose(tangent, expected @ np.array([0.3, -0.2]), rtol=1e-6, atol=1e-8)


def test_numbers_are_of_known_type_where_an_object_goes_to_a_function() -> None:
    text = grad(in_functions).source_for(X)
    assert "float(" in text
    assert "plain(" not in text
    assert "unbroadcast(" not in text


def test_numbers_are_read_when_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    df = grad(in_functions)
    df(X)
    for value in (1.4, np.array(0.7), 2):
        monkeypatch.setattr(TIRE, "friction", value)
        np.testing.assert_allclose(df(X), numeric_gradient(in_functions, (X,)), rtol=1e-6)
    monkeypatch.setattr(TIRE, "steps", 5)
    np.testing.assert_allclose(grad(counted)(X), numeric_gradient(counted, (X,)), rtol=1e-6)


def test_frames_may_be_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    df, other = grad(distance), grad(is_of_one)
    df(X), other(X)
    monkeypatch.setattr("tests.transform.test_parameters_in_objects.EARTH", OTHER)
    np.testing.assert_allclose(df(X), numeric_gradient(distance, (X,)), rtol=1e-6)
    np.testing.assert_allclose(other(X), numeric_gradient(is_of_one, (X,)), rtol=1e-6)


def test_frames_that_differ_raise() -> None:
    def differing(x: Any) -> Any:
        return (EARTH.point(x) - OTHER.point(2.0)).length()

    with pytest.raises(ValueError, match="frames"):
        grad(differing)(X)


def test_an_object_that_goes_through_a_function_is_no_result() -> None:
    text = grad(distance).source_for(X)
    assert "return pvector, t" not in text
    assert "EARTH" not in text.split("def distance_grad_x")[0].replace("import EARTH", "")
