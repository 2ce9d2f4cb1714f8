"""Quotients of Bessel and hypergeometric functions in the densities of rarer distributions of ``scipy.stats``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special, stats

Array = Any
_TERMS = 40


def bessel_quotient(v: Array, z: Array) -> Array:
    """Return ``iv(v + 1, z) / (z * iv(v, z))``, which has a value at zero, too.

    >>> bessel_quotient(0.0, 0.0), bessel_quotient(0.5, 1.0).round(6)
    (np.float64(0.5), np.float64(0.313035))
    """
    v, z = np.broadcast_arrays(v * 1.0, z * 1.0)
    below = special.ive(v, z)
    used = (z > 1e-6) & (below > 1e-250) & np.isfinite(below)
    quotient = np.asarray(special.ive(v + 1, z) / np.where(used, z * below, 1))
    if not np.all(used):
        # The continued fraction of Gauss, from its end: the quotient is 1 / (2 (v + 1) + z^2 / (2 (v + 2) + ...)).
        end = 1 / (2 * (v + _TERMS))
        for k in range(_TERMS - 1, 0, -1):
            end = 1 / (2 * (v + k) + z**2 * end)
        quotient = np.where(used, quotient, end)
    return quotient[()]


def bessel_k_slope(v: Array, z: Array) -> Array:
    """Return the derivative of the logarithm of ``kv(v, z)`` by ``z``.

    >>> bessel_k_slope(0.5, 2.0).round(12)
    np.float64(-1.25)
    """
    return -(special.kve(v - 1, z) + special.kve(v + 1, z)) / (2 * special.kve(v, z))


def nct_ratio(u: Array, df: Array, nc: Array) -> Array:
    """Return the quotient of two moments in the density of the noncentral t distribution, of orders df + 1 and df.

    The integrals are of ``y**df * exp(-(y - m)**2 / 2)`` with ``m = nc * u / sqrt(u**2 + df)``, which is the same for
    another number of degrees of freedom and another point: so both are in densities of SciPy's.

    >>> nct_ratio(0.0, 3.0, 0.5).round(6)
    np.float64(1.879971)
    """

    def logarithm(x: Array, df: Array) -> Array:
        """That of the density without what stands before the integral, as far as this depends on the degrees."""
        before = special.gammaln(0.5 * df) + 0.5 * df * math.log(2) - 0.5 * df * np.log(df)
        return stats.nct.logpdf(x, df, nc) + before + 0.5 * (df + 1) * np.log(x**2 + df)

    return np.exp(logarithm(u * np.sqrt((df + 1) / df), df + 1) - logarithm(u, df))


def nct_rate(u: Array, df: Array, nc: Array) -> Array:
    """Return the derivative of the noncentral t distribution function by ``nc``, relative to the density.

    >>> nct_rate(0.0, 3.0, 0.5).round(6)
    np.float64(-1.085402)
    """
    whole = np.sqrt(df + u**2)
    return -whole * (nct_ratio(u, df, nc) - nc * u / whole) / df


def ncf_ratio(u: Array, dfn: Array, dfd: Array, nc: Array) -> Array:
    """Return the logarithmic derivative of the hypergeometric function in the density of the noncentral F distribution.

    It is ``a / b * hyp1f1(a + 1, b + 1, w) / hyp1f1(a, b, w)`` with ``a = (dfn + dfd) / 2`` and ``b = dfn / 2``; the
    quotient is one of densities, as `nct_ratio` is.

    >>> ncf_ratio(1.5, 3.0, 5.0, 0.7).round(6)
    np.float64(2.421837)
    """

    def logarithm(x: Array, dfn: Array) -> Array:
        return stats.ncf.logpdf(x, dfn, dfd, nc) - stats.f.logpdf(x, dfn, dfd)

    return (dfn + dfd) / dfn * np.exp(logarithm(u * dfn / (dfn + 2), dfn + 2) - logarithm(u, dfn))


def pearson3_dskew(u: Array, skew: Array) -> Array:
    """Return the derivative of the logarithm of Pearson's third density by its skewness, also near none.

    >>> pearson3_dskew(2.0, 0.0)
    np.float64(0.33333333333333326)
    """
    y, square = 0.5 * skew * u, 0.25 * skew**2
    small = np.abs(y) < 0.05
    far = np.where(small, 1.0, y)
    slope = (-far / (1 + far) - 2 * (np.log1p(far) - far) / far) / far**2
    near = 0 * y
    for k in range(_TERMS // 2, -1, -1):
        near = (k + 1) / (k + 3) - y * near
    # What is left of the logarithm of the gamma function behind Stirling's formula.
    large = square < 0.01
    alpha = 1 / np.where(large, 1.0, square)
    rest = -2 * alpha * (special.digamma(alpha) - np.log(alpha) + 0.5 / alpha) / np.where(large, 1.0, skew)
    by_series = skew / 24 * (1 - square**2 / 10 + square**4 / 21)
    by_gamma = np.where(large, by_series, rest)
    return (0.5 * u**3 * np.where(small, near, slope) - 0.5 * u / (1 + y) - by_gamma)[()]
