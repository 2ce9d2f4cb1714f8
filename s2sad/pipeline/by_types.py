"""Statements that are others by the types of their operands.

q /= n                  ->  q = q / n           of lists and tuples, which the operator does not change
b = copy.copy(a)        ->  b = a.copy()        of arrays
"""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np

from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Assign, Block, Call, Function, Op, Stmt
from s2sad.ir.traverse import map_stmt, walk

#: The operators by which ``q += v`` changes a list.
_CHANGING = ("+", "*")
_COPY = Op("method", "copy", np.copy)


def rewritten(function: Function, facts: Facts) -> Function:
    """``function`` with such statements as what they do; itself where there is none."""
    if all(_of_types(stmt, facts) is stmt for stmt in walk(function.body)):
        return function

    def in_block(block: Block) -> Block:
        made: list[Stmt] = []
        for stmt in block:
            other = _of_types(stmt, facts)
            made.append(map_stmt(stmt, lambda e: e, in_block) if other is stmt else other)
        return tuple(made)

    return replace(function, body=in_block(function.body))


def _of_types(stmt: Stmt, facts: Facts) -> Stmt:
    """What a statement is by the types of its operands; itself if that is no other."""
    value = stmt.value if isinstance(stmt, Assign) else None
    if not isinstance(stmt, Assign) or not isinstance(value, Call):
        return stmt
    if value.op.kind == "inplace" and value.op.name not in _CHANGING:
        of_items = facts.get(value.args[0]).kind in ("list", "tuple")
        return replace(stmt, value=replace(value, op=replace(value.op, kind="operator"))) if of_items else stmt
    if value.op.function is copy.copy and len(value.args) == 1 and not value.kwargs:
        known = facts.get(value.args[0])
        of_array = known.kind == "array" and not known.owners and not known.boxed
        return replace(stmt, value=replace(value, op=_COPY)) if of_array else stmt
    return stmt
