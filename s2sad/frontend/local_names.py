"""What ``locals()`` gives where it stands: a dict of the variables that have a value there, if that is known.

Each call gives a dict of its own, as it does since Python 3.13.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast

from s2sad.frontend.dependence import assigned
from s2sad.frontend.exposure import ends, sure
from s2sad.frontend.trees import nodes_of

Node = Any
_OWN_SCOPES = (
    gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp,
    gast.GeneratorExp,
)  # fmt: skip
_LOOPS = (gast.For, gast.AsyncFor, gast.While)
_NOT_LOOKED_INTO = (gast.Try, gast.With, gast.AsyncWith, gast.Match, gast.Delete, gast.Global, gast.Nonlocal)
_STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


@dataclass(frozen=True)
class Bound:
    """The variables that surely have a value, and those that may have one."""

    surely: frozenset[str]
    perhaps: frozenset[str]


def names_at_calls(function: Node, code: types.CodeType) -> dict[int, tuple[str, ...]]:
    """For calls without arguments, by their ``id``, the variables that have a value then, in the order of ``locals()``.

    Those at which it is not known are left out, and those in functions and comprehensions inside.
    """
    order = [*code.co_varnames, *(n for n in code.co_cellvars if n not in code.co_varnames), *code.co_freevars]
    count = code.co_argcount + code.co_kwonlyargcount + bin(code.co_flags & _STARS).count("1")
    given = frozenset((*code.co_varnames[:count], *code.co_freevars))
    found: dict[int, tuple[str, ...]] = {}
    for call, bound in _calls_in(function.body, Bound(given, given)):
        if bound.perhaps <= bound.surely <= set(order) - {"__class__"}:
            found[id(call)] = tuple([name for name in order if name in bound.surely])
    return found


def _calls_in(body: list[Node], bound: Bound) -> Iterator[tuple[Node, Bound]]:
    """The calls without arguments in some statements, with what has a value where each is evaluated."""
    for s in body:
        names = _names(s)
        bound = Bound(bound.surely - _unbound(s), bound.perhaps) if isinstance(s, _LOOPS) else bound
        again = Bound(bound.surely, bound.perhaps | names)
        if isinstance(s, gast.If):
            yield from _with(s.test, bound)
            yield from _calls_in(s.body, bound)
            yield from _calls_in(s.orelse, bound)
            left = [block for block in (s.body, s.orelse) if not ends(block)]
            surely = frozenset.intersection(*[frozenset(sure(block)) for block in left]) if left else frozenset[str]()
            perhaps = frozenset[str]().union(*[_names(inner) for block in left for inner in block])
            bound = Bound(bound.surely | surely, bound.perhaps | surely | perhaps)
        elif isinstance(s, _LOOPS):
            yield from _with(s.test, again) if isinstance(s, gast.While) else _with(s.iter, bound)
            yield from _calls_in([*s.body, *s.orelse], again)
            bound = again
        elif isinstance(s, _NOT_LOOKED_INTO):
            bound = again
        else:
            if not isinstance(s, _OWN_SCOPES):
                yield from _with(s, bound)
            bound = Bound(bound.surely | names, bound.perhaps | names)
        bound = Bound(bound.surely - _unbound(s), bound.perhaps)


def _unbound(s: Node) -> frozenset[str]:
    """The variables from which a statement may take their value: that of an exception is gone after its handler."""
    nodes = nodes_of(s)
    caught = [n.name for n in nodes if isinstance(n, gast.ExceptHandler) and n.name is not None]
    deleted = [n for n in nodes if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Del)]
    return frozenset([getattr(n, "id", n) for n in (*caught, *deleted)])


def _names(s: Node) -> frozenset[str]:
    """The variables that a statement may give a value, or take it from."""
    if isinstance(s, gast.AnnAssign) and s.value is None:
        return frozenset()
    if isinstance(s, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
        return frozenset((s.name,))
    nodes = nodes_of(s)
    found = {*assigned([s]), *(n.name for n in nodes if isinstance(n, (gast.FunctionDef, gast.ClassDef)))}
    for node in nodes:
        if isinstance(node, (gast.Import, gast.ImportFrom)):
            found |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    return frozenset(found)


def _with(tree: Node, bound: Bound) -> Iterator[tuple[Node, Bound]]:
    """The calls in an expression or simple statement; what that names as it is evaluated may have a value or not."""
    named = [n.target.id for n in nodes_of(tree) if isinstance(n, gast.NamedExpr)]
    yield from ((call, Bound(bound.surely, bound.perhaps.union(named))) for call in _calls(tree))


def _calls(tree: Node) -> Iterator[Node]:
    """The calls without arguments in an expression or simple statement that it runs itself."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, _OWN_SCOPES):
            continue
        if isinstance(node, gast.Call) and not node.args and not node.keywords:
            yield node
        pending += gast.iter_child_nodes(node)
