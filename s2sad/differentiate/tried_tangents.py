"""Tangents of what is tried: no handler of the program may see what they raise.

They come after what is tried, for which the ``try`` keeps what they need as it was:

try: y[i:] *= v                 try:
except E: ...                       t = y[i:].copy()
                                    y[i:] *= v
                                except E: ...
                                else: y_dot[i:] = y_dot[i:] * v + t * v_dot

Those that cannot wait, for a loop or a call that needs them, make errors of ours of what they raise.  They are computed
before a statement that may raise, and written after it:

try: u = g(y); f(u)             try:
except E: ...                       u = g(y)
                                    with unseen(): u_dot = ...
                                    f_jvp(u, u_dot=u_dot)
                                except E: ...
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from s2sad.differentiate.builder import COPY
from s2sad.differentiate.tangent_state import State
from s2sad.ir.nodes import Assign, Build, Call, Enter, Evaluate, Exit, Expr, Op, Opaque, Slice, Stmt, Store, Var
from s2sad.ir.traverse import base, is_light, map_children, map_stmt, reads, rename, writes
from s2sad.ir.types import Fact
from s2sad.runtime import own
from s2sad.runtime.tangents import assigned, placed_tangent
from s2sad.runtime.unseen import unseen as unseen_errors
from s2sad.runtime.zero_tangents import viewed_tangent, viewed_tangents

_OWN = Op("runtime", "own", own)
_UNSEEN = Call(Op("runtime", "unseen", unseen_errors, pure=False), ())


def unseen(block: list[Stmt]) -> list[Stmt]:
    """Statements of which no handler sees what they raise."""
    return [Enter(_UNSEEN, None, block[0].origin), *block, Exit(origin=block[0].origin)] if block else []


def apart(state: State, block: Iterable[Stmt]) -> tuple[list[Stmt], list[Stmt]]:
    """What statements compute, which may come before another that raises, and what they write, which may not."""
    computed: list[Stmt] = []
    written: list[Stmt] = []

    def held(value: Expr) -> Expr:
        if isinstance(value, Var) or (isinstance(value, Call) and value.op.function is placed_tangent):
            # An object that has other names; what is tried writes no tangent.
            return value
        if isinstance(value, Call) and value.op.function is assigned:
            old, new = value.args
            return replace(value, args=(old, held(new)))
        name = state.make.fresh("~t_dot")
        computed.append(Assign(name, Call(_OWN, (value,)), state.make.origin))
        state.make.of[name] = state.make.named(state.make.fact(value), name)
        return Var(name)

    for stmt in block:
        match stmt:
            case Store():
                written.append(replace(stmt, value=held(stmt.value)))
            case Assign(value=Call(op=Op(function=function)) as call) if function is assigned:
                written.append(replace(stmt, value=held(call)))
            case _:
                computed.append(stmt)
    return computed, written


def writes_in_place(stmt: Stmt) -> bool:
    """Whether the tangent of a statement writes into an object that may have other names."""
    if isinstance(stmt, Evaluate):
        return isinstance(stmt.value, Call) and not stmt.value.op.pure
    if isinstance(stmt, Assign) and isinstance(stmt.value, Call):
        return stmt.value.op.kind in ("inplace", "change") or stmt.value.op.function is assigned
    return isinstance(stmt, Store)


def _changed(state: State, stmt: Stmt, made: Stmt) -> set[str]:
    """The names of what a statement writes; of the tangents too, if what it is ``made`` gives them to a function."""
    changed = {m for n in state.effects.written_by(stmt) for m in state.effects.group.get(n, (n,))}
    dots = {state.dots[n] for n in changed if n in state.dots}
    return changed if dots.isdisjoint(reads(made)) else changed | dots


def can_keep(state: State, stmt: Stmt, made: Stmt, late: Iterable[Stmt]) -> bool:
    """Whether what a statement writes, and tangents that come later read, are numbers and arrays, which have copies.

    Those that come later themselves have none yet.
    """
    later = (*late, *state.make.before)
    found = {n for s in later for n in reads(s)} & _changed(state, stmt, made)
    if not found.isdisjoint(n for s in later for n in writes(s)):
        return False
    return all(state.make.of[n].kind == "scalar" or state.make.of[n].numeric for n in found)


def kept(state: State, stmt: Stmt, made: Stmt, late: Iterable[Stmt]) -> tuple[list[Stmt], list[Stmt]]:
    """Let tangents that come later read what a tried statement writes as it was before.

    Args:
        state: What is known of the function, with the tangent of ``stmt``.
        stmt: The statement, of which the tangent comes later as well.
        made: What it is with tangents, which a call takes at once.
        late: The tangents of what is tried before it.

    Returns:
        The statements that keep it, which come before ``stmt``, and the tangents, that of ``stmt`` among them, which
        read what these keep.
    """
    make = state.make
    late = list(late)
    tangents = {*state.dots.values(), *(n for s in (*late, *make.before) for n in writes(s))}
    out: list[Stmt] = []
    for before in make.before:
        if isinstance(before, Assign) and is_item(before) and tangents.isdisjoint(reads(before)):
            # The part that is written, and no more of the array.
            out.append(replace(before, value=_copy(before.value, make.of[before.target])))
        else:
            late.append(before)
    copies: dict[str, Expr] = {}
    for name in sorted({n for s in late for n in reads(s)} & _changed(state, stmt, made)):
        fact = make.of[name]
        if fact.kind == "scalar":
            continue
        copy = make.fresh(base(name))
        make.of[copy] = fact
        copies[name] = Var(copy)
    late = [map_stmt(s, lambda e: _as_before(e, copies), lambda block: block) for s in late]
    read = {n for s in late for n in reads(s)}
    for name, kept_as in copies.items():
        if isinstance(kept_as, Var) and kept_as.name in read:
            out.append(Assign(kept_as.name, _copy(Var(name), make.of[name]), make.origin))
    return out, [*late, *make.after]


def _as_before(expr: Expr, copies: dict[str, Expr]) -> Expr:
    """An expression that reads copies of what has been written since.

    Which part of an array another is is asked of the arrays themselves: of their copies none is a part of the other.
    """
    if isinstance(expr, (Var, Opaque)):
        return rename(expr, copies)
    if isinstance(expr, Call) and any(expr.op.function is view for view in (viewed_tangent, viewed_tangents)):
        place, whole, *values = expr.args
        return replace(expr, args=(place, whole, *(_as_before(value, copies) for value in values)))
    return map_children(expr, lambda e: _as_before(e, copies))


def _copy(value: Expr, fact: Fact) -> Expr:
    """A value as an object that nobody writes."""
    if fact.kind == "scalar":
        return value
    return Call(COPY if fact.kind == "array" else _OWN, (value,))


def is_item(stmt: Stmt) -> bool:
    """Whether a statement gives a name to an item, or a part, of something."""
    match stmt:
        case Assign(value=Call(op=Op(kind="index"), args=(Var(), index))):
            return is_light_index(index)
        case _:
            return False


def is_light_index(index: Expr) -> bool:
    """Whether an index takes no longer to evaluate than to read."""
    if isinstance(index, Slice):
        return all(part is None or is_light(part) for part in (index.lower, index.upper, index.step))
    if isinstance(index, Build):
        return all(map(is_light_index, index.items))
    return is_light(index)
