"""Lists that loops fill with objects or named tuples of one shape, and of which the length is not known.

Such a list is one of tuples in the new program: each has what the leaves of an object are, of which the object is made
again where an item is read.  That is a copy, so that neither it nor the object in the list may be changed any more.

    sections = [Section(r, c) for r, c in zip(rs, chords)]     sections = []
                                                               for r, c in zip(rs, chords):
                                                                   sections.append((r, c))
    for s in sections:                                         for r, c in sections:
        total += s.r * s.c                                         total += r * c

Nothing else may see the list (`Specialiser.dynamic`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from s2sad.ir.code import NONE, Constant, Exit, Operand, Operation, Place, Region, Value
from s2sad.transform import comprehensions, typed
from s2sad.transform.boxes import Box, boxed
from s2sad.transform.containers import is_long, items_of
from s2sad.transform.known import Abstract, Coded, Items, Known, Late, NotSpecialisedError, Record, Row, Typed, cell_of
from s2sad.transform.shapes import Again, Rebuild, Shapes, exists, is_made
from s2sad.transform.specialiser import Done, Frame, Specialiser
from s2sad.transform.standing import Table

Decode = Callable[[Any], Abstract]
#: Functions that go through what they are given, and what they give is gone through.
_THROUGH = (len, list, zip, enumerate, reversed)


@dataclass(frozen=True, eq=False)
class _Shape(Table):
    """How the items of a list are made again, and the names of their leaves."""

    rebuild: Rebuild
    titles: tuple[str, ...]


def is_item(value: Abstract) -> bool:
    """Whether a value is put into such a list: there is no operand of it, or it is a tuple with named fields."""
    return is_made(value) or (isinstance(value, Row) and value.cls is not tuple)


def encoded(s: Specialiser, value: Abstract, place: Place | None) -> tuple[Operand, _Shape | Box]:
    """The tuple of the new program for an object, which may be changed no more.

    Raises:
        NotSpecialisedError: for what has no such tuple.
    """
    if s.relied.boxes and isinstance(value, Record):
        return boxed(s, value, place)
    shapes = Shapes(s.state, lambda thing: True, lambda constant: constant.value is None)
    key, rebuild = shapes.of(value)
    if shapes.optional or any(map(exists, shapes.numbers)) or not shapes.leaves:
        raise NotSpecialisedError("Record")
    s.state.settle(map(cell_of, shapes.numbers))
    leaves = s.operands(shapes.leaves, place)
    made = s.emit("tuple", leaves, (False,) * len(leaves), place=place) if len(leaves) > 1 else leaves[0]
    return made, _Shape(key, rebuild, tuple(shapes.titles))


def decoded(s: Specialiser, shape: _Shape | Box, item: Value) -> Abstract:
    """The object that is made again of an item of the list."""
    if isinstance(shape, Box):
        return shape.made(s.state, item)
    leaves = [Value(title) for title in shape.titles] if len(shape.titles) > 1 else [item]
    if len(leaves) > 1:
        s.write(Operation("unpack", (item,), tuple(leaves), (len(leaves), None)))
    return _again(s, shape, leaves)


def _again(s: Specialiser, shape: _Shape, leaves: Sequence[Operand]) -> Abstract:
    before = set(s.state)
    value: Abstract = shape.rebuild(Again(iter(leaves), s.state))
    s.state.settle(cell for cell in s.state if cell not in before)
    return value


def table(s: Specialiser, value: Abstract) -> Value | None:
    """The list of the new program that a value is, if it is such a list."""
    held = s.state.get(value.cell) if isinstance(value, Items) else value
    return held if isinstance(held, Value) and isinstance(s.stand_ins.get(held), Table) else None


def decoder(s: Specialiser, value: Abstract) -> tuple[Value, Decode] | None:
    """The operand of what runs through such lists, and what its items are made to; None for anything else."""
    if isinstance(value, Coded):
        return value.operand, value.decode
    if isinstance(value, Typed):
        return typed.decoder(s, value)
    whole = table(s, value)
    shape = None if whole is None else s.stand_ins[whole]
    return (
        (whole, functools.partial(decoded, s, shape))
        if whole is not None and isinstance(shape, (_Shape, Box))
        else None
    )


# --- filling


def changed(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``rows.append(object)`` and ``rows.pop()``."""
    method, *given = [s.get(o, frame) for o in op.operands]
    if not isinstance(method, Late) or not isinstance(method.receiver, Value):
        return None
    place = frame.place or op.place
    whole = method.receiver
    known = s.stand_ins.get(whole)
    if method.name == "pop" and isinstance(known, (_Shape, Box)) and not any(op.data):
        with s.stand_ins.reading():
            taken = s.emit("call", s.operands([method, *given], place), op.data, place=place)
        return (decoded(s, known, taken),)
    if method.name != "append" or op.data != ("",):
        return None
    (value,) = given
    if known is None and not is_item(value):
        return None
    if known is None and whole not in s.stand_ins.unseen:
        raise NotSpecialisedError("Record")
    made, shape = encoded(s, value, place)
    if isinstance(known, (_Shape, Box)) and known.key != shape.key:
        raise NotSpecialisedError("shape")
    s.stand_ins[whole] = known or shape
    s.used = True
    with s.stand_ins.reading():
        s.emit("call", s.operands([method, made], place), ("",), place=place)
    return (NONE,)


