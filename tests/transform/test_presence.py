"""Attributes and variables that exist on some ways only: programs do what Python does, or raise what it raises."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, hessian, jvp, value_and_grad
from tests.language.support import case, check_gradient, quietly
from tests.oracle import numeric_gradient


class Thing:
    kind = None
    table = np.array([1.0, 2.0])

    def __init__(self, v: Any) -> None:
        self.v = v

    def maybe(self, c: Any) -> None:
        if c > 0.5:
            self.extra = self.v * 2

    def cached(self) -> Any:
        if not hasattr(self, "cache"):
            print("computed")
            self.cache = self.v**2
        return self.cache

    def put(self, name: str, value: Any) -> None:
        self.__setattr__(name, value)


class Long:
    """Its methods are functions of their own in the new program."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def step(self, z: Any) -> Any:
        self.v = self.v + z * 0.1
        if self.v > 0.7:
            self.top = self.v * z
        else:
            self.low = self.v
        for _ in range(3):
            self.v = self.v * 1.01 + np.sin(self.v) * 0.1
        if self.v > 5:
            self.v = self.v * 0.5
        k = self.v * 2
        k = k + z
        k = k * z
        k = k - self.v
        return k * k

    def table(self) -> None:
        rows = np.zeros(3)
        for i in range(3):
            rows[i] = i + 1.0
            if i > 1:
                rows[i] += 2.0
            rows[0] += 0.5
        self.rows, self.low = rows, 1.0

    def report(self) -> Any:
        s = 0.0
        for i in range(4):
            s = s + self.v * i
        if hasattr(self, "top"):
            s = s + self.top
        if hasattr(self, "low"):
            s = s * self.low
        s = s * 2
        s = s + self.v
        s = s * self.v
        s = s * 1.5
        return np.sin(s) * 2


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "b", self.a * 2)


def set_by_a_method(x: Any) -> Any:
    a = Thing(x[0])
    a.maybe(x[1])
    return a.extra * x[1]


def read_with_default(x: Any) -> Any:
    a = Thing(x[0])
    a.maybe(x[1])
    return getattr(a, "extra", 3.0 * x[0]) * x[1]


def made_when_first_read(x: Any) -> Any:
    a = Thing(x[0])
    return a.cached() + a.cached() * x[1]


def asked_before_read(x: Any) -> Any:
    a = Thing(x[0])
    a.maybe(x[1])
    if hasattr(a, "extra"):
        return a.extra * x[0]
    return x[1] + 0.0


def asked_for_its_absence(x: Any) -> Any:
    a = Thing(x[0])
    if x[1] > 0.5:
        a.late = x[1] * 1.0
    is_missing = not hasattr(a, "late")
    if is_missing:
        a.late = x[0] * 3
    return a.late * x[0]


def asked_in_an_expression(x: Any) -> Any:
    a = Thing(x[0])
    a.maybe(x[1])
    return x[0] * (a.extra if hasattr(a, "extra") and a.extra > 1.7 else 2.0)


def raising_by_itself(x: Any) -> Any:
    a = Thing(x[0])
    a.maybe(x[1])
    if not hasattr(a, "extra"):
        raise ValueError("none")
    return a.extra * x[0]


def never_there(x: Any) -> Any:
    a = Thing(x[0])
    print("before")
    return a.nope * x[0]


def never_there_and_caught(x: Any) -> Any:
    a = Thing(x[0])
    try:
        r = a.nope
    except AttributeError as error:
        print(error)
        r = x[1]
    return r * x[0]


def sometimes_there_and_caught(x: Any) -> Any:
    a = Thing(x[0])
    a.maybe(x[1])
    try:
        return a.extra * x[0]
    except AttributeError:
        return x[1] * 1.0


def set_in_a_loop(x: Any) -> Any:
    a = Thing(x[0])
    for i in range(3):
        if i * x[1] > 0.5:
            a.last = x[0] * i
    return a.last * x[1]


def asked_in_a_loop(x: Any) -> Any:
    a = Thing(x[0])
    for i in range(4):
        if i == 2:
            a.mid = x[1] * i
        if hasattr(a, "mid"):
            a.v = a.v + a.mid
    return a.v * a.mid


def made_in_a_while(x: Any) -> Any:
    a, n = Thing(x[0]), 3
    while n > 0:
        if not hasattr(a, "c"):
            a.c = x[0]
        a.c = a.c * x[1]
        n -= 1
    return a.c


