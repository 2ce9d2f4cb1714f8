"""First and second derivatives of what ``odeint`` and ``solve_ivp`` give, in the form of their arguments.

The adjoint of all that a solution depends on is the derivative of the sum of ``y_bar`` times the states.  So its
derivative in a direction is that of ``y_bar`` times the tangents of the states, which solve an equation together with
the states: the adjoint of that equation gives it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.calls import adjoint_like
from s2sad.runtime.scipy.callables import arguments, has_numbers, moved, pulled, spread, tangent_like, with_tangent
from s2sad.runtime.scipy.odes import Equation, solution_dots, trajectory_adjoints
from s2sad.runtime.trees import add
from s2sad.runtime.undefined import PartlyUndefined

Array = Any
Function = Callable[..., Any]


class Moves(NamedTuple):
    """Tangents, or adjoints, of what a solution depends on: its times, start, state there, and further arguments."""

    times: Any
    start: Any
    state: Any
    args: Sequence[Any]


class Path:
    """The solution of an equation at some times, in order, all behind its start."""

    def __init__(self, equation: Equation, times: np.ndarray, start: Any, y0: Any) -> None:
        self.equation, self.times, self.start = equation, times, start
        self.state = np.atleast_1d(np.asarray(y0, float))

    def adjoints(self, y_bar: np.ndarray) -> Moves:
        """The adjoints of what the solution depends on, of those of the states, one row for each time."""
        times_bar, state_bar, start_bar, args_bar = trajectory_adjoints(
            y_bar, self.times, self.start, self.state, self.equation
        )
        return Moves(times_bar, start_bar, state_bar, args_bar)

    def tangent(self, moves: Moves) -> np.ndarray:
        """The tangents of the states."""
        return solution_dots(
            self.times, moves.times, self.start, moves.start, self.state, moves.state, self.equation, moves.args
        )

    def states(self) -> np.ndarray:
        """The states, one row for each time."""
        if self.times[-1] == self.start:
            return np.broadcast_to(self.state, (len(self.times), len(self.state)))
        dense = self.equation.solve(self.equation.value, self.start, self.times[-1], self.state).sol
        return np.stack([dense(t) for t in self.times])

    def doubled(self, moves: Moves) -> Path:
        """The states and their tangents, for constant times, as the solution of one equation."""
        own, args = self.equation, self.equation.args
        function, dots = with_tangent(own.fun, args, moves.args, own.time_first)
        both = copy.copy(own)
        both.fun, both.args, both.time_first = function, (*args, *dots), True
        atol = own.options["atol"]
        both.options = {**own.options, "atol": np.tile(atol, 2) if np.ndim(atol) else atol}
        rising = moves.state - moves.start * own.value(self.start, self.state)
        return Path(both, self.times, self.start, np.concatenate([self.state, rising]))

    def again(self, y_bar: np.ndarray, moves: Moves) -> Moves:
        """The adjoints of what the solution depends on, in ``y_bar`` times `tangent` for these tangents."""
        size, count = len(self.state), len(self.equation.args)
        before = np.zeros(y_bar.shape)
        times_bar, args_bar = np.zeros(self.times.shape), [0.0] * count
        states = self.states() if np.any(moves.times) else before
        for i, move in enumerate(moves.times):
            if move != 0.0 and np.any(y_bar[i]):
                times_bar[i], before[i], more = self.pull(self.times[i], states[i], move * y_bar[i])
                args_bar = [add(a, b) for a, b in zip(more, args_bar, strict=True)]
        found = self.doubled(moves).adjoints(np.concatenate([before, y_bar], axis=1))
        start_bar, state_bar = found.start, found.state[:size]
        args_bar = [add(a, b) for a, b in zip(found.args[:count], args_bar, strict=True)]
        if np.any(moves.start):
            late, early, more = self.pull(self.start, self.state, -moves.start * found.state[size:])
            start_bar, state_bar = start_bar + late, state_bar + early
            args_bar = [add(a, b) for a, b in zip(args_bar, more, strict=True)]
        return Moves(times_bar + found.times, start_bar, state_bar, args_bar)

    def pull(self, t: Any, y: Any, bar: Any) -> tuple[Any, Any, list[Any]]:
        """The adjoints of time, state and further arguments in the right-hand side."""
        given = self.equation.given(float(t), y)
        bars = pulled(self.equation.fun, given, range(len(given)))[1](bar)
        first, second, *rest = bars
        return (first, second, rest) if self.equation.time_first else (second, first, rest)

    def push(self, t: Any, y: Any, t_dot: Any, y_dot: Any, dots: Sequence[Any]) -> np.ndarray:
        """The tangent of the right-hand side."""
        given = self.equation.given(float(t), y)
        leading = (t_dot, y_dot) if self.equation.time_first else (y_dot, t_dot)
        return np.asarray(moved(self.equation.fun, given, (*leading, *dots)), float)

    def tangent_again(self, moves: Moves, further: Moves, along: Moves) -> np.ndarray:
        """The tangent of ``self.tangent(moves)``, where ``moves`` has the tangents ``further``."""
        size, value = len(self.state), self.equation.value
        both = self.doubled(moves)
        rising = further.state - further.start * value(self.start, self.state)
        rising = rising - moves.start * self.push(self.start, self.state, along.start, along.state, along.args)
        start = np.concatenate([np.zeros(size) + along.state, rising])
        args = self.equation.args
        more = [tangent_like(dot, x) for dot, x in zip(further.args, args, strict=True) if has_numbers(x)]
        rows = both.tangent(Moves(along.times, along.start, start, (*along.args, *more)))
        states, found = self.states(), rows[:, size:].copy()
        for i, t in enumerate(self.times):
            found[i] += value(t, states[i]) * further.times[i]
            if moves.times[i] != 0.0:
                late = self.push(t, states[i], along.times[i], rows[i, :size], along.args)
                found[i] += moves.times[i] * late
        return found


# --- in the form of the arguments


class Problem:
    """A call of ``odeint`` or ``solve_ivp``, or the solution at other times than those it was solved for.

    The first has times whose first is the start, and no span; of the second ``found`` is what `trajectory` gives.
    """

    def __init__(self, found: Any, fun: Function, times: Any, span: Any, y0: Any, args: Any, options: Any) -> None:
        method, rtol, atol, max_step, time_first = options
        self.found, self.asked, self.span, self.y0 = found, times, span, y0
        # A list is one argument of ``odeint``, and several of ``solve_ivp``.
        self.args = arguments(args) if span is None else spread(args)
        self.single = not isinstance(args, tuple if span is None else (list, tuple))
        equation = Equation(fun, self.args, y0, method, rtol, atol, max_step, time_first)
        self.kept: Any = slice(None)
        if found is not None:
            self.kept = slice(None) if times is not None else [0, -1]
            at, start = found[0][self.kept], span[0]
        elif span is None:
            at = np.asarray(times, float)
            start = at[0]
        else:
            at, self.kept = _ordered(times, span)
            at, start = at[self.kept], span[0]
        self.path = Path(equation, at, start, y0)

    def rows(self, g: Any) -> tuple[np.ndarray, Any]:
        """The adjoints of the states, one row for each time, and of the times."""
        if self.span is None:
            return np.asarray(g, float) + np.zeros((len(self.path.times), len(self.path.state))), 0.0
        if self.found is None:
            return np.asarray(g, float).reshape(-1, len(self.path.times)).T[self.kept], 0.0
        times, states = self.found[0], self.found[1]
        t_bar = np.zeros(times.shape) + (np.asarray(g[0]) if np.ndim(g[0]) else 0.0)
        y_bar = np.zeros(states.T.shape) + (np.asarray(g[1]).T if np.ndim(g[1]) else 0.0)
        between = ~_at_ends(self.found)
        if self.asked is None and (np.any(t_bar[between]) or np.any(y_bar[between])):
            raise _on_its_way()
        return y_bar[self.kept], t_bar[self.kept]

    def states(self, rows: np.ndarray, times_dot: Any) -> Any:
        """What is like the result, of what is like the states."""
        if self.span is None:
            return rows
        if self.found is None:
            found = np.empty((rows.shape[1], len(rows)))
            found[:, self.kept] = rows.T
            return found if np.ndim(self.asked) else found[:, 0]
        if self.asked is not None:
            return times_dot, rows.T, 0.0
        times, states, ends = np.zeros(self.found[0].shape), np.zeros(self.found[1].shape), _at_ends(self.found)
        times[self.kept], states[:, self.kept] = times_dot, rows.T
        if np.all(ends):
            return times, states, 0.0
        return (*[PartlyUndefined(_on_its_way(), dot, ends) for dot in (times, states)], 0.0)

    def moves(self, dots: Any) -> Moves:
        """The tangents of times, span, state and further arguments as those of a path."""
        times_dot, span_dot, y0_dot, args_dot = dots if isinstance(dots, (list, tuple)) else (0.0,) * 4
        start_dot, end_dot = span_dot if np.ndim(span_dot) else (0.0, 0.0)
        count = len(self.path.times)
        if self.found is not None and self.asked is None:
            moving = np.array([start_dot, end_dot], float)
        else:
            moving = np.zeros(count) + (np.asarray(times_dot, float).reshape(-1) if times_dot is not None else 0.0)
            moving = moving if self.found is not None else moving[self.kept]
        start_dot = moving[0] if self.span is None else start_dot
        given = args_dot if isinstance(args_dot, (list, tuple)) and not self.single else [args_dot] * len(self.args)
        args = [tangent_like(dot, x) if has_numbers(x) else None for dot, x in zip(given, self.args, strict=True)]
        state = np.zeros(self.path.state.shape) + (0.0 if y0_dot is None else np.asarray(y0_dot, float))
        return Moves(moving, start_dot, state, args)

    def bars(self, found: Moves, times_bar: Any = 0.0) -> tuple[Any, Any, Any, Any]:
        """The adjoints of times, span, state and further arguments."""
        moving, start, state = found.times + times_bar, found.start, _shaped(found.state, self.y0)
        args: Any = (found.args[0] if found.args else None) if self.single else list(found.args)
        if self.span is None:
            moving[0] += start
            return moving, 0.0, state, args
        if self.found is not None and self.asked is None:
            return 0.0, adjoint_like([start + moving[0], moving[1]], self.span), state, args
        moving[self.kept] = moving.copy()
        return (
            adjoint_like(moving.reshape(np.shape(self.asked)), self.asked),
            adjoint_like([start, 0.0], self.span),
            state,
            args,
        )


def _at_ends(z: Any) -> np.ndarray:
    """Which times are those of the span, and not where the solver has chosen to stop."""
    ends = np.zeros(z[0].shape, bool)
    ends[0] = True
    ends[-1] = z[2].status == 0
    return ends


def _on_its_way() -> UndefinedDerivativeError:
    return UndefinedDerivativeError(
        "where solve_ivp stops on its way has no derivative", "Say at which times: solve_ivp(..., t_eval=times)."
    )


def _ordered(t: Any, t_span: Any) -> tuple[np.ndarray, np.ndarray]:
    """Times in the order in which a solution meets them, and their places."""
    times = np.atleast_1d(np.asarray(t, float))
    start, end = t_span
    if np.any((times < min(start, end)) | (times > max(start, end))):
        raise UndefinedDerivativeError(
            "a solution is asked for at a time before its start or after its end, where it has no derivative rule",
            "Let the span of solve_ivp reach to all times that are asked for.",
        )
    return times, np.argsort(times if end >= start else -times, kind="stable")


def _shaped(weights: np.ndarray, y0: Any) -> Any:
    """The adjoint of a state as it was given: an array, a number, or a list."""
    if isinstance(y0, (list, tuple)):
        return [float(w) for w in weights]
    return weights.reshape(np.shape(y0))[()] if np.ndim(y0) == 0 else weights


def of_odeint(rtol: Any, atol: Any, hmax: Any, tfirst: Any) -> tuple[Any, ...]:
    """How an equation is solved that ``odeint`` has solved with these options."""
    rtol, atol = (1.49012e-8 if x is None else x for x in (rtol, atol))
    return "LSODA", rtol, atol, hmax or np.inf, bool(tfirst)


def path_adjoints(g: Any, found: Any, fun: Function, times: Any, span: Any, y0: Any, args: Any, options: Any) -> Any:
    """The adjoints of times, span, state at the start and further arguments, of that of the result ``g``."""
    problem = Problem(found, fun, times, span, y0, args, options)
    y_bar, t_bar = problem.rows(g)
    return problem.bars(problem.path.adjoints(y_bar), t_bar)


def path_tangent(moves: Any, found: Any, fun: Function, times: Any, span: Any, y0: Any, args: Any, options: Any) -> Any:
    """The tangent of the result, of those of times, span, state at the start and further arguments."""
    problem = Problem(found, fun, times, span, y0, args, options)
    inner = problem.moves(moves)
    return problem.states(problem.path.tangent(inner), inner.times)


def adjoints_adjoints(c: Any, g: Any, *given: Any) -> tuple[Any, ...]:
    """The adjoints of ``g``, times, span, state and further arguments in `path_adjoints`."""
    problem = Problem(*given)
    inner = problem.moves(c)
    found = problem.path.again(problem.rows(g)[0], inner)
    g_bar = problem.states(problem.path.tangent(inner), inner.times)
    if isinstance(g_bar, tuple):
        # What has no derivative is read only where ``g`` is not the constant 0 there.
        g_bar = tuple([whole_or_nan(part) for part in g_bar])
    return g_bar, *problem.bars(found)


def whole_or_nan(part: Any) -> Any:
    """A tangent as an array, with NaN for what has none."""
    return np.where(part.defined, part.values, np.nan) if isinstance(part, PartlyUndefined) else part


def adjoints_tangent(g_dot: Any, dots: Any, g: Any, *given: Any) -> Any:
    """The tangent of `path_adjoints`; ``dots`` are those of times, span, state and further arguments."""
    problem = Problem(*given)
    y_bar, t_bar = problem.rows(g_dot)
    found = problem.path.again(problem.rows(g)[0], problem.moves(dots))
    return tuple(
        [
            a if b is None else add(a, b)
            for a, b in zip(problem.bars(problem.path.adjoints(y_bar), t_bar), problem.bars(found), strict=True)
        ]
    )


def tangent_adjoints(bar: Any, moves: Any, *given: Any) -> tuple[Any, ...]:
    """The adjoints of ``moves``, times, span, state and further arguments in `path_tangent`."""
    problem = Problem(*given)
    y_bar, t_bar = problem.rows(bar)
    found = problem.path.again(y_bar, problem.moves(moves))
    return list(problem.bars(problem.path.adjoints(y_bar), t_bar)), *problem.bars(found)


def tangent_tangent(moves_dot: Any, dots: Any, moves: Any, *given: Any) -> Any:
    """The tangent of `path_tangent`; ``dots`` are those of times, span, state and further arguments."""
    problem = Problem(*given)
    further = problem.moves(moves_dot)
    rows = problem.path.tangent_again(problem.moves(moves), further, problem.moves(dots))
    return problem.states(rows, further.times)
