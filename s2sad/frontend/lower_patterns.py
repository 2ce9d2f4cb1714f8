"""Patterns of ``match``, and the variables that patterns and handlers bind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from s2sad.errors import SourceError
from s2sad.frontend.builder import Builder
from s2sad.ir.code import Constant, Pattern, Variable

Node = Any


def bound_variable(b: Builder, name: str | None) -> Variable | str | None:
    """The memory of a variable that a handler or pattern binds; the name of a global one."""
    return name if name is None or name in b.scope.globals else b.memory_of(name)


def pattern_of(b: Builder, node: Node) -> Pattern:
    def inside(parts: Sequence[Node]) -> tuple[Pattern, ...]:
        return tuple([pattern_of(b, part) for part in parts])

    match node:
        case gast.MatchValue():
            return Pattern("value", (), _pattern_value(b, node.value))
        case gast.MatchSingleton():
            return Pattern("singleton", (), node.value)
        case gast.MatchSequence():
            return Pattern("sequence", inside(node.patterns))
        case gast.MatchMapping():
            keys = tuple([_pattern_value(b, key) for key in node.keys])
            return Pattern("mapping", inside(node.patterns), keys, bound_variable(b, node.rest))
        case gast.MatchClass():
            data = _pattern_value(b, node.cls), tuple(node.kwd_attrs)
            return Pattern("class", inside([*node.patterns, *node.kwd_patterns]), data)
        case gast.MatchStar():
            return Pattern("star", (), None, bound_variable(b, node.name))
        case gast.MatchAs():
            return Pattern(
                "as", inside([] if node.pattern is None else [node.pattern]), None, bound_variable(b, node.name)
            )
        case gast.MatchOr():
            return Pattern("or", inside(node.patterns))
    raise SourceError(f"{type(node).__name__} is not understood")


def _pattern_value(b: Builder, node: Node) -> tuple[Any, ...]:
    """What stands in a pattern: a number or text, or a dotted name (what its first part means, and the rest)."""
    if isinstance(node, gast.Name):
        found = b.env.get(node.id) or b.of_outer(node.id)
        return (found or node.id,)
    if isinstance(node, gast.Attribute):
        return (*_pattern_value(b, node.value), node.attr)
    return (Constant(_number(node)),)


def _number(node: Node) -> Any:
    """A number or text as a pattern spells it: ``-1``, ``1 + 2j``."""
    if isinstance(node, gast.UnaryOp):
        return -_number(node.operand)
    if isinstance(node, gast.BinOp):
        left, right = _number(node.left), _number(node.right)
        return left + right if isinstance(node.op, gast.Add) else left - right
    return node.value
