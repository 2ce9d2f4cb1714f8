"""Odd forms of arguments of NumPy's functions: without axes or elements, complex, listed, negative."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import ndimage, special, stats
from scipy.spatial import distance

from s2sad import grad, hvp, jvp, value_and_grad
from s2sad.errors import S2SADError
from tests.ops.test_as_a_user import M, X, agrees
from tests.oracle import numeric_gradient
from tests.sources import function_of
from tests.transform.remaining import check_both_modes

KNOTS, HEIGHTS = np.array([0.0, 1.0, 2.5, 3.0]), np.array([0.4, -1.2, 0.7, 2.0])


def periodic(x: Any, xp: Any, fp: Any, period: float) -> Any:
    z = np.interp(x, xp, fp, period=period)
    return np.sum(z.real**2 + 0.7 * z.imag + z.real * z.imag)


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("period", [3.3, -3.3])
@pytest.mark.parametrize("fp", [HEIGHTS, HEIGHTS + 1j * HEIGHTS**2])
@pytest.mark.parametrize("turn", [0.0, 1j])
def test_interpolation_with_a_period_takes_the_real_parts_of_points(period: float, fp: Any, turn: complex) -> None:
    x = np.array([0.2, 1.7, -2.6, 5.1])
    for argnum in range(3):
        agrees(periodic, x + turn * x, KNOTS - turn, fp, period, argnum=argnum)


def weighted_covariance(m: Any, w: Any) -> Any:
    c = np.cov(m, aweights=w)
    return np.sum(c.real**2 + c.imag * np.arange(9.0).reshape(3, 3))


@pytest.mark.filterwarnings("ignore:Casting complex")
def test_covariances_take_the_real_parts_of_weights() -> None:
    w = np.array([0.5, 1.5, 1.0, 0.7]) + 0.3j * X[:4]
    for m in M, M + 1j * np.cos(M):
        agrees(weighted_covariance, m, w)
        agrees(weighted_covariance, m, w, argnum=1)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [np.cov, np.corrcoef])
def test_covariances_without_observations_are_undefined_as_they_are_in_numpy(f: Any) -> None:
    x = np.zeros((3, 0))
    value, tangent = jvp(lambda x: f(x), (x,), (x,))
    np.testing.assert_array_equal(value, np.full((3, 3), np.nan))
    assert tangent.shape == (3, 3)
    assert grad(lambda x: np.sum(f(x)))(x).shape == (3, 0)


def product_of_polynomials(a: Any, b: Any) -> Any:
    return np.sum(np.polymul(a, b) ** 2)


@pytest.mark.parametrize("a", [X[:0], X[:1], X])
@pytest.mark.parametrize("b", [np.array(1.5), X[:0], X[:2]])
def test_products_of_polynomials_without_coefficients_or_axes(a: Any, b: Any) -> None:
    for argnum in range(2):
        agrees(product_of_polynomials, a, b, argnum=argnum)
        agrees(product_of_polynomials, b, a, argnum=argnum)


@pytest.mark.parametrize(
    "value",
    [
        np.polynomial.polynomial.polyval,
        np.polynomial.chebyshev.chebval,
        np.polynomial.legendre.legval,
        np.polynomial.hermite.hermval,
        np.polynomial.hermite_e.hermeval,
        np.polynomial.laguerre.lagval,
    ],
)
def test_a_series_of_one_number(value: Any) -> None:
    def f(x: Any, c: Any, tensor: bool) -> Any:
        return np.sum(value(x, c, tensor) ** 2 + x)

    for x, c in (X, np.array(1.5)), (0.3, 1.5), (M, 1.5):
        for argnum in range(2):
            agrees(f, x, c, True, argnum=argnum)
            agrees(f, x, c, False, argnum=argnum)


@pytest.mark.parametrize("mode", ["wrap", "clip"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, -2])
def test_elements_taken_by_places_outside(mode: Any, axis: Any) -> None:
    def f(m: Any) -> Any:
        return np.sum(np.take(m, [20, -3, 1], axis=axis, mode=mode) ** 2)

    agrees(f, M)


@pytest.mark.parametrize("extreme", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_extremes_in_another_precision(extreme: Any) -> None:
    def reduced(m: Any) -> Any:
        return np.sum(extreme.reduce(m, axis=1, dtype=np.float32) * np.arange(3.0))

    assert np.count_nonzero(grad(reduced)(M)) == 2
    np.testing.assert_array_equal(np.sum(grad(reduced)(M), axis=1), np.arange(3.0))


@pytest.mark.parametrize("extreme", [np.maximum, np.minimum])
def test_running_extremes_in_another_precision(extreme: Any) -> None:
    def running(x: Any) -> Any:
        return np.sum(extreme.accumulate(x) * np.arange(1.0, 6.0))

    def in_single(x: Any) -> Any:
        return np.sum(extreme.accumulate(x, dtype=np.float32) * np.arange(1.0, 6.0))

    np.testing.assert_array_equal(grad(in_single)(X / 3), grad(running)(X / 3))


def test_cumulative_sums_of_a_number() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.cumulative_sum(x) ** 2)

    def with_initial(x: Any) -> Any:
        return np.sum(np.cumulative_sum(x, include_initial=True) ** 3)

    if hasattr(np, "cumulative_sum"):
        for x in 1.3, np.array(1.3), np.array([1.3]), X:
            agrees(f, x)
            agrees(with_initial, x)


def in_phase(p: Any, period: Any, axis: int) -> Any:
    return np.sum(np.unwrap(p, axis=axis, period=period) ** 2)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_period_for_each_step(axis: int) -> None:
    p = np.array([[0.3, 5.2, 1.7, 9.4], [7.1, 0.4, 6.2, 0.6], [0.8, 8.3, 3.1, 0.2]])
    for period in (6.3, np.array([6.3]), np.array([6.3, 5.9, 6.1])) if axis else (6.3, np.array([6.3])):
        agrees(in_phase, p, period, axis)
        agrees(in_phase, p, period, axis, argnum=1)


def slope(f: Any, x: Any) -> Any:
    return np.sum(np.gradient(f, x, edge_order=2) ** 2)


@pytest.mark.filterwarnings("ignore:Casting complex")
def test_derivatives_on_a_grid_of_complex_points() -> None:
    x = np.array([0.0, 0.7, 1.1, 2.3, 2.9])
    agrees(slope, X, x + 0.2j * x**2)
    agrees(slope, X, x + 0.2j * x**2, argnum=1)


def spread_about(x: Any, mean: Any) -> Any:
    return np.sum(np.abs(np.var(x, axis=1, mean=mean, keepdims=True)))


def test_variances_of_real_numbers_about_a_complex_mean_are_refused() -> None:
    agrees(spread_about, M, np.mean(M, axis=1, keepdims=True) + 0.3)
    agrees(spread_about, M + 1j * np.cos(M), np.mean(M, axis=1, keepdims=True) + 0.3j, argnum=1)
    with pytest.raises(S2SADError, match="complex mean"):
        grad(spread_about)(M, np.mean(M, axis=1, keepdims=True) + 0.3j)


def constants_of_integration(p: Any, k: Any) -> Any:
    return np.sum(np.polyint(p, 1, k) ** 2)


def resized(x: Any) -> Any:
    return np.sum(np.resize(x, (2, 2)) ** 2 + 1)


def filled(a: Any, v: Any) -> Any:
    return np.sum(np.full_like(a, v) ** 2)


def ranked_by(a: Any, q: Any) -> Any:
    return np.quantile(a, q, method="inverted_cdf") ** 2


def covariances_of_both(m: Any, y: Any) -> Any:
    return np.sum(np.cov(m, y) ** 2)


def test_odd_forms() -> None:
    agrees(constants_of_integration, X, X[:2], argnum=1)
    agrees(resized, X[:0])
    agrees(resized, np.zeros((0, 3)))
    agrees(filled, [[1.5, 2.5]], 0.7, argnum=1)
    agrees(ranked_by, [1.5, 2.5, 0.3], 0.4, argnum=1)
    for argnum in range(2):
        agrees(covariances_of_both, np.zeros((0, 4)), M, argnum=argnum)


def pairs_in(dtype: Any) -> Any:
    def f(x: Any) -> Any:
        return np.sum(np.real(np.multiply(x, np.sin(x, dtype=dtype), dtype=dtype) + np.add(x, 2, dtype=dtype)))

    return f


def roots_in(x: Any) -> Any:
    z = np.arcsin(x / 9, dtype=complex) * np.sqrt(x, dtype=np.complex128)
    return np.sum(z.real + z.imag**2)


def written_in(x: Any) -> Any:
    y = np.zeros(5)
    np.exp(x, out=y, dtype=np.float64, where=x > 0)
    return np.sum(y**2)


def test_universal_functions_compute_in_a_dtype() -> None:
    agrees(pairs_in(float), X)
    agrees(pairs_in("float64"), 0.7)
    agrees(pairs_in(complex), X)
    agrees(roots_in, X)
    agrees(written_in, X)
    short = grad(pairs_in(np.float32))(X)
    assert short.dtype == float
    np.testing.assert_allclose(short, grad(pairs_in(float))(X), rtol=1e-5)
    assert grad(pairs_in(float))(X.astype(np.float32)).dtype == np.float32
    with pytest.raises(TypeError, match="casting rule"):
        grad(pairs_in(float))(X + 1j)


def made_like(x: Any) -> Any:
    ones = np.ones(5, like=x) * x[1]
    return np.sum(np.asarray([x[0], x[1] ** 2], like=x) * np.full(2, x[2], like=x)) + np.sum(ones)


def joined_in(x: Any) -> Any:
    y = np.concatenate([x, x**2], dtype=np.float64, casting="safe")
    return np.sum(np.stack([y, y**2], dtype=float) ** 2) + np.sum(np.linspace(x[0], x[1], 4, dtype=float) ** 2)


def test_what_is_made_like_an_array_or_in_a_dtype() -> None:
    agrees(made_like, X)
    agrees(joined_in, X)


def distinct(x: Any) -> Any:
    values, places = np.unique(x, return_inverse=True)
    return np.sum(values[places] ** 3 * np.arange(12.0).reshape(x.shape)) + np.sum(np.bincount(np.ravel(places)))


def distinct_rows(x: Any) -> Any:
    rows, first, number = np.unique(x, return_index=True, return_counts=True, axis=0)
    return np.sum(rows**3 * number[:, None]) + np.sum(x[first] ** 2)


def grouped(x: Any) -> Any:
    _, group = np.unique(x[:, 0], return_inverse=True)
    return np.sum(np.bincount(group, weights=x[:, 1]) ** 2)


def named_distinct(x: Any) -> Any:
    found, (values, number) = np.unique_all(x), np.unique_counts(x)
    return (
        np.sum(found.values**3 * np.arange(12.0) * found.counts)
        + np.sum(values**2 * number)
        + x[0, found.indices[0] % 3]
    )


def distinct_numbers(x: Any) -> Any:
    return np.sum(np.unique(x, equal_nan=False) ** 3 * np.arange(12.0))


@pytest.mark.parametrize(
    "f", [distinct, distinct_rows, grouped, named_distinct, distinct_numbers], ids=lambda f: f.__name__
)
def test_positions_and_counts_of_unique_values_carry_no_derivative(f: Any) -> None:
    x = np.array([[0.3, 0.7, -0.2], [1.1, 0.4, 0.9], [2.0, -1.0, 0.5], [-0.5, 0.1, 0.2]])
    dot = np.cos(np.arange(12.0)).reshape(4, 3)
    gradient = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), gradient, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (x,), (dot,))[1], np.sum(gradient * dot), rtol=1e-7)
    np.testing.assert_allclose(
        hvp(f, (x,), (dot,)), numeric_gradient(lambda t: np.sum(grad(f)(t) * dot), (x,)), rtol=1e-6, atol=1e-8
    )


def as_numbers(x: Any) -> Any:
    return np.float64(np.sum(x**2)) * np.float64(x[0]) + np.sum(np.float64(x) ** 3) + np.float64(2)


def grid_of_views(x: Any) -> Any:
    a, b = np.meshgrid(x, x[:2], copy=False)
    return np.sum(a * b**2)


def test_numbers_and_grids_of_other_kinds() -> None:
    x = np.array([0.3, 0.7, -0.2])
    for f in (as_numbers, grid_of_views):
        agrees(f, x)
    single = grad(lambda t: np.sum(np.float32(t) * 2))(x)
    assert single.dtype == np.float64


def test_sums_of_products_near_zero_and_infinity() -> None:
    """Products that are too small or too large to be divided by."""

    def running(x: Any) -> Any:
        return np.sum(np.cumprod(x)) + np.prod(x[1:])

    for x in (np.array([2.0, 0.0, 3.0, 0.5]), np.array([1e-200, 1e-120, 1e150, 2.0]), np.array([1e300, 1e-300, 5.0])):
        others = [np.prod(np.delete(x[:k], j)) for j in range(len(x)) for k in range(j + 1, len(x) + 1)]
        rows, at = [], 0
        for j in range(len(x)):
            rows.append(sum(others[at : at + len(x) - j]))
            at += len(x) - j
        expected = np.array(rows) + np.array([0.0, *[np.prod(np.delete(x[1:], j)) for j in range(len(x) - 1)]])
        np.testing.assert_allclose(grad(running)(x), expected, rtol=1e-12)


AXES = np.array([2, 0, 1])


def buffer_by_axes(x: Any) -> Any:
    b = np.zeros_like(x)
    b[1] = x[1] ** 2
    axes = np.argsort(AXES)
    return np.sum(np.transpose(b, axes)[0] ** 2) + np.sum(np.reshape(b, (2, -1), order=max("C", "F"))[0] ** 2)


def part_of_transpose(x: Any) -> Any:
    return np.sum(np.transpose(x, (2, 0, 1))[1] ** 3) + np.sum(np.reshape(x, (2, -1), order="F")[0] ** 3)


@pytest.mark.parametrize("f", [buffer_by_axes, part_of_transpose])
def test_axes_are_no_part_of_a_view_that_is_written(f: Any) -> None:
    x = np.cos(np.arange(24.0)).reshape(2, 3, 4)
    agrees(f, x)
    d = np.sin(np.arange(24.0)).reshape(2, 3, 4)
    expected = numeric_gradient(lambda x: np.sum(grad(f)(x) * d), (x,))
    np.testing.assert_allclose(hvp(f, (x,), (d,)), expected, rtol=1e-6, atol=1e-9)


#: Expressions in ``x``, and the shape of ``x``: operands of other sizes or numbers of axes than usual.
OTHER_SIZES = {
    (3, 4): [
        *(f"np.{f}({a}, {b})" for f in ("polyadd", "polysub") for a, b in (
            ("x", "x[:, :1]"), ("x[:2, 0]", "x[:, :3]"), ("x[:, :1]", "x[:, 0]"), ("x[0, 0]", "x[:1]"),
            ("x[:1, :1]", "x[:1]"),
        )),
        "np.polydiv(x[:1, 0], x)[1]",
        *(f"np.trapezoid({y}, {x})" for y, x in (
            ("x", "x[0, :2]"), ("x[:, :2]", "x[0]"), ("x[:, :2]", "x[:, 1:2]"), ("x[:1, :2]", "x"),
        )),
        *(f"np.{f}([x[0], x[1]], {cuts}, axis=1)[{k}]" for f, cuts in (
            ("split", [1]), ("split", [1, 3]), ("array_split", [1]), ("array_split", 2), ("array_split", 3),
        ) for k in range(2)),
        "np.dsplit([x[:, :, None], x[:, :, None]], [1])[0]",
        "np.unstack(x, axis=(1,))[2]",
        *(f"distance.{m}(x[0, :{i}], x[1, :{j}])" for i, j in ((1, 4), (4, 1)) for m in (
            "euclidean", "sqeuclidean", "cityblock", "chebyshev", "canberra", "braycurtis",
        )),
        "distance.minkowski(x[0, :1], x[1], 3)",
        "distance.mahalanobis(x[0, :1], x[1], np.diag([1.0, 2.0, 3.0, 4.0]))",
        "stats.gumbel_l.rvs(x[:1], x[:1] ** 2, random_state=0)",
        "ndimage.laplace(x[0, 0])",
        "ndimage.convolve(x[0, 0], x[0, 1], mode='constant', cval=0.4)",
        "ndimage.correlate(x[0, 0], x[0, 1])",
        "np.histogram(x[0], x[0, :1], density=True, weights=x[1])[1]",
        "np.histogram(x[0], x[0, :0], density=True, weights=x[1])[0]",
        "np.unique_inverse([x[0, 0], x[0, 1]])[0]",
    ],
    (3, 0): [
        "stats.median_abs_deviation(x.T, axis=1)",
        "stats.iqr(x.T, axis=1)",
        "np.nanquantile(x, [0.2], axis=1, method='weibull', keepdims=True)",
        "np.linalg.pinv(x, hermitian=True)",
        "np.trapezoid(np.ones((3, 2)), x)",
    ],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("shape", "text"), [(shape, text) for shape, texts in OTHER_SIZES.items() for text in texts])
def test_operands_of_other_sizes(shape: tuple[int, ...], text: str) -> None:
    source = f"def f(x):\n    z = {text}\n    return np.sum(z * np.cos(np.arange(np.size(z)).reshape(np.shape(z))))\n"
    f = function_of(source, {"np": np, "stats": stats, "ndimage": ndimage, "distance": distance})
    x = 1 + np.sin(1.7 * np.arange(math.prod(shape)).reshape(shape))
    agrees(f, x)
    t = np.cos(np.arange(x.size)).reshape(shape)
    np.testing.assert_allclose(jvp(f, (x,), (t,))[1], np.sum(numeric_gradient(f, (x,)) * t), rtol=1e-6, atol=1e-8)


def test_the_last_part_of_a_cut_list_of_rows_ends_as_far_as_the_list() -> None:
    def f(x: Any) -> Any:
        left, right = np.split([x[0] * x[0], x[1] * x[1]], [1], axis=1)
        return np.sum(right**2) * np.sum(left * np.cos(x[0, 0]))

    def g(x: Any) -> Any:
        return np.sum(np.sin(grad(f)(x)))

    x = np.cos(np.arange(8.0)).reshape(2, 4)
    agrees(g, x)
    with pytest.raises(S2SADError, match="several orders"):
        grad(lambda x: np.sum(stats.moment(x, [2, 3], center=0.5)))(M)


@pytest.mark.parametrize("name", ["eval_laguerre", "eval_chebyt", "jv"])
def test_operands_that_stay_real_in_a_complex_dtype(name: str) -> None:
    function = getattr(special, name)

    def f(x: Any) -> Any:
        return np.sum(np.real(function(2, x, dtype=complex)))

    def converted(x: Any) -> Any:
        return np.sum(np.real(function(2, x.astype(complex))))

    with pytest.raises(S2SADError, match=r"other numbers[\s\S]*astype\(complex\)"):
        grad(f)(X)
    np.testing.assert_allclose(grad(converted)(X), numeric_gradient(f, (X,)), rtol=1e-7)


def test_a_list_of_numbers_in_half_the_precision_is_an_array_in_forward_mode_too() -> None:
    """It is made wider as well, since derivatives are computed in double precision."""

    def f(x: Any, y: Any) -> Any:
        return np.sum(np.real(np.multiply(x, y)))

    y = [np.complex64(0.5 + 0.3j), np.complex64(1.75 + 0.3j)]
    value, dot = jvp(f, (np.float64(1.5), y), (1.0, y))
    np.testing.assert_allclose([value, dot], [1.5 * 2.25, 2.25 + 1.5 * 2.25], rtol=1e-6)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [0, -1, (0, 1)])
@pytest.mark.parametrize("reduce", [np.sum, np.mean, np.max])
def test_masked_reductions_of_what_a_function_makes(reduce: Any, axis: Any, keepdims: bool) -> None:
    """Its adjoint is a selection, of one that is smaller by the axes that are reduced."""
    mask, options = M > 0.2, {} if reduce is np.mean else {"initial": 0.3}

    def f(x: Any) -> Any:
        z = reduce(np.exp(x), axis=axis, keepdims=keepdims, where=mask, **options)
        return np.sum(z * np.arange(1.0, z.size + 1).reshape(z.shape))

    agrees(f, M)


@pytest.mark.parametrize("dtype", [complex, np.complex128, "c16"])
def test_lists_of_real_numbers_that_are_summed_as_complex_ones(dtype: Any) -> None:
    def f(x: Any) -> Any:
        rows = [x[0], x[1] * x[0]]
        return np.real(np.sum(rows, dtype=dtype) ** 2) + np.sum(np.real(np.cumsum(rows, axis=0, dtype=dtype) ** 2))

    agrees(f, M)


INTEGRATED = {
    "numbers": lambda x: np.polyint(x, m=2, k=[1.0, 2.0]),
    "what varies": lambda x: np.polyint(x, 2, [x[0], x[1]]),
    "one": lambda x: np.polyint(x, k=[3.0]),
    "of an object": lambda x: np.polyint(np.poly1d(x), 2, [x[0], 1.0])(x),
}


@pytest.mark.parametrize("name", INTEGRATED)
def test_constants_of_integration_in_lists(name: str) -> None:
    f = INTEGRATED[name]
    check_both_modes(lambda x: np.sum(f(x) ** 2), X[:4], np.array([0.3, -1.0, 0.4, 0.8]))


PUT: dict[str, Any] = {
    "place": lambda x, y: np.place(y, y > 0.0, [1.0, x[0]]),
    "place one": lambda x, y: np.place(y, y > 0.0, [x[1]]),
    "place of a row": lambda x, y: np.place(y[1:], y[1:] > 0.0, (1.0, 0.5)),
    "putmask": lambda x, y: np.putmask(y, y > 0.0, [1.0, x[0] * x[1]]),
    "put": lambda x, y: np.put(y, [0, 1], [1.0, x[0]]),
}


@pytest.mark.parametrize("name", PUT)
def test_lists_are_put_into_arrays_of_single_precision(name: str) -> None:
    put = PUT[name]

    def f(x: Any) -> Any:
        y = np.sin(x)
        put(x, y)
        return np.sum(y * x)

    x = X[:4].astype(np.float32)
    value, found = value_and_grad(f)(x)
    assert value == f(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, numeric_gradient(f, [X[:4]]), rtol=1e-5)
    _, dot = jvp(f, (x,), (x,))
    np.testing.assert_allclose(dot, found @ x, rtol=1e-5)


@pytest.mark.parametrize("function", [np.percentile, np.quantile, np.nanpercentile, np.nanquantile])
@pytest.mark.parametrize("q", [0.3, [0.3, 0.8], np.float32(0.3), np.float64(0.3)])
def test_tangents_of_quantiles_are_of_the_dtype_of_these(function: Any, q: Any) -> None:
    for dtype in (np.float32, np.float64):
        x = X.astype(dtype)
        value, dot = jvp(lambda x: function(x, q), (x,), (x,))
        assert dot.dtype == value.dtype == function(x, q).dtype
