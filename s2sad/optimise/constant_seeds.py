"""The reverse half of a callee whose result has the same number as the adjoint of every element.

C_bar = np.zeros((n, n))
C_bar += result_bar
for i in reversed(range(n)):             for i in reversed(range(n)):
    t_bar = C_bar[i, i]           ->         A_bar[i] += B[i]
    A_bar[i] += t_bar * B[i]

That is so for each result of which the caller takes the sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

import numpy as np

from s2sad.ir import algebra
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Expr, Function, Op, Stmt, Var
from s2sad.ir.traverse import (
    expressions,
    map_children,
    map_stmt,
    names_in,
    reads,
    rename_in,
    subexpressions,
    walk,
    writes,
)
from s2sad.optimise.begun import begin_with_contributions
from s2sad.optimise.dead import remove_dead
from s2sad.optimise.memory import Memory
from s2sad.optimise.own import as_own, written_into


def with_constant_seeds(half: Function, seeds: Mapping[str, Const], bars: Set[str], memory: Memory) -> Function:
    """A reverse half without the parameters ``seeds``, which stand for numbers that arrays begin with.

    The other ``bars`` may be given as what broadcasts to the arrays to which they are added.
    """
    params = tuple([p for p in half.params if p.name not in seeds])
    half = replace(half, params=params, reverse=rename_in(half.reverse or (), seeds))
    half = begin_with_contributions(half, memory, bars)
    reverse = half.reverse or ()
    inside = [e for s in walk(reverse) for whole in expressions(s) for e in subexpressions(whole)]
    read = Counter(n for s in walk(reverse) for n in reads(s)) + Counter(names_in(half.result))
    made = Counter(n for s in walk(reverse) for n in writes(s))
    by_item = Counter(_item_of(e, memory) for e in inside)
    items = {n: number for n, number in _filled(reverse) if made[n] == 1 and by_item[n] == read[n]}
    if not items:
        return half
    views = {s.target for s in walk(reverse) if isinstance(s, Assign) and _item_of(s.value, memory) in items}

    def shortened(expr: Expr) -> Expr:
        name = _item_of(expr, memory)
        if name in items:
            return items[name]
        expr = map_children(expr, shortened)
        match expr:
            case Call(op=Op(kind="operator", name="*"), args=(a, b)) if Const(1.0) in (a, b):
                return algebra.multiply(a, b)
        return expr

    written = written_into(reverse)

    def in_stmt(stmt: Stmt) -> Stmt:
        short = map_stmt(stmt, shortened, in_block)
        if isinstance(stmt, Assign) and isinstance(short, Assign) and stmt.target in written:
            # Without what it is multiplied by it would be another's object, which is written with it.
            return replace(short, value=as_own(stmt.value, short.value))
        return short

    def in_block(block: Block) -> Block:
        return tuple(map(in_stmt, block))

    reverse = in_block(reverse)
    numbers = {s.target: s.value for s in walk(reverse) if isinstance(s, Assign) and isinstance(s.value, Const)}
    numbers = {n: number for n, number in numbers.items() if made[n] == 1 and n in views}
    return remove_dead(replace(half, reverse=in_block(rename_in(reverse, numbers))), {})


def _filled(block: Block) -> Iterator[tuple[str, Const]]:
    """The arrays that are made with one number everywhere."""
    for stmt in block:
        match stmt:
            case Assign(target=name, value=Call(op=Op(function=made), args=args)):
                if made in (np.ones, np.ones_like):
                    yield name, Const(1.0)
                elif made in (np.full, np.full_like) and isinstance(args[-1], Const):
                    yield name, args[-1]


def _item_of(expr: Expr, memory: Memory) -> str | None:
    """The array of which an expression reads one element."""
    match expr:
        case Call(op=Op(kind="index"), args=(Var(name=name), index)):
            parts = index.items if isinstance(index, Build) and index.kind == "tuple" else (index,)
            facts = [memory.fact(part) for part in parts]
            are_numbers = all(f.kind == "scalar" and not f.boolean for f in facts)
            return name if are_numbers and len(parts) == memory.fact(Var(name)).ndim else None
    return None
