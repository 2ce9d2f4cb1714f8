"""``a and b`` and ``a or b``: what is known of the first decides, or both stay one expression, or a branch."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from s2sad.ir.code import Constant, Operation, Region, Value
from s2sad.transform import choices
from s2sad.transform.branches import Arm, fork
from s2sad.transform.known import Abstract, Choice, Items, Known, NotSpecialisedError, is_static
from s2sad.transform.regions import is_expression
from s2sad.transform.simple import truth
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.tables import table
from s2sad.transform.truths import tested


def connected(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``a and b``, ``a or b``."""
    return _connected(s, op, s.get(op.operands[0], frame), list(op.regions), frame)


def _connected(s: Specialiser, op: Operation, value: Abstract, rest: list[Region], frame: Frame) -> Done:
    is_tested = op.result in s.tested
    while rest and (known := truth(s, value)) is not None:
        if known == (op.kind == "or"):
            return (value,)
        end = s.run(rest.pop(0), frame)
        if end.kind != "yield":
            return end
        (value,) = end.values
    if not rest:
        return (value,)
    value = tested(s, value, op, frame) if is_tested else value
    if isinstance(value, Choice) and is_tested:
        value = choices.asked(s, value, functools.partial(truth, s), frame.place or op.place)
    # A container of which nobody knows whether it is empty is an object of the new program.
    if is_static(value) and not isinstance(value, (Known, Items)):
        raise NotSpecialisedError("truth")
    is_rows = table(s, value) is not None
    first = s.dynamic(tested(s, value, op, frame) if is_rows else value)
    place = frame.place or op.place
    regions = None if is_rows else _expressions(s, op, rest, frame, is_tested)
    if regions is not None:
        result = Value(op.result.name)
        s.out.append(Operation(op.kind, (first,), (result,), op.data, regions, place))
        return (result,)

    def others() -> End:
        end = s.run(rest[0], frame)
        if end.kind != "yield":
            return end
        done = _connected(s, op, end.values[0], rest[1:], frame)
        if isinstance(done, tuple) and is_tested:
            return End("yield", tuple([_as_test(s, value, op, frame) for value in done]))
        return done if isinstance(done, End) else End("yield", done or ())

    arms: list[Arm] = [others, lambda: End("yield", (value if is_rows else first,))]
    return fork(s, first, arms if op.kind == "and" else arms[::-1], [op.result.name], place)


def _as_test(s: Specialiser, value: Abstract, op: Operation, frame: Frame) -> Abstract:
    """A value of which nothing matters but whether it counts as true, as a constant if that is known."""
    known = truth(s, value) if is_static(value) else None
    return tested(s, value, op, frame) if known is None else Constant(known)


def _expressions(
    s: Specialiser, op: Operation, rest: Sequence[Region], frame: Frame, is_tested: bool
) -> tuple[Region, ...] | None:
    """Regions of an operation that are expressions and change no cell; None if one is not."""
    made = []
    for region in rest:
        before = s.state
        with s.apart() as out:
            s.state.written = set()
            end = s.run(region, frame)
            if end.kind == "yield" and is_tested:
                end = replace(end, values=tuple([_as_test(s, value, op, frame) for value in end.values]))
            if end.kind != "yield" or (is_static(end.values[0]) and not isinstance(end.values[0], Known)):
                return None
            if s.state.wrote(before):
                return None
            exit = s.exit(end)
        if not is_expression(out, exit):
            return None
        made.append(Region((), tuple(out), exit))
    return tuple(made)
