"""Write out what is decided by the kinds of values: branches, and what an augmented assignment of a tuple makes.

if out is None:
    out = np.zeros(n)     ->     out = np.zeros(n)
pair += (x,)              ->     pair = pair + (x,)
"""

from __future__ import annotations

from dataclasses import replace

from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Block, Call, Const, Expr, Function, If, Op, Stmt, Var
from s2sad.ir.traverse import base, map_stmt, names_in, reads, rename, walk, writes


def take_decided(function: Function, facts: Facts) -> Function:
    """``function`` without branches that compare with None what is known to be None or not, or changes of tuples."""

    def in_expr(expr: Expr) -> Expr:
        if isinstance(expr, Call) and expr.op.kind == "inplace" and facts.get(expr.args[0]).kind == "tuple":
            return Call(Op("operator", expr.op.name, expr.op.function), expr.args, (), expr.node)
        return expr

    def in_block(block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            taken = _outcome(stmt.test, facts) if isinstance(stmt, If) else None
            if isinstance(stmt, If) and taken is not None:
                out += in_block(stmt.then if taken else stmt.orelse)
            else:
                out.append(map_stmt(stmt, in_expr, in_block))
        return tuple(out)

    body = in_block(function.body)
    return function if body == function.body else _with_unset(replace(function, body=body))


def _with_unset(function: Function) -> Function:
    """``function`` where what nothing assigns any more is read as a variable that has no value (version 0)."""
    known = {p.name for p in function.params} | {n for stmt in walk(function.body) for n in writes(stmt)}
    read = {n for stmt in walk(function.body) for n in reads(stmt)} | set(names_in(function.result))
    names: dict[str, Expr] = {n: Var(f"{base(n)}.0") for n in read - known}

    def in_block(block: Block) -> Block:
        return tuple([map_stmt(stmt, lambda e: rename(e, names), in_block) for stmt in block])

    if not names:
        return function
    return replace(function, body=in_block(function.body), result=rename(function.result, names))


def _outcome(test: Expr, facts: Facts) -> bool | None:
    """Whether a test holds; None where that is known only at run time."""
    if not (isinstance(test, Call) and test.op.kind == "compare" and test.op.name in ("is", "is not")):
        return None
    left, right = test.args
    if right != Const(None) or not isinstance(left, Var):
        return None
    kind = facts.get(left).kind
    if kind in ("open", "other"):
        return None
    return (kind == "none") is (test.op.name == "is")
