"""Interpolation between scattered points, linear least squares with bounds, and Romberg's rule, in whole programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, interpolate, optimize

from s2sad import grad, hvp, jvp
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.7, 1.3, 0.4, 1.9, 1.1])
SITES = np.array([[0.0, 0.1], [1.0, 0.0], [0.1, 1.2], [1.1, 0.9], [0.45, 0.6]])
PLACES = np.array([[0.3, 0.25], [0.75, 0.8], [0.4, 0.41]])
RNG = np.random.default_rng(3)
M, Y = RNG.normal(size=(8, 5)), RNG.normal(size=8)


def field(x: Any) -> Any:
    return np.sum(interpolate.griddata(SITES, x, PLACES) ** 2)


def moved(x: Any) -> Any:
    places = PLACES + 0.05 * np.reshape(np.sin(x[:3]), (3, 1))
    return np.sum(interpolate.griddata(SITES + 0.02 * np.outer(x, x[:2]), x**2, places) ** 2)


def by_class(x: Any) -> Any:
    linear = interpolate.LinearNDInterpolator(SITES, x)
    return np.sum(linear(PLACES) ** 2) + np.sum(linear(0.3 + 0.1 * x[0], np.array([0.2, 0.4])))


def nearest(x: Any) -> Any:
    return np.sum(interpolate.NearestNDInterpolator(SITES, x)(PLACES) ** 3)


def parts(x: Any) -> Any:
    found, norm = optimize.nnls(M * x, Y)
    return np.sum(found**2) + norm


def bounded(x: Any) -> Any:
    result = optimize.lsq_linear(M * x, Y, bounds=(-0.2, 0.25), method="bvls", tol=1e-14)
    return np.sum(result.x**2) + result.cost


def romberg(x: Any) -> Any:
    return integrate.romb(x**2, dx=x[0])


def averaged(x: Any) -> Any:
    return optimize.minimize(lambda t: (t - x[0]) ** 2 + 0.1 * x[1] * t**4, x0=[0.2], tol=1e-10).x[0]


TWICE = [field, moved, nearest, parts, bounded, romberg]
ONCE = [by_class, averaged]


@pytest.mark.parametrize("f", [*TWICE, *ONCE])
def test_gradients(f: Callable[..., Any]) -> None:
    expected, dot = numeric_gradient(f, (X,)), np.array([0.3, -0.5, 0.2, 0.8, -0.4])
    np.testing.assert_allclose(grad(f)(X), expected, rtol=3e-6, atol=1e-6)
    np.testing.assert_allclose(jvp(f, (X,), (dot,))[1], expected @ dot, rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("f", TWICE)
def test_second_derivatives(f: Callable[..., Any]) -> None:
    dot = np.array([0.3, -0.5, 0.2, 0.8, -0.4])
    expected = richardson_jvp(grad(f), (X,), (dot,))
    np.testing.assert_allclose(hvp(f, (X,), (dot,)), expected, rtol=1e-5, atol=1e-6)


def cubic(x: Any) -> Any:
    return np.sum(interpolate.griddata(SITES, x, PLACES, method="cubic"))


def smoothing(x: Any) -> Any:
    return np.sum(interpolate.UnivariateSpline(np.arange(5.0), x, s=0.1)(np.array([0.3, 2.7])) ** 2)


def of_many(x: Any) -> Any:
    return np.sum(optimize.lsq_linear(np.outer(x, np.array([1.0, 2.0])), x).x)


@pytest.mark.parametrize("f", [cubic, smoothing, of_many])
def test_refusals_in_both_modes(f: Callable[..., Any]) -> None:
    with pytest.raises(UndefinedDerivativeError, match="has no derivative"):
        grad(f)(X)
    with pytest.raises(UndefinedDerivativeError, match="has no derivative"):
        jvp(f, (X,), (X,))
