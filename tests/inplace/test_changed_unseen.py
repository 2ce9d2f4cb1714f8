"""Arrays that methods, functions and iterators change unseen: the adjoint has them as they were read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.language.support import Case, case, check_gradient, check_primal

X = np.array([0.71, 1.32, 0.57])


class State:
    """Coefficients that change from step to step."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.a = np.array([1.0, 2.0, 3.0])
        self.parts = [np.array([0.5, 1.5, 2.5])]

    def step(self) -> None:
        self.a *= 1.5

    def stepped(self) -> Any:
        self.a *= 1.5
        return self.a

    def step_parts(self) -> None:
        self.parts[0] += 1.0

    def coefficients(self) -> Any:
        return self.a


class Counter:
    """Counts; it has no arrays."""

    def __init__(self) -> None:
        self.count = 0

    def add(self) -> None:
        self.count += 1


STATE = State()
SAME = STATE
COUNTER = Counter()
G = np.array([0.4, 0.6, 0.9])


def step_of_the_state() -> None:
    STATE.a *= 1.5


def weighted(v: Any) -> Any:
    return v * STATE.a


def weighted_and_stepped(v: Any) -> Any:
    w = weighted(v)
    STATE.step()
    return w * w


def by_a_method(x: Any) -> Any:
    STATE.begin()
    y = x * STATE.a
    STATE.step()
    return np.sum(y * y)


def by_a_method_of_another_name(x: Any) -> Any:
    STATE.begin()
    y = x * SAME.a
    STATE.step()
    return np.sum(y * y)


def by_the_class(x: Any) -> Any:
    STATE.begin()
    y = x * STATE.a
    State.step(STATE)
    return np.sum(y * y)


def by_a_function(x: Any) -> Any:
    STATE.begin()
    y = x * STATE.a
    step_of_the_state()
    return np.sum(y * y)


def by_a_method_that_is_looked_up(x: Any) -> Any:
    STATE.begin()
    y = x * STATE.a
    getattr(STATE, "step")()  # noqa: B009
    return np.sum(y * y)


def by_a_mapped_function(x: Any) -> Any:
    STATE.begin()
    y = x * STATE.a
    list(map(State.step, [STATE]))
    return np.sum(y * y)


def array_in_a_list(x: Any) -> Any:
    STATE.begin()
    y = x * STATE.parts[0]
    STATE.step_parts()
    return np.sum(y * y)


def array_by_a_method(x: Any) -> Any:
    STATE.begin()
    y = x * STATE.coefficients()
    STATE.step()
    return np.sum(y * y)


def array_that_a_change_gives(x: Any) -> Any:
    STATE.begin()
    y = x * STATE.stepped()
    y = y * STATE.stepped()
    return np.sum(y * y)


def product_with_it(x: Any) -> Any:
    STATE.begin()
    y = np.dot(x, STATE.a)
    STATE.step()
    return y * y * np.dot(x, STATE.a)


def in_a_loop(x: Any) -> Any:
    STATE.begin()
    s = x
    for _ in range(3):
        s = s * STATE.a
        STATE.step()
    return np.sum(s)


def in_the_test_of_a_loop(x: Any) -> Any:
    STATE.begin()
    y = x
    while STATE.step() or STATE.a[0] < 5:
        y = y * STATE.a * 0.3
    return np.sum(y * y)


def in_a_condition(x: Any) -> Any:
    STATE.begin()
    a = STATE.coefficients()
    y = x * a
    if STATE.step() is None:
        y = y * a
    return np.sum(y * y)


def read_in_a_function(x: Any) -> Any:
    STATE.begin()
    y = weighted(x)
    STATE.step()
    return np.sum(y * y)


def read_and_changed_in_functions(x: Any) -> Any:
    STATE.begin()
    return np.sum(weighted_and_stepped(weighted_and_stepped(x)) * weighted(x))


def functions_in_a_loop(x: Any) -> Any:
    STATE.begin()
    y = x
    for _ in range(3):
        y = 0.3 * weighted_and_stepped(y)
    return np.sum(y)


def array_through_its_own_method(x: Any) -> Any:
    a = np.array([1.0, 2.0, 3.0])
    y = x * a
    fill = a.fill
    fill(9.0)
    return np.sum(y * y)


def buffers() -> Any:
    buffer = np.array([1.0, 2.0, 3.0])
    while True:
        buffer += 1.0
        yield buffer


def refilled(buffer: Any) -> Any:
    while True:
        buffer *= 1.5
        yield buffer


class Refilling:
    """An iterator that gives one array again and again."""

    def __init__(self) -> None:
        self.buffer = np.array([1.0, 2.0, 3.0])

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        self.buffer += 1.0
        return self.buffer


def array_that_a_generator_gives_again(x: Any) -> Any:
    of = buffers()
    a = next(of)
    y = x * a
    b = next(of)
    return np.sum(y * y * b)


def arrays_that_a_generator_gives_in_a_loop(x: Any) -> Any:
    of = buffers()
    s = x
    for _ in range(3):
        s = s * next(of)
    return np.sum(s)


def arrays_that_a_loop_takes_from_a_generator(x: Any) -> Any:
    s = x
    for _, a in zip(range(3), buffers(), strict=False):
        s = s * a
    return np.sum(s)


def array_that_a_generator_refills(x: Any) -> Any:
    a = np.array([1.0, 2.0, 3.0])
    of = refilled(a)
    y = x * a
    next(of)
    return np.sum(y * y)


def array_that_an_iterator_gives_again(x: Any) -> Any:
    of = Refilling()
    y = x * next(of)
    y = y * next(of)
    return np.sum(y * y)


def what_counts_beside_an_array(x: Any) -> Any:
    y = x * G
    for _ in range(3):
        y = y * y * G
        COUNTER.add()
    return np.sum(y)


CASES: list[Case] = [
    case(f, X)
    for f in (
        by_a_method,
        by_a_method_of_another_name,
        by_the_class,
        by_a_function,
        by_a_method_that_is_looked_up,
        by_a_mapped_function,
        array_in_a_list,
        array_by_a_method,
        array_that_a_change_gives,
        product_with_it,
        in_a_loop,
        in_the_test_of_a_loop,
        in_a_condition,
        read_in_a_function,
        read_and_changed_in_functions,
        functions_in_a_loop,
        array_through_its_own_method,
        array_that_a_generator_gives_again,
        arrays_that_a_generator_gives_in_a_loop,
        arrays_that_a_loop_takes_from_a_generator,
        array_that_a_generator_refills,
        array_that_an_iterator_gives_again,
        what_counts_beside_an_array,
    )
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def test_an_array_of_the_module_is_not_copied_where_nothing_may_change_it() -> None:
    def plain(x: Any) -> Any:
        return np.sum(x * G * x)

    assert "copy" not in grad(plain).source_for(X)


def converted(x: Any, k: Any) -> Any:
    y = k.astype(float, copy=False)
    y[0] = 3.0
    return np.sum(x * k)


def converted_by_positions(x: Any, k: Any) -> Any:
    y = k.astype(float, "K", "unsafe", True, False)
    y[0] = 3.0
    return np.sum(x * k)


@pytest.mark.parametrize("f", [converted, converted_by_positions], ids=lambda f: f.__name__)
def test_a_conversion_that_need_not_copy(f: Any) -> None:
    k = np.ones(3)
    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0, 4.0]), k), [3.0, 1.0, 1.0])
    np.testing.assert_array_equal(k, np.ones(3))
