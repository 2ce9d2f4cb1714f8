"""Derivatives of the Hurwitz zeta function by its exponent, by the summation formula of Euler and Maclaurin.

That loses its digits far below zero, where Riemann's function is reflected (DLMF 25.4.1).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy_special import narrowed

Array = Any

#: How many terms are added as they are, and how many corrections there are.
_TERMS, _CORRECTIONS = 12, 10
_BERNOULLI = special.bernoulli(2 * _CORRECTIONS)


def zeta_slope(order: int, x: Array, q: Array) -> Array:
    """The derivative of an ``order`` by ``x`` of the sum of ``(q + k)**-x`` for k = 0, 1, 2 and so on.

    >>> round(float(zeta_slope(1, 2.0, 1.0)), 12)
    -0.937548254316
    """
    return narrowed(_slope(order, np.asarray(x, dtype=float), np.asarray(q, dtype=float)), x, q)


def _slope(order: int, x: Array, q: Array) -> Array:
    far = x < -1
    if np.any(far):
        if order > 1 or np.any(q != 1):
            message = "the zeta function has no derivative rule of the second order below -1"
            raise UndefinedDerivativeError(message, "Reflect it: zeta(x) by gamma(1 - x) and zeta(1 - x).")
        return np.where(far, _reflected(np.where(far, x, -1.0)), _summed(order, np.where(far, 2.0, x), q))
    return _summed(order, x, q)


def _reflected(x: Array) -> Array:
    """The first derivative of Riemann's zeta function below zero."""
    turn = 0.5 * math.pi * x
    other = special.zeta(1 - x)
    rate = math.log(2 * math.pi) - special.digamma(1 - x) - _summed(1, 1 - x, np.ones_like(x)) / other
    slope = 0.5 * math.pi * np.cos(turn) + np.sin(turn) * rate
    return 2 * (2 * math.pi) ** (x - 1) * special.gamma(1 - x) * other * slope


def _summed(order: int, x: Array, q: Array) -> Array:
    """The derivative by ``x``, by the formula."""
    found = sum((-np.log(q + k)) ** order * (q + k) ** -x for k in range(_TERMS))
    a = q + _TERMS
    # Coefficients of powers of a step in the exponent: of a**-x, and of the factors before it.
    power = [a**-x * (-np.log(a)) ** i / math.factorial(i) for i in range(order + 1)]
    factors = [a * (-1) ** i / (x - 1) ** (i + 1) + (0.5 if i == 0 else 0.0) for i in range(order + 1)]
    rising = [np.ones_like(x), *[np.zeros_like(x)] * order]
    for j in range(1, _CORRECTIONS + 1):
        for k in range(2 * j - 3 if j > 1 else 0, 2 * j - 1):
            rising = [(x + k) * rising[i] + (rising[i - 1] if i else 0.0) for i in range(order + 1)]
        scale = _BERNOULLI[2 * j] / math.factorial(2 * j) * a ** (1.0 - 2 * j)
        factors = [f + scale * r for f, r in zip(factors, rising, strict=True)]
    rest = sum(factors[i] * power[order - i] for i in range(order + 1))
    return found + math.factorial(order) * rest
