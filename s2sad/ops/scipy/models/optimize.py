"""Roots and minima of functions as ``scipy.optimize`` gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from s2sad.ops.models import model
from s2sad.runtime.marks import stop_gradient
from s2sad.runtime.scipy.bounded import found_bounded
from s2sad.runtime.scipy.fits import found_fit
from s2sad.runtime.scipy.minima import alone, found_least_squares, found_leastsq, found_minimum, found_minimum_scalar
from s2sad.runtime.scipy.roots import found_root, found_solution


class RootResults:
    """A root of a function of one variable, and how it was found."""

    def __init__(self, root: Any, report: Any) -> None:
        self.root = root
        self.converged = report.converged
        self.iterations = report.iterations
        self.function_calls = report.function_calls
        self.flag = report.flag


class OptimizeResult:
    """A solution of several equations, and how it was found."""

    def __init__(self, x: Any, report: Any) -> None:
        self.x = x
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


@model(optimize.root_scalar)
def root_scalar(
    f: Any,
    args: Any = (),
    method: Any = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = None,
) -> Any:
    root, report = found_root(f, args, method, bracket, fprime, fprime2, x0, x1, xtol, rtol, maxiter)
    return RootResults(root, report)


@model(optimize.root)
def root(fun: Any, x0: Any, args: Any = (), method: Any = "hybr", jac: Any = None, tol: Any = None) -> Any:
    x, report = found_solution(fun, x0, args, method, jac, tol)
    return OptimizeResult(x, report)


class Minimum:
    """Where a function is least, how much it is there, and how that was found."""

    def __init__(self, found: Any) -> None:
        self.found = found

    @property
    def x(self) -> Any:
        return self.found[0]

    @property
    def fun(self) -> Any:
        return self.found[1]

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    @property
    def success(self) -> Any:
        return stop_gradient(self.found[2].success)

    @property
    def status(self) -> Any:
        return stop_gradient(self.found[2].status)

    @property
    def message(self) -> Any:
        return stop_gradient(self.found[2].message)

    @property
    def nfev(self) -> Any:
        return stop_gradient(self.found[2].nfev)


@model(optimize.minimize)
def minimize(
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    *,
    bounds: Any = None,
    tol: Any = None,
    options: Any = None,
) -> Any:
    return Minimum(found_minimum(fun, x0, args, method, jac, tol, options, bounds))


@model(optimize.minimize_scalar)
def minimize_scalar(
    fun: Any,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: Any = None,
    tol: Any = None,
    options: Any = None,
) -> Any:
    return Minimum(found_minimum_scalar(fun, bracket, bounds, args, method, tol, options))


class LeastSquares:
    """Where the sum of squares is least, half of it, and how that was found."""

    def __init__(self, found: Any) -> None:
        self.found = found

    @property
    def x(self) -> Any:
        return self.found[0]

    @property
    def cost(self) -> Any:
        return self.found[1]

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    @property
    def success(self) -> Any:
        return stop_gradient(self.found[2].success)

    @property
    def status(self) -> Any:
        return stop_gradient(self.found[2].status)

    @property
    def message(self) -> Any:
        return stop_gradient(self.found[2].message)

    @property
    def nfev(self) -> Any:
        return stop_gradient(self.found[2].nfev)


@model(optimize.least_squares)
def least_squares(
    fun: Any,
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = None,
    method: Any = "trf",
    ftol: Any = 1e-8,
    xtol: Any = 1e-8,
    gtol: Any = 1e-8,
    *,
    x_scale: Any = None,
    loss: Any = None,
    f_scale: Any = None,
    diff_step: Any = None,
    max_nfev: Any = None,
    args: Any = (),
) -> Any:
    options = {"x_scale": x_scale, "diff_step": diff_step, "max_nfev": max_nfev}
    return LeastSquares(
        found_least_squares(fun, x0, jac, method, ftol, xtol, gtol, args, bounds, loss, f_scale, **options)
    )


@model(optimize.lsq_linear)
def lsq_linear(
    A: Any,
    b: Any,
    bounds: Any = (-np.inf, np.inf),
    method: Any = "trf",
    tol: Any = 1e-10,
    lsq_solver: Any = None,
    *,
    max_iter: Any = None,
) -> Any:
    return LeastSquares(found_bounded(A, b, bounds, method, tol, lsq_solver, max_iter))


@model(optimize.curve_fit)
def curve_fit(
    f: Any,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: Any = False,
    check_finite: Any = None,
    bounds: Any = (-np.inf, np.inf),
    method: Any = None,
    jac: Any = None,
    *,
    maxfev: Any = None,
    max_nfev: Any = None,
    ftol: Any = None,
    xtol: Any = None,
    gtol: Any = None,
) -> Any:
    options = {"maxfev": maxfev, "max_nfev": max_nfev, "ftol": ftol, "xtol": xtol, "gtol": gtol}
    popt, pcov = found_fit(f, xdata, ydata, p0, sigma, absolute_sigma, check_finite, bounds, method, jac, **options)
    return popt, pcov


# --- older functions for minima


@model(optimize.leastsq)
def leastsq(
    func: Any,
    x0: Any,
    args: Any = (),
    Dfun: Any = None,
    full_output: Any = False,
    col_deriv: Any = 0,
    ftol: Any = 1.49012e-8,
    xtol: Any = 1.49012e-8,
    gtol: Any = 0.0,
) -> Any:
    x, _, report = found_leastsq(func, x0, args, Dfun, full_output or col_deriv, ftol, xtol, gtol)
    return x, stop_gradient(report.status)


@model(optimize.fmin)
def fmin(
    func: Any, x0: Any, args: Any = (), xtol: Any = 1e-4, ftol: Any = 1e-4, maxiter: Any = None, maxfun: Any = None,
    full_output: Any = 0, disp: Any = 1,
) -> Any:  # fmt: skip
    options = {"xatol": xtol, "fatol": ftol, "maxiter": maxiter, "maxfev": maxfun, "disp": disp}
    return least(func, x0, args, "Nelder-Mead", None, options, full_output)


@model(optimize.fmin_powell)
def fmin_powell(
    func: Any, x0: Any, args: Any = (), xtol: Any = 1e-4, ftol: Any = 1e-4, maxiter: Any = None, maxfun: Any = None,
    full_output: Any = 0, disp: Any = 1,
) -> Any:  # fmt: skip
    options = {"xtol": xtol, "ftol": ftol, "maxiter": maxiter, "maxfev": maxfun, "disp": disp}
    return least(func, x0, args, "Powell", None, options, full_output)


@model(optimize.fmin_bfgs)
def fmin_bfgs(
    f: Any, x0: Any, fprime: Any = None, args: Any = (), gtol: Any = 1e-5, norm: Any = np.inf,
    epsilon: Any = 1.4901161193847656e-08, maxiter: Any = None, full_output: Any = 0, disp: Any = 1,
) -> Any:  # fmt: skip
    options = {"gtol": gtol, "norm": norm, "eps": epsilon, "maxiter": maxiter, "disp": disp}
    return least(f, x0, args, "BFGS", fprime, options, full_output)


@model(optimize.fmin_cg)
def fmin_cg(
    f: Any, x0: Any, fprime: Any = None, args: Any = (), gtol: Any = 1e-5, norm: Any = np.inf,
    epsilon: Any = 1.4901161193847656e-08, maxiter: Any = None, full_output: Any = 0, disp: Any = 1,
) -> Any:  # fmt: skip
    options = {"gtol": gtol, "norm": norm, "eps": epsilon, "maxiter": maxiter, "disp": disp}
    return least(f, x0, args, "CG", fprime, options, full_output)


def least(f: Any, x0: Any, args: Any, method: Any, slope: Any, options: Any, full_output: Any) -> Any:
    """Where a function is least, as the older functions return it."""
    x, _, _ = found_minimum(f, alone(x0, full_output), args, method, slope, None, options, None)
    return x


@model(optimize.fminbound)
def fminbound(
    func: Any, x1: Any, x2: Any, args: Any = (), xtol: Any = 1e-5, maxfun: Any = 500, full_output: Any = 0
) -> Any:
    options = {"xatol": xtol, "maxiter": maxfun}
    x, _, _ = found_minimum_scalar(func, None, (alone(x1, full_output), x2), args, "bounded", None, options)
    return x


@model(optimize.brent)
def brent(
    func: Any, args: Any = (), brack: Any = None, tol: Any = 1.48e-8, full_output: Any = 0, maxiter: Any = 500
) -> Any:
    options = {"xtol": tol, "maxiter": maxiter}
    x, _, _ = found_minimum_scalar(func, alone(brack, full_output), None, args, "brent", None, options)
    return x
