"""Adjoints at the edge of a function's domain, where its derivative is infinite.

Where the adjoint is exactly zero there, it contributes zero and not NaN: at the edge the operand has an extremum, so
that zero is right wherever the whole function is smooth (``np.sqrt(x**2) ** 2`` at 0).  Elsewhere a zero adjoint must
not hide an infinite derivative: that of ``1 / (1 / x + 1 / y)`` at ``x = 0`` is 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.runtime.arrays import power_derivative, power_dy

#: A number whose reciprocal is finite, and its powers that anyone computes.
_SMALL = 1e-100
_watched = np.errstate(divide="raise", invalid="raise")
_divide = _watched(np.divide)


def quotient(a: Any, b: Any) -> Any:
    """Return ``a / b``, and zero where both are zero.

    Only if the floating-point flags say that there is a division by zero are the operands looked at.

    >>> quotient(np.array([1.0, 0.0]), np.array([4.0, 0.0]))
    array([0.25, 0.  ])
    >>> quotient(0.0, 0.0)
    0.0
    """
    if isinstance(a, float) and isinstance(b, float):
        return a / b if a else 0.0
    if isinstance(b, (int, float)) and b:
        return a / b
    if isinstance(b, (np.ndarray, np.generic)):
        try:
            return _divide(a, b)
        except FloatingPointError:
            pass
    # What is still divided by zero warns as any division does.
    return a / np.where((a == 0) & (b == 0), 1, b)


def quotient_or_zero(a: Any, b: Any) -> Any:
    """Return ``a / b``, and zero where ``b`` is zero and ``a`` is finite.

    It is the adjoint of what ``b`` is the root of, if that is never negative: where a root vanishes it is at its
    minimum, and wherever it is smooth there its derivative is zero.  An infinite ``a`` comes from what is not.

    >>> quotient_or_zero(np.array([1.0, 1.0]), np.array([4.0, 0.0]))
    array([0.25, 0.  ])
    >>> quotient_or_zero(1.0, 0.0)
    0.0
    """
    if isinstance(b, (int, float)):
        return a / b if b else 0.0 * a
    try:
        return _divide(a, b)
    except FloatingPointError:
        zero = b == 0
        return a * ~zero / np.where(zero, 1, b)


@_watched
def _by_divisor(g: Any, q: Any, b: Any) -> Any:
    return -(g * q) / b


def by_divisor(g: Any, q: Any, b: Any) -> Any:
    """Return ``-g * q / b``, what a quotient ``q`` has for an adjoint or tangent ``g`` of its divisor ``b``.

    It is zero where ``b`` is and one of the others, even if the third is infinite: a quotient that is zero where its
    divisor is a root that vanishes does not change with it.  The derivatives are of the same form.

    >>> by_divisor(np.array([1.0, np.inf]), np.array([2.0, 0.0]), np.array([4.0, 0.0]))
    array([-0.5,  0. ])
    >>> by_divisor(1.0, 0.0, 0.0)
    0.0
    """
    if isinstance(b, (int, float)) and b:
        return -(g * q) / b
    if isinstance(b, (np.ndarray, np.generic)):
        try:
            return _by_divisor(g, q, b)
        except FloatingPointError:
            pass
    zero = (b == 0) & (((g == 0) & (q == q)) | ((q == 0) & (g == g)))
    with np.errstate(invalid="ignore"):
        product = g * q
    if isinstance(zero, (bool, np.bool)):
        return 0.0 * b if zero else -product / b
    return np.where(zero, 0, -product / np.where(zero, 1, b))


def root_quotient(a: Any, b: Any, x: Any) -> Any:
    """Return ``a / b``, and zero where both are zero, or where ``b`` is and ``x`` is never negative.

    It is for rules, where ``b`` is a root of ``x``: what is known of ``x`` decides which quotient it becomes.
    """
    del x
    return quotient(a, b)


@_watched
def _power_adjoint(g: Any, x: Any, y: Any) -> Any:
    return np.where(y == 0, 0, g * y * x ** np.where(y == 0, 1, y - 1))


def power_adjoint(g: Any, x: Any, y: Any, n: int = 1, m: int = 0) -> Any:
    """Return ``g`` times the derivative of ``x ** y``, ``n`` times by ``x`` and ``m`` times by ``y``.

    With ``g``, the adjoint of the power, it is that of ``x``, ``g * y * x ** (y - 1)``.  It is zero where ``y`` is a
    whole number below ``n``, and where ``g`` is zero and there is no finite derivative: by ``x`` where that is zero and
    ``y`` is between 0 and ``n``, by ``y`` wherever ``x`` is not positive.

    >>> power_adjoint(1.0, 3.0, 2.0), power_adjoint(0.0, 0.0, 0.5), power_adjoint(1.0, 0.0, 1.0, 2)
    (6.0, 0.0, 0.0)
    >>> power_adjoint(0.0, -2.0, np.array([3.0, 0.0]), 1, 1)
    array([0., 0.])
    """
    if n > 1 or m:
        flat = (g == 0) & (m > 0 or ((x == 0) & (np.real(y) > 0) & (np.real(y) < n)))
        return g * power_derivative(np.where(flat, 1, x)[()] if np.any(flat) else x, y, n, m)
    if isinstance(y, (int, float)):
        if 0 < y < 1:
            return quotient(g * y, x ** (1 - y))
        return g * y * x ** (y - 1 if y else y)
    if isinstance(x, float) and x > _SMALL:
        return np.where(y == 0, 0, g * y * x ** (y - 1))
    if isinstance(y, (np.ndarray, np.generic)):
        try:
            return _power_adjoint(g, x, y)
        except FloatingPointError:
            pass
    flat = (y == 0) | ((g == 0) & (x == 0) & (np.real(y) > 0) & (np.real(y) < 1))
    return np.where(flat, 0, g * y * x ** np.where(flat, 1, y - 1))


def exponent_adjoint(g: Any, x: Any, y: Any, p: Any) -> Any:
    """Return ``g`` times the derivative of ``p = x ** y`` by ``y``, and zero where ``g`` is zero and ``x`` negative.

    A negative number has powers by whole numbers alone, which have no derivative, and the tangent zero.

    >>> exponent_adjoint(0.0, -2.0, 2.0, 4.0), exponent_adjoint(np.array([0.0, 2.0]), np.array([-1.0, 1.0]), 2, 1.0)
    (0.0, array([0., 0.]))
    """
    constant = (g == 0) & (np.real(x) < 0)
    return g * power_dy(np.where(constant, 1.0, x)[()] if np.any(constant) else x, y, p)
