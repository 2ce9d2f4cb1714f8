"""Functions in lists, tuples and dicts, one of which is chosen by a key that is known when the program runs.

SCHEMES[name](u, dt)            if name == 'upwind': upwind(u, dt)
                                else: central(u, dt)
"""

from __future__ import annotations

import types
from typing import Any

from s2sad.frontend.writing import may_write
from s2sad.ir.code import Code, Constant, Place, Value, inner
from s2sad.runtime.items import key_among, place_among
from s2sad.transform.containers import MAPPINGS
from s2sad.transform.existing import DICTS, is_function_or_class
from s2sad.transform.held import held_items, is_held
from s2sad.transform.known import Abstract, Choice, Items, Known, Row, is_callable
from s2sad.transform.specialiser import Done, Specialiser

#: So many functions at most are told apart where the program runs.
_MOST = 12


def selected(s: Specialiser, base: Abstract, index: Abstract, result: Value, place: Place | None) -> Done:
    """The item under a key that is not known; None where the items are no functions, or it makes no difference.

    A call of one of several functions that write nothing may stay a call of what is found at run time: it is shorter.
    """
    if not isinstance(index, Value) or index in s.slices or s.expression:
        return None
    table = _functions(s, base)
    if table is None or not 0 < len(table) <= _MOST:
        return None
    if not (any(map(_is_needed, table.values())) or _is_given_out(s.active[-1], result)):
        return None
    if isinstance(base, Known) and (held := held_items(s, base)) is not None:
        table = held
    s.used = True
    by_place = not _is_mapping(base)
    known: Any = len(table) if by_place else tuple(table)
    helper = s.outside(place_among, "place_among") if by_place else s.outside(key_among, "key_among")
    key = s.emit("call", s.operands([helper, index, Constant(known)], place), ("", ""), place=place)
    *others, chosen = table.items()
    found: Abstract = chosen[1]
    for at, function in reversed(others):
        found = Choice(s.emit("compare", (key, Constant(at)), "==", place=place), function, found)
    return (found,)


def _functions(s: Specialiser, base: Abstract) -> dict[Any, Abstract] | None:
    """The functions in a list, tuple or dict by their places or keys; None if there is anything else in it."""
    content = s.content(base) if isinstance(base, Items) else None
    found: dict[Any, Abstract] | None = None
    if isinstance(base, Known) and is_held(base):
        members = dict(base.value if type(base.value) in DICTS else enumerate(base.value))
        return {k: Known(v) for k, v in members.items()} if all(map(is_function_or_class, members.values())) else None
    if isinstance(base, Items) and base.cls in MAPPINGS:
        if content is not None and content.keys is not None and content.factory is None:
            found = dict(zip(content.keys, [s.state[slot] for slot in content.slots], strict=True))
    elif isinstance(base, (Items, Row)) and (row := s.row(base)) is not None:
        found = dict(enumerate(row))
    return found if found is not None and all(map(is_callable, found.values())) else None


def _is_mapping(base: Abstract) -> bool:
    return type(base.value) in DICTS if isinstance(base, Known) else isinstance(base, Items) and base.cls in MAPPINGS


def _is_given_out(code: Code, function: Value) -> bool:
    """Whether a function is called with an array for its result, which it writes."""
    return any(o.kind == "call" and o.operands[0] is function and "out" in o.data for o in inner(code.body))


def _is_needed(function: Abstract) -> bool:
    """Whether a call of what is found at run time would not do: it may write, or is no object of the new program."""
    if not isinstance(function, Known):
        return True
    if isinstance(function.value, types.FunctionType):
        return may_write(function.value)
    return isinstance(function.value, type)
