"""Comprehensions over a few numbers, written out as displays: ``[f(i) for i in range(2)]`` is ``[f(0), f(1)]``."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import gast

from s2sad.frontend.trees import nodes_of

Node = Any
#: How many items are written out.
_MOST = 8
_SCOPES = (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.NamedExpr)


def unrolled(node: Node, lookup: Callable[[Node], tuple[bool, Any]]) -> Node | None:
    """The display that a list comprehension over a literal range makes; None for anything else."""
    if not isinstance(node, gast.ListComp) or len(node.generators) != 1:
        return None
    (each,) = node.generators
    if each.ifs or each.is_async or not isinstance(each.target, gast.Name) or not isinstance(each.iter, gast.Call):
        return None
    bounds = [a.value if isinstance(a, gast.Constant) else None for a in each.iter.args]
    if each.iter.keywords or not 1 <= len(bounds) <= 3 or not all(type(b) is int for b in bounds) or 0 in bounds[2:]:
        return None
    if lookup(each.iter.func) != (True, range) or any(isinstance(n, _SCOPES) for n in nodes_of(node.elt)):
        return None
    numbers = range(*bounds)  # type: ignore[arg-type]
    if len(numbers) > _MOST:
        return None
    items = [_Replace(each.target.id, number).visit(deepcopy(node.elt)) for number in numbers]
    return gast.copy_location(gast.List(elts=items, ctx=gast.Load()), node)


class _Replace(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number

    def visit_Name(self, node: Node) -> Node:
        if node.id != self.name:
            return node
        constant = gast.copy_location(gast.Constant(value=abs(self.number), kind=None), node)
        if self.number >= 0:
            return constant
        return gast.copy_location(gast.UnaryOp(op=gast.USub(), operand=constant), node)
