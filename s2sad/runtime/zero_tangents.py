"""Tangents of constants: zeros, which share memory where the constants do."""

from __future__ import annotations

import collections
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.copies import apart_like, is_instance, is_repeated, laid_out_like
from s2sad.runtime.objects import Unset
from s2sad.runtime.overlaps import overlap
from s2sad.runtime.parts import attributes
from s2sad.runtime.positions import addresses
from s2sad.runtime.sharing import arrays_in
from s2sad.runtime.trees import dataclass_fields, own, real_like, sequence_like, with_fields, zeros
from s2sad.runtime.undefined import Undefined

#: Numbers of all dtypes lie at multiples of this or less.
_ALIGNMENT = 16


def zero_tangent(x: Any) -> Any:
    """The tangent of a constant: zeros in the structure of ``x``; None of what is neither a number nor holds any.

    That of a namespace or an object of a class written in Python is a namespace, that of a sparse matrix another one.
    Arrays, lists and dicts that ``x`` holds twice, or that share memory, have tangents that do.

    Example:
        >>> zero_tangent((1.5, [np.ones(2)], "name"))
        (0.0, [array([0., 0.])], None)
    """
    return _Zeros().of(x)


def viewed_tangent(x: Any, source: Any, source_dot: Any, x_dot: Any) -> Any:
    """The tangent of ``x``: that part of the tangent of ``source`` which it is, or else ``x_dot`` as its own.

    Args:
        x: What may be a view of ``source``, or an object of its own; or a list or tuple of such.
        source: An array, or a container, which may be or hold ``x`` or an item of it.
        source_dot: Its tangent, in the same layout.
        x_dot: The values of the tangent of ``x``.

    Raises:
        UndefinedDerivativeError: if they overlap and ``x`` is no part of ``source``.
    """
    return viewed_tangents(x, (source,), (source_dot,), x_dot)


def viewed_tangents(x: Any, sources: Sequence[Any], dots: Sequence[Any], x_dot: Any) -> Any:
    """The tangent of ``x``, where each array that it is or holds may be a view of one of several.

    Args:
        x: An array, or a container.
        sources: Arrays, or containers of such.
        dots: Their tangents, in the same layouts.
        x_dot: The values of the tangent of ``x``.

    Raises:
        UndefinedDerivativeError: if an array overlaps one of the sources and is no part of it.
    """
    if isinstance(x, (list, tuple, dict)):
        for source, dot in zip(sources, dots, strict=True):
            for found in _held(x, source, dot):
                return found
    if isinstance(x, (list, tuple)):
        items = zip(x, x_dot, strict=True)
        return sequence_like(x, [viewed_tangents(item, sources, dots, item_dot) for item, item_dot in items])
    if isinstance(x, dict) and isinstance(x_dot, dict):
        return {key: viewed_tangents(x[key], sources, dots, dot) for key, dot in dict.items(x_dot)}
    if isinstance(x, np.ndarray) and x.dtype.kind in "biu":
        # Of whole numbers nothing varies, whatever they are a part of.
        return own_tangent(x_dot, x)
    for whole, whole_dot in zip(sources, dots, strict=True):
        for source, dot in _arrays_of(whole, whole_dot):
            if _is_viewed(x, source):
                return _part_like(x, source, dot)
    return own_tangent(x_dot, x)


def _arrays_of(source: Any, source_dot: Any) -> Iterator[tuple[Any, Any]]:
    """An array, or those that a container holds, each with its tangent."""
    if isinstance(source, dict) and isinstance(source_dot, dict):
        for key, item in dict.items(source):
            if key in source_dot:
                yield from _arrays_of(item, source_dot[key])
    elif isinstance(source, (list, tuple)) and isinstance(source_dot, (list, tuple)) and len(source) == len(source_dot):
        for item, dot in zip(source, source_dot, strict=True):
            yield from _arrays_of(item, dot)
    else:
        yield source, source_dot


def _held(x: Any, source: Any, source_dot: Any) -> Iterator[Any]:
    """The tangent of a container ``x`` that is a source, or held by one: what is written into one is in both."""
    if x is source:
        yield source_dot
    elif isinstance(source, dict) and isinstance(source_dot, dict):
        for key, item in source.items():
            if isinstance(item, (list, tuple, dict)) and key in source_dot:
                yield from _held(x, item, source_dot[key])
    elif isinstance(source, (list, tuple)) and isinstance(source_dot, (list, tuple)) and len(source) == len(source_dot):
        for item, dot in zip(source, source_dot, strict=True):
            if isinstance(item, (list, tuple, dict)):
                yield from _held(x, item, dot)


def own_tangent(x_dot: Any, x: Any) -> Any:
    """A tangent that shares memory with nothing; of an array in its shape, layout and dtype, so that views match.

    That of a number is a number, also where it is an item: one that is an array would be changed in place by ``+=``.
    """
    if isinstance(x, (list, tuple)) and isinstance(x_dot, (list, tuple)) and len(x) == len(x_dot):
        return sequence_like(x, [own_tangent(item_dot, item) for item_dot, item in zip(x_dot, x, strict=True)])
    if not isinstance(x, np.ndarray) or isinstance(x_dot, Undefined):
        return x_dot[()] if isinstance(x_dot, np.ndarray) and not x_dot.ndim else own(x_dot)
    if x.dtype.kind not in "fc":
        return np.zeros(x.shape)
    made = apart_like(x)
    # That of real eigenvalues and vectors is found among complex numbers.
    made[...] = x_dot if x.dtype.kind == "c" else np.real(x_dot)
    return made


