"""Views by strides of one's own, ``np.lib.stride_tricks.as_strided``: which element of the array each of theirs is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.linear import untake

Array = Any


def _offsets(shape: Sequence[int], strides: Sequence[int]) -> Array:
    """Where each element stands, in bytes behind the first one."""
    found = np.zeros(shape, np.int64)
    for axis, (count, stride) in enumerate(zip(shape, strides, strict=True)):
        found += np.int64(stride) * np.arange(count).reshape(-1, *[1] * (len(shape) - 1 - axis))
    return found


def _places(x: Array, shape: Any, strides: Any) -> Array:
    """For each element of the view its place in ``x``, counted along the last axis first.

    Raises:
        UndefinedDerivativeError: if one is no element of ``x``, but something else in its memory.
    """
    shape = x.shape if shape is None else tuple(shape)
    wanted = _offsets(shape, x.strides if strides is None else tuple(strides))
    if not wanted.size:
        return wanted
    own = _offsets(x.shape, x.strides).ravel()
    order = np.argsort(own, kind="stable")
    places = order[np.minimum(np.searchsorted(own, wanted, sorter=order), own.size - 1)] if own.size else wanted
    if not own.size or np.any(own[places] != wanted):
        what = "np.lib.stride_tricks.as_strided reads memory that is not an element of the array that it is given"
        raise UndefinedDerivativeError(what, "Give it shape and strides within the array, or use an index.")
    return places


def strided(x_dot: Array, x: Array, shape: Any = None, strides: Any = None) -> Array:
    """The elements of ``x_dot`` that a view of ``x`` has.

    >>> strided(np.array([1.0, 2.0, 4.0]), np.zeros(3), (2, 2), (8, 8))
    array([[1., 2.],
           [2., 4.]])
    """
    x = np.asarray(x)
    return np.ravel(np.broadcast_to(x_dot, x.shape))[_places(x, shape, strides)]


def unstrided(g: Array, x: Array, shape: Any = None, strides: Any = None) -> Array:
    """The transpose: the entries of ``g`` added up where ``x`` has the elements of the view.

    >>> unstrided(np.array([[1.0, 2.0], [4.0, 8.0]]), np.zeros(3), (2, 2), (8, 8))
    array([1., 6., 8.])
    """
    x = np.asarray(x)
    return untake(g, x.shape, _places(x, shape, strides))
