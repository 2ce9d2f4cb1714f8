"""Derivatives of integrals of functions, in their bounds and in the further arguments of the function.

The derivative of an integral is the integral of the derivative, found by the same quadrature to the same tolerances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import integrate

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.calls import unchanging
from s2sad.runtime.scipy.callables import (
    arguments,
    dots_of,
    is_zero,
    moved,
    moved_again,
    no_report,
    packed,
    pulled,
    pulled_again,
    unpacked,
    zero_like,
)
from s2sad.runtime.trees import add
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


def with_errors(slope: Any, found: Any) -> Any:
    """The tangent of what ``quad`` returns, of that of the integral."""
    return (slope, Undefined(of_error()), *[Undefined(no_report()) for _ in found[2:]])


def of_error() -> UndefinedDerivativeError:
    """What is said where the derivative of an estimated error is asked for."""
    return UndefinedDerivativeError(
        "the estimate of the error of an integral has no derivative", "Use the integral alone: quad(...)[0]."
    )


class Integral:
    """The integral of a function over an interval, and what follows for what it depends on.

    It is found as by ``quad``, or as by ``quad_vec``, where a ``norm`` is given.
    """

    def __init__(
        self,
        func: Function,
        a: Any,
        b: Any,
        args: Any,
        *,
        weight: str | None = None,
        wvar: Any = None,
        norm: str | None = None,
        quadrature: str | None = None,
        **options: Any,
    ) -> None:
        self.func, self.ends, self.args = func, ((a, -1.0), (b, 1.0)), args
        self.given = arguments(args)
        self.places = range(1, len(self.given) + 1)
        self.weight, self.wvar, self.norm = weight, wvar, norm
        own = {"weight": weight, "wvar": wvar} if norm is None else {"norm": norm, "quadrature": quadrature}
        self.options = {**options, **own}

    def as_given(self, bars: list[Any]) -> Any:
        """The adjoints of the further arguments in the form in which these were given."""
        return bars if isinstance(self.args, tuple) else bars[0] if bars else 0.0

    def weight_at(self, x: Any) -> tuple[float, float]:
        """The weight function at a bound, and its slope there.

        Raises:
            UndefinedDerivativeError: for one that is not smooth there.
        """
        if np.iscomplexobj(x):
            raise UndefinedDerivativeError("a complex bound has no derivative", "Take its real part, as quad does.")
        if self.weight is None:
            return 1.0, 0.0
        if self.weight in ("cos", "sin"):
            even, odd = float(np.cos(self.wvar * x)), float(np.sin(self.wvar * x))
            return (even, -self.wvar * odd) if self.weight == "cos" else (odd, self.wvar * even)
        raise UndefinedDerivativeError(
            f"the derivative of an integral with weight={self.weight!r} in its bounds is not known",
            "Change variables, so that the bounds are constant.",
        )

    def at(self, x: Any) -> Any:
        """The integrand at a bound."""
        height, _ = self.weight_at(x)
        return 0.0 if math.isinf(x) else self._value_at(x) * height

    def _value_at(self, x: Any) -> Any:
        """What the integrand is at a bound, where the quadrature does not ask for it.

        Raises:
            UndefinedDerivativeError: if it raises there.
        """
        try:
            return unchanging(self.func, (), x, *self.given)
        except (ArithmeticError, ValueError) as error:
            raise UndefinedDerivativeError(
                f"the derivative of an integral in its bound is the integrand there, which raises {error!r} at {x!r}",
                "Let it have a value there: sqrt(max(y, 0.0)) for sqrt(y), say. "
                "Or wrap a bound that does not count in stop_gradient(...).",
            ) from error

    def at_tangent(self, x: Any, x_dot: Any, dots: Sequence[Any]) -> Any:
        """The tangent of `at`."""
        height, slope = self.weight_at(x)
        if math.isinf(x):
            return 0.0
        rising = moved(self.func, (x, *self.given), (x_dot, *dots)) * height
        return rising + (self._value_at(x) * slope * x_dot if slope else 0.0)

    def at_adjoints(self, bar: Any, x: Any) -> tuple[Any, list[Any]]:
        """The adjoints of the bound and of the further arguments in `at`."""
        height, slope = self.weight_at(x)
        if math.isinf(x):
            return 0.0, [zero_like(arg) for arg in self.given]
        value, pull = pulled(self.func, (x, *self.given), range(len(self.given) + 1))
        x_bar, *bars = pull(bar * height)
        return x_bar + (bar * value * slope if slope else 0.0), bars

    def ends_adjoints(self, bars: Sequence[Any]) -> list[Any]:
        """The adjoints of the further arguments in what the integrand is at the bounds, each with an adjoint."""
        total: list[Any] = [zero_like(arg) for arg in self.given]
        for (x, _), bar in zip(self.ends, bars, strict=True):
            total = add(total, self.at_adjoints(bar, x)[1]) if np.any(bar) else total
        return total

    def whole(self, slope: Callable[[float], Any], complex_func: bool = False) -> Any:
        """The integral of a function of the same kind."""
        (a, _), (b, _) = self.ends
        if self.norm is None:
            return integrate.quad(slope, a, b, complex_func=complex_func, **self.options)[0]
        return integrate.quad_vec(slope, a, b, **self.options)[0]

    def over(self, slopes: Callable[[float], list[Any]]) -> list[Any]:
        """The integrals of what is like the further arguments at each point."""
        (a, _), (b, _) = self.ends
        if self.norm is not None:
            return unpacked(self.whole(lambda t: packed(slopes(t), self.given)), self.given)  # type: ignore[no-any-return]
        count = packed(zero_like(self.given), self.given).size
        known: dict[float, np.ndarray] = {}

        def at(t: float) -> np.ndarray:
            if t not in known:
                known[t] = packed(slopes(t), self.given)
            return known[t]

        if count <= _FEW or self.weight is not None:
            each = [integrate.quad(lambda t, j=j: at(t)[j], a, b, **self.options)[0] for j in range(count)]
            return unpacked(np.array(each), self.given)  # type: ignore[no-any-return]
        own = self.options
        whole = integrate.quad_vec(
            at, a, b, own["epsabs"], own["epsrel"], points=own["points"], limit=max(own["limit"], 10000)
        )
        return unpacked(whole[0], self.given)  # type: ignore[no-any-return]

    def adjoints(self, bar: Any) -> list[Any]:
        """The adjoints of the further arguments."""
        if not np.any(bar):
            return [zero_like(arg) for arg in self.given]
        return self.over(lambda t: pulled(self.func, (t, *self.given), self.places)[1](bar))

    def tangent(self, dots: Sequence[Any], complex_func: bool = False) -> Any:
        """The tangent of the integral, of those of the further arguments."""
        slope = lambda t: moved(self.func, (t, *self.given), (None, *dots))  # noqa: E731
        return self.whole(slope, complex_func) if self.given else 0.0

    def again(self, bar: Any, dots: Sequence[Any]) -> list[Any]:
        """The adjoints of the further arguments in `tangent`."""
        if not np.any(bar):
            return [zero_like(arg) for arg in self.given]
        _must_be_real(bar)
        return self.over(lambda t: pulled_again(self.func, (t, *self.given), (None, *dots), self.places, bar))

    def tangent_tangent(self, dots: Sequence[Any], further: Sequence[Any]) -> Any:
        """The tangent of `tangent`, by the further arguments alone."""
        slope = lambda t: moved_again(self.func, (t, *self.given), (None, *dots), (None, *further))  # noqa: E731
        return self.whole(slope) if self.given else 0.0


def _must_be_real(bar: Any) -> None:
    if np.iscomplexobj(bar):
        raise UndefinedDerivativeError(
            "the second derivative of the integral of a complex function is not known",
            "Integrate the real and the imaginary part.",
        )


def bound_slope(
    func: Function, x: Any, args: Any, weight: str | None = None, wvar: Any = None, norm: str | None = None
) -> Any:
    """The integrand at a bound: the derivative of the integral in it."""
    return Integral(func, x, x, args, weight=weight, wvar=wvar, norm=norm).at(x)


def bound_adjoints(
    bar: Any, func: Function, x: Any, args: Any, weight: str | None, wvar: Any, norm: str | None
) -> tuple[Any, Any]:
    """The adjoints of the bound and of the further arguments in `bound_slope`."""
    integral = Integral(func, x, x, args, weight=weight, wvar=wvar, norm=norm)
    x_bar, bars = integral.at_adjoints(bar, x)
    return x_bar, integral.as_given(bars)


def bound_tangent(
    x_dot: Any, args_dot: Any, func: Function, x: Any, args: Any, weight: str | None, wvar: Any, norm: str | None
) -> Any:
    """The tangent of `bound_slope`."""
    return Integral(func, x, x, args, weight=weight, wvar=wvar, norm=norm).at_tangent(x, x_dot, dots_of(args_dot, args))


def arguments_adjoint(g: Any, func: Function, a: Any, b: Any, args: Any, **options: Any) -> Any:
    """The adjoints of all further arguments of the integrand in ``integrate.quad(func, a, b, args, **options)[0]``."""
    integral = Integral(func, a, b, args, **options)
    return integral.as_given(integral.adjoints(g))


def arguments_adjoints(
    c: Any, g: Any, func: Function, a: Any, b: Any, args: Any, **options: Any
) -> tuple[Any, Any, Any, Any]:
    """The adjoints of ``g``, the bounds and the further arguments in `arguments_adjoint`."""
    integral, dots = Integral(func, a, b, args, **options), dots_of(c, args)
    a_bar, b_bar = (
        np.sum(sign * g * integral.at_tangent(x, 0.0, dots)) if not math.isinf(x) else 0.0 for x, sign in integral.ends
    )
    return integral.tangent(dots), a_bar, b_bar, integral.as_given(integral.again(g, dots))


def arguments_tangent(
    g_dot: Any,
    a_dot: Any,
    b_dot: Any,
    args_dot: Any,
    g: Any,
    func: Function,
    a: Any,
    b: Any,
    args: Any,
    **options: Any,
) -> Any:
    """The tangent of `arguments_adjoint`."""
    integral = Integral(func, a, b, args, **options)
    found = add(integral.again(g, dots_of(args_dot, args)), integral.adjoints(g_dot))
    return integral.as_given(add(found, integral.ends_adjoints((-g * a_dot, g * b_dot))))


def integral_tangent(
    low: Any, high: Any, moves: Any, value: Any, func: Function, a: Any, b: Any, args: Any, **options: Any
) -> Any:
    """The tangent of ``value = integrate.quad(func, a, b, args, **options)[0]``, of those of bounds and arguments."""
    integral = Integral(func, a, b, args, **options)
    rising = integral.tangent(dots_of(moves, args), np.iscomplexobj(value))
    for (x, sign), move in zip(integral.ends, (low, high), strict=True):
        rising = rising + (sign * move * integral.at(x) if np.any(move) else 0.0)
    return rising


def tangent_adjoints(
    bar: Any, low: Any, high: Any, moves: Any, func: Function, a: Any, b: Any, args: Any, **options: Any
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """The adjoints of the tangents, bounds and further arguments in `integral_tangent`."""
    integral, dots = Integral(func, a, b, args, **options), dots_of(moves, args)
    ends: list[Any] = []
    for (x, sign), move in zip(integral.ends, (low, high), strict=True):
        if math.isinf(x):
            ends.append((0.0, 0.0))
        else:
            itself = integral.at_adjoints(sign * bar * move, x)[0]
            rising = np.sum(bar * integral.at_tangent(x, 0.0, dots))
            ends.append((sign * np.sum(bar * integral.at(x)), itself + sign * rising))
    bars = add(integral.again(bar, dots), integral.ends_adjoints((-bar * low, bar * high)))
    return (
        ends[0][0],
        ends[1][0],
        integral.as_given(integral.adjoints(bar)),
        ends[0][1],
        ends[1][1],
        integral.as_given(bars),
    )


def tangent_tangent(
    low_dot: Any,
    high_dot: Any,
    moves_dot: Any,
    a_dot: Any,
    b_dot: Any,
    args_dot: Any,
    low: Any,
    high: Any,
    moves: Any,
    func: Function,
    a: Any,
    b: Any,
    args: Any,
    **options: Any,
) -> Any:
    """The tangent of `integral_tangent`."""
    integral, dots, further = Integral(func, a, b, args, **options), dots_of(moves, args), dots_of(args_dot, args)
    found = integral.tangent(dots_of(moves_dot, args)) + integral.tangent_tangent(dots, further)
    each = zip(integral.ends, (low_dot, high_dot), (a_dot, b_dot), (low, high), strict=True)
    for (x, sign), move_dot, x_dot, move in each:
        rising = move_dot * integral.at(x) + move * integral.at_tangent(x, x_dot, further)
        found = found + sign * (rising + x_dot * integral.at_tangent(x, 0.0, dots))
    return found
