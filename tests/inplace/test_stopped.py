"""`stop_gradient` of arrays that are written: the values of the moment are constants, what is written later is not."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, stop_gradient, value_and_grad
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

Q = 2.0
Scalar = Callable[[float], Any]


def first(x: Any) -> Any:
    return x[0]


def put(x: Any, q: Any) -> None:
    x[0] = q


def scaled(q: Any) -> Any:
    z = stop_gradient(np.full(3, 0.4))
    z *= q
    return np.sum(z)


def scaled_by_another_name(q: Any) -> Any:
    z = stop_gradient(np.full(3, 0.4))
    y = z
    z *= q
    return np.sum(y)


def stored(q: Any) -> Any:
    z = stop_gradient(np.full(3, 0.4))
    z[0] = q * q
    z[1] *= q
    return np.sum(z)


def view_from_a_function(q: Any) -> Any:
    z = stop_gradient(np.full((3, 3), 0.4))
    row = first(z)
    row[0] = q
    return np.sum(z)


def written_by_a_function(q: Any) -> Any:
    z = stop_gradient(np.full((3, 3), 0.4))
    put(z, q)
    return np.sum(z)


def held_in_a_list(q: Any) -> Any:
    z = stop_gradient(np.full((3, 3), 0.4))
    held = [z]
    held[0][0] = q
    return np.sum(z)


def one_of_two(q: Any) -> Any:
    z = stop_gradient(np.full((3, 3), 0.4))
    u = np.zeros((3, 3))
    p = z if q > 1.0 else u
    p[0] = q
    return np.sum(z)


def given_as_out(q: Any) -> Any:
    z = stop_gradient(np.full((3, 3), 0.4))
    np.add(z, q, out=z)
    return np.sum(z)


def filled(q: Any) -> Any:
    z = stop_gradient(np.full((3, 3), 0.4))
    z.fill(q)
    return np.sum(z)


def rows(q: Any) -> Any:
    z = stop_gradient(np.full((3, 3), 0.4))
    for row in z:
        row[0] *= q
    return np.mean(z)


def rows_counted(q: Any) -> Any:
    z = stop_gradient(np.full((3, 3), 0.4))
    for i, row in enumerate(z):
        row *= q + i
    return np.mean(z)


def rows_of_two(q: Any) -> Any:
    z = stop_gradient(np.full((3, 3), 0.4))
    for row, other in zip(z, z.copy()):  # noqa: B905
        row += q * other
    return np.sum(z)


def items_of_a_list(q: Any) -> Any:
    z = stop_gradient([np.full((3, 3), 0.4), np.zeros((3, 3))])
    for item in z:
        item += q
    return np.sum(z[0]) + np.sum(z[1])


def item_of_a_dict(q: Any) -> Any:
    z = stop_gradient({"a": np.full((3, 3), 0.4)})
    z["a"][0] = q
    return np.sum(z["a"])


def unpacked(q: Any) -> Any:
    z = stop_gradient(np.full((3, 3), 0.4))
    _, row, _ = z
    row[0] = q
    return np.sum(z)


def exchanged(q: Any) -> Any:
    z = stop_gradient(np.full((3, 3), 0.4))
    other = np.zeros((3, 3))
    for _ in range(2):
        z[0] = q
        z, other = other, z
    return np.sum(z)


def viewed(q: Any) -> Any:
    z = stop_gradient(np.full((3, 3), 0.4))
    z.reshape(-1)[0] = q
    z.T[1] = q
    for part in np.split(z, 3):
        part *= q
    return np.sum(z)


def taken_from_what_varies(q: Any) -> Any:
    z = stop_gradient(np.full(3, 1.0) * q)
    z[0] = q
    return np.sum(z * q)


# Of a new object: an array of constants. The oracle holds the constant still where it depends on q.
CONSTANT = [
    scaled,
    scaled_by_another_name,
    stored,
    view_from_a_function,
    written_by_a_function,
    held_in_a_list,
    one_of_two,
    given_as_out,
    filled,
    rows,
    rows_counted,
    rows_of_two,
    items_of_a_list,
    item_of_a_dict,
    unpacked,
    exchanged,
    viewed,
]


@pytest.mark.parametrize("f", CONSTANT, ids=lambda f: f.__name__)
def test_new_object(f: Scalar) -> None:
    value, gradient = value_and_grad(f)(Q)
    assert value == f(Q)
    assert gradient == pytest.approx(numeric_gradient(f, (Q,)), rel=1e-8)


def test_new_object_that_varies() -> None:
    # d/dq (q + c + c) q with c = q held still
    assert value_and_grad(taken_from_what_varies)(Q) == (pytest.approx(12.0), pytest.approx(4 * Q))


def read_before(q: Any) -> Any:
    a = np.full(3, 1.0) * q
    total = 0.0
    for k in range(3):
        s = stop_gradient(a)
        total = total + s[0] * a[1]
        a[0] = q * k
        a[1] = total * 0.5
    return total + np.sum(a)


def by_hand(q: float) -> float:
    # One iteration after another, with s[0] a number.
    d_a, a, total, d_total = np.ones(3), np.full(3, q), 0.0, 0.0
    for k in range(3):
        total, d_total = total + a[0] * a[1], d_total + a[0] * d_a[1]
        a[0], d_a[0] = q * k, k
        a[1], d_a[1] = total * 0.5, d_total * 0.5
    return float(d_total + np.sum(d_a))


def overwritten_with_a_constant(q: Any) -> Any:
    a = np.full(3, 1.0) * q
    s = stop_gradient(a)
    a[0] = 1.0
    return np.sum(s)


def constant_written_through(q: Any) -> Any:
    a = np.full(3, 1.0) * q
    s = stop_gradient(a)
    s[0] = s[1] * 2.0
    return np.sum(a)


def sorted_through(q: Any) -> Any:
    a = np.array([3.0, 1.0]) * q
    s = stop_gradient(a)
    s.sort()
    return np.sum(a)


def iterated(q: Any) -> Any:
    y = np.full((3, 3), 1.0) * q
    y[0] = 2.0
    total = 0.0
    for row in stop_gradient(y):
        total = total + np.sum(row)
    return total + np.sum(y * q)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (read_before, by_hand(Q)),
        (overwritten_with_a_constant, 0.0),
        (constant_written_through, 2.0),
        (sorted_through, 0.0),
        (iterated, 2 * 6 * Q + 3 * 2.0),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_object_with_another_name(f: Scalar, expected: float) -> None:
    assert value_and_grad(f)(Q) == (f(Q), pytest.approx(expected))


def stale(q: Any) -> Any:
    a = np.zeros(3)
    a[0] = q
    z = stop_gradient(a)
    a[1] = q * q
    return np.sum(z) + np.sum(a)


def stale_alone(q: Any) -> Any:
    a = np.ones(3)
    s = stop_gradient(a)
    a[0] = q
    return np.sum(s)


def stale_in_the_next_iteration(q: Any) -> Any:
    a = np.ones(3)
    s = stop_gradient(a)
    total = 0.0
    for k in range(3):
        total = total + s[0] * a[1]
        a[0] = q * k
    return total + np.sum(a)


def stale_when_left(q: Any) -> Any:
    a = np.ones(3)
    s = stop_gradient(a)
    n = 0
    while n < 3:
        a[n] = q
        if n == 1:
            break
        n += 1
        s = stop_gradient(a)
    return np.sum(s) + np.sum(a)


def stale_in_one_branch(q: Any) -> Any:
    a = np.ones(3) * q
    s = stop_gradient(a)
    if q > 1.0:
        a[0] = q * q
    return np.sum(s) + np.sum(a)


def stale_number_of_an_iteration(q: Any) -> Any:
    a = np.ones(3) * q
    total = 0.0
    for v in stop_gradient(a):
        total = total + v
        a[2] = q
    return total


def stale_row_of_an_iteration(q: Any) -> Any:
    a = np.ones((2, 3)) * q
    total = 0.0
    for v in stop_gradient(a):
        total = total + np.sum(v)
        a[1] = q
    return total


def stale_item(q: Any) -> Any:
    a, b = np.zeros(3), np.zeros(3)
    s = stop_gradient((a, b))
    a[1] = q
    return np.sum(s[0])


def stale_by_a_call(q: Any) -> Any:
    a = np.zeros(3) * q
    s = stop_gradient(a)
    put(a, q)
    return np.sum(s)


def stopped_twice(q: Any) -> Any:
    z = stop_gradient(np.zeros(3))
    w = stop_gradient(z)
    w[0] = q
    return np.sum(z)


def added_through(q: Any) -> Any:
    a = np.ones(3) * q
    s = stop_gradient(a)
    s += 1.0
    return np.sum(a)


def element_added_through(q: Any) -> Any:
    a = np.zeros(3) * q
    s = stop_gradient(a)
    s[0] += 1.0
    return np.sum(a)


def written_through_by_a_call(q: Any) -> Any:
    a = np.zeros(3) * q
    s = stop_gradient(a)
    put(s, q)
    return np.sum(a)


def written_through_where_it_is_large(q: Any) -> Any:
    """The other elements stay what they were."""
    a = np.arange(3.0) * q
    s = stop_gradient(a)
    np.putmask(s, s > 2.0, 0.5)
    return np.sum(a)


def copied_through_where_it_is_large(q: Any) -> Any:
    a = np.arange(3.0) * q
    s = stop_gradient(a)
    np.copyto(s, 0.5, where=s > 2.0)
    return np.sum(a)


def copied_through_by_position(q: Any) -> Any:
    a = np.arange(3.0) * q
    s = stop_gradient(a)
    np.copyto(s, 0.5, "same_kind", s > 2.0)
    return np.sum(a)


def computed_through_where_it_is_large(q: Any) -> Any:
    a = np.arange(3.0) * q
    s = stop_gradient(a)
    np.add(s, 1.0, out=s, where=s > 2.0)
    return np.sum(a)


def stopped_in_a_list(q: Any) -> Any:
    a = np.arange(3.0) * q
    items = [stop_gradient(a)]
    items[0][1] = 0.3
    return np.sum(a)


def stopped_in_a_tuple_in_a_dict(q: Any) -> Any:
    a = np.arange(3.0) * q
    items = {"a": (stop_gradient(a)[1:], 2)}
    items["a"][0][1] = 0.3
    return np.sum(a)


def stopped_list_in_a_list(q: Any) -> Any:
    a = np.arange(3.0) * q
    items = [stop_gradient([a])]
    items[0][0][1] = 0.3
    return np.sum(a)


def stopped_in_a_list_that_is_run_over(q: Any) -> Any:
    a = np.arange(3.0) * q
    items = [stop_gradient(a)]
    for v in items:
        v[1] = 0.3
    return np.sum(a)


def itself(a: Any) -> Any:
    return a


def stopped_and_handed_through(q: Any) -> Any:
    a = np.arange(3.0) * q
    s = itself(stop_gradient(a))
    s[1] = 0.3
    return np.sum(a)


def stopped_and_handed_through_in_a_list(q: Any) -> Any:
    a = np.arange(3.0) * q
    items = [itself(stop_gradient(a))]
    items[0][1] = 0.3
    return np.sum(a)


W = np.ones(3)


def of_the_module(q: Any) -> Any:
    z = stop_gradient(W)
    z *= q
    return np.sum(z)


REFUSED = [
    stale,
    stale_alone,
    stale_in_the_next_iteration,
    stale_when_left,
    stale_in_one_branch,
    stale_number_of_an_iteration,
    stale_row_of_an_iteration,
    stale_item,
    stale_by_a_call,
    stopped_twice,
    added_through,
    element_added_through,
    written_through_by_a_call,
    written_through_where_it_is_large,
    copied_through_where_it_is_large,
    copied_through_by_position,
    computed_through_where_it_is_large,
    stopped_in_a_tuple_in_a_dict,
    stopped_list_in_a_list,
    stopped_and_handed_through,
    stopped_and_handed_through_in_a_list,
    of_the_module,
]


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_refused(f: Scalar) -> None:
    """One name would have to say of each element whether it is a constant."""
    before = W.copy()
    with pytest.raises(UnsupportedError, match=r":\d+:\d+: error") as refusal:
        value_and_grad(f)(Q)
    assert "copy" in str(refusal.value)
    np.testing.assert_array_equal(W, before)


def stopped_twice(x: Any) -> Any:
    a = stop_gradient(x * 2.0)
    b = stop_gradient(a)
    put(a, x[0])
    return np.sum(a) * stop_gradient(np.sum(b))


def stored_into_itself(x: Any) -> Any:
    a = stop_gradient(x * 2.0)
    a[1] = stop_gradient(a)[0]
    put(a, x[0])
    return np.sum(a * x)


def test_another_stop_leaves_an_array_of_constants_what_it_is() -> None:
    x, x_dot = np.array([0.5, 1.2, -0.7]), np.array([1.0, 2.0, 3.0])
    assert jvp(stopped_twice, (x,), (x_dot,))[1] == pytest.approx(x[0] + 2.0 * x[1:].sum())
    gradient = np.array([2 * x[0], 2 * x[0], 2 * x[2]])
    np.testing.assert_allclose(jvp(stored_into_itself, (x,), (x_dot,))[1], gradient @ x_dot)
    np.testing.assert_allclose(value_and_grad(stored_into_itself)(x)[1], gradient)


def stopped_under_a_key(q: Any) -> Any:
    a = np.arange(3.0) * q
    held = {"v": stop_gradient(a)}
    held["v"][1] = 0.3
    return np.sum(a)


def stopped_and_appended(q: Any) -> Any:
    a = np.arange(3.0) * q
    held: list[Any] = []
    held.append(stop_gradient(a))
    held[0][1] = 0.3
    return np.sum(a)


def stopped_beside_itself(q: Any) -> Any:
    a = np.arange(3.0) * q
    held = (stop_gradient(a), a)
    held[0][1] = 0.3
    return np.sum(a)


@pytest.mark.parametrize(
    "f",
    [
        stopped_in_a_list,
        stopped_in_a_list_that_is_run_over,
        stopped_under_a_key,
        stopped_and_appended,
        stopped_beside_itself,
    ],
)
def test_what_is_written_through_a_container_is_right_or_refused(f: Scalar) -> None:
    """A constant takes the place of an element, whose derivative goes."""
    for derivative in (grad(f), lambda q: jvp(f, (q,), (1.0,))[1]):
        with contextlib.suppress(UnsupportedError):
            assert derivative(Q) == 2.0
