"""Shorten what the adjoint of a store writes down.

t_bar = A_bar[i].copy()          t_bar = 0.3 * A_bar[i]
A_bar[i] = 0.0              ->   A_bar[i] = 0.0
t_bar_2 = 0.3 * t_bar

A_bar[i] = 0.0                   A_bar[i] = g
A_bar[i] += g               ->

t = np.exp(x)               ->   t = np.exp(x)
np.exp(x, out=c)                 np.copyto(c, t)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from s2sad.ir.nodes import Assign, Block, Call, Const, Expr, Function, Op, Stmt, Store, Var
from s2sad.ir.traverse import blocks, map_stmt, names_in, reads, rename, walk
from s2sad.optimise.dead import is_pure, writes_into

_ZERO = Const(0.0)
_COPYTO = Op("runtime", "np.copyto", np.copyto)


def shorten_stores(function: Function) -> Function:
    """Apply the rewrites above to the two parts of ``function``."""
    if function.reverse is None:
        return function
    body = _copied(function.body)
    uses: Counter[str] = Counter(names_in(function.result))
    for stmt in walk((*body, *function.reverse)):
        uses.update(reads(stmt))
    return replace(function, body=body, reverse=_block(function.reverse, uses))


def _copied(block: Block) -> Block:
    """Let a universal function that writes into an array copy the result that is there for the adjoint."""
    made: dict[str, Call] = {}
    out: list[Stmt] = []
    for stmt in block:
        stmt = map_stmt(stmt, lambda e: e, _copied) if blocks(stmt) else stmt
        if isinstance(stmt, Assign) and isinstance(stmt.value, Call):
            made[stmt.target] = stmt.value
        if isinstance(stmt, Store) and stmt.call is not None and isinstance(stmt.value, Var):
            call, value = stmt.call, made.get(stmt.value.name)
            *options, (last, whole) = call.kwargs or (("", _ZERO),)
            if last == "out" and value is not None and isinstance(call.op.function, np.ufunc):
                if (value.op, value.args, value.kwargs) == (call.op, call.args, tuple(options)):
                    stmt = replace(stmt, call=Call(_COPYTO, (whole, stmt.value), (), call.node))
        out.append(stmt)
    return tuple(out)


def _block(block: Block, uses: Counter[str]) -> Block:
    out: list[Stmt] = []
    for stmt in block:
        if blocks(stmt):
            stmt = map_stmt(stmt, lambda e: e, lambda b: _block(b, uses))
        if isinstance(stmt, Store) and stmt.op == "+" and _fills(out, stmt):
            continue
        if isinstance(stmt, Assign) and _scales(out, stmt, uses):
            continue
        out.append(stmt)
    return tuple(out)


def _fills(out: list[Stmt], stmt: Store) -> bool:
    """Let ``base[index] += g`` take the place of the ``base[index] = 0.0`` before it."""
    for position in range(len(out) - 1, -1, -1):
        before = out[position]
        if isinstance(before, Store):
            if before.base != stmt.base or before.index != stmt.index or before.op is not None or before.value != _ZERO:
                return False
            between = out[position + 1 :]
            del out[position:]
            out += between
            out.append(replace(stmt, op=None))
            return True
        # Only values that do not read the array may stand between the two.
        if not isinstance(before, Assign) or not is_pure(before.value) or _reads_array(before.value, stmt.base):
            return False
    return False


def _reads_array(value: Expr, base: Expr) -> bool:
    return bool(set(names_in(value)) & set(names_in(base)))


def _scales(out: list[Stmt], stmt: Assign, uses: Counter[str]) -> bool:
    """Let an operation on what a store has taken out read the array itself, before the store."""
    if len(out) < 2 or not is_pure(stmt.value) or not isinstance(stmt.value, Call) or stmt.value.op.kind != "operator":
        return False
    zero, taken = out[-1], out[-2]
    if not (isinstance(zero, Store) and zero.op is None and zero.value == _ZERO and isinstance(taken, Assign)):
        return False
    item = taken.value
    if isinstance(item, Call) and item.op.kind == "method" and item.op.name == "copy":
        item = item.args[0]
    if not (isinstance(item, Call) and item.op.kind == "index" and item.args == (zero.base, zero.index)):
        return False
    if uses[taken.target] != 1 or taken.target not in names_in(stmt.value):
        return False
    if _reads_array(stmt.value, zero.base) or writes_into(zero) in set(names_in(stmt.value)):
        return False
    out[-2:] = [replace(stmt, value=rename(stmt.value, {taken.target: item})), zero]
    return True
