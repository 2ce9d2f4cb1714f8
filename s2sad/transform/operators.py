"""Specialisation of operators and subscripts of objects that the program makes."""

from __future__ import annotations

from collections.abc import Iterator

from s2sad.ir.code import Operation, Value
from s2sad.runtime import number
from s2sad.runtime.classes import static_member
from s2sad.transform.known import Abstract, Known, NotSpecialisedError, Record, is_static
from s2sad.transform.objects import member_call
from s2sad.transform.specialiser import Done, Frame, Specialiser

_BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
}  # fmt: skip
_UNARY = {"-": "__neg__", "+": "__pos__"}
_COMPARE = {
    "==": ("__eq__", "__eq__"), "<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"), ">": ("__gt__", "__lt__"),
    ">=": ("__ge__", "__le__"),
}  # fmt: skip
#: One attempt: the object whose method is asked, the name of the method, and the other operand.
Attempt = tuple[Record, str, Abstract]


def operator(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An operator of which an operand is an object that the program makes."""
    values = [s.get(o, frame) for o in op.operands]
    if not any(isinstance(v, Record) for v in values):
        return None
    first = values[0]
    if op.kind == "item":
        return member_call(s, first, "__getitem__", [("", values[1])], op, frame) if isinstance(first, Record) else None
    if op.kind == "unary" and op.data in _UNARY and isinstance(first, Record):
        return member_call(s, first, _UNARY[op.data], [], op, frame)
    if op.kind == "compare" and op.data in _COMPARE:
        names = _COMPARE[op.data]
    elif op.kind in ("binary", "inplace") and op.data in _BINARY:
        names = f"__{_BINARY[op.data]}__", f"__r{_BINARY[op.data]}__"
    else:
        raise NotSpecialisedError("operator")
    left, right = values
    if not isinstance(left, Record):
        left = _number(s, left, op, frame)
    own = f"__i{_BINARY[op.data]}__" if op.kind == "inplace" else ""
    for record, name, other in _attempts(left, right, own, *names):
        if static_member(record.cls, name) is None:
            continue
        done = member_call(s, record, name, [("", other)], op, frame)
        if not (isinstance(done, tuple) and isinstance(done[0], Known) and done[0].value is NotImplemented):
            return done
    raise NotSpecialisedError("operator")


def _attempts(left: Abstract, right: Abstract, own: str, name: str, reflected: str) -> Iterator[Attempt]:
    """The methods that Python asks, in its order: a subclass on the right comes first if it has its own."""
    if own and isinstance(left, Record):
        yield left, own, right
    if isinstance(left, Record) and isinstance(right, Record) and left.cls is not right.cls:
        of_right = static_member(right.cls, reflected)
        if issubclass(right.cls, left.cls) and of_right is not static_member(left.cls, reflected):
            yield right, reflected, left
            yield left, name, right
            return
    if isinstance(left, Record):
        yield left, name, right
    if isinstance(right, Record) and not (isinstance(left, Record) and left.cls is right.cls):
        yield right, reflected, left


def _number(s: Specialiser, left: Abstract, op: Operation, frame: Frame) -> Abstract:
    """An operand that has no method for an object: a number, which is checked when it is not known."""
    if is_static(left):
        raise NotSpecialisedError("reflected")
    place = frame.place or op.place
    if isinstance(left, Value) and left not in s.numbers:
        left = s.emit("call", s.operands([s.outside(number, "number"), left], place), ("",), place=place)
        s.numbers.add(left)
    return left
