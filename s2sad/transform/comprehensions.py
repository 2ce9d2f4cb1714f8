"""Specialisation of comprehensions and generator expressions over known items: they are written out."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from s2sad.ir.code import UNSET, Code, Constant, Operation, Region, Value, Variable
from s2sad.transform.containers import (
    MOST_ITEMS,
    elements,
    is_counted,
    is_known,
    is_object_as_well,
    items_of,
    key_of,
    lazy,
    member_of_set,
    numbered,
    one_by_one,
)
from s2sad.transform.known import Abstract, Cell, Known, NotSpecialisedError, Row
from s2sad.transform.later import called_with
from s2sad.transform.regions import is_spread, own_variables
from s2sad.transform.simple import is_structure, truth
from s2sad.transform.specialiser import Done, Frame, Specialiser

#: What goes through its argument to the end at once.
_LISTING = (sum, min, max, list, tuple, sorted)
#: What one round of a comprehension makes: an element, or a key and a value.
Element = tuple[Abstract, ...]


def comprehension(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A comprehension over known items: a display of its elements, in order."""
    iterable = s.get(op.operands[0], frame)
    is_plain = not any(o.kind in ("only", "each") for o in op.regions[0].operations)
    whole = is_plain and is_spread(s.active[-1], op.result) and is_known(s, iterable)
    if op.awaits or not (whole or _is_written_out(s, op.data, op.regions[0], iterable, frame)):
        return None
    inside = _begun(s, own_variables(s.active[-1], op.regions), frame)
    elements = list(itertools.islice(_rounds(s, op.regions[0], numbered(iterable), inside), MOST_ITEMS + 1))
    if len(elements) > MOST_ITEMS:
        raise NotSpecialisedError("many items")
    s.used = True
    if op.data == "list":
        return (_display(s, [e for (e,) in elements], op, frame),)
    found: dict[Any, Abstract] = {}
    for key, *value in elements:
        known = member_of_set(s, key) if op.data == "set" else key_of(s, key)
        if known is None:
            raise NotSpecialisedError("key")
        found[known.value] = value[0] if value else known
    if op.data == "set":
        return (items_of(s, [], tuple(found), set),)
    return (items_of(s, list(found.values()), tuple(found)),)


def _display(s: Specialiser, values: list[Abstract], op: Operation, frame: Frame) -> Abstract:
    if s.relied.writes_out or any(map(is_structure, values)) or is_spread(s.active[-1], op.result):
        return items_of(s, values)
    place = frame.place or op.place
    return s.emit("list", s.operands(values, place), (False,) * len(values), op.result.name, place)


def _is_written_out(s: Specialiser, kind: str, region: Region, iterable: Abstract, frame: Frame) -> bool:
    """Whether a comprehension is written out, rather than a loop of the new program."""
    if isinstance(iterable, Constant) and isinstance(iterable.value, str):
        return s.relied.writes_out and len(iterable.value) <= MOST_ITEMS
    if isinstance(iterable, Known) and isinstance(iterable.value, range):
        return len(iterable.value) <= MOST_ITEMS and (s.relied.writes_out or makes_structures(s, region, frame))
    if is_counted(s, iterable) or (isinstance(iterable, Value) and elements(s, iterable) is not None):
        return s.relied.writes_out or makes_structures(s, region, frame, _first(s, iterable))
    if not is_known(s, iterable):
        if not s.relied.asks_sizes and not s.sized:
            s.relied.asks_sizes = makes_structures(s, region, frame)
        return False
    if kind in ("list", "generator") and is_object_as_well(s, iterable):
        return s.relied.writes_out or makes_structures(s, region, frame, _first(s, iterable))
    return True


def _first(s: Specialiser, iterable: Abstract) -> Abstract | None:
    """The first item, on which may depend what class is called; None if it is not known."""
    known = elements(s, iterable)
    return known[0] if known else None


def makes_structures(s: Specialiser, region: Region, frame: Frame, item: Abstract | None = None) -> bool:
    """Whether the elements of a comprehension over operands of the new program are more than operands.

    The ``item`` is one that it runs through, if that is known.
    """
    before, env, used, lifted = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    inside = _begun(s, own_variables(s.active[-1], [region]), frame)
    inside.env[region.params[0]] = Value() if item is None else item
    try:
        with s.writing(True):
            elements = list(_inside(s, region, inside, probing=True))
        return any(is_structure(part) for element in elements for part in element)
    except NotSpecialisedError:
        return True
    finally:
        s.back(before)
        frame.env.clear()
        frame.env.update(env)
        s.used, s.lifted = used, lifted


def _begun(s: Specialiser, variables: Collection[Variable], frame: Frame) -> Frame:
    """The frame of an evaluation of a comprehension, which has variables of its own that functions keep."""
    inside = replace(frame, env=dict(frame.env)) if variables else frame
    for variable in variables:
        inside.env[variable] = cell = Cell(variable.name)
        s.state[cell] = UNSET
    return inside


def _rounds(s: Specialiser, region: Region, iterable: Abstract, frame: Frame) -> Iterator[Element]:
    """Run the rounds of one ``for`` of a comprehension, and give what each makes."""
    for value in one_by_one(s, iterable):
        frame.env[region.params[0]] = value
        yield from _inside(s, region, frame)


def _inside(s: Specialiser, region: Region, frame: Frame, probing: bool = False) -> Iterator[Element]:
    for op in region.operations:
        if op.kind == "only":
            test = s.get(op.operands[0], frame)
            known = truth(s, test)
            if known is None and not probing:
                raise NotSpecialisedError("condition")
            if known or probing:
                yield from _inside(s, op.regions[0], frame, probing)
        elif op.kind == "each":
            iterable = numbered(s.get(op.operands[0], frame))
            known = is_known(s, iterable) or is_counted(s, iterable) or elements(s, iterable) is not None
            if op.awaits or not known:
                if not probing:
                    raise NotSpecialisedError("each")
                iterable = Row((Value(),))
            yield from _rounds(s, op.regions[0], iterable, frame)
        elif s.operation(op, frame) is not None:
            raise NotSpecialisedError("end")
    if region.exit.operands:
        yield tuple([s.get(o, frame) for o in region.exit.operands])


def generator(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A generator expression over known items: it runs when it is consumed."""
    iterable = s.get(op.operands[0], frame)
    code: Code = op.data
    (each,) = code.body.operations
    if code.awaits:
        return None
    if not _is_written_out(s, "generator", each.regions[0], iterable, frame):
        is_inlined = len(s.active) > 1
        if not (is_inlined and code.captures and any(called_with(s, op, frame) is f for f in _LISTING)):
            return None
        # The variables that it reads are those of the function that this one becomes a part of.
        listed = Operation("comprehension", op.operands, op.results, "list", (each.regions[0],), op.place)
        s.rewrite(listed, frame)
        return (s.get(op.result, frame),)

    def thunk() -> Iterator[Abstract]:
        s.used = True
        inside = _begun(s, code.variables, frame)
        for (element,) in _rounds(s, each.regions[0], numbered(iterable), inside):
            yield element

    return (lazy(s, thunk),)
