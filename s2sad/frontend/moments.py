"""Variables that hold dates, times and spans of time alone: no function that is given them writes into them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

import gast

from s2sad import ops
from s2sad.frontend.texts import names_that_hold
from s2sad.ops.infer.moments import ATTRIBUTES, METHODS
from s2sad.runtime.moments import MOMENTS

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]


def moment_names(nodes: list[Node], lookup: Lookup, given: Collection[str]) -> frozenset[str]:
    """The variables of a function that only ever hold such, and numbers and texts that are made of them."""
    if not given and not any(isinstance(node, gast.Call) and _makes_moment(node, lookup) for node in nodes):
        return frozenset()
    params = Counter(node.id for node in nodes if isinstance(node, gast.Name) and _is_param(node))
    # A function inside may have a parameter of the same name.
    own = {name for name in given if params[name] == 1}
    bound = [node for node in nodes if not (isinstance(node, gast.Name) and node.id in own and _is_param(node))]
    return names_that_hold(lambda value, names: _is_moment(value, names, lookup), bound, own)


def _is_param(node: Node) -> bool:
    return isinstance(node.ctx, gast.Param)


def _makes_moment(call: Node, lookup: Lookup) -> bool:
    found, function = lookup(call.func)
    spec = ops.spec_of(function) if found else None
    return spec is not None and spec.makes in MOMENTS


def _is_moment(node: Node, names: Collection[str], lookup: Lookup) -> bool:
    """Whether an expression surely is one, or made of some, if these variables are."""
    match node:
        case gast.Name():
            return node.id in names
        case gast.Constant():
            return isinstance(node.value, (int, float, str))
        case gast.BinOp():
            return _is_moment(node.left, names, lookup) and _is_moment(node.right, names, lookup)
        case gast.UnaryOp():
            return _is_moment(node.operand, names, lookup)
        case gast.Attribute(attr=name):
            return name in ATTRIBUTES and _is_moment(node.value, names, lookup)
        case gast.Call(func=gast.Attribute(attr=name)) if _is_moment(node.func.value, names, lookup):
            return name in METHODS
        case gast.Call():
            return _makes_moment(node, lookup)
    return False
