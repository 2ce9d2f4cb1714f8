"""The first stages: from a function to its IR and what the analyses say about it."""

from __future__ import annotations

import functools
import inspect
import types
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2sad.analysis import keys
from s2sad.analysis.activity import Activity, activity, written_outside
from s2sad.analysis.containers import faults, misplaced
from s2sad.analysis.effects import Effects, effects
from s2sad.analysis.evaluate import evaluate
from s2sad.analysis.infer import Facts, infer
from s2sad.analysis.owners import owners_of_params, with_owners
from s2sad.analysis.summaries import MODULE, RESULT, Context
from s2sad.analysis.versions import container_stores
from s2sad.errors import S2SADError, UnsupportedError, Violation
from s2sad.frontend.emitted import with_own_tapes
from s2sad.frontend.imported import with_imports
from s2sad.frontend.lower import Lowered, lower
from s2sad.frontend.matching import without_match
from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.respelled import with_respelled_calls
from s2sad.frontend.source import ORIGINAL, Source, read_source
from s2sad.frontend.switches import with_switches
from s2sad.frontend.touched import Calls
from s2sad.ir.check import checked
from s2sad.ir.nodes import (
    Assign,
    Block,
    Build,
    Call,
    Const,
    Enter,
    Exit,
    Expr,
    Function,
    Op,
    Stmt,
    Unpack,
    Var,
)
from s2sad.ir.show import show
from s2sad.ir.traverse import base, map_stmt, names_in, reads, walk, writes
from s2sad.ir.types import Fact, LiteralSizes, describe, some_item
from s2sad.optimise import remove_dead, take_decided
from s2sad.pipeline.attributes import Attributes
from s2sad.pipeline.callees import Callees, Causes
from s2sad.pipeline.entry import (
    Together,
    are_together,
    copied_together,
    with_containers_alone,
    with_copies,
    with_objects_alone,
    with_own_containers,
    with_records_alone,
)
from s2sad.pipeline.met import with_checked_results
from s2sad.pipeline.receivers import with_checks
from s2sad.pipeline.refused import with_obstacle
from s2sad.pipeline.untaken import decisions, without_untaken
from s2sad.runtime import as_pair
from s2sad.transform.functions import with_loops
from s2sad.transform.instances import Instance
from s2sad.transform.relied import Recorded
from s2sad.transform.specialise import specialised

_AS_PAIR = Op("runtime", "as_pair", as_pair, pure=False)


@dataclass
class Analysed:
    """A lowered function, without what is dead in it, and what the analyses say about it.

    ``doubts`` are what is refused if nothing else is: a call of which nothing is known may be the reason for both.
    """

    lowered: Lowered
    function: Function
    facts: Facts
    effects: Effects
    activity: Activity
    doubts: tuple[Violation, ...] = ()


