"""What runs through an object that the program makes: its ``__iter__``, ``__next__`` or ``__getitem__``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2sad.ir.code import Operation
from s2sad.runtime.classes import static_member
from s2sad.transform import array_objects, arrays, definitions, existing
from s2sad.transform.known import Abstract, Known, NotSpecialisedError, Record
from s2sad.transform.objects import member_call
from s2sad.transform.specialiser import Frame, Specialiser


def iterated(s: Specialiser, value: Abstract, op: Operation, frame: Frame) -> Abstract:
    """What a loop over a value runs through: of an object what its method gives."""
    if isinstance(value, Known) and existing.is_object(value.value):
        return existing.iterated(s, value, op, frame) or value
    if not isinstance(value, Record):
        return value
    if array_objects.runs_as_arrays_do(value):
        return arrays.iterated(s, value, op, frame)
    found = iterator_of(s, value, op, frame)
    if isinstance(found, Record) and static_member(found.cls, "__next__") is not None:
        return _written(s, definitions.rounds_of, found, op, frame)
    return found


def iterator_of(s: Specialiser, record: Record, op: Operation, frame: Frame) -> Abstract:
    """``iter(record)``: what its ``__iter__`` gives, or what runs through its items by their places."""
    member = static_member(record.cls, "__iter__")
    if member is None and static_member(record.cls, "__getitem__") is None:
        return record
    if member is None or member is Sequence.__iter__:
        return _written(s, definitions.items_by_place, record, op, frame)
    done = member_call(s, record, "__iter__", [], op, frame)
    if not isinstance(done, tuple):
        raise NotSpecialisedError("__iter__")
    return done[0]


def _written(s: Specialiser, function: Any, record: Record, op: Operation, frame: Frame) -> Abstract:
    """What a function of `definitions` gives for an object."""
    done = s.call_function(s, function, [("", record)], op, frame, None)
    assert isinstance(done, tuple)
    return done[0]
