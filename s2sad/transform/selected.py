"""Functions and objects in lists, tuples and dicts, one of which is chosen by a key that is known at run time.

SCHEMES[name](u, dt)            if name == 'upwind': upwind(u, dt)
                                else: central(u, dt)
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from s2sad.frontend.writing import may_write
from s2sad.ir.code import NONE, Code, Constant, Operation, Place, Value, inner
from s2sad.runtime.classes import static_member
from s2sad.runtime.items import key_among, place_among
from s2sad.transform import branches, typed
from s2sad.transform.containers import MAPPINGS
from s2sad.transform.existing import DICTS, is_container, is_function_or_class, is_object
from s2sad.transform.given_functions import has_writing_methods, is_writing_member
from s2sad.transform.held import held_items, is_held
from s2sad.transform.keys import existing_key, key_operand
from s2sad.transform.known import Abstract, Items, Known, Method, Row, Typed, is_callable
from s2sad.transform.specialiser import Done, End, Frame, Specialiser

Args = Sequence[tuple[str, Abstract]]
#: So many items at most are told apart where the program runs.
_MOST = 12


def selected(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``table[key]`` for a key that is not known; None where no item is to be known, or it makes no difference.

    A call of one of several functions that write nothing may stay a call of what is found at run time: it is shorter.
    """
    base, index = [s.plain(s.get(o, frame)) for o in op.operands]
    place = frame.place or op.place
    table = _told_apart(s, base, index, op)
    if table is None:
        return None
    by_place = not _is_mapping(base)
    known = Constant(len(table)) if by_place else Row(tuple(map(key_operand, table)))
    helper = s.outside(place_among, "place_among") if by_place else s.outside(key_among, "key_among")
    key = s.emit("call", s.operands([helper, index, known], place), ("", ""), place=place)
    return _one_of(s, key, list(table.items()), op.result.name, place)


def got(s: Specialiser, base: Abstract, args: Sequence[Abstract], op: Operation, place: Place | None) -> Done:
    """What the method ``get`` of a dict gives for a key that is not known; None where it makes no difference."""
    index, *default = args
    table = _told_apart(s, base, index, op) if _is_mapping(base) else None
    if table is None or not isinstance(index, Value):
        return None
    items = [*table.items(), (None, default[0] if default else NONE)]
    return _one_of(s, index, items, op.result.name if op.results else "", place)


def _told_apart(s: Specialiser, base: Abstract, index: Abstract, op: Operation) -> dict[Any, Abstract] | None:
    """The items of a table, by place or key, if those are to be known under a key that is not."""
    if not isinstance(index, Value) or index in s.slices or s.expression:
        return None
    table = _table(s, base)
    if table is None or not 0 < len(table) <= _MOST:
        return None
    code, used = s.active[-1], frozenset[str]()
    if op.results:
        used = _used(code, op.result)
    if not any(_is_needed(item, used) for item in table.values()) and not (
        op.results and _is_given_out(code, op.result)
    ):
        return None
    s.used = True
    if isinstance(base, Typed):
        return {key: typed.item_at(s, base, key) for key in table}
    held = held_items(s, base) if isinstance(base, Known) else None
    if held is None:
        return table
    keys = [existing_key(s, key) for key in held]
    return None if None in keys else dict(zip([key.value for key in keys if key], held.values(), strict=True))


def got_of_known(s: Specialiser, method: Method, args: Args, op: Operation, place: Place | None) -> Done:
    """What ``get`` of a dict that exists gives, if that is a function or object; None of any other method."""
    base, function = method.receiver, method.function
    is_get = isinstance(function, Known) and function.value is dict.get and isinstance(base, Known)
    if not is_get or not isinstance(base, Known) or not 1 <= len(args) <= 2 or any(kind for kind, _ in args):
        return None
    index, *default = [s.plain(value) for _, value in args]
    if not isinstance(index, Constant):
        return got(s, base, [index, *default], op, place)
    held = held_items(s, base) if type(index.value) in (str, int) else None
    if held is None:
        return None
    found = held.get(index.value, default[0] if default else NONE)
    s.used |= is_callable(found)
    return (found,)


