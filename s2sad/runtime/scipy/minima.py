"""Derivatives of minima of functions in their parameters, by the implicit function theorem.

Where ``f(x, p)`` is least in ``x``, the least value changes with ``p`` as the function does at that ``x``, which stands
still to first order; ``x`` itself moves so that the gradient of ``f`` in it stays zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.callables import arguments, paired, pulled, zero_like
from s2sad.runtime.scipy.roots import solution_adjoints
from s2sad.runtime.trees import add

Array = Any
Function = Callable[..., Any]


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
    if not report.success:
        raise UndefinedDerivativeError(
            f"no minimum was found ({report.message}), and what was found has no derivative",
            "Let it be found: give other starting values, options or tolerances.",
        )
    given, args = args, arguments(args)
    found = [zero_like(a) for a in args]
    if args and np.any(value_bar):
        found = add(found, by_value(args, value_bar))
    if args and np.any(x_bar):
        found = add(found, by_place(args, x_bar))
    return found if isinstance(given, tuple) else found[0]


def _gradient_needed() -> UndefinedDerivativeError:
    return UndefinedDerivativeError(
        "the place of a minimum has a derivative rule only if the derivative of the function is given",
        "Give jac=..., a function of the same arguments, or find the root of the derivative with root or brentq.",
    )


def minimum_adjoints(z_bar: Any, z: Any, fun: Function, args: Any, jac: Any) -> Any:
    """The adjoints of the further arguments of ``fun`` in a minimum, if it is not at a bound."""
    x, _, report = z

    def by_value(args: tuple[Any, ...], value_bar: Any) -> Any:
        return pulled(fun, (x, *args), range(1, len(args) + 1))[1](value_bar)

    def by_place(args: tuple[Any, ...], x_bar: Any) -> Any:
        if not callable(jac):
            raise _gradient_needed()
        return solution_adjoints(x_bar, x, jac, args)

    return _collected(args, z_bar[0], z_bar[1], report, by_place, by_value)


def squares_adjoints(z_bar: Any, z: Any, fun: Function, args: Any, jac: Any) -> Any:
    """The adjoints of the further arguments of ``fun`` where the sum of its squares is least."""
    x, _, report = z

    def by_value(args: tuple[Any, ...], value_bar: Any) -> Any:
        residuals, pull = pulled(fun, (x, *args), range(1, len(args) + 1))
        return pull(value_bar * np.asarray(residuals))

    def by_place(args: tuple[Any, ...], x_bar: Any) -> Any:
        if not callable(jac):
            raise _gradient_needed()

        def normal(weights: Array, wanted: Any) -> Any:
            """The adjoints of some arguments in the sum of ``weights * (jac.T @ fun)``."""
            residuals, pull = pulled(fun, (x, *args), wanted)
            rows, pull_rows = pulled(jac, (x, *args), wanted)
            return add(pull(rows @ weights), pull_rows(np.multiply.outer(residuals, weights)))

        hessian = np.stack([np.ravel(normal(unit, (0,))[0]) for unit in np.eye(len(x))])
        return normal(-np.linalg.solve(hessian.T, np.ravel(x_bar)), range(1, len(args) + 1))

    return _collected(args, z_bar[0], z_bar[1], report, by_place, by_value)


def minimum_tangent(args_dot: Any, z: Any, fun: Function, args: Any, jac: Any) -> Any:
    """The tangents of where a function is least and of how much it is there.

    That of the place is NaN where the derivative of the function is not given.
    """
    return _tangent(minimum_adjoints, args_dot, z, fun, args, jac)


def squares_tangent(args_dot: Any, z: Any, fun: Function, args: Any, jac: Any) -> Any:
    """The tangents of where the sum of the squares of a function is least, and of half of it."""
    return _tangent(squares_adjoints, args_dot, z, fun, args, jac)


def _tangent(adjoints: Callable[..., Any], args_dot: Any, z: Any, fun: Function, args: Any, jac: Any) -> Any:
    x, value, _ = z
    x_dot, value_dot = np.zeros(np.shape(x)), 0.0
    if arguments(args):
        value_dot = paired(adjoints((0.0, np.ones_like(value)[()]), z, fun, args, jac), args_dot)
        for index in np.ndindex(x_dot.shape):
            unit = np.zeros(x_dot.shape)
            unit[index] = 1.0
            known = callable(jac)
            x_dot[index] = paired(adjoints((unit[()], 0.0), z, fun, args, jac), args_dot) if known else np.nan
    return x_dot[()], value_dot, 0.0
