"""Shorten what the adjoint of a store writes down.

t_bar = A_bar[i].copy()          t_bar = 0.3 * A_bar[i]
A_bar[i] = 0.0              ->   A_bar[i] = 0.0
t_bar_2 = 0.3 * t_bar

A_bar[k] = 0.0                   A_bar[k + 1] += h
A_bar[k + 1] += h           ->   A_bar[k] = g
A_bar[k] += g

t_bar = A_bar[i].copy()          t_bar = A_bar[i]            (nothing writes into that part
B_bar += t_bar * x          ->   B_bar += t_bar * x           while t_bar is read)
C_bar += t_bar * y               C_bar += t_bar * y

A_bar += B_bar.copy()       ->   A_bar += B_bar

t = np.exp(x)               ->   t = np.exp(x)
np.exp(x, out=c)                 np.copyto(c, t)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from s2sad.analysis.sharing import sharing
from s2sad.ir.nodes import Assign, Block, Call, Const, Expr, Function, Op, Stmt, Store, Var
from s2sad.ir.traverse import blocks, children, map_stmt, names_in, reads, walk, writes
from s2sad.optimise.memory import Memory, is_view

_ZERO = Const(0.0)
_PUT = Op("change", "[]")
_COPYTO = Op("runtime", "np.copyto", np.copyto)


def shorten_stores(function: Function, memory: Memory) -> Function:
    """Apply the rewrites above to the two parts of ``function``."""
    if function.reverse is None:
        return function
    body = _copied(function.body)
    uses: Counter[str] = Counter(names_in(function.result))
    for stmt in walk((*body, *function.reverse)):
        uses.update(reads(stmt))
    return replace(function, body=body, reverse=_Shortener(memory, uses).block(function.reverse))


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


class _Shortener:
    def __init__(self, memory: Memory, uses: Counter[str]) -> None:
        self.memory = memory
        self.uses = uses

    def block(self, block: Block) -> Block:
        out: list[Stmt] = [map_stmt(s, lambda e: e, self.block) if blocks(s) else s for s in block]
        for position in range(len(out) - 1, -1, -1):
            zero = out[position]
            if isinstance(zero, Store) and self.is_zero(zero):
                self.sink(out, position, zero)
            elif isinstance(zero, Assign) and isinstance(zero.value, Call) and zero.value.op == _PUT:
                self.put_once(out, position, zero, zero.value)
        for position, stmt in enumerate(out):
            if isinstance(stmt, Store) and self.adds_array(stmt):
                # NumPy adds overlapping arrays as if they were apart.
                out[position] = stmt = replace(stmt, value=_uncopied(stmt.value))
            if isinstance(stmt, Assign) and self.is_needless(stmt, out[position + 1 :]):
                assert isinstance(stmt.value, Call)
                out[position] = replace(stmt, value=stmt.value.args[0])
                self.memory.join(stmt.target, *names_in(stmt.value.args[0])[:1])
        return tuple(out)

    # --- zeros

    def is_zero(self, stmt: Store) -> bool:
        """Whether a store sets a part of an array, or an item of a list, to zero."""
        plain = stmt.value == _ZERO and stmt.op is None and stmt.call is None
        return plain and isinstance(stmt.base, Var) and self.memory.fact(stmt.base).kind in ("array", "list")

    def sink(self, out: list[Stmt], position: int, zero: Store) -> None:
        """Let a contribution take the place of the zeros before it, or take what they overwrite without a copy."""
        place = Call(Op("index", "[]"), (zero.base, zero.index))
        taken = self.taken(out[:position], place)
        last = position
        for i in range(position + 1, len(out)):
            stmt = out[i]
            if isinstance(stmt, Store) and stmt.op == "+" and stmt.call is None:
                # An item that is an array would be another one.
                fits = self.memory.fact(stmt.base).kind == "array" or self.memory.fact(stmt.value).kind == "scalar"
                if (stmt.base, stmt.index) == (zero.base, zero.index) and fits and self.is_apart(stmt.value, zero):
                    out[i] = replace(stmt, op=None)
                    made = out[position - 1] if position else zero
                    if isinstance(made, Assign) and (Var(made.target), made.value) == (stmt.value, place):
                        if self.is_number(made.target):
                            # It is what was there.
                            del out[i]
                    del out[position]
                    return
            if not self.passes(stmt, zero):
                break
            if taken is not None and taken in reads(stmt):
                last = i
        if taken is not None and sum(taken in reads(s) for s in out[position : last + 1]) == self.uses[taken]:
            del out[position]
            out.insert(last, zero)

    def put_once(self, out: list[Stmt], position: int, zero: Assign, put: Call) -> None:
        """Put a number into a list where it is added to a zero that was put there before it."""
        whole, place, value = put.args
        own = {self.memory.find(n) for n in (zero.target, *names_in(whole))}
        for i in range(position + 1, len(out) if value == _ZERO else 0):
            stmt = out[i]
            if isinstance(stmt, Store) and (stmt.base, stmt.index, stmt.op) == (Var(zero.target), place, "+"):
                is_number = self.memory.fact(stmt.value).kind == "scalar"
                if is_number and stmt.call is None and own.isdisjoint(map(self.memory.find, names_in(stmt.value))):
                    out[i] = replace(zero, value=replace(put, args=(whole, place, stmt.value)), origin=stmt.origin)
                    del out[position]
                return
            written = {n for s in walk((stmt,)) for n in writes(s)}
            if not own.isdisjoint(self.memory.touches(stmt)) or not written.isdisjoint(names_in(place)):
                return

    def taken(self, before: list[Stmt], place: Call) -> str | None:
        """The name for a copy of what is at a place, or for the number there if it is read once."""
        for stmt in reversed(before):
            if isinstance(stmt, Assign) and stmt.target.startswith("~t"):
                if _uncopied(stmt.value) == place and stmt.value != place:
                    return stmt.target
                if stmt.value == place and self.uses[stmt.target] == 1:
                    return stmt.target if self.memory.fact(place).kind == "scalar" else None
            if self.memory.find(names_in(place)[0]) in self.memory.writes(stmt):
                return None
        return None

    def passes(self, stmt: Stmt, zero: Store) -> bool:
        """Whether a statement neither reads nor writes the part of an array that ``zero`` writes."""
        if not set(names_in(zero.index)).isdisjoint(n for s in walk((stmt,)) for n in writes(s)):
            return False
        (whole,) = names_in(zero.base)
        if self.memory.find(whole) not in self.memory.touches(stmt):
            return True
        match stmt:
            case Assign(value=value):
                return self.memory.find(whole) not in self.memory.writes(stmt) and self.is_apart(value, zero)
            case Store(base=held, index=index, value=value, call=None):
                return self.is_apart(Call(Op("index", "[]"), (held, index)), zero) and self.is_apart(value, zero)
        return False

    def is_apart(self, expr: Expr, zero: Store) -> bool:
        """Whether an expression surely does not read the part of an array that ``zero`` writes."""
        if isinstance(expr, Call) and expr.op.kind == "index" and expr.args[0] == zero.base:
            return self.memory.are_disjoint(expr.args[1], zero.index) and self.is_apart(expr.args[1], zero)
        if isinstance(expr, Var):
            return self.memory.find(expr.name) != self.memory.find(names_in(zero.base)[0]) or self.is_number(expr.name)
        inner = list(children(expr))
        return all(self.is_apart(c, zero) for c in inner) if inner else not names_in(expr)

    def is_number(self, name: str) -> bool:
        return self.memory.fact(Var(name)).kind == "scalar"

    # --- copies

    def adds_array(self, stmt: Store) -> bool:
        """Whether a store adds to a part of an array."""
        return stmt.op == "+" and stmt.call is None and self.memory.fact(stmt.base).kind == "array"

    def is_needless(self, stmt: Assign, after: list[Stmt]) -> bool:
        """Whether the copy of a part of an array may be the part itself: it stays as it is while the name is read."""
        memory, name = self.memory, stmt.target
        view = _uncopied(stmt.value)
        if view == stmt.value or not name.startswith("~t") or not is_view(memory, view):
            return False
        assert isinstance(view, Call)
        if memory.fact(view).ndim == 0:
            # What is known for a number may be a view of an array without axes.
            return False
        if not memory.is_fixed(name) or memory.find(name) in memory.returned or memory.is_shared(name):
            return False
        readers = [i for i, s in enumerate(after) for inner in walk((s,)) for n in reads(inner) if n == name]
        if not readers or len(readers) != self.uses[name]:
            return False
        *between, last = after[: readers[-1] + 1]
        held = memory.find(names_in(view)[0])
        for s in between:
            if held in memory.writes(s) and not self.leaves(s, view):
                return False
        if held not in memory.writes(last) or self.leaves(last, view):
            return True
        # NumPy adds overlapping arrays as if they were apart, and what is computed first is an array of its own.
        if not isinstance(last, Store) or last.call is not None:
            return False
        return last.op == "+" or (last.op is None and isinstance(last.value, Call) and sharing(last.value) == "fresh")

    def leaves(self, stmt: Stmt, view: Call) -> bool:
        """Whether a store into an array leaves a part of it as it is."""
        if not isinstance(stmt, Store) or stmt.call is not None or stmt.base != view.args[0]:
            return False
        return self.memory.are_disjoint(stmt.index, view.args[1])


def _uncopied(value: Expr) -> Expr:
    """What an expression is a copy of, or the expression itself."""
    if isinstance(value, Call) and value.op.kind == "method" and value.op.name == "copy" and len(value.args) == 1:
        return value.args[0]
    return value