class Analyser(Callees):
    """Lower functions and analyse them, each source once; collects the guards on which that rests."""

    def __init__(self, exact: bool = False) -> None:
        super().__init__()
        #: The sizes of the arrays of modules, where what is made is for those that there are now alone.
        self.sizes = LiteralSizes() if exact else None
        self.guards: dict[tuple[Any, ...], Guard] = {}
        #: The sources of functions as they are written, and without what they make and use themselves.
        self.texts: dict[tuple[types.FunctionType, bool], Source] = {}
        self.sources: dict[types.FunctionType, Source] = {}
        #: Functions without the branches that do not run, by what decides these, and what each was made of.
        self.prunings: dict[Any, types.FunctionType] = {}
        self.lowereds: dict[Any, Lowered] = {}
        self.spaces: dict[int, int] = {}
        self.attributes = Attributes()
        #: By function: arguments that are objects whose attributes it may set, and those that were taken apart.
        self.instances: dict[types.FunctionType, dict[str, Instance]] = {}
        self.parted: dict[types.FunctionType, dict[str, tuple[str, ...]]] = {}
        #: Containers, which attributes of objects of the module lead to, in which the function itself records.
        self.recorded: tuple[Recorded, ...] = ()
        #: The function itself, if it may record in lists of the module what is differentiated.
        self.recording: types.FunctionType | None = None
        #: What functions are called with while the function itself runs, if its arguments are numbers and the like.
        self.calls: Calls | None = None
        #: The package of the function itself.
        self.package = ""
        #: The parameters of the function itself whose arguments share objects.
        self.together: Together = ()
        #: Those that the function itself may write, so that it gets copies of their arguments.
        self.written: frozenset[str] = frozenset()
        #: How each stage reads; written only when somebody asks.
        self.stages: dict[str, Callable[[], str]] = {}

    def source(self, function: types.FunctionType) -> Source:
        """The source of a function, without the functions and objects that it makes and uses itself."""
        if function not in self.sources:
            source = self.read(function)
            reasons: list[Violation] = []
            read, instances = functools.partial(self.read, generators=True), self.instances.get(function, {})
            made = specialised(source, read, reasons, self.package, instances, self.calls, function is self.recording)
            if reasons:
                source = replace(source, obstacle=reasons[0])
            if made is not None:
                source = made.source
                for guard in made.guards:
                    self.guard(guard)
                if made.parted:
                    self.parted[function] = made.parted
                self.recorded += made.recorded
            self.sources[function] = source
        return self.sources[function]

    def read(self, function: types.FunctionType, generators: bool = False) -> Source:
        """The source of a function as it is written, but for imports, ``match`` and branches that are switched off."""
        key = function, generators
        if key not in self.texts:
            self.texts[key] = self._read(function, generators)
        return self.texts[key]

    def _read(self, function: types.FunctionType, generators: bool) -> Source:
        source, guards = with_imports(without_match(with_own_tapes(read_source(function, generators))))
        source, more = with_switches(source)
        source, others = with_respelled_calls(source)
        for guard in (*guards, *more, *others):
            self.guard(guard)
        return source

    def pruned(self, function: types.FunctionType, facts: Mapping[str, Fact]) -> types.FunctionType:
        """A function without the branches that the types of its arguments rule out; itself if there is none."""
        try:
            source = self.read(function)
        except S2SADError:
            return function
        code = source.function.__code__
        resolver = Resolver(source.function, frozenset((*code.co_varnames, *code.co_cellvars)))
        facts = {**_default_values(function), **facts}
        decided = decisions(source, facts, lambda text: _classes(resolver, text))
        key = function, decided
        if decided and key not in self.prunings:
            made = without_untaken(source, decided)
            self.prunings[key] = made or function
            if made is not None:
                self.unpruned[made] = function
                self.guard_definition(function)
        for guard in resolver.guards.values():
            self.guard(guard)
        return self.prunings[key] if decided else function

    def guard_definition(self, function: types.FunctionType) -> None:
        """Note that what is made rests on the code and the default values of a function."""
        if isinstance(original := function.__dict__.get(ORIGINAL), types.FunctionType):
            self.guard_definition(original)
        self.guard(Guard(function, "__code__", function.__code__))
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(function, name) is not None:
                self.guard(Guard(function, name, getattr(function, name)))

    def lowered(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        containers: frozenset[tuple[int, str]],
        owners: Mapping[str, frozenset[type]],
    ) -> Lowered:
        """A function in IR, lowered for derivatives with respect to ``wrt``; see `lower`."""
        records = function is self.recording
        key = (function, wrt, containers, frozenset(owners.items()))
        if key not in self.lowereds:
            source = with_loops(self.source(function), wrt)
            with with_obstacle(source, perhaps=True):
                self.lowereds[key] = lowered = lower(source, wrt, containers, owners, records)
            for guard in lowered.guards:
                self.guard(guard)
            self.guard_definition(function)
        return self.lowereds[key]

    def guard(self, guard: Guard) -> None:
        """Note a guard."""
        self.guards.setdefault(guard.key, guard)

    def analysed(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        facts: Mapping[str, Fact],
        has_aux: bool = False,
        context: Context | None = None,
        display: bool = False,
        varied: tuple[str, ...] = (),
    ) -> Analysed:
        """A function with what is known of it.

        One with a ``context`` is called by another, which sees what it writes.  With ``display``
        the result may be a tuple of several.  ``varied`` are all parameters that may carry derivatives.
        """
        lowered, ir, known = self.typed(
            function, varied or wrt, facts, display or has_aux, self.together if context is None else ()
        )
        if has_aux and isinstance(ir.result, Build) and len(ir.result.items) == 2:
            loss, aux = ir.result.items
            origin = lowered.function.body[-1].origin
            ir = replace(ir, body=(*ir.body, Assign("~loss.1", loss, origin), Assign("~aux.1", aux, origin)))
        elif has_aux:
            ir = replace(ir, body=(*ir.body, Unpack(("~loss.1", "~aux.1"), ir.result)))
        facts = {**_defaults(ir), **facts}
        checked(ir, "lower")
        if has_aux:
            ir, known = self.inferred_with(lowered, ir, facts)
        for guard in lowered.resolver.guards.values():
            self.guard(guard)
        if has_aux and not _is_pair(known.get(ir.result)) and isinstance(ir.body[-1], Unpack):
            *body, pair = ir.body
            ir = replace(ir, body=(*body, Assign("~pair.1", Call(_AS_PAIR, (ir.result,))), pair))
        # A user may write into the arguments, the result and the module of a function before calling its pullback.
        kept_pair = display and context is None
        beyond = frozenset({RESULT, MODULE, *(p.public for p in ir.params)}) if kept_pair else frozenset()
        roots = [p.name for p in ir.params if p.public in (varied or wrt)]
        summarise = self.summaries_of(ir, roots)
        ir, shared = with_checked_results(ir, lambda f: effects(f, known, summarise, context, beyond))
        kept = ["~loss.1", "~aux.1"] if has_aux else []
        written = [p for p in ir.params if p.name in shared.modified and known.of[p.name].kind != "scalar"]
        if context is not None:
            # The caller sees what a callee writes.
            kept += [p.name for p in written]
        elif written:
            self.written = frozenset(p.public for p in written)
            ir = with_copies(ir, written, known, shared, wrt, lowered.source)
            ir, known = self.inferred_with(lowered, ir, facts)
            shared = effects(ir, known, self.summaries_of(ir, roots), overwritten=beyond)
        if shared.versions:
            if context is None and any(p.name in shared.versions for p in ir.params):
                ir = with_own_containers(ir, shared, known, lowered.source)
                ir, known = self.inferred_with(lowered, ir, facts)
                shared = effects(ir, known, self.summaries_of(ir, roots), overwritten=beyond)
        if lowered.recorded:
            ir = with_records_alone(ir, lowered.recorded, known, lowered.source)
        if self.recorded and function is self.recording:
            ir = with_containers_alone(ir, self.recorded, known, lowered.source)
        _check_changes(ir, known, shared, lowered)
        kept += sorted(shared.written & shared.module)
        if context is not None and context.tried:
            ir = replace(ir, body=(Enter(), *ir.body, Exit()))
        ir = remove_dead(ir, shared.objects(), kept)
        active = [p.name for p in ir.params if p.public in wrt]
        seen: Expr = Build("tuple", (ir.result, *(Var(p.name) for p in (written if context is not None else ()))))
        found = activity(replace(ir, result=Var("~loss.1") if has_aux else seen), active, shared)
        _check_keys(ir, known, found, lowered)
        if self.together and context is None and are_together(ir, found.varied):
            what = "two arguments share what the function changes and differentiates"
            raise UnsupportedError([Violation(lowered.source.place(lowered.source.node), what, "Pass a copy of one.")])
        outside = list(written_outside(ir, known, shared, found.varied, lowered.resolver))
        causes: Causes = {}
        doubts = [violation for item in outside for violation in self.causes(item, known, lowered, causes)]
        # What cannot be read is refused where it is called, beside whatever else is refused.
        if any(item.sure and not self.is_unread(item, known) for item in outside):
            with with_obstacle(lowered.source):
                raise UnsupportedError(doubts)
        if "ir" not in self.stages:
            self.stages["ir"] = lambda: show(ir)
            self.stages["activity"] = lambda: show(ir, lambda s: _activity_of(s, found))
        present = {n for s in walk(ir.body) for n in writes(s)}
        lowered = replace(lowered, unbound=lowered.unbound & present)
        return Analysed(lowered, ir, known, shared, found, tuple(doubts))

    def typed(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        facts: Mapping[str, Fact],
        display: bool,
        together: Together = (),
    ) -> tuple[Lowered, Function, Facts]:
        """A function in IR that tells containers from arrays, and the facts about it.

        With ``display`` its result may be a tuple.
        """
        containers: frozenset[tuple[int, str]] = frozenset()
        owners = owners_of_params(facts)
        while True:
            lowered = self.lowered(function, wrt, containers, owners)
            ir = self.unpacked(with_display(lowered.function) if display else lowered.function)
            ir = copied_together(ir, together, facts, lowered.source)
            ir = with_objects_alone(ir, self.parted.get(function, {}), facts, lowered.source)
            ir, known = self.inferred_with(lowered, ir, {**_defaults(ir), **facts})
            stores = frozenset(container_stores(walk(ir.body), known))
            more, reaching = with_owners(owners, ir, known)
            if stores <= containers and more == owners:
                checked = with_checks(ir, known, [p.name for p in ir.params if p.public in wrt])
                if checked != ir:
                    ir, known = self.inferred_with(lowered, checked, {**_defaults(ir), **facts})
                    _, reaching = with_owners(owners, ir, known)
                return lowered, ir, reaching
            containers, owners = containers | stores, more

    def inferred_with(self, lowered: Lowered, ir: Function, facts: Mapping[str, Fact]) -> tuple[Function, Facts]:
        """A function without the branches that the facts about its parameters decide, and the facts about the rest."""
        changing: frozenset[str] = frozenset()
        while True:
            known = infer(ir, facts, lambda text: self.global_fact(lowered, text), self.user_fact, changing)
            more = changing | self.changing(ir, known)
            taken = take_decided(ir, known, lambda text: self.classes(lowered, text)) if more == changing else ir
            if taken == ir and more == changing:
                return ir, known
            ir, changing = taken, more

    def classes(self, lowered: Lowered, text: str) -> tuple[type, ...]:
        """The class that a global name or attribute has, or the classes of a tuple of them; else none."""
        found = _classes(lowered.resolver, text)
        for guard in lowered.resolver.guards.values():
            self.guard(guard)
        return found

    def global_fact(self, lowered: Lowered, text: str) -> Fact:
        """What is known of a global name or attribute."""
        node = _parsed(text)
        # What one module calls n is not what another, or a function, does.
        resolver = lowered.resolver
        holder = resolver.cells.get(text.partition(".")[0], resolver.globals)
        space = self.spaces.setdefault(id(holder), len(self.spaces))
        name = f"@{space}_{text.replace('.', '_')}"
        found = resolver.fact(node, lambda value: _stable(describe(value, name, self.sizes)), by_kind=True)
        if isinstance(found, Fact):
            return found
        fact, guard = self.attributes.fact(resolver, text, name, self.sizes)
        for needed in (guard, *self.attributes.guards) if guard is not None else ():
            self.guard(needed)
        return fact

    def unpacked(self, function: Function) -> Function:
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


