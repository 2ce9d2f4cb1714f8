"""Roots of functions as ``scipy.optimize`` gives them."""

from __future__ import annotations

from typing import Any

from scipy import optimize

from s2sad.ops.models import model
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
        self.success = report.success
        self.status = report.status
        self.message = report.message
        self.nfev = report.nfev


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
