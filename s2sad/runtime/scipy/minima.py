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
from s2sad.runtime.scipy.callables import arguments, loss_slope, of_tuple, paired, pulled, slope_of, spread, zero_like
from s2sad.runtime.scipy.roots import Equations, dots_together, part_of, together
from s2sad.runtime.trees import add
from s2sad.runtime.undefined import Undefined

Function = Callable[..., Any]


def rosen_slope(x: Any) -> Any:
    """The derivative of the function of Rosenbrock, of any number of columns."""
    off = x[1:] - x[:-1] ** 2
    none = np.zeros_like(x[:1])
    return np.concatenate([-400 * x[:-1] * off - 2 * (1 - x[:-1]), none]) + np.concatenate([none, 200 * off])


def found_minimum(
    fun: Function,
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    tol: Any = None,
    options: Any = None,
    bounds: Any = None,
) -> tuple[Any, Any, Any]:
    """Where ``fun`` is least, how much it is there, and all that ``optimize.minimize`` gives."""
    found = optimize.minimize(fun, x0, args, method, jac, bounds=bounds, tol=tol, options=options)
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
    fun: Function,
    x0: Any,
    jac: Any,
    method: str,
    ftol: Any,
    xtol: Any,
    gtol: Any,
    args: Any = (),
    bounds: Any = None,
    loss: Any = None,
    f_scale: Any = None,
    **options: Any,
) -> tuple[Any, Any, Any]:
    """Where the sum of the squares of ``fun`` is least, half of it, and all that ``optimize.least_squares`` gives."""
    options.update(bounds=bounds, loss=loss, f_scale=f_scale)
    given = {name: value for name, value in options.items() if value is not None}
    found = optimize.least_squares(
        fun, x0, jac, method=method, ftol=ftol, xtol=xtol, gtol=gtol, args=spread(args), **given
    )
    return found.x, found.cost, found


def found_leastsq(
    fun: Function, x0: Any, args: Any, jac: Any, full_output: Any, ftol: Any, xtol: Any, gtol: Any
) -> tuple[Any, Any, Any]:
    """The same by ``optimize.leastsq``."""
    x, _, info, message, status = optimize.leastsq(
        fun, alone(x0, full_output), args, jac, full_output=True, ftol=ftol, xtol=xtol, gtol=gtol
    )
    report = optimize.OptimizeResult(success=status in (1, 2, 3, 4), status=status, message=message)
    return x, 0.5 * np.sum(info["fvec"] ** 2), report


def alone(x0: Any, full_output: Any) -> Any:
    """A start, where nothing is asked for beside the result."""
    if full_output:
        raise UndefinedDerivativeError(
            "a minimum with full_output=True has no derivative rule", "Use optimize.minimize or optimize.least_squares."
        )
    return x0


def _collected(args: Any, x_bar: Any, value_bar: Any, report: Any, by_place: Any, by_value: Any) -> Any:
    """The adjoints of further arguments in where a function is least and in how much it is there."""
    _must_be_found(report)
    given, args = args, spread(args)
    found = [zero_like(a) for a in args]
    if args and np.any(value_bar):
        found = add(found, by_value(args, value_bar))
    if args and np.any(x_bar):
        found = add(found, by_place(args, x_bar))
    return found if isinstance(given, (list, tuple)) else found[0]


#: A gradient as small as `optimize.minimize` takes for zero.
_FLAT = 1e-5


def _must_be_found(report: Any) -> None:
    # Where differences of the function are lost in rounding errors, a search ends at a minimum without saying so.
    if not report.success and not np.max(np.abs(report.get("jac", np.inf))) <= _FLAT:
        raise UndefinedDerivativeError(
            f"no minimum was found ({report.message}), and what was found has no derivative",
            "Let it be found: give other starting values, options or tolerances.",
        )


def minimum_adjoints(z_bar: Any, z: Any, fun: Function, args: Any, jac: Any = None, bounds: Any = None) -> Any:
    """The adjoints of the further arguments of ``fun`` in a minimum."""
    if jac is True:
        whole = minimum_adjoints(
            z_bar,
            z,
            part_of(fun, 0, len(arguments(args))),
            (arguments(args),),
            part_of(fun, 1, len(arguments(args))),
            bounds,
        )
        return together(whole, args)
    x, _, report = z

    def by_value(args: tuple[Any, ...], value_bar: Any) -> Any:
        return pulled(fun, (x, *args), range(1, len(args) + 1))[1](value_bar)

    def by_place(args: tuple[Any, ...], x_bar: Any) -> Any:
        slope = jac if callable(jac) else loss_slope(fun, x, args)
        held = _held(x, limits(bounds) if np.ndim(x) else bounds, slope, args)
        return Equations(slope, args, held=held, met=False).adjoints(x_bar, x)

    return _collected(args, z_bar[0], z_bar[1], report, by_place, by_value)


def minimum_tangent(args_dot: Any, z: Any, fun: Function, args: Any, jac: Any = None, bounds: Any = None) -> Any:
    """The tangents of where a function is least and of how much it is there."""
    if jac is True:
        dots, whole = dots_together(args_dot, args), (arguments(args),)
        return minimum_tangent(
            dots, z, part_of(fun, 0, len(arguments(args))), whole, part_of(fun, 1, len(arguments(args))), bounds
        )
    x, value, report = z

    def by_place() -> Any:
        slope = jac if callable(jac) else loss_slope(fun, x, spread(args))
        held = _held(x, limits(bounds) if np.ndim(x) else bounds, slope, arguments(args))
        return Equations(slope, args, held=held, met=False).tangent(args_dot, x)

    def by_value() -> Any:
        return paired(minimum_adjoints((0.0, np.ones_like(value)[()]), z, fun, args), args_dot)

    return _tangents(x, report, args, by_place, by_value)


