"""Write out what the kinds of values decide: branches, attempts, and what an augmented assignment of a tuple makes.

if out is None:
    out = np.zeros(n)     ->     out = np.zeros(n)
pair += (x,)              ->     pair = pair + (x,)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Assign, Block, Break, Call, Const, Copy, Expr, Function, If, Op, Stmt, Var
from s2sad.ir.traverse import base, is_attempt, map_stmt, names_in, reads, rename, walk, writes
from s2sad.ir.types import Fact, constant
from s2sad.optimise.computing import Computes
from s2sad.optimise.outcomes import Classes, outcome, whole_number
from s2sad.optimise.raised import decided_attempt

#: Functions that say True or False.
_TESTS = (np.isscalar, isinstance, hasattr, callable)


def take_decided(function: Function, facts: Facts, classes: Classes, computes: Computes) -> Function:
    """``function`` without branches that what is known of values decides, or changes of tuples.

    Args:
        function: The function.
        facts: What is known of its values.
        classes: The classes that a global name stands for.
        computes: Whether a function of the user's does no more in a call than to compute numbers.
    """

    def in_expr(expr: Expr) -> Expr:
        if isinstance(expr, Call) and expr.op.kind == "inplace" and facts.get(expr.args[0]).kind == "tuple":
            return Call(Op("operator", expr.op.name, expr.op.function), expr.args, (), expr.node)
        return expr

    joined: set[str] = set()
    facts = _with_truths(function, facts, classes)
    values = {s.target: s.value for s in walk(function.body) if isinstance(s, Assign)}

    def in_block(block: Block) -> Block:
        out: list[Stmt] = []
        for stmt, after in zip_longest(block, block[1:]):
            arm = _taken(stmt, facts, classes, values, computes)
            if arm is None:
                out.append(map_stmt(stmt, in_expr, in_block))
                continue
            out += in_block(arm)
            if not isinstance(after, Break | None):
                joined.update(t for s in arm if isinstance(s, Copy) for t in s.targets)
        return tuple(out)

    body = in_block(function.body)
    return function if body == function.body else _with_unset(replace(function, body=_assigned(body, joined)))


def _with_truths(function: Function, facts: Facts, classes: Classes) -> Facts:
    """``facts``, and what tests say whose outcomes have names, ``scalar = np.isscalar(h)``, and whole numbers."""
    found: dict[str, Fact] = {}
    stmts = list(walk(function.body))
    counts = Counter(name for stmt in stmts for name in writes(stmt))
    for stmt in stmts:
        if not isinstance(stmt, Assign):
            continue
        target, value = stmt.target, stmt.value
        if isinstance(value, Call) and _is_test(value.op):
            known = Facts({**facts.of, **found}, facts.globals) if found else facts
            if (holds := outcome(value, known, classes)) is not None:
                found[target] = constant(holds)
        elif isinstance(value, Const) and type(value.value) is int and counts[target] == 1:
            found[target] = facts.get(Var(target)).but(value=value.value)
        elif isinstance(value, Var) and value.name in found and counts[target] == 1:
            found[target] = found[value.name]
        elif isinstance(value, Call) and counts[target] == 1 and (number := whole_number(value, facts)) is not None:
            found[target] = facts.get(Var(target)).but(value=number)
    return Facts({**facts.of, **found}, facts.globals) if found else facts


def _is_test(op: Op) -> bool:
    """Whether an operation says True or False where its outcome is known."""
    return op.kind == "compare" or (op.kind, op.name) == ("bool", "not") or op.function in _TESTS


def _taken(stmt: Stmt, facts: Facts, classes: Classes, values: Mapping[str, Expr], computes: Computes) -> Block | None:
    """What is left of a branch or attempt that is decided; None of any other statement."""
    if not isinstance(stmt, If):
        return None
    if is_attempt(stmt) and (tried := decided_attempt(stmt, facts, classes, values, computes)) is not None:
        return tried
    taken = outcome(stmt.test, facts, classes)
    return None if taken is None else stmt.then if taken else stmt.orelse


def _assigned(body: Block, joined: Set[str]) -> Block:
    """``body`` with assignments for the moves into names that were joins of branches, of which one is left.

    At the end of a loop's body such a move would be taken for what the next turn begins with.
    """
    counts = Counter(name for stmt in walk(body) for name in writes(stmt))

    def in_block(block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            if isinstance(stmt, Copy) and all(t in joined and counts[t] == 1 for t in stmt.targets):
                pairs = zip(stmt.targets, stmt.sources, strict=True)
                out += [Assign(target, source, stmt.origin) for target, source in pairs]
            else:
                out.append(map_stmt(stmt, lambda e: e, in_block))
        return tuple(out)

    return in_block(body) if joined else body


def _with_unset(function: Function) -> Function:
    """``function`` where what nothing assigns any more is read as a variable that has no value (version 0)."""
    known = {p.name for p in function.params} | {n for stmt in walk(function.body) for n in writes(stmt)}
    read = {n for stmt in walk(function.body) for n in reads(stmt)} | set(names_in(function.result))
    names: dict[str, Expr] = {n: Var(f"{base(n)}.0") for n in read - known}

    def in_block(block: Block) -> Block:
        return tuple([map_stmt(stmt, lambda e: rename(e, names), in_block) for stmt in block])

    if not names:
        return function
    return replace(function, body=in_block(function.body), result=rename(function.result, names))
