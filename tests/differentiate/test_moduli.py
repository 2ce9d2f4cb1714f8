"""Squares of absolute values: smooth functions, of which derivatives of every order are right at zero, too."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hessian, hvp, jvp
from tests.oracle import numeric_gradient

A = np.array([[1.0 + 0.5j, -0.3, 0.7j], [0.2, 1.5j, -0.4 + 0.1j], [0.6j, 0.3, 0.9], [0.5, -0.2j, 0.8 - 0.6j]])
W = np.array([1.0, -2.0, 0.5, 3.0])
#: The second derivatives of the sum of ``W * abs(A @ x) ** 2``.
H = 2 * np.real(A.conj().T @ (W[:, None] * A))


def by_power(x, a, w):
    return np.sum(w * np.abs(a @ x) ** 2)


def by_square(x, a, w):
    z = a @ x
    return np.sum(w * np.square(np.absolute(z)))


def by_product(x, a, w):
    m = abs(a @ x)
    return np.sum(m * w * m) - np.sum(m * m * w) + np.sum(w * (m * m))


def by_float_power(x, a, w):
    m = np.abs(a @ x)
    return np.sum(np.power(m, 2.0) * w)


def in_a_loop(x, a, w):
    total = 0.0
    for row, weight in zip(a, w, strict=True):
        total += weight * abs(np.sum(row * x)) ** 2
    return total


def within_a_callee(x, a, w):
    return np.sum(w * power_of(a @ x))


def power_of(z):
    m = np.abs(z)
    return m**2


FORMS = [by_power, by_square, by_float_power, in_a_loop, within_a_callee]
COMPLEX, REAL = (A, H), (A.real, 2 * A.real.T @ (W[:, None] * A.real))


@pytest.mark.parametrize(("a", "expected"), [COMPLEX, REAL], ids=["complex", "real"])
@pytest.mark.parametrize("f", FORMS, ids=lambda f: f.__name__)
def test_second_derivatives_at_zero(f: Callable[..., Any], a: Any, expected: Any) -> None:
    zero, v = np.zeros(3), np.array([0.3, -1.0, 0.7])
    np.testing.assert_allclose(hessian(f)(zero, a, W), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(hvp(f, (zero, a, W), (v, None, None)), expected @ v, rtol=1e-12, atol=1e-12)
    tangent = grad(lambda x: jvp(f, (x, a, W), (v, None, None))[1])
    np.testing.assert_allclose(tangent(zero), expected @ v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("a", [A, A.real], ids=["complex", "real"])
@pytest.mark.parametrize("f", [*FORMS, by_product], ids=lambda f: f.__name__)
def test_first_derivatives(f: Callable[..., Any], a: Any) -> None:
    x, v = np.array([0.4, -1.1, 0.2]), np.array([0.3, -1.0, 0.7])
    expected = numeric_gradient(f, (x, a, W))
    np.testing.assert_allclose(grad(f)(x, a, W), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (x, a, W), (v, None, None))[1], expected @ v, rtol=1e-7)


def of_numbers(x):
    return abs(x) ** 2 + math.fabs(x - 1.0) ** 2 + 0.5 * np.abs(x) ** 2


def test_numbers() -> None:
    assert grad(grad(of_numbers))(0.0) == 5.0
    assert grad(grad(of_numbers))(1.0) == 5.0
    assert grad(grad(of_numbers))(-0.3) == 5.0


def operand_written(x):
    y = x * 1.0
    m = np.abs(y)
    y[0] = 5.0
    return np.sum(m**2 * W[:3]) + np.sum(y)


def modulus_written(x):
    m = np.abs(x)
    m[1] = 2.0
    return np.sum(m**2 * W[:3])


def either(x):
    m = np.abs(x)
    if x[0] > 0:
        m = m + x
    return np.sum(m**2 * W[:3])


def operand_of_the_turn_before(x):
    y, total = x, 0.0
    for _ in range(3):
        m = np.abs(y)
        y = np.sin(y) * 1.5
        total += np.sum(m**2 * W[:3]) + np.sum(y)
    return total


def of_a_list(x):
    return np.sum(np.abs([x[0], x[1] * x[2]]) ** 2 * W[:2])


@pytest.mark.parametrize(
    "f", [operand_written, modulus_written, either, operand_of_the_turn_before, of_a_list], ids=lambda f: f.__name__
)
def test_what_changes_in_between(f: Callable[..., Any]) -> None:
    v = np.array([0.3, -1.0, 0.7])
    for x in np.array([0.4, -1.1, 0.2]), np.array([-0.4, 1.1, 0.7]):
        expected = numeric_gradient(f, (x.copy(),))
        np.testing.assert_allclose(grad(f)(x.copy()), expected, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(jvp(f, (x.copy(),), (v,))[1], expected @ v, rtol=1e-7)


def test_the_text_has_no_sign() -> None:
    text = grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2)).source_for(np.ones(4))
    assert "np.fft.fft(2 * np.conj(t))" in text
