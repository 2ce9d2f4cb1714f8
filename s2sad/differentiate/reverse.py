"""Reverse mode: from a function to its adjoint.

``reverse`` walks the statements from the last to the first and writes down the
adjoint of each active one (Griewank and Walther, "Evaluating Derivatives", 2008,
section 6.1).  The reverse part reads the names of the forward part as if all of their
values were still there; :mod:`s2sad.differentiate.recording` sees to it that they
are.

    y = np.sin(x) * w        y_bar = ...
                             x_bar = y_bar * w * np.cos(x)

The adjoint of a name is defined by the first contribution to it (in reverse
order) and added to by the others.  Where branches or iterations meet, it moves into a join name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from s2sad.differentiate.calls import met_call, user_call
from s2sad.differentiate.containers import changed
from s2sad.differentiate.control import branch, loop
from s2sad.differentiate.items import item, unpack
from s2sad.differentiate.known import Known, Reversed, Seeds
from s2sad.differentiate.operations import ruled
from s2sad.differentiate.reverse_state import State
from s2sad.differentiate.statements import user_call_of
from s2sad.differentiate.store_adjoints import store
from s2sad.differentiate.stores import holds
from s2sad.differentiate.writes import buffer_assign
from s2sad.ir.nodes import (
    NOWHERE,
    Assign,
    Block,
    Build,
    Call,
    Const,
    Copy,
    Enter,
    Exit,
    Expr,
    For,
    If,
    Op,
    Opaque,
    Stmt,
    Store,
    Unpack,
    Var,
    While,
)
from s2sad.ir.traverse import rename, walk, with_names, writes


def reverse(known: Known, seeds: Seeds, wrt: tuple[str, ...]) -> Reversed:
    """Differentiate a function with respect to the names ``wrt``, whose adjoints at the beginning are wanted.

    Raises:
        UnsupportedError: with each place through which no derivative can pass.
    """
    state = State(known, _block)
    _begin(state, seeds)
    for stmt in walk(known.function.body):
        state.refusals.refuse_wholes(stmt)
    for read in known.activity.stale:
        state.refusals.refuse_stopped((read or known.function.body[-1]).origin.line)
    body = _block(state, known.function.body)
    state.make.origin = NOWHERE
    body = (*_unpassed(state, seeds.passed), *body)
    adjoints = _results(state, wrt)
    state.refusals.check()
    adjoints = _named(state, wrt, adjoints)
    shadows = state.shadows.names
    return Reversed(
        body,
        tuple(state.make.out),
        adjoints,
        state.make.of,
        shadows,
        frozenset(shadows[n] for n in known.unbound if n in shadows),
        tuple(shadows[n] for n in seeds.views),
        frozenset(state.later.stable),
        state.storage.stored,
        state.adjoints.complex,
    )


def _begin(state: State, seeds: Seeds) -> None:
    """Set the adjoints at the end of the function, and the shadows that come from outside or go there."""
    of, storage, shadows = state.make.of, state.storage, state.shadows
    of.update(seeds.facts)
    for name, bar in seeds.passed.items():
        shadows.names.update(dict.fromkeys(storage.same.get(name, (name,)), bar))
        of[bar] = of[name]
    for name in (*seeds.passed, *seeds.views):
        shadows.of(name)
        if not holds(of[name]) or (name in storage.turned and name in seeds.views):
            state.refusals.refuse_buffer(None, name)
    for name, g in seeds.adjoints:
        if name in state.adjoints.of or name in storage.buffers:
            state.adjoints.contribute(Var(name), g)
        else:
            state.adjoints.of[name] = g


def _unpassed(state: State, passed: Mapping[str, str]) -> tuple[Stmt, ...]:
    """The shadows of parameters of which who calls does not know: in the end, they are the adjoints of arguments."""
    made: tuple[Stmt, ...] = ()
    for param in state.known.function.params:
        if param.name in state.shadows.names and param.name not in passed:
            bar = state.adjoints.of[param.name] = state.shadows.of(param.name)
            state.adjoints.owned.add(bar.name)
            made = (Assign(bar.name, state.shadows.made_zero(param.name, Var(param.name))), *made)
    return made


def _results(state: State, wrt: tuple[str, ...]) -> tuple[Expr, ...]:
    """The adjoints of the names ``wrt``, each an object of its own."""
    given: set[str] = set()
    found = tuple([state.adjoints.result(name, given) for name in wrt])
    if not state.adjoints.complex:
        return found
    return tuple([state.adjoints.realised(g, state.make.of[n]) for g, n in zip(found, wrt, strict=True)])


def _named(state: State, wrt: tuple[str, ...], adjoints: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The adjoints that are returned, each called after its argument."""
    make = state.make
    named: dict[str, str] = {}
    made = {n for s in walk(make.out) for n in writes(s)}
    for name, g in zip(wrt, adjoints, strict=True):
        if isinstance(g, Var) and g.name.startswith("~") and g.name not in named and g.name in made:
            named[g.name] = make.bar(name)
    if not named:
        return adjoints
    make.of.update({new: make.of[old] for old, new in named.items()})
    make.out = list(with_names(tuple(make.out), named))
    return tuple([rename(g, {o: Var(n) for o, n in named.items()}) for g in adjoints])


