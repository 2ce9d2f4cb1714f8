"""The adjoints of branches and loops: a branch by the same test, a loop that runs back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from s2sad.analysis.activity import carriers
from s2sad.analysis.indexing import index_parts
from s2sad.analysis.versions import changed_items
from s2sad.attempts import noted
from s2sad.differentiate.builder import INDEX
from s2sad.differentiate.items import row
from s2sad.differentiate.reverse_state import State
from s2sad.differentiate.selections import in_arm
from s2sad.differentiate.smooth import smoothed
from s2sad.differentiate.statements import differentiable, is_range, of_loop
from s2sad.differentiate.stores import HOLDERS
from s2sad.ir import algebra
from s2sad.ir.nodes import (
    Assign,
    Block,
    Break,
    Build,
    Call,
    Const,
    Copy,
    Evaluate,
    Expr,
    For,
    If,
    Op,
    Slice,
    Stmt,
    Store,
    Var,
    While,
)
from s2sad.ir.traverse import base, is_attempt, is_light, loop_heads, names_in, subexpressions, walk, writes
from s2sad.ir.types import SCALAR, Atom

_BOOL = Op("runtime", "bool", bool)
_LEN = Op("runtime", "len", len)
_RANGE = Op("runtime", "range", range)
_REVERSED = Op("runtime", "reversed", reversed)


def _nested(state: State, block: Block, adj: dict[str, Expr]) -> tuple[Block, list[Stmt], dict[str, Expr]]:
    """Reverse an inner block with the adjoints ``adj``: the forward block, the reverse one, the adjoints."""
    make, adjoints, beyond = state.make, state.adjoints, state.later.beyond
    before, after, outer = make.before, make.after, adjoints.of
    adjoints.of = dict(adj)
    with make.into([]) as out:
        forward = state.block(state, block)
    found, adjoints.of = adjoints.of, outer
    make.before, make.after, state.later.beyond = before, after, beyond
    return forward, out, found


# --- branches


def branch(state: State, stmt: If) -> Stmt:
    """The adjoint of a branch; which arm of a ``try`` has run is noted in a name of ours."""
    asked = stmt.test
    if not (isinstance(asked, Call) and asked.op.kind in ("attempt", "caught")):
        return _branch_by(state, stmt, None)
    name = state.make.fresh("~done" if is_attempt(stmt) else "~caught")
    state.make.of[name] = SCALAR
    return replace(_branch_by(state, noted(stmt, name), Var(name)), test=asked)


def _branch_by(state: State, stmt: If, known: Expr | None) -> If:
    """The adjoint of a branch, where ``known`` says what its test was, if it is no test that can be made again."""
    make, adjoints, origin = state.make, state.adjoints, state.make.origin
    # What the end of an iteration moves into the loop's join names has been there before the branch.
    inside = {n for s in walk((*stmt.then, *stmt.orelse)) for n in writes(s)} - state.heads
    then, then_out, then_adj = _nested(state, stmt.then, adjoints.of)
    orelse, else_out, else_adj = _nested(state, stmt.orelse, adjoints.of)
    make.origin = origin
    merged: dict[str, Expr] = {}
    moves: list[tuple[str, Expr, Expr]] = []
    #: The adjoints of numbers that one arm alone makes, and whether that is the first.
    lone: dict[str, bool] = {}
    for name in {**then_adj, **else_adj}:
        if name in inside:
            continue
        a, b = then_adj.get(name), else_adj.get(name)
        in_one = (a is None) is not (b is None)
        if a == b and a is not None:
            merged[name] = a
            continue
        if a is None:
            with make.into(then_out):
                a = adjoints.zero(name, "before")
        if b is None:
            with make.into(else_out):
                b = adjoints.zero(name, "before")
        if isinstance(a, Build) or isinstance(b, Build):
            a, b = _as_lists(state, name, (a, then_out), (b, else_out))
        join = adjoints.joined(name, a, b)
        if adjoints.is_owned(a) and adjoints.is_owned(b):
            adjoints.owned.add(join)
        # Python's own numbers raise where they would be infinite.
        if in_one and make.of[name].kind == "scalar" and make.of[name].precision in ("single", "double"):
            lone[join] = then_adj.get(name) is not None
        moves.append((join, a, b))
        merged[name] = Var(join)
    adjoints.of = merged
    if moves:
        joins = tuple(m[0] for m in moves)
        then_out.append(Copy(joins, tuple(m[1] for m in moves), origin))
        else_out.append(Copy(joins, tuple(m[2] for m in moves), origin))
    key = state.key()
    test = stmt.test
    if then_out or else_out:
        test = _condition(state, stmt.test) if known is None else known
        make.emit(If(test, tuple(then_out), tuple(else_out), origin, key))
        make.selected.update({join: in_arm(Var(join), test, first) for join, first in lone.items()})
    return If(test, then, orelse, origin, key)


def _as_lists(state: State, name: str, *ends: tuple[Expr, list[Stmt]]) -> tuple[Expr, ...]:
    """The adjoints of a tuple or list at the ends of the arms, as lists of their own where all can be that."""
    make, adjoints = state.make, state.adjoints
    lists = [adjoints.as_list(g, make.of[name]) if isinstance(g, Build) else g for g, _ in ends]
    made: list[Expr] = [g for g in lists if isinstance(g, Build) or (g is not None and adjoints.is_owned(g))]
    if len(made) < len(ends):
        return tuple([g for g, _ in ends])
    for n, (_, out) in enumerate(ends):
        if isinstance(made[n], Build):
            with make.into(out):
                made[n] = adjoints.let_owned(make.bar(name), made[n])
    return tuple(made)


def _condition(state: State, test: Expr) -> Expr:
    """The condition of a branch as the reverse part can test it: once more, or by a name that holds it."""
    if state.storage.mutable.isdisjoint(names_in(test)):
        if isinstance(test, (Var, Const)):
            return test
        if is_light(test) and (not state.depth or state.rebuilt.issuperset(names_in(test))):
            return test
    return state.make.hold(state.make.fresh("~test"), _outcome(state, test))


def _outcome(state: State, test: Expr) -> Expr:
    """The outcome of a condition that is an object which changes later; any other condition as it is."""
    held = isinstance(test, Var) or (isinstance(test, Call) and test.op.kind in ("bool", "ifexp", "index"))
    if held and state.make.fact(test).kind != "scalar" and not state.storage.mutable.isdisjoint(names_in(test)):
        return Call(_BOOL, (test,))
    return test


# --- loops


@dataclass(frozen=True)
class _Joins:
    """The adjoints that iterations hand on: for each name, where it meets and what it is before the first of them.

    The adjoints under the names ``picked`` are zero but for elements that iterations read one by one.
    """

    of: tuple[tuple[str, str, Expr], ...]
    picked: tuple[str, ...]

    @property
    def inner(self) -> dict[str, Expr]:
        """The adjoints at the beginning of an iteration of the reverse loop."""
        return {name: Var(join) for name, join, _ in self.of}


def loop(state: State, stmt: For | While) -> Stmt:
    """The adjoint of a loop: one that runs back over the same items, or as often."""
    make, adjoints, origin = state.make, state.adjoints, state.make.origin
    body_names = {n for s in walk(stmt.body) for n in writes(s)}
    stores = any(isinstance(s, (Store, Evaluate)) or state.effects.written_by(s) for s in walk(stmt.body))
    if not stores and adjoints.active.isdisjoint(body_names):
        return stmt
    _check_items(state, stmt)
    heads = frozenset(n for n in loop_heads(stmt.body) if n in adjoints.active and n not in state.storage.buffers)
    joins = _joins(state, stmt, body_names, heads)
    counter = stmt.counter if isinstance(stmt, For) else None
    needs_index = isinstance(stmt, For) and any(adjoints.is_active(i) for i in stmt.iters)
    if needs_index and counter is None:
        counter = make.fresh("~k")
        make.of[counter] = SCALAR
    counted = make.fresh("~count")
    has_break = any(isinstance(s, Break) for s in of_loop(stmt.body))
    one = stmt.iters[0] if isinstance(stmt, For) and len(stmt.iters) == 1 and not has_break else None
    by_item: For | None = None
    state.depth += 1
    outer_heads, state.heads = state.heads, heads
    if isinstance(stmt, For) and one is not None and counter is None and (is_range(stmt) or _is_sequence(state, one)):
        stmt = by_item = state.later.with_fixed_range(stmt)
        state.rebuilt.update(stmt.targets)
    forward, out, moves = _iterations(state, stmt, joins, counter if needs_index else None)
    state.depth -= 1
    state.heads = outer_heads
    make.origin = origin
    if moves:
        out.append(Copy(tuple(j for j, _ in moves), tuple(e for _, e in moves), origin))
    if isinstance(stmt, For):
        stmt = replace(stmt, counter=counter)
    if not out:
        return replace(stmt, body=forward)
    if joins.of:
        make.emit(Copy(tuple(j for _, j, _ in joins.of), tuple(s for _, _, s in joins.of), origin))
    inner = joins.inner
    adjoints.of = {**{n: g for n, g in adjoints.of.items() if n not in inner}, **inner}
    for join in joins.picked:
        make.note_picked(Var(join), rarely=True)
    stmt = replace(stmt, key=state.key())
    if by_item is not None:
        make.emit(For(by_item.targets, (Call(_REVERSED, by_item.iters),), tuple(out), None, origin, stmt.key))
        return replace(stmt, body=forward)
    index, runs, counting = _way_back(state, one, counter, counted)
    make.emit(For((index,), (runs,), tuple(out), None, origin, stmt.key))
    return replace(stmt, body=(*counting, *forward))


def _way_back(state: State, one: Expr | None, counter: str | None, counted: str) -> tuple[str, Expr, Block]:
    """The target of a loop that runs back, what it runs over, and what counts the iterations in the forward part.

    The target is the ``counter`` of iterations, if there is one.  The number of iterations over a sequence, if that is
    the only iterable (``one``), is known; others are ``counted``, in a variable of that name.
    """
    make = state.make
    index = counter if counter is not None else make.fresh("~k")
    make.of[index] = SCALAR
    if one is not None and counter is not None and _is_sequence(state, one):
        return index, Call(_REVERSED, (Call(_RANGE, (Call(_LEN, (one,)),)),)), ()
    step = make.fresh("~count")
    make.of[counted] = make.of[step] = SCALAR
    make.before.append(Copy((counted,), (Const(0),)))
    counting = (Assign(step, Call(algebra.ADD, (Var(counted), Const(1)))), Copy((counted,), (Var(step),)))
    runs = Call(_RANGE, (Var(counted),))
    return index, Call(_REVERSED, (runs,)) if counter is not None else runs, counting


def _check_items(state: State, stmt: For | While) -> None:
    """Refuse a loop over a container that changes while it runs."""
    for iterable in stmt.iters if isinstance(stmt, For) else ():
        changed = list(changed_items(stmt.body, iterable, state.effects.versions))
        if not state.adjoints.active.isdisjoint(changed):
            what = f"{base(changed[0])} is changed while this loop runs over it"
            remedy = "Run over a copy (x.copy()), or count: for i in range(...)."
            state.refusals.refuse(state.make.origin.line, what, remedy)


def _joins(state: State, stmt: For | While, body_names: set[str], heads: frozenset[str]) -> _Joins:
    """The adjoints that iterations hand on: of what the loop reads from outside and of its join names."""
    make, adjoints = state.make, state.adjoints
    reading = [expr for s in walk(stmt.body) for expr in differentiable(s)]
    # What is differentiated as one operation with another before the loop has an adjoint by what that reads.
    reading += [smoothed(expr, make, adjoints.is_active)[0] for expr in reading if isinstance(expr, Call)]
    reading += stmt.iters if isinstance(stmt, For) else ()
    read = dict.fromkeys(n for expr in reading for n in carriers(expr) if n in adjoints.active)
    tracked = [n for n in read if n not in body_names and n not in state.storage.buffers]
    tracked += [n for n in dict.fromkeys(loop_heads(stmt.body)) if n in heads]
    if isinstance(stmt, For):
        tracked = [n for n in tracked if n not in stmt.targets]
    joins: list[tuple[str, str, Expr]] = []
    picked: list[str] = []
    by_element = _read_by_elements(state, reading)
    for name in tracked:
        before = adjoints.of.get(name)
        chosen = make.selected.get(before.name) if isinstance(before, Var) else None
        picks = before is None or (chosen is not None and chosen.is_picked)
        start = _start(state, name, name in heads)
        join = adjoints.joined(name, start)
        if picks and name not in heads and name in by_element:
            picked.append(join)
        if name in heads and _grows(state, name):
            # It is the adjoint of what the iteration ends with, which has another shape.
            make.of[join] = replace(make.of[join], shape=frozenset({Atom(join)}), dims=None)
        if adjoints.is_owned(start):
            adjoints.owned.add(join)
        joins.append((name, join, start))
    return _Joins(tuple(joins), tuple(picked))


def _read_by_elements(state: State, reading: list[Expr]) -> set[str]:
    """The names of arrays of which some expressions read nothing but elements, one by one."""
    by_element, reads = Counter[str](), Counter[str]()
    for part in (part for expr in reading for part in subexpressions(expr)):
        match part:
            case Var(name=name):
                reads[name] += 1
            case Call(op=op, args=(Var(name=name), index)) if op == INDEX:
                by_element[name] += not any(isinstance(p, Slice) for p in index_parts(index, state.make.fact))
    return {name for name, count in by_element.items() if count == reads[name]}


def _start(state: State, name: str, is_head: bool) -> Expr:
    """The adjoint of a name behind a loop in which it is added to; of an array that is read, an object of our own."""
    make, adjoints = state.make, state.adjoints
    start = adjoints.of.get(name)
    if start is None:
        return adjoints.zero(name)
    if name in state.storage.changed:
        adjoints.of[name] = start = adjoints.of_own(start, name)
    elif is_head or adjoints.is_owned(start) or adjoints.is_loose(start):
        # What may be the number 0.0 is no array that can be added to in place.
        return start
    elif make.of[name].kind == "array":
        # It is added to in each iteration: in place, once it is ours.
        adjoints.of[name] = start = adjoints.result(name, set())
        if not adjoints.is_owned(start):
            fact = replace(make.of[name], real=make.fact(start).real)
            start = adjoints.let_owned(make.bar(name), start, fact)
    elif isinstance(start, Build) and start.kind != "dict":
        # Its parts are added to in place.
        return adjoints.writable(Var(name))
    return start


def _grows(state: State, head: str) -> bool:
    """Whether a variable may have another shape in each iteration: one that only its own name stands for."""
    shape = state.make.of[head].shape
    return shape is None or any(atom.name in (f"{head}*", f"{head}?") for atom in shape)


def _is_sequence(state: State, iterable: Expr) -> bool:
    """Whether a loop runs over an array, list or tuple that can be run through again, backwards."""
    if not isinstance(iterable, Var):
        return False
    name = iterable.name
    changes = state.later.is_overwritten(name) if name in state.effects.versions else name in state.storage.mutable
    return state.make.of[name].kind in ("array", "list", "tuple") and not changes


def _iterations(
    state: State, stmt: For | While, joins: _Joins, counter: str | None
) -> tuple[Block, list[Stmt], list[tuple[str, Expr]]]:
    """Reverse the body of a loop, again until what holds of adjoints at its end holds at its beginning."""
    make, adjoints, later = state.make, state.adjoints, state.later
    owned, written = set(adjoints.owned), set(later.written)
    while True:
        later.written = set(written)
        forward, out, moves = _iteration(state, stmt, joins, counter)
        ends = dict(moves)
        # An adjoint that may be written in place in the next iteration must be owned at the end of this one.
        kept = {join for _, join, _ in joins.of if join in owned}
        shared = {join for join in kept if not adjoints.is_owned(ends.get(join, Var(join)))}
        # One that is complex at the end of an iteration is so at the beginning of the next.
        complex_ = {join for join, end in moves if make.of[join].real and not make.fact(end).real}
        if not shared and not complex_:
            adjoints.owned |= kept
            return forward, out, moves
        make.of.update({join: replace(make.of[join], real=False) for join in complex_})
        owned -= shared
        adjoints.owned = set(owned)


def _iteration(
    state: State, stmt: For | While, joins: _Joins, counter: str | None
) -> tuple[Block, list[Stmt], list[tuple[str, Expr]]]:
    """Reverse one iteration: the forward body, the reverse one, and the moves at its end."""
    adjoints, make = state.adjoints, state.make
    forward, out, after = _nested(state, stmt.body, joins.inner)
    outer, adjoints.of = adjoints.of, after
    before, make.before = make.before, []
    lost = after.keys() - joins.inner.keys() - {n for s in (stmt, *walk(stmt.body)) for n in writes(s)}
    assert not lost, f"the adjoints of {sorted(lost)} do not leave the loop"
    with make.into(out):
        if isinstance(stmt, For):
            forward = (*_rows(state, stmt, counter), *forward)
        moves: list[tuple[str, Expr]] = []
        for name, join, _ in joins.of:
            end = after.get(name)
            if end is None:
                end = adjoints.zero(name, "before")
            if end != Var(join):
                moves.append((join, end))
    forward = (*make.before, *forward)
    adjoints.of, make.before = outer, before
    return forward, out, moves


def _rows(state: State, stmt: For, counter: str | None) -> tuple[Stmt, ...]:
    """Contribute the adjoints of a loop's targets to what it runs over; returns the shadows that are rows of others."""
    shadows, storage, is_active = state.shadows, state.storage, state.adjoints.is_active
    pairs = list(zip(stmt.targets, stmt.iters, strict=True))
    made: tuple[Stmt, ...] = ()
    for target, iterable in pairs:
        if target in shadows.names and not is_active(iterable):
            state.refusals.refuse_stopped(stmt.origin.line)
    for target, iterable in pairs if counter is not None else ():
        position = Var(counter or "")
        if target not in storage.buffers:
            bar = state.adjoints.take(target)
            if bar is not None and is_active(iterable):
                row(state, iterable, position, bar)
        elif state.make.of[target].kind not in HOLDERS:
            # An item may be a number, which is no view of the array.
            state.refusals.refuse_buffer(stmt.origin.line, target)
        elif target in shadows.names and isinstance(iterable, Var) and storage.is_buffer(iterable):
            part = Call(INDEX, (shadows.of(iterable.name), position))
            made = (Assign(shadows.names[target], part, stmt.origin), *made)
        elif target in shadows.names:
            state.refusals.refuse_buffer(stmt.origin.line)
    return made
