"""Calls that consume an iterable at once: ``sum``, ``any``, ``"".join``, ``functools.reduce`` and others."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from s2sad.ir.code import NONE, Code, Constant, Exit, Operand, Operation, Place, Region, Value, codes, inner
from s2sad.transform.rounds import collect, search
from s2sad.transform.unfolding import NotUnfoldedError, Writer

#: Functions that go through their first argument to its end before they do anything else that is seen.
_CONSUMING = (sum, min, max, list, tuple, sorted, dict, set, frozenset, math.fsum, math.prod)
_ITEMS = "vwuz"


@dataclass(frozen=True)
class Rounds:
    """What a generator expression, ``map`` or ``filter`` goes through, and the region of one round.

    The region is like that of a comprehension; ``before`` makes the iterable where that is made last.
    """

    iterable: Operand
    region: Region
    before: tuple[Operation, ...] = ()

    @property
    def operands(self) -> tuple[Operand, ...]:
        """What is used to make the iterable."""
        return (self.iterable, *(o for op in self.before for o in op.operands))


def call(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """Write a call that consumes something lazy that varied values go through."""
    function = writer.whole.object_of(op.operands[0])
    if function is functools.reduce:
        return _reduce(writer, op, out)
    if len(op.operands) < 2 or op.data[0]:
        return False
    if _is_one_of(function, (any, all)) and len(op.operands) == 2:
        return _search(writer, op, function is any, out, loops)
    if _is_one_of(function, _CONSUMING) or _is_join(writer, op):
        return _collected(writer, op, function is list and len(op.operands) == 2, out, loops)
    return False


def for_loop(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """Write a loop over ``map(f, ...)`` as one over its iterable."""
    made = writer.whole.made.get(op.operands[0]) if isinstance(op.operands[0], Value) else None
    if op.awaits or made is None or made.kind != "call" or writer.whole.object_of(made.operands[0]) is not map:
        return False
    rounds = _lazy(writer, op.operands[0], out)
    if rounds is None:
        return False
    body, rest = op.regions
    item, *carried = body.params
    (value,) = rounds.region.exit.operands
    operations = rounds.region.operations
    last = operations[-1] if operations else None
    if last is not None and last.results == (value,) and not last.results[0].name:
        operations = (*operations[:-1], dataclasses.replace(last, results=(item,)))
    else:
        operations = (*operations, Operation("copy", (value,), (item,), None, (), op.place))
    body = Region((*rounds.region.params, *carried), (*operations, *body.operations), body.exit)
    out += rounds.before
    whole = dataclasses.replace(op, operands=(rounds.iterable, *op.operands[1:]), regions=(body, rest))
    out.append(writer.with_regions(whole, loops))
    return True


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
    rounds = _lazy(writer, op.operands[1], out)
    if rounds is None:
        return False
    later = _without(writer, op.operands[0], writer.read_later(out, rounds.operands))
    flag = _named(writer, op.result)
    out += rounds.before
    search(writer, rounds.iterable, rounds.region, found, flag, out, loops, op.place)
    out += later
    return True


def _collected(writer: Writer, op: Operation, is_list: bool, out: list[Operation], loops: int) -> bool:
    """A function that is given a list instead; the list itself if the function is ``list``."""
    function, given, *rest = op.operands
    result = op.result if is_list else Value()
    made = writer.whole.made.get(given) if isinstance(given, Value) else None
    write = _accumulated(writer, given, result, out, op.place)
    if write is not None:
        assert made is not None
        now = made.operands
    else:
        rounds = _lazy(writer, given, out)
        if rounds is None:
            return False
        known, now = rounds, rounds.operands

        def write(out: list[Operation]) -> None:
            collect(writer, known.iterable, known.region, result, out, loops, op.place, before=known.before)

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


def _accumulated(
    writer: Writer, given: Operand, result: Value, out: list[Operation], place: Place | None
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
    _removed(writer, made.operands[0], out)
    if len(made.operands) == 3:
        (left, right), operations, value = _applied(writer, made.operands[2], 2, out, place)
    else:
        left, right = Value(), Value("v")
        total = whole.new("binary", (left, right), "+", place)
        operations, value = (total,), total.result
    items = _listed(writer, made.operands[1], out, place)

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


def _reduce(writer: Writer, op: Operation, out: list[Operation]) -> bool:
    """``functools.reduce(function, items, start)`` as a loop."""
    whole, place = writer.whole, op.place
    if any(op.data) or len(op.operands) not in (3, 4) or not whole.goes_through(op):
        return False
    called, function, items, *start = op.operands
    (total, item), operations, value = _applied(writer, function, 2, out, place)
    if not _removed(writer, called, out):
        return False
    later = writer.read_later(out, (items, *start))
    result = _named(writer, op.result)
    if not start:
        items = _listed(writer, items, out, place)
        out += _refused_if_empty(writer, items, place)
        first = whole.new("item", (items, Constant(0)), None, place, result.name)
        tail = whole.new("slice", (Constant(1), NONE, NONE), None, place)
        others = whole.new("item", (items, tail.result), None, place)
        out += [first, tail, others]
        items, start = others.result, [first.result]
    whole.by[total] = Value(result.name)
    if operations and operations[-1].results == (value,) and not operations[-1].results[0].name:
        whole.by[operations[-1].result] = Value(result.name)
    body: list[Operation] = []
    for inside in operations:
        writer.operation(inside, body, 1)
    last = Value(result.name)
    regions = (
        Region((item, total), tuple(body), Exit("continue", (value,))),
        Region((last,), (), Exit("yield", (last,))),
    )
    out.append(Operation("for", (items, *start), (result,), None, regions, place))
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


def _listed(writer: Writer, items: Operand, out: list[Operation], place: Place | None) -> Operand:
    """A list of the items of an iterable."""
    made = writer.whole.made.get(items) if isinstance(items, Value) else None
    if made is not None and made.kind in ("list", "comprehension") and made.data != "dict":
        # Nobody else has it, or nobody changes it in the loop more than the one who is asked to.
        if isinstance(items, Value) and not items.name and writer.whole.uses[items] == 1:
            writer.whole.uses[items] += 2
            return items
    read = writer.whole.builtin("list", place)
    copied = writer.whole.new("call", (read.result, items), ("",), place)
    writer.whole.uses[copied.result] += 2
    out += [read, copied]
    return copied.result


# --- what is consumed


def _lazy(writer: Writer, operand: Operand, out: list[Operation]) -> Rounds | None:
    """The rounds of something lazy that varied values go through, which is taken away from what stands before."""
    made = writer.whole.made.get(operand) if isinstance(operand, Value) else None
    if made is None or not writer.whole.goes_through(made):
        return None
    if made.kind == "generator":
        return _generator(writer, made, out)
    if made.kind != "call" or any(made.data) or len(made.operands) < 3:
        return None
    called = writer.whole.object_of(made.operands[0])
    if called is map:
        return _map(writer, made, out)
    if called is filter and len(made.operands) == 3:
        return _filter(writer, made, out)
    return None


def _generator(writer: Writer, made: Operation, out: list[Operation]) -> Rounds | None:
    code: Code = made.data
    if len(code.body.operations) != 1 or _may_stop(writer, code) or code.body.operations[0].awaits:
        return None
    (each,) = code.body.operations
    stored = {op.data for op in inner(code.body) if op.kind == "store"}
    if each.kind != "each" or not stored.issuperset(code.variables) or writer.taken(made.result, out) is None:
        return None
    return Rounds(made.operands[0], each.regions[0])


def _may_stop(writer: Writer, code: Code) -> bool:
    """Whether a generator expression calls ``next``: a `StopIteration` is another error outside of it."""
    found = [op for part in codes(code) for op in inner(part.body) if op.kind == "global"]
    return any(op.data == "next" for op in found)


def _map(writer: Writer, made: Operation, out: list[Operation]) -> Rounds | None:
    called, function, *iterables = made.operands
    if writer.taken(made.result, out) is None:
        return None
    _removed(writer, called, out)
    params, operations, value = _applied(writer, function, len(iterables), out, made.place)
    end = Exit("yield", (value,))
    if len(iterables) == 1:
        return Rounds(iterables[0], Region(params, operations, end))
    item = Value()
    read = writer.whole.builtin("zip", made.place)
    together = writer.whole.new("call", (read.result, *iterables), ("",) * len(iterables), made.place)
    unpack = Operation("unpack", (item,), params, (len(params), None), (), made.place)
    # What is computed before ``zip`` keeps its place.
    return Rounds(together.result, Region((item,), (unpack, *operations), end), (read, together))


def _filter(writer: Writer, made: Operation, out: list[Operation]) -> Rounds | None:
    called, function, iterable = made.operands
    if writer.taken(made.result, out) is None:
        return None
    _removed(writer, called, out)
    if isinstance(function, Constant) and function.value is None:
        item = Value(_ITEMS[0])
        operations: tuple[Operation, ...] = ()
        test: Operand = item
    else:
        (item,), operations, test = _applied(writer, function, 1, out, made.place)
    then = Region((), (), Exit("yield", (item,)))
    only = Operation("only", (test,), (), None, (then,), made.place)
    return Rounds(iterable, Region((item,), (*operations, only), Exit("yield")))


def _applied(
    writer: Writer, function: Operand, count: int, out: list[Operation], place: Place | None
) -> tuple[tuple[Value, ...], tuple[Operation, ...], Operand]:
    """A call of a function with so many arguments: these as new values, what is done, and the result.

    A lambda that is used once is written out; what reads a global function is taken away from what stands before.
    """
    whole = writer.whole
    made = whole.made.get(function) if isinstance(function, Value) else None
    if made is not None and made.kind == "lambda" and not made.operands and _is_plain(made.data.code, count):
        if _removed(writer, function, out):
            code: Code = made.data.code
            params = tuple([p.target for p in code.params if isinstance(p.target, Value)])
            return params, code.body.operations, code.body.exit.operands[0]
    params = tuple([Value(name) for name in (_ITEMS if count <= len(_ITEMS) else ["v"] * count)[:count]])
    chain = _removed(writer, function, out) if whole.object_of(function) is not None else ()
    called = whole.new("call", (function, *params), ("",) * count, place)
    if not chain and isinstance(function, Value):
        whole.uses[function] += 1
    return params, (*chain, called), called.result


def _is_plain(code: Code, count: int) -> bool:
    """Whether a lambda has so many parameters that are passed by position, and no variables of its own."""
    if len(code.params) != count or code.variables or code.generates:
        return False
    return all(isinstance(p.target, Value) and p.kind in ("positional", "positional only") for p in code.params)


def _removed(writer: Writer, operand: Operand, out: list[Operation]) -> tuple[Operation, ...]:
    """Take away what reads a function, or makes a lambda, if nobody else uses it."""
    if not isinstance(operand, Value) or operand.name or writer.whole.uses[operand] != 1:
        return ()
    at = next((at for at, op in enumerate(out) if op.results == (operand,)), None)
    if at is None or out[at].kind not in ("global", "attribute", "lambda"):
        return ()
    found = out.pop(at)
    if found.kind != "attribute":
        return (found,)
    return (*_removed(writer, found.operands[0], out), found)


def _without(writer: Writer, function: Operand, later: list[Operation]) -> list[Operation]:
    """Operations without those that read a function that is no longer called.

    Raises:
        NotUnfoldedError: if it is used elsewhere.
    """
    left = list(later)
    if not _removed(writer, function, left):
        raise NotUnfoldedError("used")
    return left


def _named(writer: Writer, result: Value) -> Value:
    """A value with a name in place of the result of an operation: what loops carry needs one."""
    named = Value(result.name or "t")
    writer.whole.by[result] = named
    return named
