"""Take the branches whose test is decided by what the arguments are.

if out is None:
    out = np.zeros(n)     ->     out = np.zeros(n)
"""

from __future__ import annotations

from dataclasses import replace

from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Block, Call, Const, Expr, Function, If, Stmt, Var
from s2sad.ir.traverse import map_stmt


def take_decided(function: Function, facts: Facts) -> Function:
    """``function`` without the branches that compare with None what is known to be None, or not to be."""

    def in_block(block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            taken = _outcome(stmt.test, facts) if isinstance(stmt, If) else None
            if isinstance(stmt, If) and taken is not None:
                out += in_block(stmt.then if taken else stmt.orelse)
            else:
                out.append(map_stmt(stmt, lambda e: e, in_block))
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