def set_where_tried(x: Any) -> Any:
    a = Thing(x[0])
    try:
        if x[1] > 0.5:
            a.extra = x[1] * 1.0
        z = x[0]
    except ValueError:
        raise
    return z * a.extra


def object_set_where_tried(x: Any) -> Any:
    a = Thing(x[0])
    try:
        if x[1] > 0.5:
            a.other = Thing(x[1])
        z = x[0]
    except ValueError:
        raise
    return a.other.v * z if hasattr(a, "other") else z * a.v


def set_in_an_object_where_tried(x: Any) -> Any:
    a = Thing(x[0])
    a.maybe(x[1])
    try:
        a.maybe(x[0] - 1)
        y = x[0]
    except ValueError:
        raise
    return a.extra * y


def object_on_some_ways(x: Any) -> Any:
    a = Thing(x[0])
    if x[1] > 0.5:
        a.other = Thing(x[1])
    return a.other.v * x[0]


def function_on_some_ways(x: Any) -> Any:
    if x[1] > 0.5:
        g = lambda t: t * x[1]  # noqa: E731
    return g(x[0])


def method_on_some_ways(x: Any) -> Any:
    a = Thing(x[0])
    if x[1] > 0.5:
        a.f = lambda t: t * x[0]
    return a.f(x[1])


def list_on_some_ways(x: Any) -> Any:
    a = Thing(x[0])
    if x[1] > 0.5:
        a.items = [x[0], x[1]]
    a.items.append(x[0])
    return a.items[1] * a.items[-1]


def list_on_one_of_three_ways(x: Any) -> Any:
    shift = lambda v: v + x[1]  # noqa: E731
    going = True
    if x[0] > 0.3:
        if x[0] > 0.5:
            items = [x[0] * 2, x[1], 3.0]
            going = False
    if not going:
        return len(items) * items[0] + np.sum(np.array(items))
    return shift(x[0])


def list_that_changes_on_some_ways(x: Any) -> Any:
    shift = lambda v: v + x[1]  # noqa: E731
    if x[0] > 0.5:
        items = [x[0] * 2, x[1], 3.0]
    if shift(x[0]) > 0.9:
        if x[0] > 0.5:
            items.append(x[0] ** 2)
            np.array(items)
    return sum(items) if x[0] > 0.5 else shift(x[0])


def array_on_some_ways(x: Any) -> Any:
    a = Thing(x[0])
    if x[1] > 0.5:
        a.rows = np.zeros(3) + x[1]
    a.rows[1] = x[0]
    return np.sum(a.rows**2)


def none_of_the_class(x: Any) -> Any:
    a = Thing(x[0])
    if x[1] > 0.5:
        a.kind = x[1] * 1.0
    return a.kind * x[0]


def array_of_the_class(x: Any) -> Any:
    a = Thing(x[0])
    return a.table[1] * a.v * (2.0 if hasattr(a, "table") else x[1])


def by_name(x: Any) -> Any:
    a = Thing(x[0])
    a.put("w", x[1] * 2)
    a.put("kind", "q")
    return a.w * x[0] * len(a.kind) + object.__getattribute__(a, "w")


def of_a_frozen_one(x: Any) -> Any:
    return Frozen(x[0]).b * x[1]


def long_methods(x: Any) -> Any:
    b = Long(x[0])
    r = b.step(x[1])
    r = r + b.step(x[0])
    return r + b.report()


def set_by_a_long_method(x: Any) -> Any:
    b = Long(x[0])
    r = b.step(x[1])
    return r * b.top


def set_by_a_long_method_and_on_the_other_way(x: Any) -> Any:
    b = Long(x[0])
    if x[1] > 0.5:
        b.rows = np.array([1.0, 2.0, 4.0])
    else:
        b.table()
    return np.sum(b.rows * x[0]) * x[1]


def asked_for_where_both_ways_have_set_it(x: Any) -> Any:
    b = Long(x[0])
    if x[1] > 0.5:
        b.low = 3.0
    else:
        b.table()
    return b.low * x[1] if hasattr(b, "low") else x[0]


