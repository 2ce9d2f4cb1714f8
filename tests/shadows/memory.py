"""Shadows of arrays: bytes beside the extent of memory that an array is a view of."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tests.shadows.refs import NotSupported, Stop, isa

Array = np.ndarray[Any, Any]
_serial = itertools.count()


class Extent:
    """A piece of memory that arrays share; ``bar`` are the bytes of its shadow, None where they are all zero."""

    def __init__(self, start: int, size: int, owner: Any) -> None:
        self.serial = next(_serial)
        self.start, self.size = start, size
        #: What owns it, where it is not held weakly.
        self.owner = owner
        self.is_active = False
        #: The size of the real numbers in it, once there are any.
        self.item: int | None = None
        self.bar: Array | None = None
        #: For each byte when it was written, of what was after the first `stop_gradient`.
        self.times: Array | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """The identity and layout of an array: what is needed to find its shadow, and no more."""

    extent: Extent
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def has_shadow(self) -> bool:
        return self.dtype.kind in "fc"

    @property
    def is_zero(self) -> bool:
        return self.extent.bar is None

    def shadow(self) -> Array:
        """The same view of the shadow; it holds ``x_bar + i y_bar`` for ``x + i y``."""
        if self.extent.bar is None:
            self.extent.bar = np.zeros(max(self.extent.size, 1), np.uint8)
        if 0 in self.shape:
            return np.zeros(self.shape, self.dtype)
        return np.ndarray(self.shape, self.dtype, self.extent.bar, self.offset, self.strides)

    def read(self) -> Array:
        """A copy of the adjoint."""
        return np.conj(self.shadow()).copy()

    def take(self) -> Array:
        """The adjoint, which is zero afterwards."""
        found = self.read()
        self.shadow()[...] = 0
        return found

    def release(self) -> None:
        """Forget the shadow of the whole extent: the adjoint of its allocation."""
        self.extent.bar = None

    def add(self, g: Any, index: Any = ...) -> None:
        """Add an adjoint of the elements at an index, each as often as it is there."""
        if not self.has_shadow:
            return
        g = np.asarray(g)
        g = np.conj(g) if self.dtype.kind == "c" else np.real(g)
        shadow = self.shadow()
        if self.overlaps_itself():
            where = self._positions()[index]
            flat = np.ndarray((self.extent.size // self.dtype.itemsize,), self.dtype, self.extent.bar)
            np.add.at(flat, where, np.broadcast_to(g, where.shape))
        elif index is ...:
            shadow += g
        else:
            np.add.at(shadow, index, g)

    def times(self) -> Array | None:
        """When each element was written; None if none was after the first `stop_gradient`."""
        if self.extent.times is None or 0 in self.shape:
            return None
        strides = tuple(2 * s for s in self.strides)
        return np.ndarray(self.shape, np.int16, self.extent.times, 2 * self.offset, strides)

    def written(self, clock: int, where: Any = ...) -> None:
        """Elements were written at this moment."""
        if clock and 0 not in self.shape:
            if self.extent.times is None:
                self.extent.times = np.full(max(self.extent.size, 1), -1, np.int16)
            times = self.times()
            assert times is not None
            times[where] = clock

    def overlaps_itself(self) -> bool:
        """Whether two elements may be one."""
        reach = self.dtype.itemsize
        for stride, count in sorted((abs(s), n) for s, n in zip(self.strides, self.shape, strict=True) if n > 1):
            if stride < reach:
                return True
            reach = stride * count
        return False

    def _positions(self) -> Array:
        """The place of each element in the extent, in elements."""
        if self.offset % self.dtype.itemsize or any(s % self.dtype.itemsize for s in self.strides):
            raise NotSupported("an array that overlaps itself at parts of elements")
        found = np.full(self.shape, self.offset // self.dtype.itemsize)
        for axis, (stride, count) in enumerate(zip(self.strides, self.shape, strict=True)):
            steps = np.arange(count) * (stride // self.dtype.itemsize)
            found += steps.reshape((-1,) + (1,) * (len(self.shape) - axis - 1))
        return found


class Memory:
    """The extents of one run, found by owner, else by address."""

    def __init__(self) -> None:
        self.owners: dict[int, tuple[Any, Extent]] = {}
        self.foreign: list[Extent] = []
        #: How many references were stopped so far.
        self.clock = 0

    def extent(self, array: Array) -> Extent:
        """The extent of the memory that an array is a view of."""
        owner: Any = array
        last = array
        while (base := owner.obj if isa(owner, memoryview) else getattr(owner, "base", None)) is not None:
            owner = base
            last = owner if isa(owner, np.ndarray) else last
        if not isa(owner, np.ndarray) or not owner.flags.owndata:
            return self._foreign(last, owner)
        start, end = byte_bounds(owner)
        found = self.owners.get(id(owner))
        if found is not None and found[0]() is owner:
            if (found[1].start, found[1].size) != (start, end - start):
                raise NotSupported("the memory of an array was replaced (resize)")
            return found[1]
        made = Extent(start, end - start, None)
        self.owners[id(owner)] = weakref.ref(owner, self._forgetter(id(owner))), made
        return made

    def reads(self, array: Array, stop: Stop | None) -> Any:
        """Which elements are active as a reference reads them: True for all, False for none, or a mask."""
        extent = self.extent(array)
        if stop is None or not extent.is_active:
            return extent.is_active
        times = self.token(array).times()
        mask = False if times is None else times >= stop.time
        return mask if np.any(mask) else False

    def _forgetter(self, key: int) -> Callable[[Any], None]:
        def forget(dead: Any) -> None:
            if key in self.owners and self.owners[key][0] is dead:
                del self.owners[key]

        return forget

    def _foreign(self, array: Array, owner: Any) -> Extent:
        """The extent of memory that no array owns."""
        start, end = byte_bounds(array)
        for reference, known in list(self.owners.values()):
            if known.start <= start and end <= known.start + known.size and reference() is not None:
                return known
        for known in self.foreign:
            if known.start <= start and end <= known.start + known.size:
                return known
            if start < known.start + known.size and known.start < end:
                raise NotSupported("arrays that overlap in part, in memory that no array owns")
        made = Extent(start, end - start, (array, owner))
        self.foreign.append(made)
        return made

    def token(self, array: Array) -> Token:
        """What is needed to find the shadow of an array.

        Raises:
            NotSupported: if active memory is read in another precision.
        """
        extent = self.extent(array)
        kind = array.dtype.kind
        if kind in "fc":
            item = array.dtype.itemsize // (2 if kind == "c" else 1)
            if extent.item not in (None, item) and extent.is_active:
                raise NotSupported("active memory is read in another precision")
            extent.item = item
        elif extent.is_active and kind not in "V":
            raise NotSupported(f"active memory is read as {array.dtype}")
        offset = array.__array_interface__["data"][0] - extent.start
        return Token(extent, offset, array.shape, array.strides, array.dtype)
