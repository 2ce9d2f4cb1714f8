"""What has an effect and carries no derivative: it happens where Python has it happen, and once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal

X = np.array([0.71, 1.32, 0.57])
STEPS = 2
ITEMS = [2, 1]


def weights() -> Any:
    return np.array([0.679, 0.468, 0.427])


def tripled(a: Any) -> Any:
    a[:] = 3 * a
    return 1.0


def turned(a: Any) -> Any:
    a[:] = a[::-1].copy()
    return 1


class Settings:
    """What a run is told."""

    steps = 2


SETTINGS = Settings()


def more_steps() -> None:
    global STEPS
    STEPS += 1
    SETTINGS.steps += 1


def fewest_steps() -> None:
    global STEPS
    STEPS = SETTINGS.steps = 2


# --- displays


def in_a_nested_display(x: Any) -> Any:
    u = weights()
    (_, b), c = (tripled(u), x[1]), u[2]
    return b * c


def before_a_nested_display(x: Any) -> Any:
    u = weights()
    (p, _), r = (u[2], tripled(u)), u[2]
    return p * x[0] + r * x[1]


def in_a_nested_list(x: Any) -> Any:
    u = weights()
    (p, q), r = [u[2], [tripled(u), u[1]]], u[2]
    return p * x[0] + r * x[1] + q[1] * x[2]


def in_a_dict_in_a_display(x: Any) -> Any:
    u = weights()
    d, r = {"p": u[2], "q": tripled(u)}, u[2]
    return d["p"] * x[0] + r * x[1]


def into_several_targets(x: Any) -> Any:
    u = weights()
    (a, b), c = p = (tripled(u), u[1]), u[2]
    return a * b * c * p[0][1] * x[1]


def drawn_in_a_nested_display(x: Any) -> Any:
    rng = np.random.default_rng(3)
    (p, _), q = (rng.normal(), 1), rng.normal()
    return p * x[0] + q * x[1]


def taken_in_a_nested_display(x: Any) -> Any:
    items = iter([1.0, 2.0])
    p, q = (next(items), 1), next(items)
    return p[0] * x[0] + q * x[1]


# --- stores


def in_the_index_of_a_store(x: Any) -> Any:
    u = weights()
    v = np.zeros(3)
    v[int(tripled(u))] = u[2]
    return v @ x


def in_the_key_of_a_store(x: Any) -> Any:
    u = weights()
    d: dict[Any, Any] = {}
    d[tripled(u)] = (u[2], x[0])
    return d[1.0][0] * x[1]


def in_one_target_of_several(x: Any) -> Any:
    u = weights()
    v = np.zeros(3)
    v[0], v[int(tripled(u))], v[2] = x[0] * u[0], u[1], u[0]
    return v @ x


def in_an_augmented_store(x: Any) -> Any:
    v = x * 1.0
    k = np.array([0, 1, 2])
    v[k[0]] += turned(k)
    return v @ v


# --- what writes although one does not see it


def third_operand(x: Any) -> Any:
    u = weights()
    _, q = np.add(u, 2.0, u), u[2]
    return q * x[0]


def copied_in_a_display(x: Any) -> Any:
    u = weights()
    _, q = np.copyto(u, 2.0), u[2]
    return q * x[0]


def copied_by_name(x: Any) -> Any:
    u = weights()
    _, q = np.copyto(dst=u, src=2.0), u[2]
    return q * x[0]


def filled_in_a_condition(x: Any) -> Any:
    u = weights()
    return x[0] * u[2] if np.copyto(u, 2.0) is None else x[1]


def put_at_in_a_display(x: Any) -> Any:
    u = weights()
    _, q = np.add.at(u, [2], 9.0), u[2]
    return q * x[0]


def reduced_into_a_view(x: Any) -> Any:
    u = weights()
    _, q = np.add.reduce(u, 0, None, u[2:].reshape(())), u[2]
    return q * x[0]


def nans_replaced_where_they_are(x: Any) -> Any:
    u = weights()
    u[2] = np.nan
    _, q = np.nan_to_num(u, copy=False, nan=3.0), u[2]
    return q * x[0]


def nans_replaced_by_position(x: Any) -> Any:
    u = weights()
    u[2] = np.nan
    _, q = np.nan_to_num(u, False, 3.0), u[2]
    return q * x[0]


def median_that_reorders(x: Any) -> Any:
    u = np.array([3.0, 1.0, 2.0, 0.5, 4.0])
    m, q = np.median(u, overwrite_input=True), u * 1.0
    return m * x[0] + q[0] * x[1] + q[2] * x[2]


# --- the heads of loops


def end_that_is_drawn(x: Any) -> Any:
    rng = np.random.default_rng(0)
    s = 0.0
    for i in range(rng.integers(1, 4)):
        s = s + x[i] * x[i]
    return s * rng.integers(1, 4)


def end_that_is_taken(x: Any) -> Any:
    ends = [3, 2]
    s = 1.0
    for i in range(ends.pop()):
        s = s * x[i]
    return s * len(ends)


def end_from_an_iterator(x: Any) -> Any:
    ends = iter([3, 2])
    s = 1.0
    for i in range(next(ends) - 1):
        s = s * x[i]
    return s


def end_of_an_inner_loop_that_is_taken(x: Any) -> Any:
    ends = [1, 3, 2, 1, 2, 3, 2]
    s = x[0]
    for _ in range(2):
        for _ in range(ends.pop()):
            s = s * x[ends.pop() - 1]
    return s


def end_by_a_function_that_writes(x: Any) -> Any:
    u = weights()
    s = 0.0
    for i in range(int(u[1]), int(tripled(u)) + 1):
        s = s + x[i] * x[i] * u[1]
    return s


def end_that_a_function_changes(x: Any) -> Any:
    fewest_steps()
    s = x[0]
    for i in range(STEPS):
        s = s * x[i]
        more_steps()
    return s


def end_that_a_function_changes_in_an_object(x: Any) -> Any:
    fewest_steps()
    s = x[0]
    for i in range(SETTINGS.steps):
        s = s * x[i]
    more_steps()
    return s * SETTINGS.steps


def end_by_the_length_of_what_grows(x: Any) -> Any:
    ITEMS[:] = [2, 1]
    s = x[0]
    for i in range(len(ITEMS)):
        s = s * x[i]
    ITEMS.append(3)
    return s * len(ITEMS)


def counted() -> Callable[[Any], Any]:
    n = 1

    def more() -> None:
        nonlocal n
        n += 1

    def fewest() -> None:
        nonlocal n
        n = 1

    def end_that_is_rebound_around(x: Any) -> Any:
        fewest()
        s = x[0]
        for i in range(n):
            s = s * x[i]
        more()
        return s * n

    return end_that_is_rebound_around


def writes_while_it_tests(x: Any) -> Any:
    u = weights()
    s = x[0]
    while u[0] < 10 and tripled(u):
        s = s * u[1]
    return s


def writes_while_it_tests_and_elsewhere(x: Any) -> Any:
    u = weights()
    s = x[0]
    while tripled(u) and u[0] < 10:
        s = s * u[1] * x[1]
        u[1] = 0.5
    return s


def takes_while_it_tests(x: Any) -> Any:
    items = [3, 1, 1, 2]
    s = x[0]
    while items.pop() != 3:
        s = s * x[items[-1] - 1]
    return s


CASES: list[Case] = [
    case(f, X)
    for f in (
        in_a_nested_display,
        before_a_nested_display,
        in_a_nested_list,
        in_a_dict_in_a_display,
        into_several_targets,
        drawn_in_a_nested_display,
        taken_in_a_nested_display,
        in_the_index_of_a_store,
        in_the_key_of_a_store,
        in_one_target_of_several,
        in_an_augmented_store,
        third_operand,
        copied_in_a_display,
        copied_by_name,
        filled_in_a_condition,
        put_at_in_a_display,
        reduced_into_a_view,
        nans_replaced_where_they_are,
        nans_replaced_by_position,
        median_that_reorders,
        end_that_is_drawn,
        end_that_is_taken,
        end_from_an_iterator,
        end_of_an_inner_loop_that_is_taken,
        end_by_a_function_that_writes,
        end_that_a_function_changes,
        end_that_a_function_changes_in_an_object,
        end_by_the_length_of_what_grows,
        counted(),
        writes_while_it_tests,
        writes_while_it_tests_and_elsewhere,
        takes_while_it_tests,
    )
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def nans_of_what_is_differentiated(x: Any) -> Any:
    u = x * 1.0
    np.nan_to_num(u, copy=False)
    return np.sum(u)


def reduced_into_what_is_differentiated(x: Any) -> Any:
    u = x * 1.0
    _, q = np.add.reduce(u, 0, None, u[2:].reshape(())), u[2]
    return q


def quantile_of_what_is_differentiated(x: Any) -> Any:
    u = x * 1.0
    np.quantile(u, 0.5, overwrite_input=True)
    return u[0]


def test_what_is_overwritten_and_differentiated_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="changes an object that is differentiated"):
        grad(quantile_of_what_is_differentiated)(X)


def test_numbers_in_place_of_nan_are_stored() -> None:
    np.testing.assert_array_equal(grad(nans_of_what_is_differentiated)(X), np.ones(3))
    np.testing.assert_array_equal(grad(nans_of_what_is_differentiated)(X * [1.0, np.nan, 1.0]), [1.0, 0.0, 1.0])


def accumulated_into(x: Any) -> Any:
    u = np.zeros(3)
    np.multiply.accumulate(x, out=u)
    return u[2]


def test_methods_of_universal_functions_write_where_out_stands() -> None:
    np.testing.assert_array_equal(grad(reduced_into_what_is_differentiated)(X), np.ones(3))
    np.testing.assert_allclose(grad(accumulated_into)(X), np.prod(X) / X)
