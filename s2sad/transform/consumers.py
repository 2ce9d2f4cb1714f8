"""Calls that consume an iterable at once: ``sum``, ``any``, ``next``, ``"".join``, ``functools.reduce`` and others."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2sad.ir.code import NONE, Constant, Exit, Operand, Operation, Place, Region, Value
from s2sad.transform.extremes import extreme, is_operator
from s2sad.transform.iterables import applied, applied_unless_none, is_pairs, listed, removed
from s2sad.transform.lazily import Rounds, lazy, named
from s2sad.transform.rounds import add, collect, first, search
from s2sad.transform.unfolding import NotUnfoldedError, Writer

#: Functions that go through their first argument to its end before they do anything else that is seen.
_CONSUMING = (sum, min, max, list, tuple, sorted, dict, set, frozenset, math.fsum, math.prod)
#: Those that go through so much of it as they are told.
_COUNTING = (np.fromiter,)


def call(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """Write a call that consumes something lazy that varied values go through."""
    function = writer.whole.object_of(op.operands[0])
    if function is functools.reduce:
        return _reduce(writer, op, out, loops)
    if is_operator(writer, op, out):
        return True
    if len(op.operands) < 2 or op.data[0]:
        return False
    if _is_one_of(function, (min, max)) and (
        set(op.data[1:]) & {"key", "default"} or (len(op.operands) == 2 and is_pairs(writer, op.operands[1]))
    ):
        return extreme(writer, op, function is max, out, loops)
    if _is_extend(writer, op):
        return _extended(writer, op, out, loops)
    if function is dict and len(op.operands) == 2:
        return _dict(writer, op, out, loops)
    if _is_one_of(function, (any, all)) and len(op.operands) == 2:
        return _search(writer, op, function is any, out, loops)
    if function is next and len(op.operands) in (2, 3):
        return _first(writer, op, out, loops)
    all_of_it = len(op.operands) == 3 and "count" not in op.data
    if _is_one_of(function, _COUNTING) and all_of_it:
        return _collected(writer, op, False, out, loops)
    if _is_one_of(function, _CONSUMING) or _is_join(writer, op):
        return _collected(writer, op, function is list and len(op.operands) == 2, out, loops)
    return False


def _is_one_of(function: Any, known: Sequence[Any]) -> bool:
    return any(function is one for one in known)


def _is_join(writer: Writer, op: Operation) -> bool:
    """Whether a call is ``"...".join(...)``."""
    method = writer.whole.made.get(op.operands[0]) if isinstance(op.operands[0], Value) else None
    if method is None or method.kind != "attribute" or method.data != "join":
        return False
    base = method.operands[0]
    return isinstance(base, Constant) and isinstance(base.value, (str, bytes))


# --- consumers


def _search(writer: Writer, op: Operation, found: bool, out: list[Operation], loops: int) -> bool:
    """``any`` and ``all``."""
    rounds = lazy(writer, op.operands[1], out)
    if rounds is None:
        return False
    later = _without(writer, op.operands[0], writer.read_later(out, (rounds.iterable,)))
    flag = named(writer, op.result)
    search(writer, rounds.iterable, rounds.region, found, flag, out, loops, op.place)
    out += later
    return True


def _first(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """``next`` of something that is made for it: its first element, or a default value, or an error."""
    function, given = op.operands[:2]
    default = op.operands[2] if len(op.operands) == 3 else None
    rounds = lazy(writer, given, out) or _iterator(writer, given, out)
    if rounds is None:
        return False
    now = (rounds.iterable,) if default is None else (rounds.iterable, default)
    later = _without(writer, function, writer.read_later(out, now))
    if (made := writer.taken(rounds.iterable, out)) is not None:
        # It stands in the head of the loop, after the default value.
        out += [*removed(writer, made.operands[0], out), made] if made.kind == "call" else [made]
    result = named(writer, op.result)
    if isinstance(default, Value) and not default.name and writer.whole.uses[default] == 1:
        if any(o.results == (default,) for o in out):
            writer.whole.by[default] = Value(result.name)
    first(writer, rounds.iterable, rounds.region, default, result, out, loops, op.place)
    out += later
    return True


def _iterator(writer: Writer, given: Operand, out: list[Operation]) -> Rounds | None:
    """What ``iter(items)`` goes through."""
    made = writer.whole.made.get(given) if isinstance(given, Value) else None
    if made is None or made.kind != "call" or any(made.data) or len(made.operands) != 2:
        return None
    if writer.whole.object_of(made.operands[0]) is not iter or not writer.whole.goes_through(made):
        return None
    if writer.taken(given, out) is None:
        return None
    removed(writer, made.operands[0], out)
    item = Value("v")
    writer.whole.varied.add(item)
    return Rounds(made.operands[1], Region((item,), (), Exit("yield", (item,))))


def _collected(writer: Writer, op: Operation, is_list: bool, out: list[Operation], loops: int) -> bool:
    """A function that is given a list instead; the list itself if the function is ``list``."""
    function, given, *rest = op.operands
    result = op.result if is_list else Value()
    made = writer.whole.made.get(given) if isinstance(given, Value) else None
    write = _accumulated(writer, given, result, out, loops, op.place)
    if write is not None:
        assert made is not None
        now = made.operands
    else:
        rounds = lazy(writer, given, out)
        if rounds is None:
            return False
        known, now = rounds, (rounds.iterable,)

        def write(out: list[Operation]) -> None:
            collect(writer, known.iterable, known.region, result, out, loops, op.place)

    later = writer.read_later(out, now)
    if is_list:
        later = _without(writer, function, later)
    write(out)
    out += later
    if not is_list:
        # It is used by the loop and by the call.
        writer.whole.uses[result] += 1
        out.append(dataclasses.replace(op, operands=(function, result, *rest)))
    return True


def _dict(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """``dict`` of pairs."""
    rounds = lazy(writer, op.operands[1], out)
    if rounds is None:
        return False
    later = _without(writer, op.operands[0], writer.read_later(out, (rounds.iterable,)))
    collect(writer, rounds.iterable, _paired(rounds.region), op.result, out, loops, op.place, is_dict=True)
    out += later
    return True


def _paired(region: Region) -> Region:
    """The region of rounds that make pairs, as one of rounds that make keys and values."""
    last = region.operations[-1] if region.operations else None
    if not region.exit.operands and last is not None:
        inside = dataclasses.replace(last, regions=(_paired(last.regions[0]),))
        return dataclasses.replace(region, operations=(*region.operations[:-1], inside))
    if (
        last is not None
        and last.kind == "tuple"
        and last.data == (False, False)
        and last.results == region.exit.operands
    ):
        return Region(region.params, region.operations[:-1], Exit("yield", last.operands))
    names = Value("k"), Value("v")
    unpack = Operation("unpack", region.exit.operands, names, (2, None))
    return Region(region.params, (*region.operations, unpack), Exit("yield", names))


def _is_extend(writer: Writer, op: Operation) -> bool:
    """Whether a call extends a list that the function makes."""
    method = writer.whole.made.get(op.operands[0]) if isinstance(op.operands[0], Value) else None
    if method is None or method.kind != "attribute" or method.data != "extend" or len(op.operands) != 2:
        return False
    made = writer.whole.made.get(method.operands[0]) if isinstance(method.operands[0], Value) else None
    if made is None or not (made.kind == "list" or (made.kind == "comprehension" and made.data == "list")):
        return False
    # A list that gets its own items gets those that it has at first.
    is_other = op.operands[1] is not method.operands[0]
    return is_other and not writer.whole.used[op.result] and writer.whole.goes_through(op)


def _extended(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """``items.extend(...)``."""
    method, items = op.operands
    assert isinstance(method, Value)
    target = writer.whole.made[method].operands[0]
    rounds = lazy(writer, items, out)
    if rounds is None:
        made = writer.whole.made.get(items) if isinstance(items, Value) else None
        params = [p.target for p in writer.code.params]
        if items not in params and (made is None or made.kind not in ("comprehension", "list", "tuple", "item")):
            return False
        item = Value("v")
        rounds = Rounds(items, Region((item,), (), Exit("yield", (item,))))
    later = _without(writer, method, writer.read_later(out, (rounds.iterable,)))
    assert isinstance(target, Value)
    add(writer, rounds.iterable, rounds.region, target, out, loops, op.place)
    out += later
    return True


def _accumulated(
    writer: Writer, given: Operand, result: Value, out: list[Operation], loops: int, place: Place | None
) -> Callable[[list[Operation]], None] | None:
    """What writes the list of ``itertools.accumulate(items, function)``."""
    whole = writer.whole
    made = whole.made.get(given) if isinstance(given, Value) else None
    if made is None or made.kind != "call" or whole.object_of(made.operands[0]) is not itertools.accumulate:
        return None
    if not whole.goes_through(made) or any(made.data) or len(made.operands) not in (2, 3):
        return None
    if writer.taken(given, out) is None:
        return None
    removed(writer, made.operands[0], out)

    def added(params: tuple[Value, ...]) -> tuple[tuple[Operation, ...], Operand]:
        total = whole.new("binary", params, "+", place)
        return (total,), total.result

    if len(made.operands) == 3 and made.operands[2] != NONE:
        (left, right), operations, value = applied_unless_none(writer, made.operands[2], 2, out, place, added)
    else:
        left, right = Value(), Value("v")
        operations, value = added((left, right))
    items = listed(writer, made.operands[1], out, loops, place)

    def write(out: list[Operation]) -> None:
        head = whole.new("slice", (NONE, Constant(1), NONE), None, place)
        tail = whole.new("slice", (Constant(1), NONE, NONE), None, place)
        after = whole.new("item", (items, tail.result), None, place)
        read = whole.new("attribute", (result,), "append", place)
        last = Operation("item", (result, Constant(-1)), (left,), None, (), place)
        put = Operation("call", (read.result, value), (Value(),), ("",), (), place)
        out += [head, Operation("item", (items, head.result), (result,), None, (), place), tail, after]
        inside: list[Operation] = [last, read] if left.name else [read, last]
        for op in operations:
            writer.operation(op, inside, 1)
        body = Region((right,), (*inside, put), Exit("continue"))
        out.append(Operation("for", (after.result,), (), None, (body, Region((), (), Exit("yield"))), place))

    return write


def _reduce(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """``functools.reduce(function, items, start)`` as a loop."""
    whole, place = writer.whole, op.place
    if any(op.data) or len(op.operands) not in (3, 4) or not whole.goes_through(op):
        return False
    called, function, items, *start = op.operands
    (total, item), operations, value = applied(writer, function, 2, out, place)
    if not removed(writer, called, out):
        return False
    later = writer.read_later(out, (items, *start))
    result = named(writer, op.result)
    if not start:
        items = listed(writer, items, out, loops, place)
        out += _refused_if_empty(writer, items, place)
        first = whole.new("item", (items, Constant(0)), None, place, result.name)
        tail = whole.new("slice", (Constant(1), NONE, NONE), None, place)
        others = whole.new("item", (items, tail.result), None, place)
        out += [first, tail, others]
        items, start = others.result, [first.result]
    whole.by[total] = Value(result.name)
    if operations and operations[-1].results == (value,) and not operations[-1].results[0].name:
        whole.by[operations[-1].result] = Value(result.name)
    last = Value(result.name)
    regions = (
        Region((item, total), operations, Exit("continue", (value,))),
        Region((last,), (), Exit("yield", (last,))),
    )
    writer.operation(Operation("for", (items, *start), (result,), None, regions, place), out, loops)
    out += later
    return True


def _refused_if_empty(writer: Writer, items: Operand, place: Place | None) -> list[Operation]:
    """The error of ``reduce`` where there is nothing and no start."""
    whole = writer.whole
    test = whole.new("unary", (items,), "not", place)
    error = whole.builtin("TypeError", place)
    words = Constant("reduce() of empty iterable with no initial value")
    made = whole.new("call", (error.result, words), ("",), place)
    then = Region((), (error, made), Exit("raise", (made.result,), place))
    return [test, Operation("if", (test.result,), (), None, (then, Region((), (), Exit("yield"))), place)]


def _without(writer: Writer, function: Operand, later: list[Operation]) -> list[Operation]:
    """Operations without those that read a function that is no longer called.

    Raises:
        NotUnfoldedError: if it is used elsewhere.
    """
    left = list(later)
    if not removed(writer, function, left):
        raise NotUnfoldedError("used")
    return left
