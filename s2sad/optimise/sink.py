"""Move the making of shadows to where they are first used.

A_bar = np.zeros_like(A)      (in the forward part)
--- reverse ---               --- reverse ---
A_bar += ...                  A_bar = np.zeros_like(A)
                              A_bar += ...
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from s2sad import ops
from s2sad.analysis.sharing import sharing
from s2sad.analysis.versions import changes, versions
from s2sad.ir.nodes import Assign, Block, Break, Call, Expr, For, Function, Stmt, While
from s2sad.ir.traverse import names_in, reads, walk, writes
from s2sad.runtime import shadow


def sunk(function: Function, shadows: frozenset[str], outward: Iterable[str] = ()) -> Function:
    """Move top-level definitions of ``shadows`` that the forward part does not read to the reverse part.

    Those in ``outward`` are results of the forward part.  What may copy a shadow stays where all shadows are zeros, if
    that shadow comes from a caller: his has other contents when the reverse part runs.
    """
    if not shadows or function.reverse is None:
        return function
    assigned = Counter(n for s in walk(function.body) for n in writes(s))
    made = {s.target: s.value for s in walk(function.body) if isinstance(s, Assign) and s.target in shadows}
    changing = versions(function)
    moving: list[Stmt] = []
    staying: list[Stmt] = []
    needed: set[str] = set(outward)
    changed: set[str] = set()
    for stmt in reversed(function.body):
        if isinstance(stmt, Assign) and stmt.target in shadows and stmt.target not in needed:
            held = _may_copy(stmt.value) and not _is_own(stmt.value, made, shadows)
            read = names_in(stmt.value)
            still = all(assigned[n] <= 1 and n not in changed and (n in shadows or n not in changing) for n in read)
            if not held and still:
                moving.append(stmt)
                continue
        staying.append(stmt)
        for inner in walk((stmt,)):
            needed.update(n for n in reads(inner) if n in shadows)
        # What changes there is read before it does.
        changed.update(n for target, _ in changes((stmt,)) for n in changing[target])
    moving.reverse()
    staying.reverse()
    return replace(function, body=tuple(staying), reverse=(*moving, *function.reverse))


def sunk_in_loops(function: Function, shadows: frozenset[str], outward: Iterable[str]) -> Function:
    """Make the shadows of what an iteration makes in the reverse of that iteration, if no other sees them.

    lap = np.zeros_like(u)                  ...
    lap_bar = np.zeros_like(lap)    ->      for ... in reversed(...):
                                                lap_bar = np.zeros_like(lap)
    """
    read = {n for s in walk(function.body) for n in reads(s)} | set(outward)

    def moves(stmt: Stmt) -> bool:
        return isinstance(stmt, Assign) and stmt.target in shadows - read and makes_shadow(stmt.value)

    def in_blocks(body: Block, back: Block, inner: bool) -> tuple[Block, Block]:
        moving = [s for s in body if moves(s)] if inner and not any(isinstance(s, Break) for s in walk(body)) else []
        twins = {s.key: s for s in back if isinstance(s, For) and s.key}
        done: dict[int, Stmt] = {}
        out: list[Stmt] = []
        for stmt in body:
            twin = twins.get(stmt.key) if isinstance(stmt, (For, While)) else None
            if twin is not None and isinstance(stmt, (For, While)):
                ahead, behind = in_blocks(stmt.body, twin.body, True)
                stmt, done[twin.key] = replace(stmt, body=ahead), replace(twin, body=behind)
            if stmt not in moving:
                out.append(stmt)
        rest = [done.get(s.key, s) if isinstance(s, For) and s.key else s for s in back]
        return tuple(out), (*moving, *rest)

    if not shadows or function.reverse is None:
        return function
    body, back = in_blocks(function.body, function.reverse, False)
    return replace(function, body=body, reverse=back)


def makes_shadow(value: Expr) -> bool:
    """Whether an expression makes a new shadow."""
    if not isinstance(value, Call):
        return False
    spec = ops.spec_of(value.op.function)
    return value.op.function is shadow or (spec is not None and spec.zeros)


def _may_copy(value: Expr) -> bool:
    """Whether NumPy itself decides, as it runs, if this is a view or a copy."""
    return isinstance(value, Call) and value.op.kind in ("function", "method") and sharing(value) == "maybe"


def _is_own(value: Expr, made: Mapping[str, Expr], shadows: frozenset[str]) -> bool:
    """Whether what a shadow is made of was made in this function."""
    names = [n for n in names_in(value) if n in shadows]
    return all(n in made and _is_own(made[n], made, shadows) for n in names)
