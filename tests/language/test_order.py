"""What has an effect inside of an expression: calls that write, `pop`, assignment expressions; in Python's order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.8, -0.4, 1.2, 0.55])
Y = np.array([0.92, 0.57, 0.41, -0.63, 0.18])


def advance(u: Any, v: Any) -> Any:
    v[1:-1] = u[:-2] * u[2:] + u[1:-1]
    return np.max(np.abs(v - u)) - 0.4


def raised(u: Any) -> Any:
    u += 1.0
    return u


def relaxed(u: Any) -> Any:
    old = u[1]
    u[1:-1] = 0.5 * (u[:-2] + u[2:]) + 0.1 * u[1:-1] ** 2
    return abs(u[1] - old)


def popped_in_one_arm(x: Any) -> Any:
    h = [x[0], x[1] ** 2]
    flag = x[2] < 0
    v = h.pop() if flag else 0.0
    return v + h[-1] * 3


def popped_in_the_arm_that_runs(x: Any) -> Any:
    h = [x[0], x[1] ** 2]
    flag = x[2] > 0
    v = h.pop() if flag else 0.0
    return v + h[-1] * 3


def appended_under_a_condition(x: Any) -> Any:
    h = [x[0], x[1] ** 2]
    flag = x[2] > 0
    flag and h.append(x[3])
    return h[-1] * 3


def named_in_both_arms(x: Any) -> Any:
    v = (y := x[0] ** 2) if x[2] < 0 else (y := x[1])
    return v * y


def named_in_one_arm(x: Any) -> Any:
    y = x[1] ** 3
    v = (y := x[0] ** 2) if x[2] > 0 else 2.0
    return v * y


def popped_in_a_condition(x: Any) -> Any:
    h = [x[0], x[1] ** 2]
    while h.pop() > 0.5:
        h.append(x[2])
    return h[-1] * 3


def popped_after_a_test(x: Any) -> Any:
    h = [x[0], x[1] ** 2]
    t = 0.0
    while h and h.pop() > 0.5:
        t += 1
    return t * x[0]


def step_in_a_choice(x: Any) -> Any:
    u = x * 1.0
    v = np.zeros_like(u)
    print("residual", end="") if advance(u, v) > 100 else None
    return np.sum(v**2)


def step_whose_value_is_not_used(x: Any) -> Any:
    u = x * 1.0
    v = np.zeros_like(u)
    "%r %r" % (advance(u, v), u[0])
    return np.sum(v**2)


def step_between_two_tests(x: Any) -> Any:
    u = x * 1.0
    v = np.zeros_like(u)
    ok = u[0] < advance(u, v) < u[3]
    return np.sum(v**2) * (2 if ok else 3)


def error_named_in_a_condition(x: Any) -> Any:
    u = x * 1.0
    v = np.zeros_like(u)
    n = 0
    while (e := advance(u, v)) > -0.3 and n < 4:
        u, v = v, u
        n += 1
    return np.sum(u**2) + e


def step_before_a_test(x: Any) -> Any:
    u = x * 1.0
    k = u[0] < np.sum(raised(u)) < u[0]
    return np.sum(u**2) * (1 + k)


def step_between_two_operands(x: Any) -> Any:
    u = x * 1.0
    k = int(u[0]) + int(np.sum(raised(u))) + int(u[1])
    return np.sum(u**2) * k


def step_between_two_items(x: Any) -> Any:
    u = x * 1.0
    k = [int(u[0] * 10.3), int(np.sum(raised(u))), int(u[1])]
    return np.sum(u**2) * k[0] * k[1]


def step_in_a_range(x: Any) -> Any:
    u = x * 1.0
    for k in range(int(np.sum(raised(u)))):
        u = u * x
    return np.sum(u**2)


def out_in_a_condition(x: Any) -> Any:
    u = x * 1.0
    t = 0.0
    while np.add(u, 1.0, out=u).sum() < 30:
        t += u[0]
    else:
        t *= 2
    return t**2


def loop_with_else_and_break(x: Any) -> Any:
    u = x * 1.0
    t = 0.0
    while True:
        while u[0] < 1.5 or np.sum(raised(u)) < 20:
            t += u[0]
            u[0] += x[1]
            if t > 11:
                break
        else:
            t *= 3
            break
        t *= 2
        if t > 30:
            return t * u[1]
    return t**2


def step_in_each_condition(x: Any) -> Any:
    u = x * 1.0
    if not np.all(raised(u) > 0):
        return u[0]
    elif len(raised(u)) == 5 and np.argmax(raised(u)) == 3:
        return u[0] * u[1]
    return u[2]


def length_named_in_a_choice(x: Any) -> Any:
    u = x * 1.0
    y = 3 if (n := len(raised(u))) > 2 else 7
    return np.sum(u**2) * n * y


def two_names_in_a_condition(x: Any) -> Any:
    u = x * 1.0
    i = 0
    while (i := i + 1) < 4 and (s := np.sum(raised(u))) < 20:
        u *= x
    return np.sum(u**2) * i * s


def names_read_again(x: Any) -> Any:
    u = x * 1.0
    a = y if (y := u[0]) > 0 else 3.0
    b = (z := 2) * (z + 1) + (z := 5)
    return a * y * b * z


def step_before_continue(x: Any) -> Any:
    u = x * 1.0
    for i in range(3):
        if i == 1 and np.sum(raised(u)) > 3:
            continue
        u *= 2
    return np.sum(u**2)


def name_in_and_or(x: Any) -> Any:
    u = x * 1.0
    q = (u[0] > 0 and (w := x[1])) or (w := x[2] ** 2)
    return q * w


def name_in_and_or_in_a_loop(x: Any) -> Any:
    q = 0.0
    for i in range(3):
        q += (x[i] > 0.5 and (w := x[i + 1])) or (w := x[2] ** 2)
    return q * w


def popped_in_a_loop_condition(x: Any) -> Any:
    h = []
    i = 0
    while len(h) < 3 or h.pop() < 0:
        h.append(x[i] ** 2)
        i += 1
    return h[-1]


def mask_of_a_step(x: Any) -> Any:
    u = x * 1.0
    m = raised(u)[0] > 0.5
    return np.sum(u**2) * m


def step_in_a_call(x: Any) -> Any:
    u = x * 1.0
    m = np.where(raised(u) > 1.25, u, 0.0)
    return np.sum(u * m)


def step_in_an_index(x: Any) -> Any:
    u = x * 1.0
    m = u[raised(u) > 1.25]
    return np.sum(m**2)


def step_in_the_index_of_a_store(x: Any) -> Any:
    u = x * 1.0
    u[raised(u) > 1.25] = 0.5 * x[0]
    return np.sum(u**2)


def step_in_a_dict(x: Any) -> Any:
    u = x * 1.0
    d = dict(a=int(raised(u)[0]), b=u)
    return np.sum(d["b"] ** 2) * d["a"]


def step_in_an_inner_condition(x: Any) -> Any:
    u = x * 1.0
    v = x[0] * (1 if raised(u)[0] > 0 else 2) * u[1]
    return np.sum(u**2) * v


def loop_until(x: Any) -> Any:
    u = x * 1.0
    n = 0
    while not (np.sum(raised(u)) > 30 or n > 3 and u[0] > 2):
        n += 1
    return np.sum(u**2)


def step_in_both(x: Any) -> Any:
    u = x * 1.0
    n = 3 + (2 if np.sum(raised(u)) > 30 else 1)
    m = 3 + (len(raised(u)) if np.sum(raised(u)) > 3 else 1)
    return np.sum(u**2) * n * m


def step_in_a_denied_condition(x: Any) -> Any:
    u = x * 1.0
    if not (x[0] > 0 and np.sum(raised(u)) > 30) and x[1] > 0:
        u *= 3
    return np.sum(u**2)


def truth_of_an_item(x: Any) -> Any:
    u = x * 1.0
    n = 0
    while raised(u)[0] and n < 4:
        n += 1
    return np.sum(u**2)


def steps_in_slices(x: Any) -> Any:
    u = x * 1.0
    y = u[1 : int(raised(u)[0]) + 2].copy()
    u[int(raised(u)[0]) : len(raised(u)),] *= 2
    u[int(raised(u)[0]) - 3] += u[0] * 3
    return np.sum(u**2) * y.sum()


def while_it_changes(x: Any) -> Any:
    u = x.copy()
    n = 0
    while relaxed(u) > 0.03:
        n += 1
    return np.sum(u**2)


def if_it_changes(x: Any) -> Any:
    u = x.copy()
    if relaxed(u) > 0.01:
        u *= 2.0
    return np.sum(u**2)


def if_it_changes_too(x: Any) -> Any:
    u = x.copy()
    if u[0] > -100.0 and relaxed(u) > 0.01:
        u *= 2.0
    return np.sum(u**2)


def until_it_changes_no_more(x: Any) -> Any:
    u = x.copy()
    for k in range(10):
        if relaxed(u) < 0.01:
            break
        u *= 1.1
    return np.sum(u**2)


def while_not_yet(x: Any) -> Any:
    u = x.copy()
    k = 0
    while not relaxed(u) < 0.01 and k < 5:
        k += 1
    return np.sum(u**2)


def chosen_by_what_changes(x: Any) -> Any:
    u = x.copy()
    a = 2.0 if relaxed(u) > 0.01 else 3.0
    return np.sum(u**2) * a


def item_and_next(a: Any, n: Any) -> Any:
    return (a[n] * a[n + 1], n + 1)


def pair_and_number(x: Any) -> Any:
    return ((x[0] * x[1], x[2]), 3)


def number_and_array(x: Any) -> Any:
    return (x[0] * 2, x * 3)


def item_before_its_index(x: Any) -> Any:
    a = x.copy()
    n = 0
    while n < 3:
        a[n], n = item_and_next(a, n)
    return np.sum(a * a)


def item_in_a_nested_target(x: Any) -> Any:
    a = x.copy()
    i = 1
    (a[i], b), i = pair_and_number(x)
    return np.sum(a * a) * b * i


def item_of_a_list_before_its_index(x: Any) -> Any:
    L = [x[0], x[1], x[2], x[3]]
    i = 0
    L[i], i = item_and_next(x, 1)
    return L[0] * L[1] + L[2] * i


def item_before_its_array(x: Any) -> Any:
    a = x.copy()
    b = a
    a[0], a = number_and_array(x)
    return np.sum(a * a) + b[0] * b[1]


def loop_into_items(x: Any) -> Any:
    a = x.copy()
    i = 0
    for a[i], i in zip(x[:3] ** 2, (1, 2, 3)):
        pass
    return np.sum(a * a)


def loop_into_nested_items(x: Any) -> Any:
    a = x.copy()
    k = 0
    for (a[k], k), v in zip([(x[0] ** 2, 1), (x[1] * x[2], 2)], x):
        a[k] += v
    return np.sum(a * a)


def loop_into_items_of_a_list(x: Any) -> Any:
    L = [x[0], x[1], x[2], x[3]]
    i = 0
    for L[i], i in [(x[0] ** 2, 1), (x[1] * x[3], 2)]:
        pass
    return L[0] * L[1] + L[2] * i


def loop_into_an_item_and_its_array(x: Any) -> Any:
    a = x.copy()
    b = a
    for a[0], a in zip(x[:2] ** 2, (x * 2, x * 3)):
        a[1] *= 2
    return np.sum(a * a) + b[0] * b[1]


def loop_over_a_row_into_items(x: Any) -> Any:
    a = x.copy()
    i = 0
    m = np.stack([x, x**2])
    for a[i], i in zip(m[0], range(1, 5)):
        a[i] += 1
    return np.sum(a * a)


def index_before_its_item(x: Any) -> Any:
    a = x.copy()
    i = 0
    i, a[i] = item_and_next(x, 1)[::-1]
    return np.sum(a * a)


def counted_into_items(x: Any) -> Any:
    a = x.copy()
    for i, a[i] in enumerate(x**2):
        a[i] *= 2
    return np.sum(a * a)


def item_before_its_counter(x: Any) -> Any:
    a = x.copy()
    i = 2
    for a[i], i in enumerate((1, 2, 0)):
        a[i] *= 2
    return np.sum(a * a)


def next_and_doubled(u: Any) -> Any:
    u[1] *= 1.2
    return int(np.argmax(u))


def index_that_writes(x: Any) -> Any:
    u = x.copy()
    y = u[next_and_doubled(u)]
    u[next_and_doubled(u)] *= 0.8
    u[next_and_doubled(u)] = y * u[1]
    return np.sum(u**2) * y


ORDER = (0, 2, 1)
SCALE = 1.3


def loop_over_a_constant(x: Any) -> Any:
    u = x.copy()
    s = 0.0
    for k in ORDER:
        u[k] *= SCALE
        s += u[k] * next_and_doubled(u)
    return s * np.sum(u)


def step_in_a_generator(x: Any) -> Any:
    u = x * 1.0
    m = any(raised(u)[k] > 3 for k in range(2))
    return np.sum(u**2) * m


CASES = [
    case(f, v, name=f"{f.__name__}_{n}")
    for f in (
        item_before_its_index,
        item_in_a_nested_target,
        item_of_a_list_before_its_index,
        item_before_its_array,
        loop_into_items,
        loop_into_nested_items,
        loop_into_items_of_a_list,
        loop_into_an_item_and_its_array,
        loop_over_a_row_into_items,
        index_before_its_item,
        counted_into_items,
        item_before_its_counter,
        index_that_writes,
        loop_over_a_constant,
        popped_in_one_arm,
        popped_in_the_arm_that_runs,
        appended_under_a_condition,
        named_in_both_arms,
        named_in_one_arm,
        popped_in_a_condition,
        popped_after_a_test,
        step_in_a_choice,
        step_whose_value_is_not_used,
        step_between_two_tests,
        error_named_in_a_condition,
        step_before_a_test,
        step_between_two_operands,
        step_between_two_items,
        step_in_a_range,
        out_in_a_condition,
        loop_with_else_and_break,
        step_in_each_condition,
        length_named_in_a_choice,
        two_names_in_a_condition,
        names_read_again,
        step_before_continue,
        name_in_and_or,
        name_in_and_or_in_a_loop,
        popped_in_a_loop_condition,
        mask_of_a_step,
        step_in_a_call,
        step_in_an_index,
        step_in_the_index_of_a_store,
        step_in_a_dict,
        step_in_an_inner_condition,
        loop_until,
        step_in_both,
        step_in_a_denied_condition,
        truth_of_an_item,
        steps_in_slices,
        while_it_changes,
        if_it_changes,
        if_it_changes_too,
        until_it_changes_no_more,
        while_not_yet,
        chosen_by_what_changes,
        step_in_a_generator,
    )
    for n, v in enumerate((X, Y))
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def step_in_text(x: Any) -> Any:
    u = x * 1.0
    s = f"{raised(u)[0]}"
    return np.sum(u**2) * len(s)


def step_in_an_assertion(x: Any) -> Any:
    u = x * 1.0
    assert raised(u)[0] > 0
    return np.sum(u**2)


def step_after_a_test(x: Any) -> Any:
    u = x * 1.0
    if 0 < np.sum(u) < np.sum(raised(u)):
        u *= 2
    return np.sum(u**2)


@pytest.mark.parametrize("f", [step_in_text, step_in_an_assertion, step_after_a_test])
def test_what_cannot_be_taken_out_is_refused(f: Any) -> None:
    with pytest.raises(UnsupportedError):
        grad(f)(X)


def said(value: Any, text: str) -> Any:
    print(text, end=" ")
    return value


def keys_of_a_display(x: Any) -> Any:
    d = {said("a", "first"): said(x[0], "x0"), said("b", "second"): x[1] * 2.0, ("c", said(1, "third")): x[2]}
    return d["a"] * d["b"] * d["c", 1]


def test_keys_are_computed_once_and_before_their_values(capsys: pytest.CaptureFixture[str]) -> None:
    f = keys_of_a_display
    f(X)
    expected = capsys.readouterr().out
    found = grad(f)(X)
    assert capsys.readouterr().out == expected
    tangent = jvp(f, (X,), (Y,))[1]
    assert capsys.readouterr().out == expected
    exact = numeric_gradient(f, (X,))
    np.testing.assert_allclose(found, exact, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(tangent, exact @ Y, rtol=1e-7)
