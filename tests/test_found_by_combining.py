"""Programs whose value or gradient was wrong, found by combining ways to share, to hold and to write at random.

Each is a function of a number that is differentiated and of constants. What is computed is what Python computes, and
the derivative is that by differences; or the program is refused.
"""

from __future__ import annotations

import contextlib
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from s2sad import hvp, jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient

X = 0.5
RIGHT: list[Callable[..., Any]] = []
REFUSED: list[Callable[..., Any]] = []
RECORD = np.dtype([("u", float), ("v", float)])


def constants() -> tuple[float, np.ndarray, np.ndarray, Any]:
    return 0.8, np.array([0.8, 0.4, 0.1]), np.array([(1.0, 2.0), (3.0, 4.0)], RECORD), RECORD


def right(f: Callable[..., Any]) -> Callable[..., Any]:
    RIGHT.append(f)
    return f


def refused(f: Callable[..., Any]) -> Callable[..., Any]:
    REFUSED.append(f)
    return f


# --- what is done after the result was found


def adds_afterwards(q: Any, items: list[Any]) -> Any:
    try:
        return q
    finally:
        items.append(q)


@refused
def list_that_a_callee_changes_after_its_return(x: Any, k: Any, *_: Any) -> Any:
    items = [x, k]
    adds_afterwards(k, items)
    return sum(items)


def makes_and_adds(q: Any, k: Any) -> list[Any]:
    items = [q, k]
    try:
        return items
    finally:
        items.append(q)


@refused
def list_that_changes_after_it_is_returned(x: Any, k: Any, *_: Any) -> Any:
    return sum(makes_and_adds(x, k))


def makes_and_adds_to_one_of_two(q: Any, k: Any) -> Any:
    items = [q, k]
    try:
        return k, items
    finally:
        items.append(q)


@refused
def list_in_a_tuple_that_changes_after_it_is_returned(x: Any, k: Any, *_: Any) -> Any:
    r, items = makes_and_adds_to_one_of_two(x, k)
    return r * sum(items)


def writes_afterwards(a: Any, t: Any) -> Any:
    try:
        return a
    finally:
        a[0] = t


@right
def array_that_changes_after_it_is_returned(x: Any, k: Any, *_: Any) -> Any:
    return np.sum(writes_afterwards(np.array([k, k]), x) * k)


@right
def number_that_is_returned_before_its_list_changes(x: Any, k: Any, *_: Any) -> Any:
    items = [x, k]
    try:
        return items[0] * items[1]
    finally:
        items.append(k)


# --- attributes that are no attributes


class Box:
    def __init__(self, v: Any, w: Any = 0.4) -> None:
        self.v = v
        self.w = w

    def scaled(self) -> Any:
        return self.v * 3.0


class Other(Box):
    def scaled(self) -> Any:
        return self.v * 5.0


@refused
def dict_of_an_object_is_set(x: Any, k: Any, *_: Any) -> Any:
    o = Box(x)
    o.__dict__ = {"v": k, "w": x * k}
    return o.v * o.w


@refused
def dict_of_an_object_is_set_by_name(x: Any, k: Any, *_: Any) -> Any:
    o = Box(x)
    object.__setattr__(o, "__dict__", {"v": k, "w": x * k})
    return o.v * o.w


@refused
def class_of_an_object_is_set(x: Any, *_: Any) -> Any:
    o = Box(x)
    o.__class__ = Other
    return o.scaled()


# --- items of arrays that are no numbers


@right
def record_of_an_array(x: Any, k: Any, *_: Any) -> Any:
    z = np.zeros(2, dtype=[("u", float), ("v", float)])
    z[1]["v"] = k
    return z["v"][1] * x


@right
def record_of_an_array_under_a_name(x: Any, k: Any, *_: Any) -> Any:
    z = np.zeros(2, dtype=RECORD)
    r = z[1]
    r["v"] = k
    return z["v"][1] * x


@right
def records_in_a_loop(x: Any, k: Any, a: Any, z: Any, *_: Any) -> Any:
    for r in z:
        r["v"] *= k
    return z["v"][1] * x


