"""Replace a join name that only ever gets one value by that value.

x_bar.2 = x_bar.1                x_bar.1[i] += g
for i in ...: x_bar.2[i] += g    (nothing moves into x_bar.2 in the loop)
"""

from __future__ import annotations

from dataclasses import replace

from s2sad.ir.nodes import Assign, Block, Const, Copy, Expr, Function, Stmt, Var
from s2sad.ir.traverse import map_stmt, rename, walk, writes


def remove_trivial_joins(function: Function) -> Function:
    """Remove joins with a single source, and assignments of names and literals to adjoints."""
    while True:
        names = _single(function)
        if not names:
            return function
        body = _replaced(function.body, names)
        reverse = None if function.reverse is None else _replaced(function.reverse, names)
        function = replace(function, body=body, reverse=reverse, result=rename(function.result, names))


def _single(function: Function) -> dict[str, Expr]:
    sources: dict[str, set[Expr]] = {}
    assigned: dict[str, int] = {}
    adjoint = {name for s in walk(function.reverse or ()) for name in writes(s)}
    for stmt in walk((*function.body, *(function.reverse or ()))):
        if isinstance(stmt, Copy):
            for target, source in zip(stmt.targets, stmt.sources, strict=True):
                if isinstance(source, (Var, Const)):
                    if source != Var(target):
                        sources.setdefault(target, set()).add(source if isinstance(source, Var) else Var(repr(source)))
                else:
                    sources.setdefault(target, set()).update({Var("?"), Var("??")})
        for target in writes(stmt):
            assigned[target] = assigned.get(target, 0) + 1
    found: dict[str, Expr] = {}
    for target, values in sources.items():
        if target not in adjoint or len(values) != 1:
            continue
        (source,) = values
        assert isinstance(source, Var)
        if assigned.get(source.name) == 1 and source.name not in sources and source.name not in found:
            found[target] = source
    for stmt in walk(function.reverse or ()):
        if isinstance(stmt, Assign) and stmt.target not in found and isinstance(stmt.value, (Var, Const)):
            value = stmt.value
            if isinstance(value, Const) or (
                assigned.get(value.name, 1) == 1 and value.name not in sources and value.name not in found
            ):
                found[stmt.target] = value
    return found


def _replaced(block: Block, names: dict[str, Expr]) -> Block:
    out: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, Copy):
            kept = [(t, rename(s, names)) for t, s in zip(stmt.targets, stmt.sources, strict=True) if t not in names]
            if kept:
                out.append(Copy(tuple(t for t, _ in kept), tuple(s for _, s in kept), stmt.origin))
        elif isinstance(stmt, Assign) and stmt.target in names:
            continue
        else:
            out.append(map_stmt(stmt, lambda e: rename(e, names), lambda b: _replaced(b, names)))
    return tuple(out)
