"""The same elements in another shape: reshaped, transposed, with more axes or fewer, in triangles, on diagonals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from s2sad.ir.sizes import Dims, is_natural, number_of
from s2sad.ir.sums import literal_size
from s2sad.ir.types import Fact, sized
from s2sad.ops.infer.common import (
    Bound,
    Look,
    array_of,
    axis_of,
    certain,
    flat,
    literal,
    numbers_of_shape,
)


def reshaped(b: Bound, fact: Look) -> Fact | None:
    a, shape, value = fact(b["a"]), fact(b["shape"]), literal(b["shape"])
    if value in (-1, (-1,)) and (a.numeric or a.kind == "array"):
        return in_one_row(b, fact)
    dims = numbers_of_shape(shape, b["shape"])
    if dims is None and type(value) is tuple and a.dims is not None:
        dims = _completed(value, a.dims)
    if dims is not None and not all(is_natural(d) for d in dims):
        # One of them may be -1.
        dims = None
    length = len(value) if type(value) is tuple else len(shape.items) if shape.items is not None else None
    return without_axes(a) if dims == () else array_of(dims, 1 if shape.kind == "scalar" else length, a.real)


def without_axes(a: Fact) -> Fact:
    """The one element of ``a`` in no axes: of a number of Python's an array is made, one of NumPy's stays a number."""
    return Fact("array" if a.kind == "array" else "numeric", real=a.real, ndim=0, dims=())


def with_strides(b: Bound, fact: Look) -> Fact | None:
    """Of a shape that is given beside the strides."""
    shape = fact(b["shape"]) if "shape" in b else None
    if shape is None or shape.kind not in ("tuple", "list"):
        return None
    length = None if shape.items is None else len(shape.items)
    return array_of(numbers_of_shape(shape, b["shape"]), length, fact(b["x"]).real)


def _completed(shape: tuple[Any, ...], whole: Dims) -> Dims | None:
    """The sizes of an array with as many elements as there are in ``whole``; one of them is given as -1."""
    sizes = [number_of(size) for size in whole]
    rest = [n for n in shape if n != -1]
    if len(rest) != len(shape) - 1 or not all(type(n) is int and n > 0 for n in rest):
        return None
    count = math.prod([n for n in sizes if n is not None]) // math.prod(rest)
    return None if None in sizes else tuple([literal_size(count if n == -1 else n) for n in shape])


def in_one_row(b: Bound, fact: Look) -> Fact | None:
    """All elements of ``a`` in one row."""
    a = fact(b["a"])
    return a if a.kind == "array" and a.ndim == 1 else array_of(flat(a.dims) if a.dims else None, 1, a.real)


def _permuted(a: Fact, order: Sequence[int]) -> Fact | None:
    return array_of(None if a.dims is None else tuple([a.dims[i] for i in order]), a.ndim, a.real)


def transposed(b: Bound, fact: Look) -> Fact | None:
    a, axes = fact(b["a"]), literal(b["axes"])
    if a.ndim is None:
        return None
    if axes is None:
        return without_axes(a) if a.ndim == 0 else a if a.ndim == 1 else _permuted(a, range(a.ndim)[::-1])
    order = [x % a.ndim for x in axes if type(x) is int] if type(axes) is tuple and a.ndim else []
    return _permuted(a, order) if sorted(order) == list(range(a.ndim)) else array_of(None, a.ndim, a.real)


def matrix_transposed(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["x"])
    return None if a.ndim is None or a.ndim < 2 else _permuted(a, [*range(a.ndim - 2), a.ndim - 1, a.ndim - 2])


def axes_swapped(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    i, j = axis_of(b["axis1"], a.ndim or 0), axis_of(b["axis2"], a.ndim or 0)
    if not a.ndim or i is None or j is None:
        return None
    order = list(range(a.ndim))
    order[i], order[j] = j, i
    return _permuted(a, order)


def axis_moved(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    i, j = axis_of(b["source"], a.ndim or 0), axis_of(b["destination"], a.ndim or 0)
    if not a.ndim or i is None or j is None:
        return array_of(None, a.ndim, a.real)
    order = [k for k in range(a.ndim) if k != i]
    return _permuted(a, [*order[:j], i, *order[j:]])


def expanded(b: Bound, fact: Look) -> Fact | None:
    a, axis = fact(b["a"]), literal(b["axis"])
    axes = axis if isinstance(axis, tuple) else (axis,)
    if a.ndim is None or not all(type(k) is int for k in axes):
        return None
    ndim = a.ndim + len(axes)
    places = {k % ndim for k in axes if -ndim <= k < ndim}
    if len(places) < len(axes):
        return None
    rest = iter(a.dims or ())
    return array_of(
        None if a.dims is None else tuple([1 if k in places else next(rest) for k in range(ndim)]), ndim, a.real
    )


def squeezed(b: Bound, fact: Look) -> Fact | None:
    a, axis = fact(b["a"]), literal(b["axis"])
    if a.dims is None or not all(map(certain, a.dims)):
        return None
    axes = range(len(a.dims)) if axis is None else axis if type(axis) is tuple else (axis,)
    if not all(type(i) is int and -len(a.dims) <= i < len(a.dims) for i in axes):
        return None
    gone = {i % len(a.dims) for i in axes}
    dims = tuple([d for i, d in enumerate(a.dims) if d != 1 or i not in gone])
    return sized(dims, a.real) if dims else without_axes(a)


# --- triangles and diagonals


def triangle(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["m"])
    return a if a.kind == "array" and a.ndim is not None and a.ndim > 1 else None


def to_or_from_diagonal(b: Bound, fact: Look) -> Fact | None:
    v, main = fact(b["v"]), literal(b["k"]) == 0
    if v.ndim == 1:
        return array_of((*v.dims, *v.dims) if v.dims and main else None, 2, v.real)
    if v.ndim == 2:
        square = v.dims is not None and v.dims[0] == v.dims[1]
        return array_of(v.dims[:1] if v.dims and square and main else None, 1, v.real)
    return None


def diagonal(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    return array_of(None, (a.ndim or 1) - 1, a.real)