def _block(state: State, block: Block) -> Block:
    """Reverse a block into what is written; returns it with what the forward part must add."""
    make = state.make
    forward: list[Stmt] = []
    around = _around(block)
    for stmt in reversed(block):
        if id(stmt) in around:
            make.emit(around[id(stmt)])
        with state.later.across(stmt):
            make.origin = getattr(stmt, "origin", make.origin)
            state.refusals.line = make.origin.line or state.refusals.line
            make.before, make.after = [], []
            state.tried = id(stmt) in state.trying
            stmt = _statement(state, stmt)
        forward += make.after
        forward.append(stmt)
        forward += reversed(make.before)
    forward.reverse()
    return tuple(forward)


def _around(block: Block) -> dict[int, Stmt]:
    """By the id of a statement, what begins or ends around its adjoint: ``np.errstate`` that ignores errors."""
    found: dict[int, Stmt] = {}
    begun: list[Enter] = []
    for stmt in block:
        if isinstance(stmt, Enter):
            begun.append(stmt)
        elif isinstance(stmt, Exit) and not stmt.attempt and begun:
            enter = begun.pop()
            if enter.bound is None and _ignores_errors(enter.manager):
                found[id(stmt)], found[id(enter)] = enter, stmt
    return found


def _ignores_errors(manager: Expr | None) -> bool:
    """Whether a context manager is ``np.errstate`` with errors that are ignored; what raises is for the function."""
    if not isinstance(manager, Call) or manager.op.function is not np.errstate or manager.args:
        return False
    return all(value == Const("ignore") for _, value in manager.kwargs)


def _statement(state: State, stmt: Stmt) -> Stmt:
    """Write the adjoint of a statement; returns the statement as the forward part has it."""
    called = user_call_of(stmt)
    if called is not None:
        return user_call(state, *called)
    handler = _STATEMENTS.get(type(stmt))
    made = handler(state, stmt) if handler is not None else None
    return stmt if made is None else made


def _assign(state: State, stmt: Assign) -> Stmt | None:
    """The adjoint of ``target = value``."""
    adjoints, target, value = state.adjoints, stmt.target, stmt.value
    state.refusals.refuse_exception(target, value, stmt.origin.line)
    if isinstance(value, Call) and value.op.kind == "met":
        return met_call(state, stmt, value)
    if isinstance(value, Call) and value.op.kind == "change" and target in state.storage.changed:
        changed(state, stmt, value)
        return None
    if target in state.storage.buffers:
        buffer_assign(state, stmt)
        return None
    z_bar = adjoints.take(target)
    if z_bar is None or target not in adjoints.active:
        return None
    match value:
        case Var():
            adjoints.contribute(value, z_bar, moved=True)
        case Build():
            adjoints.contribute(value, z_bar)
        case Opaque(refusal=refusal) if refusal is not None:
            state.refusals.refuse(refusal.node, refusal.message, refusal.remedy)
        case Call(op=Op(kind="index"), args=(whole, index)):
            item(state, whole, index, z_bar)
        case Call() if adjoints.is_active(value):
            ruled(state, value, Var(target), z_bar)
    return None


def _copy(state: State, stmt: Copy) -> Stmt:
    """The adjoint of moves into join names: moves back, of all at once."""
    made = state.shadows.moved(stmt)
    bars = [(s, state.adjoints.take(t)) for t, s in zip(stmt.targets, stmt.sources, strict=True)]
    for source, z_bar in bars:
        if z_bar is not None:
            state.adjoints.contribute(source, z_bar, moved=True)
    return made


#: The adjoint of each kind of statement; it returns the statement as the forward part has it, or None for as it was.
_STATEMENTS: dict[type[Any], Callable[[State, Any], Stmt | None]] = {
    Assign: _assign,
    Copy: _copy,
    Unpack: unpack,
    If: branch,
    For: loop,
    While: loop,
    Store: store,
}
