"""Functions in IR with the types of their names: lowered, and without the branches that types decide."""

from __future__ import annotations

import functools
import types
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import gast

from s2sad.analysis.infer import Changing, Facts, Put, infer
from s2sad.analysis.owners import owners_of_params, with_owners
from s2sad.analysis.summaries import CallEffects
from s2sad.analysis.versions import container_stores
from s2sad.errors import ArgumentError, UnsupportedError
from s2sad.frontend.lower import Lowered, lower
from s2sad.frontend.postponed import remains
from s2sad.frontend.recorded import records
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Expr, Function, Stmt, Unpack, Var
from s2sad.ir.sizes import LiteralSizes, Sizes
from s2sad.ir.traverse import map_stmt, names_in, reads, walk
from s2sad.ir.types import OPEN, OTHER, Fact, describe, some_item
from s2sad.optimise import take_decided
from s2sad.pipeline.attributes import Attributes
from s2sad.pipeline.by_types import rewritten
from s2sad.pipeline.entry import Together, copied_together, with_objects_alone
from s2sad.pipeline.operands import with_checked_operands
from s2sad.pipeline.receivers import with_checks
from s2sad.pipeline.refused import with_obstacle
from s2sad.pipeline.sources import Guards, Sources, classes_of, default_fact
from s2sad.pipeline.tried import with_tried_checks
from s2sad.transform.functions import with_loops

#: How many items of what is unpacked with a star have names of their own at most.
MOST_NAMED = 12


class Calls(NamedTuple):
    """What has to be known of calls to type a function.

    ``user_fact`` has the type of the result of one, ``contents`` the names that may hold a container of which something
    that it holds is replaced and what is put into lists that names may hold, ``held`` those of lists that others may
    hold, ``computes`` whether a call does no more than to compute numbers from numbers, ``summary`` what a function
    does, where all its arguments or some may carry derivatives.
    """

    user_fact: Callable[[Call, Callable[[Expr], Fact]], Fact]
    contents: Callable[[Function, Facts], tuple[frozenset[str], Mapping[str, frozenset[Put]]]]
    held: Callable[[Function, Facts], frozenset[str]]
    computes: Callable[[Call, Facts], bool]
    summary: Callable[[Lowered, Facts, frozenset[str] | None], CallEffects]


