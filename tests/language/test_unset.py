"""Variables that have no value before a loop or branch sets them: carried on, read after it, and written."""

# ruff: noqa: F821, F823, F841

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad, vjp
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import richardson_jvp

V = np.array([0.7, 1.3])


def carried_from_a_branch(x: Any) -> Any:
    if x[0] > 0:
        p = x[0] * x[1]
    s = 0.0
    for i in range(3):
        if x[0] > 0:
            s = s + p * p * i
        p = x[0] * i
    return s


def carried_over_empty_loops(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        for j in range(2 - i):
            if i + j > 0:
                s = s + k * k * x[0]
            k = x[1] * (j + 1)
    return s


def read_after_empty_loops(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        for j in range(2 - i):
            k = x[1] * (j + 1)
        s = s + k * k * x[0]
    return s


def carried_over_three_loops(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        for j in range(2):
            for m in range(i):
                if i + j + m > 1:
                    s = s + k * k * x[0]
                k = x[1] * (j + 1) * (m + 1) + i
    return s


def skipped_once(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        if i != 1:
            k = x[1] * i
        s = s + k * k * x[0]
    return s


def set_in_turns(x: Any) -> Any:
    for i in range(2):
        if x[0] > 0:
            p = x[0] * x[1] + i
        for j in range(2):
            if j:
                q = q * p
            else:
                q = p * x[1]
    return q


def array_of_the_last_turn(x: Any) -> Any:
    s = 1.0
    for _ in range(2):
        p = x * s
        s = s + p[0]
    return p[1] * s


def array_of_the_last_turn_of_while(x: Any) -> Any:
    s = 1.0
    n = 0
    while n < 3:
        n += 1
        p = x * s
        s = s + np.sum(p[1:] - p[:-1])
    return np.sum(p)


def number_of_an_inner_loop(x: Any) -> Any:
    s = 0.0
    for i in range(2):
        for j in range(2):
            k = j
        s = s + x[0] * k
    return s * x[1]


def index_found_in_an_inner_loop(x: Any) -> Any:
    a = x.copy()
    for n in range(2):
        for i in range(2):
            if a[i] > 0.1:
                idx = i
        a[idx] *= 0.5
    return np.sum(a * x)


def index_of_an_inner_loop(x: Any) -> Any:
    s = 0.0
    for i in range(2):
        for j in range(2):
            t = x[j] * i
        s = s + x[j] * t
    return s


def last_of_a_loop_read_in_an_inner_one(x: Any) -> Any:
    for i in range(3):
        u = x * (i + 1.0)
        t = x
        for w in (1.0, 2.0):
            t = t + w * u * u
        x = t * 0.1
    return np.sum(u) + np.sum(x)


def set_in_an_inner_while(x: Any) -> Any:
    s = 0.0
    a = x.copy()
    for i in range(3):
        n = 0
        while n < 2:
            old = a[n] * 1.0
            a[n] *= 0.5 * x[n]
            n += 1
        s = s + old
    return s + np.sum(a)


def view_of_an_inner_loop(x: Any) -> Any:
    a = np.concatenate([x, x])
    for i in range(2):
        for j in range(2):
            v = a[j:]
        v[0] *= 2
    return np.sum(a * a)


def view_of_the_first_turn(x: Any) -> Any:
    a = np.concatenate([x, x])
    for i in range(2):
        if i == 0:
            w = a[:2]
        w[0] *= 2
    return np.sum(a * a)


def number_changed_by_an_inner_index(x: Any) -> Any:
    a = np.concatenate([x, x])
    t = 0.0
    for i in range(3):
        for j in range(i):
            t += a[j]
        if i:
            t *= a[j]
    return t


def moved_from_a_loop_without_turns(x: Any) -> Any:
    n = 0
    for k in range(n):
        w = x * k
    if x[0] < 0:
        w = x * 2
        k = 2
    if x[0] > 10:
        return np.sum(x * k * w)
    return np.sum(x)


def moved_into_a_loop(x: Any) -> Any:
    for k in range(0):
        w = x * k
    if x[0] < 0:
        k = 2
    for j in range(2):
        if x[j] > 10:
            x = x * k
        k = j
    return np.sum(x * k)


def moved_in_an_arm(x: Any) -> Any:
    for _ in range(0):
        pass
    if x[0] > 10:
        pass
    else:
        _ = np.sum(x * x)
    return _ * x[0]


def moved_past_an_arm(x: Any) -> Any:
    for _ in range(0):
        pass
    if x[0] > -10:
        pass
    else:
        _ = doubled(x)
    return 1.0 * x[0]


def moved_by_handlers(x: Any) -> Any:
    """Only the handlers give ``t`` a value, which only they have read."""
    a = x * 1.0
    try:
        q = x[1]
    except IndexError:
        t = x[0]
        done = False
    else:
        try:
            a[0] = q**2
            done = True
        except IndexError:
            t = x[0]
            done = False
    a[1] = 2.0 * x[1] if done else t * x[1]
    return np.sum(a * a * x)


def handled_in_a_callee(x: Any) -> Any:
    return np.sin(moved_by_handlers(x)) * x[0]


def doubled(x: Any) -> Any:
    return 2.0 * x


CASES = [
    case(f, x, name=f"{f.__name__}_{n}")
    for f in (
        carried_from_a_branch,
        carried_over_empty_loops,
        read_after_empty_loops,
        carried_over_three_loops,
        last_of_a_loop_read_in_an_inner_one,
        skipped_once,
        set_in_turns,
        array_of_the_last_turn,
        array_of_the_last_turn_of_while,
        number_of_an_inner_loop,
        index_found_in_an_inner_loop,
        index_of_an_inner_loop,
        set_in_an_inner_while,
        view_of_an_inner_loop,
        view_of_the_first_turn,
        number_changed_by_an_inner_index,
        moved_from_a_loop_without_turns,
        moved_into_a_loop,
        moved_in_an_arm,
        moved_past_an_arm,
        moved_by_handlers,
        handled_in_a_callee,
    )
    for n, x in enumerate((V, np.array([0.4, -0.3])))
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def left_by_either_arm(x: Any) -> Any:
    s = 0.0
    for i in range(4):
        if i > 0:
            s = s + k * k  # noqa: F821
        k = x[0] * (i + 1)  # noqa: F841
        if s > 1.0:
            break
    return s * x[1]


@pytest.mark.parametrize("x", [V, V * 2])
def test_a_loop_that_is_left_by_an_arm(x: Any) -> None:
    check_primal(case(left_by_either_arm, x))
    check_gradient(case(left_by_either_arm, x))


p = 7.0
q = 5.0


def decided_by_the_arguments(x: Any, d: Any = None, k: int = 2) -> Any:
    if d is not None:
        p = d * 2.0
    s = np.sum(x * x)
    if k > 1:
        s = s * p
    return s


def never_reached(x: Any, k: int = 2) -> Any:
    s = np.sum(x * x)
    if k > 1:
        s = s * q
    if k > 5:
        q = 3.0
    return s


def deleted(x: Any, k: int = 2) -> Any:
    p = x * x
    del p
    s = np.sum(x)
    if k > 1:
        s = s + np.sum(p)
    return s


def in_a_function(x: Any, k: int = 2) -> Any:
    return set_under_a_condition(x, -1.0, k) + set_under_a_condition(2.0 * x)


def set_under_a_condition(x: Any, d: float = -1.0, k: int = 0) -> Any:
    if d > 0.0:
        p = d * 2.0
    s = np.sum(x * x)
    if k > 1:
        s = s * p
    return s


def decided_in_a_function(x: Any, k: int = 2) -> Any:
    return decided_by_the_arguments(x, None, k) + np.sum(x)


UNSET = [decided_by_the_arguments, never_reached, deleted, in_a_function, decided_in_a_function]


@pytest.mark.parametrize("f", UNSET, ids=lambda f: f.__name__)
def test_a_variable_of_the_function_is_no_variable_of_the_module(f: Any) -> None:
    """What has no value raises what Python raises, also where the module has a variable of that name."""
    with pytest.raises(UnboundLocalError, match="'[pq]'"):
        f(V)
    for transform in (grad, value_and_grad):
        with pytest.raises(UnboundLocalError, match="'[pq]'"):
            transform(f)(V)
    check_gradient(case(f, V, k=1))


def vector_of_last_turn(x: Any) -> Any:
    s = x[0]
    for i in range(3):
        if i > 0:
            s = s + t[1] * t[0]  # noqa: F821
        t = np.array([x[1], s])  # noqa: F841
    return s


def pair_of_vectors_of_last_turn(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        if i > 0:
            s = s + g[0] @ g[1]  # noqa: F821
        g = (x, np.array([x[0], i]))  # noqa: F841
    return s


def halves_of_last_turn(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        if i > 0:
            s = s + np.sum(w[0] * w[1])  # noqa: F821
        w = np.split(x, 2)  # noqa: F841
    return s


OF_LAST_TURN = [vector_of_last_turn, pair_of_vectors_of_last_turn, halves_of_last_turn]


@pytest.mark.parametrize("x", [V, np.array([0.5, -0.2])], ids=str)
@pytest.mark.parametrize("f", OF_LAST_TURN, ids=lambda f: f.__name__)
def test_adjoints_of_what_has_no_value_before_a_loop(f: Any, x: Any) -> None:
    check_primal(case(f, x))
    check_gradient(case(f, x))


def read_before_it_is_set(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(n):
        if i % 2 == 1:
            y = np.sin(x)
        s = s + np.sum(y * x)
    return s


def test_a_read_before_any_value_fails_as_in_python() -> None:
    for f in (read_before_it_is_set, value_and_grad(read_before_it_is_set)):
        with pytest.raises(UnboundLocalError, match="local variable 'y'"):
            f(V, 2)


def set_in_a_handler_that_does_not_run(x: Any) -> Any:
    total = np.sum(x * x)
    try:
        if total < 0:
            x *= 0.7
    except ValueError:
        v = x * 2
    try:
        v = x * 3
    finally:
        total = total + np.sum(x * v)
    return total * np.sum(v)


def test_what_a_handler_sets_may_have_no_value_where_the_next_try_begins() -> None:
    check_gradient(case(set_in_a_handler_that_does_not_run, V))
    along = np.array([0.3, -1.0])
    expected = richardson_jvp(set_in_a_handler_that_does_not_run, (V,), (along,))
    np.testing.assert_allclose(jvp(set_in_a_handler_that_does_not_run, (V,), (along,))[1], expected, rtol=1e-8)
    value, pullback = vjp(set_in_a_handler_that_does_not_run, V)
    np.testing.assert_allclose(pullback(1.0)[0] @ along, expected, rtol=1e-8)


def set_where_a_rate_is_not_zero(x: Any, rate: Any) -> Any:
    w = np.ones(2)
    if rate != 0.0:
        step = np.zeros(2)
    for _ in range(2):
        g = x[0] * w * x[1]
        w = w - g
        if rate != 0.0:
            w = w - rate * step
            step = g
    return np.sum(w)


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_the_tangent_of_an_array_that_has_no_value_before_a_loop(rate: float) -> None:
    check_gradient(case(set_where_a_rate_is_not_zero, V, rate, wrt=0))
    along = np.array([0.3, -1.0])
    expected = richardson_jvp(set_where_a_rate_is_not_zero, (V, rate), (along, 0.0))
    found = jvp(set_where_a_rate_is_not_zero, (V, rate), (along, None))[1]
    np.testing.assert_allclose(found, expected, rtol=1e-8)
