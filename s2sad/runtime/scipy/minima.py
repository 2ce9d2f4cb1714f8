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
from s2sad.runtime.scipy.callables import (
    arguments,
    loss_slope,
    moved_again,
    of_tuple,
    paired,
    pulled,
    pulled_again,
    slope_of,
    spread,
    zero_like,
)
from s2sad.runtime.scipy.roots import Equations, part_of
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


#: A gradient as small as `optimize.minimize` takes for zero.
_FLAT = 1e-5


def _must_be_found(report: Any) -> None:
    # Where differences of the function are lost in rounding errors, a search ends at a minimum without saying so.
    if not report.success and not np.max(np.abs(report.get("jac", np.inf))) <= _FLAT:
        raise UndefinedDerivativeError(
            f"no minimum was found ({report.message}), and what was found has no derivative",
            "Let it be found: give other starting values, options or tolerances.",
        )


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


class Least:
    """Where a function is least, and how much it is there, by its further arguments.

    Of the ``kind`` ``"squares"`` it is half of the sum of the squares of ``fun``.
    """

    def __init__(
        self,
        x: Any,
        report: Any,
        fun: Function,
        args: Any,
        kind: str,
        jac: Any = None,
        bounds: Any = None,
        loss: Any = None,
        scale: Any = None,
    ) -> None:
        _must_be_found(report)
        self.x, self.args = x, args
        self.bounds = bounds if kind == "squares" or not np.ndim(x) else limits(bounds)
        given = spread(args) if kind == "squares" else arguments(args)
        self.whole = kind == "squares" or jac is True
        self.given = (given,) if self.whole else given
        self.places = range(1, len(self.given) + 1)
        self.func, self.slope = fun, jac
        if kind == "squares":
            self.func = _cost(fun, len(given), loss or "linear", scale or 1.0)
            self.slope = _normal_equations(fun, len(given), jac, loss, scale)
        elif jac is True:
            self.func, self.slope = part_of(fun, 0, len(given)), part_of(fun, 1, len(given))

    @functools.cached_property
    def equations(self) -> Equations:
        """What holds at the place: the derivative is zero, or a bound holds."""
        slope = self.slope if callable(self.slope) else loss_slope(self.func, self.x, self.given)
        held = _held(self.x, self.bounds, slope, self.given)
        return Equations(slope, self.given, held=held, met=False)

    def dots(self, args_dot: Any) -> tuple[Any, ...]:
        """The tangents or adjoints of the further arguments."""
        several = isinstance(self.args, (list, tuple)) if self.whole else isinstance(self.args, tuple)
        dots = args_dot if several else (args_dot,)
        if not isinstance(dots, (list, tuple)):
            dots = (0.0,) * len(self.given[0] if self.whole else self.given)
        return (tuple(dots),) if self.whole else tuple(dots)

    def as_given(self, bars: list[Any]) -> Any:
        """The adjoints of the further arguments in the form in which these were given."""
        several = isinstance(self.args, (list, tuple)) if self.whole else isinstance(self.args, tuple)
        bars = bars[0] if self.whole else bars
        return bars if several else bars[0]

    def slopes(self, value_bar: Any) -> list[Any]:
        """The adjoints of the further arguments in the least value."""
        return pulled(self.func, (self.x, *self.given), self.places)[1](value_bar)

    def slopes_again(self, value_bar: Any, x_dot: Any, dots: tuple[Any, ...]) -> tuple[Any, list[Any]]:
        """The adjoints of the place and of the further arguments in the tangent of the function."""
        x_bar, *bars = pulled_again(
            self.func, (self.x, *self.given), (x_dot, *dots), range(len(self.given) + 1), value_bar
        )
        return x_bar, bars

    def adjoints(self, x_bar: Any, value_bar: Any) -> list[Any]:
        """The adjoints of the further arguments, of those of the place and of the value.

        What needs the value alone needs no second derivatives, which may be refused.
        """
        found = [zero_like(a) for a in self.given]
        if np.any(value_bar):
            found = add(found, self.slopes(value_bar))
        return add(found, self.equations.adjoints(x_bar, self.x)) if np.any(x_bar) else found

    def value_tangent(self, dots: tuple[Any, ...]) -> Any:
        """The tangent of the value."""
        return paired(self.slopes(1.0), list(dots))


