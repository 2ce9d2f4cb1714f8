"""Specialisation of operators and subscripts of objects that the program makes."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Iterator
from typing import TypeGuard

from s2sad.ir.code import Constant, Operation, Value
from s2sad.ops.models import is_of_model
from s2sad.runtime import number
from s2sad.runtime.classes import static_member
from s2sad.transform import array_objects, arrays, branches, existing, typed
from s2sad.transform.classes import has_operators, is_generated
from s2sad.transform.containers import computed
from s2sad.transform.copies import fields_of
from s2sad.transform.known import Abstract, Choice, Known, NotSpecialisedError, Record, Row, is_static
from s2sad.transform.objects import member_call
from s2sad.transform.simple import truth
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.truths import tested

_BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_COMPARE = {
    "<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"), ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__"),
}  # fmt: skip
_REFLECTED = frozenset(reflected for _, reflected in _COMPARE.values())
#: One attempt: the object whose method is asked, the name of the method, and the other operand.
Attempt = tuple[Record | Row | Known, str, Abstract]


def operator(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An operator of which an operand is an object that the program makes."""
    values = [typed.named_tuple(s, s.get(o, frame)) for o in op.operands]
    if op.kind in ("unary", "binary", "inplace") and any(map(has_operators, values)):
        pass
    elif any(map(_is_one_of_objects, values)):
        return _of_each(s, values, op, frame)
    elif not any(isinstance(v, Record) for v in values):
        return None
    first = values[0]
    if any(map(array_objects.is_array, values)):
        return _of_arrays(s, values, op, frame)
    if op.kind == "item":
        return member_call(s, first, "__getitem__", [("", values[1])], op, frame) if isinstance(first, Record) else None
    if op.kind == "unary" and op.data in _UNARY and isinstance(first, (Record, Row)):
        return member_call(s, first, _UNARY[op.data], [], op, frame)
    if op.kind == "unary" and op.data == "not" and (asked := tested(s, first, op, frame)) is not first:
        return (_negated(s, asked, op, frame),)
    if op.kind == "compare" and op.data in ("in", "not in") and isinstance(values[1], Record):
        return _searched(s, first, values[1], op, frame)
    if op.kind == "compare" and op.data in ("==", "!="):
        return _equality(s, values, op, frame)
    names = _methods_of(op)
    left, right = values
    if op.kind == "compare" and _are_of_dataclass(left, right, names[0]):
        fields = [Row(_compared_fields(s, record)) for record in (left, right) if isinstance(record, Record)]
        return (computed(s, "compare", op.data, fields, op, frame),)
    # What an array does to a model is for that to say.
    if not _is_asked(left) and not (isinstance(right, Record) and is_of_model(right.cls)):
        left = _number(s, left, op, frame)
    own = f"__i{_BINARY[op.data]}__" if op.kind == "inplace" else ""
    done = _answer(s, _attempts(left, right, own, *names), op, frame)
    if done is None:
        raise NotSpecialisedError("operator")
    return done


def _is_one_of_objects(value: Abstract) -> bool:
    """Whether a value is one of two objects by a condition."""
    return isinstance(value, Choice) and any(
        isinstance(side, Record) or _is_one_of_objects(side) for side in (value.then, value.orelse)
    )


def _of_each(s: Specialiser, values: list[Abstract], op: Operation, frame: Frame) -> Done:
    """What an operator gives for each side of the first operand that is one of two objects."""
    at = next(n for n, value in enumerate(values) if _is_one_of_objects(value))
    choice = values[at]
    assert isinstance(choice, Choice)

    def arm(side: Abstract) -> End:
        return End("yield", (computed(s, op.kind, op.data, (*values[:at], side, *values[at + 1 :]), op, frame),))

    arms = [functools.partial(arm, side) for side in (choice.then, choice.orelse)]
    return branches.fork(s, choice.test, arms, [result.name for result in op.results], frame.place or op.place)


def _methods_of(op: Operation) -> tuple[str, str]:
    """The methods by which the left operand of an operator answers, and the right one."""
    if op.kind == "compare" and op.data in ("==", "!="):
        return ("__eq__", "__eq__") if op.data == "==" else ("__ne__", "__ne__")
    if op.kind == "compare" and op.data in _COMPARE:
        return _COMPARE[op.data]
    if op.kind in ("binary", "inplace") and op.data in _BINARY:
        return f"__{_BINARY[op.data]}__", f"__r{_BINARY[op.data]}__"
    raise NotSpecialisedError("operator")


