"""Attempts to set items that types decide: of numbers the handler runs, of arrays the body; beside differences."""

# ruff: noqa: B023

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient, richardson_jvp


def clipped(e: Any, n: Any) -> Any:
    try:
        e[abs(e) < 1e-3] = 0.0
        n[abs(n) < 1e-3] = 0.5
    except TypeError:
        if np.size(e) == 1 and abs(e) < 1e-3:
            e = 0.0
        if np.size(n) == 1 and abs(n) < 1e-3:
            n = 0.5
        e = e * 3.0
    return e * n + np.hypot(e, n)


def numbers(x: Any) -> Any:
    return clipped(x[0] * 2.0, x[1])


def small_numbers(x: Any) -> Any:
    return clipped(x[0] * 1e-9, x[1] * 1e-9) + x[0]


def arrays(x: Any) -> Any:
    return np.sum(clipped(x * 2.0, x[::-1] - 1.0))


def number_and_array(x: Any) -> Any:
    return np.sum(clipped(x[0], x * 3.0))


def array_and_number(x: Any) -> Any:
    u, k = x * (x > 1.2), x[0]
    v = u
    try:
        u[u > 2.0] = x[1]
        k[k > 2.0] = 0.0
    except TypeError:
        k = k * 3.0
        u[1:] = k * u[:-1]
    return np.sum(k * u * v)


def integrated(rate: Any, y0: Any, t: Any) -> Any:
    try:
        n = len(y0)
    except TypeError:
        out = np.zeros((len(t),), float)
    else:
        out = np.zeros((len(t), n), float)
    out[0] = y0
    for i in np.arange(len(t) - 1):
        y0 = out[i]
        out[i + 1] = y0 + (t[i + 1] - t[i]) * np.asarray(rate(y0, t[i]))
    return out


def swung(x: Any) -> Any:
    for _ in range(2):
        y = integrated(lambda y, t: (y[1], -x[2] * y[0]), x[:2], [0.0, 0.1, 0.3])[-1]
        y = y[:2]
        y[0] = y[0] * x[3]
        y[1] += y[0]
        x = np.concatenate([y, x[2:]])
    return np.sum(x * x)


def decayed(x: Any) -> Any:
    y = integrated(lambda y, t: -x[1] * y * t, x[0], [0.0, 0.4, 0.7])
    y[0] = y[-1] * x[2]
    return np.sum(y * y)


def in_a_list(x: Any) -> Any:
    y = integrated(lambda y, t: y, [x[0], x[1] * x[2]], (0.0, 0.5))
    y[1] *= x[:2]
    return np.sum(y)


def without_axes(x: Any) -> Any:
    a = np.asarray(x[0])
    try:
        n = len(a)
    except TypeError:
        n, a = 2, a * 3.0
    return a * n * x[1]


def measured_late(x: Any) -> Any:
    k = x[0] * 2.0
    try:
        s = x[1] / x[2]
        k = k + len(x)
        n = len(k)
    except (TypeError, ValueError):
        n = 5
        s = x[3]
    return s * n * k


def under_two_names(x: Any) -> Any:
    u = x * 2.0
    v, rows = u, u[1:]
    total = np.sum(clipped(u, x * np.array([1.0, 0.0, 1.0, 1.0])))
    return total + np.sum(v**2) + np.sum(rows**3)


def of_the_argument(x: Any) -> Any:
    v = x
    try:
        x[x > 2.0] = 7.0
        x[0] = v[1] * 2.0
        x[1:] = x[:1] * 3.0
    except TypeError:
        x = x * 5.0
    return np.sum(x * v)


def with_else(x: Any) -> Any:
    k, u = x[0], x * 1.0
    try:
        k[...] = 3.0
    except TypeError:
        k = k * 2.0
    else:
        k = k * 100.0
    try:
        u[0] = k
    except TypeError:
        k = k * 100.0
    else:
        k = k * 3.0
    return k * np.sum(u)


def of_several_handlers(x: Any) -> Any:
    k = x[0] * 2.0
    try:
        k[0] = 1.0
    except (IndexError, KeyError):
        k = k * 100.0
    except (ValueError, TypeError):
        k = k * 3.0
    except Exception:
        k = k * 1000.0
    return k * x[1]


def of_any_exception(x: Any) -> Any:
    total = 0.0
    for k in x:
        y = k * k
        try:
            y[y > 1.0] = 1.0
        except Exception:
            y = np.minimum(y, 3.0)
        try:
            y[np.isnan(y)] = 0.0
        except:  # noqa: E722
            y = y * 2.0
        total = total + y
    return total


def in_a_loop(x: Any) -> Any:
    u, k = np.zeros(3), x[0]
    for i in range(3):
        try:
            u[i] = k * x[1]
            k[i] = 2.0
        except TypeError:
            k = np.sin(k) + u[i]
    return k * np.sum(u**2)


