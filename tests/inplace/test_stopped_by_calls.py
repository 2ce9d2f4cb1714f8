"""What ``stop_gradient`` gives handed on by a call: constants to whoever reads them, the same array to the others."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, stop_gradient
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

Hand = Callable[[Any], Any]
X, X_DOT = np.array([1.0, 2.0, 3.0]), np.array([0.3, 1.0, -0.7])


def result(b: Any) -> Any:
    a = stop_gradient(b)
    return a


def result_of_another(b: Any) -> Any:
    return result(b)


def view(b: Any) -> Any:
    return np.reshape(stop_gradient(b), (3, 1)).T.ravel()


def written_first(b: Any) -> Any:
    b[2] += 0.0
    return stop_gradient(b)


def put(held: Any, b: Any) -> None:
    held.append(stop_gradient(b))


def held_by_a_list(b: Any) -> Any:
    held: list[Any] = []
    put(held, b)
    return held[0]


class Holder:
    def __init__(self, b: Any) -> None:
        self.a = stop_gradient(b)


def held_by_an_object(b: Any) -> Any:
    return Holder(b).a


def one_of_two(b: Any) -> Any:
    return stop_gradient(b) if b[0] > 0.0 else b


HANDS: list[Hand] = [
    stop_gradient,
    result,
    result_of_another,
    view,
    written_first,
    held_by_a_list,
    held_by_an_object,
    one_of_two,
]


def active_written_through(hand: Hand) -> Callable[[Any], Any]:
    def f(y: Any) -> Any:
        b = y * 1.0
        a = hand(b)
        a[0] = y[1] ** 2
        return np.sum(b * y)

    return f


def constant_written_through(hand: Hand) -> Callable[[Any], Any]:
    def f(y: Any) -> Any:
        b = y * 1.0
        a = hand(b)
        a[0] = 2.0
        return np.sum(b * y)

    return f


def added_through(hand: Hand) -> Callable[[Any], Any]:
    def f(y: Any) -> Any:
        b = y * 1.0
        for i in range(2):
            a = hand(b)
            a[i] += 2.0
        return np.sum(b * y)

    return f


@pytest.mark.parametrize("hand", HANDS, ids=lambda hand: hand.__name__)
@pytest.mark.parametrize("written", [active_written_through, constant_written_through, added_through])
def test_what_is_written_through_it_others_see(written: Callable[[Hand], Callable[[Any], Any]], hand: Hand) -> None:
    """Nothing is read through it, so that differences have the derivative."""
    f = written(hand)
    expected = numeric_gradient(f, (X,))
    with contextlib.suppress(UnsupportedError):
        np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6)
    with contextlib.suppress(UnsupportedError):
        assert jvp(f, (X,), (X_DOT,))[1] == pytest.approx(expected @ X_DOT)


def read_at_once(hand: Hand) -> Callable[[Any], Any]:
    def f(y: Any) -> Any:
        b = y * 1.0
        b[0] = y[1] ** 2
        a = hand(b)
        return np.sum(b * y) + np.sum(a * y)

    return f


def read_before_another_write(hand: Hand) -> Callable[[Any], Any]:
    def f(y: Any) -> Any:
        b = y * 1.0
        b[0] = y[1] ** 2
        a = hand(b)
        total = np.sum(b * y) + np.sum(a * y)
        b[1] = 0.0
        return total

    return f


def read_after_another_write(hand: Hand) -> Callable[[Any], Any]:
    def f(y: Any) -> Any:
        b = y * 1.0
        b[0] = y[1] ** 2
        a = hand(b)
        total = np.sum(b * y)
        b[:] = b[:] * 1.0
        return total + np.sum(a * y)

    return f


@pytest.mark.parametrize("hand", HANDS, ids=lambda hand: hand.__name__)
@pytest.mark.parametrize("read", [read_at_once, read_before_another_write])
def test_what_is_read_through_it_is_a_constant(read: Callable[[Hand], Callable[[Any], Any]], hand: Hand) -> None:
    f = read(hand)
    a = np.array([X[1] ** 2, X[1], X[2]])
    expected = numeric_gradient(lambda y: y[1] ** 2 * y[0] + y[1] ** 2 + y[2] ** 2 + np.sum(a * y), (X,))
    surely = read is read_at_once and hand is not one_of_two
    with contextlib.nullcontext() if surely else contextlib.suppress(UnsupportedError):
        np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6)
    with contextlib.nullcontext() if surely else contextlib.suppress(UnsupportedError):
        assert jvp(f, (X,), (X_DOT,))[1] == pytest.approx(expected @ X_DOT)


@pytest.mark.parametrize("hand", HANDS, ids=lambda hand: hand.__name__)
def test_what_is_read_after_a_write_is_refused(hand: Hand) -> None:
    """One name would have to say of each element whether it is a constant."""
    f = read_after_another_write(hand)
    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X_DOT,))):
        with pytest.raises(UnsupportedError, match="copy"):
            derivative()


def test_a_view_of_what_is_stopped_is_as_constant_as_itself() -> None:
    def f(y: Any) -> Any:
        b = y * 1.0
        b[0] += 1.0
        a = np.reshape(stop_gradient(b), (3, 1)).T.ravel()
        return np.sum(a * y)

    expected = X + [1.0, 0.0, 0.0]
    np.testing.assert_allclose(grad(f)(X), expected)
    assert jvp(f, (X,), (X_DOT,))[1] == pytest.approx(expected @ X_DOT)


def test_what_a_callee_stops_after_writing_is_a_constant() -> None:
    def f(y: Any) -> Any:
        return np.sum(written_first(y * 1.0) * y)

    np.testing.assert_allclose(grad(f)(X), X)
    assert jvp(f, (X,), (X_DOT,))[1] == pytest.approx(X @ X_DOT)
