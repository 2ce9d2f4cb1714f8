"""Minima that ``scipy.optimize`` finds, in programs of a user's: gradients against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.optimize import curve_fit, least_squares, minimize, minimize_scalar
from scipy.special import ellipk

from s2sad import grad, jvp, value_and_grad, vjp
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient, richardson_jvp

P = np.array([0.7, 1.3])
TIMES = np.linspace(0.0, 2.0, 6)
VALUES = np.array([1.2, 1.0, 0.7, 0.55, 0.3, 0.28])


def energy(x: Any, p: Any) -> Any:
    return (x[0] - p[0]) ** 2 + (x[1] + x[0] * p[1]) ** 2 + p[0] * np.cosh(0.3 * x[1])


def slope(x: Any, p: Any) -> Any:
    inner = x[1] + x[0] * p[1]
    return np.array([2 * (x[0] - p[0]) + 2 * inner * p[1], 2 * inner + 0.3 * p[0] * np.sinh(0.3 * x[1])])


def least_value(p: Any) -> Any:
    return minimize(energy, np.zeros(2), args=(p,)).fun ** 2


def of_captured(p: Any) -> Any:
    found = minimize(lambda x: energy(x, p), np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13})
    return found.fun


def place(p: Any) -> Any:
    return np.sum(minimize(energy, np.zeros(2), (p,), jac=slope, options={"gtol": 1e-11}).x ** 2) * p[0]


def place_of_captured(p: Any) -> Any:
    found = minimize(lambda x: energy(x, p), np.zeros(2), jac=lambda x: slope(x, p), method="L-BFGS-B", tol=1e-15)
    return found.x[0] + 2 * found.x[1]


def in_one_variable(p: Any) -> Any:
    found = minimize_scalar(lambda t: (t - p[0]) ** 4 + np.exp(p[1] * t), bounds=(-3, 3), options={"xatol": 1e-12})
    return found.fun


def residuals(x: Any, scale: Any, values: Any) -> Any:
    return x[0] * np.exp(-x[1] * scale * TIMES) - values


def rows(x: Any, scale: Any, values: Any) -> Any:
    bell = np.exp(-x[1] * scale * TIMES)
    return np.stack([bell, -x[0] * scale * TIMES * bell], axis=1)


def cost(p: Any) -> Any:
    return least_squares(residuals, [1.0, 1.0], args=(p[0], VALUES * p[1])).cost


def fitted(p: Any) -> Any:
    found = least_squares(residuals, [1.0, 1.0], rows, method="lm", xtol=1e-15, ftol=1e-15, args=(p[0], VALUES * p[1]))
    return found.x[0] * found.x[1]


def place_alone(p: Any) -> Any:
    return np.sum(minimize(energy, np.zeros(2), (p,), options={"gtol": 1e-11}).x ** 2) * p[0]


def place_in_one_variable(p: Any) -> Any:
    return minimize_scalar(lambda t: (t - p[0]) ** 2 + np.exp(p[1] * t), bounds=(-3, 3), options={"xatol": 1e-12}).x


def fitted_alone(p: Any) -> Any:
    found = least_squares(residuals, [1.0, 1.0], "3-point", method="lm", xtol=1e-15, args=(p[0], VALUES * p[1]))
    return found.x[0] * found.x[1] + found.cost


def with_slope(p: Any) -> Any:
    found = minimize(lambda x, p: (energy(x, p), slope(x, p)), np.zeros(2), (p,), jac=True, options={"gtol": 1e-11})
    return found["x"][0] * found.x[1] + found.fun


def between_bounds(p: Any) -> Any:
    bounds = [(None, 0.2), (-3.0, 3.0)]
    found = minimize(energy, np.zeros(2), (p,), jac=slope, bounds=bounds, options={"ftol": 1e-16, "gtol": 1e-12})
    return found.x[0] + found.x[1] ** 2


def with_loss(p: Any) -> Any:
    found = least_squares(
        lambda x: residuals(x, p[0], VALUES * p[1]), [1.0, 1.0], bounds=(0.0, 5.0), loss="soft_l1", f_scale=0.1,
        xtol=1e-15, ftol=1e-15, gtol=1e-15,
    )  # fmt: skip
    return found.x[0] * found.x[1] + found.cost


def decay(t: Any, a: Any, b: Any, c: Any = 0.0) -> Any:
    return a * np.exp(-b * t) + c


def of_data(p: Any) -> Any:
    parameters, _ = curve_fit(
        decay, TIMES * p[0], VALUES ** p[1], p0=[1.0, 1.0], sigma=p[0] + TIMES, ftol=1e-15, xtol=1e-15
    )
    return parameters[0] * parameters[1]


def of_captured_and_held(p: Any) -> Any:
    fitted = curve_fit(
        lambda t, a, b: p[0] * decay(t, a, b) + 0.1 * p[1], TIMES, VALUES, bounds=(0, [1.5, 9]), ftol=1e-15, xtol=1e-15
    )
    return fitted[0][0] + 3 * fitted[0][1]


def by_pullback(p: Any) -> Any:
    return minimize(energy, np.zeros(2), (p,), "L-BFGS-B", jac=slope, tol=1e-15).x


PROGRAMS = [
    least_value, of_captured, place, place_of_captured, place_alone, in_one_variable, place_in_one_variable, cost,
    fitted, fitted_alone, with_slope, between_bounds, with_loss, of_data, of_captured_and_held,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_minima(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(P), numeric_gradient(f, (P,), step=2e-2), rtol=2e-5, atol=1e-6)
    dot = np.array([0.6, -0.4])
    _, tangent = jvp(f, (P,), (dot,))
    np.testing.assert_allclose(tangent, richardson_jvp(f, [P], [dot], step=2e-2), rtol=2e-5, atol=1e-6)


def test_a_pullback_has_the_report_of_the_solver() -> None:
    _, pullback = vjp(by_pullback, P)
    bar = np.array([0.6, -0.4])
    expected = numeric_gradient(lambda p: bar @ by_pullback(p), (P,), step=2e-2)
    np.testing.assert_allclose(pullback(bar)[0], expected, rtol=2e-5, atol=1e-6)


def place_at_a_bound(p: Any) -> Any:
    return minimize_scalar(lambda t: (t - p[0]) ** 2, bounds=(0.0, 0.5)).x


def not_found(p: Any) -> Any:
    return minimize(energy, np.zeros(2), (p,), options={"maxiter": 1}).fun


def with_constraints(p: Any) -> Any:
    return minimize(energy, np.zeros(2), (p,), constraints={"type": "eq", "fun": lambda x: x[0] - 1.0}).fun


def just_at_a_bound(p: Any) -> Any:
    return minimize(lambda x: np.sum((x - p) ** 2), np.zeros(2), bounds=[(None, P[0]), (None, None)]).x[0]


def covariances(p: Any) -> Any:
    return curve_fit(decay, TIMES, VALUES * p[0])[1][0, 0]


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (place_at_a_bound, "least at a bound"),
        (not_found, "no minimum was found"),
        (with_constraints, "argument 'constraints' of minimize"),
        (just_at_a_bound, "least at a bound"),
        (covariances, "covariances of fitted parameters"),
    ],
)
def test_what_is_refused(f: Callable[..., Any], what: str) -> None:
    with pytest.raises((UnsupportedError, UndefinedDerivativeError), match=f"(?s){what}"):
        grad(f)(P)
    with pytest.raises((UnsupportedError, UndefinedDerivativeError), match=f"(?s){what}"):
        jvp(lambda p: f(p) * 2.0, (P,), (P,))


def with_a_pendulum(x: Any, p: Any) -> Any:
    return energy(x, p) + ellipk(0.1 * np.tanh(p[0] + x[0] ** 2))


def test_the_least_value_and_its_place_by_a_method_without_derivatives() -> None:
    def least(p: Any) -> Any:
        return minimize(with_a_pendulum, np.zeros(2), (p,), method="Nelder-Mead", tol=1e-10).fun

    def place(p: Any) -> Any:
        return np.sum(minimize(with_a_pendulum, np.zeros(2), (p,), method="Nelder-Mead", tol=1e-10).x)

    np.testing.assert_allclose(jvp(least, (P,), (P,))[1], richardson_jvp(least, [P], [P], step=2e-2), rtol=1e-6)
    np.testing.assert_allclose(grad(least)(P), numeric_gradient(least, (P,), step=2e-2), rtol=1e-6)
    np.testing.assert_allclose(grad(place)(P), numeric_gradient(place, (P,), step=2e-2), rtol=1e-4)
    np.testing.assert_allclose(jvp(place, (P,), (P,))[1], grad(place)(P) @ P, rtol=1e-6)


def test_the_root_of_a_derivative_is_the_place_of_a_minimum() -> None:
    def by_root(p: Any) -> Any:
        return np.sum(optimize.root(slope, np.zeros(2), (p,), tol=1e-14).x ** 2) * p[0]

    np.testing.assert_allclose(grad(by_root)(P), grad(place)(P), rtol=1e-7)


def test_a_fit_of_a_curve_is_a_fit_of_least_squares() -> None:
    def curve(values: Any) -> Any:
        return optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), TIMES, values, [1.0, 1.0], ftol=1e-14)[0][1]

    def fit(values: Any) -> Any:
        return least_squares(residuals, [1.0, 1.0], rows, method="lm", xtol=1e-15, args=(1.0, values)).x[1]

    np.testing.assert_allclose(grad(curve)(VALUES), grad(fit)(VALUES), rtol=1e-5)
    np.testing.assert_allclose(grad(fit)(VALUES), numeric_gradient(curve, (VALUES,), step=1e-2), rtol=1e-5)


def valley(x: Any) -> Any:
    return optimize.rosen(x) ** 2


def test_the_function_of_rosenbrock() -> None:
    for x in np.array([0.7, 1.3, -0.4, 0.9]), np.array([[0.3, 1.1], [0.8, -0.5], [1.2, 0.4]]):
        f = valley if x.ndim == 1 else lambda m: np.sum(optimize.rosen(m) ** 2)
        value, found = value_and_grad(f)(x)
        assert value == f(x)
        np.testing.assert_allclose(found, numeric_gradient(f, (x,)), rtol=1e-7)
    np.testing.assert_allclose(grad(optimize.rosen)(np.array([0.7, 1.3])), optimize.rosen_der(np.array([0.7, 1.3])))


# --- by older functions


def by_bfgs(p: Any) -> Any:
    return np.sum(optimize.fmin_bfgs(energy, np.zeros(2), slope, (p,), gtol=1e-11, disp=0) ** 2)


def by_gradients(p: Any) -> Any:
    return np.sum(optimize.fmin_cg(lambda x: energy(x, p), np.zeros(2), lambda x: slope(x, p), gtol=1e-11, disp=0) ** 3)


def by_simplex(p: Any) -> Any:
    return energy(optimize.fmin(energy, np.zeros(2), args=(p,), xtol=1e-9, ftol=1e-14, disp=0), p)


def in_an_interval(p: Any) -> Any:
    valley = lambda t: (t - p[0]) ** 4 + np.exp(p[1] * t)  # noqa: E731
    low, free = optimize.fminbound(valley, -3, 3, xtol=1e-12), optimize.brent(valley, brack=(-1, 0, 1), tol=1e-12)
    return valley(low) ** 2 + valley(free)


def by_squares(p: Any) -> Any:
    x, _ = optimize.leastsq(residuals, [1.0, 0.5], (p[0], VALUES * p[1]), Dfun=rows, ftol=1e-15, xtol=1e-15)
    return np.sum(x**2)


@pytest.mark.parametrize("f", [by_bfgs, by_gradients, by_simplex, in_an_interval, by_squares])
def test_older_functions(f: Callable[..., Any]) -> None:
    value, found = value_and_grad(f)(P)
    expected, dot = numeric_gradient(f, (P,)), np.array([0.7, -0.4])
    assert value == f(P)
    # The place is found to a few digits less than the value.
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert jvp(f, (P,), (dot,))[1] == pytest.approx(found @ dot, rel=1e-7)


def test_what_older_functions_return_beside_the_result_is_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match="full_output"):
        grad(lambda p: optimize.fmin_bfgs(energy, np.zeros(2), slope, (p,), full_output=True, disp=0)[1])(P)


def test_the_norm_of_no_residual_has_the_derivative_zero() -> None:
    b = np.array([0.5, 1.2, 0.7])

    def f(b: Any) -> Any:
        return np.sum(optimize.nnls(np.eye(3), b)[0] ** 2)

    np.testing.assert_allclose(grad(f)(b), 2 * b, rtol=1e-12)
    np.testing.assert_allclose(jvp(f, (b,), (b,))[1], 2 * b @ b, rtol=1e-12)