def _of_arrays(s: Specialiser, values: list[Abstract], op: Operation, frame: Frame) -> Done:
    """An operator of which an operand is an array of a class of the user's."""
    name = "__getitem__" if op.kind == "item" else _UNARY.get(op.data, "")
    if op.kind in ("item", "unary"):
        if not array_objects.is_array(values[0]) and op.kind == "item":
            return (computed(s, op.kind, op.data, [array_objects.elements(s, v) for v in values], op, frame),)
        assert isinstance(values[0], Record)
        if array_objects.users(values[0], name):
            return member_call(s, values[0], name, [("", v) for v in values[1:]], op, frame)
        if op.kind == "unary" and op.data == "not":
            return (computed(s, op.kind, op.data, [tested(s, values[0], op, frame)], op, frame),)
        if op.kind == "item":
            return arrays.item(s, values, op, frame)
        return arrays.numpys(s, op.kind, op.data, values, op, frame)
    names = _methods_of(op)
    left, right = values
    if op.kind == "inplace" and not array_objects.is_array(left) and array_objects.axes(s, left):
        return arrays.numpys(s, op.kind, op.data, values, op, frame)
    own = f"__i{_BINARY[op.data]}__" if op.kind == "inplace" else ""
    for record, name, other in _attempts(left, right, own, *names):
        if not isinstance(record, Record) or not array_objects.is_array(record):
            raise NotSpecialisedError("operator")
        if not array_objects.users(record, name):
            return arrays.numpys(s, op.kind, op.data, values, op, frame)
        if record is right and not isinstance(left, Record):
            arrays.require_asked_first(s, left)
        done = member_call(s, record, name, [("", other)], op, frame)
        if not (isinstance(done, tuple) and isinstance(done[0], Known) and done[0].value is NotImplemented):
            return done
    raise NotSpecialisedError("operator")


