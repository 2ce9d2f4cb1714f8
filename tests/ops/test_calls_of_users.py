"""Calls in forms that users write and of which no operation has a sample: both modes against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate as sip
import scipy.linalg
from scipy import integrate, ndimage, optimize, signal, sparse, special, stats
from scipy.sparse import linalg as sparse_solvers
from scipy.spatial import distance

from s2sad import grad, jvp
from s2sad.errors import S2SADError, UndefinedDerivativeError
from tests.oracle import is_inexact, leaves, numeric_gradient, pairing, richardson_jvp, tree_map

X = np.array([0.3, -1.2, 2.1, 0.7, 1.9])
M = np.cos(np.arange(12.0)).reshape(3, 4)
S = np.array([[4.0, 0.3, -0.5], [0.1, 3.0, 0.7], [0.2, -0.4, 5.0]])
CUBE = np.sin(np.arange(24.0) + 0.3).reshape(2, 3, 4)
T, Y = np.array([0.1, 0.7, 1.1, 2.3, 2.9]), np.array([0.5, 1.3, -0.2, 0.8, 1.1])
COMPLEX = S + 1j * np.array([[0.3, 0.2, -0.1], [0.4, -0.5, 0.6], [-0.2, 0.7, 0.1]])


def direction(tree: Any) -> Any:
    return tree_map(lambda x: np.cos(np.arange(np.size(x)) + 0.5).reshape(np.shape(x))[()], tree)


def agrees(f: Callable[..., Any], *args: Any, tolerance: float = 1e-6) -> None:
    """Compare the gradient by all arguments, and the tangent along one direction, with differences."""
    found = grad(f, tuple(range(len(args))))(*args)
    for i, g in enumerate(found):
        for a, b in zip(leaves(g), leaves(numeric_gradient(f, args, i)), strict=True):
            assert np.shape(a) == np.shape(b)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    dots = tuple(direction(x) for x in args)
    np.testing.assert_allclose(jvp(f, args, dots)[1], richardson_jvp(f, args, dots), rtol=tolerance, atol=tolerance)


def single(tree: Any) -> Any:
    return tree_map(lambda x: x.astype(np.float32) if is_inexact(x) else x, tree)


# --- integers in their own dtype

#: Differences of unsigned numbers and of truth values are no negative numbers.
FALLING = [
    np.array([9, 6, 3, 1, 0], dtype) for dtype in (np.uint8, np.uint16, np.uint32, np.int8, np.int64)
] + [np.array([False, True, True, False, True])]  # fmt: skip


@pytest.mark.parametrize("points", FALLING, ids=lambda points: str(points.dtype))
def test_the_trapezoidal_rule_subtracts_integers_as_they_are(points: Any) -> None:
    """What NumPy sums is linear in the values, so that its own values at unit vectors are the derivative."""

    def area(y: Any) -> Any:
        return np.trapezoid(y, points)

    units = np.array([area(row) for row in np.eye(5)])
    np.testing.assert_allclose(grad(area)(X), units, rtol=1e-12)
    np.testing.assert_allclose(jvp(area, (X,), (Y,))[1], units @ Y, rtol=1e-12)


@pytest.mark.parametrize("points", FALLING[:-1], ids=lambda points: str(points.dtype))
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_on_a_grid_of_integers(points: Any, order: int) -> None:
    agrees(lambda y: np.sum(np.gradient(y, points, edge_order=order) ** 2), X)
    agrees(lambda m: np.sum(np.gradient(m, points[:4], axis=1, edge_order=order) ** 2), M)


@pytest.mark.parametrize(
    ("shift", "axis"),
    [
        (True, None), (np.True_, 0), (np.uint8(1), 1), (np.array([1, 3], np.uint8), (0, 1)),
        (np.array([True, False]), (0, 1)), ([True, 2], (0, 1)), (np.uint64(2), None),
    ],
)  # fmt: skip
def test_shifts_that_are_not_signed(shift: Any, axis: Any) -> None:
    weights = np.arange(12.0).reshape(3, 4)
    agrees(lambda m: np.sum(np.roll(m, shift, axis) * weights), M)


INTEGERS = [(np.array([1, 3, 7], np.uint8), np.uint8(2)), (np.array([100, 3, 7], np.int8), np.int8(-100))]


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize(("x", "loc"), INTEGERS, ids=["unsigned", "signed"])
def test_distributions_subtract_their_location_from_integers_as_they_are(x: Any, loc: Any) -> None:
    scale, rates = np.array([100.0, 90.0, 80.0]), np.array([240.0, 203.5, 4.5])
    for f in (stats.norm.pdf, stats.norm.logpdf, stats.norm.cdf, stats.norm.sf, stats.norm.logcdf, stats.norm.logsf):
        agrees(lambda s: np.sum(f(x, loc, s)), scale)  # noqa: B023
    for f in (stats.poisson.pmf, stats.poisson.cdf, stats.poisson.logsf):
        agrees(lambda mu: np.sum(f(x, mu, loc)), rates)  # noqa: B023


def test_shape_parameters_of_integers_with_which_a_distribution_computes() -> None:
    """SciPy takes the negative of the parameter ``c`` of ``burr``."""
    x, c = np.array([0.4, 1.7]), np.array([2, 3])
    agrees(lambda x: np.sum(stats.burr.pdf(x, c, 1.5)), x)
    with pytest.raises(UndefinedDerivativeError, match="in uint8, in which results wrap around"):
        grad(lambda x: np.sum(stats.burr.pdf(x, c.astype(np.uint8), 1.5)))(x)


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_images_that_are_moved_by_integers() -> None:
    """SciPy takes the negative of the shift."""
    by = np.array([1, -2])
    agrees(lambda m: np.sum(ndimage.shift(m, by, order=1) ** 2), M)
    with pytest.raises(UndefinedDerivativeError, match="in uint8, in which results wrap around"):
        grad(lambda m: np.sum(ndimage.shift(m, np.abs(by).astype(np.uint8)) ** 2))(M)


def test_matrices_of_integers_in_equations_in_which_they_are_multiplied() -> None:
    a, q = np.array([[100, 3], [20, 70]], np.int8), M[:2, :2]
    agrees(lambda q: np.sum(scipy.linalg.solve_discrete_lyapunov(a.astype(int), q) * S[:2, :2]), q)
    with pytest.raises(UndefinedDerivativeError, match="in int8, in which results wrap around"):
        grad(lambda q: np.sum(scipy.linalg.solve_discrete_lyapunov(a, q) * S[:2, :2]))(q)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("scaling", ["density", "spectrum"])
def test_spectra_add_up_windows_of_integers_as_they_are(scaling: str) -> None:
    x, window = np.cos(np.arange(20.0) ** 1.3), np.array([1, 80, 40, 110, 70, 30], np.uint8)
    agrees(lambda x: np.sum(signal.welch(x, window=window // 10, scaling=scaling)[1]), x)
    agrees(lambda x: np.sum(signal.welch(x, window=window, scaling="spectrum")[1]), x)
    agrees(lambda x: np.sum(signal.spectrogram(x, window=window, scaling=scaling, nperseg=6)[2]), x)


def test_the_angle_to_a_vector_of_integers_whose_squares_are_too_large() -> None:
    u, v = np.array([0.4, 0.8]), np.array([17, 16], np.int8)
    few = v // 3
    agrees(lambda u: distance.cosine(u, few), u)
    agrees(lambda u: distance.cosine(u, v.astype(float)), u)
    with pytest.raises(UndefinedDerivativeError, match="in int8, where its squares are too large"):
        grad(lambda u: distance.cosine(u, v))(u)


# --- single precision


def test_the_coordinates_that_are_farthest_apart_in_single_precision() -> None:
    """SciPy rounds some of its distances to the precision of the points, and others not."""
    u, v = single(M[0]), single(M[1])
    agrees(lambda u, v: distance.chebyshev(u, v) ** 2, u, v, tolerance=1e-5)
    agrees(lambda x, y: np.sum(distance.cdist(x, y, "chebyshev") ** 2), single(M), single(M[:2] ** 2), tolerance=1e-5)
    agrees(lambda x: np.sum(distance.pdist(x, "chebyshev") ** 2), single(M), tolerance=1e-5)


SPLINES = [
    lambda t, y: sip.CubicSpline(t, y)(1.3) ** 2,
    lambda t, y: sip.CubicSpline(t, y, bc_type="natural").derivative()(1.3),
    lambda t, y: sip.CubicSpline(t, y).integrate(0.4, 2.2),
    lambda t, y: np.sum(sip.PchipInterpolator(t, y)(T + 0.1)),
    lambda t, y: np.sum(sip.Akima1DInterpolator(t, y)(T[:4] + 0.1)),
    lambda t, y: sip.make_interp_spline(t, y)(1.3) ** 2,
    lambda t, y: np.sum(sip.PPoly(np.outer(y[:3], t[:2]), np.array([0.0, 1.0, 3.0]))(T)),
]


@pytest.mark.parametrize("f", SPLINES)
def test_splines_through_numbers_in_single_precision(f: Any) -> None:
    agrees(f, single(T), single(Y), tolerance=2e-4)
    assert all(g.dtype == np.float32 for g in grad(f, (0, 1))(single(T), single(Y)))


def test_coefficients_of_splines_in_single_precision() -> None:
    agrees(lambda c: np.sum(sip.BSpline(np.arange(9.0), c, 3)(T + 3)), single(Y), tolerance=1e-5)


# --- complex numbers


def test_an_integral_of_complex_numbers() -> None:
    def f(a: Any, low: Any) -> Any:
        value, _ = integrate.quad(lambda t: np.exp(1j * a * t) * t, low, 1.3, complex_func=True)
        return np.real(value * (1 + 2j))

    agrees(f, 0.7, 0.2)


def test_what_is_imaginary_on_the_diagonal_of_a_hermitian_matrix_is_not_read() -> None:
    agrees(lambda a: np.sum(np.real(scipy.linalg.pinvh(a) * (1 + 2j))), COMPLEX)
    agrees(lambda a: np.sum(np.real(scipy.linalg.pinvh(a, lower=False) * (1 + 2j))), COMPLEX)


@pytest.mark.parametrize("density", [False, True])
def test_tangents_of_histograms_with_complex_weights(density: bool) -> None:
    w, w_dot = X + 1j * Y, Y - 0.3j * X

    def f(w: Any) -> Any:
        return np.histogram(T, [0.0, 1.0, 2.5, 3.0], weights=w, density=density)[0]

    def g(w: Any) -> Any:
        return np.sum(np.real(f(w) * np.array([1 + 2j, 0.5, -1j])))

    assert np.isclose(jvp(g, (w,), (w_dot,))[1], richardson_jvp(g, (w,), (w_dot,)))
    assert np.isclose(pairing(grad(g)(w), w_dot), richardson_jvp(g, (w,), (w_dot,)))


# --- lists


LISTS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda x: np.sum(special.fresnel(x)[0] ** 2), (Y.tolist(),)),
    (lambda x: np.sum(special.sici(x)[1] ** 2), (T.tolist(),)),
    (lambda a: np.sum(scipy.linalg.polar(a)[1] ** 2), (S.tolist(),)),
    (lambda a, b: np.sum(scipy.linalg.orthogonal_procrustes(a, b)[0] ** 3), (S.tolist(), (S[::-1] + 1).tolist())),
    (lambda x, m: np.sum(np.var(x, axis=0, mean=m) ** 2), (M.tolist(), [[0.1, 0.2, 0.3, 0.4]])),
    (lambda b: np.sum(np.logspace(0.3, [0.1, 0.5], 3, base=b)), ([2.0, 1.5],)),
]


@pytest.mark.parametrize(("f", "args"), LISTS)
def test_lists_where_arrays_are_meant(f: Any, args: Any) -> None:
    agrees(f, *args)


# --- further forms

MODE, RAMP = "constant", "linear_ramp"


def test_values_at_the_ends_in_a_mode_that_is_a_variable() -> None:
    weights = np.arange(30.0).reshape(5, 6)
    agrees(lambda a, c: np.sum(np.pad(a, 1, MODE, constant_values=c) * weights), M, 0.7)
    agrees(lambda a, c: np.sum(np.pad(a, 1, RAMP, end_values=((c, 1.0), (2.0, c * c))) * weights), M, 0.7)


@pytest.mark.parametrize("axis", [None, (0, 1), (2, 0), (-1,), 1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_over_several_axes_by_any_function(axis: Any, keepdims: bool) -> None:
    agrees(lambda a: np.sum(np.hypot.reduce(a, axis=axis, keepdims=keepdims) ** 3), CUBE)


def test_products_by_numbers_of_axes_with_an_ellipsis() -> None:
    stack = CUBE[:, :, :3]
    agrees(lambda a, b: np.sum(np.einsum(a, [Ellipsis, 0, 1], b, [1, 2], [Ellipsis, 0, 2]) ** 2), stack, S)
    agrees(lambda a, b: np.sum(np.einsum(a, [..., 0, 1], b, [1, 2], [..., 2, 0]) ** 2), stack, S)


def test_pieces_that_are_numbers_with_a_derivative() -> None:
    agrees(lambda x, a: np.sum(np.piecewise(x, [x < 0, x > 1], [a, lambda t: t * t, lambda t: a * t]) ** 2), X, 0.7)
    agrees(lambda m: np.sum(np.piecewise(m, [m < 0.3], [m[0, 1], lambda u: u]) ** 2), M)
    agrees(lambda x, a: np.sum(np.piecewise(x, condlist=[x < 0, x >= 0], funclist=[a, np.exp]) ** 2), X, 0.7)


def test_a_piece_that_is_a_function_only_at_run_time_is_refused() -> None:
    def f(x: Any, g: Any) -> Any:
        return np.sum(np.piecewise(x, [x < 0, x >= 0], [lambda t: t * t, g]))

    with pytest.raises(S2SADError):
        grad(f)(X, lambda t: np.exp(t))
    np.testing.assert_allclose(grad(f)(X, np.exp), np.where(X < 0, 2 * X, np.exp(X)), rtol=1e-14)


def test_integrals_over_areas_whose_bounds_are_numbers_or_functions() -> None:
    agrees(lambda a, c: integrate.dblquad(lambda v, u: a * u * v, 0.0, 1.0, 0.0, c)[0], 0.7, 1.3)
    agrees(lambda a, c: integrate.dblquad(lambda v, u: a * u * v, 0.0, c, a, lambda u: c * u + 1)[0], 0.7, 1.3)
    agrees(lambda a, c: integrate.tplquad(lambda w, v, u: a * u * v * w, 0.0, 1.0, 0.0, c, 0.0, a)[0], 0.7, 1.3)


# --- what is solved by iteration

SPD = S @ S.T


def test_a_solution_that_was_not_found_has_no_derivative() -> None:
    def few_steps(b: Any) -> Any:
        return np.sum(sparse_solvers.cg(SPD, b, maxiter=1)[0])

    def of_entries(v: Any) -> Any:
        matrix = sparse.csr_matrix((v, (np.arange(3), np.arange(3))), shape=(3, 3))
        return np.sum(sparse_solvers.gmres(matrix, np.ones(3), restart=1, maxiter=1)[0])

    for f in (few_steps, of_entries):
        with pytest.raises(UndefinedDerivativeError, match="has not converged"):
            grad(f)(np.array([1.0, 2.0, 30.0]))
        with pytest.raises(UndefinedDerivativeError, match="has not converged"):
            jvp(f, (np.array([1.0, 2.0, 30.0]),), (np.ones(3),))


@pytest.mark.parametrize("solver", ["cg", "gmres", "bicgstab"])
def test_an_absolute_tolerance_is_that_of_the_solution(solver: str) -> None:
    """An adjoint that is smaller than the tolerance is not zero."""
    solve = getattr(sparse_solvers, solver)

    def f(b: Any) -> Any:
        return 1e-6 * np.sum(solve(SPD, b, rtol=0.0, atol=1e-9)[0])

    def of_entries(v: Any) -> Any:
        matrix = sparse.csr_matrix((v, (np.arange(3), np.arange(3))), shape=(3, 3))
        return 1e-6 * np.sum(solve(matrix, np.arange(1.0, 4.0), rtol=0.0, atol=1e-9)[0])

    np.testing.assert_allclose(grad(f)(np.ones(3)), 1e-6 * np.linalg.solve(SPD, np.ones(3)), rtol=1e-6)
    expected = -1e-6 * np.arange(1.0, 4.0) / np.array([2.0, 3.0, 4.0]) ** 2
    np.testing.assert_allclose(grad(of_entries)(np.array([2.0, 3.0, 4.0])), expected, rtol=1e-6)


def test_factors_in_single_precision() -> None:
    def f(v: Any, b: Any) -> Any:
        matrix = sparse.csc_matrix((v, (np.arange(3), [1, 2, 0])), shape=(3, 3))
        return np.sum(sparse_solvers.splu(matrix).solve(b) ** 2)

    agrees(f, single(np.array([2.0, 3.0, 4.0])), single(np.array([0.5, -1.0, 0.3])), tolerance=1e-5)


UNSOLVED: list[Callable[..., Any]] = [
    lambda a: optimize.fsolve(lambda v: v**2 + a, 1.0)[0],
    lambda a: optimize.root(lambda v: v**2 + a, 1.0).x[0],
    lambda a: optimize.newton(lambda v: v**2 + a, 1.0, maxiter=5, disp=False),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", UNSOLVED)
def test_what_does_not_solve_an_equation_has_no_derivative(f: Callable[..., Any]) -> None:
    assert np.isfinite(f(0.7))
    with pytest.raises(UndefinedDerivativeError, match="does not solve the equations"):
        grad(f)(0.7)
    with pytest.raises(UndefinedDerivativeError, match="does not solve the equations"):
        jvp(f, (0.7,), (1.0,))


def test_solutions_at_zero_and_to_a_loose_tolerance_have_one() -> None:
    agrees(lambda a: optimize.fsolve(lambda v: np.sinh(v) * a, 0.1)[0], 0.7)
    assert np.isclose(grad(lambda a: optimize.fsolve(lambda v: v**3 - a, 1.0, xtol=1e-3)[0])(8.0), 1 / 12, rtol=1e-2)
    agrees(lambda a: optimize.brentq(lambda v: v * a, -0.3, 0.5), 0.7)


# --- second derivatives

STACK = np.stack([S @ S.T, S.T @ S + np.eye(3)])
EDGES = np.array([-2.0, 0.0, 1.0, 3.0])
TWICE: list[tuple[Callable[..., Any], Any]] = [
    (lambda x: np.std(x) ** 3, X),
    (lambda m: np.sum(np.var(m, axis=0, ddof=1) ** 2), M),
    (lambda m: np.sum(np.nanstd(m, axis=1) ** 3), M),
    (lambda x: np.sum(np.insert(x, [1, 3], x[:2] ** 2) ** 2), X),
    (lambda x: np.sum(np.histogram(X, EDGES, weights=x**2)[0] ** 2), X),
    (lambda a: np.sum(np.linalg.cholesky(a) ** 3), STACK),
    (lambda v: np.sum(np.linalg.cholesky(np.outer(v, v) + 3 * np.eye(70)) ** 3), np.cos(np.arange(70.0))),
    (lambda m: np.sum(np.linalg.multi_dot([m, m.T, m, M[0]]) ** 2), M),
    (lambda a: np.sum(np.linalg.tensorsolve(a, X[:3]) ** 2), S),
    (lambda x: np.sum(np.pad(x, 2, "linear_ramp", end_values=(x[0], x[1] ** 2)) ** 2), X),
]


@pytest.mark.parametrize(("f", "x"), TWICE[::2])
def test_second_derivatives(f: Callable[..., Any], x: Any) -> None:
    """By the second difference along a direction, of the function itself."""
    d = direction(x)
    step = 1e-3
    along = [f(x + t * step * d) for t in (-2, -1, 0, 1, 2)]
    expected = np.dot([-1, 16, -30, 16, -1], along) / (12 * step**2)
    tolerance = {"rtol": 1e-6, "atol": 1e-6 * (1 + abs(along[2]))}
    np.testing.assert_allclose(pairing(jvp(grad(f), (x,), (d,))[1], d), expected, **tolerance)
    np.testing.assert_allclose(pairing(grad(lambda y: pairing_of(grad(f)(y), d))(x), d), expected, **tolerance)
    np.testing.assert_allclose(pairing(grad(lambda y: jvp(f, (y,), (d,))[1])(x), d), expected, **tolerance)


def pairing_of(g: Any, d: Any) -> Any:
    return np.sum(g * d)


# --- vectors that complete a basis


@pytest.mark.parametrize("shape", [(4, 3), (5, 2), (4, 1), (2, 5, 2), (3, 4)])
@pytest.mark.parametrize("turn", [0.0, 0.7j])
def test_tangents_of_the_columns_that_complete_a_basis(shape: tuple[int, ...], turn: complex) -> None:
    """They turn as LAPACK's reflections do: the program itself, moved along a direction, says so."""
    a, d = np.cos(np.arange(np.prod(shape)) ** 2).reshape(shape), np.sin(np.arange(np.prod(shape))).reshape(shape)
    if turn:
        a, d = a + turn * d, d - turn * a

    def f(a: Any) -> Any:
        return np.linalg.qr(a, "complete")[0]

    np.testing.assert_allclose(jvp(f, (a,), (d,))[1], richardson_jvp(f, (a,), (d,)), atol=1e-8)
    if len(shape) == 2:
        found = jvp(lambda a: scipy.linalg.qr(a)[0], (a,), (d,))[1]
        np.testing.assert_allclose(found, richardson_jvp(f, (a,), (d,)), atol=1e-8)


