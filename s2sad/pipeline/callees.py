"""Calls of functions that have source: the types of their results, and their effects on arguments."""

from __future__ import annotations

import inspect
import re
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

from s2sad.analysis.activity import Outside, activity, written_outside
from s2sad.analysis.effects import HELD, Effects, effects, held_by_module, sharers
from s2sad.analysis.infer import Facts
from s2sad.analysis.results import are_entangled, bound_part, parts_of
from s2sad.analysis.summaries import (
    NO_EFFECTS,
    CallEffects,
    Context,
    Summaries,
    assumed,
    call_may_write,
    constant_calls,
    only_changes,
    user_calls,
    written_unseen,
)
from s2sad.errors import Place, S2SADError, UnsupportedError, Violation
from s2sad.frontend.called import OWN_ARRAY
from s2sad.frontend.emitted import DERIVATIVE
from s2sad.frontend.holding import UNKNOWN
from s2sad.frontend.lower import Lowered
from s2sad.frontend.met import roots_called
from s2sad.frontend.resolve import Guard
from s2sad.frontend.source import Source
from s2sad.ir.nodes import Build, Call, Expr, Function, Stmt, Store
from s2sad.ir.traverse import names_in, walk
from s2sad.ir.types import OPEN, UNSET_FACT, Atom, Dim, Fact, is_symbol, resized, rough, some_item
from s2sad.pipeline.literals import Literals
from s2sad.pipeline.met import has_met, reached, with_checked_results
from s2sad.pipeline.refused import of_call

#: The names in the text of a size.
_NAME = re.compile(r"[~^@\w]+\.\d*")
#: Why callees may write into what outlives the call, by function and facts.
Causes = dict[Any, list[Violation] | None]
#: How often a recursive function is followed with other facts about its arguments each time.
DEPTH = 3
#: How often what is known of its result is improved upon, at most, and of its effects.
ITERATIONS, ROUNDS = 5, 30


