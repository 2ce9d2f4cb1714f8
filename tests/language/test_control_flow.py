"""Branches, loops, and leaving them in every way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.3, -1.2, 2.5])
W = np.array([1.5, 0.25, -0.75])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])


def if_else(x: Any) -> Any:
    if x > 1.0:
        y = x * x
    else:
        y = 3.0 * x
    return y * x


def if_without_else(x: Any) -> Any:
    y = x
    if x > 1.0:
        y = y * y
    return y * 2.0


def elif_chain(x: Any) -> Any:
    if x > 3.0:
        y = x
    elif x > 2.0:
        y = x * x
    elif x > 1.0:
        y = np.sin(x)
    else:
        y = 5.0
    return y * x


def defined_in_one_branch(x: Any) -> Any:
    if x > 0.0:
        extra = x * x
    if x > 0.0:
        return extra * 2.0
    return x


def different_names(x: Any) -> Any:
    if x > 1.0:
        a = x * x
        result = a * 2.0
    else:
        b = np.cos(x)
        result = b * b
    return result


def active_in_one_branch(x: Any) -> Any:
    scale = 2.0
    if x > 1.0:
        scale = x
    return scale * x


def constant_in_one_branch(x: Any) -> Any:
    y = x * x
    if x > 1.0:
        y = 7.0
    return y + x


def different_shapes_in_branches(v: Any) -> Any:
    if v[0] > 0.0:
        t = v
    else:
        t = np.sum(v)
    return np.sum(t * v)


def different_types_in_branches(x: Any, flag: Any) -> Any:
    t = (x, x * x) if flag else [x, x * 3.0]
    return t[0] * t[1]


def branch_rebinds_condition(x: Any) -> Any:
    flag = x > 1.0
    if flag:
        flag = False
        y = x * x
    else:
        flag = True
        y = x
    if flag:
        y = y * 10.0
    return y


def branch_rebinds_tested_value(x: Any) -> Any:
    if x > 1.0:
        x = x - 5.0
        y = x * x
    else:
        y = x
    return y * x


def nested_branches(x: Any, y: Any) -> Any:
    if x > 0.0:
        if y > 0.0:
            z = x * y
        else:
            z = x - y
        z = z * z
    else:
        z = y
    return z * x


def empty_branch(x: Any) -> Any:
    if x > 0.0:
        pass
    else:
        x = x * 5.0
    return x * x


def used_in_two_branches(x: Any) -> Any:
    y = np.sin(x)
    if x > 0.5:
        a = y * y
    else:
        a = y + 1.0
    if x > 0.8:
        b = y * 3.0
    else:
        b = y * a
    return a * b


def early_return(x: Any) -> Any:
    if x > 1.0:
        return x * x
    y = x * 3.0
    return y * x


def many_returns(x: Any) -> Any:
    y = x * x
    if y > 9.0:
        return y
    y = y + x
    if y > 4.0:
        return y * y
    y = y * np.sin(x)
    if y > 1.0:
        return y + 1.0
    return y * 0.5


def return_in_else(x: Any) -> Any:
    if x > 1.0:
        y = x
    else:
        return np.cos(x)
    return y * y


def code_after_return(x: Any) -> Any:
    return x * x
    return x  # pragma: no cover


def for_range(x: Any) -> Any:
    y = x
    for _ in range(4):
        y = y * x + 1.0
    return y


def for_range_start_stop_step(x: Any) -> Any:
    y = 0.0
    for i in range(7, 1, -2):
        y = y + x**i * i
    return y


def for_range_active_length(v: Any) -> Any:
    y = 0.0
    for i in range(len(v)):
        y = y + v[i] * i
    return y


def for_array(v: Any) -> Any:
    y = 1.0
    for item in v:
        y = y * item
    return y


def for_array_expression(v: Any) -> Any:
    y = 0.0
    for item in np.sin(v) * v:
        y = y * item + item
    return y


def for_rows(m: Any) -> Any:
    y = 0.0
    for row in m:
        y = y + np.sum(row * row) * row[0]
    return y


def for_rows_and_items(m: Any) -> Any:
    y = 1.0
    for row in m:
        for item in row:
            y = y * 0.5 + item * item
    return y


def for_list(x: Any, y: Any) -> Any:
    z = 1.0
    for item in [x, y, x * y, 2.0]:
        z = z * item
    return z


def for_tuple_of_pairs(x: Any, y: Any) -> Any:
    z = 0.0
    for a, (b, c) in ((x, (y, 1.0)), (y, (x, 2.0))):
        z = z + a * a * b * c
    return z


def for_constants(x: Any) -> Any:
    for k in [2.0, 3.0, 0.5]:
        x = np.sin(x) * k
    return x


def for_strings(x: Any) -> Any:
    for letter in "abca":
        x = x * 2.0 if letter == "a" else x + 1.0
    return x * x


def for_enumerate(v: Any) -> Any:
    y = 0.0
    for i, item in enumerate(v):
        y = y + item * item * i
    return y


def for_enumerate_start(v: Any) -> Any:
    y = 0.0
    for i, item in enumerate(v, start=1):
        y = y + item**i
    return y


def for_zip(v: Any, w: Any) -> Any:
    y = 1.0
    for a, b in zip(v, w):  # noqa: B905
        y = y * a + b
    return y


def for_zip_uneven(v: Any, x: Any) -> Any:
    y = 0.0
    for a, b in zip(v, [x, x * x]):  # noqa: B905
        y = y + a * b
    return y


def for_zip_enumerate(v: Any, w: Any) -> Any:
    y = 0.0
    for i, (a, b) in enumerate(zip(v, w)):  # noqa: B905
        y = y + a * b * i
    return y


def for_zip_three(v: Any, w: Any) -> Any:
    y = 0.0
    for i, a, b in zip(range(3), v, w):  # noqa: B905
        y = y * 0.5 + a * b * i
    return y


def for_reversed(v: Any) -> Any:
    y = 0.0
    for item in reversed(v):
        y = y * 0.5 + item * item
    return y


def for_reversed_range(v: Any) -> Any:
    y = 0.0
    for i in reversed(range(3)):
        y = y * v[i] + v[i]
    return y


def for_reversed_list(x: Any, y: Any) -> Any:
    z = 1.0
    for item in reversed([x, y, 3.0]):
        z = z * z + item
    return z


def for_dict_items(x: Any, y: Any) -> Any:
    total = 0.0
    for key, value in {"a": x, "bc": y}.items():
        total = total + value * value * len(key)
    return total


def for_zero_iterations(x: Any) -> Any:
    y = x
    for _ in range(0):
        y = y * x
    return y * y


def for_empty_array(v: Any, x: Any) -> Any:
    y = x * x
    for item in v:
        y = y * item
    return y


def loop_variable_after(v: Any) -> Any:
    for i in range(3):  # noqa: B007
        last = v[i] * i
    return last * i + v[i]


def loop_item_after(v: Any) -> Any:
    for item in v:  # noqa: B007
        pass
    return item * item


def loop_variable_existed(x: Any) -> Any:
    i = x * x
    y = i
    for i in range(0):  # noqa: B007
        pass
    return y * i


def loop_variable_shadows_argument(x: Any) -> Any:
    y = x * 2.0
    for x in [1.0, 2.0, y]:
        y = y * x
    return y * x


def loop_variable_rebound(v: Any) -> Any:
    y = 0.0
    for i in range(3):
        k = i
        i = (i * 2) % 3
        y = y + v[i] * v[k]
    return y + i


def loop_item_rebound(v: Any) -> Any:
    y = 0.0
    for item in v:
        item = item * item
        item = np.sin(item)
        y = y + item * item
    return y


def loop_carried_pair(x: Any) -> Any:
    a, b = x, 1.0
    for _ in range(5):
        a, b = b + a * 0.5, a * b
    return a * b


def loop_overwrites_inputs(x: Any) -> Any:
    for _ in range(3):
        x = x * x * 0.9
    return x


def loop_local_leaks(x: Any) -> Any:
    t = x
    for i in range(3):
        s = t * x
        t = s + i
    return s * t


def loop_conditionally_bound(x: Any) -> Any:
    for i in range(4):
        if i == 2:
            kept = x * i
        x = x * 1.1
    return kept * x


def loop_iterates_over_rebound_name(v: Any) -> Any:
    total = 0.0
    for item in v:
        v = v * 2.0
        total = total + item * np.sum(v)
    return total


def range_of_rebound_name(x: Any) -> Any:
    n = 3
    for _ in range(n):
        n = n + 1
        x = x * 0.5 + n
    return x * n * x


def branch_in_loop(v: Any) -> Any:
    y = 1.0
    for item in v:
        if item > 0.0:
            y = y * item
        else:
            y = y - item * item
    return y


def branch_in_loop_on_carried(x: Any) -> Any:
    for _ in range(6):
        if x > 1.0:
            x = x * 0.4
        else:
            x = x * x + 1.1
    return x


def loop_in_branch(x: Any) -> Any:
    if x > 0.0:
        for i in range(3):
            x = x * (i + 1.0)
    else:
        while x < 10.0:
            x = x * x + 2.0
    return x * x


def while_counter(x: Any) -> Any:
    n = 0
    while n < 4:
        x = np.sin(x) * 2.0
        n += 1
    return x * n


def while_active(x: Any) -> Any:
    steps = 0
    while x < 100.0:
        x = x * x + 1.0
        steps += 1
    return x / steps


def while_never(x: Any) -> Any:
    while x > 100.0:
        x = x / 2.0
    return x * x


def while_true_break(x: Any) -> Any:
    n = 0
    while True:
        x = x * 1.5
        n += 1
        if x > 10.0:
            break
    return x * n


def while_else(x: Any) -> Any:
    n = 0
    while n < 3:
        x = x * 1.5
        n += 1
    else:
        x = x * x
    return x


def while_else_broken(x: Any) -> Any:
    n = 0
    while n < 3:
        x = x * 1.5
        n += 1
        if x > 2.0:
            break
    else:
        x = x * x
    return x


def while_truth_of_value(x: Any) -> Any:
    n = 3
    while n:
        x = x * n
        n -= 1
    return x * x


def newton(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


def break_in_middle(v: Any) -> Any:
    y = 1.0
    for item in v:
        y = y * 2.0 + item
        if item < 0.0:
            break
        y = y * item
    return y


def break_after_assignment(v: Any) -> Any:
    y = 0.0
    for i in range(10):
        y = y + v[i % 3] * i
        if y > 3.0:
            y = y * y
            break
    return y * i


def break_first(v: Any) -> Any:
    y = v[1]
    for item in v:
        break
        y = y * item
    return y * y


def continue_some(v: Any) -> Any:
    y = 1.0
    for item in v:
        if item < 0.0:
            continue
        y = y * item
    return y


def continue_after_work(v: Any) -> Any:
    y = 1.0
    for i, item in enumerate(v):
        y = y + item * item
        if i == 1:
            y = y * 3.0
            continue
        y = y * item
    return y


def continue_in_while(x: Any) -> Any:
    n = 0
    while n < 6:
        n += 1
        if n % 2:
            x = x * 1.1
            continue
        x = np.sin(x) + x
    return x


def break_and_continue(v: Any) -> Any:
    y = 1.0
    for i in range(8):
        if i % 3 == 1:
            continue
        y = y * 0.7 + v[i % 3]
        if i > 5:
            break
        y = y + 0.1 * y * y
    return y


def for_else(v: Any) -> Any:
    y = 0.0
    for item in v:
        y = y + item
    else:
        y = y * y
    return y


def for_else_broken(v: Any) -> Any:
    y = 0.0
    for item in v:
        y = y + item * item
        if item < 0.0:
            break
    else:
        y = y * y
    return y


def for_else_empty(x: Any) -> Any:
    for _ in []:
        x = x * 2.0
    else:
        x = x * x
    return x


def search_with_else(v: Any) -> Any:
    for item in v:
        if item > 100.0:
            found = item
            break
    else:
        found = v[0] * v[1]
    return found * 2.0


def return_in_loop(v: Any) -> Any:
    y = 1.0
    for item in v:
        y = y + item * item
        if item < 0.0:
            return y * 3.0
    return y


def return_in_loop_not_taken(v: Any) -> Any:
    y = 1.0
    for item in v:
        y = y + item * item
        if item > 100.0:
            return y * 3.0
    return y * y


def return_in_nested_loops(m: Any) -> Any:
    total = 0.0
    for row in m:
        for item in row:
            total = total + item * item
            if total > 3.0:
                return total * item
        total = total * 0.5
    return total


def return_in_while_true(x: Any) -> Any:
    while True:
        x = x * x + 0.3
        if x > 20.0:
            return x


def break_inner_only(m: Any) -> Any:
    total = 0.0
    for row in m:
        for item in row:
            if item < 0.0:
                break
            total = total + item * item
        else:
            total = total * 2.0
        total = total * 1.5
    return total


def continue_outer_via_else(m: Any) -> Any:
    total = 1.0
    for row in m:
        for item in row:
            if item > 1.9:
                break
            total = total * 0.5 + item
        else:
            continue
        total = total * total
    return total


def triple_nesting(x: Any) -> Any:
    for i in range(2):
        for j in range(i + 1):
            k = 0
            while k < j + 1:
                if (i + j + k) % 2:
                    x = np.sin(x) + x
                else:
                    x = x * 0.9
                k += 1
            x = x + i
        x = x * 1.1
    return x


def inner_lengths_vary(v: Any) -> Any:
    total = 0.0
    for i in range(4):
        p = 1.0
        for j in range(i):
            p = p * v[j]
        total = total + p * p
    return total


def inner_zero_iterations(v: Any) -> Any:
    total = v[0]
    for i in range(3):
        for j in range(i):
            total = total * v[j] + i
    return total


def nested_same_variable(x: Any) -> Any:
    for i in range(2):
        for i in range(3):  # noqa: B020
            x = x * 0.8 + i
        x = x * i
    return x


def deep_branches(x: Any) -> Any:
    if x > 0:
        if x > 0.1:
            if x > 0.2:
                if x > 0.3:
                    if x > 0.4:
                        if x > 0.5:
                            for _ in range(2):
                                if x < 5:
                                    x = x * x + 1.0
                                else:
                                    x = x * 0.3
    return x * x


def assertions(x: Any) -> Any:
    assert x > 0.0, f"x is {x}"
    y = x * x
    assert y > 0.0
    return y


def raise_not_reached(x: Any) -> Any:
    if x < 0.0:
        raise ValueError(f"negative: {x}")
    return x * x


def raise_in_else(x: Any) -> Any:
    if x > 0.0:
        y = x * x
    else:
        raise ValueError("no")
    return y * x


def long_loop(x: Any) -> Any:
    y = x
    for i in range(300):
        y = y + 0.01 * np.sin(y * i)
    return y


def horner(coefficients: Any, x: Any) -> Any:
    result = 0.0
    for c in coefficients[::-1]:
        result = result * x + c
    return result


def loop_appending_values(v: Any) -> Any:
    """A tuple that grows: no list is written."""
    items: tuple[Any, ...] = ()
    for item in v:
        items = (*items, item * item)
    return sum(items)


def saved_array_rebound(v: Any, w: Any) -> Any:
    for _ in range(3):
        old = v
        v = v * w
        w = w + 0.1 * old * old
    return np.sum(v + w)


def print_in_loop(v: Any) -> Any:
    total = 0.0
    for i, item in enumerate(v):
        print("step", i)
        total = total + item * item
        if i == 1:
            print("halfway")
    print("done")
    return total


def inner_loop_then_break(v: Any, x: Any) -> Any:
    for _ in v:
        for item in v:
            n = item  # noqa: F841
        if x > 5.0:
            break
        x = np.tanh(x * x)
    return x


def inner_while_then_return(v: Any, x: Any) -> Any:
    for _ in v:
        k = 0
        while k < 2 and x > 2.0:
            k += 1
        if x > 5.0:
            return x
        x = np.tanh(x * x)
    return x


def empty_loop_with_else_in_branch(x: Any) -> Any:
    u = x
    if x > 0.1:
        for _ in range(0):
            x = x * 2.0
        else:
            u = x * x
    return u * x


def two_returns_in_loop(x: Any) -> Any:
    for w in (1, 1, 0):
        if x > 1.1:
            return x * 0.5
        if x < 0.9 and w < 1:
            return x * x
        x = np.tanh(x * x) + 0.7
    return x


def result_is_a_name(v: Any, result: Any) -> Any:
    for item in v:
        if result > 5.0:
            return result * item
        result = np.sin(result) + item
    return result


def break_skips_the_rest_of_its_turn(v: Any, x: Any) -> Any:
    for item in v:
        x = np.sin(x) + helper_of_break(item, x)
        if item > 0.6:
            break
        x = np.sin(x - np.mean(v) * helper_of_break(x, item))
    return x


def helper_of_break(a: Any, b: Any) -> Any:
    return np.cos(a) * b


CASES = [
    *[
        case(f, x, name=f"{f.__name__}_{x}")
        for f in (if_else, if_without_else, elif_chain)
        for x in (0.5, 1.5, 2.5, 3.5)
    ],
    *[case(f, x, name=f"{f.__name__}_{x}") for f in (defined_in_one_branch, different_names) for x in (-0.5, 1.5)],
    *[case(f, x, name=f"{f.__name__}_{x}") for f in (active_in_one_branch, constant_in_one_branch) for x in (0.5, 1.5)],
    case(different_shapes_in_branches, V),
    case(different_shapes_in_branches, -V, name="different_shapes_in_branches_else"),
    case(different_types_in_branches, 0.7, True, wrt=0),
    case(different_types_in_branches, 0.7, False, wrt=0, name="different_types_in_branches_else"),
    *[case(branch_rebinds_condition, x, name=f"branch_rebinds_condition_{x}") for x in (0.5, 1.5)],
    *[case(branch_rebinds_tested_value, x, name=f"branch_rebinds_tested_value_{x}") for x in (0.5, 1.5)],
    *[case(nested_branches, x, y, name=f"nested_branches_{x}_{y}") for x in (0.5, -1.5) for y in (0.4, -0.7)],
    *[case(empty_branch, x, name=f"empty_branch_{x}") for x in (0.5, -1.5)],
    *[case(used_in_two_branches, x, name=f"used_in_two_branches_{x}") for x in (0.3, 0.6, 0.9)],
    *[case(early_return, x, name=f"early_return_{x}") for x in (0.5, 1.5)],
    *[case(many_returns, x, name=f"many_returns_{x}") for x in (0.3, 1.3, 1.9, 3.5)],
    *[case(return_in_else, x, name=f"return_in_else_{x}") for x in (0.3, 1.3)],
    case(code_after_return, 0.6),
    case(for_range, 0.6),
    case(for_range_start_stop_step, 0.6),
    case(for_range_active_length, V),
    case(for_array, V),
    case(for_array_expression, V),
    case(for_rows, M),
    case(for_rows_and_items, M),
    case(for_list, 0.6, 1.3),
    case(for_tuple_of_pairs, 0.6, 1.3),
    case(for_constants, 0.6),
    case(for_strings, 0.6),
    case(for_enumerate, V),
    case(for_enumerate_start, V),
    case(for_zip, V, W),
    case(for_zip_uneven, V, 0.7),
    case(for_zip_enumerate, V, W),
    case(for_zip_three, V, W),
    case(for_reversed, V),
    case(for_reversed_range, V),
    case(for_reversed_list, 0.6, 1.3),
    case(for_dict_items, 0.6, 1.3),
    case(for_zero_iterations, 0.6),
    case(for_empty_array, np.zeros(0), 0.6),
    case(loop_variable_after, V),
    case(loop_item_after, V),
    case(loop_variable_existed, 0.6),
    case(loop_variable_shadows_argument, 0.6),
    case(loop_variable_rebound, V),
    case(loop_item_rebound, V),
    case(loop_carried_pair, 0.6),
    case(loop_overwrites_inputs, 0.6),
    case(loop_local_leaks, 0.6),
    case(loop_conditionally_bound, 0.6),
    case(loop_iterates_over_rebound_name, V),
    case(range_of_rebound_name, 0.6),
    case(branch_in_loop, V),
    case(branch_in_loop_on_carried, 0.6),
    *[case(loop_in_branch, x, name=f"loop_in_branch_{x}") for x in (0.3, -1.3)],
    case(while_counter, 0.6),
    case(while_active, 0.6),
    case(while_never, 0.6),
    case(while_true_break, 0.6),
    case(while_else, 0.6),
    *[case(while_else_broken, x, name=f"while_else_broken_{x}") for x in (0.1, 0.6)],
    case(while_truth_of_value, 0.6),
    case(newton, 2.6),
    case(break_in_middle, V),
    case(break_after_assignment, V),
    case(break_first, V),
    case(continue_some, V),
    case(continue_after_work, V),
    case(continue_in_while, 0.6),
    case(break_and_continue, V),
    case(for_else, V),
    case(for_else_broken, V),
    case(for_else_broken, np.abs(V), name="for_else_completed"),
    case(for_else_empty, 0.6),
    case(search_with_else, V),
    case(search_with_else, V * 100.0, name="search_with_else_found"),
    case(return_in_loop, V),
    case(return_in_loop_not_taken, V),
    case(return_in_nested_loops, M),
    case(return_in_nested_loops, M * 0.1, name="return_in_nested_loops_not_taken"),
    case(return_in_while_true, 0.9),
    case(break_inner_only, M),
    case(continue_outer_via_else, M),
    case(triple_nesting, 0.6),
    case(inner_lengths_vary, V),
    case(inner_zero_iterations, V),
    case(nested_same_variable, 0.6),
    case(deep_branches, 0.6),
    case(deep_branches, 0.35, name="deep_branches_shallow"),
    case(assertions, 0.6),
    case(raise_not_reached, 0.6),
    case(raise_in_else, 0.6),
    case(long_loop, 0.6),
    case(horner, V, 0.6),
    case(loop_appending_values, V),
    case(saved_array_rebound, V, W),
    case(print_in_loop, V),
    case(inner_loop_then_break, V, 0.7),
    case(inner_while_then_return, V, 0.7),
    case(empty_loop_with_else_in_branch, 0.7),
    case(two_returns_in_loop, 0.7),
    case(result_is_a_name, V, 0.7),
    case(break_skips_the_rest_of_its_turn, V, 0.7),
    case(break_skips_the_rest_of_its_turn, np.array([0.1, 0.3, 0.7, 0.2]), 0.7, name="break_in_third_turn"),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
