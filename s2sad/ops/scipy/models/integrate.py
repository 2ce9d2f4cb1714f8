"""Solutions of differential equations as ``scipy.integrate`` gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from s2sad.ops.models import model
from s2sad.runtime.items import is_function, no_function
from s2sad.runtime.marks import stop_gradient
from s2sad.runtime.scipy.odes import states_between, trajectory


class OdeResult:
    """Times and states, and how they were found."""

    def __init__(self, t: Any, y: Any, sol: Any, report: Any) -> None:
        self.t = t
        self.y = y
        self.sol = sol
        self.report = report

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    @property
    def success(self) -> Any:
        return stop_gradient(self.report.success)

    @property
    def status(self) -> Any:
        return stop_gradient(self.report.status)

    @property
    def message(self) -> Any:
        return stop_gradient(self.report.message)

    @property
    def nfev(self) -> Any:
        return stop_gradient(self.report.nfev)


class OdeSolution:
    """The states at any times between the start and the end."""

    def __init__(self, problem: Any, report: Any) -> None:
        self.problem = problem
        self.report = report

    def __call__(self, t: Any) -> Any:
        return states_between(t, stop_gradient(self.report), *self.problem)


@model(integrate.solve_ivp)
def solve_ivp(
    fun: Any,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: Any = False,
    *,
    vectorized: Any = False,
    args: Any = None,
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    max_step: Any = np.inf,
    first_step: Any = None,
    jac: Any = None,
) -> Any:
    options = {"jac": jac, "first_step": first_step, "vectorized": vectorized}
    if not dense_output:
        t, y, report = trajectory(fun, t_span, y0, args, t_eval, method, rtol, atol, max_step, **options)
        return OdeResult(t, y, None, report)
    t, y, report = trajectory(fun, t_span, y0, args, t_eval, method, rtol, atol, max_step, dense_output=True, **options)
    return OdeResult(t, y, OdeSolution((fun, t_span, y0, args, method, rtol, atol, max_step), report), report)


# --- integrals of integrals


def bound(limit: Any, *outer: Any) -> Any:
    """A bound of an inner integral: a number, or a function of the outer variables."""
    return limit(*outer) if is_function(limit) else no_function(limit)


@model(integrate.dblquad, given="structured")
def dblquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (), epsabs: Any = 1.49e-8, epsrel: Any = 1.49e-8
) -> Any:
    def over_x(x: Any) -> Any:
        return integrate.quad(
            lambda y: func(y, x, *args), bound(gfun, x), bound(hfun, x), epsabs=epsabs, epsrel=epsrel
        )[0]

    value, error = integrate.quad(over_x, a, b, epsabs=epsabs, epsrel=epsrel)
    return value, error


@model(integrate.tplquad, given="structured")
def tplquad(
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = (),
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
) -> Any:
    def over_y(y: Any, x: Any) -> Any:
        return integrate.quad(
            lambda z: func(z, y, x, *args), bound(qfun, x, y), bound(rfun, x, y), epsabs=epsabs, epsrel=epsrel
        )[0]

    def over_x(x: Any) -> Any:
        return integrate.quad(lambda y: over_y(y, x), bound(gfun, x), bound(hfun, x), epsabs=epsabs, epsrel=epsrel)[0]

    value, error = integrate.quad(over_x, a, b, epsabs=epsabs, epsrel=epsrel)
    return value, error


def over_the_first(func: Any, limits: Any, options: Any) -> Any:
    """The integral over the first variable of a function, as a function of what else that is given."""

    def of_others(*others: Any) -> Any:
        ends = limits(*others) if is_function(limits) else limits
        chosen = options(*others) if is_function(options) else options
        return integrate.quad(lambda x: func(x, *others)[0], ends[0], ends[1], **chosen)

    return of_others


@model(integrate.nquad, given="structured")
def nquad(func: Any, ranges: Any, args: Any = None, opts: Any = None) -> Any:
    over: Any = lambda *point: (func(*point), 0.0)  # noqa: E731
    for k in range(len(ranges)):
        limits = ranges[k] if is_function(ranges[k]) else tuple(no_function(ranges[k]))
        options = {} if opts is None else opts if isinstance(opts, dict) else opts[k]
        over = over_the_first(over, limits, options)
    value, error = over(*(() if args is None else args))
    return value, error


@model(integrate.fixed_quad, given="structured")
def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: Any = 5) -> Any:
    nodes, weights = np.polynomial.legendre.leggauss(n)
    points = (b - a) * (nodes + 1) / 2 + a
    return (b - a) / 2 * np.sum(weights * func(points, *args), axis=-1), None
