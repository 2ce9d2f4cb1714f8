"""Derivatives of roots and solutions of equations in their parameters, by the implicit function theorem.

Where ``f(x, p) = 0``, ``dx/dp = -(df/dx)^-1 df/dp``, whatever way the root was found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.callables import arguments, paired, pulled

Array = Any
Function = Callable[..., Any]


def first_of(z: Any, full_output: Any) -> Any:
    """What a solver returns for the root: alone, or first of several results."""
    return z[0] if full_output else z


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


def alone(derivative: Any) -> None:
    """Raise for a function that returns its derivative beside its value."""
    if derivative is True:
        raise UndefinedDerivativeError(
            "a function that returns its derivative too has no derivative rule here",
            "Give the derivative as a function of its own.",
        )


def root_adjoints(x_bar: Any, x: Any, func: Function, args: Any, fprime: Any = None) -> Any:
    """The adjoints of the further arguments of ``func`` in a root ``x``, or several independent ones."""
    alone(fprime)
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
    found = pulled(func, (x, *args), range(1, len(args) + 1))[1](-np.real(x_bar) / slope)
    return found if isinstance(given, tuple) else found[0]


def solution_adjoints(x_bar: Any, x: Any, func: Function, args: Any, jac: Any = None) -> Any:
    """The adjoints of the further arguments of ``func`` in a solution ``x`` of several equations."""
    alone(jac)
    given, args = args, arguments(args)
    if not args:
        return []
    weights = _solved(jacobian(func, x, args).T, np.ravel(x_bar))
    value, pull = pulled(func, (x, *args), range(1, len(args) + 1))
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


def _multiple() -> UndefinedDerivativeError:
    return UndefinedDerivativeError(
        "the derivative of the function at its root is zero, or its matrix singular: the root has no derivative",
        "Give equations of which the root is a simple one.",
    )


def _solved(matrix: np.ndarray, b: np.ndarray) -> np.ndarray:
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


def solution_tangent(args_dot: Any, x: Any, func: Function, args: Any, jac: Any = None) -> Any:
    """The tangent of a solution of several equations."""
    alone(jac)
    if not arguments(args):
        return np.zeros(np.shape(x))[()]
    rows, values_dot = jacobian(func, x, arguments(args), args_dot if isinstance(args, tuple) else (args_dot,))
    return _solved(rows, -values_dot).reshape(np.shape(x))[()]