@right
def records_of_an_argument(x: Any, k: Any, a: Any, z: Any, dtype: Any) -> Any:
    y = np.zeros_like(z)
    r, q = y[1], np.zeros(2, z.dtype)[0]
    r["u"] = k
    q["u"] = k
    w = np.zeros(2, dtype)
    w[0]["v"] = k
    return y["u"][1] * q["u"] * w["v"][0] * x


@right
def records_of_another_shape(x: Any, k: Any, a: Any, z: Any, *_: Any) -> Any:
    r = z.reshape(2, 1)[1, 0]
    r["u"] = k
    return z["u"][1] * x


@right
def object_of_an_array_of_a_dtype(x: Any, k: Any, a: Any, *_: Any) -> Any:
    z = np.empty(2, dtype=np.dtype(object))
    z[0] = a
    b = z[0]
    b[0] = 3.0
    return a[0] * x


@right
def object_of_an_array_by_item(x: Any, k: Any, a: Any, *_: Any) -> Any:
    z = np.empty(2, dtype=object)
    z[0] = a
    z.item(0)[0] = 3.0
    return a[0] * x


@right
def object_of_an_array_of_another_shape(x: Any, k: Any, a: Any, *_: Any) -> Any:
    z = np.empty(2, dtype=object)
    z[0] = a
    y = z.reshape(2, 1)
    y[0, 0][0] = 3.0
    return a[0] * x


@right
def object_of_arrays_that_are_joined(x: Any, k: Any, a: Any, *_: Any) -> Any:
    z = np.empty(2, dtype=object)
    z[0] = a
    y, w = np.concatenate([z, z]), np.stack([z, z])
    y[2][0] = 3.0
    w[1, 0][1] = 2.0
    return a[0] * a[1] * x


@right
def object_that_is_the_largest(x: Any, k: Any, a: Any, *_: Any) -> Any:
    z = np.empty(1, dtype=object)
    z[0] = a
    b, c = np.max(z), z.sum()
    b[0] = 3.0
    c[1] = 2.0
    return a[0] * a[1] * x


@right
def numbers_of_a_joined_dtype(x: Any, k: Any, a: Any, *_: Any) -> Any:
    z = np.zeros(2, dtype=np.result_type(x, a))
    z[0] = x
    y = np.zeros(2, dtype=float if k > 0.0 else complex)
    y[1] = z[0] * k
    return y[1] * x


# --- what changes an object as a whole, or is given it by its class


@dataclass
class Data:
    v: Any
    w: Any = 0.4


def begun_again(p: Any) -> None:
    p.__init__(3.0, 2.0)


@right
def list_and_dict_are_initialised_again(x: Any, k: Any, *_: Any) -> Any:
    items, table = [k], {"q": k}
    before = items[0] * table["q"]
    items.__init__([5.0])  # type: ignore[misc]
    dict.__init__(table, q=3.0)
    return x * items[0] * table["q"] * before


@right
def state_of_an_array_is_set(x: Any, k: Any, a: Any, *_: Any) -> Any:
    a.__setstate__((1, (3,), np.dtype(float), False, np.arange(3.0).tobytes()))
    np.ndarray.real.__set__(a[:1], 3.0)  # type: ignore[attr-defined]
    return np.sum(a) * x


class Marking:
    """A manager that writes into its array."""

    def __init__(self, a: Any) -> None:
        self.a = a

    def __enter__(self) -> None:
        self.a[0] = 0.3

    def __exit__(self, *_: object) -> None:
        self.a[1] = 0.7


def enters(o: Any) -> None:
    with o:
        pass


def enters_on_a_stack(o: Any) -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(o)


@right
def entered_by_a_callee(x: Any, k: Any, a: Any, *_: Any) -> Any:
    enters(Marking(a))
    return np.sum(a) * x


@right
def named_and_entered_by_callees(x: Any, k: Any, a: Any, *_: Any) -> Any:
    o = Marking(a)
    enters(o)
    a[0] += k
    enters_on_a_stack(o)
    return np.sum(a) * x


