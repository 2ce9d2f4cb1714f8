"""Calls of user functions, globals, closures, side effects and exceptions."""

# What is refused has to say why: the assertion is on the exception that may or may not come.
# ruff: noqa: PT017

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError
from tests.language import other_module
from tests.language.other_module import helper as other_helper
from tests.language.support import Case, case, check_gradient, check_primal, quietly

V = np.array([0.3, -1.2, 2.5])
W = np.array([1.5, 0.25, -0.75])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])
SCALE = 2.0
TABLE = np.array([0.5, 2.0, -1.0])
SETTINGS = {"rate": 0.3, "deep": [1.0, 4.0]}
calls: list[str] = []


def helper(x: Any) -> Any:
    return np.sin(x) * SCALE


def one_call(x: Any) -> Any:
    return helper(x) * x


def two_calls(x: Any) -> Any:
    return helper(x) * helper(x * 2.0) + helper(1.0)


def nested_calls(x: Any) -> Any:
    return helper(helper(helper(x)))


def same_names_in_two_modules(x: Any) -> Any:
    return helper(x) + other_helper(x) * other_module.helper_of_helper(x)


def with_defaults(x: Any, scale: float = 3.0, *, shift: Any = 0.5, power: int = 2) -> Any:
    return (x * scale + shift) ** power


def defaults(x: Any) -> Any:
    return with_defaults(x) + with_defaults(x, 1.5) + with_defaults(x, scale=0.5, power=3)


def keyword_only(x: Any, y: Any) -> Any:
    return with_defaults(x, shift=y) * with_defaults(shift=x * y, x=y)


def default_is_active(x: Any) -> Any:
    return with_defaults(0.5, x)


def positional_only(x: Any, /, y: Any) -> Any:
    return x * y * y


def calls_positional_only(x: Any) -> Any:
    return positional_only(x, y=x * 2.0)


def pair(x: Any, y: Any) -> tuple[Any, Any]:
    return x * y, x - y


def tuple_result(x: Any, y: Any) -> Any:
    a, b = pair(x, y)
    return a * b + pair(y, x)[0]


def nested_result(x: Any) -> Any:
    return {"a": x * x, "b": [x, (x * 3.0, 2)]}


def container_result(x: Any) -> Any:
    out = nested_result(x)
    return out["a"] * out["b"][1][0] + out["b"][0]


def partly_used_result(x: Any, y: Any) -> Any:
    a, _ = pair(x, y)
    return a * a


def returns_argument(x: Any) -> Any:
    return x


def result_is_argument(x: Any) -> Any:
    return np.sum(returns_argument(x) * returns_argument(x))


def returns_nothing(x: Any) -> None:
    print("seen")


def statement_call(x: Any) -> Any:
    returns_nothing(x)
    helper(x)
    return x * x


def branching(x: Any, limit: Any) -> Any:
    if x > limit:
        return x * x
    for _ in range(2):
        x = x * 1.5
        if x > limit:
            return x + limit
    return np.sin(x)


def call_in_branch_and_loop(v: Any) -> Any:
    total = 0.0
    for item in v:
        total = total + branching(item, 1.0) * total * 0.1 + branching(item, item + 0.1)
    return total


def same_argument_twice(x: Any) -> Any:
    return pair(x, x)[0] + positional_only(x, x)


def array_and_number(x: Any) -> Any:
    """One function called with an array and with a number."""
    return np.sum(helper(x)) + helper(x[0])


def different_activity(x: Any, y: Any) -> Any:
    return pair(x, 2.0)[0] * pair(2.0, y)[1] * pair(x, y)[0]


def factorial_like(n: int, x: Any) -> Any:
    if n <= 0:
        return 1.0
    return x * n * factorial_like(n - 1, x * 0.9)


def recursive(x: Any) -> Any:
    return factorial_like(4, x)


def tree(depth: int, x: Any) -> Any:
    if depth == 0:
        return np.sin(x)
    return tree(depth - 1, x * 0.5) * tree(depth - 1, x + 1.0)


def recursive_twice(x: Any) -> Any:
    return tree(3, x)


def halves(v: Any) -> Any:
    if len(v) == 1:
        return v[0] * v[0]
    middle = len(v) // 2
    return halves(v[:middle]) * 0.5 + halves(v[middle:]) * 2.0


def self_recursive(v: Any) -> Any:
    return halves(v)


def is_even(n: int, x: Any) -> Any:
    return x if n == 0 else is_odd(n - 1, x * x)


def is_odd(n: int, x: Any) -> Any:
    return np.cos(x) if n == 0 else is_even(n - 1, x + 0.1)


def mutually_recursive(x: Any) -> Any:
    return is_even(5, x) + is_odd(2, x) + other_module.even(4, x)


def directly_recursive(x: Any, n: int = 3) -> Any:
    if n == 0:
        return x
    return directly_recursive(np.sin(x), n - 1) * x


def deep_chain(x: Any) -> Any:
    return level_one(x)


def level_one(x: Any) -> Any:
    return level_two(x, 2.0) * x


