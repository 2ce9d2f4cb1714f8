"""Specialisation of names, displays, subscripts and comparisons."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from s2sad.frontend.resolve import Guard
from s2sad.ir.code import NONE, UNSET, Constant, Definition, Operand, Operation, Value
from s2sad.ops import spec_of
from s2sad.runtime.classes import own_class
from s2sad.transform.constants import compared, computed, is_among
from s2sad.transform.known import (
    WRAPPING,
    Abstract,
    Cell,
    Choice,
    Closure,
    Items,
    Known,
    Method,
    NotSpecialisedError,
    Partial,
    Record,
    Row,
    Stream,
    Unsure,
    is_static,
)
from s2sad.transform.specialiser import Done, Frame, Specialiser

#: How many items a list has at most that is made of another by repetition.
MOST_ITEMS = 64


def items_of(s: Specialiser, items: list[Abstract], keys: tuple[Any, ...] | None = None) -> Items:
    """A list or dict of known items."""
    cell = Cell("items")
    made = cell.whole = Items(cell, keys)
    s.state[cell] = Row(tuple(items))
    return made


def stream(s: Specialiser, items: Sequence[Abstract], over: Sequence[Abstract], is_view: bool = False) -> Stream:
    """What runs through known items, made of some values."""
    cell = Cell("items")
    s.state[cell] = Row(tuple(items))
    sources = [(v.cell, s.state[v.cell]) for v in over if isinstance(v, Items)]
    inner = [source for v in over if isinstance(v, Stream) for source in v.sources]
    return Stream(cell, (*sources, *inner), is_view)


def left(s: Specialiser, value: Stream) -> tuple[Abstract, ...]:
    """The items that an iterator or view still has."""
    content = s.state[value.cell]
    if not isinstance(content, Row) or any(s.state[cell] is not before for cell, before in value.sources):
        raise NotSpecialisedError("iterator")
    return content.items


def run_through(s: Specialiser, value: Abstract, lazily: bool = False) -> tuple[Abstract, ...] | None:
    """The items that a loop over a value gives, where these are known; an iterator has none then.

    One that is to be asked for them ``lazily`` must not be asked by others.
    """
    if not isinstance(value, Stream):
        return s.row(value)
    items = left(s, value)
    if not value.is_view:
        s.state[value.cell] = NONE if lazily else Row(())
    return items


# --- names


def global_name(s: Specialiser, op: Operation, frame: Frame) -> Done:
    found, value = s.lookup(frame, op.data)
    if not found:
        return None
    if value is NotImplemented:
        return (Known(value),)
    of_users = own_class(value) is not None and not isinstance(value, (type, types.ModuleType))
    if not (callable(value) or isinstance(value, types.ModuleType) or of_users):
        return None
    if not of_users:
        return (Known(value, (op.data,), home=frame.home),)
    if not s.reads_alike(op.data, frame.home):
        raise NotSpecialisedError(op.data)
    operand = s.emit("global", (), op.data, place=frame.place or op.place)
    s.needless.add(operand)
    if not frame.home.resolver.is_rebound(op.data):
        s.relied.rereads[operand] = Known(value, (op.data,))
    return (Known(value, (), operand, (frame.home, op.data, ())),)


def load(s: Specialiser, op: Operation, frame: Frame) -> Done:
    cell = frame.env.get(op.data)
    if not isinstance(cell, Cell):
        return None
    value = s.state.get(cell, UNSET)
    if value is UNSET:
        raise NotSpecialisedError("unset")
    return (value.value if isinstance(value, Unsure) else value,)


def store(s: Specialiser, op: Operation, frame: Frame) -> Done:
    cell = frame.env.get(op.data)
    if not isinstance(cell, Cell):
        return None
    value = s.get(op.operands[0], frame)
    s.state[cell] = s.named(value, cell.name, frame.place or op.place)
    return (s.state[cell],) * len(op.results)


def copy(s: Specialiser, op: Operation, frame: Frame) -> Done:
    value = s.get(op.operands[0], frame)
    known = is_static(value) or isinstance(s.plain(value), Constant) or value in s.rows
    return (s.named(value, op.result.name, frame.place or op.place),) if known else None


def function(s: Specialiser, op: Operation, frame: Frame) -> Done:
    definition: Definition = op.data
    code = definition.code
    count = definition.decorators
    if code.generates or code.awaits or any(s.get(o, frame) is not WRAPPING for o in op.operands[:count]):
        return None
    values = [s.get(o, frame) for o in op.operands[count : count + len(definition.defaults)]]
    defaults = dict(zip(definition.defaults, values, strict=True))
    made = Closure(definition, op.kind == "lambda", frame.env, defaults, frame.home, frame.owner, op.place)
    made.identity.whole = made
    s.state[made.identity] = NONE
    return (made,)


# --- displays


def is_structure(value: Abstract) -> bool:
    """Whether a value is static, and more than an object that exists."""
    return is_static(value) and (not isinstance(value, Known) or is_function(value))


def is_function(value: Abstract) -> bool:
    """Whether a value is a function that exists."""
    if not isinstance(value, Known) or isinstance(value.value, (type, types.ModuleType)):
        return False
    return callable(value.value) and own_class(value.value) is None


def _items(s: Specialiser, op: Operation, frame: Frame) -> list[Abstract] | None:
    """The items of a display, where it is known which these are."""
    items: list[Abstract] = []
    for operand, star in zip(op.operands, op.data, strict=True):
        value = s.get(operand, frame)
        row = run_through(s, value) if star else (value,)
        if row is None:
            return None
        items += row
    return items


def tuple_display(s: Specialiser, op: Operation, frame: Frame) -> Done:
    items = _items(s, op, frame)
    if items is None:
        return None
    if any(map(is_structure, items)):
        return (Row(tuple(items)),)
    place = frame.place or op.place
    made = s.emit("tuple", s.operands(items, place), (False,) * len(items), op.result.name, place)
    s.rows[made] = tuple(items)
    return (made,)


def list_display(s: Specialiser, op: Operation, frame: Frame) -> Done:
    items = _items(s, op, frame)
    # What goes into an empty list may be static.
    return (items_of(s, items),) if items is not None and (not items or any(map(is_structure, items))) else None


def dict_display(s: Specialiser, op: Operation, frame: Frame) -> Done:
    keys: list[Any] = []
    for key in op.operands[::2]:
        found = s.plain(s.get(key, frame))
        if not isinstance(found, Constant) or not isinstance(found.value, (str, int)):
            return None
        keys.append(found.value)
    values = [s.get(o, frame) for o in op.operands[1::2]]
    if any(op.data) or not any(map(is_structure, values)) or len(set(keys)) < len(keys):
        return None
    return (items_of(s, values, tuple(keys)),)


def item(s: Specialiser, op: Operation, frame: Frame) -> Done:
    base, index = [s.plain(s.get(o, frame)) for o in op.operands]
    if not isinstance(index, Constant):
        return None
    if isinstance(base, Items) and base.keys is not None:
        content = s.state[base.cell]
        if isinstance(content, Row) and index.value in base.keys:
            return (content.items[base.keys.index(index.value)],)
        return None
    row = s.row(base)
    if row is None or isinstance(base, Value) or type(index.value) is not int:
        return None
    return (row[index.value],) if -len(row) <= index.value < len(row) else None


def unpack(s: Specialiser, op: Operation, frame: Frame) -> Done:
    value = s.get(op.operands[0], frame)
    row = None if isinstance(value, Value) else run_through(s, value)
    count, star = op.data
    if row is None or len(row) < count - (star is not None) or (star is None and len(row) != count):
        return None
    if star is not None:
        end = star + 1 + len(row) - count
        row = (*row[:star], items_of(s, list(row[star:end])), *row[end:])
    place = frame.place or op.place
    return tuple([s.named(value, result.name, place) for value, result in zip(row, op.results, strict=True)])


# --- truth


def truth(s: Specialiser, value: Abstract) -> bool | None:
    """Whether a value counts as true, where that is known."""
    value = s.plain(value)
    if isinstance(value, Constant):
        return None if value is UNSET else bool(value.value)
    if isinstance(value, (Closure, Method, Partial, Choice)):
        return True
    if is_function(value):
        cls = type(value.value)  # type: ignore[union-attr]
        return None if hasattr(cls, "__bool__") or hasattr(cls, "__len__") else True
    row = None if isinstance(value, Value) else s.row(value)
    return None if row is None else bool(row)


def compare(s: Specialiser, op: Operation, frame: Frame) -> Done:
    left, right = [s.plain(s.get(o, frame)) for o in op.operands]
    decided: bool | None = None
    if op.data in ("is", "is not"):
        decided = _identical(left, right)
        decided = None if decided is None else decided == (op.data == "is")
    elif op.data in ("in", "not in") and (row := _members(s, right)) is not None:
        found = is_among(left, row)
        decided = None if found is None else found == (op.data == "in")
    else:
        decided = compared(op.data, left, right)
    return None if decided is None else (Constant(decided),)


def _members(s: Specialiser, value: Abstract) -> Sequence[Abstract] | None:
    """What ``in`` looks through, where that is known."""
    if isinstance(value, Items) and value.keys is not None:
        return [Constant(key) for key in value.keys] if isinstance(s.state[value.cell], Row) else None
    return s.row(value)


def _identical(a: Abstract, b: Abstract) -> bool | None:
    """Whether two values are one object, where that is known."""
    if a is b and is_static(a):
        return True
    if isinstance(a, Closure) and isinstance(b, Closure):
        return a.identity is b.identity
    if isinstance(a, Record) and isinstance(b, Record):
        return False
    for value, other in ((a, b), (b, a)):
        if isinstance(other, Constant) and other.value is None:
            if isinstance(value, Constant) and value is not UNSET:
                return value.value is None
            if is_static(value) and not isinstance(value, Known):
                return False
            if is_function(value):
                return False
    return None


def negation(s: Specialiser, op: Operation, frame: Frame) -> Done:
    if op.data == "-":
        return _opposite(s.plain(s.get(op.operands[0], frame)))
    if op.data != "not":
        return None
    known = truth(s, s.get(op.operands[0], frame))
    return None if known is None else (Constant(not known),)


def _opposite(value: Abstract) -> Done:
    if isinstance(value, Constant) and type(value.value) is int:
        return (Constant(-value.value),)
    return None


def arithmetic(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An operator of two constants, or of lists and tuples of known items."""
    left, right = [s.plain(s.get(o, frame)) for o in op.operands]
    known = computed(op.data, left, right)
    if known is not None:
        return (s.named(known, op.result.name, frame.place or op.place),)
    if op.data == "*" and op.kind == "binary":
        return _repeated(s, left, right) or _repeated(s, right, left)
    if not is_structure(left) and not is_structure(right):
        return None
    rows = s.row(left), s.row(right)
    if op.data != "+" or rows[0] is None or rows[1] is None or isinstance(left, Items) != isinstance(right, Items):
        return None
    both = [*rows[0], *rows[1]]
    if not isinstance(left, Items):
        return (Row(tuple(both)),)
    if op.kind == "inplace" and isinstance(left, Items):
        s.state[left.cell] = Row(tuple(both))
        return (left,)
    return (items_of(s, both),)


def _repeated(s: Specialiser, value: Abstract, times: Abstract) -> Done:
    """``[a, b] * n``."""
    row = None if isinstance(value, Value) else s.row(value)
    if row is None or not isinstance(times, Constant) or type(times.value) is not int or times.value > MOST_ITEMS:
        return None
    items = list(row) * times.value
    return (items_of(s, items),) if isinstance(value, Items) else (Row(tuple(items)),)


def use_known(s: Specialiser, known: Known) -> Any:
    """The object that a name means, on which the new program rests from now on."""
    if known.read is not None:
        home, name, path = known.read
        space = home.resolver.cells.get(name, home.resolver.globals)
        if not path and not isinstance(known.value, types.ModuleType):
            s.guard(Guard(space, name, type(known.value), type))
    return known.value


def has_rule(value: Any) -> bool:
    """Whether a callable is in the operation table."""
    return spec_of(value) is not None


def operand_of(value: Abstract) -> Operand | None:
    """The operand of the new program that a value has already."""
    if not is_static(value):
        return value  # type: ignore[return-value]
    return value.operand if isinstance(value, (Known, Method)) else None


def is_record(value: Abstract) -> bool:
    """Whether a value is an object that the program makes."""
    return isinstance(value, Record)
