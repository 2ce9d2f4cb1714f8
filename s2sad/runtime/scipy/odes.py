"""Derivatives of solutions of ordinary differential equations: the continuous adjoint.

With ``y' = f(t, y, p)`` and an adjoint ``y_bar`` of the solution at some times, ``w' = -(df/dy)^T w`` is solved
backwards from the last time with ``w = 0``, and ``y_bar`` is added to ``w`` at each of them.  Then ``w`` is the adjoint
of the state at the start, and the integral of ``(df/dp)^T w`` that of the parameters.  The solution between the times
is computed again.  Both are solved with tolerances a hundred times smaller than those of the solution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import integrate

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.calls import pushed, unchanging
from s2sad.runtime.scipy.callables import (
    has_numbers,
    packed,
    pulled,
    unpacked,
    zero_like,
)

Array = Any
Function = Callable[..., Any]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


class Equation:
    """An equation with its further arguments, and how it is solved."""

    def __init__(
        self,
        fun: Function,
        args: tuple[Any, ...],
        y0: Any,
        method: Any,
        rtol: Any,
        atol: Any,
        max_step: Any,
        time_first: bool = True,
    ) -> None:
        if np.iscomplexobj(y0):
            raise UndefinedDerivativeError(
                "a differential equation in complex numbers has no derivative rule",
                "Solve for the real and the imaginary parts.",
            )
        self.fun, self.args, self.time_first = fun, args, time_first
        self.options = {
            "method": method,
            "rtol": np.maximum(np.asarray(rtol) * 1e-2, 3e-14),
            "atol": np.asarray(atol) * 1e-2,
            "max_step": max_step,
        }

    def given(self, t: Any, y: Any) -> tuple[Any, ...]:
        """The arguments of the right-hand side."""
        return (t, y, *self.args) if self.time_first else (y, t, *self.args)

    def value(self, t: Any, y: Any) -> np.ndarray:
        """The right-hand side, which may change nothing."""
        return np.asarray(unchanging(self.fun, (), *self.given(t, y)), float)

    def solve(self, fun: Function, start: Any, end: Any, y: Any) -> Any:
        """A solution between two times, with what it is between its steps."""
        found = integrate.solve_ivp(fun, (start, end), y, dense_output=True, **self.options)
        if not found.success:
            raise UndefinedDerivativeError(
                f"the adjoint of a differential equation could not be solved: {found.message}",
                "Solve with another method, or in parts.",
            )
        return found

    def backwards(self, y: Function, weights: np.ndarray, start: Any, end: Any) -> tuple[np.ndarray, np.ndarray]:
        """The adjoint of the state at ``end``, from that at ``start``, and that of the arguments, as a vector."""

        def change(t: float, w: np.ndarray) -> np.ndarray:
            return -np.asarray(pulled(self.fun, self.given(t, y(t)), (int(self.time_first),))[1](w)[0])

        total = packed(zero_like(self.args), self.args)
        if start == end or not np.any(weights):
            return weights, total
        found = self.solve(change, start, end, weights)
        if total.size:
            for low, high in zip(found.t, found.t[1:], strict=False):
                half = (high - low) / 2
                for node, weight in zip(_NODES, _WEIGHTS, strict=True):
                    t = low + half * (node + 1)
                    _, pull = pulled(self.fun, self.given(t, y(t)), range(2, len(self.args) + 2))
                    total = total - half * weight * packed(pull(found.sol(t)), self.args)
        return found.y[:, -1], total

    def tangent(self, t: Any, y: Any, y_dot: Any, args_dot: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """The right-hand side, and its tangent."""
        given, dots = self.given(t, y), (y_dot, *args_dot)
        places = (int(self.time_first), *range(2, len(given)))
        active = [(i, dot) for i, dot in zip(places, dots, strict=True) if dot is not None and has_numbers(given[i])]
        value, value_dot = pushed(self.fun, tuple([i for i, _ in active]), tuple([d for _, d in active]), *given)
        return np.asarray(value, float), np.zeros(y.shape) + np.asarray(value_dot, float)


def solution_dots(
    times: np.ndarray,
    times_dot: np.ndarray,
    t0: Any,
    t0_dot: Any,
    y0: Any,
    y0_dot: Any,
    equation: Equation,
    args_dot: Sequence[Any],
) -> np.ndarray:
    """The tangent of the solution at ``times``, one row for each: solved for together with the solution."""
    start = np.atleast_1d(np.asarray(y0, float))
    size = len(start)

    def change(t: float, both: np.ndarray) -> np.ndarray:
        return np.concatenate(equation.tangent(t, both[:size], both[size:], args_dot))

    first = np.broadcast_to(np.asarray(y0_dot, float), start.shape) - t0_dot * equation.value(t0, start)
    both = np.concatenate([start, first])
    last = times[-1]
    solved = equation.solve(change, t0, last, both).sol if last != t0 else lambda t: both
    rows = [solved(t) for t in times]
    return np.stack(
        [w[size:] + dot * equation.value(t, w[:size]) for t, dot, w in zip(times, times_dot, rows, strict=True)]
    )


def trajectory_adjoints(
    y_bar: np.ndarray, times: np.ndarray, t0: Any, y0: Any, equation: Equation
) -> tuple[np.ndarray, np.ndarray, Any, list[Any]]:
    """The adjoints of ``times``, the start's state, the start, and the further arguments, of those of the solution.

    Args:
        y_bar: The adjoint of the state at each of the ``times``, one row for each.
        times: Times, all later than ``t0`` and in order, or all earlier.
        t0: The start.
        y0: The state there.
        equation: The equation.
    """
    y0 = np.atleast_1d(np.asarray(y0, float))
    dense = equation.solve(equation.value, t0, times[-1], y0).sol if times[-1] != t0 else lambda t: y0
    weights = np.zeros(y0.shape)
    times_bar = np.zeros(times.shape)
    total = packed(zero_like(equation.args), equation.args)
    for i in range(len(times) - 1, -1, -1):
        weights = weights + y_bar[i]
        if np.any(y_bar[i]):
            times_bar[i] = np.dot(y_bar[i], equation.value(times[i], dense(times[i])))
        weights, more = equation.backwards(dense, weights, times[i], times[i - 1] if i else t0)
        total = total + more
    start_bar = -np.dot(weights, equation.value(t0, y0))
    return times_bar, weights, start_bar, unpacked(total, equation.args)


# --- solutions


def trajectory(
    fun: Function,
    t_span: Any,
    y0: Any,
    args: Any = None,
    t_eval: Any = None,
    method: Any = "RK45",
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    max_step: Any = np.inf,
    **options: Any,
) -> tuple[Any, Any, Any]:
    """Times and states of ``integrate.solve_ivp``, and all that it gives."""
    # Some methods warn of options that they do not take.
    given = {name: option for name, option in options.items() if option is not None}
    found = integrate.solve_ivp(
        fun, t_span, y0, method, t_eval, args=args, rtol=rtol, atol=atol, max_step=max_step, **given
    )
    return found.t, found.y, found


def states_between(
    t: Any,
    report: Any,
    fun: Function,
    t_span: Any,
    y0: Any,
    args: Any = None,
    method: Any = "RK45",
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    max_step: Any = np.inf,
) -> Any:
    """The states at times ``t`` of the solution that ``integrate.solve_ivp(..., dense_output=True)`` gives.

    ``report`` is what it gave, or None to solve here.
    """
    if report is None:
        report = trajectory(fun, t_span, y0, args, None, method, rtol, atol, max_step, dense_output=True)[2]
    return report.sol(t)
