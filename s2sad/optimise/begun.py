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
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Expr, Function, Op, Slice, Store, Var
from s2sad.ir.traverse import blocks, map_stmt, names_in, reads, walk, writes
from s2sad.ir.types import same_dtype, same_shape
from s2sad.optimise.memory import Memory

_COPY = Op("method", "copy", np.copy)


def begin_with_contributions(function: Function, memory: Memory) -> Function:
    """Apply the rewrite above to the reverse part of ``function``, block by block."""
    if function.reverse is None:
        return function
    known = {p.name for p in function.params} | {
        n for s in walk((*function.body, *function.reverse)) for n in writes(s)
    }
    return replace(function, reverse=_begun(function.reverse, memory, frozenset(known)))


def _begun(block: Block, memory: Memory, known: frozenset[str]) -> Block:
    out = [map_stmt(s, lambda e: e, lambda b: _begun(b, memory, known)) if blocks(s) else s for s in block]
    begun = [position for position, stmt in enumerate(out) if isinstance(stmt, Assign) and _is_zeros(stmt.value)]
    if not begun:
        return tuple(out)
    first: dict[str, list[int]] = {}
    for position, stmt in enumerate(out):
        for name in {name for inner in walk((stmt,)) for name in (*reads(inner), *writes(inner))}:
            first.setdefault(name, []).append(position)
    done: set[int] = set()
    for position in begun:
        (name,) = writes(out[position])
        # Nothing shares a new array before its name is read.
        place = next((i for i in first[name] if i > position), None)
        added = None if place is None else out[place]
        if place is None or not isinstance(added, Store) or added.base != Var(name) or added.op != "+" or added.call:
            continue
        if _is_all_of_it(added, memory) and known.issuperset(names_in(added.value)):
            value = added.value
            fresh = isinstance(value, Call) and sharing(value, memory.fact) == "fresh"
            out[place] = Assign(name, value if fresh else Call(_COPY, (value,)), added.origin)
            done.add(position)
        elif _takes_place(added, memory):
            out[place] = replace(added, op=None)
    return tuple([stmt for position, stmt in enumerate(out) if position not in done])


def _is_zeros(value: Expr) -> bool:
    return isinstance(value, Call) and any(value.op.function is zeros for zeros in (np.zeros, np.zeros_like))


def _is_all_of_it(stmt: Store, memory: Memory) -> bool:
    """Whether a store adds an array to a whole one that surely is of the same shape and dtype.

    The adjoint of a result, which a caller gives, may be what broadcasts to that.
    """
    base, value = memory.fact(stmt.base), memory.fact(stmt.value)
    alike = base.kind == value.kind == "array" and same_dtype(base, value)
    exact = alike and same_shape(base, value) and base.precision == "double"
    return exact and stmt.index == Const(Ellipsis) and not set(names_in(stmt.base)) & set(names_in(stmt.value))


def _takes_place(stmt: Store, memory: Memory) -> bool:
    """Whether a store adds to a part of an array, and may write there what it adds to zeros."""
    base, value = memory.fact(stmt.base), memory.fact(stmt.value)
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
