"""Where NumPy's writing functions write, as an index: what their adjoints take out of a shadow.

None of them raises for what NumPy refuses, since the writing function itself runs after them and says so.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import Shape

Index = tuple[Any, ...]


def flat_places(shape: Shape, indices: Any, count: int = 1) -> Index:
    """The index of an array that ``np.put(a, indices, values)`` writes: one array of positions for each axis.

    ``shape`` is that of the array, ``count`` the number of values: without any nothing is written.

    Raises:
        UndefinedDerivativeError: for several elements of an array without axes.

    >>> flat_places((2, 3), [1, -1])
    (array([0, 1]), array([1, 2]))
    """
    size = math.prod(shape)
    flat = np.ravel(indices).astype(int)[: None if size and count else 0]
    return _unraveled(flat % size, shape) if size else (flat,) * len(shape)


def _unraveled(places: Any, shape: Shape) -> Index:
    """The index of an array of ``shape`` that has the elements at some places, in one row."""
    if shape:
        return np.unravel_index(places, shape)
    if len(places) > 1:
        what = "the one element of an array without axes is written or read several times at once"
        raise UndefinedDerivativeError(what, "Write a[()] = value instead.")
    # A truth value is an index that gives one element, or none, along an axis of its own.
    return (np.bool_(len(places)),)


def flat_index(shape: Shape, index: Any) -> Index:
    """The index of an array of ``shape`` that has the items of ``a.flat[index]``.

    Raises:
        IndexError: as ``a.flat[index]`` does.
        UndefinedDerivativeError: for an index of more than one axis, and several elements of an array without axes.

    >>> flat_index((2, 3), slice(None, None, 4))
    (array([0, 1]), array([0, 1]))
    """
    size = math.prod(shape)
    places: Any = np.arange(*index.indices(size)) if isinstance(index, slice) else np.arange(size)[index]
    if np.ndim(places) > 1:
        raise UndefinedDerivativeError("an index of a.flat has several axes", "Index the array itself.")
    return _unraveled(places, shape) if np.ndim(places) else np.unravel_index(places, shape)


def flat_values(values: Any, shape: Shape, index: Any) -> Any:
    """What ``a.flat[index] = values`` writes into an array of ``shape``: one value, or one for each item.

    Raises:
        ValueError: as NumPy does for several values and one item.
        UndefinedDerivativeError: for no values, of which NumPy writes nothing.

    >>> flat_values(np.array([1.0, 2.0]), (2, 2), slice(3))
    array([1., 2., 1.])
    """
    if np.ndim(values) == 0:
        return values
    size = math.prod(shape)
    if isinstance(index, slice):
        count = len(range(*index.indices(size)))
    else:
        places: Any = np.arange(size)[index]
        if np.ndim(places) == 0:
            raise ValueError("Error setting single item of array.")
        count = len(places)
    if np.size(values) == 0:
        raise UndefinedDerivativeError("no values are stored in a.flat", "Leave this out where there are none.")
    return np.asarray(values) if np.shape(values) == (count,) else np.resize(values, count)


def diagonal_places(shape: Shape, wrap: bool = False, count: int = 1) -> Index:
    """The index of an array of ``shape`` that ``np.fill_diagonal(a, values, wrap)`` writes.

    >>> diagonal_places((4, 2))
    (array([0, 1]), array([0, 1]))
    """
    end = None
    if len(shape) == 2:
        step = shape[1] + 1
        if not wrap:
            end = shape[1] * shape[1]
    else:
        step = 1 + int(np.cumprod(shape[:-1]).sum())
    return flat_places(shape, np.arange(math.prod(shape))[:end:step], count)


def along_places(shape: Shape, indices: Any, axis: int) -> Index:
    """The index of an array of ``shape`` that ``np.put_along_axis(a, indices, values, axis)`` writes.

    >>> along_places((2, 3), np.array([[1], [0]]), 1)
    (array([[0],
           [1]]), array([[1],
           [0]]))
    """
    axis = axis % max(len(shape), 1)
    ndim = np.ndim(indices)
    along = [np.arange(n).reshape([-1 if i == k else 1 for i in range(ndim)]) for k, n in enumerate(shape)]
    return (*along[:axis], np.asarray(indices), *along[axis + 1 :])


def mask_places(shape: Shape, mask: Any, count: int = 1) -> Any:
    """What ``np.place(a, mask, values)`` and ``np.putmask`` write of an array of ``shape``, as booleans.

    >>> mask_places((3,), [0, 2, 1])
    array([False,  True,  True])
    """
    return np.resize(np.asarray(mask).astype(bool), shape) & (count > 0)


def unread(into: Any, values: Any, index: Any) -> None:
    """Refuse to write elements of an array, of a mask or through ``into.flat``, from the array itself.

    NumPy takes them one by one there, and may read what it has written already.

    Args:
        into: What is written.
        values: What is read.
        index: A mask, or what `flat_index` gives; anything else reads first.

    Raises:
        UndefinedDerivativeError: if it does.
    """
    if not (isinstance(values, np.ndarray) and values.size > 1 and np.may_share_memory(into, values)):
        return
    if isinstance(index, tuple) or np.asarray(index).dtype == bool:
        written, read = addresses(into)[index].ravel(), addresses(values).ravel()
        places, first = np.unique(written, return_index=True)
        at = np.searchsorted(places, read).clip(max=len(places) - 1)
        if len(places) and np.any((places[at] == read) & (first[at] < np.arange(len(read)))):
            raise UndefinedDerivativeError(
                "this writes elements of an array into the array itself, one by one", "Copy them first: x.copy()."
            )


def addresses(x: Any) -> Any:
    """Where the elements of an array are in memory."""
    found = np.asarray(x.__array_interface__["data"][0])
    for n, stride in zip(x.shape, x.strides, strict=True):
        found = found[..., None] + stride * np.arange(n)
    return found
