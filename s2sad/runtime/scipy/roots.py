"""Derivatives of roots and solutions of equations in their parameters, by the implicit function theorem.

Where ``f(x, p) = 0``, ``dx/dp = -(df/dx)^-1 df/dp``, whatever way the root was found.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.callables import arguments, is_zero, no_report, of_tuple, paired, pulled
from s2sad.runtime.undefined import Undefined

Array = Any
Function = Callable[..., Any]


def first_of(z: Any, full_output: Any) -> Any:
    """What a solver returns for the root: alone, or first of several results."""
    return z[0] if full_output else z


def with_reports(x_dot: Any, z: Any, full_output: Any) -> Any:
    """The tangent of what a solver returns, of that of the root: what it reports beside that has none."""
    return (x_dot, *[Undefined(no_report()) for _ in z[1:]]) if full_output else x_dot


def first_bar(z_bar: Any, full_output: Any) -> Any:
    """The adjoint of the root, in that of what a solver returns.

    Raises:
        UndefinedDerivativeError: if something depends on what it reports beside that.
    """
    if full_output and not is_zero(z_bar[1:]):
        raise no_report()
    return first_of(z_bar, full_output)


def found_root(
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
) -> tuple[Any, Any]:
    """The root of ``optimize.root_scalar``, and all that it gives."""
    found = optimize.root_scalar(f, args, method, bracket, fprime, fprime2, x0, x1, xtol, rtol, maxiter)
    return found.root, found


def found_solution(
    fun: Function, x0: Any, args: Any = (), method: Any = "hybr", jac: Any = None, tol: Any = None
) -> tuple[Any, Any]:
    """The solution of ``optimize.root``, and all that it gives."""
    found = optimize.root(fun, x0, args, method, jac, tol)
    return found.x, found


@functools.lru_cache(maxsize=64)
def part_of(function: Function, i: int, count: int) -> Function:
    """One of several results of a function, with so many further arguments as a tuple."""
    whole = of_tuple(function, count)
    return lambda x, args: whole(x, args)[i]


@functools.lru_cache(maxsize=64)
def steps_of(function: Function, count: int) -> Function:
    """How far a function goes from where it starts, with so many further arguments as a tuple: 0 at a fixed point."""
    whole = of_tuple(function, count)
    return lambda x, args: whole(x, args) - x


def together(found: Any, args: Any) -> Any:
    """The adjoints of further arguments of those of all of them as a tuple."""
    return found[0] if isinstance(args, tuple) or not found else found[0][0]


def dots_together(args_dot: Any, args: Any) -> tuple[Any, ...]:
    """The tangents of all further arguments as a tuple."""
    return (tuple(args_dot) if isinstance(args, tuple) else (args_dot,),)


def root_adjoints(x_bar: Any, x: Any, func: Function, args: Any, fprime: Any = None) -> Any:
    """The adjoints of the further arguments of ``func`` in a root ``x``, or several independent ones."""
    if fprime is True:
        return together(root_adjoints(x_bar, x, part_of(func, 0, len(arguments(args))), (arguments(args),)), args)
    given, args = args, arguments(args)
    if np.iscomplexobj(x):
        raise UndefinedDerivativeError(
            "a complex root has no derivative rule", "Solve for its real and imaginary parts."
        )
    if not args:
        return []
    value, pull = pulled(func, (x, *args), (0,))
    slope = pull(np.ones_like(value) if isinstance(value, np.ndarray) else 1.0)[0]
    if np.any(np.equal(slope, 0.0)):
        raise _multiple()
    _require_solution(np.asarray(value) / slope, x)
    found = pulled(func, (x, *args), range(1, len(args) + 1))[1](-np.real(x_bar) / slope)
    return found if isinstance(given, tuple) else found[0]


def solution_adjoints(x_bar: Any, x: Any, func: Function, args: Any, held: Any = None, met: bool = True) -> Any:
    """The adjoints of the further arguments of ``func`` in a solution ``x`` of several equations.

    The unknowns that are ``held`` stay where they are, and their equations need not be met; nor any unless ``met``.
    """
    given, args = args, arguments(args)
    if not args:
        return []
    rows = jacobian(func, x, args)
    if held is not None:
        rows, x_bar = without(held, rows), np.where(held, 0.0, x_bar)
    weights = solved(rows.T, np.ravel(x_bar))
    value, pull = pulled(func, (x, *args), range(1, len(args) + 1))
    if met:
        _require_solution(solved(rows, np.ravel(value)), x)
    found = pull(-weights.reshape(np.shape(value)))
    return found if isinstance(given, tuple) else found[0]


def jacobian(func: Function, x: Any, args: tuple[Any, ...], args_dot: Any = None) -> Any:
    """The derivative of the values of several equations in the unknowns, as a matrix.

    With tangents of the further arguments, those of the values beside it.
    """
    size = np.size(x)
    found, values_dot = np.empty((size, size)), np.empty(size)
    wanted = (0,) if args_dot is None else range(len(args) + 1)
    for i, unit in enumerate(np.eye(size)):
        value, pull = pulled(func, (x, *args), wanted)
        bars = pull(unit.reshape(np.shape(value)))
        found[i] = np.ravel(bars[0])
        values_dot[i] = 0.0 if args_dot is None else paired(bars[1:], args_dot)
    return found if args_dot is None else (found, values_dot)


def without(held: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The matrix of equations in which some unknowns stay as they are."""
    return np.where(held | held[:, None], np.eye(len(rows)), rows)


