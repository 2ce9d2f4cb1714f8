"""Derivatives of parameters that are fitted to data, by the implicit function theorem: their normal equations hold."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.calls import adjoint_like
from s2sad.runtime.scipy.callables import arguments, of_tuple, paired, pulled, slope_of
from s2sad.runtime.scipy.minima import held_by_bounds
from s2sad.runtime.scipy.roots import solved, without

Function = Callable[..., Any]


def found_fit(
    f: Function,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: Any = False,
    check_finite: Any = None,
    bounds: Any = (-np.inf, np.inf),
    method: Any = None,
    jac: Any = None,
    args: Any = (),
    **options: Any,
) -> tuple[Any, Any]:
    """The parameters and their covariances of ``optimize.curve_fit``; ``f`` takes ``args`` behind the parameters."""
    given = {name: option for name, option in options.items() if option is not None}
    jac = _with_arguments(jac, args) if callable(jac) else jac
    found = optimize.curve_fit(
        _with_arguments(f, args), xdata, ydata, p0, sigma, absolute_sigma, check_finite, bounds, method, jac, **given
    )
    return found[0], found[1]


def _with_arguments(f: Function, args: Any) -> Function:
    args = arguments(args)
    if not args:
        return f

    def model(x: Any, *p: Any) -> Any:
        return f(x, *p, *args)

    # How many parameters there are SciPy counts.
    signature = inspect.signature(f)
    model.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=list(signature.parameters.values())[: -len(args)]
    )
    return model


@functools.lru_cache(maxsize=64)
def _slope(f: Function, count: int) -> Function:
    """The derivatives of half of the sum of squares by what ``f`` takes behind the points: so many, in a tuple."""
    model = of_tuple(f, count)
    return slope_of(lambda given, x, y, sigma: 0.5 * np.sum(np.square((model(x, given) - y) / sigma)))


class _Equations:
    """The normal equations of a fit at its parameters."""

    def __init__(self, p: Any, f: Function, xdata: Any, ydata: Any, sigma: Any, bounds: Any, args: Any) -> None:
        if np.ndim(sigma) > 1:
            raise UndefinedDerivativeError(
                "a fit with a matrix of covariances in sigma has no derivative rule",
                "Use least_squares, with residuals that are solved with the Cholesky factor of the matrix.",
            )
        self.size, self.xdata, self.ydata, self.sigma = len(p), xdata, ydata, sigma
        points = np.asarray(xdata, float) if isinstance(xdata, (list, tuple)) else xdata
        errors = 1.0 if sigma is None else np.asarray(sigma, float)
        given = (*map(float, p), *arguments(args))
        whole = (given, points, np.asarray(ydata, float), errors)
        slope, self.pull = pulled(_slope(f, len(given)), whole, range(4))
        self.bars = adjoint_like(0.0, tuple(slope))
        pairs = None if _unbounded(bounds) else bounds
        self.held = held_by_bounds(p, pairs, np.array(slope[: self.size]))

    def row(self, weights: Any) -> list[Any]:
        """The adjoints of parameters and further arguments, points, values and errors, of those of the equations."""
        return self.pull([*map(float, weights), *self.bars[self.size :]])

    def matrix(self) -> tuple[np.ndarray, list[list[Any]]]:
        """The derivatives of the equations by the parameters, and those by all that is given."""
        rows = [self.row(unit) for unit in np.eye(self.size)]
        found = np.array([row[0][: self.size] for row in rows], float)
        return (found if self.held is None else without(self.held, found)), rows

    def free(self, weights: Any) -> Any:
        """Weights, zero for parameters that do not move."""
        return weights if self.held is None else np.where(self.held, 0.0, weights)


def _unbounded(bounds: Any) -> bool:
    low, high = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    return bool(np.all(np.isneginf(low)) and np.all(np.isposinf(high)))


def no_covariances() -> UndefinedDerivativeError:
    """What is said where the derivative of the covariances is needed."""
    return UndefinedDerivativeError(
        "the covariances of fitted parameters have no derivative rule",
        "Compute them from the derivatives of the model: s2 * np.linalg.inv(J.T @ J).",
    )


def fit_adjoints(
    z_bar: Any, z: Any, f: Function, xdata: Any, ydata: Any, sigma: Any, bounds: Any, args: Any
) -> tuple[Any, Any, Any, Any]:
    """The adjoints of points, values, their errors and further arguments in `found_fit`."""
    p_bar, p = z_bar[0], z[0]
    if np.any(z_bar[1]):
        raise no_covariances()
    equations = _Equations(p, f, xdata, ydata, sigma, bounds, args)
    matrix, _ = equations.matrix()
    weights = solved(matrix.T, equations.free(np.broadcast_to(p_bar, np.shape(p))))
    given_bar, x_bar, y_bar, sigma_bar = equations.row(equations.free(-weights))
    args_bar = given_bar[equations.size :]
    if isinstance(xdata, (list, tuple)):
        x_bar = adjoint_like(list(x_bar), xdata)
    found = args_bar if isinstance(args, tuple) else args_bar[0] if args_bar else None
    return x_bar, adjoint_like(y_bar, ydata), None if sigma is None else adjoint_like(sigma_bar, sigma), found


def fit_tangent(
    dots: tuple[Any, ...], p: Any, f: Function, xdata: Any, ydata: Any, sigma: Any, bounds: Any, args: Any
) -> Any:
    """The tangent of the parameters in `found_fit`; ``dots`` are those of points, values, errors and arguments."""
    x_dot, y_dot, sigma_dot, args_dot = dots
    equations = _Equations(p, f, xdata, ydata, sigma, bounds, args)
    matrix, rows = equations.matrix()
    behind = args_dot if isinstance(args, tuple) else (args_dot,)
    change = []
    for given_bar, x_bar, y_bar, sigma_bar in rows:
        pairs = [(x_bar, x_dot), (y_bar, y_dot), (sigma_bar, sigma_dot), (given_bar[equations.size :], behind)]
        change.append(sum([paired(bar, dot) for bar, dot in pairs if dot is not None], 0.0))
    return solved(matrix, -equations.free(np.array(change)))
