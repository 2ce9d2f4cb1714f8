"""Write out what the kinds of values decide: branches, attempts, and what an augmented assignment of a tuple makes.

if out is None:
    out = np.zeros(n)     ->     out = np.zeros(n)
pair += (x,)              ->     pair = pair + (x,)
"""

from __future__ import annotations

from dataclasses import replace

from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Block, Call, Expr, Function, If, Op, Stmt, Var
from s2sad.ir.traverse import base, is_attempt, map_stmt, names_in, reads, rename, walk, writes
from s2sad.optimise.outcomes import Classes, outcome
from s2sad.optimise.raised import decided_attempt


def take_decided(function: Function, facts: Facts, classes: Classes) -> Function:
    """``function`` without branches that what is known of values decides, or changes of tuples.

    Args:
        function: The function.
        facts: What is known of its values.
        classes: The classes that a global name stands for.
    """

    def in_expr(expr: Expr) -> Expr:
        if isinstance(expr, Call) and expr.op.kind == "inplace" and facts.get(expr.args[0]).kind == "tuple":
            return Call(Op("operator", expr.op.name, expr.op.function), expr.args, (), expr.node)
        return expr

    def in_block(block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            tried = decided_attempt(stmt, facts, classes) if isinstance(stmt, If) and is_attempt(stmt) else None
            taken = outcome(stmt.test, facts, classes) if isinstance(stmt, If) else None
            if tried is not None:
                out += in_block(tried)
            elif isinstance(stmt, If) and taken is not None:
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
