"""``max`` and ``min`` with a key or a default, and functions of `operator`, as statements and operators."""

from __future__ import annotations

import operator
from typing import Any

from s2sad.ir.code import NONE, Constant, Exit, Kind, Operand, Operation, Region, Value
from s2sad.transform.iterables import applied_unless_none, is_pairs, listed, removed
from s2sad.transform.lazily import lazy, named
from s2sad.transform.rounds import collect
from s2sad.transform.unfolding import NotUnfoldedError, Writer

_OPERATORS: tuple[tuple[Any, Kind, str | None, int], ...] = (
    (operator.add, "binary", "+", 2), (operator.sub, "binary", "-", 2), (operator.mul, "binary", "*", 2),
    (operator.truediv, "binary", "/", 2), (operator.floordiv, "binary", "//", 2), (operator.mod, "binary", "%", 2),
    (operator.pow, "binary", "**", 2), (operator.matmul, "binary", "@", 2), (operator.neg, "unary", "-", 1),
    (operator.pos, "unary", "+", 1), (operator.getitem, "item", None, 2),
)  # fmt: skip


def is_operator(writer: Writer, op: Operation, out: list[Operation]) -> bool:
    """Write a call of a function of `operator` as the operator; whether it is one."""
    function = writer.whole.object_of(op.operands[0])
    found = next((one for one in _OPERATORS if one[0] is function), None)
    if found is None or any(op.data) or len(op.data) != found[3] or not writer.whole.goes_through(op):
        return False
    if not removed(writer, op.operands[0], out):
        return False
    out.append(Operation(found[1], op.operands[1:], op.results, found[2], (), op.place))
    return True


def extreme(writer: Writer, op: Operation, is_max: bool, out: list[Operation], loops: int) -> bool:
    """``max(items, key=function, default=value)``, or ``min``, also of what ``zip`` and the like give."""
    whole, place = writer.whole, op.place
    further = dict(zip(op.data[1:], op.operands[2:], strict=True))
    if not further.keys() <= {"key", "default"} or not _are_varied(writer, op.operands[1]):
        return False
    key, pairs = further.get("key", NONE), is_pairs(writer, op.operands[1])
    rounds = lazy(writer, op.operands[1], out)
    made = whole.made.get(op.operands[1]) if isinstance(op.operands[1], Value) else None
    if rounds is None and made is not None and made.kind == "generator":
        return False
    called = None
    if key != NONE:
        called = applied_unless_none(writer, key, 1, out, place, lambda params: ((), params[0]))
    if called is None and pairs:
        same = Value()
        called = (same,), (), same
    function = removed(writer, op.operands[0], out)
    if not function:
        raise NotUnfoldedError("used")
    later = writer.read_later(out, (*op.operands[1:], *([] if rounds is None else [rounds.iterable])))
    if rounds is None:
        items = listed(writer, op.operands[1], out, loops, place)
    else:
        items = Value()
        collect(writer, rounds.iterable, rounds.region, items, out, loops, place)
        whole.uses[items] += 2
    result = named(writer, op.result)
    found: list[Operation] = []
    if called is None:
        again = whole.new("call", (op.operands[0], items), ("",), place)
        whole.by[again.result] = best = Value(result.name)
        found += [*function, again]
        left: Operand = again.result
    else:
        (item,), operations, value = called
        left = best = _best(writer, items, result.name, item, operations, value, is_max, found, loops, op)
    if "default" in further:
        then = Region((), tuple(found), Exit("yield", (left,)))
        other = Region((), (), Exit("yield", (further["default"],)))
        out.append(Operation("if", (items,), (result,), None, (then, other), place))
    else:
        error = whole.builtin("ValueError", place)
        raising = whole.new("call", (error.result, Constant(_of_nothing(max if is_max else min))), ("",), place)
        test = whole.new("unary", (items,), "not", place)
        raised = Region((), (error, raising), Exit("raise", (raising.result,), place))
        out += [test, Operation("if", (test.result,), (), None, (raised, Region((), (), Exit("yield"))), place)]
        out += found
        whole.by[result] = best
        whole.by[op.result] = best
    out += later
    return True


def _are_varied(writer: Writer, items: Operand) -> bool:
    """Whether varied values are among some items, whatever is done with them."""
    made = writer.whole.made.get(items) if isinstance(items, Value) else None
    return items in writer.whole.varied or (made is not None and writer.whole.goes_through(made))


def _of_nothing(function: Any) -> str:
    """What a function says of an empty list."""
    try:
        function([])
    except ValueError as error:
        return str(error)
    raise AssertionError


def _best(
    writer: Writer,
    items: Operand,
    name: str,
    item: Value,
    operations: tuple[Operation, ...],
    value: Operand,
    is_max: bool,
    out: list[Operation],
    loops: int,
    op: Operation,
) -> Value:
    """Write the search for the first item whose key is largest or smallest; there is one."""
    whole, place = writer.whole, op.place
    keys = Value()
    compute = Region((item,), operations, Exit("yield", (value,)))
    collect(writer, items, compute, keys, out, loops, place)
    length, numbers = whole.builtin("len", place), whole.builtin("range", place)
    count = whole.new("call", (length.result, items), ("",), place)
    counted = whole.new("call", (numbers.result, Constant(1), count.result), ("", ""), place)
    index, carried, last, left = Value("i"), Value("best"), Value("best"), Value("best")
    new = whole.new("item", (keys, index), None, place)
    old = whole.new("item", (keys, carried), None, place)
    test = whole.new("compare", (new.result, old.result), ">" if is_max else "<", place)
    chosen = Value("best")
    regions = Region((), (), Exit("yield", (index,))), Region((), (), Exit("yield", (carried,)))
    branch = Operation("if", (test.result,), (chosen,), None, regions, place)
    body = Region((index, carried), (new, old, test, branch), Exit("continue", (chosen,)))
    out += [numbers, length, count, counted]
    loop = Operation(
        "for", (counted.result, Constant(0)), (left,), None, (body, Region((last,), (), Exit("yield", (last,)))), place
    )
    out.append(loop)
    read = whole.new("item", (items, left), None, place, name)
    out.append(read)
    return read.result
