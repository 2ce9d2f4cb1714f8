"""One mask where two select the same elements, one after the other.

np.where(a, 0, np.where(b, 0, g))     ->    np.where(a | b, 0, g)
np.where(a, np.where(b, g, 0), 0)     ->    np.where(a & b, g, 0)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Set
from dataclasses import replace

import numpy as np

from s2sad.ir.nodes import NOWHERE, Assign, Block, Call, Const, Expr, Function, Op, Stmt, Var
from s2sad.ir.traverse import expressions, map_children, map_stmt, subexpressions, walk, writes
from s2sad.optimise.memory import Memory

_OR, _AND = Op("operator", "|", operator.or_), Op("operator", "&", operator.and_)
_NONE = Const(0)
#: An operation that joins two masks, and their names.
_Masks = tuple[Op, str, str]


def with_joint_masks(function: Function, memory: Memory, fresh: Callable[[str], str]) -> Function:
    """Apply the rewrites above to the reverse part of ``function``, where both surely are masks of NumPy's.

    What selects several times in a block has a name, which ``fresh`` makes.
    """
    joint: set[_Masks] = set()

    def in_expr(expr: Expr) -> Expr:
        expr = map_children(expr, in_expr)
        made = _joint(expr, memory) if isinstance(expr, Call) else expr
        if made is not expr and isinstance(made, Call):
            joint.update(_masks(made.args[0]))
        return made

    def in_block(block: Block) -> Block:
        done = [map_stmt(s, in_expr, in_block) for s in block]
        return _named(done, joint, memory, fresh)

    return function if function.reverse is None else replace(function, reverse=in_block(function.reverse))


def _masks(expr: Expr) -> Iterator[_Masks]:
    """The operation that joins two masks, and their names, if an expression is no more than that."""
    match expr:
        case Call(op=op, args=(Var(name=a), Var(name=b))) if op in (_OR, _AND):
            yield op, a, b


def _named(block: list[Stmt], joint: Set[_Masks], memory: Memory, fresh: Callable[[str], str]) -> Block:
    """A block with a name for each pair of masks that several of its statements join, if none assigns one of them."""
    uses: dict[_Masks, list[int]] = {}
    for position, stmt in enumerate(block if joint else ()):
        parts = [part for expr in expressions(stmt) for part in subexpressions(expr)]
        for masks in {masks for part in parts for masks in _masks(part)} & joint:
            uses.setdefault(masks, []).append(position)
    out = list(block)
    made: dict[int, list[Stmt]] = {}
    for (op, *names), positions in uses.items():
        assigned = {n for s in walk(out[positions[0] : positions[-1]]) for n in writes(s)}
        if len(positions) < 2 or not assigned.isdisjoint(names):
            continue
        mask = Call(op, tuple(map(Var, names)))
        name = fresh("~t")
        memory.of[name] = memory.fact(mask)
        made.setdefault(positions[0], []).append(Assign(name, mask, getattr(out[positions[0]], "origin", NOWHERE)))

        def by_name(expr: Expr, mask: Expr = mask, name: str = name) -> Expr:
            return Var(name) if expr == mask else map_children(expr, by_name)

        for position in positions:
            out[position] = map_stmt(out[position], by_name, lambda inner: inner)
    return tuple([s for position, stmt in enumerate(out) for s in (*made.get(position, ()), stmt)])


def _joint(call: Call, memory: Memory) -> Call:
    for position, op in ((2, _OR), (1, _AND)):
        inner = call.args[position] if _selects(call, position) else None
        if isinstance(inner, Call) and _selects(inner, position):
            masks = call.args[0], inner.args[0]
            if all(memory.fact(mask).boolean == "mask" for mask in masks):
                return replace(inner, args=(Call(op, masks), *inner.args[1:]))
    return call


def _selects(expr: Call, position: int) -> bool:
    """Whether an expression is one of its choices where a mask says so, and zero elsewhere."""
    is_choice = expr.op.function is np.where and len(expr.args) == 3 and not expr.kwargs
    return is_choice and expr.args[3 - position] == _NONE
