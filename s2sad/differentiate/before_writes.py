"""The names of objects that are written in place which are read only before the writes: their adjoints are values.

    t = A[i]                 t is a number or a row of A: A_bar[i] gets the sum of what t is used for,
    y = t * np.sum(t)        which is right since nothing is written between the statement that defines t
    A[i] = y                 and the last that reads it

A shadow would have to be that of an array, and such a name may be a number; or it views an array as no shadow does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Literal

from s2sad.analysis.effects import Effects
from s2sad.analysis.sharing import sharing
from s2sad.analysis.summaries import user_calls
from s2sad.analysis.versions import is_change
from s2sad.differentiate.stores import CONTAINERS, MIRRORED, holds, mirrors
from s2sad.ir.nodes import (
    Assign,
    Block,
    Call,
    Exit,
    Expr,
    For,
    Function,
    Global,
    If,
    Op,
    Stmt,
    Store,
    Unpack,
    Var,
    While,
)
from s2sad.ir.traverse import is_attempt, is_inplace, names_in, reads, walk, writes
from s2sad.ir.types import Fact

#: What a name refers to: an object of its own, a dtype, or what others may refer to as well.
Origin = Literal["fresh", "dtype", ""]


def read_before_writes(
    function: Function,
    effects: Effects,
    fact: Callable[[Expr], Fact],
    lent: Set[str],
    given: Mapping[str, str],
) -> set[str]:
    """The names of which every read comes before the next write into the object that they refer to.

    They are what may be a number, the views that no shadow has, as of a row that is broadcast, and further names of
    arrays, which need no shadow.  The function reads what it returns at its end; where that may be a part of the
    ``lent`` parameters, the caller wants its shadow.  ``given`` are the `heirs` of names.
    """
    candidates = _candidates(function, effects, fact)
    if not candidates:
        return set()
    order = _Order(effects, fact, candidates, given)
    changed = order.after(function.body, set())
    returned = candidates.keys() & set(names_in(function.result))
    order.late |= {n for n in returned if n in changed or not _group(n, effects).isdisjoint(lent)}
    found = candidates.keys() - order.late
    while lost := {n for n in found if not order.others[n] <= found}:
        found -= lost
    return found


def heirs(function: Function, effects: Effects, fact: Callable[[Expr], Fact]) -> dict[str, str]:
    """The name that alone gets the object of another one, or a copy, by that: ``n = np.atleast_1d(t)``.

    ``t`` is a new object to which no other name refers.  Where it is read before ``n`` is written its adjoint is a
    value, which the shadow of ``n`` is added to, and ``n`` has a shadow of its own.
    """
    made: dict[str, list[Stmt]] = defaultdict(list)
    fresh = set[str]()
    for stmt in walk(function.body):
        if isinstance(stmt, Assign) and _origin(stmt.value, fact(Var(stmt.target)), fact) == "fresh":
            fresh.add(stmt.target)
        for name in set(reads(stmt)) & effects.written:
            if any(other in _group(name, effects) for other in writes(stmt)):
                made[name].append(stmt)
    found = {}
    for name, stmts in made.items():
        match stmts:
            case [Assign(target=target, value=Call(op=Op(kind="function"), args=(Var(name=first), *others)) as value)]:
                alone = name == first and not any(name in names_in(e) for e in others)
                if alone and name in fresh and sharing(value, fact) != "fresh" and fact(Var(target)).kind == "array":
                    found[name] = target
    return found


def _candidates(function: Function, effects: Effects, fact: Callable[[Expr], Fact]) -> Mapping[str, Origin]:
    """The names that may be numbers, are views that no shadow has, or further names of arrays, with their origins.

    What is written or changed through the name itself is none of them.
    """
    found: dict[str, Origin] = {}
    refused = effects.kept | effects.altered
    for stmt in walk(function.body):
        for name in effects.written.intersection(writes(stmt)):
            made, known = stmt.value if isinstance(stmt, (Assign, Unpack)) else None, fact(Var(name))
            unlike = isinstance(made, Call) and not mirrors(made) and made.op.function not in MIRRORED
            renamed = isinstance(made, Var) and known.kind == "array"
            if holds(known) and not (unlike or renamed):
                continue
            if is_inplace(stmt) or (made is not None and is_change(made)):
                refused |= {name}
            origin = "" if holds(known) else _origin(made, known, fact)
            found[name] = origin if found.get(name, origin) == origin else ""
    return {n: origin for n, origin in found.items() if n not in refused}


def _origin(made: Expr | None, known: Fact, fact: Callable[[Expr], Fact]) -> Origin:
    """Whether what defines a name surely makes an object that nothing else refers to, or is a dtype."""
    if isinstance(made, Global) and (known.real or known.precision != ""):
        return "dtype"
    return "fresh" if isinstance(made, Call) and sharing(made, fact) == "fresh" else ""


def _group(name: str, effects: Effects) -> frozenset[str]:
    return effects.group.get(name, frozenset({name}))


class _Order:
    """Which of the ``candidates`` are read after a write into their object: these are ``late``.

    ``others`` has, for each, the other names that it gives its object to: if these have shadows, it needs one.
    """

    def __init__(
        self,
        effects: Effects,
        fact: Callable[[Expr], Fact],
        candidates: Mapping[str, Origin],
        heirs: Mapping[str, str],
    ) -> None:
        self.effects, self.fact, self.candidates, self.heirs = effects, fact, candidates, heirs
        self.late: set[str] = set()
        self.others: dict[str, set[str]] = defaultdict(set)
        self._near: dict[str, set[str]] = defaultdict(set)
        for name in candidates:
            for other in _group(name, effects):
                self._near[other].add(name)

    def after(self, block: Block, changed: set[str]) -> set[str]:
        """The candidates whose object may be written since their definition, after a block; ``changed`` are before."""
        for stmt in block:
            changed = self._after_statement(stmt, changed)
        return changed

    def _after_statement(self, stmt: Stmt, changed: set[str]) -> set[str]:
        match stmt:
            case For(body=body) | While(body=body):
                # What is read may have been written in an iteration before.
                within = changed | self._written(walk((stmt,)))
                self._read(stmt, within)
                self.after(body, within.difference(writes(stmt)))
                return within
            case If(then=then, orelse=orelse):
                self._read(stmt, changed)
                tried = self._written(walk(then)) if is_attempt(stmt) else set()
                return self.after(then, changed) | self.after(orelse, changed | tried)
            case Exit(handler=handler):
                self._read(stmt, changed)
                self.after(handler, set(self.candidates))
                return changed
        self._read(stmt, changed)
        return (changed | self._written((stmt,))).difference(writes(stmt))

    def _written(self, stmts: Iterable[Stmt]) -> set[str]:
        """The candidates whose object some statements may write."""
        effects = self.effects
        written = (n for s in stmts for n in (*effects.written_by(s), *effects.changed_by(s)))
        return {name for other in written for name in self._near.get(other, ())}

    def _read(self, stmt: Stmt, changed: set[str]) -> None:
        """Note what a statement reads too late, and what it gives another name or writes."""
        read = self.candidates.keys() & set(reads(stmt))
        if not read:
            return
        self.late |= read & changed
        written = read & self._written((stmt,))
        if isinstance(stmt, Store) and stmt.call is None and self.fact(stmt.base).kind in ("array", "numeric"):
            # The value is read before the store, and copied; what is no array holds it from then on.
            written &= set(names_in(stmt.base))
        self.late |= written
        self.late |= {n for n in read for call in user_calls(stmt) if not self._is_only_read(n, call)}
        for name in read:
            made = {other for other in writes(stmt) if other in _group(name, self.effects)} - self._computed(stmt)
            if self.candidates[name] == "dtype":
                continue
            if self.candidates[name] == "fresh":
                # The shadow of a container that a new object is put into has a place for it.
                made = {other for other in made if self.fact(Var(other)).kind not in CONTAINERS}
                made -= {self.heirs.get(name, "")}
            self.others[name] |= made

    def _computed(self, stmt: Stmt) -> set[str]:
        """What a statement names, if that is an array or number that it computes: no object that it reads."""
        if not isinstance(stmt, Assign) or not isinstance(stmt.value, Call):
            return set()
        is_new = sharing(stmt.value, self.fact) == "fresh" and self.fact(Var(stmt.target)).numeric
        return {stmt.target} if is_new else set()

    def _is_only_read(self, name: str, call: Call) -> bool:
        """Whether a call of a function that has source writes nothing that ``name`` views, and keeps no view of it."""
        known = self.effects.calls.get(call)
        if known is None:
            return name not in names_in(call)
        group = _group(name, self.effects)
        bound = {p for p, value in known.bound.items() if not group.isdisjoint(names_in(value))}
        holding = known.written | known.shared | known.kept | frozenset().union(*known.linked)
        return bound.isdisjoint(holding)
