"""Second derivatives of minima: rules of what the rules of minima compute with functions they are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import optimize

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.scipy.minima import line, line_slopes, valley, valley_slope
from s2sad.ops.spec import Sample, rule, sample
from s2sad.runtime.scipy.minima import (
    least_adjoints,
    least_adjoints_adjoints,
    least_adjoints_tangent,
    least_tangent,
    least_tangent_adjoints,
    least_tangent_tangent,
)

Array = Any
Function = Callable[..., Any]
_FOUND = optimize.OptimizeResult(success=True)


def _calls() -> Sequence[tuple[Any, ...]]:
    """Places, and what is least there."""
    times = np.linspace(0.0, 2.0, 6)
    return [
        (numbers(3), _FOUND, valley, (numbers(3, seed=1), 0.7), "minimum", valley_slope),
        (numbers(2), _FOUND, valley, (0.4, 0.7), "minimum"),
        (np.array([1.0, 0.5]), _FOUND, line, (times, 1.3 - 0.8 * times), "squares", line_slopes, None, None, None),
    ]


def _adjoints() -> Sequence[Sample]:
    return [sample(numbers(*np.shape(call[0]), seed=2), 0.6, *call) for call in _calls()]


def _tangents() -> Sequence[Sample]:
    moves = [(numbers(3, seed=3), 0.4), (0.2, -0.5), (numbers(6), numbers(6, seed=2))]
    return [sample(dots, *call) for dots, call in zip(moves, _calls(), strict=True)]


def _adjoints_jvp(
    x_bar_dot: Array,
    value_bar_dot: Array,
    x_dot: Array,
    args_dot: Any,
    x_bar: Array,
    value_bar: Array,
    x: Array,
    report: Any,
    fun: Function,
    args: Any,
    kind: str,
    jac: Any = None,
    bounds: Any = None,
    loss: Any = None,
    scale: Any = None,
) -> Any:
    return least_adjoints_tangent(
        x_bar_dot, value_bar_dot, x_dot, args_dot, x_bar, value_bar, x, report, fun, args, kind, jac, bounds, loss,
        scale,
    )  # fmt: skip


@rule(
    least_adjoints,
    wrt=["x_bar", "value_bar", "x", "args"],
    steps={"report"},
    jvp=_adjoints_jvp,
    samples=_adjoints,
    infer=infer.scipy.of_arguments,
    dtype="unknown",
    calls=("fun", "jac"),
    special=frozenset(),
    passes=("args", 1),
    gives=(list,),
)
def least_adjoints_rule(
    z_bar: Any,
    x_bar: Array,
    value_bar: Array,
    x: Array,
    report: Any,
    fun: Function,
    args: Any,
    kind: str,
    jac: Any = None,
    bounds: Any = None,
    loss: Any = None,
    scale: Any = None,
) -> tuple[Any, Any, Any, Any]:
    x_bar_bar, value_bar_bar, x_in_bar, args_bar = least_adjoints_adjoints(
        z_bar, x_bar, value_bar, x, report, fun, args, kind, jac, bounds, loss, scale
    )
    return x_bar_bar, value_bar_bar, x_in_bar, args_bar


def _tangent_jvp(
    moves_dot: Any,
    x_dot: Array,
    args_dot: Any,
    moves: Any,
    x: Array,
    report: Any,
    fun: Function,
    args: Any,
    kind: str,
    jac: Any = None,
    bounds: Any = None,
    loss: Any = None,
    scale: Any = None,
) -> Any:
    return least_tangent_tangent(
        moves_dot, x_dot, args_dot, moves, x, report, fun, args, kind, jac, bounds, loss, scale
    )


@rule(
    least_tangent,
    wrt=["moves", "x", "args"],
    steps={"report"},
    jvp=_tangent_jvp,
    samples=_tangents,
    dtype="unknown",
    calls=("fun", "jac"),
    special=frozenset(),
    passes=("args", 1),
    gives=(tuple,),
)
def least_tangent_rule(
    z_bar: Any,
    moves: Any,
    x: Array,
    report: Any,
    fun: Function,
    args: Any,
    kind: str,
    jac: Any = None,
    bounds: Any = None,
    loss: Any = None,
    scale: Any = None,
) -> tuple[Any, Any, Any]:
    moves_bar, x_bar, args_bar = least_tangent_adjoints(
        z_bar, moves, x, report, fun, args, kind, jac, bounds, loss, scale
    )
    return moves_bar, x_bar, args_bar
