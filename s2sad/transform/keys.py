"""The keys of known dicts and the members of known sets: constants, members of enumerations, objects that the program
makes and that are equal to themselves alone, and tuples of these."""

from __future__ import annotations

import dis
import enum
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from s2sad.frontend.resolve import Guard
from s2sad.ir.code import Constant
from s2sad.runtime.classes import static_member
from s2sad.transform.boxes import box_of
from s2sad.transform.known import Abstract, Known, NotSpecialisedError, Record, Row

if TYPE_CHECKING:
    from s2sad.transform.specialiser import Specialiser


#: The instructions that read or compute something.
_READING = frozenset(
    name for name in dis.opname if name.startswith(("LOAD_", "BINARY_", "UNARY_", "COMPARE_", "STORE_"))
)


@dataclass(frozen=True)
class MemberKey:
    """A member of an enumeration as a key, which is equal to that member alone; it is read as ``known`` says."""

    member: enum.Enum
    known: Known = field(compare=False, repr=False)


@dataclass(frozen=True)
class ObjectKey:
    """An object that the program makes as a key, which is equal to that object alone."""

    record: Record = field(repr=False)


def key_of_object(s: Specialiser, record: Record) -> ObjectKey | None:
    """The key that an object is; None where its class says what is equal to it, or where there may be copies of it."""
    hashed = static_member(record.cls, "__hash__")
    is_itself = hashed is object.__hash__ and getattr(record.cls, "__eq__", None) is object.__eq__
    if _is_of_identity(hashed):
        # Where hashes differ nothing asks whether objects are equal.
        s.guard(Guard(record.cls, "__hash__", hashed))
        s.guard(Guard(hashed, "__code__", hashed.__code__))
        is_itself = True
    exists = record.origin is not None or record.own is not None or record.made_of is not None
    if not is_itself or exists or record.identity in s.state.settled or box_of(s.state, record) is not None:
        return None
    return ObjectKey(record)


def _is_of_identity(function: Any) -> bool:
    """Whether a ``__hash__`` gives the identity of its object: ``return id(self)``."""
    code = function.__code__ if isinstance(function, types.FunctionType) else None
    if code is None or code.co_argcount != 1 or "id" in function.__globals__:
        return False
    steps = [(i.opname[:9], i.argval) for i in dis.get_instructions(code) if i.opname in _READING]
    return steps == [("LOAD_GLOB", "id"), ("LOAD_FAST", code.co_varnames[0])] and not code.co_freevars


def objects_in(key: Any) -> Iterator[Record]:
    """The objects in a key."""
    if isinstance(key, ObjectKey):
        yield key.record
    for part in key if type(key) is tuple else ():
        yield from objects_in(part)


def with_objects(key: Any, objects: Iterator[Any]) -> Any:
    """A key with other objects in place of its own."""
    if isinstance(key, ObjectKey):
        return ObjectKey(next(objects))
    return tuple([with_objects(part, objects) for part in key]) if type(key) is tuple else key


def is_member(value: Any) -> bool:
    """Whether a value is a member of an enumeration that is equal to nothing but itself.

    Example:
        >>> is_member(enum.Enum("Mode", "IDLE HEAT").IDLE), is_member(enum.IntEnum("Level", "LOW HIGH").LOW)
        (True, False)
    """
    cls: Any = type(value)
    return isinstance(value, enum.Enum) and cls.__eq__ is object.__eq__ and cls.__hash__ is enum.Enum.__hash__


def key_operand(key: Any) -> Abstract:
    """The abstract value of a key; classes in a set are told apart, and are no values."""
    if isinstance(key, type):
        raise NotSpecialisedError("key")
    if isinstance(key, MemberKey):
        return key.known
    if isinstance(key, ObjectKey):
        return key.record
    return Row(tuple(map(key_operand, key))) if type(key) is tuple else Constant(key)


def existing_key(s: Specialiser, key: Any) -> Constant | None:
    """A key of a dict that exists; None for one that the new program cannot name."""
    if is_member(key):
        return Constant(MemberKey(key, s.outside(key, key.name)))
    parts = key if type(key) is tuple else (key,)
    return Constant(key) if all(type(part) in (str, int, bool, float, type(None)) for part in parts) else None


def title_of(key: Any) -> str:
    """The name that a value gets from the key under which it is put; none if no variable has such a name."""
    return key if isinstance(key, str) and key.isidentifier() and not iskeyword(key) else ""
