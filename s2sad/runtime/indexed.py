"""What ``np.r_`` and ``np.c_`` make of their items, with the derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.linear import like


def r_(*items: Any) -> Any:
    """``np.r_[items]``

    Raises:
        UndefinedDerivativeError: if that is a matrix.

    >>> r_(np.array([1.0, 2.0]), 0.5)
    array([1. , 2. , 0.5])
    """
    if items and isinstance(items[0], str) and not set(items[0]) <= set("0123456789,-"):
        what = f"np.r_[{items[0]!r}, ...] makes a matrix, which has no derivative"
        raise UndefinedDerivativeError(what, "Join the arrays with np.concatenate or np.vstack.")
    return np.r_[items]


def c_(*items: Any) -> Any:
    """``np.c_[items]``

    >>> c_(np.array([1.0, 2.0]), [3.0, 4.0])
    array([[1., 3.],
           [2., 4.]])
    """
    return np.c_[items]


def _places(items: Sequence[Any], columns: bool) -> Any:
    """For each element of the result, from which element of the items it comes, counted from one; 0 for the others."""
    numbers: list[Any] = []
    count = 1
    for item in items:
        if isinstance(item, str):
            numbers.append(item)
        elif isinstance(item, slice):
            numbers.append(np.zeros(len(np.r_[item]), int))
        else:
            numbers.append(np.arange(count, count + np.size(item)).reshape(np.shape(item)))
            count += np.size(item)
    return np.c_[tuple(numbers)] if columns else np.r_[tuple(numbers)]


def joined_adjoints(g: Any, items: Sequence[Any], columns: bool = False) -> tuple[Any, ...]:
    """Return the adjoints of the items, given ``g``, that of ``np.r_[items]`` or ``np.c_[items]``.

    >>> joined_adjoints(np.array([1.0, 2.0, 4.0]), (np.array([0.5, 1.5]), 2.5))
    (array([1., 2.]), np.float64(4.0))
    """
    places = _places(items, columns)
    g = np.asarray(g)
    found = np.zeros_like(g, shape=int(np.max(places, initial=0)) + 1)
    found[places] = g
    bars, count = [], 1
    for item in items:
        if isinstance(item, (str, slice)):
            bars.append(0.0)
        else:
            part = found[count : count + np.size(item)]
            bars.append(like(np.reshape(part, np.shape(item)), item))
            count += np.size(item)
    return tuple(bars)


def joined_tangent(items_dot: Sequence[Any], items: Sequence[Any], columns: bool = False) -> Any:
    """Return the tangent of ``np.r_[items]`` or ``np.c_[items]``; the transpose of `joined_adjoints`.

    >>> joined_tangent((np.array([1.0, 2.0]), 0.0), (np.array([0.5, 1.5]), slice(3)))
    array([1., 2., 0., 0., 0.])
    """
    pairs = [(t, x) for t, x in zip(items_dot, items, strict=True) if not isinstance(x, (str, slice))]
    parts = [np.ravel(np.broadcast_to(t, np.shape(x))) for t, x in pairs]
    return np.concatenate([np.zeros(1, np.result_type(*parts)), *parts])[_places(items, columns)]
