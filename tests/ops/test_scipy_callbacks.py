"""Functions that are given to functions of SciPy, in programs of a user's: gradients against differences."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.integrate import odeint, solve_ivp
from scipy.optimize import brentq, fsolve, newton

from s2sad import grad, jvp
from s2sad.errors import S2SADError, UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient

P = np.array([0.7, 1.3])
SCALE = 0.3


def agrees(f: Callable[..., Any], *args: Any, tolerance: float = 1e-7) -> None:
    found, expected = grad(f)(*args), numeric_gradient(f, args)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    dot = np.array([0.6, -0.4])
    tangent = jvp(f, args, (dot, *[None for _ in args[1:]]))[1]
    np.testing.assert_allclose(tangent, np.sum(expected * dot), rtol=tolerance, atol=tolerance)


# --- integrals ---


def bump(t: Any, k: Any, c: Any = 1.0) -> Any:
    return np.exp(-k * t**2) * c


def by_arguments(p: Any) -> Any:
    return integrate.quad(bump, 0.0, p[1], args=(p[0],))[0] ** 2


def by_lambda(p: Any) -> Any:
    k = p[0] * 2
    value, _ = integrate.quad(lambda t: np.sin(t * k) * p[1], 0.0, 1.0)
    return value


def by_local_function(p: Any) -> Any:
    def h(t: Any, s: Any) -> Any:
        return bump(t, s) + p[1] * SCALE

    return integrate.quad(h, 0.0, p[1], args=(p[0],))[0]


class Decay:
    def __init__(self, rate: Any) -> None:
        self.rate = rate

    def density(self, t: Any) -> Any:
        return np.exp(-self.rate * t)

    def mass(self, b: Any) -> Any:
        return integrate.quad(self.density, 0, b)[0]


def by_method(p: Any) -> Any:
    return Decay(p[0]).mass(p[1])


def by_partial(p: Any) -> Any:
    first = integrate.quad(partial(bump, c=p[1]), 0, 1, (p[0],))[0]
    return first + integrate.quad(partial(bump, k=p[1]), 0, 1)[0]


def by_loop(p: Any) -> Any:
    total = 0.0
    for i in range(3):
        total += integrate.quad(lambda t: t**i * p[0], 0, p[1])[0]  # noqa: B023
    return total


def moment(f: Any, n: Any) -> Any:
    return integrate.quad(lambda x: x**n * f(x), -np.inf, np.inf)[0]


def by_functions_of_functions(p: Any) -> Any:
    return moment(lambda x: np.exp(-p[0] * x**2), 2) / moment(lambda x: np.exp(-p[1] * x**2), 0)


def nested(p: Any) -> Any:
    inner = lambda y: integrate.quad(lambda x: np.exp(-p[0] * x * y), 0, 1)[0]  # noqa: E731
    return integrate.quad(inner, 0, p[1])[0]


def of_numpy(p: Any) -> Any:
    return integrate.quad(np.sin, p[0], p[1])[0]


def of_an_object(p: Any, model: Any = Decay(0.3)) -> Any:  # noqa: B008
    return integrate.quad(model.density, p[0], p[1])[0]


def oscillating(p: Any) -> Any:
    return integrate.quad(lambda t: np.exp(-p[0] * t), 0, p[1], weight="cos", wvar=3.0)[0]


def by_nodes(p: Any) -> Any:
    return integrate.fixed_quad(lambda t: bump(t, p[0]), 0.0, p[1], n=6)[0]


def with_branches(p: Any) -> Any:
    def f(t: Any) -> Any:
        if t < 0.5:
            return p[0] * t
        return p[1] * t**2

    return integrate.quad(f, 0.0, 1.0, points=[0.5])[0]


INTEGRALS = [
    by_arguments, by_lambda, by_local_function, by_method, by_partial, by_loop, by_functions_of_functions, nested,
    of_numpy, of_an_object, oscillating, by_nodes, with_branches,
]  # fmt: skip


@pytest.mark.parametrize("f", INTEGRALS, ids=lambda f: f.__name__)
def test_integrals(f: Callable[..., Any]) -> None:
    agrees(f, P)


def test_a_function_may_be_an_argument() -> None:
    def f(p: Any, g: Any) -> Any:
        return integrate.quad(g, 0.0, p[1], args=(p[0],))[0]

    agrees(f, P, bump)
    agrees(f, P, lambda t, k: bump(t, k) * np.cos(t))


def test_a_saved_text_has_the_functions_that_are_given(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for f in (by_lambda, nested, by_loop):
        path = tmp_path / f"saved_{f.__name__}.py"
        df = grad(f)
        df.save(path)
        monkeypatch.syspath_prepend(tmp_path)
        saved = importlib.import_module(f"saved_{f.__name__}")
        np.testing.assert_allclose(getattr(saved, f"{f.__name__}_grad_p")(P), df(P))


def test_the_estimate_of_an_error_has_no_derivative() -> None:
    def f(p: Any) -> Any:
        value, error = integrate.quad(bump, 0.0, 1.0, args=(p[0],))
        return value + error

    with pytest.raises(UndefinedDerivativeError, match=r"quad\(\.\.\.\)\[0\]"):
        grad(f)(P)
    with pytest.raises(UndefinedDerivativeError, match=r"quad\(\.\.\.\)\[0\]"):
        jvp(f, (P,), (P,))


def test_bounds_with_a_singular_weight_are_refused() -> None:
    def f(p: Any) -> Any:
        return integrate.quad(bump, 0.0, p[1], args=(p[0],), weight="alg", wvar=(-0.5, 0.0))[0]

    with pytest.raises(UndefinedDerivativeError, match="weight='alg'"):
        grad(f)(P)
    agrees(lambda p: integrate.quad(bump, 0.0, 1.0, args=(p[0],), weight="alg", wvar=(-0.5, 0.0))[0], P)


LOG: list[float] = []
MODULE = np.ones(2)


def test_functions_that_write_are_refused() -> None:
    def into_the_module(t: Any, k: Any) -> Any:
        MODULE[0] = t
        return k[0] * t

    def into_an_argument(t: Any, k: Any) -> Any:
        k[0] = t
        return k[0] * k[1]

    def f(p: Any, g: Any) -> Any:
        return integrate.quad(g, 0.0, 1.0, args=(p,))[0]

    def known(p: Any) -> Any:
        return integrate.quad(into_the_module, 0.0, 1.0, args=(p,))[0]

    def bound(p: Any, g: Any) -> Any:
        return integrate.quad(g, 0.0, p[0], args=(MODULE,))[0]

    with pytest.raises(UnsupportedError):
        grad(known)(P)
    for g in (into_the_module, into_an_argument):
        with pytest.raises(S2SADError):
            grad(f)(P, g)
    with pytest.raises(S2SADError):
        grad(bound)(P, into_an_argument)


# --- differential equations

TIMES = np.linspace(0, 2, 5)


def pendulum(y: Any, t: Any, a: Any, b: Any) -> Any:
    dy = np.zeros(2)
    dy[0] = y[1]
    dy[1] = -a * y[1] - b * np.sin(y[0])
    return dy


def swing(p: Any) -> Any:
    return np.sum(odeint(pendulum, [p[0], 0.0], TIMES, args=(p[0], p[1]), rtol=1e-10, atol=1e-10) ** 2)


def epidemic(p: Any) -> Any:
    def model(y: Any, t: Any) -> Any:
        s, i = y
        return [-p[0] * s * i, p[0] * s * i - p[1] * i]

    path = odeint(model, [0.9, 0.1], TIMES, rtol=1e-10, atol=1e-10)
    return np.sum(path[:, 1] ** 2)


def decay(p: Any) -> Any:
    y0 = p * 2
    path = odeint(lambda y, t: -y * p, y0, TIMES, rtol=1e-10, atol=1e-10)
    return path[-1, 0] * path[-1, 1]


def by_times(p: Any) -> Any:
    times = np.array([0.1, 0.5, 1.0]) * p[0]
    return np.sum(odeint(lambda y, t: -y * t, p[1], times, rtol=1e-10, atol=1e-10) ** 2)


def by_steps(p: Any) -> Any:
    def lotka(t: Any, z: Any, a: Any, b: Any) -> Any:
        x, y = z
        return np.array([a * x - b * x * y, -y + x * y])

    sol = solve_ivp(lotka, (0.0, 2.0), [1.0, 0.5], args=(p[0], p[1]), t_eval=TIMES, rtol=1e-10, atol=1e-11)
    return np.sum(sol.y[0] ** 2) + sol.y[1, -1] * sol.t[2]


def at_the_end(p: Any) -> Any:
    sol = integrate.solve_ivp(lambda t, y: -p[0] * y, [0, p[1]], [p[1], 1.0], method="DOP853", rtol=1e-11, atol=1e-12)
    if not sol.success:
        raise ValueError(sol.message)
    return sol.y[0, -1] * sol.y[1, -1]


def stiff(p: Any) -> Any:
    sol = solve_ivp(
        lambda t, y: [-50.0 * p[0] * (y[0] - np.cos(t))], (0, 1.0), [p[1]], method="Radau", t_eval=[0.5, 1.0],
        rtol=1e-9, atol=1e-10,
    )  # fmt: skip
    return np.sum(sol.y**2)


class Spring:
    def __init__(self, stiffness: Any) -> None:
        self.stiffness = stiffness

    def rhs(self, t: Any, y: Any) -> Any:
        return np.array([y[1], -self.stiffness * y[0]])

    def run(self, x0: Any) -> Any:
        return solve_ivp(self.rhs, (0.0, 1.0), np.array([x0, 0.0]), t_eval=np.linspace(0, 1, 4), rtol=1e-10, atol=1e-11)


def between(p: Any) -> Any:
    sol = solve_ivp(lambda t, y: [y[1], -p[0] * y[0]], (0, 1.5), [p[1], 0.2], dense_output=True, rtol=1e-11, atol=1e-12)
    return sol.sol(p[1] / 2)[0] * sol.sol(0.7)[1] + np.sum(sol.sol(np.array([1.2, 0.3])) ** 2) + sol.y[0, -1]


def by_name(p: Any) -> Any:
    found = solve_ivp(epidemic_rate, (0, 1.0), [p[1], 0.1], "LSODA", args=[p[0]], rtol=1e-11, atol=1e-12)
    first, second = found["y"]
    return (first[-1] * second[-1] + found.y.T[-1][0]) * (1 + found.status)


def epidemic_rate(t: Any, y: Any, rate: Any) -> Any:
    return [-rate * y[0] * y[1], rate * y[0] * y[1] - 0.3 * y[1]]


def in_a_class(p: Any) -> Any:
    return np.sum(Spring(p[0]).run(p[1]).y ** 2)


EQUATIONS = [swing, epidemic, decay, by_times, by_steps, at_the_end, stiff, between, by_name, in_a_class]


def test_steps_on_the_way_have_no_derivative() -> None:
    def f(p: Any) -> Any:
        return np.sum(solve_ivp(lambda t, y: -p[0] * y, (0.0, 1.0), [1.0]).y)

    with pytest.raises(UndefinedDerivativeError, match="t_eval"):
        grad(f)(P)
    with pytest.raises(UndefinedDerivativeError, match="t_eval"):
        jvp(f, (P,), (P,))


def test_after_its_end_a_solution_has_no_derivative() -> None:
    def f(p: Any) -> Any:
        return solve_ivp(lambda t, y: -p[0] * y, (0.0, 1.0), [1.0], dense_output=True).sol(1.2)[0]

    for run in (lambda: grad(f)(P), lambda: jvp(f, (P,), (P,))):
        with pytest.raises(UndefinedDerivativeError, match="span of solve_ivp"):
            run()


def test_events_are_refused_with_a_remedy() -> None:
    def f(p: Any) -> Any:
        return solve_ivp(lambda t, y: -p[0] * y, (0.0, 1.0), [1.0], events=lambda t, y: y[0] - 0.5).y[0, -1]

    with pytest.raises(
        UnsupportedError, match=r"(?s)argument 'events' of solve_ivp has no derivative rule.*dense_output"
    ):
        grad(f)(P)


def when_it_is_halved(p: Any) -> Any:
    sol = solve_ivp(lambda t, y: -p[0] * y, (0.0, 3.0), [p[1]], dense_output=True, rtol=1e-11, atol=1e-12)
    return brentq(lambda t: sol.sol(t)[0] - 0.5, 0.0, 3.0, xtol=1e-14)


def test_the_time_of_an_event_is_a_root_of_the_solution() -> None:
    assert when_it_is_halved(P) == pytest.approx(np.log(2 * P[1]) / P[0], rel=1e-8)
    np.testing.assert_allclose(
        grad(when_it_is_halved)(P), [-np.log(2 * P[1]) / P[0] ** 2, 1 / (P[0] * P[1])], rtol=1e-7
    )


@pytest.mark.parametrize("f", EQUATIONS, ids=lambda f: f.__name__)
def test_differential_equations(f: Callable[..., Any]) -> None:
    agrees(f, P, tolerance=1e-6)


# --- roots


def in_an_interval(p: Any) -> Any:
    return brentq(lambda x: x**3 + p[0] * x - p[1], 0, 2, xtol=1e-14)


def by_newton(p: Any) -> Any:
    def kepler(x: Any) -> Any:
        return x - p[0] * np.sin(x) - p[1]

    return newton(kepler, 1.0, fprime=lambda x: 1 - p[0] * np.cos(x), tol=1e-14) ** 2


def of_a_system(p: Any) -> Any:
    def equations(v: Any) -> Any:
        x, y = v
        return [x**2 + y**2 - p[0] ** 2 - 4, x * y - p[1]]

    x, y = fsolve(equations, [2.0, 0.5], xtol=1e-13)
    return x * 3 + y**2


def price(s: Any) -> Any:
    return 100 * np.exp(-s) - 3 * s


def implied(p: Any, f: Any) -> Any:
    return brentq(lambda s: f(s) - p, 0, 5, xtol=1e-13)


def volatility(p: Any) -> Any:
    return implied(p[0] * 50, price) + p[1]


def with_report(p: Any) -> Any:
    x, report = brentq(lambda x: x**3 + p[0] * x - p[1], 0, 2, xtol=1e-14, full_output=True)
    return x if report.converged else 0.0


def reported_root(p: Any) -> Any:
    return brentq(lambda x: x**3 + p[0] * x - p[1], 0, 2, full_output=True)[1].root


def reported_matrix(p: Any) -> Any:
    _, report, *_ = fsolve(lambda x: x**3 + p[0] * x - p[1], np.ones(2), full_output=True)
    return report["r"][0]


def reported_part(p: Any) -> Any:
    return integrate.quad(lambda t: np.exp(-p[0] * t), 0, p[1], full_output=1)[2]["rlist"][0]


def solved(a: Any, b: Any, full: bool) -> Any:
    x, report = newton(lambda x: x**3 + a * x - b, 1.0, tol=1e-14, full_output=True)
    count = report.iterations
    return (x, count, 1.0 / count) if full else x


def counted(p: Any) -> Any:
    return solved(p[0], p[1], False) * p[0]


def counted_too(p: Any) -> Any:
    x, count, share = solved(p[0], p[1], True)
    return x * p[0] + count * 2.0 + share


def counted_in_an_interval(p: Any) -> Any:
    x, report = brentq(lambda x: x**3 + p[0] * x - p[1], 0, 2, xtol=1e-14, full_output=True)
    return x * (2.0 if report.converged else 1.0) * len(report.flag) + p[0] / report.function_calls


@pytest.mark.parametrize("f", [counted, counted_too, counted_in_an_interval])
def test_what_a_report_counts_is_constant(f: Callable[..., Any]) -> None:
    # Differences of the counts themselves, which may change, are no derivatives.
    def fixed(p: Any) -> Any:
        x = brentq(lambda x: x**3 + p[0] * x - p[1], 0, 2, xtol=1e-14)
        return {counted: x * p[0], counted_too: x * p[0], counted_in_an_interval: 18 * x + p[0] / calls}[f]

    calls = brentq(lambda x: x**3 + P[0] * x - P[1], 0, 2, xtol=1e-14, full_output=True)[1].function_calls
    expected = numeric_gradient(fixed, (P,))
    np.testing.assert_allclose(grad(f)(P), expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (P,), (P,))[1], expected @ P, rtol=1e-6)


@pytest.mark.parametrize("f", [reported_root, reported_matrix, reported_part])
def test_what_is_reported_has_no_derivative(f: Callable[..., Any]) -> None:
    for run in (lambda: grad(f)(P), lambda: jvp(f, (P,), (P,))):
        with pytest.raises(UndefinedDerivativeError, match="reports beside its result"):
            run()


def with_derivative(p: Any) -> Any:
    found = optimize.root_scalar(lambda x: (x**3 + p[0] * x - p[1], 3 * x**2 + p[0]), x0=1.0, fprime=True, xtol=1e-14)
    several = optimize.root(lambda x, c: (x**3 + x - c, np.diag(3 * x**2 + 1)), np.ones(2), (p,), jac=True, tol=1e-14)
    return found.root * several.x[1]


def fixed(p: Any) -> Any:
    first = optimize.fixed_point(lambda x: np.cos(p[0] * x), 0.5, xtol=1e-14)
    return first * np.sum(optimize.fixed_point(lambda x, k: np.cos(k * x) / 2, np.ones(2), (p,), 1e-14) ** 2)


def in_a_loop(p: Any) -> Any:
    out = np.zeros(3)
    for i in range(3):
        out[i] = brentq(lambda x: x**3 + p[0] * x - p[1] - i, 0, 2, xtol=1e-14)  # noqa: B023
    return np.sum(out**2)


def of_an_array(p: Any) -> Any:
    def residual(u: Any, k: Any) -> Any:
        r = np.empty_like(u)
        r[0] = u[0] - k
        for i in range(1, 4):
            r[i] = u[i] + 0.1 * u[i] ** 3 - p[1] * u[i - 1]
        return r

    return np.sum(fsolve(residual, np.ones(4), args=(p[0],), xtol=1e-13))


def scalar_root(p: Any) -> Any:
    found = optimize.root_scalar(lambda x: x**3 + p[0] * x - p[1], bracket=(0, 2), xtol=1e-14)
    return found.root if found.converged else 0.0


def vector_root(p: Any) -> Any:
    def equations(v: Any) -> Any:
        return np.array([v[0] ** 2 + v[1] ** 2 - p[0] ** 2 - 4, v[0] * v[1] - p[1]])

    return np.sum(optimize.root(equations, [2.0, 0.5], tol=1e-13).x ** 3)


ROOTS = [
    scalar_root,
    vector_root,
    in_an_interval,
    by_newton,
    of_a_system,
    volatility,
    with_report,
    with_derivative,
    fixed,
    in_a_loop,
    of_an_array,
]


@pytest.mark.parametrize("f", ROOTS, ids=lambda f: f.__name__)
def test_roots(f: Callable[..., Any]) -> None:
    agrees(f, P)


def test_a_double_root_has_no_derivative() -> None:
    def f(p: Any) -> Any:
        return optimize.newton(lambda x, c: c * (x - 1.0) ** 2, 1.0, args=(p[0],))

    with pytest.raises(UndefinedDerivativeError, match="simple"):
        grad(f)(P)


# --- what remedies say


def of_two_variables(p: Any) -> Any:
    f = lambda y, x: np.exp(-p[0] * x * y) * p[1]  # noqa: E731
    return integrate.quad(lambda x: integrate.quad(lambda y: f(y, x), p[0] * x, 1 + x)[0], 0.0, p[1])[0]


def by_dblquad(p: Any) -> Any:
    f = lambda y, x: np.exp(-p[0] * x * y) * p[1]  # noqa: E731
    return integrate.dblquad(f, 0.0, p[1], lambda x: p[0] * x, lambda x: 1 + x)[0]


def of_three_variables(p: Any) -> Any:
    inner = lambda y, x: integrate.quad(lambda z: p[0] * x * y * z, 0, x + y)[0]  # noqa: E731
    return integrate.quad(lambda x: integrate.quad(lambda y: inner(y, x), 0, x)[0], 0, p[1])[0]


def by_tplquad(p: Any) -> Any:
    return integrate.tplquad(lambda z, y, x: p[0] * x * y * z, 0, p[1], 0, lambda x: x, 0, lambda x, y: x + y)[0]


def test_integrals_over_several_variables_are_integrals_of_integrals() -> None:
    for whole, written in ((by_dblquad, of_two_variables), (by_tplquad, of_three_variables)):
        assert written(P) == pytest.approx(whole(P), rel=1e-12)
        agrees(written, P, tolerance=1e-6)
        agrees(whole, P, tolerance=1e-6)


def by_nquad(p: Any) -> Any:
    return integrate.nquad(lambda x, y: np.exp(-p[0] * x * y) * p[1], [[0.0, 1.0], [0.2, 1.5]])[0]


def by_nquad_with_arguments(p: Any) -> Any:
    ranges = [lambda y, k: (0.0, y * k[0]), (0.2, p[1])]
    return integrate.nquad(lambda x, y, k: x * y ** k[0], ranges, args=(p,), opts=[{"limit": 60}, {}])[0]


def by_nquad_of_one_variable(p: Any) -> Any:
    return integrate.nquad(lambda x: x ** p[0], [(0.0, p[1])], opts={"epsabs": 1e-10})[0]


def by_quad_vec(p: Any) -> Any:
    return np.sum(integrate.quad_vec(lambda t: np.sin(p * t) * t, p[0], 2.0)[0] ** 2)


def test_integrals_over_several_variables_and_of_several_functions() -> None:
    agrees(by_nquad, P, tolerance=1e-6)
    agrees(by_nquad_with_arguments, P, tolerance=1e-6)
    agrees(by_nquad_of_one_variable, P, tolerance=1e-6)
    agrees(by_quad_vec, P)


def test_the_error_of_an_integral_over_several_variables_has_no_derivative() -> None:
    with pytest.raises(UndefinedDerivativeError, match="estimate of the error"):
        grad(lambda p: integrate.nquad(lambda x, y: p[0] * x * y, [[0.0, 1.0], [0.0, 1.0]])[1])(P)


def test_a_range_that_is_a_function_known_at_run_time_alone_is_refused() -> None:
    def f(p: Any, limits: Any) -> Any:
        return integrate.nquad(lambda x, y: p * x * y, [limits, (0.0, 1.0)])[0]

    with pytest.raises(UndefinedDerivativeError, match="known only at run time"):
        grad(f)(0.7, lambda y: (0.0, y))


def test_tangent_of_a_root_that_depends_on_some_of_what_a_function_sees() -> None:
    def price(kind: str, spot: Any, strike: Any, sigma: Any) -> Any:
        return spot * np.exp(-sigma) - strike if kind == "c" else strike

    def implied(x: Any) -> Any:
        return optimize.brentq(lambda sigma: x[0] - price("c", x[1], 95.0, sigma), a=1e-6, b=2.0, xtol=1e-14)

    x, way = np.array([-40.0, 100.0]), np.array([1.0, 0.5])
    # 100 exp(-s) = 55 in closed form.
    expected = np.array([-1.0 / 55.0, 1.0 / 100.0])
    np.testing.assert_allclose(grad(implied)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(implied, (x,), (way,))[1], expected @ way, rtol=1e-7)
