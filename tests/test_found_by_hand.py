"""Programs whose gradient was wrong or that failed, found by trying: results, arguments, arrays without axes."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad, vjp
from s2sad.errors import ArgumentError, UndefinedDerivativeError, UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal, from_file
from tests.oracle import numeric_gradient

V = np.array([0.7, 1.3])
W = np.array([0.5, -0.2])


# --- results that hold displays


def pairs(v: Any) -> Any:
    return (v * 2, v + 1), v * 3


def pair_in_a_pair(x: Any) -> Any:
    (a, b), c = pairs(x)
    return np.sum(a * b * c)


def pair_kept_whole(x: Any) -> Any:
    p, q = pairs(x)
    return np.sum(p[0] * p[1] * q)


def moments(v: Any) -> Any:
    return {"mean": np.mean(v), "all": v * 2}, len(v)


def dict_in_a_pair(x: Any) -> Any:
    d, n = moments(x)
    return np.sum(d["all"] * d["mean"]) * n


def multiples(v: Any) -> Any:
    return [v * k for k in range(1, 3)], v


def comprehension_in_a_pair(x: Any) -> Any:
    many, v = multiples(x)
    return np.sum(many[0] * many[1] * v)


def parts(a: Any) -> Any:
    return [a[:1], a[1:]], a


def views_in_a_pair(x: Any) -> Any:
    (u, v), w = parts(x)
    return np.sum(u * v * w)


def views_in_a_pair_written(x: Any) -> Any:
    y = x * 2
    (u, v), w = parts(y)
    u *= 3
    return np.sum(u * v * w) + np.sum(y)


def deep(v: Any) -> Any:
    return ((v * 2, v),), dict(a=v * v)  # noqa: C408


def pair_in_a_tuple_of_one(x: Any) -> Any:
    ((a, b),), d = deep(x)
    return np.sum(a * b * d["a"])


# --- displays given to what writes into them


def double_first(values: Any) -> None:
    values[0][0] *= 2.0


def double_a(values: Any) -> None:
    values["a"][0] *= 2.0


def first(values: Any) -> Any:
    return values[0]


def given_a_list(x: Any) -> Any:
    a, b = x.copy(), x * 2
    double_first([a, b])
    return np.sum(a * b)


def given_a_tuple(x: Any) -> Any:
    a, b = x.copy(), x * 2
    double_first((b, a))
    return np.sum(a * b)


def given_a_dict(x: Any) -> Any:
    a, b = x.copy(), x * 2
    double_a({"a": a, "b": b})
    return np.sum(a * b)


def given_a_list_and_written(x: Any) -> Any:
    a, b = x.copy(), x * 2
    r = first([a, b])
    r[0] *= 2
    return np.sum(a * b)


# --- arrays without axes


def factor_without_axes(x: Any) -> Any:
    t = x * 1.0
    total = np.mean(t < 0.9)
    factor = np.array(total)
    factor[...] = np.mean(t)
    t[:] *= factor
    return np.mean(t)


def transpose_without_axes(x: Any) -> Any:
    a = np.array(x[0] * x[1])
    b = a.T
    a *= x[0]
    return b * x[1]


def row_without_axes(x: Any) -> Any:
    a = x * x
    y = a[1, ...]
    y *= 2
    y += x[0]
    a[0, ...] = x[1] * y
    return np.sum(a)


FUNCTIONS = [
    *(pair_in_a_pair, pair_kept_whole, dict_in_a_pair, comprehension_in_a_pair, views_in_a_pair),
    *(views_in_a_pair_written, pair_in_a_tuple_of_one, given_a_list, given_a_tuple, given_a_dict),
    *(given_a_list_and_written, factor_without_axes, transpose_without_axes, row_without_axes),
]
CASES = [case(f, x, name=f"{f.__name__}_{n}") for f in FUNCTIONS for n, x in enumerate((V, W))]


# --- containers of the caller that change


def item_replaced_and_others_written(values: Any) -> Any:
    values[0] = values[1] * 2.0
    for i in range(2):
        values[1][i] *= 2.0
    return np.sum(values[0] * values[1])


def items_swapped_in_a_loop(d: Any) -> Any:
    for _ in range(3):
        d["u"], d["v"] = d["v"], d["u"]
        d["v"] *= d["u"]
    return np.sum(d["u"] + d["v"])


def item_appended(values: Any) -> Any:
    values.append(values[0] * values[1])
    for i in range(2):
        values[1][i] *= 2.0
    return np.sum(values[2] * values[1])


@dataclasses.dataclass
class State:
    """Two fields that change places."""

    u: Any
    v: Any


def fields_swapped_in_a_loop(s: Any) -> Any:
    for _ in range(3):
        s.u, s.v = s.v, s.u
        s.v *= s.u
    return np.sum(s.u + s.v)


CASES += [
    case(item_replaced_and_others_written, [V, W]),
    case(items_swapped_in_a_loop, {"u": V, "v": W}),
    case(item_appended, [V, W]),
    case(fields_swapped_in_a_loop, State(V, W)),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def test_a_pullback_of_a_result_that_holds_a_pair() -> None:
    _, pullback = vjp(pairs, V)
    one = np.ones(2)
    np.testing.assert_array_equal(pullback(((one, one), one))[0], [6.0, 6.0])


# --- what is read or changed at once, where nobody knows whether it is a number or a row


def swapped_rows(a: Any) -> Any:
    a[0], a[1] = a[1], a[0]
    return np.sum(a[:, 0])


def first_with_second(a: Any) -> Any:
    s = a[0]
    t = s
    s += a[1]
    return np.sum(s * t)


def augmented_item(a: Any) -> Any:
    views = [a[:2], a[1:3]]
    views[1] *= 3.0
    return np.sum(a * a)


def test_rows_that_change_places() -> None:
    # Both are views: the second assignment reads what the first has written.
    got = grad(swapped_rows)(np.arange(9.0).reshape(3, 3))
    np.testing.assert_array_equal(got, [[0, 0, 0], [2, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(grad(augmented_item)(np.ones(3)), [2, 18, 18])


@pytest.mark.parametrize("f", [swapped_rows, augmented_item])
def test_a_general_text_does_not_take_rows_for_numbers(f: Any) -> None:
    rows = np.arange(9.0).reshape(3, 3)
    general = from_file(grad(f).source)
    np.testing.assert_array_equal(general(rows), grad(f)(rows))


def test_a_general_text_does_not_take_numbers_for_rows() -> None:
    general, rows = from_file(grad(first_with_second).source), np.arange(9.0).reshape(3, 3)
    np.testing.assert_allclose(general(rows.copy()), numeric_gradient(first_with_second, (rows,)), atol=1e-9)
    with pytest.raises(UndefinedDerivativeError, match="types do not say whether it is an array"):
        general(np.ones(3))


# --- parts of one array stored into another, copies that stay copies


def real_into_imaginary(x: Any) -> Any:
    z = np.outer(x, x) * (1 + 2j)
    z.imag[0] = z.real[1]
    return np.sum(z.imag * z.real**2)


def parts_exchanged(x: Any) -> Any:
    z = x * (1 + 2j)
    z.real, z.imag = z.imag, z.real
    y = x * 2.0
    y[0] = x[1]
    z.imag[:] = y
    return np.sum(np.abs(z) ** 2 * z.imag)


# --- what is known of numbers


BYTES = np.array([200, 16], np.uint8)


def enumerated_bytes(x: Any) -> Any:
    s = 0.0
    for i, v in enumerate(BYTES):
        s = s + np.arctan2(x[i], v)
    z = tuple(BYTES)
    return s + np.arctan2(x[0], z[0])


def largest_byte(x: Any) -> Any:
    return np.arctan2(x[0], max(BYTES[0], x[1]))


def grown_from_integers(x: Any) -> Any:
    h = np.array([0, 0])
    for _ in range(3):
        h = np.tanh(x * h[::-1] + x) + h
    return np.sum(h)


def integers_on_one_path(x: Any) -> Any:
    y = np.arange(2)
    if x[1] < 0:
        y = y * x
    return np.sum(y[1:] * y[:1] * x[1:])


def integers_and_their_sum(x: Any) -> Any:
    z = np.arange(2) * 1
    z = z * x + np.sum(z[1:])
    return np.sum(z)


# --- adjoints of what has no value before a loop


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


MORE = [
    *(real_into_imaginary, parts_exchanged, enumerated_bytes, largest_byte, grown_from_integers, integers_on_one_path),
    *(integers_and_their_sum, vector_of_last_turn, pair_of_vectors_of_last_turn, halves_of_last_turn),
]


@pytest.mark.parametrize(
    "c", [case(f, x, name=f"{f.__name__}_{n}") for f in MORE for n, x in enumerate((V, W))], ids=str
)
def test_gradients_of_more(c: Case) -> None:
    check_primal(c)
    check_gradient(c)


def filled_with_the_larger(x: Any) -> Any:
    y = np.full(2, max(3, 2.5))
    y[0] = x[0] * 10
    return np.sum(y)


def filled_with_a_product(x: Any) -> Any:
    y = np.full(2, math.prod([3, 2]))
    y[0] = x[0] * 10
    return np.sum(y)


@pytest.mark.parametrize("f", [filled_with_the_larger, filled_with_a_product])
def test_arrays_filled_with_integers_hold_no_derivative(f: Any) -> None:
    with pytest.raises(UndefinedDerivativeError, match="dtype int"):
        grad(f)(V)


def transposed_by_sublists(x: Any) -> Any:
    y = x * 1.0
    v = np.einsum(y, [0, 1], [1, 0])
    v[0] = 2.0 * v[1]
    return np.sum(y * y * x)


def reduced_into(x: Any) -> Any:
    y = np.zeros(2)
    np.add.reduce(np.stack([x, x]), 0, None, y)
    return np.sum(y * y)


def median_into(x: Any) -> Any:
    y = np.zeros(2)
    np.median(np.stack([x, x]), 0, y)
    return np.sum(y * y)


def test_a_view_by_lists_of_axes_that_is_written_is_refused() -> None:
    with pytest.raises(UnsupportedError):
        grad(transposed_by_sublists)(np.outer(V, V))


def test_a_reduction_by_a_method_of_a_ufunc_into_an_array() -> None:
    np.testing.assert_allclose(grad(reduced_into)(V), 8.0 * V)


def test_a_result_given_by_position_is_written() -> None:
    np.testing.assert_allclose(grad(median_into)(V[:2]), 2 * V[:2])


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


def with_a_name(x: Any) -> Any:
    return x * 2, "name"


def test_adjoints_of_what_is_no_number() -> None:
    _, pullback = vjp(with_a_name, V)
    np.testing.assert_array_equal(pullback((np.ones(2), "name"))[0], [2.0, 2.0])
    for wrong in ("3", [None, None]):
        with pytest.raises(ArgumentError, match="a number or an array"):
            pullback((wrong, "name"))


def stepped(rate: Any, p: Any, g: Any) -> Any:
    return p - rate * g


def counted_in_a_call(x: Any, n: int) -> Any:
    p = stepped(x[0], x, x * x[1])
    return np.sum(p) * n


def counted_behind_a_loop(x: Any, n: int) -> Any:
    p = x * 1.0
    for _ in range(n):
        p = stepped(x[0], p, p * x[1])
    return np.sum(p) * n * (n - 1)


def counted_and_written(x: Any, n: int) -> Any:
    p = stepped(x[0], np.outer(x, x), x)
    q = np.zeros((2, 2))
    q[:] = p
    q[0] *= x
    return np.sum(q) * n


@pytest.mark.parametrize("f", [counted_in_a_call, counted_behind_a_loop, counted_and_written])
def test_a_sum_times_an_integer_has_an_adjoint_of_floats(f: Any) -> None:
    np.testing.assert_allclose(grad(f)(V, 3), numeric_gradient(f, (V, 3)), rtol=1e-8)
    np.testing.assert_allclose(vjp(lambda x: f(x, 3), V)[1](1)[0], numeric_gradient(f, (V, 3)), rtol=1e-8)
