"""``try`` in programs that make functions and objects: what it leaves is what Python leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, value_and_grad
from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([1.3, 0.7])
W = np.array([1.3, -0.7])


class Vector:
    """Numbers that are checked, with what is computed of them."""

    def __init__(self, *args: Any) -> None:
        if len(args) == 1:
            try:
                first = float(args[0])
                self.q = np.array([first, 0.0])
                return
            except TypeError:
                pass
            self.q = self.checked(args[0], 2)
            return
        self.q = self.checked(args, 2)

    def checked(self, numbers: Any, n: int) -> Any:
        if len(numbers) == n:
            try:
                items = [float(e) for e in numbers]
            except ValueError:
                raise ValueError(f"no numbers: {numbers}") from None
            else:
                return np.asarray(items)
        raise ValueError("too few")

    def norm(self) -> Any:
        return np.sqrt(np.sum(self.q * self.q))

    def scaled(self, k: Any) -> Any:
        try:
            self.k = k * 2.0
            size = self.norm()
        except ZeroDivisionError as error:
            raise ValueError("x") from error
        return self.k * size


def of_two_numbers(x: Any) -> Any:
    return Vector(x[0], x[1] * x[0]).norm()


def of_one_number(x: Any) -> Any:
    return Vector(x[0] * x[1]).norm()


def of_a_list(x: Any) -> Any:
    return Vector([x[0], x[1] * 2.0]).norm()


def attribute_set_inside(x: Any) -> Any:
    return Vector(x[0], x[1]).scaled(x[0])


def function_made_inside(x: Any) -> Any:
    f = lambda t: t * x[0]  # noqa: E731
    try:
        y = f(x[1])
        g = lambda t: f(t) * y  # noqa: E731
    except ValueError:
        raise
    return g(x[0])


def function_called_inside(x: Any) -> Any:
    f = lambda t: math.log(t) * x[0]  # noqa: E731
    try:
        y = f(x[1])
    except ValueError:
        y = x[0] * 3.0
    return y


def assigned_before(x: Any) -> Any:
    f = lambda t: math.log(t) * x[0]  # noqa: E731
    y = x[0]
    try:
        y = f(x[1])
    except ValueError as error:
        print(type(error).__name__)
    return y * y


def read_by_a_function(x: Any) -> Any:
    y = x[0]
    double = lambda: 2.0 * y  # noqa: E731
    try:
        y = x[0] * x[0]
        z = double() + math.log(x[1])
    except ValueError:
        z = double()
    return z * double()


def returned_inside(x: Any) -> Any:
    def safe(f: Any, t: Any) -> Any:
        try:
            return f(t)
        except ValueError:
            return t * t

    return safe(math.log, x[1]) * safe(math.sqrt, x[0])


def with_finally(x: Any) -> Any:
    f = lambda t: t * x[0]  # noqa: E731
    try:
        y = f(x[1])
    finally:
        print("done")
    return y * x[0]


def read_where_it_was_assigned(x: Any) -> Any:
    scaled = [lambda v: v * x[0], np.sin]
    try:
        y = scaled[0](x)
        z = y * math.sqrt(x[1])
        fits = True
    except ValueError:
        fits = False
    if fits:
        return np.sum(scaled[1](y * z))
    return np.sum(scaled[1](y)) * 2.0


def generator_expression_after_a_change(x: Any) -> Any:
    v = Vector(x[0], x[1])
    y = x[0]
    try:
        v.q = v.q * 2.0
        if x[1] < 0.0:
            raise ValueError(sum(y * i for i in (x[0], y) if i > 0 and i < 2))
    except ValueError:
        y = x[1] * x[0]
    return y * v.norm()


def read_in_a_loop(x: Any) -> Any:
    v = Vector(x[0], x[1])
    try:
        root = math.sqrt(x[1]) * v.norm()
        n = 3
    except ValueError:
        n = 0
    for i in range(n):
        v.q = v.q * root + i
    return v.norm() * x[0]


def assigned_again_after_it(x: Any) -> Any:
    v = Vector(x[0], x[1])
    try:
        root = math.sqrt(x[1])
        fits = True
    except ValueError:
        fits = False
    if not fits:
        root = v.norm()
    return root * v.norm()


CASES = [
    case(f, x, name=f"{f.__name__}_{n}")
    for n, x in (("positive", V), ("negative", W))
    for f in (
        of_two_numbers,
        of_one_number,
        of_a_list,
        attribute_set_inside,
        function_made_inside,
        function_called_inside,
        assigned_before,
        read_by_a_function,
        returned_inside,
        with_finally,
        read_where_it_was_assigned,
        generator_expression_after_a_change,
        read_in_a_loop,
    )
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def read_whether_assigned_or_not(x: Any) -> Any:
    v = Vector(x[0], x[0])
    try:
        root = math.sqrt(x[1]) * v.norm()
    except ValueError:
        v.q = v.q * 2.0
    return root * v.norm()


def test_what_has_no_value_raises_where_it_is_read() -> None:
    check_gradient(case(read_whether_assigned_or_not, V))
    for f in (read_whether_assigned_or_not, value_and_grad(read_whether_assigned_or_not)):
        with pytest.raises(UnboundLocalError, match="root"):
            f(W)


@pytest.mark.parametrize("x", [V, W], ids=["positive", "negative"])
def test_what_is_assigned_again_on_some_ways(x: Any) -> None:
    """Right, or refused."""
    try:
        check_gradient(case(assigned_again_after_it, x))
    except S2SADError:
        assert True


class Counter:
    """Holds a value."""

    def __init__(self, v: Any) -> None:
        self.v = v


def changed_and_raised(x: Any) -> Any:
    c = Counter(x[0])
    try:
        c.v = c.v * 2.0
        y = math.log(x[1])
    except ValueError:
        y = c.v * 3.0
    return y * c.v


def changed_and_raised_around(x: Any) -> Any:
    c = Counter(x[0])
    try:
        try:
            c.v = c.v * 2.0
            y = math.log(x[1])
        except ValueError:
            raise KeyError("x") from None
    except KeyError:
        y = c.v * 3.0
    return y * c.v


@pytest.mark.parametrize("f", [changed_and_raised, changed_and_raised_around])
@pytest.mark.parametrize("x", [V, W], ids=["positive", "negative"])
def test_what_has_changed_when_it_raises(f: Any, x: Any) -> None:
    """Right, or refused."""
    try:
        check_gradient(case(f, x))
    except S2SADError:
        with pytest.raises(S2SADError):
            grad(f)(x)