@right
def filled_by_its_class(x: Any, k: Any, a: Any, *_: Any) -> Any:
    type(a).fill(a, k)
    return np.sum(a) * x


@refused
def active_array_is_sorted_by_its_class(x: Any, k: Any, *_: Any) -> Any:
    a = np.array([2.0 * x, x, k])
    type(a).sort(a)
    return a[0] * a[1]


@refused
def active_array_is_reshaped_by_its_class(x: Any, k: Any, *_: Any) -> Any:
    a = np.array([2.0 * x, x])
    return np.sum(type(a).reshape(a, 2, 1) * k)


@right
def functions_are_called_by_name(x: Any, k: Any, a: Any, *_: Any) -> Any:
    np.add.__call__(a, 1.0, a)
    np.add.at.__call__(a, [0], k)
    np.copyto.__call__(a[2:], 4.0)
    return np.sum(a) * x


# --- numbers that are made of an array without axes


@right
def sum_with_an_array_without_axes(x: Any, k: Any, *_: Any) -> Any:
    z = np.array(0.6)
    z += x
    n = k + z
    z[()] = 0.0
    z += x * x
    return n * z


@right
def array_without_axes_is_overwritten(x: Any, k: Any, *_: Any) -> Any:
    z = np.array(0.6)
    z += x
    n = z - np.ones(())
    z[...] = k
    return n


# ---


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_as_python(f: Callable[..., Any], mode: str) -> None:
    value = f(X, *constants())
    given = constants()
    if mode == "reverse":
        got, slope = value_and_grad(f)(X, *given)
    else:
        got, slope = jvp(f, (X, *given), (1.0, None, None, None, None))
    assert got == value
    np.testing.assert_array_equal(given[1], constants()[1])
    assert given[2].tobytes() == constants()[2].tobytes()
    np.testing.assert_allclose(slope, numeric_gradient(lambda x: f(x, *constants()), [X]), rtol=1e-7)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_is_refused_at_its_place(f: Callable[..., Any], mode: str) -> None:
    def derivative() -> Any:
        if mode == "reverse":
            return value_and_grad(f)(X, *constants())
        return jvp(f, (X, *constants()), (1.0, None, None, None, None))

    with pytest.raises(UnsupportedError) as raised:
        derivative()
    assert all(violation.place is not None for violation in raised.value.violations)


def item_of_the_list_is_written(x: Any, k: Any, p: Any) -> Any:
    p += [k]
    q = [k]
    q[0][0] = 0.0
    return sum(t[0] for t in p) * x


def item_of_the_list_is_replaced(x: Any, k: Any, p: Any) -> Any:
    p[1] = x * k
    k[0] = 0.0
    return (p[0][0] + 2.0 * p[1][0]) * x


@pytest.mark.parametrize("f", [item_of_the_list_is_written, item_of_the_list_is_replaced])
def test_list_that_holds_a_written_argument(f: Callable[..., Any]) -> None:
    k = np.array([0.8, 0.4, 1.5])
    with pytest.raises(UndefinedDerivativeError, match="share memory"):
        value_and_grad(f)(X, k, [k, k])
    assert k[0] == 0.8
    other = k * 2.0
    value, slope = value_and_grad(f)(X, k, [other, other])
    assert value == f(X, k.copy(), [other, other])
    np.testing.assert_allclose(slope, numeric_gradient(lambda x: f(x, k.copy(), [other, other]), [X]))


def begun_again_by_a_callee(x: Any, p: Any) -> Any:
    begun_again(p)
    return x * p.v * p.w


def begun_again_here(x: Any, p: Any) -> Any:
    q = [p]
    q[0].__init__(3.0, 2.0)
    return x * p.v * p.w


@pytest.mark.parametrize("f", [begun_again_by_a_callee, begun_again_here])
def test_dataclass_that_is_initialised_again(f: Callable[..., Any]) -> None:
    p = Data(1.5, 0.7)
    assert value_and_grad(f)(X, p) == (3.0, 6.0)
    assert jvp(f, (X, p), (1.0, None)) == (3.0, 6.0)
    assert p == Data(1.5, 0.7)


