"""Second derivatives of roots and integrals: rules of what the rules of these compute with functions they are given.

What computes derivatives of fits has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import optimize

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.scipy.integrals import bell, many_bells, waves_at
from s2sad.ops.scipy.optimize import cubes, kepler, narrowing, springs
from s2sad.ops.spec import Sample, operation, rule, sample
from s2sad.runtime.scipy import fits
from s2sad.runtime.scipy.integrals import (
    arguments_adjoint,
    arguments_adjoints,
    arguments_tangent,
    bound_adjoints,
    bound_slope,
    bound_tangent,
    integral_tangent,
)
from s2sad.runtime.scipy.integrals import tangent_adjoints as moved_adjoints
from s2sad.runtime.scipy.integrals import tangent_tangent as moved_tangent
from s2sad.runtime.scipy.roots import (
    adjoints_adjoints,
    adjoints_tangent,
    root_adjoints,
    root_tangent,
    tangent_adjoints,
    tangent_tangent,
)

Array = Any
Function = Callable[..., Any]
#: The parameters that say how an integral is found, on which its exact value does not depend.
_SEARCH = frozenset({"epsabs", "epsrel", "limit", "points"})

_AGAIN = (
    "second derivatives do not pass through functions that SciPy calls; take differences of the gradient, or write the "
    "steps of the method as a loop, which is differentiated as often as is asked for"
)

operation(
    fits.fit_adjoints,
    fits.fit_tangent,
    remedy=_AGAIN,
)


# --- roots


def _springs() -> tuple[Any, Any]:
    """The arguments of an equation in three unknowns, and its solution."""
    args = np.diag([2.0, 3.0, 2.5]) + 0.2 * numbers(3, 3), numbers(3)
    return optimize.fsolve(springs, np.zeros(3), args, xtol=1e-13), args


def _roots() -> Sequence[Sample]:
    one, two = (0.4, 0.7), (0.6, 0.1)
    several = (np.abs(numbers(3)) + 0.5,)
    x, args = _springs()
    return [
        sample(0.7, optimize.brentq(kepler, -1, 3, one), kepler, one, apart=True),
        sample(numbers(3), optimize.newton(cubes, np.ones(3), None, several), cubes, several, None, True),
        sample(0.7, optimize.brentq(cubes, 0, 2, 1.3), cubes, 1.3, apart=True),
        sample(numbers(3), x, springs, args),
        sample(1.2, optimize.fixed_point(narrowing, 0.5, two), narrowing, two, "steps"),
    ]


def _moves() -> Sequence[Sample]:
    one, two = (0.4, 0.7), (0.6, 0.1)
    x, args = _springs()
    return [
        sample((0.3, -0.8), optimize.brentq(kepler, -1, 3, one), kepler, one, apart=True),
        sample(0.4, optimize.brentq(cubes, 0, 2, 1.3), cubes, 1.3, apart=True),
        sample((numbers(3, 3), numbers(3, seed=1)), x, springs, args),
        sample((0.3, -0.8), optimize.fixed_point(narrowing, 0.5, two), narrowing, two, "steps"),
    ]


def _adjoints_jvp(
    x_bar_dot: Array,
    x_dot: Array,
    args_dot: Any,
    x_bar: Array,
    x: Array,
    func: Function,
    args: Any,
    of: Any = None,
    apart: bool = False,
) -> Any:
    return adjoints_tangent(x_bar_dot, x_dot, args_dot, x_bar, x, func, args, of, apart)


@rule(
    root_adjoints,
    wrt=["x_bar", "x", "args"],
    jvp=_adjoints_jvp,
    samples=_roots,
    infer=infer.scipy.of_arguments,
    dtype="unknown",
    calls=("func",),
    passes=("args", 1),
    gives=(list,),
)
def root_adjoints_rule(
    z_bar: Any, x_bar: Array, x: Array, func: Function, args: Any, of: Any = None, apart: bool = False
) -> tuple[Any, Any, Any]:
    x_bar_bar, x_in_bar, args_bar = adjoints_adjoints(z_bar, x_bar, x, func, args, of, apart)
    return x_bar_bar, x_in_bar, args_bar


def _tangent_jvp(
    moves_dot: Any,
    x_dot: Array,
    args_dot: Any,
    moves: Any,
    x: Array,
    func: Function,
    args: Any,
    of: Any = None,
    apart: bool = False,
) -> Any:
    return tangent_tangent(moves_dot, x_dot, args_dot, moves, x, func, args, of, apart)


@rule(
    root_tangent,
    wrt=["moves", "x", "args"],
    jvp=_tangent_jvp,
    samples=_moves,
    infer=infer.scipy.of_solution,
    dtype="unknown",
    calls=("func",),
    passes=("args", 1),
)
def root_tangent_rule(
    z_bar: Any, moves: Any, x: Array, func: Function, args: Any, of: Any = None, apart: bool = False
) -> tuple[Any, Any, Any]:
    moves_bar, x_bar, args_bar = tangent_adjoints(z_bar, moves, x, func, args, of, apart)
    return moves_bar, x_bar, args_bar


# --- integrals


def _bounds() -> Sequence[Sample]:
    return [
        sample(bell, 0.7, (0.7, 0.4)),
        sample(bell, 0.3, 1.7),
        sample(bell, 0.3, (1.7,), "cos", 3.0),
        sample(waves_at, 0.3, (numbers(3), 0.2), norm="2"),
        sample(np.exp, 0.2, ()),
    ]


def _bound_jvp(
    x_dot: Array,
    args_dot: Any,
    func: Function,
    x: Array,
    args: Any,
    weight: Any = None,
    wvar: Any = None,
    norm: str | None = None,
) -> Any:
    return bound_tangent(x_dot, args_dot, func, x, args, weight, wvar, norm)


@rule(
    bound_slope,
    wrt=["x", "args"],
    jvp=_bound_jvp,
    samples=_bounds,
    infer=infer.scipy.of_integrand,
    dtype="unknown",
    calls=("func",),
    passes=("args", 1),
)
def bound_slope_rule(
    z_bar: Any,
    func: Function,
    x: Array,
    args: Any,
    weight: Any = None,
    wvar: Any = None,
    norm: str | None = None,
) -> tuple[Any, Any]:
    x_bar, args_bar = bound_adjoints(z_bar, func, x, args, weight, wvar, norm)
    return x_bar, args_bar


#: As ``quad_vec`` finds an integral by default.
_SEVERAL = {"epsabs": 1e-200, "epsrel": 1e-8, "limit": 10000, "norm": "2"}


def _arguments() -> Sequence[Sample]:
    return [
        sample(1.3, bell, -0.5, 1.2, (0.7, 0.4), epsabs=1e-12),
        sample(0.4, bell, 0.1, 0.8, 1.7),
        sample(0.4, bell, -np.inf, 0.8, (1.7, 0.2), points=None),
        sample(0.7, bell, 0.1, 0.8, (1.7,), weight="cos", wvar=3.0),
        sample(
            0.7, many_bells, 0.1, 0.8, (np.linspace(0.5, 1.5, 12),), epsabs=1e-9, epsrel=1e-9, limit=50, points=None
        ),
        sample(numbers(3), waves_at, 0.1, 0.8, (numbers(3), 0.2), **_SEVERAL),
    ]


def _arguments_jvp(
    g_dot: Array,
    a_dot: Array,
    b_dot: Array,
    args_dot: Any,
    g: Array,
    func: Function,
    a: Array,
    b: Array,
    args: Any,
    *,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    norm: str | None = None,
    quadrature: Any = None,
) -> Any:
    return arguments_tangent(
        g_dot, a_dot, b_dot, args_dot, g, func, a, b, args,
        epsabs=epsabs, epsrel=epsrel, limit=limit, points=points, weight=weight, wvar=wvar, norm=norm,
        quadrature=quadrature,
    )  # fmt: skip


@rule(
    arguments_adjoint,
    wrt=["g", "a", "b", "args"],
    steps=_SEARCH,
    jvp=_arguments_jvp,
    samples=_arguments,
    infer=infer.scipy.of_arguments,
    dtype="unknown",
    calls=("func",),
    passes=("args", 1),
    gives=(list,),
)
def arguments_adjoint_rule(
    z_bar: Any,
    g: Array,
    func: Function,
    a: Array,
    b: Array,
    args: Any,
    *,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    norm: str | None = None,
    quadrature: Any = None,
) -> tuple[Any, Any, Any, Any]:
    g_bar, a_bar, b_bar, args_bar = arguments_adjoints(
        z_bar, g, func, a, b, args,
        epsabs=epsabs, epsrel=epsrel, limit=limit, points=points, weight=weight, wvar=wvar, norm=norm,
        quadrature=quadrature,
    )  # fmt: skip
    return g_bar, a_bar, b_bar, args_bar


def _rising() -> Sequence[Sample]:
    return [
        sample(0.3, -0.2, (0.5, 1.1), 0.0, bell, -0.5, 1.2, (0.7, 0.4), epsabs=1e-12),
        sample(0.3, 0.9, 0.6, 0.0, bell, 0.1, 0.8, 1.7),
        sample(0.3, 0.9, (0.6,), 0.0, bell, 0.1, 0.8, (1.7,), weight="sin", wvar=3.0),
        sample(0.3, 0.9, (numbers(3), 0.2), np.zeros(3), waves_at, 0.1, 0.8, (numbers(3), 0.2), **_SEVERAL),
    ]


def _rising_jvp(
    low_dot: Array,
    high_dot: Array,
    moves_dot: Any,
    a_dot: Array,
    b_dot: Array,
    args_dot: Any,
    low: Array,
    high: Array,
    moves: Any,
    value: Array,
    func: Function,
    a: Array,
    b: Array,
    args: Any,
    *,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    norm: str | None = None,
    quadrature: Any = None,
) -> Any:
    return moved_tangent(
        low_dot, high_dot, moves_dot, a_dot, b_dot, args_dot, low, high, moves, func, a, b, args,
        epsabs=epsabs, epsrel=epsrel, limit=limit, points=points, weight=weight, wvar=wvar, norm=norm,
        quadrature=quadrature,
    )  # fmt: skip


@rule(
    integral_tangent,
    wrt=["low", "high", "moves", "a", "b", "args"],
    steps=_SEARCH | {"value"},
    jvp=_rising_jvp,
    samples=_rising,
    infer=infer.scipy.of_integrand,
    dtype="unknown",
    calls=("func",),
    passes=("args", 1),
    real_only=True,
)
def integral_tangent_rule(
    z_bar: Any,
    low: Array,
    high: Array,
    moves: Any,
    value: Array,
    func: Function,
    a: Array,
    b: Array,
    args: Any,
    *,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    norm: str | None = None,
    quadrature: Any = None,
) -> tuple[Any, Any, Any, Any, Any, Any]:
    low_bar, high_bar, moves_bar, a_bar, b_bar, args_bar = moved_adjoints(
        z_bar, low, high, moves, func, a, b, args,
        epsabs=epsabs, epsrel=epsrel, limit=limit, points=points, weight=weight, wvar=wvar, norm=norm,
        quadrature=quadrature,
    )  # fmt: skip
    return low_bar, high_bar, moves_bar, a_bar, b_bar, args_bar
