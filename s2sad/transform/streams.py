"""The functions of `itertools` over known items, and a table of all functions that run through such."""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from s2sad.ir.code import NONE, Constant, Value
from s2sad.transform import definitions
from s2sad.transform.containers import (
    MOST_ITEMS,
    computed,
    elements,
    is_known,
    key_of,
    lazy,
    may_be_none,
    one_by_one,
    run_through,
    stream,
)
from s2sad.transform.insertion import searching
from s2sad.transform.iterators import (
    Given,
    all_,
    any_,
    enumerate_,
    filter_,
    has_structures,
    iter_,
    map_,
    next_,
    prod,
    reduce,
    reversed_,
    sum_,
    zip_,
)
from s2sad.transform.known import Abstract, Cell, Generator, Items, Lazy, NotSpecialisedError, Row, Stream, same
from s2sad.transform.ordering import max_, min_, sorted_
from s2sad.transform.simple import is_structure
from s2sad.transform.specialiser import Done, Specialiser


def chain(given: Given) -> Done:
    if not given.are_known() or not has_structures(given, 0):
        return None
    return given.lazily(lambda: itertools.chain.from_iterable(one_by_one(given.s, v) for v in given.values))


def from_iterable(given: Given) -> Done:
    if len(given.values) != 1 or not is_known(given.s, given.values[0]):
        return None

    def thunk() -> Iterator[Abstract]:
        for row in one_by_one(given.s, given.values[0]):
            if not (is_known(given.s, row) or elements(given.s, row) is not None):
                raise NotSpecialisedError("chain")
            yield from one_by_one(given.s, row)

    return given.lazily(thunk)


def _of_rows(function: Callable[..., Any]) -> Callable[[Given], Done]:
    """A function of `itertools` that makes tuples of all items of its arguments, with a number at the end."""

    def made(given: Given) -> Done:
        numbers = [v.value for v in given.values if isinstance(v, Constant)]
        rows = [v for v in given.values if not isinstance(v, Constant)]
        repeat = given.named.get("repeat", Constant(None))
        if not isinstance(repeat, Constant) or not any(map(is_structure, rows)):
            return None
        known = [run_through(given.s, row) for row in rows]
        if any(row is None for row in known):
            return None
        more = {} if repeat.value is None else {"repeat": repeat.value}
        found = list(itertools.islice(function(*known, *numbers, **more), MOST_ITEMS + 1))
        if len(found) > MOST_ITEMS:
            return None
        return (stream(given.s, [Row(items) for items in found], rows),)

    return made


def pairwise(given: Given) -> Done:
    """Each item with the one before, as that was when it was asked for."""
    if len(given.values) != 1 or not _are_asked_for(given) or not has_structures(given, 0):
        return None
    return given.lazily(lambda: (Row(pair) for pair in itertools.pairwise(one_by_one(given.s, given.values[0]))))


def _are_asked_for(given: Given) -> bool:
    """Whether the items of all arguments are known, as each is when it is asked for."""
    return all(is_known(given.s, v) or elements(given.s, v) is not None for v in given.values)


def _of_generator(given: Given) -> Done:
    """``islice(generator, stop)``, or ``islice(generator, start, stop)``."""
    match given.values[1:]:
        case [Constant(value=int(stop))] if stop > 0:
            return given.defined(definitions.first_of)
        case [Constant(value=int()) | Value()]:
            return given.defined(definitions.first_if_any)
        case [Constant(value=int(start)), Constant(value=int(stop))] if 0 <= start < stop:
            return given.defined(definitions.some_of)
    raise NotSpecialisedError("generator")


def takewhile(given: Given) -> Done:
    is_generator = len(given.values) == 2 and isinstance(given.values[1], Generator)
    return given.defined(definitions.taken_while) if is_generator else None


def islice(given: Given) -> Done:
    if given.values and isinstance(given.values[0], Generator):
        return _of_generator(given)
    bounds: list[Any] = [v.value if isinstance(v, Constant) else "" for v in given.values[1:]]
    if not all(b is None or type(b) is int for b in bounds) or not isinstance(given.values[0], (Stream, Lazy)):
        row = elements(given.s, given.values[0]) if given.values else None
        if row is None or not any(map(is_structure, row)) or not all(b is None or type(b) is int for b in bounds):
            return None
    return given.lazily(lambda: itertools.islice(one_by_one(given.s, given.values[0]), *bounds))


