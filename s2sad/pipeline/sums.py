"""Sums and products of which only the run says whether they are computed, or join and repeat lists.

    s = f(a) + f(b)                require_arithmetic(t, u)
                                   s = t + u

The check decides, where it would matter that a list holds what its operands hold: its sum is taken for a new array or
number from then on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from s2sad.analysis.evaluate import may_be_container
from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Assign, Block, Call, Evaluate, Function, Op, Stmt
from s2sad.ir.traverse import is_atom, map_stmt, walk
from s2sad.runtime.items import require_arithmetic

_REQUIRE = Op("runtime", "require_arithmetic", require_arithmetic, pure=False)


def with_required_arithmetic(function: Function, facts: Facts) -> Function:
    """``function`` with a check before each sum or product of names that may be one of lists; itself without any."""
    if not has_unsure_sums(function, facts):
        return function

    def in_block(block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            for call in _unsure(stmt, facts):
                out.append(Evaluate(Call(_REQUIRE, call.args), stmt.origin))
                stmt = replace(stmt, value=replace(call, op=replace(call.op, checked="fresh")))  # type: ignore[arg-type]
            out.append(map_stmt(stmt, lambda e: e, in_block))
        return tuple(out)

    return replace(function, body=in_block(function.body))


def has_unsure_sums(function: Function, facts: Facts) -> bool:
    """Whether a function has such sums or products that are not checked."""
    return any(True for stmt in walk(function.body) for _ in _unsure(stmt, facts))


def _unsure(stmt: Stmt, facts: Facts) -> Iterator[Call]:
    """The sum or product that a statement assigns, if it may be one of lists."""
    match stmt:
        case Assign(value=Call(op=Op(kind="operator", name="+" | "*" as symbol, checked=""), args=(a, b)) as call):
            if is_atom(a) and is_atom(b) and may_be_container(symbol, facts.get(a), facts.get(b)):
                yield call
