"""What is known of objects of subclasses of arrays: the array that one is, and how many axes that has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from s2sad.ir.code import NONE, UNSET, Constant, Value
from s2sad.ir.types import scalar
from s2sad.runtime.classes import static_member
from s2sad.transform import sizes
from s2sad.transform.containers import items_of
from s2sad.transform.known import Abstract, Choice, Items, Kept, Known, NotSpecialisedError, Record, Row, Unsure
from s2sad.transform.specialiser import Specialiser

#: The attribute that stands for the array which an object is; no other attribute may have this name.
ELEMENTS = "elements"


def is_array(value: Abstract) -> bool:
    """Whether a value is an object of a subclass of arrays that the program makes."""
    return isinstance(value, Record) and issubclass(value.cls, np.ndarray) and ELEMENTS in value.fields


def may_be_array(value: Abstract) -> bool:
    """Whether a value is such an object or else another one or an array of NumPy's own class, by a condition."""
    return isinstance(value, Choice) and any(
        is_array(side) or may_be_array(side) for side in (value.then, value.orelse)
    )


def holds_array(s: Specialiser, value: Abstract) -> bool:
    """Whether a value is such an object, or may be, or is a list or tuple of known items with one."""
    row = s.row(value) if isinstance(value, (Row, Items)) else None
    is_one = is_array(value) or may_be_array(value)
    return is_one or (row is not None and any(holds_array(s, item) for item in row))


def elements(s: Specialiser, value: Abstract) -> Abstract:
    """The array that an object is, a list or tuple with these in the place of objects, or any other value itself."""
    if isinstance(value, Known) and isinstance(value.value, np.ndarray) and type(value.value) is not np.ndarray:
        raise NotSpecialisedError("subclass")
    if isinstance(value, Record) and is_array(value):
        held = s.state[value.fields[ELEMENTS]]
        if held is UNSET or isinstance(held, (Kept, Unsure)):
            raise NotSpecialisedError("subclass")
        return held
    if isinstance(value, Choice) and may_be_array(value):
        return s.dynamic(Choice(value.test, elements(s, value.then), elements(s, value.orelse)))
    if not holds_array(s, value):
        return value
    row = [elements(s, item) for item in s.row(value) or ()]
    return Row(tuple(row)) if isinstance(value, Row) else items_of(s, row)


def users(value: Abstract, name: str) -> bool:
    """Whether the class of an object defines a member otherwise than arrays do."""
    return isinstance(value, Record) and static_member(value.cls, name) is not static_member(np.ndarray, name)


def runs_as_arrays_do(value: Abstract) -> TypeGuard[Record]:
    """Whether something is such an object, of a class that does not say what runs through it."""
    return is_array(value) and not users(value, "__iter__")


def axes(s: Specialiser, value: Abstract) -> int:
    """How many axes an array has; none of a number.

    Raises:
        NotSpecialisedError: where that is not known.
    """
    number = known_axes(s, value)
    if number is None:
        s.relied.asks_sizes = True
        raise NotSpecialisedError("axes")
    return number


def known_axes(s: Specialiser, value: Abstract) -> int | None:
    if isinstance(value, Record) and value.axes is not None:
        return value.axes
    if (row := s.row(value) if isinstance(value, (Row, Items)) else None) is not None:
        numbers = {known_axes(s, item) for item in row} or {0}
        number = numbers.pop()
        return None if numbers or number is None else number + 1
    known = s.plain(elements(s, value))
    if isinstance(known, Constant) or known in s.numbers:
        return 0
    fact = (s.types.get(known) or s.scalars.get(known)) if isinstance(known, Value) else None
    if fact is None:
        return s.ranks.get(known) if isinstance(known, Value) and known in s.arrays else None
    return 0 if fact.kind == "scalar" else fact.ndim if fact.kind == "array" else None


def broadcast_axes(s: Specialiser, values: Sequence[Abstract]) -> int | None:
    """How many axes the values together have."""
    numbers = [known_axes(s, value) for value in values]
    return max(n for n in numbers if n is not None) if None not in numbers else None


def multiplied_axes(s: Specialiser, values: Sequence[Abstract]) -> int | None:
    """How many axes a product of matrices and vectors has."""
    numbers = [known_axes(s, value) for value in values]
    return sum(n - 1 for n in numbers if n) if set(numbers) <= {1, 2} and len(numbers) == 2 else None


def axes_left(s: Specialiser, function: Any, args: Sequence[tuple[str, Abstract]]) -> int | None:
    """How many axes a reduction, or a cumulative one, leaves of an array; None where that is not known."""
    given = dict(zip(("a", "axis"), [value for kind, value in args if not kind], strict=False))
    given |= {kind: value for kind, value in args if kind}
    whole, axis, keepdims = (given.pop(name, NONE) for name in ("a", "axis", "keepdims"))
    number, axis = known_axes(s, whole), s.plain(axis)
    if given or not isinstance(axis, Constant) or keepdims is not NONE or not (axis is NONE or type(axis.value) is int):
        return None
    if function.__name__ in ("cumsum", "cumprod"):
        return 1 if axis is NONE else number
    return 0 if axis is NONE else None if number is None else number - 1


def noted_number(s: Specialiser, found: Abstract) -> Abstract:
    """A value that surely is a number."""
    if isinstance(found, Value):
        s.numbers.add(found)
        if s.sized and found not in s.scalars:
            sizes.note(s, found, scalar(False))
    return found
