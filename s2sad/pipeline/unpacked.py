"""Names for what is written in place where it has none: arrays that are unpacked, and what is put into containers.

a, b = np.zeros((2, n))          t = np.zeros((2, n))
a[0] = x[0]                      a, b = t
                                 a[0] = x[0]

rows.append([0.0] * n)           t = [0.0] * n
rows[0][1] = x[0]                rows.append(t)
                                 rows[0][1] = x[0]
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from s2sad.analysis.effects import Effects
from s2sad.analysis.infer import Facts
from s2sad.analysis.versions import is_change
from s2sad.ir.nodes import Assign, Block, Call, Expr, Function, Stmt, Unpack, Var
from s2sad.ir.traverse import map_stmt, walk, writes


def with_named_arrays(function: Function, facts: Facts, shared: Effects) -> Function:
    """``function`` with names for such arrays and lists, of which parts are written; itself where there are none."""
    touched = shared.written | shared.versions.keys()
    wanted = {
        id(stmt): value
        for stmt in walk(function.body)
        for value in _nameless(stmt, facts)
        if any(not touched.isdisjoint(shared.group.get(t, (t,))) for t in writes(stmt))
    }
    if not wanted:
        return function
    used = {name for stmt in walk(function.body) for name in writes(stmt)}
    names = (name for n in itertools.count(1) if (name := f"~t.{n}") not in used)

    def named(block: Block) -> Block:
        made: list[Stmt] = []
        for stmt in block:
            if id(stmt) in wanted:
                name = next(names)
                made += [Assign(name, wanted[id(stmt)], stmt.origin), _with(stmt, Var(name))]
            else:
                made.append(map_stmt(stmt, lambda e: e, named))
        return tuple(made)

    return replace(function, body=named(function.body))


def _nameless(stmt: Stmt, facts: Facts) -> Iterator[Expr]:
    """An array that a statement unpacks, or a list or array that it puts into a container, without a name."""
    match stmt:
        case Unpack(value=Call() as value) if facts.get(value).kind in ("array", "numeric"):
            yield value
        case Assign(value=Call(args=(*_, Call() as item)) as change) if is_change(change):
            if facts.get(item).kind in ("array", "list"):
                yield item


def _with(stmt: Stmt, name: Var) -> Stmt:
    """A statement with a name for what had none."""
    if isinstance(stmt, Assign) and isinstance(stmt.value, Call):
        return replace(stmt, value=replace(stmt.value, args=(*stmt.value.args[:-1], name)))
    assert isinstance(stmt, Unpack)
    return replace(stmt, value=name)
