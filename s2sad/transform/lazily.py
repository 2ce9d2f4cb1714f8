"""Iterables that are consumed once: generator expressions, ``map`` and the like, and the items of dicts."""

from __future__ import annotations

from dataclasses import dataclass

from s2sad.ir.code import Code, Exit, Operand, Operation, Region, Value, codes, inner
from s2sad.transform.iterables import is_lazy
from s2sad.transform.unfolding import Writer


@dataclass(frozen=True)
class Rounds:
    """What something lazy goes through, and the region of one round, which is like that of a comprehension."""

    iterable: Operand
    region: Region


def lazy(writer: Writer, operand: Operand, out: list[Operation]) -> Rounds | None:
    """The rounds of something lazy that varied values go through, which is taken away from what stands before."""
    made = writer.whole.made.get(operand) if isinstance(operand, Value) else None
    if made is None or not writer.whole.goes_through(made):
        return None
    if made.kind == "generator":
        return _generator(writer, made, out)
    if made.kind != "call" or not is_lazy(writer, made) or writer.place_of(operand, out) is None:
        return None
    method = writer.whole.made.get(made.operands[0]) if isinstance(made.operands[0], Value) else None
    item = Value("v" if method is not None and method.data in ("values", "items") else "")
    writer.whole.varied.add(item)
    return Rounds(operand, Region((item,), (), Exit("yield", (item,))))


def _generator(writer: Writer, made: Operation, out: list[Operation]) -> Rounds | None:
    code: Code = made.data
    if len(code.body.operations) != 1 or _may_stop(writer, code) or code.body.operations[0].awaits:
        return None
    (each,) = code.body.operations
    stored = {op.data for op in inner(code.body) if op.kind == "store"}
    if each.kind != "each" or not stored.issuperset(code.variables) or writer.taken(made.result, out) is None:
        return None
    return Rounds(made.operands[0], each.regions[0])


def _may_stop(writer: Writer, code: Code) -> bool:
    """Whether a generator expression calls ``next``: a `StopIteration` is another error outside of it."""
    found = [op for part in codes(code) for op in inner(part.body) if op.kind == "global"]
    return any(op.data == "next" for op in found)


def named(writer: Writer, result: Value) -> Value:
    """A value with a name in place of the result of an operation: what loops carry needs one."""
    named = Value(result.name or "t")
    writer.whole.by[result] = named
    return named