def level_two(x: Any, k: Any) -> Any:
    return level_three(k * x) + k


def level_three(x: Any) -> Any:
    y = helper(x)
    return y * y


def global_constants(x: Any) -> Any:
    return np.sum(x * TABLE) * SCALE + SETTINGS["rate"] * x[0] + SETTINGS["deep"][1]


def attribute_of_module(x: Any) -> Any:
    return x * other_module.SCALE * np.pi


def global_array_is_gradient(x: Any) -> Any:
    return np.sum(x * TABLE)


def make_scaled(scale: Any, table: Any) -> Callable[[Any], Any]:
    def scaled(x: Any) -> Any:
        return np.sum(x * scale * table)

    return scaled


def make_nested(a: float) -> Callable[[Any], Any]:
    def inner(x: Any) -> Any:
        return x * a

    def outer(x: Any) -> Any:
        return inner(x) * inner(x + a)

    return outer


def make_late() -> Callable[[Any], Any]:
    def late(x: Any) -> Any:
        return x * constant

    constant = 4.0
    return late


closed = make_scaled(3.0, TABLE)
closed_two = make_scaled(0.5, TABLE * 2.0)
nested_closure = make_nested(1.5)
late_closure = make_late()


def calls_closures(x: Any) -> Any:
    return closed(x) * closed_two(x)


def with_docstring(x: Any) -> Any:
    """A docstring with 'quotes', "double quotes" and a back\\slash."""
    return x * x


def with_type_comments(x: "float", y: "np.ndarray[Any, Any]" = TABLE) -> "float":  # noqa: UP037
    # A comment with a ' quote.
    return x * np.sum(y)


# fmt: off
def multi_line(
    x: Any,
    y: Any = (
        1.0,
        2.0,
    ),
) -> Any:
    return (
        x * y[0]
        + np.sum(
            x * y[1],
        )
    )


def semicolons(x: Any) -> Any:
    y = x * x; z = y * x  # noqa: E702
    if z > 0: y = z  # noqa: E701
    return y + z
# fmt: on


class Holder:
    """Something with attributes, constant to the derivative."""

    rate = 0.25
    table = TABLE


HOLDER = Holder()


def object_attributes(x: Any) -> Any:
    return np.sum(x * HOLDER.table) * HOLDER.rate * Holder.rate