def of_named_tuples(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An operator that a tuple with named fields defines, which is none of tuples."""
    values = [typed.named_tuple(s, s.get(o, frame)) for o in op.operands]
    return operator(s, op, frame) if any(map(has_operators, values)) else None


def put_item(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``x[i] = value`` and ``del x[i]`` of an object that the program makes."""
    base, *values = [s.get(o, frame) for o in op.operands]
    if not any(array_objects.users(base, name) for name in ("__setitem__", "__delitem__")) and op.kind == "set_item":
        if any(array_objects.is_array(v) or array_objects.may_be_array(v) for v in (base, *values)):
            return arrays.put_item(s, [base, *values], op, frame)
    if not isinstance(base, Record):
        return None
    name = "__setitem__" if op.kind == "set_item" else "__delitem__"
    done = member_call(s, base, name, [("", value) for value in values], op, frame)
    return done if isinstance(done, End) else ()


def _answer(s: Specialiser, attempts: Iterator[Attempt], op: Operation, frame: Frame) -> Done:
    """What the first of some methods gives that knows the other operand; None if none does."""
    for record, name, other in attempts:
        member = static_member(_class_of(record), name)
        if by_equality := member is object.__ne__:
            name, member = "__eq__", static_member(_class_of(record), "__eq__")
        if member in (None, vars(object).get(name)) or (
            isinstance(record, Row) and not isinstance(member, types.FunctionType)
        ):
            continue
        if isinstance(record, Known):
            done = existing.asked(s, record, name, [("", other)], op, frame)
        else:
            done = member_call(s, record, name, [("", other)], op, frame)
        if not isinstance(done, tuple):
            return done
        if not (isinstance(done[0], Known) and done[0].value is NotImplemented):
            return (_negated(s, done[0], op, frame),) if by_equality else done
    return None


def _equality(s: Specialiser, values: list[Abstract], op: Operation, frame: Frame) -> Done:
    """``a == b`` and ``a != b``: what methods say, or else whether both are one object."""
    own = any(_is_asked(v) and static_member(_class_of(v), "__ne__") is not object.__ne__ for v in values)
    models = any(isinstance(v, Record) and is_of_model(v.cls) for v in values)
    if models or any(isinstance(v, Known) and not existing.is_existing(v) for v in values):
        raise NotSpecialisedError("operator")
    left, right = [v if is_static(v) else _number(s, v, op, frame) for v in values]
    is_plain = op.data == "==" or not own
    if is_plain and _are_of_dataclass(left, right, "__eq__"):
        fields = [Row(_compared_fields(s, record)) for record in (left, right) if isinstance(record, Record)]
        return (computed(s, "compare", op.data, fields, op, frame),)
    name = "__eq__" if op.data == "==" else "__ne__"
    done = _answer(s, _attempts(left, right, "", name, name), op, frame)
    if done is None and any(typed.operand_of(s.state, v) is not None for v in (left, right)):
        return None  # both may be one object
    if done is None:
        if any(isinstance(v, Known) for v in (left, right)):
            raise NotSpecialisedError("operator")
        s.used = True
        return (Constant((left is right) == (op.data == "==")),)
    return done


def _searched(s: Specialiser, value: Abstract, record: Record, op: Operation, frame: Frame) -> Done:
    """``value in record``: whether what its method gives counts as true."""
    done = member_call(s, record, "__contains__", [("", value)], op, frame)
    if not isinstance(done, tuple):
        return done
    found = _negated(s, done[0], op, frame)
    return (found if op.data == "not in" else _negated(s, found, op, frame),)


def _negated(s: Specialiser, value: Abstract, op: Operation, frame: Frame) -> Abstract:
    """``not value``."""
    known = truth(s, value)
    return computed(s, "unary", "not", (value,), op, frame) if known is None else Constant(not known)


def _are_of_dataclass(left: Abstract, right: Abstract, name: str) -> bool:
    """Whether two objects are of one class, and compared by their fields as ``dataclasses`` has generated it."""
    if not (isinstance(left, Record) and isinstance(right, Record) and left.cls is right.cls):
        return False
    return dataclasses.is_dataclass(left.cls) and is_generated(static_member(left.cls, name))


def _compared_fields(s: Specialiser, record: Record) -> tuple[Abstract, ...]:
    held = fields_of(s, record)
    return tuple([held[f.name] for f in dataclasses.fields(record.cls) if f.compare])


def _attempts(left: Abstract, right: Abstract, own: str, name: str, reflected: str) -> Iterator[Attempt]:
    """The methods that Python asks, in its order: a subclass on the right comes first if it has its own."""
    if own and _is_asked(left):
        yield left, own, right
    if not _is_asked(right):
        if _is_asked(left):
            yield left, name, right
        return
    if not _is_asked(left):
        yield right, reflected, left
        return
    of_left, of_right = _class_of(left), _class_of(right)
    if of_left is of_right:
        yield left, name, right
        # Of two objects of one class only comparisons ask the other one too.
        if reflected in _REFLECTED:
            yield right, reflected, left
    elif issubclass(of_right, of_left) and _answers_otherwise(of_right, of_left, reflected):
        yield right, reflected, left
        yield left, name, right
    else:
        yield left, name, right
        yield right, reflected, left


def _answers_otherwise(of_right: type, of_left: type, name: str) -> bool:
    """Whether a subclass has a method of its own by which it answers."""
    names = ("__ne__", "__eq__") if name == "__ne__" else (name,)
    return any(static_member(of_right, n) is not static_member(of_left, n) for n in names)


def _is_asked(value: Abstract) -> TypeGuard[Record | Row | Known]:
    """Whether a value is an object of the program's, a named tuple, or an object of the user's that exists."""
    return isinstance(value, (Record, Row)) or existing.is_existing(value)


def _class_of(value: Record | Row | Known) -> type:
    return type(value.value) if isinstance(value, Known) else value.cls


def _number(s: Specialiser, left: Abstract, op: Operation, frame: Frame) -> Abstract:
    """An operand that has no method for an object: a number, which is checked when it is not known."""
    if is_static(left):
        raise NotSpecialisedError("reflected")
    place = frame.place or op.place
    if isinstance(left, Value) and left not in s.numbers:
        left = s.emit("call", s.operands([s.outside(number, "number"), left], place), ("",), place=place)
        s.numbers.add(left)
    return left