def accumulate(given: Given) -> Done:
    initial = given.named.get("initial")
    function = given.named.get("func", given.values[1] if len(given.values) > 1 else None)
    if not given.values or not is_known(given.s, given.values[0]):
        return None
    if function is not None and may_be_none(function) and not same(function, NONE):
        return None

    def thunk() -> Iterator[Abstract]:
        total: Abstract | None = None if initial is None or same(initial, NONE) else initial
        if total is not None:
            yield total
        for item in one_by_one(given.s, given.values[0]):
            if total is None:
                total = item
            elif function is None or may_be_none(function):
                total = computed(given.s, "binary", "+", (total, item), given.op, given.frame)
            else:
                total = given.call(function, total, item)
            yield total

    return given.lazily(thunk)


def repeat(given: Given) -> Done:
    times = given.number(1)
    if not given.values or not is_structure(given.values[0]):
        return None
    if times is None:
        return given.lazily(lambda: itertools.repeat(given.values[0]))
    return (stream(given.s, [given.values[0]] * times, []),) if times <= MOST_ITEMS else None


def cycle(given: Given) -> Done:
    if len(given.values) != 1 or not _are_asked_for(given) or not any(map(is_structure, given.values)):
        return None
    return given.lazily(lambda: itertools.cycle(one_by_one(given.s, given.values[0])))


def count(given: Given) -> Done:
    start, step = given.number(0, 0), given.number(1, 1)
    if len(given.values) > 2 or not all(isinstance(v, Constant) for v in given.values):
        return None
    if start is None or step is None or any(type(v.value) is not int for v in given.values if isinstance(v, Constant)):
        return None
    return given.lazily(lambda: map(Constant, itertools.count(start, step)))


def zip_longest(given: Given) -> Done:
    fill = given.named.get("fillvalue", NONE)
    if not _are_asked_for(given):
        if len(given.values) != 2 or not all(isinstance(v, (Value, Items)) for v in given.values):
            return None
        given.values.append(fill)
        return given.defined(definitions.padded)

    def thunk() -> Iterator[Abstract]:
        rows = [one_by_one(given.s, value) for value in given.values]
        yield from map(Row, itertools.zip_longest(*rows, fillvalue=fill))

    return given.lazily(thunk)


def starmap(given: Given) -> Done:
    if len(given.values) != 2 or not is_known(given.s, given.values[1]):
        return None

    def thunk() -> Iterator[Abstract]:
        for args in one_by_one(given.s, given.values[1]):
            row = elements(given.s, args)
            if row is None:
                raise NotSpecialisedError("starmap")
            yield given.call(given.values[0], *row)

    return given.lazily(thunk)


def groupby(given: Given) -> Done:
    if not 1 <= len(given.values) <= 2 or not is_known(given.s, given.values[0]):
        return None
    function = given.named.get("key", given.values[1] if len(given.values) > 1 else NONE)
    if may_be_none(function) and not same(function, NONE):
        return None

    s = given.s

    def keyed() -> Iterator[Abstract]:
        for item in one_by_one(s, given.values[0]):
            value = item if isinstance(function, Constant) else given.call(function, item)
            if key_of(s, value) is None:
                raise NotSpecialisedError("groupby")
            yield Row((value, item))

    def is_of(row: Row, start: int) -> bool:
        """Whether an item belongs to the group that begins with another."""
        first = items(start)
        assert isinstance(first, Row)
        keys = [key_of(s, each.items[0]) for each in (row, first)]
        return keys[0] is not None and keys[1] is not None and keys[0].value == keys[1].value

    #: How many items have been given or passed over, and one more than how many before the group that is given now.
    items, passed, begun = _Items(s, keyed()), _Place(s), _Place(s)

    def groups() -> Iterator[Abstract]:
        while isinstance(row := items(passed.get()), Row):
            if begun.get() and is_of(row, begun.get() - 1):
                passed.set(passed.get() + 1)
                continue
            begun.set(passed.get() + 1)
            yield Row((row.items[0], _resuming(s, functools.partial(group, passed.get()))))

    def group(start: int) -> Iterator[Abstract]:
        while begun.get() == start + 1 and isinstance(row := items(passed.get()), Row) and is_of(row, start):
            passed.set(passed.get() + 1)
            yield row.items[1]

    s.used = True
    return (_resuming(s, groups),)


