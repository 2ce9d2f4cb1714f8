"""What is found of objects that exist when a program is compiled, and again by the guards on which it rests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.runtime.classes import static_member
from s2sad.runtime.contents import attributes_of


@dataclass(frozen=True)
class StaticMember:
    """The member of a class as it stands there."""

    cls: type
    name: str

    def __call__(self, value: Any) -> Any:
        return static_member(self.cls, self.name)


@dataclass(frozen=True)
class MemberAfter:
    """The member of a class as ``super()`` finds it: in the classes after one in the order of resolution."""

    cls: type
    after: type
    name: str

    def __call__(self, value: Any) -> Any:
        mro = self.cls.__mro__
        later = mro[mro.index(self.after) + 1 :] if self.after in mro else ()
        return next((vars(base)[self.name] for base in later if self.name in vars(base)), None)


@dataclass(frozen=True)
class Key:
    """The key of an item, in a path of attributes and items."""

    key: Any


@dataclass(frozen=True)
class Held:
    """What is found under some attributes of a value, and whether the object itself has it."""

    path: tuple[str | Key, ...]

    def __call__(self, value: Any) -> Any:
        for name in self.path[:-1]:
            value = found_at(value, name)[1]
        return found_at(value, self.path[-1]) if self.path else (True, value)


@dataclass(frozen=True)
class ClassHeld(Held):
    """The class of what is found."""

    def __call__(self, value: Any) -> Any:
        own, found = super().__call__(value)
        return own, type(found)


@dataclass(frozen=True)
class InClass(Held):
    """Whether an attribute is the class's."""

    def __call__(self, value: Any) -> Any:
        return not super().__call__(value)[0]


@dataclass(frozen=True, eq=False)
class Same:
    """An object that is equal to itself alone."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class Identity(Held):
    """Which object is found."""

    def __call__(self, value: Any) -> Any:
        return Same(super().__call__(value)[1])


class TypeHeld(Held):
    """The class of what is found, wherever that is."""

    def __call__(self, value: Any) -> Any:
        return type(super().__call__(value)[1])


def found_at(value: Any, name: str | Key) -> tuple[bool, Any]:
    if isinstance(name, Key):
        try:
            return True, value[name.key]
        except (LookupError, TypeError):
            return False, None
    own = attributes_of(value)
    return (True, own[name]) if name in own else (False, static_member(type(value), name))


class ArrayHeld(Held):
    """The class, dtype and number of axes of an array that is found."""

    def __call__(self, value: Any) -> Any:
        return kind_of(super().__call__(value)[1])


def kind_of(value: Any) -> tuple[Any, ...] | None:
    return (type(value), value.dtype, value.ndim) if type(value) is np.ndarray else None


class ShapeHeld(Held):
    """What `ArrayHeld` says, and the sizes of the axes."""

    def __call__(self, value: Any) -> Any:
        found = super().__call__(value)[1]
        return kind_of(found), np.shape(found) if kind_of(found) is not None else None


def shape_of(value: np.ndarray[Any, Any]) -> Any:
    """What `ShapeHeld` is for an array."""
    return kind_of(value), value.shape
