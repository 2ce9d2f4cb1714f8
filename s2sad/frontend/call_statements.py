"""Calls that are statements of their own, as the statements that do the same.

np.divmod(x, y, out=(a, b))          ->  first, second = np.divmod(x, y); a[...] = first; b[...] = second
q, r = np.divmod(x, y, a, b)         ->  the same, and q, r = (a, b)
a = operator.iadd(a, y)              ->  a += y
b = operator.imul(a, y)              ->  b = a; b *= y          of numbers, too: an array is changed under both names
operator.isub(a, y)                  ->  changed = a; changed -= y
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.source import Source
from s2sad.frontend.spelled import Spelled
from s2sad.frontend.trees import new_name, nodes_of

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
#: The universal functions with two results.
_FUNCTIONS = (np.divmod, np.modf, np.frexp)
#: The functions that are operators with an assignment.
_OPERATORS: dict[Any, type] = {
    operator.iadd: gast.Add, operator.isub: gast.Sub, operator.imul: gast.Mult, operator.itruediv: gast.Div,
    operator.ifloordiv: gast.FloorDiv, operator.imod: gast.Mod, operator.ipow: gast.Pow, operator.imatmul: gast.MatMult,
    operator.iconcat: gast.Add, operator.iand: gast.BitAnd, operator.ior: gast.BitOr, operator.ixor: gast.BitXor,
}  # fmt: skip
_SPELLED = Spelled((*_FUNCTIONS, *_OPERATORS))
#: What an array is written with that may be evaluated twice.
_PLACES = (
    gast.Name, gast.Attribute, gast.Subscript, gast.Slice, gast.Constant, gast.Tuple, gast.BinOp, gast.UnaryOp,
    gast.Load, gast.operator, gast.unaryop,
)  # fmt: skip


def with_statements_of_calls(source: Source) -> tuple[Source, tuple[Guard, ...]]:
    """A function in which such calls stand as statements, where they are all that is assigned or returned."""
    nodes = nodes_of(source.node)
    may_be_one = _SPELLED.test_in(source.function)
    if not any(isinstance(n, gast.Call) and may_be_one(n.func) for n in nodes):
        return source, ()
    names = [n for n in nodes if isinstance(n, gast.Name)]
    resolver = Resolver(source.function, frozenset(n.id for n in names if not isinstance(n.ctx, gast.Load)))
    writing = _Writing(resolver.lookup, {n.id for n in names})
    node = writing.visit(copy.deepcopy(source.node))
    return (replace(source, node=node), tuple(resolver.guards.values())) if writing.done else (source, ())


class _Writing(gast.NodeTransformer):  # type: ignore[misc]
    """Writes the statements in place of such a statement; ``taken`` are the names of the function."""

    def __init__(self, lookup: Lookup, taken: set[str]) -> None:
        self.lookup, self.taken, self.done = lookup, taken, False

    def visit_Expr(self, node: Node) -> Any:
        return self.written(node, lambda value: [])

    def visit_Assign(self, node: Node) -> Any:
        return self.written(node, lambda value: [gast.Assign(node.targets, value, None)])

    def visit_Return(self, node: Node) -> Any:
        return self.written(node, lambda value: [gast.Return(value)])

    def written(self, stmt: Node, use: Callable[[Node], list[Node]]) -> Any:
        """The statements for one that makes ``use`` of the value of a call; itself if it is no such call."""
        call = stmt.value
        if not isinstance(call, gast.Call) or any(isinstance(a, gast.Starred) for a in call.args):
            return stmt
        outs = self.outs(call)
        if outs is not None and all(isinstance(n, _PLACES) for out in outs for n in nodes_of(out)):
            made = self.stored(call, outs, use)
        elif (operation := _OPERATORS.get(self.function(call))) and len(call.args) == 2 and not call.keywords:
            made = self.changed(stmt, operation(), use)
        else:
            return stmt
        self.done = True
        return [_located(part, stmt) for part in made]

    def function(self, call: Node) -> Any:
        """The function of this module's that is called; None for any other."""
        function = self.lookup(call.func)[1]
        return next((one for one in _SPELLED.functions if function is one), None)

    def stored(self, call: Node, outs: list[Node], use: Callable[[Node], list[Node]]) -> list[Node]:
        results = [new_name(stem, self.taken) for stem in ("first", "second")]
        parts = gast.Tuple([_name(r, gast.Store()) for r in results], gast.Store())
        made: list[Node] = [gast.Assign([parts], gast.Call(call.func, call.args[: self.function(call).nin], []), None)]
        values = []
        for out, result in zip(outs, results, strict=True):
            if not _is_none(out):
                place = gast.Subscript(copy.deepcopy(out), gast.Constant(..., None), gast.Store())
                made.append(gast.Assign([place], _name(result), None))
            values.append(_name(result) if _is_none(out) else copy.deepcopy(out))
        return [*made, *use(gast.Tuple(values, gast.Load()))]

    def changed(self, stmt: Node, operation: Node, use: Callable[[Node], list[Node]]) -> list[Node]:
        whole, value = stmt.value.args
        targets = stmt.targets if isinstance(stmt, gast.Assign) else []
        target = targets[0].id if len(targets) == 1 and isinstance(targets[0], gast.Name) else None
        if target is not None and isinstance(whole, gast.Name) and whole.id == target:
            return [gast.AugAssign(_name(target, gast.Store()), operation, value)]
        is_free = target is not None and all(getattr(n, "id", None) != target for n in nodes_of(value))
        name = target if target is not None and is_free else new_name("changed", self.taken)
        made = [
            gast.Assign([_name(name, gast.Store())], whole, None),
            gast.AugAssign(_name(name, gast.Store()), operation, value),
        ]
        return made if name == target else [*made, *use(_name(name))]

    def outs(self, call: Node) -> list[Node] | None:
        """The arrays that a universal function is given for its results; None of any other call."""
        function = self.function(call)
        if not isinstance(function, np.ufunc):
            return None
        given = call.args[function.nin :]
        if call.keywords:
            (keyword, *others) = call.keywords
            if others or given or keyword.arg != "out" or not isinstance(keyword.value, gast.Tuple):
                return None
            given = keyword.value.elts
        return given if len(given) == function.nout and not all(map(_is_none, given)) else None


def _is_none(node: Node) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


def _name(name: str, ctx: Node | None = None) -> Node:
    return gast.Name(name, ctx or gast.Load(), None, None)


def _located(made: Node, stmt: Node) -> Node:
    """A statement that stands in the place of another, with a place for each new part of it."""
    for node in nodes_of(made):
        if getattr(node, "lineno", None) is None:
            gast.copy_location(node, stmt)
    return made
