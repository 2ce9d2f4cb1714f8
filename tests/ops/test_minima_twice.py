"""Second derivatives of minima that ``scipy.optimize`` finds, against closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from s2sad import grad, hessian, hvp

X, WAY = np.array([1.2, 0.7, 1.4, 2.1]), np.array([0.3, -0.8, 0.5, 0.2])
FINE: dict[str, Any] = {"method": "BFGS", "options": {"gtol": 1e-12}}


def deep(z: Any, x: Any) -> Any:
    return np.sum((z - x) ** 2) + np.sum(z**4)


def deep_slope(z: Any, x: Any) -> Any:
    return 2 * (z - x) + 4 * z**3


def depth(x: Any) -> Any:
    return optimize.minimize(lambda z: deep(z, x), np.zeros(4), tol=1e-9).fun


def depth_with_slope(x: Any) -> Any:
    return optimize.minimize(deep, np.zeros(4), args=(x,), jac=deep_slope, **FINE).fun


def place(x: Any) -> Any:
    return np.sum(optimize.minimize(lambda z: deep(z, x), np.zeros(4), jac=lambda z: deep_slope(z, x), **FINE).x ** 3)


def place_of_both(x: Any) -> Any:
    return np.sum(optimize.minimize(lambda z: (deep(z, x), deep_slope(z, x)), np.zeros(4), jac=True, **FINE).x ** 3)


def root_of(x: Any) -> Any:
    z = np.ones(4)
    for _ in range(60):
        z = z - (2 * (z - x) + 4 * z**3) / (2 + 12 * z**2)
    return z


def of_depth(x: Any) -> Any:
    return 2 * (1 - 1 / (1 + 6 * root_of(x) ** 2))


def of_place(x: Any) -> Any:
    z = root_of(x)
    moved = 1 / (1 + 6 * z**2)
    return 6 * z * moved**2 - 3 * z**2 * 12 * z * moved**3


@pytest.mark.parametrize(
    ("f", "curvature"),
    [(depth, of_depth), (depth_with_slope, of_depth), (place, of_place), (place_of_both, of_place)],
    ids=lambda f: f.__name__,
)
def test_minima_of_separate_unknowns(f: Callable[..., Any], curvature: Callable[..., Any]) -> None:
    np.testing.assert_allclose(hvp(f, (X,), (WAY,)), curvature(X) * WAY, rtol=1e-6)
    along = grad(lambda t: np.sum(grad(f)(t) * WAY))
    np.testing.assert_allclose(along(X), curvature(X) * WAY, rtol=1e-6)


def test_bounds_hold_places() -> None:
    def held(x: Any) -> Any:
        bounds = [(None, 0.3), (0, None), (0, None), (0, None)]
        options = {"gtol": 1e-12, "ftol": 1e-16}
        found = optimize.minimize(deep, np.zeros(4), (x,), "L-BFGS-B", deep_slope, bounds=bounds, options=options)
        return np.sum(found.x**3)

    expected = np.where(np.arange(4) == 0, 0.0, of_place(X)) * WAY
    np.testing.assert_allclose(hvp(held, (X,), (WAY,)), expected, rtol=1e-6)


A = np.array([[1.0, 2.0], [0.5, -1.0], [0.3, 0.7]])


def ridge(w: Any) -> Any:
    z = np.linalg.solve(A.T @ A + 2 * np.exp(w[3]) * np.eye(2), A.T @ w[:3])
    return np.sum((z - 1.0) ** 2)


def ridge_by_search(w: Any) -> Any:
    def loss(z: Any) -> Any:
        return 0.5 * np.sum((A @ z - w[:3]) ** 2) + np.exp(w[3]) * np.sum(z**2)

    return np.sum((optimize.minimize(loss, np.zeros(2), tol=1e-10).x - 1.0) ** 2)


def ridge_by_residuals(w: Any) -> Any:
    def residuals(z: Any) -> Any:
        return np.concatenate([A @ z - w[:3], np.sqrt(2 * np.exp(w[3])) * z])

    return np.sum((optimize.least_squares(residuals, np.zeros(2), xtol=1e-14, ftol=1e-14).x - 1.0) ** 2)


def ridge_by_rows(w: Any) -> Any:
    def residuals(z: Any, w: Any) -> Any:
        return np.append(A @ z - w[:3], np.sqrt(2 * np.exp(w[3])) * z)

    def rows(z: Any, w: Any) -> Any:
        return np.concatenate([A, np.sqrt(2 * np.exp(w[3])) * np.eye(2)])

    return np.sum((optimize.leastsq(residuals, np.zeros(2), (w,), Dfun=rows)[0] - 1.0) ** 2)


@pytest.mark.parametrize("f", [ridge_by_search, ridge_by_residuals, ridge_by_rows], ids=lambda f: f.__name__)
def test_the_curvature_of_what_a_fit_is_good_for(f: Callable[..., Any]) -> None:
    w = np.array([0.4, -0.3, 0.9, -0.7])
    np.testing.assert_allclose(hessian(f)(w), hessian(ridge)(w), rtol=1e-4, atol=1e-5)


def test_the_cost_of_a_fit() -> None:
    def cost(x: Any) -> Any:
        return optimize.least_squares(lambda z: np.array([z[0] - x[0], z[0] - x[1], z[0] * 2]), [0.0]).cost

    # Half of x0**2 + x1**2 less the square of (x0 + x1) over 6.
    np.testing.assert_allclose(hessian(cost)(np.array([0.4, 1.1])), np.eye(2) - 1 / 6, rtol=1e-6)


def test_one_unknown() -> None:
    def least(p: Any) -> Any:
        found = optimize.minimize_scalar(lambda t: (t - p) ** 2 + t**2, bounds=(-5, 5), options={"xatol": 1e-10})
        return found.fun + found.x**3

    # The place is p/2, and the value p**2 / 2.
    np.testing.assert_allclose(grad(grad(least))(0.8), 1.0 + 6 * 0.8 / 8, rtol=1e-6)
