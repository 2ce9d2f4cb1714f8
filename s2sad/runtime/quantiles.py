"""Order statistics: which elements a quantile is made of, and in which parts.

A quantile lies between two neighbours of the sorted elements, at a place that
depends on their number, on ``q`` and on ``method`` (Hyndman and Fan, *Sample
quantiles in statistical packages*, 1996; NumPy has the same nine and four more).
The derivative goes to these two elements alone.  They are found by partition,
unless each slice has a number of its own (NaN left out).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import Axis, Shape, align_weights
from s2sad.runtime.scans import merge_axes, split_axes

#: The constants alpha and beta of the continuous methods: the place is n q + alpha + q (1 - alpha - beta) - 1.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


def _discrete(q: Any, n: Any, method: str) -> tuple[Any, Any]:
    """The place among sorted elements before clipping, and the part of the next one, of the methods that are steps."""
    place = (n - 1) * q
    if method == "lower":
        return np.floor(place), 0.0
    if method == "higher":
        return np.ceil(place), 0.0
    if method == "nearest":
        return np.around(place), 0.0
    if method == "midpoint":
        return np.floor(place), np.where(place == np.floor(place), 0.0, 0.5)
    if method == "inverted_cdf":
        return np.ceil(n * q) - 1, 0.0
    if method == "averaged_inverted_cdf":
        return np.ceil(n * q) - 1, np.where(n * q == np.floor(n * q), 0.5, 0.0)
    if method == "closest_observation":
        place = n * q - 1.5
        below = np.floor(place)
        # Between two elements the one with an even number in the order, counted from one.
        even = (place == below) & (below % 2 == 1)
        return np.where(even, below, below + 1), 0.0
    raise UndefinedDerivativeError(f"a quantile of method={method!r} has no derivative", "Use method='linear'.")


def _neighbours(q: Any, n: Any, method: str) -> tuple[Any, Any, Any, Any]:
    """The two places of a quantile, the part of the second, and the derivative of that part by ``q``."""
    rise: Any = 0.0
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        place = n * q + alpha + q * (1 - alpha - beta) - 1
        low = np.floor(place)
        part = place - low
        rise = np.where((place >= 0) & (place < n - 1), n + 1 - alpha - beta, 0.0)
    else:
        low, part = _discrete(q, n, method)
    last = np.maximum(n - 1, 0)
    first = np.clip(low, 0, last).astype(int)
    second = np.clip(low + 1, 0, last).astype(int)
    return first, second, part, rise


def _picked(a: Any, q: Any, axis: Axis, method: str, nan: bool, weights: Any) -> tuple[Any, Any, Any, Any]:
    """The positions in the merged axis of both elements of each quantile, the second's part and its derivative.

    All have the axes that are left, then one for the quantiles.
    """
    if nan and axis is not None and np.ndim(q) > 1:
        # NumPy puts the axes of the result in an order that is not that of np.quantile.
        raise UndefinedDerivativeError("np.nanquantile along an axis takes q of one dimension", "Use np.ravel(q).")
    x = merge_axes(a, axis)
    n = x.shape[-1]
    q = np.reshape(q, (-1,))
    if weights is not None:
        return _weighted(x, q, merge_axes(align_weights(weights, np.shape(a), axis), axis), nan)
    if nan:
        n = n - np.sum(np.isnan(x), axis=-1, keepdims=True)
    low, high, part, rise = _neighbours(q, n, method)
    if nan:
        order = np.argsort(x, axis=-1)
    else:
        order = np.argpartition(x, np.unique((low, high)), axis=-1)
        low, high = (np.broadcast_to(v, (*x.shape[:-1], q.size)) for v in (low, high))
    return np.take_along_axis(order, low, -1), np.take_along_axis(order, high, -1), part, rise


def _weighted(x: Any, q: Any, w: Any, nan: bool) -> tuple[Any, Any, Any, Any]:
    """Of the weighted inverse distribution function: the first element at which the summed weights reach ``q``."""
    if nan:
        w = np.where(np.isnan(x), 0, w)
    order = np.argsort(x, axis=-1, kind="stable")
    total = np.cumsum(np.take_along_axis(w, order, -1), axis=-1)
    reached = total[..., None, :] >= q[:, None] * total[..., -1:][..., None, :]
    # An element without weight is never reached, at q = 0 neither.
    place = np.argmax(reached & (total[..., None, :] > 0), axis=-1)
    index = np.take_along_axis(order, place, -1)
    return index, index, 0.0, 0.0


def _split(shape: Shape, axis: Axis, keepdims: bool = False) -> tuple[list[int], int]:
    """The sizes of the axes that a reduction leaves, and the number of elements that each of its results stands for."""
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    gone = {i % len(shape) for i in axes} if shape else set()
    left = [1 if i in gone else n for i, n in enumerate(shape) if keepdims or i not in gone]
    return left, math.prod([shape[i] for i in gone])


def quantile_adjoint(
    g: Any,
    a: Any,
    q: Any,
    axis: Axis = None,
    method: str = "linear",
    weights: Any = None,
    *,
    nan: bool = False,
    slope: bool = False,
) -> Any:
    """Return the adjoint of ``a``, given ``g``, that of its quantiles: the parts of both neighbours scattered.

    With ``slope``, its derivative by ``q``.  ``nan`` leaves NaN out, as ``np.nanquantile`` does.

    >>> quantile_adjoint(1.0, np.array([3.0, 1.0, 2.0, 7.0]), 0.25)
    array([0.  , 0.25, 0.75, 0.  ])
    """
    shape = np.shape(a)
    if np.size(a) == 0:  # of nothing it is NaN
        return np.zeros_like(a)
    low, high, part, rise = _picked(a, q, axis, method, nan, weights)
    left, n = _split(shape, axis)
    rows = np.moveaxis(np.reshape(g, (np.size(q), *left)), 0, -1)
    first, second = (-rows * rise, rows * rise) if slope else (rows * (1 - part), rows * part)
    starts = n * np.arange(math.prod(left)).reshape((*left, 1))
    places = np.concatenate((np.ravel(starts + low), np.ravel(starts + high)))
    values = np.concatenate((np.ravel(first), np.ravel(second)))
    summed = np.bincount(places, np.real(values), math.prod(shape))
    if np.iscomplexobj(values):
        summed = summed + 1j * np.bincount(places, np.imag(values), math.prod(shape))
    summed = summed.astype(np.result_type(g, np.asarray(a).dtype))
    a_bar = split_axes(np.reshape(summed, (*left, n)), shape, axis)
    return np.where(np.isnan(a), 0, a_bar) if nan else a_bar


def quantile_tangent(
    t: Any,
    a: Any,
    q: Any,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
    *,
    nan: bool = False,
    slope: bool = False,
) -> Any:
    """Return the tangent of the quantiles of ``a``, given ``t``, that of ``a``; the transpose of `quantile_adjoint`.

    >>> quantile_tangent(np.array([1.0, 2.0, 4.0, 0.0]), np.array([3.0, 1.0, 2.0, 7.0]), 0.25)
    np.float64(3.5)
    """
    if np.size(a) == 0:
        several = () if nan else np.shape(q)  # np.nanquantile of nothing is its mean, whatever q is
        return np.zeros((*several, *_split(np.shape(a), axis, keepdims)[0]))[()]
    low, high, part, rise = _picked(a, q, axis, method, nan, weights)
    x = merge_axes(np.where(np.isnan(a), 0, t) if nan else t, axis)
    first, second = np.take_along_axis(x, low, -1), np.take_along_axis(x, high, -1)
    found = (second - first) * rise if slope else first * (1 - part) + second * part
    found = found.astype(np.result_type(np.asarray(t), np.asarray(a).dtype), copy=False)
    return np.reshape(np.moveaxis(found, -1, 0), (*np.shape(q), *_split(np.shape(a), axis, keepdims)[0]))[()]


def sum_behind(g: Any, q: Any) -> Any:
    """Return the sum of ``g`` over the axes behind those of ``q``.

    >>> sum_behind(np.ones((2, 3)), np.zeros(2))
    array([3., 3.])
    """
    return np.sum(g, axis=tuple(range(np.ndim(q), np.ndim(g))))


def spread_behind(q: Any, whole: Any) -> Any:
    """Return ``q`` repeated along the axes that ``whole`` has behind its own; the transpose of `sum_behind`.

    >>> spread_behind(np.array([1.0, 2.0]), np.zeros((2, 2)))
    array([[1., 1.],
           [2., 2.]])
    """
    if np.ndim(q) > np.ndim(whole):  # NumPy gives one NaN for all quantiles of nothing
        return np.zeros(np.shape(whole))
    return np.broadcast_to(np.expand_dims(q, tuple(range(np.ndim(q), np.ndim(whole)))), np.shape(whole))


def partition_order(a: Any, z: Any, kth: Any, axis: int | None = -1) -> Any:
    """Return the positions of the elements of ``z = np.partition(a, kth, axis)`` in ``a``.

    NumPy does not say that ``np.argpartition`` puts equal parts in the same order, so this is looked at; if it does
    not, both are sorted.

    >>> a = np.array([3.0, 1.0, 2.0])
    >>> bool(np.all(a[partition_order(a, np.partition(a, 1), 1)] == np.partition(a, 1)))
    True
    """
    order = np.argpartition(a, kth, axis)
    if np.array_equal(np.take_along_axis(np.asarray(a), order, axis), z):
        return order
    of_a, of_z = np.argsort(a, axis), np.argsort(z, -1 if axis is None else axis)
    order = np.empty_like(of_a)
    np.put_along_axis(order, of_z, of_a, -1 if axis is None else axis)
    return order


def scatter_order(g: Any, order: Any, shape: Shape, axis: int | None = -1) -> Any:
    """Return the adjoint of an array of ``shape``, given ``g``, that of its elements in an ``order`` along ``axis``.

    >>> scatter_order(np.array([1.0, 2.0, 4.0]), np.array([2, 0, 1]), (3,))
    array([2., 4., 1.])
    """
    back = np.empty_like(g)
    np.put_along_axis(back, order, g, axis)
    return np.reshape(back, shape)


def share_values(g: Any, a: Any, values: Any = None) -> Any:
    """Return the adjoint of ``a``, given ``g``, that of its different ``values`` (in order, if they are not given).

    Equal elements share equally.

    >>> share_values(np.array([4.0, 1.0]), np.array([0.5, 2.5, 0.5]))
    array([2., 1., 2.])
    """
    place, number = _places_of_values(a, values)
    return np.reshape(np.divide(g, number, dtype=np.result_type(g))[place], np.shape(a))


def mean_values(t: Any, a: Any, values: Any = None) -> Any:
    """Return the mean of ``t`` over the elements of ``a`` of each value; the transpose of `share_values`.

    >>> mean_values(np.array([1.0, 5.0, 2.0]), np.array([0.5, 2.5, 0.5]))
    array([1.5, 5. ])
    """
    place, number = _places_of_values(a, values)
    total = np.bincount(place, np.ravel(np.real(t)), number.size)
    if np.iscomplexobj(t):
        total = total + 1j * np.bincount(place, np.ravel(np.imag(t)), number.size)
    return (total / number).astype(np.result_type(t))


def unique_adjoint(
    g: Any, values: Any, a: Any, axis: int | None = None, equal_nan: bool = True, ordered: bool = True
) -> Any:
    """Return the adjoint of ``a``, given those of what ``np.unique`` gives: the values, and counts and positions.

    >>> unique_adjoint((np.array([4.0, 1.0]), 0), (np.array([0.5, 2.5]), 0), np.array([0.5, 2.5, 0.5]))
    array([2., 1., 2.])
    """
    g, values = (g[0], values[0]) if isinstance(values, tuple) else (g, values)
    if axis is None and equal_nan:
        return share_values(g, a, None if ordered else values)
    place, number = _places_along(a, axis, equal_nan)
    number = number.astype(np.result_type(g))
    if axis is None:
        return np.reshape((g / number)[place], np.shape(a))
    return np.take(np.moveaxis(np.moveaxis(g, axis, -1) / number, -1, axis), place, axis)


def unique_tangent(
    t: Any, values: Any, a: Any, axis: int | None = None, equal_nan: bool = True, ordered: bool = True
) -> Any:
    """Return the tangents of the results of ``np.unique``, of which only the values have one.

    >>> unique_tangent(np.array([1.0, 5.0, 2.0]), np.array([0.5, 2.5]), np.array([0.5, 2.5, 0.5]))
    array([1.5, 5. ])
    """
    others = values[1:] if isinstance(values, tuple) else ()
    if axis is None and equal_nan:
        values_dot = mean_values(t, a, None if ordered or others else values)
    else:
        place, number = _places_along(a, axis, equal_nan)
        rows = np.ravel(t) if axis is None else np.moveaxis(t, axis, 0)
        starts = np.cumsum(number) - number
        totals = np.add.reduceat(rows[np.argsort(place, kind="stable")], starts, 0)
        values_dot = np.moveaxis(np.moveaxis(totals, 0, -1) / number.astype(np.asarray(t).dtype), -1, axis or 0)
    return (values_dot, *[0.0] * len(others)) if others else values_dot


def _places_along(a: Any, axis: int | None, equal_nan: bool) -> tuple[Any, Any]:
    """For each part of ``a`` along an axis the position of its value, and how many parts have each value."""
    _, place, number = np.unique(a, return_inverse=True, return_counts=True, axis=axis, equal_nan=equal_nan)
    return np.ravel(place), number


def _places_of_values(a: Any, values: Any) -> tuple[Any, Any]:
    """For each element of ``a`` the position of its value, and how many elements have each value."""
    # np.unique_values keeps every NaN, np.unique one of them.
    one = bool(values is None or np.count_nonzero(values != values) <= 1)
    _, place, number = np.unique(a, return_inverse=True, return_counts=True, equal_nan=one)
    place = np.ravel(place)
    if values is not None:
        order = np.argsort(values, kind="stable")
        place, number = order[place], number[np.argsort(order)]
    return place, number
