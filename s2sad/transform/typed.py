"""Objects of the user's classes to which arguments lead: ``p.energy(x)`` for what ``for p in ps`` gives.

Of the arguments it is known what they are made of (`s2sad.transform.composites`), and so of their attributes and items.
An object is a `Record` of which nothing is ever set: its attributes are read where the program reads them, methods are
followed, and where the object itself is needed it is the operand that it was read as.  There may be several records for
one object.  A list, tuple or dict is a `Typed` operand.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from s2sad.ir.code import Constant, Kind, Operand, Operation, Place, Value
from s2sad.runtime import stop_gradient
from s2sad.transform.cells import State
from s2sad.transform.classes import behaviour_of, name_of
from s2sad.transform.composites import Composite
from s2sad.transform.known import Abstract, Cell, Coded, Known, Late, Method, Record, Row, Typed

if TYPE_CHECKING:
    from s2sad.transform.specialiser import Done, Frame, Specialiser

#: How many items of different classes are taken one by one.
MOST = 16
_VIEWS = ("values", "items")


def seen(s: Specialiser, value: Value, made_of: Composite | None) -> Abstract:
    """What a value is to the specialiser by what it is made of."""
    if made_of is None:
        return value
    if made_of.function is not None:
        s.used = True
        if not made_of.parts:
            return s.outside(made_of.function, name_of(made_of.function))
        receiver = made_of.part("__self__")
        assert receiver is not None
        found = seen(s, _read(s, "attribute", (value,), "__self__"), receiver)
        owner = next((c for c in receiver.cls.__mro__ if made_of.function in vars(c).values()), receiver.cls)
        return Method(Known(made_of.function), found, owner, value)
    if not made_of.is_container or hasattr(made_of.cls, "_fields"):
        s.guard(behaviour_of(made_of.cls))
    return again(s.state, value, made_of)


def again(state: State, value: Value, made_of: Composite) -> Abstract:
    """The same, in a state."""
    if made_of.is_container:
        return Typed(value, made_of)
    record = Record(made_of.cls, own=made_of.own, made_of=made_of)
    state[record.identity] = Constant(None)
    record.fields[""] = Cell(value.name, None, record)
    state[record.fields[""]] = value
    state.settle((record.identity, record.fields[""]))
    return record


def operand_of(state: State, value: Abstract) -> Value | None:
    """The operand of an object, list, tuple or dict that an argument leads to; None of anything else."""
    if isinstance(value, Typed):
        return value.operand
    if isinstance(value, Record) and value.made_of is not None and value.identity in state.settled:
        held = state[value.fields[""]]
        assert isinstance(held, Value)
        return held
    return None


def _read(
    s: Specialiser, kind: Kind, operands: tuple[Operand, ...], data: Any = None, place: Place | None = None
) -> Value:
    """Read an attribute or item.  In an expression no statement can hold what is read: there it is read again."""
    first, *others = operands
    if s.expression and isinstance(first, Value) and first in s.reading:
        first = _read(s, *s.reading[first])
    found = s.emit(kind, (first, *others), data, place=place or s.relied.at)
    s.needless.add(found)
    s.reading[found] = kind, (first, *others), data, place
    return found


def attribute(s: Specialiser, record: Record, name: str, place: Place | None) -> Abstract:
    """An attribute that an argument, or an object to which it leads, has itself."""
    found = _read(s, "attribute", (s.dynamic(s.state[record.fields[""]]),), name, place)
    if record.made_of is not None and name in record.made_of.functions and s.carrying != frozenset():
        stopped = s.outside(stop_gradient, "stop_gradient")
        found = s.emit("call", s.operands([stopped, found], place), ("",), place=place)
        s.needless.add(found)
    return seen(s, found, None if record.made_of is None else record.made_of.part(name))


def row(s: Specialiser, value: Typed) -> tuple[Abstract, ...] | None:
    """The items of a tuple or list, read one by one; None where they are too many."""
    made_of = value.made_of
    if made_of.cls is dict or made_of.item is not None or len(made_of.parts) > MOST:
        return None
    return tuple([item_at(s, value, n) for n in range(len(made_of.parts))])


def named_tuple(s: Specialiser, value: Abstract) -> Abstract:
    """A tuple with named fields, as the row of what these are."""
    if not isinstance(value, Typed) or not value.is_named:
        return value
    fields = [field(s, value, name) for name, _ in value.made_of.parts]
    return Row(tuple(fields), value.cls, value.operand)


def field(s: Specialiser, value: Typed, name: str, place: Place | None = None) -> Abstract:
    """A field of a tuple with named fields."""
    return seen(s, _read(s, "attribute", (value.operand,), name, place), value.made_of.part(name))


def item_at(s: Specialiser, value: Typed, key: Any) -> Abstract:
    """The item at a place or under a key that is known."""
    found = _read(s, "item", (value.operand, Constant(key)))
    return seen(s, found, value.made_of.parts[key][1] if value.is_named else value.made_of.part(key))


def item(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``ps[k]``, and the list ``ps[k:]``."""
    base, index = [s.plain(s.get(o, frame)) for o in op.operands]
    if not isinstance(base, Typed):
        return None
    made_of, place = base.made_of, frame.place or op.place
    span = s.slices.get(index) if isinstance(index, Value) else None
    if isinstance(index, Constant) and not base.is_named:
        part = made_of.part(index.value)
    elif index in s.slices and made_of.item is not None:
        part = made_of
    elif span is not None and made_of.cls in (list, tuple):
        part = Composite(made_of.cls, tuple(enumerate([p for _, p in made_of.parts][span])))
    else:
        part = made_of.each if isinstance(index, Value) and index not in s.slices else None
    found = _read(s, "item", (base.operand, *s.operands([index], place)), None, place)
    return (seen(s, found, part),)


