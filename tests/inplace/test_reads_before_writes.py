"""What one statement reads and writes: by views that overlap, calls that write, loops over the array, and ``out``."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient


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


S = np.diag([1.0, 2.0, 4.0])


def _modf(x: Any, a: Any) -> Any:
    u, _ = np.modf(a + 3.0)
    a[0] = 9.0 * x[1]
    return np.sum(a * u)


def _deepcopy(x: Any, a: Any) -> Any:
    u, _ = copy.deepcopy((a, 2.0 * a))
    a[0] = 9.0 * x[1]
    return np.sum(a * u)


def _eigh(x: Any, a: Any) -> Any:
    w, u = np.linalg.eigh(a + S)
    a[0] = 9.0 * x[1]
    return np.sum(a * u) + np.sum(a[0] * w)


def _qr(x: Any, a: Any) -> Any:
    _, u = np.linalg.qr(a + S)
    a[0] = 9.0 * x[1]
    return np.sum(a * u)


@pytest.mark.parametrize("g", [_modf, _deepcopy, _eigh, _qr])
def test_the_adjoint_of_several_results_is_an_array_that_is_written_after_them(g: Any) -> None:
    """It is that array as it is in the end, while the operand is what it was."""

    def f(x: Any) -> Any:
        a = np.outer(x, x) + x
        return g(x, a)

    x = np.array([0.5, 1.2, -0.7])
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-6, atol=1e-8)


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


def test_functions_that_write_are_known_among_the_arguments() -> None:
    x = np.array([0.7, 1.3, 0.4, 0.9])
    np.testing.assert_allclose(grad(_run_time_function)(x, [np.multiply]), 2 * x, rtol=1e-14)
    np.testing.assert_allclose(grad(_run_time_function)(x, [np.add]), [2.0] * 4, rtol=1e-14)


def test_refused_as_nobody_knows_what_is_written() -> None:
    x = np.array([0.7, 1.3, 0.4, 0.9])
    with pytest.raises(UnsupportedError, match="has written into what it was given"):
        grad(_run_time_function)(x, [np.multiply.__call__])
    with pytest.raises(UndefinedDerivativeError, match="NumPy's own"):
        grad(_row_over_a_column)(x)
