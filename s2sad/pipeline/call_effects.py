"""Calls of functions that have source: their effects on what they are given and on the module."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

import numpy as np

from s2sad.analysis.activity import Flows, activity, written_outside
from s2sad.analysis.containers import made
from s2sad.analysis.effects import Effects, effects, effects_of_calls, held_by_module
from s2sad.analysis.infer import Facts, Put
from s2sad.analysis.results import are_entangled, bound_part, parts_of
from s2sad.analysis.sharers import HELD, sharers
from s2sad.analysis.summaries import (
    NO_RESULT,
    CallEffects,
    Context,
    Summaries,
    assumed,
    bound_operands,
    call_may_write,
    only_changes,
    user_calls,
    written_unseen,
)
from s2sad.analysis.versions import appends, appends_alike, changes, puts_number
from s2sad.differentiate.stores import CONTAINERS
from s2sad.errors import S2SADError
from s2sad.frontend.holding import UNKNOWN
from s2sad.frontend.lower import Lowered
from s2sad.frontend.parameters import default_values
from s2sad.ir.nodes import Assign, Call, Const, Expr, Function, Op, Stmt, Store, Var
from s2sad.ir.traverse import base, names_in, walk
from s2sad.ir.types import UNSET_FACT, Fact, some_item, timeless
from s2sad.pipeline.met import has_met, reached, with_checked_results
from s2sad.pipeline.results import DEPTH, Results

#: How often what is known of a recursive function's effects is improved upon, at most.
_ROUNDS = 30


#: Numbers and texts, and what is a dtype as well.
_PLAIN = (bool, int, float, complex, str, bytes, types.NoneType)
_OfCalls = Callable[[], Mapping[Call, CallEffects]]


class EffectsOfCalls:
    """Finds what calls do, each callee once for the types of its arguments and those that carry derivatives."""

    def __init__(self, results: Results) -> None:
        self.results, self.found = results, results.found

    def call_effects(self, call: Call, facts: Facts, varied: Set[str] = frozenset()) -> CallEffects:
        """What a call does to the objects that it is given; the names that are ``varied`` may carry derivatives."""
        bound = bound_operands(call)
        key, fact_of, depth = self.results.key_of(call, facts)
        params = frozenset(p for p, v in bound.items() if not varied.isdisjoint(names_in(v)))
        function, summaries = call.op.function, self.found.summaries
        assert isinstance(function, types.FunctionType)
        if any(facts.get(value) == UNSET_FACT for value in bound.values()):
            # No call has got there yet.
            return _of_call(NO_RESULT, call, bound, params)
        if key in self.found.pending:
            self.found.points.ask(key)
            known = self.found.pending[key]
            if known is None or known.met or known.partial:
                return assumed(call, bound)
            return _of_call(known, call, bound, params)
        if (key, None) not in summaries and depth <= DEPTH:
            self.results.result(function, fact_of)
            if self.found.inferred.get(key) is not None:
                self.summarise(function, key, None)
        self.found.points.ask(key)
        self.found.points.ask((key, None))
        found = summaries.get((key, None))
        # What is refused where all arguments carry derivatives may be read where few do, and the others are numbers: of
        # objects that carry none it is not known whether they are kept.
        unread = found is None and key in self.found.unread
        partly = unread and all(_is_plain(fact_of[p]) for p in bound.keys() - params)
        if partly or (found is not None and (found.met or found.partial)):
            if (key, params) not in summaries:
                self.summarise(function, key, params)
            self.found.points.ask((key, params))
            found = summaries[key, params]
        if found is None:
            return replace(assumed(call, bound), partial=unread)
        return replace(_of_call(found, call, bound, params), partial=unread or found.partial)

    def summaries_of(self, function: Function, roots: Iterable[str]) -> Summaries:
        """The effects of the calls in a function where the names ``roots`` carry derivatives."""
        varied = reached(function, roots)
        return lambda call, facts: self.call_effects(call, facts, varied)

    def summarise(self, function: types.FunctionType, key: Any, params: frozenset[str] | None) -> None:
        """Find what a function does; with ``params`` where these may carry derivatives."""
        self.found.summarising.append(self.results.sources.whole(function))
        self.found.summaries[key, params] = self.fixed_summary(key, params)
        self.found.summarising.pop()

    def fixed_summary(self, key: Any, params: frozenset[str] | None) -> CallEffects | None:
        """What a function does that may call itself: the least that follows from itself; None if that is not found."""
        summaries, points, entry = self.found.summaries, self.found.points, (key, params)
        start = points.begin(entry)
        with points.round() as asked:
            # What it does when it calls itself is not asked for once more to find its types.
            summaries[entry] = None
            inferred = self.found.inferred[key] if params is None else self.typed(key, params)
        new = None
        found = replace(NO_RESULT, met=params is not None)
        for _ in range(_ROUNDS if inferred is not None else 0):
            assert inferred is not None
            summaries[entry] = found
            with points.round() as again:
                new = self.summary(*inferred, params)
            asked |= again
            if new == found or entry not in again:
                break
            self.found.forget(points.resting_on(entry, start), start)
            found, new = new, None
        points.end(entry, start, asked)
        return new

    def typed(self, key: Any, params: frozenset[str]) -> tuple[Lowered, Facts] | None:
        """A function for derivatives with respect to ``params``, and its types; None if it is refused."""
        function, facts = key
        try:
            lowered, body, known = self.results.types.typed(function, tuple(sorted(params)), dict(facts), True)
        except S2SADError:
            return None
        return replace(lowered, function=body), known

    def summary(self, lowered: Lowered, facts: Facts, varied: frozenset[str] | None) -> CallEffects:
        """What a function does to the objects that it is given, where the parameters ``varied`` carry derivatives."""
        function = lowered.function
        roots = [p.name for p in function.params if varied is None or p.public in varied]
        summarise = self.summaries_of(function, roots)
        function, found = with_checked_results(function, lambda f: effects(f, facts, summarise, Context()))
        params = {p.name: p.public for p in function.params if facts.of[p.name].kind not in ("scalar", "none")}
        changing, puts_of = self.contents(function, facts)
        replaced = changing | found.versions.keys()
        placed = [(params[n], puts) for n, puts in puts_of.items() if n in params]
        groups = {found.group[n] for n in params if n in found.group}
        linked = [frozenset(params[n] for n in group if n in params) for group in groups]
        of_result = [n for n in sharers(function.result, facts, found.calls) if not n.startswith("<")]
        shared = {params[m] for n in of_result for m in found.group.get(n, (n,)) if m in params}
        kept = {params[n] for n in params if n in found.kept}
        through = _origins(Flows(function, [p.name for p in function.params], found, facts), function)
        elsewhere = shared.union(kept, *[publics for publics in linked if len(publics) > 1])
        return CallEffects(
            {},
            frozenset(params[n] for n in params if n in found.modified),
            frozenset(shared),
            tuple([publics for publics in linked if len(publics) > 1]),
            held_by_module(function.result, facts, found),
            found.reshapes,
            frozenset(params[n] for n in replaced if n in params),
            are_entangled(function.result, facts, found),
            *_written_outside(lowered, facts, found),
            any(map(found.alters, walk(function.body))),
            frozenset(kept),
            tuple(
                [(params[n], put) for n in params if n in found.modified and (put := _named(found.owners.get(n, ())))]
            ),
            any(found.written_openly(s) and not _only_changes(s, facts, found) for s in walk(function.body)),
            lowered.unsure or has_met(function, found),
            any(known.partial for known in found.calls.values()),
            parts=parts_of(function.result, params, facts, found, through),
            placed=tuple(placed),
            stopping=frozenset(params[n] for n in params if n in found.stops and params[n] in elsewhere),
            makes=made(function, facts, found.calls),
            through=through(function.result),
        )

    def contents(self, function: Function, known: Facts) -> tuple[frozenset[str], dict[str, frozenset[Put]]]:
        """What becomes of the items of containers.

        The names that may hold one of which something that it holds is replaced, and what is put into lists of numbers
        or arrays that names may hold: in another's place, or after the last.
        """
        # Most functions put nothing into lists and dicts: then what shares objects does not matter.
        calls = functools.cache(lambda: effects_of_calls(function, known, self.call_effects))
        shared = functools.cache(lambda: effects(function, known, calls=calls()))
        return _changing(function, known, calls, shared), _put(function, known, calls, shared)

    def held(self, function: Function, known: Facts) -> frozenset[str]:
        """The names of lists and dicts that other variables and containers may hold."""
        shared = effects(function, known, self.call_effects)
        of_containers = [n for n in known.of if known.of[n].kind in ("list", "dict")]
        # What changes a list otherwise has no place in the caller's, and nothing runs once the result has one.
        changed = {base(target) for target, _ in changes(function.body)}
        of_caller = {base(p.name) for p in function.params} - changed
        ends = {base(n) for n in names_in(function.result)}
        others = (
            n
            for n in of_containers
            if any(base(m) not in {base(n), *(ends if base(n) in changed else ())} for m in shared.group.get(n, ()))
        )
        return frozenset((*others, *(n for n in of_containers if base(n) in of_caller)))


def _of_call(found: CallEffects, call: Call, bound: Mapping[str, Expr], varied: frozenset[str]) -> CallEffects:
    """What a function does, in terms of the arguments of a call, of which those that are ``varied`` may carry
    derivatives."""
    function = call.op.function
    assert isinstance(function, types.FunctionType)
    # What is not given is a default, which the module holds; nothing writes into numbers, texts and dtypes.
    plain = {p for p, default in default_values(function).items() if _is_never_written(default.value)}
    module = found.module | {f"{call.op.name}.{p}" for p in found.shared - bound.keys() - plain}
    given = frozenset(bound)
    default = not found.written <= given
    linked = tuple(params & given for params in found.linked)
    return replace(
        found,
        bound=bound,
        varied=varied,
        written=found.written & given,
        shared=found.shared & given,
        linked=linked,
        module=module,
        changing=found.changing & given,
        kept=found.kept & given,
        puts=tuple([(param, owners) for param, owners in found.puts if param in given]),
        outside=found.outside or default,
        overwriting=found.overwriting or default,
        placed=tuple([(param, puts) for param, puts in found.placed if param in given]),
        stopping=found.stopping & given,
        parts=found.parts and tuple([bound_part(part, call.op.name, given, plain) for part in found.parts]),
    )


def _origins(flows: Flows, function: Function) -> Callable[[Expr], frozenset[str]]:
    """A function that gives the parameters, by their public names, from which an expression takes a derivative."""

    def origins(value: Expr) -> frozenset[str]:
        names = flows.to_value(value)
        return frozenset([p.public for p in function.params if p.name in names])

    return origins


def _changing(function: Function, known: Facts, effects_of: _OfCalls, shared: Callable[[], Effects]) -> frozenset[str]:
    """The names that may hold a container of which something that it holds is replaced."""
    found: set[str] = set()
    calls: list[Call] = []
    made = {s.target: s.value for s in walk(function.body) if isinstance(s, Assign)}
    for stmt in walk(function.body):
        found.update(n for n in written_unseen(stmt) if known.of[n].kind not in ("scalar", "array", "numeric"))
        whole = known.get(stmt.base) if isinstance(stmt, Store) else UNSET_FACT
        if isinstance(stmt, Store) and whole != UNSET_FACT and whole.kind not in ("scalar", "array", "numeric"):
            alike = puts_number(stmt, known.get) or appends_alike(stmt, known.get)
            if not alike and not _is_of_none(stmt.value, made, known):
                found.update(names_in(stmt.base))
        calls += user_calls(stmt)
    if not found and not any(map(call_may_write, calls)):
        return frozenset()
    for call in calls:
        if call in effects_of():
            found |= effects_of()[call].names(effects_of()[call].changing)
    return frozenset(m for n in found for m in shared().group.get(n, (n,)))


def _put(
    function: Function, known: Facts, effects_of: _OfCalls, shared: Callable[[], Effects]
) -> dict[str, frozenset[Put]]:
    """What is put into lists of numbers or arrays that names may hold: in another's place, or after the last."""
    fact = known.get
    stores = [s for s in walk(function.body) if isinstance(s, Store)]
    stores = [s for s in stores if puts_number(s, fact) or appends_alike(s, fact)]
    calls = [call for stmt in walk(function.body) for call in user_calls(stmt) if call_may_write(call)]
    if not stores and not calls:
        return {}
    made = {s.target: s.value for s in walk(function.body) if isinstance(s, Assign)}
    found: dict[str, set[Put]] = {}

    def note(names: Iterable[str], item: Fact, grows: bool, keyed: str | None) -> None:
        group = {m for n in names for m in shared().group.get(n, (n,))}
        group = {n for n in group if n in known.of and not _is_no_container(n, made, known)}
        outer = {base(n) for n in group if (held := some_item(known.of[n])) is not None and held.kind in CONTAINERS}
        key = _key(made.get(keyed)) if keyed is not None and _is_keyed(group, made) else None
        for name in group:
            found.setdefault(name, set()).add(Put(item, grows, key, base(name) in outer))

    for stmt in stores:
        keyed = stmt.base.name if isinstance(stmt.base, Var) else None
        note(names_in(stmt.base), timeless(fact(stmt.value)), appends(stmt), keyed)
    for call in calls:
        if call in effects_of():
            for param, puts in effects_of()[call].placed:
                for put in puts:
                    note(effects_of()[call].names((param,)), put.fact, put.grows, None)
    return {name: frozenset(puts) for name, puts in found.items()}


