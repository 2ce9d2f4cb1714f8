"""Functions of NumPy in small functions of a user's: gradients from the compiler against differences."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError, UndefinedDerivativeError, UnsupportedError
from tests.oracle import leaves, numeric_gradient

X = np.array([1.0, 2.5, 4.2, -1.3, 0.7])
M = np.array([[0.3, -1.2, 2.2, 0.9], [1.7, 0.4, -0.6, -2.1], [0.8, 1.4, 3.1, -0.2]])


def agrees(f: Callable[..., Any], *args: Any, argnum: int = 0) -> None:
    """Compare the gradient of ``f`` by one argument with differences."""
    found = grad(f, argnums=argnum)(*args) if argnum else grad(f)(*args)
    expected = numeric_gradient(f, args, argnum)
    for x, y in zip(leaves(found), leaves(expected), strict=True):
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-8)


# --- order ---


def median(x: Any) -> Any:
    return np.median(x) ** 2


def median_of_list(x: Any) -> Any:
    return np.median([x[0] * x[1], x[2], x[3], x[4]]) ** 2


def interquartile(x: Any) -> Any:
    low, high = np.percentile(x, [25, 75])
    return (high - low) ** 2


def quantile_by_q(x: Any) -> Any:
    return np.quantile(x, 0.31 + 0.1 * x[4]) * x[1]


def medians_of_rows(m: Any) -> Any:
    return np.sum(np.median(m, axis=1) ** 2)


def without_nan(m: Any) -> Any:
    y = np.where(m > 3, np.nan, m)
    return np.sum(np.nanmedian(y, axis=1, keepdims=True) ** 2) + np.nanquantile(y, 0.4)


def smallest(x: Any) -> Any:
    return np.sum(np.partition(x * x, 2)[:3])


def ranked(x: Any) -> Any:
    return np.sum(np.sort(x)[::-1] * np.arange(5.0)) + np.sum(np.unique(x) ** 2)


ORDER = [median, median_of_list, interquartile, quantile_by_q, smallest, ranked]


@pytest.mark.parametrize("f", ORDER)
def test_order(f: Callable[..., Any]) -> None:
    agrees(f, X)


@pytest.mark.parametrize("f", [medians_of_rows, without_nan])
def test_order_in_matrices(f: Callable[..., Any]) -> None:
    agrees(f, M)


def test_only_the_middle_of_equal_elements_moves_a_median() -> None:
    g = grad(lambda x: np.median(x))(np.array([2.0, 1.0, 2.0, 2.0, 5.0]))
    assert np.sum(g) == 1.0
    assert not g[1]
    assert not g[4]


@pytest.mark.filterwarnings("ignore:All-NaN")
def test_a_slice_of_nan_alone_has_no_derivative() -> None:
    g = grad(lambda x: np.nanmedian(x, axis=0)[1])(np.array([[np.nan, 1.0], [np.nan, 4.0]]))
    np.testing.assert_array_equal(g, [[0.0, 0.5], [0.0, 0.5]])


# --- differences ---


def differences(x: Any) -> Any:
    return np.sum(np.diff(x, prepend=x[1] * x[2], append=[x[0], 2.0]) ** 3)


def ends(x: Any) -> Any:
    return np.sum(np.ediff1d(x * x, to_begin=x[0] ** 2, to_end=[x[1], x[2]]) ** 2)


def derivative(x: Any) -> Any:
    return np.sum(np.gradient(x * x, 0.5, edge_order=2) ** 2)


def derivative_by_knots(x: Any) -> Any:
    t = np.cumsum(x * x)
    return np.sum(np.gradient(np.sin(t), t) ** 2)


def slopes(m: Any) -> Any:
    by_row, by_column = np.gradient(m, 0.5, np.array([0.0, 0.4, 1.1, 1.5]))
    return np.sum(by_row**2 * by_column)


def area(x: Any) -> Any:
    return np.trapezoid(x**2, np.cumsum(x * x)) + np.trapezoid(x, dx=x[3] ** 2)


def area_of_rows(m: Any) -> Any:
    return np.sum(np.trapezoid(m * m, axis=0) ** 2)


def unwrapped(x: Any) -> Any:
    return np.sum(np.unwrap(3 * x) * np.arange(5.0))


def sums_from_zero(x: Any) -> Any:
    return np.sum(np.cumulative_sum(x * x, include_initial=True) ** 2) + np.sum(np.cumulative_prod(x))


def interpolated(x: Any) -> Any:
    knots = np.cumsum(x * x)
    inside = np.interp(x * 3, knots, np.sin(knots), left=x[0] ** 2)
    return np.sum(inside**2) + np.interp(7.7, [0.5, 1.5, 2.5, 3.0, 3.6], x * x, period=4.0)


@pytest.mark.parametrize(
    "f",
    [differences, ends, derivative, derivative_by_knots, area, unwrapped, sums_from_zero, interpolated],
)
def test_differences(f: Callable[..., Any]) -> None:
    agrees(f, X)


def test_interpolation_among_points_that_decrease() -> None:
    """What NumPy gives there depends on which points its search meets first."""
    x, points, values = np.array([0.3, 1.2]), np.array([2.0, 1.0, 0.0]), np.array([0.5, 0.7, 0.9])
    for argnum in (0, 2):
        with pytest.raises(UndefinedDerivativeError, match="do not increase"):
            grad(lambda x, p, v: np.sum(np.interp(x, p, v)), argnums=argnum)(x, points, values)
    with pytest.raises(UndefinedDerivativeError, match="do not increase"):
        jvp(lambda x: np.sum(np.interp(x, points, values)), (x,), (np.ones(2),))
    agrees(lambda x: np.sum(np.interp(x, np.array([0.0, 1.0, 1.0, 2.0]), np.arange(4.0))), x)


@pytest.mark.parametrize("f", [slopes, area_of_rows])
def test_differences_in_matrices(f: Callable[..., Any]) -> None:
    agrees(f, M)


# --- products ---


def product_of_two_stacks(m: Any) -> Any:
    stack = np.stack([m[:2, :2], m[:2, 2:]])[..., :1] ** 2
    return np.sum(np.linalg.multi_dot([m[:, :2], stack]) ** 2) + np.sum(np.linalg.multi_dot([stack, m[:1]]) ** 2)


def test_products() -> None:
    agrees(product_of_two_stacks, M)


# --- reductions with a mask, a first value, a mean ---


def masked(x: Any) -> Any:
    return np.sum(x * x, where=x > 0.8, initial=x[0] ** 2) * np.mean(x, where=x < 3)


def largest_but(x: Any) -> Any:
    return np.max(x, initial=x[2] * 2) * x.min(initial=0.1, where=x > 0)


def spreads(m: Any) -> Any:
    mean = np.mean(m, axis=0, keepdims=True) * 1.1
    return np.sum(np.var(m, axis=0, mean=mean) ** 2) + np.std(m, correction=1, where=m > -1)


def of_numbers(m: Any) -> Any:
    y = np.where(m > 3, np.nan, m)
    return np.nanstd(y, ddof=1, where=m > -2) * np.nansum(y, initial=2.0) + np.nanprod(y, axis=1, where=m > 0)[0]


def products(x: Any) -> Any:
    return np.prod(x, initial=x[0], where=x > 0) + np.prod([x[0], x[1] * x[2]])


@pytest.mark.parametrize("f", [masked, largest_but, products])
def test_reductions(f: Callable[..., Any]) -> None:
    agrees(f, X)


@pytest.mark.parametrize("f", [spreads, of_numbers])
def test_reductions_of_matrices(f: Callable[..., Any]) -> None:
    agrees(f, M)


def test_a_first_value_shares_a_tie() -> None:
    f = grad(lambda x, y: np.max(x, initial=y), argnums=(0, 1))
    x_bar, y_bar = f(np.array([1.0, 3.0, 3.0]), 3.0)
    np.testing.assert_allclose(x_bar, [0.0, 1 / 3, 1 / 3])
    assert y_bar == pytest.approx(1 / 3)


# --- polynomials ---


def values(x: Any) -> Any:
    p = np.polymul(np.polyadd(x, [1.0, x[0]]), [x[1], 2.0])
    return np.polyval(np.polyder(p), x[4]) + np.sum(np.polyint(p, k=x[2]) ** 2)


def fitted(x: Any) -> Any:
    t = np.cumsum(x * x)
    slope, start = np.polyfit(t, x, 1, w=1 + x**2)
    return slope * start


def roots(x: Any) -> Any:
    return np.sum(np.abs(np.roots([1.0, x[0], x[1], x[2]])) ** 3) + np.sum(np.poly(x) ** 2)


def series(x: Any) -> Any:
    c = np.polynomial.chebyshev.chebval(x / 5, x)
    return np.sum(c * np.polynomial.polynomial.polyval(x[:2], [x[3], x[4], 2.0])[0])


def powers(x: Any) -> Any:
    return np.sum(np.vander(x, 3, increasing=True) ** 2)


@pytest.mark.parametrize("f", [values, fitted, roots, series, powers])
def test_polynomials(f: Callable[..., Any]) -> None:
    agrees(f, X)


# --- statistics ---


def covariance(m: Any) -> Any:
    return np.sum(np.cov(m, aweights=np.exp(m[0])) ** 2)


def correlation(m: Any) -> Any:
    return np.corrcoef(m[0], m[1] ** 2)[0, 1] + np.sum(np.corrcoef(m, rowvar=False)[0])


def variance(x: Any) -> Any:
    return np.cov(x) ** 2


def weighted_counts(x: Any) -> Any:
    heights, edges = np.histogram(x, 3, weights=x**2)
    return np.sum(heights**2) * edges[1]


@pytest.mark.parametrize("f", [covariance, correlation])
def test_statistics(f: Callable[..., Any]) -> None:
    agrees(f, M)


@pytest.mark.parametrize("f", [variance, weighted_counts])
def test_statistics_of_a_row(f: Callable[..., Any]) -> None:
    agrees(f, X)


# --- choices, places, ranges, windows, parts ---


def chosen(x: Any) -> Any:
    y = np.choose(np.array([0, 1, 0, 2, 1]), [x * x, np.sin(x), x[0]])
    return np.sum(y**2) + np.sum(np.select([x > 2, x > 0], [x**3, x[0] * x], x[1]))


def inserted(x: Any) -> Any:
    return np.sum(np.insert(x * x, [1, 3], [x[0], x[1] ** 2]) * np.arange(7.0)) + np.sum(np.append(x, x[2]) ** 2)


def fitting(x: Any) -> Any:
    a, b = np.broadcast_arrays(x[:, None], x[1:3])
    rows, columns = np.ix_(x, x[:2])
    return np.sum(a * b**2) + np.sum(rows * columns**2)


def steps(x: Any) -> Any:
    points, step = np.linspace(x[0], x[1] ** 2, 4, retstep=True)
    ratios = np.geomspace(x[0], x[2], 5) * np.logspace(x[3], x[4], 5, base=x[1])
    return np.sum(points**2) * step + np.sum(ratios)


def steps_taken(x: Any) -> Any:
    points, step = np.linspace(x[0], x[1] ** 2, 4, retstep=True)
    y = np.zeros_like([0.1, 0.2, 0.3, 0.4])
    for j in range(3):
        y[j + 1] = y[j] + step * np.sin(points[j] * x[2] - y[j])
    points *= x[1]
    step += x[0]
    return np.sum(y * points) * step


def windows(x: Any) -> Any:
    return np.sum(np.kaiser(6, x[1]) ** 2) * np.sum(np.i0(x) ** 2)


def parts_of_numbers(x: Any) -> Any:
    part, _ = np.modf(x * 1.3)
    quotient, rest = np.divmod(x * x, 0.4 + x[0])
    mantissa, exponent = np.frexp(x * 1.1)
    return np.sum(part**2) + np.sum(rest**2 * quotient) + np.sum(mantissa**2 * 2.0**exponent)


def real_powers(x: Any) -> Any:
    return np.sum(np.real_if_close(np.exp(1j * x) * np.exp(-1j * x) * x) ** 2) + np.sum(np.nextafter(x, 9.0) ** 2)


@pytest.mark.parametrize("f", [chosen, inserted, fitting, steps, steps_taken, windows, parts_of_numbers, real_powers])
def test_others(f: Callable[..., Any]) -> None:
    agrees(f, X)


def test_nothing_comes_back_from_what_is_cut_to_integers() -> None:
    assert grad(lambda x: x**2 + np.sum(np.insert(np.array([1, 2]), 1, x)))(1.5) == 3.0


# --- methods of universal functions ---


def reduced(m: Any) -> Any:
    total = np.add.reduce(m * m, axis=1) * np.maximum.reduce(m, 1) + np.multiply.reduce(m, 1, keepdims=True)[:, 0]
    return np.sum(total**2) + np.logaddexp.reduce(m, axis=None)


def running(m: Any) -> Any:
    return np.sum(np.maximum.accumulate(m, axis=1) ** 2) + np.sum(np.multiply.accumulate(m) * np.add.accumulate(m))


def in_parts(x: Any) -> Any:
    return np.sum(np.add.reduceat(x * x, [0, 3, 1]) ** 2)


def all_pairs(x: Any) -> Any:
    far = np.subtract.outer(x, x[:2] ** 2)
    return np.sum(far**2) + np.sum(np.multiply.outer(x, x) * np.maximum.outer(x, x * 2)) + np.sum(np.add.outer(x, x))


@pytest.mark.parametrize("f", [reduced, running])
def test_methods_of_universal_functions(f: Callable[..., Any]) -> None:
    agrees(f, M)


@pytest.mark.parametrize("f", [in_parts, all_pairs])
def test_methods_of_universal_functions_of_a_row(f: Callable[..., Any]) -> None:
    agrees(f, X)


def reduced_into(m: Any) -> Any:
    y = np.zeros(3)
    np.add.reduce(m * m, 1, None, y)
    return np.sum(y**2)


def test_a_result_given_by_position_is_refused_or_right() -> None:
    try:
        gradient = grad(reduced_into)(M)
    except UnsupportedError:
        return
    np.testing.assert_allclose(gradient, 4 * M * np.sum(M * M, axis=1, keepdims=True))


# --- math, cmath and Python's own functions ---


def of_complex(x: float) -> float:
    z = cmath.exp(1j * x) * cmath.sqrt(x + 2j) + cmath.rect(x, x**2)
    size, angle = cmath.polar(z * cmath.asinh(x + 1j))
    return size * angle + cmath.phase(z) + abs(cmath.log(z, 3.0 + x))


def of_real(x: float) -> float:
    part, whole = math.modf(x * 1.7)
    quotient, rest = divmod(x * x, 0.4)
    mantissa, exponent = math.frexp(x)
    return part**2 + whole + rest**2 * quotient + mantissa * 2.0**exponent + math.nextafter(x, 9.0)


@pytest.mark.parametrize("f", [of_complex, of_real])
def test_numbers(f: Callable[..., Any]) -> None:
    agrees(f, 1.3)


def bounded(x: Any) -> Any:
    return np.sum(np.clip(x, min=x[4], max=3.0) ** 2) + np.sum(np.add(x, x[0], casting="same_kind") ** 2)


def test_bounds_by_their_new_names() -> None:
    agrees(bounded, X)


# --- operands that are broadcast in forms of their own ---


def bases(x: Any) -> Any:
    powers = np.logspace(0.1, x[:2], 3, base=x[1:4, None] ** 2, axis=1)
    return np.sum(powers * np.cos(np.arange(powers.size)).reshape(powers.shape))


def shared_base(b: Any) -> Any:
    return np.sum(np.logspace(0.1, 1.0, 3, base=b) ** 2)


def test_powers_of_several_bases() -> None:
    agrees(bases, X)
    agrees(shared_base, np.array([1.4]))
    agrees(shared_base, np.array([[1.4, 0.3], [0.8, 2.0]]))


def points_with_bases(b: Any) -> Any:
    values = np.logspace(0, 1, 3, base=b)
    return np.sum(values * np.sum(values, axis=0, keepdims=True))


def test_powers_of_several_bases_have_axes() -> None:
    agrees(points_with_bases, np.array([1.4, 0.6]))


def several_polynomials(m: Any) -> Any:
    return np.sum(np.polyval(m, 1.2) * m[0]) + np.sum(np.polyval(m, m[1]) ** 2)


def listed_polynomials(x: Any, s: float) -> Any:
    return np.sum(np.polyval([x, 2 * x, x * x], s) * np.arange(5.0))


def scaled_by_polynomials(s: float) -> Any:
    return np.sum(s * np.polyval([[1.0, 2.0], [3.0, 4.0]], s))


def test_several_polynomials() -> None:
    agrees(several_polynomials, M)
    agrees(listed_polynomials, X, 1.2)
    agrees(listed_polynomials, X, 1.2, argnum=1)
    agrees(scaled_by_polynomials, 0.7)


def one_series(c: Any) -> Any:
    values = np.polynomial.chebyshev.chebval(X / 5, c, tensor=False)
    return np.sum(values * np.arange(5.0)) + np.polynomial.polynomial.polyval(0.3, c, False)


def series_in_rows(c: Any) -> Any:
    values = np.polynomial.legendre.legval(M, c, tensor=False)
    return np.sum(values * np.arange(12.0).reshape(3, 4))


def test_coefficients_that_are_broadcast_with_the_points() -> None:
    agrees(one_series, X)
    agrees(series_in_rows, np.array([[0.5, 1.0, -2.0, 0.3], [1.5, 0.2, 0.7, 0.1]]))


def in_steps(y: Any, dx: Any) -> Any:
    return np.sum(np.trapezoid(y, dx=dx, axis=0) ** 2)


def test_steps_of_the_trapezoidal_rule() -> None:
    agrees(in_steps, M, np.array([0.3]))
    agrees(in_steps, M, np.array([0.3]), argnum=1)
    for argnum in (0, 1):
        with pytest.raises(S2SADError, match="array of steps"):
            grad(in_steps, argnums=argnum)(M, np.array([0.3, 0.5, 0.2, 0.4]))


def listed_axes(t: Any) -> Any:
    return np.sum(np.median(t, axis=[0, 2]) ** 2) + np.sum(np.quantile(t, 0.3, axis=[-1, 0]) ** 2)


def complex_medians(z: Any) -> Any:
    middle = np.median(z, axis=0)
    return np.sum(np.real(middle) ** 2 + np.imag(middle))


def test_medians_along_listed_axes_and_of_complex_numbers() -> None:
    agrees(listed_axes, np.stack((M, np.sin(3 * M))))
    agrees(complex_medians, M + 1j * np.cos(M))


def fitted(x: Any, y: Any, w: Any) -> Any:
    p = np.polyfit(x, y, 1, w=w)
    return np.sum(np.real(p) ** 2) + np.sum(np.imag(p))


def test_fits_of_complex_values() -> None:
    y, w = np.sin(X) + 1j * np.cos(3 * X), X**2
    for argnum in range(3):
        agrees(fitted, X, y, w, argnum=argnum)
    with pytest.raises(S2SADError, match="complex points"):
        grad(fitted)(X + 0.3j * np.cos(X), y, w)


def of_complex_base(z: Any) -> Any:
    r = np.logspace(0.1, 1.0, 3, base=z[0])
    r += 0.5
    return np.sum(np.real(r) ** 2) + np.sum(np.imag(r))


def test_powers_of_a_complex_base() -> None:
    agrees(of_complex_base, np.array([1.2 + 0.4j]))
