"""Patterns of ``match`` as Python's syntax has them."""

from __future__ import annotations

import ast
from typing import Any

from s2sad.backend.python.names import Names
from s2sad.ir.code import Constant, Pattern, Value, Variable


def pattern(made: Pattern, names: Names) -> ast.pattern:
    """A pattern as a node of the syntax tree."""
    parts = [pattern(part, names) for part in made.parts]
    target = made.target.name if isinstance(made.target, Variable) else made.target
    match made.kind:
        case "value":
            return ast.MatchValue(_value(made.data, names))
        case "singleton":
            return ast.MatchSingleton(made.data)
        case "sequence":
            return ast.MatchSequence(parts)
        case "mapping":
            return ast.MatchMapping([_value(key, names) for key in made.data], parts, target)
        case "class":
            cls, attributes = made.data
            count = len(parts) - len(attributes)
            return ast.MatchClass(_value(cls, names), parts[:count], list(attributes), parts[count:])
        case "star":
            return ast.MatchStar(target)
        case "as":
            return ast.MatchAs(parts[0] if parts else None, target)
        case "or":
            return ast.MatchOr(parts)


def _value(data: tuple[Any, ...], names: Names) -> ast.expr:
    first, *rest = data
    if isinstance(first, Constant):
        return ast.parse(ast.unparse(ast.Constant(first.value)), mode="eval").body
    name = names.of(first) if isinstance(first, Value) else first.name if isinstance(first, Variable) else first
    found: ast.expr = ast.Name(name, ast.Load())
    for attribute in rest:
        found = ast.Attribute(found, attribute, ast.Load())
    return found
