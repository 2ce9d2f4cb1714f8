"""Calls whose callee is known only at run time: the checks that their results need."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal

from s2sad.analysis.effects import Effects
from s2sad.ir.nodes import Assign, Call, Copy, Expr, For, Function, Stmt, Store, Unpack
from s2sad.ir.traverse import map_stmt, names_in, reads, walk, writes


def with_checked_results(function: Function, find: Callable[[Function], Effects]) -> tuple[Function, Effects]:
    """``function`` with checks of those calls met at run time whose results may share with what it writes.

    Those that are written share nothing with what was there before; the others nothing with what the calls are given.
    """
    shared = find(function)
    checks: tuple[Literal["apart", "fresh"], ...] = ("apart", "fresh")
    for check in checks:
        touched = shared.written | shared.versions.keys()
        met = [s for s in walk(function.body) if isinstance(s, Assign) and is_met(s.value)]
        wanted = set()
        for stmt in met:
            names = {stmt.target, *(reads(stmt) if check == "apart" else ())}
            if not touched.isdisjoint(m for n in names for m in shared.group.get(n, (n,))):
                wanted.add(stmt.target)
        if not wanted:
            break
        function = _with_check(function, check, wanted)
        shared = find(function)
    return function, shared


def _with_check(function: Function, check: Literal["apart", "fresh"], targets: set[str]) -> Function:
    def checked(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Assign) and stmt.target in targets and isinstance(stmt.value, Call):
            return replace(stmt, value=replace(stmt.value, op=replace(stmt.value.op, checked=check)))
        return map_stmt(stmt, lambda e: e, lambda b: tuple(map(checked, b)))

    return replace(function, body=tuple(map(checked, function.body)))


def is_met(value: Expr) -> bool:
    """Whether an expression is a call of which it is known at run time only what it runs."""
    return isinstance(value, Call) and value.op.kind == "met"


def has_met(function: Function, shared: Effects) -> bool:
    """Whether a function has such a call, or calls one that has."""
    return any(isinstance(s, Assign) and is_met(s.value) for s in walk(function.body)) or any(
        known.met for known in shared.calls.values()
    )


def reached(function: Function, roots: Iterable[str]) -> set[str]:
    """The names that are computed from some others, in whatever way."""
    found = set(roots)
    edges: list[tuple[set[str], set[str]]] = []
    for stmt in walk(function.body):
        match stmt:
            case Assign(value=value) | Unpack(value=value):
                edges.append((set(names_in(value)), set(writes(stmt))))
            case Copy(targets=targets, sources=sources):
                edges += [(set(names_in(s)), {t}) for t, s in zip(targets, sources, strict=True)]
            case For(iters=iters):
                edges.append(({n for i in iters for n in names_in(i)}, set(writes(stmt))))
            case Store(base=base, value=value):
                edges.append((set(names_in(value)), set(names_in(base))))
    grown = True
    while grown:
        before = len(found)
        for read, written in edges:
            if not found.isdisjoint(read):
                found |= written
        grown = len(found) > before
    return found
