"""Give a value that is computed without a name and then copied to a variable the name of that variable at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from s2sad.ir.code import Code, Operand, Region, Value, codes, regions_in
from s2sad.transform.replace import replaced_in_code, with_regions


def coalesced(code: Code) -> Code:
    """A code without copies of values that have no name and no other use.

    Example:
        >>> import ast
        >>> from s2sad.backend.python.fold import function
        >>> from s2sad.ir.code import Exit, Operation, Parameter, Region
        >>> x, t, y = Value("x"), Value(), Value("y")
        >>> square = Operation("binary", (x, x), (t,), "*")
        >>> operations = square, Operation("copy", (t,), (y,)), Operation("binary", (y, y), (z := Value(),), "+")
        >>> body = Region((), operations, Exit("return", (z,)))
        >>> print(ast.unparse(function(coalesced(Code("f", "function", (Parameter("x", "positional", x),), body)))))
        def f(x):
            y = x * x
            return y + y
    """
    uses: Counter[Operand] = Counter()
    copies: dict[Value, Value] = {}
    made: set[Value] = set()
    for each in codes(code):
        for region in regions_in(each.body):
            uses.update(region.exit.operands)
            made.update(region.params)
            for operation in region.operations:
                uses.update(operation.operands)
                made.update(operation.results)
                if operation.kind == "copy" and isinstance(source := operation.operands[0], Value):
                    if not source.name:
                        copies[source] = operation.result
    wanted = {source: target for source, target in copies.items() if uses[source] == 1 and source in made}
    if not wanted:
        return code
    # The value gets the name; its copy, which nobody uses then, goes.
    names = {source: Value(target.name) for source, target in wanted.items()}
    onto = {target: names[source] for source, target in wanted.items()}

    def without(region: Region) -> Region:
        kept = tuple([o for o in region.operations if not (o.kind == "copy" and o.result in onto)])
        return region if len(kept) == len(region.operations) else replace(region, operations=kept)

    return coalesced(replaced_in_code(with_regions(code, without), {**names, **onto}))
