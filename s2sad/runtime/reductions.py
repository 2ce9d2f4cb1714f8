"""Derivatives of the methods of universal functions: parts of an axis, running extremes, tables of all pairs."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2sad.runtime.arrays import Shape, unbroadcast
from s2sad.runtime.linear import untake, untake_along_axis


def reduceat_places(indices: Any, n: int) -> tuple[Any, Any]:
    """Return which elements of an axis of length ``n`` go into the results of ``reduceat``, and into which.

    >>> reduceat_places([0, 2, 1], 4)
    (array([0, 1, 2, 1, 2, 3]), array([0, 0, 1, 2, 2, 2]))
    """
    starts = np.asarray(indices)
    ends = np.append(starts[1:], n)
    lengths = np.maximum(ends - starts, 1)
    owners = np.repeat(np.arange(starts.size), lengths)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(starts, lengths) + np.arange(owners.size) - first, owners


def unreduceat(g: Any, shape: Shape, indices: Any, axis: int = 0) -> Any:
    """Return the adjoint of an array of ``shape``, given ``g``, that of ``np.add.reduceat(a, indices, axis)``.

    >>> unreduceat(np.array([1.0, 5.0]), (3,), [0, 2])
    array([1., 1., 5.])
    """
    starts, n = np.asarray(indices), shape[axis]
    if np.all(starts[1:] > starts[:-1]):
        # No element is in two parts.
        repeated = np.moveaxis(np.repeat(g, np.append(starts[1:], n) - starts, axis), axis, 0)
        whole = np.zeros((n, *np.shape(repeated)[1:]), repeated.dtype)
        whole[starts[0] :] = repeated
        return np.moveaxis(whole, 0, axis)
    places, owners = reduceat_places(indices, n)
    return untake(np.take(g, owners, axis), shape, places, axis)


def running_places(a: Any, z: Any, axis: int = 0) -> Any:
    """Return where each running maximum or minimum ``z`` of ``a`` along ``axis`` comes from: the first of equal ones.

    >>> running_places(np.array([1.0, 3.0, 2.0, 3.0]), np.array([1.0, 3.0, 3.0, 3.0]))
    array([0, 1, 1, 1])
    """
    moved, running = np.moveaxis(a, axis, -1), np.moveaxis(z, axis, -1)
    new = np.ones(moved.shape, bool)
    new[..., 1:] = (moved[..., 1:] == running[..., 1:]) & (running[..., 1:] != running[..., :-1])
    places = np.maximum.accumulate(np.where(new, np.arange(moved.shape[-1]), 0), axis=-1)
    return np.moveaxis(places, -1, axis)


def running_adjoint(g: Any, a: Any, z: Any, axis: Any = 0) -> Any:
    """Return the adjoint of ``a``, given ``g``, that of the running maximum or minimum ``z``.

    >>> running_adjoint(np.array([1.0, 1.0, 1.0]), np.array([1.0, 3.0, 2.0]), np.array([1.0, 3.0, 3.0]))
    array([1., 2., 0.])
    """
    axis = _single(axis)
    return untake_along_axis(g, np.shape(a), running_places(a, z, axis), axis)


def running_tangent(a_dot: Any, a: Any, z: Any, axis: Any = 0) -> Any:
    """Return the tangent of the running maximum or minimum ``z`` of ``a``, given that of ``a``.

    >>> running_tangent(np.array([1.0, 5.0, 7.0]), np.array([1.0, 3.0, 2.0]), np.array([1.0, 3.0, 3.0]))
    array([1., 5., 5.])
    """
    axis = _single(axis)
    return np.take_along_axis(a_dot, running_places(a, z, axis), axis)


def _single(axis: Any) -> int:
    """The axis of an accumulation; NumPy takes a tuple of one as well, and None for an array of one axis."""
    return 0 if axis is None else operator.index(axis[0] if isinstance(axis, tuple) else axis)


def outer_left(g: Any, a: Any) -> Any:
    """Return the sum of ``g`` over the axes behind those of ``a``, the first operand of a table of all pairs.

    >>> outer_left(np.ones((2, 3)), np.zeros(2))
    array([3., 3.])
    """
    return np.sum(g, axis=tuple(range(np.ndim(a), np.ndim(g))))


def outer_right(g: Any, b: Any) -> Any:
    """Return the sum of ``g`` over the axes before those of ``b``, the second operand of a table of all pairs.

    >>> outer_right(np.ones((2, 3)), np.zeros(3))
    array([2., 2., 2.])
    """
    return unbroadcast(np.sum(g, axis=tuple(range(np.ndim(g) - np.ndim(b)))), np.shape(b))


def column(a: Any, b: Any) -> Any:
    """Return ``a`` with as many axes of length one behind its own as ``b`` has.

    >>> column(np.array([1.0, 2.0]), np.zeros(3)).shape
    (2, 1)
    """
    return np.reshape(a, np.shape(a) + (1,) * np.ndim(b))