def long_comprehension(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A list of many objects."""
    return comprehension(s, op, frame) if is_long(s, s.get(op.operands[0], frame)) else None


def comprehension(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A list of objects, as a loop that appends them."""
    is_list = op.kind == "comprehension" and op.data == "list" and not op.awaits and not s.expression
    if not is_list or not comprehensions.makes_structures(s, op.regions[0], frame):
        return None
    items = items_of(s, [])
    items.cell.name = op.result.name or "rows"
    rows, iterable = Value(items.cell.name), Value()
    frame.env[rows], frame.env[iterable] = items, s.get(op.operands[0], frame)
    before, env, used, lifted = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    try:
        if s.operation(_as_loop(s, op, iterable, rows), frame) is None:
            s.used = True
            return (items,)
    except NotSpecialisedError:
        pass
    s.back(before)
    frame.env.clear()
    frame.env.update(env)
    s.used, s.lifted = used, lifted
    return None


def _as_loop(s: Specialiser, op: Operation, iterable: Operand, rows: Value) -> Operation:
    body = _with_appends(s, op.regions[0], rows, "continue", op.place)
    return Operation("for", (iterable,), (), None, (body, Region((), (), Exit("yield", ()))), op.place)


def _with_appends(s: Specialiser, region: Region, rows: Value, kind: Any, place: Place | None) -> Region:
    """A region of a comprehension as one of a loop, in which the element is appended."""
    out: list[Operation] = []
    for op in region.operations:
        if op.kind == "only":
            inner = _with_appends(s, op.regions[0], rows, "yield", place)
            out.append(Operation("if", op.operands, (), None, (inner, Region((), (), Exit("yield", ()))), place))
        elif op.kind == "each":
            out.append(_as_loop(s, op, op.operands[0], rows))
        else:
            out.append(op)
    if region.exit.operands:
        append, done = Value(), Value()
        s.called.add(append)
        out.append(Operation("attribute", (rows,), (append,), "append", (), place))
        out.append(Operation("call", (append, *region.exit.operands), (done,), ("",), (), place))
    return Region(region.params, tuple(out), Exit(kind, ()))


# --- reading


def run_through(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A loop or comprehension over such a list, which begins its rounds by making the object again."""
    found = decoder(s, s.get(op.operands[0], frame))
    if found is None or _begins_with_decoding(op):
        return None
    whole, decode = found
    iterable = Value()
    frame.env[iterable] = whole
    data, regions = op.data, op.regions
    if op.kind == "generator":
        (each,) = op.data.body.operations
        inner = replace(each, regions=(_with_decoding(each.regions[0], decode),))
        data = replace(op.data, body=replace(op.data.body, operations=(inner,)))
    else:
        regions = (_with_decoding(regions[0], decode), *regions[1:])
    made = replace(op, operands=(iterable, *op.operands[1:]), data=data, regions=regions)
    end = s.operation(made, frame)
    return tuple([s.handed(result, frame) for result in op.results]) if end is None else end


def _begins_with_decoding(op: Operation) -> bool:
    region = op.data.body.operations[0].regions[0] if op.kind == "generator" else op.regions[0]
    return any(first.kind == "decode" for first in region.operations[:1])


def _with_decoding(region: Region, decode: Decode) -> Region:
    item, *carried = region.params
    raw = Value(item.name)
    first = Operation("decode", (raw,), (item,), decode)  # type: ignore[arg-type]
    return Region((raw, *carried), (first, *region.operations), region.exit)


def decode(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """The object that a round begins with."""
    made: Decode = op.data
    raw = frame.env[op.operands[0]]  # type: ignore[index]
    if not isinstance(raw, (Value, Constant)):
        raise NotSpecialisedError("Coded")
    return (made(raw),)


def item(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``rows[k]``, and the list ``rows[k:]``."""
    base, key = [s.get(o, frame) for o in op.operands]
    whole = table(s, base)
    if whole is None:
        return None
    place = frame.place or op.place
    index = s.dynamic(key)
    span = isinstance(index, Value) and index in s.slices
    shape = s.stand_ins[whole]
    assert isinstance(shape, (_Shape, Box))

    def read() -> Value:
        with s.stand_ins.reading():
            return s.emit("item", (whole, index), name=op.result.name if span else "", place=place)

    if span:
        return (_items(s, read(), shape),)
    if not s.expression or isinstance(shape, Box) or len(shape.titles) == 1:
        return (decoded(s, shape, read()),)
    # No statement can take it apart there.
    return (
        _again(
            s,
            shape,
            [s.emit("item", (read(), Constant(n)), title, place=place) for n, title in enumerate(shape.titles)],
        ),
    )


def call(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A call of what goes through such lists."""
    function, *values = [s.get(o, frame) for o in op.operands]
    named = {kind for kind in op.data if kind}
    if named and not (named == {"strict"} and isinstance(function, Known) and function.value is zip):
        return None
    found = [decoder(s, value) for value in values]
    if isinstance(function, Known) and function.value is len and len(values) == 1 and not any(found):
        return _length(s, function, values[0], frame.place or op.place)
    if not any(found) or not isinstance(function, Known) or not any(function.value is f for f in _THROUGH):
        return None
    first, place = found[0], frame.place or op.place
    shape = None if first is None else s.stand_ins.get(first[0])
    if function.value is not zip and (first is None or len(values) > 1):
        return None
    with s.stand_ins.reading():
        given = [function, *(v if one is None else one[0] for v, one in zip(values, found, strict=True))]
        made = s.emit("call", s.operands(given, place), op.data, place=place)
    if function.value is len:
        s.numbers.add(made)
        return (made,)
    if function.value is list and isinstance(shape, (_Shape, Box)):
        return (_items(s, made, shape),)
    if function.value is zip:
        decodes = [None if one is None else one[1] for one, kind in zip(found, op.data, strict=True) if not kind]
        return (Coded(made, functools.partial(_parts, s, decodes)),)
    assert first is not None
    return (Coded(made, functools.partial(_parts, s, [None, first[1]]) if function.value is enumerate else first[1]),)


def _length(s: Specialiser, function: Known, value: Abstract, place: Place | None) -> Done:
    """``len(rows)`` of a list that may be one of objects later."""
    held = s.state.get(value.cell) if isinstance(value, Items) else None
    if not isinstance(held, Value) or held not in s.stand_ins.unseen:
        return None
    made = s.emit("call", s.operands([function, value], place), ("",), place=place)
    s.stand_ins.unseen.add(held)
    s.numbers.add(made)
    return (made,)


def _items(s: Specialiser, whole: Value, shape: _Shape | Box) -> Items:
    """Another list of the same objects."""
    items = items_of(s, [])
    s.state[items.cell], s.stand_ins[whole] = whole, shape
    return items


def _parts(s: Specialiser, decodes: Sequence[Decode | None], item: Value) -> Abstract:
    """A tuple of the items of several lists."""
    parts = [Value() for _ in decodes]
    s.write(Operation("unpack", (item,), tuple(parts), (len(parts), None)))
    return Row(tuple([part if made is None else made(part) for part, made in zip(parts, decodes, strict=True)]))
