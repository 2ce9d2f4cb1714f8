"""Operands that carry derivatives and may be objects with operators of their own.

What operators, subscripts, loops and functions do with such an object is for its class to say, where that has not been
followed (`s2sad.transform.typed`): no rule of arrays is right there.  Where the types tell that an operand is one, or
leads to one, the operation is refused; where they tell nothing, ``plain(x, "*")`` asks when the program runs.  Where no
argument leads to such a class, neither is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from s2sad.analysis.infer import Facts
from s2sad.errors import UnsupportedError, Violation
from s2sad.frontend.lower import Lowered
from s2sad.frontend.unfollowed import of_member
from s2sad.ir.nodes import (
    NOWHERE,
    Block,
    Build,
    Call,
    Const,
    Evaluate,
    Expr,
    For,
    Function,
    Op,
    Origin,
    Stmt,
    Unpack,
    Var,
)
from s2sad.ir.traverse import expressions, map_stmt, subexpressions
from s2sad.ir.types import Fact, owners_of, reach_of
from s2sad.pipeline.met import reached
from s2sad.runtime import plain, protocols
from s2sad.runtime.classes import own_members

_PLAIN = Op("runtime", "plain", plain, pure=False)
_BESIDE = Const("*")
#: The kinds of operations that run special methods of their operands; of a subscript only those of the first.
_RUNNING = ("operator", "inplace", "compare", "index", "function", "method")
_CONTAINERS = ("list", "tuple", "dict")
#: What is done to a list or the like alone, whatever its items are.
_OF_CONTAINERS = ("operator", "inplace", "index", "method")
_FUNCTIONS = (len, list, tuple, dict, isinstance, id, type)
_SPECIAL = protocols.OPERATORS | protocols.COMPARING | protocols.ITERATING


def special_member(cls: type) -> str | None:
    """An operator of its own that a class of the user's has, if there is one.

    Example:
        >>> special_member(dict) is None
        True
    """
    return min(_SPECIAL & own_members(cls).keys(), default=None)


def special_classes(facts: Iterable[Fact]) -> frozenset[type]:
    """The classes with operators of their own to which values of some types may lead."""
    return frozenset(cls for fact in facts for cls in reach_of(fact) if special_member(cls) is not None)


def with_checked_operands(function: Function, facts: Facts, roots: Iterable[str], lowered: Lowered) -> Function:
    """``function`` after checks of what is computed from ``roots`` and may be such an object.

    Raises:
        UnsupportedError: where it surely is one, or leads to one.
    """
    checks = _Checks(facts, reached(function, roots), lowered)
    made = replace(function, body=checks.block(function.body))
    if checks.violations:
        raise UnsupportedError(checks.violations)
    return made


class _Checks:
    def __init__(self, facts: Facts, varied: set[str], lowered: Lowered) -> None:
        self.facts, self.varied, self.lowered = facts, varied, lowered
        self.violations: list[Violation] = []

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            origin: Origin = getattr(stmt, "origin", NOWHERE)
            unknown = dict.fromkeys([v for v in self.operands(stmt) if self.is_unknown(v, origin)])
            out += [Evaluate(Call(_PLAIN, (operand, _BESIDE)), origin) for operand in unknown]
            out.append(map_stmt(stmt, lambda e: e, self.block))
        return tuple(out)

    def operands(self, stmt: Stmt) -> Iterable[Var]:
        """The operands of a statement that vary and of which special methods may run."""
        run_through = list(stmt.iters) if isinstance(stmt, For) else [stmt.value] if isinstance(stmt, Unpack) else []
        parts = [part for part in run_through if self.facts.get(part).kind not in _CONTAINERS]
        for expr in expressions(stmt):
            for call in (expr, *subexpressions(expr)):
                parts += self.of_call(call) if isinstance(call, Call) else ()
        return [part for part in parts if isinstance(part, Var) and part.name in self.varied]

    def of_call(self, call: Call) -> list[Expr]:
        kind, function = call.op.kind, call.op.function
        if kind not in _RUNNING or any(function is f for f in _FUNCTIONS):
            return []
        if kind == "compare" and call.op.name in ("is", "is not"):
            return []
        operands = list(call.args[:1] if kind in ("index", "method") else (*call.args, *(v for _, v in call.kwargs)))
        if kind in _OF_CONTAINERS and not any(self.facts.get(o).kind in ("array", "numeric") for o in operands):
            return [o for o in operands if self.facts.get(o).kind not in _CONTAINERS]
        return [part for o in operands for part in (o.items if isinstance(o, Build) else (o,))]

    def is_unknown(self, operand: Var, origin: Origin) -> bool:
        """Whether nothing is known of an operand; one that may be such an object is refused."""
        fact = self.facts.get(operand)
        is_container = fact.kind in _CONTAINERS
        classes = owners_of(fact) if is_container or fact.kind == "open" else fact.owners
        found = min((c for c in classes | fact.reach if special_member(c)), key=lambda c: c.__qualname__, default=None)
        if found is not None:
            what, remedy = of_member(special_member(found) or "", found)
            place = None if origin is NOWHERE else self.lowered.source.place(origin.line)
            self.violations.append(Violation(place, what, remedy))
        return found is None and fact.kind == "open" and fact.given is None
