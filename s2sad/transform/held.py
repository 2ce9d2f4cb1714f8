"""Lists, tuples and dicts that exist at compile time: what runs through them knows their items one by one.

They stay objects of the new program, and are read there.  How many items there are, under which keys, and which objects
and functions are among them is known behind guards, and checked again where it is used (`still`).
"""

from __future__ import annotations

import math
import types
from dataclasses import dataclass
from typing import Any

from s2sad.frontend.source import Snapshot
from s2sad.ir.code import Constant, Place, Value
from s2sad.runtime.objects import still
from s2sad.transform import state
from s2sad.transform.classes import name_of
from s2sad.transform.existing import (
    DICTS,
    holds_objects,
    is_container,
    is_function_or_class,
    is_object,
    now,
    rest_on,
    use_known,
    written_as,
)
from s2sad.transform.found import ClassHeld, Held, Key
from s2sad.transform.known import Abstract, Known, Method
from s2sad.transform.regions import is_put_into, is_spread
from s2sad.transform.specialiser import Specialiser

#: The classes of constants that stand in a display, and how many of them do.
_SHOWN, _MOST_SHOWN = (int, float, str, bool, type(None)), 8


@dataclass(frozen=True)
class Structure(Held):
    """The class of what is found, and how many items or which keys it has."""

    def asked(self, own: bool, found: Any) -> Any:
        return type(found), tuple(found) if type(found) in DICTS else len(found) if type(found) in (list, tuple) else 0


def held_items(s: Specialiser, known: Known) -> dict[Any, Abstract] | None:
    """The items of a list, tuple or dict that exists, by position or key; None where they are not known."""
    value = known.value
    if known.read is None or not is_container(value):
        return None
    space = tuple(value) if type(value) in DICTS else len(value)
    rest_on(s, known, (), Structure, (type(value), space))
    use_known(s, known)
    operand = s.dynamic(known)
    if type(value) is not tuple:
        # Something may have changed it by now.
        then = _displayed(s, value) or _snapshot(s, known)
        operand = s.emit("call", s.operands([s.outside(still, "still"), operand, then], None), ("", ""))
        if value:
            s.needless.add(operand)
        # Of one without items nothing else is there that asks whether it has some by now.
        elif s.relied.constants:
            s.relied.containers.add(written_as(value))
            s.needless.add(operand)
    keys = list(value) if type(value) in DICTS else range(len(value))
    return {key: item_at(s, known, operand, key) for key in keys}


def held_keys(s: Specialiser, value: Abstract) -> tuple[Any, ...] | None:
    """The keys of a dict that exists, as long as nothing that runs changes it; None where they are not known."""
    if not isinstance(value, Known) or not is_held_dict(value) or not s.relied.constants:
        return None
    rest_on(s, value, (), Structure, Structure(())(value.value))
    use_known(s, value)
    s.relied.containers.add(written_as(value.value))
    return tuple(value.value)


def _displayed(s: Specialiser, value: Any) -> Value | None:
    """The display of a short list or dict of constants."""
    items = [part for item in value.items() for part in item] if type(value) is dict else value
    if type(value) not in (list, dict) or len(value) > _MOST_SHOWN or not all(map(_is_shown, items)):
        return None
    made = s.emit("list" if type(value) is list else "dict", list(map(Constant, items)), (False,) * len(value))
    s.needless.add(made)
    return made


def _is_shown(constant: Any) -> bool:
    """Whether a constant can be written down."""
    return type(constant) in _SHOWN and (type(constant) is not float or math.isfinite(constant))


def _snapshot(s: Specialiser, known: Known) -> Known:
    """A container with the same items, which stays what it is."""
    value = known.value
    assert known.read is not None
    if id(value) not in s.snapshots:
        home, root, path = known.read
        read = "".join([root, *(f".{step}" if isinstance(step, str) else f"[{step.key!r}]" for step in path)])
        is_view = type(value) is types.MappingProxyType
        copied = types.MappingProxyType(dict(value)) if is_view else type(value)(value)
        text = f"{read}.copy()" if not is_view else read
        is_written = root not in home.resolver.cells and all(isinstance(p, str) or _is_shown(p.key) for p in path)
        space = home.resolver.globals if is_written else {}
        s.snapshots[id(value)] = Snapshot(value, copied, space, root, text)
    return s.outside(s.snapshots[id(value)].copied, "known")