@pytest.mark.parametrize(
    "matrix", [[[1.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]], [[2.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 5.0]]]
)
def test_equal_eigenvalues_without_vectors_of_their_own_have_no_derivative(matrix: Any) -> None:
    """The derivative of the sum of squares, the trace of the square, is not what is left where infinities cancel."""

    def f(a: Any) -> Any:
        return np.sum(np.real(np.linalg.eigvals(a) ** 2 + np.linalg.eigvals(a)))

    with pytest.raises(UndefinedDerivativeError, match="defective"):
        grad(f)(np.array(matrix))
    with pytest.raises(UndefinedDerivativeError, match="defective"):
        jvp(f, (np.array(matrix),), (np.ones(np.shape(matrix)),))


def test_equal_eigenvalues_with_vectors_have_one() -> None:
    agrees(lambda a: np.sum(np.real(np.linalg.eigvals(a) ** 2)), np.diag([1.0, 1.0, 3.0]))
    agrees(lambda a: np.sum(np.real(np.linalg.eigvals(a) ** 2)), np.zeros((2, 2)))


@pytest.mark.parametrize("points", FALLING, ids=lambda points: str(points.dtype))
def test_the_rules_of_scipy_subtract_integers_as_they_are(points: Any) -> None:
    def area(y: Any) -> Any:
        total = np.sum(integrate.cumulative_trapezoid(y, points) * np.array([1.0, 0.5, -1.0, 2.0]))
        if points.dtype != bool:
            total = total + integrate.trapezoid(y, points)
        return total + integrate.simpson(y, x=points) if points.dtype.kind != "b" else total

    units = np.array([area(row) for row in np.eye(5)])
    np.testing.assert_allclose(grad(area)(X), units, rtol=1e-10)
    np.testing.assert_allclose(jvp(area, (X,), (Y,))[1], units @ Y, rtol=1e-10)


