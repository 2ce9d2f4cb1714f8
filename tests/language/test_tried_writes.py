"""Arrays that NumPy has written, wholly or in part, when it raises in a ``try``: nobody takes them for unwritten."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient, richardson_jvp
from tests.sources import function_of
from tests.transform.remaining import check_right_or_refused

X = np.array([0.5, 1.5, 0.7])
D = np.array([1.0, -0.5, 0.25])
V = np.array([1.0, 0.0, 2.0])


def divided(x: Any, v: Any) -> Any:
    y = x * 1.0
    with np.errstate(divide="raise"):
        try:
            y[0:] /= v
        except FloatingPointError:
            y[1] = x[0]
    return np.sum(y * y)


def divided_whole(x: Any, v: Any) -> Any:
    y = x * 1.0
    with np.errstate(divide="raise"):
        try:
            y /= v
        except ArithmeticError:
            y[1] = x[0]
    return np.sum(y * y)


def with_a_warning(x: Any, v: Any) -> Any:
    y = x * 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            y[0:] /= v
        except RuntimeWarning:
            y[1] = x[0]
    return np.sum(y * y)


def with_out(x: Any, v: Any) -> Any:
    y = x * 1.0
    with np.errstate(divide="raise"):
        try:
            np.divide(x, v, out=y)
        except Exception:
            y[1] = x[0]
    return np.sum(y * y)


def any_of_two(x: Any, v: Any) -> Any:
    y = x * 1.0
    with np.errstate(divide="raise"):
        try:
            y[0:] /= v
        except IndexError:
            y[1] = x[1]
        except (ValueError, FloatingPointError):
            y[1] = x[0]
    return np.sum(y * y)


def cast(x: Any, v: Any) -> Any:
    y = np.zeros(3, np.float32)
    with np.errstate(over="raise"):
        try:
            y[:] = x * (1.0 + 1e200 * (v == 0.0))
        except FloatingPointError:
            y[1] = x[0]
    return np.sum(y * y)


LATE = [divided, divided_whole, with_a_warning, with_out, any_of_two, cast]


@pytest.mark.parametrize("f", LATE)
def test_a_handler_refuses_what_may_have_been_written(f: Callable[..., Any]) -> None:
    with pytest.raises(UndefinedDerivativeError, match="is caught, and the array that is written here"):
        grad(f)(X, V)


@pytest.mark.parametrize("f", LATE[:-1])
def test_where_nothing_is_raised_it_is_as_ever(f: Callable[..., Any]) -> None:
    v = V + 1.0
    assert np.allclose(grad(f)(X, v), numeric_gradient(f, (X, v)), rtol=1e-7)


def test_the_remedy() -> None:
    def f(x: Any, v: Any) -> Any:
        y = x * 1.0
        with np.errstate(divide="raise"):
            try:
                t = y / v
            except FloatingPointError:
                t = y * x[1]
            y[:] = t
        return np.sum(y * y)

    assert np.allclose(grad(f)(X, V), numeric_gradient(f, (X, V)), rtol=1e-7)


def raised_before(x: Any, v: Any) -> Any:
    """Each value raises before it is stored."""
    y = x * 1.0
    with np.errstate(divide="raise"):
        for i in range(3):
            try:
                y[i] = x[i] / v[i]
            except FloatingPointError:
                y[i] = x[0] ** 2
        try:
            y[1:] = x[1:] / v[1:]
        except FloatingPointError:
            y[2] *= 3.0
    return np.sum(y * y)


def test_what_raises_before_the_store_is_no_reason() -> None:
    assert np.allclose(grad(raised_before)(X, V), numeric_gradient(raised_before, (X, V)), rtol=1e-7)
    slope = richardson_jvp(lambda x: raised_before(x, V), (X,), (D,))
    assert np.isclose(jvp(lambda x: raised_before(x, V), (X,), (D,))[1], slope, rtol=1e-7)


def listed(x: Any, row: Any) -> Any:
    y = x * 2.0
    try:
        y[:] = row
    except ValueError:
        y[2] = x[0]
    return np.sum(y * y)


def test_items_before_one_that_is_no_number() -> None:
    assert np.allclose(grad(listed)(X, [1.0, 2.0]), numeric_gradient(listed, (X, [1.0, 2.0])), rtol=1e-7)
    assert np.array_equal(grad(listed)(X, [1.0, 2.0, 3.0]), np.zeros(3))
    with pytest.raises(UndefinedDerivativeError, match="has items that are no numbers"):
        grad(listed)(X, [1.0, "n/a", 3.0])
    with pytest.raises(UndefinedDerivativeError, match="has items that are no numbers"):
        jvp(listed, (X, [1.0, "n/a", 3.0]), (D, None))


def put(x: Any) -> Any:
    y = x * 1.0
    try:
        np.put(y, [0, 10], x[1] * x[:2])
    except IndexError:
        y[1] = x[0]
    return np.sum(y * y)


def put_by_method(x: Any) -> Any:
    y = x * 1.0
    try:
        y.put([0, 10], x[1] * x[:2])
    except IndexError:
        y[1] = x[0]
    return np.sum(y * y)


def flat(x: Any) -> Any:
    y = np.zeros(3)
    try:
        y.flat[[0, 10]] = x[:2]
    except IndexError:
        y[1] = x[0]
    return np.sum(y * y)


@pytest.mark.parametrize("f", [put, put_by_method, flat])
def test_places_before_one_that_is_none(f: Callable[[Any], Any]) -> None:
    with pytest.raises(UndefinedDerivativeError, match=r"a\[indices\] = values, which NumPy does as a whole"):
        grad(f)(X)


def test_places_as_a_whole() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        try:
            y[[0, 10]] = x[1] * x[:2]
        except IndexError:
            y[1] = x[0]
        return np.sum(y * y)

    assert np.allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7)


def test_text() -> None:
    """The handler asks only where NumPy may raise that late."""
    assert "require_unwritten()" in grad(divided).source
    assert "require_" not in grad(raised_before).source


class TooLargeError(Exception):
    pass


def grown(a: Any, v: Any) -> Any:
    a[0] = a[0] * 0.9 + v * 0.5
    if a[0] > 0.6:
        raise TooLargeError
    return a[0]


CALLS = [
    "s -= grown(a, s)",
    "s = s - grown(a, s)",
    "s += 2 * grown(a, x[2])",
    "s *= grown(a, s) if x[0] > 0 else 1.0",
    "s, t = 1.0, grown(a, s)",
    "a[1] += grown(a, s)",
    "a += grown(a, s)",
    "a[1:] *= grown(a, s)",
    "s += max(grown(a, v) for v in x)",
    "s -= (t := grown(a, s))",
    "for _ in range(2): s -= grown(a, s)",
    "if x[0] > 0: s -= grown(a, s)",
]
AROUND = {
    "try": "try:\n        STATEMENT\n    except TooLargeError:\n        pass",
    "suppress": "with contextlib.suppress(TooLargeError):\n        STATEMENT",
    "finally": (
        "try:\n        try:\n            STATEMENT\n        except TooLargeError:\n            s = s + 1.0\n"
        "    finally:\n        a[0] *= 1.2"
    ),
}


STATEMENTS = [*((call, "try") for call in CALLS), *((CALLS[0], around) for around in AROUND if around != "try")]


@pytest.mark.parametrize("x", [np.array([0.3, 0.7, -0.4]), np.array([0.2, -0.1, 0.45])], ids=["raises", "does not"])
@pytest.mark.parametrize(("call", "around"), STATEMENTS)
def test_a_function_that_writes_and_then_raises(call: str, around: str, x: Any) -> None:
    """What it has written by then is not taken for unwritten, whatever statement the call stands in."""
    body = AROUND[around].replace("STATEMENT", call)
    text = f"def f(x):\n    s, t, a = 0.3, 1.0, x[1:]\n    {body}\n    return s * t + a[0]"
    f = function_of(text, {"contextlib": contextlib, "grown": grown, "TooLargeError": TooLargeError})
    check_right_or_refused(f, x, D)
