"""The edges of domains: where the adjoint is exactly zero there, it contributes zero, and nowhere else.

Every test fails on a warning of NumPy's, so that a gradient that is silent must be so.
"""

from __future__ import annotations

import builtins
import inspect
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from s2sad import check_grads, grad, jvp
from s2sad.runtime.edges import power_adjoint, quotient
from tests.oracle import numeric_gradient


def general(f: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of ``f`` by its first argument that is written for arguments of which nothing is known."""
    text = str(grad(f).source)
    namespace = {**f.__globals__, **inspect.getclosurevars(f).nonlocals}
    exec(text, namespace)
    found: Callable[..., Any] = namespace[re.findall(r"^def (\w+)", text, re.MULTILINE)[-1]]
    return found


@dataclass(frozen=True)
class Edge:
    """A function, a point at the edge of its domain, points inside, and its derivative there."""

    function: Callable[..., Any]
    edge: float
    inside: tuple[float, ...]
    derivative: Callable[[Any], Any]

    def __str__(self) -> str:
        return self.function.__name__


def root(x):
    return np.sqrt(x)


def math_root(x):
    return math.sqrt(x)


def half_power(x):
    return x**0.5


def third_power(x):
    return x ** (1 / 3)


def function_power(x):
    return np.power(x, 0.3)


def float_power(x):
    return np.float_power(x, 0.3)


def math_power(x):
    return math.pow(x, 0.3)


def python_power(x):
    return builtins.pow(x, 0.3)


def sine(x):
    return np.arcsin(x)


def cosine(x):
    return np.arccos(x)


def cosine_below(x):
    return np.arccos(x)


def hyperbolic(x):
    return np.arccosh(x)


def math_sine(x):
    return math.asin(x)


def math_cosine(x):
    return math.acos(x)


def math_hyperbolic(x):
    return math.acosh(x)


def power_rate(p: float) -> Callable[[Any], Any]:
    return lambda x: p * x ** (p - 1)


def sine_rate(x: Any) -> Any:
    return (1 - x * x) ** -0.5


def cosine_rate(x: Any) -> Any:
    return -sine_rate(x)


def hyperbolic_rate(x: Any) -> Any:
    return (x * x - 1) ** -0.5


ARRAY_EDGES = [
    Edge(root, 0.0, (0.3, 4.0), power_rate(0.5)),
    Edge(half_power, 0.0, (0.3, 4.0), power_rate(0.5)),
    Edge(third_power, 0.0, (0.3, 4.0), power_rate(1 / 3)),
    Edge(function_power, 0.0, (0.3, 4.0), power_rate(0.3)),
    Edge(float_power, 0.0, (0.3, 4.0), power_rate(0.3)),
    Edge(python_power, 0.0, (0.3, 4.0), power_rate(0.3)),
    Edge(sine, 1.0, (0.3, -0.6), sine_rate),
    Edge(cosine, 1.0, (0.3, -0.6), cosine_rate),
    Edge(cosine_below, -1.0, (0.3, -0.6), cosine_rate),
    Edge(hyperbolic, 1.0, (1.3, 4.0), hyperbolic_rate),
]
NUMBER_EDGES = [
    Edge(math_root, 0.0, (0.3, 4.0), power_rate(0.5)),
    Edge(math_power, 0.0, (0.3, 4.0), power_rate(0.3)),
    Edge(math_sine, -1.0, (0.3, -0.6), sine_rate),
    Edge(math_cosine, 1.0, (0.3, -0.6), cosine_rate),
    Edge(math_hyperbolic, 1.0, (1.3, 4.0), hyperbolic_rate),
]
array_edges = pytest.mark.parametrize("edge", ARRAY_EDGES, ids=str)
all_edges = pytest.mark.parametrize("edge", [*ARRAY_EDGES, *NUMBER_EDGES], ids=str)


def weighted(function: Callable[..., Any]) -> Callable[..., Any]:
    def loss(x, w):
        return np.sum(w * function(x))

    return loss


def times(function: Callable[..., Any]) -> Callable[..., Any]:
    def loss(x, w):
        return w * function(x)

    return loss


# --- every function, in every form of its operand ---


@array_edges
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("tier", [grad, general])
@pytest.mark.parametrize("shape", [(4,), (2, 2), (1, 4)])
def test_arrays(edge: Edge, dtype: Any, tier: Any, shape: Any) -> None:
    a, b = edge.inside
    x = np.array([edge.edge, a, edge.edge, b], dtype).reshape(shape)
    w = np.array([0.0, 0.7, -0.0, -1.3], dtype).reshape(shape)
    x_bar = tier(weighted(edge.function))(x, w)
    expected = np.array([0.0, 0.7 * edge.derivative(a), 0.0, -1.3 * edge.derivative(b)]).reshape(shape)
    np.testing.assert_allclose(x_bar, expected, rtol=1e-12 if dtype is np.float64 else 2e-6)
    if tier is grad:
        assert x_bar.dtype == dtype


@all_edges
@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.array])
@pytest.mark.parametrize("tier", [grad, general])
def test_numbers(edge: Edge, kind: Any, tier: Any) -> None:
    gradient = tier(times(edge.function))
    assert gradient(kind(edge.edge), 0.0) == 0.0
    for x in edge.inside:
        x = kind(x)
        np.testing.assert_allclose(gradient(x, 0.7), 0.7 * edge.derivative(float(x)), rtol=2e-6)


@array_edges
def test_an_adjoint_that_is_not_zero_meets_the_infinite_derivative(edge: Edge) -> None:
    x = np.array([edge.edge, edge.edge, edge.inside[0]])
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        x_bar = grad(weighted(edge.function))(x, np.array([0.5, 0.0, 1.0]))
    assert np.isinf(x_bar[0])
    np.testing.assert_allclose(x_bar[1:], [0.0, edge.derivative(edge.inside[0])])


@pytest.mark.parametrize("edge", NUMBER_EDGES, ids=str)
def test_an_adjoint_of_a_number_that_is_not_zero_raises(edge: Edge) -> None:
    with pytest.raises(ZeroDivisionError):
        grad(times(edge.function))(edge.edge, 1.0)


def test_nothing_is_said_of_points_outside_of_the_domain() -> None:
    """NaN stays NaN, whether or not another element is at the edge."""
    for others in ([1.0], [0.0]):
        x = np.array([-1.0, *others])
        with np.errstate(invalid="ignore"):
            x_bar = grad(weighted(root))(x, np.array([0.0, 0.0]))
        np.testing.assert_array_equal(x_bar, [np.nan, 0.0])


# --- powers whose exponent is found at run time ---


def power(x, p, w):
    return np.sum(w * x**p)


@pytest.mark.parametrize("tier", [grad, general])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("p", [0.5, 0.3, 1.0, 2.0, 2.5, 0.0, 1, 2, 0])
@pytest.mark.parametrize("spread", [False, True])
def test_any_exponent_of_at_least_zero(tier: Any, dtype: Any, p: Any, spread: bool) -> None:
    x, w = np.array([0.0, 0.4, 3.0], dtype), np.array([0.0, 0.7, -1.3], dtype)
    exponent = np.full(3, p, dtype if isinstance(p, float) else int) if spread else p
    x_bar = tier(power)(x, exponent, w)
    expected = [0.0, *(w[1:] * (p * x[1:].astype(float) ** (p - 1)))]
    np.testing.assert_allclose(x_bar, expected, rtol=1e-12 if dtype is np.float64 else 2e-6)


@pytest.mark.parametrize("f", [lambda x, p: np.sum(x**p), lambda x, p: np.sum(3.0 * x**p + 0.0 * x)])
@pytest.mark.parametrize("p", [0, 0.0])
def test_the_gradient_of_a_constant_power_has_the_shape_of_its_argument(f: Callable[..., Any], p: Any) -> None:
    x = np.array([[0.0, 2.0], [-1.0, 3.0]], np.float32)
    for tier in (grad, general):
        x_bar = tier(f)(x, p)
        assert x_bar.shape == x.shape
        assert tier is general or x_bar.dtype == x.dtype
        np.testing.assert_array_equal(x_bar, 0.0)
    assert grad(lambda x, p: x**p)(0.0, p) == 0.0


def test_exponents_of_each_kind_at_once() -> None:
    x, w = np.zeros(6), np.array([0.0, 0.0, 0.0, 2.0, 2.0, 2.0])
    p = np.array([0.5, 1.0, 0.0, 1.0, 3.0, 0.0])
    np.testing.assert_array_equal(grad(power)(x, p, w), [0.0, 0.0, 0.0, 2.0, 0.0, 0.0])
    with pytest.warns(RuntimeWarning):
        x_bar = grad(power)(np.zeros(2), np.array([0.5, 0.5]), np.array([0.0, 2.0]))
    np.testing.assert_array_equal(x_bar, [0.0, np.inf])


COEFFICIENTS = np.array([1.0, 2.0, 3.0, 4.0])


def powers_in_a_loop(x):
    total = 0.0
    for k in range(4):
        total += COEFFICIENTS[k] * x**k
    return total


def powers_in_a_sum(x):
    return sum(COEFFICIENTS[k] * x**k for k in range(4))


def powers_that_are_written(x):
    return COEFFICIENTS[0] * x**0 + COEFFICIENTS[1] * x**1 + COEFFICIENTS[2] * x**2 + COEFFICIENTS[3] * x**3


def whole_powers(x):
    return np.sum(COEFFICIENTS * x ** np.arange(4))


def floating_powers(x):
    return np.sum(COEFFICIENTS * x ** np.arange(4.0))


def float_powers(x):
    return np.sum(COEFFICIENTS * np.float_power(x, np.arange(4)))


def powers_of_elements(x):
    return np.sum(COEFFICIENTS * np.power(x * np.ones(4), np.arange(4)))


def powers_in_place(x):
    t = x * np.ones(4)
    t **= np.arange(4)
    return t @ COEFFICIENTS


POLYNOMIALS = [
    powers_in_a_loop, powers_in_a_sum, powers_that_are_written, whole_powers, floating_powers, float_powers,
    powers_of_elements, powers_in_place,
]  # fmt: skip


@pytest.mark.parametrize("f", POLYNOMIALS, ids=lambda f: f.__name__)
def test_derivatives_of_polynomials_at_zero(f: Callable[..., Any]) -> None:
    """Powers that are differentiated more often than their exponent allows vanish, at zero too."""
    once = grad(f)
    twice = grad(once)
    assert (f(0.0), once(0.0), twice(0.0), grad(twice)(0.0)) == (1.0, 2.0, 6.0, 24.0)
    assert jvp(once, (0.0,), (1.0,)) == (2.0, 6.0)


def test_powers_of_numbers() -> None:
    def f(x, p, w):
        return w * x**p

    assert grad(f)(0.0, 0.5, 0.0) == 0.0
    assert grad(f)(0.0, 1.0, 0.0) == 0.0
    assert grad(f)(0.0, 1.0, 3.0) == 3.0
    with pytest.raises(ZeroDivisionError):
        grad(f)(0.0, 0.5, 1.0)


def test_complex_operands() -> None:
    def f(x, w):
        return np.real(np.sum(w * (np.sqrt(x) + x**0.3 + np.arccosh(1 + x))))

    x, w = np.array([0.0, 1.0 + 2j]), np.array([0.0, 0.7 - 0.2j])
    x_bar = grad(f)(x, w)
    assert x_bar[0] == 0
    np.testing.assert_allclose(x_bar[1], numeric_gradient(f, (x[1:], w[1:]))[0], rtol=1e-8)


# --- roots of what is never negative: zero where they vanish, whatever the adjoint ---


def distances(x):
    d = x[:, None] - x[None, :]
    return np.sum(np.sqrt(d**2))


def inverse_distances(x):
    d = x[:, None] - x[None, :]
    r = np.sqrt(d * d)
    r[r > 0] = 1 / r[r > 0]
    return np.sum(r)


def distances_of_points(x):
    p = np.stack([x, x**2, np.sin(x)], axis=1)
    d = p[:, None, :] - p[None, :, :]
    return np.sum(np.sum(d**2, axis=-1) ** 0.5)


def distances_of_coordinates(x):
    dx, dy = x[:, None] - x, np.cos(x)[:, None] - np.cos(x)
    return np.sum(np.sqrt(dx**2 + dy**2))


def distances_in_loops(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            total += math.sqrt((x[i] - x[j]) ** 2)
    return total


def lengths(x):
    rows = np.stack([x - 0.3, 0 * x, 2 * (x - 0.3)])
    return sum(np.sqrt(row @ row) for row in rows)


def positive_part(x):
    return np.sum(np.sqrt(np.maximum(x - 0.5, 0.0)))


def deviations(x):
    return np.sum(np.std(np.stack([x, 0 * x + 1.0]), axis=1)) + np.nanstd(0.0 * x)


NEVER_NEGATIVE = [
    distances, inverse_distances, distances_of_points, distances_of_coordinates, distances_in_loops, lengths,
    positive_part, deviations,
]  # fmt: skip


@pytest.mark.parametrize("f", NEVER_NEGATIVE, ids=lambda f: f.__name__)
def test_where_roots_vanish_and_the_whole_is_smooth(f: Callable[..., Any]) -> None:
    x = np.array([0.2, 0.7, 1.1])
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-7, atol=1e-8)
    _, slope = jvp(f, (x,), (np.array([0.4, -1.0, 0.7]),))
    np.testing.assert_allclose(slope, numeric_gradient(f, (x,)) @ [0.4, -1.0, 0.7], rtol=1e-7, atol=1e-8)


def test_poles_where_roots_vanish_are_not_hidden() -> None:
    def f(x):
        return np.sum(1 / np.sqrt(x**2))

    with np.errstate(all="ignore"):
        x_bar = grad(f)(np.array([0.0, 2.0]))
    assert np.isnan(x_bar[0])
    assert x_bar[1] == -0.25


def test_roots_of_what_may_be_negative_are_infinite() -> None:
    def f(x, y):
        return np.sum(np.sqrt(x * y)) + math.sqrt(y[0])

    with np.errstate(all="ignore"):
        x_bar, y_bar = grad(f, (0, 1))(np.array([0.0, 1.0]), np.array([4.0, 1.0]))
    np.testing.assert_array_equal(x_bar, [np.inf, 0.5])
    np.testing.assert_array_equal(y_bar[1], 0.5)


# --- elsewhere a zero adjoint hides nothing ---


def parallel(x, y):
    return 1 / (1 / x + 1 / y)


def parallel_of_powers(x, y):
    return (x**-1.0 + y**-1.0) ** -1.0


def parallel_of_roots(x, y):
    return (x**-0.5 + y**-0.5) ** -2.0


def cubed_root(x, y):
    return np.cbrt(x) ** 3 + y


def logarithm(x, y):
    return np.exp(np.log(x)) + y


@pytest.mark.parametrize("f", [parallel, parallel_of_powers, parallel_of_roots, cubed_root, logarithm])
def test_poles_are_not_hidden(f: Callable[..., Any]) -> None:
    """All have derivative 1 at 0; what floating-point numbers cannot say is NaN, and never 0."""
    with np.errstate(all="ignore"):
        x_bar = grad(lambda x, y: np.sum(f(x, y)))(np.array([0.0, 1.0]), np.array([2.0, 3.0]))
    assert x_bar[0] == 1 or np.isnan(x_bar[0])
    assert np.isfinite(x_bar[1])


def test_a_zero_adjoint_further_down_does_not_hide_an_infinite_one() -> None:
    """Only the adjoint of the root itself counts: the factor 0 comes after it."""

    def f(x, k):
        return np.sum(np.sqrt(k * x))

    with pytest.warns(RuntimeWarning):
        x_bar = grad(f)(np.array([1.0, 1.0]), np.array([0.0, 4.0]))
    assert np.isnan(x_bar[0])
    assert x_bar[1] == 1.0


# --- programs that are smooth where a part is at its edge ---


def cooling(x):
    return math.sqrt(x) * 0.0


def kernel_of_distances(x):
    d = x[:, None, :] - x[None, :, :]
    r = np.sqrt(np.sum(d**2, axis=-1))
    return np.sum(np.exp(-(r**2)))


def kernel_of_norms(x):
    r = np.linalg.norm(x[:, None, :] - x[None, :, :], axis=-1)
    return np.sum(np.exp(-(r**2)) * r)


def one_dimensional(x):
    r = np.sqrt((x[:, :1] - x[:, :1].T) ** 2)
    return np.sum(r**3)


def potential(x):
    r = np.sqrt(np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1))
    r[r > 0] = 1.0 / r[r > 0]
    return np.sum(np.triu(r, 1))


def potential_by_power(x):
    r = np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1) ** 0.5
    r[r > 0] = r[r > 0] ** -1.0
    return np.sum(np.triu(r, 1))


def forces(x):
    dx = x[:, :1] - x[:, :1].T
    dy = x[:, 1:] - x[:, 1:].T
    inverse = np.sqrt(dx**2 + dy**2) ** 3
    inverse[inverse > 0] = 1.0 / inverse[inverse > 0]
    return np.sum((dx * inverse) @ x**2)


def masked(x):
    r = np.hypot(x[:, :1] - x[:, :1].T, x[:, 1:] - x[:, 1:].T)
    return np.sum(np.where(r > 0, 1.0 / np.where(r > 0, r, 1.0), 0.0))


def angles(x):
    unit = x / np.sqrt(np.sum(x**2, axis=1, keepdims=True))
    cosines = np.clip(unit @ unit.T, -1.0, 1.0)
    return np.sum(np.triu(np.arccos(cosines), 1))


IN_PLACE = [potential, potential_by_power, forces]
NEW_ARRAYS = [kernel_of_distances, kernel_of_norms, one_dimensional, masked, angles]


@pytest.mark.parametrize("f", IN_PLACE + NEW_ARRAYS)
def test_programs_with_zeros_on_the_diagonal(f: Callable[..., Any]) -> None:
    x = np.random.default_rng(1).normal(size=(4, 2))
    expected = numeric_gradient(f, (x,), step=1e-3)
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6, atol=1e-8)
    if f in NEW_ARRAYS:  # nobody knows what is an array where nothing is known, so that nothing can be stored
        np.testing.assert_allclose(general(f)(x), expected, rtol=1e-6, atol=1e-8)
    assert check_grads(f, (x,))


def test_a_root_times_zero() -> None:
    assert grad(cooling)(0.0) == 0.0


def standardised(x, active):
    s = np.std(x, axis=0)
    return np.sum(np.where(active, x[0] / np.where(s > 0, s, 1.0), 0.0))


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("deviation", [np.std, np.nanstd])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_deviation_of_a_constant_column(deviation: Any, keepdims: bool, ddof: int, dtype: Any) -> None:
    def f(x, w):
        return np.sum(w * deviation(x, axis=0, ddof=ddof, keepdims=keepdims))

    x = np.array([[2.0, 0.3], [2.0, -1.0], [2.0, 0.5]], dtype)
    w = np.array([0.0, 1.5], dtype)
    d = x[:, 1].astype(float) - np.mean(x[:, 1].astype(float))
    rate = 1.5 * d / (3 - ddof) / np.sqrt(np.sum(d**2) / (3 - ddof))
    for tier in (grad, general):
        x_bar = tier(f)(x, w)
        np.testing.assert_array_equal(x_bar[:, 0], 0.0)
        np.testing.assert_allclose(x_bar[:, 1], rate, rtol=1e-12 if dtype is np.float64 else 1e-5)


def test_the_deviation_of_all_elements() -> None:
    def f(x, w):
        return w * np.std(x) + np.sum(x)

    np.testing.assert_array_equal(grad(f)(np.full((2, 2), 3.0), 0.0), np.ones((2, 2)))
    np.testing.assert_array_equal(general(f)(np.full((2, 2), 3.0), 0.0), np.ones((2, 2)))
    np.testing.assert_array_equal(grad(f)(np.full((2, 2), 3.0), 1.0), np.ones((2, 2)))
    np.testing.assert_array_equal(general(f)(np.full((2, 2), 3.0), 1.0), np.ones((2, 2)))


@pytest.mark.parametrize("deviation", [np.std, np.nanstd])
def test_the_deviation_of_one_number(deviation: Any) -> None:
    def alone(x):
        return np.real(np.sum(deviation(x) * np.exp(x)))

    def in_columns(x):
        return np.sum(deviation(x, axis=0) * np.exp(x))

    def in_rows(x):
        return np.sum(deviation(x.T, axis=-1, keepdims=True) * np.exp(x.T))

    def masked(x):
        return np.sum(deviation(x, axis=1, where=np.array([[True, False], [True, True]])) * x[:, 1])

    def after_nan(x):
        return np.sum(deviation(np.where(x > 2, np.nan, x), axis=1) * x[:, 1])

    def about(x):
        return deviation(x[:1, 0], mean=0.3)

    for tier in (grad, general):
        for x in 1.3, np.array(1.3), np.array([1.3]), np.array([1.3 + 0.5j]):
            np.testing.assert_array_equal(tier(alone)(x), np.zeros(np.shape(x)))
        row = np.array([[0.3, -1.2, 0.7]])
        np.testing.assert_array_equal(tier(in_columns)(row), np.zeros((1, 3)))
        np.testing.assert_array_equal(tier(in_rows)(row), np.zeros((1, 3)))
        x = np.array([[1.3, 2.2], [0.4, 1.1]])
        for g in (masked, about, after_nan) if deviation is np.nanstd else (masked, about):
            np.testing.assert_allclose(tier(g)(x), numeric_gradient(g, (x,)), rtol=1e-8, atol=1e-10)


def test_columns_that_are_standardised_unless_they_are_constant() -> None:
    x = np.array([[2.0, 0.3], [2.0, -1.0], [2.0, 0.5]])
    active = np.array([False, True])
    x_bar = grad(standardised)(x, active)
    np.testing.assert_allclose(x_bar, numeric_gradient(standardised, (x, active)), rtol=1e-7, atol=1e-9)


def norm_of_rows(x, w):
    return np.sum(w * np.linalg.norm(x, axis=1))


def vector_norm_of_rows(x, w):
    return np.sum(w * np.linalg.vector_norm(x, axis=1))


def cubic_norm_of_rows(x, w):
    return np.sum(w * np.linalg.norm(x, 3, axis=1))


def length_of_rows(x, w):
    return np.sum(w * np.hypot(x[:, 0], x[:, 1]))


def root_of_rows(x, w):
    return np.sum(w * np.sqrt(np.sum(x**2, axis=1)))


@pytest.mark.parametrize("f", [norm_of_rows, vector_norm_of_rows, cubic_norm_of_rows, length_of_rows, root_of_rows])
def test_rows_of_zeros(f: Callable[..., Any]) -> None:
    x, w = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0.0, 2.0])
    expected = numeric_gradient(f, (x[1:], w[1:]))
    for tier in (grad, general):
        x_bar = tier(f)(x, w)
        np.testing.assert_array_equal(x_bar[0], 0.0)
        np.testing.assert_allclose(x_bar[1:], expected, rtol=1e-8)


@pytest.mark.parametrize("w", [0.0, 1.0])
def test_the_length_of_no_vector_at_all(w: float) -> None:
    """A norm has the subgradient of least length where it vanishes."""
    assert grad(lambda x, y: w * math.hypot(x, y), (0, 1))(0.0, 0.0) == (0.0, 0.0)
    assert grad(lambda x, y: w * np.hypot(x, y), (0, 1))(0.0, 0.0) == (0.0, 0.0)
    assert grad(lambda x: w * math.dist(x, (0.0, 0.0)))([0.0, 0.0]) == [0.0, 0.0]
    np.testing.assert_array_equal(grad(lambda x: w * np.linalg.norm(x))(np.zeros(2)), 0.0)


def test_stores_and_out() -> None:
    def stored(x, w):
        a = np.zeros(3)
        a[:] = x
        a **= 0.5
        np.sqrt(a, out=a)
        return np.sum(w * a)

    def in_loop(x, w):
        total = 0.0
        for i in range(len(x)):
            total += w[i] * math.sqrt(math.sqrt(x[i]))
        return total

    x, w = np.array([0.0, 16.0, 81.0]), np.array([0.0, 1.0, 2.0])
    expected = [0.0, 0.25 * 16.0**-0.75, 0.5 * 81.0**-0.75]
    for f in (stored, in_loop):
        np.testing.assert_allclose(grad(f)(x, w), expected)


# --- what is written ---


def text(f: Callable[..., Any], *args: Any) -> str:
    return str(grad(f).source_for(*args))


X, W = np.array([0.3, 0.0, -0.5]), np.array([0.0, 0.7, -1.3])


def test_a_seed_is_not_zero() -> None:
    assert "x_bar = 0.5 / t" in text(lambda x: np.sum(np.sqrt(x)), W)
    assert "x_bar = 0.5 / x.size / t" in text(lambda x: np.mean(np.sqrt(x)), W)
    assert "0.5 / result" in text(lambda x: math.sqrt(x), 0.4)


def added(x, w):
    return np.sum(w * np.sqrt(x**2 + 1e-8))


def spread_out(x, w):
    return np.sum(w * (x - np.mean(x)) / np.sqrt(np.var(x) + 1e-5))


def longest(x, w):
    return w[0] * np.sqrt(np.maximum(np.sum(x * x), 1e-6)) + np.sqrt(1.0 + 2 * (x @ x) / len(x))


def by_number(x, w):
    t = x[0]
    return math.sqrt(t * t + 1.0) * w[0]


def of_large_numbers(x, w):
    return np.sum(w * np.sqrt((np.sum(x**2) + 1e200) ** 1 + max(x[0], 1e-3)))


def scaled(x, w):
    return np.sum(w * np.sqrt(4.0 * (np.abs(x) + 0.1)) ** 0.3)


@pytest.mark.parametrize("f", [added, spread_out, longest, by_number, of_large_numbers, scaled])
def test_the_root_of_what_is_surely_positive_is_divided_by(f: Callable[..., Any]) -> None:
    assert "quotient" not in text(f, X, W)
    assert " if " not in text(f, X, W)
    np.testing.assert_allclose(grad(f)(X, W), numeric_gradient(f, (X, W), step=1e-5), rtol=1e-5, atol=1e-8)


def written_later(x, w):
    t = x * x + 1.0
    t[1] = x[1]
    return np.sum(w * np.sqrt(t))


def written_through_a_view(x, w):
    t = x * x + 1.0
    v = t[1:]
    v[0] = x[1]
    return np.sum(w * np.sqrt(t))


def made_less(x, w):
    t = x * x + 1.0
    t -= 1.0
    return np.sum(w * np.sqrt(t))


def set_to_zero(t):
    t[1] = 0.0


def written_by_another(x, w):
    t = x * x + 1.0
    set_to_zero(t)
    return np.sum(w * np.sqrt(t))


def not_a_square(x, w):
    return np.sum(w * np.sqrt(np.sum(x * w) + 1.0))


@pytest.mark.parametrize("f", [written_later, written_through_a_view, made_less, written_by_another, not_a_square])
def test_what_may_be_zero_is_watched(f: Callable[..., Any]) -> None:
    assert "quotient" in text(f, X, W) or " if " in text(f, X, W)


@pytest.mark.parametrize("f", [written_later, written_through_a_view, made_less, written_by_another])
def test_what_was_written_is_at_its_edge(f: Callable[..., Any]) -> None:
    x, w = np.array([0.3, 0.0, -0.5]), np.array([0.7, 0.0, -1.3])
    expected = numeric_gradient(lambda y: f(np.array([y[0], 0.0, y[1]]), w), (x[[0, 2]],))
    np.testing.assert_allclose(grad(f)(x, w), [expected[0], 0.0, expected[1]], rtol=1e-8)


def test_squares_of_short_numbers_may_vanish() -> None:
    tiny = np.zeros(3, np.float16)
    assert "quotient" in text(added, tiny, tiny)
    np.testing.assert_array_equal(grad(added)(tiny, tiny), 0.0)


# --- the helpers ---


def test_quotient() -> None:
    a, b = np.array([1.0, 0.0, 0.0, 2.0]), np.array([4.0, 0.0, 2.0, 8.0])
    np.testing.assert_array_equal(quotient(a, b), [0.25, 0.0, 0.0, 0.25])
    for x, y in ((0.0, 0.0), (np.float64(0.0), np.float64(0.0)), (0.0, np.float32(0.0)), (0j, 0j), (0, 0.0)):
        assert quotient(x, y) == 0
    assert quotient(a.astype("f4"), b.astype("f4")).dtype == np.float32
    assert quotient(0.0, b.astype("f4")).dtype == np.float32
    assert quotient(0.0, np.float32(0.0)).dtype == np.float32
    np.testing.assert_array_equal(quotient(a[1:3, None], b), np.zeros((2, 4)))
    np.testing.assert_array_equal(quotient(np.array([0j, 1j]), np.array([0j, 2.0])), [0, 0.5j])
    with pytest.raises(ZeroDivisionError):
        quotient(1.0, 0.0)
    with pytest.warns(RuntimeWarning):
        np.testing.assert_array_equal(quotient(np.array([1.0, 0.0]), np.zeros(2)), [np.inf, 0.0])


def test_quotient_asks_for_no_more_than_the_caller_does() -> None:
    with np.errstate(divide="ignore"):
        assert quotient(np.ones(1), np.zeros(1)) == np.inf
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        quotient(np.ones(1), np.zeros(1))
    with np.errstate(all="raise"):
        assert quotient(np.zeros(1), np.zeros(1)) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(quotient(np.array([np.nan]), np.ones(1)))


def raised_to(x: Any, k: Any) -> Any:
    return x[:, None] ** k


def summed(f: Any) -> Any:
    return lambda x: np.sum(f(x))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "f", [lambda x: np.sum(np.power.outer(x, np.arange(5))), lambda x: np.sum(raised_to(x, np.arange(5)))]
)
def test_constant_exponents_have_no_part_in_derivatives_of_any_order(f: Any) -> None:
    """Those of a callee are handed on by its halves, and have no finite derivative where the base is not positive."""
    x, p = np.array([-2.0, 0.0, 1.5]), np.polynomial.Polynomial(np.ones(5))
    for order in (1, 2, 3, 4):
        df = grad(f)
        np.testing.assert_allclose(df(x), p.deriv(order)(x))
        f = summed(df)


def test_power_adjoint() -> None:
    g, x = np.array([0.0, 0.0, 2.0]), np.array([0.0, 4.0, 4.0])
    np.testing.assert_allclose(power_adjoint(g, x, 0.5), [0.0, 0.0, 0.5])
    np.testing.assert_allclose(power_adjoint(g, x, np.array([0.5, 0.5, 2.0])), [0.0, 0.0, 16.0])
    np.testing.assert_array_equal(power_adjoint(g, x, 0), np.zeros(3))
    assert power_adjoint(g.astype("f4"), x.astype("f4"), np.full(3, 0.5, "f4")).dtype == np.float32
    assert power_adjoint(2.0, 3.0, 2.0) == 12.0
    assert power_adjoint(2.0, 0.0, 0.0) == 0.0
    np.testing.assert_allclose(power_adjoint(2.0, -4.0 + 0j, 0.5), (-4.0 + 0j) ** -0.5)
    np.testing.assert_allclose(power_adjoint(1.0, 2.0, 1j), 1j * 2.0 ** (1j - 1))
    with pytest.raises(ZeroDivisionError):
        power_adjoint(0.0, 0.0, -1.0)
