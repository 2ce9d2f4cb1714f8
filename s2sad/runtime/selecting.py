"""Transposes of choices among several arrays, and of elements put between others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import Shape, unbroadcast
from s2sad.runtime.linear import like, rebuild, uncast


def unchoose(g: Any, a: Any, choices: Any, mode: str = "raise") -> Any:
    """Return the adjoint of ``choices``, given ``g``, that of ``np.choose(a, choices, mode=mode)``.

    >>> unchoose(np.array([1.0, 2.0]), np.array([1, 0]), [np.zeros(2), 5.0])
    [array([0., 2.]), np.float64(1.0)]
    """
    n, a = len(choices), np.asarray(a)
    place = a % n if mode == "wrap" else np.clip(a, 0, n - 1) if mode == "clip" else a
    parts = [like(unbroadcast(np.where(place == i, g, 0), np.shape(c)), c) for i, c in enumerate(choices)]
    return rebuild(choices, parts)


def unselect(g: Any, condlist: Sequence[Any], choicelist: Sequence[Any], default: Any) -> tuple[Any, Any]:
    """Return the adjoints of ``choicelist`` and ``default``, given ``g``, that of ``np.select`` of these.

    >>> unselect(np.array([1.0, 2.0]), [np.array([True, False])], [np.zeros(2)], 5.0)
    ([array([1., 0.])], np.float64(2.0))
    """
    left: Any = True
    parts = []
    for condition, choice in zip(condlist, choicelist, strict=True):
        parts.append(like(unbroadcast(np.where(left & condition, g, 0), np.shape(choice)), choice))
        left = left & ~np.asarray(condition)
    return rebuild(choicelist, parts), like(unbroadcast(np.where(left, g, 0), np.shape(default)), default)


def _inserted(shape: Shape, obj: Any, values: Any, axis: int | None) -> Any:
    """Which element of ``values`` stands where in the result of ``np.insert``, counted from one; 0 for the others."""
    numbers = np.arange(1, np.size(values) + 1).reshape(np.shape(values))
    return np.insert(np.zeros(shape, int), obj, numbers, axis)


def uninsert(g: Any, arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Return the adjoint of ``arr``, given ``g``, that of ``np.insert(arr, obj, values, axis)``.

    >>> uninsert(np.array([1.0, 2.0, 4.0]), np.zeros(2), 1, 5.0)
    array([1., 4.])
    """
    shape = np.shape(arr)
    return np.reshape(g[_inserted(shape, obj, values, axis) == 0], shape)


def inserted_values(g: Any, dtype: Any, shape: Shape, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Return the adjoint of ``values``, given ``g``, that of ``np.insert(arr, obj, values, axis)``.

    They are converted to the ``dtype`` of ``arr``, of that ``shape``, so that there is none through integers.

    >>> inserted_values(np.array([1.0, 2.0, 4.0]), float, (2,), 1, 5.0)
    np.float64(2.0)
    """
    places = _inserted(shape, obj, values, axis)
    here = places > 0
    size = math.prod(np.shape(values))
    real = np.bincount(places[here] - 1, np.real(g[here]), size)
    summed = real + 1j * np.bincount(places[here] - 1, np.imag(g[here]), size) if np.iscomplexobj(g) else real
    return like(uncast(np.reshape(summed.astype(g.dtype), np.shape(values)), dtype, values), values)


def piece_conditions(x: Any, condlist: Any, count: int) -> Any:
    """Return the conditions of ``np.piecewise(x, condlist, funclist)`` for so many functions, as it reads them.

    >>> piece_conditions(np.array([1.0, 2.0]), [np.array([True, False])], 2)
    array([[ True, False],
           [False,  True]])
    """
    x = np.asanyarray(x)
    if np.isscalar(condlist) or (not isinstance(condlist[0], (list, np.ndarray)) and x.ndim != 0):
        condlist = [condlist]
    conditions = np.asarray(condlist, dtype=bool)
    if len(conditions) == count - 1:
        conditions = np.concatenate([conditions, ~np.any(conditions, axis=0, keepdims=True)], axis=0)
    elif len(conditions) != count:
        n = len(conditions)
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    return conditions


def result_dtype(value: Any) -> Any:
    """Return the dtype of what ``np.vectorize`` makes of results of which this is the first.

    Raises:
        UndefinedDerivativeError: if these are several or no numbers.

    >>> result_dtype(2.5)
    dtype('float64')
    """
    if np.ndim(value):
        raise UndefinedDerivativeError(
            "np.vectorize of a function whose result is no number has no derivative", "Write one function for each."
        )
    return np.asarray(value).dtype


def trimmed_part(a: Any, trim: str = "fb") -> tuple[slice, ...]:
    """Return the part of ``a`` that ``np.trim_zeros(a, trim)`` leaves.

    >>> trimmed_part(np.array([0.0, 0.0, 1.5, 0.0]))
    (slice(2, 3, None),)
    """
    a = np.asarray(a)
    found = np.argwhere(a)
    if not len(found):
        return tuple([slice(0, 0)] * a.ndim)
    first, last = np.min(found, 0), np.max(found, 0) + 1
    front, back = "f" in trim.lower(), "b" in trim.lower()
    ends = zip(first, last, a.shape, strict=True)
    return tuple([slice(int(i) if front else 0, int(j) if back else n) for i, j, n in ends])


def untrim(g: Any, a: Any, trim: str = "fb") -> Any:
    """Return the adjoint of ``a``, given ``g``, that of ``np.trim_zeros(a, trim)``.

    >>> untrim(np.array([2.0]), np.array([0.0, 0.0, 1.5, 0.0]))
    array([0., 0., 2., 0.])
    """
    whole = np.zeros_like(g, shape=np.shape(a))
    whole[trimmed_part(a, trim)] = g
    return like(whole, a)


def key_order(keys: Sequence[Any], reverse: bool = False) -> list[int]:
    """Return where the items of a list are in order, by their ``keys``.

    >>> key_order([3, 1, 2])
    [1, 2, 0]
    """
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
