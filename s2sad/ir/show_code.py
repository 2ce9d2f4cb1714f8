"""`Code` as text, for people and tests: one line for each operation, values by number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from s2sad.ir.code import Code, Constant, Definition, Operand, Region, Value, Variable


def show_code(code: Code) -> str:
    """The text of a code.

    Example:
        >>> import gast
        >>> from s2sad.frontend.lower_statements import lower_function
        >>> source = "def f(x):\\n    y = x + 1\\n    return y if y > 0 else -x"
        >>> print(show_code(lower_function(gast.parse(source).body[0])))
        function f(x)
            y = binary + (x, 1)
            %1 = compare > (y, 0)
            %2 = choose (%1)
                yield y
                %3 = unary - (x)
                yield %3
            return %2
    """
    return "\n".join(_Shown().code(code, ""))


class _Shown:
    def __init__(self) -> None:
        self.names: dict[Value, str] = {}
        self.counts: dict[str, int] = {}

    def of(self, operand: Operand) -> str:
        if isinstance(operand, Constant):
            return repr(operand.value)
        if operand not in self.names:
            number = self.counts[operand.name] = self.counts.get(operand.name, 0) + 1
            plain = operand.name if number == 1 else f"{operand.name}.{number}"
            self.names[operand] = plain if operand.name else f"%{number}"
        return self.names[operand]

    def all(self, operands: tuple[Any, ...]) -> str:
        return ", ".join(map(self.of, operands))

    def code(self, code: Code, indent: str) -> Iterator[str]:
        params = [self.of(p.target) if isinstance(p.target, Value) else f"[{p.name}]" for p in code.params]
        memory = f" memory {', '.join(v.name for v in code.variables)}" if code.variables else ""
        captures = f" captures {', '.join(v.name for v in code.captures)}" if code.captures else ""
        yield f"{indent}{code.kind} {code.name}({', '.join(params)}){memory}{captures}"
        yield from self.region(code.body, f"{indent}    ")

    def region(self, region: Region, indent: str) -> Iterator[str]:
        if region.params:
            yield f"{indent}with {self.all(region.params)}"
        for op in region.operations:
            result = f"{self.all(op.results)} = " if op.results else ""
            data, code = self.data(op.data)
            operands = f" ({self.all(op.operands)})" if op.operands else ""
            yield f"{indent}{result}{op.kind}{data}{operands}"
            if code is not None:
                yield from self.code(code, f"{indent}    ")
            for inner in op.regions:
                yield from self.region(inner, f"{indent}    ")
        yield f"{indent}{region.exit.kind} {self.all(region.exit.operands)}".rstrip()

    def data(self, data: Any) -> tuple[str, Code | None]:
        if isinstance(data, Definition):
            return "", data.code
        if isinstance(data, Code):
            return "", data
        if isinstance(data, Variable):
            return f" [{data.name}]", None
        if isinstance(data, tuple) and not any(data):
            return "", None
        return (f" {data}" if data is not None else ""), None
