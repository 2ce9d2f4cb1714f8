"""Specialisation of objects of the user's classes: attributes become values, methods functions."""

from __future__ import annotations

import abc
import dataclasses
import functools
import inspect
import types
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from s2sad.frontend.resolve import Guard
from s2sad.ir.code import UNSET, Constant, Operation, Value
from s2sad.runtime.classes import MEMBERS, own_class, static_member
from s2sad.transform import existing
from s2sad.transform.builtin import list_method
from s2sad.transform.existing import guard_member as _guard_member
from s2sad.transform.existing import owner as _owner
from s2sad.transform.known import (
    Abstract,
    Cell,
    Items,
    Known,
    Late,
    Method,
    NotSpecialisedError,
    Record,
    Row,
    State,
    Super,
    Unsure,
    is_plain,
)
from s2sad.transform.simple import items_of
from s2sad.transform.specialiser import Done, End, Frame, Specialiser

Args = Sequence[tuple[str, Abstract]]

#: Special methods that change what making an object, or reading and setting its attributes, means.
_ODD = (
    "__new__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__del__", "__get__", "__set__",
    "__init_subclass__", "__class_getitem__", "__array__", "__array_ufunc__", "__array_function__",
)  # fmt: skip


@functools.lru_cache(maxsize=1024)
def is_simple(cls: type) -> bool:
    """Whether objects of a class are no more than their attributes and the methods of the class."""
    if type(cls) not in (type, abc.ABCMeta) or own_class(cls) is None or getattr(cls, "__abstractmethods__", None):
        return False
    for base in cls.__mro__[:-1]:
        if base is abc.ABC:
            continue
        if own_class(base) is None or any(name in vars(base) and not _is_generated(vars(base)[name]) for name in _ODD):
            return False
        if not all(map(_is_plain_member, vars(base).items())):
            return False
    return True


def _is_plain_member(named: tuple[str, Any]) -> bool:
    name, member = named
    plain = (types.FunctionType, staticmethod, classmethod, property, types.GetSetDescriptorType)
    if isinstance(member, plain) or name in ("__dict__", "__weakref__", "__slots__", "__match_args__"):
        return True
    descriptor = any(hasattr(type(member), name) for name in ("__get__", "__set__", "__delete__", "__set_name__"))
    return not descriptor or isinstance(member, (type, np.ufunc))


def construct(s: Specialiser, cls: type, args: Args, op: Operation, frame: Frame) -> Done:
    """``cls(...)``: an object of which all attributes are known."""
    if not is_simple(cls):
        return None
    record = Record(cls)
    done: Done = None
    s.state[record.identity] = Constant(None)
    made = static_member(cls, "__init__")
    fields = getattr(cls, "__dataclass_fields__", None)
    if fields is not None and _is_generated(made):
        if len(dataclasses.fields(cls)) != len(fields) or not all(f.init for f in fields.values()):
            return None
        if _owner(cls, "__init__") is not _owner(cls, "__dataclass_fields__"):
            return None
        bound = _dataclass_arguments(s, fields, args)
        if bound is None:
            return None
        for name, value in bound.items():
            put(s, record, name, value)
        after = static_member(cls, "__post_init__")
        if isinstance(after, types.FunctionType):
            _guard_member(s, cls, "__post_init__")
            done = s.call_function(s, after, [("", record)], op, frame, (_owner(cls, "__post_init__"), record))
    elif isinstance(made, types.FunctionType):
        _guard_member(s, cls, "__init__")
        done = s.call_function(s, made, [("", record), *args], op, frame, (_owner(cls, "__init__"), record))
    elif args:
        return None
    s.used = True
    return done if isinstance(done, End) else (record,)


