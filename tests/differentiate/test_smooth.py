"""Squares of absolute values, roots, norms and distances: their derivatives of every order are right at zero, too."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist, euclidean, pdist, squareform

from s2sad import grad, hessian, hvp, jvp
from tests.oracle import numeric_gradient

A = np.array([[1.0 + 0.5j, -0.3, 0.7j], [0.2, 1.5j, -0.4 + 0.1j], [0.6j, 0.3, 0.9], [0.5, -0.2j, 0.8 - 0.6j]])
W = np.array([1.0, -2.0, 0.5, 3.0])
#: The second derivatives of the sum of ``W * abs(A @ x) ** 2``.
H = 2 * np.real(A.conj().T @ (W[:, None] * A))


def by_power(x, a, w):
    return np.sum(w * np.abs(a @ x) ** 2)


def by_square(x, a, w):
    z = a @ x
    return np.sum(w * np.square(np.absolute(z)))


def by_product(x, a, w):
    m = abs(a @ x)
    return np.sum(m * w * m) - np.sum(m * m * w) + np.sum(w * (m * m))


def by_float_power(x, a, w):
    m = np.abs(a @ x)
    return np.sum(np.power(m, 2.0) * w)


def in_a_loop(x, a, w):
    total = 0.0
    for row, weight in zip(a, w, strict=True):
        total += weight * abs(np.sum(row * x)) ** 2
    return total


def within_a_callee(x, a, w):
    return np.sum(w * power_of(a @ x))


def power_of(z):
    m = np.abs(z)
    return m**2


FORMS = [by_power, by_square, by_float_power, in_a_loop, within_a_callee]
COMPLEX, REAL = (A, H), (A.real, 2 * A.real.T @ (W[:, None] * A.real))


@pytest.mark.parametrize("f", FORMS, ids=lambda f: f.__name__)
def test_second_derivatives_at_zero(f: Callable[..., Any]) -> None:
    zero, v = np.zeros(3), np.array([0.3, -1.0, 0.7])
    for a, expected in (COMPLEX, REAL):
        np.testing.assert_allclose(hvp(f, (zero, a, W), (v, None, None)), expected @ v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("a", "expected"), [COMPLEX, REAL], ids=["complex", "real"])
def test_second_derivatives_at_zero_in_other_modes(a: Any, expected: Any) -> None:
    zero, v = np.zeros(3), np.array([0.3, -1.0, 0.7])
    np.testing.assert_allclose(hessian(by_square)(zero, a, W), expected, rtol=1e-12, atol=1e-12)
    tangent = grad(lambda x: jvp(by_power, (x, a, W), (v, None, None))[1])
    np.testing.assert_allclose(tangent(zero), expected @ v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("a", [A, A.real], ids=["complex", "real"])
@pytest.mark.parametrize("f", [*FORMS, by_product], ids=lambda f: f.__name__)
def test_first_derivatives(f: Callable[..., Any], a: Any) -> None:
    x, v = np.array([0.4, -1.1, 0.2]), np.array([0.3, -1.0, 0.7])
    expected = numeric_gradient(f, (x, a, W))
    np.testing.assert_allclose(grad(f)(x, a, W), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (x, a, W), (v, None, None))[1], expected @ v, rtol=1e-7)


def of_numbers(x):
    return abs(x) ** 2 + math.fabs(x - 1.0) ** 2 + 0.5 * np.abs(x) ** 2


def test_numbers() -> None:
    assert grad(grad(of_numbers))(0.0) == 5.0
    assert grad(grad(of_numbers))(1.0) == 5.0
    assert grad(grad(of_numbers))(-0.3) == 5.0


def operand_written(x):
    y = x * 1.0
    m = np.abs(y)
    y[0] = 5.0
    return np.sum(m**2 * W[:3]) + np.sum(y)


def modulus_written(x):
    m = np.abs(x)
    m[1] = 2.0
    return np.sum(m**2 * W[:3])


def either(x):
    m = np.abs(x)
    if x[0] > 0:
        m = m + x
    return np.sum(m**2 * W[:3])


def operand_of_the_turn_before(x):
    y, total = x, 0.0
    for _ in range(3):
        m = np.abs(y)
        y = np.sin(y) * 1.5
        total += np.sum(m**2 * W[:3]) + np.sum(y)
    return total


def of_a_list(x):
    return np.sum(np.abs([x[0], x[1] * x[2]]) ** 2 * W[:2])


@pytest.mark.parametrize(
    "f", [operand_written, modulus_written, either, operand_of_the_turn_before, of_a_list], ids=lambda f: f.__name__
)
def test_what_changes_in_between(f: Callable[..., Any]) -> None:
    v = np.array([0.3, -1.0, 0.7])
    for x in np.array([0.4, -1.1, 0.2]), np.array([-0.4, 1.1, 0.7]):
        expected = numeric_gradient(f, (x.copy(),))
        np.testing.assert_allclose(grad(f)(x.copy()), expected, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(jvp(f, (x.copy(),), (v,))[1], expected @ v, rtol=1e-7)


def test_the_text_has_no_sign() -> None:
    text = grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2)).source_for(np.ones(4))
    assert "np.fft.fft(2 * np.conj(t))" in text


# --- roots and norms: functions of the squares of the lengths of the rows of ``x``


def of_norms(x):
    return np.linalg.norm(x, axis=1) ** 2


def of_kept_norms(x):
    n = np.linalg.norm(x, axis=-1, keepdims=True)
    return (n * n)[:, 0]


def of_roots(x):
    return np.square(np.sqrt(np.sum(x**2, axis=1)))


def of_powers(x):
    return (np.sum(x * x, axis=1) ** 0.5) ** 2


def of_hypotenuses(x):
    return np.power(np.hypot(x[:, 0], x[:, 1]), 2)


def of_scaled_products(x):
    n, k = np.linalg.norm(x, 2, axis=1), float(len(x)) / 3.0
    return 0.5 * n * n + n * (0.25 * k * n) + n * 0.25 * n


def of_single_norms(x):
    return np.array([np.linalg.norm(row) ** 2 for row in x])


def of_numbers_of_python(x):
    return np.array([math.sqrt(a * a + b * b) ** 2 for a, b in x])


ORIGIN = np.zeros(2)


def of_distances(x):
    return (cdist(x, ORIGIN[None]) ** 2)[:, 0]


def of_single_distances(x):
    return np.array([euclidean(x[0], ORIGIN) ** 2, euclidean(x[1], ORIGIN) ** 2, euclidean(x[2], ORIGIN) ** 2])


def of_arrays(x):
    return (
        (1.0 * of_norms(x) + 2.0 * of_kept_norms(x) - 4.0 * of_roots(x) + 8.0 * of_powers(x))
        - 48.0 * of_hypotenuses(x)
        + 32.0 * of_scaled_products(x)
    )


def of_items(x):
    return of_single_norms(x) - 2.0 * of_numbers_of_python(x) - 8.0 * of_norms(x)


def of_clouds(x):
    return of_distances(x) - 10.0 * of_single_distances(x)


LENGTHS = [of_arrays, of_items, of_clouds]
#: All of these are the squares of lengths times this.
SCALE = -9.0
#: Some points, two of them at the origin, and weights for them.
ROWS, WEIGHTS = np.array([[0.0, 0.0], [0.3, -0.4], [0.0, 0.0]]), np.array([1.0, -2.0, 0.5])


@pytest.mark.parametrize("squares", LENGTHS, ids=lambda f: f.__name__)
def test_functions_of_squared_lengths(squares: Callable[..., Any]) -> None:
    """Kernels ``exp(-r**2)``, of which the second derivatives are known in closed form.

    Each form has another factor, so that none makes up for another.
    """

    def kernel(x):
        return np.sum(WEIGHTS * np.exp(squares(x) / -SCALE))

    weights = WEIGHTS * np.exp(-np.sum(ROWS**2, axis=1))
    v = np.array([[0.3, -1.0], [0.7, 0.2], [0.5, 0.4]])
    along = np.sum(ROWS * v, axis=1, keepdims=True)
    expected = weights[:, None] * (4 * ROWS * along - 2 * v)
    np.testing.assert_allclose(grad(kernel)(ROWS), -2 * weights[:, None] * ROWS, rtol=1e-12)
    np.testing.assert_allclose(hvp(kernel, (ROWS,), (v,)), expected, rtol=1e-12, atol=1e-14)
    if squares is of_clouds:  # of which the rules take long to differentiate again
        return
    first = jvp(kernel, (ROWS,), (v,))[1]
    np.testing.assert_allclose(first, np.sum(-2 * weights[:, None] * ROWS * v), rtol=1e-12)
    tangent = grad(lambda x: jvp(kernel, (x,), (v,))[1])
    np.testing.assert_allclose(tangent(ROWS), expected, rtol=1e-12, atol=1e-14)


def between_all(x):
    return np.sum(pdist(x, metric="euclidean") ** 2)


def test_squared_distances_of_points_that_coincide() -> None:
    v = np.array([[0.3, -1.0], [0.7, 0.2], [0.5, 0.4]])
    expected = 2 * (3 * v - np.sum(v, axis=0))
    np.testing.assert_allclose(hvp(between_all, (np.ones((3, 2)),), (v,)), expected, rtol=1e-12)


def spread(x):
    return np.std(x) ** 2 + np.sum(x.std(axis=0, ddof=1) ** 2)


def test_the_square_of_a_deviation() -> None:
    v = np.array([[0.3, -1.0], [0.7, 0.2], [0.5, 0.4]])
    expected = (v - np.mean(v)) / 3 + (v - np.mean(v, axis=0))
    np.testing.assert_allclose(hvp(spread, (np.ones((3, 2)),), (v,)), expected, rtol=1e-12)


def cross_entropy(w, a, y):
    z = a @ w
    return np.sum(np.maximum(z, 0) - z * y + np.log1p(np.exp(-np.abs(z))))


def cross_entropy_by_logarithm(w, a, y):
    z = a @ w
    e = np.exp(-abs(z))
    return np.sum(np.maximum(z, 0.0) + np.log(1 + e) - z * y)


def cross_entropy_of_numbers(w, a, y):
    total = 0.0
    for row, label in zip(a, y, strict=True):
        z = row @ w
        total += max(z, 0.0) - z * label + math.log1p(math.exp(-abs(z)))
    return total


@pytest.mark.parametrize(
    "f", [cross_entropy, cross_entropy_by_logarithm, cross_entropy_of_numbers], ids=lambda f: f.__name__
)
def test_the_logistic_loss_at_zero(f: Callable[..., Any]) -> None:
    a, y, v = A.real, np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.3, -1.0, 0.7])
    for w in np.zeros(3), np.array([0.4, -1.1, 0.2]):
        share = 1 / (1 + np.exp(-a @ w))
        np.testing.assert_allclose(grad(f)(w, a, y), a.T @ (share - y), rtol=1e-12)
        expected = a.T @ (share * (1 - share) * (a @ v))
        np.testing.assert_allclose(hvp(f, (w, a, y), (v, None, None)), expected, rtol=1e-12)


# --- one smooth function in two formulas


def logistic(x):
    t = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + t), t / (1 + t))


def logistic_from_left(x):
    t = np.exp(-abs(x))
    negative = x <= 0
    return np.where(negative, t, 1.0) / (1 + t)


def logistic_by_mask(x):
    t, y = np.exp(-np.abs(x)), np.empty_like(x)
    y[x >= 0] = 1 / (1 + t[x >= 0])
    y[x < 0] = t[x < 0] / (1 + t[x < 0])
    return y


def logistic_of_numbers(x):
    return np.array([logistic_of_number(x[0]), logistic_of_number(x[1]), logistic_of_number(x[2])])


def logistic_of_number(x):
    t = math.exp(-abs(x))
    if x >= 0:
        return 1 / (1 + t)
    return t / (1 + t)


def softplus(x):
    return np.where(x > 0, x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def softplus_by_product(x):
    return x * (x >= 0) + np.log(1 + np.exp(-np.abs(x)))


LOGISTIC = [logistic, logistic_from_left, logistic_by_mask, logistic_of_numbers]


@pytest.mark.parametrize("f", [*LOGISTIC, softplus, softplus_by_product], ids=lambda f: f.__name__)
def test_two_formulas_of_one_smooth_function(f: Callable[..., Any]) -> None:
    x, w, v = np.array([0.0, 0.7, -1.2]), np.array([1.0, -2.0, 0.5]), np.array([0.3, -1.0, 0.7])
    share = 1 / (1 + np.exp(-x))
    first, second = share * (1 - share), share * (1 - share) * (1 - 2 * share)
    slope, curvature = (first, second) if f in LOGISTIC else (share, first)
    np.testing.assert_allclose(grad(lambda x: np.sum(w * f(x)))(x), w * slope, rtol=1e-12)
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], slope * v, rtol=1e-12)
    product = hvp(lambda x: np.sum(w * f(x)), (x,), (v,))
    np.testing.assert_allclose(product, w * curvature * v, rtol=1e-12, atol=1e-15)


def both_sides(x):
    return np.where(x > 0, 1.0, 2.0) * np.abs(x) + np.where(x >= 0, 0.0, x)


def counted(x):
    return np.abs(x) + np.sum(x > 0)


@pytest.mark.parametrize("f", [both_sides, counted], ids=lambda f: f.__name__)
def test_otherwise_the_derivative_of_an_absolute_value_is_zero_at_zero(f: Callable[..., Any]) -> None:
    assert grad(lambda x: np.sum(f(x)))(np.zeros(2)).tolist() == [0.0, 0.0]


def of_another_norm(x):
    return np.sum(np.linalg.norm(x, 1, axis=1) ** 2 + np.linalg.norm(x, ord=3, axis=0)[0] ** 2)


def of_where(x):
    return np.sum(np.sqrt(x**2 + 1.0, where=x > 0, out=np.ones_like(x)) ** 2)


def of_another_metric(x):
    return np.sum(cdist(x, x[::-1] + 2.0, "cityblock") ** 2) + np.sum(pdist(x, metric="chebyshev") ** 2)


@pytest.mark.parametrize("f", [of_another_norm, of_where, of_another_metric], ids=lambda f: f.__name__)
def test_squares_of_what_has_no_such_square(f: Callable[..., Any]) -> None:
    x = np.array([[0.2, 0.9], [0.3, -0.4], [-1.1, 0.6]])
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (x,), (x,))[1], np.sum(expected * x), rtol=1e-7)


# --- roots of what a loop replaces


def root_of_the_last_turn(x):
    y = x
    for _ in range(3):
        n = np.abs(y)
        y = np.sin(y) + 0.3 * x
    return np.sum(n**2 * W[:3]) + np.sum(y)


def root_from_the_turn_before(x):
    y, n, p = x, np.abs(x), 0.0
    for _ in range(3):
        y = y * 1.1
        p = n**2 * y
        n = np.hypot(y, 0.5)
        y = y - 0.2 * x
    return np.sum(p) + np.sum(0.5 * n * n * W[:3])


def root_before_a_break(x):
    y, i = x, 0
    while i < 3:
        n = np.linalg.norm(y)
        y = np.sin(y) + 0.3 * x
        if i == 1:
            break
        i += 1
    return n * n + np.sum(y)


@pytest.mark.parametrize("f", [root_of_the_last_turn, root_from_the_turn_before, root_before_a_break])
def test_roots_of_what_a_loop_replaces(f: Callable[..., Any]) -> None:
    x, v = np.array([0.4, -1.1, 0.7]), np.array([0.3, -1.0, 0.7])
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], expected @ v, rtol=1e-7)


@pytest.mark.parametrize("square", [lambda y: y * y, lambda y: y**2, np.square])
def test_what_has_points_as_no_argument_is_no_distance(square):
    """The parameter of `squareform`, a row of distances, has the name of the points of `pdist`."""

    def f(x):
        return np.sum(square(squareform(x)) * np.arange(9.0).reshape(3, 3))

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(grad(f)(x), 2 * x * [4.0, 8.0, 12.0])
