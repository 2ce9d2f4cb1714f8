"""Where names of functions are read: before the arguments that are computed within the call, and after all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from s2sad.ir.code import Code, Operand, Operation, Region, Value, codes, order, regions_in
from s2sad.transform.regions import STATEMENTS
from s2sad.transform.replace import with_regions


def read_late(code: Code, reads: Collection[Value]) -> Code:
    """A code in which operations that may run at any time stand where they are folded into the one that uses them.

    Args:
        code: A code in which they stand somewhere before that, in the same region.
        reads: The results of these operations: global names and attributes, each used once.

    Example:
        >>> import ast
        >>> from s2sad.backend.python.fold import function
        >>> from s2sad.ir.code import Exit, Parameter
        >>> x, f, t, y = Value("x"), Value(), Value(), Value()
        >>> double = Operation("binary", (x, x), (t,), "+")
        >>> call = Operation("call", (f, t), (y,), ("",))
        >>> body = Region((), (double, Operation("global", (), (f,), "abs"), call), Exit("return", (y,)))
        >>> code = Code("f", "function", (Parameter("x", "positional", x),), body)
        >>> print(ast.unparse(function(read_late(code, {f}))))
        def f(x):
            return abs(x + x)
    """
    uses: Counter[Operand] = Counter()
    for made in codes(code):
        for region in regions_in(made.body):
            uses.update(region.exit.operands)
            for operation in region.operations:
                uses.update(operation.operands)
    if not reads:
        return code

    def placed(region: Region) -> Region:
        out: list[Operation] = []
        held: dict[Value, Operation] = {}
        for operation in region.operations:
            if len(operation.results) == 1 and operation.result in reads and uses[operation.result] == 1:
                held[operation.result] = operation
                continue
            _insert(order(operation), out, held, uses)
            out.append(operation)
        _insert(region.exit.operands, out, held, uses)
        return replace(region, operations=tuple(out))

    return with_regions(code, placed)


def _insert(
    operands: tuple[Operand, ...], out: list[Operation], held: dict[Value, Operation], uses: Counter[Operand]
) -> None:
    """Put the operations held back for some operands where they are folded."""
    at = len(out)
    for operand in reversed(operands):
        if isinstance(operand, Value) and operand in held:
            chain = [held.pop(operand)]
            while chain[0].operands and isinstance(base := chain[0].operands[0], Value) and base in held:
                chain.insert(0, held.pop(base))
            if chain[0].operands:
                # What it is read of may be folded too.
                start = _start(chain[0].operands[0], at, out, uses)
                out[at:at] = chain
                at = start
            else:
                out[at:at] = chain
        else:
            at = _start(operand, at, out, uses)


def _start(operand: Operand, at: int, out: list[Operation], uses: Counter[Operand]) -> int:
    """Where the operations begin that are folded into an operand, and end before a position."""
    last = out[at - 1] if at else None
    if last is None or last.results != (operand,) or last.result.name or uses[operand] != 1 or last.kind in STATEMENTS:
        return at
    at -= 1
    for inside in reversed(order(last)):
        at = _start(inside, at, out, uses)
    return at
