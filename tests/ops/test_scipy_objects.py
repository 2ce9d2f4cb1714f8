"""Objects of SciPy that are constants, or whose data carry derivatives, in programs of a user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, spatial, stats
from scipy.signal import windows
from scipy.sparse import csc_matrix
from scipy.sparse import linalg as sparse_linalg
from scipy.spatial.distance import jensenshannon

from s2sad import grad, hvp, jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient, richardson_jvp

RNG = np.random.default_rng(4)
X = np.array([0.3, 1.2, 2.4, 3.1])
PLACES = np.linspace(-1.0, 6.0, 9)
SPLINE = interpolate.CubicSpline(PLACES, np.sin(PLACES))
CURVES = interpolate.make_interp_spline(PLACES, RNG.normal(size=(9, 2)))
SMOOTH = interpolate.UnivariateSpline(PLACES, np.cos(PLACES), k=5, s=0)
SURFACE = interpolate.RectBivariateSpline(PLACES, PLACES, RNG.normal(size=(9, 9)), kx=4, ky=4)
POINTS = RNG.normal(size=(9, 2))
RADIAL = interpolate.RBFInterpolator(POINTS, POINTS[:, 0] ** 2 + np.sin(POINTS[:, 1]))
DENSITY = stats.gaussian_kde(PLACES)
PLANE = stats.gaussian_kde(POINTS.T, "silverman")
FACTORS = sparse_linalg.splu(csc_matrix(np.diag([2.0, 3.0, 1.5, 4.0]) + np.diag([0.3, 0.2, 0.5], 1)))


def of_spline(x: Any) -> Any:
    return np.sum(SPLINE(x) ** 3) + np.sum(SPLINE(x, 1) * x) + np.sum(CURVES(x * x / 3) ** 2)


def of_smooth(x: Any) -> Any:
    return np.sum(SMOOTH(x) ** 2) + np.sum(SMOOTH(x, nu=1))


def of_surface(x: Any) -> Any:
    return np.sum(SURFACE.ev(x, x[::-1]) ** 2) + SURFACE.ev(x[0], x[1], dx=1)


def of_factors(x: Any) -> Any:
    return np.sum(FACTORS.solve(x) ** 3) + np.sum(FACTORS.solve(x**2, trans="T") ** 2)


@pytest.mark.parametrize("f", [of_spline, of_smooth, of_surface, of_factors])
def test_constants_have_derivatives_of_all_orders(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7, atol=1e-8)
    dot = RNG.normal(size=4)
    assert jvp(f, (X,), (dot,))[1] == pytest.approx(grad(f)(X) @ dot, rel=1e-10)
    second = richardson_jvp(grad(f), (X,), (dot,))
    np.testing.assert_allclose(hvp(f, (X,), (dot,)), second, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(grad(lambda x: grad(f)(x) @ dot)(X), second, rtol=1e-6, atol=1e-7)


def of_grid(x: Any) -> Any:
    return np.sum(SURFACE(x[:2], x[2:]) ** 2) + np.sum(SURFACE(x, x / 2, grid=False))


def of_radial(x: Any) -> Any:
    return np.sum(RADIAL(x.reshape(2, 2)) ** 2)


def of_density(x: Any) -> Any:
    return np.sum(DENSITY.logpdf(x)) + np.sum(DENSITY(x) ** 2) + np.sum(PLANE.pdf(x.reshape(2, 2)))


TREE, OLD_TREE = spatial.KDTree(POINTS), spatial.cKDTree(POINTS)


def of_neighbours(x: Any) -> Any:
    points = x.reshape(2, 2)
    near, places = TREE.query(points, k=3)
    one, _ = OLD_TREE.query(x[:2])
    far = TREE.query(points, distance_upper_bound=1.0)[0]
    return np.sum(near**2 * places) + one**3 + np.sum(np.where(np.isfinite(far), far, 0.0))


def of_distributions(x: Any) -> Any:
    return jensenshannon(x, x[::-1]) + np.sum(jensenshannon(np.stack([x, x**2]), np.ones((2, 4)), 2.0, axis=1) ** 2)


def of_derivative(x: Any) -> Any:
    return np.sum(SMOOTH.derivative()(x)) + np.sum(SPLINE.antiderivative()(x))


@pytest.mark.parametrize("f", [of_grid, of_radial, of_density, of_neighbours, of_distributions, of_derivative])
def test_constants(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7, atol=1e-8)
    dot = RNG.normal(size=4)
    assert jvp(f, (X,), (dot,))[1] == pytest.approx(grad(f)(X) @ dot, rel=1e-9)


def test_another_object_under_the_name_is_another_function(monkeypatch: pytest.MonkeyPatch) -> None:
    slope = grad(lambda x: np.sum(SPLINE(x)))
    np.testing.assert_allclose(slope(X), SPLINE(X, 1))
    monkeypatch.setitem(globals(), "SPLINE", interpolate.CubicSpline(PLACES, PLACES**2))
    np.testing.assert_allclose(slope(X), 2 * X)


class Table:
    def __init__(self, spline: Any) -> None:
        self.spline = spline

    def __call__(self, x: Any) -> Any:
        return np.sum(self.spline(x) * x)


def test_an_object_that_an_object_holds() -> None:
    table = Table(SPLINE)
    np.testing.assert_allclose(grad(table)(X), numeric_gradient(table, (X,)), rtol=1e-7)
    table.spline = interpolate.CubicSpline(PLACES, PLACES**3)
    np.testing.assert_allclose(grad(table)(X), numeric_gradient(table, (X,)), rtol=1e-7)


# --- data that carry derivatives

KERNELS = [
    "linear", "thin_plate_spline", "cubic", "quintic", "multiquadric", "inverse_multiquadric", "inverse_quadratic",
    "gaussian",
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
def test_interpolants_of_radial_basis_functions(kernel: str) -> None:
    def f(x: Any) -> Any:
        points = POINTS + np.outer(np.cos(np.arange(9.0)), x[:2]) * 0.1
        found = interpolate.RBFInterpolator(points, POINTS * x[2:], smoothing=0.1, kernel=kernel, epsilon=1.0 + x[0])
        return np.sum(found(0.3 * x.reshape(2, 2)) ** 2)

    value, found = value_and_grad(f)(X)
    assert value == pytest.approx(f(X), rel=1e-9)
    np.testing.assert_allclose(found, numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-7)
    if kernel in ("thin_plate_spline", "gaussian"):
        dot = RNG.normal(size=4)
        assert jvp(f, (X,), (dot,))[1] == pytest.approx(found @ dot, rel=1e-8)


def test_an_interpolant_of_neighbours_is_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match="neighbors"):
        grad(lambda x: np.sum(interpolate.RBFInterpolator(POINTS[:4], x, neighbors=3)(POINTS[:2])))(X)


def densities(x: Any) -> Any:
    row = stats.gaussian_kde(x, 0.4, weights=x**2)
    plane = stats.gaussian_kde(np.stack([x, x**2 % 1.7]), bw_method="silverman")
    return np.sum(row.logpdf(PLACES[:4])) + np.sum(plane(np.array([0.3, 0.4]))) + np.sum(row.evaluate(x))


def polynomials(x: Any) -> Any:
    values = np.stack([x, x**2], axis=1)
    found = interpolate.BarycentricInterpolator(PLACES[:4], values)(x / 2)
    krogh = interpolate.krogh_interpolate(np.sort(x), np.array([0.1, 0.4, -0.2, 0.3]), 0.7)
    return np.sum(found**2) + interpolate.lagrange(PLACES[:4], x)(0.4) + krogh


def of_windows(x: Any) -> Any:
    places = np.arange(8.0)
    whole = windows.gaussian(8, x[1]) + windows.exponential(8, tau=x[0]) + windows.kaiser(8, x[2], sym=False)
    other = windows.general_gaussian(8, x[3], x[1]) + windows.general_hamming(8, x[0], sym=False)
    return np.sum(whole * places) + np.sum(other * places**2) + np.sum(windows.exponential(5, 1.0, x[0], False))


def circular(x: Any) -> Any:
    rows = np.stack([x, -x, x**2])
    means = stats.circmean(x) + np.sum(stats.circmean(rows, high=4.0, low=-1.0, axis=0) ** 2)
    return means + stats.circvar(x) + stats.circstd(x / 3) + np.sum(stats.circstd(rows, axis=1, normalize=True))


def likelihood(x: Any) -> Any:
    return stats.boxcox_llf(x[0], x + 1.0) + np.sum(stats.boxcox_llf(0.4, np.stack([x, x**2 + 1], axis=1)))


@pytest.mark.parametrize("f", [densities, polynomials, of_windows, circular, likelihood])
def test_what_is_made_of_data(f: Callable[..., Any]) -> None:
    value, found = value_and_grad(f)(X)
    assert value == pytest.approx(f(X), rel=1e-11)
    np.testing.assert_allclose(found, numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-7)
    dot = RNG.normal(size=4)
    assert jvp(f, (X,), (dot,))[1] == pytest.approx(found @ dot, rel=1e-8)


def test_a_polynomial_through_derivatives_is_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match="derivatives at one place"):
        grad(lambda x: interpolate.KroghInterpolator(np.array([0.0, 0.0, 1.0, 2.0]), x)(0.5))(X)


def test_distances_to_neighbours_in_another_norm_are_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match="p=1"):
        grad(lambda x: TREE.query(x[:2], p=1)[0])(X)