FUNCTIONS: list[Callable[..., Any]] = [
    set_by_a_method, read_with_default, made_when_first_read, asked_before_read, asked_for_its_absence,
    asked_in_an_expression, raising_by_itself, never_there, never_there_and_caught, sometimes_there_and_caught,
    set_in_a_loop, asked_in_a_loop, made_in_a_while, set_where_tried, object_set_where_tried,
    set_in_an_object_where_tried, object_on_some_ways, function_on_some_ways, method_on_some_ways,
    list_on_some_ways, list_on_one_of_three_ways, array_on_some_ways, none_of_the_class, array_of_the_class,
    by_name, of_a_frozen_one, long_methods, set_by_a_long_method,
    set_by_a_long_method_and_on_the_other_way, asked_for_where_both_ways_have_set_it,
]  # fmt: skip
POINTS = [np.array([0.8, 0.9]), np.array([0.3, 0.2]), np.array([0.8, 0.1]), np.array([0.2, 0.7])]
#: Those that forward mode refuses, since what is tried branches.
REVERSE_ONLY = (sometimes_there_and_caught,)


def outcome(f: Callable[..., Any], *args: Any) -> tuple[str, str, str]:
    """The exception that a call raises, with its text and what was printed before."""
    printed: list[str] = []

    def run() -> Any:
        try:
            f(*args)
        except S2SADError:
            raise
        except Exception as error:
            return type(error).__name__, str(error)
        return "", ""

    raised, text = quietly(run)
    printed.append(text)
    return (*raised, *printed)


@pytest.mark.parametrize("x", POINTS, ids=str)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_as_python_does(f: Callable[..., Any], x: Any) -> None:
    expected = outcome(f, x.copy())
    if expected[0]:
        assert outcome(grad(f), x.copy()) == outcome(value_and_grad(f), x.copy()) == expected
        if f not in REVERSE_ONLY:
            assert outcome(lambda t: jvp(f, (t,), (t,)), x.copy()) == expected
        return
    check_gradient(case(f, x))
    if f not in REVERSE_ONLY:
        dx = np.array([0.3, -0.7])
        (value, tangent), _ = quietly(jvp, f, (x,), (dx,))
        assert value == quietly(f, x)[0]
        assert np.isclose(tangent, quietly(grad(f), x)[0] @ dx, rtol=1e-12, atol=1e-12)


def test_a_list_that_has_to_be_there_before_a_branch_and_may_not_be_is_refused() -> None:
    with pytest.raises(S2SADError, match="this has a value on some ways only"):
        grad(list_that_changes_on_some_ways)(POINTS[0])


@pytest.mark.parametrize("f", [set_by_a_method, read_with_default, set_in_a_loop, long_methods])
def test_second_derivatives(f: Callable[..., Any]) -> None:
    x = POINTS[0]
    rows = [numeric_gradient(lambda t, i=i: grad(f)(t)[i], (x,), 0) for i in range(2)]  # type: ignore[misc]
    np.testing.assert_allclose(hessian(f)(x), rows, rtol=1e-6, atol=1e-7)


def test_a_check_stands_once_and_not_where_it_is_known() -> None:
    assert grad(made_when_first_read).source_for(POINTS[0]).count("AttributeError") == 0
    assert grad(made_in_a_while).source_for(POINTS[0]).count("AttributeError") == 1
    assert grad(asked_before_read).source_for(POINTS[0]).count("AttributeError") == 0
    assert grad(raising_by_itself).source_for(POINTS[0]).count("AttributeError") == 0
    assert grad(set_by_a_method).source_for(POINTS[0]).count("AttributeError") == 1


def state_at_an_exception(x: Any) -> Any:
    a = Thing(x[0])
    try:
        a.extra = x[1]
        if x[1] > 0.5:
            raise ValueError("q")
    except ValueError:
        raise RuntimeError(str(hasattr(a, "extra"))) from None
    return x[1]


def test_nobody_knows_how_far_it_has_come_where_it_raises() -> None:
    """What the handler asks is not decided by what holds before or after what is tried."""
    x = POINTS[0]
    with contextlib.suppress(S2SADError):
        assert outcome(grad(state_at_an_exception), x) == outcome(state_at_an_exception, x)


def item_of_a_loop_without_turns(x: Any) -> Any:
    Thing(x)
    for _, item in enumerate([x][:0]):
        x = item * 2.0
    return np.sum(item)


def test_a_loop_that_is_written_out_in_no_turns_leaves_no_value() -> None:
    for derivative in (grad, value_and_grad):
        with pytest.raises(UnboundLocalError):
            derivative(item_of_a_loop_without_turns)(POINTS[0])