def joined_tangent(x_dot: Any, x: Any) -> Any:
    """A tangent as `own_tangent`, but a list, tuple or dict of its own keeps the tangents of what it holds.

    That is ``a + b`` where the types do not say what it is: its items are those of ``a`` and ``b``.
    """
    return x_dot if isinstance(x, (list, tuple, dict)) else own_tangent(x_dot, x)


def joined_tangent_adjoint(g: Any, x_dot: Any, x: Any) -> Any:
    """The adjoint of ``x_dot`` for ``g``, that of ``joined_tangent(x_dot, x)``."""
    return g if isinstance(x, (list, tuple, dict)) else own_tangent_adjoint(g, x_dot, x)


def own_tangent_adjoint(g: Any, x_dot: Any, x: Any) -> Any:
    """The adjoint of ``x_dot`` for ``g``, that of ``own_tangent(x_dot, x)``."""
    if isinstance(x, (list, tuple)) and isinstance(g, (list, tuple)) and len(x) == len(g):
        return sequence_like(x, [own_tangent_adjoint(*item) for item in zip(g, x_dot, x, strict=True)])
    if not isinstance(x, np.ndarray):
        return g
    shape = np.shape(x_dot)
    return unbroadcast(g, shape) if x.dtype.kind in "fc" else np.zeros(shape)


def viewed_tangent_source(g: Any, x: Any, source: Any, source_dot: Any) -> Any:
    """The adjoint of ``source_dot`` for ``g``, that of ``viewed_tangent(x, source, source_dot, x_dot)``."""
    _require_single(x)
    made = zeros(source_dot)
    if _is_viewed(x, source):
        made = apart_like(source)
        part = _part_like(x, source, made)
        _set_sums(part, real_like(g, part))
    return made


def _set_sums(x: Any, values: Any) -> None:
    """Set the elements of an array; those that are one in memory to the sum of their values."""
    if not is_repeated(x):
        x[...] = values
        return
    _, first, places = np.unique(addresses(x), return_index=True, return_inverse=True)
    sums = np.zeros(len(first), x.dtype)
    np.add.at(sums, places.ravel(), np.broadcast_to(values, x.shape).ravel())
    x[np.unravel_index(first, x.shape)] = sums


def viewed_tangent_own(g: Any, x: Any, source: Any, x_dot: Any) -> Any:
    """The adjoint of ``x_dot`` for ``g``, that of ``viewed_tangent(x, source, source_dot, x_dot)``."""
    _require_single(x)
    return zeros(x_dot) if _is_viewed(x, source) else own_tangent_adjoint(g, x_dot, x)


def _require_single(x: Any) -> None:
    if isinstance(x, (list, tuple)):
        raise UndefinedDerivativeError(
            "several results may be parts of an array that is written in place", "Take copies of the results."
        )


def _is_viewed(x: Any, source: Any) -> bool:
    return isinstance(x, np.ndarray) and isinstance(source, np.ndarray) and overlap(x, source)


class _Zeros:
    """Zeros for values; of those that share memory, zeros that do."""

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}
        #: What ``made`` has the identities of.
        self.alive: list[Any] = []

    def keep(self, x: Any, dot: Any) -> Any:
        """Note the tangent of an object, for all places that hold it."""
        self.made[id(x)] = dot
        self.alive.append(x)
        return dot

    def of(self, x: Any) -> Any:
        """The tangent of a value."""
        if not isinstance(x, (np.ndarray, float, int, complex, np.number, np.bool_, str, type(None))):
            for arrays in _that_share(a for a in arrays_in(x) if a.dtype.kind in "fc" and a.size):
                self.share(arrays)
        return self.part(x)

    def share(self, arrays: list[Any]) -> None:
        """Note tangents of arrays in one memory, which lie in it as these do in theirs."""
        if all(a is arrays[0] for a in arrays):
            self.keep(arrays[0], laid_out_like(arrays[0]))
            return
        low, high = _extent(arrays)
        low -= low % _ALIGNMENT
        memory = np.zeros(high - low, np.uint8)
        for a in arrays:
            self.keep(a, np.ndarray(a.shape, a.dtype, memory, _start(a) - low, a.strides))

    def part(self, x: Any) -> Any:
        """The tangent of a part of a value, whose arrays have theirs."""
        if isinstance(x, (float, int, complex, np.number, np.bool_)):
            return 0.0
        if id(x) in self.made:
            return self.made[id(x)]
        if isinstance(x, np.ndarray):
            return self.keep(x, self.array(x))
        if isinstance(x, tuple):
            return sequence_like(x, [self.part(item) for item in x])
        if isinstance(x, list):
            return self.keep(x, sequence_like(x, [self.part(item) for item in x]))
        if isinstance(x, collections.deque):
            return self.keep(x, collections.deque([self.part(item) for item in x], x.maxlen))
        if isinstance(x, dict):
            return self.keep(x, {key: self.part(item) for key, item in dict.items(x)})
        if type(x) is Unset:
            return x
        fields = dataclass_fields(x)
        if fields is not None:
            return self.keep(x, with_fields(x, {name: self.part(getattr(x, name)) for name in fields}))
        matrix = _zero_matrix(x)
        if matrix is not None:
            return self.keep(x, matrix)
        if is_instance(x) or type(x) is types.SimpleNamespace:
            made = self.keep(x, types.SimpleNamespace())
            vars(made).update((name, self.part(value)) for name, value in attributes(x))
            return made
        return np.zeros_like(x) if hasattr(x, "__array_function__") else None

    def array(self, x: Any) -> Any:
        """The tangent of an array that shares memory with no other."""
        if x.dtype.kind not in "fc":
            # The fields of a structured array are arrays.
            return np.zeros(x.shape, x.dtype if x.dtype.names else float)
        return laid_out_like(x)


