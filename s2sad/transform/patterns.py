"""Regular expressions applied to texts that are known: ``PATTERN.split("A + B -> C")``, ``re.fullmatch(p, text)``.

What they give is known then, and is made in the new program as well, for whatever uses it otherwise.
"""

from __future__ import annotations

import re
from typing import Any

from s2sad.frontend.resolve import Guard
from s2sad.ir.code import Constant, Operation, Value
from s2sad.transform.containers import MOST_ITEMS, items_of
from s2sad.transform.known import Abstract, Known, Method, Row
from s2sad.transform.specialiser import Done, Frame, Specialiser

#: Functions of `re` that apply an expression to a text.
MATCHING: tuple[Any, ...] = (re.match, re.fullmatch, re.search, re.split, re.findall, re.sub)
_METHODS: dict[type, frozenset[str]] = {
    re.Pattern: frozenset(f.__name__ for f in MATCHING),
    re.Match: frozenset(("group", "groups", "groupdict", "start", "end", "span")),
}
_PLAIN = (str, int, bool, type(None))


def of_module(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A compiled expression that a variable of the module has."""
    found, value = s.lookup(frame, op.data)
    resolver = frame.home.resolver
    if not found or not isinstance(value, re.Pattern) or resolver.is_rebound(op.data):
        return None
    if not s.making.reads_alike(op.data, frame.home):
        return None
    s.guard(Guard(resolver.cells.get(op.data, resolver.globals), op.data, value))
    operand = s.emit("global", (), op.data, op.result.name, frame.place or op.place)
    s.needless.add(operand)
    s.relied.invariant.add(operand)
    return (Known(value, (), operand),)


def attribute(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A method of an expression or of what it has matched."""
    base = s.get(op.operands[0], frame)
    if not isinstance(base, Known) or op.data not in _METHODS.get(type(base.value), ()) or op.result not in s.called:
        return None
    operand = s.emit("attribute", s.operands([base], None), op.data, place=frame.place or op.place)
    s.needless.add(operand)
    return (Method(Known(getattr(type(base.value), op.data)), base, None, operand),)


def call(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A call of such a method, or function of `re`, with texts and numbers that are known."""
    function, *values = [s.plain(s.get(o, frame)) for o in op.operands]
    called: Any = None
    if isinstance(function, Method) and isinstance(function.receiver, Known) and function.owner is None:
        first = function.receiver.value
        name = getattr(getattr(function.function, "value", None), "__name__", "")
        called = getattr(first, name) if name in _METHODS.get(type(first), ()) else None
    elif isinstance(function, Known) and any(function.value is f for f in MATCHING):
        called = function.value
    known = [v.value for v in values if isinstance(v, Constant) and type(v.value) in _PLAIN]
    if called is None or len(known) < len(values) or any(kind in ("*", "**") for kind in op.data):
        return None
    named = {kind: v for kind, v in zip(op.data, known, strict=True) if kind}
    try:
        made = called(*[v for kind, v in zip(op.data, known, strict=True) if not kind], **named)
    except (TypeError, ValueError, LookupError, re.error):
        return None
    place = frame.place or op.place
    operand = s.emit("call", s.operands([function, *values], place), op.data, op.result.name, place)
    s.needless.add(operand)
    s.relied.invariant.add(operand)
    found = _known(s, made, operand)
    s.used = s.used or found is not None
    return (operand if found is None else found,)


def _known(s: Specialiser, made: Any, operand: Value) -> Abstract | None:
    """What is known of a result."""
    if type(made) in _PLAIN:
        return Constant(made)
    if isinstance(made, re.Match):
        return Known(made, (), operand)
    if type(made) not in (list, tuple) or len(made) > MOST_ITEMS or any(type(part) not in _PLAIN for part in made):
        return None
    row = tuple(map(Constant, made))
    return items_of(s, row) if type(made) is list else Row(row)


def is_match(value: Abstract) -> bool:
    """Whether a value is what an expression has matched, which is not None and counts as true."""
    return isinstance(value, Known) and isinstance(value.value, re.Match)
