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
from s2sad.runtime.scipy.callables import (
    arguments,
    dots_of,
    is_zero,
    moved,
    moved_again,
    no_report,
    of_tuple,
    pulled,
    pulled_again,
)
from s2sad.runtime.scipy.matrix_free import Iteration, rest_of
from s2sad.runtime.trees import add
from s2sad.runtime.undefined import Undefined

Array = Any
Function = Callable[..., Any]


def first_of(z: Any, full_output: Any) -> Any:
    """What a solver returns for the root: alone, or first of several results."""
    return z[0] if full_output else z


#: What a solver reports that is a whole number, a truth value or a text.
_COUNTS = frozenset({"iterations", "function_calls", "converged", "flag", "method"})


def _without_counts(bar: Any) -> Any:
    """The adjoint of a report, without those of what is constant in it."""
    return {name: value for name, value in bar.items() if name not in _COUNTS} if isinstance(bar, dict) else bar


def with_reports(x_dot: Any, found: Any, full_output: Any) -> Any:
    """The tangent of what a solver returns, of that of the root: what it reports beside that has none."""
    return (x_dot, *[Undefined(no_report(), _COUNTS) for _ in found[1:]]) if full_output else x_dot


def first_bar(z_bar: Any, full_output: Any) -> Any:
    """The adjoint of the root, in that of what a solver returns.

    Raises:
        UndefinedDerivativeError: if something depends on what it reports beside that.
    """
    if full_output and not all(is_zero(_without_counts(bar)) for bar in z_bar[1:]):
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
    return (dots_of(args_dot, args),)


class Equations:
    """Equations with their further arguments, and what follows from them at a solution.

    Where ``f(x, p) = 0``, an adjoint ``x_bar`` gives that of the value, ``w = -x_bar (df/dx)^-1``, and that of ``p``,
    ``w df/dp``.  Its derivative in a direction ``c`` of ``p`` is that of ``w (df/dx x_dot + df/dp c)``, with the
    tangent ``x_dot`` of the solution: all second derivatives are those of the tangent of ``f``.
    """

    def __init__(
        self, func: Function, args: Any, of: Any = None, apart: bool = False, held: Any = None, met: bool = True
    ) -> None:
        """``func`` is zero at a solution, with further arguments: one, or a tuple of them.

        With ``of`` True it has the derivative for its second result, with ``"steps"`` a solution is its fixed point.
        Unknowns that are ``apart`` have an equation each; those that are ``held`` stay where they are, and their
        equations need not be ``met``, nor the others unless this is said.
        """
        given = arguments(args)
        self.args, self.apart, self.held, self.met = args, apart, held, met
        self.whole = of is True or (isinstance(of, str) and of == "steps")
        self.given = (given,) if self.whole else given
        self.places = range(1, len(self.given) + 1)
        self.func = func
        if self.whole:
            self.func = part_of(func, 0, len(given)) if of is True else steps_of(func, len(given))

    def dots(self, args_dot: Any) -> tuple[Any, ...]:
        """The tangents or adjoints of the further arguments, as a tuple."""
        return dots_together(args_dot, self.args) if self.whole else dots_of(args_dot, self.args)

    def as_given(self, bars: list[Any]) -> Any:
        """The adjoints of the further arguments in the form in which these were given."""
        return together(bars, self.args) if self.whole else bars if isinstance(self.args, tuple) else bars[0]

    def slopes(self, x: Any) -> tuple[Any, tuple[int, ...]]:
        """The derivative of the values in the unknowns: a matrix, or one number for each that is apart; their shape."""
        if np.iscomplexobj(x):
            raise UndefinedDerivativeError(
                "a complex root has no derivative rule", "Solve for its real and imaginary parts."
            )
        value, pull = pulled(self.func, (x, *self.given), (0,))
        if self.apart:
            slope = pull(np.ones_like(value) if isinstance(value, np.ndarray) else 1.0)[0]
            if np.any(np.equal(slope, 0.0)):
                raise _multiple()
            _require_solution(np.asarray(value) / slope, x)
            return slope, np.shape(value)
        rows = np.stack([np.ravel(pull(unit.reshape(np.shape(value)))[0]) for unit in np.eye(np.size(x))])
        rows = rows if self.held is None else without(self.held, rows)
        if self.met:
            _require_solution(solved(rows, np.ravel(value)), x)
        return rows, np.shape(value)

    def weights(self, x_bar: Any, x: Any) -> Any:
        """The adjoint of the values, of that of the solution."""
        slopes, shape = self.slopes(x)
        if self.apart:
            return -np.real(x_bar) / slopes
        x_bar = np.ravel(np.zeros(np.shape(x)) + np.real(x_bar))
        return -solved(slopes.T, x_bar if self.held is None else np.where(self.held, 0.0, x_bar)).reshape(shape)

    def moved(self, values_dot: Any, x: Any) -> Any:
        """The tangent of the solution, of that which the values have where the solution stays."""
        slopes, _ = self.slopes(x)
        if self.apart:
            return -np.asarray(values_dot)[()] / slopes
        values_dot = np.ravel(values_dot)
        values_dot = values_dot if self.held is None else np.where(self.held, 0.0, values_dot)
        return -solved(slopes, values_dot).reshape(np.shape(x))[()]

    def adjoints(self, x_bar: Any, x: Any) -> Any:
        """The adjoints of the further arguments, of that of the solution."""
        if not self.given:
            return []
        return self.as_given(pulled(self.func, (x, *self.given), self.places)[1](self.weights(x_bar, x)))

    def tangent(self, args_dot: Any, x: Any) -> Any:
        """The tangent of the solution, of those of the further arguments."""
        if not self.given:
            return 0.0 * x
        return self.moved(moved(self.func, (x, *self.given), (None, *self.dots(args_dot))), x)

    def again(self, weights: Any, x: Any, x_dot: Any, args_dot: Any) -> tuple[Any, Any]:
        """The adjoints of the solution and of the further arguments in the tangent of the values."""
        args, dots = (x, *self.given), (x_dot, *self.dots(args_dot))
        x_bar, *bars = pulled_again(self.func, args, dots, range(len(args)), weights)
        return x_bar, self.as_given(bars)

    def adjoints_adjoints(self, c: Any, x_bar: Any, x: Any) -> tuple[Any, Any, Any]:
        """The adjoints of ``x_bar``, ``x`` and the further arguments in the `adjoints` of these."""
        if not self.given:
            return 0.0, 0.0, []
        x_dot = self.tangent(c, x)
        return x_dot, *self.again(self.weights(x_bar, x), x, x_dot, c)

    def adjoints_tangent(self, x_bar_dot: Any, x_dot: Any, args_dot: Any, x_bar: Any, x: Any) -> Any:
        """The tangent of the `adjoints` of the further arguments."""
        if not self.given:
            return []
        more, bars = self.again(self.weights(x_bar, x), x, x_dot, args_dot)
        return add(bars, self.adjoints(x_bar_dot + more, x))

    def tangent_adjoints(self, bar: Any, moves: Any, x: Any) -> tuple[Any, Any, Any]:
        """The adjoints of ``moves``, ``x`` and the further arguments in the `tangent` of the solution."""
        if not self.given:
            return [], 0.0, []
        place_dot = self.tangent(moves, x)
        return self.adjoints(bar, x), *self.again(self.weights(bar, x), x, place_dot, moves)

    def tangent_tangent(self, moves_dot: Any, x_dot: Any, args_dot: Any, moves: Any, x: Any) -> Any:
        """The tangent of the `tangent` of the solution."""
        if not self.given:
            return 0.0 * x
        dots = self.tangent(moves, x), *self.dots(moves)
        twice = moved_again(self.func, (x, *self.given), dots, (x_dot, *self.dots(args_dot)))
        return self.moved(np.asarray(twice), x) + self.tangent(moves_dot, x)


