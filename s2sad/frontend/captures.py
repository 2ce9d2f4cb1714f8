"""Functions and generators that see variables as they are when they run, not as they are where they are written."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator
from typing import Any

import gast

from s2sad import ops
from s2sad.frontend.dependence import free_names
from s2sad.frontend.given import Lookup, given
from s2sad.frontend.writing import harmless_lambdas, written_in

Node = Any


def late_captures(nodes: list[Node], params: Iterable[str], lookup: Lookup) -> Iterator[tuple[Node, str, str]]:
    """Those among the nodes of a function that may see another value later, each with what it does and a remedy."""
    params = set(params)
    stores = [n.id for n in nodes if isinstance(n, gast.Name) and isinstance(n.ctx, (gast.Store, gast.Del))]
    stores += [s.target.id for s in nodes if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name)]
    stores += params
    harmless = params.union(harmless_lambdas(nodes, lookup))
    several = {name for name, count in collections.Counter(stores).items() if count > 1}
    at_once: set[int] = set()
    taken: set[int] = set()
    for node in nodes:
        if isinstance(node, gast.Call):
            at_once.add(id(node.func))
            # Of a method it is not known whether it is that of a built-in class.
            found = at_once if lookup(node.func)[0] else taken
            found.update(map(id, given(node, lookup).finished()))
    for node in nodes:
        if isinstance(node, (gast.Lambda, gast.GeneratorExp)) and id(node) not in at_once:
            seen = sorted(several & set(free_names(node, frozenset())))
            if seen:
                what = f"this sees {', '.join(seen)} as of when it runs, and {seen[0]} is assigned more than once"
                yield node, what, "Assign the value to a name of its own before."
        lazy = isinstance(node, gast.Call) and _is_lazy(ops.spec_of(lookup(node.func)[1]))
        if (lazy or isinstance(node, gast.GeneratorExp)) and id(node) not in at_once | taken:
            # Of functions that are given, or are no more than an expression, it is known what they write.
            first = node.args[0].id if lazy and node.args and isinstance(node.args[0], gast.Name) else ""
            known = first in harmless and stores.count(first) == 1
            if any(any(written_in(p, lookup)) for p in (node.args[1:] if known else [node])):
                what = "this may write, and does when it is asked for the next item"
                yield node, what, "Write a loop, or make a list of it at once (list(...))."


def _is_lazy(spec: ops.OpSpec | None) -> bool:
    """Whether what an operation calls, it calls when it is asked for the next item."""
    return spec is not None and spec.defers == "items" and bool(spec.calls)
