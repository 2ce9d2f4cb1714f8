"""Let an adjoint that goes on as another's have one name.

result_bar = a_bar               a_bar += 1.0
result_bar += 1.0           ->

old_bar, t_bar = f_reverse(...)           u_bar, t_bar = f_reverse(...)
u_bar = old_bar                      ->   u_bar += g
u_bar += g
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from s2sad.ir.nodes import Assign, Call, Expr, Function, Op, Stmt, Unpack, Var
from s2sad.ir.traverse import base, map_stmt, names_in, reads, rename, walk, with_names, writes


def with_one_name(function: Function, fresh: Callable[[str], str]) -> Function:
    """Apply the rewrites above to the reverse part of ``function``; ``fresh`` makes a new version of a variable."""
    blocks = (*function.body, *(function.reverse or ()))
    made = Counter(n for s in walk(blocks) for n in writes(s))
    own = {n for s in walk(function.reverse or ()) for n in writes(s)}
    read = Counter(n for s in walk(blocks) for n in reads(s))
    read.update(names_in(function.result))
    same: dict[str, Expr] = {}
    renamed: dict[str, str] = {}
    #: The names that the reverse part makes, each once, and is read once.
    single: set[str] = set()
    for stmt in walk(function.reverse or ()):
        match stmt:
            case Assign(target=target, value=Var(name=source)) if source in own and made[target] == made[source] == 1:
                same[target] = rename(Var(source), same)
            case Assign(target=target, value=Call(op=Op(kind="inplace"), args=(Var(name=source), _))):
                if source in single and base(source) != base(target):
                    renamed[source] = fresh(base(target))
        if isinstance(stmt, (Assign, Unpack)):
            single.update(n for n in writes(stmt) if made[n] == read[n] == 1 and not n.startswith("~"))
    if not (same or renamed):
        return function

    def kept(stmt: Stmt) -> bool:
        return not (isinstance(stmt, Assign) and stmt.target in same)

    def in_blocks(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple([map_stmt(s, lambda e: rename(e, same), in_blocks) for s in block if kept(s)])

    body, reverse = (with_names(in_blocks(part), renamed) for part in (function.body, function.reverse or ()))
    return replace(function, body=body, reverse=reverse, result=rename(function.result, same))
