"""Derivatives of ``reduce``, ``accumulate`` and ``reduceat`` of any universal function of two operands.

Each step is a call of the function, ``s[i] = f(s[i - 1], x[i])``, of which the derivative is made when it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.calls import adjoint_like, forward, pushed

Array = Any
Function = Any


def reduced_by(array: Array, function: Function, axis: Any = 0, keepdims: bool = False) -> Array:
    """``function.reduce(array, axis, keepdims=keepdims)``."""
    return function.reduce(array, axis, keepdims=keepdims)


def accumulated_by(array: Array, function: Function, axis: int = 0) -> Array:
    """``function.accumulate(array, axis)``."""
    return function.accumulate(array, axis)


def reduced_between(array: Array, function: Function, indices: Any, axis: int = 0) -> Array:
    """``function.reduceat(array, indices, axis)``."""
    return function.reduceat(array, indices, axis)


def _rows(array: Array, axis: int) -> np.ndarray:
    return np.moveaxis(np.asarray(array), axis, 0)


def _axes(array: Array, axis: Any) -> tuple[int, ...]:
    """The axes of a reduction, which goes over them as over one."""
    ndim = np.ndim(array)
    chosen = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return tuple(i % ndim for i in chosen)


def _slices(array: Array, axes: tuple[int, ...]) -> np.ndarray:
    """The operands of a reduction, along the first axis."""
    moved = np.moveaxis(np.asarray(array), axes, range(len(axes)))
    return np.reshape(moved, (-1, *moved.shape[len(axes) :]))


def _in_place(found: np.ndarray, array: Array, axes: tuple[int, ...]) -> np.ndarray:
    """What belongs to the operands of a reduction, in the shape of the array."""
    shape = np.shape(array)
    moved = np.reshape(found, (*[shape[i] for i in axes], *found.shape[1:]))
    return np.moveaxis(moved, range(len(axes)), axes)


def _with_identity(function: Function, rows: np.ndarray) -> tuple[list[np.ndarray], int]:
    """The operands of a reduction, which begins with the identity if the function has one, and how many are before."""
    if function.identity is None:
        return list(rows), 0
    return [np.full(rows.shape[1:], function.identity, rows.dtype), *rows], 1


def _checked(function: Function, state: Any, z: Any) -> None:
    """Raise where a reduction is not what its steps give: NumPy's vector code for some functions is wrong there."""
    if not np.allclose(state, z, rtol=1e-5, atol=0, equal_nan=True):
        name = function.__name__
        raise UndefinedDerivativeError(
            f"a reduction by np.{name} gives something else than its steps, in this version of NumPy",
            f"Loop over the axis: z = x[0], then z = np.{name}(z, x[i]).",
        )


def _backwards(function: Function, rows: Sequence[Any], bars: Sequence[Any], z: Any) -> list[Any]:
    """The adjoints of the operands of a chain of calls that ends in ``z``, of those of its results.

    ``rows[0]`` is the first of the results.
    """
    state, pulls = rows[0], []
    for row in rows[1:]:
        state, pull = forward(function, (0, 1), state, row)
        pulls.append((pull, state))
    _checked(function, state, z)
    found: list[Any] = []
    weights = bars[-1]
    for (pull, state), bar in zip(reversed(pulls), list(bars)[-2::-1], strict=True):
        before, row_bar = pull(adjoint_like(weights, state))
        found.append(row_bar)
        weights = before + bar
    return [weights, *reversed(found)]


def _forwards(function: Function, rows: Sequence[Any], dots: Sequence[Any], z: Any) -> list[Any]:
    """The tangents of the results of a chain of calls that ends in ``z``."""
    state, state_dot = rows[0], dots[0]
    found = [state_dot]
    for row, dot in zip(rows[1:], dots[1:], strict=True):
        state, state_dot = pushed(function, (0, 1), (state_dot, dot), state, row)
        found.append(state_dot)
    _checked(function, state, z)
    return found