class System(Equations):
    """A linear system of which the matrix is a function, and the right-hand side the first of the arguments."""

    def __init__(self, matvec: Function, args: Any, way: Iteration) -> None:
        super().__init__(rest_of(matvec, len(args), way.shift), args)
        self.way = way

    def weights(self, x_bar: Any, x: Any) -> Any:
        self.way.require_solution(self.func(x, *self.given))
        return -self.way.turned(np.zeros(np.shape(x)) + x_bar)

    def moved(self, values_dot: Any, x: Any) -> Any:
        self.way.require_solution(self.func(x, *self.given))
        return -self.way.moved(np.zeros(np.shape(x)) + values_dot)


def _equations(func: Function, args: Any, of: Any = None, apart: bool = False) -> Equations:
    return System(func, args, of) if isinstance(of, Iteration) else Equations(func, args, of, apart)


def root_adjoints(x_bar: Any, x: Any, func: Function, args: Any, of: Any = None, apart: bool = False) -> Any:
    """The adjoints of the further arguments of ``func`` in a solution ``x``: see `Equations`."""
    return _equations(func, args, of, apart).adjoints(x_bar, x)


def root_tangent(moves: Any, x: Any, func: Function, args: Any, of: Any = None, apart: bool = False) -> Any:
    """The tangent of a solution ``x``, of the tangents ``moves`` of the further arguments."""
    return _equations(func, args, of, apart).tangent(moves, x)


def adjoints_adjoints(c: Any, x_bar: Any, x: Any, func: Function, args: Any, *options: Any) -> tuple[Any, Any, Any]:
    """The adjoints of ``x_bar``, ``x`` and the further arguments in `root_adjoints`."""
    return _equations(func, args, *options).adjoints_adjoints(c, x_bar, x)


def adjoints_tangent(
    x_bar_dot: Any, x_dot: Any, args_dot: Any, x_bar: Any, x: Any, func: Function, args: Any, *options: Any
) -> Any:
    """The tangent of `root_adjoints`."""
    return _equations(func, args, *options).adjoints_tangent(x_bar_dot, x_dot, args_dot, x_bar, x)


def tangent_adjoints(bar: Any, moves: Any, x: Any, func: Function, args: Any, *options: Any) -> tuple[Any, Any, Any]:
    """The adjoints of ``moves``, ``x`` and the further arguments in `root_tangent`."""
    return _equations(func, args, *options).tangent_adjoints(bar, moves, x)


def tangent_tangent(
    moves_dot: Any, x_dot: Any, args_dot: Any, moves: Any, x: Any, func: Function, args: Any, *options: Any
) -> Any:
    """The tangent of `root_tangent`."""
    return _equations(func, args, *options).tangent_tangent(moves_dot, x_dot, args_dot, moves, x)


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