def tee(given: Given) -> Done:
    """Iterators over the same items, each of which is asked for once, by the iterator that comes to it first."""
    number, others = given.number(1, 2), given.values[1:]
    del given.values[1:]
    if len(given.values) != 1 or len(others) > 1 or number is None or not 0 < number <= MOST_ITEMS:
        return None
    if not given.are_known():
        return None
    s, items = given.s, _Items(given.s, one_by_one(given.s, given.values[0]))

    def iterator() -> Lazy:
        passed = _Place(s)

        def rounds() -> Iterator[Abstract]:
            while (value := items(passed.get())) is not None:
                passed.set(passed.get() + 1)
                yield value

        return _resuming(s, rounds)

    s.used = True
    return (Row(tuple([iterator() for _ in range(number)])),)


def _resuming(s: Specialiser, rounds: Callable[[], Iterator[Abstract]]) -> Lazy:
    """What goes on where it was left."""
    return replace(lazy(s, rounds), resumes=True)


class _Place:
    """How far something has come, as the state says: arms of a branch that come to different places leave none."""

    def __init__(self, s: Specialiser) -> None:
        self.s, self.cell = s, Cell("items")
        self.set(0)

    def get(self) -> int:
        return len(_row(self.s, self.cell))

    def set(self, place: int) -> None:
        self.s.state[self.cell] = Row((NONE,) * place)


class _Items:
    """The items of an iterator that others run through; each is asked for once, and None stands behind the last."""

    def __init__(self, s: Specialiser, source: Iterator[Abstract]) -> None:
        self.s, self.source, self.cell = s, source, Cell("items")
        s.state[self.cell] = Row(())
        self.asked = 0

    def __call__(self, at: int) -> Abstract | None:
        found = _row(self.s, self.cell)
        if at < len(found):
            return found[at]
        if len(found) < self.asked:
            # An attempt that was given up has asked for it, or another arm of a branch.
            raise NotSpecialisedError("iterator")
        value = next(self.source, None)
        if value is not None:
            self.asked += 1
            self.s.state[self.cell] = Row((*found, value))
        return value


def _row(s: Specialiser, cell: Cell) -> tuple[Abstract, ...]:
    """The items that a cell holds."""
    row = s.state[cell]
    if not isinstance(row, Row):
        raise NotSpecialisedError("iterator")
    return row.items


#: Functions of `bisect`, which may be given a function.
_SEARCHING: dict[Any, Callable[[Given], Done]] = {
    bisect.bisect_left: searching(False, False),
    bisect.bisect_right: searching(True, False),
    bisect.insort_left: searching(False, True),
    bisect.insort_right: searching(True, True),
}
#: The names of arguments that they may have.
NAMES: dict[Any, tuple[str, ...]] = {
    zip: ("strict",),
    enumerate: ("start",),
    sum: ("start",),
    math.prod: ("start",),
    sorted: ("key", "reverse"),
    min: ("key",),
    max: ("key",),
    itertools.product: ("repeat",),
    itertools.accumulate: ("func", "initial"),
    itertools.zip_longest: ("fillvalue",),
    itertools.groupby: ("key",),
    **dict.fromkeys(_SEARCHING, ("key",)),
}
ITERATING: dict[Any, Callable[[Given], Done]] = {
    zip: zip_,
    enumerate: enumerate_,
    reversed: reversed_,
    iter: iter_,
    next: next_,
    map: map_,
    filter: filter_,
    functools.reduce: reduce,
    sum: sum_,
    math.prod: prod,
    any: any_,
    all: all_,
    sorted: sorted_,
    min: min_,
    max: max_,
    itertools.chain: chain,
    itertools.chain.from_iterable: from_iterable,
    itertools.product: _of_rows(itertools.product),
    itertools.combinations: _of_rows(itertools.combinations),
    itertools.permutations: _of_rows(itertools.permutations),
    itertools.pairwise: pairwise,
    itertools.islice: islice,
    itertools.takewhile: takewhile,
    itertools.accumulate: accumulate,
    itertools.repeat: repeat,
    itertools.cycle: cycle,
    itertools.count: count,
    itertools.zip_longest: zip_longest,
    itertools.starmap: starmap,
    itertools.groupby: groupby,
    itertools.tee: tee,
    **_SEARCHING,
}
