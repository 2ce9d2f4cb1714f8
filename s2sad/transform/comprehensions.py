"""Specialisation of comprehensions and generator expressions over known items: they are written out."""

from __future__ import annotations

from typing import Any

from s2sad.ir.code import Code, Constant, Operation, Region
from s2sad.transform.known import Abstract, Items, Lazy, NotSpecialisedError, Row, Stream
from s2sad.transform.loops import one_by_one
from s2sad.transform.simple import is_structure, items_of, truth
from s2sad.transform.specialiser import Done, Frame, Specialiser

#: What runs through a generator expression to its end before it does anything else.
CONSUMERS = (sum, min, max, list, tuple, sorted)


def comprehension(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A comprehension over known items: a display of its elements, in order."""
    iterable = s.get(op.operands[0], frame)
    if not _is_known(s, iterable) or op.awaits or op.data == "set":
        return None
    elements: list[tuple[Abstract, ...]] = []
    _rounds(s, op.regions[0], iterable, frame, elements)
    s.used = True
    if op.data == "list":
        return (_display(s, [e for (e,) in elements], op, frame),)
    keys: list[Any] = []
    for key, _ in elements:
        if not isinstance(key, Constant) or not isinstance(key.value, (str, int)) or key.value in keys:
            raise NotSpecialisedError("key")
        keys.append(key.value)
    return (items_of(s, [value for _, value in elements], tuple(keys)),)


def _display(s: Specialiser, values: list[Abstract], op: Operation, frame: Frame) -> Abstract:
    if any(map(is_structure, values)):
        return items_of(s, values)
    place = frame.place or op.place
    return s.emit("list", s.operands(values, place), (False,) * len(values), op.result.name, place)


def _is_known(s: Specialiser, value: Abstract) -> bool:
    """Whether the items of a value are known, some as more than operands."""
    return isinstance(value, Stream) or (isinstance(value, (Row, Items)) and s.row(value) is not None)


def _rounds(
    s: Specialiser, region: Region, iterable: Abstract, frame: Frame, elements: list[tuple[Abstract, ...]]
) -> None:
    """Run the rounds of one ``for`` of a comprehension, and collect what each makes."""
    for value in one_by_one(s, iterable):
        frame.env[region.params[0]] = value
        _inside(s, region, frame, elements)


def _inside(s: Specialiser, region: Region, frame: Frame, elements: list[tuple[Abstract, ...]]) -> None:
    for op in region.operations:
        if op.kind == "only":
            test = s.get(op.operands[0], frame)
            known = truth(s, test)
            if known is None:
                raise NotSpecialisedError("condition")
            if known:
                _inside(s, op.regions[0], frame, elements)
        elif op.kind == "each":
            iterable = s.get(op.operands[0], frame)
            if op.awaits or not (_is_known(s, iterable) or s.row(iterable) is not None):
                raise NotSpecialisedError("each")
            _rounds(s, op.regions[0], iterable, frame, elements)
        elif s.operation(op, frame) is not None:
            raise NotSpecialisedError("end")
    if region.exit.operands:
        elements.append(tuple([s.get(o, frame) for o in region.exit.operands]))


def generator(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A generator expression over known items: it runs when it is consumed."""
    iterable = s.get(op.operands[0], frame)
    code: Code = op.data
    return None if not _is_known(s, iterable) or code.awaits else (Lazy(code, iterable, frame),)


def consumed(s: Specialiser, lazy: Lazy) -> Row:
    """The items that a generator expression makes."""
    (each,) = lazy.code.body.operations
    elements: list[tuple[Abstract, ...]] = []
    _rounds(s, each.regions[0], lazy.iterable, lazy.frame, elements)
    s.used = True
    return Row(tuple([e for (e,) in elements]))
