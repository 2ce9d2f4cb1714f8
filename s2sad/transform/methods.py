"""Methods of lists, dicts, sets and the like of known structure."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from s2sad.ir.code import NONE, Constant, Operation
from s2sad.transform import set_operators
from s2sad.transform.constants import compared
from s2sad.transform.containers import (
    MAPPINGS,
    change,
    computed,
    items_of,
    key_of,
    keyed,
    position,
    put,
    run_through,
    slot,
    stream,
)
from s2sad.transform.existing import DICTS
from s2sad.transform.held import held_items, is_held
from s2sad.transform.keys import key_operand
from s2sad.transform.known import Abstract, Cell, Content, Items, Known, Method, Row, Stream
from s2sad.transform.ordering import in_order, put_in_order
from s2sad.transform.selected import got
from s2sad.transform.specialiser import Done, Frame, Specialiser

Args = Sequence[tuple[str, Abstract]]


class Receiver:
    """A container whose method is called: what it holds, and what the method is given."""

    def __init__(self, s: Specialiser, items: Items, content: Content, args: Args, op: Operation, frame: Frame) -> None:
        self.s, self.items, self.content, self.op, self.frame = s, items, content, op, frame
        self.values = [s.plain(value) for kind, value in args if not kind]
        self.named = {kind: s.plain(value) for kind, value in args if kind}
        self.slots, self.keys = content.slots, content.keys or ()

    def whole(self, least: int, most: int, *names: str) -> bool:
        """Whether the method is given no more than it takes."""
        return least <= len(self.values) <= most and self.named.keys() <= set(names)

    def number(self, at: int, default: int) -> int | None:
        """An argument that is a whole number."""
        if at >= len(self.values):
            return default
        value = self.values[at]
        return value.value if isinstance(value, Constant) and type(value.value) is int else None

    def contents(self) -> list[Abstract]:
        return [self.s.state[cell] for cell in self.slots]

    # --- sequences

    def append(self) -> Done:
        if not self.whole(1, 1):
            return None
        used = self.s.used
        change(self.s, self.items, (*self.slots, slot(self.s, self.values[0])))
        # The frontend knows this one.
        self.s.used = used or self.items.cls is deque
        return (NONE,)

    def appendleft(self) -> Done:
        return self._put_at(0, self.values[0], -1) if self.whole(1, 1) else None

    def insert(self) -> Done:
        at = self.number(0, 0)
        return self._put_at(at, self.values[1]) if at is not None and self.whole(2, 2) else None

    def _put_at(self, at: int, value: Abstract, pushed: int | None = None) -> Done:
        """Put an item somewhere; of a full ``deque`` another one is ``pushed`` out."""
        slots = list(self.slots)
        if self.items.cls is deque and isinstance(most := self.content.factory, Constant) and len(slots) == most.value:
            if pushed is None or not slots:
                return None
            del slots[pushed]
        slots.insert(at, slot(self.s, value))
        change(self.s, self.items, slots)
        return (NONE,)

    def extend(self, left: bool = False) -> Done:
        more = run_through(self.s, self.values[0]) if self.whole(1, 1) else None
        if more is None:
            return None
        content = self.s.content(self.items)
        assert content is not None
        if left and content.factory is not None:
            return None
        new = [slot(self.s, value) for value in more]
        change(self.s, self.items, (*new[::-1], *content.slots) if left else (*content.slots, *new))
        return (NONE,)

    def extendleft(self) -> Done:
        return self.extend(True)

    def pop(self) -> Done:
        if self.items.cls in MAPPINGS:
            return self._pop_key()
        at = self.number(0, -1)
        if at is None or not self.whole(0, 1) or not -len(self.slots) <= at < len(self.slots):
            return None
        slots = list(self.slots)
        taken = self.s.state[slots.pop(at)]
        change(self.s, self.items, slots)
        return (taken,)

    def popleft(self) -> Done:
        if not self.slots or not self.whole(0, 0):
            return None
        change(self.s, self.items, self.slots[1:])
        return (self.s.state[self.slots[0]],)

    def remove(self) -> Done:
        if self.items.cls is set:
            return self._without(True)
        at = self._found() if self.whole(1, 1) else None
        if at is None:
            return None
        change(self.s, self.items, [*self.slots[:at], *self.slots[at + 1 :]])
        return (NONE,)

    def _found(self) -> int | None:
        """Where the first argument is."""
        for number, held in enumerate(self.contents()):
            same = _is_same(self.s, self.values[0], held)
            if same is None:
                return None
            if same:
                return number
        return None

    def index(self) -> Done:
        at = self._found() if self.whole(1, 1) else None
        if at is None:
            return None
        self.s.used = True
        return (Constant(at),)

    def count(self) -> Done:
        found = [_is_same(self.s, self.values[0], held) for held in self.contents()] if self.whole(1, 1) else [None]
        return None if None in found else (Constant(sum(map(bool, found))),)

    def reverse(self) -> Done:
        if not self.whole(0, 0):
            return None
        change(self.s, self.items, self.slots[::-1])
        return (NONE,)

    def rotate(self) -> Done:
        by = self.number(0, 1)
        if by is None or not self.whole(0, 1):
            return None
        order = deque(self.slots)
        order.rotate(by)
        change(self.s, self.items, list(order))
        return (NONE,)

    def sort(self) -> Done:
        if not self.whole(0, 0, "key", "reverse"):
            return None
        order = in_order(self.s, self.contents(), self.named, self.op, self.frame)
        if order is not None:
            change(self.s, self.items, [self.slots[at] for at in order])
            return (NONE,)
        items = put_in_order(self.s, self.contents(), self.named, self.op, self.frame)
        if items is None:
            return None
        change(self.s, self.items, [slot(self.s, item) for item in items])
        return (NONE,)

    def clear(self) -> Done:
        change(self.s, self.items, (), None if self.content.keys is None else ())
        return (NONE,)

    def copy(self) -> Done:
        self.s.used = True
        return (items_of(self.s, self.contents(), self.content.keys, self.items.cls, self.content.factory),)

    # --- mappings

    def get(self) -> Done:
        key = key_of(self.s, self.values[0]) if self.whole(1, 2) else None
        if key is None:
            place = self.frame.place or self.op.place
            return got(self.s, self.items, self.values, self.op, place) if self.whole(1, 2) else None
        self.s.used = True
        at = position(self.content, key.value)
        if at is not None:
            return (self.s.state[self.slots[at]],)
        return (self.values[1] if len(self.values) > 1 else NONE,)

    def setdefault(self) -> Done:
        key = key_of(self.s, self.values[0]) if self.whole(1, 2) else None
        if key is None:
            return None
        self.s.used = True
        at = position(self.content, key.value)
        if at is not None:
            return (self.s.state[self.slots[at]],)
        value = self.values[1] if len(self.values) > 1 else NONE
        put(self.s, self.items, key.value, value)
        return (value,)

    def _pop_key(self) -> Done:
        key = key_of(self.s, self.values[0]) if self.whole(1, 2) else None
        at = None if key is None else position(self.content, key.value)
        if key is None or (at is None and len(self.values) == 1):
            return None
        self.s.used = True
        return (self.values[1],) if at is None else (self._taken(at),)

    def _taken(self, at: int) -> Abstract:
        """The item at a place, which is removed."""
        value = self.s.state[self.slots[at]]
        keys = (*self.keys[:at], *self.keys[at + 1 :])
        change(self.s, self.items, (*self.slots[:at], *self.slots[at + 1 :]), keys)
        return value

    def popitem(self) -> Done:
        if not self.slots or not self.whole(0, 0):
            return None
        key = key_operand(self.keys[-1])
        return (Row((key, self._taken(len(self.slots) - 1))),)

    def move_to_end(self) -> Done:
        key = key_of(self.s, self.values[0]) if self.whole(1, 1) else None
        at = None if key is None else position(self.content, key.value)
        if at is None or key is None:
            return None
        value = self._taken(at)
        put(self.s, self.items, key.value, value)
        return (NONE,)

    def update(self) -> Done:
        if self.items.cls is set:
            return self._add_all()
        if self.items.cls is Counter:
            return self._counted("+")
        found: list[tuple[object, Abstract]] = []
        if not self.whole(0, 1, *self.named):
            return None
        for other in self.values:
            content = self.s.content(other) if isinstance(other, Items) else None
            if content is not None and content.keys is not None:
                found += zip(content.keys, [self.s.state[cell] for cell in content.slots], strict=True)
                continue
            if isinstance(other, Known) and is_held(other) and type(other.value) in DICTS:
                held = held_items(self.s, other)
                if held is None:
                    return None
                found += held.items()
                continue
            pairs = keyed(self.s, run_through(self.s, other))
            if pairs is None:
                return None
            found += pairs
        for key, value in (*found, *self.named.items()):
            put(self.s, self.items, key, value)
        self.s.used = True
        return (NONE,)

    def subtract(self) -> Done:
        return self._counted("-")

    def _counted(self, sign: str) -> Done:
        """Add the numbers under the keys of another dict to those of a `Counter`, or subtract them."""
        other = self.values[0] if self.whole(1, 1) else None
        content = self.s.content(other) if isinstance(other, Items) and other.cls in MAPPINGS else None
        if content is None or content.keys is None:
            return None
        for key, cell in zip(content.keys, content.slots, strict=True):
            now = self.s.content(self.items)
            at = None if now is None else position(now, key)
            held = Constant(0) if at is None or now is None else self.s.state[now.slots[at]]
            both = (held, self.s.state[cell]) if sign == "-" else (self.s.state[cell], held)
            put(self.s, self.items, key, computed(self.s, "binary", sign, both, self.op, self.frame))
        self.s.used = True
        return (NONE,)

    def keys_(self) -> Done:
        done = self._view([key_operand(key) for key in self.keys])
        return (replace(done[0], is_keys=True),) if isinstance(done, tuple) and isinstance(done[0], Stream) else done

    def values_(self) -> Done:
        return self._view(self.slots)

    def items_(self) -> Done:
        return self._view([Row((key_operand(k), v)) for k, v in zip(self.keys, self.slots, strict=True)])  # type: ignore[arg-type]

    def _view(self, items: Sequence[Abstract | Cell]) -> Done:
        return (stream(self.s, items, [self.items], True),) if self.whole(0, 0) else None

    # --- sets

    def add(self) -> Done:
        key = key_of(self.s, self.values[0]) if self.whole(1, 1) else None
        if key is None:
            return None
        change(self.s, self.items, (), tuple(dict.fromkeys((*self.keys, key.value))))
        return (NONE,)

    def discard(self) -> Done:
        return self._without(False)

    def _without(self, must: bool) -> Done:
        key = key_of(self.s, self.values[0]) if self.whole(1, 1) else None
        if key is None or (must and key.value not in self.keys):
            return None
        change(self.s, self.items, (), [other for other in self.keys if other != key.value])
        return (NONE,)

    def _add_all(self) -> Done:
        more = [run_through(self.s, value) for value in self.values]
        keys = [None if row is None else [key_of(self.s, v) for v in row] for row in more]
        if any(row is None or None in row for row in keys):
            return None
        new = [key.value for row in keys if row is not None for key in row if key is not None]
        change(self.s, self.items, (), tuple(dict.fromkeys((*self.keys, *new))))
        return (NONE,)


_OF_LISTS = ("append", "insert", "extend", "pop", "remove", "index", "count", "reverse", "sort", "clear", "copy")
_OF_DICTS = ("get", "setdefault", "pop", "popitem", "update", "keys", "values", "items", "clear", "copy")
_NAMES: dict[type, Sequence[str]] = {
    list: _OF_LISTS,
    deque: (*[n for n in _OF_LISTS if n != "sort"], "appendleft", "extendleft", "popleft", "rotate"),
    dict: _OF_DICTS,
    defaultdict: _OF_DICTS,
    OrderedDict: (*_OF_DICTS, "move_to_end"),
    Counter: (*_OF_DICTS, "subtract"),
    set: ("add", "discard", "remove", "update", "clear", "copy", *set_operators.METHODS),
}
_SHADOWED = {"keys": "keys_", "values": "values_", "items": "items_"}


def method_of_items(s: Specialiser, method: Method, args: Args, op: Operation, frame: Frame) -> Done:
    """A call of a method of a container of known structure."""
    items = method.receiver
    assert isinstance(items, Items)
    content = s.content(items)
    if not isinstance(method.function, Known) or content is None or any(kind in ("*", "**") for kind, _ in args):
        return None
    name = getattr(method.function.value, "__name__", "")
    if name not in _NAMES[items.cls]:
        return None
    if name in set_operators.METHODS:
        return None if any(kind for kind, _ in args) else set_operators.asked(s, name, items, [v for _, v in args])
    receiver = Receiver(s, items, content, args, op, frame)
    if receiver.named and name not in ("sort", "update"):
        return None
    run: Callable[[], Done] = getattr(receiver, _SHADOWED.get(name, name))
    return run()


def _is_same(s: Specialiser, value: Abstract, held: Abstract) -> bool | None:
    """Whether an item of a list is equal to a value, if that is known."""
    if value is held and not isinstance(value, Constant):
        # Lists ask whether it is the same object first.
        return True
    if isinstance(value, Known) and isinstance(held, Known) and callable(value.value) and callable(held.value):
        return value.value is held.value
    return compared("==", s.plain(value), s.plain(held))
