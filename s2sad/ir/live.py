"""Which values of a code are used by something else than branches and loops that hand them on for nobody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from s2sad.ir.code import Cases, Code, Operand, Operation, Pattern, Region, Value, Variable, codes


def live(code: Code) -> frozenset[Value]:
    """The values that are used in a code or in what it makes.

    What a branch or loop hands on to one of its results, or a loop to its next round, is used if that is.

    Example:
        >>> import gast
        >>> from s2sad.frontend.lower_statements import lower_function
        >>> source = "def f(x):\\n    for i in x:\\n        y = i\\n        print(y)"
        >>> code = lower_function(gast.parse(source).body[0])
        >>> loop = code.body.operations[-1]
        >>> live(code).intersection(loop.results), [v.name for v in loop.regions[0].params if v in live(code)]
        (frozenset(), ['i'])
    """
    uses = _uses(code)
    found = dict.fromkeys(uses.used)
    pending = list(found)
    for value in pending:
        new = [o for o in uses.handed.get(value, ()) if o not in found]
        found.update(dict.fromkeys(new))
        pending += new
    return frozenset(found)


def handed(code: Code) -> dict[Value, list[Value]]:
    """What branches and loops hand on to each of their results, and loops to what they carry."""
    return _uses(code).handed


def _uses(code: Code) -> _Uses:
    uses = _Uses()
    for made in codes(code):
        uses.region(made.body, (), ())
    return uses


class _Uses:
    """``used``: what operations use; ``handed``: what is handed on to a value."""

    def __init__(self) -> None:
        self.used: dict[Value, None] = {}
        self.handed: dict[Value, list[Value]] = {}

    def use(self, operands: Iterable[object]) -> None:
        self.used.update(dict.fromkeys(o for o in operands if isinstance(o, Value)))

    def hand(self, targets: Sequence[Value], operands: Sequence[Operand]) -> None:
        for target, operand in zip(targets, operands, strict=False):
            if isinstance(operand, Value):
                self.handed.setdefault(target, []).append(operand)

    def region(
        self, region: Region, continues: Sequence[Value], breaks: Sequence[Value], yields: Sequence[Value] | None = None
    ) -> None:
        """The uses in a region; the targets of its ends, where ``yields`` are used by their operation if None."""
        for op in region.operations:
            self.operation(op, continues, breaks)
        end = region.exit
        if end.kind in ("continue", "break"):
            self.hand(continues if end.kind == "continue" else breaks, end.operands)
        elif end.kind == "yield" and yields is not None:
            self.hand(yields, end.operands)
        else:
            self.use(end.operands)

    def operation(self, op: Operation, continues: Sequence[Value], breaks: Sequence[Value]) -> None:
        if isinstance(op.data, Cases):
            self.use(compared_with(op.data))
        if op.kind == "for":
            body, rest = op.regions
            self.use(op.operands[:1])
            self.hand(body.params[1:], op.operands[1:])
            self.hand(rest.params, body.params[1:])
            self.region(body, body.params[1:], op.results)
            self.region(rest, continues, breaks, op.results)
            return
        if op.kind == "while":
            test, body, rest = op.regions
            self.hand(test.params, op.operands)
            self.region(test, (), ())
            self.region(body, test.params, op.results)
            self.region(rest, continues, breaks, op.results)
            return
        self.use(op.operands)
        regions = list(op.regions)
        if isinstance(op.data, Cases):
            for guarded in op.data.guards:
                if guarded:
                    self.region(regions.pop(0), (), ())
                self.region(regions.pop(0), continues, breaks, op.results)
        for region in regions:
            self.region(region, continues, breaks, op.results if op.kind in ("if", "match", "with") else None)


def patterns_of(patterns: Iterable[Pattern]) -> Iterator[Pattern]:
    """Patterns, and those in them."""
    for pattern in patterns:
        yield pattern
        yield from patterns_of(pattern.parts)


def compared_with(data: Cases) -> Iterator[Value | Variable | str]:
    """What the dotted names in patterns begin with: a value, a variable, or the name of a global one."""
    for pattern in patterns_of(data.patterns):
        kind, dotted = pattern.kind, pattern.data
        if kind in ("value", "class"):
            dotted = [dotted] if kind == "value" else dotted[:1]
        for first, *_ in dotted if kind in ("value", "class", "mapping") else ():
            if isinstance(first, (Value, Variable, str)):
                yield first
