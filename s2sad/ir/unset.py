"""Variables that may have no value yet where they are saved, or moved to another name."""

from __future__ import annotations

from collections.abc import Iterator

from s2sad.ir.nodes import Block, Call, Const, Copy, Expr, For, If, Op, Stmt, Var, While
from s2sad.ir.traverse import base, loop_heads, walk, writes
from s2sad.runtime.objects import unset

_UNSET = Op("runtime", "unset", unset)


def unset_of(name: str) -> Expr:
    """What stands for a variable without a value."""
    return Call(_UNSET, (Const(base(name)),))


def set_first(body: Block, names: set[str], unbound: frozenset[str]) -> Block:
    """``body`` with a value for each of ``names``, and for what may become it, before it has one of its own.

    It stands for none: who uses it gets Python's own error.
    """
    wanted = set(names)
    copies = [s for s in walk(body) if isinstance(s, Copy)]
    grown = bool(wanted)
    while grown:
        before = len(wanted)
        for move in copies:
            pairs = zip(move.targets, move.sources, strict=True)
            wanted |= {s.name for t, s in pairs if t in wanted and isinstance(s, Var) and s.name in unbound}
        grown = len(wanted) > before
    wanted -= set(_entered(body))
    out: list[Stmt] = []
    for stmt in body:
        first = sorted(wanted & {n for s in walk((stmt,)) for n in writes(s)})
        if first:
            out.append(Copy(tuple(first), tuple(map(unset_of, first))))
            wanted.difference_update(first)
        out.append(stmt)
    return tuple(out)


def _entered(block: Block, heads: frozenset[str] = frozenset()) -> Iterator[str]:
    """The join names that are set to what other names hold: right before their loop, or in both arms of a branch."""
    moved: set[str] = set()
    for stmt in block:
        if isinstance(stmt, Copy):
            moved.update(stmt.targets)
        elif isinstance(stmt, (For, While)):
            own = frozenset(loop_heads(stmt.body))
            yield from moved & own
            yield from _entered(stmt.body, heads | own)
        elif isinstance(stmt, If):
            # An arm that leaves a loop, or ends its turn, moves into what the loop begins with.
            yield from set(_moved(stmt.then)) & set(_moved(stmt.orelse)) - heads
            yield from _entered(stmt.then, heads)
            yield from _entered(stmt.orelse, heads)


def _moved(block: Block) -> Iterator[str]:
    """The join names that a block sets itself."""
    return (target for stmt in block if isinstance(stmt, Copy) for target in stmt.targets)
