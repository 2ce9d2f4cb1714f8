"""Methods that a function gives names, read where they are called.

push = out.append                ->  for v in x:
for v in x:                              out.append(v * v)
    push(v * v)

An object of a built-in class has the same method whenever it is asked for it; what a function or class of the user's
makes may have another one each time.  So this is done for names of such methods, where both the method's and the
object's own name have one value, and the method is called only.
"""

from __future__ import annotations

import contextlib
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gast

from s2sad.frontend.scopes import captures
from s2sad.frontend.source import Source
from s2sad.frontend.trees import nodes_of
from s2sad.runtime.classes import METHODS, own_class
from s2sad.runtime.contents import cells_of

Node = Any
#: What reads variables by their names.
_REFLECTING = frozenset({"locals", "vars", "eval", "exec", "dir", "globals"})


def with_methods_called(source: Source) -> Source:
    """A function in which such methods are read where they are called.

    Example:
        >>> from s2sad.frontend.source import read_source
        >>> def squares(x):
        ...     out = []
        ...     push = out.append
        ...     for v in x:
        ...         push(v * v)
        ...     return out
        >>> print(gast.unparse(with_methods_called(read_source(squares)).node))
        def squares(x):
            out = []
            for v in x:
                out.append(v * v)
            return out
    """
    named = {stmt: dict(_named(stmt)) for stmt in source.node.body if isinstance(stmt, gast.Assign)}
    methods = {name: method for found in named.values() for name, method in found.items()}
    if not methods:
        return source
    nodes = nodes_of(source.node)
    bound = Counter(name for node in nodes for name in _bound(node))
    stored = {n.attr for n in nodes if isinstance(n, gast.Attribute) and not isinstance(n.ctx, gast.Load)}
    read = Counter(n.id for n in nodes if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load))
    called = Counter(n.func.id for n in nodes if isinstance(n, gast.Call) and isinstance(n.func, gast.Name))
    methods = {
        name: method
        for name, method in methods.items()
        if bound[name] == bound[method.value.id] == 1 and read[name] == called[name] and method.attr not in stored
    }
    own = set(_made_by_users(nodes, source)) if methods else ()
    methods = {name: method for name, method in methods.items() if method.value.id not in own}
    if not methods or read.keys() & _REFLECTING:
        return source
    made = copy.deepcopy(source.node)
    body: list[Node] = []
    for stmt, old in zip(made.body, source.node.body, strict=True):
        body += _without(stmt, methods.keys() & named.get(old, {}).keys())
    made.body = body or [gast.Pass()]
    return replace(source, node=_Called(methods).visit(made))


class _Called(gast.NodeTransformer):  # type: ignore[misc]
    """Puts methods in place of their names."""

    def __init__(self, methods: dict[str, Node]) -> None:
        self.methods = methods

    def visit_Call(self, node: Node) -> Node:
        self.generic_visit(node)
        method = self.methods.get(node.func.id) if isinstance(node.func, gast.Name) else None
        if method is not None:
            node.func = gast.copy_location(copy.deepcopy(method), node.func)
        return node


def _named(stmt: Node) -> Iterator[tuple[str, Node]]:
    """The names that an assignment gives methods, and these."""
    for target, value in _pairs(stmt):
        if isinstance(target, gast.Name) and isinstance(value, gast.Attribute) and value.attr in METHODS:
            if isinstance(value.value, gast.Name):
                yield target.id, value


def _made_by_users(nodes: list[Node], source: Source) -> Iterator[str]:
    """The names that are given what calls of functions and classes of the user's make."""
    space, cells = source.function.__globals__, cells_of(source.function)
    for stmt in nodes:
        for target, value in _pairs(stmt) if isinstance(stmt, gast.Assign) else ():
            if isinstance(target, gast.Name) and isinstance(value, gast.Call) and isinstance(value.func, gast.Name):
                name = value.func.id
                with contextlib.suppress(ValueError):  # a cell may be empty
                    made = cells[name].cell_contents if name in cells else space.get(name)
                    if made is not None and own_class(made) is not None:
                        yield target.id


def _pairs(stmt: Node) -> list[tuple[Node, Node]]:
    """The targets and values of an assignment, one by one where both are displays."""
    if len(stmt.targets) != 1:
        return []
    (target,) = stmt.targets
    displays = (gast.Tuple, gast.List)
    if isinstance(target, displays) and isinstance(stmt.value, displays):
        parts = (*target.elts, *stmt.value.elts)
        if len(target.elts) == len(stmt.value.elts) and not any(isinstance(p, gast.Starred) for p in parts):
            return list(zip(target.elts, stmt.value.elts, strict=True))
    return [(target, stmt.value)]


def _without(stmt: Node, names: set[str]) -> list[Node]:
    """What is left of an assignment without those of some names."""
    if not names:
        return [stmt]
    left = [(t, v) for t, v in _pairs(stmt) if not (isinstance(t, gast.Name) and t.id in names)]
    if not left:
        return []
    if len(left) == 1:
        stmt.targets, stmt.value = [left[0][0]], left[0][1]
    else:
        stmt.targets[0].elts, stmt.value.elts = [t for t, _ in left], [v for _, v in left]
    return [stmt]


def _bound(node: Node) -> Iterator[str]:
    """The names that a node binds, those that it declares to be another function's twice."""
    match node:
        case gast.Name() if not isinstance(node.ctx, gast.Load):
            yield node.id
        case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.ClassDef():
            yield node.name
        case gast.alias():
            yield (node.asname or node.name).partition(".")[0]
        case gast.Global() | gast.Nonlocal():
            yield from (*node.names, *node.names)
        case gast.MatchAs() | gast.MatchStar() | gast.MatchMapping():
            yield from captures(node)
