"""Objects of the user's classes that a program makes: what a call of the class, or of its ``__init__``, does."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Sequence
from typing import Any

from s2sad.frontend.resolve import Guard
from s2sad.ir.code import Constant, Operation, Place
from s2sad.ops.models import is_of_model
from s2sad.runtime.classes import static_member
from s2sad.runtime.objects import object_with
from s2sad.transform import array_objects, arrays, attribute_dicts
from s2sad.transform.classes import (
    GETTER,
    MAKER,
    SETTER,
    are_same,
    is_array_class,
    is_generated,
    is_named_tuple,
    is_simple,
    own_setter,
)
from s2sad.transform.containers import called, computed, performed
from s2sad.transform.copies import fields_of, new_object
from s2sad.transform.dict_classes import is_attribute_dict
from s2sad.transform.existing import guard_class, guard_member, owner
from s2sad.transform.known import Abstract, Known, NotSpecialisedError, Record, Row, is_plain
from s2sad.transform.members import existing_value
from s2sad.transform.objects import put
from s2sad.transform.specialiser import Done, End, Frame, Specialiser

Args = Sequence[tuple[str, Abstract]]

#: What annotations of the body of a dataclass are that are no fields: attributes of the class, and parameters alone.
_OF_CLASS: Any = dataclasses._FIELD_CLASSVAR  # type: ignore[attr-defined]
_PASSED: Any = dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]


def construct(s: Specialiser, cls: type, args: Args, op: Operation, frame: Frame) -> Done:
    """``cls(...)``: an object of which all attributes are known."""
    if is_named_tuple(cls):
        s.used = True
        guard_class(s, cls)
        made = static_member(cls, "__new__")
        made = getattr(made, "__func__", made)
        s.guard(Guard(made, "__defaults__", made.__defaults__))
        return _named_tuple(cls, args)
    if is_array_class(cls):
        return arrays.construct(s, cls, args, op, frame)
    if is_attribute_dict(cls):
        return attribute_dicts.construct(s, cls, args)
    if not is_simple(cls, GETTER, SETTER, MAKER):
        return None
    guard_class(s, cls)
    maker = static_member(cls, MAKER)
    if not isinstance(maker, staticmethod):
        return _begun(s, new_object(s, cls, {}), args, op, frame)
    guard_member(s, cls, MAKER)
    known = s.outside(cls, cls.__name__)
    done = s.call_function(s, maker.__func__, [("", known), *args], op, frame, (owner(cls, MAKER), known))
    if not isinstance(done, tuple):
        return done
    # Python calls ``__init__`` of what is an object of the class.
    made = done[0]
    if not isinstance(made, Record):
        raise NotSpecialisedError(MAKER)
    is_begun = not issubclass(made.cls, cls) or static_member(made.cls, "__init__") is object.__init__
    return done if is_begun else _begun(s, made, args, op, frame)


def without_attributes(s: Specialiser, args: Args) -> Done:
    """``object.__new__(cls)``: an object that has no attributes yet."""
    cls = args[0][1].value if len(args) == 1 and isinstance(args[0][1], Known) else None
    if not isinstance(cls, type) or not is_simple(cls, GETTER, SETTER, MAKER):
        return None
    guard_class(s, cls)
    return (new_object(s, cls, {}),)


def _begun(s: Specialiser, record: Record, args: Args, op: Operation, frame: Frame) -> Done:
    """A new object, once its ``__init__`` has been run."""
    cls = record.cls
    done: Done = None
    made = static_member(cls, "__init__")
    if _is_of_dataclass(made, owner(cls, "__init__")):
        done = of_dataclass(s, made, [("", record), *args], op, frame)
        if done is None:
            return None
    elif isinstance(made, types.FunctionType):
        guard_member(s, cls, "__init__")
        done = s.call_function(s, made, [("", record), *args], op, frame, (owner(cls, "__init__"), record))
    elif args:
        return None
    return done if isinstance(done, End) else (record,)


def exception(s: Specialiser, known: Known, args: Args, op: Operation, frame: Frame) -> Done:
    """An exception that is raised, with objects that the program makes: it gets others, with the same attributes."""
    place = frame.place or op.place
    is_class = isinstance(known.value, type) and issubclass(known.value, BaseException)
    if not is_class or op.result not in s.raised or not any(isinstance(v, Record) for _, v in args):
        return None
    given = [(kind, _as_it_is(s, v, place) if isinstance(v, Record) else v) for kind, v in args]
    return (computed(s, "call", tuple([kind for kind, _ in given]), [known, *(v for _, v in given)], op, frame),)


def _as_it_is(s: Specialiser, record: Record, place: Place | None) -> Abstract:
    """An object that exists, with the attributes that one has which the program makes."""
    if array_objects.is_array(record):
        return arrays.returned(s, record, place)
    if record.origin is not None or record.own is not None or is_of_model(record.cls):
        raise NotSpecialisedError("Record")
    held = fields_of(s, record)
    cls, names = s.outside(record.cls, record.cls.__name__), Row(tuple(map(Constant, held)))
    operands = s.operands([s.outside(object_with, "object_with"), cls, names, *held.values()], place)
    return s.emit("call", operands, ("",) * (len(operands) - 1), place=place)


def _is_of_dataclass(made: Any, cls: type) -> bool:
    """Whether a function is the ``__init__`` that ``dataclasses`` has made for a class."""
    return is_generated(made) and vars(cls).get("__init__") is made and "__dataclass_fields__" in vars(cls)


def of_dataclass(s: Specialiser, made: Any, args: Args, op: Operation, frame: Frame) -> Done:
    """What such a function does to an object of its class, or of one that inherits from that; None for any other."""
    record = args[0][1] if args else None
    if not isinstance(record, Record):
        return None
    cls = next((c for c in record.cls.__mro__ if _is_of_dataclass(made, c)), None)
    if cls is None:
        return None
    fields = {n: f for n, f in vars(cls)["__dataclass_fields__"].items() if f._field_type is not _OF_CLASS}
    given = [f for f in fields.values() if f.init and not f.kw_only and f.default is not f.default_factory]
    pairs = zip(made.__defaults__ or (), given, strict=False)
    own = [(d, f.default) for d, f in pairs if f.default is not dataclasses.MISSING]
    bound = _dataclass_arguments(fields, args[1:])
    if bound is None or not are_same(*zip(*own, strict=True) if own else ((), ())):
        return None
    s.guard(Guard(made, "__defaults__", made.__defaults__))
    passed: list[tuple[str, Abstract]] = []
    for name, f in fields.items():
        if name not in bound and f.default_factory is not dataclasses.MISSING:
            bound[name] = _of_factory(s, f.default_factory, name, op, frame)
        elif name not in bound and f.init:
            bound[name] = existing_value(s, f.default, name)
        if f._field_type is _PASSED:
            passed.append(("", bound[name]))
        elif name in bound and own_setter(record.cls) and not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            performed(s, "set_attribute", name, (record, bound[name]), op, frame)
        elif name in bound:
            put(s, record, name, bound[name])
    after = static_member(record.cls, "__post_init__")
    if isinstance(after, types.FunctionType):
        guard_member(s, record.cls, "__post_init__")
        known = owner(record.cls, "__post_init__"), record
        return s.call_function(s, after, [("", record), *passed], op, frame, known) or (Constant(None),)
    return (Constant(None),)


def _dataclass_arguments(fields: dict[str, Any], args: Args) -> dict[str, Abstract] | None:
    """The fields of a new dataclass that a call gives; None where it raises."""
    bound: dict[str, Abstract] = {}
    positional = [name for name, f in fields.items() if f.init and not f.kw_only]
    for kind, value in args:
        name = kind or (positional.pop(0) if positional else "*")
        if name in bound or name not in fields or not fields[name].init:
            return None
        if kind in positional:
            positional.remove(kind)
        bound[name] = value
    lacking = [f for name, f in fields.items() if f.init and name not in bound]
    return None if any(f.default is f.default_factory for f in lacking) else bound


def _of_factory(s: Specialiser, factory: Any, name: str, op: Operation, frame: Frame) -> Abstract:
    """What a field is that the call of a class does not give."""
    if isinstance(factory, types.FunctionType):
        done = s.call_function(s, factory, [], op, frame, None)
        if not isinstance(done, tuple):
            raise NotSpecialisedError("factory")
        return done[0]
    return called(s, s.outside(factory, name), [], op, frame)


def _named_tuple(cls: Any, args: Args) -> Done:
    """A tuple with named fields."""
    given = dict(zip(cls._fields, [value for kind, value in args if not kind], strict=False))
    named = dict(args[len(given) :])
    if "*" in named or "**" in named or given.keys() & named or len(given) + len(named) < len(args):
        return None
    defaults = {name: Constant(v) for name, v in cls._field_defaults.items() if is_plain(v)}
    fields = {**defaults, **given, **named}
    return (Row(tuple([fields[name] for name in cls._fields]), cls),) if fields.keys() == set(cls._fields) else None
