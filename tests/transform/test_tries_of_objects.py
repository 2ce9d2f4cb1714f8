"""``try`` statements that set attributes of objects which the program makes: they stay as an exception finds them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp, value_and_grad
from s2sad.errors import S2SADError, UnsupportedError
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([1.5, 3.0, 0.5])


class Filter:
    def __init__(self, start: Any) -> None:
        self.x = start
        self.z: Any = 0.0
        self.count = 0

    def update(self, z: Any) -> None:
        self.x = self.x + 0.5 * (z - self.x)
        try:
            self.z = np.copy(z)
        except Exception:
            self.z = z * 1.0

    def limited(self, z: float, limit: float) -> None:
        try:
            self.x = self.x * z
            if self.x > limit:
                raise ValueError("too large")
            self.z = self.z + self.x
        except ValueError:
            self.x = self.x * 0.5
            self.z = self.z - self.x * z
        else:
            self.count += 1
        finally:
            self.z = self.z * 1.5


def in_both_arms(x: Any) -> Any:
    found = Filter(x[0] * 1.0)
    for z in x:
        found.update(z)
    return found.x * found.z + found.z


def raised_half_way(x: Any) -> Any:
    found = Filter(x[0] * 1.0)
    found.limited(x[1], 4.0)
    found.limited(x[2], 4.0)
    found.limited(x[0], 100.0)
    return found.x * found.z * found.count


def in_a_loop(x: Any) -> Any:
    found = Filter(x[0] * 1.0)
    for i in range(4):
        found.limited(x[i % 3], 3.0)
    return found.x + found.z


def without_a_method(x: Any) -> Any:
    found = Filter(x[0])
    try:
        found.x = x[1] * found.x
        found.z = {"a": found.x}["b"]
        found.x = 0.0
    except KeyError:
        found.z = found.x * x[2]
    return found.x * found.z


def nested(x: Any) -> Any:
    found = Filter(x[0])
    try:
        try:
            found.x = found.x * x[1]
            found.z = x[5]
        except IndexError:
            found.z = found.x * 2.0
            raise ValueError("outer") from None
    except ValueError:
        found.x = found.x + found.z * x[2]
    return found.x * found.z


def with_a_variable_that_is_set_on_some_ways(x: Any) -> Any:
    found = Filter(x[0])
    try:
        found.x = x[1] * {0: x[0]}[0]
        if x[0] > 5.0:
            z = x[0] * 2.0
    except KeyError:
        raise ValueError from None
    if x[0] > 5.0:
        return z * found.x
    return found.x * x[2]


@pytest.mark.parametrize(
    "f", [in_both_arms, raised_half_way, in_a_loop, without_a_method, with_a_variable_that_is_set_on_some_ways]
)
def test_gradients(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("f", [in_both_arms, without_a_method])
def test_tangents(f: Callable[..., Any]) -> None:
    expected, way = numeric_gradient(f, (X,)), np.array([0.5, 2.5, -1.0])
    np.testing.assert_allclose(jvp(f, (X,), (way,))[1], expected @ way, rtol=1e-7)
    second = richardson_jvp(grad(f), [X], [way])
    np.testing.assert_allclose(hvp(f, (X,), (way,)), second, rtol=1e-5, atol=1e-7)


class Holder:
    def __init__(self, inner: Any) -> None:
        self.inner = inner


def another_object(x: Any) -> Any:
    found = Holder(Filter(x[0]))
    try:
        found.inner = Filter(x[1])
        found.inner.z = x[5]
    except IndexError:
        found.inner.x = found.inner.x * x[2]
    return found.inner.x


def set_on_some_ways(x: Any) -> Any:
    found = Filter(x[0])
    try:
        found.extra = x[1]  # type: ignore[attr-defined]
        found.x = x[5]
    except IndexError:
        found.x = x[2]
    return found.x * found.extra  # type: ignore[attr-defined]


def copied_meanwhile(x: Any) -> Any:
    found = Filter(x[0] * 1.0)
    kept = 0.0
    try:
        found.x = found.x * x[1]
        before = copy.copy(found)
        found.x = found.x * x[2]
        kept = before.x
        found.z = x[5]
    except IndexError:
        found.z = found.x * kept
    return found.z + kept


@pytest.mark.parametrize("f", [another_object, set_on_some_ways, nested, copied_meanwhile])
def test_right_or_refused(f: Callable[..., Any]) -> None:
    try:
        found = grad(f)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, (X,)), rtol=1e-7, atol=1e-9)


def left_by_continue(x: Any) -> Any:
    found, b = Filter(x), np.sin(x)
    for i in range(3):
        try:
            b = x * (1.0 + i)
            continue
        except ValueError:
            found.x = b
    return np.sum(b**2)


def left_by_break_in_a_handler(x: Any) -> Any:
    found, b = Filter(x), x
    for i in range(3):
        for z in [x, x * 2.0]:
            try:
                b = b * z
                if i == 1:
                    raise ValueError
                b = np.sin(b)
            except ValueError:
                b = b * 0.3
                break
            b = b + found.x
    return np.sum(b**2)


def left_with_an_attribute(x: Any) -> Any:
    found = Filter(x)
    for _ in range(3):
        try:
            found.x = found.x * x
            continue
        except ValueError:
            found.x = x
    return np.sum(found.x**2)


def left_by_break_at_once(x: Any) -> Any:
    found, b = Filter(x), np.cos(x)
    i = 0
    while i < 3:
        i += 1
        try:
            b = x * i
            break
        except ValueError:
            found.x = b
    return np.mean(found.x * b)


@pytest.mark.parametrize(
    "f", [left_by_continue, left_by_break_in_a_handler, left_with_an_attribute, left_by_break_at_once]
)
def test_jumps_out_of_what_is_tried_take_along_what_it_has_assigned(f: Callable[..., Any]) -> None:
    value, found = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(found, numeric_gradient(f, (X,)), rtol=1e-7)


def changed_by_finally(x: Any) -> Any:
    found, b, c = Filter(x), np.sin(x), x
    for _ in range(3):
        try:
            b = b * x
            continue
        finally:
            c = c * b
    return np.sum(b * c * found.x)


def changed_by_finally_after_break(x: Any) -> Any:
    found, c = Filter(x), x
    for i in range(3):
        try:
            if i == 1:
                break
        finally:
            c = c * x
            found.x = found.x + c
    return np.sum(c * found.x)


@pytest.mark.parametrize("f", [changed_by_finally, changed_by_finally_after_break])
def test_what_finally_changes_after_a_jump_is_no_old_value(f: Callable[..., Any]) -> None:
    try:
        value, found = value_and_grad(f)(X)
    except UnsupportedError:
        return
    assert value == f(X)
    np.testing.assert_allclose(found, numeric_gradient(f, (X,)), rtol=1e-7)


class Cell:
    """A cell that is discharged step by step, and raises where it is empty."""

    def __init__(self, drop: Any, charge: Any) -> None:
        self.drop, self.charge = drop, charge
        self.last: Any = None
        self.steps = 0
        self.seen: list[Any] = []

    def step(self, i: float) -> Any:
        self.charge -= i * self.drop
        if self.charge < 0.0:
            self.charge = 0.1 * self.drop
            raise RuntimeError("empty")
        self.steps += 1
        v = self.charge * 2.0 + i
        if self.last is not None:
            v = 0.9 * v + 0.1 * self.last
        self.last = v
        return v

    def noted(self, i: float) -> Any:
        v = self.step(i)
        self.seen.append({"v": v, "i": i})
        return v


CURRENTS = (0.2, 0.3, 0.4, 0.7, 0.1)


def until_it_is_empty(x: Any) -> Any:
    cell, total = Cell(x[0], x[1] / 2), 0.0
    for i in CURRENTS:
        try:
            v = cell.noted(i)
        except RuntimeError:
            break
        total += v * i
    return total + cell.charge + cell.steps * sum(h["v"] * h["i"] for h in cell.seen)


def filled_again(x: Any) -> Any:
    cell, total, v = Cell(x[0], x[1] / 2), 0.0, 1.0
    for i in CURRENTS:
        try:
            v = cell.step(i)
        except RuntimeError:
            cell.charge = x[2]
            total += v
            continue
        total += v * i
    return total * cell.steps + cell.charge + v


def counted_finally(x: Any) -> Any:
    cell, total = Cell(x[0], x[1] / 2), 0.0
    for i in CURRENTS:
        try:
            total += cell.step(i)
        except RuntimeError:
            continue
        finally:
            cell.steps += 1
    return total * cell.steps


def the_last_value(x: Any) -> Any:
    cell = Cell(x[0], x[1] / 2)
    for i in CURRENTS:
        try:
            v = cell.step(i)
        except RuntimeError:
            break
    return v * x[2] + cell.charge


def value_of_a_round_before(x: Any) -> Any:
    cell = Cell(x[0], x[1] / 2)
    for i in CURRENTS:
        try:
            v = i * x[2]
            w = cell.step(i)
        except RuntimeError:
            break
    return v * x[2] + cell.charge * w


def left_by_else(x: Any) -> Any:
    cell = Cell(x[0], x[1] / 2)
    for i in CURRENTS:
        try:
            v = cell.step(i)
        except RuntimeError:
            v = x[2]
        else:
            if i > 0.3:
                break
    return v * x[2] + cell.charge


def of_a_function_around(x: Any) -> Any:
    energy, count = 0.0, 0

    def add(v: Any) -> None:
        nonlocal energy, count
        energy += v * x[2]
        count += 1
        if count > 3:
            energy = energy * v
            raise ValueError("many")

    for i in CURRENTS:
        try:
            add(x[0] * i)
        except ValueError:
            energy = energy * x[1]
    return energy * count


def in_lists(x: Any) -> Any:
    good, bad = [], []
    for k in range(4):
        try:
            if x[0] * k > 2.0:
                raise ValueError(k)
            good.append(np.sin(x * k))
        except ValueError:
            bad.append(x[1] * k)
    return sum(np.sum(o) for o in good) * sum(bad)


def in_branches(x: Any) -> Any:
    y, total = x[0], 0.0
    for k in range(5):
        z = 1.0
        try:
            y = y * x[1] * 0.6
            if y > 7.0:
                y = y * 0.3
                raise RuntimeError("a")
            if y > 4.0:
                z = z * y
                y = np.sin(y) + 1.0
            elif k == 1:
                y = y * x[2] * 3
                raise KeyError("b")
            z = z * x[2] + 0 * (1.0, 2.0)[int(z)]
        except KeyError as e:
            z = len(str(e)) * y
        except IndexError:
            z = z * y
        except Exception:
            z = z + y * x[0]
        else:
            z = z * 3
        total += z * (k + y)
    return total


@pytest.mark.parametrize(
    "f", [until_it_is_empty, filled_again, the_last_value, of_a_function_around, in_lists, in_branches]
)
def test_what_is_left_where_it_raises(f: Callable[..., Any]) -> None:
    expected, way = numeric_gradient(f, (X,)), np.array([0.5, 2.5, -1.0])
    assert np.any(expected)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (way,))[1], expected @ way, rtol=1e-7)


@pytest.mark.parametrize("f", [value_of_a_round_before, left_by_else, counted_finally])
def test_a_value_of_a_round_before_is_right_or_refused(f: Callable[..., Any]) -> None:
    test_right_or_refused(f)
