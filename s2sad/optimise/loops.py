"""Write loops as a person would.

count = 0                          saved = []
saved = []                         while test:
while test:                            saved.append(x)
    count = count + 1          ->      ...
    saved.append(x)                for x in reversed(saved):
    ...                                ...
for k in range(count):
    x = saved.pop()

for k, x in enumerate(xs): ...     for x in xs: ...    (k is not read)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from s2sad.ir.nodes import Assign, Block, Build, Call, For, Function, Op, Pop, Stmt, Var, While
from s2sad.ir.traverse import blocks, map_stmt, names_in, reads, walk

_REVERSED = Op("runtime", "reversed", reversed)


def tidy_loops(function: Function, again: bool = False) -> Function:
    """Apply the rewrites above; the counting statements that they leave are dead.

    What is differentiated ``again`` pops from its tapes: the adjoint of that is a tape too, which the adjoint of a loop
    over ``reversed(saved)`` is not.
    """
    if function.reverse is None:
        return function
    read: Counter[str] = Counter(names_in(function.result))
    for stmt in walk((*function.body, *function.reverse)):
        read.update(reads(stmt))
    forward = Counter(n for stmt in walk(function.body) for n in reads(stmt))
    # A tape that is begun at the top level holds one entry for each iteration of its loop.
    single = {s.target for s in function.body if isinstance(s, Assign) and s.value == Build("list", ())}
    outer = {s.key for s in function.body if isinstance(s, (For, While))}
    reverse = function.reverse
    if not again:
        reverse = tuple([_over_tape(s, read, single, outer) for s in reverse])
    return replace(function, body=_plain_headers(function.body, forward), reverse=reverse)


def _over_tape(stmt: Stmt, read: Counter[str], single: set[str], outer: set[int]) -> Stmt:
    if not isinstance(stmt, For) or stmt.key not in outer or not stmt.body or not isinstance(stmt.body[0], Pop):
        return stmt
    pop = stmt.body[0]
    runs = stmt.iters[0]
    counted = isinstance(runs, Call) and runs.op.function is range and len(runs.args) == 1
    if not counted or pop.tape not in single or any(read[t] for t in stmt.targets) or read[pop.tape] != 1 + 1:
        return stmt
    return replace(stmt, targets=pop.targets, iters=(_tape(pop),), body=stmt.body[1:], unpacked=len(pop.targets) > 1)


def _tape(pop: Pop) -> Call:
    return Call(_REVERSED, (Var(pop.tape),))


def _plain_headers(block: Block, read: Counter[str]) -> Block:
    out: list[Stmt] = []
    for stmt in block:
        if blocks(stmt):
            stmt = map_stmt(stmt, lambda e: e, lambda b: _plain_headers(b, read))
        if isinstance(stmt, For) and stmt.counter is not None and not read[stmt.counter]:
            stmt = replace(stmt, counter=None)
        out.append(stmt)
    return tuple(out)
