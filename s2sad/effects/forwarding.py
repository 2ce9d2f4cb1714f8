"""What variables that are memory surely hold where they are read: what was stored before, with no other store between.

A variable that is bound in a ``try`` is memory in the whole function.  Outside of the ``try``, what it holds is still
what was stored last:

    try:
        base = TABLE[key]
    except KeyError:
        base = {}
    base = dict(base)
    base["name"] = key          # writes into the copy, not into TABLE
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from s2sad.ir.code import Cases, Code, Handlers, Operand, Operation, Pattern, Region, Variable, inner

_LOOPS = ("for", "while", "comprehension", "each")


def stored_before(code: Code) -> dict[Operation, Operand]:
    """For each reading of a variable of which that is known, the operand that was stored in it last.

    Variables that inner functions see may be bound by these at any time.
    """
    found: dict[Operation, Operand] = {}
    if code.kind != "class":
        _region(code.body, {}, found)
    return found


def _region(region: Region, before: Mapping[Variable, Operand], found: dict[Operation, Operand]) -> None:
    held = dict(before)
    for op in region.operations:
        if op.kind == "load" and op.data in held:
            found[op] = held[op.data]
        elif op.kind == "store" and isinstance(op.data, Variable) and not op.data.captured:
            held[op.data] = op.operands[0]
        elif op.regions or op.kind == "delete":
            bound = {target for inside in (op, *(o for r in op.regions for o in inner(r))) for target in _bound(inside)}
            after = {variable: value for variable, value in held.items() if variable not in bound}
            for number, part in enumerate(op.regions):
                # A loop may have been round before, and a handler may run at any place of what is tried.
                is_first = op.kind not in _LOOPS and (number == 0 or op.kind in ("if", "choose"))
                _region(part, held if is_first else after, found)
            held = after


def _bound(op: Operation) -> Iterable[object]:
    """The variables that an operation itself binds or deletes."""
    if op.kind in ("store", "delete"):
        yield op.data
    elif isinstance(op.data, Handlers):
        yield from op.data.names
    elif isinstance(op.data, Cases):
        for pattern in op.data.patterns:
            yield from targets(pattern)


def targets(pattern: Pattern) -> Iterable[Variable | str]:
    """The variables that a pattern binds."""
    if pattern.target is not None:
        yield pattern.target
    for part in pattern.parts:
        yield from targets(part)
