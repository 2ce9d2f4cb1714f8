"""``a.flat`` where its items are only read, as ``a.ravel()``.

for v in a.flat: ...      ->  for v in a.ravel(): ...
p, q = a.flat             ->  p, q = a.ravel()
sum(a.flat)               ->  sum(a.ravel())
b = np.array(a.flat)      ->  b = a.ravel()

``a.flat`` gives each item as it is when a loop comes to it, and ``a.ravel()`` may be a copy.  So nothing may be written
meanwhile.  ``np.array(a.flat)`` is a view of an array whose items lie in their order, and a copy of any other.  What
has no method ``ravel`` has an attribute ``flat`` of its own: ``(a.ravel() if hasattr(a, "ravel") else a.flat)``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.frontend.outs import is_writing
from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.source import Source
from s2sad.frontend.trees import nodes_of

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
#: Functions that run through what they are given at once, and those that do so as a loop runs through them.
_AT_ONCE = (list, tuple, sum, max, min, sorted, np.asarray)
_CONSUMING = (*_AT_ONCE, set, frozenset, dict, any, all)
_LATER = (enumerate, zip, reversed)
_LOOPS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
#: What may be evaluated twice.
_PATH = (gast.Name, gast.Attribute, gast.Load)
#: What gives a new number or array.
_COMPUTED = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Constant)


def with_items_of_flat(source: Source) -> tuple[Source, tuple[Guard, ...]]:
    """A function in which ``a.flat`` is ``a.ravel()`` where it is only run through, and on what that rests."""
    if not any(isinstance(node, gast.Attribute) and node.attr == "flat" for node in nodes_of(source.node)):
        return source, ()
    names = [node for node in nodes_of(source.node) if isinstance(node, gast.Name)]
    resolver = Resolver(source.function, frozenset(n.id for n in names if not isinstance(n.ctx, gast.Load)))
    node = copy.deepcopy(source.node)
    found = {id(part) for part in _Flat(node, resolver.lookup).run_through()}
    if not found:
        return source, ()
    asks = resolver.lookup(gast.Name("hasattr", gast.Load(), None, None))[1] is hasattr
    return replace(source, node=_Flattening(found, asks).visit(node)), tuple(resolver.guards.values())


class _Flattening(gast.NodeTransformer):  # type: ignore[misc]
    """Calls ``ravel`` in place of some attributes, and of calls of ``np.array``, which are known by identity.

    Where it ``asks``, it does so for what has that method.
    """

    def __init__(self, found: set[int], asks: bool) -> None:
        self.found, self.asks = found, asks

    def visit_Call(self, node: Node) -> Node:
        self.generic_visit(node)
        return node.args[0] if id(node) in self.found else node

    def visit_Attribute(self, node: Node) -> Node:
        self.generic_visit(node)
        if id(node) not in self.found:
            return node
        whole = node.value
        method = gast.copy_location(gast.Attribute(whole, "ravel", gast.Load()), node)
        made = gast.copy_location(gast.Call(method, [], []), node)
        if not self.asks or not all(isinstance(n, _PATH) for n in nodes_of(whole)):
            return made
        asked = [gast.Name("hasattr", gast.Load(), None, None), gast.Constant("ravel", None)]
        test = gast.Call(asked[0], [copy.deepcopy(whole), asked[1]], [])
        node.value = copy.deepcopy(whole)
        for part in (*asked, test):
            gast.copy_location(part, node)
        return gast.copy_location(gast.IfExp(test, made, node), node)


class _Flat:
    """Finds the attributes ``flat`` of a function that are run through while nothing is written."""

    def __init__(self, function: Node, lookup: Lookup) -> None:
        self.function, self.lookup = function, lookup
        self.nodes = nodes_of(function)
        self.lazy = {id(n) for n in self.nodes if isinstance(n, gast.GeneratorExp)}
        for call in self.nodes:
            if isinstance(call, gast.Call) and len(call.args) == 1 and not call.keywords:
                if self.calls(call, _CONSUMING):
                    self.lazy.discard(id(call.args[0]))

    def calls(self, call: Node, functions: tuple[Any, ...]) -> bool:
        return any(self.lookup(call.func)[1] is function for function in functions)

    def run_through(self) -> Iterator[Node]:
        """Those attributes, and calls that make an array of one."""
        for node in self.nodes:
            match node:
                case gast.Call(args=[gast.Attribute(attr="flat")], keywords=[]) if self.calls(node, (np.array,)):
                    yield node
                    yield node.args[0]
                case gast.Assign(targets=[gast.Tuple() | gast.List()]):
                    yield from _flat(node.value)
                case gast.Call(keywords=[]) if self.calls(node, _AT_ONCE):
                    yield from self.of_parts(node.args, [])
                case gast.For():
                    inside = [n for part in (node.target, *node.body) for n in nodes_of(part)]
                    yield from self.of_loop(node.iter, inside)
                case _ if isinstance(node, _LOOPS) and id(node) not in self.lazy:
                    inside = [n for n in nodes_of(node) if not isinstance(n, gast.comprehension)]
                    yield from (part for loop in node.generators for part in self.of_loop(loop.iter, inside))

    def of_loop(self, iterable: Node, inside: list[Node]) -> Iterator[Node]:
        """The attributes ``flat`` that a loop over an expression runs through, if nothing ``inside`` may write."""
        is_later = isinstance(iterable, gast.Call) and self.calls(iterable, _LATER)
        yield from self.of_parts([*iterable.args, *iterable.keywords] if is_later else [iterable], inside)

    def of_parts(self, given: list[Node], inside: list[Node]) -> Iterator[Node]:
        """Those among some expressions, if neither these nor what is ``inside`` may write."""
        found = [part for a in given for part in _flat(a)]
        if found and not any(self.may_write(n, found) for n in (*inside, *(n for a in given for n in nodes_of(a)))):
            yield from found

    def may_write(self, node: Node, found: list[Node]) -> bool:
        """Whether a part of a loop over what is ``found`` may write into an array."""
        if isinstance(node, (gast.Yield, gast.YieldFrom, gast.Await)):
            return True
        if isinstance(node, (gast.Subscript, gast.Attribute)):
            return not isinstance(node.ctx, gast.Load)
        if isinstance(node, gast.AugAssign):
            return not isinstance(node.target, gast.Name) or self.may_share(node.target.id, found)
        if isinstance(node, gast.Call):
            # What is not found has no operation either.
            known = ops.spec_of(self.lookup(node.func)[1])
            plain = known is not None and not (known.writes or known.calls or known.stores)
            return not plain or is_writing(node, self.lookup) or any(k.arg in (None, "out") for k in node.keywords)
        return False

    def may_share(self, name: str, found: list[Node]) -> bool:
        """Whether a variable that ``+=`` changes may hold an array with the memory of what is ``found``.

        A number gets another one, and becomes an array that nothing else has.
        """
        held, count = {name}, 0
        bound = [(target, value) for n in self.nodes for target, value in _bound(n)]
        values = [value for target, value in bound if target == name]
        others = [
            n for n in self.nodes if isinstance(n, gast.Name) and n.id == name and not isinstance(n.ctx, gast.Load)
        ]
        declared = any(isinstance(n, (gast.Global, gast.Nonlocal)) and name in n.names for n in self.nodes)
        if declared or len(others) != len(values) or not all(_is_number(v) for v in values if v is not None):
            return True
        while len(held) > count:
            count = len(held)
            held.update(target for target, value in bound if value is not None and not held.isdisjoint(_shared(value)))
        roots = {n.id for part in found for n in nodes_of(part) if isinstance(n, gast.Name)}
        return not roots.isdisjoint(held)


def _bound(node: Node) -> Iterator[tuple[str, Node | None]]:
    """The names that a statement binds, with what they are given; None for what ``+=`` makes of a variable."""
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
        yield node.target.id, None
    elif isinstance(node, (gast.Assign, gast.AnnAssign, gast.For, gast.comprehension, gast.NamedExpr)):
        targets = node.targets if isinstance(node, gast.Assign) else [node.target]
        value = node.iter if isinstance(node, (gast.For, gast.comprehension)) else node.value
        names = [n for target in targets for n in nodes_of(target) if isinstance(n, gast.Name)]
        yield from ((n.id, value) for n in names if not isinstance(n.ctx, gast.Load))


def _shared(value: Node) -> Iterator[str]:
    """The names of which a value may have the memory."""
    if isinstance(value, gast.Name):
        yield value.id
    elif not isinstance(value, _COMPUTED):
        for part in gast.iter_child_nodes(value):
            yield from _shared(part)


def _is_number(value: Node) -> bool:
    if isinstance(value, gast.UnaryOp):
        return _is_number(value.operand)
    return isinstance(value, gast.Constant) and isinstance(value.value, (int, float, complex))


def _flat(node: Node) -> Iterator[Node]:
    if isinstance(node, gast.Attribute) and node.attr == "flat":
        yield node
