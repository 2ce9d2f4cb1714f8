"""Loops over ``map``, ``itertools.product`` and the like as loops over what they are given, one in another."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2sad.ir.code import NONE, Code, Constant, Exit, Operand, Operation, Place, Region, Value
from s2sad.transform.unfolding import NotUnfoldedError, Writer

ITEMS = "vwuz"
INDICES = "ijkl"
#: How many loops one in another there are at most.
_MOST = 4


@dataclass(frozen=True)
class Level:
    """One loop: ``before`` makes its iterable, ``inside`` begins its rounds, and if ``test`` is false a round ends."""

    iterable: Operand
    item: Value
    before: tuple[Operation, ...] = ()
    inside: tuple[Operation, ...] = ()
    test: Operand | None = None


@dataclass(frozen=True)
class Nest:
    """Loops one in another, and the items that they give: one, or the parts of a tuple."""

    levels: tuple[Level, ...]
    values: tuple[Operand, ...]
    is_tuple: bool
    #: Whether each round reads what stands there then.
    is_live: bool = False

    def region(self, writer: Writer, region: Region) -> Region:
        """The region of a comprehension over the items, as one over those of the first loop."""
        inner = Region((), (*given(writer, self, region), *region.operations[skipped(self, region) :]), region.exit)
        for level in reversed(self.levels):
            if level.test is not None:
                only = Operation("only", (level.test,), (), None, (inner,))
                inner = Region((), (only,), Exit("yield"))
            inner = Region((level.item,), (*level.inside, *inner.operations), inner.exit)
            if level is not self.levels[0]:
                each = Operation("each", (level.iterable,), (), None, (inner,))
                inner = Region((), (*level.before, each), Exit("yield"))
        return inner


def skipped(nest: Nest, region: Region) -> int:
    """How many operations at the beginning of a region `given` replaces: the one that takes the tuple apart, if any."""
    first = region.operations[0] if region.operations else None
    if not nest.is_tuple or first is None or first.kind != "unpack" or first.operands != region.params[:1]:
        return 0
    return int(first.data == (len(nest.values), None))


def given(writer: Writer, nest: Nest, region: Region) -> tuple[Operation, ...]:
    """What gives the item of a region its value in the innermost loop."""
    item = region.params[0]
    if skipped(nest, region) and writer.whole.uses[item] == 1:
        for result, value in zip(region.operations[0].results, nest.values, strict=True):
            assert isinstance(value, Value)
            writer.whole.by[value] = result
        return ()
    if nest.is_tuple:
        stars = (False,) * len(nest.values)
        made = Operation(
            "tuple", nest.values, (item,), stars, (), region.operations[0].place if region.operations else None
        )
        return (made, *region.operations[: skipped(nest, region)])
    (value,) = nest.values
    last = nest.levels[-1]
    if value is last.item and not item.name:
        writer.whole.by[item] = last.item
        return ()
    if value is last.item or any(value in op.results and not op.results[0].name for op in last.inside):
        assert isinstance(value, Value)
        writer.whole.by[value] = item
        return ()
    return (Operation("copy", (value,), (item,)),)


def nest_of(writer: Writer, iterable: Operand, out: list[Operation]) -> Nest | None:
    """The loops over an iterable that is made by the last of the operations before; None if it stays as it is."""
    made = writer.whole.made.get(iterable) if isinstance(iterable, Value) else None
    if made is None or made.kind != "call" or not writer.whole.goes_through(made):
        return None
    called = writer.whole.object_of(made.operands[0])
    kinds = [kind for kind in made.data if kind]
    if _is_from_iterable(writer, made.operands[0]):
        write: Callable[[Writer, Operation, list[Operation]], Nest] | None = _from_iterable
    else:
        write = next((write for function, write in _WRITERS if function is called), None)
    if kinds and (called, kinds) not in ((zip, ["*"]), (itertools.product, ["repeat"])):
        return None
    if write is None or len(made.operands) < 2 or writer.taken(iterable, out) is None:
        return None
    if called is zip and kinds:
        if len(made.data) > 1:
            return None
        write = _columns
    removed(writer, made.operands[0], out)
    return write(writer, made, out)


def takes_apart(region: Region) -> bool:
    """Whether the first thing in a region is to take its item apart."""
    first = region.operations[0] if region.operations else None
    return first is not None and first.kind == "unpack" and first.operands == region.params[:1]


def is_pairs(writer: Writer, iterable: Operand) -> bool:
    """Whether an iterable is made by ``zip`` or ``enumerate``, of which loops may take the items apart."""
    made = writer.whole.made.get(iterable) if isinstance(iterable, Value) else None
    if made is None or made.kind != "call" or "*" in made.data:
        return False
    called = writer.whole.object_of(made.operands[0])
    return called is zip or called is enumerate


def is_lazy(writer: Writer, made: Operation) -> bool:
    """Whether a call gives something that `nest_of` knows, or the items of a dict."""
    method = writer.whole.made.get(made.operands[0]) if isinstance(made.operands[0], Value) else None
    if method is not None and method.kind == "attribute" and method.data in ("values", "items") and not made.data:
        return writer.whole.object_of(made.operands[0]) is None
    called = writer.whole.object_of(made.operands[0])
    return any(called is function for function, _ in _WRITERS) or _is_from_iterable(writer, made.operands[0])


# --- builtins


def _map(writer: Writer, made: Operation, out: list[Operation]) -> Nest:
    _, function, *iterables = made.operands
    if not iterables:
        raise NotUnfoldedError("map")
    params, operations, value = applied(writer, function, len(iterables), out, made.place)
    if len(iterables) == 1:
        return Nest((Level(iterables[0], params[0], (), operations),), (value,), False)
    return Nest((_together(writer, iterables, params, operations, made.place),), (value,), False)


def _together(
    writer: Writer,
    iterables: Sequence[Operand],
    params: tuple[Value, ...],
    more: tuple[Operation, ...],
    place: Place | None,
) -> Level:
    """A loop over several iterables at once."""
    item = Value()
    read = writer.whole.builtin("zip", place)
    zipped = writer.whole.new("call", (read.result, *iterables), ("",) * len(iterables), place)
    unpack = Operation("unpack", (item,), params, (len(params), None), (), place)
    return Level(zipped.result, item, (read, zipped), (unpack, *more))


def _filter(writer: Writer, made: Operation, out: list[Operation]) -> Nest:
    if len(made.operands) != 3:
        raise NotUnfoldedError("filter")
    _, function, iterable = made.operands
    if isinstance(function, Constant) and function.value is None:
        item = Value(ITEMS[0])
        return Nest((Level(iterable, item, (), (), item),), (item,), False)
    (item,), operations, test = applied_unless_none(
        writer, function, 1, out, made.place, lambda params: ((), params[0])
    )
    return Nest((Level(iterable, item, (), operations, test),), (item,), False)


def _zip(writer: Writer, made: Operation, out: list[Operation]) -> Nest:
    params = tuple([Value(name) for name in _names(ITEMS, len(made.operands) - 1)])
    return Nest((_together(writer, made.operands[1:], params, (), made.place),), params, True)


def _enumerate(writer: Writer, made: Operation, out: list[Operation]) -> Nest:
    read = writer.whole.builtin("enumerate", made.place)
    again = writer.whole.new("call", (read.result, *made.operands[1:]), made.data, made.place)
    item, params = Value(), (Value("i"), Value("v"))
    unpack = Operation("unpack", (item,), params, (2, None), (), made.place)
    return Nest((Level(again.result, item, (read, again), (unpack,)),), params, True)


def _columns(writer: Writer, made: Operation, out: list[Operation]) -> Nest:
    """``zip(*rows)``."""
    whole, place = writer.whole, made.place
    each, row = Value("row"), Value("row")
    read = whole.builtin("list", place)
    copied = whole.new("call", (read.result, each), ("",), place)
    every = _comprehension(
        writer, made.operands[1], Region((each,), (read, copied), Exit("yield", (copied.result,))), place
    )
    whole.varied.update((each, copied.result, every.result))
    whole.uses[every.result] += 2
    rows = every.result
    count = whole.builtin("len", place)
    width = whole.new("call", (count.result, row), ("",), place)
    widths = _comprehension(writer, rows, Region((row,), (count, width), Exit("yield", (width.result,))), place)
    least, numbers = whole.builtin("min", place), whole.builtin("range", place)
    most = whole.new("call", (least.result, widths.result, Constant(0)), ("", "default"), place)
    counted = whole.new("call", (numbers.result, most.result), ("",), place)
    index, other = Value("j"), Value("row")
    read = whole.new("item", (other, index), None, place)
    column = _comprehension(writer, rows, Region((other,), (read,), Exit("yield", (read.result,))), place)
    whole.varied.update((other, read.result, column.result))
    tuples = whole.builtin("tuple", place)
    value = whole.new("call", (tuples.result, column.result), ("",), place)
    head = (every, numbers, least, widths, most, counted)
    return Nest((Level(counted.result, index, head, (tuples, column, value)),), (value.result,), False)


def _comprehension(writer: Writer, iterable: Operand, region: Region, place: Place | None) -> Operation:
    made = writer.whole.new("comprehension", (iterable,), "list", place)
    made = replace(made, regions=(region,))
    writer.whole.made[made.result] = made
    return made


# --- itertools


def _product(writer: Writer, made: Operation, out: list[Operation]) -> Nest:
    pools = [o for o, kind in zip(made.operands[1:], made.data, strict=True) if not kind]
    times = [o for o, kind in zip(made.operands[1:], made.data, strict=True) if kind]
    repeat = times[0].value if times and isinstance(times[0], Constant) else 1 if not times else None
    if not isinstance(repeat, int) or not 0 < len(pools) * repeat <= _MOST:
        raise NotUnfoldedError("product")
    before: list[Operation] = []
    listed = []
    for at, pool in enumerate(pools):
        # The first one is gone through once.
        items, more = (pool, ()) if not at and repeat == 1 else _items(writer, pool, made.place)
        before += more
        listed.append(items)
    items_of = [Value(name) for name in _names(ITEMS, len(pools) * repeat)]
    levels = [Level(pool, item) for pool, item in zip(listed * repeat, items_of, strict=True)]
    levels[0] = replace(levels[0], before=tuple(before))
    return Nest(tuple(levels), tuple(items_of), True)


def _combinations(start: Callable[[int], int] | None) -> Callable[[Writer, Operation, list[Operation]], Nest]:
    """Combinations, where the next index begins so far after the one before; None for permutations of two."""

    def write(writer: Writer, made: Operation, out: list[Operation]) -> Nest:
        whole, place = writer.whole, made.place
        count = made.operands[2] if len(made.operands) == 3 else NONE
        size = count.value if isinstance(count, Constant) else None
        if not isinstance(size, int) or not 1 <= size <= _MOST or (start is None and size > 2):
            raise NotUnfoldedError("combinations")
        items, before = _items(writer, made.operands[1], place)
        levels: list[Level] = []
        values = []
        for at in range(size):
            index, numbers, length = Value(INDICES[at]), whole.builtin("range", place), whole.builtin("len", place)
            most = whole.new("call", (length.result, items), ("",), place)
            head: tuple[Operation, ...] = (length, most)
            given: tuple[Operand, ...] = (most.result,)
            if levels and start is not None:
                first: Operand = levels[-1].item
                if start(0):
                    moved = whole.new("binary", (first, Constant(1)), "+", place)
                    head, first = (moved, *head), moved.result
                given = (first, *given)
            counted = whole.new("call", (numbers.result, *given), ("",) * len(given), place)
            read = whole.new("item", (items, index), None, place)
            test: tuple[Operation, ...] = ()
            if levels and start is None:
                test = (whole.new("compare", (levels[-1].item, index), "!=", place),)
            values.append(read.result)
            before = (*(() if levels else before), numbers, *head, counted)
            tested = test[0].result if test else None
            levels.append(Level(counted.result, index, before, (read, *test), tested))
        return Nest(tuple(levels), tuple(values), True)

    return write


def _chain(writer: Writer, made: Operation, out: list[Operation]) -> Nest:
    whole, place = writer.whole, made.place
    operations: list[Operation] = []
    total: Operand | None = None
    for pool in made.operands[1:]:
        items, before = _items(writer, pool, place)
        operations += before
        if total is None:
            total = items
        else:
            joined = whole.new("binary", (total, items), "+", place)
            operations.append(joined)
            total = joined.result
    assert total is not None
    item = Value(ITEMS[0])
    return Nest((Level(total, item, tuple(operations)),), (item,), False)


def _is_from_iterable(writer: Writer, function: Operand) -> bool:
    made = writer.whole.made.get(function) if isinstance(function, Value) else None
    if made is None or made.kind != "attribute" or made.data != "from_iterable":
        return False
    return writer.whole.object_of(made.operands[0]) is itertools.chain


def _from_iterable(writer: Writer, made: Operation, out: list[Operation]) -> Nest:
    row, item = Value("row"), Value(ITEMS[0])
    return Nest((Level(made.operands[1], row), Level(row, item)), (item,), False)


def _pairwise(writer: Writer, made: Operation, out: list[Operation]) -> Nest:
    whole, place = writer.whole, made.place
    items, before = _items(writer, made.operands[1], place)
    first = whole.new("slice", (NONE, Constant(-1), NONE), None, place)
    second = whole.new("slice", (Constant(1), NONE, NONE), None, place)
    parts = [whole.new("item", (items, part.result), None, place) for part in (first, second)]
    params = Value(ITEMS[0]), Value(ITEMS[1])
    level = _together(writer, [part.result for part in parts], params, (), place)
    read, zipped = level.before
    return Nest((replace(level, before=(*before, read, first, parts[0], second, parts[1], zipped)),), params, True)


def _islice(writer: Writer, made: Operation, out: list[Operation]) -> Nest:
    whole, place = writer.whole, made.place
    _, pool, *bounds = made.operands
    if not all(isinstance(b, Constant) and (b.value is None or b.value >= 0) for b in bounds):
        raise NotUnfoldedError("islice")
    items, before = _items(writer, pool, place)
    limits = (NONE, *bounds, NONE) if len(bounds) == 1 else (*bounds, NONE)[:3]
    part = whole.new("slice", tuple(limits), None, place)
    read = whole.new("item", (items, part.result), None, place)
    item = Value(ITEMS[0])
    return Nest((Level(read.result, item, (*before, part, read)),), (item,), False)


def _ndenumerate(writer: Writer, made: Operation, out: list[Operation]) -> Nest:
    """``np.ndenumerate(a)``: the places of the elements, each with what stands there then."""
    whole, place = writer.whole, made.place
    if len(made.operands) != 2:
        raise NotUnfoldedError("ndenumerate")
    function = whole.made.get(made.operands[0]) if isinstance(made.operands[0], Value) else None
    module = function and function.kind == "attribute" and whole.made.get(function.operands[0])  # type: ignore[arg-type]
    if not module or module.kind != "global":
        raise NotUnfoldedError("ndenumerate")

    def of_numpy(name: str) -> tuple[Operation, Operation]:
        read = whole.new("global", (), module.data, place)
        return read, whole.new("attribute", (read.result,), name, place)

    index = Value("i")
    convert, count = of_numpy("asarray"), of_numpy("ndindex")
    array = whole.new("call", (convert[1].result, made.operands[1]), ("",), place)
    shape = whole.new("attribute", (array.result,), "shape", place)
    counted = whole.new("call", (count[1].result, shape.result), ("",), place)
    element = whole.new("item", (array.result, index), None, place)
    whole.uses[array.result] += 1
    whole.varied.update((array.result, element.result))
    level = Level(counted.result, index, (*convert, array, *count, shape, counted), (element,))
    return Nest((level,), (index, element.result), True, is_live=True)


_WRITERS: tuple[tuple[Any, Callable[[Writer, Operation, list[Operation]], Nest]], ...] = (
    (map, _map),
    (filter, _filter),
    (zip, _zip),
    (enumerate, _enumerate),
    (itertools.product, _product),
    (itertools.combinations, _combinations(lambda at: 1)),
    (itertools.combinations_with_replacement, _combinations(lambda at: 0)),
    (itertools.permutations, _combinations(None)),
    (itertools.chain, _chain),
    (itertools.pairwise, _pairwise),
    (itertools.islice, _islice),
    (np.ndenumerate, _ndenumerate),
)


# --- parts


def _names(names: str, count: int) -> Sequence[str]:
    return names[:count] if count <= len(names) else names[:1] * count


def _items(writer: Writer, items: Operand, place: Place | None) -> tuple[Operand, tuple[Operation, ...]]:
    """A list of the items of an iterable, and what makes it."""
    made = writer.whole.made.get(items) if isinstance(items, Value) else None
    if made is not None and (made.kind == "list" or (made.kind == "comprehension" and made.data == "list")):
        # Nobody else has it.
        if isinstance(items, Value) and not items.name and writer.whole.used[items] == 1:
            writer.whole.uses[items] += 2
            return items, ()
    read = writer.whole.builtin("list", place)
    copied = writer.whole.new("call", (read.result, items), ("",), place)
    writer.whole.uses[copied.result] += 2
    return copied.result, (read, copied)


def listed(writer: Writer, items: Operand, out: list[Operation], loops: int, place: Place | None) -> Operand:
    """Write a list of the items of an iterable, if it is not known to be one that nobody else has."""
    value, before = _items(writer, items, place)
    for op in before:
        writer.operation(op, out, loops)
    return value


def applied(
    writer: Writer, function: Operand, count: int, out: list[Operation], place: Place | None
) -> tuple[tuple[Value, ...], tuple[Operation, ...], Operand]:
    """A call of a function with so many arguments: these as new values, what is done, and the result.

    A lambda that is used once is written out; what reads a global function, or the method of a dict, is taken away from
    what stands before.
    """
    whole = writer.whole
    made = whole.made.get(function) if isinstance(function, Value) else None
    if made is not None and made.kind == "lambda" and not made.operands and _is_plain(made.data.code, count):
        if removed(writer, function, out):
            code: Code = made.data.code
            params = tuple([p.target for p in code.params if isinstance(p.target, Value)])
            return params, code.body.operations, code.body.exit.operands[0]
    params = tuple([Value(name) for name in _names(ITEMS, count)])
    reads_item = made is not None and made.kind == "attribute" and made.data == "get"
    chain = removed(writer, function, out) if reads_item or whole.object_of(function) is not None else ()
    called = whole.new("call", (function, *params), ("",) * count, place)
    whole.varied.update((*params, called.result))
    if not chain and isinstance(function, Value):
        whole.uses[function] += 1
    return params, (*chain, called), called.result


def applied_unless_none(
    writer: Writer,
    function: Operand,
    count: int,
    out: list[Operation],
    place: Place | None,
    instead: Callable[[tuple[Value, ...]], tuple[tuple[Operation, ...], Operand]],
) -> tuple[tuple[Value, ...], tuple[Operation, ...], Operand]:
    """The same of what is a function or None; ``instead`` says what is done with the values where it is None."""
    whole = writer.whole
    made = whole.made.get(function) if isinstance(function, Value) else None
    is_method = made is not None and made.kind == "attribute" and made.data == "get"
    is_made = made is not None and made.kind in ("function", "lambda")
    params, operations, value = applied(writer, function, count, out, place)
    if not isinstance(function, Value) or is_made or is_method or whole.object_of(function) is not None:
        return params, operations, value
    others, other = instead(params)
    test = whole.new("compare", (function, NONE), "is", place)
    arms = Region((), others, Exit("yield", (other,))), Region((), operations, Exit("yield", (value,)))
    choice = Operation("choose", (test.result,), (Value(),), None, arms, place)
    whole.made[choice.result] = choice
    whole.uses[choice.result] = 1
    whole.uses[function] += 1
    whole.varied.update((choice.result, *(v for op in others for v in op.results)))
    return params, (test, choice), choice.result


def _is_plain(code: Code, count: int) -> bool:
    """Whether a lambda has so many parameters that are passed by position, and no variables of its own."""
    if len(code.params) != count or code.variables or code.generates:
        return False
    return all(isinstance(p.target, Value) and p.kind in ("positional", "positional only") for p in code.params)


def removed(writer: Writer, operand: Operand, out: list[Operation]) -> tuple[Operation, ...]:
    """Take away what reads a function, or makes a lambda, if nobody else uses it."""
    if not isinstance(operand, Value) or operand.name or writer.whole.uses[operand] != 1:
        return ()
    at = next((at for at, op in enumerate(out) if op.results == (operand,)), None)
    if at is None or out[at].kind not in ("global", "attribute", "lambda"):
        return ()
    found = out.pop(at)
    if found.kind != "attribute":
        return (found,)
    return (*removed(writer, found.operands[0], out), found)
