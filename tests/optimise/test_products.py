"""Products take their sign and numbers in front; sums and differences have what both terms share written once."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from s2sad.ir import algebra
from s2sad.ir.nodes import Const, Var
from s2sad.ir.show import text as shown
from tests.oracle import numeric_gradient

X, Y, T = Var("x.1"), Var("y.1"), Var("t.1")


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (algebra.multiply(Const(-0.5), algebra.multiply(Const(2), X)), algebra.negate(X)),
        (algebra.multiply(Const(0.5), algebra.multiply(Const(2), X)), X),
        (algebra.negate(algebra.subtract(X, Y)), algebra.subtract(Y, X)),
        (algebra.subtract(X, algebra.negate(Y)), algebra.add(X, Y)),
        (
            algebra.subtract(algebra.multiply(Const(-2), X), algebra.multiply(Const(2), Y)),
            algebra.multiply(Const(-2), algebra.add(X, Y)),
        ),
        (
            algebra.add(algebra.multiply(Const(3), X), algebra.multiply(Const(3), Y)),
            algebra.multiply(Const(3), algebra.add(X, Y)),
        ),
        (algebra.subtract(algebra.divide(X, T), algebra.divide(Y, T)), algebra.divide(algebra.subtract(X, Y), T)),
        (algebra.finished(algebra.multiply(algebra.divide(Const(1), T), X)), algebra.divide(X, T)),
    ],
)
def test_forms(made, text):
    assert shown(made) == shown(text)


def chained(x):
    d = 3.0 * (x[1:] - x[:-1] ** 2)
    return np.sum(-0.5 * d**2 / (1.0 + x[1:] ** 2) - 2.0 * (1.0 - x[:-1]) ** 3)


def divided(x):
    return np.sum(np.exp(x) / np.sum(x * x)) - np.sum(x / (2.0 - x))


@pytest.mark.parametrize("f", [chained, divided])
def test_derivatives(f):
    x, v = np.array([0.3, -0.4, 0.9, 1.2]), np.array([1.0, 0.5, -0.3, 0.2])
    expected = numeric_gradient(f, [x])
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], expected @ v, rtol=1e-7)
    along = numeric_gradient(lambda y: grad(f)(y) @ v, [x])
    np.testing.assert_allclose(hvp(f, (x,), (v,)), along, rtol=1e-6)


def stored_difference(x):
    a, rows = np.sin(x), np.outer(x, x)
    a[0] = 0.5
    rows[1] = -(a - a * a)
    return np.sum(rows * rows)


def stored_signs(x):
    a, rows = np.sin(x), np.outer(x, x)
    a[0] = 0.5
    rows[1] = -(-1.0 * -(a + a * a))
    return np.sum(rows * rows)


def stored_chain(x):
    a, rows = np.sin(x), np.outer(x, x)
    np.negative(a, out=a)
    rows[1] = -(-a - (a - (-np.cos(a * 0.5) - a)))
    return np.sum(rows * rows)


@pytest.mark.parametrize("f", [stored_difference, stored_signs, stored_chain])
def test_an_adjoint_without_its_sign_is_not_the_part_that_is_set_to_zero(f):
    x = np.array([0.55, -0.82, 1.27])
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-7)
