"""Move the making of shadows to where they are first used.

A_bar = np.zeros_like(A)      (in the forward part)
--- reverse ---               --- reverse ---
A_bar += ...                  A_bar = np.zeros_like(A)
                              A_bar += ...
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from s2sad.ir.nodes import Assign, Function, Stmt
from s2sad.ir.traverse import names_in, reads, walk, writes


def sunk(function: Function, shadows: frozenset[str], outward: Iterable[str] = ()) -> Function:
    """Move top-level definitions of ``shadows`` that the forward part does not read to the reverse part.

    Those in ``outward`` are results of the forward part.
    """
    if not shadows or function.reverse is None:
        return function
    assigned = Counter(n for s in walk(function.body) for n in writes(s))
    moving: list[Stmt] = []
    staying: list[Stmt] = []
    needed: set[str] = set(outward)
    for stmt in reversed(function.body):
        if isinstance(stmt, Assign) and stmt.target in shadows and stmt.target not in needed:
            if all(assigned[n] <= 1 for n in names_in(stmt.value)):
                moving.append(stmt)
                continue
        staying.append(stmt)
        for inner in walk((stmt,)):
            needed.update(n for n in reads(inner) if n in shadows)
    moving.reverse()
    staying.reverse()
    return replace(function, body=tuple(staying), reverse=(*moving, *function.reverse))
