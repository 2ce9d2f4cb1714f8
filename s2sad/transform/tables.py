"""Lists that loops fill with objects or named tuples of one shape, and of which the length is not known.

Such a list is one of tuples in the new program: each has what the leaves of an object are, of which the object is made
again where an item is read.  That is a copy, so that neither it nor the object in the list may be changed any more.

    sections = [Section(r, c) for r, c in zip(rs, chords)]     sections = []
                                                               for r, c in zip(rs, chords):
                                                                   sections.append((r, c))
    for s in sections:                                         for r, c in sections:
        total += s.r * s.c                                         total += r * c

Nothing else may see the list (`Specialiser.dynamic`).  A list of objects that are known one by one becomes such a list
where what is in it depends on the run: `if p.x < 0: ps.pop(0)`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from s2sad.ir.code import NONE, Constant, Exit, Operand, Operation, Place, Region, Value
from s2sad.runtime.moves import in_order, moved
from s2sad.transform import comprehensions, references, typed
from s2sad.transform.boxes import Box
from s2sad.transform.coded import Shape, encoded, has_objects, mixed
from s2sad.transform.containers import is_long, items_of
from s2sad.transform.known import (
    Abstract,
    Coded,
    Items,
    Known,
    Late,
    Lazy,
    Method,
    NotSpecialisedError,
    Row,
    Typed,
)
from s2sad.transform.shapes import Again, is_made
from s2sad.transform.specialiser import Done, Frame, Handler, Specialiser
from s2sad.transform.standing import Table

Decode = Callable[[Any], Abstract]
#: Functions that go through what they are given, and what they give is gone through.
_THROUGH = (len, list, zip, enumerate, reversed)


def is_item(value: Abstract) -> bool:
    """Whether a value is put into such a list: there is no operand of it, or it is a tuple with named fields."""
    return is_made(value) or (isinstance(value, Row) and value.cls is not tuple)


def decoded(s: Specialiser, shape: Shape | Box, item: Value) -> Abstract:
    """The object that is made again of an item of the list."""
    if isinstance(shape, Box):
        return shape.made(s.state, item)
    leaves = [Value(title) for title in shape.titles] if len(shape.titles) > 1 else [item]
    if len(leaves) > 1:
        s.write(Operation("unpack", (item,), tuple(leaves), (len(leaves), None)))
    return _again(s, shape, leaves)


def _again(s: Specialiser, shape: Shape, leaves: Sequence[Operand]) -> Abstract:
    before = set(s.state)
    value: Abstract = shape.rebuild(Again(iter(leaves), s.state))
    s.state.settle(cell for cell in s.state if cell not in before)
    return value


def table(s: Specialiser, value: Abstract) -> Value | None:
    """The list of the new program that a value is, if it is such a list."""
    held = s.state.get(value.cell) if isinstance(value, Items) else value
    return held if isinstance(held, Value) and isinstance(s.stand_ins.get(held), Table) else None


def shape_of(s: Specialiser, value: Abstract) -> Shape | Box | None:
    """The shape of the objects in such a list; None of anything else."""
    whole = table(s, value)
    shape = None if whole is None else s.stand_ins[whole]
    return shape if isinstance(shape, (Shape, Box)) else None


def decoder(s: Specialiser, value: Abstract) -> tuple[Value, Decode] | None:
    """The operand of what runs through such lists, and what its items are made to; None for anything else."""
    if isinstance(value, Coded):
        return value.operand, value.decode
    if isinstance(value, Typed):
        return typed.decoder(s, value)
    whole = table(s, value)
    shape = None if whole is None else s.stand_ins[whole]
    return (
        (whole, functools.partial(decoded, s, shape)) if whole is not None and isinstance(shape, (Shape, Box)) else None
    )


# --- filling


def changed(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``rows.append(object)``, ``rows.pop()`` and other methods that change a list of objects."""
    method, *given = [s.get(o, frame) for o in op.operands]
    if isinstance(method, Late) and method.name == "sort" and isinstance(method.receiver, Value):
        return _sorted(s, method.receiver, dict(zip(op.data, given, strict=True)), op, frame)
    if any(op.data):
        return None
    method = _extended(s, method, given)
    if not isinstance(method, Late) or not isinstance(method.receiver, Value):
        return None
    place, whole = frame.place or op.place, method.receiver
    known = s.stand_ins.get(whole)
    is_table = isinstance(known, (Shape, Box))

    def written(*values: Abstract) -> Value:
        s.used = True
        with s.stand_ins.reading():
            return s.emit("call", s.operands([method, *values], place), ("",) * len(values), place=place)

    match method.name, given:
        case "pop", _ if isinstance(known, (Shape, Box)):
            return (decoded(s, known, written(*given)),)
        case (("clear" | "reverse"), []) if is_table:
            written()
        case "copy", [] if isinstance(known, (Shape, Box)):
            return (table_of(s, written(), known),)
        case (("remove" | "index" | "count"), [value]) if (number := _found(s, known, value)) is not None:
            s.numbers.add(made := written(number))
            return (NONE if method.name == "remove" else made,)
        case ("append", [value]) | ("insert", [_, value]) if is_table or is_item(value):
            written(*given[:-1], _put(s, whole, value, place))
        case "extend", [value] if (other := table(s, value)) is not None:
            _note(s, whole, s.stand_ins[other])
            written(other)
        case _:
            return None
    return (NONE,)