class Callees(ABC):
    """Knows the calls of functions that have source, each by what is known of its arguments."""

    def __init__(self) -> None:
        self.results: dict[Any, Fact] = {}
        #: Of each function, with facts about its arguments, what it is in IR; None if it cannot be read.
        self.inferred: dict[Any, tuple[Lowered, Facts] | None] = {}
        #: Why it cannot be read.
        self.unread: dict[Any, S2SADError] = {}
        self.summaries: dict[Any, CallEffects | None] = {}
        self.summarising: list[Any] = []
        self.depth: dict[types.FunctionType, int] = {}
        #: Of derivatives with facts about their arguments, the functions that run.
        self.concretes: dict[Any, types.FunctionType] = {}
        self.literals = Literals(self.read)
        #: The functions of which those without untaken branches were made.
        self.unpruned: dict[types.FunctionType, types.FunctionType] = {}
        #: The calls whose result or effects were asked for, by function and facts.
        self.met: set[Any] = set()

    @abstractmethod
    def typed(
        self, function: types.FunctionType, wrt: tuple[str, ...], facts: Mapping[str, Fact], display: bool
    ) -> tuple[Lowered, Function, Facts]:
        """A function in IR, and the facts about it, given those about its parameters."""

    @abstractmethod
    def guard(self, guard: Guard) -> None:
        """Note a guard."""

    @abstractmethod
    def source(self, function: types.FunctionType) -> Source:
        """The source of a function."""

    @abstractmethod
    def read(self, function: types.FunctionType) -> Source:
        """The source of a function as it is written."""

    @abstractmethod
    def pruned(self, function: types.FunctionType, facts: Mapping[str, Fact]) -> types.FunctionType:
        """A function without the branches that the types of its arguments rule out."""

    def bind(self, call: Call) -> dict[str, Expr]:
        """Map the parameters of the user's function to the arguments of ``call``; what ``*`` gathers is a tuple."""
        signature = inspect.signature(call.op.function, follow_wrapped=False)  # type: ignore[arg-type]
        bound = signature.bind_partial(*call.args, **dict(call.kwargs)).arguments
        for name, value in bound.items():
            if isinstance(value, (tuple, dict)):
                bound[name] = Build("tuple", tuple(value.values() if isinstance(value, dict) else value))
        return bound

    def bound_facts(self, call: Call, fact: Callable[[Expr], Fact]) -> dict[str, Fact] | None:
        """What is known of arguments by parameter, with literals that the callee tests; None where they do not fit."""
        try:
            bound = self.bind(call)
        except TypeError:
            return None
        facts = {name: fact(value) for name, value in bound.items()}
        self.literals.add_to(facts, call.op.function, bound)
        return facts

    def user_fact(self, call: Call, fact: Callable[[Expr], Fact]) -> Fact:
        """What is known of the result of a call."""
        function = call.op.function
        assert isinstance(function, types.FunctionType)
        bound = self.bound_facts(call, fact)
        return OPEN if bound is None else self.result(function, bound)

    def result(self, function: types.FunctionType, bound: Mapping[str, Fact]) -> Fact:
        """What is known of the result of a function, given what is known of its arguments."""
        if self.depth.get(function, 0) >= DEPTH:
            bound = {name: rough(f, None) for name, f in bound.items()}
        function = self.concrete(function, bound)
        key = (function, tuple(bound.items()))
        if key not in self.results:
            if self.depth.get(function, 0) > DEPTH:
                return OPEN
            self.depth[function] = self.depth.get(function, 0) + 1
            self.results[key] = self.fixed_result(key, function, bound)
            self.depth[function] -= 1
        self.met.add(key)
        return self.results[key]

    def constant_result(self, function: types.FunctionType, facts: Mapping[str, Fact]) -> Fact:
        """What is known of a result where integers are what they mostly are: sizes, positions, constants."""
        others = tuple([n for n, f in facts.items() if f.kind != "scalar" or f.precision != "weak"])
        if len(others) == len(facts):
            return OPEN
        try:
            _, body, known = self.typed(function, others, facts, True)
        except S2SADError:
            return OPEN
        return known.get(body.result)

    def fixed_result(self, key: Any, function: types.FunctionType, bound: Mapping[str, Fact]) -> Fact:
        """What is known of the result of a function that may call itself: what follows from itself, and is the least.

        Kleene's iteration begins with a result that no call has yet (Cousot and Cousot 1977).
        """
        result = UNSET_FACT
        facts = {n: _inward(f) for n, f in bound.items()}
        caches: tuple[dict[Any, Any], ...] = (self.results, self.inferred, self.summaries)
        before = [set(cache) for cache in caches]
        for rest in reversed(range(ITERATIONS)):
            self.results[key] = result
            self.met.discard(key)
            try:
                lowered, body, known = self.typed_whole(function, facts)
                new = _outward(known.get(body.result))
                self.inferred[key] = replace(lowered, function=body), known
            except S2SADError as error:
                new, self.inferred[key], self.unread[key] = OPEN, None, error
            if new == OPEN:
                new = _outward(self.constant_result(function, facts))
            done = new == result or result == OPEN or key not in self.met
            # What has been found on the way rests on what is not so; what calls do, on what was not known yet.
            for cache, old in zip(caches, before, strict=True):
                for other in cache.keys() - old if not done or (cache is self.summaries and key in self.met) else ():
                    del cache[other]
            if done:
                return _returned(new)
            if new.kind == result.kind == "list" and new.items is not None:
                new = Fact("list", each=some_item(new))
            result = new if rest > 1 else OPEN
        return OPEN

    def concrete(self, function: types.FunctionType, facts: Mapping[str, Fact]) -> types.FunctionType:
        """The function that runs for arguments of some types: without untaken branches, of a derivative its text."""
        derivative = function.__dict__.get(DERIVATIVE)
        if derivative is None:
            return self.pruned(function, facts)
        if all(fact.kind == OPEN.kind for fact in facts.values()):
            return function
        facts = own_terms(facts)
        key = (function, tuple(facts.items()))
        if key not in self.concretes:
            try:
                compiled = derivative(facts).compiled
            except S2SADError:
                self.concretes[key] = function
            else:
                for guard in compiled.guards:
                    self.guard(guard)
                self.concretes[key] = compiled.functions[compiled.names[0]]
        return self.concretes[key]

    def key_of(self, call: Call, facts: Facts) -> tuple[Any, dict[str, Fact], int]:
        """Under what the callee of a call is known, the facts about its arguments, and how deep it is in itself."""
        fact_of = self.bound_facts(call, facts.get)
        assert fact_of is not None
        function = call.op.function
        assert isinstance(function, types.FunctionType)
        depth = max(self.summarising.count(function), self.depth.get(function, 0))
        if depth >= DEPTH:
            fact_of = {name: rough(f, None) for name, f in fact_of.items()}
        return (self.concrete(function, fact_of), tuple(fact_of.items())), fact_of, depth

    def call_effects(self, call: Call, facts: Facts, varied: Set[str] = frozenset()) -> CallEffects:
        """What a call does to the objects that it is given; the names that are ``varied`` may carry derivatives."""
        bound = self.bind(call)
        key, fact_of, depth = self.key_of(call, facts)
        params = frozenset(p for p, v in bound.items() if not varied.isdisjoint(names_in(v)))
        function = call.op.function
        assert isinstance(function, types.FunctionType)
        if (key, None) not in self.summaries and depth <= DEPTH:
            self.result(function, fact_of)
            if self.inferred.get(key) is not None:
                self.summarise(function, key, None)
        self.met.add(key)
        found = self.summaries.get((key, None))
        if found is not None and found.met:
            if (key, params) not in self.summaries:
                self.summarise(function, key, params)
            found = self.summaries[key, params]
        if found is None:
            return assumed(call, bound)
        # What is not given is a default, which the module holds.
        module = found.module | {f"{call.op.name}.{p}" for p in found.shared - bound.keys()}
        given = frozenset(bound)
        default = not found.written <= given
        linked = tuple(params & given for params in found.linked)
        return replace(
            found,
            bound=bound,
            varied=params,
            written=found.written & given,
            shared=found.shared & given,
            linked=linked,
            module=module,
            changing=found.changing & given,
            kept=found.kept & given,
            puts=tuple([(param, owners) for param, owners in found.puts if param in given]),
            outside=found.outside or default,
            overwriting=found.overwriting or default,
            parts=found.parts and tuple([bound_part(part, call.op.name, given) for part in found.parts]),
        )

    def summaries_of(self, function: Function, roots: Iterable[str]) -> Summaries:
        """The effects of the calls in a function where the names ``roots`` carry derivatives."""
        varied = reached(function, roots)
        return lambda call, facts: self.call_effects(call, facts, varied)

    def typed_whole(self, function: types.FunctionType, facts: Mapping[str, Fact]) -> tuple[Lowered, Function, Facts]:
        """A function in IR, with respect to all its arguments; without those that it calls, if that is refused."""
        wrt = tuple([name for name, fact in facts.items() if fact.kind not in ("none", "other")])
        try:
            return self.typed(function, wrt, facts, True)
        except UnsupportedError:
            called = roots_called(self.source(function).node)
            if called.isdisjoint(wrt):
                raise
            return self.typed(function, tuple([name for name in wrt if name not in called]), facts, True)

    def summarise(self, function: types.FunctionType, key: Any, params: frozenset[str] | None) -> None:
        """Find what a function does; with ``params`` where these may carry derivatives."""
        self.summarising.append(function)
        self.summaries[key, params] = self.fixed_summary(key, params)
        self.summarising.pop()

    def fixed_summary(self, key: Any, params: frozenset[str] | None) -> CallEffects | None:
        """What a function does that may call itself: the least that follows from itself; None if that is not found."""
        inferred = self.inferred[key]
        assert inferred is not None
        if params is not None:
            # What it does when it calls itself is not asked for once more to find its types.
            self.summaries[key, params] = None
            try:
                lowered, body, known = self.typed(
                    key[0], tuple(sorted(params)), {n: _inward(f) for n, f in key[1]}, True
                )
            except S2SADError:
                return None
            inferred = replace(lowered, function=body), known
        found: CallEffects | None = replace(NO_EFFECTS, met=params is not None)
        before = set(self.summaries)
        for _ in range(ROUNDS):
            self.summaries[key, params] = found
            self.met.discard(key)
            new = self.summary(*inferred, params)
            if new == found or key not in self.met:
                return new
            for other in self.summaries.keys() - before:
                del self.summaries[other]
            found = new
        return None

    def summary(self, lowered: Lowered, facts: Facts, varied: frozenset[str] | None) -> CallEffects:
        """What a function does to the objects that it is given, where the parameters ``varied`` carry derivatives."""
        function = lowered.function
        roots = [p.name for p in function.params if varied is None or p.public in varied]
        summarise = self.summaries_of(function, roots)
        function, found = with_checked_results(function, lambda f: effects(f, facts, summarise, Context()))
        params = {p.name: p.public for p in function.params if facts.of[p.name].kind not in ("scalar", "none")}
        groups = {found.group[n] for n in params if n in found.group}
        linked = [frozenset(params[n] for n in group if n in params) for group in groups]
        of_result = [n for n in sharers(function.result, facts, found.calls) if not n.startswith("<")]
        shared = {params[m] for n in of_result for m in found.group.get(n, (n,)) if m in params}
        return CallEffects(
            {},
            frozenset(params[n] for n in params if n in found.modified),
            frozenset(shared),
            tuple([publics for publics in linked if len(publics) > 1]),
            held_by_module(function.result, facts, found),
            found.reshapes,
            frozenset(params[n] for n in self.changing(function, facts) | found.versions.keys() if n in params),
            are_entangled(function.result, facts, found),
            *_written_outside(lowered, facts, found),
            any(map(found.alters, walk(function.body))),
            frozenset(params[n] for n in params if n in found.kept),
            tuple(
                [(params[n], put) for n in params if n in found.modified and (put := _named(found.owners.get(n, ())))]
            ),
            any(found.written_openly(s) and not _only_changes(s, facts, found) for s in walk(function.body)),
            lowered.unsure or has_met(function, found),
            parts=parts_of(function.result, params, facts, found),
        )

    def refused(self, call: Call, error: S2SADError, place: Place) -> list[Violation]:
        """What is refused of a call whose callee is."""
        assert isinstance(call.op.function, types.FunctionType)
        return of_call(call.op.name, call.op.function, error, place)

    def causes(self, outside: Outside, facts: Facts, lowered: Lowered, above: Causes) -> list[Violation]:
        """Why a statement of a function may write into what outlives the call: where that is, if it is in a callee.

        ``above`` has what has been found of callees, and None for those that led here.
        """
        place, found, again = lowered.source.place, list[Violation](), False
        for call in outside.calls:
            key, _, _ = self.key_of(call, facts)
            if self.inferred.get(key) is not None:
                said = self.causes_within(key, above)
                again |= said is None
                found += self.refused(call, UnsupportedError(said), place(call.node)) if said else []
            elif key in self.unread and not any(c is call for c in constant_calls(outside.stmt)):
                found += self.refused(call, self.unread[key], place(call.node))
        if found or again:
            return found
        where = outside.calls[0].node if outside.calls else outside.stmt.origin.line
        return [Violation(place(where), outside.what, OWN_ARRAY)]

    def causes_within(self, key: Any, above: Causes) -> list[Violation] | None:
        """Why a callee may write into what outlives the call, found once however many calls lead there."""
        if key not in above:
            above[key] = None
            inferred = self.inferred[key]
            assert inferred is not None
            lowered, facts = inferred
            # What calls itself with other facts each time is met again.
            self.summarising.append(key[0])
            shared = effects(lowered.function, facts, self.call_effects, Context())
            varied = activity(lowered.function, [p.name for p in lowered.function.params], shared).varied
            items = list(written_outside(lowered.function, facts, shared, varied, lowered.resolver))
            said = [v for item in items for v in self.causes(item, facts, lowered, above)]
            self.summarising.pop()
            above[key] = list(UnsupportedError(said).violations)
        return above[key]

    def is_unread(self, outside: Outside, facts: Facts) -> bool:
        """Whether a statement may write into what outlives the call only as far as a callee cannot be read."""
        keys = [self.key_of(call, facts)[0] for call in outside.calls]
        return bool(keys) and all(key in self.unread and self.inferred.get(key) is None for key in keys)

    def changing(self, function: Function, known: Facts) -> frozenset[str]:
        """The names that may hold a container of which something that it holds is replaced."""
        found: set[str] = set()
        calls: list[Call] = []
        for stmt in walk(function.body):
            found.update(n for n in written_unseen(stmt) if known.of[n].kind not in ("scalar", "array", "numeric"))
            if isinstance(stmt, Store) and known.get(stmt.base).kind not in ("scalar", "array", "numeric"):
                found.update(names_in(stmt.base))
            calls += user_calls(stmt)
        if not found and not any(map(call_may_write, calls)):
            return frozenset()
        shared = effects(function, known, self.call_effects)
        for call in calls:
            if call in shared.calls:
                found |= shared.calls[call].names(shared.calls[call].changing)
        return frozenset(m for n in found for m in shared.group.get(n, (n,)))


