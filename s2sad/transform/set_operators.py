"""Operators, comparisons and methods of sets, of dicts and of views of their keys, where it is known what is in them.

    unknown = options.keys() - DEFAULTS.keys()        missing = set(names).difference(given)
    if not given.keys() <= {"a", "b"}: ...            names |= set(reaction)

A set of which that is not known gets a set, or a view, that the new program makes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection
from typing import Any

from s2sad.ir.code import Constant, Operand, Operation, Place, Value
from s2sad.transform.containers import change, items_of, key_of, keyed, put, run_through
from s2sad.transform.held import held_items, is_held_dict
from s2sad.transform.keys import key_operand
from s2sad.transform.known import Abstract, Items, Known, Row, Stream
from s2sad.transform.specialiser import Done, Frame, Specialiser

_MAKING: dict[str, Callable[[Any, Any], Any]] = {
    "-": operator.sub, "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
_COMPARING: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
#: Methods of sets that make another one, and those that compare, by the operator that does the same.
_METHODS = {"difference": "-", "intersection": "&", "union": "|", "symmetric_difference": "^"}
_QUESTIONS = {"issubset": "<=", "issuperset": ">="}
METHODS = (*_METHODS, *_QUESTIONS, "isdisjoint")


def operated(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``a - b`` and the like of sets and views of keys, and ``a |= b``."""
    if op.data not in _MAKING:
        return None
    left, right = [s.get(o, frame) for o in op.operands]
    if not (_is_set(s, left) or _is_set(s, right)):
        return None
    one, other = keys_in(s, left), keys_in(s, right)
    if one is None or other is None:
        return _at_run_time(s, left, right, op, frame) if op.kind == "binary" else None
    s.used = True
    found = combined(op.data, one, other)
    if op.kind == "inplace" and isinstance(left, Items):
        change(s, left, (), found)
        return (left,)
    return (items_of(s, [], found, set),)


def compared(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``a <= b`` and the like of sets and views of keys."""
    if op.data not in _COMPARING:
        return None
    left, right = [s.get(o, frame) for o in op.operands]
    if not (_is_set(s, left) and _is_set(s, right)):
        one_is = _is_set(s, left) or _is_set(s, right)
        is_other_known = all(isinstance(v, Value) or _is_set(s, v) for v in (left, right))
        return _at_run_time(s, left, right, op, frame) if one_is and is_other_known else None
    one, other = keys_in(s, left), keys_in(s, right)
    if one is None or other is None:
        return None
    s.used = True
    return (Constant(_COMPARING[op.data](set(one), set(other))),)


def asked(s: Specialiser, name: str, items: Items, others: Collection[Abstract]) -> Done:
    """What a method of a set gives for others, of any class; None where that is not known."""
    found, rows = keys_in(s, items), [_elements(s, other) for other in others]
    if found is None or any(row is None for row in rows):
        return None
    s.used = True
    if name in _METHODS:
        if len(rows) != 1 and name == "symmetric_difference":
            return None
        for row in rows:
            found = combined(_METHODS[name], found, row or ())
        return (items_of(s, [], found, set),)
    if len(rows) != 1 or rows[0] is None:
        return None
    if name == "isdisjoint":
        return (Constant(set(found).isdisjoint(rows[0])),)
    return (Constant(_COMPARING[_QUESTIONS[name]](set(found), set(rows[0]))),)


def combined(sign: str, left: Collection[Any], right: Collection[Any]) -> tuple[Any, ...]:
    """The elements of what an operator makes of two sets, in one order."""
    made = _MAKING[sign](set(left), set(right))
    return tuple([key for key in dict.fromkeys((*left, *right)) if key in made])


def keys_in(s: Specialiser, value: Abstract) -> tuple[Any, ...] | None:
    """What is in a set, or a view of keys, where that is known."""
    if isinstance(value, Items) and value.cls is set and (content := s.content(value)) is not None:
        return content.keys
    return _elements(s, value) if isinstance(value, Stream) and value.is_keys else None


def _is_set(s: Specialiser, value: Abstract) -> bool:
    """Whether a value is a set or view of keys that the program makes, of which it is known what is in it."""
    return (isinstance(value, Items) and value.cls is set and s.content(value) is not None) or (
        isinstance(value, Stream) and value.is_keys
    )


def _elements(s: Specialiser, value: Abstract) -> tuple[Any, ...] | None:
    """The elements of what is run through, as keys, where these are known."""
    if isinstance(value, Items) and value.cls is set:
        return keys_in(s, value)
    if isinstance(value, Known) and is_held_dict(value):
        held = held_items(s, value)
        row: Collection[Abstract] | None = None if held is None else tuple(map(key_operand, held))
    else:
        is_known = isinstance(value, (Items, Row)) or (isinstance(value, Stream) and value.is_view)
        row = run_through(s, value) if is_known else None
    keys = [None] if row is None else [key_of(s, item) for item in row]
    return None if None in keys else tuple(dict.fromkeys([key.value for key in keys if key is not None]))


def _at_run_time(s: Specialiser, left: Abstract, right: Abstract, op: Operation, frame: Frame) -> Done:
    """The operator as it stands, of a set or view that is made for it."""
    place = frame.place or op.place
    operands = [_made(s, value, place) for value in (left, right)]
    if None in operands:
        return None
    given = tuple([operand for operand in operands if operand is not None])
    return (s.emit(op.kind, given, op.data, op.result.name, place),)


def _made(s: Specialiser, value: Abstract, place: Place | None) -> Operand | None:
    """A set or view that has what is known to be in one."""
    if isinstance(value, Value):
        return value
    keys = keys_in(s, value)
    if keys is None or not all(isinstance(key, (str, int, float, bool, type(None))) for key in keys):
        return None
    if isinstance(value, Items):
        return s.emit("set", tuple(map(Constant, keys)), (False,) * len(keys), place=place)
    whole = s.emit("tuple", tuple(map(Constant, keys)), (False,) * len(keys), place=place)
    known = s.operands([s.outside(dict.fromkeys, "fromkeys"), whole], place)
    names = s.emit("attribute", (s.emit("call", known, ("",), place=place),), "keys", place=place)
    return s.emit("call", (names,), (), place=place)


def merged(s: Specialiser, left: Items, right: Abstract, inplace: bool) -> tuple[Abstract] | None:
    """``a | b`` of dicts, and ``a |= b`` of a dict and another, or pairs."""
    content, more = s.content(left), s.content(right) if isinstance(right, Items) else None
    found: list[tuple[object, Abstract]] | None = None
    if more is not None and more.keys is not None:
        found = list(zip(more.keys, [s.state[slot] for slot in more.slots], strict=True))
    elif inplace:
        found = keyed(s, run_through(s, right))
    if content is None or found is None or not (inplace or (isinstance(right, Items) and right.cls is dict)):
        return None
    if not inplace:
        left = items_of(s, [s.state[slot] for slot in content.slots], content.keys)
    for key, value in found:
        put(s, left, key, value)
    s.used = True
    return (left,)
