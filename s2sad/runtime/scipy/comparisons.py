"""Derivatives of correlations, lines and t-tests of ``scipy.stats``, and of their p-values.

The *slopes* of a statistic are its derivatives by each number of a sample (:mod:`s2sad.runtime.scipy.summaries`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from s2sad.runtime.arrays import Axis, count
from s2sad.runtime.scipy.summaries import aligned, mean_along, paired, sem_slopes

Array = Any


def degrees(a: Array, b: Array, axis: Axis = 0) -> int:
    """Return the degrees of freedom of the difference of two means.

    >>> degrees(np.zeros((4, 5)), np.zeros(3), -1)
    6
    """
    a, b = aligned(a, b)
    return count(a.shape, axis) + count(b.shape, axis) - 2


def tail_slope(density: Array, statistic: Array, alternative: str = "two-sided") -> Array:
    """Return the derivative of a p-value by the statistic, of a symmetric density.

    >>> tail_slope(0.3, -1.0), tail_slope(0.3, -1.0, "less")
    (np.float64(0.6), 0.3)
    """
    if alternative == "less":
        return density
    return -density if alternative == "greater" else -2 * np.sign(statistic) * density


def t_rate(g: Any, z: Any, df: Any, alternative: str) -> Array:
    """Return the adjoint of the statistic of a t-test, given those of the statistic and the p-value.

    >>> t_rate((1.0, 0.0), (0.5, 0.6), 8, "two-sided")
    np.float64(1.0)
    """
    return g[0] + g[1] * tail_slope(stats.t.pdf(z[0], df), z[0], alternative)


def t_parts(t: Array, z: Any, df: Any, alternative: str) -> tuple[Array, Array]:
    """Return the tangents of the statistic and the p-value of a t-test, given that of the statistic.

    >>> t_parts(1.0, (0.0, 1.0), 1, "less")[1].round(6)
    np.float64(0.31831)
    """
    return t, t * tail_slope(stats.t.pdf(z[0], df), z[0], alternative)


def correlation_density(r: Array, n: int) -> Array:
    """Return the density of the correlation of ``n`` independent pairs of normal numbers.

    >>> correlation_density(0.3, 4).round(9)
    np.float64(0.5)
    """
    if n == 2:
        return np.zeros_like(r)  # it is 1 or -1
    return (1 - r * r) ** (n / 2 - 2) / special.beta(0.5, n / 2 - 1)


def correlation_slopes(x: Array, y: Array, axis: Any = 0) -> tuple[Array, Array]:
    """Return the slopes of the correlation ``scipy.stats.pearsonr``.

    >>> correlation_slopes(np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 1.0]))[0]
    array([-0.25,  0.5 , -0.25])
    """
    x, y = paired(x, y, axis)
    u, v = x - mean_along(x, axis), y - mean_along(y, axis)
    u_norm, v_norm = np.sqrt(np.sum(u * u, axis, keepdims=True)), np.sqrt(np.sum(v * v, axis, keepdims=True))
    u, v = u / u_norm, v / v_norm
    r = np.sum(u * v, axis=axis, keepdims=True)
    return (v - r * u) / u_norm, (u - r * v) / v_norm


def _line(x: Array, y: Array) -> tuple[Array, Array, Array, Array, Array]:
    """The mean of ``x``, the deviations of both, the sum of their squares for ``x``, and the slope of the line."""
    m = np.mean(x)
    u, v = x - m, y - np.mean(y)
    sxx = np.sum(u * u)
    return m, u, v, sxx, np.sum(u * v) / sxx


def line_slopes(x: Array, y: Array) -> tuple[tuple[Array, Array], ...]:
    """Return the slopes, by ``x`` and by ``y``, of what ``scipy.stats.linregress`` returns but the p-value.

    These are the slope and the intercept of the line, the correlation, and the standard error of the slope.

    >>> line_slopes(np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 1.0]))[0][1]
    array([-0.5,  0. ,  0.5])
    """
    x, y = np.atleast_1d(x), np.atleast_1d(y)
    n = np.size(x)
    m, u, v, sxx, slope = _line(x, y)
    by_x, by_y = (v - 2 * slope * u) / sxx, u / sxx
    onto_x, onto_y = -m * by_x - slope / n, 1 / n - m * by_y
    # The squared error of the slope is the mean square of the residuals over that of x, which both move.
    rest = v - slope * u
    square = np.sum(rest * rest) / ((n - 2) * sxx)
    error = np.sqrt(square)
    error_x = (-slope * rest / ((n - 2) * sxx) - square * u / sxx) / error
    error_y = rest / ((n - 2) * sxx) / error
    return (by_x, by_y), (onto_x, onto_y), correlation_slopes(x, y), (error_x, error_y)


def _p_slope(z: Any, n: int, alternative: str) -> Any:
    """The derivative of the p-value of a line through ``n`` points by the correlation."""
    return tail_slope(correlation_density(z[2], n), z[2], alternative)


def line_adjoints(g: Any, z: Any, x: Array, y: Array, alternative: str = "two-sided") -> tuple[Array, Array]:
    """Return the adjoints of ``x`` and ``y``, given ``g``, those of what ``scipy.stats.linregress`` returns, ``z``.

    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 1.0])
    >>> line_adjoints((1.0, 0.0, 0.0, 0.0, 0.0), stats.linregress(x, y), x, y)[1]
    array([-0.5,  0. ,  0.5])
    """
    slope, intercept, rvalue, stderr = line_slopes(x, y)
    r_bar = g[2] + g[3] * _p_slope(z, np.size(x), alternative)
    into_x = g[0] * slope[0] + g[1] * intercept[0] + r_bar * rvalue[0] + g[4] * stderr[0]
    into_y = g[0] * slope[1] + g[1] * intercept[1] + r_bar * rvalue[1] + g[4] * stderr[1]
    return into_x, into_y


def line_tangents(
    x_dot: Array, y_dot: Array, z: Any, x: Array, y: Array, alternative: str = "two-sided"
) -> tuple[Array, Array, Array, Array, Array]:
    """Return the tangents of what ``scipy.stats.linregress`` returns, ``z``.

    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 1.0])
    >>> line_tangents(np.zeros(3), np.array([0.0, 0.0, 1.0]), stats.linregress(x, y), x, y)[0]
    np.float64(0.5)
    """
    slope, intercept, rvalue, stderr = line_slopes(x, y)
    r_dot = np.sum(rvalue[0] * x_dot) + np.sum(rvalue[1] * y_dot)
    return (
        np.sum(slope[0] * x_dot) + np.sum(slope[1] * y_dot),
        np.sum(intercept[0] * x_dot) + np.sum(intercept[1] * y_dot),
        r_dot,
        r_dot * _p_slope(z, np.size(x), alternative),
        np.sum(stderr[0] * x_dot) + np.sum(stderr[1] * y_dot),
    )


def one_sample_slopes(a: Array, popmean: Any, axis: Axis = 0) -> tuple[Array, Array]:
    """Return the slopes of the statistic of ``scipy.stats.ttest_1samp``, by the sample and by the mean.

    >>> one_sample_slopes(np.array([-1.0, 1.0]), 0.0)
    (array([0.5, 0.5]), array([-1.]))
    """
    a, popmean = aligned(a, popmean)
    n = count(np.shape(a), axis)
    error = np.sqrt(np.sum((a - mean_along(a, axis)) ** 2, axis=axis, keepdims=True) / (n * max(n - 1, 1)))
    t = (mean_along(a, axis) - popmean) / error
    return (1 / n - t * sem_slopes(a, axis)) / error, np.broadcast_to(-1 / error, np.shape(t))


def related_slopes(a: Array, b: Array, axis: Axis = 0) -> Array:
    """Return the slopes of the statistic of ``scipy.stats.ttest_rel`` by the first sample; the other's are opposite.

    >>> related_slopes(np.array([0.0, 2.0]), np.array([1.0, 1.0]))
    array([0.5, 0.5])
    """
    a, b = paired(a, b, axis)
    return one_sample_slopes(a - b, 0.0, axis)[0]


def two_samples_slopes(a: Array, b: Array, axis: Axis = 0) -> tuple[Array, Array]:
    """Return the slopes of the statistic of ``scipy.stats.ttest_ind``, by both samples.

    >>> two_samples_slopes(np.array([-1.0, 1.0]), np.array([-1.0, 1.0]))
    (array([0.35355339, 0.35355339]), array([-0.35355339, -0.35355339]))
    """
    a, b = aligned(a, b)
    n, m = count(np.shape(a), axis), count(np.shape(b), axis)
    d, e = a - mean_along(a, axis), b - mean_along(b, axis)
    squares = np.sum(d * d, axis=axis, keepdims=True) + np.sum(e * e, axis=axis, keepdims=True)
    weight = (1 / n + 1 / m) / max(n + m - 2, 1)
    error = np.sqrt(weight * squares)
    t = (mean_along(a, axis) - mean_along(b, axis)) / error
    return (1 / n - t * weight * d / error) / error, (-1 / m - t * weight * e / error) / error
