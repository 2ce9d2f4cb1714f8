"""What stands for classes of libraries, as Python: it holds or copies the arrays that it is given as the class does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Laguerre, Polynomial
from scipy import interpolate, sparse, stats
from scipy.spatial.transform import Rotation

from s2sad import grad, ops, value_and_grad
from s2sad.errors import UndefinedDerivativeError
from s2sad.ops.models import class_method_model_of
from tests.oracle import numeric_gradient

Make = Callable[[Any, Any], Any]
G = np.array([0.0, 1.0, 2.0, 3.0, 4.5])
KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 1.5, 3.0, 3.0, 3.0, 3.0])
POINTS = np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0], [1.1, 1.2], [0.5, 0.6]])
AXES = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.5])
VALUES = np.array([0.3, 0.7, 0.2, 0.9, 0.5])
ARRAYS = [G, KNOTS, POINTS, *AXES, VALUES]
BEFORE = [a.copy() for a in ARRAYS]
ROW, STARTS, COLUMN = np.arange(5), np.arange(6), np.array([1, 0, 2, 4, 3])


@pytest.fixture(autouse=True)
def _constants() -> Iterator[None]:
    """What is written through objects that hold the constants is as before."""
    yield
    restore()


def restore() -> None:
    for array, before in zip(ARRAYS, BEFORE, strict=True):
        array[...] = before


def at(p: Any) -> Any:
    return p(1.3)


def times(p: Any) -> Any:
    return p @ G


def places(x: Any) -> Any:
    return G + 0.1 * x


#: A class, how an object is made of it and of an array, what is computed with that, and the array.
CASES: list[tuple[Any, Make, Callable[[Any], Any], Any]] = [
    (interpolate.CubicSpline, lambda m, y: m(G, y), at, VALUES),
    (interpolate.CubicSpline, lambda m, y: m(y, VALUES), at, places(VALUES)),
    (interpolate.CubicSpline, lambda m, y: m(G, y).antiderivative(), at, VALUES),
    (interpolate.PchipInterpolator, lambda m, y: m(G, y), at, VALUES),
    (interpolate.Akima1DInterpolator, lambda m, y: m(G, y), at, VALUES),
    (interpolate.CubicHermiteSpline, lambda m, y: m(G, VALUES, y), at, VALUES),
    (interpolate.PPoly, lambda m, y: m(y, G), at, np.stack([VALUES[:4], G[:4]])),
    (interpolate.PPoly, lambda m, y: m(y, G), at, np.stack([VALUES[:4], G[:4]], axis=1).T),
    (interpolate.PPoly, lambda m, y: m(np.stack([VALUES[:4], G[:4]]), y), at, places(VALUES)),
    (interpolate.BSpline, lambda m, y: m(KNOTS, y, 3), at, VALUES),
    (interpolate.BSpline, lambda m, y: m(KNOTS, y, 3), at, VALUES[::-1]),
    (interpolate.BSpline, lambda m, y: m(y, VALUES, 3), at, KNOTS),
    (interpolate.make_interp_spline, lambda m, y: m(G, y), at, VALUES),
    (interpolate.make_interp_spline, lambda m, y: m(y, VALUES), at, places(VALUES)),
    (interpolate.make_smoothing_spline, lambda m, y: m(G, y, lam=0.1), at, VALUES),
    (interpolate.InterpolatedUnivariateSpline, lambda m, y: m(G, y), at, VALUES),
    (interpolate.interp1d, lambda m, y: m(G, y), at, VALUES),
    (interpolate.interp1d, lambda m, y: m(G, y, copy=False), at, VALUES),
    (interpolate.interp1d, lambda m, y: m(G, y, copy=False, assume_sorted=True), at, VALUES),
    (interpolate.interp1d, lambda m, y: m(y, VALUES), at, places(VALUES)),
    (interpolate.RegularGridInterpolator, lambda m, y: m(AXES, y), lambda p: p([[0.3, 1.3]]), np.outer(G, G)[:3, 1:4]),
    (interpolate.LinearNDInterpolator, lambda m, y: m(POINTS, y), lambda p: p(0.5, 0.55), VALUES),
    (interpolate.LinearNDInterpolator, lambda m, y: m(POINTS, y), lambda p: p(0.5, 0.55), VALUES[::-1]),
    (interpolate.NearestNDInterpolator, lambda m, y: m(POINTS, y), lambda p: p(0.5, 0.55), VALUES),
    (interpolate.RBFInterpolator, lambda m, y: m(POINTS, y), lambda p: p(POINTS[:2] + 0.1), VALUES),
    (interpolate.RBFInterpolator, lambda m, y: m(y, VALUES), lambda p: p(POINTS[:2] + 0.1), POINTS),
    (interpolate.BarycentricInterpolator, lambda m, y: m(G, y), at, VALUES),
    (interpolate.BarycentricInterpolator, lambda m, y: m(y, VALUES), at, places(VALUES)),
    (interpolate.KroghInterpolator, lambda m, y: m(G, y), at, VALUES),
    (interpolate.KroghInterpolator, lambda m, y: m(y, VALUES), at, places(VALUES)),
    (interpolate.lagrange, lambda m, y: m(G, y), at, VALUES),
    (interpolate.lagrange, lambda m, y: m(y, VALUES), at, places(VALUES)),
    (sparse.csr_matrix, lambda m, y: m((y, (ROW, COLUMN)), shape=(5, 5)), times, VALUES),
    (sparse.csr_matrix, lambda m, y: m((y, COLUMN, STARTS)), times, VALUES),
    (sparse.csr_matrix, lambda m, y: m((y, COLUMN, STARTS), copy=True), times, VALUES),
    (sparse.csr_matrix, lambda m, y: m((y, np.array([2, 0, 2, 4, 3]), np.array([0, 2, 3, 4, 4, 5]))), times, VALUES),
    (sparse.csr_array, lambda m, y: m((y, COLUMN, STARTS)).T, times, VALUES),
    (sparse.csr_array, lambda m, y: m(m((y, COLUMN, STARTS))), times, VALUES),
    (sparse.csr_array, lambda m, y: m((y, COLUMN, STARTS)).tocsr(), times, VALUES),
    (sparse.csr_array, lambda m, y: m((y, COLUMN, STARTS)).tocsc(), times, VALUES),
    (sparse.csr_array, lambda m, y: m((y, COLUMN, STARTS)).tocoo(), times, VALUES),
    (sparse.csc_array, lambda m, y: m((y, COLUMN, STARTS)).asformat("csr"), times, VALUES),
    (sparse.csc_array, lambda m, y: m((y, COLUMN, STARTS)).asformat("csc"), times, VALUES),
    (sparse.coo_matrix, lambda m, y: m((y, (ROW, COLUMN)), shape=(5, 5)), times, VALUES),
    (sparse.coo_matrix, lambda m, y: m((y, (ROW, COLUMN)), shape=(5, 5), copy=True), times, VALUES),
    (sparse.coo_array, lambda m, y: m((y, (ROW, COLUMN)), shape=(5, 5)).tocsr(), times, VALUES),
    (sparse.csr_matrix, lambda m, y: m(y), times, np.diag(VALUES)),
    (sparse.dia_matrix, lambda m, y: m((y, np.array([0])), shape=(5, 5)), times, VALUES[None]),
    (sparse.dia_matrix, lambda m, y: m((y.T, np.array([0, 1])), shape=(5, 5)), times, np.stack([VALUES, G], axis=1)),
    (sparse.spdiags, lambda m, y: m(y, 0, 5, 5), times, VALUES),
    (sparse.spdiags, lambda m, y: m(y, 0, 5, 5, format="csr"), times, VALUES),
    (sparse.diags_array, lambda m, y: m([y], offsets=[0]), times, VALUES),
    (stats.gaussian_kde, lambda m, y: m(y), lambda p: p(0.5), VALUES),
    (stats.gaussian_kde, lambda m, y: m(G, weights=y), lambda p: p(0.5), VALUES),
    (Polynomial, lambda m, y: m(y), at, VALUES),
    (Polynomial, lambda m, y: m(G, domain=y), at, VALUES[:2]),
    (Polynomial, lambda m, y: m(G, window=y).deriv(), at, VALUES[:2]),
    (Chebyshev, lambda m, y: m(y, domain=[0.0, 2.0]), lambda p: p(1.3) + p.integ()(0.2), VALUES),
    (Laguerre, lambda m, y: m(y), lambda p: np.sum(p.domain) * p(1.3), VALUES),
    (Rotation.from_rotvec, lambda m, y: m(y), lambda p: p.apply([1.0, 2.0, 0.5]), VALUES[:3]),
]
NAMES = [f"{getattr(cls, '__name__', cls)}_{n}" for n, (cls, *_) in enumerate(CASES)]


def both(case: tuple[Any, Make, Callable[[Any], Any], Any]) -> list[tuple[Any, Any]]:
    """An object of the class and what stands for it, each with the array that it was given."""
    cls, make, _, values = case
    # The constructor of a rotation is a class method.
    model = ops.model_of(cls)
    model = class_method_model_of(cls.__self__, cls.__name__) if model is None else model
    given = [np.array(values, order="K") if values.flags.forc else values.copy()[::-1][::-1] for _ in range(2)]
    given = [values[::-1].copy()[::-1] if not values.flags.forc else y for y in given]
    return [(make(m, y), y) for m, y in zip((cls, model), given, strict=True)]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_what_is_given_and_written_later(case: tuple[Any, Make, Callable[[Any], Any], Any]) -> None:
    _, _, evaluate, _ = case
    for write in (lambda y: None, lambda y: np.multiply(y, 1.5, out=y), lambda y: y.reshape(-1)[:1].fill(0.25)):
        found = []
        for made, y in both(case):
            before = evaluate(made)
            write(y)
            found.append((before, evaluate(made)))
        np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_attributes_that_are_read_and_written(case: tuple[Any, Make, Callable[[Any], Any], Any]) -> None:
    """What has the name of an attribute of the class is that attribute, and what is written there counts as much."""
    _, _, evaluate, _ = case
    (made, _), (model, _) = both(case)
    names = [n for n in getattr(model, "__dict__", ()) if hasattr(made, n)]
    for name in names:
        expected, actual = getattr(made, name), getattr(model, name)
        assert np.shape(actual) == np.shape(expected), name
        if not isinstance(expected, np.ndarray) or expected.dtype != float:
            continue
        np.testing.assert_allclose(actual, expected, rtol=1e-12, err_msg=name)
        found = []
        for each, _ in both(case):
            getattr(each, name)[...] *= 1.25
            try:
                found.append(evaluate(each))
            except UndefinedDerivativeError:
                break
            finally:
                restore()
        else:
            np.testing.assert_allclose(found[1], found[0], rtol=1e-9, err_msg=name)


def polynomial_written_later(y: Any) -> Any:
    z = np.sin(y)
    p = interpolate.lagrange(G, z)
    q = interpolate.KroghInterpolator(G, z)
    z[1:] = z[:-1]
    return p(1.3) * q(2.2) + np.sum(z)


def entries_written_later(y: Any) -> Any:
    z = np.sin(y)
    a = sparse.coo_matrix((z, (ROW, COLUMN)), shape=(5, 5))
    b = sparse.csr_matrix((z, COLUMN, STARTS)).tocsc()
    z *= y
    return np.sum((a @ G) * (b @ G))


def diagonals_written_in_turns(y: Any) -> Any:
    z, s = np.sin(y), 0.0
    a = sparse.spdiags(z, 0, 5, 5)
    for _ in range(2):
        s = s + np.sum(a @ G)
        z[1:] *= y[0]
    return s


def domain_written(y: Any) -> Any:
    p = Polynomial(G, domain=np.sin(y[:2]))
    p.domain[0] = y[2] - 1.0
    return p(0.4) * y[1]


def spread_read(y: Any) -> Any:
    p = stats.gaussian_kde(y)
    s = np.sum(p.covariance)
    p.covariance[...] = 2.0
    return p(0.5)[0] + s


def knots_read(y: Any) -> Any:
    p = interpolate.make_interp_spline(G + 0.1 * y, VALUES)
    return np.sum(p.t * p.t) * p(1.3)


@pytest.mark.parametrize(
    "f",
    [
        knots_read,
        polynomial_written_later,
        entries_written_later,
        diagonals_written_in_turns,
        domain_written,
        spread_read,
    ],
)
def test_gradients(f: Callable[..., Any]) -> None:
    value, gradient = value_and_grad(f)(VALUES)
    assert value == pytest.approx(f(VALUES), rel=1e-12)
    np.testing.assert_allclose(gradient, numeric_gradient(f, (VALUES,)), rtol=1e-7, atol=1e-9)


def test_places_are_not_written() -> None:
    def moved(y: Any) -> Any:
        z = POINTS + 0.01 * np.expand_dims(y, 1)
        p = interpolate.LinearNDInterpolator(z, VALUES)
        s = p(0.5, 0.55)
        z[1:] *= 1.1
        return s + p(0.5, 0.55)

    with pytest.raises(UndefinedDerivativeError, match="places or knots of an interpolant"):
        grad(moved)(VALUES)


def test_knots_are_not_written() -> None:
    def written(y: Any) -> Any:
        p = interpolate.make_interp_spline(G, y)
        p.t[4] = 2.5
        return p(1.3)

    with pytest.raises(UndefinedDerivativeError, match="places or knots of an interpolant"):
        grad(written)(VALUES)
