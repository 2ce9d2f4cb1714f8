"""Write out what is decided by the kinds of values: branches, and what an augmented assignment of a tuple makes.

if out is None:
    out = np.zeros(n)     ->     out = np.zeros(n)
pair += (x,)              ->     pair = pair + (x,)
"""

from __future__ import annotations

from dataclasses import replace

from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Block, Call, Const, Expr, Function, If, Op, Stmt, Var
from s2sad.ir.traverse import map_stmt


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

    return replace(function, body=in_block(function.body))


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
