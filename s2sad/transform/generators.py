"""Specialisation of generators: what consumes one goes where it yields.

A generator of the program runs when it is run through.  Where that is done at once, by a ``for`` or by what makes a
list, both are one program: the body of the generator, with what the consumer does to an item in place of each
``yield``.  What the consumer carries from one item to the next is in cells, so that the loops of the
generator carry it.
"""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable, Mapping, Sequence

from s2sad.ir.code import NONE, UNSET, Code, Constant, Exit, Operation, Region, Value, inner
from s2sad.runtime.classes import static_member
from s2sad.transform import branches
from s2sad.transform.containers import computed, elements, is_known, items_of, one_by_one, performed
from s2sad.transform.finals import handlers_at
from s2sad.transform.iteration import iterated
from s2sad.transform.known import (
    Abstract,
    Cell,
    Generator,
    Items,
    Known,
    Method,
    NotSpecialisedError,
    Record,
    Row,
    is_static,
)
from s2sad.transform.lifting import Enter, Start
from s2sad.transform.regions import breaks, leaves
from s2sad.transform.simple import truth
from s2sad.transform.specialiser import Consumer, Done, End, Frame, Specialiser

#: How deep generators run others.
DEEPEST = 20
#: What a loop of a generator ends with that is left for good: nobody reads what it carries.
LEFT = End("break", left=True)
#: Operations in which an exception of the consumer would be caught that is none of the generator's.
_CATCHING = ("try", "with")

#: Runs a generator with a consumer, of which the second argument says whether it is a ``with`` around what yields.
Run = Callable[..., End | None]


def new(s: Specialiser, run: Run, is_one_loop: bool, may_catch: bool = False) -> Generator:
    """A generator that has not begun."""
    cell = Cell("items")
    s.state[cell] = NONE
    return Generator(run, cell, is_one_loop, may_catch)


def started(
    s: Specialiser, start: Start, bound: Mapping[str, Abstract], op: Operation, frame: Frame, enter: Enter
) -> Generator:
    """What the call of a generator function gives; its body runs when that is run through."""
    code = start.code
    place = frame.place or op.place if start.home.source.file != s.making.home.source.file else None

    def run(consumer: Consumer, around: bool = False) -> End | None:
        if s.active.count(code) >= DEEPEST or not (yields_once(code) if around else _is_followed(code)):
            raise NotSpecialisedError("generator")
        inside = Frame(dict(start.env), start.home, place, start.owner, consumer=consumer)
        inside.unrolled = True
        enter(s, code, bound, inside, op)
        s.active.append(code)
        try:
            for operation in code.body.operations:
                end = s.operation(operation, inside)
                if end is not None:
                    return end
        finally:
            s.active.pop()
        return None

    return new(s, run, _is_one_loop(code.body), _may_catch(code))


def _yields(region: Region) -> bool:
    return any(o.kind in ("yield", "yield_from") for o in inner(region))


def _may_catch(code: Code) -> bool:
    """Whether a generator may go on after an exception that is raised where it yields."""
    around = [o for o in inner(code.body) if o.kind in _CATCHING and _yields(o.regions[0])]
    if any(o.kind == "with" or (o.data.has_finally and leaves(o.regions[-1])) for o in around):
        return True
    handlers = [o.regions[at] for o in around for at in handlers_at(o.data)]
    return any(handler.exit.kind not in ("raise", "never") or leaves(handler) for handler in handlers)


def _is_one_loop(body: Region) -> bool:
    """Whether a generator yields in the rounds of one loop alone, and does nothing after it."""
    *_, last = body.operations or (None,)
    if (
        last is None
        or last.kind not in ("for", "while")
        or any(o.kind in ("yield", "yield_from") for o in body.operations)
    ):
        return False
    if any(_yields(part) for o in body.operations[:-1] for part in o.regions):
        return False
    *rounds, rest = last.regions
    inside = [o for part in rounds for o in inner(part)]
    if rest.operations or any(o.kind == "yield_from" for o in inside):
        return False
    return not any(_yields(part) for o in inside if o.kind in ("for", "while") for part in o.regions)