class Types:
    """Lowers functions, each once, and types them for given arguments.

    `Program` sets ``calls``: what is known of calls depends on the types of callees in turn.

    With ``exact`` arrays of modules have the sizes that they have now, and no others.
    """

    calls: Calls

    def __init__(self, sources: Sources, guards: Guards, exact: bool) -> None:
        self.sources, self.guards = sources, guards
        self.sizes = LiteralSizes() if exact else None
        self.attributes = Attributes()
        #: The classes with operators of their own to which arguments lead with respect to which is differentiated.
        self.special: frozenset[type] = frozenset()
        self.lowereds: dict[Any, Lowered] = {}
        #: What has been typed once the results and effects of all that it calls were known.
        self.settled: dict[Any, tuple[Lowered, Function, Facts]] = {}
        self.spaces: dict[int, int] = {}

    def lowered(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        containers: frozenset[tuple[int, str]],
        owners: Mapping[str, frozenset[type]],
        moments: frozenset[str] = frozenset(),
    ) -> Lowered:
        """A function in IR, lowered for derivatives with respect to ``wrt``; see `lower`."""
        key = (function, wrt, containers, frozenset(owners.items()), moments)
        if key not in self.lowereds:
            source, unfolded = with_loops(self.sources.source(function), wrt)
            is_first = function is self.sources.recording
            try:
                with with_obstacle(source, perhaps=True):
                    self.lowereds[key] = lowered = lower(source, wrt, containers, owners, is_first, moments)
            except UnsupportedError:
                if not is_first and records(source):
                    self.sources.note_changing(function)
                raise
            for guard in (*unfolded, *lowered.guards):
                self.guards.add(guard)
            self.guards.add_definition(function)
        return self.lowereds[key]

    def typed(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        facts: Mapping[str, Fact],
        display: bool,
        together: Together = (),
    ) -> tuple[Lowered, Function, Facts]:
        """A function in IR that tells containers from arrays, and the types of its names.

        With ``display`` its result may be a tuple.
        """
        containers: frozenset[tuple[int, str]] = frozenset()
        owners = owners_of_params(facts)
        moments = frozenset(name for name, fact in facts.items() if fact.plain is not None)
        while True:
            lowered = self.lowered(function, wrt, containers, owners, moments)
            ir = _unpacked(_with_display(lowered.function) if display else lowered.function)
            ir = copied_together(ir, together, facts, lowered.source)
            ir = with_objects_alone(ir, self.sources.parted.get(function, {}), facts, lowered.source)
            given = {**default_facts(ir), **facts}
            ir, known = self.inferred_with(lowered, ir, given)
            held = functools.cache(functools.partial(self.calls.held, ir, known))
            stores = frozenset(container_stores(walk(ir.body), known, held))
            more, reaching = with_owners(owners, ir, known)
            if stores <= containers and more == owners:
                if lowered.refused is not None and remains(ir.body):
                    with with_obstacle(lowered.source, perhaps=True):
                        raise lowered.refused
                roots = [p.name for p in ir.params if p.public in wrt]
                checked = with_checks(with_tried_checks(ir, known), known, roots)
                if self.special:
                    checked = with_checked_operands(checked, known, roots, lowered)
                if checked != ir:
                    ir, known = self.inferred_with(lowered, checked, given)
                    _, reaching = with_owners(owners, ir, known)
                return lowered, ir, reaching
            containers, owners = containers | stores, more

    def settled_typed(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        facts: Mapping[str, Fact],
        display: bool,
        together: Together,
    ) -> tuple[Lowered, Function, Facts]:
        """The same while no fixed point is sought, found once: a function is asked about again with other checks."""
        key = function, wrt, tuple(facts.items()), display, together
        if key not in self.settled:
            self.settled[key] = self.typed(function, wrt, facts, display, together)
        return self.settled[key]

    def inferred_with(self, lowered: Lowered, ir: Function, facts: Mapping[str, Fact]) -> tuple[Function, Facts]:
        """A function without the branches that the types of its parameters decide, and the types of the rest."""
        changing = Changing()
        while True:
            known = infer(ir, facts, lambda text: self.global_fact(lowered, text), self.calls.user_fact, changing)
            more = changing.with_more(*self.calls.contents(ir, known))
            if more != changing:
                # Lists and dicts that are found to change now have fewer items that are known.
                changing = more
                continue
            taken = rewritten(_without_stars(self.decided(lowered, ir, known), known), known)
            if taken == ir:
                return ir, known
            ir = taken

    def decided(self, lowered: Lowered, ir: Function, known: Facts) -> Function:
        """A function without what the types of its names decide."""
        return take_decided(
            ir, known, lambda text: self.classes(lowered, text), lambda call: self.calls.computes(call, known)
        )

    def classes(self, lowered: Lowered, text: str) -> tuple[type, ...]:
        """The class that a global name or attribute has, or the classes of a tuple of them; else none."""
        found = classes_of(lowered.resolver, text)
        self.guards.add_resolved(lowered.resolver)
        return found

    def global_fact(self, lowered: Lowered, text: str) -> Fact:
        """What is known of a global name or attribute."""
        # What one module calls n is not what another, or a function, does.
        resolver = lowered.resolver
        holder = resolver.cells.get(text.partition(".")[0], resolver.globals)
        space = self.spaces.setdefault(id(holder), len(self.spaces))
        name = f"@{space}_{text.replace('.', '_')}"
        node = gast.parse(text, mode="eval").body
        found = resolver.fact(node, lambda value: _stably_described(value, name, self.sizes), by_kind=True)
        known = found if isinstance(found, Fact) else OPEN
        if "." in text and known.kind in ("open", "list", "dict"):
            fact, guard = self.attributes.fact(resolver, text, name, self.sizes, known)
        else:
            holds = known.kind in ("list", "dict")
            fact, guard = self.attributes.contents(resolver, text, known) if holds else (known, None)
        for needed in (guard, *self.attributes.guards) if guard is not None else ():
            self.guards.add(needed)
        return fact


