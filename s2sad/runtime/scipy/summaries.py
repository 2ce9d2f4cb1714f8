"""Derivatives of the summary statistics of ``scipy.stats``: means, moments, scores, entropies and tests.

The *slopes* of a statistic are its derivatives by each number of the sample, an array of the sample's shape.  Of one
statistic for each slice along an axis, the adjoint of the sample is that of the statistic times the slopes, and the
tangent of the statistic the sum of the products along that axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import Axis, count, unbroadcast, unreduce

Array = Any


def mean_along(x: Array, axis: Axis) -> Array:
    """Return the means along an axis, without removing it."""
    return np.mean(x, axis=axis, keepdims=True)


def per_number(g: Array, a: Array, axis: Axis = 0, keepdims: bool = False) -> Array:
    """Return the adjoint of a statistic beside the numbers of each slice; a number is a sample of one.

    >>> per_number(np.array([1.0, 2.0]), np.zeros((3, 2))).shape
    (3, 2)
    """
    if axis is None or not np.ndim(g):
        return np.broadcast_to(np.reshape(g, ()), np.shape(a) or (1,))
    return unreduce(g, np.shape(a) or (1,), axis, keepdims)


# --- samples that are broadcast


def aligned(a: Array, b: Array) -> tuple[Array, Array]:
    """Return two samples with one number of axes, as broadcasting gives them."""
    most = max(1, np.ndim(a), np.ndim(b))
    a = np.reshape(a, (1,) * (most - np.ndim(a)) + np.shape(a))
    return a, np.reshape(b, (1,) * (most - np.ndim(b)) + np.shape(b))


def paired(a: Array, b: Array, axis: Axis) -> tuple[Array, Array]:
    """Return two samples in one shape, in which SciPy pairs them: without an axis each is a row first.

    >>> paired(np.zeros((2, 1)), np.zeros(3), 0)[0].shape, paired(np.zeros((2, 3)), np.zeros((3, 2)), None)[0].shape
    ((2, 3), (6,))
    """
    if axis is None:
        a, b = np.ravel(a), np.ravel(b)
    a, b = np.broadcast_arrays(np.atleast_1d(a), np.atleast_1d(b))
    return a, b


def unpaired(g: Array, a: Array, axis: Axis) -> Array:
    """Return the adjoint of a sample, given that of what `paired` makes of it.

    >>> unpaired(np.ones((2, 3)), np.zeros((2, 1)), 0)
    array([[3.],
           [3.]])
    """
    if axis is None:
        return np.reshape(unbroadcast(np.ravel(g), (np.size(a),)), np.shape(a))
    return unbroadcast(g, np.shape(a))


def paired_part(slopes: Array, a_dot: Array, axis: Axis) -> Array:
    """Return the products of the slopes by one of several samples with its tangent."""
    return np.ravel(slopes) * np.ravel(a_dot) if axis is None else slopes * a_dot


def summed_as(z: Array, parts: Array, axis: Axis) -> Array:
    """Return the sums along an axis, in the shape of the statistic ``z``.

    >>> summed_as(np.zeros((1, 1)), np.ones(6), None)
    array([[6.]])
    """
    return np.reshape(np.sum(parts, axis=axis), np.shape(z))[()]


# --- means


def _weighted(a: Array, weights: Array, axis: Axis) -> tuple[Array, Array]:
    """The numbers, and beside them the weights as parts of one."""
    if weights is None:
        return np.atleast_1d(a), 1.0 / count(np.shape(a), axis)
    a, w = paired(a, weights, axis)
    return a, w / np.sum(w, axis=axis, keepdims=True)


def pmean_slopes(a: Array, p: Any, axis: Axis = 0, weights: Array = None) -> Array:
    """Return the slopes of ``scipy.stats.pmean``; of the geometric mean for ``p`` 0, the harmonic one for -1.

    >>> pmean_slopes(np.array([1.0, 4.0]), 0)
    array([1.  , 0.25])
    """
    a, share = _weighted(a, weights, axis)
    mean = power_mean(a, p, axis, share)
    return share * (mean / a) ** (1 - p)


def power_mean(a: Array, p: Any, axis: Axis, share: Array) -> Array:
    """Return the power mean of numbers with weights that add up to 1, without removing the axis.

    >>> power_mean(np.array([1.0, 7.0]), 2, 0, 0.5)
    array([5.])
    """
    if p == 0:
        return np.exp(np.sum(share * np.log(a), axis=axis, keepdims=True))
    return np.sum(share * a**p, axis=axis, keepdims=True) ** (1 / p)


def pmean_by_weights(a: Array, p: Any, axis: Axis = 0, weights: Array = None) -> Array:
    """Return the derivatives of ``scipy.stats.pmean`` by its weights, beside the numbers.

    >>> pmean_by_weights(np.array([1.0, 7.0]), 1, 0, np.array([1.0, 1.0]))
    array([-1.5,  1.5])
    """
    a, share = _weighted(a, weights, axis)
    mean = power_mean(a, p, axis, share)
    total = np.sum(paired(weights, a, axis)[0], axis=axis, keepdims=True)
    return mean / total * (np.log(a / mean) if p == 0 else ((a / mean) ** p - 1) / p)


def pmean_by_power(a: Array, p: Any, axis: Axis = 0, weights: Array = None) -> Array:
    """Return what the derivative of ``scipy.stats.pmean`` by the exponent is the sum of along the axis.

    >>> pmean_by_power(np.array([1.0, 1.0]), 2.0)
    array([0., 0.])
    """
    a, share = _weighted(a, weights, axis)
    mean = power_mean(a, p, axis, share)
    u = np.log(a / mean)
    # At 0 half of the variance of the logarithms, times the mean.
    return mean * share * (0.5 * u * u if p == 0 else (a / mean) ** p * u / p)


# --- moments


def _moments(a: Array, axis: Axis) -> tuple[Array, Array, int]:
    """The deviations from the mean, their mean square, and the number of them."""
    d = a - mean_along(a, axis)
    return d, mean_along(d * d, axis), count(np.shape(a), axis)


def moment_slopes(a: Array, order: Any = 1, axis: Axis = 0, center: Any = None) -> Array:
    """Return the slopes of ``scipy.stats.moment``.

    >>> moment_slopes(np.array([1.0, 2.0, 6.0]), 2)
    array([-1.33333333, -0.66666667,  2.        ])
    """
    if np.ndim(order):
        raise UndefinedDerivativeError("moment of several orders has no derivative rule", "Ask for one at a time.")
    if np.ndim(center):
        raise UndefinedDerivativeError(
            "moment about a center with axes has no rule", "Use np.mean((x - center) ** order, axis)."
        )
    a = np.atleast_1d(a)
    if center is not None:
        return center_slopes(a, order, axis, center)
    if order < 2:
        return np.zeros_like(a, dtype=np.result_type(a, 1.0))
    power = (a - mean_along(a, axis)) ** (order - 1)
    return order / count(np.shape(a), axis) * (power - mean_along(power, axis))


def center_slopes(a: Array, order: Any, axis: Axis, center: Any) -> Array:
    """Return the slopes of a moment about a constant; that by the constant is minus their sum.

    >>> center_slopes(np.array([1.0, 2.0]), 2, 0, 0.0)
    array([1., 2.])
    """
    a = np.atleast_1d(a)
    if center is None or order == 0:
        return np.zeros_like(a, dtype=np.result_type(a, 1.0))
    return order / count(np.shape(a), axis) * (a - center) ** (order - 1)


def skew_slopes(a: Array, axis: Axis = 0, bias: bool = True) -> Array:
    """Return the slopes of ``scipy.stats.skew``.

    >>> skew_slopes(np.array([-1.0, 0.0, 1.0]))
    array([ 0.61237244, -1.22474487,  0.61237244])
    """
    a = np.atleast_1d(a)
    d, m2, n = _moments(a, axis)
    m3 = mean_along(d**3, axis)
    factor = 3 / n if bias or n <= 2 else 3 * (n * (n - 1)) ** 0.5 / (n * (n - 2))
    return factor * (d * d - m2 - m3 / m2 * d) / m2**1.5


def kurtosis_slopes(a: Array, axis: Axis = 0, bias: bool = True) -> Array:
    """Return the slopes of ``scipy.stats.kurtosis``, by either definition.

    >>> kurtosis_slopes(np.array([-1.0, 0.0, 1.0]))
    array([0., 0., 0.])
    """
    a = np.atleast_1d(a)
    d, m2, n = _moments(a, axis)
    m3, m4 = mean_along(d**3, axis), mean_along(d**4, axis)
    factor = 4 / n if bias or n <= 3 else 4 * (n * n - 1) / (n * (n - 2) * (n - 3))
    return factor * (d**3 - m3 - m4 / m2 * d) / (m2 * m2)


def std_slopes(a: Array, axis: Axis = 0, ddof: Any = 0) -> Array:
    """Return the slopes of a standard deviation, zero where it vanishes.

    >>> std_slopes(np.array([-1.0, 0.0, 1.0]), ddof=1)
    array([-0.5,  0. ,  0.5])
    """
    d, m2, n = _moments(a, axis)
    s = np.sqrt(m2 * (n / max(n - ddof, 1)))
    return d / np.where(s > 0, s, np.inf) / max(n - ddof, 1)


def sem_slopes(a: Array, axis: Axis = 0, ddof: Any = 1) -> Array:
    """Return the slopes of ``scipy.stats.sem``.

    >>> sem_slopes(np.array([-2.0, 0.0, 0.0, 2.0]))
    array([-0.20412415,  0.        ,  0.        ,  0.20412415])
    """
    a = np.atleast_1d(a)
    return std_slopes(a, axis, ddof) / count(np.shape(a), axis) ** 0.5


def variation_slopes(a: Array, axis: Axis = 0, ddof: Any = 0) -> Array:
    """Return the slopes of ``scipy.stats.variation``: the standard deviation over the mean.

    >>> variation_slopes(np.array([1.0, 3.0]))
    array([-0.375,  0.125])
    """
    a = np.atleast_1d(a)
    _, m2, n = _moments(a, axis)
    m = mean_along(a, axis)
    return std_slopes(a, axis, ddof) / m - np.sqrt(m2 * (n / max(n - ddof, 1))) / (m * m * n)


def gstd_slopes(z: Array, a: Array, axis: Axis = 0, ddof: Any = 1, keepdims: bool = False) -> Array:
    """Return the slopes of ``z``, the geometric standard deviation ``scipy.stats.gstd``.

    >>> gstd_slopes(np.exp(1.0), np.exp([-1.0, 0.0, 1.0])).round(12)
    array([-3.69452805,  0.        ,  0.5       ])
    """
    a = np.atleast_1d(a)
    whole = z if keepdims or axis is None else np.expand_dims(z, axis)
    return whole * std_slopes(np.log(a), axis, ddof) / a


# --- scores


def scores_adjoint(g: Array, z: Array, compare: Array, axis: Axis = 0, ddof: Any = 0) -> tuple[Array, Array]:
    """Return the adjoints of numbers and those whose mean and deviation they are compared with, in ``zmap``.

    >>> scores_adjoint(np.ones(1), np.ones(1), np.array([-2.0, 2.0]))
    (array([0.5]), array([-0. , -0.5]))
    """
    d, m2, n = _moments(np.atleast_1d(compare), axis)
    s = np.sqrt(m2 * (n / max(n - ddof, 1)))
    into_mean, into_std = unbroadcast(g, m2.shape), unbroadcast(g * z, m2.shape)
    return g / s, -(into_mean / n + into_std * d / (s * (n - ddof))) / s


def scores_tangent(a_dot: Array, compare_dot: Array, z: Array, compare: Array, axis: Axis = 0, ddof: Any = 0) -> Array:
    """Return the tangent of the scores ``z`` that ``scipy.stats.zmap`` gives.

    >>> scores_tangent(np.ones(1), np.zeros(2), np.ones(1), np.array([-1.0, 1.0]))
    array([1.])
    """
    d, m2, n = _moments(np.atleast_1d(compare), axis)
    s = np.sqrt(m2 * (n / max(n - ddof, 1)))
    s_dot = np.sum(d * compare_dot, axis=axis, keepdims=True) / (s * (n - ddof))
    return (a_dot - mean_along(compare_dot, axis) - z * s_dot) / s


# --- entropies


def entropy_slopes(pk: Array, qk: Array = None, base: Any = None, axis: Axis = 0) -> tuple[Array, Array]:
    """Return the slopes of ``scipy.stats.entropy``, by ``pk`` and by ``qk``.

    >>> entropy_slopes(np.array([1.0, 1.0]), np.array([1.0, 3.0]))[1]
    array([-0.25      ,  0.08333333])
    """
    unit = 1.0 if base is None else np.log(base)
    if qk is not None:
        pk, qk = paired(pk, qk, axis)
    total = np.sum(pk, axis=axis, keepdims=True)
    p = pk / total
    if qk is None:
        rate = np.log(p)
        return -(rate - np.sum(_times(p, rate), axis=axis, keepdims=True)) / (unit * total), 0.0
    scale = np.sum(qk, axis=axis, keepdims=True)
    q = qk / scale
    rate = np.log(p / q)
    by_p = (rate - np.sum(_times(p, rate), axis=axis, keepdims=True)) / (unit * total)
    return by_p, (1 - p / q) / (unit * scale)


def _times(p: Array, rate: Array) -> Array:
    """``p * rate``, which is zero where ``p`` is."""
    return np.where(p == 0, 0, p * np.where(p == 0, 0, rate))


# --- parts of a sample


def kept(a: Array, limits: Any, inclusive: Any = (True, True)) -> Array:
    """Return which numbers the trimmed statistics of ``scipy.stats`` keep.

    >>> kept(np.array([1.0, 2.0, 3.0]), (1.0, None), (False, True))
    array([False,  True,  True])
    """
    low, high = (None, None) if limits is None else limits
    inside = np.ones(np.shape(a), bool)
    if low is not None:
        inside = inside & ((a >= low) if inclusive[0] else (a > low))
    if high is not None:
        inside = inside & ((a <= high) if inclusive[1] else (a < high))
    return inside


def tmean_slopes(a: Array, limits: Any = None, inclusive: Any = (True, True), axis: Axis = None) -> Array:
    """Return the slopes of ``scipy.stats.tmean``.

    >>> tmean_slopes(np.array([1.0, 2.0, 9.0]), (0.0, 5.0))
    array([0.5, 0.5, 0. ])
    """
    inside = kept(np.atleast_1d(a), limits, inclusive)
    return inside / np.sum(inside, axis=axis, keepdims=True)


def tvar_slopes(a: Array, limits: Any, inclusive: Any, axis: Axis, ddof: Any) -> Array:
    """Return the slopes of ``scipy.stats.tvar``.

    >>> tvar_slopes(np.array([1.0, 3.0, 9.0]), (0.0, 5.0), (True, True), 0, 1)
    array([-2.,  2.,  0.])
    """
    a = np.atleast_1d(a)
    inside = kept(a, limits, inclusive)
    n = np.sum(inside, axis=axis, keepdims=True)
    d = np.where(inside, a - np.sum(np.where(inside, a, 0), axis=axis, keepdims=True) / n, 0)
    return 2 * d / (n - ddof)


def trim_mean_slopes(a: Array, proportiontocut: Any, axis: Any = 0) -> Array:
    """Return the slopes of ``scipy.stats.trim_mean``.

    >>> trim_mean_slopes(np.array([9.0, 1.0, 2.0, 5.0]), 0.25)
    array([0. , 0. , 0.5, 0.5])
    """
    a = np.atleast_1d(a)
    if axis is None or isinstance(axis, tuple):
        axes = tuple(range(a.ndim)) if axis is None else normalize_axis_tuple(axis, a.ndim)
        last = tuple(range(-len(axes), 0))
        moved = np.moveaxis(a, axes, last)
        rows = np.reshape(moved, (*moved.shape[: a.ndim - len(axes)], -1))
        return np.moveaxis(np.reshape(trim_mean_slopes(rows, proportiontocut, -1), moved.shape), last, axes)
    n = np.shape(a)[axis]
    cut = int(proportiontocut * n)
    # SciPy finds the middle by the same partition.
    order = np.argpartition(a, (cut, n - cut - 1), axis)
    places = np.arange(n)
    inside = (places >= cut) & (places < n - cut)
    shape = [1] * np.ndim(a)
    shape[axis] = n
    slopes = np.zeros(np.shape(a), np.result_type(a, 1.0))
    np.put_along_axis(slopes, order, np.reshape(inside, shape) / (n - 2 * cut), axis)
    return slopes