CASES = [
    *[
        case(f, 0.7)
        for f in (
            *(one_call, two_calls, nested_calls, same_names_in_two_modules, defaults, default_is_active),
            *(calls_positional_only, container_result, statement_call, same_argument_twice, recursive, recursive_twice),
            *(mutually_recursive, directly_recursive, deep_chain, attribute_of_module, nested_closure, late_closure),
            *(with_docstring, with_type_comments, multi_line, semicolons),
        )
    ],
    *[case(f, 0.7, 1.4) for f in (keyword_only, tuple_result, partly_used_result, different_activity, positional_only)],
    *[
        case(f, V)
        for f in (
            *(result_is_argument, call_in_branch_and_loop, array_and_number, self_recursive, global_constants),
            *(global_array_is_gradient, closed, closed_two, calls_closures, object_attributes),
        )
    ],
    case(directly_recursive, 0.7, 5, wrt=0, name="directly_recursive_integer_argument"),
    case(with_defaults, 0.7, 1.5, shift=2.0, power=3),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def count(x: Any) -> Any:
    calls.append("count")
    return x * 2.0


def calls_in_order(x: Any) -> Any:
    y = note("first") * x + note("second") * x
    return y if note("third") > 100.0 else y * note("fourth")


def note(word: str) -> float:
    calls.append(word)
    return float(len(word))


def test_effects_of_opaque_calls_happen_once_and_in_order() -> None:
    from s2sad import grad

    calls.clear()
    calls_in_order(0.5)
    expected = list(calls)
    calls.clear()
    assert grad(calls_in_order)(0.5) == pytest.approx((5 + 6) * 6)
    assert calls == expected == ["first", "second", "third", "fourth"]


def prints_in_callee(x: Any) -> Any:
    print("before", x)
    y = callee_that_prints(x) * x
    print("after", y)
    return y


def callee_that_prints(x: Any) -> Any:
    for i in range(2):
        print("callee", i)
        x = x * x
    return x


def test_prints_happen_once_and_in_order() -> None:
    from s2sad import grad

    _, expected = quietly(prints_in_callee, 1.5)
    _, printed = quietly(grad(prints_in_callee), 1.5)
    assert printed == expected


class CustomError(Exception):
    """An exception of the user's own."""


def fails_in_loop(x: Any) -> Any:
    for i in range(5):
        print("step", i)
        x = x * 2.0
        if x > 4.0:
            raise CustomError("too big", i)
    return x


def fails_in_callee(x: Any) -> Any:
    return fails_in_loop(x) * x


def fails_assertion(x: Any) -> Any:
    y = x * x
    assert y < 0.0, "not negative"
    return y


def fails_on_index(v: Any) -> Any:
    return v[10] * 2.0


def fails_on_name(x: Any) -> Any:
    if x > 100.0:
        y = x
    return y * x


def fails_on_undefined_global(x: Any) -> Any:
    return x * no_such_name  # type: ignore[name-defined]  # noqa: F821


def fails_on_shapes(v: Any) -> Any:
    return np.sum(v * np.ones(7))


def fails_on_division(x: Any) -> Any:
    return x / (x - x)


@pytest.mark.parametrize(
    ("f", "argument"),
    [
        (fails_in_loop, 1.0),
        (fails_in_callee, 1.0),
        (fails_assertion, 1.0),
        (fails_on_index, V),
        (fails_on_name, 1.0),
        (fails_on_undefined_global, 1.0),
        (fails_on_shapes, V),
        (fails_on_division, 1.0),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_exceptions_come_through(f: Callable[[Any], Any], argument: Any) -> None:
    from s2sad import grad

    with pytest.raises(Exception) as expected:  # noqa: PT011
        quietly(f, argument)
    with pytest.raises(Exception) as raised:  # noqa: PT011
        quietly(grad(f), argument)
    assert issubclass(raised.type, expected.type), f"{raised.type} instead of {expected.type}: {raised.value}"
    if expected.type is CustomError:
        assert raised.value.args == expected.value.args


def test_globals_and_module_attributes_are_read_live(monkeypatch: pytest.MonkeyPatch) -> None:
    from s2sad import grad

    df = grad(global_array_is_gradient)
    np.testing.assert_array_equal(df(V), TABLE)
    monkeypatch.setitem(globals(), "TABLE", np.array([7.0, 8.0, 9.0]))
    np.testing.assert_array_equal(df(V), [7.0, 8.0, 9.0])
    dg = grad(attribute_of_module)
    assert dg(1.0) == pytest.approx(5.0 * np.pi)
    monkeypatch.setattr(other_module, "SCALE", 2.0)
    assert dg(1.0) == pytest.approx(2.0 * np.pi)


def test_globals_of_the_callee_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from s2sad import grad

    df = grad(same_names_in_two_modules)
    before = df(0.7)
    monkeypatch.setattr(other_module, "SCALE", 0.0)
    after = df(0.7)
    assert before != after
    assert after == pytest.approx(2.0 * np.cos(0.7))


def test_mutable_global_is_read_live(monkeypatch: pytest.MonkeyPatch) -> None:
    from s2sad import grad

    df = grad(global_constants)
    before = df(V)
    monkeypatch.setitem(SETTINGS, "rate", 1.3)
    np.testing.assert_allclose(df(V) - before, [1.0, 0.0, 0.0], atol=1e-12)


def test_writing_into_a_gradient_does_not_change_a_global() -> None:
    from s2sad import grad

    kept = TABLE.copy()
    grad(global_array_is_gradient)(V)[:] = 99.0
    np.testing.assert_array_equal(TABLE, kept)


def test_recursion_limit_is_that_of_python() -> None:
    from s2sad import grad

    def down(x: Any, n: int) -> Any:
        if n == 0:
            return x
        return down(x * 1.01, n - 1)

    assert grad(down)(1.0, 100) == pytest.approx(1.01**100)
    with pytest.raises(RecursionError):
        grad(down)(1.0, 10**6)


def test_partial_and_wrapped_functions() -> None:
    """A function that only forwards, as decorators with `functools.wraps` leave them, or a clear refusal."""
    from s2sad import grad
    from s2sad.errors import S2SADError

    try:
        got = grad(functools.partial(with_defaults, power=3))(0.7)
    except S2SADError as error:
        assert str(error)
    else:
        assert got == pytest.approx(9.0 * (0.7 * 3.0 + 0.5) ** 2)


def test_threads_share_one_derivative() -> None:
    from s2sad import grad

    df = grad(call_in_branch_and_loop)
    expected = df(V)
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.extend(df(V) for _ in range(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80
    for result in results:
        np.testing.assert_array_equal(result, expected)


class WithoutModule:
    """The classes of compiled functions, too, have something else than a text under this name."""

    __module__ = property(id)  # type: ignore[assignment]

    def __call__(self, v: float) -> float:
        return v + 1.0


def test_a_class_need_not_say_where_it_is_defined() -> None:
    thing = WithoutModule()

    def f(x: Any) -> Any:
        return x[0] * thing(2.0) + (0.0 if isinstance(thing, WithoutModule) else x[1])

    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0])), [3.0, 0.0])


def recursive_with_a_refused_argument(x: Any, deep: int) -> Any:
    if deep > 0:
        y = recursive_with_a_refused_argument(np.union1d(x, x), deep - 1)
        return y * x
    return x * x


def test_what_is_refused_inside_of_a_recursive_call_is_refused() -> None:
    def f(x: Any) -> Any:
        return np.sum(recursive_with_a_refused_argument(x, 0))

    with pytest.raises(UnsupportedError, match=re.escape("np.union1d has no derivative rule")):
        grad(f)(np.array([1.0, 2.0]))
