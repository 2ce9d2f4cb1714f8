"""``a.flat`` where its items are only read, as ``a.ravel()``.

for v in a.flat: ...      ->  for v in a.ravel(): ...
p, q = a.flat             ->  p, q = a.ravel()
sum(a.flat)               ->  sum(a.ravel())
b = np.array(a.flat)      ->  b = a.ravel()

``a.flat`` gives each item as it is when a loop comes to it, and ``a.ravel()`` may be a copy.  So nothing may be written
meanwhile.  ``np.array(a.flat)`` is a view of an array whose items lie in their order, and a copy of any other.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.source import Source
from s2sad.frontend.trees import nodes_of

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
#: Functions that run through what they are given at once, and those that do so as a loop runs through them.
_AT_ONCE = (list, tuple, sum, max, min, sorted, np.asarray)
_LATER = (enumerate, zip, reversed)
_LOOPS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def with_items_of_flat(source: Source) -> tuple[Source, tuple[Guard, ...]]:
    """A function in which ``a.flat`` is ``a.ravel()`` where it is only run through, and on what that rests."""
    if not any(isinstance(node, gast.Attribute) and node.attr == "flat" for node in nodes_of(source.node)):
        return source, ()
    names = [node for node in nodes_of(source.node) if isinstance(node, gast.Name)]
    resolver = Resolver(source.function, frozenset(n.id for n in names if not isinstance(n.ctx, gast.Load)))
    node = copy.deepcopy(source.node)
    found = {id(part) for part in _run_through(node, resolver.lookup)}
    if not found:
        return source, ()
    return replace(source, node=_Flattening(found).visit(node)), tuple(resolver.guards.values())


class _Flattening(gast.NodeTransformer):  # type: ignore[misc]
    """Calls ``ravel`` in place of some attributes, and of calls of ``np.array``, which are known by identity."""

    def __init__(self, found: set[int]) -> None:
        self.found = found

    def visit_Call(self, node: Node) -> Node:
        self.generic_visit(node)
        return node.args[0] if id(node) in self.found else node

    def visit_Attribute(self, node: Node) -> Node:
        self.generic_visit(node)
        if id(node) not in self.found:
            return node
        node.attr = "ravel"
        return gast.copy_location(gast.Call(node, [], []), node)


def _run_through(function: Node, lookup: Lookup) -> Iterator[Node]:
    """The attributes ``flat`` that are run through while nothing is written, and calls that make an array of one."""
    for node in nodes_of(function):
        match node:
            case gast.Call(args=[gast.Attribute(attr="flat")], keywords=[]) if lookup(node.func)[1] is np.array:
                yield node
                yield node.args[0]
            case gast.Assign(targets=[gast.Tuple() | gast.List()]):
                yield from _flat(node.value)
            case gast.Call(keywords=[]) if any(lookup(node.func)[1] is f for f in _AT_ONCE):
                yield from (part for a in node.args for part in _flat(a))
            case gast.For() if not any(_may_write(n, lookup) for s in node.body for n in nodes_of(s)):
                yield from _of_loop(node.iter, lookup)
            case _ if isinstance(node, _LOOPS) and not any(_may_write(n, lookup) for n in nodes_of(node)):
                yield from (part for loop in node.generators for part in _of_loop(loop.iter, lookup))


def _of_loop(iterable: Node, lookup: Lookup) -> Iterator[Node]:
    """The attributes ``flat`` that a loop over an expression runs through."""
    if isinstance(iterable, gast.Call) and any(lookup(iterable.func)[1] is f for f in _LATER):
        yield from (part for a in iterable.args for part in _flat(a))
    else:
        yield from _flat(iterable)


def _flat(node: Node) -> Iterator[Node]:
    if isinstance(node, gast.Attribute) and node.attr == "flat":
        yield node


def _may_write(node: Node, lookup: Lookup) -> bool:
    """Whether a part of a loop may write into an array; a name may be given another number."""
    if isinstance(node, (gast.Subscript, gast.Attribute)):
        return not isinstance(node.ctx, gast.Load)
    if isinstance(node, gast.Call):
        # What is not found has no operation either.
        known = ops.spec_of(lookup(node.func)[1])
        plain = known is not None and not (known.writes or known.calls or known.stores)
        return not plain or any(k.arg in (None, "out") for k in node.keywords)
    return False
