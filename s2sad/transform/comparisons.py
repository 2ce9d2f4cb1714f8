"""Comparisons whose result is known: of constants, of functions and classes, of objects that the program makes."""

from __future__ import annotations

from collections.abc import Sequence

from s2sad.ir.code import UNSET, Constant, Operation, Value
from s2sad.transform.boxes import box_of
from s2sad.transform.choices import asked, is_none, is_object_or_none
from s2sad.transform.constants import compared, is_among
from s2sad.transform.containers import computed, is_key, members, position
from s2sad.transform.existing import is_existing, is_of_this_class, is_this
from s2sad.transform.known import Abstract, Choice, Closure, Items, Known, Method, Record, is_static
from s2sad.transform.patterns import is_match
from s2sad.transform.references import is_itself, is_same
from s2sad.transform.simple import is_function
from s2sad.transform.specialiser import Done, Frame, Specialiser
from s2sad.transform.variables import is_there


def compare(s: Specialiser, op: Operation, frame: Frame) -> Done:
    left, right = [s.plain(s.get(o, frame)) for o in op.operands]
    decided: bool | None = None
    if op.data in ("is", "is not"):
        if isinstance(left, Choice) and is_none(right) and is_object_or_none(left):
            return (asked(s, left, lambda side: is_none(side) == (op.data == "is"), frame.place or op.place),)
        choice, other = (left, right) if isinstance(left, Choice) else (right, left)
        if isinstance(choice, Choice) and isinstance(other, Record) and is_object_or_none(choice):
            return (asked(s, choice, lambda side: _is(s, side, other, op, frame), frame.place or op.place),)
        found = _is(s, left, right, op, frame)
        if isinstance(found, Value):
            return (found,)
        decided = found
    elif op.data in ("in", "not in") and (there := is_there(s, left, right)) is not None:
        return (there if op.data == "in" else computed(s, "unary", "not", (there,), op, frame),)
    elif op.data in ("in", "not in") and (row := members(s, right)) is not None:
        if isinstance(left, Choice) and left in s.stand_ins.chosen and all(map(is_itself, row)):
            return (asked(s, left, lambda side: _is_among(side, row, op.data == "in"), frame.place or op.place),)
        found = is_key(s, left, right)
        found = is_among(left, row) if found is None else found
        decided = None if found is None else found == (op.data == "in")
    elif op.data in ("==", "!=") and _is_plain_class(left) and _is_plain_class(right):
        decided = _identical(s, left, right) == (op.data == "==")
    elif op.data in ("==", "!=") and isinstance(left, Items) and isinstance(right, Items):
        found = _equal(s, left, right)
        decided = None if found is None else found == (op.data == "==")
    elif op.data in ("==", "!=") and any(_never_equal(s, *pair) for pair in ((left, right), (right, left))):
        decided = op.data == "!="
    else:
        decided = compared(op.data, left, right)
    return None if decided is None else (Constant(decided),)


def _is_among(value: Abstract, objects: Sequence[Abstract], holds: bool) -> bool | None:
    """Whether it ``holds`` or not that something is one of some objects; None if its class says what equals it."""
    return (value in objects) == holds if is_itself(value) or is_none(value) else None


def _is(s: Specialiser, left: Abstract, right: Abstract, op: Operation, frame: Frame) -> bool | Value | None:
    """What ``is`` or ``is not`` gives for two values, of which some are lists in the new program; None if unknown."""
    if isinstance(left, Record) and isinstance(right, Record):
        one, other = box_of(s.state, left), box_of(s.state, right)
        if one is not None and other is not None:
            with s.stand_ins.reading():
                return s.emit("compare", (one.whole, other.whole), op.data, place=frame.place or op.place)
    if (number := is_same(s, left, right, op.data == "is")) is not None:
        return number
    found = _identical(s, left, right)
    return None if found is None else found == (op.data == "is")


def _equal(s: Specialiser, left: Abstract, right: Abstract) -> bool | None:
    """Whether two values are equal, lists and dicts item by item, where that is known."""
    if not isinstance(left, Items) or not isinstance(right, Items):
        return True if left is right and isinstance(left, Value) else compared("==", s.plain(left), s.plain(right))
    one, other = s.content(left), s.content(right)
    if one is None or other is None or left.cls is not right.cls or left.cls not in (list, dict, set):
        return None
    if left.cls is set:
        return set(one.keys or ()) == set(other.keys or ())
    if len(one.slots) != len(other.slots):
        return False
    if one.keys is not None and other.keys is not None:
        places = [position(other, key) for key in one.keys]
        if None in places:
            return False
        pairs = [(slot, other.slots[at]) for slot, at in zip(one.slots, places, strict=True) if at is not None]
    else:
        pairs = list(zip(one.slots, other.slots, strict=True))
    found = [_equal(s, s.state[a], s.state[b]) for a, b in pairs]
    return False if False in found else None if None in found else True


def _is_plain_class(value: Abstract) -> bool:
    """Whether a value is a class that is equal to itself alone."""
    return isinstance(value, Known) and isinstance(value.value, type) and type(value.value).__eq__ is type.__eq__


def _never_equal(s: Specialiser, value: Abstract, other: Abstract) -> bool:
    """Whether a value is a constant, and another one a function, or it is None, and the other one a number."""
    is_constant = isinstance(value, Constant) and value is not UNSET
    is_other_function = isinstance(other, (Closure, Method)) or is_function(other)
    return (is_constant and is_other_function) or (is_none(value) and other in s.numbers)


def _identical(s: Specialiser, a: Abstract, b: Abstract) -> bool | None:
    """Whether two values are one object, where that is known."""
    if a is b and is_static(a):
        return True
    if isinstance(a, (Closure, Record)) and type(a) is type(b):
        # Of what is settled there are copies.
        unknown = not s.state.settled.isdisjoint((a.identity, b.identity))
        s.relied.mixed |= unknown
        return None if unknown else a.identity is b.identity
    if isinstance(a, Known) and isinstance(b, Known) and (isinstance(a.value, type) or type(a.value) is object):
        return a.value is b.value
    if isinstance(a, Known) and isinstance(b, Known) and is_this(s, a) and is_this(s, b):
        return a.value is b.value
    for value, other in ((a, b), (b, a)):
        if isinstance(value, Known) and isinstance(other, Record) and is_existing(value) and not s.relied.taken:
            is_new = other.origin is None and other.own is None and other.made_of is None
            return False if is_new and other.identity not in s.state.settled else None
        if isinstance(other, Constant) and other.value is None:
            if isinstance(value, Constant) and value is not UNSET:
                return value.value is None
            if is_static(value) and not (isinstance(value, Known) and not isinstance(value.value, range)):
                return False
            if isinstance(value, Known) and is_of_this_class(s, value):
                return False
            if is_match(value) or is_function(value) or is_something(s, value):
                return False
            s.relied.asks_kinds |= isinstance(value, Value)
    return None


def is_something(s: Specialiser, value: Abstract) -> bool:
    """Whether an operand of the new program is known to be a number, array, container or exception, and so not None."""
    if not isinstance(value, Value):
        return False
    known = s.types.get(value)
    kinds = ("array", "tuple", "list", "dict", "scalar")
    is_typed = known is not None and known.kind in kinds
    return is_typed or any(value in values for values in (s.numbers, s.arrays, s.scalars, s.caught))