def _defaults(function: Function) -> dict[str, Fact]:
    """What is known of the parameters by their default values."""
    return {p.public: _default(p.public, p.default.value) for p in function.params if p.default is not None}


def _default_values(function: types.FunctionType) -> dict[str, Fact]:
    """The types of default values that are literals."""
    values = {name: p.default for name, p in inspect.signature(function, follow_wrapped=False).parameters.items()}
    return {n: _default(n, v) for n, v in values.items() if v is None or type(v) in (int, bool, str)}


def _classes(resolver: Resolver, text: str) -> tuple[type, ...]:
    """The classes that a global name stands for, guarded."""
    return resolver.fact(_parsed(text), _as_classes) or ()


def _as_classes(value: Any) -> tuple[type, ...]:
    """A class, or a tuple of classes, as a tuple."""
    values = value if type(value) is tuple else (value,)
    return values if all(isinstance(v, type) for v in values) else ()


def with_display(function: Function) -> Function:
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


def _check_changes(function: Function, facts: Facts, shared: Effects, lowered: Lowered) -> None:
    """Refuse to change containers that others may hold, and parts of what may be no array."""
    ends = base(names_in(lowered.function.result)[0]) if names_in(lowered.function.result) else ""
    place = lowered.source.place
    remedy = "Change a list or dict that only this variable holds (x.copy() makes one), or make a new one."
    found = [Violation(place(call.node), why, remedy) for call, why in faults(function, facts, shared.calls, ends)]
    remedy = "Write z.imag[...] = x where z is an array; a dataclass keeps it under another name."
    found += [Violation(place(call.node), why, remedy) for call, why in misplaced(function, facts)]
    if found:
        raise UnsupportedError(found)


