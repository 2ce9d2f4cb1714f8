"""Derivatives of comparisons of groups, of measures of spread by order, and of power transformations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special, stats

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import Axis, count
from s2sad.runtime.linear import like
from s2sad.runtime.scipy.summaries import paired_part, per_number, unpaired
from s2sad.runtime.scipy_special import exprel_derivative

Array = Any

# --- analysis of variance


def _together(samples: Sequence[Array], axis: Axis) -> list[Array]:
    """The samples as arrays with one number of axes."""
    rows = [np.ravel(x) if axis is None else np.atleast_1d(np.asarray(x, float)) for x in samples]
    most = max([x.ndim for x in rows])
    return [np.reshape(x, (1,) * (most - x.ndim) + x.shape) for x in rows]


def f_slopes(samples: Sequence[Array], axis: Axis = 0) -> list[Array]:
    """The derivatives of the statistic of ``stats.f_oneway(*samples, axis=axis)`` by the numbers of each sample."""
    means = [np.mean(x, axis=axis, keepdims=True) for x in samples]
    counts = [count(np.shape(x), axis) for x in samples]
    total = sum(counts)
    middle = sum([n * m for n, m in zip(counts, means, strict=True)]) / total
    between = sum([n * (m - middle) ** 2 for n, m in zip(counts, means, strict=True)])
    within = sum([np.sum((x - m) ** 2, axis=axis, keepdims=True) for x, m in zip(samples, means, strict=True)])
    ratio = between / within * (total - len(counts)) / (len(counts) - 1)
    return [2 * ratio * ((m - middle) / between - (x - m) / within) for x, m in zip(samples, means, strict=True)]


def f_density(samples: Sequence[Array], z: Any, axis: Axis = 0) -> Array:
    """The density of the F distribution at the statistic: minus the derivative of the p-value by it."""
    total, groups = sum([count(np.shape(x), axis) for x in samples]), len(samples)
    return stats.f.pdf(z[0], groups - 1, total - groups)


def f_adjoints(z_bar: Any, samples: Sequence[Array], z: Any, axis: Axis = 0) -> list[Array]:
    """The adjoints of the samples in ``z = stats.f_oneway(*samples, axis=axis)``."""
    arrays = _together(samples, axis)
    g = z_bar[0] - z_bar[1] * f_density(arrays, z, axis)
    slopes = f_slopes(arrays, axis)
    return [like(unpaired(per_number(g, s, axis) * s, x, axis), x) for s, x in zip(slopes, samples, strict=True)]


def f_tangent(samples_dot: Sequence[Array], samples: Sequence[Array], z: Any, axis: Axis = 0) -> tuple[Array, Array]:
    """The tangents of the statistic and the p-value."""
    samples = _together(samples, axis)
    slopes = f_slopes(samples, axis)
    moved = sum([np.sum(paired_part(s, x_dot, axis), axis=axis) for s, x_dot in zip(slopes, samples_dot, strict=True)])
    if not np.ndim(z[0]):
        moved = np.sum(moved)  # there is one, NaN, where no group has a second number
    return moved, -f_density(samples, z, axis) * moved


# --- spread, by order: linear in the numbers as long as their order stays


def _quantile_weights(x: Array, q: float) -> Array:
    """What a quantile along the last axis is the weighted sum of the numbers by."""
    size = x.shape[-1]
    place = q * (size - 1)
    low = min(int(np.floor(place)), size - 1)
    high, part = min(low + 1, size - 1), place - low
    order = np.argsort(x, axis=-1, kind="stable")
    weights = np.zeros(x.shape)
    np.put_along_axis(weights, order[..., low : low + 1], 1.0 - part, -1)
    lower = np.zeros(x.shape)
    np.put_along_axis(lower, order[..., high : high + 1], part, -1)
    return weights + lower


def _along(x: Array, axis: Any) -> tuple[Array, tuple[int, ...]]:
    """The numbers with those of each slice along the last axis, and the axes that are reduced."""
    x = np.atleast_1d(np.asarray(x, float))
    axes = range(x.ndim) if axis is None else (axis,) if np.ndim(axis) == 0 else axis
    axes = tuple([i % x.ndim for i in axes])
    rest = [i for i in range(x.ndim) if i not in axes]
    rows = [*(x.shape[i] for i in rest), math.prod(x.shape[i] for i in axes)]
    return np.transpose(x, [*rest, *axes]).reshape(rows), axes


def _back(weights: Array, x: Array, axes: tuple[int, ...]) -> Array:
    """Weights of slices in the places of the numbers."""
    shape = np.shape(np.atleast_1d(x))
    order = [*[i for i in range(len(shape)) if i not in axes], *axes]
    low = np.asarray(x).dtype == np.float32
    weights = np.transpose(weights.reshape([shape[i] for i in order]), np.argsort(order))
    return weights.astype(np.float32) if low else weights


_SCALES = {"normal": 2 * special.erfinv(0.5) * np.sqrt(2)}


def iqr_slopes(x: Array, axis: Any, rng: Any, scale: Any, interpolation: str) -> Array:
    """The derivatives of ``stats.iqr`` by the numbers."""
    if interpolation != "linear":
        raise UndefinedDerivativeError(
            f"iqr with interpolation={interpolation!r} has no derivative rule", "Use interpolation='linear'."
        )
    rows, axes = _along(x, axis)
    low, high = min(rng) / 100, max(rng) / 100
    factor = _SCALES[scale.lower()] if isinstance(scale, str) else scale
    return _back((_quantile_weights(rows, high) - _quantile_weights(rows, low)) / factor, x, axes)


def mad_slopes(x: Array, axis: Any, center: Any, scale: Any) -> Array:
    """The derivatives of ``stats.median_abs_deviation`` by the numbers."""
    if center is not None and center is not np.median:
        raise UndefinedDerivativeError(
            "median_abs_deviation with a center has no derivative rule", "Use np.median(np.abs(x - center(x)))."
        )
    rows, axes = _along(x, axis)
    middle = _quantile_weights(rows, 0.5)
    moved = rows - np.sum(middle * rows, -1, keepdims=True)
    signs = _quantile_weights(np.abs(moved), 0.5) * np.sign(moved)
    factor = special.ndtri(0.75) if isinstance(scale, str) else scale
    return _back((signs - np.sum(signs, -1, keepdims=True) * middle) / factor, x, axes)


# --- power transformations


def _power_slope(t: Array, power: Array) -> tuple[Array, Array]:
    """The derivatives of ``((1 + t) ** power - 1) / power`` for numbers that are not negative."""
    log = np.log1p(t)
    return np.exp((power - 1) * log), log**2 * exprel_derivative(power * log)


def yeojohnson_slopes(x: Array, lmbda: Any) -> tuple[Array, Array]:
    """The derivatives of ``stats.yeojohnson(x, lmbda)`` by both."""
    if lmbda is None:
        raise UndefinedDerivativeError(
            "yeojohnson without lmbda, which then is fitted, has no derivative rule", "Give it lmbda."
        )
    above, below = np.maximum(x, 0.0), np.maximum(-x, 0.0)
    by_above, rising = _power_slope(above, lmbda)
    by_below, falling = _power_slope(below, 2 - lmbda)
    return np.where(np.greater_equal(x, 0), by_above, by_below), np.where(np.greater_equal(x, 0), rising, falling)
