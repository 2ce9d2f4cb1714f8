"""Which variables of a function may have no value where they are read: definite assignment, as for Java.

    if x > 0:                for k in range(n):
        z = x                    if x > k:
    return z                         z = x
                                     break
    (z may have none)        else:
                                 z = k
                             return z      (z surely has one)

Reference: Gosling et al., The Java Language Specification, chapter 16.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from s2sad.frontend.dependence import bound_names
from s2sad.frontend.trees import nodes_of

Node = Any
#: The variables that surely have a value; None where nothing comes to.
_Bound = frozenset[str] | None
_OWN_SCOPES = (
    gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp,
    gast.GeneratorExp,
)  # fmt: skip
_IMPORTS = (gast.Import, gast.ImportFrom)


def read_without_value(function: Node) -> frozenset[str]:
    """The local variables of a function that may have no value at some place where it reads them.

    Those that functions and comprehensions inside read are left out.
    """
    params = frozenset(n.id for n in nodes_of(function.args) if isinstance(n, gast.Name))
    return frozenset(_Reads(function.body, params).found)


class _Reads:
    def __init__(self, body: list[Node], given: frozenset[str]) -> None:
        self.found: set[str] = set()
        self.local = given.union(*map(_given_by, body))
        #: What surely has a value where each loop around a statement is left.
        self.breaks: list[list[_Bound]] = []
        self.block(body, given)

    def block(self, body: Iterable[Node], bound: _Bound) -> _Bound:
        for s in body:
            if bound is None:
                return None
            bound = self.statement(s, bound)
        return bound

    def statement(self, s: Node, bound: frozenset[str]) -> _Bound:
        match s:
            case gast.If():
                bound = self.read(s.test, bound)
                return _meet(self.block(s.body, bound), self.block(s.orelse, bound))
            case gast.For() | gast.AsyncFor() | gast.While():
                return self.loop(s, bound)
            case gast.Break():
                self.breaks[-1].append(bound)
                return None
            case gast.Continue():
                return None
            case gast.Return() | gast.Raise():
                self.read(s, bound)
                return None
            case gast.Try():
                body = self.block([*s.body, *s.orelse], bound)
                handled = [self.block(h.body, bound | ({h.name.id} if h.name else set())) for h in s.handlers]
                after = _meet(body, *handled)
                last = self.block(s.finalbody, bound)
                return None if after is None or last is None else after | last
            case gast.With() | gast.AsyncWith():
                for item in s.items:
                    bound = self.read(item, bound)
                return self.block(s.body, bound)
            case gast.Match():
                bound = self.read(s.subject, bound)
                return _meet(bound, *[self.block(case.body, bound | frozenset(_given_by(case))) for case in s.cases])
            case gast.Delete():
                return self.read(s, bound) - {n for t in s.targets for n in bound_names(t)}
            case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.ClassDef():
                return bound | {s.name}
        return self.read(s, bound)

    def loop(self, s: Node, bound: frozenset[str]) -> _Bound:
        bound = self.read(s.test if isinstance(s, gast.While) else s.iter, bound)
        inside = bound if isinstance(s, gast.While) else bound | set(bound_names(s.target))
        self.breaks.append([])
        self.block(s.body, inside)
        forever = isinstance(s, gast.While) and isinstance(s.test, gast.Constant) and bool(s.test.value)
        left = self.breaks.pop()
        return _meet(None if forever else self.block(s.orelse, bound), *left)

    def read(self, tree: Node, bound: frozenset[str]) -> frozenset[str]:
        """Note what an expression or simple statement reads; what surely has a value after it."""
        pending = [tree]
        while pending:
            node = pending.pop()
            if isinstance(node, _OWN_SCOPES):
                continue
            if isinstance(node, gast.Name) and (isinstance(node.ctx, gast.Load) or isinstance(tree, gast.AugAssign)):
                if node.id in self.local and node.id not in bound:
                    self.found.add(node.id)
            pending += gast.iter_child_nodes(node)
        return bound | frozenset(_given_by(tree))


def _given_by(tree: Node) -> set[str]:
    """The variables that a statement or expression gives a value, in some place."""
    nodes = nodes_of(tree)
    names = {n.id for n in nodes if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}
    names |= {n.name for n in nodes if isinstance(n, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef))}
    names |= {a.asname or a.name.partition(".")[0] for n in nodes if isinstance(n, _IMPORTS) for a in n.names}
    return names


def _meet(*ways: _Bound) -> _Bound:
    """What surely has a value where several ways meet."""
    known = [bound for bound in ways if bound is not None]
    return frozenset.intersection(*known) if known else None
