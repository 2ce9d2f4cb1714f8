"""Where names of functions are read: before the arguments that are computed within the call, and after all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

from s2sad.ir.code import Code, Definition, Operand, Operation, Region, Value, codes, inner, order
from s2sad.transform.regions import STATEMENTS
from s2sad.transform.replace import with_codes, with_regions


def read_late(code: Code, reads: Collection[Value]) -> Code:
    """A code in which operations that may run at any time stand where they are folded into the one that uses them.

    Args:
        code: A code in which they stand somewhere before that, in the same region.
        reads: The results of these operations, global names and attributes each used once, and of comparisons.

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
    if not reads:
        return code
    uses = Counter(_used(code.body))

    def placed(region: Region) -> Region:
        out: list[Operation] = []
        held: dict[Value, Operation] = {}
        for operation in region.operations:
            is_read = operation.kind != "compare" and len(operation.results) == 1 and operation.result in reads
            if is_read and uses[operation.result] == 1:
                held[operation.result] = operation
                continue
            _insert(order(operation), out, held, uses)
            out.append(operation)
        _insert(region.exit.operands, out, held, uses)
        return replace(region, operations=tuple(out))

    return with_regions(code, placed)


#: Operations of which at most one region runs, after the operands are known.
_BRANCHES = frozenset({"if", "choose", "and", "or"})


def in_arms(code: Code, reads: Collection[Value]) -> Code:
    """A code in which comparisons that may run at any time stand in the one arm of a branch that uses them.

    Args:
        code: A code in which they stand somewhere before that.
        reads: What may be read at any time, the results of such comparisons among it.
    """
    tests = {o.result for made in codes(code) for o in inner(made.body) if o.kind == "compare" and o.result in reads}
    uses = Counter(_used(code.body)) if tests else Counter[Operand]()
    tests = {test for test in tests if uses[test] == 1}

    def placed(region: Region) -> Region:
        out: list[Operation] = []
        held: dict[Operand, Operation] = {}
        for op in region.operations:
            if op.kind == "compare" and op.result in tests:
                held[op.result] = op
                continue
            regions = list(op.regions)
            for at, part in enumerate(op.regions if held and op.kind in _BRANCHES else ()):
                found = tuple([held.pop(o) for o in dict.fromkeys(_used(part)) if o in held])
                regions[at] = replace(part, operations=(*found, *part.operations))
            out += [held.pop(o) for o in dict.fromkeys(_used_by(op)) if o in held]
            out.append(replace(op, regions=tuple(map(placed, regions))) if regions else op)
        return replace(region, operations=(*out, *held.values()))

    return with_codes(code, lambda made: replace(made, body=placed(made.body))) if tests else code


def _used(region: Region) -> Iterator[Operand]:
    """The operands of all that is in a region, and in what is made there."""
    for operation in region.operations:
        yield from _used_by(operation)
    yield from region.exit.operands


def _used_by(operation: Operation) -> Iterator[Operand]:
    yield from operation.operands
    for part in operation.regions:
        yield from _used(part)
    made = operation.data.code if isinstance(operation.data, Definition) else operation.data
    if isinstance(made, Code):
        yield from _used(made.body)


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