def _held(x: Any, bounds: Any, slope: Function, args: tuple[Any, ...]) -> np.ndarray | None:
    """Which unknowns their bounds hold, where ``slope`` gives the gradient; None where there are no bounds."""
    if bounds is not None and np.ndim(x) == 0:
        # A search in an interval never comes to its ends: how far it is from them is a matter of tolerances.
        low, high = bounds
        if min(x - low, high - x) <= 1e-3 * (high - low):
            raise _at_a_bound()
        return None
    return None if bounds is None else held_by_bounds(x, bounds, np.ravel(slope(x, *args)))


def held_by_bounds(x: Any, bounds: Any, gradient: np.ndarray) -> np.ndarray | None:
    """Which unknowns are held by bounds, given as `optimize.Bounds` or as the least and the greatest values.

    Raises:
        UndefinedDerivativeError: where it is not clear whether a bound holds.
    """
    if bounds is None:
        return None
    low, high = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    gap = np.minimum(np.subtract(x, low), np.subtract(high, x)) / np.maximum(1.0, np.abs(x))
    # A bound holds what would go on; some methods stop a little before it.
    goes_on, close = np.abs(gradient) > _FLAT, gap <= 1e-6
    if np.any((close & ~goes_on) | ((gap <= 1e-3) & ~close & goes_on)):
        raise _at_a_bound()
    return np.asarray(close)


def limits(bounds: Any) -> Any:
    """The bounds of several unknowns as the least and the greatest values, of pairs in which None is no bound."""
    if bounds is None or hasattr(bounds, "lb"):
        return bounds
    low, high = zip(
        *[(-np.inf if low is None else low, np.inf if high is None else high) for low, high in bounds], strict=True
    )
    return np.array(low), np.array(high)


def _at_a_bound() -> UndefinedDerivativeError:
    return UndefinedDerivativeError(
        "the function is least at a bound, or close to one, and that place does not follow the function",
        "Give bounds that are farther away, or stop_gradient(...) of the place if the bound holds it.",
    )


#: What is summed up in place of squares, by the name of the loss, of the squares.
_LOSSES: dict[str, Function] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2 * (np.sqrt(1 + z) - 1),
    "huber": lambda z: np.where(z <= 1, z, 2 * np.sqrt(np.maximum(z, 1)) - 1),
    "cauchy": lambda z: np.log1p(z),
    "arctan": lambda z: np.arctan(z),
}


@functools.lru_cache(maxsize=64)
def _cost(fun: Function, count: int, loss: Any, scale: Any) -> Function:
    """Half of the sum of squares or the like of ``fun``, with so many further arguments as a tuple."""
    if loss not in _LOSSES:
        raise UndefinedDerivativeError(
            "a loss that is a function has no derivative rule", f"Use one of {', '.join(map(repr, _LOSSES))}."
        )
    rho, residuals = _LOSSES[loss], of_tuple(fun, count)
    return lambda x, args: 0.5 * scale**2 * np.sum(rho(np.square(np.asarray(residuals(x, args)) / scale)))


@functools.lru_cache(maxsize=64)
def _normal_equations(fun: Function, count: int, jac: Any, loss: Any, scale: Any) -> Function:
    """What is zero where the sum of squares is least: its gradient in ``x``, with further arguments as a tuple."""
    if loss is None and callable(jac):
        residuals, rows = of_tuple(fun, count), of_tuple(jac, count)
        return lambda x, args: np.asarray(residuals(x, args)) @ np.asarray(rows(x, args))
    return slope_of(_cost(fun, count, loss or "linear", scale or 1.0))


def squares_adjoints(
    z_bar: Any, z: Any, fun: Function, args: Any, jac: Any, bounds: Any = None, loss: Any = None, scale: Any = None
) -> Any:
    """The adjoints of the further arguments of ``fun`` where the sum of its squares is least."""
    x, _, report = z

    def by_value(args: tuple[Any, ...], value_bar: Any) -> Any:
        return pulled(_cost(fun, len(args), loss or "linear", scale or 1.0), (x, args), (1,))[1](value_bar)[0]

    def by_place(args: tuple[Any, ...], x_bar: Any) -> Any:
        slope = _normal_equations(fun, len(args), jac, loss, scale)
        held = _held(x, bounds, slope, (args,))
        return Equations(slope, (args,), held=held, met=False).adjoints(x_bar, x)[0]

    return _collected(args, z_bar[0], z_bar[1], report, by_place, by_value)


def squares_tangent(
    args_dot: Any, z: Any, fun: Function, args: Any, jac: Any, bounds: Any = None, loss: Any = None, scale: Any = None
) -> Any:
    """The tangents of where the sum of the squares of a function is least, and of half of it."""
    x, _, report = z
    dots = args_dot if isinstance(args, (list, tuple)) else (args_dot,)

    def by_place() -> Any:
        slope, whole = _normal_equations(fun, len(spread(args)), jac, loss, scale), (spread(args),)
        held = _held(x, bounds, slope, whole)
        return Equations(slope, whole, held=held, met=False).tangent((dots,), x)

    def by_value() -> Any:
        return paired(squares_adjoints((0.0, 1.0), z, fun, args, jac, bounds, loss, scale), args_dot)

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
