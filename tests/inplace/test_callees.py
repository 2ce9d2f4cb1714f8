"""Callees that write into what they get, return views of it, or both: with aliases, in loops, recursively."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, vjp
from s2sad.errors import UndefinedDerivativeError
from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.7, 1.3, 0.4, 0.9])
W = np.array([0.3, -0.2, 0.8, 1.1])


def _fill(a: Any, v: Any) -> Any:
    a[:] = v


def _double(a: Any) -> Any:
    a *= 2.0


def _axpy(y: Any, a: Any, x: Any) -> Any:
    y += a * x


def _first_row(m: Any) -> Any:
    return m[0]


def _tail(a: Any) -> Any:
    return a[1:]


def _both(a: Any) -> Any:
    a[0] = a[1] * a[2]
    return (a, a[1:])


def _same(a: Any, b: Any) -> Any:
    a[0] = 3.0 * b[1]
    return np.sum(a * b)


def _out_into(out: Any, x: Any) -> Any:
    out[:] = np.sin(x) * x


def _rec(a: Any, n: Any) -> Any:
    if n == 0:
        return
    a[n - 1] = a[n - 1] * a[n] + 0.5
    _rec(a, n - 1)


def _recv(a: Any) -> Any:
    if a.shape[0] < 2:
        return
    a[0] *= a[1]
    _recv(a[1:])


def _swap2(u: Any, v: Any) -> Any:
    v[1:-1] = u[1:-1] * u[:-2] + u[2:]
    return (v, u)


def _pure(x: Any) -> Any:
    return np.exp(x)


def _localfill(x: Any) -> Any:
    y = np.zeros(3)
    y[0] = x[0] * x[1]
    y[1] = x[2] ** 2
    y[2] = y[0] * y[1]
    return y


def _pair_fill(x: Any) -> Any:
    y = np.zeros(3)
    z = np.empty_like(x)
    z[:] = x * x
    y[:2] = z[:2]
    return (y, z)


def fills_a_view(x: Any) -> Any:
    a = x * 1.0
    _fill(a[1:3], x[0] * x[1])
    return np.sum(a * a)


def doubles_its_argument_twice(x: Any) -> Any:
    _double(x)
    _double(x)
    return np.sum(x * x)


def adds_into_each_other(x: Any, y: Any) -> Any:
    _axpy(y, x[0], x)
    _axpy(x, 2.0, y)
    return np.sum(x * y)


def writes_through_a_returned_row(x: Any) -> Any:
    m = np.outer(x, x)
    r = _first_row(m)
    r[0] = 5.0 * x[1]
    return np.sum(m**2)


def writes_through_a_returned_view(x: Any) -> Any:
    t = _tail(x)
    t[0] = t[1] * x[0]
    return np.sum(x * x)


def writes_through_two_results(x: Any) -> Any:
    a, b = _both(x)
    b[0] = a[0] * 3.0
    return np.sum(x * x)


def one_array_for_two_arguments(x: Any) -> Any:
    a = x * 2.0
    return _same(a, a)


def an_array_and_its_reverse(x: Any) -> Any:
    a = x * 2.0
    b = a[::-1]
    return _same(a, b)


def fills_an_empty_array(x: Any) -> Any:
    o = np.empty(x.shape)
    _out_into(o, x)
    _out_into(o, o * 2.0)
    return np.sum(o * o)


def output_is_the_input(x: Any) -> Any:
    o = np.empty(x.shape)
    _out_into(o, x)
    _out_into(o, o)
    return np.sum(o * o)


def recursion_over_elements(x: Any) -> Any:
    _rec(x, 3)
    return np.sum(x * x)


def recursion_over_views(x: Any) -> Any:
    _recv(x)
    return np.sum(x * x)


def swaps_what_it_returns(x: Any) -> Any:
    u = x * 1.0
    v = x.copy()
    for _ in range(3):
        u, v = _swap2(u, v)
    return np.sum(u * v) + np.sum(u**3)


def result_overwritten_by_the_caller(x: Any) -> Any:
    y = _pure(x)
    y[0] = 5.0
    return np.sum(y * y)


def result_read_and_then_overwritten(x: Any) -> Any:
    y = _pure(x)
    z = y * y
    y[0] = z[1] * 2
    return np.sum(y * z)


def fills_and_returns_an_array_of_its_own(x: Any) -> Any:
    y = _localfill(x)
    y[1] *= y[0]
    return np.sum(y * x[:3])


def fills_and_returns_two_arrays(x: Any) -> Any:
    y, z = _pair_fill(x)
    y[2] = z[0] * y[0]
    z *= 2.0
    return np.sum(y) + np.sum(z * z)


def writes_in_branches_and_loops(x: Any) -> Any:
    for i in range(1, 4):
        if x[i] > 0:
            _fill(x[i : i + 1], x[i - 1] * x[i])
        else:
            _double(x[:i])
    return np.sum(x * x)


def _g16(x: Any) -> Any:
    return x * x * x


def argument_overwritten_after_the_call(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        s = s + np.sum(_g16(x))
        x[i] = x[i + 1] * x[i]
    return s


def adds_into_zeros(x: Any) -> Any:
    out = np.zeros(4)
    _axpy(out, 3.0, x)
    _axpy(out, x[0], out)
    return np.sum(out * x)


def _ident(a: Any) -> Any:
    return a


def returns_its_argument(x: Any) -> Any:
    b = _ident(x)
    b[0] = x[1] * x[2]
    return np.sum(x * b)


def returns_one_of_two(x: Any) -> Any:
    a = x * 1.0
    b = x * 2.0
    c = _ident(a) if x[0] > 0 else _ident(b)
    c[1] = x[0] ** 2
    return np.sum(a * b)


def _writes_const(a: Any) -> Any:
    a[1] = 4.0


def writes_a_constant(x: Any) -> Any:
    a = x * x
    _writes_const(a)
    return np.sum(a * a)


def _addto(acc: Any, i: Any, v: Any) -> Any:
    acc[i] += v


def adds_into_one_element(x: Any) -> Any:
    acc = np.zeros(3)
    for i in range(4):
        _addto(acc, i % 3, x[i] ** 2)
    return np.sum(acc**2)


def _inner(a: Any) -> Any:
    a[0] = a[1] * a[1]


def _outer(a: Any) -> Any:
    _inner(a)
    _inner(a[1:])
    return a.sum()


def callee_of_a_callee(x: Any) -> Any:
    s = _outer(x)
    return s * x[0] * x[1]


def _setk(d: Any, *, k: Any = 2.0) -> Any:
    d[0] = d[1] * k


def keyword_argument_used_in_a_write(x: Any) -> Any:
    _setk(x, k=x[2])
    _setk(x)
    return np.sum(x * x)


def _lst(x: Any) -> Any:
    return [x[0], x[1]]


def returns_a_list_of_items(x: Any) -> Any:
    a = x * 1.0
    p = _lst(a)
    a[0] = 7.0 * a[1]
    return p[0] * p[1] + np.sum(a * a)


def _get(a: Any, i: Any) -> Any:
    return a[i]


def returns_an_item_or_a_view(x: Any) -> Any:
    a = x * 1.0
    s = _get(a, 0)
    a[0] = 3.0
    return s * np.sum(a) + _get(a, slice(0, 2)).sum()


def writes_into_rows(x: Any) -> Any:
    a = np.outer(x, x)
    for row in a:
        _double(row)
    for i in range(3):
        _fill(a[i], a[i + 1] * x[i])
    return np.sum(a * a)


def _test_then(a: Any) -> Any:
    if a[0] > 0.2:
        a[1] = a[0] * a[2]
    else:
        a[1] = 0.0
    a[0] = -1.0
    return a[1] ** 2


def branches_on_what_it_writes(x: Any) -> Any:
    s = _test_then(x)
    x[0] = x[2] * 5.0
    return s * np.sum(x)


def _scratch(x: Any, tmp: Any) -> Any:
    tmp[:] = x * x
    x += tmp
    tmp[:] = 0.0


def works_in_a_scratch_array(x: Any) -> Any:
    tmp = np.empty(4)
    _scratch(x, tmp)
    _scratch(x, tmp)
    return np.sum(x * x)


def _usesboth(a: Any, b: Any, c: Any) -> Any:
    a[:] = b * c
    b[0] = a[1]
    c += a


def writes_three_arguments(x: Any) -> Any:
    a = np.zeros(4)
    b = x * 2.0
    c = x.copy()
    _usesboth(a, b, c)
    _usesboth(c, a, b)
    return np.sum(a * b * c)


def one_array_for_three_arguments(x: Any) -> Any:
    a = x * 1.0
    _usesboth(a, a, a)
    return np.sum(a)


def overlapping_views_as_arguments(x: Any) -> Any:
    a = x * 1.0
    _axpy(a, 1.0, a)
    _axpy(a[1:], 2.0, a[:-1])
    return np.sum(a * a)


def called_in_a_while_loop(x: Any) -> Any:
    def_ = x[0]
    while x[0] < 3.0:
        _double(x)
        _axpy(x, 0.1, x)
    return np.sum(x * x) * def_


def _early(a: Any, n: Any) -> Any:
    for i in range(4):
        if i == n:
            return a[i] * 2.0
        a[i] = a[i] * a[3]
    return a[0]


def returns_early(x: Any) -> Any:
    s = _early(x, 2)
    return s * np.sum(x)


def returns_early_twice(x: Any) -> Any:
    y = _early(x, 2) + _early(x, 1)
    return y * x[0]


def _mixed(a: Any, x: Any) -> Any:
    a[0] = x
    y = x * a[1]
    return (y, a)


def returns_a_value_and_an_argument(x: Any) -> Any:
    y, b = _mixed(x, x[1] * 2.0)
    b[2] = y
    return np.sum(x * x) * y


def _under_another_name(b: Any) -> Any:
    c = b
    c += c * (3 * c)
    return c[:]


def view_of_an_argument_under_another_name(x: Any) -> Any:
    for _ in range(3):
        p = np.sin(x)
        x = _under_another_name(p)
    return np.sum(x * x)


def part_of_an_argument_under_another_name(x: Any) -> Any:
    for _ in range(2):
        p, q = np.split(x, [2])
        x = np.concatenate([_under_another_name(p) * 0.1, q])
    return np.sum(x * x)


CASES = [
    case(view_of_an_argument_under_another_name, V),
    case(part_of_an_argument_under_another_name, V),
    case(fills_a_view, V),
    case(doubles_its_argument_twice, V),
    case(adds_into_each_other, V, W),
    case(writes_through_a_returned_row, V),
    case(writes_through_a_returned_view, V),
    case(writes_through_two_results, V),
    case(one_array_for_two_arguments, V),
    case(an_array_and_its_reverse, V),
    case(fills_an_empty_array, V),
    case(output_is_the_input, V),
    case(recursion_over_elements, V),
    case(recursion_over_views, V),
    case(swaps_what_it_returns, V),
    case(result_overwritten_by_the_caller, V),
    case(result_read_and_then_overwritten, V),
    case(fills_and_returns_an_array_of_its_own, V),
    case(fills_and_returns_two_arrays, V),
    case(writes_in_branches_and_loops, V),
    case(argument_overwritten_after_the_call, V),
    case(adds_into_zeros, V),
    case(returns_its_argument, V),
    case(returns_one_of_two, V),
    case(writes_a_constant, V),
    case(adds_into_one_element, V),
    case(callee_of_a_callee, V),
    case(keyword_argument_used_in_a_write, V),
    case(returns_a_list_of_items, V),
    case(returns_an_item_or_a_view, V),
    case(writes_into_rows, V),
    case(branches_on_what_it_writes, V),
    case(works_in_a_scratch_array, V),
    case(writes_three_arguments, V),
    case(one_array_for_three_arguments, V),
    case(overlapping_views_as_arguments, V),
    case(called_in_a_while_loop, V),
    case(returns_early, V),
    case(returns_early_twice, V),
    case(returns_a_value_and_an_argument, V),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def _shift(a: Any, b: Any) -> Any:
    a[0] = 2.0 * b[1]
    return np.sum(a * b)


def test_arguments_that_share_memory_are_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match="share memory"):
        grad(_shift, (0, 1))(V, V)
    with pytest.raises(UndefinedDerivativeError, match="share memory"):
        grad(_shift)(V[1:], V[:-1])
    a_bar, b_bar = grad(_shift, (0, 1))(V, V.copy())
    np.testing.assert_array_equal(a_bar, [0.0, 1.3, 0.4, 0.9])
    np.testing.assert_array_equal(b_bar, [2.6, 2.7, 0.4, 0.9])


def test_a_linear_callee_needs_no_forward_part() -> None:
    source = grad(_twice_a_step).source_for(V)
    assert "def _double_reverse(a_bar):" in source
    assert "forward" not in source


def _twice_a_step(x: Any) -> Any:
    _double(x)
    _double(x)
    return np.sum(x)


def test_pullback_of_a_function_that_returns_what_it_wrote() -> None:
    value, pullback = vjp(_fill_and_return, V)
    np.testing.assert_array_equal(value[0], [1.3, 1.3, 0.4, 0.9])
    (x_bar,) = pullback((np.ones(4), 2.0))
    np.testing.assert_array_equal(x_bar, [0.0, 2.0, 3.0, 1.0])


def _fill_and_return(x: Any) -> Any:
    x[0] = x[1]
    return x, x[2]


def _sweep(u: Any, w: Any) -> None:
    for i in range(1, len(u)):
        u[i] -= 0.3 * u[i - 1] * w[i]


def _weights_written_afterwards(u: Any, w: Any) -> Any:
    _sweep(u, w)
    w[2] = 5.0
    return np.sum(u * u)


def test_what_the_caller_writes_afterwards_is_saved_by_the_callee() -> None:
    """What is only read by the callee is not what it was any more when the reverse half runs."""
    check_gradient(case(_weights_written_afterwards, V, W))
