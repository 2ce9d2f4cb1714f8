"""Programs whose gradient or value was once wrong, by what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad, vjp
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient


def break_of_a_loop_kept_for_its_item(x: Any, y: Any) -> Any:
    """A loop that is needed for the item it runs over must still end where its break says."""
    for row in y:
        for k, item in enumerate(row):
            x[k] = np.tanh(item) * x[k]
        if np.mean(row) > 0.0:
            break
    return np.sum(np.cos(x))


def move_in_a_loop_without_adjoint_statements(x: Any, y: Any) -> Any:
    """A loop that only names another buffer has no adjoint statement, but its shadows move."""
    x[-1] += np.tanh(np.sum(x) * 0.2)
    for _ in range(1):
        x = y * 1.0
    return np.sum(x) + np.sum(y * y)


def read_by_callee_then_overwritten(x: Any, y: Any) -> Any:
    """What a callee saves by reference must not be overwritten before its reverse part runs."""
    row = x[:2]
    total = _weighted(row, y)
    x[0] = 2.0 * x[1]
    return total + np.sum(x * x)


def _weighted(row: Any, y: Any) -> Any:
    return np.sum(np.sin(row)) * np.sum(y)


def zero_trip_loop_with_else_in_branch(x: Any, y: Any) -> Any:
    """The else part of a loop in a branch runs when the loop has nothing to run over."""
    u = np.exp(-y)
    if np.mean(u) > 0:
        for _ in range(0):
            y = np.sin(x[: y.size])
        else:
            u = np.outer(y, y)
    return np.sum(u) + np.sum(y) + np.sum(x)


def return_in_nested_loops(x: Any, y: Any) -> Any:
    """Early exits at several depths: every tape is popped as often as it was pushed."""
    for v in range(3):
        for _ in range(2):
            if v == 1:
                if x[0] > 5.0:
                    return np.sum(x * x)
                x = x * 1.1
            elif v == 2:
                x = np.sin(x)
        if x[0] > 0.9:
            return np.sum(np.cos(x) * y[0])
    return np.sum(x)


def augmented_by_its_own_alias(x: Any, y: Any) -> Any:
    """An adjoint that is added to in place must not take the name of what is added."""
    return np.sum(_weighted(x, y)) + _weighted(x[0], y) + np.sum(x)


def minus_minus(x: Any, y: Any) -> Any:
    """Two signs that cancel must not make an adjoint that is added to in place another's object."""
    z = np.arctan(x - 0.7 * np.mean(y) - -x)
    return np.mean(z) ** 2


def rebuilt_from_the_item(x: Any, y: Any) -> Any:
    """A view of a loop's item is made again after the item is."""
    for row in y * np.ones((3, 3)):
        x = np.tanh(np.sum(row[:, None] * row + np.mean(x), axis=0))
    for row in np.outer(x, x):
        x = np.sin(row[:, None] * row)[0] + np.mean(x)
    return np.sum(x)


