"""Which names may share an object, and which objects are written in place.

Every assignment that may hand on an object joins its names into one group (`provenance.py`), whatever the order of
statements.  Numbers cannot be written in place, so scalars share nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from s2sad.analysis.containers import taken
from s2sad.analysis.infer import Facts
from s2sad.analysis.provenance import Provenance
from s2sad.analysis.sharers import CALLER, HELD, OUTSIDE, sharers
from s2sad.analysis.sharing import reshapes_itself
from s2sad.analysis.summaries import (
    MODULE,
    RESULT,
    CallEffects,
    Context,
    Part,
    Summaries,
    alters,
    assumed,
    call_may_write,
    constant_calls,
    is_entangled,
    kept_unseen,
    only_changes,
    put_unseen,
    user_calls,
    whole_call,
    written_unseen,
)
from s2sad.analysis.versions import appends_alike, augmented_after, is_change, puts_number, versions
from s2sad.frontend.holding import UNKNOWN
from s2sad.ir.nodes import (
    Assign,
    Build,
    Call,
    Copy,
    Enter,
    Evaluate,
    Expr,
    For,
    Function,
    Stmt,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import base, names_in, subexpressions, walk
from s2sad.ir.types import OPEN, has_constant_keys, reach_of
from s2sad.runtime import stop_gradient


@dataclass(frozen=True)
class Effects:
    """``group`` maps a name to all names that may share its object.

    ``written`` are the names whose object may be written in place.  ``private`` are those of them whose object only
    successive versions of one variable refer to, by augmented assignment alone: writing in place and
    making a new value cannot be told apart there.  ``exposed`` are names whose object the caller may write once the
    function has returned.  ``owners`` are, for each name whose object the module may hold as well, the variables
    there that may; ``"?"`` is one that is not known, and ``""`` a second reference that may be no variable's.
    ``calls`` has the effects of each call of a function that has source.  With ``reshapes`` it depends on the layout of
    arrays in memory what is a view and what a copy.  ``versions`` are, for each name of a container that is
    changed, the names that hold the same one.  ``stops`` are the names that may share an object of which
    ``stop_gradient`` was taken while it had a name, ``altered`` those whose object a call may write that is
    not known to write it, ``kept`` those whose object the function may put into objects of the module.  ``modified``
    are the parameters whose object, as the caller has it, may be written: not all that share a group with what is.
    ``outer`` are the names of what may be arrays that the module holds.
    """

    group: dict[str, frozenset[str]]
    written: frozenset[str]
    private: frozenset[str]
    exposed: frozenset[str] = frozenset()
    owners: Mapping[str, frozenset[str]] = field(default_factory=dict)
    calls: Mapping[Call, CallEffects] = field(default_factory=dict)
    reshapes: bool = False
    versions: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stops: frozenset[str] = frozenset()
    altered: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    modified: frozenset[str] = frozenset()
    outer: frozenset[str] = frozenset()

    def objects(self) -> dict[str, frozenset[str]]:
        """For each name whose object may be written so that others see it: all names that may share it."""
        return {n: self.group.get(n, frozenset({n})) for n in self.written - self.private}

    @property
    def module(self) -> frozenset[str]:
        """The names whose object the module may hold as well."""
        return frozenset(self.owners)

    @property
    def passing(self) -> frozenset[str]:
        """The names whose object may have other contents when the reverse part runs."""
        return (self.written - self.private) | self.exposed | self.altered

    @property
    def unsteady(self) -> frozenset[str]:
        """The names whose object may have other contents than before."""
        return self.written | self.exposed | self.altered

    def written_by(self, stmt: Stmt) -> set[str]:
        """The names whose objects a statement itself may write, seen or not."""
        return self.written_openly(stmt) | (self.owners.keys() if self.alters(stmt) else frozenset())

    def alters(self, stmt: Stmt) -> bool:
        """Whether a statement may write into objects of the module of which it is not known which they are.

        What a variable of the module holds may be what the function has put there.
        """
        written = self.written_openly(stmt)
        unknown = any(UNKNOWN in self.owners.get(name, ()) for name in written)
        held = not self.outer.isdisjoint(written) and not only_changes(stmt, self.calls)
        return alters(stmt, self.calls) or unknown or held

    def written_openly(self, stmt: Stmt) -> set[str]:
        """The names whose objects a statement itself may write, by stores, augmented assignment or calls."""
        found = set(self.written_by_calls(stmt)) | set(written_unseen(stmt))
        if isinstance(stmt, Store):
            found.update(names_in(stmt.base))
        if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "inplace":
            found.update(names_in(stmt.value.args[0]))
            found.add(stmt.target)
        return found

    def changed_by(self, stmt: Stmt) -> frozenset[str]:
        """The names that may hold the container that a statement itself changes."""
        changed = isinstance(stmt, Assign) and stmt.target in self.versions and is_change(stmt.value)
        return self.versions[stmt.target] if changed else frozenset()  # type: ignore[union-attr]

    def written_by_calls(self, stmt: Stmt) -> Iterator[str]:
        """The names whose objects the calls of functions that have source may write."""
        for call in user_calls(stmt):
            known = self.calls.get(call)
            if known is not None:
                yield from known.names(known.written)
            elif call_may_write(call):
                yield from names_in(call)


def effects(
    function: Function,
    facts: Facts,
    summarise: Summaries | None = None,
    context: Context | None = None,
    overwritten: frozenset[str] = frozenset(),
    calls: Mapping[Call, CallEffects] | None = None,
) -> Effects:
    """Find the groups of names that may share objects, and the objects that are written.

    ``summarise`` gives the effects of a call of a function that has source; with a ``context``, ``function`` is such a
    callee, and what it writes into its arguments its caller sees.  ``overwritten`` is as in a context, for a function
    whose caller is a user.  ``calls`` is what `effects_of_calls` gives, where that has been asked before.
    """

    def is_immutable(name: str) -> bool:
        fact = facts.of.get(name)
        return fact is not None and fact.immutable

    def holds(name: str) -> bool:
        fact = facts.of.get(name)
        return fact is None or not (fact.numeric or fact.text)

    flow = Provenance(holds)
    seen: dict[str, None] = {}
    stored: set[str] = set()
    relisted: set[str] = set()
    lent: set[str] = set()
    augmented: set[str] = set()
    iterated: set[str] = set()
    stopping: set[str] = set()
    put: list[list[str]] = []
    if calls is None:
        calls = effects_of_calls(function, facts, summarise, context)

    def link(value: Expr, targets: tuple[str, ...]) -> None:
        for target in targets:
            seen[target] = None
            if is_immutable(target):
                continue
            for name in sharers(value, facts, calls):
                seen[name] = None
                flow.hand(name, target)
        for call in subexpressions(value):
            if isinstance(call, Call) and call.op.function is stop_gradient:
                stopping.update(sharers(call, facts, calls))
        if is_entangled(value, calls):
            objects = [t for t in targets if not is_immutable(t)]
            for target in objects[1:]:
                flow.join(objects[0], target)

    def link_parts(known: CallEffects, parts: tuple[Part, ...], targets: tuple[str, ...]) -> None:
        bound, kin = known.bound, dict[int, str]()
        for target, part in zip(targets, parts, strict=True):
            seen[target] = None
            if is_immutable(target):
                continue
            names = [n for p in part.shared for n in sharers(bound[p], facts, calls)]
            for name in (*names, *(f"{OUTSIDE}{owner}" for owner in part.module)):
                seen[name] = None
                flow.hand(name, target)
            flow.join(target, kin.setdefault(part.kin, target))

    def called(call: Call) -> None:
        known = calls.get(call) or assumed(call)
        shared = {p: list(sharers(v, facts, calls)) for p, v in known.bound.items()}
        stored.update(n for param in known.written for n in shared[param])
        stopping.update(n for param in known.stopping for n in shared[param])
        for params in known.linked:
            names = [n for p in params for n in shared[p]]
            put.append(names)
            for one, other in itertools.combinations(names, 2):
                flow.link(one, other)
        for param in known.kept:
            given_away(shared[param])
        for param, owners in known.puts:
            for name, owner in itertools.product(shared.get(param, ()), owners):
                flow.link(name, f"{OUTSIDE}{owner}")

    def given_away(names: list[str]) -> None:
        put.append(names)
        for name in names:
            flow.hand(name, f"{OUTSIDE}{UNKNOWN}")

    held = versions(function)
    for param in function.params:
        seen[param.name] = None
        if context is not None and param.name in held:
            # The caller sees the change.
            stored.update(held[param.name])
        if not is_immutable(param.name):
            flow.hand(f"{CALLER}{param.name}", param.name)
    if context is not None:
        names = {p.public: p.name for p in function.params}
        for publics in context.same:
            first, *others = [names[p] for p in sorted(publics)]
            for other in others:
                flow.mix(first, other)
        lent.update(names[p] for p in context.buffers if not is_immutable(names[p]))
    for stmt in walk(function.body):
        match stmt:
            case Assign(target=target, value=value):
                link(value, (target,))
                if isinstance(value, Call) and value.op.kind == "inplace":
                    left = value.args[0]
                    if facts.get(left).kind != "scalar":
                        augmented.update(sharers(left, facts, calls))
                        augmented.add(target)
            case Copy(targets=targets, sources=sources):
                for target, source in zip(targets, sources, strict=True):
                    link(source, (target,))
            case Unpack(targets=targets, value=value, star=star):
                known = whole_call(value, calls) if star is None else None
                if known is not None and known.parts is not None and len(known.parts) == len(targets):
                    link_parts(known, known.parts, targets)
                else:
                    link(value, targets)
            case For(targets=targets, iters=iters):
                for target, iterable in zip(targets, iters, strict=True):
                    if not has_constant_keys(facts.get(iterable)):
                        link(iterable, (target,))
                        iterated.update(sharers(iterable, facts, calls))
            case Store(base=target_, index=index, value=value):
                inside = puts_number(stmt, facts.get) or appends_alike(stmt, facts.get)
                (relisted if inside else stored).update(sharers(target_, facts, calls))
                if facts.get(target_).kind != "array":
                    # A dict holds its keys too: what has a hash and is of a built-in class nothing writes into.
                    given = Build("tuple", (index, value) if reach_of(facts.get(index)) else (value,))
                    for name in sharers(target_, facts, calls):
                        link(given, (name,))
                    put.append([*sharers(target_, facts, calls), *sharers(given, facts, calls)])
        for call in (*user_calls(stmt), *constant_calls(stmt)):
            called(call)
        unseen = [n for n in written_unseen(stmt) if not is_immutable(n)]
        stored.update(unseen)
        away = [n for n in kept_unseen(stmt) if not is_immutable(n)]
        if alters(stmt, calls):
            given_away(away)
        for name in unseen:
            if not facts.of[name].numeric:
                link(Build("tuple", tuple(map(Var, away))), (name,))
                for variable in put_unseen(stmt):
                    flow.link(name, f"{OUTSIDE}{variable}{HELD}")
    group: dict[str, frozenset[str]] = {}
    written: set[str] = set()
    private: set[str] = set()
    owners: dict[str, frozenset[str]] = {}
    stops = {n for n in stopping if not n.startswith("<")}
    # What is returned in the end nothing writes any more, unless ``finally`` does.
    tried = any(isinstance(stmt, Enter) for stmt in walk(function.body))
    returned = frozenset(() if tried else names_in(function.result))
    frozen = {name for name, fact in facts.of.items() if fact.frozen}
    later = augmented_after(function, returned)
    marks = flow.marks(*({m for m in flow.parent if m.startswith(mark)} for mark in (CALLER, OUTSIDE)))
    listed = taken(function, facts, calls)
    modified = {mark for name in stored | relisted | augmented | listed for mark in marks.get(name, ())}
    stored |= lent
    for members in flow.groups():
        own = frozenset(m for m in members if not m.startswith("<"))
        of_module = {m for m in members if m.startswith(OUTSIDE)}
        of_caller = {m for m in members if m.startswith(CALLER)} if context is not None else set()
        for name in own:
            group[name] = own
            if held_outside := [mark for mark in marks.get(name, ()) if mark.startswith(OUTSIDE)]:
                owners[name] = _variables(held_outside)
        if members & stopping:
            stops |= own
        if members & (stored | augmented):
            written |= own
            last = {n for n in own & returned if own.isdisjoint(later.get(n, ()))}
            bases = {base(n) for n in own - last} | of_module | of_caller
            # A loop over an array holds it as well.
            # An array that is read-only is told from a new value: to write it raises.
            if not (members & (stored | relisted | iterated) or own & frozen) and len(bases) == 1:
                private |= own
        elif members & relisted:
            # What is put into a list is no write into arrays that it holds.
            written |= {n for n in own if facts.of[n].kind not in ("scalar", "array", "numeric")}
    for name in (stored | relisted | augmented) - set(group):
        if not name.startswith("<"):
            group[name] = frozenset({name})
            written.add(name)
            if name in augmented and name not in stored | iterated | frozen:
                private.add(name)
    exposed: set[str] = set()
    if overwritten := context.overwritten if context is not None else overwritten:
        beyond_call = [p.name for p in function.params if p.public in overwritten and not is_immutable(p.name)]
        if RESULT in overwritten:
            beyond_call += [n for n in names_in(function.result) if not is_immutable(n)]
        if MODULE in overwritten:
            beyond_call += owners
        for name in beyond_call:
            exposed |= group.get(name, frozenset({name}))
    reshapes = any(known.reshapes for known in calls.values()) or reshapes_itself(function)
    kept = {m for names in put for n in names if n in owners for m in group[n]}
    found = Effects(
        group,
        frozenset(written),
        frozenset(private),
        frozenset(exposed),
        owners,
        calls,
        reshapes,
        held,
        frozenset(stops),
        frozenset(),
        frozenset(kept),
        frozenset(p.name for p in function.params if f"{CALLER}{p.name}" in modified),
        frozenset(n for n in owners if facts.of.get(n, OPEN).kind in ("array", "numeric", "open")),
    )
    altering = [stmt for stmt in walk(function.body) if found.alters(stmt)]
    if all(only_changes(stmt, calls) for stmt in altering):
        return replace(found, altered=frozenset(owners)) if altering else found
    # What the caller has given, and the module has been given, may be among what is written there.
    callers = {mark for name in kept for mark in marks.get(name, ()) if mark.startswith(CALLER)}
    more = {p.name for p in function.params if f"{CALLER}{p.name}" in callers and not is_immutable(p.name)}
    return replace(found, altered=frozenset(owners), modified=found.modified | more)


def held_by_module(value: Expr, facts: Facts, found: Effects) -> frozenset[str]:
    """The variables of the module whose object a value may be, view or hold, as `Effects.owners` has them."""
    names = set(sharers(value, facts, found.calls))
    return _variables(names).union(*(found.owners.get(n, ()) for n in names))


def _variables(names: Iterable[str]) -> frozenset[str]:
    """The variables among names that stand for what the module holds."""
    return frozenset(n.removeprefix(OUTSIDE) for n in names if n.startswith(OUTSIDE))


def effects_of_calls(
    function: Function, facts: Facts, summarise: Summaries | None, context: Context | None = None
) -> dict[Call, CallEffects]:
    """The effects of the calls of functions that have source: no more than assumed, where nothing is written at all."""
    calls = [call for stmt in walk(function.body) for call in (*user_calls(stmt), *constant_calls(stmt))]
    if not calls or summarise is None:
        return {}
    found: dict[Call, CallEffects] = {}
    constant = {id(call) for stmt in walk(function.body) for call in constant_calls(stmt)}
    for call in calls:
        known = summarise(call, facts)
        if known.met and id(call) in constant:
            # It stays as it stands, without checks.
            known = assumed(call, known.bound)
        found[call] = found[call].joined(known) if call in found else known
    writing = context is not None or any(map(_writes_itself, walk(function.body)))
    # A callee keeps shadows of what it is known to write in its own terms, so its caller has to agree.
    if writing or any(map(call_may_write, calls)) or any(known.written for known in found.values()):
        return found
    # Where nothing is written at all, only the arguments that a result depends on are of interest.
    return {
        call: replace(assumed(call, known.bound), through=known.through, parts=known.parts)
        for call, known in found.items()
    }


def _writes_itself(stmt: Stmt) -> bool:
    """Whether a statement writes into an object, calls of functions that have source aside."""
    changes = isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind in ("inplace", "change")
    return isinstance(stmt, (Store, Evaluate)) or changes
