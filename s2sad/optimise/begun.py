"""Let the first contribution to an array of zeros take the place of the zeros.

x_bar = np.zeros_like(x)         x_bar = np.zeros_like(x)
x_bar[:-1] += a            ->    x_bar[:-1] = a
x_bar[1:] += b                   x_bar[1:] += b

x_bar = np.zeros_like(x)    ->   x_bar = g.copy()
x_bar += g
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from s2sad.analysis.sharing import sharing
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Expr, Function, Op, Slice, Stmt, Store, Var
from s2sad.ir.traverse import blocks, map_stmt, reads, walk, writes
from s2sad.ir.types import same_shape
from s2sad.optimise.memory import Memory

_COPY = Op("method", "copy", np.copy)


def begin_with_contributions(function: Function, memory: Memory) -> Function:
    """Apply the rewrite above to the reverse part of ``function``, block by block."""
    return function if function.reverse is None else replace(function, reverse=_begun(function.reverse, memory))


def _begun(block: Block, memory: Memory) -> Block:
    out: list[Stmt] = [map_stmt(s, lambda e: e, lambda b: _begun(b, memory)) if blocks(s) else s for s in block]
    done: set[int] = set()
    for position, stmt in enumerate(out):
        if not (isinstance(stmt, Assign) and isinstance(stmt.value, Call)):
            continue
        if not any(stmt.value.op.function is zeros for zeros in (np.zeros, np.zeros_like)):
            continue
        # Nothing shares a new array before its name is read.
        later = range(position + 1, len(out))
        first = next((i for i in later if stmt.target in _mentioned(out[i])), None)
        contribution = None if first is None else out[first]
        if first is None or not isinstance(contribution, Store) or contribution.base != Var(stmt.target):
            continue
        if _is_all_of_it(contribution, memory):
            value = contribution.value
            fresh = isinstance(value, Call) and sharing(value, memory.fact) == "fresh"
            whole_value = value if fresh else Call(_COPY, (value,))
            out[first] = Assign(stmt.target, whole_value, contribution.origin)
            done.add(position)
        elif _takes_place(contribution, stmt.target, memory):
            out[first] = replace(contribution, op=None)
    return tuple([stmt for position, stmt in enumerate(out) if position not in done])


def _mentioned(stmt: Stmt) -> set[str]:
    """The names that a statement, or one in a block of it, reads or gives a value."""
    return {name for inner in walk((stmt,)) for name in (*reads(inner), *writes(inner))}


def _is_all_of_it(stmt: Store, memory: Memory) -> bool:
    """Whether a store adds an array to a whole one that surely is of the same shape and dtype."""
    if stmt.index != Const(Ellipsis) or stmt.op != "+" or stmt.call is not None:
        return False
    base, value = memory.fact(stmt.base), memory.fact(stmt.value)
    alike = base.kind == value.kind == "array" and base.real == value.real
    return alike and same_shape(base, value) and base.precision == value.precision == "double"


def _takes_place(stmt: Store, name: str, memory: Memory) -> bool:
    """Whether a store adds to a part of an array of this name, and may write there what it adds to zeros."""
    base, value = memory.fact(Var(name)), memory.fact(stmt.value)
    if stmt.base != Var(name) or stmt.op != "+" or stmt.call is not None:
        return False
    is_negative = isinstance(stmt.value, Call) and stmt.value.op.kind == "operator" and len(stmt.value.args) == 1
    if is_negative and value.kind != "scalar":
        # It is subtracted, without another array for what has the other sign.
        return False
    same = base.kind == "array" and value.numeric and (value.real or not base.real)
    return same and _is_part(stmt.index, memory)


def _is_part(index: Expr, memory: Memory) -> bool:
    """Whether an index picks each element of a part once: there are no arrays in it, and no truth values."""
    if isinstance(index, Build):
        return all(_is_part(item, memory) for item in index.items)
    if isinstance(index, Slice):
        return True
    fact = memory.fact(index)
    return fact.kind == "scalar" and not fact.boolean and index != Const(None)
