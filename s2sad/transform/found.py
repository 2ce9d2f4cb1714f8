"""What is found of objects that exist when a program is compiled, and again by the guards on which it rests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.frontend.resolve import is_same
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
        own = True
        for step in self.path:
            own, value = found_at(value, step)
        return self.asked(own, value)

    def asked(self, own: bool, found: Any) -> Any:
        """What is asked of what has been found, which the object itself has, or not."""
        return own, found


@dataclass(frozen=True)
class ClassHeld(Held):
    """The class of what is found."""

    def asked(self, own: bool, found: Any) -> Any:
        return own, type(found)


@dataclass(frozen=True)
class InClass(Held):
    """Whether an attribute is the class's."""

    def asked(self, own: bool, found: Any) -> Any:
        return not own


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

    def asked(self, own: bool, found: Any) -> Any:
        return Same(found)


class TypeHeld(Held):
    """The class of what is found, wherever that is."""

    def asked(self, own: bool, found: Any) -> Any:
        return type(found)


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

    def asked(self, own: bool, found: Any) -> Any:
        return kind_of(found)


def kind_of(value: Any) -> tuple[Any, ...] | None:
    return (type(value), value.dtype, value.ndim) if type(value) is np.ndarray else None


class ShapeHeld(Held):
    """What `ArrayHeld` says, and the sizes of the axes."""

    def asked(self, own: bool, found: Any) -> Any:
        return kind_of(found), np.shape(found) if kind_of(found) is not None else None


def shape_of(value: np.ndarray[Any, Any]) -> Any:
    """What `ShapeHeld` is for an array."""
    return kind_of(value), value.shape


class Walk:
    """Several questions about what one value leads to, which are answered in one walk.

    Example:
        >>> walk = Walk([(Held((Key("a"), Key(0))), (True, 1.0)), (ClassHeld((Key("a"),)), (True, list))])
        >>> walk.holds({"a": [1.0]}), walk.holds({"a": (1.0,)})
        (True, False)
    """

    def __init__(self, questions: Sequence[tuple[Held, Any]], depth: int = 0) -> None:
        self.own = [(held.asked, expected) for held, expected in questions if len(held.path) == depth]
        further: dict[str | Key, list[tuple[Held, Any]]] = {}
        for held, expected in questions:
            if len(held.path) > depth:
                further.setdefault(held.path[depth], []).append((held, expected))
        self.further = [(step, Walk(part, depth + 1)) for step, part in further.items()]

    def holds(self, value: Any, own: bool = True) -> bool:
        """Whether each answer is the expected one."""
        if any(not is_same(asked(own, value), expected) for asked, expected in self.own):
            return False
        for step, walk in self.further:
            has, part = found_at(value, step)
            if not walk.holds(part, has):
                return False
        return True
