"""Read what a module or closure has where it is used, rather than by a name of ours.

    t = W
    p = t @ w                 p = W @ w
    w_bar = t.T @ p_bar       w_bar = W.T @ p_bar

A function that only computes finds the same object in both places.
"""

from __future__ import annotations

from dataclasses import replace

from s2sad.ir.nodes import Assign, Block, Expr, Function, Global
from s2sad.ir.traverse import map_stmt, rename, walk
from s2sad.optimise.dead import all_written, is_quiet


def read_in_place(function: Function) -> Function:
    """Apply the rewrite above; the assignments that it leaves are dead.  The function may not write such objects."""
    if not is_quiet(function.body):
        return function
    stmts = list(walk((*function.body, *(function.reverse or ()))))
    written = {n for s in stmts for n in all_written(s) or ()}
    names: dict[str, Expr] = {
        s.target: s.value
        for s in stmts
        if isinstance(s, Assign) and isinstance(s.value, Global) and s.target[0] == "~" and s.target not in written
    }
    if not names:
        return function

    def block(stmts: Block) -> Block:
        return tuple([map_stmt(s, lambda e: rename(e, names), block) for s in stmts])

    reverse = None if function.reverse is None else block(function.reverse)
    return replace(function, body=block(function.body), reverse=reverse, result=rename(function.result, names))