PROGRAMS = [
    rebuilt_from_the_item,
    minus_minus,
    break_of_a_loop_kept_for_its_item,
    move_in_a_loop_without_adjoint_statements,
    read_by_callee_then_overwritten,
    zero_trip_loop_with_else_in_branch,
    return_in_nested_loops,
    augmented_by_its_own_alias,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_value_and_gradients(f: Any) -> None:
    def args() -> tuple[Any, Any]:
        return np.array([0.4, -0.3, 0.7]), np.array([[-0.2, 0.1, -0.4], [0.5, 0.3, 0.2], [0.3, 0.9, 0.1]])

    def second() -> tuple[Any, Any]:
        x, y = args()
        return (x, y) if f is break_of_a_loop_kept_for_its_item else (x, y[1])

    value, gradients = value_and_grad(f, (0, 1))(*second())
    assert value == f(*second())
    for number, gradient in enumerate(gradients):

        def at(*moved: Any) -> Any:
            return f(*(np.array(a) for a in moved))

        np.testing.assert_allclose(gradient, numeric_gradient(at, second(), number), rtol=1e-7, atol=1e-9)


def halves_its_argument(x: Any) -> Any:
    x[0] *= 0.5
    return np.sum(x)


def written_by_a_call_in_a_condition(x: Any) -> Any:
    if halves_its_argument(x) >= 30:
        x = 2 * x
    return np.sum(x**2)


def items_that_may_be_numbers(x: Any) -> Any:
    for _ in range(int(np.sum(x * 0.0)) + 1):
        x = np.stack([x.mean(), 0.3, np.sum(x)])
    for k, a in enumerate(x):
        x[k] = a * a
    return np.sum(x)


@pytest.mark.parametrize("f", [written_by_a_call_in_a_condition, items_that_may_be_numbers], ids=lambda f: f.__name__)
def test_right_or_refused(f: Any) -> None:
    x = np.array([0.4, -0.3, 0.7])
    try:
        _, gradient = value_and_grad(f)(x.copy())
    except UnsupportedError as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        assert ".py:" in refusal
        return
    np.testing.assert_allclose(gradient, numeric_gradient(lambda a: f(a.copy()), (x,), 0), rtol=1e-6, atol=1e-9)


def swapped_in_a_loop(x: Any) -> Any:
    a, b = x.copy(), x * 2.0
    for _ in range(2):
        a[0] = b[1] * a[0]
        a, b = b, a
    return a * 1.0


def nested_tapes(x: Any) -> Any:
    for _ in range(3):
        x = _damped(x) + x
    return x


def _damped(x: Any) -> Any:
    for _ in range(2):
        x = np.sin(x) * x
    return x


def test_a_pullback_gives_the_same_again_or_says_that_it_cannot() -> None:
    bar = np.array([1.0, -0.5])
    for f in (nested_tapes, swapped_in_a_loop):
        _, pullback = vjp(f, np.array([0.3, 0.8]))
        (first,) = pullback(bar)
        expected = numeric_gradient(lambda a, f=f: np.sum(bar * f(a.copy())), (np.array([0.3, 0.8]),), 0)
        np.testing.assert_allclose(first, expected, rtol=1e-7)
        try:
            (second,) = pullback(bar)
        except UndefinedDerivativeError:
            assert f is swapped_in_a_loop
        else:
            np.testing.assert_array_equal(first, second)


def _stacked(z: Any) -> Any:
    return np.sum(np.abs(np.vstack([z, 2 * z]) * np.array([1j, 2.0])) ** 2)


def _in_columns(z: Any) -> Any:
    return np.abs(np.vdot(np.column_stack([z, z * 1j]), np.column_stack([z, z]))) ** 2


@pytest.mark.parametrize("f", [_stacked, _in_columns])
def test_a_list_of_complex_arrays_is_not_real(f: Callable[..., Any]) -> None:
    z = np.array([1.0 + 2.0j, 0.5 - 1.0j])
    np.testing.assert_allclose(grad(f)(z), numeric_gradient(f, (z,), 0), rtol=1e-6)


def _scaled(a: Any) -> Any:
    a[0] = a[1] * 2.0
    return a[2] * 1.5


def multiplied_by_an_overlapping_view(x: Any) -> Any:
    """The right side of an augmented store is read before the store, and by its adjoint too."""
    x[1:] *= x[:-1]
    x[::2] /= x[:2]
    return np.sum(x * np.arange(1.0, 5.0))


def augmented_by_a_call_that_writes(x: Any) -> Any:
    """``x[i] += g(x)`` takes the item before ``g`` writes into the array."""
    x[0] *= _scaled(x)
    x[1:3] += _scaled(x if x[0] > 0.0 else x[1:])
    return np.sum(x * x)


def augmented_while_iterated(x: Any) -> Any:
    """A loop over an array sees what is written into it meanwhile."""
    total = 0.0
    for item in x:
        x += np.tanh(item)
        total = total + item * item
    return total + np.sum(x)


def inactive_argument_that_a_callee_fills(x: Any) -> Any:
    """An argument may carry no derivative for the caller, and one inside the callee."""
    return _filled(np.sum(x), np.zeros(3)) + np.sum(x * x)


def _filled(s: Any, work: Any) -> Any:
    work[1:] = s * s
    return work.sum()


def positional_out_in_a_callee(x: Any) -> Any:
    """``np.multiply(x, 2.0, out)`` writes as ``out=`` does."""
    out = np.zeros(4)
    _doubled(x, out)
    return np.sum(out * x)


def _doubled(x: Any, out: Any) -> None:
    np.multiply(x, 2.0, out)


IN_PLACE = [
    multiplied_by_an_overlapping_view,
    augmented_by_a_call_that_writes,
    augmented_while_iterated,
    inactive_argument_that_a_callee_fills,
    positional_out_in_a_callee,
]


@pytest.mark.parametrize("f", IN_PLACE, ids=lambda f: f.__name__)
def test_in_place(f: Any) -> None:
    x = np.array([0.7, 1.3, 0.4, 0.9])
    value, gradient = value_and_grad(f)(x)
    assert value == f(x.copy())
    np.testing.assert_allclose(gradient, numeric_gradient(lambda a: f(a.copy()), (x,), 0), rtol=1e-7)


BOARD = [0.0]


def _writes_into_the_module(x: Any) -> Any:
    BOARD[0] = 7.0
    return np.sum(x * x)


def _run_time_function(x: Any, functions: Any) -> Any:
    out = np.zeros(4)
    functions[0](x, x, out)
    return np.sum(out)


def _row_over_a_column(x: Any) -> Any:
    a = np.outer(x, x)
    a[1] = a[:, 2]
    return np.sum(a * a)


def test_what_the_module_holds_is_written() -> None:
    BOARD[0] = 0.0
    grad(_writes_into_the_module)(np.ones(4))
    assert BOARD == [7.0]


def test_refused_as_nobody_knows_what_is_written() -> None:
    x = np.array([0.7, 1.3, 0.4, 0.9])
    with pytest.raises(UnsupportedError, match="may write into out"):
        grad(_run_time_function)(x, [np.multiply])
    with pytest.raises(UndefinedDerivativeError, match="NumPy's own"):
        grad(_row_over_a_column)(x)
