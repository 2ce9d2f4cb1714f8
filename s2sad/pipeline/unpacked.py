"""Arrays of which the rows are written, and that have no name where they are unpacked.

a, b = np.zeros((2, n))          t = np.zeros((2, n))
a[0] = x[0]                      a, b = t
                                 a[0] = x[0]
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from s2sad.analysis.effects import Effects
from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Assign, Block, Function, Stmt, Unpack, Var
from s2sad.ir.traverse import map_stmt, walk, writes


def with_named_arrays(function: Function, facts: Facts, shared: Effects) -> Function:
    """``function`` with names for such arrays, of which the rows are views; itself where there are none."""
    touched = shared.written | shared.versions.keys()
    unpacked = [s for s in walk(function.body) if isinstance(s, Unpack) and not isinstance(s.value, Var)]
    wanted = [s for s in unpacked if any(not touched.isdisjoint(shared.group.get(t, (t,))) for t in s.targets)]
    wanted = [s for s in wanted if facts.get(s.value).kind in ("array", "numeric")]
    if not wanted:
        return function
    used = {name for stmt in walk(function.body) for name in writes(stmt)}
    names = (name for n in itertools.count(1) if (name := f"~t.{n}") not in used)

    def named(block: Block) -> Block:
        made: list[Stmt] = []
        for stmt in block:
            if any(stmt is one for one in wanted) and isinstance(stmt, Unpack):
                name = next(names)
                made += [Assign(name, stmt.value, stmt.origin), replace(stmt, value=Var(name))]
            else:
                made.append(map_stmt(stmt, lambda e: e, named))
        return tuple(made)

    return replace(function, body=named(function.body))
