"""Derivatives of minima of functions in their parameters, by the implicit function theorem.

Where ``f(x, p)`` is least in ``x``, the least value changes with ``p`` as the function does at that ``x``, which stands
still to first order; ``x`` itself moves so that the gradient of ``f`` in it stays zero.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from s2sad.errors import S2SADError, UndefinedDerivativeError
from s2sad.runtime.scipy.callables import arguments, paired, pulled, slope_of, zero_like
from s2sad.runtime.scipy.roots import solution_adjoints, solution_tangent
from s2sad.runtime.trees import add
from s2sad.runtime.undefined import Undefined

Function = Callable[..., Any]


def rosen_slope(x: Any) -> Any:
    """The derivative of the function of Rosenbrock, of any number of columns."""
    off = x[1:] - x[:-1] ** 2
    none = np.zeros_like(x[:1])
    return np.concatenate([-400 * x[:-1] * off - 2 * (1 - x[:-1]), none]) + np.concatenate([none, 200 * off])


def found_minimum(
    fun: Function, x0: Any, args: Any = (), method: Any = None, jac: Any = None, tol: Any = None, options: Any = None
) -> tuple[Any, Any, Any]:
    """Where ``fun`` is least, how much it is there, and all that ``optimize.minimize`` gives."""
    found = optimize.minimize(fun, x0, args, method, jac, tol=tol, options=options)
    return found.x, found.fun, found


def found_minimum_scalar(
    fun: Function,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: Any = None,
    tol: Any = None,
    options: Any = None,
) -> tuple[Any, Any, Any]:
    """Where ``fun`` is least, how much it is there, and all that ``optimize.minimize_scalar`` gives."""
    found = optimize.minimize_scalar(fun, bracket, bounds, args, method, tol, options)
    return found.x, found.fun, found


def found_least_squares(
    fun: Function, x0: Any, jac: Any, method: str, ftol: Any, xtol: Any, gtol: Any, args: Any = ()
) -> tuple[Any, Any, Any]:
    """Where the sum of the squares of ``fun`` is least, half of it, and all that ``optimize.least_squares`` gives."""
    found = optimize.least_squares(fun, x0, jac, method=method, ftol=ftol, xtol=xtol, gtol=gtol, args=arguments(args))
    return found.x, found.cost, found


def _collected(args: Any, x_bar: Any, value_bar: Any, report: Any, by_place: Any, by_value: Any) -> Any:
    """The adjoints of further arguments in where a function is least and in how much it is there."""
    _must_be_found(report)
    given, args = args, arguments(args)
    found = [zero_like(a) for a in args]
    if args and np.any(value_bar):
        found = add(found, by_value(args, value_bar))
    if args and np.any(x_bar):
        found = add(found, by_place(args, x_bar))
    return found if isinstance(given, tuple) else found[0]


def _must_be_found(report: Any) -> None:
    if not report.success:
        raise UndefinedDerivativeError(
            f"no minimum was found ({report.message}), and what was found has no derivative",
            "Let it be found: give other starting values, options or tolerances.",
        )


def minimum_adjoints(z_bar: Any, z: Any, fun: Function, args: Any, jac: Any = None, bounds: Any = None) -> Any:
    """The adjoints of the further arguments of ``fun`` in a minimum."""
    x, _, report = z

    def by_value(args: tuple[Any, ...], value_bar: Any) -> Any:
        return pulled(fun, (x, *args), range(1, len(args) + 1))[1](value_bar)

    def by_place(args: tuple[Any, ...], x_bar: Any) -> Any:
        _must_be_inside(x, bounds)
        return solution_adjoints(x_bar, x, jac if callable(jac) else slope_of(fun), args)

    return _collected(args, z_bar[0], z_bar[1], report, by_place, by_value)


def minimum_tangent(args_dot: Any, z: Any, fun: Function, args: Any, jac: Any = None, bounds: Any = None) -> Any:
    """The tangents of where a function is least and of how much it is there."""
    x, value, report = z

    def by_place() -> Any:
        _must_be_inside(x, bounds)
        return solution_tangent(args_dot, x, jac if callable(jac) else slope_of(fun), args)

    def by_value() -> Any:
        return paired(minimum_adjoints((0.0, np.ones_like(value)[()]), z, fun, args), args_dot)

    return _tangents(x, report, args, by_place, by_value)


def _must_be_inside(x: Any, bounds: Any) -> None:
    """Raise for a place that a bound holds: how far it is from it is a matter of tolerances."""
    if bounds is not None:
        low, high = bounds
        if min(x - low, high - x) <= 1e-3 * (high - low):
            raise UndefinedDerivativeError(
                "the function is least at a bound, or close to one, and that place does not follow the function",
                "Give bounds that are farther away, or stop_gradient(...) of the place if the bound holds it.",
            )


@functools.lru_cache(maxsize=64)
def _normal_equations(fun: Function, jac: Any) -> Function:
    """What is zero where the sum of squares is least: its gradient in ``x``, with further arguments as a tuple."""
    if not callable(jac):
        return slope_of(lambda x, args: 0.5 * np.sum(np.square(fun(x, *args))))
    return lambda x, args: np.asarray(fun(x, *args)) @ np.asarray(jac(x, *args))


def squares_adjoints(z_bar: Any, z: Any, fun: Function, args: Any, jac: Any) -> Any:
    """The adjoints of the further arguments of ``fun`` where the sum of its squares is least."""
    x, _, report = z

    def by_value(args: tuple[Any, ...], value_bar: Any) -> Any:
        residuals, pull = pulled(fun, (x, *args), range(1, len(args) + 1))
        return pull(value_bar * np.asarray(residuals))

    def by_place(args: tuple[Any, ...], x_bar: Any) -> Any:
        return solution_adjoints(x_bar, x, _normal_equations(fun, jac), (args,))[0]

    return _collected(args, z_bar[0], z_bar[1], report, by_place, by_value)


def squares_tangent(args_dot: Any, z: Any, fun: Function, args: Any, jac: Any) -> Any:
    """The tangents of where the sum of the squares of a function is least, and of half of it."""
    x, _, report = z
    dots = args_dot if isinstance(args, tuple) else (args_dot,)

    def by_place() -> Any:
        return solution_tangent((dots,), x, _normal_equations(fun, jac), (arguments(args),))

    def by_value() -> Any:
        return paired(squares_adjoints((0.0, 1.0), z, fun, args, jac), args_dot)

    return _tangents(x, report, args, by_place, by_value)


def _tangents(x: Any, report: Any, args: Any, by_place: Callable[[], Any], by_value: Callable[[], Any]) -> Any:
    """The tangents of a place, of the value there, and of the report.

    What needs the value alone needs no second derivatives, which may be refused.
    """
    _must_be_found(report)
    if not arguments(args):
        return np.zeros(np.shape(x))[()], 0.0, 0.0
    try:
        x_dot = by_place()
    except S2SADError as error:
        x_dot = Undefined(error)
    return x_dot, by_value(), 0.0
