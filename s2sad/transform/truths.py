"""Whether something counts as true: of an object that the program makes its ``__bool__`` or ``__len__`` says so."""

from __future__ import annotations

import types

from s2sad.ir.code import Operation, Value
from s2sad.runtime.classes import static_member
from s2sad.transform import array_objects
from s2sad.transform.known import Abstract, Items, NotSpecialisedError, Record
from s2sad.transform.objects import member_call
from s2sad.transform.specialiser import Frame, Specialiser
from s2sad.transform.standing import Table


def tested(s: Specialiser, value: Abstract, op: Operation, frame: Frame) -> Abstract:
    """What counts as true where a value does: what a method of an object gives, the elements of an array.

    Of a list of objects that is one of the new program it is how many there are.
    """
    held = s.state.get(value.cell) if isinstance(value, Items) else None
    if isinstance(held, Value) and isinstance(s.stand_ins.get(held), Table):
        with s.stand_ins.reading():
            function = s.dynamic(s.outside(len, "len"))
            return s.emit("call", (function, held), ("",), place=frame.place or op.place)
    if not isinstance(value, Record):
        return value
    if array_objects.is_array(value) and not array_objects.users(value, "__bool__"):
        return array_objects.elements(s, value)
    for name in ("__bool__", "__len__"):
        if isinstance(static_member(value.cls, name), types.FunctionType):
            done = member_call(s, value, name, [], op, frame)
            if not isinstance(done, tuple):
                raise NotSpecialisedError("truth")
            return done[0]
    return value
