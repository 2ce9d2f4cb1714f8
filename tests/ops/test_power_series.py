"""Objects of `np.poly1d` in programs: values, derivatives, integrals, roots, arithmetic, coefficients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from s2sad.errors import S2SADError, UndefinedDerivativeError
from tests.oracle import numeric_gradient, richardson_jvp

C, X = np.array([0.3, 0.7, -0.2, 1.1]), np.array([0.4, 0.9, -0.3])
CURVE = np.poly1d([1.0, 2.0, 0.5])


def values(c: Any) -> Any:
    p = np.poly1d(c)
    return np.sum(p(X) ** 2) + p(c[0]) + np.poly1d([c[0], 2.0, c[1]])(0.3)


def derivatives(c: Any) -> Any:
    p = np.poly1d(c)
    return np.sum(p.deriv()(X)) ** 2 + p.deriv(2)(c[0]) + np.sum(p.integ(1, k=2.0)(X) ** 2) + p.integ(k=c[1])(0.2)


def sums(c: Any) -> Any:
    p, q = np.poly1d(c), np.poly1d(c[:2])
    return (p + q)(0.7) * (p - q)(0.2) + (1 - p + 2.0)(0.3) ** 2 + (-p)(0.3) + (+q)(0.1)


def products(c: Any) -> Any:
    p, q = np.poly1d(c), np.poly1d(c[:2])
    return (p * q)(0.7) + (2 * p * c[0])(0.3) + (q**3)(0.2) + (p / c[1])(0.4) + (p**0)(0.4) * c[0]


def division(c: Any) -> Any:
    quotient, remainder = np.poly1d(c) / np.poly1d(c[2:])
    return quotient(0.3) * remainder(0.7) + quotient.coeffs[0]


def attributes(c: Any) -> Any:
    p = np.poly1d(c)
    items = sum([k * v for k, v in enumerate(p)])
    return np.sum(p.c * p.coef + p.coefficients) + p[1] ** 2 + p[7] + p.order * c[0] + len(p) * c[1] + p.o + items


def roots(c: Any) -> Any:
    p = np.poly1d(c[:2], True)
    return np.sum(np.abs(np.poly1d(c).roots) ** 2) + np.sum(np.roots(p)) + p(0.3) * np.sum(np.poly1d(c).r.real)


def functions(c: Any) -> Any:
    p, q = np.poly1d(c), np.poly1d(c[1:])
    return (
        np.sum(np.polyval(p, X) ** 2)
        + np.polyder(p)(0.3)
        + np.polyint(p, k=1.5)(0.3)
        + np.polymul(p, c[:2])(0.4) * np.polyadd([1.0, 2.0], q)(0.3)
        + np.polysub(c, q)(0.7)
        + np.poly1d(p)(0.1)
    )


def composed(c: Any) -> Any:
    return np.poly1d(c)(np.poly1d(c[:2]))(0.3) + np.polyval(c, np.poly1d(c[1:]))(0.2)


def with_existing(c: Any) -> Any:
    p = np.poly1d(c)
    return (CURVE * p)(0.3) * (p + CURVE)(0.2) + (CURVE - p)(0.7) * (p * CURVE)(0.4) + CURVE.deriv()(c[0])


def after_zeros(c: Any) -> Any:
    return np.poly1d(np.concatenate((np.zeros(2), c)))(0.7) ** 2


_PROGRAMS: list[Callable[[Any], Any]] = [
    values, derivatives, sums, products, division, attributes, roots, functions, composed, with_existing,
    after_zeros,
]  # fmt: skip


@pytest.mark.parametrize("f", _PROGRAMS)
def test_coefficients(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(grad(f)(C), numeric_gradient(f, (C,)), rtol=1e-6, atol=1e-9)
    dot = np.cos(np.arange(4.0))
    value, tangent = jvp(f, (C,), (dot,))
    np.testing.assert_allclose(value, f(C), rtol=1e-13)
    np.testing.assert_allclose(tangent, richardson_jvp(f, (C,), (dot,)), rtol=1e-6)


@pytest.mark.parametrize("f", [values, derivatives, products, composed])
def test_second_derivatives(f: Callable[[Any], Any]) -> None:
    dot = np.cos(np.arange(4.0))
    expected = richardson_jvp(lambda c: grad(f)(c), (C,), (dot,))
    np.testing.assert_allclose(hvp(f, (C,), (dot,)), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("x", [0.7, X])
def test_points(x: Any) -> None:
    f = lambda x: np.sum(CURVE(x) ** 2)  # noqa: E731
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-8)


def test_numbers_of_numpy_on_the_left_are_refused() -> None:
    # NumPy makes an array of the polynomial.
    with pytest.raises(UndefinedDerivativeError, match="on the left of an operator"):
        grad(lambda c: (c[0] * np.poly1d(c))[1])(C)


def test_division_by_arrays_is_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match="is divided by numbers alone"):
        grad(lambda c: np.sum((np.poly1d(c) / c[2:]).coeffs))(C)


def test_existing_inner_polynomials_are_refused() -> None:
    with pytest.raises(S2SADError, match=r"is evaluated at numbers and arrays|known only at run time"):
        grad(lambda c: np.poly1d(c)(CURVE)(0.3))(C)
    with pytest.raises(S2SADError, match="is evaluated at numbers and arrays"):
        grad(lambda c: np.poly1d(c)(CURVE) * 2)(C)


def squared_again(x: Any, power: Any) -> Any:
    return (np.poly1d(x) ** power)(0.7)


@pytest.mark.parametrize("power", [-1, 1.5])
def test_other_powers_raise_as_in_numpy(power: float) -> None:
    for run in (squared_again, grad(squared_again)):
        with pytest.raises(ValueError, match="non-negative integers"):
            run(np.array([0.7, 1.3, 0.4]), power)
