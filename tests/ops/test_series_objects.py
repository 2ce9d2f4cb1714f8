"""Objects of the classes of `numpy.polynomial` in programs: values, derivatives, integrals, arithmetic, domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import polynomial
from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial

from s2sad import grad, hvp, jvp, value_and_grad
from tests.oracle import numeric_gradient, richardson_jvp

C, X = np.array([0.3, 0.7, -0.2, 1.1]), np.array([0.4, 0.9, -0.3])
CURVE = Polynomial([1.0, 2.0, 0.5], domain=[0.0, 3.0])


def derived(c: Any) -> Any:
    p = Polynomial(c)
    return np.sum(p.deriv()(X) ** 2) + p.deriv(2)(c[0])


def integrated(c: Any) -> Any:
    return np.sum(Polynomial(c).integ()(X) ** 2) + Polynomial(c).integ(1, [0.5], 0.3)(0.7)


def computed(c: Any) -> Any:
    p = Polynomial(c)
    q = p * p - p + 3.0
    r = 2 * q + Polynomial(c[:2]) ** 2 - (1.0 - p.copy())
    return np.sum((-r / 2)(X)) + q.coef[1] * r.degree()


def in_domains(c: Any) -> Any:
    line = Chebyshev(c, domain=[-2.0, 3.0]).deriv()
    return Polynomial(c, [0, 2])(0.3) ** 2 + np.sum(line(X) ** 2) + Laguerre(c, window=[0.0, 2.0]).integ()(0.4)


def of_each_kind(c: Any) -> Any:
    sums = [Legendre(c).deriv(), Hermite(c).integ(), HermiteE(c) * 2.0, Laguerre(c) + Laguerre(c[:2]), Chebyshev(c)]
    return sum([np.sum(series(X) ** 2) for series in sums])


def of_numbers(c: Any) -> Any:
    p = Polynomial([c[0], 1.0, c[1]])
    return p(c[2]) + p.deriv()(c[3])


def at_points(x: Any) -> Any:
    return np.sum(Polynomial([1, 2.0, 3]).deriv()(x) ** 2) + np.sum(Legendre(np.array([1.0, 2]))(x) ** 3)


def fitted(c: Any) -> Any:
    places = np.linspace(-1.0, 2.0, 7)
    data = np.sin(places) * c[0] + np.cos(places) * c[1]
    curve, cubic = Polynomial.fit(places, data, 2), Chebyshev.fit(places + 0.1 * c[2] * places**2, data**2, 3)
    weighted = Legendre.fit(places, data, 2, domain=[-2.0, 2.0], w=2 + data)
    sums = curve(X) ** 2 + cubic.deriv()(X) + weighted.integ()(X) + Hermite.fit(places, data, 1)(X)
    return (
        np.sum(sums) + np.sum(cubic.coef**2) + np.sum((curve + curve * 2.0).coef) + Laguerre.fit(places, data, 2)(0.3)
    )


def of_roots(c: Any) -> Any:
    return np.sum(np.abs(Polynomial(c).roots()) ** 2) + np.sum(Chebyshev(c, domain=[0.0, 2.0]).roots().real ** 2)


def existing(x: Any) -> Any:
    return np.sum(CURVE(x) ** 2) + np.sum(CURVE.deriv()(x) ** 3)


TWICE = [derived, integrated, computed, in_domains, of_each_kind, of_numbers, at_points]


@pytest.mark.parametrize("f", [*TWICE, of_roots, existing, fitted], ids=lambda f: f.__name__)
def test_series(f: Callable[[Any], Any]) -> None:
    value, found = value_and_grad(f)(C)
    assert value == pytest.approx(f(C), rel=1e-12) if f is fitted else value == f(C)
    dot = np.cos(np.arange(4.0))
    np.testing.assert_allclose(found, numeric_gradient(f, (C,)), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (C,), (dot,))[1], richardson_jvp(f, [C], [dot]), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    "roots",
    [
        polynomial.polynomial.polyroots,
        polynomial.chebyshev.chebroots,
        polynomial.legendre.legroots,
        polynomial.hermite.hermroots,
        polynomial.hermite_e.hermeroots,
        polynomial.laguerre.lagroots,
    ],
)
def test_complex_roots_of_real_coefficients(roots: Callable[[Any], Any]) -> None:
    def f(c: Any) -> Any:
        return np.sum(np.abs(roots(c)) ** 3)

    c = np.array([20.0, 0.3, 3.7])
    assert np.iscomplexobj(roots(c))
    np.testing.assert_allclose(grad(f)(c), numeric_gradient(f, (c,)), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("f", TWICE, ids=lambda f: f.__name__)
def test_second_derivatives(f: Callable[[Any], Any]) -> None:
    dot = np.cos(np.arange(4.0))
    expected = numeric_gradient(lambda c: np.sum(grad(f)(c) * dot), (C,))
    np.testing.assert_allclose(hvp(f, (C,), (dot,)), expected, rtol=1e-6, atol=1e-7)


def test_the_text_has_the_functions_of_the_kind() -> None:
    text = grad(derived).source_for(C)
    assert "from numpy.polynomial.polynomial import polyder, polyval" in text
    assert "Series" not in text