def filled_by_a_variable(x: Any, a: Any) -> Any:
    c = type(a)
    c.fill(a, 2.0)
    return np.sum(a) * x


def filled_by_a_given_class(x: Any, a: Any, c: Any = np.ndarray) -> Any:
    c.fill(a, 2.0)
    return np.sum(a) * x


@pytest.mark.parametrize("f", [filled_by_a_variable, filled_by_a_given_class])
def test_method_of_a_class(f: Callable[..., Any]) -> None:
    a = np.ones(3)
    with pytest.raises(UndefinedDerivativeError, match="a method of the class ndarray is called by itself"):
        value_and_grad(f)(X, a)
    np.testing.assert_array_equal(a, 1.0)


def appended_to(c: Any, items: Any) -> None:
    c.append(items, 3.0)


def appended_by_a_callee(x: Any, items: Any) -> Any:
    appended_to(list, items)
    return items[-1] * x


def test_class_that_a_callee_is_given() -> None:
    items = [1.0]
    with pytest.raises(UnsupportedError, match="written in place"):
        value_and_grad(appended_by_a_callee)(X, items)
    assert items == [1.0]


def linear(x: Any) -> Any:
    n = x[0]
    d = {"p": n}
    z = np.array(Box(x, 0.6).w)
    z[()] = z * n
    z += n
    return z + sum(d.values())


def test_second_derivative_of_an_array_without_axes() -> None:
    x = np.array([0.5, 1.2])
    np.testing.assert_array_equal(hvp(linear, (x,), (np.ones(2),)), 0.0)


def parts_of_a_complex_array(x: Any) -> Any:
    z = np.array([x, x * x], dtype=complex)
    parts = z.view(float)
    parts[1] = 2.0 * x
    return np.sum(z.imag) + np.sum(z.real)


def pairs_as_complex_numbers(x: Any) -> Any:
    return np.sum(np.array([x, x * x]).view(complex)).real


def bytes_of_numbers(x: Any) -> Any:
    a = np.array([x, x * x])
    a.view("u1")[7] = 64
    return np.sum(a)


def halves_of_numbers(x: Any) -> Any:
    return np.sum(np.array([x, x * x]).view("f4")[1::2])


@pytest.mark.parametrize("f", [parts_of_a_complex_array, pairs_as_complex_numbers, bytes_of_numbers, halves_of_numbers])
def test_view_of_other_numbers(f: Callable[..., Any]) -> None:
    for derivative in (lambda: value_and_grad(f)(X), lambda: jvp(f, (X,), (1.0,))):
        with pytest.raises(UndefinedDerivativeError, match="a view of numbers of dtype"):
            derivative()


def appended_by_name(x: Any) -> Any:
    items = [x, 2.0 * x]
    operator.methodcaller("append", 3.0)(items)
    return items[-1] * x


def test_list_that_a_call_without_source_changes() -> None:
    for derivative in (lambda: value_and_grad(appended_by_name)(X), lambda: jvp(appended_by_name, (X,), (1.0,))):
        with pytest.raises(UnsupportedError, match=r"written into|changes an object"):
            derivative()


def packed_into(x: Any, a: Any) -> Any:
    struct.pack_into("d", a, 0, 5.0)
    return np.sum(a) * x


def test_numbers_that_are_packed_into_an_array() -> None:
    a = np.ones(3)
    assert value_and_grad(packed_into)(X, a) == (3.5, 7.0)
    np.testing.assert_array_equal(a, 1.0)


def added_at_by_the_class(x: Any) -> Any:
    a = np.array([x, x * x])
    np.ufunc.at(np.add, a, [0], x)  # type: ignore[arg-type]
    return np.sum(a)


def test_function_of_the_class_of_ufuncs() -> None:
    with pytest.raises(UnsupportedError, match="has no derivative rule"):
        value_and_grad(added_at_by_the_class)(X)
