"""Loops that are written out, one round after the other, where branches of the program may end a round or the loop.

What comes after such a branch belongs to its other arm.  An ``if`` leaves what the loop carries, and where one of its
arms leaves the loop, also whether it has: the rounds that follow are the other arm of an ``if`` that asks for that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from s2sad.ir.code import Constant, Operand, Operation, Place, Region, Value
from s2sad.transform import branches
from s2sad.transform.containers import one_by_one
from s2sad.transform.known import Abstract, Lazy, NotSpecialisedError, Record, Row, Stream
from s2sad.transform.regions import breaks
from s2sad.transform.simple import truth
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.truths import tested

#: The kind of the end of a round that may have left the loop: the first of its values says whether it has.
EITHER = "either"
#: How many rounds are written out at most.
MOST_ROUNDS = 64
#: How many rounds may end that way, each of which stands inside of the one before.
_MOST_INSIDE = 16
_KINDS = ("break", "continue")
_After = Callable[[Sequence[Abstract]], End]
Names = Sequence[str | None]


def tested_out(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A ``while`` whose test is known in each round, one round after the other."""
    carried = tuple([s.handed(o, frame) for o in op.operands])
    unrolled, frame.unrolled = frame.unrolled, True
    try:
        return _tested_rounds(s, op, frame, 0, 0, carried)
    finally:
        frame.unrolled = unrolled


def _tested_rounds(
    s: Specialiser, op: Operation, frame: Frame, first: int, inside: int, carried: Sequence[Abstract]
) -> Done:
    """The rounds that are left of a ``while``; ``inside`` says in how many others they stand."""
    if inside > _MOST_INSIDE:
        raise NotSpecialisedError("loop")
    test, body, rest = op.regions
    names = names_of(s, op, test.params)
    for number in range(first, MOST_ROUNDS):
        frame.env.update(zip(test.params, carried, strict=True))
        end = s.run(test, frame)
        known = truth(s, tested(s, end.values[0], op, frame)) if end.kind == "yield" else None
        if known is None:
            raise NotSpecialisedError("loop")
        s.used = True
        if not known:
            end = s.run(rest, frame)
            return end.values if end.kind == "yield" else end
        end = round_of(s, body, frame, names)
        if end.left:
            raise NotSpecialisedError("generator")
        if end.kind == EITHER:
            following = functools.partial(_tested_rounds, s, op, frame, number + 1, inside + 1)
            return _rest(s, end, following, names, frame.place or op.place)
        if end.kind == "break":
            return end.values
        if end.kind != "continue":
            return end
        carried = end.values
    raise NotSpecialisedError("loop")


def written_out(s: Specialiser, op: Operation, iterable: Abstract | list[Abstract], frame: Frame) -> Done:
    """A loop over known items, one after the other."""
    s.used = True
    carried = tuple([s.handed(o, frame) for o in op.operands[1:]])
    unrolled, frame.unrolled = frame.unrolled, True
    try:
        return _rounds(s, op, iterable, frame, 0, 0, carried)
    finally:
        frame.unrolled = unrolled


def _rounds(
    s: Specialiser,
    op: Operation,
    iterable: Abstract | list[Abstract],
    frame: Frame,
    first: int,
    inside: int,
    carried: Sequence[Abstract],
) -> Done:
    """The rounds of a loop over known items from one on; ``inside`` says in how many others they stand."""
    if inside > _MOST_INSIDE:
        raise NotSpecialisedError("loop")
    body, rest = op.regions
    item, *params = body.params
    place, names = frame.place or op.place, names_of(s, op, params)
    row = iterable[first:] if isinstance(iterable, list) else one_by_one(s, iterable, first)
    for number, value in enumerate(row, first):
        if number == MOST_ROUNDS:
            raise NotSpecialisedError("loop")
        frame.env[item] = s.named(value, item.name, place)
        frame.env.update(zip(params, carried, strict=True))
        end = round_of(s, body, frame, names)
        if end.left:
            raise NotSpecialisedError("generator")
        if end.kind == EITHER:
            _check_own(s, iterable, op.operands[0], frame)
            following = functools.partial(_rounds, s, op, iterable, frame, number + 1, inside + 1)
            return _rest(s, end, following, names, place, iterable)
        if end.kind == "break":
            return end.values
        if end.kind != "continue":
            return end
        carried = end.values
    frame.env.update(zip(rest.params, carried, strict=True))
    end = s.run(rest, frame)
    return end.values if end.kind == "yield" else end


