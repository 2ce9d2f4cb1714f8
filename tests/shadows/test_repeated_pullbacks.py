"""Pullbacks of functions that write into arrays whose aliases are known only at run time are called again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jacrev, vjp
from tests.oracle import numeric_gradient

X = np.array([0.7, -0.4, 1.2, 0.9])


def kept_in_a_list(x):
    out, seen = np.zeros(3), []
    for i in range(4):
        out += x[:3] * i
        seen.append(out)
    return out * sum(np.sum(h**2) for h in seen)


def exchanged(x):
    a, b = x * 1.0, x * 2.0
    for _ in range(3):
        a, b = b, a
        a += b * 0.5
        b *= a
    return a * b


def one_of_two(x):
    a = x * 1.0
    c = a if x[0] > 0 else x * 3.0
    c += 1.0
    return a**2 + c**3


def items(x):
    rows = [x * 1.0, x * 2.0]
    for a in rows:
        a += 1.0
        a *= x
    return rows[0] * rows[1]


def replaced(x):
    out = x[:3] * 1.0
    for i in range(3):
        out *= 1.1
        out[i] += x[i + 1] * out[0]
        out = out * out[::-1]
    return out


def half(q):
    v = q[::2]
    v *= 1.5
    return np.sum(q**2)


def met(x, f):
    y = x * 1.0
    return f(y) * y


def popped(x):
    rows, out = [], 0.0
    for k in range(3):
        row = x * (k + 1.0)
        rows.append(row)
        row[0] = x[1] * row[2]
    while rows:
        row = rows.pop()
        row[1] = row[0] * row[2]
        out = out * x + row
    return out


def of_each_turn(x):
    out = x * 1.0
    for _ in range(2):
        rows = [x * 1.0, x * 2.0]
        for row in rows:
            row[1] = row[0] * out[2]
        out = rows[0] * rows[1]
    return out


def filtered(x, y):
    a, b = x * y, np.sin(x)
    for _ in range(2):
        a[1:] = b[:-1] * b[1:]
    b[1:] = a[:-1] * b[1:]
    return np.sum(a * b)


CASES: list[Callable[[Any], Any]] = [
    *(kept_in_a_list, exchanged, one_of_two, items, replaced, popped, of_each_turn, lambda x: met(x, half)),
    lambda x: grad(filtered)(x, X),
]


@pytest.mark.parametrize("f", CASES)
def test_each_call_gives_what_the_first_gave(f: Callable[[Any], Any]) -> None:
    value, pullback = vjp(f, X)
    weights = np.cos(np.arange(float(value.size)))
    expected = numeric_gradient(lambda x: float(np.sum(weights * f(x))), (X,))
    for factor in (1.0, -2.0, 1.0):
        (found,) = pullback(factor * weights)
        np.testing.assert_allclose(found, factor * expected, rtol=1e-7, atol=1e-8)


def test_jacobian_by_rows() -> None:
    rows = [numeric_gradient(lambda x, i=i: replaced(x)[i], (X,)) for i in range(3)]
    np.testing.assert_allclose(jacrev(replaced)(X), rows, rtol=1e-7, atol=1e-8)
