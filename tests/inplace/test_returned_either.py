"""Functions that return an argument, or an array of their own that they have written; their callers write nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, vjp
from tests.oracle import numeric_gradient

X, W = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.6, 0.7])


def either(a: Any, b: Any, n: int) -> Any:
    if n == 0:
        return a
    c = np.zeros_like(b)
    c[:2] += b[:2] * a[:2]
    return c


def clipped(a: Any, n: int) -> Any:
    if n:
        a = a.copy()
        a[a > 1.5] *= 2.0
    return a


def part(a: Any, n: int) -> Any:
    rows = np.sin(a)
    rows[0] = a[1] ** 2
    return rows if n else a[::-1]


def inner(a: Any, b: Any, n: int) -> Any:
    return either(a, b, n) * 1.0 if n > 1 else either(b, a, n)


def same(a: Any, _b: Any) -> Any:
    return np.asarray(a)


def of_the_argument(x: Any, w: Any, n: int) -> Any:
    return np.sum(either(x, w, n) ** 2)


def of_the_other(x: Any, w: Any, n: int) -> Any:
    return np.sum(either(w, x, n) ** 2)


def of_both(x: Any, w: Any, n: int) -> Any:
    return np.sum(either(x, x * w, n) ** 2)


def of_a_product(x: Any, w: Any, n: int) -> Any:
    v = x * w
    return np.sum(either(v, x, n) ** 2 * v)


def of_a_view(x: Any, w: Any, n: int) -> Any:
    v = x[::-1]
    return np.sum(either(v, w, n) * w + v)


def of_what_is_returned(x: Any, w: Any, n: int) -> Any:
    return np.sum(either(same(x, w), w, n) ** 2)


def of_a_constant_that_is_returned(x: Any, w: Any, n: int) -> Any:
    return np.sum(either(same(w, x), x, n) ** 2)


def of_a_callee(x: Any, w: Any, n: int) -> Any:
    return np.sum(inner(x, w, n) ** 2)


def in_a_loop(x: Any, w: Any, n: int) -> Any:
    y = x
    for i in range(3):
        y = either(y, w * y, (i + n) % 2) + x
    return np.sum(y**2)


def of_clipped(x: Any, w: Any, n: int) -> Any:
    return np.sum(clipped(x, n) * w) + np.sum(clipped(x * w, n))


def of_a_part(x: Any, w: Any, n: int) -> Any:
    return np.sum(part(x, n) * w * x)


CALLERS = [
    of_the_argument,
    of_the_other,
    of_both,
    of_a_product,
    of_a_view,
    of_what_is_returned,
    of_a_constant_that_is_returned,
    of_a_callee,
    in_a_loop,
    of_clipped,
    of_a_part,
]


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("f", CALLERS)
def test_what_is_returned_may_be_an_argument(f: Callable[..., Any], n: int) -> None:
    wanted = numeric_gradient(f, (X, W, n))
    np.testing.assert_allclose(grad(f)(X, W, n), wanted, rtol=1e-6, atol=1e-8)
    dot = np.array([0.3, -1.0, 2.0])
    slope = np.sum(wanted * dot)
    np.testing.assert_allclose(jvp(f, (X, W, n), (dot, None, None))[1], slope, rtol=1e-6, atol=1e-8)
    value, pullback = vjp(f, X, W, n, argnums=(1,))
    assert value == f(X, W, n)
    np.testing.assert_allclose(pullback(1.0)[0], numeric_gradient(f, (X, W, n), 1), rtol=1e-6, atol=1e-8)


#: Arrays of the module that functions read and return, and do not write.
M, ROWS = np.array([0.3, 0.4, 0.2]), [np.array([0.3, 0.4, 0.2]), np.array([0.1, 0.4, 0.2])]


def of_an_item(x: Any, w: Any, n: int) -> Any:
    v = w[0] if n < 5 else w[1]
    return np.sum(either(v, x, n) * x)


def of_one_of_two(x: Any, w: Any, n: int) -> Any:
    v = w[0] if n else w[1]
    return np.sum(part(v, n) * x) + np.sum(either(x, v, n) * clipped(v, n))


def of_the_module(x: Any, _w: Any, n: int) -> Any:
    v = M
    return np.sum(either(v, x, n) * x)


def of_one_of_the_module(x: Any, w: Any, n: int) -> Any:
    v = M if n < 5 else w[0]
    return np.sum(clipped(v, n) * x) + np.sum(either(v, x, n) ** 2)


def of_rows_of_the_module(x: Any, _w: Any, n: int) -> Any:
    v = ROWS[n % 2]
    return np.sum(part(v, n) * x)


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("f", [of_an_item, of_one_of_two, of_the_module, of_one_of_the_module, of_rows_of_the_module])
def test_a_constant_that_may_be_returned_is_not_written(f: Callable[..., Any], n: int) -> None:
    given = (X, [W, W + 0.3], n)
    wanted = numeric_gradient(f, given)
    np.testing.assert_allclose(grad(f)(*given), wanted, rtol=1e-6, atol=1e-8)
    dot = np.array([0.3, -1.0, 2.0])
    np.testing.assert_allclose(jvp(f, given, (dot, None, None))[1], np.sum(wanted * dot), rtol=1e-6, atol=1e-8)


def met(x: Any, w: Any, n: int, f: Any) -> Any:
    return np.sum(f(x, w, n) * w * x) + np.sum(f(w, x, n) * x)


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("f", [either, inner])
def test_calls_met_at_run_time(f: Callable[..., Any], n: int) -> None:
    given = (X, W, n, f)
    np.testing.assert_allclose(grad(met)(*given), numeric_gradient(met, given), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(grad(met, 1)(*given), numeric_gradient(met, given, 1), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [either, clipped, part])
def test_arrays_that_are_returned_to_the_user(f: Callable[..., Any]) -> None:
    given = {either: (X, W, 1), clipped: (X, 1), part: (X, 1)}[f]
    wanted = numeric_gradient(lambda *args: np.sum(f(*args) * W), given)
    np.testing.assert_allclose(vjp(f, *given)[1](W)[0], wanted, rtol=1e-6, atol=1e-8)


def test_an_argument_that_is_only_returned_is_not_copied() -> None:
    text = grad(of_the_argument).source_for(X, W, 1)
    assert "np.copy" not in text
    assert "apart" not in text
    # One array for both is none that is written.
    np.testing.assert_allclose(
        grad(of_both)(X, X, 1), numeric_gradient(of_both, (X, X.copy(), 1)), rtol=1e-6, atol=1e-8
    )