def least_adjoints(x_bar: Any, value_bar: Any, x: Any, report: Any, fun: Function, args: Any, *how: Any) -> Any:
    """The adjoints of the further arguments of ``fun`` in where it is least, ``x``, and in how much it is there."""
    least = Least(x, report, fun, args, *how)
    return least.as_given(least.adjoints(x_bar, value_bar)) if least.given else []


def least_tangent(moves: Any, x: Any, report: Any, fun: Function, args: Any, *how: Any) -> Any:
    """The tangents of where a function is least, of how much it is there, and of the report on that."""
    least = Least(x, report, fun, args, *how)
    if not least.given:
        return np.zeros(np.shape(x))[()], 0.0, 0.0
    dots = least.dots(moves)
    try:
        x_dot = least.equations.tangent(dots, x)
    except S2SADError as error:
        x_dot = Undefined(error)
    return x_dot, least.value_tangent(dots), 0.0


def least_adjoints_tangent(
    x_bar_dot: Any, value_bar_dot: Any, x_dot: Any, args_dot: Any, x_bar: Any, value_bar: Any, x: Any, *call: Any
) -> Any:
    """The tangent of `least_adjoints`."""
    least = Least(x, *call)
    if not least.given:
        return []
    dots, found = least.dots(args_dot), least.adjoints(x_bar_dot, value_bar_dot)
    if np.any(value_bar):
        found = add(found, least.slopes_again(value_bar, x_dot, dots)[1])
    if np.any(x_bar):
        found = add(found, least.equations.adjoints_tangent(0.0, x_dot, dots, x_bar, x))
    return least.as_given(found)


def least_adjoints_adjoints(c: Any, x_bar: Any, value_bar: Any, x: Any, *call: Any) -> tuple[Any, Any, Any, Any]:
    """The adjoints of ``x_bar``, ``value_bar``, ``x`` and the further arguments in `least_adjoints`."""
    least = Least(x, *call)
    if not least.given:
        return 0.0, 0.0, 0.0, []
    dots = least.dots(c)
    x_bar_bar, x_in_bar, found = 0.0 * x, 0.0 * x, [zero_like(a) for a in least.given]
    if np.any(value_bar):
        more, bars = least.slopes_again(value_bar, None, dots)
        x_in_bar, found = x_in_bar + more, add(found, bars)
    if np.any(x_bar):
        x_bar_bar, more, bars = least.equations.adjoints_adjoints(dots, x_bar, x)
        x_in_bar, found = x_in_bar + more, add(found, bars)
    else:
        x_bar_bar = least.equations.tangent(dots, x)
    return x_bar_bar, least.value_tangent(dots), x_in_bar, least.as_given(found)


def least_tangent_tangent(
    moves_dot: Any, x_dot: Any, args_dot: Any, moves: Any, x: Any, *call: Any
) -> tuple[Any, Any, Any]:
    """The tangent of `least_tangent`."""
    least = Least(x, *call)
    if not least.given:
        return 0.0 * x, 0.0, 0.0
    dots, further, places = least.dots(moves), least.dots(moves_dot), least.dots(args_dot)
    twice = moved_again(least.func, (x, *least.given), (None, *dots), (x_dot, *places))
    place = least.equations.tangent_tangent(further, x_dot, places, dots, x)
    return place, np.sum(twice) + least.value_tangent(further), 0.0


def least_tangent_adjoints(z_bar: Any, moves: Any, x: Any, *call: Any) -> tuple[Any, Any, Any]:
    """The adjoints of ``moves``, ``x`` and the further arguments in `least_tangent`."""
    least = Least(x, *call)
    if not least.given:
        return [], 0.0 * x, []
    dots = least.dots(moves)
    moves_bar, x_bar, found = least.adjoints(z_bar[0], z_bar[1]), 0.0 * x, [zero_like(a) for a in least.given]
    if np.any(z_bar[1]):
        more, bars = least.slopes_again(z_bar[1], None, dots)
        x_bar, found = x_bar + more, add(found, bars)
    if np.any(z_bar[0]):
        _, more, bars = least.equations.tangent_adjoints(z_bar[0], dots, x)
        x_bar, found = x_bar + more, add(found, bars)
    return least.as_given(moves_bar), x_bar, least.as_given(found)
