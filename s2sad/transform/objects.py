"""Specialisation of objects of the user's classes: attributes become values, methods functions."""

from __future__ import annotations

import collections
import dataclasses
import dis
import functools
import inspect
import types
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from s2sad.frontend.called import is_followed
from s2sad.frontend.resolve import Guard
from s2sad.ir.code import UNSET, Constant, Operand, Operation, Place, Value
from s2sad.ops import takes_operands
from s2sad.ops.models import class_method_model_of, has_modelled_methods, is_of_model, names_model
from s2sad.runtime.classes import MEMBERS, does_as, inside, is_of_library, own_class, static_member
from s2sad.transform import array_objects, arrays, boxes, definitions, existing, presence, state, supers, taken, typed
from s2sad.transform.cells import State
from s2sad.transform.classes import (
    GETTER,
    SETTER,
    SLOT,
    is_followed_class,
    is_named_tuple,
    own_getter,
    own_setter,
    static_function,
)
from s2sad.transform.constants import class_seen
from s2sad.transform.containers import items_of
from s2sad.transform.existing import guard_member as _guard_member
from s2sad.transform.existing import owner as _owner
from s2sad.transform.held import view_method
from s2sad.transform.known import (
    Abstract,
    Cell,
    InList,
    Items,
    Kept,
    Known,
    Late,
    Method,
    NotSpecialisedError,
    Record,
    Row,
    Super,
    Typed,
    Unsure,
    is_plain,
)
from s2sad.transform.members import asks_the_class, existing_value, is_row_of_constants, of_class, reached
from s2sad.transform.regions import CHANGING
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.text_methods import METHODS_OF_TEXTS

Args = Sequence[tuple[str, Abstract]]

#: The flags of a function with ``*args`` or ``**kwargs``.
STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
#: The instruction of a call with ``*`` or ``**``; all instructions have two bytes.
_WITH_STARS = dis.opmap["CALL_FUNCTION_EX"]


def has_stars(function: types.FunctionType) -> bool:
    """Whether a function has parameters with ``*`` or ``**``, or calls others with such arguments."""
    code = function.__code__
    return bool(code.co_flags & STARS) or _WITH_STARS in code.co_code[::2]


def makes_something(function: types.FunctionType, seen: frozenset[types.FunctionType] = frozenset()) -> bool:
    """Whether a function, or one that it calls by a global name, makes functions or objects of the user's classes.

    So is one with ``*args`` or ``**kwargs``, and one that calls others with such arguments.
    """
    code = function.__code__
    inside = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    if any(c.co_name[:1] != "<" or c.co_name == "<lambda>" for c in inside) or has_stars(function):
        return True
    if "partial" in code.co_names or names_model(function):
        return True
    seen = seen | {function}
    names = [n for c in (code, *inside) for n in c.co_names]
    for value in mentioned(names, function.__globals__):
        if (isinstance(value, type) and (is_followed_class(value) or is_named_tuple(value))) or existing.is_object(
            value
        ):
            return True
        if value is collections.namedtuple or existing.holds_objects(value):
            return True
        if isinstance(value, types.FunctionType) and value not in seen and is_followed(value):
            if makes_something(value, seen):
                return True
    return False


def mentioned(names: Sequence[str], space: dict[str, Any]) -> Iterator[Any]:
    """The values of some names in a module, and those in the modules of the user's among them."""
    for name in names:
        value = space.get(name)
        yield value
        if isinstance(value, types.ModuleType) and not is_of_library(value.__name__):
            yield from map(vars(value).get, names)


def named_tuple_method(s: Specialiser, method: Method, args: Args) -> Done:
    """``row._replace(name=value)`` and ``row._asdict()``."""
    row, function = method.receiver, method.function
    assert isinstance(row, Row)
    assert isinstance(function, Known)
    fields, names = dict(args), getattr(row.cls, "_fields")  # noqa: B009
    if function.value is getattr(row.cls, "_asdict", None):
        return None if args else (items_of(s, row.items, names),)
    if fields.keys() - names or len(fields) < len(args):
        return None
    return (Row(tuple([fields.get(name, v) for name, v in zip(names, row.items, strict=True)]), row.cls),)


# --- attributes