def item_of(s: Specialiser, known: Known, key: Any, result: Value) -> Abstract | None:
    """An item, if it is a function, a switch or an object, or gives named arguments; else None: it is read there."""
    value = known.value
    try:
        member = value[key]
    except (LookupError, TypeError):
        return None
    key = key % len(value) if type(value) not in DICTS else key
    written = state.part(s, member, known, Key(key))
    if written is not None:
        return written
    if type(member) in (str, bool, *_whole_numbers(s)) and s.relied.constants:
        use_known(s, known)
        rest_on(s, known, (Key(key),), Held, (True, member))
        s.relied.containers.add(written_as(value))
        return Constant(member)
    structural = is_object(member) or is_function_or_class(member) or holds_objects(member)
    structural = structural or ((s.relied.writes_out or id(member) in s.relied.kept) and is_container(member))
    code = s.active[-1]
    structural = structural or (is_container(member) and (is_spread(code, result, "**") or is_put_into(code, result)))
    found = held_items(s, known) if structural else None
    return None if found is None else found[key]


def item_at(s: Specialiser, known: Known, operand: Any, key: Any) -> Abstract:
    """One item of what an operand is."""
    value = known.value
    member, path = value[key], (Key(key),)
    assert known.read is not None
    if type(member) in (str, bool, type(None), *_whole_numbers(s)):
        rest_on(s, known, path, Held, (True, member))
        return Constant(member)
    if is_function_or_class(member) or isinstance(member, type):
        rest_on(s, known, path, Held, (True, member))
        return s.outside(member, name_of(member))
    written = state.part(s, member, known, Key(key))
    if written is not None:
        return written
    read = s.emit("item", (operand, Constant(key)))
    s.needless.add(read)
    s.relied.invariant.add(read)
    home, root, before = known.read
    if (type(value) is types.MappingProxyType or _is_inner(known)) and type(member) in (float, int):
        # Of what is in another container, or is no dict, list or tuple, nobody else knows the types of the items.
        rest_on(s, known, path, ClassHeld, (True, type(member)))
        number = s.emit("call", s.operands([s.outside(type(member), type(member).__name__), read], None), ("",))
        s.needless.add(number)
        s.numbers.add(number)
        return number
    if is_object(member) or is_container(member):
        rest_on(s, known, path, ClassHeld, (True, type(member)))
        return now(s, Known(member, (), read, (home, root, (*before, *path))))
    return read


def _is_inner(known: Known) -> bool:
    """Whether an object is found in a container."""
    return known.read is not None and any(isinstance(step, Key) for step in known.read[2])


def _whole_numbers(s: Specialiser) -> tuple[type, ...]:
    """The class of whole numbers where these are constants: they may be keys and places in lists."""
    return (int,) if s.relied.writes_out else ()


#: Methods of dicts that give views of what they hold, or an item.
_VIEWS = {"keys": dict.keys, "values": dict.values, "items": dict.items}
_METHODS = {**_VIEWS, "get": dict.get}


def view_method(s: Specialiser, base: Known, name: str, place: Place | None) -> tuple[Abstract] | None:
    """A method of a dict that exists and holds objects or functions, if it gives a view of these, or one of them.

    So it is with a dict that has texts as keys and is found in an object of a container: nobody else knows what it is.
    """
    if name not in _METHODS or type(base.value) not in DICTS or not is_held(base):
        return None
    named = _is_inner(base) and name in _VIEWS and all(type(key) is str for key in base.value)
    if not (holds_objects(base.value) or named):
        return None
    operand = s.emit("attribute", (s.dynamic(base),), name, place=place)
    s.needless.add(operand)
    s.reads.add(operand)
    return (Method(Known(_METHODS[name]), base, None, operand),)


def held_pairs(s: Specialiser, method: Method) -> list[tuple[Any, Abstract]] | None:
    """The keys and items of the dict of such a method; None if it is another method."""
    known, function = method.receiver, method.function
    if not (isinstance(known, Known) and is_held(known) and isinstance(function, Known) and type(known.value) in DICTS):
        return None
    found = held_items(s, known) if function.value in _VIEWS.values() else None
    return None if found is None else list(found.items())


def is_held(value: Abstract) -> bool:
    """Whether a value is a list, tuple or dict that exists and whose items are known."""
    return isinstance(value, Known) and value.read is not None and is_container(value.value)


def is_held_dict(value: Abstract) -> bool:
    """Whether a value is a dict that exists and whose items are known."""
    return is_held(value) and isinstance(value, Known) and type(value.value) in DICTS


def runs_as_it_is(value: Abstract) -> bool:
    """Whether a loop over what exists needs nothing of its items: these are numbers, arrays and the like."""
    if not is_held(value) or not isinstance(value, Known) or not value.value or holds_objects(value.value):
        return False
    return not any(isinstance(item, str) for item in value.value)
