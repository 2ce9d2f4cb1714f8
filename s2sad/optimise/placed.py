"""Make the adjoint of an array, of which one item alone is read, in one expression where the text is differentiated
again: a new array needs no shadow, one that is written does.

x_bar = np.zeros_like(x)    ->    x_bar = in_item(x, 0, g)
x_bar[0] += g
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np

from s2sad.ir.nodes import Assign, Block, Call, Evaluate, Expr, Function, Op, Slice, Stmt, Store, Var
from s2sad.ir.traverse import blocks, map_stmt, reads, subexpressions, walk, writes
from s2sad.optimise.dead import writes_into
from s2sad.optimise.memory import Memory
from s2sad.runtime.trees import add_at, in_item, zeros

_IN_ITEM = Op("runtime", "in_item", in_item)


def with_single_items(function: Function, memory: Memory) -> Function:
    """``function`` with arrays of zeros that one statement of its reverse part writes as values."""
    if function.reverse is None:
        return function
    steps = list(walk((*function.body, *function.reverse)))
    written = Counter(n for s in steps for n in (writes_into(s), *writes(s)) if n is not None)
    # Once as it is made, and once as it is added to.
    single = {name for name, count in written.items() if count == 2}
    return replace(function, reverse=_placed(function.reverse, single=single, memory=memory))


def _placed(block: Block, single: set[str], memory: Memory) -> Block:
    out = [map_stmt(s, lambda e: e, partial(_placed, single=single, memory=memory)) if blocks(s) else s for s in block]
    for begun in list(out):
        if isinstance(begun, Assign) and begun.target in single and _is_zeros(begun.value, memory):
            position = out.index(begun)
            user = next((s for s in out[position + 1 :] if any(begun.target in reads(i) for i in walk((s,)))), None)
            added = None if user is None else _addition(user, begun.target)
            if user is not None and added is not None:
                assert isinstance(begun.value, Call)
                out[out.index(user)] = Assign(begun.target, Call(_IN_ITEM, (*begun.value.args, *added)), user.origin)
                del out[position]
    return tuple(out)


def _is_zeros(value: Expr, memory: Memory) -> bool:
    """Whether an expression is a new array of zeros like another."""
    if not isinstance(value, Call) or value.op.function not in (zeros, np.zeros_like) or len(value.args) != 1:
        return False
    return memory.fact(value.args[0]).kind in ("array", "numeric", "open")


def _addition(stmt: Stmt, name: str) -> tuple[Expr, Expr] | None:
    """The index and the value of a statement that adds to an item of an array, or puts it there."""
    match stmt:
        case Store(base=Var(whole), index=index, value=value, op=None | "+", call=None) if whole == name:
            pass
        case Evaluate(value=Call(op=Op(function=function), args=(Var(whole), index, value))) if (
            function is add_at and whole == name
        ):
            pass
        case _:
            return None
    inner = (*subexpressions(index), *subexpressions(value))
    return None if any(isinstance(e, Slice) or e == Var(name) for e in inner) else (index, value)
