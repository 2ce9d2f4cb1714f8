"""The model of ``np.poly1d``, and of functions of polynomials that are given one."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.ops.models import model
from s2sad.runtime.polynomials import deferring_operand, dividing_number, points, power_row


@model(np.poly1d, given="anything")
class PowerSeries:
    """A polynomial, by its coefficients from that of the highest power down."""

    def __init__(self, c_or_r: Any, r: Any = False, variable: Any = None) -> None:
        self.coeffs = coefficients_of(np.poly(c_or_r) if r else c_or_r)
        self.variable = "x" if variable is None else variable

    @property
    def c(self) -> Any:
        return self.coeffs

    @property
    def coef(self) -> Any:
        return self.coeffs

    @property
    def coefficients(self) -> Any:
        return self.coeffs

    @property
    def order(self) -> Any:
        return len(self.coeffs) - 1

    @property
    def o(self) -> Any:
        return len(self.coeffs) - 1

    @property
    def roots(self) -> Any:
        return np.roots(self.coeffs)

    @property
    def r(self) -> Any:
        return np.roots(self.coeffs)

    def __len__(self) -> Any:
        return len(self.coeffs) - 1

    def __iter__(self) -> Any:
        for coefficient in self.coeffs:  # noqa: UP028
            yield coefficient

    def __call__(self, val: Any) -> Any:
        return value_at(self.coeffs, val)

    def deriv(self, m: Any = 1) -> Any:
        return PowerSeries(np.polyder(self.coeffs, m))

    def integ(self, m: Any = 1, k: Any = 0) -> Any:
        return PowerSeries(np.polyint(self.coeffs, m, k))

    def __neg__(self) -> Any:
        return PowerSeries(-self.coeffs)

    def __pos__(self) -> Any:
        return self

    def __add__(self, other: Any) -> Any:
        return PowerSeries(np.polyadd(self.coeffs, coefficients_of(other)))

    def __radd__(self, other: Any) -> Any:
        return PowerSeries(np.polyadd(self.coeffs, coefficients_of(deferring_operand(other))))

    def __sub__(self, other: Any) -> Any:
        return PowerSeries(np.polysub(self.coeffs, coefficients_of(other)))

    def __rsub__(self, other: Any) -> Any:
        return PowerSeries(np.polysub(coefficients_of(deferring_operand(other)), self.coeffs))

    def __mul__(self, other: Any) -> Any:
        return PowerSeries(np.polymul(self.coeffs, coefficients_of(other)))

    def __rmul__(self, other: Any) -> Any:
        return PowerSeries(np.polymul(coefficients_of(deferring_operand(other)), self.coeffs))

    def __pow__(self, val: Any) -> Any:
        if val < 0 or int(val) != val:
            raise ValueError("Power to non-negative integers only.")
        power = np.ones(1)
        for _ in range(int(val)):
            power = np.polymul(self.coeffs, power)
        return PowerSeries(power)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, PowerSeries):
            return divided(self, other)
        return PowerSeries(self.coeffs / dividing_number(other))

    def __getitem__(self, val: Any) -> Any:
        if val < 0 or val >= len(self.coeffs):
            return 0.0
        return self.coeffs[len(self.coeffs) - 1 - val]

    def __setitem__(self, key: Any, val: Any) -> None:
        if key < 0:
            raise ValueError("Does not support negative powers.")
        if key < len(self.coeffs):
            self.coeffs[len(self.coeffs) - 1 - key] = val
        else:
            self.coeffs = np.concatenate((np.zeros(key + 1 - len(self.coeffs)), self.coeffs))
            self.coeffs[0] = val


def coefficients_of(c: Any) -> Any:
    """The coefficients of a polynomial, or of what ``np.poly1d`` is given, without the zeros in front."""
    if isinstance(c, PowerSeries):
        return c.coeffs
    row = np.trim_zeros(power_row(c), "f")
    return np.zeros(1) if len(row) == 0 else row


def divided(u: Any, v: Any) -> Any:
    """The quotient and the remainder of two polynomials."""
    quotient, remainder = np.polydiv(u.coeffs, v.coeffs)
    return PowerSeries(quotient), PowerSeries(remainder)


# --- functions of polynomials


def given_coefficients(a: Any) -> Any:
    return a.coeffs if isinstance(a, PowerSeries) else power_row(a)


def value_at(values: Any, x: Any) -> Any:
    """The value of a polynomial at some points, or at another polynomial."""
    if not isinstance(x, PowerSeries):
        return np.polyval(values, points(x))
    value = PowerSeries(np.zeros(1))
    for coefficient in values:
        value = value * x + coefficient
    return value


@model(np.polyval, given="structured")
def polyval(p: Any, x: Any) -> Any:
    return value_at(given_coefficients(p), x)


@model(np.roots, given="structured")
def roots(p: Any) -> Any:
    return np.roots(given_coefficients(p))


@model(np.polyder, given="structured")
def polyder(p: Any, m: Any = 1) -> Any:
    return p.deriv(m) if isinstance(p, PowerSeries) else np.polyder(power_row(p), m)


@model(np.polyint, given="structured")
def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    if isinstance(p, PowerSeries):
        return PowerSeries(np.polyint(p.coeffs, m, k))
    return np.polyint(power_row(p), m, k)


@model(np.polyadd, given="structured")
def polyadd(a1: Any, a2: Any) -> Any:
    made = np.polyadd(given_coefficients(a1), given_coefficients(a2))
    return PowerSeries(made) if isinstance(a1, PowerSeries) or isinstance(a2, PowerSeries) else made


@model(np.polysub, given="structured")
def polysub(a1: Any, a2: Any) -> Any:
    made = np.polysub(given_coefficients(a1), given_coefficients(a2))
    return PowerSeries(made) if isinstance(a1, PowerSeries) or isinstance(a2, PowerSeries) else made


@model(np.polymul, given="structured")
def polymul(a1: Any, a2: Any) -> Any:
    made = np.polymul(given_coefficients(a1), given_coefficients(a2))
    return PowerSeries(made) if isinstance(a1, PowerSeries) or isinstance(a2, PowerSeries) else made
