"""Splines that are fitted with weights, derivatives and integrals of splines, and products of splines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate
from scipy.interpolate import BSpline, bisplev, make_interp_spline, make_lsq_spline, make_smoothing_spline, splev

from s2sad import grad, jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.0, 0.5, 1.1, 1.9, 2.7, 3.3, 3.9])
Y = np.array([1.0, 2.0, 0.5, -0.3, 0.8, 1.7, 1.1])
W = np.array([1.0, 0.5, 2.0, 1.2, 0.8, 0.6, 1.5])
T = np.array([0.3, 1.45, 2.9])
KNOTS = [0.0, 0.0, 0.0, 1.5, 2.2, 3.9, 3.9, 3.9]
ACROSS, UP = np.array([0.0, 0, 0, 1.3, 2.9, 2.9, 2.9]), np.array([0.0, 0, 0, 0, 1.1, 3, 3, 3, 3])
HEIGHTS = np.cos(np.arange(20.0))


def weighted(w: Any, y: Any) -> Any:
    return np.sum(make_lsq_spline(X, y, KNOTS, 2, w)(T) ** 2) + np.sum(make_lsq_spline(X, y, KNOTS, k=2, w=w).c)


def weighted_curves(w: Any, y: Any) -> Any:
    return np.sum(make_lsq_spline(X, np.stack([y, y**2], axis=1), KNOTS, 2, w)(T) ** 3)


def smoothed(w: Any, y: Any) -> Any:
    return np.sum(make_smoothing_spline(X, y, w, 0.3 * w[0])(T) ** 2) + make_smoothing_spline(X, y, lam=w[1])(T)[1]


def between_knots(w: Any, y: Any) -> Any:
    spline = interpolate.LSQUnivariateSpline(X, y, [1.5, 2.6], w, k=2)
    return np.sum(spline(T, 1) ** 2) + interpolate.LSQUnivariateSpline(X, y, [1.5])(T[0])


def through_all(w: Any, y: Any) -> Any:
    tck = interpolate.splrep(X, y, w, s=0)
    total = np.sum(splev(T, tck) ** 2) + interpolate.UnivariateSpline(X, y, w=w, s=0)(T[0])
    return total + np.sum(interpolate.InterpolatedUnivariateSpline(X, y, w)(T)) * w[0]


WEIGHTED = [weighted, weighted_curves, smoothed, between_knots, through_all]


@pytest.mark.parametrize("f", WEIGHTED, ids=lambda f: f.__name__)
def test_weights(f: Callable[..., Any]) -> None:
    value, found = value_and_grad(f, (0, 1))(W, Y)
    assert value == f(W, Y)
    for i, g in enumerate(found):
        np.testing.assert_allclose(g, numeric_gradient(f, (W, Y), i), rtol=1e-6, atol=1e-7)
    dots = (np.cos(Y), np.sin(Y))
    np.testing.assert_allclose(jvp(f, (W, Y), dots)[1], richardson_jvp(f, (W, Y), dots), rtol=1e-6)


def test_a_point_without_weight_has_no_effect() -> None:
    w = np.where(np.arange(7) == 3, 0.0, W)
    np.testing.assert_allclose(grad(weighted)(w, Y), numeric_gradient(weighted, (w, Y)), rtol=1e-6, atol=1e-7)


def test_smoothing_with_weights_has_no_rule_where_knots_are_chosen_by_the_data() -> None:
    with pytest.raises(UndefinedDerivativeError, match="smoothing spline"):
        grad(lambda w: interpolate.splev(0.3, interpolate.splrep(X, Y, w, s=0.5)) ** 2)(W)


def derivative_of_interpolant(y: Any, b: Any) -> Any:
    spline = make_interp_spline(X * b, y)
    slope = spline.derivative()
    return np.sum(slope(T, 1) * slope(T)) + np.sum(spline.derivative(2)(T * b) + slope.derivative()(T) ** 2)


def derivative_of_b_spline(y: Any, b: Any) -> Any:
    spline = BSpline(np.arange(11.0) - 3.0, y, 3)
    total = np.sum(spline.derivative()(T * b) ** 2) + np.sum(spline.antiderivative()(T) ** 2)
    return total + spline.integrate(0.3, b) * spline.integrate(b, 9.0) + np.sum(spline.derivative(2).derivative()(T))


def derivative_of_closest(y: Any, b: Any) -> Any:
    return np.sum(make_lsq_spline(X, y, KNOTS, 2).derivative()(T * b) ** 2) + BSpline(KNOTS, y[:5], 2).integrate(-b, b)


def derivative_in_fitpack(y: Any, b: Any) -> Any:
    spline, tck = interpolate.UnivariateSpline(X, y, s=0), interpolate.splrep(X, y)
    total = spline.derivative()(b) * spline.integral(0.2, b) + np.sum(spline.antiderivative()(T * b) ** 2)
    return total + np.sum(splev(T, interpolate.splder(tck)) * splev(T * b, interpolate.splantider(tck, 2)))


DERIVED = [derivative_of_interpolant, derivative_of_b_spline, derivative_of_closest, derivative_in_fitpack]


@pytest.mark.parametrize("f", DERIVED, ids=lambda f: f.__name__)
def test_derivatives_and_integrals(f: Callable[..., Any]) -> None:
    value, found = value_and_grad(f, (0, 1))(Y, 1.3)
    assert value == f(Y, 1.3)
    for i, g in enumerate(found):
        np.testing.assert_allclose(g, numeric_gradient(f, (Y, 1.3), i, 5e-4), rtol=1e-6, atol=1e-6)
    dots = (np.cos(Y), 0.7)
    np.testing.assert_allclose(jvp(f, (Y, 1.3), dots)[1], richardson_jvp(f, (Y, 1.3), dots, 5e-4), rtol=1e-6)


def product(x: Any, c: Any) -> Any:
    tck = [ACROSS, UP, c * x[0], 2, 3]
    total = np.sum(bisplev(x, [0.3, 1.7], tck) ** 2) + bisplev(x[0], x[1], (ACROSS, UP, c, 2, 3), dx=1)
    return total * bisplev(0.4, x[1], [ACROSS, UP, HEIGHTS, 2, 3], 0, 1)


def test_products_of_splines() -> None:
    args = (np.array([0.4, 1.9, 2.3]), HEIGHTS**2)
    value, found = value_and_grad(product, (0, 1))(*args)
    assert value == product(*args)
    for i, g in enumerate(found):
        np.testing.assert_allclose(g, numeric_gradient(product, args, i), rtol=1e-6, atol=1e-7)
    dots = (np.ones(3), np.sin(HEIGHTS))
    np.testing.assert_allclose(jvp(product, args, dots)[1], richardson_jvp(product, args, dots), rtol=1e-7)


def test_a_product_of_splines_does_not_change_outside_of_its_rectangle() -> None:
    f = lambda x: bisplev(x, 0.4, [ACROSS, UP, HEIGHTS, 2, 3])  # noqa: E731
    assert grad(f)(3.5) == 0.0 == numeric_gradient(f, (3.5,))