def names_of(s: Specialiser, op: Operation, params: Sequence[Value]) -> list[str | None]:
    """The names of what a loop carries, None for what nobody reads."""
    groups = zip(params, *([op.results] if op.results else []), op.regions[-1].params or params, strict=True)
    return [group[0].name if any(value in s.live for value in group) else None for group in groups]


def round_of(s: Specialiser, body: Region, frame: Frame, names: Names) -> End:
    """Run one round; ``names`` are those of what the loop carries, None for what nobody reads."""
    return _Round(s, frame, names, breaks(body)).part(body.operations, 0, body, None)


def _rest(
    s: Specialiser,
    end: End,
    others: Callable[[Sequence[Abstract]], Done],
    names: Names,
    place: Place | None,
    iterable: Any = None,
) -> Done:
    """What a loop leaves of which one round may have been the last; ``others`` runs those that follow."""
    left, *values = end.values

    def ended(done: Done) -> End:
        if isinstance(iterable, Stream) and not iterable.is_view:
            # How far it has come nobody asks.
            s.state[iterable.cell] = Row(())
        return done if isinstance(done, End) else End("yield", done or ())

    arms = [lambda: ended(tuple(values)), lambda: ended(others(values))]
    return branches.fork(s, s.dynamic(left), arms, names, place)


def _check_own(s: Specialiser, iterable: Any, operand: Operand, frame: Frame) -> None:
    """Check that nobody sees how far a loop has come in what it runs through.

    Raises:
        NotSpecialisedError: if somebody may.
    """
    if isinstance(iterable, Lazy):
        raise NotSpecialisedError("iterator")
    if isinstance(iterable, Stream) and not iterable.is_view:
        held = [v for v in (*frame.env.values(), *s.state.values()) if v is iterable]
        if len(held) > 1 or (isinstance(operand, Value) and operand.name):
            raise NotSpecialisedError("iterator")


class _Round:
    """One round of a loop; ``may_leave`` says whether a branch may leave the loop."""

    def __init__(self, s: Specialiser, frame: Frame, names: Names, may_leave: bool) -> None:
        self.s, self.frame, self.may_leave = s, frame, may_leave
        self.names = ["left", *names] if may_leave else list(names)

    def part(self, operations: Sequence[Operation], at: int, region: Region, after: _After | None) -> End:
        """Run the rest of a region, and what comes after it where it yields."""
        for number in range(at, len(operations)):
            op = operations[number]
            if op.kind == "if" and any(breaks(part, _KINDS) for part in op.regions):
                return self.branch(op, functools.partial(self.go_on, op, operations, number + 1, region, after))
            end = self.s.operation(op, self.frame)
            if end is not None:
                return end
        end = self.s.ended(region.exit, self.frame)
        return after(end.values) if end.kind == "yield" and after is not None else end

    def go_on(
        self,
        op: Operation,
        operations: Sequence[Operation],
        at: int,
        region: Region,
        after: _After | None,
        values: Sequence[Abstract],
    ) -> End:
        """Run what comes after an ``if`` that left some values."""
        self.frame.env.update(zip(op.results, values, strict=True))
        return self.part(operations, at, region, after)

    def branch(self, op: Operation, after: _After) -> End:
        """Run an ``if`` of which an arm ends the round, and what comes after it."""
        s = self.s
        test = tested(s, s.get(op.operands[0], self.frame), op, self.frame)
        known = truth(s, test)
        if known is not None:
            part = op.regions[0 if known else 1]
            return self.part(part.operations, 0, part, after)
        if isinstance(test, Record):
            raise NotSpecialisedError("truth")
        place = self.frame.place or op.place
        arms = [functools.partial(self.arm, part, after) for part in op.regions]
        done = branches.fork(s, s.dynamic(test), arms, self.names, place)
        return done if isinstance(done, End) else End(EITHER if self.may_leave else "continue", done, place)

    def arm(self, part: Region, after: _After) -> End:
        """An arm of an ``if``, which leaves what the loop carries, and whether it has left the loop."""
        end = self.part(part.operations, 0, part, after)
        if end.left:
            raise NotSpecialisedError("generator")
        if end.kind not in (*_KINDS, EITHER):
            return end
        has_left = (Constant(end.kind == "break"),) if self.may_leave and end.kind != EITHER else ()
        values = (*has_left, *end.values)
        if len(values) != len(self.names):
            raise NotSpecialisedError("loop")
        return End("yield", values, end.place)