def _named(owners: Iterable[str]) -> frozenset[str]:
    """The variables of the module, of those that are known, that an object may hold."""
    return frozenset(f"{n.removesuffix(HELD)}{HELD}" for n in owners if n not in ("", UNKNOWN))


def _only_changes(stmt: Stmt, facts: Facts, found: Effects) -> bool:
    """Whether a statement writes no more than which items lists and dicts have."""
    if isinstance(stmt, Store):
        return stmt.op is None and facts.get(stmt.base).kind in ("list", "dict")
    return only_changes(stmt, found.calls)


def _written_outside(lowered: Lowered, facts: Facts, found: Effects) -> tuple[bool, bool]:
    """Whether a function writes what it computes from its arguments, or any array, into what outlives the call."""
    calls = found.calls.values()
    if found.written.isdisjoint(found.owners) and not any(known.outside or known.overwriting for known in calls):
        return False, False
    function, resolver = lowered.function, lowered.resolver
    varied = activity(function, [p.name for p in function.params], found).varied
    found_outside = [written_outside(function, facts, found, v, resolver) for v in (varied, ())]
    outside, overwriting = [any(True for _ in statements) for statements in found_outside]
    return outside, overwriting


def _returned(fact: Fact) -> Fact:
    """The fact about a result of which, in part or whole, no call has any: no call returns."""
    if fact == UNSET_FACT:
        return OPEN
    return fact if fact.items is None else replace(fact, items=tuple([(k, _returned(f)) for k, f in fact.items]))