def test_parabolas_over_points_that_are_given_twice() -> None:
    for points in (np.array([0.0, 1.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0, 2.0, 3.0])):
        agrees(lambda y, points=points: integrate.simpson(y, x=points) ** 2, X)


@pytest.mark.parametrize("function", ["jv", "yv", "iv", "ive", "kv", "kve", "hankel1", "hankel2"])
def test_orders_that_are_not_signed(function: str) -> None:
    orders = np.array([0, 1, 2], np.uint8)
    agrees(lambda x: np.sum(np.abs(getattr(special, function)(orders, x)) ** 2), np.array([0.7, 1.3, 2.1]))


def test_ends_that_are_truth_values() -> None:
    ends = np.array([True, False])
    agrees(lambda x: np.sum(np.pad(x, 1, constant_values=(ends[0], ends[1])) ** 2), X)


# --- complex eigenvectors of SciPy's, which LAPACK makes real in one row

TURNED = COMPLEX[::-1] * (1 - 0.3j)
POSITIVE = COMPLEX @ COMPLEX.conj().T


@pytest.mark.parametrize(
    "options", [{"driver": "evd"}, {"driver": "evd", "lower": False}, {"subset_by_index": [0, 1]}, {"driver": "ev"}]
)
def test_complex_eigenvectors_of_scipy_turn_as_lapack_has_it(options: dict[str, Any]) -> None:
    def f(a: Any) -> Any:
        v = scipy.linalg.eigh(a, **options)[1]
        return np.sum(np.real(v * np.exp(1j * np.arange(v.size)).reshape(v.shape)))

    agrees(f, COMPLEX)


