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

from collections.abc import Iterable, Iterator
from typing import Any

import gast

from s2sad.frontend.trees import nodes_of

Node = Any
#: The variables that surely have a value; None where nothing comes to.
_Bound = frozenset[str] | None
_OWN_SCOPES = (
    gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp,
    gast.GeneratorExp,
)  # fmt: skip
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_IMPORTS = (gast.Import, gast.ImportFrom)


def read_without_value(function: Node) -> frozenset[str]:
    """The local variables of a function that may have no value at some place where it reads them.

    Those that functions and comprehensions inside read are left out.
    """
    params = frozenset(n.id for n in nodes_of(function.args) if isinstance(n, gast.Name))
    return frozenset(_Reads(function.body, params).found)


def read_in_any_case(node: Node) -> Iterator[str]:
    """The variables that an expression or simple statement reads whenever it is evaluated.

    Example:
        >>> list(read_in_any_case(gast.parse("w = a + (b if c else d) and e").body[0]))
        ['a', 'c']
    """
    later = {n.target.id for n in nodes_of(node) if isinstance(n, gast.NamedExpr)}
    return (name for name in _surely_read(node) if name not in later)


def _surely_read(node: Node) -> Iterator[str]:
    match node:
        case gast.Name():
            if not isinstance(node.ctx, gast.Store):
                yield node.id
            return
        case gast.BoolOp():
            parts = node.values[:1]
        case gast.IfExp():
            parts = [node.test]
        case gast.Compare():
            parts = [node.left, node.comparators[0]]
        case gast.AugAssign(target=gast.Name(id=name)):
            yield name
            parts = [node.value]
        case _ if isinstance(node, _OWN_SCOPES):
            parts = [node.generators[0].iter] if isinstance(node, _COMPREHENSIONS) else []
        case _:
            parts = gast.iter_child_nodes(node)
    for part in parts:
        yield from _surely_read(part)


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
                true, false = self.condition(s.test, bound)
                return _meet(self.block(s.body, true), self.block(s.orelse, false))
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
                raised = bound - _deleted(s)
                handled = [_without(self.block(h.body, raised | _names(h)), _names(h)) for h in s.handlers]
                after = _meet(body, *handled)
                last = self.block(s.finalbody, raised)
                return None if after is None or last is None else after | last
            case gast.With() | gast.AsyncWith():
                for item in s.items:
                    bound = self.read(item, bound)
                return self.block(s.body, bound)
            case gast.Match():
                bound = self.read(s.subject, bound)
                ways: list[_Bound] = [bound]
                for case in s.cases:
                    inside = bound | frozenset(_given_by(case.pattern))
                    inside = inside if case.guard is None else self.condition(case.guard, inside)[0]
                    ways.append(self.block(case.body, inside))
                return _meet(*ways)
            case gast.Delete():
                return self.read(s, bound) - _deleted(s)
            case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.ClassDef():
                return bound | {s.name}
        return self.read(s, bound) | frozenset(_given_by(s) if isinstance(s, _IMPORTS) else ())

    def loop(self, s: Node, bound: frozenset[str]) -> _Bound:
        bound -= _deleted(s)
        if isinstance(s, gast.While):
            inside, bound = self.condition(s.test, bound)
        else:
            bound = self.read(s.iter, bound)
            inside = self.read(s.target, bound)
        self.breaks.append([])
        self.block(s.body, inside)
        forever = isinstance(s, gast.While) and isinstance(s.test, gast.Constant) and bool(s.test.value)
        left = self.breaks.pop()
        return _meet(None if forever else self.block(s.orelse, bound), *left)

    def read(self, tree: Node, bound: frozenset[str]) -> frozenset[str]:
        """Note what an expression or simple statement reads; what surely has a value after it."""
        match tree:
            case gast.Name(ctx=gast.Store()):
                return bound | {tree.id}
            case gast.Name():
                if tree.id in self.local and tree.id not in bound:
                    self.found.add(tree.id)
                return bound
            case gast.Assign():
                parts = [tree.value, *tree.targets]
            case gast.AnnAssign(value=None):
                return bound
            case gast.AnnAssign() | gast.NamedExpr():
                parts = [tree.value, tree.target]
            case gast.AugAssign(target=gast.Name(id=name)):
                self.read(gast.Name(name, gast.Load(), None, None), bound)
                parts = [tree.value, tree.target]
            case gast.BoolOp() | gast.UnaryOp(op=gast.Not()):
                return frozenset.intersection(*self.condition(tree, bound))
            case gast.IfExp():
                true, false = self.condition(tree.test, bound)
                return self.read(tree.body, true) & self.read(tree.orelse, false)
            case gast.Compare():
                bound = inside = self.read(tree.comparators[0], self.read(tree.left, bound))
                for part in tree.comparators[1:]:
                    inside = self.read(part, inside)
                return bound
            case _ if isinstance(tree, _OWN_SCOPES):
                return self.read(tree.generators[0].iter, bound) if isinstance(tree, _COMPREHENSIONS) else bound
            case _:
                parts = gast.iter_child_nodes(tree)
        for part in parts:
            bound = self.read(part, bound)
        return bound

    def condition(self, test: Node, bound: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
        """What surely has a value where a condition holds, and where it does not."""
        match test:
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                true, false = self.condition(operand, bound)
                return false, true
            case gast.BoolOp(op=op, values=[first, *rest]):
                ends: list[frozenset[str]] = []
                true, false = self.condition(first, bound)
                for value in rest:
                    ends.append(false if isinstance(op, gast.And) else true)
                    true, false = self.condition(value, true if isinstance(op, gast.And) else false)
                if isinstance(op, gast.And):
                    return true, frozenset.intersection(false, *ends)
                return frozenset.intersection(true, *ends), false
        after = self.read(test, bound)
        return after, after


def _given_by(tree: Node) -> set[str]:
    """The variables that a statement or expression gives a value, in some place."""
    nodes = nodes_of(tree)
    names = {n.id for n in nodes if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}
    names |= {n.name for n in nodes if isinstance(n, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef))}
    names |= {a.asname or a.name.partition(".")[0] for n in nodes if isinstance(n, _IMPORTS) for a in n.names}
    return names


def _deleted(tree: Node) -> frozenset[str]:
    """The variables that have no value after some place in a statement: those of ``del`` and of handlers."""
    nodes = nodes_of(tree)
    names = {n.id for n in nodes if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Del)}
    return frozenset(names.union(*[_names(n) for n in nodes if isinstance(n, gast.ExceptHandler)]))


def _names(handler: Node) -> frozenset[str]:
    """The name that a handler gives to what it has caught."""
    return frozenset({handler.name.id} if handler.name else ())


def _without(bound: _Bound, names: frozenset[str]) -> _Bound:
    return None if bound is None else bound - names


def _meet(*ways: _Bound) -> _Bound:
    """What surely has a value where several ways meet."""
    known = [bound for bound in ways if bound is not None]
    return frozenset.intersection(*known) if known else None
