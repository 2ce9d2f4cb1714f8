"""Checks that a `Code` is one: values are made once and seen where they are used, exits hand on what is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from s2sad.ir.code import Cases, Code, Definition, Handlers, Operand, Operation, Region, Value, Variable

#: The operations that end in a ``yield`` of one value in all of their regions.
_OF_ONE_VALUE = frozenset(("chain", "and", "or", "choose", "assert"))
_LOOPS = ("for", "while")


class MalformedError(AssertionError):
    """A `Code` that breaks a rule of the representation."""


def verify(code: Code) -> Code:
    """The code itself.

    Raises:
        MalformedError: if it breaks a rule of the representation.

    Example:
        >>> from s2sad.ir.code import Exit
        >>> nobody = Value("x")
        >>> verify(Code("f", "function", (), Region((), (), Exit("return", (nobody,)))))
        Traceback (most recent call last):
        s2sad.ir.verify.MalformedError: f: x is used where it is not made
    """
    _Verifier(code.name).code(code, frozenset())
    return code


class _Verifier:
    def __init__(self, name: str) -> None:
        self.name = name
        self.made: set[Value] = set()
        #: In how many comprehensions, which have variables of their own.
        self.rounds = 0

    def fail(self, what: str) -> None:
        raise MalformedError(f"{self.name}: {what}")

    def make(self, values: Sequence[Value]) -> None:
        for value in values:
            if value in self.made:
                self.fail(f"{value.name or 'a value'} is made twice")
            self.made.add(value)

    def use(self, operands: Sequence[Operand], seen: frozenset[Value]) -> None:
        for operand in operands:
            if isinstance(operand, Value) and operand not in seen:
                self.fail(f"{operand.name or 'a value'} is used where it is not made")

    def code(self, code: Code, around: frozenset[Value]) -> None:
        if not set(code.seen) <= around:
            self.fail(f"{code.name} sees a value that is not made where it stands")
        params = [p.target for p in code.params if isinstance(p.target, Value)]
        self.make(params)
        inside = frozenset(code.variables) | frozenset(code.captures)
        self.region(code.body, frozenset(code.seen) | frozenset(params), inside, None, 0)

    def region(
        self, region: Region, seen: frozenset[Value], memory: frozenset[Variable], carried: int | None, left: int
    ) -> frozenset[Value]:
        """Check a region in a loop that carries so many values and leaves so many; what is seen at its end."""
        self.make(region.params)
        seen |= frozenset(region.params)
        for operation in region.operations:
            self.use(operation.operands, seen)
            if isinstance(operation.data, Variable) and operation.data not in memory and not self.rounds:
                self.fail(f"{operation.data.name} is memory of nobody")
            self.operation(operation, seen, memory, carried, left)
            self.make(operation.results)
            seen |= frozenset(operation.results)
        end = region.exit
        self.use(end.operands, seen)
        wanted = {"continue": carried, "break": left}.get(end.kind, len(end.operands))
        if wanted != len(end.operands):
            self.fail(f"{end.kind} hands on {len(end.operands)} values where {wanted} are asked for")
        return seen

    def operation(
        self, op: Operation, seen: frozenset[Value], memory: frozenset[Variable], carried: int | None, left: int
    ) -> None:
        if isinstance(op.data, Definition):
            self.code(op.data.code, seen)
        elif isinstance(op.data, Code):
            self.code(op.data, seen)
        results = 1 if op.kind in _OF_ONE_VALUE else len(op.results)
        counts = {"for": 2, "while": 3, "if": 2, "with": 1, "choose": 2}
        if op.kind in counts and len(op.regions) != counts[op.kind]:
            self.fail(f"{op.kind} has {len(op.regions)} regions")
        if isinstance(op.data, Handlers):
            wanted = 1 + len(op.data.names) + sum(op.data.classes) + op.data.has_else + op.data.has_finally
            if len(op.regions) != wanted:
                self.fail(f"try has {len(op.regions)} regions, not {wanted}")
        if op.kind == "for":
            body, rest = op.regions
            self.region(body, seen, memory, len(body.params) - 1, results)
            self.region(rest, seen, memory, carried, left)
            self.results(op, rest)
        elif op.kind == "while":
            test, body, rest = op.regions
            seen = self.region(test, seen, memory, None, 0)
            self.region(body, seen, memory, len(test.params), results)
            self.region(rest, seen, memory, carried, left)
            self.results(op, rest)
        else:
            rounds = op.kind in ("comprehension", "each", "only")
            self.rounds += rounds
            for region in op.regions:
                self.region(region, seen, memory, carried, left)
                if not (rounds or isinstance(op.data, (Handlers, Cases))):
                    self.results(op, region)
            self.rounds -= rounds

    def results(self, op: Operation, region: Region) -> None:
        """A region that yields hands on one operand for each result."""
        wanted = 1 if op.kind in _OF_ONE_VALUE else len(op.results)
        if region.exit.kind == "yield" and len(region.exit.operands) != wanted:
            self.fail(f"a region of {op.kind} yields {len(region.exit.operands)} values, not {wanted}")
