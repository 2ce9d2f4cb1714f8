"""Names for what is written in place where it has none: arrays that are unpacked, and what is put into containers.

a, b = np.zeros((2, n))          t = np.zeros((2, n))
a[0] = x[0]                      a, b = t
                                 a[0] = x[0]

rows.append([0.0] * n)           t = [0.0] * n
rows[0][1] = x[0]                rows.append(t)
                                 rows[0][1] = x[0]

p = start(x)                     t, u = start(x)
p[0][1] = x[0]                   p = t, u
                                 p[0][1] = x[0]

return p                         t, u = p[0], p[1]
                                 return t, u
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from s2sad.analysis.effects import Effects
from s2sad.analysis.infer import Facts
from s2sad.analysis.versions import is_change
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Expr, Function, Op, Stmt, Unpack, Var
from s2sad.ir.traverse import map_stmt, walk, writes
from s2sad.ir.types import Fact

_INDEX = Op("index", "[]")


def with_named_arrays(function: Function, facts: Facts, shared: Effects, apart: bool) -> Function:
    """``function`` with names for such arrays and lists, of which parts are written; itself where there are none.

    With ``apart`` its result may be written later: the items of one that is a tuple are results of their own.
    """
    touched = shared.written | shared.versions.keys()
    used = {name for stmt in walk(function.body) for name in writes(stmt)}
    names = (name for n in itertools.count(1) if (name := f"~t.{n}") not in used)

    def named(block: Block) -> Block:
        made: list[Stmt] = []
        for stmt in block:
            if any(not touched.isdisjoint(shared.group.get(t, (t,))) for t in writes(stmt)):
                first: list[Stmt] = []
                stmt = _with_names(stmt, facts, names, first)
                made += first
            made.append(map_stmt(stmt, lambda e: e, named))
        return tuple(made)

    body, result = named(function.body), function.result
    if apart and isinstance(result, Var) and _is_tuple(facts.of[result.name]):
        items = [Call(_INDEX, (result, Const(i))) for i in range(len(facts.of[result.name].items or ()))]
        parts = [Assign(next(names), item) for item in items]
        body, result = (*body, *parts), Build("tuple", tuple(Var(part.target) for part in parts))
    return function if body == function.body else replace(function, body=body, result=result)


def _with_names(stmt: Stmt, facts: Facts, names: Iterator[str], first: list[Stmt]) -> Stmt:
    """A statement with names for what it unpacks, repeats or puts into a container, which get them ``first``."""

    def name(value: Expr) -> Expr:
        made = Assign(next(names), value, stmt.origin)
        first.append(made)
        return Var(made.target)

    def item(value: Expr) -> Expr:
        """What is put into a container."""
        if isinstance(value, Build):
            return Build(value.kind, tuple(map(item, value.items)))
        known = facts.get(value)
        return name(value) if isinstance(value, Call) and known.kind in ("array", "list") else value

    match stmt:
        case Unpack(value=Call() as value) if facts.get(value).kind in ("array", "numeric"):
            return replace(stmt, value=name(value))
        case Assign(value=Call(args=(*rest, put)) as change) if is_change(change):
            shown = isinstance(put, Build) and put.kind == "list"
            return replace(stmt, value=replace(change, args=(*rest, name(item(put)) if shown else item(put))))
        case Assign(target=target, value=Call(op=Op(kind="user")) as call) if _is_tuple(facts.of[target]):
            parts = tuple([next(names) for _ in facts.of[target].items or ()])
            first.append(Unpack(parts, call, None, stmt.origin))
            return replace(stmt, value=Build("tuple", tuple(map(Var, parts))))
        case Assign(value=Build(kind="list" | "tuple") as display):
            return replace(stmt, value=item(display))
        case Assign(value=Call(op=Op(kind="operator", name="*"), args=(Build() as display, count)) as repeated):
            if any(facts.get(part).kind in ("array", "list") for part in display.items):
                return replace(stmt, value=replace(repeated, args=(name(item(display)), count)))
    return stmt


def _is_tuple(known: Fact) -> bool:
    """Whether something is surely a tuple of so many items."""
    return known.kind == "tuple" and bool(known.items)
