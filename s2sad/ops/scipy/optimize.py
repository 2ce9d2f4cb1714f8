"""Rules of ``scipy.optimize``: roots of functions, in the further arguments of the function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import optimize

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, operation, rule, sample
from s2sad.runtime.scipy.roots import (
    first_bar,
    first_of,
    found_root,
    found_solution,
    root_adjoints,
    root_tangent,
    with_reports,
)

Array = Any
Function = Callable[..., Any]


def kepler(x: Any, eccentricity: Any, anomaly: Any) -> Any:
    """An equation for samples."""
    return x - eccentricity * np.sin(x) - anomaly


def cube(x: Any, c: Any) -> Any:
    """An equation with an array as argument, for samples."""
    return x**3 + c[0] * x - c[1]


def cubes(x: Any, c: Any) -> Any:
    """Equations for each element, for samples."""
    return x**3 + x - c


def circle(x: Any, radius: Any, slope: Any) -> Any:
    """Two equations for samples."""
    return [x[0] ** 2 + x[1] ** 2 - radius**2, x[1] - slope * x[0]]


def springs(x: Any, stiffness: Any, force: Any) -> Any:
    """Equations in an array for samples."""
    return stiffness @ x + 0.1 * x**3 - force


# --- one unknown, in an interval


def _intervals() -> Sequence[Sample]:
    return [
        sample(kepler, -1.0, 3.0, (0.4, 0.7), xtol=1e-13),
        sample(kepler, -1.0, 3.0, args=(0.4, 0.7), xtol=1e-13),
        sample(kepler, -1.0, 3.0, (0.4, 0.7), xtol=1e-13, full_output=False),
        sample(cube, 0.0, 2.0, (np.array([0.8, 1.3]),), xtol=1e-13),
        sample(cubes, 0.0, 2.0, 1.3, xtol=1e-13),
    ]


def _bracketed_jvp(
    args_dot: Any,
    z: Any,
    f: Function,
    args: Any = (),
    full_output: bool = False,
) -> Any:
    return with_reports(root_tangent(args_dot, first_of(z, full_output), f, args, apart=True), z, full_output)


def _bracketed(solver: Function) -> None:
    @rule(
        solver,
        wrt=["args"],
        steps=frozenset({"a", "b"}),
        jvp=_bracketed_jvp,
        samples=_intervals,
        infer=infer.scipy.root,
        dtype="float",
        calls=("f",),
        passes=("args", 1),
    )
    def bracketed(
        z: Any,
        z_bar: Any,
        f: Function,
        a: Array,
        b: Array,
        args: Any = (),
        xtol: float = 2e-12,
        rtol: float = 8.881784197001252e-16,
        maxiter: int = 100,
        full_output: bool = False,
        disp: bool = True,
    ) -> Any:
        return root_adjoints(first_bar(z_bar, full_output), first_of(z, full_output), f, args, apart=True)


for _solver in (optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder):
    _bracketed(_solver)


@rule(
    optimize.toms748,
    wrt=["args"],
    steps=frozenset({"a", "b"}),
    jvp=_bracketed_jvp,
    samples=_intervals,
    infer=infer.scipy.root,
    dtype="float",
    calls=("f",),
    passes=("args", 1),
)
def toms748(
    z: Any,
    z_bar: Any,
    f: Function,
    a: Array,
    b: Array,
    args: Any = (),
    k: int = 1,
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    return root_adjoints(first_bar(z_bar, full_output), first_of(z, full_output), f, args, apart=True)


# --- one unknown, from a starting point


def _starts() -> Sequence[Sample]:
    return [
        sample(kepler, 0.9, None, (0.4, 0.7), tol=1e-14),
        sample(cube, 0.9, args=(np.array([0.8, 1.3]),), tol=1e-14),
        sample(cubes, np.array([0.9, 0.8, 1.0]), args=(np.abs(numbers(3)) + 0.5,), tol=1e-14),
    ]


def _newton_jvp(args_dot: Any, z: Any, func: Function, args: Any = (), full_output: bool = False) -> Any:
    return with_reports(root_tangent(args_dot, first_of(z, full_output), func, args, apart=True), z, full_output)


@rule(
    optimize.newton,
    wrt=["args"],
    steps=frozenset({"x0", "x1"}),
    jvp=_newton_jvp,
    samples=_starts,
    infer=infer.scipy.any_root,
    dtype="unknown",
    calls=("func", "fprime", "fprime2"),
    passes=("args", 1),
)
def newton(
    z: Any,
    z_bar: Any,
    func: Function,
    x0: Array,
    fprime: Any = None,
    args: Any = (),
    tol: float = 1.48e-8,
    maxiter: int = 50,
    fprime2: Any = None,
    x1: Any = None,
    rtol: float = 0.0,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    return root_adjoints(first_bar(z_bar, full_output), first_of(z, full_output), func, args, apart=True)


# --- several unknowns


def _systems() -> Sequence[Sample]:
    stiffness = np.diag([2.0, 3.0, 2.5]) + 0.2 * numbers(3, 3)
    return [
        sample(circle, [1.0, 1.0], (1.7, 0.6), xtol=1e-13),
        sample(springs, np.zeros(3), args=(stiffness, numbers(3)), xtol=1e-13),
        sample(cubes, 0.9, (1.3,), xtol=1e-13),
    ]


def _fsolve_jvp(args_dot: Any, z: Any, func: Function, args: Any = (), full_output: int = 0) -> Any:
    return with_reports(root_tangent(args_dot, first_of(z, full_output), func, args), z, full_output)


@rule(
    optimize.fsolve,
    wrt=["args"],
    steps=frozenset({"x0"}),
    jvp=_fsolve_jvp,
    samples=_systems,
    infer=infer.scipy.solution,
    dtype="unknown",
    calls=("func", "fprime"),
    passes=("args", 1),
)
def fsolve(
    z: Any,
    z_bar: Any,
    func: Function,
    x0: Array,
    args: Any = (),
    fprime: Any = None,
    full_output: int = 0,
    col_deriv: int = 0,
    xtol: float = 1.49012e-08,
    maxfev: int = 0,
    band: Any = None,
    epsfcn: Any = None,
    factor: float = 100,
    diag: Any = None,
) -> Any:
    return root_adjoints(first_bar(z_bar, full_output), first_of(z, full_output), func, args)


# --- roots with reports


def _reported() -> Sequence[Sample]:
    return [
        sample(kepler, (0.4, 0.7), "brentq", (-1.0, 3.0), xtol=1e-14),
        sample(cube, (np.array([0.8, 1.3]),), x0=0.9, x1=1.0, xtol=1e-14),
    ]


def _found_root_jvp(args_dot: Any, z: Any, f: Function, args: Any = (), fprime: Any = None) -> Any:
    return root_tangent(args_dot, z[0], f, args, fprime, apart=True), 0.0


@rule(
    found_root,
    wrt=["args"],
    steps=frozenset({"bracket", "x0", "x1"}),
    jvp=_found_root_jvp,
    samples=_reported,
    infer=infer.scipy.root_and_more,
    dtype="unknown",
    calls=("f", "fprime", "fprime2"),
    passes=("args", 1),
    without=(1,),
    gives=(tuple,),
)
def found_root_rule(
    z: Any,
    z_bar: Any,
    f: Function,
    args: Any = (),
    method: Any = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = None,
) -> Any:
    return root_adjoints(z_bar[0], z[0], f, args, fprime, apart=True)


def _found_solution_jvp(args_dot: Any, z: Any, fun: Function, args: Any = (), jac: Any = None) -> Any:
    return root_tangent(args_dot, z[0], fun, args, jac), 0.0


def _solved() -> Sequence[Sample]:
    return [sample(circle, [1.0, 1.0], (1.7, 0.6), "hybr", None, 1e-13)]


@rule(
    found_solution,
    wrt=["args"],
    steps=frozenset({"x0"}),
    jvp=_found_solution_jvp,
    samples=_solved,
    infer=infer.scipy.solution_and_more,
    dtype="unknown",
    calls=("fun", "jac"),
    passes=("args", 1),
    without=(1,),
    gives=(tuple,),
)
def found_solution_rule(
    z: Any, z_bar: Any, fun: Function, x0: Array, args: Any = (), method: Any = "hybr", jac: Any = None, tol: Any = None
) -> Any:
    return root_adjoints(z_bar[0], z[0], fun, args, jac)


# --- fixed points


def narrowing(x: Any, c: Any, d: Any) -> Any:
    """A map with a fixed point for samples."""
    return np.cos(c * x) + d * np.sum(x)


def _fixed_points() -> Sequence[Sample]:
    return [
        sample(narrowing, 0.5, (0.6, 0.1), 1e-13),
        sample(narrowing, np.ones(2), args=(np.array([0.3, 0.5]), 0.1), xtol=1e-13, method="iteration"),
    ]


def _fixed_point_jvp(args_dot: Any, z: Any, func: Function, args: Any = ()) -> Any:
    return root_tangent(args_dot, z, func, args, "steps")


@rule(
    optimize.fixed_point,
    wrt=["args"],
    steps=frozenset({"x0"}),
    jvp=_fixed_point_jvp,
    samples=_fixed_points,
    dtype="unknown",
    calls=("func",),
    passes=("args", 1),
)
def fixed_point(
    z: Any,
    z_bar: Any,
    func: Function,
    x0: Array,
    args: Any = (),
    xtol: float = 1e-8,
    maxiter: int = 500,
    method: str = "del2",
) -> Any:
    return root_adjoints(z_bar, z, func, args, "steps")


_ROOT = "derivatives pass through .root of root_scalar and .x of root, by args and by what the function captures"

operation(optimize.root_scalar, signature=lambda f: None, calls=("f",), remedy=_ROOT)
operation(optimize.root, signature=lambda fun: None, calls=("fun",), remedy=_ROOT)
