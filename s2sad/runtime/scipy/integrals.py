"""Derivatives of integrals of functions, in their bounds and in the further arguments of the function.

The derivative of an integral is the integral of the derivative, found by the same quadrature to the same tolerances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.calls import unchanging
from s2sad.runtime.scipy.callables import (
    arguments,
    has_numbers,
    is_zero,
    no_report,
    packed,
    paired,
    pulled,
    unpacked,
    zero_like,
)
from s2sad.runtime.undefined import Undefined

Array = Any
Function = Callable[..., Any]
#: Up to how many numbers are integrated one by one, as the function itself is.
_FEW = 8


def of_value(z_bar: Any) -> Any:
    """The adjoint of the integral, in that of what ``quad`` returns: integral, estimate of its error, and more."""
    if any(np.any(g) for g in z_bar[1:2]):
        raise of_error()
    if not is_zero(z_bar[2:]):
        raise no_report()
    return z_bar[0]


def with_errors(slope: Any, z: Any) -> Any:
    """The tangent of what ``quad`` returns, of that of the integral."""
    return (slope, Undefined(of_error()), *[Undefined(no_report()) for _ in z[2:]])


def of_error() -> UndefinedDerivativeError:
    """What is said where the derivative of an estimated error is asked for."""
    return UndefinedDerivativeError(
        "the estimate of the error of an integral has no derivative", "Use the integral alone: quad(...)[0]."
    )


def weight_at(x: Any, weight: str | None, wvar: Any) -> float:
    """The weight function of ``quad`` at a bound."""
    if weight is None:
        return 1.0
    if weight in ("cos", "sin"):
        return float(np.cos(wvar * x) if weight == "cos" else np.sin(wvar * x))
    raise UndefinedDerivativeError(
        f"the derivative of an integral with weight={weight!r} in its bounds is not known",
        "Change variables, so that the bounds are constant.",
    )


def bound_slope(func: Function, x: Any, args: Any, weight: str | None = None, wvar: Any = None) -> Any:
    """The integrand at a bound: the derivative of the integral in it."""
    if np.iscomplexobj(x):
        raise UndefinedDerivativeError("a complex bound has no derivative", "Take its real part, as quad does.")
    if math.isinf(x):
        return 0.0
    return unchanging(func, (), x, *arguments(args)) * weight_at(x, weight, wvar)


def argument_adjoint(z_bar: Any, func: Function, a: Any, b: Any, args: Any, i: int, **options: Any) -> Any:
    """The adjoint of one further argument of the integrand in ``integrate.quad(func, a, b, args, **options)``."""
    g = of_value(z_bar)
    args = arguments(args)
    if not (np.any(g) and has_numbers(args[i])):
        return zero_like(args[i])
    known: dict[float, np.ndarray] = {}

    def slopes(t: float) -> np.ndarray:
        if t not in known:
            _, pull = pulled(func, (t, *args), (i + 1,))
            known[t] = packed(pull(g)[0], args[i])
        return known[t]

    count = packed(zero_like(args[i]), args[i]).size
    if count <= _FEW or options["weight"] is not None:
        found = [integrate.quad(lambda t, j=j: slopes(t)[j], a, b, **options)[0] for j in range(count)]
        return unpacked(np.array(found), args[i])
    whole, _ = integrate.quad_vec(
        slopes, a, b, options["epsabs"], options["epsrel"], points=options["points"], limit=max(options["limit"], 10000)
    )
    return unpacked(whole, args[i])


def arguments_adjoint(z_bar: Any, func: Function, a: Any, b: Any, args: Any, **options: Any) -> Any:
    """The adjoints of all further arguments."""
    found = [argument_adjoint(z_bar, func, a, b, args, i, **options) for i in range(len(arguments(args)))]
    return found if isinstance(args, tuple) else found[0]


def integral_tangent(
    a_dot: Any,
    b_dot: Any,
    args_dot: Any,
    func: Function,
    a: Any,
    b: Any,
    args: Any,
    epsabs: float,
    epsrel: float,
    limit: int,
    points: Any,
    weight: Any,
    wvar: Any,
) -> Any:
    """The tangent of ``integrate.quad(func, a, b, args, ...)[0]`` with these options."""
    options = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": points, "weight": weight, "wvar": wvar}
    rising = 0.0
    for x_dot, x, sign in ((a_dot, a, -1.0), (b_dot, b, 1.0)):
        rising = rising + (sign * x_dot * bound_slope(func, x, args, weight, wvar) if np.any(x_dot) else 0.0)
    return rising + (
        paired(arguments_adjoint((1.0, 0.0), func, a, b, args, **options), args_dot) if arguments(args) else 0.0
    )


def fixed_adjoints(z_bar: Any, func: Function, a: Any, b: Any, args: Any, n: int) -> tuple[Any, Any, Any]:
    """The adjoints of the bounds and of the further arguments in ``integrate.fixed_quad(func, a, b, args, n)``."""
    args, given = arguments(args), args
    nodes, weights = np.polynomial.legendre.leggauss(n)
    half = (b - a) / 2
    value, pull = pulled(func, (half * (nodes + 1) + a, *args), range(len(args) + 1))
    x_bar, *rest = pull(np.multiply.outer(np.asarray(z_bar[0]), half * weights))
    total = np.sum(np.real(np.multiply(z_bar[0], np.sum(weights * np.asarray(value), axis=-1)))) / 2
    high = np.sum(np.real(x_bar) * (nodes + 1)) / 2 + total
    low = np.sum(np.real(x_bar) * (1 - nodes)) / 2 - total
    return low, high, rest if isinstance(given, tuple) else rest[0] if rest else 0.0


def fixed_tangent(a_dot: Any, b_dot: Any, args_dot: Any, func: Function, a: Any, b: Any, args: Any, n: int) -> Any:
    """The tangent of ``integrate.fixed_quad(func, a, b, args, n)[0]``, an integrand of one number at each node."""
    value, _ = integrate.fixed_quad(func, a, b, arguments(args), n)
    found = np.zeros(np.shape(value))
    for index in np.ndindex(found.shape):
        unit = np.zeros(found.shape)
        unit[index] = 1.0
        low, high, rest = fixed_adjoints((unit, None), func, a, b, args, n)
        found[index] = low * a_dot + high * b_dot + (paired(rest, args_dot) if arguments(args) else 0.0)
    return found[()]