def _inward(fact: Fact) -> Fact:
    """A caller's fact in terms of a callee: atoms and sizes are marked, so that the callee has none like them."""
    size = fact.size and _NAME.sub(_marked, str(fact.size)) if fact.size != 1 else 1
    if fact.dims is not None:
        dims = tuple([d if d == 1 else _NAME.sub(_marked, str(d)) for d in fact.dims])
        return replace(resized(fact, dims), size=size)
    shape = fact.shape and frozenset(map(_marked_atom, fact.shape))
    items = None if fact.items is None else tuple((k, _inward(f)) for k, f in fact.items)
    return replace(fact, shape=shape, size=size, items=items)


def _outward(fact: Fact) -> Fact:
    """A callee's fact in terms of its caller: of the marked atoms and sizes; the callee's own mean nothing there."""
    size = fact.size
    if size is not None and size != 1:
        size = _NAME.sub(_unmarked, str(size)) if _is_marked(str(size)) else None
    items = None if fact.items is None else tuple((k, _outward(f)) for k, f in fact.items)
    if fact.dims is not None and all(_is_marked(str(d)) for d in fact.dims):
        dims = tuple([d if d == 1 else _NAME.sub(_unmarked, str(d)) for d in fact.dims])
        return replace(resized(fact, dims), size=size, items=items)
    known = fact.shape is not None and fact.dims is None and all(a.name[0] == "^" for a in fact.shape)
    shape = frozenset(Atom(a.name[1:]) for a in fact.shape or ()) if known else None
    return replace(fact, shape=shape, dims=None, size=size, items=items)


