"""Calls that are written as statements: `np.divmod` with two arrays in `out`, `operator.iadd` and the like."""

from __future__ import annotations

import operator
from collections.abc import Callable
from operator import iadd
from operator import isub as less
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient, richardson_jvp

X, DOT = np.array([0.7, -1.2, 1.9, 0.4]), np.array([0.3, 0.5, -0.8, 0.2])
Y = np.array([1.1, 2.0, 0.4, 0.6])
W = np.array([0.5, -1.0, 2.0, 1.5])

apart = np.divmod


class Written:
    """Functions under names of a class."""

    times = operator.imul
    parts = staticmethod(np.modf)


def quotients(x: Any) -> Any:
    a, b = np.zeros(4), np.zeros((2, 4))
    np.divmod(x * x + 1, 0.7 + x[3], out=(a, b[1]))
    return np.sum(a * W * x + b[1] ** 2) + np.sum(b)


def under_other_names(x: Any) -> Any:
    a, b = np.zeros(4), np.zeros(4)
    apart(x * x + 1, Y, out=(a, b))
    less(b, x)
    Written.times(b, W)
    Written.parts(b * 3, out=(a, None))
    return np.sum(a * x) + np.sum(b * W)


def by_position(x: Any) -> Any:
    a, b = np.zeros(4), np.zeros(4)
    q, r = np.divmod(x * x + 1, Y * x[3], a, b)
    r *= x
    return np.sum(q * x) + np.sum(b * W)


def one_of_both(x: Any) -> Any:
    a = x * x
    fraction, whole = np.modf(a * 3, out=(a, None))
    return np.sum(fraction * a * x + whole * W)


def mantissas(x: Any) -> Any:
    first = x[0]
    m, e = np.zeros(4), np.zeros(4, int)
    np.frexp(x * first, m, e)
    return np.sum(m * W) + np.sum(e * x)


def into_itself(x: Any) -> Any:
    a, b = x * x + 1, x * 1.0
    np.divmod(a, Y, out=(b, a))
    return np.sum(a * W + b * x)


def changed(x: Any) -> Any:
    a = x * x + 1
    b = a
    a = operator.iadd(a, x)
    operator.imul(b, Y)
    c = iadd(a, b[0] * x)
    return np.sum(a * W) + np.sum(b * c)


def of_numbers(x: Any) -> Any:
    a = x[0] * x[1]
    operator.iadd(a, x[2])
    b = operator.imul(a, x[3])
    b = operator.isub(a, b)
    return operator.itruediv(b, 2.0 + a)


def matrices(x: Any) -> Any:
    a = np.outer(x, x)
    a = operator.imatmul(a, np.outer(Y, W))
    operator.ipow(a, 2)
    return np.sum(a)


def of_lists(x: Any) -> Any:
    a = [x[0], x[1]]
    a = operator.iadd(a, [x[2] ** 2])
    return a[0] * a[1] * a[2]


_PROGRAMS: list[Callable[[Any], Any]] = [
    quotients, under_other_names,
    by_position, one_of_both, mantissas, into_itself, changed, of_numbers, matrices, of_lists,
]  # fmt: skip


@pytest.mark.parametrize("f", _PROGRAMS)
def test_derivatives(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-8)
    value, tangent = jvp(f, (X,), (DOT,))
    np.testing.assert_allclose(value, f(X), rtol=1e-13)
    np.testing.assert_allclose(tangent, richardson_jvp(f, (X,), (DOT,)), rtol=1e-6)


def test_arrays_of_others_are_left_as_they_are() -> None:
    def f(x: Any, out: Any) -> Any:
        np.modf(x * x, out=(out, np.zeros(4)))
        operator.iadd(x, out)
        return np.sum(out * x)

    x, out = X.copy(), np.zeros(4)
    try:
        found = grad(f)(x, out)
    except S2SADError:
        found = None
    np.testing.assert_array_equal([x, out], [X, np.zeros(4)])
    if found is not None:
        m = np.modf(X * X)[0]
        np.testing.assert_allclose(found, 2 * X * (X + 2 * m) + m, rtol=1e-12)
