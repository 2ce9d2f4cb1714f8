"""Augmented assignments of lists and tuples by operators that change neither: ``q /= n`` is ``q = q / n``."""

from __future__ import annotations

from dataclasses import replace

from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Assign, Block, Call, Function, Stmt
from s2sad.ir.traverse import map_stmt, walk

#: The operators by which ``q += v`` changes a list.
_CHANGING = ("+", "*")


def with_plain_operators(function: Function, facts: Facts) -> Function:
    """``function`` with a plain operator for each such assignment; itself where there is none."""

    def is_plain(stmt: Stmt) -> bool:
        value = stmt.value if isinstance(stmt, Assign) else None
        if not isinstance(value, Call) or value.op.kind != "inplace" or value.op.name in _CHANGING:
            return False
        return facts.get(value.args[0]).kind in ("list", "tuple")

    if not any(map(is_plain, walk(function.body))):
        return function

    def in_block(block: Block) -> Block:
        made: list[Stmt] = []
        for stmt in block:
            if is_plain(stmt):
                assert isinstance(stmt, Assign)
                assert isinstance(stmt.value, Call)
                value = replace(stmt.value, op=replace(stmt.value.op, kind="operator"))
                made.append(replace(stmt, value=value))
            else:
                made.append(map_stmt(stmt, lambda e: e, in_block))
        return tuple(made)

    return replace(function, body=in_block(function.body))
