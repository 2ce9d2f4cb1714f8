"""Replace values and variables of a `Code` by others."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from s2sad.ir.code import (
    Cases,
    Code,
    Definition,
    Exit,
    Handlers,
    Operation,
    Parameter,
    Pattern,
    Region,
    Value,
    Variable,
)

T = TypeVar("T")
#: What stands for what: a value for an operand, a variable for another one.
Replacement = Mapping[Any, Any]


def replaced_in_code(code: Code, by: Replacement) -> Code:
    """A code, and all that it makes, with other values and variables; the same object if nothing is another.

    A value that is made in the code (a result or parameter) is replaced by a value, one that is only used by any
    operand.

    Example:
        >>> import gast
        >>> from s2sad.frontend.lower_statements import lower_function
        >>> from s2sad.ir.show_code import show_code
        >>> code = lower_function(gast.parse("def f(x):\\n    y = x + 1\\n    return y").body[0])
        >>> made = code.body.operations[0].result
        >>> print(show_code(replaced_in_code(code, {made: Value("z")})))
        function f(x)
            z = binary + (x, 1)
            return z
    """

    def parameter(param: Parameter) -> Parameter:
        target = by.get(param.target, param.target)
        return param if target is param.target else dataclasses.replace(param, target=target)

    body = replaced_in_region(code.body, by)
    seen: tuple[Any, ...] = _each(lambda v: by.get(v, v), code.seen)
    if seen is not code.seen:
        seen = tuple(dict.fromkeys([v for v in seen if isinstance(v, Value)]))
    changes = {
        "params": _each(parameter, code.params),
        "body": body,
        "variables": _each(lambda v: by.get(v, v), code.variables),
        "captures": _each(lambda v: by.get(v, v), code.captures),
        "seen": seen,
    }
    made: Code = _changed(code, changes)
    return made


def replaced_in_region(region: Region, by: Replacement) -> Region:
    """A region with other values and variables; see `replaced_in_code`."""
    end = region.exit
    operands = _each(lambda v: by.get(v, v), end.operands)
    changes = {
        "params": _each(lambda v: by.get(v, v), region.params),
        "operations": _each(lambda op: replaced_in_operation(op, by), region.operations),
        "exit": end if operands is end.operands else Exit(end.kind, operands, end.place),
    }
    made: Region = _changed(region, changes)
    return made


def replaced_in_operation(op: Operation, by: Replacement) -> Operation:
    """An operation with other values and variables; see `replaced_in_code`."""
    changes = {
        "operands": _each(lambda v: by.get(v, v), op.operands),
        "results": _each(lambda v: by.get(v, v), op.results),
        "data": _data(op.data, by),
        "regions": _each(lambda region: replaced_in_region(region, by), op.regions),
    }
    made: Operation = _changed(op, changes)
    return made


def with_codes(code: Code, change: Callable[[Code], Code]) -> Code:
    """A code in which all that it makes is changed, from the innermost outwards, and then itself."""

    def operation(op: Operation) -> Operation:
        data = op.data
        if isinstance(data, Definition):
            data = _changed(data, {"code": with_codes(data.code, change)})
        elif isinstance(data, Code):
            data = with_codes(data, change)
        made: Operation = _changed(op, {"data": data, "regions": _each(region, op.regions)})
        return made

    def region(found: Region) -> Region:
        made: Region = _changed(found, {"operations": _each(operation, found.operations)})
        return made

    return change(_changed(code, {"body": region(code.body)}))


def with_regions(code: Code, change: Callable[[Region], Region]) -> Code:
    """A code in which each region is changed, from the innermost outwards, also in all that it makes."""

    def operation(op: Operation) -> Operation:
        made: Operation = _changed(op, {"regions": _each(region, op.regions)})
        return made

    def region(found: Region) -> Region:
        return change(_changed(found, {"operations": _each(operation, found.operations)}))

    return with_codes(code, lambda made: _changed(made, {"body": region(made.body)}))


def _data(data: Any, by: Replacement) -> Any:
    if isinstance(data, Variable):
        return by.get(data, data)
    if isinstance(data, Code):
        return replaced_in_code(data, by)
    if isinstance(data, Definition):
        return _changed(data, {"code": replaced_in_code(data.code, by)})
    if isinstance(data, Handlers):
        return _changed(data, {"names": _each(lambda name: _target(name, by), data.names)})
    if isinstance(data, Cases):
        return _changed(data, {"patterns": _each(lambda part: _pattern(part, by), data.patterns)})
    return data


def _target(target: Variable | str | None, by: Replacement) -> Any:
    return by.get(target, target) if isinstance(target, Variable) else target


def _pattern(pattern: Pattern, by: Replacement) -> Pattern:
    changes = {
        "parts": _each(lambda part: _pattern(part, by), pattern.parts),
        "data": _dotted(pattern.data, by),
        "target": _target(pattern.target, by),
    }
    made: Pattern = _changed(pattern, changes)
    return made


def _dotted(data: Any, by: Replacement) -> Any:
    """What a pattern compares with: dotted names and literals, in tuples."""
    if isinstance(data, tuple):
        return _each(lambda part: _dotted(part, by), data)
    return by.get(data, data) if isinstance(data, (Value, Variable)) else data


def _each(change: Callable[[T], T], items: tuple[T, ...]) -> tuple[T, ...]:
    """The items with a change; the same tuple if none is another."""
    made = tuple([change(item) for item in items])
    return items if all(a is b for a, b in zip(items, made, strict=True)) else made


def _changed(holder: Any, changes: dict[str, Any]) -> Any:
    different = {name: value for name, value in changes.items() if getattr(holder, name) is not value}
    return dataclasses.replace(holder, **different) if different else holder