def _zero_matrix(x: Any) -> Any:
    """The tangent of a constant sparse matrix or linear operator, which is multiplied as that is; None for others."""
    sparse = sys.modules.get("scipy.sparse")
    if sparse is None:
        return None
    if sparse.issparse(x):
        return type(x)(x.shape)
    return 0.0 * x if isinstance(x, sparse.linalg.LinearOperator) else None


def _that_share(arrays: Iterable[Any]) -> Iterator[list[Any]]:
    """The arrays whose extents in memory overlap, together."""
    group: list[Any] = []
    for a in sorted(arrays, key=lambda a: np.lib.array_utils.byte_bounds(a)[0]):
        if group and np.lib.array_utils.byte_bounds(a)[0] >= _extent(group)[1]:
            yield group
            group = []
        group.append(a)
    if group:
        yield group


def _extent(arrays: list[Any]) -> tuple[int, int]:
    """Where the memory of some arrays begins and ends."""
    bounds = [np.lib.array_utils.byte_bounds(a) for a in arrays]
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def _part_like(x: Any, source: Any, dot: Any) -> Any:
    """The part of ``dot`` that ``x`` is of ``source``; it may be its real or imaginary part."""
    alike = isinstance(dot, np.ndarray) and dot.strides == source.strides and dot.dtype == source.dtype
    if alike and x.dtype != source.dtype and x.dtype == source.real.dtype:
        source, dot = _components(source), _components(dot)
    alike = alike and x.dtype == source.dtype
    first = _place(_start(x) - _start(source), source) if alike else None
    if first is None or not _is_within(x, source, first):
        raise UndefinedDerivativeError(
            "arrays overlap here of which neither is surely a part of the other, and one is written in place",
            "Take a copy of one of them (x.copy()).",
        )
    rest = dot[tuple([slice(i, None) for i in first])] if first else dot
    return np.lib.stride_tricks.as_strided(rest, x.shape, x.strides)


def _components(z: Any) -> Any:
    """The real and imaginary parts of a complex array along a last axis, in its memory."""
    return np.lib.stride_tricks.as_strided(z.real, (*z.shape, 2), (*z.strides, z.itemsize // 2))


def _start(x: Any) -> int:
    """The address of the first element."""
    found: int = x.__array_interface__["data"][0]
    return found


def _place(shift: int, x: Any) -> tuple[int, ...] | None:
    """The index of the element of ``x`` that is ``shift`` bytes after its first; None if there is none."""
    left = shift - sum(min(0, (n - 1) * stride) for n, stride in zip(x.shape, x.strides, strict=True))
    found = [0] * x.ndim
    for axis in sorted(range(x.ndim), key=lambda i: -abs(x.strides[i])):
        n, stride = x.shape[axis], x.strides[axis]
        steps = min(left // abs(stride), n - 1) if stride else 0
        left -= steps * abs(stride)
        found[axis] = steps if stride >= 0 else n - 1 - steps
    return None if left else tuple(found)


def _is_within(x: Any, source: Any, first: tuple[int, ...]) -> bool:
    """Whether every element of ``x``, whose first is at an index of ``source``, surely is one of ``source``."""
    (low, high), (start, end) = map(np.lib.array_utils.byte_bounds, (x, source))
    if end - start == source.nbytes and all(stride % x.itemsize == 0 for stride in x.strides):
        return bool(start <= low and high <= end)
    # Places in source are linear in the indices of x: the extremes are at corners.
    lows, highs = list(first), list(first)
    for n, stride in zip(x.shape, x.strides, strict=True):
        after = _place(_start(x) - _start(source) + stride, source) if n > 1 else first
        if after is None:
            return False
        for axis, (i, k) in enumerate(zip(first, after, strict=True)):
            lows[axis] += min(0, (n - 1) * (k - i))
            highs[axis] += max(0, (n - 1) * (k - i))
    return all(low >= 0 and high < n for low, high, n in zip(lows, highs, source.shape, strict=True))
