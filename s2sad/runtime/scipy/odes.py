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
from s2sad.runtime.calls import adjoint_like, unchanging
from s2sad.runtime.scipy.callables import (
    arguments,
    packed,
    paired,
    pulled,
    tangent_by_adjoints,
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


def _shaped(weights: np.ndarray, y0: Any) -> Any:
    """The adjoint of a state as it was given: an array, a number, or a list."""
    if isinstance(y0, (list, tuple)):
        return [float(w) for w in weights]
    return weights.reshape(np.shape(y0))[()] if np.ndim(y0) == 0 else weights


# --- odeint


def _odeint(func: Function, y0: Any, args: Any, rtol: Any, atol: Any, hmax: Any, tfirst: Any) -> Equation:
    rtol, atol = (1.49012e-8 if x is None else x for x in (rtol, atol))
    given = args if isinstance(args, tuple) else (args,)
    return Equation(func, given, y0, "LSODA", rtol, atol, hmax or np.inf, bool(tfirst))


def odeint_adjoints(
    y_bar: Any, func: Function, y0: Any, t: Any, args: Any, rtol: Any, atol: Any, hmax: Any, tfirst: Any
) -> tuple[Any, Any, Any]:
    """The adjoints of the state at the start, of the times, and of the further arguments in ``integrate.odeint``."""
    equation = _odeint(func, y0, args, rtol, atol, hmax, tfirst)
    times = np.asarray(t, float)
    t_bar, weights, start_bar, rest = trajectory_adjoints(np.asarray(y_bar), times, times[0], y0, equation)
    t_bar[0] += start_bar
    return _shaped(weights, y0), t_bar, rest if isinstance(args, tuple) else rest[0]


def odeint_tangent(
    y0_dot: Any, t_dot: Any, args_dot: Any, y: np.ndarray, func: Function, y0: Any, t: Any, args: Any, *options: Any
) -> np.ndarray:
    """The tangent of ``integrate.odeint(func, y0, t, args)``."""
    found = np.zeros(y.shape)
    for index in np.ndindex(y.shape):
        unit = np.zeros(y.shape)
        unit[index] = 1.0
        y0_bar, t_bar, args_bar = odeint_adjoints(unit, func, y0, t, args, *options)
        found[index] = np.sum(np.multiply(y0_bar, y0_dot)) + np.sum(t_bar * t_dot)
        found[index] += paired(args_bar, args_dot) if args_bar else 0.0
    return found


# --- solve_ivp


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


def trajectory_bars(
    z_bar: Any, z: Any, fun: Function, t_span: Any, y0: Any, args: Any, t_eval: Any, method: Any, *tolerances: Any
) -> tuple[Any, Any, Any, Any]:
    """The adjoints of span, state at the start, further arguments and times in `trajectory`."""
    given = arguments(args)
    equation = Equation(fun, given, y0, method, *tolerances)
    times, states = z[0], z[1]
    t_bar = np.zeros(times.shape) + (np.asarray(z_bar[0]) if np.ndim(z_bar[0]) else 0.0)
    y_bar = np.zeros(states.T.shape) + (np.asarray(z_bar[1]).T if np.ndim(z_bar[1]) else 0.0)
    if t_eval is None and (np.any(t_bar[1:-1]) or np.any(y_bar[1:-1])):
        raise UndefinedDerivativeError(
            "where solve_ivp stops on its way has no derivative", "Say at which times: solve_ivp(..., t_eval=times)."
        )
    wanted = y_bar if t_eval is not None else y_bar[[0, -1]]
    at = times if t_eval is not None else times[[0, -1]]
    moved, y0_bar, start_bar, rest = trajectory_adjoints(wanted, at, t_span[0], y0, equation)
    moved = moved + (t_bar if t_eval is not None else t_bar[[0, -1]])
    span_bar = [start_bar, 0.0] if t_eval is not None else [start_bar + moved[0], moved[1]]
    times_bar = moved if t_eval is not None else None
    bars = rest if isinstance(args, tuple) else rest[0] if rest else None
    return adjoint_like(span_bar, t_span), _shaped(y0_bar, y0), bars, times_bar


def trajectory_tangent(dots: Sequence[Any], z: Any, *given: Any) -> Any:
    """The tangents of times and states in `trajectory`; ``dots`` are those of span, state, arguments and times."""
    parts = []
    for k in (0, 1):

        def adjoints(g: Any, k: int = k) -> Any:
            bars = trajectory_bars((g, 0.0) if k == 0 else (0.0, g), z, *given)
            return [0.0 if bar is None else bar for bar in bars]

        units = [0.0 if dot is None or np.size(dot) == 0 else dot for dot in dots]
        parts.append(tangent_by_adjoints(z[k], adjoints, units))
    return parts[0], parts[1], 0.0