def with_masks(x: Any) -> Any:
    u = x * 1.0
    try:
        u[(u > 1.2) & ~(u == 2.0) | np.isnan(u)] = x[0] * x[1]
        u[u > 3.0] = u[u > 3.0] - 1.0
    except TypeError:
        u = u * 100.0
    return np.sum(u**2)


def steep(k: Any) -> Any:
    i, v = abs(k) <= 2.5, np.tan(k) * 2.0
    try:
        v[i] = np.sign(k[i]) * np.inf - 1.0
    except TypeError:
        if i:
            v = np.sign(k) * v * 3.0
    return v


def indexed_numbers(x: Any) -> Any:
    """Numbers of NumPy's are indexed by truth values, Python's raise: the handler runs in both cases."""
    return steep(x[0]) * steep(float(x[1])) + steep(x[2] * 2.0).squeeze()[()]


def number_of_no_axes(x: Any) -> Any:
    k = np.sin(x[0])
    return k[()] * x[1] + np.asarray(x[2])[()] * k


class Station:
    def __init__(self, height: Any) -> None:
        self.height = height

    def above(self, level: float) -> Any:
        h = self.height * 2.0
        try:
            h[h < level] = level
        except TypeError:
            h = level if h < level else h
        return h


def of_objects(x: Any) -> Any:
    return Station(x[0]).above(1.0) ** 2 + np.sum(Station(x).above(3.5) ** 3)


PROGRAMS: list[Callable[..., Any]] = [
    numbers, small_numbers, arrays, number_and_array, array_and_number, under_two_names, of_the_argument, with_else,
    swung, decayed, in_a_list, without_axes, measured_late,
    of_several_handlers, of_any_exception, in_a_loop, with_masks, of_objects, indexed_numbers,
    number_of_no_axes,
]  # fmt: skip
X = np.array([1.5, 1.3, 2.1, 0.9])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_types_decide_has_the_derivatives_of_what_runs(f: Callable[..., Any]) -> None:
    x = X.copy()
    expected = numeric_gradient(lambda x: f(copy.deepcopy(x)), [X])
    value, gradient = value_and_grad(f)(x)
    assert value == f(X.copy())
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-9)
    direction = np.array([0.3, -1.0, 0.7, 0.2])
    forward = jvp(f, (x,), (direction,))
    assert forward[0] == value
    np.testing.assert_allclose(
        forward[1], richardson_jvp(lambda x: f(copy.deepcopy(x)), [X], [direction]), rtol=1e-7, atol=1e-9
    )
    np.testing.assert_array_equal(x, X)


def of_either(x: Any) -> Any:
    u = x if x[0] > 1.0 else x[0]
    try:
        u[0] = 2.0
    except TypeError:
        u = u * 2.0
    return np.sum(u)


def asked_for(x: Any) -> Any:
    k = x[0]
    try:
        k[0] = 1.0
    except TypeError as error:
        k = k * len(str(error))
    return k


def divided_before(x: Any) -> Any:
    k = x[0]
    try:
        k[1 / (len(x) - 4)] = 1.0
    except TypeError:
        k = k * 2.0
    except ZeroDivisionError:
        k = k * 3.0
    return k


def of_lists(x: Any) -> Any:
    k, items = x[0], [1.0, 2.0]
    try:
        items[x > 1.0] = 3.0
        k = k * 100.0
    except TypeError:
        k = k * 2.0
    return k * items[0]


def of_parts_of_numbers(x: Any) -> Any:
    k, u = x[0], x * 1.0
    i = k > 1.0
    try:
        u[0:1] = k[i] * 2.0
        u = u * 3.0
    except TypeError:
        u = u * 100.0
    return np.sum(u)


def of_a_part_that_stays(x: Any) -> Any:
    k, w = x[0], x[1]
    try:
        w = k[k > 1.0]
        k[0] = 2.0
    except TypeError:
        k = k * 3.0
    return np.sum(w * k)


@pytest.mark.parametrize(
    "f",
    [of_parts_of_numbers, of_a_part_that_stays, of_either, asked_for, divided_before, of_lists],
    ids=lambda f: f.__name__,
)
def test_what_types_do_not_decide_is_right_or_refused(f: Callable[..., Any]) -> None:
    for derivative in (lambda: grad(f)(X), lambda: [jvp(f, (X,), (unit,))[1] for unit in np.eye(4)]):
        try:
            found = derivative()
        except S2SADError:
            continue
        np.testing.assert_allclose(found, numeric_gradient(f, [X]), rtol=1e-7, atol=1e-9)


def test_a_number_is_not_written_and_an_array_has_no_handler() -> None:
    assert "try" not in grad(numbers).source_for(X)
    assert "abs" not in grad(of_the_argument).source_for(X)
    for f in (swung, decayed):
        assert not re.search(r"^ *try:", grad(f).source_for(X), re.MULTILINE)
    text = grad(clipped).source_for(2.0, 3.0)
    assert "[" not in text.split("def ")[1]
