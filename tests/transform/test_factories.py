"""Functions that return objects which they make, tuples with named fields, and functions with ``*args``."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.transform.remaining import check_gradient, check_same

Point = collections.namedtuple("Point", "a b")


class Line(NamedTuple):
    slope: Any
    offset: Any = 2.0

    def at(self, t: Any) -> Any:
        return self.slope * t + self.offset

    @property
    def root(self) -> Any:
        return -self.offset / self.slope


class Loud(Point):
    def __len__(self) -> int:
        return 7

    def __getitem__(self, at: Any) -> Any:
        return 3.0


class Box:
    def __init__(self, v: Any) -> None:
        self.v = v

    def tripled(self) -> Any:
        return self.v * 3.0


# --- functions that return what they make


def boxed(x: Any, k: int) -> Box:
    if k > 1:
        return Box(x * k)
    return Box(x)


def deeper(x: Any) -> tuple[Box, Any]:
    return boxed(x, 3), x * x


def object_of_a_function(x: Any) -> Any:
    box = boxed(x[0], 2)
    box.v = box.v * x[1]
    return box.tripled() + boxed(x[2], 1).v


def object_of_a_function_further_down(x: Any) -> Any:
    box, square = deeper(x[0])
    return box.tripled() * square * x[1]


def number_of_a_function_with_objects(x: Any) -> Any:
    def inside(v: Any) -> Any:
        return boxed(v, 2).tripled()

    return inside(x[0]) * x[1]


# --- tuples with named fields


def point(x: Any) -> Point:
    return Point(x[0], b=x[1] * 2.0)


def fields_by_name(x: Any) -> Any:
    p = point(x)
    return p.a * p.b * x[2]


def fields_by_position(x: Any) -> Any:
    u, v = p = point(x)
    return u * v + p[0] * p[-1] + sum(p) + len(p)


def replaced_field(x: Any) -> Any:
    p = point(x)
    q = p._replace(b=p.a * x[2])
    return q.a * q.b + p.b


def methods_of_fields(x: Any) -> Any:
    return Line(x[0]).at(x[1]) * Line(x[0], x[2]).root


def classes_of_fields(x: Any) -> Any:
    p = point(x)
    if isinstance(p, Line) or not isinstance(p, Point) or not isinstance(p, tuple):
        return x[0]
    return p.a * x[1]


def fields_in_a_loop(x: Any) -> Any:
    p = Point(x[0], 0.0)
    for k in range(3):
        p = Point(p.a * x[1], p.b + p.a * k)
    return p.a + p.b


def fields_of_branches(x: Any) -> Any:
    p = Point(x[0], x[1]) if x[2] > 0.0 else Point(x[1], x[2] * x[0])
    return p.a * p.a + p.b


def other_class_of_fields(x: Any) -> Any:
    p: Any = Point(x[0], x[1]) if x[2] > 0.0 else Line(x[1], x[0])
    return x[0] * p[0]


def odd_class_of_fields(x: Any) -> Any:
    p = Loud(x[0], x[1])
    return p[0] * x[0] + len(p)


def compared_fields(x: Any) -> Any:
    p = point(x)
    return x[0] * (p == (p.a, p.b)) + (p + (x[1],))[2]  # noqa: RUF005


def wrong_fields(x: Any) -> Any:
    return Point(x[0]).a  # type: ignore[call-arg]


def no_such_field(x: Any) -> Any:
    return point(x).c  # type: ignore[attr-defined]


# --- functions with * parameters


def doubling(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(a: Any, b: Any = 1.5, **rest: Any) -> Any:
        return function(np.asanyarray(a, dtype=float) * 2.0, b, **rest)

    return wrapper


@doubling
@doubling
def wrapped(a: Any, b: Any, c: Any = 1.0) -> Any:
    return np.sum(a * a) * b * c


def total(*values: Any, scale: Any = 1.0, **more: Any) -> Any:
    return scale * sum(values) + more.get("offset", 0.0)


def decorated_function(x: Any) -> Any:
    return wrapped(x, x[0], c=x[1]) + wrapped(x)


def many_arguments(x: Any) -> Any:
    return total(x[0], x[1] * x[2], scale=x[1])


def many_constants(x: Any) -> Any:
    return total(1.0, 2.0) * x[0]


def too_few_arguments(x: Any) -> Any:
    return wrapped() * x[0]


TAKEN = (
    object_of_a_function, object_of_a_function_further_down, number_of_a_function_with_objects, fields_by_name,
    fields_by_position, replaced_field, methods_of_fields, classes_of_fields, fields_in_a_loop, fields_of_branches,
    compared_fields, decorated_function,
)  # fmt: skip
OTHERS = (
    other_class_of_fields, odd_class_of_fields, wrong_fields, no_such_field, many_arguments, many_constants,
    too_few_arguments,
)  # fmt: skip


@pytest.mark.parametrize("f", [*TAKEN, *OTHERS], ids=lambda f: f.__name__)
def test_what_remains_does_the_same(f: Callable[..., Any]) -> None:
    check_same(f, f in TAKEN)


@pytest.mark.parametrize("f", [*TAKEN, *OTHERS], ids=lambda f: f.__name__)
def test_gradients(f: Callable[..., Any]) -> None:
    check_gradient(f, f in TAKEN)
