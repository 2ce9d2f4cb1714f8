"""Variables that hold texts alone: ``s += t`` of one is ``s = s + t``, since no text is changed in place.

    line = "step %d" % i            line = "step %d" % i
    line += " cost %.2f" % cost     line = line + " cost %.2f" % cost

So what is written about a value carries no derivative, and is none of the arrays that ``+=`` writes into.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import gast

from s2sad.frontend.dependence import pairs_of
from s2sad.frontend.trees import nodes_of

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
_FUNCTIONS = (str, repr, format, chr, hex)
_METHODS = frozenset(
    "capitalize center expandtabs format join ljust lower lstrip replace rjust rstrip strip swapcase title upper zfill"
    .split()
)  # fmt: skip


def text_names(function: Node, body: list[Node], lookup: Lookup) -> frozenset[str]:
    """The variables of a function that only ever hold texts."""
    nodes = [node for s in body for node in nodes_of(s)]
    if not any(isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) for node in nodes):
        return frozenset()
    return names_that_hold(lambda value, names: _is_text(value, names, lookup), [*nodes, *nodes_of(function.args)])


def names_that_hold(
    holds: Callable[[Node, Collection[str]], bool], nodes: list[Node], given: Collection[str] = ()
) -> frozenset[str]:
    """The variables that are only ever given a value of some sort, if those that are known hold one; ``given`` are
    parameters that do."""
    values: dict[str, list[Node]] = {name: [] for name in given}
    targets: set[int] = set()
    for node in nodes:
        for target, value in _assigned(node):
            targets.add(id(target))
            values.setdefault(target.id, []).append(value)
    other = {name for node in nodes for name in _bound_otherwise(node, targets)}
    names = {name for name in values if name not in other}
    while True:
        kept = {name for name in names if all(holds(value, names) for value in values[name])}
        if kept == names:
            return frozenset(names)
        names = kept


def added(s: Node) -> Node:
    """``s += t`` as ``s = s + t``."""
    read = gast.copy_location(gast.Name(s.target.id, gast.Load(), None, None), s.target)
    value = gast.copy_location(gast.BinOp(read, s.op, s.value), s)
    return gast.copy_location(gast.Assign([s.target], value, None), s)


def _assigned(node: Node) -> Iterator[tuple[Node, Node]]:
    """The names that a statement gives one value each, with the values."""
    if isinstance(node, gast.Assign):
        pairs = [pair for target in node.targets for pair in pairs_of(target, node.value)]
        yield from [(target, value) for target, value in pairs if isinstance(target, gast.Name)]
    elif isinstance(node, (gast.AugAssign, gast.AnnAssign)) and isinstance(node.target, gast.Name):
        if isinstance(node, gast.AugAssign):
            read = gast.Name(node.target.id, gast.Load(), None, None)
            yield node.target, gast.BinOp(read, node.op, node.value)
        elif node.value is not None:
            yield node.target, node.value


def _bound_otherwise(node: Node, targets: Collection[int]) -> Iterator[str]:
    """The names that a node binds in any other way."""
    if isinstance(node, gast.Name):
        if not isinstance(node.ctx, gast.Load) and id(node) not in targets:
            yield node.id
    elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
        yield node.name
    elif isinstance(node, (gast.Global, gast.Nonlocal)):
        yield from node.names
    elif isinstance(node, gast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, (gast.MatchAs, gast.MatchStar, gast.MatchMapping)):
        name = node.rest if isinstance(node, gast.MatchMapping) else node.name
        if name is not None:
            yield name


def _is_text(node: Node, names: Collection[str], lookup: Lookup) -> bool:
    """Whether an expression surely is a text, if these variables are, or raises."""
    match node:
        case gast.Constant():
            return type(node.value) is str
        case gast.JoinedStr():
            return True
        case gast.IfExp():
            return _is_text(node.body, names, lookup) and _is_text(node.orelse, names, lookup)
        case gast.BinOp(op=gast.Add()):
            return _is_text(node.left, names, lookup) and _is_text(node.right, names, lookup)
        case gast.BinOp(op=gast.Mod()):
            return _is_text(node.left, names, lookup)
        case gast.Call(func=gast.Attribute(attr=name)) if name in _METHODS and _is_text(node.func.value, names, lookup):
            return True
        case gast.Call(func=gast.Name()):
            return any(lookup(node.func)[1] is function for function in _FUNCTIONS)
    if isinstance(node, gast.Name) and node.id in names:
        return True
    found, value = lookup(node)
    return found and type(value) is str
