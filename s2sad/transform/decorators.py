"""Specialisation of functions with decorators."""

from __future__ import annotations

from s2sad.ir.code import Operation
from s2sad.transform import simple
from s2sad.transform.calls import apply
from s2sad.transform.known import Abstract, is_callable
from s2sad.transform.specialiser import Done, Frame, Specialiser


def decorated(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A function with decorators that are known, and called with it."""
    count = op.data.decorators
    made: Abstract = simple.closure(s, op, frame)
    for operand in reversed(op.operands[:count]):
        decorator = s.get(operand, frame)
        if not is_callable(decorator):
            return None
        done = apply(s, decorator, [("", made)], op, frame)
        if not isinstance(done, tuple):
            return None
        (made,) = done
    return (made,)
