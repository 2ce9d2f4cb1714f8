"""The keys of known dicts and the members of known sets: constants, tuples of these, and members of enumerations."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from s2sad.ir.code import Constant
from s2sad.transform.known import Abstract, Known, NotSpecialisedError, Row

if TYPE_CHECKING:
    from s2sad.transform.specialiser import Specialiser


@dataclass(frozen=True)
class MemberKey:
    """A member of an enumeration as a key, which is equal to that member alone; it is read as ``known`` says."""

    member: enum.Enum
    known: Known = field(compare=False, repr=False)


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
    return Row(tuple(map(key_operand, key))) if type(key) is tuple else Constant(key)


def existing_key(s: Specialiser, key: Any) -> Constant | None:
    """A key of a dict that exists; None for one that the new program cannot name."""
    if is_member(key):
        return Constant(MemberKey(key, s.outside(key, key.name)))
    parts = key if type(key) is tuple else (key,)
    return Constant(key) if all(type(part) in (str, int, bool, float, type(None)) for part in parts) else None