def _marked(name: re.Match[str]) -> str:
    return name[0] if name[0][0] == "@" else f"^{name[0]}"


def _unmarked(name: re.Match[str]) -> str:
    return name[0].removeprefix("^")


def _is_marked(size: str) -> bool:
    return all(name[0] in "^@" for name in _NAME.findall(size))


def _marked_atom(atom: Atom) -> Atom:
    return Atom(f"^{atom.name}", frozenset(map(_marked_atom, atom.below)))


def own_terms(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """The facts about the parameters of a function in its own terms."""
    symbols: dict[Dim, Dim] = {}
    return {name: _renamed(fact, name, symbols) for name, fact in facts.items()}


def _renamed(fact: Fact, name: str, symbols: dict[Dim, Dim]) -> Fact:
    """The fact about a parameter in terms of its own: equal sizes stay equal, by whatever expression they are known."""

    def renamed(size: Dim) -> Dim:
        kept = size == 1 or (str(size)[0] == "n" and is_symbol(size))
        return size if kept else symbols.setdefault(size, f"m{len(symbols)}.")

    if fact.dims:
        return resized(fact, tuple(map(renamed, fact.dims)))
    if fact.kind == "scalar" and fact.size is not None:
        return replace(fact, size=renamed(fact.size))
    shape = frozenset({Atom(name)}) if fact.shape and fact.dims is None else fact.shape
    items = None
    if fact.items is not None:
        items = tuple((k, _renamed(f, f"{name}[{k!r}]", symbols)) for k, f in fact.items)
    return replace(fact, shape=shape, items=items)
