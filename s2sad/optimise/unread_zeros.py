"""Leave out zeros that nobody reads: behind the last use of an adjoint, or where each turn of a loop has an element.

for i in reversed(range(n)):            for i in reversed(range(n)):
    t_bar = y_bar[i]                ->      t_bar = y_bar[i]
    y_bar[i] = 0.0                          x_bar[i] += t_bar * x[i]
    x_bar[i] += t_bar * x[i]

The zeros say that what ``y[i]`` was before the assignment has no part in the result.  They are read by a later turn, by
what comes after the loop, or by nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from s2sad.analysis.sharing import sharing
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Copy, Expr, For, Function, Slice, Stmt, Store, Var, While
from s2sad.ir.traverse import blocks, children, expressions, map_stmt, names_in, reads, walk, writes
from s2sad.ir.types import Fact
from s2sad.optimise.memory import Memory


def without_unread_zeros(function: Function, memory: Memory) -> Function:
    """``function`` without the zeros that its reverse part writes for nobody."""
    if function.reverse is None:
        return function
    return replace(function, reverse=_without_zeros(function.reverse, memory, set(memory.returned)))


def _without_zeros(block: Block, memory: Memory, later: set[str]) -> Block:
    """A block without zeros in arrays that nothing touches any more; ``later`` is touched by what comes after it."""
    out: list[Stmt] = []
    later = set(later)
    for stmt in reversed(block):
        if isinstance(stmt, Store) and _is_zero(stmt, memory):
            if later.isdisjoint(map(memory.find, names_in(stmt.base))):
                continue
        touched = memory.touches(stmt)
        if isinstance(stmt, For):
            stmt = _parted(stmt, memory, later)
        if blocks(stmt):
            # What a turn makes anew, the next one does not read.
            again = later | touched - _made(stmt.body, memory) if isinstance(stmt, (For, While)) else later
            stmt = map_stmt(stmt, lambda e: e, partial(_without_zeros, memory=memory, later=again))
        out.append(stmt)
        later |= touched
    return tuple(reversed(out))


def _made(body: Block, memory: Memory) -> set[str]:
    """The arrays that each turn of a loop makes before it touches them, and under no name that the next turn has."""
    made, touched = set[str](), set[str]()
    for stmt in body:
        if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and sharing(stmt.value, memory.fact) == "fresh":
            made |= {memory.find(stmt.target)} - touched - set(map(memory.find, names_in(stmt.value)))
        touched |= memory.touches(stmt)
    inside = {n for s in walk(body) if not isinstance(s, Copy) for n in writes(s)}
    others = {n for s in walk(body) for n in (*reads(s), *writes(s))} - inside
    return made - set(map(memory.find, others))


def _parted(loop: For, memory: Memory, later: set[str]) -> For:
    """A loop without zeros in arrays of which each turn has a part to itself."""
    zeros = [s for s in walk(loop.body) if isinstance(s, Store) and _is_zero(s, memory)]
    names = {n for s in zeros for n in names_in(s.base) if memory.find(n) not in later}
    for name in sorted(names):
        if _is_parted(name, loop, memory):
            loop = replace(loop, body=_left(name, loop.body, memory, False)[0])
    return loop


def _is_zero(stmt: Store, memory: Memory) -> bool:
    plain = stmt.value == Const(0.0) and stmt.op is None and stmt.call is None
    return plain and isinstance(stmt.base, Var) and memory.fact(stmt.base).kind == "array"


def _left(name: str, block: Block, memory: Memory, read: bool) -> tuple[Block, bool]:
    """A block of a turn without the zeros in an array behind the last statement of the turn that reads it.

    ``read`` says whether one comes after the block; returns as well whether one comes after what is before it.
    """
    out: list[Stmt] = []
    for stmt in reversed(block):
        own = any(memory.find(n) == memory.find(name) for e in expressions(stmt) for n in names_in(e))
        if isinstance(stmt, Store) and own and stmt.base == Var(name) and _is_zero(stmt, memory):
            if not read:
                continue
            out.append(stmt)
            continue
        after: list[bool] = [own]

        def in_block(inner: Block, later: bool = read, after: list[bool] = after) -> Block:
            made, before = _left(name, inner, memory, later)
            after.append(before)
            return made

        out.append(map_stmt(stmt, lambda e: e, in_block) if blocks(stmt) else stmt)
        read = read or any(after)
    return tuple(reversed(out)), read


def _is_parted(name: str, loop: For, memory: Memory) -> bool:
    """Whether each turn of a loop, and of the loops in it, has a part of an array to itself."""
    whole = Var(name)
    #: Other names for parts of the array, which are made anew in each turn.
    parts: set[str] = set()
    #: Where in an index the variable of each loop stands.
    places: dict[str, int] = {}
    for stmt, loops in _steps(loop.body, (loop,)):
        names = {n for e in expressions(stmt) for n in names_in(e) if memory.find(n) == memory.find(name)}
        if not names <= {name, *parts}:
            return False
        found = list(_indices(stmt, whole)) if names else []
        if not all(index is not None and _is_apart(index, loops, places, memory) for index in found):
            return False
        if names and isinstance(stmt, Assign):
            parts.add(stmt.target)
    return True


def _steps(block: Block, loops: tuple[For | While, ...]) -> Iterator[tuple[Stmt, tuple[For | While, ...]]]:
    """The statements of a loop in order, those with blocks before what is in them, with the loops around each."""
    for stmt in block:
        yield stmt, loops
        around = (*loops, stmt) if isinstance(stmt, (For, While)) else loops
        for inner in blocks(stmt):
            yield from _steps(inner, around)


def _indices(stmt: Stmt, whole: Var) -> Iterator[Expr | None]:
    """The indices with which a statement itself reads or writes an array, None for the whole of it."""
    if isinstance(stmt, Store) and stmt.base == whole and stmt.call is None:
        yield stmt.index
        yield from _read(stmt.index, whole)
        yield from _read(stmt.value, whole)
        return
    for expr in expressions(stmt):
        yield from _read(expr, whole)


def _read(expr: Expr, whole: Var) -> Iterator[Expr | None]:
    if expr == whole:
        yield None
        return
    of_part = isinstance(expr, Call) and expr.op.kind == "index" and expr.args[0] == whole
    if isinstance(expr, Call) and of_part:
        yield expr.args[1]
    for inner in expr.args[1:] if isinstance(expr, Call) and of_part else children(expr):
        yield from _read(inner, whole)


def _is_apart(index: Expr, loops: Sequence[For | While], places: dict[str, int], memory: Memory) -> bool:
    """Whether an index is of a part that no other turn of the loops around it has.

    It has their variables at certain ``places``; those that are not known yet are noted.
    """
    parts = index.items if isinstance(index, Build) and index.kind == "tuple" else (index,)
    for loop in loops:
        if not isinstance(loop, For) or len(loop.targets) != 1 or memory.counters.get(loop.targets[0]) is None:
            return False
        (counter,) = loop.targets
        place = places.setdefault(counter, parts.index(Var(counter)) if Var(counter) in parts else -1)
        if not 0 <= place < len(parts) or parts[place] != Var(counter):
            return False
        if not all(isinstance(p, Slice) or _is_number(memory.fact(p)) for p in parts[:place]):
            return False
    return True


def _is_number(part: Fact) -> bool:
    """Whether a part of an index is an integer, which takes one axis."""
    return part.kind == "scalar" and not part.boolean
