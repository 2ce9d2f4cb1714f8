"""Calls with arguments behind one with a star of which the items are not known: ``f(*y, x)``."""

from __future__ import annotations

import math

import numpy as np
import pytest

from s2sad import grad
from tests.transform.remaining import check_every_way

X = np.array([0.8, 0.5])


def series(a, b, c=2.0, d=3.0):
    y = 0.0
    for i in range(3):
        y = y + np.sin(a * i) * b
        if y > 100.0:
            y = y * 2.0
    return y * c + d * a


def turned(x, in_degrees=True):
    for _ in range(2):
        x = np.radians(x) * 50.0 if in_degrees else x + 1.0
    if np.sum(x) > 1e9:
        raise ValueError("large")
    return np.cos(x[0]) * np.sin(x[1]), np.sin(x[0]) + x[1] ** 3


class Frame:
    def __init__(self, scale):
        self.scale = scale

    def area(self, a, b, c=2.0, d=3.0):
        return (a * b + c * d + a**2) * self.scale


def in_frame(p, q, r=0.0, frame=None, in_degrees=True):
    if frame is None:
        frame = Frame(2.0)
    y = 0.0
    for i in range(3):
        y = y + np.sin(p * i) * q * frame.scale
    if in_degrees:
        y = np.radians(y) * 20.0
    return y * r + q


def one_behind(x):
    t = turned(x)
    return series(*t, x[0])


def all_given(x):
    t = turned(x)
    return series(*t, x[0], x[1])


def one_by_name(x):
    t = turned(x)
    return series(*t, x[0], d=x[1])


def between(x):
    t = turned(x)
    return series(x[0], *t, x[1])


def of_a_method(x):
    t = turned(x)
    return Frame(x[1]).area(*t, x[0])


def of_rows(x):
    rows = [turned(x * i) for i in range(1, 4)]
    return sum(series(*row, x[0] * i) for i, row in enumerate(rows))


def of_a_part(x):
    t = turned(x)[: int(x[0] < 5.0)]
    return series(*t, x[0])


def beside_an_object(x):
    t = turned(x)
    return in_frame(*t, x[0])


PROGRAMS = [one_behind, all_given, one_by_name, between, of_a_method, of_rows, of_a_part, beside_an_object]


@pytest.mark.parametrize("f", PROGRAMS)
def test_arguments_behind_a_star(f):
    check_every_way(f, X)


def test_the_number_of_items_of_a_tuple_decides():
    """No derivative has to pass through what is done with a tuple of another length."""

    def f(x):
        t = turned(x)
        n = len(t)
        if n == 3 or len(t) > 2:
            return float(f"{t[0]:.3f}")
        return t[0] * t[1]

    check_every_way(f, X)


def of_a_ufunc(x):
    return np.hypot(*x) * np.arctan2(*(x * 2.0)) + np.maximum(x[0], *x[1:])


def of_rows_of_a_matrix(x):
    return np.sum(np.hypot(*np.outer(x, x)))


def of_math(x):
    return math.atan2(*x) * math.pow(*x)


@pytest.mark.parametrize("f", [of_a_ufunc, of_rows_of_a_matrix, of_math])
def test_functions_of_fixed_numbers_of_operands(f):
    check_every_way(f, X)


def test_too_many_operands_write_nothing():
    """The third operand of a function of two would be written."""
    three = np.ones((3, 2))
    with pytest.raises(ValueError, match="unpack"):
        grad(lambda m: np.sum(np.hypot(*m)))(three)
    assert np.all(three == 1.0)
