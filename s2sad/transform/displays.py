"""Rewrite displays through which a varied value goes, and which the frontend does not accept, as statements."""

from __future__ import annotations

import dataclasses

from s2sad.ir.code import Constant, Exit, Operand, Operation, Region, Value
from s2sad.transform.foldable import folded
from s2sad.transform.iterables import listed, removed
from s2sad.transform.rounds import add
from s2sad.transform.unfolding import NotUnfoldedError, Unfolding, Writer


def dict_display(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """Write ``{**a, 'b': c}`` as a loop over the items of ``a`` and stores."""
    if not any(op.data) or not writer.whole.goes_through(op):
        return False
    # What computes each operand stands before it, from the last one backwards.
    pieces: list[tuple[list[Operation], Operand, Operand, bool]] = []
    rest = list(out)
    for at in reversed(range(len(op.data))):
        key, value = op.operands[2 * at : 2 * at + 2]
        start = folded(value, rest, writer.whole.uses)
        if not op.data[at]:
            start = folded(key, rest[:start], writer.whole.uses)
        pieces.append((rest[start:], key, value, op.data[at]))
        rest = rest[:start]
    made = Value(op.result.name)
    out[:] = rest
    later = writer.read_later(out, [o for piece in pieces for inside in piece[0] for o in inside.operands])
    writer.whole.by[op.result] = made
    writer.whole.uses[made] += 2
    out.append(Operation("dict", (), (made,), (), (), op.place))
    for operations, key, value, spread in reversed(pieces):
        out += operations
        if not spread:
            out.append(Operation("set_item", (made, key, value), (), None, (), op.place))
            continue
        read = writer.whole.new("attribute", (value,), "items", op.place)
        items = writer.whole.new("call", (read.result,), (), op.place)
        item, names = Value(), (Value("k"), Value("v"))
        unpack = Operation("unpack", (item,), names, (2, None), (), op.place)
        out += [read, items]
        add(
            writer,
            items.result,
            Region((item,), (unpack,), Exit("yield", names)),
            made,
            out,
            loops,
            op.place,
            is_dict=True,
        )
    out += later
    return True


def repeated(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """Write ``[0.0] * n`` as a loop where something varied is put into the list."""
    left, right = op.operands
    whole = writer.whole
    made = whole.made.get(left) if isinstance(left, Value) else None
    if op.data != "*" or made is None or made.kind != "list" or any(made.data) or not made.operands:
        return False
    if op.result not in whole.varied or any(o in whole.varied for o in made.operands if isinstance(o, Value)):
        return False
    assert isinstance(left, Value)
    if not _is_count(writer, right) or whole.uses[left] != 1 or not any(o.results == (left,) for o in out):
        return False
    out[:] = [o for o in out if o.results != (left,)]
    later = writer.read_later(out, (*made.operands, right))
    read = whole.builtin("range", op.place)
    numbers = whole.new("call", (read.result, right), ("",), op.place)
    whole.uses[op.result] += 2
    out += [Operation("list", (), (op.result,), (), (), op.place), read, numbers]
    inside: list[Operation] = []
    for operand in made.operands:
        append = whole.new("attribute", (op.result,), "append", op.place)
        inside += [append, Operation("call", (append.result, operand), (Value(),), ("",), (), op.place)]
    body = Region((Value("i"),), tuple(inside), Exit("continue"))
    regions = body, Region((), (), Exit("yield"))
    out.append(Operation("for", (numbers.result,), (), None, regions, op.place))
    out += later
    return True


def _is_count(writer: Writer, operand: Operand) -> bool:
    """Whether an operand is surely a whole number."""
    if isinstance(operand, Constant):
        return type(operand.value) is int
    made = writer.whole.made.get(operand)
    while made is not None and made.kind == "copy" and isinstance(made.operands[0], Value):
        made = writer.whole.made.get(made.operands[0])
    return made is not None and made.kind == "call" and writer.whole.object_of(made.operands[0]) is len


def unpack(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """Write ``a, b = zip(*pairs)`` and ``a, b = map(list, zip(*pairs))`` as a loop."""
    whole, place = writer.whole, op.place
    (value,), (count, star) = op.operands, op.data
    mapping = _called(whole, value, map, ("", ""))
    made = _called(whole, value if mapping is None else mapping.operands[2], zip, ("*",))
    if star is not None or made is None or not whole.goes_through(made):
        return False
    for call in (made,) if mapping is None else (mapping, made):
        if writer.taken(call.results[0], out) is None:
            return False
        if not removed(writer, call.operands[0], out):
            raise NotUnfoldedError("zip")
    rows = listed(writer, made.operands[1], out, loops, place)
    test = whole.new("unary", (rows,), "not", place)
    error = whole.builtin("ValueError", place)
    words = Constant(f"not enough values to unpack (expected {count}, got 0)")
    raised = whole.new("call", (error.result, words), ("",), place)
    then = Region((), (error, raised), Exit("raise", (raised.result,), place))
    out += [test, Operation("if", (test.result,), (), None, (then, Region((), (), Exit("yield"))), place)]
    columns = [Value() for _ in range(count)]
    out += [Operation("list", (), (column,), (), (), place) for column in columns]
    whole.uses.update(columns * 2)
    item, parts = Value(), tuple([Value(name or "v") for name in (r.name for r in op.results)])
    inside = [Operation("unpack", (item,), parts, (count, None), (), place)]
    for column, part in zip(columns, parts, strict=True):
        append = whole.new("attribute", (column,), "append", place)
        inside += [append, Operation("call", (append.result, part), (Value(),), ("",), (), place)]
    regions = Region((item,), tuple(inside), Exit("continue")), Region((), (), Exit("yield"))
    out.append(Operation("for", (rows,), (), None, regions, place))
    for column, result in zip(columns, op.results, strict=True):
        read = whole.builtin("tuple", place)
        whole_column = whole.new("call", (read.result, column), ("",), place)
        out += [read, whole_column]
        if mapping is not None:
            out.append(whole.new("call", (mapping.operands[1], whole_column.result), ("",), place))
        out[-1] = dataclasses.replace(out[-1], results=(result,))
    return True


def _called(whole: Unfolding, value: Operand, function: object, kinds: tuple[str, ...]) -> Operation | None:
    """The call of a function of Python's, with arguments of some kinds, that gives a value; None if that is no such."""
    made = whole.made.get(value) if isinstance(value, Value) else None
    if made is None or made.kind != "call" or made.data != kinds or whole.object_of(made.operands[0]) is not function:
        return None
    return made
