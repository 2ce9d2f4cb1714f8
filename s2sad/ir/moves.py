"""Moves into join names that nothing reads are left out.

The name that a loop gives a variable at its head, and a branch at its end, is read by nobody where each iteration, or
what follows, assigns the variable first.  Pruned form of static single assignment (Briggs et al., "Practical
improvements to the construction and destruction of static single assignment form", 1998, section 2.2).
"""

from __future__ import annotations

from dataclasses import replace

from s2sad.ir.nodes import Block, Copy, Function, Stmt
from s2sad.ir.traverse import map_stmt, names_in, reads, walk


def without_dead_moves(function: Function) -> Function:
    """``function`` without the moves into names that are at most moved on into other such names."""
    sources: dict[str, set[str]] = {}
    read = set(names_in(function.result))
    for stmt in walk(function.body):
        if isinstance(stmt, Copy):
            for target, source in zip(stmt.targets, stmt.sources, strict=True):
                sources.setdefault(target, set()).update(names_in(source))
        else:
            read.update(reads(stmt))
    waiting = [target for target in sources if target in read]
    while waiting:
        for name in sources[waiting.pop()] - read:
            read.add(name)
            if name in sources:
                waiting.append(name)
    dead = sources.keys() - read
    return replace(function, body=_without(function.body, dead)) if dead else function


def _without(block: Block, dead: set[str]) -> Block:
    out: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, Copy):
            kept = [(t, s) for t, s in zip(stmt.targets, stmt.sources, strict=True) if t not in dead]
            if not kept:
                continue
            stmt = replace(stmt, targets=tuple([t for t, _ in kept]), sources=tuple([s for _, s in kept]))
        out.append(map_stmt(stmt, lambda e: e, lambda b: _without(b, dead)))
    return tuple(out)