def _is_generated(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and function.__code__.co_filename == "<string>"


def _dataclass_arguments(s: Specialiser, fields: dict[str, Any], args: Args) -> dict[str, Abstract] | None:
    """The fields of a new dataclass."""
    bound: dict[str, Abstract] = {}
    positional = [name for name, f in fields.items() if not f.kw_only]
    for kind, value in args:
        name = kind or (positional.pop(0) if positional else "*")
        if name in bound or name not in fields:
            return None
        if kind in positional:
            positional.remove(kind)
        bound[name] = value
    for name, f in fields.items():
        if name in bound:
            continue
        if f.default_factory in (list, dict):
            bound[name] = items_of(s, [], None if f.default_factory is list else ())
        elif is_plain(f.default):
            bound[name] = Constant(f.default)
        else:
            return None
    return {name: bound[name] for name in fields}


# --- attributes


def put(s: Specialiser, record: Record, name: str, value: Abstract) -> None:
    """Set an attribute."""
    if name not in record.fields:
        record.fields[name] = Cell(name, None, record)
    s.state[record.fields[name]] = value


def attribute(s: Specialiser, op: Operation, frame: Frame) -> Done:
    base, name = s.get(op.operands[0], frame), op.data
    match base:
        case Record():
            return _of_record(s, base, base.cls, name, op, frame)
        case Super():
            mro = _class_of(base.receiver).__mro__
            if base.after not in mro:
                raise NotSpecialisedError("super")
            for cls in mro[mro.index(base.after) + 1 :]:
                found = vars(cls).get(name)
                if isinstance(found, types.FunctionType):
                    s.guard(Guard(cls, name, found))
                    return (Method(Known(found), base.receiver, cls),)
                if name in vars(cls) and cls is not object:
                    raise NotSpecialisedError(name)
            if name == "__init__":
                return (Method(Known(object.__init__), base.receiver, object),)
            raise NotSpecialisedError(name)
        case Items() if not isinstance(s.state[base.cell], Row):
            content = s.dynamic(base)
            return (Late(content, name),) if op.result in s.called and name in MEMBERS else None
        case Items():
            return (Method(Known(getattr(list if base.keys is None else dict, name, None)), base),)
        case Known():
            return _of_known(s, base, name, op, frame)
        case Value() if op.result in s.called and name in MEMBERS:
            return (Late(base, name),)
    return None


def _class_of(value: Abstract) -> type:
    if isinstance(value, Record):
        return value.cls
    if isinstance(value, Known):
        return type(value.value)
    raise NotSpecialisedError("super")


def _of_record(s: Specialiser, record: Record, cls: type, name: str, op: Operation, frame: Frame) -> Done:
    member = static_member(cls, name)
    if isinstance(member, property):
        if member.fget is None:
            raise NotSpecialisedError(name)
        _guard_member(s, cls, name)
        return _call_member(s, member.fget, record, [], op, frame, _owner(cls, name))
    if name in record.fields and record.fields[name] in s.state:
        value = s.state[record.fields[name]]
        if value is UNSET or isinstance(value, Unsure):
            raise NotSpecialisedError(name)
        return (value,)
    if name == "__class__" or member is None:
        raise NotSpecialisedError(name)
    _guard_member(s, cls, name)
    if isinstance(member, types.FunctionType):
        return (Method(Known(member), record, _owner(cls, name)),)
    if isinstance(member, staticmethod) and isinstance(member.__func__, types.FunctionType):
        return (Known(member.__func__),)
    if isinstance(member, classmethod):
        raise NotSpecialisedError(name)
    if is_plain(member):
        return (Constant(member),)
    raise NotSpecialisedError(name)


def content_of(s: Specialiser, state: State, cell: Cell) -> Abstract:
    """What a cell holds; for an attribute that an object does not have, the constant of its class."""
    if cell not in state and cell.record is not None and static_member(cell.record.cls, cell.name) is not None:
        member = static_member(cell.record.cls, cell.name)
        if not is_plain(member):
            raise NotSpecialisedError(cell.name)
        _guard_member(s, cell.record.cls, cell.name)
        return Constant(member)
    return state.get(cell, UNSET)


def _call_member(
    s: Specialiser,
    function: Any,
    record: Record,
    args: Args,
    op: Operation,
    frame: Frame,
    owner: type,
) -> Done:
    if not isinstance(function, types.FunctionType):
        raise NotSpecialisedError("member")
    return s.call_function(s, function, [("", record), *args], op, frame, (owner, record))


def member_call(s: Specialiser, record: Record, name: str, args: Args, op: Operation, frame: Frame) -> Done:
    """Call a special method of an object."""
    function = static_member(record.cls, name)
    if not isinstance(function, types.FunctionType):
        raise NotSpecialisedError(name)
    _guard_member(s, record.cls, name)
    return _call_member(s, function, record, args, op, frame, _owner(record.cls, name))


def _of_known(s: Specialiser, base: Known, name: str, op: Operation, frame: Frame) -> Done:
    """An attribute of an object that exists: a method of its class, a function of a module or class."""
    value = base.value
    if isinstance(value, (types.ModuleType, type)):
        member = inspect.getattr_static(value, name, None)
        member = getattr(member, "__func__", member)
        if not callable(member) and not isinstance(member, types.ModuleType):
            return None
        if own_class(value) is not None:
            s.guard(Guard(value, name, getattr(value, name)))
        return (replace(base, value=member, path=(*base.path, name)),) if base.path else None
    return existing.attribute(s, base, name, op, frame) if existing.is_object(value) else None


def set_attribute(s: Specialiser, op: Operation, frame: Frame) -> Done:
    base, value = [s.get(o, frame) for o in op.operands]
    if isinstance(base, Known):
        cls = base.value if isinstance(base.value, type) else type(base.value)
        if isinstance(base.value, (type, types.ModuleType)) or static_member(cls, op.data) is not None:
            # What is read of a class or module, and a method of an object, is taken for what it was at first.
            raise NotSpecialisedError(op.data)
    if not isinstance(base, Record):
        return None
    member = static_member(base.cls, op.data)
    if isinstance(member, property):
        if member.fset is None:
            raise NotSpecialisedError(op.data)
        _guard_member(s, base.cls, op.data)
        done = _call_member(s, member.fset, base, [("", value)], op, frame, _owner(base.cls, op.data))
        return done if isinstance(done, End) else ()
    if getattr(base.cls, "__dataclass_params__", None) is not None and base.cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise NotSpecialisedError("frozen")
    if isinstance(value, Value) and not value.name:
        value = s.named(value, op.data, frame.place or op.place)
    put(s, base, op.data, value)
    return ()


def method_of_items(s: Specialiser, method: Method, args: Args) -> Done:
    """A call of a method of a list or dict of known items."""
    assert isinstance(method.receiver, Items)
    assert isinstance(method.function, Known)
    if any(kind for kind, _ in args) or method.function.value is None:
        return None
    return list_method(s, method.receiver, method.function.value.__name__, [value for _, value in args])
