"""Objects of classes of dicts whose attributes are their items: ``class Bunch(dict)`` with ``__getattr__``.

Such an object is one with attributes; where the program takes it for a dict, it is what ``vars`` gives of one.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from s2sad.frontend.resolve import Guard
from s2sad.ir.code import NONE, UNSET, Constant, Operation, Value
from s2sad.runtime.classes import static_member
from s2sad.transform.builtin import pairs_of
from s2sad.transform.dict_classes import is_attribute_dict
from s2sad.transform.existing import guard_class
from s2sad.transform.known import Abstract, Known, Method, NotSpecialisedError, Record
from s2sad.transform.objects import dictionary, put
from s2sad.transform.specialiser import Done, Frame, Handler, Specialiser


def construct(s: Specialiser, cls: type, args: Any) -> Done:
    """``cls(...)``, as of a dict."""
    values = [dictionary(s, v) if isinstance(v, Record) and is_one(v) else v for kind, v in args if not kind]
    if len(values) > 1 or any(kind in ("*", "**") for kind, _ in args):
        return None
    found = pairs_of(s, values, {kind: v for kind, v in args if kind})
    if found is None or not all(isinstance(key, str) and not hasattr(dict, key) for key in found):
        return None
    guard_class(s, cls)
    for name in ("__getattr__", "__setattr__", "__init__"):
        if isinstance(member := vars(cls).get(name), types.FunctionType):
            s.guard(Guard(member, "__code__", member.__code__))
    record = Record(cls)
    s.state[record.identity] = Constant(None)
    for name, value in found.items():
        put(s, record, name, value)
    s.used = True
    return (record,)


def is_one(value: Abstract) -> bool:
    """Whether a value is an object of such a class."""
    return isinstance(value, Record) and is_attribute_dict(value.cls)


def attribute(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A method of dicts."""
    record = s.get(op.operands[0], frame)
    if not isinstance(record, Record) or not is_one(record):
        return None
    if hasattr(dict, op.data):
        if op.data[:2] == "__" or not callable(getattr(dict, op.data)):
            raise NotSpecialisedError(op.data)
        return (Method(Known(getattr(dict, op.data)), dictionary(s, record)),)
    held = s.state.get(record.fields[op.data], UNSET) if op.data in record.fields else UNSET
    if held is not UNSET or isinstance(static_member(record.cls, op.data), types.FunctionType):
        return None
    if vars(record.cls).get("__getattr__") is dict.get:
        return (NONE,)
    raise NotSpecialisedError(op.data)


def set_attribute(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An attribute that is an item from then on."""
    record, value = [s.get(o, frame) for o in op.operands]
    if not isinstance(record, Record) or not is_one(record):
        return None
    if hasattr(dict, op.data) or op.data in vars(record.cls):
        raise NotSpecialisedError(op.data)
    own = vars(record.cls)
    if "__setattr__" not in own and "__init__" not in own:
        # It is no item.
        raise NotSpecialisedError(op.data)
    put(s, record, op.data, value)
    return ()


def searched(op: Operation) -> slice:
    """The operand that ``in`` looks through."""
    return slice(1, 2) if op.data in ("in", "not in") else slice(0, 0)


def as_dict(inner: Handler, at: Callable[[Operation], slice] = lambda op: slice(0, 1)) -> Handler:
    """What is done to such an object is done to the dict that it is."""

    def handler(s: Specialiser, op: Operation, frame: Frame) -> Done:
        values = [s.handed(o, frame) for o in op.operands]
        places = range(len(values))[at(op)]
        if not any(is_one(values[n]) for n in places):
            return inner(s, op, frame)
        operands = list(op.operands)
        for n in places:
            value = values[n]
            if isinstance(value, Record) and is_one(value):
                operands[n] = held = Value()
                frame.env[held] = dictionary(s, value)
        done = inner(s, replace(op, operands=tuple(operands)), frame)
        if done is None:
            raise NotSpecialisedError("Record")
        return done

    return handler


def given(s: Specialiser, function: Abstract, args: Any) -> Any:
    """The arguments of a call: behind two stars, or of a function of Python's own, such an object is a dict."""
    called = function.value if isinstance(function, Known) else None
    is_built_in = type(called) in (type, types.BuiltinFunctionType) and called not in _ASKING
    is_built_in = is_built_in and getattr(called, "__module__", "") == "builtins"
    found = []
    for kind, value in args:
        is_dict = is_one(value) and (kind == "**" or is_built_in)
        found.append((kind, dictionary(s, value) if is_dict and isinstance(value, Record) else value))
    return found


_ASKING = (isinstance, getattr, setattr, hasattr, type, vars, callable, id)
