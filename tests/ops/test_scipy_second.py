"""Second derivatives of roots, integrals, differential equations and B-splines, against differences of the gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg, ndimage, optimize
from scipy.integrate import fixed_quad, nquad, odeint, quad, quad_vec, solve_ivp
from scipy.interpolate import CubicSpline, interp1d, make_interp_spline
from scipy.optimize import brentq, fsolve, newton

from s2sad import grad, hvp, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import richardson_jvp

P, V = np.array([0.7, 1.3]), np.array([0.3, -0.8])
LEVELS = np.array([1.0, 2.0, 1.5])


def cubic(x: Any, k: Any) -> Any:
    return x**3 + k * x - 1.0


def captured(p: Any) -> Any:
    return brentq(lambda x: x**3 + p[0] * x - p[1], 0.0, 2.0, xtol=1e-14) ** 2


def by_one_argument(p: Any) -> Any:
    return brentq(cubic, 0.0, 2.0, args=p[0] * p[1], xtol=1e-14) ** 2


def with_a_report(p: Any) -> Any:
    x, report = brentq(lambda x: x**3 + p[0] * x - p[1], 0.0, 2.0, xtol=1e-14, full_output=True)
    return x**2 if report.converged else 0.0


def several_roots(p: Any) -> Any:
    start = np.array([0.9, 0.8, 1.0])
    return np.sum(newton(lambda x, q: x**3 + q[0] * x - q[1] * LEVELS, start, args=(p,), tol=1e-14) ** 2)


def with_slopes(p: Any) -> Any:
    def both(x: Any, a: Any, n: int) -> Any:
        return x**n + a * x - p[1], n * x ** (n - 1) + a

    return optimize.root_scalar(both, args=(p[0], 3), x0=0.9, fprime=True, method="newton", xtol=1e-14).root ** 2


def system(p: Any) -> Any:
    def circle(x: Any) -> Any:
        return [x[0] ** 2 + x[1] ** 2 - p[0] ** 2, x[1] - p[1] * x[0]]

    x = fsolve(circle, [1.0, 1.0], xtol=1e-12)
    return x[0] * x[1] + x[1] ** 2


def fixed_point(p: Any) -> Any:
    return optimize.fixed_point(lambda x: np.cos(p[0] * x) * p[1], 0.5, xtol=1e-14) ** 2


def integral(p: Any) -> Any:
    return quad(lambda t: np.exp(-p[0] * t**2) * np.sum(p * t), p[0], p[1])[0] ** 2


def with_a_weight(p: Any) -> Any:
    return quad(cubic, p[0] / 3, p[1], args=(p[1],), weight="cos", wvar=2.0)[0] * p[0]


def nested(p: Any) -> Any:
    return quad(lambda x: quad(lambda y: np.exp(-p[0] * x * y), 0, x * p[1])[0], 0, p[1])[0]


def of_several_variables(p: Any) -> Any:
    return nquad(lambda x, y, k: x * y**k * p[0], [lambda y, k: (0.0, y * k), (0.2, p[1])], args=(p[0],))[0]


def of_several_integrands(p: Any) -> Any:
    return np.sum(quad_vec(lambda t: np.sin(p * t) * t, p[0], 2.0)[0] ** 2)


def at_fixed_nodes(p: Any) -> Any:
    return fixed_quad(lambda t: np.exp(-p[0] * t), 0.1, p[1], n=4)[0] ** 2


CURVE = interp1d(np.arange(4.0), np.array([0.3, 1.2, -0.4, 0.9]), kind="cubic")


def of_constant_curves(p: Any) -> Any:
    made = CubicSpline(np.arange(4.0), np.array([0.3, 1.2, -0.4, 0.9]))
    return np.sum(made(p, 1) ** 2) + np.sum(CURVE(p) ** 3)


def by_factors(p: Any) -> Any:
    return np.sum(linalg.lu_solve(linalg.lu_factor(np.array([[p[0], 2.0], [p[1], p[0] * p[1]]])), p) ** 2)


def of_an_image(p: Any) -> Any:
    image = np.sin(np.arange(20.0).reshape(4, 5) * p[0])
    return np.sum(ndimage.map_coordinates(image, [[1.2, 0.5, p[1]], [2.1, p[1] * 1.7, 3.3]], mode="mirror") ** 2)


def spline(p: Any) -> Any:
    x = np.linspace(0, 3, 6)
    curve = make_interp_spline(x, np.sin(x * p[0]) + p[1])
    return curve(p[1]) ** 2 + np.sum(curve(x[:3] + p[0] / 9, 1) ** 2)


TIGHT = {"rtol": 1e-7, "atol": 1e-7}


def at_the_end(p: Any) -> Any:
    s = solve_ivp(lambda t, y: [y[1], -p[0] * y[0]], (0.0, 1.0), [1.0, p[1]], **TIGHT)
    return s.y[0, -1] ** 2


def at_times(p: Any) -> Any:
    times = [0.2, 0.7, p[1]]
    s = solve_ivp(lambda t, y: [y[1], -p[0] * np.sin(y[0])], (0.0, p[1]), [1.0, p[1]], t_eval=times, **TIGHT)
    return np.sum(s.y**2 * s.t)


def dense(p: Any) -> Any:
    def rates(t: Any, y: Any, a: Any, b: Any) -> Any:
        return [y[1], -a * np.sin(y[0]) + b * t]

    s = solve_ivp(rates, (0.0, 1.5), [1.0, p[1]], dense_output=True, args=(p[0], p[1]), **TIGHT)
    return np.sum(s.sol(p[1]) ** 2)


def by_odeint(p: Any) -> Any:
    times = np.array([0.0, 0.5, 1.0]) * p[1]
    return np.sum(odeint(lambda y, t, k: -k * y * p[1], p[0], times, args=(p[0] * 2,), **TIGHT) ** 3)


PATHS = [at_the_end, at_times, dense, by_odeint]


def along(f: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda q: jvp(f, (q,), (V,))[1]


@pytest.mark.parametrize(
    "f",
    [
        captured, by_one_argument, with_a_report, several_roots, with_slopes, system, fixed_point, integral,
        with_a_weight, nested, of_an_image, of_constant_curves, by_factors,
        of_several_variables, of_several_integrands, at_fixed_nodes, spline, *PATHS,
    ],
)  # fmt: skip
def test_second_derivatives(f: Callable[..., Any]) -> None:
    expected = richardson_jvp(grad(f), (P,), (V,))
    near = 1e-4 if f in PATHS else 1e-6
    tolerance = {"rtol": near, "atol": near}
    np.testing.assert_allclose(hvp(f, (P,), (V,)), expected, **tolerance)
    if f is not dense:
        np.testing.assert_allclose(grad(along(f))(P), expected, **tolerance)
    if f in (captured, with_a_report, system, integral, spline, at_the_end):
        np.testing.assert_allclose(grad(lambda q: np.sum(grad(f)(q) * V))(P), expected, **tolerance)
    if f in (captured, system, integral, spline, dense):
        np.testing.assert_allclose(jvp(along(f), (P,), (V,))[1], expected @ V, **tolerance)


def of_a_curve_made_here(p: Any) -> Any:
    return np.sum(interp1d(np.arange(4.0), np.array([1.3, 0.2, 0.4, -0.9]), kind="quadratic")(p) ** 2)


def test_second_derivatives_of_a_curve_of_constants() -> None:
    expected = richardson_jvp(grad(of_a_curve_made_here), (P,), (V,))
    np.testing.assert_allclose(hvp(of_a_curve_made_here, (P,), (V,)), expected, rtol=1e-6)


def of_a_turned_image(p: Any) -> Any:
    return np.sum(ndimage.rotate(np.sin(np.arange(20.0).reshape(4, 5)), p[0]) ** 2)


def test_what_has_no_second_derivative_is_one_error() -> None:
    with pytest.raises(UnsupportedError, match="angle_slope computes a first derivative") as refused:
        hvp(of_a_turned_image, (P,), (V,))
    assert len(refused.value.violations) == 1
