"""Derivatives of integrals of functions, in their bounds and in the further arguments of the function.

The derivative of an integral is the integral of the derivative, found by the same quadrature to the same tolerances.
"""

from __future__ import annotations

import itertools
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
    value: Any,
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
    """The tangent of ``value = integrate.quad(func, a, b, args, ...)[0]`` with these options."""
    options = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": points, "weight": weight, "wvar": wvar}
    rising: Any = 0.0
    for x_dot, x, sign in ((a_dot, a, -1.0), (b_dot, b, 1.0)):
        rising = rising + (sign * x_dot * bound_slope(func, x, args, weight, wvar) if np.any(x_dot) else 0.0)
    for part in parts_of(value) if arguments(args) else ():
        bars = arguments_adjoint((np.conj(part), 0.0), func, a, b, args, **options)
        rising = rising + part * paired(bars, args_dot)
    return rising


def fixed_adjoints(z_bar: Any, func: Function, a: Any, b: Any, args: Any, n: int) -> tuple[Any, Any, Any]:
    """The adjoints of the bounds and of the further arguments in ``integrate.fixed_quad(func, a, b, args, n)``."""
    if np.iscomplexobj(a) or np.iscomplexobj(b):
        raise UndefinedDerivativeError("a complex bound has no derivative", "Take its real part.")
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
    found = np.zeros(np.shape(value), np.result_type(value, 1.0))
    for index, part in itertools.product(np.ndindex(found.shape), parts_of(value)):
        unit = np.zeros(found.shape, np.result_type(part))
        unit[index] = np.conj(part)
        low, high, rest = fixed_adjoints((unit, None), func, a, b, args, n)
        found[index] += part * (low * a_dot + high * b_dot + (paired(rest, args_dot) if arguments(args) else 0.0))
    return found[()]


def parts_of(value: Any) -> tuple[complex, ...]:
    """The units of the parts of a number, of which adjoints give the derivatives one by one."""
    return (1.0, 1j) if np.iscomplexobj(value) else (1.0,)


# --- integrals over several variables, and of several functions at once


def nested_adjoints(g: Any, func: Function, ranges: Any, args: Any, opts: Any = None) -> Any:
    """The adjoints of the further arguments in ``integrate.nquad(func, ranges, args, opts)[0]``."""
    args, given = arguments(args), args
    wanted = [i for i, x in enumerate(args) if has_numbers(x)] if np.any(g) else []
    places = [len(ranges) + i for i in wanted]
    known: dict[tuple[float, ...], np.ndarray] = {}

    def slopes(*point: float) -> np.ndarray:
        # The further arguments are behind the variables.
        point = point[: len(ranges)]
        if point not in known:
            bars = pulled(func, (*point, *args), places)[1](g)
            known[point] = np.concatenate([packed(bar, args[i]) for bar, i in zip(bars, wanted, strict=True)])
        return known[point]

    found = [zero_like(x) for x in args]
    sizes = [packed(zero_like(args[i]), args[i]).size for i in wanted]
    totals = [integrate.nquad(lambda *point, j=j: slopes(*point)[j], ranges, args, opts)[0] for j in range(sum(sizes))]
    for i, part in zip(wanted, np.split(np.array(totals), np.cumsum(sizes)[:-1]) if wanted else (), strict=True):
        found[i] = unpacked(part, args[i])
    return found if isinstance(given, tuple) else found[0] if found else 0.0


def nested_tangent(args_dot: Any, func: Function, ranges: Any, args: Any, opts: Any = None) -> Any:
    """The tangent of ``integrate.nquad(func, ranges, args, opts)[0]``."""
    return paired(nested_adjoints(1.0, func, ranges, args, opts), args_dot) if arguments(args) else 0.0


def vector_adjoints(g: Array, func: Function, a: Any, b: Any, args: Any, **options: Any) -> tuple[Any, Any, Any]:
    """The adjoints of the bounds and of the further arguments in ``integrate.quad_vec(func, a, b, args=args)[0]``."""
    args, given = arguments(args), args
    low, high = (0.0 if math.isinf(x) else float(np.real(np.sum(np.multiply(g, func(x, *args))))) for x in (a, b))
    wanted = [i for i, x in enumerate(args) if has_numbers(x)] if np.any(g) else []
    found = [zero_like(x) for x in args]
    if wanted:

        def slopes(t: float) -> np.ndarray:
            bars = pulled(func, (t, *args), [1 + i for i in wanted])[1](g)
            return np.concatenate([packed(bar, args[i]) for bar, i in zip(bars, wanted, strict=True)])

        whole = integrate.quad_vec(slopes, a, b, **options)[0]
        ends = np.cumsum([packed(zero_like(args[i]), args[i]).size for i in wanted])
        for i, part in zip(wanted, np.split(whole, ends[:-1]), strict=True):
            found[i] = unpacked(part, args[i])
    return -low, high, found if isinstance(given, tuple) else found[0] if found else 0.0


def vector_tangent(
    a_dot: Any, b_dot: Any, args_dot: Any, z: Array, func: Function, a: Any, b: Any, args: Any, **options: Any
) -> Array:
    """The tangent of ``integrate.quad_vec(func, a, b, args=args)[0]``."""
    given = arguments(args)
    found = np.zeros(np.shape(z), np.result_type(z))
    for x_dot, x, sign in ((a_dot, a, -1.0), (b_dot, b, 1.0)):
        if np.any(x_dot) and not math.isinf(x):
            found = found + sign * x_dot * func(x, *given)
    if given and np.size(z):

        def slopes(t: float) -> np.ndarray:
            value, pull = pulled(func, (t, *given), range(1, 1 + len(given)))
            rows = np.zeros(np.shape(value), np.result_type(value, 1.0))
            for index, part in itertools.product(np.ndindex(rows.shape), parts_of(value)):
                unit = np.zeros(rows.shape, np.result_type(part))
                unit[index] = np.conj(part)
                rows[index] += part * paired(pull(unit[()]), args_dot if isinstance(args, tuple) else (args_dot,))
            return rows[()]

        found = found + integrate.quad_vec(slopes, a, b, **options)[0]
    return found