def _check_keys(function: Function, facts: Facts, found: Activity, lowered: Lowered) -> None:
    """Refuse to read keys again that depend on what is differentiated."""
    places = [lowered.source.place(s.origin.line) for s in keys.read_back(function, facts, found.varied)]
    if places:
        raise UnsupportedError([Violation(place, keys.MESSAGE, keys.REMEDY) for place in places])


def _activity_of(stmt: Stmt, found: Activity) -> str:
    names = [n for n in writes(stmt) if n in found.active]
    return f"active: {', '.join(names)}" if names else ""


def _is_pair(fact: Fact) -> bool:
    return fact.kind == "tuple" and fact.items is not None and len(fact.items) == 2


def _parsed(text: str) -> Any:
    return gast.parse(text, mode="eval").body


def _stable(fact: Fact) -> Fact:
    """A fact that does not depend on how long a container is, nor on what a list or dict holds, which may change."""
    if fact.kind == "record" and fact.items is not None:
        return replace(fact, items=tuple([(name, _stable(field)) for name, field in fact.items]))
    if fact.kind == "other" and fact.owners and fact.items is not None:
        # The classes that attributes lead to.
        return fact
    each = some_item(fact) if fact.kind in ("tuple", "other") else None
    return fact if fact.kind in ("scalar", "array") else replace(fact, items=None, each=each)


def _default(name: str, value: Any) -> Fact:
    """The fact about a default, in terms that no caller has for something else."""
    return evaluate(Const(value), {}, {}) if type(value) in (int, bool, str) else describe(value, f"{name}=")
