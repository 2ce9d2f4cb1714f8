"""Functions that run through known items: ``zip``, ``enumerate``, ``map``, ``functools.reduce`` and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from s2sad.ir.code import NONE, Constant, Operand, Operation, Value
from s2sad.runtime.classes import own_class, static_member
from s2sad.runtime.objects import at_least
from s2sad.transform import definitions
from s2sad.transform.branches import fork
from s2sad.transform.containers import (
    called,
    computed,
    elements,
    is_counted,
    is_known,
    is_object_as_well,
    lazy,
    may_be_none,
    numbered,
    one_by_one,
    places,
    rounds,
    run_through,
    stream,
)
from s2sad.transform.generators import counted, listed, mapped
from s2sad.transform.known import (
    Abstract,
    Closure,
    Generator,
    Items,
    Known,
    Lazy,
    NotSpecialisedError,
    Record,
    Row,
    Stream,
    is_static,
    same,
)
from s2sad.transform.later import at_once, is_gone_through
from s2sad.transform.objects import member_call
from s2sad.transform.simple import is_structure, truth
from s2sad.transform.specialiser import Done, End, Frame, Specialiser


class Given:
    """What such a function is given."""

    def __init__(
        self, s: Specialiser, values: Sequence[Abstract], named: Mapping[str, Abstract], op: Operation, frame: Frame
    ) -> None:
        self.s, self.values, self.named, self.op, self.frame = s, list(values), dict(named), op, frame

    def are_known(self, at: int = 0) -> bool:
        """Whether the items of all arguments from one on are known."""
        return all(
            is_known(self.s, v) or is_counted(self.s, v) or elements(self.s, v) is not None for v in self.values[at:]
        )

    def made(self) -> Operand | None:
        """The operand of the call as it stands, if all arguments are operands already."""
        if any(is_known(self.s, value) and not is_object_as_well(self.s, value) for value in self.values):
            return None
        known = all(isinstance(value, Items) or value in self.s.types for value in self.values)
        if known and any(isinstance(value, Items) and self.s.content(value) is not None for value in self.values):
            # As an operand it would be a list of which nothing is known any more.
            return None
        function = self.s.get(self.op.operands[0], self.frame)
        with self.s.stand_ins.reading():
            made = self.s.emit(
                "call",
                self.s.operands([function, *self.values, *self.named.values()], self.op.place),
                (*[""] * len(self.values), *self.named),
                place=self.frame.place or self.op.place,
            )
        self.s.needless.add(made)
        return made

    def made_of_counted(self) -> Operand | None:
        """The operand of the call as it stands, if an argument is an operand of which the number of items is known."""
        return self.made() if any(is_counted(self.s, value) for value in self.values) else None

    def number(self, at: int, default: int | None = None) -> int | None:
        """An argument that is a whole number."""
        value = self.values[at] if at < len(self.values) else Constant(default)
        return value.value if isinstance(value, Constant) and type(value.value) is int else default

    def call(self, function: Abstract, *args: Abstract) -> Abstract:
        return called(self.s, function, args, self.op, self.frame)

    def lazily(self, thunk: Callable[[], Iterator[Abstract]]) -> Done:
        """A result that is made when something runs through it."""
        self.s.used = True
        return (lazy(self.s, thunk),)

    def defined(self, function: Callable[..., Any]) -> Done:
        """What a function that is written out in `definitions` gives for the same arguments."""
        whole = [("", value) for value in self.values]
        with at_once(self.s, is_gone_through(self.s, self.op, self.frame)):
            return self.s.call_function(self.s, function, whole, self.op, self.frame, None)

    def truth(self, value: Abstract) -> bool:
        known = truth(self.s, value)
        if known is None:
            raise NotSpecialisedError("condition")
        return known


def zip_(given: Given) -> Done:
    operand, strict = None, given.named.get("strict")
    if isinstance(strict, Constant) and strict.value is False:
        given.named = {}
    if not given.named and (done := _beside_generator(given)) is not None:
        return done
    given.values = [_whole(given, value) for value in given.values]
    if not given.are_known():
        operand = given.made() if not given.named else None
        if not _completed(given, operand is None or given.s.relied.writes_out):
            return None
    else:
        operand = given.made_of_counted()
    if given.named:
        lengths = {-1 if isinstance(v, (Stream, Lazy)) else len(places(given.s, v) or ()) for v in given.values}
        if len(lengths) != 1 or -1 in lengths or not isinstance(given.named["strict"], Constant):
            return None
    if any(isinstance(v, Lazy) for v in given.values):
        return given.lazily(lambda: _zipped(given))
    rows = [rounds(given.s, value) or () for value in given.values]
    pairs = [Row(items) for items in zip(*rows, strict=False)]
    return (stream(given.s, pairs, given.values, operand=operand),)


#: What may as well be done although nobody asks for the item.
_QUIET = ("copy", "tuple")


def _beside_generator(given: Given) -> Done:
    """``zip`` of a generator and a sequence; None of anything else."""
    at = [isinstance(value, Generator) for value in given.values]
    if at not in ([True, False], [False, True]):
        return None
    other = given.values[at.index(False)]
    others: Sequence[object] | None = None
    if isinstance(other, Known) and type(other.value) is range:
        others = other.value
    elif not isinstance(other, (Stream, Lazy)):
        others = given.s.row(other)
    if not others:
        return None
    return given.defined(definitions.with_others if at[0] else definitions.beside_others)


def _whole(given: Given, value: Abstract) -> Abstract:
    """What takes turns with others: of a generator a list, where that ends, and does nothing but give its items."""
    if not isinstance(value, Generator):
        return value
    s, before, start = given.s, given.s.state.copied(), len(given.s.out)
    items = listed(s, value, given.op, given.frame)
    is_quiet = all(op.kind in _QUIET for op in s.out[start:])
    changed = [cell for cell, held in before.items() if not same(s.state[cell], held)]
    if s.content(items) is None or not is_quiet or changed != [value.cell]:
        # It may be run no further than the others.
        raise NotSpecialisedError("generator")
    return items


def _completed(given: Given, instead: bool) -> bool:
    """Make operands beside known items known: at run time they must have as many.

    Where their items may be used ``instead`` of the call, the check stays whoever reads them: an iterator would move.
    """
    s, place = given.s, given.op.place
    lengths = [
        len(elements(s, v) or ()) if not isinstance(v, (Stream, Lazy)) else None for v in given.values if is_known(s, v)
    ]
    if not lengths or None in lengths or not all(is_known(s, v) or isinstance(v, Value) for v in given.values):
        return False
    count = min(length for length in lengths if length is not None)
    for at, value in enumerate(given.values):
        if not is_known(s, value) and s.row(value) is None:
            whole = s.emit(
                "call", s.operands([s.outside(at_least, "at_least"), value, Constant(count)], place), ("", "")
            )
            items = [s.emit("item", (whole, Constant(n))) for n in range(count)]
            s.needless.update(items if instead else (whole, *items))
            given.values[at] = Row(tuple(items))
    return True


def _zipped(given: Given) -> Iterator[Abstract]:
    yield from (Row(items) for items in zip(*[one_by_one(given.s, v) for v in given.values], strict=False))


def enumerate_(given: Given) -> Done:
    start = given.named.get("start", given.values[1] if len(given.values) > 1 else Constant(0))
    if not isinstance(start, Constant) or type(start.value) is not int or not given.values or len(given.values) > 2:
        return None
    operand = given.made_of_counted()
    value, *_ = given.values
    if isinstance(value, Generator):
        return (counted(given.s, value, start, given.op, given.frame),)
    if not Given(given.s, [value], {}, given.op, given.frame).are_known():
        return None
    if isinstance(value, Lazy):
        first = start.value
        return given.lazily(lambda: (Row((Constant(i), v)) for i, v in enumerate(one_by_one(given.s, value), first)))
    row = rounds(given.s, value) or ()
    pairs = [Row((Constant(i), v)) for i, v in enumerate(row, start.value)]  # type: ignore[arg-type]
    return (stream(given.s, pairs, (value,), operand=operand),)


def reversed_(given: Given) -> Done:
    if len(given.values) != 1 or isinstance(given.values[0], Lazy) or not given.are_known():
        return None
    (value,) = given.values
    if isinstance(value, Stream) and not value.is_view:
        return None
    operand = given.made_of_counted()
    row = rounds(given.s, value) or ()
    return (stream(given.s, row[::-1], given.values, operand=operand),)


def iter_(given: Given) -> Done:
    if len(given.values) != 1 or not given.are_known():
        return None
    (value,) = given.values
    if isinstance(value, Lazy) or (isinstance(value, Stream) and not value.is_view):
        return (value,)
    operand = given.made_of_counted()
    return (stream(given.s, rounds(given.s, value) or (), given.values, operand=operand),)


def next_(given: Given) -> Done:
    if given.values and isinstance(given.values[0], Record):
        return _next_of_object(given, given.values[0])
    if len(given.values) in (1, 2) and isinstance(given.values[0], Generator) and given.values[0].is_one_loop:
        # It is not asked for others: a generator that has begun is none that can be run through.
        return given.defined(definitions.first_item if len(given.values) == 1 else definitions.first_item_or)
    if not 1 <= len(given.values) <= 2 or not isinstance(given.values[0], (Stream, Lazy)):
        return None
    iterator = given.values[0]
    if isinstance(iterator, Lazy) and not iterator.resumes:
        # What is left of it is not known after this.
        for value in one_by_one(given.s, iterator):
            return (value,)
    elif isinstance(iterator, Stream) and iterator.is_view:
        return None
    else:
        for value in one_by_one(given.s, iterator):
            given.s.used = True
            return (value,)
    if len(given.values) == 2:
        return (given.values[1],)
    raise NotSpecialisedError("StopIteration")


def _next_of_object(given: Given, record: Record) -> Done:
    """``next`` of an object that the program makes."""
    if len(given.values) == 2:
        return given.defined(definitions.next_or)
    if len(given.values) != 1 or static_member(record.cls, "__next__") is None:
        return None
    return member_call(given.s, record, "__next__", [], given.op, given.frame)


#: What stands for ``map``, by how many arguments it is given.
_MAPPED: dict[int, Callable[..., Any]] = {2: definitions.mapped, 3: definitions.mapped_pairs}


def map_(given: Given) -> Done:
    if len(given.values) == 2 and isinstance(given.values[1], Generator):
        return (mapped(given.s, lambda item: given.call(given.values[0], item), given.values[1]),)
    if len(given.values) in _MAPPED and _takes_operands(given):
        return given.defined(_MAPPED[len(given.values)])
    makes_objects = bool(given.values) and _is_class_of_users(given.values[0])
    given.s.relied.asks_sizes |= makes_objects and not given.are_known(1)
    if len(given.values) < 2 or not given.are_known(1) or not (makes_objects or has_structures(given, 1)):
        return None
    function, *values = given.values

    def thunk() -> Iterator[Abstract]:
        for args in zip(*[one_by_one(given.s, v) for v in values], strict=False):
            yield given.call(function, *args)

    return given.lazily(thunk)


def _takes_operands(given: Given) -> bool:
    """Whether a function that the program makes is given iterables of which the items are not known."""
    function, *iterables = given.values
    return isinstance(function, Closure) and all(isinstance(value, Value) for value in iterables)


def _is_class_of_users(value: Abstract) -> bool:
    return isinstance(value, Known) and isinstance(value.value, type) and own_class(value.value) is not None


def has_structures(given: Given, at: int) -> bool:
    """Whether some items are more than operands, or the function is one that the program makes."""
    return any(map(is_structure, given.values))


def filter_(given: Given) -> Done:
    if len(given.values) == 2 and _takes_operands(given):
        return given.defined(definitions.filtered)
    if len(given.values) != 2 or not given.are_known(1) or not has_structures(given, 1):
        return None
    function, value = given.values
    if may_be_none(function) and not same(function, NONE):
        return None

    def thunk() -> Iterator[Abstract]:
        for item in one_by_one(given.s, value):
            kept = item if isinstance(function, Constant) else given.call(function, item)
            if given.truth(kept):
                yield item

    return given.lazily(thunk)


def reduce(given: Given) -> Done:
    if any(isinstance(value, Generator) for value in given.values[1:2]) and len(given.values) <= 3:
        return given.defined(definitions.reduced if len(given.values) == 2 else definitions.reduced_from)
    if len(given.values) == 3 and is_structure(given.values[2]):
        given.values[1] = numbered(given.values[1])
    if not 2 <= len(given.values) <= 3 or (not given.are_known(1) and not is_known(given.s, given.values[1])):
        return None
    function, items, *start = given.values
    if not (is_known(given.s, items) or elements(given.s, items) is not None) or not any(
        map(is_structure, given.values)
    ):
        return None
    given.s.used = True
    total: Abstract | None = start[0] if start else None
    for item in one_by_one(given.s, items):
        total = item if total is None else given.call(function, total, item)
    return None if total is None else (total,)


def sum_(given: Given) -> Done:
    start = given.named.get("start", given.values[1] if len(given.values) > 1 else Constant(0))
    return _folded(given, "+", start)


def prod(given: Given) -> Done:
    return _folded(given, "*", given.named.get("start", Constant(1)))


def _folded(given: Given, sign: str, start: Abstract) -> Done:
    """The sum or product of known items."""
    row = run_through(given.s, given.values[0]) if given.values else None
    if row is None:
        return None
    if not any(map(is_structure, (*row, start))):
        return plainly(given, row)
    given.s.used = True
    total = start
    for item in row:
        total = computed(given.s, "binary", sign, (total, item), given.op, given.frame)
    return (total,)


def plainly(given: Given, row: Sequence[Abstract]) -> Done:
    """A call of the function with a tuple of what was made for it; None if it is called as it stands."""
    (value, *_) = given.values
    is_other = isinstance(value, (Row, Items)) and value.cls not in (tuple, list)
    if not (isinstance(value, (Lazy, Stream)) or is_other):
        return None
    given.values[0] = Row(tuple(row))
    return None


def any_(given: Given) -> Done:
    return _searched(given, True)


def all_(given: Given) -> Done:
    return _searched(given, False)


def _searched(given: Given, found: bool) -> Done:
    if len(given.values) != 1 or not given.are_known() or is_counted(given.s, given.values[0]):
        return None
    (value,) = given.values
    row = elements(given.s, value)
    if row is not None and any(truth(given.s, item) is None for item in row):
        return None
    return _found(given, iter(one_by_one(given.s, value)), found)


def _found(given: Given, items: Iterator[Abstract], found: bool) -> tuple[Abstract, ...] | End:
    """Whether one of some items counts as ``found``; those behind it are not made."""
    s = given.s
    for item in items:
        known = truth(s, item)
        if known is found:
            return (Constant(found),)
        if known is not None:
            continue
        if is_static(item) or s.expression:
            raise NotSpecialisedError("condition")

        is_asked = False

        def rest() -> End:
            nonlocal is_asked
            if is_asked:
                # What has been run through is not there again.
                raise NotSpecialisedError("condition")
            is_asked = True
            done = _found(given, items, found)
            return done if isinstance(done, End) else End("yield", done)

        arms = [lambda: End("yield", (Constant(found),)), rest]
        names = [result.name for result in given.op.results] or [""]
        return fork(s, s.dynamic(item), arms if found else arms[::-1], names, given.frame.place or given.op.place)
    return (Constant(not found),)