def put(s: Specialiser, record: Record, name: str, value: Abstract) -> None:
    """Set an attribute."""
    if typed.operand_of(s.state, record) is not None:
        raise NotSpecialisedError("given")
    presence.assign(s, presence.cell_for(s.state, record, name, name), value)


def attribute(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An attribute of something."""
    done = _attribute(s, op, frame)
    base = s.get(op.operands[0], frame)
    if done is None and not (isinstance(base, Known) and base.read is not None):
        s.relied.read.add(op.data)
    return done


def _attribute(s: Specialiser, op: Operation, frame: Frame) -> Done:
    base, name = s.plain(s.get(op.operands[0], frame)), op.data
    match base:
        case Record() if name == "__dict__":
            return (dictionary(s, base),)
        case Record() if name == "__class__":
            cls = class_seen(base, frame.home.source.function) or base.cls
            return (s.outside(cls, cls.__name__),)
        case Record():
            return _of_record(s, base, base.cls, name, op, frame)
        case Super():
            return supers.attribute(s, base, name, op, frame)
        case Items() if s.content(base) is None:
            content = s.dynamic(base)
            return (Late(content, name),) if op.result in s.called and name in MEMBERS else None
        case Items() if callable(getattr(base.cls, name, None)):
            return (Method(Known(getattr(base.cls, name)), base),)
        case Row() if base.cls is not tuple:
            return _of_named_tuple(s, base, name, op, frame)
        case Typed() if base.is_named:
            return _of_named_tuple(s, base, name, op, frame)
        case Known():
            return _of_known(s, base, name, op, frame)
        case Value() if op.result in s.called and (name in MEMBERS or base in s.relied.filled):
            return (Late(base, name),)
        case Value() if name not in s.relied.changing and takes_operands(name):
            return (Method(Known(getattr(np.ndarray, name)), base),)
        case Constant(value=str()) if op.result in s.called and name in METHODS_OF_TEXTS:
            operand = s.emit("attribute", (base,), name, place=frame.place or op.place)
            s.needless.add(operand)
            return (Method(Known(getattr(str, name)), base, None, operand),)
    return None


def _of_record(s: Specialiser, record: Record, cls: type, name: str, op: Operation, frame: Frame) -> Done:
    if record.origin is not None and record.identity not in s.state:
        raise NotSpecialisedError("elsewhere")
    if array_objects.is_array(record) and name == array_objects.ELEMENTS:
        raise NotSpecialisedError(name)
    member = static_member(cls, name)
    if does_as(member, property):
        if member.fget is None:
            raise NotSpecialisedError(name)
        _guard_member(s, cls, name)
        return _computed(s, record, member.fget, name, op, frame)
    if name in record.fields and record.fields[name] in s.state:
        value = s.state[record.fields[name]]
        if record.origin is not None:
            s.relied.looked_up.add(name)
        if isinstance(value, Kept):
            value = presence.read(s, value, name, frame.place or op.place)
            if not isinstance(value, Unsure):
                return (value,)
        if isinstance(value, InList):
            return (boxes.read(s, value, name, frame.place or op.place),)
        if isinstance(value, Unsure) and member is None:
            return (presence.attribute(s, value, record, name, frame.place or op.place),)
        if isinstance(value, Unsure) and does_as(member, functools.cached_property):
            _guard_member(s, cls, name)
            parts = record, Constant(name), value.given, value.value, Known(member.func)
            return s.call_function(s, definitions.computed_once, [("", part) for part in parts], op, frame, None)
        if isinstance(value, Unsure):
            raise NotSpecialisedError(name)
        if value is not UNSET:
            return (value,)
    if record.own is not None and name in record.own:
        # Nothing in the function sets it.
        return (typed.attribute(s, record, name, frame.place or op.place),)
    if not _inherits(cls, name) and isinstance(getter := static_member(cls, GETTER), types.FunctionType):
        _guard_member(s, cls, GETTER)
        return _call_member(s, getter, record, [("", Constant(name))], op, frame, _owner(cls, GETTER))
    if not _inherits(cls, name) and record.origin is None and record.own is None and not is_of_model(cls):
        place = frame.place or op.place
        return End("raise", (presence.missing(s, record, name, place),), place)
    if name == "__class__" or not _inherits(cls, name):
        raise NotSpecialisedError(name)
    if member is object.__getattribute__ or member is object.__setattr__:
        return (Method(Known(member), record, object),)
    _guard_member(s, cls, name)
    if array_objects.is_array(record) and _owner(cls, name) is np.ndarray:
        return arrays.attribute(s, record, name, op, frame)
    if does_as(member, functools.cached_property):
        return _computed_once(s, record, member, op, frame)
    if (finds := own_getter(member)) is not None:
        descriptor = reached(s, s.outside(member, name), _owner(cls, name), name)
        args = [("", record), ("", s.outside(cls, cls.__name__))]
        return s.call_function(s, finds, [("", descriptor), *args], op, frame, (type(member), descriptor))
    return (of_class(s, record, member, name),)


def _computed(s: Specialiser, record: Record, function: Any, name: str, op: Operation, frame: Frame) -> Done:
    """What the function of a property gives."""
    before = len(s.out)
    done = _call_member(s, function, record, [], op, frame, _owner(record.cls, name))
    if asks_the_class(s, record.cls, function, done, s.out[before:]):
        raise NotSpecialisedError(name)
    return done


def _computed_once(
    s: Specialiser, record: Record, member: functools.cached_property[Any], op: Operation, frame: Frame
) -> Done:
    """A `functools.cached_property` that the object has not yet: from now on it is an attribute of it."""
    name = member.attrname
    if record.origin is not None or name is None:
        raise NotSpecialisedError(op.data)
    done = _computed(s, record, member.func, op.data, op, frame)
    if isinstance(done, tuple) and typed.operand_of(s.state, record) is None:
        # Of an argument's nothing is set: it is computed from the same wherever it is read.
        put(s, record, name, done[0])
    return done


def dictionary(s: Specialiser, record: Record) -> Items:
    """The ``__dict__`` of an object."""
    is_plain = record.origin is None and record.own is None and not is_of_model(record.cls)
    has_slots = any(vars(base).get("__slots__") for base in record.cls.__mro__)
    if not is_plain or has_slots or not record.cls.__dictoffset__ or array_objects.is_array(record):
        raise NotSpecialisedError("__dict__")
    s.used = True
    return presence.as_items(s.state, record)


def has_attribute(s: Specialiser, value: Abstract, name: str) -> Operand | None:
    """What says whether a constant or object that the program makes has an attribute, if anything does."""
    if isinstance(value, Constant) and value is not UNSET:
        return Constant(hasattr(value.value, name))
    if isinstance(value, Known) and isinstance(value.value, types.ModuleType) and is_of_library(value.value.__name__):
        return Constant(hasattr(value.value, name))
    if isinstance(value, Super):
        return supers.has(s, value, name)
    if not isinstance(value, Record) or value.origin is not None or is_of_model(value.cls):
        return None
    if array_objects.is_array(value) and name == array_objects.ELEMENTS:
        return None
    member = static_member(value.cls, name)
    if isinstance(member, SLOT) or static_member(value.cls, GETTER) is not None:
        return None
    if does_as(member, property):
        # One that gives another attribute is there if that is.
        read = _attribute_read(s, member.fget)
        _guard_member(s, value.cls, name)
        return None if read is None else has_attribute(s, value, read)
    if name in value.fields and value.fields[name] in s.state:
        held = s.state[value.fields[name]]
        if isinstance(held, Kept) and held.given is not None:
            held = presence.read(s, held, name, None)
        return held.given if isinstance(held, Unsure) else Constant(held is not UNSET)
    if own_getter(member) is not None:
        return None
    inherited = _inherits(value.cls, name)
    if inherited:
        _guard_member(s, value.cls, name)
    return Constant(inherited or name in (value.own or ()))


def _attribute_read(s: Specialiser, function: Any) -> str | None:
    """The attribute of its object that a method gives, and does nothing else; None of any other function."""
    code = s.code(function) if isinstance(function, types.FunctionType) and is_followed(function) else None
    if code is None or len(code.params) != 1 or len(code.body.operations) != 1 or code.body.exit.kind != "return":
        return None
    (op,) = code.body.operations
    is_read = op.kind == "attribute" and op.operands == (code.params[0].target,)
    return op.data if is_read and code.body.exit.operands == op.results else None


def _inherits(cls: type, name: str) -> bool:
    """Whether a class or one that it inherits from has a member."""
    return any(name in vars(base) for base in cls.__mro__)


def content_of(s: Specialiser, state: State, cell: Cell) -> Abstract:
    """What a cell holds; for an attribute that an object does not have, the constant of its class."""
    if cell not in state and cell.record is not None and cell.name in (cell.record.own or ()):
        raise NotSpecialisedError(cell.name)
    if cell not in state and cell.record is not None and _inherits(cell.record.cls, cell.name):
        member = static_member(cell.record.cls, cell.name)
        if isinstance(member, SLOT):
            return UNSET
        if not is_plain(member):
            raise NotSpecialisedError(cell.name)
        _guard_member(s, cell.record.cls, cell.name)
        return Constant(member)
    return state.get(cell, UNSET)


def _of_named_tuple(s: Specialiser, row: Row | Typed, name: str, op: Operation, frame: Frame) -> Done:
    cls: Any = row.cls
    if name in cls._fields:
        if isinstance(row, Typed):
            return (typed.field(s, row, name, frame.place or op.place),)
        return (row.items[cls._fields.index(name)],)
    member = static_member(cls, name)
    if name in ("_replace", "_asdict"):
        return (Method(Known(getattr(cls, name)), typed.named_tuple(s, row)),)
    if name == "_fields":
        return (Row(tuple(map(Constant, cls._fields))),)
    if does_as(member, property) and isinstance(member.fget, types.FunctionType):
        _guard_member(s, cls, name)
        return s.call_function(s, member.fget, [("", row)], op, frame, (_owner(cls, name), row))
    if isinstance(member, types.FunctionType) and name[:1] != "_":
        _guard_member(s, cls, name)
        return (Method(Known(member), row, _owner(cls, name)),)
    if (static := static_function(member)) is not None:
        _guard_member(s, cls, name)
        return (Known(static),)
    if _inherits(cls, name) and is_plain(member):
        s.guard(Guard(_owner(cls, name), name, member))
        return (Constant(member),)
    raise NotSpecialisedError(name)


def _call_member(
    s: Specialiser,
    function: Any,
    record: Record | Row | Typed,
    args: Args,
    op: Operation,
    frame: Frame,
    owner: type,
) -> Done:
    if not isinstance(function, types.FunctionType):
        raise NotSpecialisedError("member")
    return s.call_function(s, function, [("", record), *args], op, frame, (owner, record))


def member_call(
    s: Specialiser, record: Record | Row | Typed, name: str, args: Args, op: Operation, frame: Frame
) -> Done:
    """Call a special method of an object."""
    function = static_member(record.cls, name)
    if not isinstance(function, types.FunctionType):
        raise NotSpecialisedError(name)
    _guard_member(s, record.cls, name)
    return _call_member(s, function, record, args, op, frame, _owner(record.cls, name))


def shown(s: Specialiser, record: Record, names: Sequence[str], op: Operation, frame: Frame) -> Done:
    """The text that a special method of an object makes: the first of some that its class has."""
    for name in names:
        if isinstance(static_member(record.cls, name), types.FunctionType):
            return member_call(s, record, name, [], op, frame)
    return None


def _of_known(s: Specialiser, base: Known, name: str, op: Operation, frame: Frame) -> Done:
    """An attribute of an object that exists: a method of its class, a function of a module or class."""
    value = base.value
    has_methods = isinstance(value, np.ufunc) or has_modelled_methods(value)
    if has_methods and base.path and callable(member := getattr(value, name, None)):
        return (replace(base, value=member, path=(*base.path, name)),)
    if isinstance(value, (type, types.FunctionType)) and name in ("__name__", "__qualname__"):
        s.guard(Guard(value, name, getattr(value, name)))
        return (Constant(getattr(value, name)),)
    if isinstance(value, (types.ModuleType, type)):
        member = inspect.getattr_static(value, name, None)
        member = inside(member, "__func__") or member
        if type(member) is int and s.relied.writes_out and name not in s.relied.changing:
            s.relied.attributes.add(name)
            s.guard(Guard(value, name, member))
            return (Constant(member),)
        if not callable(member) and not isinstance(member, types.ModuleType):
            written = state.part(s, member, base, name)
            if written is not None:
                return (written,)
            if isinstance(value, type) and own_class(value) is not None and is_row_of_constants(member):
                _guard_member(s, value, name)
                return (existing_value(s, member, name),)
            return _object_of_class(s, base, member, name, frame.place or op.place)
        if isinstance(value, type) and (made := class_method_model_of(value, name)) is not None:
            _guard_member(s, value, name)
            return (s.outside(made, name),)
        is_of_class = does_as(inspect.getattr_static(value, name, None), classmethod)
        if is_of_class and isinstance(value, type) and isinstance(member, types.FunctionType):
            if own_class(value) is None or not base.path:
                return None
            _guard_member(s, value, name)
            return (Method(Known(member), base, _owner(value, name)),)
        if own_class(value) is not None:
            s.guard(Guard(value, name, getattr(value, name)))
        return (replace(base, value=member, path=(*base.path, name)),) if base.path else None
    if type(value) is dataclasses.Field and is_plain(getattr(value, name, None)):
        return (Constant(getattr(value, name)),)
    if not existing.is_object(value):
        if name in CHANGING:
            existing.want(s, base)
        return view_method(s, base, name, frame.place or op.place)
    return existing.attribute(s, base, name, op, frame)


def _object_of_class(s: Specialiser, base: Known, member: Any, name: str, place: Place | None) -> Done:
    """An object or container that a class or another module has: it is one as a variable of the module has it."""
    held = existing.is_object(member) or existing.is_container(member)
    is_own = name in vars(base.value) and held
    if not is_own or base.home is None or not base.path or not s.making.reads_alike(base.path[0], base.home):
        return None
    operand = s.emit("attribute", (s.dynamic(base),), name, place=place)
    s.needless.add(operand)
    return (existing.now(s, Known(member, (), operand, (base.home, base.path[0], (*base.path[1:], name)))),)


def set_attribute(s: Specialiser, op: Operation, frame: Frame) -> Done:
    base, value = [s.get(o, frame) for o in op.operands]
    if existing.is_existing(base):
        existing.want(s, base)
    if isinstance(base, Known):
        cls = base.value if isinstance(base.value, type) else type(base.value)
        if isinstance(base.value, (type, types.ModuleType)):
            # What is read of a class or module is taken for what it was at first.
            raise NotSpecialisedError("state")
        if static_member(cls, op.data) is not None:
            # So is a method of an object.
            raise NotSpecialisedError(op.data)
    if not isinstance(base, Record):
        s.relied.read.add(op.data)
        return None
    params = getattr(base.cls, "__dataclass_params__", None)
    if params is not None and params.frozen:
        raise NotSpecialisedError("frozen")
    if (setter := own_setter(base.cls)) is not None:
        _guard_member(s, base.cls, SETTER)
        named = [("", Constant(op.data)), ("", value)]
        done = _call_member(s, setter, base, named, op, frame, _owner(base.cls, SETTER))
        return done if isinstance(done, End) else ()
    return set_on(s, base, value, op, frame)


def set_on(s: Specialiser, base: Record, value: Abstract, op: Operation, frame: Frame) -> Done:
    """Set an attribute of an object as ``object.__setattr__`` does."""
    is_setter = does_as(static_member(base.cls, op.data), property)
    if is_of_model(base.cls) and not (is_setter or is_of_model(frame.home.source.function)):
        # What a library's object makes of it is not known: the entries of a sparse matrix change with its data.
        raise NotSpecialisedError(op.data)
    if array_objects.is_array(base) and op.data == array_objects.ELEMENTS:
        raise NotSpecialisedError(op.data)
    member = static_member(base.cls, op.data)
    if does_as(member, property):
        if member.fset is None:
            raise NotSpecialisedError(op.data)
        _guard_member(s, base.cls, op.data)
        done = _call_member(s, member.fset, base, [("", value)], op, frame, _owner(base.cls, op.data))
        return done if isinstance(done, End) else ()
    if not isinstance(member, SLOT) and (not base.cls.__dictoffset__ or hasattr(type(member), "__set__")):
        # Neither a descriptor nor ``__dict__`` and ``__class__`` are attributes that hold what they are given.
        raise NotSpecialisedError(op.data)
    if isinstance(value, Value) and not value.name:
        value = s.named(value, op.data, frame.place or op.place)
    taken.set_too(s, base, op.data, value, frame.place or op.place)
    put(s, base, op.data, value)
    return ()
