"""What ``+=`` changes, and is a number in one call and an array in another: the run says which."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, hvp, jvp, stop_gradient, value_and_grad, vjp
from s2sad.errors import UnsupportedError
from s2sad.variants import variants
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([[0.3, -0.7, 0.9], [1.1, 0.4, 0.2]])
WAY = np.array([[0.7, 0.2, -0.5], [0.1, 0.3, 0.9]])
PRINTED: list[str] = []


def added(total: Any, v: Any) -> Any:
    kept = total
    total += v
    total *= v
    return total, kept


def by_a_callee(x: Any, axis: Any) -> Any:
    total, kept = added(np.sum(x * x, axis=axis), x[0, 0])
    return np.sum(total * kept)


class Meter:
    def __init__(self, start: Any) -> None:
        self.total = start

    def add(self, v: Any) -> None:
        self.total += v


def by_a_method(x: Any, axis: Any) -> Any:
    meter = Meter(np.max(x, axis=axis))
    first = meter.total
    for k in range(3):
        meter.add(np.sum(x, axis=axis) * k)
    return np.sum(meter.total * first)


def in_branches(x: Any, axis: Any) -> Any:
    total = np.prod(x, axis=axis)
    other = total
    if x[0, 0] > 0:
        total -= np.mean(x, axis=axis)
    else:
        total /= 2.0
    return np.sum(total**2 * other)


CASES = [by_a_callee, by_a_method, in_branches]


@pytest.mark.parametrize("axes", [(None, 0, None), (0, None, 1)])
@pytest.mark.parametrize("f", CASES)
def test_gradients(f: Callable[..., Any], axes: tuple[Any, ...]) -> None:
    df, both = grad(f), value_and_grad(f)
    for axis in axes:
        expected = numeric_gradient(lambda x, axis=axis: f(x, axis), (X,))
        np.testing.assert_allclose(df(X, axis), expected, rtol=1e-7)
        value, found = both(X, axis)
        assert value == f(X, axis)
        np.testing.assert_allclose(found, expected, rtol=1e-7)
        np.testing.assert_allclose(vjp(f, X, axis, argnums=0)[1](1.0)[0], expected, rtol=1e-7)


@pytest.mark.parametrize("axes", [(None, 0, None), (0, None, 1)])
@pytest.mark.parametrize("f", CASES)
def test_tangents(f: Callable[..., Any], axes: tuple[Any, ...]) -> None:
    for axis in axes:

        def of(x: Any, axis: Any = axis) -> Any:
            return f(x, axis)

        expected = richardson_jvp(of, (X,), (WAY,))
        np.testing.assert_allclose(jvp(f, (X, axis), (WAY, None))[1], expected, rtol=1e-6)
        second = richardson_jvp(lambda x, axis=axis: grad(f)(x, axis), (X,), (WAY,))
        np.testing.assert_allclose(hvp(of, (X,), (WAY,)), second, rtol=1e-5)


def both_at_once(x: Any, axis: Any) -> Any:
    one, _ = added(np.sum(x * x, axis=axis), x[0, 0])
    other, _ = added(np.sum(x, axis=0 if axis is None else None), x[0, 1])
    return np.sum(one) + np.sum(other)


def test_a_number_and_an_array_in_one_call() -> None:
    expected = numeric_gradient(lambda x: both_at_once(x, None), (X,))
    try:
        found = grad(both_at_once)(X, None)
    except S2SADError as refused:
        assert "is changed here" in str(refused)  # noqa: PT017
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-7)


def printing(x: Any, axis: Any) -> Any:
    PRINTED.append("begun")
    return by_a_method(x, axis)


def test_what_has_done_something_does_not_begin_again() -> None:
    PRINTED.clear()
    try:
        grad(printing)(X, None)
    except S2SADError as refused:
        assert "do not say" in str(refused)  # noqa: PT017
    assert PRINTED == ["begun"]


def drawn(x: Any, axis: Any, rng: Any) -> Any:
    n = rng.normal(size=2)
    return np.sum(added(np.sum(x * x, axis=axis), x[0, 0])[0]) * n[0]


def drawn_in_a_loop(x: Any, axis: Any, rng: Any) -> Any:
    n = 0.0
    for _ in range(2):
        n += rng.random()
    return np.sum(added(np.sum(x * x, axis=axis), x[0, 0])[0]) * n


@pytest.mark.parametrize("f", [drawn, drawn_in_a_loop])
def test_random_numbers_are_drawn_once(f: Callable[..., Any]) -> None:
    for derivative in (grad(f), lambda *args: vjp(f, *args, argnums=0), lambda *args: jvp(f, args, (WAY, None, None))):
        rng, other = np.random.default_rng(5), np.random.default_rng(5)
        try:
            derivative(X, None, rng)
        except S2SADError as refused:
            assert "do not say" in str(refused)  # noqa: PT017
        f(X, None, other)
        assert rng.random() == other.random()


def stopped(x: Any, axis: Any) -> Any:
    total = stop_gradient(np.sum(x, axis=axis))
    total += np.sum(x * x, axis=axis)
    return np.sum(total)


def test_stopped() -> None:
    expected = 2 * X
    for axis in (None, 0):
        np.testing.assert_allclose(grad(stopped)(X, axis), expected, rtol=1e-12)


class Places:
    def __init__(self, at: Any) -> None:
        self.at = at

    def product(self, x: Any) -> Any:
        r = x[self.at]
        r *= x[0]
        return r


NUMBER, ROW = Places(1), Places(slice(1, 3))


def of_a_number(x: Any, times: Any) -> Any:
    return np.sum(NUMBER.product(x)) * times


def of_a_row(x: Any, times: Any) -> Any:
    return np.sum(ROW.product(x)) * times


@pytest.mark.parametrize("f", [of_a_number, of_a_row])
def test_items_at_places_of_objects_that_exist(f: Callable[..., Any]) -> None:
    """Of what an object has for a place nothing is known; a row is written in place, and so is the argument."""
    x = np.array([0.5, -0.7, 0.9, 1.1])
    for times in (2.0, np.array([1.5]), 2.0):
        expected = numeric_gradient(lambda v, times=times: np.sum(f(v.copy(), times)), [x])
        try:
            got = grad(lambda v, times=times: np.sum(f(v, times)))(x)
        except S2SADError:
            assert f is of_a_row
            continue
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(x, [0.5, -0.7, 0.9, 1.1])


def doubled(k: Any) -> Any:
    return 2 * math.floor(k)


def told(k: Any) -> Any:
    print("told", k)
    return doubled(k)


def random_by(k: Any) -> Any:
    return doubled(k) + random.random()


def quiet_call(x: Any, axis: Any, k: Any) -> Any:
    return doubled(k) * np.sum(added(np.sum(x * x, axis=axis), x[0, 0])[0])


def printing_call(x: Any, axis: Any, k: Any) -> Any:
    return told(k) * np.sum(added(np.sum(x * x, axis=axis), x[0, 0])[0])


def drawing_call(x: Any, axis: Any, k: Any) -> Any:
    return random_by(k) * np.sum(added(np.sum(x * x, axis=axis), x[0, 0])[0])


def test_what_calls_quiet_functions_begins_again() -> None:
    for axis in (None, 0):
        expected = numeric_gradient(lambda x, axis=axis: quiet_call(x, axis, 1.5), (X,))
        np.testing.assert_allclose(grad(quiet_call)(X, axis, 1.5), expected, rtol=1e-7)


def test_what_calls_a_function_that_prints_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.suppress(S2SADError):
        grad(printing_call)(X, None, 1.5)
    assert capsys.readouterr().out.count("told") == 1


def test_what_calls_a_function_that_draws_does_not() -> None:
    random.seed(3)
    with contextlib.suppress(S2SADError):
        grad(drawing_call)(X, None, 1.5)
    found = random.random()
    random.seed(3)
    drawing_call(X, None, 1.5)
    assert found == random.random()


def repeated_rows(s: Any, n: Any) -> Any:
    a = [s, np.array([s, s * s, 1.0 - s])][n]
    v = np.broadcast_to(a, (3, 3))
    a *= 1.5
    return np.sum(v * v)


def windows(s: Any, n: Any) -> Any:
    rows = []
    for k in range(n):
        rows.append(np.array([s, s * s, 1.0 - s]) * (k + 1))
    a = rows[1]
    v = np.lib.stride_tricks.sliding_window_view(a, 2)
    a *= 1.5
    return np.sum(v * v) + np.sum(a)


def test_of_numbers_alone_numbers_are_tried_first() -> None:
    expected = numeric_gradient(lambda s: repeated_rows(s, 0), (1.3,))
    np.testing.assert_allclose(grad(repeated_rows)(1.3, 0), expected, rtol=1e-7)
    assert variants(repeated_rows).met_sizes == ()


@pytest.mark.parametrize(("f", "n"), [(repeated_rows, 1), (windows, 2)])
def test_arrays_that_were_taken_for_numbers_are_refused_as_arrays(f: Callable[..., Any], n: int) -> None:
    for _ in range(2):
        try:
            found = grad(f)(1.3, n)
        except UnsupportedError as error:
            assert error.violations[0].place is not None  # noqa: PT017
        else:
            np.testing.assert_allclose(found, numeric_gradient(lambda s: f(s, n), (1.3,)), rtol=1e-7)