def reduced_adjoint(
    z_bar: Array, z: Array, array: Array, function: Function, axis: Any = 0, keepdims: bool = False
) -> Array:
    """The adjoint of ``array`` in `reduced_by`."""
    axes = _axes(array, axis)
    rows = _slices(array, axes)
    found = np.zeros(rows.shape, rows.dtype)
    if len(rows):
        operands, before = _with_identity(function, rows)
        last, end = (np.squeeze(v, axes) if keepdims else v for v in (z_bar, z))
        found[...] = _backwards(function, operands, [*[0.0] * (len(operands) - 1), last], end)[before:]
    return _in_place(found, array, axes)


def reduced_tangent(
    array_dot: Array, z: Array, array: Array, function: Function, axis: Any = 0, keepdims: bool = False
) -> Array:
    """The tangent of `reduced_by`."""
    axes = _axes(array, axis)
    rows, dots = _slices(array, axes), _slices(array_dot, axes)
    if not len(rows):
        return np.zeros(np.shape(z))
    operands, before = _with_identity(function, rows)
    end = np.squeeze(z, axes) if keepdims else z
    found = _forwards(function, operands, [*[np.zeros(rows.shape[1:])] * before, *dots], end)[-1]
    return np.expand_dims(found, axes) if keepdims else found


def accumulated_adjoint(z_bar: Array, z: Array, array: Array, function: Function, axis: int = 0) -> Array:
    """The adjoint of ``array`` in `accumulated_by`."""
    rows = _rows(array, axis)
    found = np.zeros(rows.shape, rows.dtype)
    if len(rows):
        found[...] = _backwards(function, list(rows), list(_rows(z_bar, axis)), _rows(z, axis)[-1])
    return np.moveaxis(found, 0, axis)


def accumulated_tangent(array_dot: Array, z: Array, array: Array, function: Function, axis: int = 0) -> Array:
    """The tangent of `accumulated_by`."""
    rows, dots = _rows(array, axis), _rows(array_dot, axis)
    found = np.zeros(rows.shape, rows.dtype)
    if len(rows):
        found[...] = _forwards(function, list(rows), list(dots), _rows(z, axis)[-1])
    return np.moveaxis(found, 0, axis)


def _parts(indices: Any, count: int) -> list[slice]:
    """What ``reduceat`` reduces for each index: up to the next one, or the item alone where that is not later."""
    starts = [int(i) + count * (i < 0) for i in np.asarray(indices)]
    ends = [*starts[1:], count]
    return [slice(start, max(end, start + 1)) for start, end in zip(starts, ends, strict=True)]


def reduced_between_adjoint(
    z_bar: Array, z: Array, array: Array, function: Function, indices: Any, axis: int = 0
) -> Array:
    """The adjoint of ``array`` in `reduced_between`."""
    rows, bars, ends = _rows(array, axis), _rows(z_bar, axis), _rows(z, axis)
    found = np.zeros(rows.shape, rows.dtype)
    for k, part in enumerate(_parts(indices, len(rows))):
        size = part.stop - part.start
        found[part] += np.stack(_backwards(function, list(rows[part]), [*[0.0] * (size - 1), bars[k]], ends[k]))
    return np.moveaxis(found, 0, axis)


def reduced_between_tangent(
    array_dot: Array, z: Array, array: Array, function: Function, indices: Any, axis: int = 0
) -> Array:
    """The tangent of `reduced_between`."""
    rows, dots = _rows(array, axis), _rows(array_dot, axis)
    parts = _parts(indices, len(rows))
    ends = _rows(z, axis)
    found = [_forwards(function, list(rows[p]), list(dots[p]), end)[-1] for p, end in zip(parts, ends, strict=True)]
    return np.moveaxis(np.array(found).reshape(len(parts), *rows.shape[1:]), 0, axis)


def element_places(shape: tuple[int, ...], index: Any) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The places of the elements that ``x[index]`` takes of an array, each with its place in the result.

    Example:
        >>> element_places((3,), [2, 0, 2])
        [((2,), (0,)), ((0,), (1,)), ((2,), (2,))]
    """
    taken = np.arange(int(np.prod(shape))).reshape(shape)[index]
    places = [tuple([int(i) for i in np.unravel_index(at, shape)]) for at in np.ravel(taken)]
    return list(zip(places, np.ndindex(np.shape(taken)), strict=True))
