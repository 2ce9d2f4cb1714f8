"""Statements that are not accepted, in branches of which the types may say later that they never run.

    if isinstance(y, Series):              if isinstance(y, Series):
        y = Series(y, y.index)      ->         raise NOT_ACCEPTED

A function is lowered before its types are known.  So what is not accepted in a branch, or in what is tried, is taken
out of the function, and refused only where the statement that stands for it is left once the types have decided the
branches.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import gast

from s2sad.frontend.source import Source
from s2sad.ir.nodes import Block, Effect
from s2sad.ir.traverse import walk

Node = Any
_BLOCKS = ("body", "orelse", "finalbody")


#: What is raised in place of a statement that is not accepted.
NOT_ACCEPTED: Any = type("NotAccepted", (), {"__repr__": lambda self: "NOT_ACCEPTED"})()


def without(source: Source, refused: Iterable[Node]) -> Source | None:
    """A function without those statements in branches that have ``refused`` nodes; None if there are none.

    Args:
        source: The function.
        refused: The nodes, as they are in the function, or with parts that are.
    """
    inside: dict[int, Node | None] = {}
    _note(source.node.body, None, False, inside)
    cut: set[int] = set()
    for node in refused:
        statements = [inside[id(n)] for n in gast.walk(node) if id(n) in inside]
        if statements and None not in statements and not isinstance(node, gast.FunctionDef):
            cut.add(id(statements[0]))
    if not cut:
        return None
    made = copy.copy(source.node)
    made.body = _without(source.node.body, cut)
    return replace(source, node=made)


def remains(body: Block) -> bool:
    """Whether a statement that is not accepted may run."""
    return any(_stands_for_one(s.node) for s in walk(body) if isinstance(s, Effect))


def _stands_for_one(node: ast.stmt) -> bool:
    return isinstance(node, ast.Raise) and isinstance(node.exc, ast.Constant) and node.exc.value is NOT_ACCEPTED


def _note(block: list[Node], statement: Node | None, is_arm: bool, inside: dict[int, Node | None]) -> None:
    """Note for each node the statement of the innermost arm in which it stands."""
    for s in block:
        around = s if is_arm else statement
        inside[id(s)] = around
        for name, value in gast.iter_fields(s):
            arm = isinstance(s, gast.If) or (isinstance(s, gast.Try) and name == "body")
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, gast.stmt):
                    _note([part], around, arm, inside)
                elif isinstance(part, gast.ExceptHandler | gast.match_case):
                    _note(part.body, around, isinstance(part, gast.ExceptHandler), inside)
                elif isinstance(part, gast.AST):
                    inside.update({id(n): around for n in gast.walk(part) if hasattr(n, "lineno")})


def _without(block: list[Node], cut: set[int]) -> list[Node]:
    out: list[Node] = []
    for s in block:
        if id(s) in cut:
            return [*out, *_asked_first(s), gast.copy_location(_raise(), s)]
        made = copy.copy(s)
        for name, value in gast.iter_fields(s):
            if isinstance(value, list) and value and isinstance(value[0], gast.stmt):
                setattr(made, name, _without(value, cut))
            elif isinstance(value, list) and value and isinstance(value[0], gast.ExceptHandler | gast.match_case):
                setattr(made, name, [_with_body(part, cut) for part in value])
        out.append(made)
    return out


def _with_body(part: Node, cut: set[int]) -> Node:
    made = copy.copy(part)
    made.body = _without(part.body, cut)
    if isinstance(part, gast.ExceptHandler) and made.body and _is_not_accepted(made.body[-1]):
        # It stays one of which the types may say that it never runs: one that raises in any case is none.
        made.body[-1] = gast.copy_location(gast.If(gast.Constant(True, None), [made.body[-1]], []), made.body[-1])
    return made


def _is_not_accepted(s: Node) -> bool:
    return isinstance(s, gast.Raise) and isinstance(s.exc, gast.Constant) and s.exc.value is NOT_ACCEPTED


def _raise() -> Node:
    return gast.Raise(gast.Constant(NOT_ACCEPTED, None), None)


def _asked_first(s: Node) -> list[Node]:
    """The method for which a statement asks before it does anything else: what has none raises."""
    call = s.value if isinstance(s, gast.Expr | gast.Assign | gast.Return) else None
    if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and isinstance(call.func.value, gast.Name):
        return [gast.copy_location(gast.Expr(call.func), s)]
    return []
