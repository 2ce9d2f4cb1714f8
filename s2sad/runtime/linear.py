"""Transposes of NumPy's shaping, gathering and joining functions.

Emitted adjoints call these where no single NumPy function is the transpose.
``untake`` is the transpose of ``np.take``, ``untile`` that of ``np.tile``, and so on;
``g`` is always the adjoint of the function's result, and the answer has the shape and
structure of the argument.  All of them return fresh arrays or views of ``g``, never
write into ``g``, and need NumPy only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.trees import sequence_like

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
Shape = tuple[int, ...]


def like(g: Any, structure: Any) -> Any:
    """Take the adjoint of ``np.array(structure)`` apart into the structure's own form.

    Lists and tuples (named ones too) are rebuilt at every level; a scalar gets a
    scalar, an array its part of ``g``.  A real leaf gets the real part.

    Example:
        >>> like(np.array([[1.0, 2.0], [3.0, 4.0]]), [(0.5, 0.5), [0.5, 0.5]])
        [(np.float64(1.0), np.float64(2.0)), [np.float64(3.0), np.float64(4.0)]]
    """
    if isinstance(structure, (list, tuple)):
        items = [like(g[i], item) for i, item in enumerate(structure)]
        return rebuild(structure, items)
    if np.iscomplexobj(g) and not np.iscomplexobj(structure):
        g = np.real(g)
    if np.size(g) == 1 and np.ndim(g) > np.ndim(structure) == 0:  # a number where NumPy takes it for an array of one
        g = np.reshape(g, ())
    return g[()] if isinstance(structure, (int, float, complex)) and isinstance(g, np.ndarray) else g


def rebuild(container: Any, items: list[Any]) -> Any:
    """Put ``items`` into a container of the same type as ``container``: list, tuple, named tuple or array."""
    if isinstance(container, tuple):
        return sequence_like(container, items)
    if isinstance(container, list):
        return items
    # An array was taken as the sequence of its first axis.
    return np.stack(items) if items else np.zeros_like(container)


def cast(t: Any, dtype: Any) -> Any:
    """Return the tangent of a conversion to ``dtype``: ``t`` converted, or zero where ``dtype`` holds no fractions."""
    if not np.issubdtype(dtype, np.inexact):
        return np.zeros_like(t)
    if np.iscomplexobj(t) and not np.issubdtype(dtype, np.complexfloating):
        t = np.real(t)
    return np.asarray(t).astype(dtype)[()]


def uncast(g: Any, dtype: Any, a: Any) -> Any:
    """Return the adjoint of ``a`` where ``g`` is that of ``a`` converted to ``dtype``.

    It has the dtype of ``a`` (if that is one with fractions) and is zero where ``dtype`` is not inexact.
    """
    own = np.result_type(a) if not isinstance(a, (list, tuple)) else np.asarray(a).dtype
    if not np.issubdtype(dtype, np.inexact):
        if np.dtype(dtype).kind not in "iub":
            raise UndefinedDerivativeError(
                f"no derivative passes through numbers of dtype {dtype}", "Use a float dtype."
            )
        return np.zeros_like(g, dtype=own if np.issubdtype(own, np.inexact) else float)
    if np.iscomplexobj(g) and not np.issubdtype(dtype, np.complexfloating):
        # The imaginary part of `a` has been dropped.
        g = np.real(g)
    return cast(g, own) if np.issubdtype(own, np.inexact) else g


def unfirst(g: Any, xs: Any, dtype: Any) -> Any:
    """Return the adjoint of ``np.array(xs)``, given ``g``, that of its first elements converted to ``dtype``.

    >>> unfirst(np.array([1.0, 2.0]), [0.5, 1.5, 2.5], float)
    array([1., 2., 0.])
    """
    whole = np.asarray(xs)
    g = uncast(g, dtype, whole)
    return np.append(g, np.zeros_like(g, shape=len(whole) - len(g)))


def layout_order(order: str, a: Any) -> Literal["C", "F"]:
    """Return ``"C"`` or ``"F"``, whichever ``order`` means for the memory layout of ``a``.

    Raises:
        UndefinedDerivativeError: ``order`` is ``"K"`` and ``a`` is laid out in neither way.
    """
    if order in ("C", "F"):
        return "C" if order == "C" else "F"
    array = np.asarray(a)
    if np.isfortran(array):
        return "F"
    if order == "A" or array.flags.c_contiguous:
        return "C"
    raise UndefinedDerivativeError(
        "order='K' of an array that is not contiguous has no derivative", "Pass order='C' or 'F'."
    )


def inverse_axes(axes: Any, ndim: int) -> Any:
    """Return the ``axes`` that undo a transposition by others, of an array with ``ndim`` axes; None those by None.

    >>> inverse_axes((2, 0, 1), 3), inverse_axes(None, 3)
    ((1, 2, 0), None)
    """
    return None if axes is None else tuple(np.argsort(np.mod(axes, ndim)).tolist())


# --- gathering ---


def untake(g: Any, shape: Shape, indices: Any, axis: int | None = None, mode: str = "raise") -> Array:
    """Transpose of ``np.take``: add the entries of ``g`` up at ``indices`` in zeros of ``shape``.

    Example:
        >>> untake(np.array([1.0, 2.0, 4.0]), (3,), np.array([0, 2, 0]))
        array([5., 0., 2.])
    """
    indices = np.asarray(indices)
    if indices.dtype == bool:
        # Truth values are places here, and no mask.
        indices = indices.astype(int)
    length = math.prod(shape) if axis is None or not shape else shape[axis]
    if mode == "wrap":
        indices = indices % length
    elif mode == "clip":
        indices = np.clip(indices, 0, length - 1)
    g_bar = np.zeros_like(g, order="C", shape=shape)
    if not g_bar.size:
        # `np.resize` makes zeros of nothing.
        return g_bar
    if axis is None or not shape:
        flat = g_bar.reshape(-1)
        np.add.at(flat, indices, np.reshape(g, indices.shape))
        return g_bar
    axis = axis % len(shape)
    # NumPy adds up fast where all is in one row.
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    places = np.arange(outer)[:, np.newaxis] * length + np.ravel(indices) % length
    if inner != 1:
        places = places[..., np.newaxis] * inner + np.arange(inner)
    np.add.at(g_bar.reshape(-1), np.ravel(places), np.ravel(g))
    return g_bar


def unflat_values(g: Any, shape: Shape) -> Any:
    """Transpose of ``flat_values``: what is stored several times gets the sum.

    >>> unflat_values(np.array([1.0, 2.0, 4.0]), (2,))
    array([5., 2.])
    """
    if np.shape(g) == shape:
        return g
    return untake(g, shape, np.resize(np.arange(math.prod(shape)), np.shape(g)))


def untake_along_axis(g: Any, shape: Shape, indices: Any, axis: int | None) -> Array:
    """Transpose of ``np.take_along_axis``, broadcasting and repeated indices included."""
    g_bar = np.zeros_like(g, order="C", shape=shape)
    if axis is None:
        np.add.at(g_bar.reshape(-1), np.asarray(indices), g)
        return g_bar
    axis = axis % len(shape)
    ndim = len(shape)
    places = [np.arange(n).reshape((-1,) + (1,) * (ndim - d - 1)) for d, n in enumerate(shape)]
    places[axis] = np.asarray(indices)
    np.add.at(g_bar, tuple(places), g)
    return g_bar


def undelete(g: Any, shape: Shape, obj: Any, axis: int | None) -> Array:
    """Transpose of ``np.delete``: zeros at what was deleted."""
    length = math.prod(shape) if axis is None else shape[axis]
    return untake(g, shape, np.delete(np.arange(length), obj), axis)


def undiagonal(g: Any, shape: Shape, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Transpose of ``np.diagonal``: ``g`` on the diagonal of zeros of ``shape``, which are no integers."""
    g_bar = np.zeros(shape, np.result_type(g, 0.0))
    diagonal = np.diagonal(g_bar, offset, axis1, axis2)
    diagonal.flags.writeable = True
    diagonal[...] = g
    return g_bar


