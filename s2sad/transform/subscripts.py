"""Specialisation of subscripts, and of what is unpacked."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any

from s2sad.ir.code import Constant, Operation, Value
from s2sad.transform import array_objects, arrays
from s2sad.transform.containers import (
    MAPPINGS,
    SEQUENCES,
    called,
    change,
    is_replaced,
    items_of,
    key_of,
    numbered,
    position,
    put,
    put_at,
    run_through,
    slot,
)
from s2sad.transform.existence import unpacked
from s2sad.transform.held import is_held, item_of, runs_as_it_is
from s2sad.transform.keys import title_of
from s2sad.transform.known import (
    Abstract,
    Items,
    Known,
    Row,
)
from s2sad.transform.simple import is_function
from s2sad.transform.specialiser import Done, End, Frame, Specialiser


def item(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``items[index]``."""
    done = _item(s, op, frame)
    # A function that is called is called by its name.
    s.used |= isinstance(done, tuple) and is_function(done[0])
    return done


def _item(s: Specialiser, op: Operation, frame: Frame) -> Done:
    base, index = [s.plain(s.get(o, frame)) for o in op.operands]
    if isinstance(base, Items) and base.cls in MAPPINGS:
        content, key = s.content(base), key_of(s, index)
        if content is None or key is None:
            return None
        at = position(content, key.value)
        if at is None and content.factory is not None:
            made = called(s, content.factory, [], op, frame)
            put(s, base, key.value, made)
            return (made,)
        if at is None and base.cls is Counter:
            return (Constant(0),)
        if at is None:
            return End("raise", (Known(KeyError),)) if s.tried and base.cls in (dict, OrderedDict) else None
        return (s.state[content.slots[at]],)
    if isinstance(base, Known) and isinstance(base.value, range):
        return _of_range(s, base, index, op, frame)
    if isinstance(base, Known) and isinstance(index, Constant) and is_held(base):
        held = item_of(s, base, index.value, op.result)
        return None if held is None else (held,)
    row = s.row(base)
    if row is None:
        return None
    span = s.slices.get(index) if isinstance(index, Value) else None
    if span is not None and isinstance(base, Row):
        return (Row(row[span]),)
    if span is not None and isinstance(base, Items) and base.cls is list:
        return (items_of(s, row[span]),)
    if not isinstance(index, Constant) or type(index.value) is not int:
        return None
    if not -len(row) <= index.value < len(row):
        is_own = isinstance(base, (Row, Items)) and base.cls in (tuple, list)
        return End("raise", (Known(IndexError),)) if s.tried and is_own else None
    found = row[index.value]
    return None if isinstance(base, Value) and not isinstance(found, Constant) else (found,)


def _of_range(s: Specialiser, base: Known, index: Abstract, op: Operation, frame: Frame) -> Done:
    """A number, or a part, of a known range."""
    if isinstance(index, Constant) and type(index.value) is int and -len(base.value) <= index.value < len(base.value):
        return (Constant(base.value[index.value]),)
    span = s.slices.get(index) if isinstance(index, Value) else None
    if span is None:
        return None
    place = frame.place or op.place
    operand = s.emit("item", s.operands([base, index], place), place=place)
    s.needless.add(operand)
    return (Known(base.value[span], (), operand),)


def set_item(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``items[index] = value``."""
    base, index, value = [s.get(o, frame) for o in op.operands]
    if isinstance(base, Items) and base.record is not None:
        titled = _titled(s, value, index.value, op, frame) if isinstance(index, Constant) else value
        if is_replaced(s, base, index, titled):
            return ()
    content = s.content(base) if isinstance(base, Items) else None
    if not isinstance(base, Items) or content is None:
        return None
    if base.cls in MAPPINGS:
        key = key_of(s, index)
        if key is None:
            return None
        put(s, base, key.value, _titled(s, value, key.value, op, frame))
        return ()
    if base.cls not in SEQUENCES:
        return None
    span = s.slices.get(index) if isinstance(index, Value) else None
    if span is not None and base.cls is list:
        row = run_through(s, value)
        slots = list(content.slots)
        if row is None or (span.step is not None and len(row) != len(slots[span])):
            return None
        slots[span] = [slot(s, v) for v in row]
        change(s, base, slots)
        return ()
    at = _position(s, index, len(content.slots))
    if at is None:
        return None
    put_at(s, base, at, value)
    return ()


def _titled(s: Specialiser, value: Abstract, key: Any, op: Operation, frame: Frame) -> Abstract:
    """A value that is put under a key, with its name if it has none."""
    if isinstance(value, Value) and not value.name and (title := title_of(key)):
        return s.named(value, title, frame.place or op.place)
    return value


def _position(s: Specialiser, index: Abstract, length: int) -> int | None:
    """Where an index is in a list of known length."""
    index = s.plain(index)
    if not isinstance(index, Constant) or type(index.value) is not int or not -length <= index.value < length:
        return None
    return index.value % length


def delete_item(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``del items[index]``."""
    base, index = [s.get(o, frame) for o in op.operands]
    content = s.content(base) if isinstance(base, Items) else None
    if not isinstance(base, Items) or content is None:
        return None
    slots = list(content.slots)
    if base.cls in MAPPINGS:
        key = key_of(s, index)
        at = None if key is None else position(content, key.value)
        if at is None or content.keys is None:
            return None
        del slots[at]
        change(s, base, slots, (*content.keys[:at], *content.keys[at + 1 :]))
        return ()
    if base.cls not in SEQUENCES:
        return None
    span = s.slices.get(index) if isinstance(index, Value) else None
    at = _position(s, index, len(slots))
    if span is None and at is None:
        return None
    del slots[span if span is not None else at]  # type: ignore[arg-type]
    change(s, base, slots)
    return ()


def unpack_array(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``a, b = x`` of an object of a class of arrays that has no ``__iter__`` of its own."""
    value = s.get(op.operands[0], frame)
    return arrays.unpacked(s, value, op, frame) if array_objects.runs_as_arrays_do(value) else None


def unpack(s: Specialiser, op: Operation, frame: Frame) -> Done:
    value = s.get(op.operands[0], frame)
    as_it_is = isinstance(value, Value) or (runs_as_it_is(value) and not s.relied.writes_out)
    row = None if as_it_is else run_through(s, numbered(value))
    count, star = op.data
    if isinstance(value, Value) and star is None and len(s.rows.get(value, ())) == count:
        return unpacked(s, value, op, frame.place or op.place)
    if row is None or len(row) < count - (star is not None) or (star is None and len(row) != count):
        return None
    if star is not None:
        end = star + 1 + len(row) - count
        row = (*row[:star], items_of(s, list(row[star:end])), *row[end:])
    place = frame.place or op.place
    return tuple([s.named(value, result.name, place) for value, result in zip(row, op.results, strict=True)])