@pytest.mark.parametrize("lower", [True, False])
def test_complex_eigenvectors_of_a_generalised_problem(lower: bool) -> None:
    def f(a: Any, b: Any) -> Any:
        v = scipy.linalg.eigh(a, b, lower=lower)[1]
        return np.sum(np.real(v * np.exp(1j * np.arange(9.0)).reshape(3, 3)))

    dots = (TURNED, 0.1 * TURNED @ TURNED.conj().T)
    found = jvp(f, (COMPLEX, POSITIVE), dots)[1]
    assert np.isclose(found, richardson_jvp(f, (COMPLEX, POSITIVE), dots), rtol=1e-6)
    with pytest.raises(UndefinedDerivativeError, match="factor of modulus one"):
        grad(f, (0, 1))(COMPLEX, POSITIVE)
    agrees(lambda a, b: np.sum(np.abs(scipy.linalg.eigh(a, b, lower=lower)[1]) ** 3), COMPLEX, POSITIVE)


def test_states_of_sections_that_are_lists() -> None:
    sections = np.array([[1.0, 0.7, 0.2, 1.0, 0.3, 0.1]])
    agrees(lambda x, zi: np.sum(signal.sosfilt(sections, x, zi=zi)[0] ** 2), [1.0, 2.0, 0.5], [[0.3, 0.1]])
