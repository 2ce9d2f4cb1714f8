"""Attributes of one of several objects, by conditions: each is read or set of the object that it is.

o.v = y             if t:
                        a_v = y
                    else:
                        b_v = y
"""

from __future__ import annotations

import functools

from s2sad.ir.code import NONE, Operation, Value
from s2sad.transform import choices
from s2sad.transform.branches import fork
from s2sad.transform.containers import computed
from s2sad.transform.known import Abstract, Choice, Closure, Method, NotSpecialisedError, Record
from s2sad.transform.specialiser import Done, End, Frame, Specialiser


def attribute(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An attribute of one of two objects, read or set."""
    base = s.get(op.operands[0], frame)
    if not isinstance(base, Choice):
        return None

    def arm(side: Abstract) -> End:
        if choices.is_none(side):
            raised = choices.of_none(s, op.data, frame.place or op.place)
            return End("raise", (raised,), frame.place or op.place)
        operands, results = tuple([Value() for _ in op.operands]), tuple([Value() for _ in op.results])
        frame.env.update(zip(operands, (side, *others), strict=True))
        end = s.operation(Operation(op.kind, operands, results, op.data, (), op.place), frame)
        return end or End("yield", tuple([s.get(result, frame) for result in results]))

    others = [s.get(operand, frame) for operand in op.operands[1:]]
    if op.kind == "attribute" and (found := _of_each(s, base, op, frame)) is not None:
        return (found,)
    arms = [functools.partial(arm, side) for side in (base.then, base.orelse)]
    return fork(s, base.test, arms, [result.name for result in op.results], frame.place or op.place)


def _of_each(s: Specialiser, value: Abstract, op: Operation, frame: Frame) -> Abstract | None:
    """An attribute of each of several objects as one value by the same conditions; None where reading it does more."""
    if isinstance(value, Choice):
        then = _of_each(s, value.then, op, frame)
        orelse = None if then is None else _of_each(s, value.orelse, op, frame)
        return None if then is None or orelse is None else Choice(value.test, then, orelse)
    if not isinstance(value, Record):
        return None
    before = s.mark()
    try:
        found = computed(s, op.kind, op.data, (value,), op, frame)
    except NotSpecialisedError:
        found = NONE
    if isinstance(found, (Method, Closure)) and len(s.out) == len(before[0]) and s.state == before[1]:
        return found
    s.back(before)
    return None