def _require_solution(step: Any, x: Any) -> None:
    """Raise if a step of Newton's method leads away from what a solver has given, which is no solution then."""
    if not np.all(np.abs(step) <= 1e-2 * np.max(np.abs(x), initial=0.0) + 1e-4):
        raise UndefinedDerivativeError(
            "what the solver gives does not solve the equations: the derivative of a solution does not apply",
            "Start nearer to the solution, or let it run longer.",
        )


def _multiple() -> UndefinedDerivativeError:
    return UndefinedDerivativeError(
        "the derivative of the function at its root is zero, or its matrix singular: the root has no derivative",
        "Give equations of which the root is a simple one.",
    )


def solved(matrix: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution of a linear system, by which unknowns follow."""
    try:
        return np.linalg.solve(matrix, b)
    except np.linalg.LinAlgError:
        raise _multiple() from None


def root_tangent(args_dot: Any, x: Any, func: Function, args: Any, fprime: Any = None) -> Any:
    """The tangent of a root, or of several that do not depend on each other."""
    found = np.zeros(np.shape(x))
    if arguments(args):
        for index in np.ndindex(found.shape):
            unit = np.zeros(found.shape)
            unit[index] = 1.0
            found[index] = paired(root_adjoints(unit[()], x, func, args, fprime), args_dot)
    return found[()]


def solution_tangent(args_dot: Any, x: Any, func: Function, args: Any, held: Any = None, met: bool = True) -> Any:
    """The tangent of a solution of several equations, in which some unknowns may be ``held``."""
    if not arguments(args):
        return np.zeros(np.shape(x))[()]
    rows, values_dot = jacobian(func, x, arguments(args), args_dot if isinstance(args, tuple) else (args_dot,))
    if held is not None:
        rows, values_dot = without(held, rows), np.where(held, 0.0, values_dot)
    if met:
        value, _ = pulled(func, (x, *arguments(args)), (0,))
        _require_solution(solved(rows, np.ravel(value)), x)
    return solved(rows, -values_dot).reshape(np.shape(x))[()]


def found_adjoints(x_bar: Any, x: Any, fun: Function, args: Any, jac: Any = None) -> Any:
    """The adjoints of the further arguments of ``fun`` in `found_solution`."""
    if jac is True:
        return together(solution_adjoints(x_bar, x, part_of(fun, 0, len(arguments(args))), (arguments(args),)), args)
    return solution_adjoints(x_bar, x, fun, args)


def found_tangent(args_dot: Any, x: Any, fun: Function, args: Any, jac: Any = None) -> Any:
    """The tangent of `found_solution`."""
    if jac is True:
        return solution_tangent(
            dots_together(args_dot, args), x, part_of(fun, 0, len(arguments(args))), (arguments(args),)
        )
    return solution_tangent(args_dot, x, fun, args)


def fixed_adjoints(x_bar: Any, x: Any, func: Function, args: Any) -> Any:
    """The adjoints of the further arguments of ``func`` in ``optimize.fixed_point``."""
    return together(solution_adjoints(x_bar, x, steps_of(func, len(arguments(args))), (arguments(args),)), args)


def fixed_tangent(args_dot: Any, x: Any, func: Function, args: Any) -> Any:
    """The tangent of ``optimize.fixed_point``."""
    return solution_tangent(dots_together(args_dot, args), x, steps_of(func, len(arguments(args))), (arguments(args),))
