"""Rewrite conditional expressions that have become several statements as ``if`` statements."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from s2sad.ir.code import Exit, Operand, Operation, Region, Value
from s2sad.transform.foldable import is_expression
from s2sad.transform.unfolding import Writer

#: Writes what a region does; the value that it leaves.
_Arm = Callable[[list[Operation]], Operand]


def conditional(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """Write a conditional expression, ``and``, ``or`` or chained comparison as ``if`` where it can't stay one."""
    regions = [writer.region(region, loops) for region in op.regions]
    if all(a is b for a, b in zip(regions, op.regions, strict=True)) and all(map(is_expression, regions)):
        return False
    if all(map(is_expression, regions)):
        out.append(dataclasses.replace(op, regions=tuple(regions)))
        return True
    later = writer.read_later(out, op.operands)
    result = Value(op.result.name or "t")
    writer.whole.by[op.result] = result
    made = _Conditional(writer, op)
    if op.kind == "choose":
        then, other = regions
        arms: list[_Arm] = [lambda out: made.region(then, out), lambda out: made.region(other, out)]
        made.write(op.operands[0], arms, result, out)
    elif op.kind == "chain":
        first = writer.whole.new("compare", op.operands, op.data[0], op.place)
        out.append(first)
        made.name(first.result, result, out)
        made.chain(first.result, op.operands[1], list(zip(op.data[1:], regions, strict=True)), result, out)
    else:
        made.connected(op.operands[0], regions, result, out)
    out += later
    return True


class _Conditional:
    def __init__(self, writer: Writer, op: Operation) -> None:
        self.writer = writer
        self.op = op

    def region(self, region: Region, out: list[Operation]) -> Operand:
        out += region.operations
        return region.exit.operands[0]

    def connected(self, left: Operand, rest: list[Region], result: Value, out: list[Operation]) -> None:
        """``left and ...``, ``left or ...``."""

        def others(inside: list[Operation]) -> Operand:
            value = self.region(rest[0], inside)
            if len(rest) == 1:
                return value
            self.name(value, result, inside)
            final = Value(result.name)
            self.connected(value, rest[1:], final, inside)
            return final

        arms: list[_Arm] = [others, lambda inside: left]
        self.write(left, arms if self.op.kind == "and" else arms[::-1], result, out)

    def chain(
        self, tested: Operand, left: Operand, rest: list[tuple[str, Region]], result: Value, out: list[Operation]
    ) -> None:
        """The rest of a chained comparison, after a comparison whose right operand is ``left``."""

        def others(inside: list[Operation]) -> Operand:
            sign, region = rest[0]
            right = self.region(region, inside)
            made = self.writer.whole.new("compare", (left, right), sign, self.op.place)
            inside.append(made)
            if len(rest) == 1:
                return made.result
            self.name(made.result, result, inside)
            final = Value(result.name)
            self.chain(made.result, right, rest[1:], final, inside)
            return final

        self.write(tested, [others, lambda inside: tested], result, out)

    def write(self, test: Operand, arms: list[_Arm], result: Value, out: list[Operation]) -> None:
        regions = []
        for arm in arms:
            inside: list[Operation] = []
            value = arm(inside)
            self.name(value, result, inside)
            regions.append(Region((), tuple(inside), Exit("yield", (value,))))
        out.append(Operation("if", (test,), (result,), None, tuple(regions), self.op.place))

    def name(self, value: Operand, result: Value, inside: list[Operation]) -> None:
        """Let what has just been computed have the name of the result."""
        if inside and inside[-1].results == (value,) and isinstance(value, Value) and not value.name:
            self.writer.whole.by[value] = Value(result.name)
