"""What remedies say was run: what is refused and what stands for it have one value, and its gradient is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial
from scipy import interpolate, optimize, signal, stats
from scipy.spatial.distance import cdist

from s2sad import grad, jvp, stop_gradient
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient

X = np.array([0.3, -0.4, 0.62, 0.8])
C = np.arange(1.0, 25.0).reshape(2, 3, 4) / 7
PLACES = np.array([0.1, 0.7, 1.4, 1.6])
SQUARE = np.frompyfunc(lambda v: v * v, 1, 1)


def weighted(z: Any) -> Any:
    """A number that depends on every element."""
    z = np.asarray(z)
    return np.sum(z * np.cos(np.arange(z.size)).reshape(z.shape)) + np.sum(z**2)


# --- NumPy


def of_matrix(x: Any) -> Any:
    return weighted(np.asarray(np.asmatrix(x.reshape(2, 2)) * np.asmatrix(x.reshape(2, 2))))


def of_matrix_written(x: Any) -> Any:
    return weighted(x.reshape(2, 2) @ x.reshape(2, 2))


def bmat(x: Any) -> Any:
    return weighted(np.asarray(np.bmat([[x.reshape(2, 2), x.reshape(2, 2)]])))


def bmat_written(x: Any) -> Any:
    return weighted(np.block([[x.reshape(2, 2), x.reshape(2, 2)]]))


def broadcast(x: Any) -> Any:
    return sum([a * b for a, b in np.broadcast(x[:, None], x)])


def broadcast_written(x: Any) -> Any:
    a, b = np.broadcast_arrays(x[:, None], x)
    return np.sum(np.ravel(a) * np.ravel(b))


def frompyfunc(x: Any) -> Any:
    return weighted(np.frompyfunc(lambda v: v * v * x[0], 1, 1)(x).astype(float))


def frompyfunc_written(x: Any) -> Any:
    return weighted(np.vectorize(lambda v: v * v * x[0])(x))


def frompyfunc_of_the_module(x: Any) -> Any:
    return weighted(SQUARE(x).astype(float))


def frompyfunc_of_the_module_written(x: Any) -> Any:
    return weighted(np.vectorize(lambda v: v * v)(x))


def histogram2d(x: Any) -> Any:
    return weighted(np.histogram2d(PLACES, PLACES[::-1], [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]], weights=x)[0])


def histogram2d_written(x: Any) -> Any:
    rows, columns = np.digitize(PLACES, [0.0, 1.0, 2.0]) - 1, np.digitize(PLACES[::-1], [0.0, 1.0, 2.0]) - 1
    return weighted(np.bincount(np.ravel_multi_index((rows, columns), (2, 2)), x, 4).reshape(2, 2))


def bin_edges(x: Any) -> Any:
    return weighted(np.histogram_bin_edges(x, 3))


def bin_edges_written(x: Any) -> Any:
    return weighted(np.linspace(np.min(x), np.max(x), 3 + 1))


def union(x: Any) -> Any:
    return weighted(np.union1d(x, [1.5]))


def union_written(x: Any) -> Any:
    both = np.concatenate([x, [1.5]])
    return weighted(both[np.unique(stop_gradient(both), return_index=True)[1]])


def nested_iters(x: Any) -> Any:
    total = 0.0
    for v in np.nditer(x):
        total = total + v * v
    return total


def nested_iters_written(x: Any) -> Any:
    total = 0.0
    for index in np.ndindex(x.shape):
        total = total + x[index] * x[index]
    return total


def flat(x: Any) -> Any:
    items = x.flat
    return items[1] ** 2


def flat_written(x: Any) -> Any:
    return x.ravel()[1] ** 2


NUMPY = [

    (of_matrix, of_matrix_written, "@"), (bmat, bmat_written, "block"),
    (broadcast, broadcast_written, "broadcast_arrays"),
    (frompyfunc_of_the_module, frompyfunc_of_the_module_written, "vectorize"),
    (bin_edges, bin_edges_written, "linspace"),
    (union, union_written, "index"), (nested_iters, nested_iters_written, "ndindex"),
    (flat, flat_written, "ravel"),
]  # fmt: skip


# --- series


def vander2d(x: Any) -> Any:
    return weighted(polynomial.polyvander2d(x, x**2, [1, 2]))


def vander2d_written(x: Any) -> Any:
    both = np.einsum("pi,pj->pij", polynomial.polyvander(x, 1), polynomial.polyvander(x**2, 2))
    return weighted(both.reshape(len(x), -1))


def vander3d(x: Any) -> Any:
    return weighted(chebyshev.chebvander3d(x, x**2, 0.5 * x, [1, 2, 1]))


def vander3d_written(x: Any) -> Any:
    a, b, c = chebyshev.chebvander(x, 1), chebyshev.chebvander(x**2, 2), chebyshev.chebvander(0.5 * x, 1)
    return weighted(np.einsum("pi,pj,pk->pijk", a, b, c).reshape(len(x), -1))


def val3d(x: Any) -> Any:
    return weighted(legendre.legval3d(x, x**2, 0.5 * x, C * x[0]))


def val3d_written(x: Any) -> Any:
    a, b, c = legendre.legvander(x, 1), legendre.legvander(x**2, 2), legendre.legvander(0.5 * x, 3)
    return weighted(np.einsum("pi,pj,pk,ijk->p", a, b, c, C * x[0]))


def grid3d(x: Any) -> Any:
    return weighted(hermite.hermgrid3d(x, x[:2], x[:3], C))


def grid3d_written(x: Any) -> Any:
    a, b, c = hermite.hermvander(x, 1), hermite.hermvander(x[:2], 2), hermite.hermvander(x[:3], 3)
    return weighted(np.einsum("pi,qj,rk,ijk->pqr", a, b, c, C))


def from_roots(x: Any) -> Any:
    return weighted(polynomial.polyvalfromroots(x, x[:3] ** 2))


def from_roots_written(x: Any) -> Any:
    return weighted(np.prod(x[..., np.newaxis] - x[:3] ** 2, axis=-1))


def interpolated(x: Any) -> Any:
    return weighted(chebyshev.chebinterpolate(lambda t: np.exp(x[0] * t), 4))


def interpolated_written(x: Any) -> Any:
    t = chebyshev.chebpts1(4 + 1)
    return weighted(chebyshev.chebfit(t, np.exp(x[0] * t), 4))


def divided(x: Any) -> Any:
    return weighted(hermite_e.hermediv(hermite_e.hermemul(x[:2], [1.0, 2.0]), x[:2])[0])


def divided_written(x: Any) -> Any:
    first, second = hermite_e.hermemul(x[:2], [1.0]), hermite_e.hermemul(x[:2], [0.0, 1.0])
    columns = np.stack([np.append(first, 0.0), second], axis=1)
    return weighted(np.linalg.lstsq(columns, hermite_e.hermemul(x[:2], [1.0, 2.0]))[0])


def lines(x: Any) -> Any:
    return (
        weighted(polynomial.polyline(x[0], x[1])) + weighted(laguerre.lagline(x[0], x[1]))
        + weighted(hermite.hermline(x[0], x[1]))
    )  # fmt: skip


def lines_written(x: Any) -> Any:
    line = np.array([x[0], x[1]])
    return weighted(line) + weighted(laguerre.poly2lag(line)) + weighted(hermite.poly2herm(line))


def weights(x: Any) -> Any:
    return (
        weighted(chebyshev.chebweight(x)) + weighted(legendre.legweight(x)) + weighted(hermite.hermweight(x))
        + weighted(hermite_e.hermeweight(x)) + weighted(laguerre.lagweight(x))
    )  # fmt: skip


def weights_written(x: Any) -> Any:
    return (
        weighted(1 / np.sqrt(1 - x**2)) + weighted(np.ones_like(x)) + weighted(np.exp(-(x**2)))
        + weighted(np.exp(-(x**2) / 2)) + weighted(np.exp(-x))
    )  # fmt: skip


def companion(x: Any) -> Any:
    return weighted(np.sort(np.real(np.linalg.eigvals(chebyshev.chebcompanion(x[:3] + 1)))))


def companion_written(x: Any) -> Any:
    return weighted(np.sort(np.real(chebyshev.chebroots(x[:3] + 1))))


SERIES = [
    (interpolated, interpolated_written, "chebfit"), (divided, divided_written, "quotient"),
    (lines, lines_written, "poly2lag"),
    (companion, companion_written, "chebroots"),
]  # fmt: skip


# --- objects


def of_kernels(x: Any) -> Any:
    return weighted(stats.gaussian_kde(x)(PLACES))


def of_kernels_kept(x: Any) -> Any:
    density = stats.gaussian_kde(x)
    return weighted(density(PLACES))


def of_kernels_written(x: Any) -> Any:
    h = np.std(x, ddof=1) * len(x) ** -0.2
    return weighted(np.mean(np.exp(-0.5 * ((PLACES[:, np.newaxis] - x) / h) ** 2), axis=1) / (h * np.sqrt(2 * np.pi)))


def fitted(x: Any) -> Any:
    series = polynomial.Polynomial.fit(np.arange(4.0), x, 2)
    return series(0.7) + series(2.3) ** 2


def fitted_written(x: Any) -> Any:
    coefficients = np.polyfit(np.arange(4.0), x, 2)
    return np.polyval(coefficients, 0.7) + np.polyval(coefficients, 2.3) ** 2


def radial(x: Any) -> Any:
    points, values = PLACES[:, np.newaxis], PLACES[:, np.newaxis] + 0.1
    return weighted(interpolate.RBFInterpolator(points, x, kernel="gaussian", epsilon=2.0, degree=-1)(values))


def radial_written(x: Any) -> Any:
    points, values = PLACES[:, np.newaxis], PLACES[:, np.newaxis] + 0.1
    weights = np.linalg.solve(np.exp(-4 * cdist(points, points) ** 2), x)
    return weighted(np.exp(-4 * cdist(values, points) ** 2) @ weights)


def through_all(x: Any) -> Any:
    return weighted(interpolate.BarycentricInterpolator(PLACES, x)(PLACES + 0.1))


def through_all_written(x: Any) -> Any:
    return weighted(np.polyval(np.linalg.solve(np.vander(PLACES), x), PLACES + 0.1))


def polynomial_through_all(x: Any) -> Any:
    return weighted(interpolate.barycentric_interpolate(PLACES, x, PLACES + 0.1))


def described(x: Any) -> Any:
    found = stats.describe(x)
    return found.mean * found.variance + found.skewness


def described_written(x: Any) -> Any:
    return np.mean(x) * np.var(x, ddof=1) + stats.skew(x)


def direction(x: Any) -> Any:
    return stats.circmean(x)


def direction_written(x: Any) -> Any:
    return np.angle(np.mean(np.exp(1j * x))) % (2 * np.pi)


def likelihood(x: Any) -> Any:
    return stats.boxcox_llf(0.4, np.exp(x))


def likelihood_written(x: Any) -> Any:
    e = np.exp(x)
    return (0.4 - 1) * np.sum(np.log(e)) - len(e) / 2 * np.log(np.var(stats.boxcox(e, 0.4)))


def window(x: Any) -> Any:
    return weighted(signal.windows.gaussian(7, np.exp(x[0])))


def window_written(x: Any) -> Any:
    n = np.arange(7) - (7 - 1) / 2
    return weighted(np.exp(-0.5 * (n / np.exp(x[0])) ** 2))


def valley(x: Any) -> Any:
    return weighted(optimize.rosen_der(x))


def valley_written(x: Any) -> Any:
    return weighted(grad(optimize.rosen)(x))


OBJECTS = [
    (described, described_written, "np.var"),
    (valley, valley_written, "s2sad.grad"),
]  # fmt: skip

#: What has derivatives of its own, beside what may be written for it.
ACCEPTED = [
    (histogram2d, histogram2d_written),
    (fitted, fitted_written),
    (of_kernels, of_kernels_written), (of_kernels_kept, of_kernels_written), (radial, radial_written),
    (through_all, through_all_written), (polynomial_through_all, through_all_written), (direction, direction_written),
    (likelihood, likelihood_written), (window, window_written), (vander2d, vander2d_written),
    (vander3d, vander3d_written), (val3d, val3d_written), (grid3d, grid3d_written), (from_roots, from_roots_written),
    (weights, weights_written),
]  # fmt: skip


@pytest.mark.parametrize(("f", "written"), ACCEPTED, ids=lambda f: f.__name__)
def test_both_have_the_same_derivatives(f: Callable[..., Any], written: Callable[..., Any]) -> None:
    assert f(X) == pytest.approx(written(X), rel=1e-10)
    expected, way = numeric_gradient(f, (X,)), np.array([0.3, -0.2, 0.5, 0.1])
    for one in (f, written):
        np.testing.assert_allclose(grad(one)(X), expected, rtol=1e-6, atol=1e-7)
    value, tangent = jvp(f, (X,), (way,))
    assert value == pytest.approx(f(X), rel=1e-10)
    assert tangent == pytest.approx(expected @ way, rel=1e-6)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize(
    ("refused", "written", "what"), [*NUMPY, *SERIES, *OBJECTS], ids=lambda f: getattr(f, "__name__", "")
)
def test_what_stands_for_it(refused: Callable[..., Any], written: Callable[..., Any], what: str) -> None:
    with pytest.raises(S2SADError) as raised:
        grad(refused)(X)
    assert what in str(raised.value)
    assert written(X) == pytest.approx(refused(X), rel=1e-10)
    np.testing.assert_allclose(grad(written)(X), numeric_gradient(refused, (X,)), rtol=1e-6, atol=1e-7)


def test_a_function_that_captures_what_is_differentiated_is_vectorised() -> None:
    np.testing.assert_allclose(grad(frompyfunc_written)(X), numeric_gradient(frompyfunc, (X,)), rtol=1e-6)
    with pytest.raises(S2SADError):
        grad(frompyfunc)(X)
