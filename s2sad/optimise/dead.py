"""Remove what nobody reads.

    t = np.sin(x)             (t is not read)
    A[i] = x[i]               (A is not read)
    for i in range(n): ...    (nothing left inside)

A statement with an effect stays, wherever in it the effect is: a call of a function that is not known to be pure,
``print``, ``assert``, ``raise``; a loop over ``step(u)`` in which nothing is left.  A pure array operation whose result
nobody reads goes, its warnings with it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from s2sad.analysis.versions import changed_items, versions
from s2sad.attempts import tried
from s2sad.ir.nodes import (
    Assign,
    Block,
    Break,
    Call,
    Const,
    Copy,
    Effect,
    Enter,
    Evaluate,
    Exit,
    Expr,
    For,
    Function,
    If,
    Opaque,
    Pop,
    Push,
    Stmt,
    Store,
    Var,
    While,
)
from s2sad.ir.traverse import blocks, children, expressions, is_attempt, names_in, reads, walk, writes
from s2sad.runtime import add_at, add_copy, add_field, add_into

#: The helpers that write into their first argument, and do nothing else.
_ADDING = (add_at, add_copy, add_field, add_into)
#: What an expression of operators is made of.
_ARITHMETIC = (
    ast.Expr, ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.unaryop,
)  # fmt: skip


def is_pure(expr: Expr) -> bool:
    """Whether evaluating ``expr`` has no effect, and reads nothing but its operands."""
    if isinstance(expr, (Var, Const)):
        return True
    if isinstance(expr, Opaque) or (isinstance(expr, Call) and not expr.op.pure):
        return False
    return all(map(is_pure, children(expr)))


def only_computes(expr: Expr) -> bool:
    """Whether evaluating ``expr`` has no effect."""
    if isinstance(expr, Opaque) or (isinstance(expr, Call) and not (expr.op.pure or expr.op.computes)):
        return False
    return all(map(only_computes, children(expr)))


def is_quiet(body: Block) -> bool:
    """Whether a block does nothing but compute, and write into arrays that have names."""
    for stmt in walk(body):
        elsewhere = isinstance(stmt, Store) and not isinstance(stmt.base, Var)
        if isinstance(stmt, Evaluate):
            if stmt.writes is None:
                return False
        elif elsewhere or isinstance(stmt, Effect) or not all(map(only_computes, expressions(stmt))):
            return False
    return True


def writes_into(stmt: Stmt) -> str | None:
    """The name whose object a statement writes, where that is all that it does."""
    if isinstance(stmt, Store) and isinstance(stmt.base, Var):
        return stmt.base.name
    if isinstance(stmt, Evaluate) and isinstance(stmt.value, Call) and stmt.value.op.kind == "runtime":
        call = stmt.value
        if call.op.function in _ADDING:
            return call.args[0].name if isinstance(call.args[0], Var) else None
    return None


def all_written(stmt: Stmt) -> tuple[str, ...] | None:
    """The names whose objects a statement writes, where that is all that it does."""
    if isinstance(stmt, Evaluate) and stmt.writes is not None:
        return stmt.writes
    into = writes_into(stmt)
    return None if into is None else (into,)


def _evaluated(stmt: Stmt) -> Iterable[Expr]:
    """What a statement evaluates; of a call that does no more than write into named objects, the operands."""
    if isinstance(stmt, Evaluate) and all_written(stmt) is not None:
        return children(stmt.value)
    return expressions(stmt)


def _raises_again(stmt: Stmt) -> bool:
    """Whether a statement does no more than raise the exception that has been caught."""
    return isinstance(stmt, Effect) and isinstance(stmt.node, ast.Raise) and stmt.node.exc is None


def _is_arithmetic(stmt: Effect) -> bool:
    """Whether a statement is an expression of which nobody takes the value, and no more than operators of names."""
    known = not (stmt.writes or stmt.alters or stmt.kept or stmt.puts or stmt.receivers or stmt.checks)
    return known and isinstance(stmt.node, ast.Expr) and all(isinstance(n, _ARITHMETIC) for n in ast.walk(stmt.node))


def _renames(stmt: Stmt, bound: Collection[str]) -> bool:
    """Whether a statement gives a constant, or what one of some names surely has, another name."""
    if not isinstance(stmt, Assign):
        return False
    return isinstance(stmt.value, Const) or (isinstance(stmt.value, Var) and stmt.value.name in bound)


def _assigned(block: Block) -> set[str]:
    return {name for stmt in block if isinstance(stmt, (Assign, Copy)) for name in writes(stmt)}


def _is_method(stmt: Store) -> bool:
    return stmt.call is not None and stmt.call.op.kind == "method"


def _augments(stmt: Assign) -> bool:
    return isinstance(stmt.value, Call) and stmt.value.op.kind == "inplace"


def reads_of(stmt: For | While) -> tuple[Expr, ...]:
    return stmt.iters if isinstance(stmt, For) else (stmt.test,)


def remove_dead(function: Function, groups: Mapping[str, frozenset[str]], keep: Iterable[str] = ()) -> Function:
    """Remove dead statements; ``groups`` gives the names that may share an object that is written."""
    live = _Live(groups, versions(function), differentiated=function.reverse is not None)
    live.tried = tried(function.body)
    live.scan(function.body, ())
    if function.reverse is not None:
        live.scan(function.reverse, ())
    live.want(names_in(function.result))
    live.want(keep)
    live.run()
    reverse = None if function.reverse is None else live.sweep(function.reverse)
    return replace(function, body=live.sweep(function.body), reverse=reverse)


class _Live:
    def __init__(
        self, groups: Mapping[str, frozenset[str]], versions: Mapping[str, frozenset[str]], differentiated: bool
    ) -> None:
        self.groups = groups
        self.versions = versions
        self.differentiated = differentiated
        self.makers: dict[str, list[Stmt]] = {}
        self.parents: dict[int, tuple[Stmt, ...]] = {}
        self.decides: dict[int, list[Stmt]] = {}
        self.names: set[str] = set()
        self.tried: set[int] = set()
        self.alive: set[int] = set()
        self.pending: list[Stmt] = []

    def scan(self, block: Block, parents: tuple[Stmt, ...]) -> None:
        """Note who makes each name, and mark the statements that stay in any case."""
        bound: set[str] = set()
        for stmt in block:
            self.parents[id(stmt)] = parents
            into = all_written(stmt)
            if into is not None:
                for name in {n for written in into for n in self.groups.get(written, (written,))}:
                    self.makers.setdefault(name, []).append(stmt)
            elif isinstance(stmt, Assign) and _augments(stmt) and stmt.target in self.groups:
                for name in self.groups[stmt.target]:
                    self.makers.setdefault(name, []).append(stmt)
            elif isinstance(stmt, Push):
                self.makers.setdefault(stmt.tape, []).append(stmt)
            elif isinstance(stmt, Break):
                for parent in reversed(parents):
                    if isinstance(parent, (For, While)):
                        self.decides.setdefault(id(parent), []).append(stmt)
                        break
            elif isinstance(stmt, Effect) and _is_arithmetic(stmt):
                pass
            elif isinstance(stmt, (Effect, Evaluate)) or (isinstance(stmt, For) and stmt.strict):
                self.pending.append(stmt)
            if isinstance(stmt, Store) and (into is None or (_is_method(stmt) and not self.differentiated)):
                # What is no local variable others see, and that a method is an array's is not known yet.
                self.pending.append(stmt)
            if isinstance(stmt, For):
                self.decides[id(stmt)] = self.decides.get(id(stmt), []) + list(self.changes_of_items(stmt))
            for name in writes(stmt):
                self.makers.setdefault(name, []).append(stmt)
            if not all(map(only_computes, _evaluated(stmt))):
                self.pending.append(stmt)
            if isinstance(stmt, (Enter, Exit)) or (id(stmt) in self.tried and not _renames(stmt, bound)):
                # Whether what is tried raises decides what runs.
                self.pending.append(stmt)
            if isinstance(stmt, (Assign, Copy)):
                bound.update(writes(stmt))
            elif isinstance(stmt, If):
                bound |= _assigned(stmt.then) & _assigned(stmt.orelse)
            elif isinstance(stmt, Effect) and isinstance(stmt.node, ast.Delete):
                bound.clear()
            for inner in blocks(stmt):
                self.scan(inner, (*parents, stmt))

    def changes_of_items(self, loop: For) -> Iterator[Stmt]:
        """The changes inside a loop of the list or dict that it runs over: Python sees them at the next item."""
        names = {name for e in loop.iters for name in changed_items(loop.body, e, self.versions)}
        for stmt in walk(loop.body) if names else ():
            if isinstance(stmt, Assign) and stmt.target in names:
                yield stmt

    def want(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.names:
                self.names.add(name)
                self.pending.extend(self.makers.get(name, ()))

    def want_of(self, stmt: Stmt, names: Iterable[str]) -> None:
        """Want what a statement reads, but for the targets of the loops around it: another loop may have them too."""
        around = [p for p in self.parents[id(stmt)] if isinstance(p, For)]
        bound = {n for loop in around for n in writes(loop)}
        self.want(n for n in names if n not in bound)

    def run(self) -> None:
        while self.pending:
            stmt = self.pending.pop()
            if id(stmt) in self.alive:
                continue
            self.alive.add(id(stmt))
            # How long a loop runs, and over what, is decided by what leaves it and what changes its items.
            self.pending.extend(self.decides.get(id(stmt), ()))
            if isinstance(stmt, Copy):
                # A move is wanted target by target; see sweep.
                for target, source in zip(stmt.targets, stmt.sources, strict=True):
                    if target in self.names:
                        self.want_of(stmt, names_in(source))
                self.alive.discard(id(stmt))
            elif isinstance(stmt, Pop):
                self.want((stmt.tape,))
            else:
                self.want_of(stmt, reads(stmt))
            if isinstance(stmt, Store) and stmt.call is not None and not self.differentiated:
                # The adjoint will want what the call itself does not read.
                self.want_of(stmt, (*names_in(stmt.value), *names_in(stmt.index)))
            self.hold(stmt)

    def hold(self, stmt: Stmt) -> None:
        """What stands around a live statement is live."""
        for parent in self.parents[id(stmt)]:
            if id(parent) not in self.alive:
                self.alive.add(id(parent))
                self.want_of(parent, reads(parent))
                self.pending.extend(self.decides.get(id(parent), ()))

    def sweep(self, block: Block) -> Block:
        out: list[Stmt] = []
        begun: list[int] = []
        for stmt in block:
            if isinstance(stmt, Copy):
                kept = [(t, s) for t, s in zip(stmt.targets, stmt.sources, strict=True) if t in self.names]
                if len(kept) == len(stmt.targets):
                    out.append(stmt)
                elif kept:
                    out.append(replace(stmt, targets=tuple(t for t, _ in kept), sources=tuple(s for _, s in kept)))
                continue
            if id(stmt) not in self.alive:
                continue
            if isinstance(stmt, If):
                then, orelse = self.sweep(stmt.then), self.sweep(stmt.orelse)
                if is_attempt(stmt) and not any(isinstance(s, Exit) and s.attempt for s in then):
                    out += then  # nothing is left that is tried
                elif then or orelse or id(stmt) in self.tried or not only_computes(stmt.test):
                    out.append(replace(stmt, then=then, orelse=orelse))
            elif isinstance(stmt, (For, While)):
                body = self.sweep(stmt.body)
                needed = isinstance(stmt, While) or stmt.strict or any(n in self.names for n in writes(stmt))
                if body or needed or id(stmt) in self.tried or not all(map(only_computes, reads_of(stmt))):
                    out.append(replace(stmt, body=body))
            elif isinstance(stmt, Exit):
                handler = self.sweep(stmt.handler)
                begin = begun.pop()
                around = out[begin]
                assert isinstance(around, Enter)
                empty = begin == len(out) - 1 and (around.manager is None or around.transparent)
                if empty or (handler and all(map(_raises_again, handler))):
                    del out[begin]
                else:
                    out.append(replace(stmt, handler=handler))
            elif isinstance(stmt, Enter):
                begun.append(len(out))
                out.append(stmt)
            else:
                out.append(stmt)
        return tuple(out)
