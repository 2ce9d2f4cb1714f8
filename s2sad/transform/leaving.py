"""Rounds of loops that are written out, one after the other, where branches of the program end a round or the loop.

What comes after such a branch belongs to its other arm.  An ``if`` leaves what the loop carries, and where one of its
arms leaves the loop, also whether it has: the rounds that follow are the other arm of an ``if`` that asks for that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from s2sad.ir.code import Constant, Operand, Operation, Place, Region, Value
from s2sad.transform import arrays, branches
from s2sad.transform.known import Abstract, Lazy, NotSpecialisedError, Record, Row, Stream
from s2sad.transform.regions import breaks
from s2sad.transform.simple import truth
from s2sad.transform.specialiser import Done, End, Frame, Specialiser

#: The kind of the end of a round that may have left the loop: the first of its values says whether it has.
EITHER = "either"
#: How many rounds may end that way, each of which stands inside of the one before.
MOST_INSIDE = 16
_KINDS = ("break", "continue")
_After = Callable[[Sequence[Abstract]], End]
Names = Sequence[str | None]


def round_of(s: Specialiser, body: Region, frame: Frame, names: Names) -> End:
    """Run one round; ``names`` are those of what the loop carries, None for what nobody reads."""
    return _Round(s, frame, names, breaks(body)).part(body.operations, 0, body, None)


def rest(
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


def check_own(s: Specialiser, iterable: Any, operand: Operand, frame: Frame) -> None:
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
        test = arrays.tested(s, s.get(op.operands[0], self.frame))
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
