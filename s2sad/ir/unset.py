"""Variables that may have no value yet where they are saved, or moved to another name."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from functools import partial

from s2sad.ir.nodes import (
    NOWHERE,
    Block,
    Break,
    Call,
    Const,
    Copy,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Op,
    Push,
    Stmt,
    Var,
    While,
)
from s2sad.ir.traverse import base, blocks, loop_heads, map_stmt, names_in, reads, walk, writes
from s2sad.runtime.objects import require_value, unset

_UNSET = Op("runtime", "unset", unset)
_REQUIRE_VALUE = Op("runtime", "require_value", require_value, pure=False)


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


def given_at_exits(body: Block, active: Set[str]) -> frozenset[str]:
    """The join names of loops that get a value through which a derivative passes only as their loop is left.

    What they were in the turns before was without one.
    """
    at_exits: set[str] = set()
    elsewhere: set[str] = set()

    def scan(block: Block) -> None:
        for position, stmt in enumerate(block):
            for inner in blocks(stmt):
                scan(inner)
            pairs = zip(stmt.targets, stmt.sources, strict=True) if isinstance(stmt, Copy) else ()
            given = {target for target, source in pairs if not active.isdisjoint(names_in(source))}
            leaves = any(isinstance(s, Break) for s in block[position + 1 : position + 2])
            (at_exits if leaves else elsewhere).update(given)

    scan(body)
    return frozenset(at_exits - elsewhere)


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


def with_reads(body: Block, unbound: frozenset[str]) -> Block:
    """``body`` with a statement for each read of a variable that may have no value, which raises Python's own error.

    The derivative of ``np.sum(z)`` needs no ``z``, and is one only where ``z`` has a value.
    """
    out: list[Stmt] = []
    for stmt in body:
        if not isinstance(stmt, Copy):
            asked = [n for n in dict.fromkeys(reads(stmt)) if n in unbound]
            out += [Evaluate(Call(_REQUIRE_VALUE, (Var(n),)), getattr(stmt, "origin", NOWHERE)) for n in asked]
        out.append(map_stmt(stmt, lambda e: e, lambda b: with_reads(b, unbound)) if blocks(stmt) else stmt)
    return tuple(out)


def without_needless_reads(function: Function) -> Function:
    """``function`` without the statements of :func:`with_reads` after which the variable is read in any case."""
    body = _without_reads(function.body, {n for s in function.reverse or () for n in _used(s)})
    return function if body == function.body else replace(function, body=body)


def _without_reads(body: Block, later: Set[str]) -> Block:
    """``body`` without those reads, where all of ``later`` are read after it."""
    read = set(later)
    out: list[Stmt] = []
    for stmt in reversed(body):
        if isinstance(stmt, Evaluate) and isinstance(stmt.value, Call) and stmt.value.op == _REQUIRE_VALUE:
            if read.issuperset(reads(stmt)):
                continue
        if any(isinstance(s, Break) for s in walk((stmt,))):
            read = set()
        if blocks(stmt):
            stmt = map_stmt(stmt, lambda e: e, partial(_without_reads, later=frozenset(read)))
        out.append(stmt)
        read.update(_used(stmt))
    return tuple(reversed(out))


def _used(stmt: Stmt) -> tuple[str, ...]:
    """The variables that a statement does something with, so that they must have values."""
    return () if isinstance(stmt, (Copy, Push)) else reads(stmt)
