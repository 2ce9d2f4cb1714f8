"""Which names may share an object, and which objects are written in place.

Sharing is found by unification (Steensgaard 1996): every assignment that may hand
on an object joins its names into one group, whatever the order of
statements.  Numbers cannot be written in place, so scalars share nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from s2sad import rules
from s2sad.analysis.infer import Facts
from s2sad.frontend.writing import may_write
from s2sad.ir.nodes import (
    Assign,
    Build,
    Call,
    Const,
    Copy,
    Effect,
    Evaluate,
    Expr,
    For,
    Function,
    Global,
    Opaque,
    Slice,
    Stmt,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import base, expressions, names_in, subexpressions, walk
from s2sad.runtime import own


@dataclass(frozen=True)
class Effects:
    """``shared`` maps a name to its group where that has several names.

    ``written`` are the names whose object may be written in place.  ``private`` are those of them whose object only
    successive versions of one variable refer to, by augmented assignment alone: writing in place and
    making a new value cannot be told apart there.  ``outside`` are names whose object the caller
    or the module may hold as well.
    """

    group: dict[str, frozenset[str]]
    written: frozenset[str]
    private: frozenset[str]
    outside: frozenset[str]

    def objects(self) -> dict[str, frozenset[str]]:
        """For each name whose object may be written so that others see it: all names that may share it."""
        return {n: self.group.get(n, frozenset({n})) for n in self.written - self.private}


_OUTSIDE = "<outside>"


class _Union:
    def __init__(self) -> None:
        self.parent: dict[str, str] = {}

    def find(self, name: str) -> str:
        parent = self.parent.setdefault(name, name)
        while parent != self.parent[parent]:
            self.parent[parent] = self.parent[self.parent[parent]]
            parent = self.parent[parent]
        self.parent[name] = parent
        return parent

    def join(self, a: str, b: str) -> None:
        self.parent[self.find(a)] = self.find(b)


def sharers(expr: Expr, facts: Facts) -> Iterator[str]:
    """The names whose objects the value of ``expr`` may be, view or hold."""
    match expr:
        case Var(name=name):
            if facts.of.get(name) is None or facts.of[name].kind != "scalar":
                yield name
        case Global():
            if facts.get(expr).kind != "scalar":
                yield f"{_OUTSIDE}{expr.text}"
        case Const() | Slice():
            return
        case Build(items=items):
            for item in items:
                yield from sharers(item, facts)
        case Opaque(names=names, pure=pure):
            yield from (name for _, name in names)
            if not pure:
                yield _OUTSIDE
        case Call(op=op, args=args):
            function = op.function
            if facts.get(expr).kind == "scalar" and op.kind != "user":
                return
            if op.kind in ("compare", "operator") or (op.kind == "bool" and op.name == "not"):
                return
            if op.kind in ("bool", "ifexp", "user"):
                for arg in args:
                    yield from sharers(arg, facts)
                for _, value in expr.kwargs:
                    yield from sharers(value, facts)
                if op.kind == "user":
                    yield _OUTSIDE
                return
            if (op.kind == "method" and op.name in ("copy", "flatten")) or function is own:
                return
            if op.kind in ("index", "attribute", "inplace"):
                yield from sharers(args[0], facts)
                return
            rule = rules.find(function)
            if rule is not None and rule.sharing == "fresh":
                return
            if function in (
                np.zeros,
                np.ones,
                np.empty,
                np.full,
                np.arange,
                np.zeros_like,
                np.ones_like,
                np.empty_like,
            ):
                return
            if isinstance(function, np.ufunc) or function in (float, int, len, abs, range, str, bool):
                return
            for arg in args:
                yield from sharers(arg, facts)
            for _, value in expr.kwargs:
                yield from sharers(value, facts)


def effects(function: Function, facts: Facts) -> Effects:
    """Find the groups of names that may share objects, and the objects that are written."""
    union = _Union()
    seen: dict[str, None] = {}
    stored: set[str] = set()
    augmented: set[str] = set()

    def link(value: Expr, targets: tuple[str, ...]) -> None:
        for target in targets:
            seen[target] = None
            fact = facts.of.get(target)
            if fact is not None and fact.kind == "scalar":
                continue
            for name in sharers(value, facts):
                seen[name] = None
                union.join(target, name)

    for param in function.params:
        seen[param.name] = None
        fact = facts.of.get(param.name)
        if fact is None or fact.kind != "scalar":
            union.join(param.name, f"{_OUTSIDE}{param.name}")
    for stmt in walk(function.body):
        match stmt:
            case Assign(target=target, value=value):
                link(value, (target,))
                if isinstance(value, Call) and value.op.kind == "inplace":
                    left = value.args[0]
                    if facts.get(left).kind != "scalar":
                        augmented.update(sharers(left, facts))
                        augmented.add(target)
            case Copy(targets=targets, sources=sources):
                for target, source in zip(targets, sources, strict=True):
                    link(source, (target,))
            case Unpack(targets=targets, value=value):
                link(value, targets)
            case For(targets=targets, iters=iters):
                for target, iterable in zip(targets, iters, strict=True):
                    link(iterable, (target,))
            case Store(base=target_, value=value):
                stored.update(sharers(target_, facts))
                if facts.get(target_).kind != "array":
                    for name in sharers(target_, facts):
                        link(value, (name,))
            case _:
                pass
        stored.update(n for n in written_by_calls(stmt) if facts.of.get(n) is None or facts.of[n].kind != "scalar")
    groups: dict[str, set[str]] = {}
    for name in union.parent:
        groups.setdefault(union.find(name), set()).add(name)
    group: dict[str, frozenset[str]] = {}
    written: set[str] = set()
    private: set[str] = set()
    outside: set[str] = set()
    for members in groups.values():
        own = frozenset(m for m in members if not m.startswith(_OUTSIDE))
        beyond = len(own) < len(members)
        for name in own:
            group[name] = own
            if beyond:
                outside.add(name)
        if members & (stored | augmented):
            written |= own
            bases = {base(n) for n in own} | {m for m in members if m.startswith(_OUTSIDE) and "." not in m}
            if not members & stored and len(bases) == 1:
                private |= own
    for name in (stored | augmented) - set(group):
        if not name.startswith(_OUTSIDE):
            group[name] = frozenset({name})
            written.add(name)
            if name in augmented and name not in stored:
                private.add(name)
    return Effects(group, frozenset(written), frozenset(private), frozenset(outside))


def written_by(stmt: Stmt) -> set[str]:
    """The names whose objects a statement itself may write, by stores, augmented assignment or calls."""
    found = set(written_by_calls(stmt))
    if isinstance(stmt, Store):
        found.update(names_in(stmt.base))
    if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "inplace":
        found.update(names_in(stmt.value.args[0]))
        found.add(stmt.target)
    return found


def written_by_calls(stmt: Stmt) -> Iterator[str]:
    """The names whose objects the calls in a statement may write."""
    if isinstance(stmt, Effect):
        yield from stmt.writes
    elif isinstance(stmt, Evaluate):
        yield from names_in(stmt.value)
    for expr in expressions(stmt):
        for inner in subexpressions(expr):
            if isinstance(inner, Opaque):
                yield from inner.writes
            elif isinstance(inner, Call) and inner.op.kind == "user" and may_write(inner.op.function):  # type: ignore[arg-type]
                yield from names_in(inner)
