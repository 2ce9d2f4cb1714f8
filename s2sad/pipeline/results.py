"""Calls of functions that have source: the types of their results."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from s2sad.analysis.infer import Facts
from s2sad.analysis.summaries import NO_RESULT, CallEffects, bound_operands
from s2sad.errors import S2SADError, UnsupportedError
from s2sad.frontend.emitted import DERIVATIVE
from s2sad.frontend.lower import Lowered
from s2sad.frontend.met import roots_of_called
from s2sad.ir.nodes import Call, Expr, Function
from s2sad.ir.types import OPEN, UNSET_FACT, Fact, Shape, owners_of, reach_of, some_item, timeless
from s2sad.optimise.computing import only_computes
from s2sad.pipeline.fixed_points import FixedPoints
from s2sad.pipeline.literals import Literals
from s2sad.pipeline.sources import Guards, Sources
from s2sad.pipeline.terms import inward, outward, own_terms, unmarked
from s2sad.pipeline.typed import Types

#: How often a recursive function is followed with other facts about its arguments each time.
DEPTH = 3
#: How often what is known of its result is improved upon, at most.
_ITERATIONS = 5


@dataclass
class Found:
    """What has been found of functions, each by the types of its arguments."""

    results: dict[Any, Fact] = field(default_factory=dict)
    #: What a function is in IR; None if it cannot be read.
    inferred: dict[Any, tuple[Lowered, Facts] | None] = field(default_factory=dict)
    #: Why it cannot be read.
    unread: dict[Any, S2SADError] = field(default_factory=dict)
    summaries: dict[Any, CallEffects | None] = field(default_factory=dict)
    #: What functions do of which the types are being found, as far as it is known; None if nothing is.
    pending: dict[Any, CallEffects | None] = field(default_factory=dict)
    #: The functions of which results and summaries are being found, as often as they are.
    depth: dict[types.FunctionType, int] = field(default_factory=dict)
    summarising: list[Any] = field(default_factory=list)
    #: Which of results, with what is inferred, and of summaries rest on which: by ``key`` and by ``key, params``.
    points: FixedPoints = field(default_factory=FixedPoints)

    def forget(self, entries: list[Any], start: int) -> None:
        """Remove entries that were found since ``start``."""
        self.points.forget(entries, start)
        for entry in entries:
            for cache in (self.results, self.inferred, self.summaries):
                cache.pop(entry, None)


class Results:
    """Finds the types of results, each for the types of the arguments."""

    def __init__(self, sources: Sources, guards: Guards, typing: Types) -> None:
        self.sources, self.guards, self.types = sources, guards, typing
        self.found = Found()
        self.literals = Literals(sources.read)
        #: Of derivatives with facts about their arguments, the functions that run.
        self.concretes: dict[Any, types.FunctionType] = {}

    def bound_facts(self, call: Call, fact: Callable[[Expr], Fact]) -> dict[str, Fact] | None:
        """What is known of arguments by parameter, with literals that the callee tests; None where they do not fit."""
        try:
            bound = bound_operands(call)
        except TypeError:
            return None
        facts = {name: fact(value) for name, value in bound.items()}
        self.literals.add_to(facts, call.op.function, bound)
        return facts

    def user_fact(self, call: Call, fact: Callable[[Expr], Fact]) -> Fact:
        """The type of the result of a call."""
        function = call.op.function
        assert isinstance(function, types.FunctionType)
        bound = self.bound_facts(call, fact)
        return OPEN if bound is None else self.result(function, bound)

    def result(self, function: types.FunctionType, bound: Mapping[str, Fact]) -> Fact:
        """The type of the result of a function, given those of its arguments."""
        found = self.found
        if UNSET_FACT in bound.values():
            # No call has got there yet.
            return UNSET_FACT
        # What is specialised for other arguments at each depth is one function all the same.
        whole = self.sources.first(function)
        depth = found.depth.get(whole, 0)
        facts, names = inward(_widened(bound, depth))
        function = self.concrete(function, facts)
        key = (function, tuple(facts.items()))
        if key not in found.results:
            if depth > DEPTH:
                return OPEN
            found.depth[whole] = depth + 1
            found.results[key] = self.fixed_result(key, function, facts)
            found.depth[whole] = depth
        found.points.ask(key)
        return unmarked(found.results[key], names)

    def fixed_result(self, key: Any, function: types.FunctionType, facts: Mapping[str, Fact]) -> Fact:
        """The type of the result of a function that may call itself: what follows from itself, and is the least.

        Kleene's iteration begins with a result that no call has yet, and without effects (Cousot and Cousot 1977).
        """
        result, found = UNSET_FACT, self.found
        effects: CallEffects | None = NO_RESULT
        start = found.points.begin(key)
        for rest in reversed(range(_ITERATIONS)):
            found.results[key], found.pending[key] = result, effects
            with found.points.round() as asked:
                try:
                    lowered, body, known = self.typed_whole(function, facts)
                    new = outward(known.get(body.result))
                    found.inferred[key] = replace(lowered, function=body), known
                except S2SADError as error:
                    new, found.inferred[key], found.unread[key] = OPEN, None, error
                if new == OPEN:
                    new = outward(self.constant_result(function, facts))
                does = effects
                if key in asked and effects is not None:
                    inferred = found.inferred[key]
                    does = None if inferred is None else self.types.calls.summary(*inferred, None)
            done = key not in asked or ((new == result or result == OPEN) and does == effects)
            # What has been found on the way may rest on what is not so; what calls do, on what was not known yet.
            stale = found.points.resting_on(key, start)
            found.forget([entry for entry in stale if not done or entry in found.summaries], start)
            if done:
                found.points.end(key, start, asked)
                del found.pending[key]
                return _returned(new)
            found.inferred.pop(key, None)
            if new.kind == result.kind == "list" and new.items is not None:
                new = Fact("list", each=some_item(new))
            result, effects = (new, does) if rest > 1 else (OPEN, None)
        found.points.end(key, start, asked)
        del found.pending[key]
        return OPEN

    def typed_whole(self, function: types.FunctionType, facts: Mapping[str, Fact]) -> tuple[Lowered, Function, Facts]:
        """A function in IR, for all its arguments; without those that it calls, or chooses that by, if refused."""
        wrt = tuple([name for name, fact in facts.items() if fact.kind not in ("none", "other")])
        try:
            return self.types.typed(function, wrt, facts, True)
        except UnsupportedError:
            called = roots_of_called(self.sources.source(function).node)
            if called.isdisjoint(wrt):
                raise
            return self.types.typed(function, tuple([name for name in wrt if name not in called]), facts, True)

    def constant_result(self, function: types.FunctionType, facts: Mapping[str, Fact]) -> Fact:
        """The type of a result where integers are what they mostly are: sizes, positions, constants."""
        others = tuple([n for n, f in facts.items() if f.kind != "scalar" or f.precision != "weak"])
        if len(others) == len(facts):
            return OPEN
        try:
            _, body, known = self.types.typed(function, others, facts, True)
        except S2SADError:
            return OPEN
        return known.get(body.result)

    def concrete(self, function: types.FunctionType, facts: Mapping[str, Fact]) -> types.FunctionType:
        """The function that runs for arguments of some types: without untaken branches, of a derivative its text."""
        derivative = function.__dict__.get(DERIVATIVE)
        if derivative is None:
            return self.sources.pruned(function, facts)
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
                    self.guards.add(guard)
                made = self.concretes[key] = compiled.functions[compiled.names[0]]
                self.sources.derived[made] = function
        return self.concretes[key]

    def computes(self, call: Call, facts: Facts, inside: frozenset[Any] = frozenset()) -> bool:
        """Whether the callee does no more than to compute real numbers from real numbers; not of recursive ones."""
        function = call.op.function
        assert isinstance(function, types.FunctionType)
        if self.bound_facts(call, facts.get) is None or self.found.depth.get(self.sources.whole(function), 0):
            return False
        key, _, _ = self.key_of(call, facts)
        found = self.found.inferred.get(key)
        if found is None or key in inside:
            return False
        self.found.points.ask(key)
        lowered, known = found
        return only_computes(lowered.function.body, known, lambda inner: self.computes(inner, known, inside | {key}))

    def key_of(self, call: Call, facts: Facts) -> tuple[Any, dict[str, Fact], int]:
        """Under what the callee of a call is known, the types of its arguments, and how deep it is in itself."""
        fact_of = self.bound_facts(call, facts.get)
        assert fact_of is not None
        function = call.op.function
        assert isinstance(function, types.FunctionType)
        whole = self.sources.whole(function)
        depth = max(self.found.summarising.count(whole), self.found.depth.get(whole, 0))
        fact_of, _ = inward(_widened(fact_of, depth))
        return (self.concrete(function, fact_of), tuple(fact_of.items())), fact_of, depth


def rough(fact: Fact, shape: Shape | None) -> Fact:
    """The fact without what may differ from call to call of a function that calls itself; ``shape`` is an array's."""
    if fact.kind == "scalar":
        return timeless(fact)
    if fact.kind == "list" and fact.items != () and (of := some_item(fact)) is not None and of.numeric:
        return Fact("list", each=rough(of, None))
    if fact.kind != "array" or not fact.ndim:
        return OPEN.but(owners=owners_of(fact), reach=reach_of(fact))
    return Fact("array", shape, fact.ndim, fact.real, boolean=fact.boolean, precision=fact.precision, boxed=fact.boxed)


def _widened(facts: Mapping[str, Fact], depth: int) -> dict[str, Fact]:
    """The types of the arguments of a call without what differs from one call of a function that calls itself to the
    next, at the latest ``DEPTH`` calls down: numbers are others each time (``i - 1``), arrays may be as large."""
    if depth >= DEPTH:
        return {name: rough(f, None) for name, f in facts.items()}
    return {n: replace(f, size=None) if depth and f.kind == "scalar" else f for n, f in facts.items()}


def _returned(fact: Fact) -> Fact:
    """The type of a result of which, in part or whole, no call has any: no call returns."""
    if fact == UNSET_FACT:
        return OPEN
    return fact if fact.items is None else replace(fact, items=tuple([(k, _returned(f)) for k, f in fact.items]))