def _found(s: Specialiser, shape: object, value: Abstract) -> Operand | None:
    """The number for which a list of references is searched; None where the objects have equality of their own."""
    to = shape.references if isinstance(shape, Shape) and len(shape.titles) == 1 else None
    return None if to is None or not references.are_themselves(s, to, value) else references.number_of(s, to, value)


def searched(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``object in rows``, where the list refers to its objects."""
    value, items = [s.get(o, frame) for o in op.operands]
    whole = table(s, items) if op.data in ("in", "not in") else None
    number = None if whole is None else _found(s, s.stand_ins[whole], value)
    if whole is None or number is None:
        return None
    with s.stand_ins.reading():
        return (s.emit("compare", (number, whole), op.data, place=frame.place or op.place),)


def sorted_in_place(s: Specialiser, items: Items, named: Mapping[str, Abstract], op: Operation, frame: Frame) -> Done:
    """``rows.sort(key=function)`` of a list that has become one of the new program."""
    whole = table(s, items)
    return None if whole is None else _sorted(s, whole, dict(named), op, frame)


def _sorted(s: Specialiser, whole: Value, named: dict[str, Abstract], op: Operation, frame: Frame) -> Done:
    """``rows.sort(key=function)``: the places are found by the keys, and the items moved there."""
    shape, key = s.stand_ins.get(whole), named.pop("key", NONE)
    if not isinstance(shape, (Shape, Box)) or key is NONE or named.keys() - {"reverse"}:
        return None
    rows, function, item, found, keys = Value("rows"), Value(), Value("item"), Value(), Value("keys")
    frame.env[rows], frame.env[function] = table_of(s, whole, shape), key
    call = Operation("call", (function, item), (found,), ("",), (), op.place)
    body = Region((item,), (call,), Exit("yield", (found,)))
    if s.operation(Operation("comprehension", (rows,), (keys,), "list", (body,), op.place), frame) is not None:
        return None
    place = frame.place or op.place
    given = [s.outside(in_order, "in_order"), s.get(keys, frame), named.get("reverse", Constant(False))]
    moves = s.emit("call", s.operands(given, place), ("", ""), place=place)
    with s.stand_ins.reading():
        s.emit("call", s.operands([s.outside(moved, "moved"), whole, moves], place), ("", ""), place=place)
    return (NONE,)


def _extended(s: Specialiser, method: Abstract, given: Sequence[Abstract]) -> Abstract:
    """``rows.extend``, where it gets a list of objects of which the length is not known; any other method itself."""
    if not isinstance(method, Method) or not isinstance(method.receiver, Items):
        return method
    is_extend = isinstance(method.function, Known) and method.function.value is list.extend
    if not is_extend or all(table(s, value) is None for value in given):
        return method
    s.freeze(method.receiver, changes=True)
    whole = s.state[method.receiver.cell]
    return Late(whole, "extend") if isinstance(whole, Value) else method


def _put(s: Specialiser, whole: Value, value: Abstract, place: Place | None) -> Operand:
    """What is put into a list for an object."""
    known = s.stand_ins.get(whole)
    made, shape = encoded(s, value, place, known if isinstance(known, Shape) else None)
    _note(s, whole, shape)
    return made


def _note(s: Specialiser, whole: Value, shape: Any) -> None:
    """Note what a list holds that gets objects."""
    known = s.stand_ins.get(whole)
    if known is None and whole not in s.stand_ins.unseen:
        raise NotSpecialisedError("Record")
    if isinstance(known, (Shape, Box)) and known.key != shape.key:
        raise mixed(s)
    if known is None and isinstance(shape, Shape) and shape.references is not None:
        shape.references.wholes.add(whole)
    s.stand_ins[whole] = known or shape


def put(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``rows[k] = object`` and ``del rows[k]``, where ``k`` depends on the run."""
    base, key, *values = [s.get(o, frame) for o in op.operands]
    if not isinstance(base, Items) or base.cls is not list or not all(map(has_objects, values)):
        return None
    freeze_objects(s, base)
    whole, place = table(s, base), frame.place or op.place
    if whole is None:
        return None
    made = [_put(s, whole, value, place) for value in values]
    with s.stand_ins.reading():
        s.write(Operation(op.kind, (whole, s.dynamic(key), *made), (), None, (), place))
    s.used = True
    return ()


def freeze_objects(s: Specialiser, items: Items) -> bool:
    """Let a list of objects that are known one by one be a list of the new program; whether it was such a list."""
    content = s.content(items) if items.cls is list else None
    if content is None or not content.slots or not all(has_objects(s.state[slot]) for slot in content.slots):
        return False
    s.freeze(items, changes=True)
    return True


def joined(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``rows + others``, where one of the two is such a list."""
    if op.data != "+":
        return None
    lists = [value for o in op.operands if isinstance(value := s.get(o, frame), Items) and value.cls is list]
    if len(lists) < 2 or all(table(s, value) is None for value in lists):
        return None
    for value in lists:
        content = s.content(value)
        if content is not None and not content.slots:
            s.freeze(value, changes=True)
        elif content is not None and not freeze_objects(s, value):
            return None
    wholes = [whole for value in lists if isinstance(whole := s.state[value.cell], Value)]
    shapes = [found for value in lists if (found := shape_of(s, value)) is not None]
    if len(wholes) < 2 or not shapes:
        return None
    for whole in wholes:
        _note(s, whole, shapes[0])
    place = frame.place or op.place
    with s.stand_ins.reading():
        if op.kind == "inplace":
            s.emit("call", s.operands([Late(wholes[0], "extend"), wholes[1]], place), ("",), place=place)
            return (lists[0],)
        return (table_of(s, s.emit("binary", wholes, "+", op.result.name, place), shapes[0]),)


def or_frozen(inner: Handler) -> Handler:
    """What runs through objects of which conditions choose some, and not all conditions are known."""

    def handler(s: Specialiser, op: Operation, frame: Frame) -> Done:
        value = s.get(op.operands[0], frame)
        is_row = isinstance(value, Row) and value.cls is tuple and any(map(has_objects, value.items))
        if not is_row and (not isinstance(value, Items) or s.content(value) is None):
            return inner(s, op, frame)
        before, env, used, lifted = s.mark(), dict(frame.env), s.used, dict(s.lifted)

        def back() -> None:
            s.back(before)
            frame.env.clear()
            frame.env.update(env)
            s.used, s.lifted = used, lifted

        try:
            done = inner(s, op, frame)
            if isinstance(done, tuple) and isinstance(lazy := done[0], Lazy) and _chooses(op):
                # Whether the conditions are known shows when it is run through.
                for _ in lazy.rounds():
                    pass
                back()
                done = inner(s, op, frame)
            return done
        except NotSpecialisedError as error:
            if str(error) != "condition":
                raise
            back()
            is_loop = is_row or s.relied.items == "references"
            if is_loop and (done := comprehension(s, op, frame)) is not None:
                return done
            if isinstance(value, Row):
                listed = Value()
                frame.env[listed] = value = items_of(s, list(value.items))
                op = replace(op, operands=(listed, *op.operands[1:]))
            if not isinstance(value, Items) or not freeze_objects(s, value):
                s.relied.mixed |= any(map(references.refers, s.row(value) or ()))
                raise
        return run_through(s, op, frame)

    return handler


def _chooses(op: Operation) -> bool:
    """Whether a generator expression has conditions."""
    (each,) = op.data.body.operations
    return any(part.kind == "only" for part in each.regions[0].operations)


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
    assert isinstance(shape, (Shape, Box))

    def read() -> Value:
        with s.stand_ins.reading():
            return s.emit("item", (whole, index), name=op.result.name if span else "", place=place)

    if span:
        return (table_of(s, read(), shape),)
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


def item_by_run(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``rows[k]`` of a list of objects that are known, where ``k`` depends on the run."""
    base = s.get(op.operands[0], frame)
    return item(s, op, frame) if isinstance(base, Items) and freeze_objects(s, base) else None


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
    if function.value is list and isinstance(shape, (Shape, Box)):
        return (table_of(s, made, shape),)
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


def table_of(s: Specialiser, whole: Value, shape: Shape | Box) -> Items:
    """The list of objects that a value of the new program is."""
    items = items_of(s, [])
    s.state[items.cell], s.stand_ins[whole] = whole, shape
    return items


def _parts(s: Specialiser, decodes: Sequence[Decode | None], item: Value) -> Abstract:
    """A tuple of the items of several lists."""
    parts = [Value() for _ in decodes]
    s.write(Operation("unpack", (item,), tuple(parts), (len(parts), None)))
    return Row(tuple([part if made is None else made(part) for part, made in zip(parts, decodes, strict=True)]))
