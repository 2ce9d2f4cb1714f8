"""How the adjoint of each name is kept: in a shadow, in a container of adjoints, or as a value.

An array that some statement writes, and every name that may share memory with it, is a *buffer*: its adjoint is a
shadow (`shadows.py`).  The adjoint of a list or dict that changes is a list or dict that changes the other way round
(`containers.py`).  Every other adjoint is a value (`adjoints.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

import numpy as np

from s2sad.analysis.effects import Effects
from s2sad.analysis.summaries import user_calls
from s2sad.analysis.versions import is_change, recorded
from s2sad.differentiate.before_writes import heirs, read_before_writes
from s2sad.differentiate.builder import INDEX
from s2sad.differentiate.known import Known
from s2sad.differentiate.stores import CONTAINERS, HOLDERS, is_view, is_view_index, mirrors
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Copy, Expr, For, Function, Op, Store, Unpack, Var
from s2sad.ir.traverse import base, blocks, names_in, reads, walk, writes
from s2sad.ir.types import Fact, same_shape

_CHANGING = ("list", "dict", "dataclass")


@dataclass(frozen=True)
class Storage:
    """How adjoints are kept, and what is known of the definitions of names.

    ``buffers`` are the names whose adjoints are shadows.  Of these, ``stopped`` are constants of their own (they came
    through ``stop_gradient``), and the shadows of those ``turned`` are minus their adjoints.  ``changed`` are the names
    of lists, dicts and dataclasses whose adjoints are containers that change; those ``unread`` have none.  ``same``
    has, for names that surely refer to one object made once, all of them: they have one shadow.  ``stored`` has the
    part of an array that holds the value of a name from its definition on.  ``mutable`` are the names whose object may
    have other contents later.  ``steady`` has the ``definitions`` of the others.
    """

    definitions: Mapping[str, Expr]
    mutable: Set[str]
    steady: Mapping[str, Expr]
    buffers: frozenset[str]
    stopped: frozenset[str] = frozenset()
    turned: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    heirs: frozenset[str] = frozenset()
    same: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stored: Mapping[str, Expr] = field(default_factory=dict)

    def is_buffer(self, expr: Expr) -> bool:
        """Whether an operand is a name whose adjoint is a shadow."""
        return isinstance(expr, Var) and expr.name in self.buffers

    def is_turned(self, whole: Expr) -> bool:
        """Whether the shadow of a buffer is minus its adjoint."""
        return isinstance(whole, Var) and whole.name in self.turned

    def is_number_put(self, change: Call, fact: Callable[[Expr], Fact]) -> bool:
        """Whether ``whole[index] = item`` surely puts a number in the place of another."""
        if fact(change.args[-1]).kind != "scalar":
            return False
        whole, *place = change.args[:-1]
        known = fact(whole)
        if change.op.name.startswith("."):
            return fact(Call(Op("attribute", change.op.name[1:]), (whole,))).kind == "scalar"
        if change.op.name != "[]" or fact(Call(INDEX, (whole, *place))).kind != "scalar":
            return False
        return known.kind == "list" or (isinstance(place[0], Const) and known.items is not None)

    def is_put_back(self, change: Call, fact: Callable[[Expr], Fact]) -> bool:
        """Whether ``whole[index] = item`` puts an array back that was taken from there, and written since."""
        if change.op.name != "[]" and not change.op.name.startswith("."):
            return False
        *place, item = change.args
        new = self.definitions.get(item.name) if isinstance(item, Var) else None
        if not (isinstance(new, Call) and new.op.kind == "inplace" and isinstance(new.args[0], Var)):
            return False
        old = new.args[0]
        taken = INDEX if change.op.name == "[]" else Op("attribute", change.op.name[1:])
        return fact(old).kind == "array" and self.definitions.get(old.name) == Call(taken, tuple(place))


def storage_of(known: Known, fact: Callable[[Expr], Fact]) -> Storage:
    """Find how the adjoint of each name of a function is kept; ``fact`` has the types of expressions."""
    function, effects, active = known.function, known.effects, known.activity.active
    written = effects.written - effects.private
    stopped = {n for n in known.activity.stopped & written if effects.group.get(n, frozenset()) & active}
    # An item that is read and used at once, be it a number or a row, is a value.
    values: Set[str] = frozenset()
    inherited: Set[str] = frozenset()
    passed = {p.name for p in function.params if p.public in known.context.buffers}
    if written:
        lent = passed | {p.name for p in function.params if p.name in effects.modified}
        given = heirs(function, effects, fact)
        values = {*_read_at_once(function, fact), *read_before_writes(function, effects, fact, lent, given)}
        inherited = {heir for name, heir in given.items() if name in values}
    # What nobody reads has no adjoint.
    unread = recorded(function, effects.group, fact, passed) if written else ()
    buffers = frozenset(
        n
        for n in written
        if (n in active or n in stopped) and n not in values and n not in unread and fact(Var(n)).kind != "scalar"
    )
    changed = {n for n in effects.versions if n not in buffers and fact(Var(n)).kind in _CHANGING}
    found = Storage(
        known.definitions,
        effects.unsteady | effects.versions.keys(),
        known.steady,
        buffers,
        frozenset(stopped),
        _turned(function, known.context.turned, buffers, effects, fact) if buffers else frozenset(),
        frozenset(changed),
        frozenset(unread),
        frozenset(inherited),
    )
    same = dict(_held_once(function, effects, found, fact))
    for group in _arrays_made_once(function, found, fact):
        same.update(dict.fromkeys(group, group))
    stores = known.sections.stores
    stored = dict(_stored(function.body, stores, found.mutable, fact)) if stores else {}
    return replace(found, same=same, stored=stored)


def _read_at_once(function: Function, fact: Callable[[Expr], Fact]) -> Iterator[str]:
    """The temporaries that view an array as a shadow may not, and are read before anything is written."""
    uses = Counter(n for s in walk(function.body) for n in reads(s))
    uses.update(names_in(function.result))
    pending = [function.body]
    while pending:
        block = pending.pop()
        held: set[str] = set()
        for stmt in block:
            pending += blocks(stmt)
            calls = any(user_calls(stmt))
            if isinstance(stmt, (Assign, Store)) and not calls:
                based = set(names_in(stmt.base)) if isinstance(stmt, Store) else _viewed_by(stmt, fact)
                yield from held & set(reads(stmt)) - based
            value = stmt.value if isinstance(stmt, Assign) else None
            quiet = isinstance(value, Call) and not calls and value.op.kind != "inplace"
            held = {n for n in held if quiet and uses[n] == 1}
            if quiet and isinstance(stmt, Assign) and stmt.target.startswith("~t.") and uses[stmt.target] == 1:
                assert isinstance(value, Call)
                if not mirrors(value):
                    held.add(stmt.target)


def _viewed_by(stmt: Assign, fact: Callable[[Expr], Fact]) -> set[str]:
    """What a statement gives another name, makes another view of, or puts into a container."""
    value = stmt.value
    if not isinstance(value, Call):
        return set(names_in(value))
    if fact(Var(stmt.target)).kind in HOLDERS and value.args and is_view(value, fact):
        return set(names_in(value.args[0]))
    return set()


def _turned(
    function: Function,
    params: frozenset[str],
    buffers: frozenset[str],
    effects: Effects,
    fact: Callable[[Expr], Fact],
) -> frozenset[str]:
    """The buffers that are views of the imaginary part of a complex array; ``params`` are those from outside."""
    found = {p.name for p in function.params if p.public in params}
    grown = True
    while grown:
        before = len(found)
        for stmt in walk(function.body):
            match stmt:
                case Assign(target=target, value=Call(op=Op(kind="user")) as call):
                    found.update(_given_turned((target,), call, found, effects))
                case Unpack(targets=targets, value=Call(op=Op(kind="user")) as call):
                    found.update(_given_turned(targets, call, found, effects))
                case Unpack(targets=targets, value=Build(items=items)) if len(items) == len(targets):
                    found.update(t for t, i in zip(targets, items, strict=True) if found & set(names_in(i)))
                case Assign(target=target, value=Call(args=(Var() as first, *_)) as value) if first.name in buffers:
                    known = fact(first)
                    # A container may have a field of that name.
                    of_imaginary = value.op.function is np.imag and not known.real and known.kind not in CONTAINERS
                    if of_imaginary or (first.name in found and is_view(value, fact)):
                        found.add(target)
                case Assign(target=target, value=Var(name=name)) if name in found:
                    found.add(target)
                case Copy(targets=targets, sources=sources):
                    found.update(t for t, s in zip(targets, sources, strict=True) if found & set(names_in(s)))
                case Unpack(targets=targets, value=value) if found & set(names_in(value)):
                    found.update(targets)
                case For(targets=targets, iters=iters):
                    found.update(t for t, i in zip(targets, iters, strict=True) if found & set(names_in(i)))
                case _:
                    pass
        found &= buffers
        grown = len(found) > before
    return frozenset(found)


def _given_turned(targets: tuple[str, ...], call: Call, turned: Set[str], effects: Effects) -> Iterator[str]:
    """The results of a call of a function that has source which may be arguments that are turned."""
    known = effects.calls.get(call)
    if known is None:
        return
    parts = known.parts if known.parts is not None and len(known.parts) == len(targets) else None
    for n, target in enumerate(targets):
        if known.names(known.shared if parts is None or len(targets) == 1 else parts[n].shared) & turned:
            yield target


def _moves(function: Function) -> list[tuple[str, Expr]]:
    """The moves into join names."""
    copies = [s for s in walk(function.body) if isinstance(s, Copy)]
    return [move for s in copies for move in zip(s.targets, s.sources, strict=True)]


def _held_once(
    function: Function, effects: Effects, found: Storage, fact: Callable[[Expr], Fact]
) -> Iterator[tuple[str, frozenset[str]]]:
    """The names of containers made once, whose changes keep the arrays that they hold, with all names of each."""
    moves = _moves(function)
    for name, group in effects.versions.items():
        made = [(n, found.definitions[n]) for n in effects.versions.get(name, ()) if n in found.definitions]
        changes = [value for _, value in made if isinstance(value, Call) and value.op.kind == "change"]
        if not all(found.is_put_back(call, fact) or found.is_number_put(call, fact) for call in changes):
            continue
        inner = [source for target, source in moves if target in group]
        made_once = len([n for n, value in made if not is_change(value)]) == 1
        if made_once and all(isinstance(s, Var) and s.name in group for s in inner):
            yield name, group


def _arrays_made_once(function: Function, found: Storage, fact: Callable[[Expr], Fact]) -> Iterator[frozenset[str]]:
    """The names of one variable that surely refer to one array, made once: ``u += e`` in a loop hands it on."""
    linked: dict[str, set[str]] = {}

    def link(a: str, b: Expr) -> None:
        if isinstance(b, Var) and base(a) == base(b.name):
            joined = linked.get(a, {a}) | linked.get(b.name, {b.name})
            linked.update(dict.fromkeys(joined, joined))

    augmented = {n: v for n, v in found.definitions.items() if isinstance(v, Call) and v.op.kind == "inplace"}
    for target, value in augmented.items():
        link(target, value.args[0])
    if not linked:
        return
    moves = _moves(function)
    for target, source in moves:
        link(target, source)
    moved = {target for target, _ in moves}
    once = {p.name for p in function.params}
    once.update(n for s in function.body if isinstance(s, (Assign, Unpack)) for n in writes(s))
    for group in {id(g): frozenset(g) for g in linked.values()}.values():
        made = [n for n in group if n not in augmented and n not in moved]
        inner = [source for target, source in moves if target in group]
        if (
            all(fact(Var(n)).kind == "array" and n in found.buffers for n in group)
            and len(made) == 1
            and made[0] in once
            and all(isinstance(s, Var) and s.name in group for s in inner)
        ):
            yield group


def _stored(
    body: Block, stores: Set[int], mutable: Set[str], fact: Callable[[Expr], Fact]
) -> Iterator[tuple[str, Expr]]:
    """The values that stay in a part of an array as soon as they are computed, each with that part."""
    defined = {s.target for s in body if isinstance(s, Assign)}
    for stmt in body:
        for inner in blocks(stmt):
            yield from _stored(inner, stores, mutable, fact)
        if isinstance(stmt, Store) and id(stmt) in stores and isinstance(stmt.value, Var):
            plain = stmt.op is None and stmt.call is None and stmt.value.name in defined
            item = Call(INDEX, (stmt.base, stmt.index))
            if plain and is_view_index(stmt.index, fact):
                there, value = fact(item), fact(stmt.value)
                alike = there.kind == value.kind and there.real == value.real and same_shape(there, value)
                exact = there.precision == "double" and value.precision in ("double", "float")
                if alike and exact and (value.kind == "scalar" or stmt.value.name not in mutable):
                    yield stmt.value.name, item