def _one_of(
    s: Specialiser, key: Value, items: Sequence[tuple[Any, Abstract]], name: str, place: Place | None
) -> tuple[Abstract, ...] | End:
    """The first item whose key is ``key``, or the last one."""
    (at, first), *others = items
    if not others:
        return (_taken_apart(s, first),)
    test = s.emit("compare", (key, *s.operands([key_operand(at)], place)), "==", place=place)

    def rest() -> End:
        found = _one_of(s, key, others, name, place)
        return found if isinstance(found, End) else End("yield", found)

    arms = [lambda: End("yield", (_taken_apart(s, first),)), rest]
    return branches.fork(s, test, arms, [name], place)


def _taken_apart(s: Specialiser, item: Abstract) -> Abstract:
    """A tuple with its items."""
    if isinstance(item, Known) and type(item.value) is tuple and (held := held_items(s, item)) is not None:
        return Row(tuple([_taken_apart(s, part) for part in held.values()]))
    return item


def _table(s: Specialiser, base: Abstract) -> dict[Any, Abstract] | None:
    """What is known of a list, tuple or dict of functions, objects or tuples of these, by places or keys."""
    content = s.content(base) if isinstance(base, Items) else None
    found: dict[Any, Abstract] | None = None
    if isinstance(base, Known) and is_held(base):
        members = dict(base.value if type(base.value) in DICTS else enumerate(base.value))
        return {k: Known(v) for k, v in members.items()} if all(map(_is_structure, members.values())) else None
    if isinstance(base, Typed):
        functions = {key: None if part is None else part.function for key, part in base.made_of.parts}
        return None if None in functions.values() else {key: Known(function) for key, function in functions.items()}
    if isinstance(base, Items) and base.cls in MAPPINGS:
        if content is not None and content.keys is not None and content.factory is None:
            found = dict(zip(content.keys, [s.state[slot] for slot in content.slots], strict=True))
    elif isinstance(base, (Items, Row)) and (row := s.row(base)) is not None:
        found = dict(enumerate(row))
    if found is None:
        return None
    return found if all(is_callable(v) or isinstance(v, Row) for v in found.values()) else None


def _is_structure(value: Any) -> bool:
    return is_function_or_class(value) or is_object(value) or (type(value) is tuple and is_container(value))


def _is_mapping(base: Abstract) -> bool:
    if isinstance(base, Typed):
        return base.cls is dict
    return type(base.value) in DICTS if isinstance(base, Known) else isinstance(base, Items) and base.cls in MAPPINGS


def _is_given_out(code: Code, function: Value) -> bool:
    """Whether a function is called with an array for its result, which it writes."""
    return any(o.kind == "call" and o.operands[0] is function and "out" in o.data for o in inner(code.body))


def _used(code: Code, value: Value) -> frozenset[str]:
    """The names of the attributes that are read of a value or set, with ``=`` if the function sets some of a name."""
    named = [o for o in inner(code.body) if o.kind in ("attribute", "set_attribute")]
    changed = {o.data for o in named if o.kind == "set_attribute"}
    return frozenset([f"{o.data}=" if o.data in changed else o.data for o in named if value in o.operands])


def _is_needed(item: Abstract, used: frozenset[str]) -> bool:
    """Whether what is found at run time would not do: it may write, or is no object of the new program."""
    if isinstance(item, Row):
        return any(is_callable(part) and _is_needed(part, used) for part in item.items)
    return _writes(item.value, used) if isinstance(item, Known) else True


def _writes(value: Any, used: frozenset[str]) -> bool:
    """Whether something may write what it is given as it is used, or is a class."""
    cls: Any = type(value)
    if isinstance(value, types.FunctionType):
        return may_write(value)
    if type(value) is tuple:
        return any(_writes(part, frozenset()) for part in value)
    if isinstance(value, type) or not is_object(value):
        return isinstance(value, type)
    if not used:
        return has_writing_methods(cls)
    return any(name[-1] == "=" or is_writing_member(static_member(cls, name)) for name in used)
