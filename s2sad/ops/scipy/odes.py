"""Rules of ``scipy.integrate`` for differential equations: by the state at the start, times and further arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import integrate

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, constant, operation, rule, sample
from s2sad.runtime.scipy.odes import states_between, trajectory
from s2sad.runtime.scipy.paths import (
    adjoints_adjoints,
    adjoints_tangent,
    of_odeint,
    path_adjoints,
    path_tangent,
    tangent_adjoints,
    tangent_tangent,
)
from s2sad.runtime.scipy.roots import first_bar, with_reports

Array = Any
Function = Callable[..., Any]

_STEPS = "write the steps of a method of fixed step size (Runge-Kutta) as a loop: that is differentiated"


def pendulum(y: Any, t: Any, damping: Any, frequency: Any) -> Any:
    """An equation for samples."""
    return [y[1], -damping * y[1] - frequency * np.sin(y[0])]


def coupled(t: Any, y: Any, matrix: Any) -> Any:
    """An equation with a matrix, the time first, for samples."""
    return matrix @ y + np.sin(t)


def decay(y: Any, t: Any, rate: Any) -> Any:
    """An equation for a number, for samples."""
    return -rate * y


def _paths() -> Sequence[Sample]:
    tight = {"rtol": 1e-11, "atol": 1e-12}
    times = np.array([0.0, 0.4, 1.1])
    return [
        sample(pendulum, np.array([0.6, -0.2]), times, (0.3, 1.7), **tight),
        sample(coupled, numbers(3), times, args=(0.5 * numbers(3, 3),), tfirst=True, **tight),
        sample(decay, 1.3, np.array([1.0, 0.5]), args=(0.7,), **tight),
        sample(decay, [1.3], np.array([0.2, 1.5]), (0.7,), rtol=1e-11, atol=1e-12),
    ]


def _odeint_jvp(
    y0_dot: Array,
    t_dot: Array,
    args_dot: Any,
    z: Any,
    func: Function,
    y0: Array,
    t: Array,
    args: Any = (),
    full_output: int = 0,
    rtol: Any = None,
    atol: Any = None,
    hmax: float = 0.0,
    tfirst: bool = False,
) -> Any:
    options = of_odeint(rtol, atol, hmax, tfirst)
    z_dot = path_tangent((t_dot, 0.0, y0_dot, args_dot), None, func, t, None, y0, args, options)
    return with_reports(z_dot, z, full_output)


@rule(
    integrate.odeint,
    wrt=["y0", "t", "args"],
    jvp=_odeint_jvp,
    samples=_paths,
    infer=infer.scipy.path,
    dtype="unknown",
    calls=("func", "Dfun"),
    passes=("args", 2),
)
def odeint(
    z_bar: Any,
    func: Function,
    y0: Array,
    t: Array,
    args: Any = (),
    Dfun: Any = None,
    col_deriv: int = 0,
    full_output: int = 0,
    ml: Any = None,
    mu: Any = None,
    rtol: Any = None,
    atol: Any = None,
    tcrit: Any = None,
    h0: float = 0.0,
    hmax: float = 0.0,
    hmin: float = 0.0,
    ixpr: int = 0,
    mxstep: int = 0,
    mxhnil: int = 0,
    mxordn: int = 12,
    mxords: int = 5,
    printmessg: int = 0,
    tfirst: bool = False,
) -> tuple[Array, Array, Any]:
    t_bar, _, y0_bar, args_bar = path_adjoints(
        first_bar(z_bar, full_output), None, func, t, None, y0, args, of_odeint(rtol, atol, hmax, tfirst)
    )
    return y0_bar, t_bar, args_bar


# --- solve_ivp


def turning(t: Any, y: Any, damping: Any, frequency: Any) -> Any:
    """An equation for samples."""
    return [y[1], -damping * y[1] - frequency * np.sin(y[0]) + 0.1 * t]


def _trajectories() -> Sequence[Sample]:
    tight = {"rtol": 1e-11, "atol": 1e-12}
    times, start = np.array([0.2, 0.7, 1.1]), np.array([0.6, -0.2])
    return [
        sample(turning, (0.0, 1.3), start, (0.3, 1.7), times, **tight),
        sample(turning, (0.0, 0.9), start, (0.3, 1.7), times[:2], "DOP853", **tight),
        sample(turning, [1.3, 0.0], start, (0.3, 1.7), times[::-1].copy(), **tight),
    ]


def _trajectory_jvp(
    t_span_dot: Any,
    y0_dot: Array,
    args_dot: Any,
    t_eval_dot: Any,
    z: Any,
    fun: Function,
    t_span: Any,
    y0: Array,
    args: Any = None,
    t_eval: Any = None,
    method: Any = "RK45",
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    max_step: Any = np.inf,
) -> Any:
    dots = t_eval_dot, t_span_dot, y0_dot, args_dot
    return path_tangent(dots, z, fun, t_eval, t_span, y0, args, (method, rtol, atol, max_step, True))


@rule(
    trajectory,
    wrt=["t_span", "y0", "args", "t_eval"],
    jvp=_trajectory_jvp,
    samples=_trajectories,
    infer=infer.scipy.trajectory,
    dtype="unknown",
    calls=("fun", "jac"),
    passes=("args", 2),
    without=(2,),
    gives=(tuple,),
)
def trajectory_rule(
    z: Any,
    z_bar: Any,
    fun: Function,
    t_span: Any,
    y0: Array,
    args: Any = None,
    t_eval: Any = None,
    method: Any = "RK45",
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    max_step: Any = np.inf,
    jac: Any = None,
    first_step: Any = None,
    vectorized: Any = False,
    dense_output: Any = False,
) -> tuple[Any, Array, Any, Any]:
    times_bar, span_bar, y0_bar, args_bar = path_adjoints(
        z_bar, z, fun, t_eval, t_span, y0, args, (method, rtol, atol, max_step, True)
    )
    return span_bar, y0_bar, args_bar, times_bar


# --- dense output


def _solutions() -> Sequence[Sample]:
    tight = {"rtol": 1e-11, "atol": 1e-12}
    start = np.array([0.6, -0.2])
    times = np.array([0.9, 0.2, 1.3])
    return [
        sample(times, None, turning, (0.0, 1.3), start, (0.3, 1.7), "RK45", **tight),
        sample(0.7, None, turning, (1.3, 0.0), start, (0.3, 1.7), "DOP853", **tight),
        sample(times.reshape(3, 1)[:, 0], None, turning, (0, 2), [0.6, -0.2], [0.3, 1.7], **tight),
    ]


def _between_jvp(
    t_dot: Array,
    t_span_dot: Any,
    y0_dot: Array,
    args_dot: Any,
    t: Array,
    fun: Function,
    t_span: Any,
    y0: Array,
    args: Any = None,
    method: Any = "RK45",
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    max_step: Any = np.inf,
) -> Any:
    dots = t_dot, t_span_dot, y0_dot, args_dot
    return path_tangent(dots, None, fun, t, t_span, y0, args, (method, rtol, atol, max_step, True))


@rule(
    states_between,
    wrt=["t", "t_span", "y0", "args"],
    steps=frozenset({"report"}),
    jvp=_between_jvp,
    samples=_solutions,
    infer=infer.scipy.states_between,
    dtype="unknown",
    calls=("fun",),
    passes=("args", 2),
)
def states_between_rule(
    z_bar: Array,
    t: Array,
    report: Any,
    fun: Function,
    t_span: Any,
    y0: Array,
    args: Any = None,
    method: Any = "RK45",
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    max_step: Any = np.inf,
) -> tuple[Any, Any, Array, Any]:
    t_bar, span_bar, y0_bar, args_bar = path_adjoints(
        z_bar, None, fun, t, t_span, y0, args, (method, rtol, atol, max_step, True)
    )
    return t_bar, span_bar, y0_bar, args_bar


# --- second derivatives

constant(of_odeint, signature=lambda rtol, atol, hmax, tfirst: None)


def _problems() -> Sequence[Any]:
    """The arguments behind the first of `path_adjoints`, and a result."""
    tight = ("DOP853", 1e-11, 1e-12, np.inf, True)
    times, start, args = np.array([0.2, 0.7, 1.1]), np.array([0.6, -0.2]), (0.3, 1.7)
    return [
        (numbers(3, 2), None, pendulum, times, None, start, args, ("LSODA", 1e-11, 1e-12, np.inf, False)),
        (numbers(2, 3), None, turning, times[::-1].copy(), (0.0, 1.3), start, args, tight),
    ]


def _adjoints() -> Sequence[Sample]:
    return [sample(*given) for given in _problems()]


def _path_adjoints_jvp(
    g_dot: Any,
    times_dot: Any,
    span_dot: Any,
    y0_dot: Any,
    args_dot: Any,
    g: Any,
    found: Any,
    fun: Function,
    times: Any,
    span: Any,
    y0: Any,
    args: Any,
    options: Any,
) -> Any:
    dots = times_dot, span_dot, y0_dot, args_dot
    return adjoints_tangent(g_dot, dots, g, found, fun, times, span, y0, args, options)


@rule(
    path_adjoints,
    wrt=["g", "times", "span", "y0", "args"],
    jvp=_path_adjoints_jvp,
    steps={"found"},
    samples=_adjoints,
    infer=infer.scipy.of_path,
    dtype="unknown",
    calls=("fun",),
    passes=("args", 2),
    gives=(tuple,),
)
def path_adjoints_rule(
    z_bar: Any, g: Any, found: Any, fun: Function, times: Any, span: Any, y0: Any, args: Any, options: Any
) -> tuple[Any, Any, Any, Any, Any]:
    g_bar, times_bar, span_bar, y0_bar, args_bar = adjoints_adjoints(
        z_bar, g, found, fun, times, span, y0, args, options
    )
    return g_bar, times_bar, span_bar, y0_bar, args_bar


def _moves() -> Sequence[Sample]:
    by_span = [None, (0.1, -0.4)]
    return [
        sample((numbers(3), span, numbers(2), (0.4, -0.7)), *given)
        for (_, *given), span in zip(_problems(), by_span, strict=True)
    ]


def _path_tangent_jvp(
    moves_dot: Any,
    times_dot: Any,
    span_dot: Any,
    y0_dot: Any,
    args_dot: Any,
    moves: Any,
    found: Any,
    fun: Function,
    times: Any,
    span: Any,
    y0: Any,
    args: Any,
    options: Any,
) -> Any:
    dots = times_dot, span_dot, y0_dot, args_dot
    return tangent_tangent(moves_dot, dots, moves, found, fun, times, span, y0, args, options)


@rule(
    path_tangent,
    wrt=["moves", "times", "span", "y0", "args"],
    jvp=_path_tangent_jvp,
    steps={"found"},
    samples=_moves,
    infer=infer.scipy.of_path_tangent,
    dtype="unknown",
    calls=("fun",),
    passes=("args", 2),
    gives=(tuple,),
)
def path_tangent_rule(
    z_bar: Any, moves: Any, found: Any, fun: Function, times: Any, span: Any, y0: Any, args: Any, options: Any
) -> tuple[Any, Any, Any, Any, Any]:
    moves_bar, times_bar, span_bar, y0_bar, args_bar = tangent_adjoints(
        z_bar, moves, found, fun, times, span, y0, args, options
    )
    return moves_bar, times_bar, span_bar, y0_bar, args_bar


_IVP = (
    "derivatives pass through .y, .t and .sol of solve_ivp(fun, t_span, y0, method, t_eval, dense_output, args=..., "
    "rtol=..., atol=..., max_step=..., first_step=..., jac=...); for the time of an event, solve for it: "
    "brentq(lambda t: event(sol.sol(t)), ...), with dense_output=True"
)

operation(integrate.solve_ivp, signature=lambda fun: None, calls=("fun",), remedy=_IVP)
operation(integrate.solve_bvp, signature=lambda fun: None, calls=("fun",), remedy=_STEPS)
