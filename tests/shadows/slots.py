"""Shadows of what holds references: one adjoint for each slot that holds a number.

A slot is an index of a list or tuple, a key of a dict, an attribute of an instance (in its dictionary), a member in
``__slots__``, a global name, or what a cell holds.  An array or container in a slot has its shadow at its own place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.shadows.refs import Node, Ref, Stop, is_number, isa

#: The mark of a slot that holds an active number.
ACTIVE = object()


class Slots:
    """What is known of the slots of one object: ``marks`` in the forward part, ``bars`` in the reverse part.

    Both are sparse: the shadow needs neither the length nor the order of the object that it belongs to.
    """

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        self.marks: dict[Any, Any] = {}
        self.bars: dict[Any, Any] = {}
        #: When slots were stored to, of those that were after the first `stop_gradient`.
        self.times: dict[Any, int] = {}


class AllSlots:
    """The slots of all objects of one run."""

    def __init__(self, log: Callable[[Callable[[], None]], None], used: set[str] | None = None) -> None:
        #: Which mechanisms were needed.
        self.used = set() if used is None else used
        self.known: dict[int, Slots] = {}
        self.log = log
        #: How many references were stopped so far.
        self.clock = 0
        #: The objects whose slots were changed.
        self.changed: set[int] = set()

    def of(self, holder: Any) -> Slots:
        found = self.known.get(id(holder))
        if found is None:
            found = self.known[id(holder)] = Slots(holder)
        return found

    def load(self, holder: Any, key: Any, item: Any, stop: Stop | None = None) -> Ref:
        """A reference to what a slot holds, read through a reference that may be stopped."""
        slots = self.known.get(id(holder))
        mark = None if slots is None else slots.marks.get(key)
        if stop is not None and slots is not None and slots.times.get(key, -1) >= stop.time:
            stop = None
        if is_number(item):
            if stop is not None or mark is not ACTIVE or slots is None:
                return Ref(item)
            return Ref(item, self._read(slots, key))
        return Ref(item, later(stop, mark if isa(mark, Stop) else None))

    def _read(self, slots: Slots, key: Any) -> Node:
        node = Node()

        def back() -> None:
            g = node.take()
            if g is not None:
                slots.bars[key] = g if key not in slots.bars else slots.bars[key] + g

        self.log(back)
        return node

    def store(self, holder: Any, key: Any, ref: Ref) -> None:
        """A slot holds something else now, or is new.

        Its adjoint goes to what was stored, and is zero before.
        """
        self.changed.add(id(holder))
        slots = self.known.get(id(holder))
        if self.clock:
            slots = self.of(holder)
            slots.times[key] = self.clock
        if ref.mark is None and (slots is None or key not in slots.marks):
            return
        slots = self.of(holder)
        node = ref.mark if isa(ref.mark, Node) else None
        if node is not None:
            slots.marks[key] = ACTIVE
            self.used.add("numbers in cells" if key is None else "numbers in slots")
        elif isa(ref.mark, Stop):
            slots.marks[key] = ref.mark
        else:
            slots.marks.pop(key, None)

        def back(slots: Slots = slots) -> None:
            g = slots.bars.pop(key, None)
            if g is not None and node is not None:
                node.add(g)

        self.log(back)

    def rename(self, holder: Any, moved: Mapping[Any, Any]) -> None:
        """The slots of an object changed their keys: ``moved`` has the new key of each that is still there.

        The adjoint is the opposite change; the adjoint of a slot that went is zero before.
        """
        self.changed.add(id(holder))
        slots = self.known.get(id(holder))
        if slots is None:
            return
        slots.marks = {moved[k]: mark for k, mark in slots.marks.items() if k in moved}
        slots.times = {moved[k]: time for k, time in slots.times.items() if k in moved}
        opposite = {new: old for old, new in moved.items()}

        def back() -> None:
            slots.bars = {opposite[k]: g for k, g in slots.bars.items() if k in opposite}

        self.log(back)

    def is_active(self, holder: Any, key: Any) -> bool:
        slots = self.known.get(id(holder))
        return slots is not None and slots.marks.get(key) is ACTIVE

    def peek(self, holder: Any, key: Any, item: Any, stop: Stop | None) -> Ref:
        """As `load`, of what is not read."""
        slots = self.known.get(id(holder))
        mark = None if slots is None else slots.marks.get(key)
        if stop is not None and slots is not None and slots.times.get(key, -1) >= stop.time:
            stop = None
        if is_number(item):
            return Ref(item, Node() if stop is None and mark is ACTIVE else None)
        return Ref(item, later(stop, mark if isa(mark, Stop) else None))


def later(one: Stop | None, two: Stop | None) -> Stop | None:
    """The later of two moments: what was written between them is constant for who reads through both."""
    if one is None or two is None:
        return one or two
    return one if one.time >= two.time else two