def _is_no_container(name: str, made: Mapping[str, Expr], known: Facts) -> bool:
    """Whether a name surely stands for no container: for a number or array, or an item of what has none yet."""
    return known.of[name].kind in ("scalar", "array", "numeric") or _is_of_none(Var(name), made, known)


def _is_of_none(value: Expr, made: Mapping[str, Expr], known: Facts) -> bool:
    """Whether a value is made of an item of a list that has none, as far as is known by now."""
    if isinstance(value, Var):
        item = made.get(value.name)
        return isinstance(item, Call) and _is_of_none(item, made, known)
    if not isinstance(value, Call):
        return False
    if value.op.kind == "index" and known.get(value.args[0]).items == ():
        return True
    return value.op.kind in ("index", "operator", "function") and any(_is_of_none(a, made, known) for a in value.args)


def _key(item: Expr | None) -> str | int | None:
    """The key by which an item of a dict or list is read, if it is written out."""
    match item:
        case Call(op=Op(kind="index"), args=(Var(), Const(value=str() as key))):
            return key
        case Call(op=Op(kind="index"), args=(Var(), Const(value=int() as place))) if place >= 0:
            return place
    return None


def _is_keyed(group: Iterable[str], made: Mapping[str, Expr]) -> bool:
    """Whether what a variable holds is reached by nothing but its keys."""
    inside = {n for n in group if n.startswith("~") and _key(made.get(n)) is not None}
    return len({base(n) for n in group if n not in inside}) == 1


def _is_plain(fact: Fact) -> bool:
    """Whether a value surely is a number, None or a text."""
    return fact.kind in ("scalar", "none") or isinstance(fact.value, str)


def _is_never_written(value: Any) -> bool:
    """Whether nothing writes into a default value, nor into what it leads to."""
    if isinstance(value, type):
        return value in _PLAIN or (issubclass(value, np.generic) and value.__module__ == "numpy")
    return type(value) in _PLAIN or isinstance(value, np.generic | np.dtype)


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
    function = lowered.function
    varied = activity(function, [p.name for p in function.params], found, facts).varied
    found_outside = [written_outside(function, facts, found, v, lowered) for v in (varied, ())]
    outside, overwriting = [any(True for _ in statements) for statements in found_outside]
    return outside, overwriting
