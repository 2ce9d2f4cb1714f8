"""Derivatives of incomplete gamma and beta functions by their shape parameters, for which there is no closed form.

A series of positive terms and continued fractions (by the modified method of Lentz) are differentiated term by term,
on the side of the mean where they converge in about as many terms as the root of the largest parameter.  What is
differentiated is the smaller of both probabilities, so that the results are accurate in tails too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import special

from s2sad.runtime.scipy_special import beta_density, gamma_density, narrowed

Array = Any

_TERMS = 100_000
_SMALL = 1e-17


def gammainc_da(a: Array, x: Array) -> Array:
    """The derivative of ``gammainc(a, x)`` by a.

    >>> round(float(gammainc_da(2.0, 1.5)), 8), round(float(gammainc_da(2.0, 4.0)), 8)
    (-0.31348864, -0.1103315)
    """
    shapes, points = np.broadcast_arrays(np.asarray(a, float), np.asarray(x, float))
    found = np.zeros(shapes.shape)
    inside = (shapes > 0) & (points > 0) & np.isfinite(points)
    low = inside & (points < shapes + 1)
    high = inside & ~low
    with np.errstate(all="ignore"):
        found[low] = _gamma_series(shapes[low], points[low])
        found[high] = -_gamma_fraction(shapes[high], points[high])
    found[~(shapes > 0) | np.isnan(points)] = np.nan
    return narrowed(found, a, x)[()]


def betainc_da(a: Array, b: Array, x: Array) -> Array:
    """The derivative of ``betainc(a, b, x)`` by a.

    >>> round(float(betainc_da(2.0, 3.0, 0.3)), 8)
    -0.24609373
    """
    return narrowed(_beta(a, b, x, True), a, b, x)[()]


def betainc_db(a: Array, b: Array, x: Array) -> Array:
    """The derivative of ``betainc(a, b, x)`` by b."""
    return narrowed(_beta(a, b, x, False), a, b, x)[()]


def gammainc_dadx(a: Array, x: Array) -> Array:
    """The derivative of ``gammainc(a, x)`` by both arguments."""
    return narrowed(gamma_density(a, x) * (np.log(x) - special.digamma(a)), a, x)


def betainc_dadx(a: Array, b: Array, x: Array) -> Array:
    """The derivative of ``betainc(a, b, x)`` by a and x."""
    return narrowed(beta_density(a, b, x) * (np.log(x) - special.digamma(a) + special.digamma(a + b)), a, b, x)


def betainc_dbdx(a: Array, b: Array, x: Array) -> Array:
    """The derivative of ``betainc(a, b, x)`` by b and x."""
    return narrowed(beta_density(a, b, x) * (np.log1p(-x) - special.digamma(b) + special.digamma(a + b)), a, b, x)


def _gamma_series(a: Array, x: Array) -> Array:
    """The derivative of the lower function by a: of ``x^a e^-x / gamma(a)`` times the sum of ``x^n / (a)_(n + 1)``."""
    term, slope = 1 / a, -1 / a  # of each term, the logarithmic derivative
    total, slopes = term, term * slope
    for n in range(1, _TERMS):
        term, slope = term * x / (a + n), slope - 1 / (a + n)
        total, slopes = total + term, slopes + term * slope
        if np.all(np.abs(term * slope) <= _SMALL * np.abs(slopes)):
            break
    return np.exp(a * np.log(x) - x - special.gammaln(a)) * (total * (np.log(x) - special.digamma(a)) + slopes)


def _gamma_fraction(a: Array, x: Array) -> Array:
    """The derivative of the upper function by a: of ``x^a e^-x / gamma(a)`` times a continued fraction."""
    terms = ((n * (a - n), n, x + 1 - a + 2 * n, -1.0) for n in range(1, _TERMS))
    total, slope = _lentz(1 / (x + 1 - a), 1 / (x + 1 - a) ** 2, terms, x + 1 - a, -1.0)
    return np.exp(a * np.log(x) - x - special.gammaln(a)) * (total * (np.log(x) - special.digamma(a)) + slope)


def _beta(a: Array, b: Array, x: Array, first: bool) -> Array:
    """The derivative of the regularised incomplete beta function by the first or by the second shape parameter."""
    a, b, x = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float), np.asarray(x, float))
    found = np.zeros(x.shape)
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1)
    low = inside & (x * (a + b + 2) < a + 1)
    high = inside & ~low
    with np.errstate(all="ignore"):
        found[low] = _beta_fraction(a[low], b[low], x[low], first)
        found[high] = -_beta_fraction(b[high], a[high], 1 - x[high], not first)
    found[~((a > 0) & (b > 0) & (x >= 0) & (x <= 1))] = np.nan
    return found


def _beta_fraction(a: Array, b: Array, x: Array, first: bool) -> Array:
    """The derivative of ``x^a (1 - x)^b / (a beta(a, b))`` times a continued fraction by a or b."""

    def terms() -> Iterator[tuple[Array, Array, Array, Array]]:
        for m in range(_TERMS):
            if m:
                over = x * m / ((a + 2 * m - 1) * (a + 2 * m))
                even = over * (b - m)
                yield even, -even / (a + 2 * m - 1) - even / (a + 2 * m) if first else over, 1.0, 0.0
            over = -x / ((a + 2 * m) * (a + 2 * m + 1))
            odd = over * (a + m) * (a + b + m)
            own = over * (2 * a + b + 2 * m) - odd / (a + 2 * m) - odd / (a + 2 * m + 1)
            yield odd, own if first else over * (a + m), 1.0, 0.0

    total, slope = _lentz(np.ones_like(x), np.zeros_like(x), terms(), np.ones_like(x), 0.0)
    common = special.digamma(a + b)
    by_log = np.log(x) - special.digamma(a) + common - 1 / a if first else np.log1p(-x) - special.digamma(b) + common
    return np.exp(a * np.log(x) + b * np.log1p(-x) - special.betaln(a, b)) / a * (total * by_log + slope)


def _lentz(
    total: Array, slope: Array, terms: Iterator[tuple[Array, Array, Array, Array]], c: Array, c_dot: Array
) -> tuple[Array, Array]:
    """A continued fraction and its derivative.

    ``terms`` has the partial numerators and denominators, each with its derivative, after the first denominator ``c``.
    """
    d, d_dot = 1 / c, -c_dot / c**2
    c, c_dot = np.full_like(d, np.inf), np.zeros_like(d)
    for up, up_dot, down, down_dot in terms:
        c, c_dot = down + up / c, down_dot + up_dot / c - up * c_dot / c**2
        whole = down + up * d
        d, d_dot = 1 / whole, -(down_dot + up_dot * d + up * d_dot) / whole**2
        change, change_dot = c * d, c_dot * d + c * d_dot
        total, slope = total * change, slope * change + total * change_dot
        if np.all(np.abs(change - 1) < 1e-15) and np.all(np.abs(total * change_dot) <= 1e-15 * np.abs(slope)):
            break
    return total, slope
