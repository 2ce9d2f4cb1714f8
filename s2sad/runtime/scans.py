"""Products and linear recurrences along an axis, without a division.

The derivative of a product by one factor is the product of the others.  Dividing
the whole by the factor fails where a factor is 0 or the product underflows, so
these helpers multiply what stands before by what stands after (the exclusive
scans of Blelloch, *Prefix sums and their applications*, 1990), and solve the
recurrences that the derivatives of a cumulative product obey.

``axis`` None means all elements in order, as for ``np.cumprod``.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from s2sad.runtime.arrays import Axis, Shape


def merge_axes(a: Any, axis: Axis = None) -> Any:
    """Return ``a`` with the axes of a reduction moved to the end and merged into one.

    >>> merge_axes(np.ones((2, 3, 4)), (0, 2)).shape
    (3, 8)
    """
    if axis is None or np.ndim(a) == 0:
        return np.reshape(a, (-1,))
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    moved = np.moveaxis(a, axes, range(-len(axes), 0))
    kept = np.shape(moved)[: np.ndim(a) - len(axes)]
    return np.reshape(moved, (*kept, int(np.prod(np.shape(moved)[len(kept) :]))))


def split_axes(a: Any, shape: Shape, axis: Axis = None) -> Any:
    """Return what `merge_axes` was given; ``shape`` is its shape.

    >>> split_axes(np.ones((3, 8)), (2, 3, 4), (0, 2)).shape
    (2, 3, 4)
    """
    if axis is None or not shape:
        return np.reshape(a, shape)
    axes = tuple(i % len(shape) for i in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    kept = [n for i, n in enumerate(shape) if i not in axes]
    moved = np.reshape(a, (*kept, *(shape[i] for i in axes)))
    return np.moveaxis(moved, range(-len(axes), 0), axes)


def delay(a: Any) -> Any:
    """Return ``a`` moved one place on along its last axis: 0, then all but the last.

    >>> delay(np.array([1.0, 2.0, 3.0]))
    array([0., 1., 2.])
    """
    return np.concatenate((np.zeros_like(a[..., :1]), a[..., :-1]), axis=-1)


def advance(a: Any) -> Any:
    """Return ``a`` moved one place back along its last axis; the transpose of `delay`.

    >>> advance(np.array([1.0, 2.0, 3.0]))
    array([2., 3., 0.])
    """
    return np.concatenate((a[..., 1:], np.zeros_like(a[..., :1])), axis=-1)


def products_before(a: Any) -> Any:
    """Return, for each element along the last axis, the product of those before it.

    >>> products_before(np.array([2.0, 3.0, 5.0]))
    array([1., 2., 6.])
    """
    before = np.empty_like(a, subok=False)
    before[..., :1] = 1
    before[..., 1:] = a[..., :-1]
    return before.cumprod(-1)


def _moderate(p: Any) -> bool:
    """Whether products are so far from zero and infinity that nothing is lost where they are divided by each other."""
    if p.dtype.kind not in "fc" or not p.size:
        return False
    size, (least, most) = np.abs(p), _limits(p.dtype)
    return bool(size.min() > least and size.max() < most)


@functools.cache
def _limits(dtype: Any) -> tuple[float, float]:
    limits = np.finfo(dtype)
    return math.sqrt(limits.tiny), math.sqrt(limits.max)


def other_products(a: Any, axis: Axis = None) -> Any:
    """Return, for each element, the product of all others along ``axis``.

    >>> other_products(np.array([2.0, 0.0, 5.0]))
    array([ 0., 10.,  0.])
    """
    a = np.asarray(a)
    axes: Any = axis
    whole = np.prod(a, axis=tuple(axes) if isinstance(axes, list) else axes, keepdims=True)
    if _moderate(whole) and _moderate(a):
        return whole / a
    x = merge_axes(a, axis)
    after = np.flip(products_before(np.flip(x, -1)), -1)
    return split_axes(products_before(x) * after, np.shape(a), axis)


def recurrence(b: Any, c: Any) -> Any:
    """Return ``s[j] = b[j] + c[j] * s[j - 1]`` along the last axis, with ``s[-1]`` taken as 0.

    >>> recurrence(np.array([1.0, 1.0, 1.0]), np.array([9.0, 2.0, 3.0]))
    array([ 1.,  3., 10.])
    """
    p = np.cumprod(c, axis=-1)
    if _moderate(p):
        return np.cumsum(b / p, axis=-1) * p
    s = b + np.zeros_like(c)  # a copy in the common type
    for j in range(1, np.shape(s)[-1]):
        s[..., j] += c[..., j] * s[..., j - 1]
    return s


def backward_recurrence(b: Any, c: Any) -> Any:
    """Return ``s[j] = b[j] + c[j + 1] * s[j + 1]`` along the last axis; the transpose of `recurrence` in ``b``.

    >>> backward_recurrence(np.array([1.0, 1.0, 1.0]), np.array([9.0, 2.0, 3.0]))
    array([9., 4., 1.])
    """
    p = np.cumprod(c, axis=-1)
    if _moderate(p):
        return np.cumsum((b * p)[..., ::-1], axis=-1)[..., ::-1] / p
    s = b + np.zeros_like(c)
    for j in range(np.shape(s)[-1] - 2, -1, -1):
        s[..., j] += c[..., j + 1] * s[..., j + 1]
    return s


def after_zeros(x: Any, count: int) -> Any:
    """``x`` with so many zeros before it along its last axis.

    Example:
        >>> after_zeros(np.array([1.0, 2.0]), 1)
        array([0., 1., 2.])
    """
    return np.concatenate((np.zeros_like(x, shape=(*x.shape[:-1], count)), x), axis=-1)
