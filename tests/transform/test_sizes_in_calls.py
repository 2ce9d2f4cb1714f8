"""Calls of functions where items stay known: what they make has as many items as what they are given says."""
# ruff: noqa: B905, RUF007

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient

P = np.array([[0.0, 0.1], [1.0, 2.0], [3.0, 1.0], [4.0, 0.5]])


def times_of(points: Any, times: Any, power: Any) -> Any:
    if times is None:
        if power is None:
            return range(len(points))
        times = [0]
        for a, b in zip(points, points[1:]):
            step = np.linalg.norm(b - a) ** power
            if step == 0:
                raise ValueError("two points are one")
            times.append(times[-1] + step)
    elif len(points) != len(times):
        raise ValueError("as many times as points are needed")
    return times


def checked(points: Any, closed: bool) -> Any:
    if closed:
        points = np.concatenate([points, points[:1]])
    return points


def triples(*rows: Any) -> Any:
    made = [zip(row, row[1:], row[2:]) for row in rows]
    return ("natural", *made)


def slope(points: Any, times: Any) -> Any:
    a, b, c = np.asarray(points)
    s, t, u = times
    return ((b - a) / (t - s) * (u - t) + (c - b) / (u - t) * (t - s)) / (u - s)


class Pieces:
    def __init__(self, rows: Any, times: Any = None) -> None:
        self.rows = [np.array(row, copy=True) for row in rows]
        if times is None:
            times = range(len(rows) + 1)
        self.times = list(times)

    def at(self, t: Any) -> Any:
        if not np.isscalar(t):
            return np.array([self.at(one) for one in t])
        number = 0 if t < self.times[1] else 1
        a, b = self.times[number : number + 2]
        return (t - a) / (b - a) * self.rows[number] + a


class Curve(Pieces):
    def __init__(self, points: Any, power: Any = None, closed: bool = False) -> None:
        points = checked(points, closed=closed)
        times = times_of(points, None, power)
        _, of_points, of_times = triples(points, times)
        slopes = [slope(p, t) for p, t in zip(of_points, of_times)]
        slopes = [s for one in slopes for s in (one, one)]
        slopes.insert(0, points[1] - points[0])
        slopes.append(points[-1] - points[-2])
        slopes = np.asarray(slopes)
        rows = [
            p * (t1 - t0) + v0 * q - v1
            for (p, q), (v0, v1), (t0, t1) in zip(
                zip(points, points[1:]),
                zip(slopes[::2], slopes[1::2]),
                zip(times, times[1:]),
            )
        ]
        super().__init__(rows, times)


def uniform(p: Any) -> Any:
    return np.sum(Curve(p).at([0.3, 1.2]) ** 2)


def one_place(p: Any) -> Any:
    return np.sum(Curve(p).at(0.4) ** 2)


def parts_of_ranges(p: Any) -> Any:
    places = times_of(p, None, None)
    first, *_ = places
    out = [a * (b - first) + places[-1] for a, b in zip(p, places[1:])]
    out.append(p[0] * len(places[::2]))
    a, b = places[1:3]
    return np.sum(np.array(out) ** 2) * (b - a) + (0 if places is None else p[1, 0])


@pytest.mark.parametrize("function", [uniform, one_place, parts_of_ranges])
def test_what_functions_make_of_the_sizes_that_they_are_given(function):
    wanted = numeric_gradient(function, (P,))
    value, found = value_and_grad(function)(P.copy())
    assert value == function(P)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)
    direction = np.cos(np.arange(8.0)).reshape(P.shape)
    np.testing.assert_allclose(jvp(function, (P,), (direction,))[1], np.sum(wanted * direction), rtol=1e-6)


def beside_what_may_be_a_range(p: Any) -> Any:
    return np.sum(np.array([a * b for a, b in zip(p, times_of(p, None, None)[1:])]) ** 2)


def test_the_numbers_of_a_range_that_a_loop_runs_through_have_adjoints():
    """Where it is not known that they are constants."""
    found = value_and_grad(beside_what_may_be_a_range)(P.copy())[1]
    np.testing.assert_allclose(found, numeric_gradient(beside_what_may_be_a_range, (P,)), rtol=1e-6, atol=1e-8)


def branches_that_both_go_on(points: Any, scale: Any) -> Any:
    if scale > 1:
        if len(points) > 3:
            return points * scale
        points = points[1:]
    else:
        points = points * 2
    return points + scale


def not_known_which(p: Any) -> Any:
    made = [row + p[1] for row in branches_that_both_go_on(p, p[1, 1])]
    made.insert(0, p[0])
    return np.sum(np.array(made) ** 2)


@pytest.mark.parametrize("start", [P, P / 3])
def test_a_branch_that_is_known_only_at_run_time(start):
    value, found = value_and_grad(not_known_which)(start.copy())
    assert value == not_known_which(start)
    np.testing.assert_allclose(found, numeric_gradient(not_known_which, (start,)), rtol=1e-6, atol=1e-8)


def squared(x: Any) -> Any:
    if np.isscalar(x):
        return x * x
    return sum(squared(one) for one in x)


def numbers_end_the_recursion(p: Any) -> Any:
    return p[0, 1] * squared([0.5, 2.0]) * squared(float(p[1, 1])) + squared(p[2, 0] * 1.0)


def test_what_is_surely_a_number_is_a_scalar():
    np.testing.assert_allclose(
        value_and_grad(numbers_end_the_recursion)(P.copy())[1],
        numeric_gradient(numbers_end_the_recursion, (P,)),
        rtol=1e-6,
        atol=1e-8,
    )


class Rates:
    def __init__(
        self, a: Any = 1.0, b: Any = 2.0, c: Any = 0.5, d: Any = 0.1, *, more: Any = 1.0, e: Any = 3.0
    ) -> None:
        self.a, self.b, self.c, self.d, self.more, self.e = a, b, c, d, more, e

    def __call__(self, y: Any) -> Any:
        return self.a * y + self.b * self.c - self.d * self.more * self.e


def many(
    a: Any, b: Any = 1.0, c: Any = 2.0, d: Any = 3.0, e: Any = 4.0, f: Any = 5.0, g: Any = 6.0, h: Any = 7.0
) -> Any:
    return a * b + c * d + e * f * g * h


def with_many_defaults(x: Any) -> Any:
    return many(*x) * many(x[0], *x)


def with_two_stars(x: Any) -> Any:
    return many(*x, *x[:2]) + Rates(*x, x[0])(x[1])


def with_one_behind(x: Any) -> Any:
    return many(*(x * x), 3.0) * Rates(*x)(x[2])


@pytest.mark.parametrize("f", [with_many_defaults, with_two_stars, with_one_behind])
def test_stars_of_arrays_are_as_many_arguments_as_these_have_items(f: Any) -> None:
    for x in (np.array([0.3, 1.2, -0.7]), [0.3, 1.2, -0.7]):
        if f is with_one_behind and isinstance(x, list):
            continue
        expected = numeric_gradient(f, [x])
        value, gradient = value_and_grad(f)(x)
        assert value == f(x)
        np.testing.assert_allclose(gradient, expected, rtol=1e-7)
        np.testing.assert_allclose(jvp(f, (x,), (x,))[1], np.dot(expected, x), rtol=1e-7)
