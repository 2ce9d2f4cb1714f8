"""Values that are one of two by a condition: an object or None, or one of two objects.

hit = None                      hit is sphere if t is true, else None
if t: hit = sphere
if hit is not None:             if t:
    y = hit.radius                  y = radius
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING

from s2sad.ir.code import Constant, Exit, Operand, Operation, Place, Region, Value
from s2sad.transform import presence, references
from s2sad.transform.known import Abstract, Choice, Closure, Known, Method, NotSpecialisedError, Partial, Record

if TYPE_CHECKING:
    from s2sad.transform.specialiser import Specialiser


def is_none(value: Abstract) -> bool:
    """Whether a value is the constant None."""
    return isinstance(value, Constant) and value.value is None


def is_object_or_none(value: Abstract) -> bool:
    """Whether a value is an object or function, None, or one of such."""
    if isinstance(value, Choice):
        return is_object_or_none(value.then) and is_object_or_none(value.orelse)
    is_function = isinstance(value, Known) and type(value.value) is types.FunctionType
    return is_function or isinstance(value, (Record, Closure, Method, Partial)) or is_none(value)


def asked(
    s: Specialiser, value: Abstract, question: Callable[[Abstract], bool | Value | None], place: Place | None
) -> Abstract:
    """The answer to a question about a value, of which each side answers it.

    Raises:
        NotSpecialisedError: where a side does not.
    """
    if not isinstance(value, Choice):
        answer = question(value)
        if answer is None:
            raise NotSpecialisedError("truth")
        return answer if isinstance(answer, Value) else Constant(answer)
    if value in s.stand_ins.chosen:
        return references.asked(s, s.stand_ins.chosen[value], question)
    then, orelse = [asked(s, side, question, place) for side in (value.then, value.orelse)]
    if isinstance(then, Constant) and isinstance(orelse, Constant):
        if then.value is orelse.value:
            return then
        return value.test if then.value else s.emit("unary", (value.test,), "not", place=place)
    made = Value()
    sides = [Region((), (), Exit("yield", (s.dynamic(answer),))) for answer in (then, orelse)]
    s.write(Operation("choose", (value.test,), (made,), None, tuple(sides), place))
    return made


def answered(s: Specialiser, test: Operand, holds: bool) -> dict[Operand, bool]:
    """What is known of conditions where one holds, or does not."""
    found = {test: holds}
    for op in reversed(s.out):
        if test in op.results and op.kind == "unary" and op.data == "not":
            (test,), holds = op.operands, not holds
            found[test] = holds
    return found


def side(s: Specialiser, value: Abstract) -> Abstract:
    """The side of a choice that it is where its condition has been asked; the choice itself elsewhere."""
    while isinstance(value, Choice) and value.test in s.relied.answers:
        value = value.then if s.relied.answers[value.test] else value.orelse
    return value


def of_none(s: Specialiser, name: str, place: Place | None) -> Value:
    """The exception of reading an attribute of None."""
    return _exception(s, AttributeError, f"'NoneType' object has no attribute {name!r}", place)


def none_called(s: Specialiser, place: Place | None) -> Value:
    """The exception of calling None."""
    return _exception(s, TypeError, "'NoneType' object is not callable", place)


def _exception(s: Specialiser, error: type[Exception], text: str, place: Place | None) -> Value:
    if s.expression:
        raise NotSpecialisedError("expression")
    return presence.exception(s, error, text, place)