def differ(value: Abstract) -> bool:
    """Whether a value is a list or tuple of a few objects of different classes, which are taken one by one."""
    if not isinstance(value, Typed) or value.cls not in (list, tuple) or value.made_of.each is not None:
        return False
    parts = [part for _, part in value.made_of.parts]
    return len(parts) <= MOST and None not in parts


def unpack(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``a, b = ps``."""
    value = s.get(op.operands[0], frame)
    count, star = op.data
    if not isinstance(value, Typed) or value.cls is dict or star is not None or count != len(value.made_of.parts):
        return None
    results = tuple([Value(r.name) for r in op.results])
    s.write(Operation("unpack", (value.operand,), results, op.data, (), frame.place or op.place))
    return tuple([seen(s, r, part) for r, (_, part) in zip(results, value.made_of.parts, strict=True)])


def decoder(s: Specialiser, value: Abstract) -> tuple[Value, Callable[[Value], Abstract]] | None:
    """The operand of such a list or tuple, and what its items are; None where they differ, and of anything else."""
    if not isinstance(value, Typed) or value.cls is dict or value.made_of.each is None:
        return None
    return value.operand, functools.partial(_seen, s, value.made_of.each)


def _seen(s: Specialiser, made_of: Composite | None, value: Value) -> Abstract:
    return seen(s, value, made_of)


def method(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``d.values`` and ``d.items`` of a dict."""
    base = s.get(op.operands[0], frame)
    if isinstance(base, Typed) and base.cls is dict and op.result in s.called:
        return (Late(base.operand, op.data, base.made_of.each),)
    return None


def view(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A call of such a method: what runs through it runs through the keys, and reads the items."""
    called = s.get(op.operands[0], frame)
    if not isinstance(called, Late) or called.made_of is None or called.name not in _VIEWS or len(op.operands) > 1:
        return None
    assert isinstance(called.receiver, Value)
    pairs, s.used = called.name == "items", True
    return (Coded(called.receiver, functools.partial(_under, s, called.receiver, called.made_of, pairs)),)


def _under(s: Specialiser, whole: Value, made_of: Composite, pairs: bool, key: Operand) -> Abstract:
    """The item of a dict under a key, with the key if ``pairs`` are asked for."""
    found = _read(s, "item", (whole, key))
    held = seen(s, found, made_of)
    return Row((key, held)) if pairs else held