def default_facts(function: Function) -> dict[str, Fact]:
    """What is known of the parameters by their default values."""
    return {p.public: default_fact(p.public, p.default.value) for p in function.params if p.default is not None}


def _unpacked(function: Function) -> Function:
    """``function`` with the results of calls unpacked at once: ``t = g(x); a, b = t`` is ``a, b = g(x)``."""
    uses = Counter(n for s in walk(function.body) for n in reads(s))
    uses.update(names_in(function.result))

    def in_block(block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            made = out[-1] if out else None
            if (
                isinstance(stmt, Unpack)
                and stmt.star is None
                and isinstance(made, Assign)
                and stmt.value == Var(made.target)
                and isinstance(made.value, Call)
                and made.value.op.kind == "user"
                and uses[made.target] == 1
            ):
                out[-1] = replace(stmt, value=made.value)
            else:
                out.append(map_stmt(stmt, lambda e: e, in_block))
        return tuple(out)

    return replace(function, body=in_block(function.body))


def _without_stars(function: Function, known: Facts) -> Function:
    """``function`` with a name for each item of what is unpacked with a star, where it is known how many there are:
    ``a, *rest = g(x)`` is ``a, b, c = g(x)`` and ``rest = [b, c]``."""

    def in_block(block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            parts = _parts(stmt, known) if isinstance(stmt, Unpack) else None
            out += [map_stmt(stmt, lambda e: e, in_block)] if parts is None else parts
        return tuple(out)

    if all(not isinstance(s, Unpack) or s.star is None for s in walk(function.body)):
        return function
    return _unpacked(replace(function, body=in_block(function.body)))


def _parts(stmt: Unpack, known: Facts) -> list[Stmt] | None:
    """What unpacks as many items as a value is known to have; None without a star, or where that is not known."""
    whole = known.get(stmt.value)
    if stmt.star is None or whole.kind not in ("tuple", "list") or whole.items is None:
        return None
    if len(whole.items) > MOST_NAMED:
        return None
    starred = stmt.targets[stmt.star]
    name, _, version = starred.removeprefix("~").rpartition(".")
    items = tuple([f"~{name}{i}.{version}" for i in range(len(whole.items) - len(stmt.targets) + 1)])
    targets = (*stmt.targets[: stmt.star], *items, *stmt.targets[stmt.star + 1 :])
    if len(targets) != len(whole.items):
        return None
    return [
        replace(stmt, targets=targets, star=None),
        Assign(starred, Build("list", tuple(map(Var, items))), stmt.origin),
    ]


def _with_display(function: Function) -> Function:
    """``function`` with what it assigns last and returns, a name, a tuple of names or None, as its result."""
    last = function.body[-1] if function.body else None
    if not isinstance(last, Assign) or function.result != Var(last.target):
        return function
    body = function.body[:-1]
    if isinstance(last.value, Build) and last.value.kind == "tuple":
        items = list(last.value.items)
        for i, item in enumerate(items):
            if not isinstance(item, (Var, Const)):
                items[i] = Var(f"~result{i}.0")
                body = (*body, Assign(f"~result{i}.0", item, last.origin))
        return replace(function, body=body, result=Build("tuple", tuple(items)))
    if isinstance(last.value, Var) or last.value == Const(None):
        return replace(function, body=body, result=last.value)
    return function


def _stably_described(value: Any, name: str, sizes: Sizes | None) -> Fact:
    """What is known of the value of a variable whatever a list or dict holds."""
    if type(value) in (list, dict):
        return Fact("list" if type(value) is list else "dict")
    try:
        return _stable(describe(value, name, sizes))
    except ArgumentError:
        # An array with operators of its own: what uses them is refused there.
        return OTHER.but(owners=frozenset({type(value)}))


def _stable(fact: Fact) -> Fact:
    """A fact that does not depend on how long a container is, nor on what a list or dict holds, which may change."""
    if fact.kind == "record" and fact.items is not None:
        return replace(fact, items=tuple([(name, _stable(field)) for name, field in fact.items]))
    if fact.kind == "other" and fact.owners and fact.items is not None:
        # The classes that attributes lead to.
        return fact
    each = some_item(fact) if fact.kind in ("tuple", "other") else None
    return fact if fact.kind in ("scalar", "array") else replace(fact, items=None, each=each)