def untrace(g: Any, shape: Shape, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Transpose of ``np.trace``: ``g`` repeated along the diagonal of zeros of ``shape``."""
    return undiagonal(np.expand_dims(g, -1), shape, offset, axis1, axis2)


def undiag(g: Any, shape: Shape, k: int = 0) -> Array:
    """Transpose of ``np.diag`` in both its forms: of a vector and of a matrix."""
    return np.diag(g, k) if len(shape) == 1 else undiagonal(g, shape, k)


# --- repeating ---


def unrepeat(g: Any, shape: Shape, repeats: Any, axis: int | None = None) -> Array:
    """Transpose of ``np.repeat``: the sum over the copies of each element.

    Example:
        >>> unrepeat(np.array([1.0, 2.0, 3.0, 4.0]), (2,), 2)
        array([3., 7.])
    """
    if axis is None:
        return np.reshape(unrepeat(g, (math.prod(shape),), repeats, 0), shape)
    if not shape:
        return np.sum(g, axis=axis)  # type: ignore[no-any-return]
    axis = axis % len(shape)
    length = shape[axis]
    if np.size(repeats) == 1:
        times = int(np.reshape(repeats, ())[()])
        split = np.reshape(g, (*shape[: axis + 1], times, *shape[axis + 1 :]))
        if 0 < times < 8 and axis == len(shape) - 1:
            # Sums along a short last axis are slow.
            total = split[..., 0].copy()
            for i in range(1, times):
                total += split[..., i]
            return total
        return np.sum(split, axis=axis + 1)  # type: ignore[no-any-return]
    return untake(g, shape, np.repeat(np.arange(length), repeats), axis)


def untile(g: Any, shape: Shape, reps: Any) -> Array:
    """Transpose of ``np.tile``: the sum over the copies."""
    times = (int(reps),) if np.ndim(reps) == 0 else tuple(int(n) for n in reps)
    ndim = max(len(times), len(shape))
    times = (1,) * (ndim - len(times)) + times
    sizes = (1,) * (ndim - len(shape)) + tuple(shape)
    split = np.reshape(g, [n for pair in zip(times, sizes, strict=True) for n in pair])
    return np.reshape(np.sum(split, axis=tuple(range(0, 2 * ndim, 2))), shape)


def unrollaxis(g: Any, axis: int, start: int = 0) -> Any:
    """Transpose of ``np.rollaxis``: the axis goes back to where it was."""
    ndim = np.ndim(g)
    axis, start = axis % ndim, start + ndim if start < 0 else start
    return np.moveaxis(g, start - 1 if axis < start else start, axis)


def unmeshgrid(g: Any, index: int, shape: Shape, indexing: str = "xy") -> Any:
    """Transpose of one result of ``np.meshgrid``: the sum along every axis but that of vector ``index``."""
    ndim = np.ndim(g)
    own = 1 - index if indexing == "xy" and index < 2 <= ndim else index
    # ``sparse=True`` leaves axes of length one, for which the sum is right too.
    return np.reshape(np.sum(g, axis=tuple(d for d in range(ndim) if d != own)), shape)


def spread_vector(v: Any, shape: Shape, index: int, indexing: str = "xy") -> Any:
    """Transpose of `unmeshgrid`: vector ``v`` along its own axis of a grid of ``shape``."""
    own = 1 - index if indexing == "xy" and index < 2 <= len(shape) else index
    return np.broadcast_to(np.reshape(v, [np.size(v) if d == own else 1 for d in range(len(shape))]), shape)


# --- joining ---


def unconcatenate(g: Any, arrays: Any, axis: int | None = 0) -> Any:
    """Transpose of ``np.concatenate``: ``g`` cut into pieces like ``arrays``, in a container of the same type."""
    if axis is None:
        return _pieces(g, arrays, 0, [np.size(a) for a in arrays])
    return _pieces(g, arrays, axis, [np.shape(a)[axis] for a in arrays])


def unsplit(g: Any, ary: Any, cuts: Any, axis: int = 0) -> Any:
    """Transpose of ``np.split`` at ``cuts``: the parts side by side, or added where they overlap.

    Of a list NumPy ends the last part where the list ends, along whichever axis.

    >>> unsplit([np.ones(3), np.ones(0), np.ones(4)], np.zeros(5), [3, 1])
    array([1., 2., 2., 1., 1.])
    """
    joined = np.concatenate(g, axis)
    n = np.shape(ary)[axis]
    if joined.shape[axis] == n and hasattr(ary, "shape"):
        return joined
    whole = np.zeros(np.shape(ary), joined.dtype)
    rows = np.moveaxis(whole, axis, 0)
    if not np.ndim(cuts):
        rows[: joined.shape[axis]] = np.moveaxis(joined, axis, 0)
        return whole
    for part, start, stop in zip(g, [0, *cuts], [*cuts, n if hasattr(ary, "shape") else len(ary)], strict=True):
        rows[start:stop] += np.moveaxis(part, axis, 0)
    return whole


def unstack(g: Any, arrays: Any, axis: int = 0) -> Any:
    """Transpose of ``np.stack``: the layers of ``g`` along ``axis``, in a container of the same type as ``arrays``."""
    layers = np.moveaxis(g, axis, 0)
    return rebuild(arrays, [like(layer, a) for layer, a in zip(layers, arrays, strict=True)])


def unvstack(g: Any, tup: Any) -> Any:
    """Transpose of ``np.vstack``."""
    return _pieces(g, tup, 0, [np.shape(a)[0] if np.ndim(a) > 1 else 1 for a in tup])


def unhstack(g: Any, tup: Any) -> Any:
    """Transpose of ``np.hstack``."""
    if np.ndim(g) == 1:
        return _pieces(g, tup, 0, [np.size(a) for a in tup])
    return _pieces(g, tup, 1, [np.shape(a)[1] for a in tup])


def undstack(g: Any, tup: Any) -> Any:
    """Transpose of ``np.dstack``."""
    return _pieces(g, tup, 2, [np.shape(a)[2] if np.ndim(a) > 2 else 1 for a in tup])


def uncolumn_stack(g: Any, tup: Any) -> Any:
    """Transpose of ``np.column_stack``."""
    return _pieces(g, tup, 1, [np.shape(a)[1] if np.ndim(a) > 1 else 1 for a in tup])


def unblock(g: Any, arrays: Any) -> Any:
    """Transpose of ``np.block``: the blocks of ``g``, nested as ``arrays`` are."""
    if not isinstance(arrays, list):
        return like(np.reshape(g, np.shape(arrays)), arrays)
    depth = _depth(arrays)
    return _unblock(g, arrays, max(np.ndim(g), depth), depth)


def _unblock(g: Any, block: Any, ndim: int, depth: int) -> Any:
    if not isinstance(block, list):
        return like(np.reshape(g, np.shape(block)), block)
    parts: list[Any] = []
    start = 0
    for part in block:
        length = _block_shape(part, ndim, depth - 1)[-depth]
        index = (slice(None),) * (ndim - depth) + (slice(start, start + length),)
        parts.append(_unblock(g[index], part, ndim, depth - 1))
        start += length
    return parts


def _block_shape(block: Any, ndim: int, depth: int) -> list[int]:
    """Return the shape of ``np.block(block)`` as a block of ``ndim`` dimensions."""
    if not isinstance(block, list):
        return [1] * (ndim - np.ndim(block)) + list(np.shape(block))
    shapes = [_block_shape(part, ndim, depth - 1) for part in block]
    shapes[0][-depth] = sum(shape[-depth] for shape in shapes)
    return shapes[0]


def _depth(block: Any) -> int:
    return 1 + _depth(block[0]) if isinstance(block, list) else 0


def _pieces(g: Any, arrays: Any, axis: int, lengths: Sequence[int]) -> Any:
    """Cut ``g`` along ``axis`` into ``lengths``, each piece in the shape and structure of its array."""
    lead = (slice(None),) * (axis % np.ndim(g))
    pieces: list[Any] = []
    start = 0
    for a, length in zip(arrays, lengths, strict=True):
        piece = g[(*lead, slice(start, start + length))]
        pieces.append(like(np.reshape(piece, np.shape(a)), a))
        start += length
    return rebuild(arrays, pieces)
