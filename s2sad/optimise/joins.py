"""Replace a join name that only ever gets one value by that value.

x_bar.2 = x_bar.1                x_bar.1[i] += g
for i in ...: x_bar.2[i] += g    (nothing moves into x_bar.2 in the loop)

What an adjoint is that is written in place stays an object of its own: ``a_bar = t_bar * x`` is ``1.0 * x``, not ``x``,
where ``t_bar`` is 1.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from s2sad.ir import algebra
from s2sad.ir.nodes import Assign, Block, Call, Const, Copy, Expr, Function, Stmt, Var
from s2sad.ir.traverse import map_stmt, names_in, rename, walk, writes
from s2sad.optimise.own import as_own, written_into


def remove_trivial_joins(function: Function) -> Function:
    """Remove joins that only ever hold one value, and assignments of names and literals to adjoints.

    Joins that move into each other and get one value from elsewhere all hold that (Braun et al., "Simple and efficient
    construction of static single assignment form", 2013, section 3.2).
    """
    while True:
        names = _single(function)
        if not names:
            return function
        written = written_into((*function.body, *(function.reverse or ())))
        body = _replaced(function.body, names, written)
        reverse = None if function.reverse is None else _replaced(function.reverse, names, written)
        function = replace(function, body=body, reverse=reverse, result=rename(function.result, names))


def _single(function: Function) -> dict[str, Expr]:
    #: By their text, since numbers that are equal may differ in their types and signs.
    sources: dict[str, dict[str, Expr]] = {}
    assigned: dict[str, int] = {}
    adjoint = {name for s in walk(function.reverse or ()) for name in writes(s)}
    for stmt in walk((*function.body, *(function.reverse or ()))):
        if isinstance(stmt, Copy):
            for target, source in zip(stmt.targets, stmt.sources, strict=True):
                sources.setdefault(target, {})[repr(source)] = source
        for target in writes(stmt):
            assigned[target] = assigned.get(target, 0) + 1
    found: dict[str, Expr] = {}
    for target in sources.keys() & adjoint:
        value = _only(target, sources, adjoint)
        if isinstance(value, Const) or (
            isinstance(value, Var) and assigned.get(value.name) == 1 and value.name not in sources
        ):
            found[target] = value
    # What stands for a join now goes in its turn.
    standing = {value.name for value in found.values() if isinstance(value, Var)}
    for stmt in walk(function.reverse or ()):
        if (
            isinstance(stmt, Assign)
            and stmt.target not in found.keys() | standing
            and isinstance(stmt.value, (Var, Const))
        ):
            value = stmt.value
            if isinstance(value, Const) or (
                assigned.get(value.name, 1) == 1 and value.name not in sources and value.name not in found
            ):
                found[stmt.target] = value
    return found


def _only(join: str, sources: Mapping[str, Mapping[str, Expr]], joins: Set[str]) -> Expr | None:
    """The one value that goes into a join from elsewhere, be it through other ``joins``; None where there are more."""
    web, waiting = {join}, [join]
    values: dict[str, Expr] = {}
    while waiting and len(values) < 2:
        for text, source in sources[waiting.pop()].items():
            if not isinstance(source, Var) or source.name not in sources or source.name not in joins:
                values[text] = source
            elif source.name not in web:
                web.add(source.name)
                waiting.append(source.name)
    return next(iter(values.values())) if len(values) == 1 else None


def _replaced(block: Block, names: dict[str, Expr], written: Set[str]) -> Block:
    """A block with values in place of names; what is ``written`` into stays an object of its own."""
    out: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, Copy):
            kept = [(t, rename(s, names)) for t, s in zip(stmt.targets, stmt.sources, strict=True) if t not in names]
            if kept:
                out.append(Copy(tuple(t for t, _ in kept), tuple(s for _, s in kept), stmt.origin))
        elif isinstance(stmt, Assign) and stmt.target in names:
            continue
        elif isinstance(stmt, Assign) and stmt.target in written and isinstance(stmt.value, Call):
            out.append(replace(stmt, value=as_own(rename(stmt.value, names), _with(stmt.value, names))))
        else:
            out.append(map_stmt(stmt, lambda e: _with(e, names), lambda b: _replaced(b, names, written)))
    return tuple(out)


def _with(expr: Expr, names: dict[str, Expr]) -> Expr:
    """An expression with values in place of names; with numbers there it is simplified."""
    new = rename(expr, names)
    has_numbers = any(isinstance(names.get(n), Const) for n in names_in(expr))
    return algebra.finished(new) if has_numbers else new