def _is_followed(code: Code) -> bool:
    """Whether a generator yields outside of ``try`` and ``with``, and ends at its end."""

    caught = any(any(map(_yields, o.regions)) for o in inner(code.body) if o.kind in _CATCHING)
    return not (caught or code.awaits) and code.body.exit.kind in ("return", "never")


def yields_once(code: Code) -> bool:
    """Whether a generator yields once on each way through it, unless it raises, and ends at its end."""

    def times(region: Region) -> float:
        return sum(map(times_in, region.operations))

    def times_in(op: Operation) -> float:
        first, *others = map(times, op.regions) if op.regions else (0.0,)
        if op.kind == "if":
            ways = {times(part) for part in op.regions if part.exit.kind not in ("raise", "never")} or {0.0}
            return ways.pop() if len(ways) == 1 else math.inf
        if any(others) or op.kind == "yield_from" or (first and op.kind not in ("try", "with")):
            return math.inf
        return first + (op.kind == "yield")

    return times(code.body) == 1 and not code.awaits and code.body.exit.kind in ("return", "never")


def yielded(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``yield value``, which does with the value what the consumer does."""
    if frame.consumer is None:
        return None
    if s.expression:
        raise NotSpecialisedError("expression")
    end = frame.consumer(s.get(op.operands[0], frame) if op.operands else NONE, frame)
    return (NONE,) * len(op.results) if end is None else end


def yielded_from(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``yield from`` of another generator, or of known items."""
    if frame.consumer is None:
        return None
    value, consumer = s.get(op.operands[0], frame), frame.consumer
    if any(result in s.live for result in op.results):
        # What the other generator returns.
        raise NotSpecialisedError("generator")
    if isinstance(value, Generator):
        end = run(s, value, consumer)
        return (NONE,) * len(op.results) if end is None else end
    if not is_known(s, value) and elements(s, value) is None:
        raise NotSpecialisedError("generator")
    for item in one_by_one(s, value):
        end = consumer(item, frame)
        if end is not None:
            return end
    return (NONE,) * len(op.results)


def run(s: Specialiser, generator: Generator, consumer: Consumer, around: bool = False) -> End | None:
    """Run a generator to its end; how the region ends if it does not come there.

    One that is run ``around`` a ``with`` is told of what is raised where it yields.
    """
    if s.state.get(generator.cell) is not NONE:
        raise NotSpecialisedError("iterator")
    if s.expression:
        raise NotSpecialisedError("expression")
    s.used = True
    s.state[generator.cell] = UNSET
    end: End | None = generator.run(consumer, True) if around else generator.run(consumer)
    return end


# --- consumers


def for_loop(s: Specialiser, op: Operation, generator: Generator, frame: Frame) -> Done:
    """A loop over a generator."""
    body, rest = op.regions
    if breaks(body) and (rest.operations or not generator.is_one_loop):
        raise NotSpecialisedError("generator")
    rounds = _Rounds(s, op, frame)
    end = run(s, generator, rounds.each)
    if end is not None:
        return end
    frame.env.update(zip(rest.params, rounds.carried(), strict=True))
    end = s.run(rest, frame)
    return end.values if end.kind == "yield" else end


class _Rounds:
    """The rounds of a loop over a generator, and the cells in which is what they carry."""

    def __init__(self, s: Specialiser, op: Operation, frame: Frame) -> None:
        self.s, self.frame = s, frame
        self.body, rest = op.regions
        self.place = frame.place or op.place
        self.item, *self.params = self.body.params
        groups = zip(self.params, rest.params, op.results or self.params, strict=True)
        #: What nobody reads is carried as a variable without value.
        self.read = [any(value in s.live for value in group) for group in groups]
        self.cells = [Cell(param.name) for param in self.params]
        self.carry([s.handed(operand, frame) for operand in op.operands[1:]])

    def carried(self) -> list[Abstract]:
        return [self.s.state[cell] for cell in self.cells]

    def carry(self, values: Sequence[Abstract]) -> None:
        for cell, value, read in zip(self.cells, values, self.read, strict=True):
            self.s.state[cell] = value if read else UNSET

    def each(self, value: Abstract, inside: Frame) -> End | None:
        """One round, with an item that the generator yields in a frame."""
        s, frame = self.s, self.frame

        around = s.loops[-1] if s.loops else None

        def leave(end: End) -> Exit:
            if around is None or not end.left:
                raise NotSpecialisedError("generator")
            return around(end)

        frame.env[self.item] = s.named(value, self.item.name, self.place)
        frame.env.update(zip(self.params, self.carried(), strict=True))
        unrolled, frame.unrolled = frame.unrolled, False
        s.loops.append(leave)
        try:
            end = self.rest(self.body, 0, inside, lambda values: End("yield"))
        finally:
            s.loops.pop()
            frame.unrolled = unrolled
        return None if end.kind == "yield" else end

    def rest(self, region: Region, at: int, inside: Frame, after: Callable[[Sequence[Abstract]], End]) -> End:
        """Run the rest of a round, from one operation of a region on; ``after`` is what comes after the region.

        What comes after an ``if`` of which an arm ends the round belongs to the other arm.
        """
        s, frame = self.s, self.frame
        for number in range(at, len(region.operations)):
            op = region.operations[number]
            if op.kind == "if" and any(breaks(part, ("break", "continue")) for part in op.regions):
                return self.forked(op, inside, functools.partial(self.go_on, op, region, number + 1, inside, after))
            end = s.operation(op, frame)
            if end is not None:
                # The ``else`` of a loop inside may end the round.
                is_own = end.kind in ("continue", "break") and not end.left
                return self.ended(end.kind, end.values, inside) if is_own else end
        values = [s.handed(o, frame) for o in region.exit.operands]
        if region.exit.kind == "yield":
            return after(values)
        if region.exit.kind in ("continue", "break"):
            return self.ended(region.exit.kind, values, inside)
        return s.ended(region.exit, frame)

    def ended(self, kind: str, values: Sequence[Abstract], inside: Frame) -> End:
        """How a round ends by ``continue`` or ``break`` that hand on some values."""
        if kind == "break" and inside.unrolled:
            raise NotSpecialisedError("generator")
        self.carry(values)
        return End("yield") if kind == "continue" else LEFT

    def go_on(
        self,
        op: Operation,
        region: Region,
        at: int,
        inside: Frame,
        after: Callable[[Sequence[Abstract]], End],
        values: Sequence[Abstract],
    ) -> End:
        """Run what comes after an ``if`` that left some values."""
        self.frame.env.update(zip(op.results, values, strict=True))
        return self.rest(region, at, inside, after)

    def forked(self, op: Operation, inside: Frame, after: Callable[[Sequence[Abstract]], End]) -> End:
        """An ``if`` of which an arm ends the round."""
        s, frame = self.s, self.frame
        arms = [functools.partial(self.rest, part, 0, inside, after) for part in op.regions]
        test = s.get(op.operands[0], frame)
        known = truth(s, test)
        if known is not None:
            return arms[0 if known else 1]()
        if is_static(test) and not isinstance(test, Known):
            raise NotSpecialisedError("truth")
        done = branches.fork(s, s.dynamic(test), arms, [], frame.place or op.place)
        return done if isinstance(done, End) else End("yield")


def listed(s: Specialiser, generator: Generator, op: Operation, frame: Frame) -> Items:
    """``list(generator)``."""
    items = items_of(s, [])

    def each(value: Abstract, inside: Frame) -> End | None:
        computed(s, "call", ("",), (Method(Known(list.append), items), value), op, frame)
        return None

    if run(s, generator, each) is not None:
        raise NotSpecialisedError("generator")
    return items


# --- generators over generators


def over(s: Specialiser, region: Region, generator: Generator, frame: Frame) -> Generator:
    """A generator expression over a generator; ``region`` is its round."""

    def rounds(region: Region, consumer: Consumer, inside: Frame) -> End | None:
        for op in region.operations:
            if op.kind == "each":
                raise NotSpecialisedError("each")
            if op.kind != "only":
                if s.operation(op, frame) is not None:
                    raise NotSpecialisedError("end")
                continue
            test = s.get(op.operands[0], frame)
            known = truth(s, test)
            if known is None:
                part = op.regions[0]

                def kept(part: Region = part) -> End:
                    return rounds(part, consumer, inside) or End("yield", ())

                branches.fork(s, s.dynamic(test), [kept, lambda: End("yield", ())], [], frame.place or op.place)
            elif known and (end := rounds(op.regions[0], consumer, inside)) is not None:
                return end
        if not region.exit.operands:
            return None
        (element,) = [s.get(o, frame) for o in region.exit.operands]
        return consumer(element, inside)

    def begin(consumer: Consumer) -> End | None:
        def each(value: Abstract, inside: Frame) -> End | None:
            frame.env[region.params[0]] = value
            return rounds(region, consumer, inside)

        return run(s, generator, each)

    return new(s, begin, generator.is_one_loop)


def counted(s: Specialiser, generator: Generator, start: Abstract, op: Operation, frame: Frame) -> Generator:
    """``enumerate(generator)``."""
    cell = Cell("i")

    def begin(consumer: Consumer) -> End | None:
        s.state[cell] = start

        def each(value: Abstract, inside: Frame) -> End | None:
            number = s.state[cell]
            s.state[cell] = computed(s, "binary", "+", (number, Constant(1)), op, frame)
            return consumer(Row((number, value)), inside)

        return run(s, generator, each)

    return new(s, begin, generator.is_one_loop)


def mapped(s: Specialiser, function: Callable[[Abstract], Abstract], generator: Generator) -> Generator:
    """``map(function, generator)``."""

    def begin(consumer: Consumer) -> End | None:
        return run(s, generator, lambda value, inside: consumer(function(value), inside))

    return new(s, begin, generator.is_one_loop)


def _iterated(s: Specialiser, op: Operation, frame: Frame) -> Generator | None:
    """The generator that a comprehension runs through, which a method of an object may make."""
    value = s.get(op.operands[0], frame)
    if isinstance(value, Record) and is_generator(static_member(value.cls, "__iter__")):
        value = iterated(s, value, op, frame)
    return value if isinstance(value, Generator) else None


def is_generator(function: object) -> bool:
    """Whether something is a generator function."""
    return isinstance(function, types.FunctionType) and bool(function.__code__.co_flags & inspect.CO_GENERATOR)


def comprehension(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A comprehension over a generator: the list of what its rounds make."""
    iterable = _iterated(s, op, frame)
    if iterable is None:
        return None
    if op.awaits or op.data != "list":
        raise NotSpecialisedError("Generator")
    return (listed(s, over(s, op.regions[0], iterable, frame), op, frame),)


def expression(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A generator expression over a generator."""
    iterable = _iterated(s, op, frame)
    if iterable is None:
        return None
    (each,) = op.data.body.operations
    return (over(s, each.regions[0], iterable, frame),)


def unpack(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``first, *others = generator``."""
    value = s.get(op.operands[0], frame)
    if not isinstance(value, Generator):
        return None
    items = listed(s, value, op, frame)
    if op.data[1] is None and s.content(items) is None:
        # One that never ends is asked for no more than that.
        raise NotSpecialisedError("generator")
    results = tuple([Value(r.name) for r in op.results])
    performed(s, "unpack", op.data, (items,), op, frame, results)
    return tuple([s.get(r, frame) for r in results])
