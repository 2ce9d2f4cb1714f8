"""The first stages: from a function to its IR and what the analyses say about it."""

from __future__ import annotations

import inspect
import types
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from s2sad.analysis.activity import Activity, activity
from s2sad.analysis.effects import CallEffects, Context, Effects, assumed, effects, sharers
from s2sad.analysis.facts import OPEN, Atom, Fact, describe
from s2sad.analysis.infer import Facts, infer
from s2sad.errors import S2SADError
from s2sad.frontend.lower import Lowered, lower
from s2sad.frontend.resolve import Guard
from s2sad.frontend.source import Source, read_source
from s2sad.ir.check import checked
from s2sad.ir.nodes import (
    Assign,
    Block,
    Build,
    Call,
    Const,
    Evaluate,
    Expr,
    Function,
    Op,
    Origin,
    Param,
    Stmt,
    Unpack,
    Var,
)
from s2sad.ir.show import show
from s2sad.ir.traverse import base, map_stmt, names_in, reads, rename, walk, writes
from s2sad.optimise import remove_dead, take_decided
from s2sad.runtime import apart, as_pair, own

#: How often a recursive function is followed with other facts about its arguments each time.
DEPTH = 3
_AS_PAIR = Op("runtime", "as_pair", as_pair, pure=False)
_APART = Op("runtime", "apart", apart, pure=False)
COPY = Op("method", "copy", np.copy)
OWN = Op("runtime", "own", own)


@dataclass
class Analysed:
    """A lowered function, without what is dead in it, and what the analyses say about it."""

    lowered: Lowered
    function: Function
    facts: Facts
    effects: Effects
    activity: Activity


class Analyser:
    """Lower functions and analyse them, each source once; collects the guards on which that rests."""

    def __init__(self) -> None:
        self.guards: dict[tuple[int, str], Guard] = {}
        self.results: dict[Any, Fact | None] = {}
        self.inferred: dict[Any, tuple[Lowered, Facts]] = {}
        self.summaries: dict[Any, CallEffects | None] = {}
        self.summarising: list[Any] = []
        self.sources: dict[types.FunctionType, Source] = {}
        self.lowereds: dict[Any, Lowered] = {}
        self.depth: dict[types.FunctionType, int] = {}
        #: How each stage reads; written only when somebody asks.
        self.stages: dict[str, Callable[[], str]] = {}

    def source(self, function: types.FunctionType) -> Source:
        """The source of a function."""
        if function not in self.sources:
            self.sources[function] = read_source(function)
        return self.sources[function]

    def lowered(self, function: types.FunctionType, wrt: tuple[str, ...]) -> Lowered:
        """A function in IR, lowered for derivatives with respect to ``wrt``."""
        key = (function, wrt)
        if key not in self.lowereds:
            self.lowereds[key] = lowered = lower(self.source(function), wrt)
            for guard in lowered.guards:
                self.guard(guard)
            self.guard(Guard(function, "__code__", function.__code__))
            for name in ("__defaults__", "__kwdefaults__"):
                if getattr(function, name) is not None:
                    self.guard(Guard(function, name, getattr(function, name)))
        return self.lowereds[key]

    def guard(self, guard: Guard) -> None:
        """Note a guard."""
        self.guards.setdefault((id(guard.space), guard.name), guard)

    def analysed(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        facts: Mapping[str, Fact],
        has_aux: bool = False,
        context: Context | None = None,
        display: bool = False,
    ) -> Analysed:
        """A function with what is known of it.

        One with a ``context`` is called by another, which sees what it writes.  With ``display``
        the result may be a tuple of several.
        """
        lowered = self.lowered(function, wrt)
        ir = self.unpacked(with_display(lowered.function) if display or has_aux else lowered.function)
        if has_aux and isinstance(ir.result, Build) and len(ir.result.items) == 2:
            loss, aux = ir.result.items
            origin = lowered.function.body[-1].origin
            ir = replace(ir, body=(*ir.body, Assign("~loss.1", loss, origin), Assign("~aux.1", aux, origin)))
        elif has_aux:
            ir = replace(ir, body=(*ir.body, Unpack(("~loss.1", "~aux.1"), ir.result)))
        given = {p.public: describe(p.default.value, p.public) for p in ir.params if p.default is not None}
        facts = {**given, **facts}
        checked(ir, "lower")
        ir, known = self.inferred_with(lowered, ir, facts)
        for guard in lowered.resolver.guards.values():
            self.guard(guard)
        if has_aux and not _is_pair(known.get(ir.result)) and isinstance(ir.body[-1], Unpack):
            *body, pair = ir.body
            ir = replace(ir, body=(*body, Assign("~pair.1", Call(_AS_PAIR, (ir.result,))), pair))
        # A user may write into the arguments and the result of a function before calling its pullback.
        beyond = frozenset({"return", *(p.public for p in ir.params)}) if display and context is None else frozenset()
        shared = effects(ir, known, self.call_effects, context, beyond)
        kept = ["~loss.1", "~aux.1"] if has_aux else []
        written = [p for p in ir.params if p.name in shared.written and known.of[p.name].kind != "scalar"]
        if context is not None:
            # The caller sees what a callee writes.
            kept += [p.name for p in written]
        elif written:
            copied = [p for p in written if p.name not in shared.private]
            ir = _with_copies(ir, copied, known)
            others = [p for p in ir.params if p not in written and known.of[p.name].kind != "scalar"]
            if others or len(written) > 1:
                ir = _apart(ir, written, others, lowered.source)
            ir, known = self.inferred_with(lowered, ir, facts)
            shared = effects(ir, known, self.call_effects, overwritten=beyond)
        kept += sorted(shared.written & shared.module)
        ir = remove_dead(ir, shared.objects(), kept)
        roots = [p.name for p in ir.params if p.public in wrt]
        seen: Expr = Build("tuple", (ir.result, *(Var(p.name) for p in (written if context is not None else ()))))
        found = activity(replace(ir, result=Var("~loss.1") if has_aux else seen), roots, shared)
        if "ir" not in self.stages:
            self.stages["ir"] = lambda: show(ir)
            self.stages["activity"] = lambda: show(ir, lambda s: _activity_of(s, found))
        present = {n for s in walk(ir.body) for n in writes(s)}
        lowered = replace(lowered, unbound=lowered.unbound & present)
        return Analysed(lowered, ir, known, shared, found)

    def inferred_with(self, lowered: Lowered, ir: Function, facts: Mapping[str, Fact]) -> tuple[Function, Facts]:
        """A function without the branches that the facts about its parameters decide, and the facts about the rest."""
        while True:
            known = infer(ir, facts, lambda text: self.global_fact(lowered, text), self.user_fact)
            taken = take_decided(ir, known)
            if taken == ir:
                return ir, known
            ir = taken

    def global_fact(self, lowered: Lowered, text: str) -> Fact:
        """What is known of a global name or attribute."""
        node = _parsed(text)
        found = lowered.resolver.fact(node, lambda value: _stable(describe(value, text)))
        return found if isinstance(found, Fact) else OPEN

    def bind(self, call: Call) -> dict[str, Expr]:
        """Map the parameters of the user's function to the arguments of ``call``."""
        signature = inspect.signature(call.op.function)  # type: ignore[arg-type]
        return dict(signature.bind_partial(*call.args, **dict(call.kwargs)).arguments)

    def bound_facts(self, call: Call, fact: Callable[[Expr], Fact]) -> dict[str, Fact] | None:
        """What is known of the arguments of a call, by parameter; None where they do not fit."""
        try:
            return {name: fact(value) for name, value in self.bind(call).items()}
        except TypeError:
            return None

    def user_fact(self, call: Call, fact: Callable[[Expr], Fact]) -> Fact:
        """What is known of the result of a call."""
        function = call.op.function
        assert isinstance(function, types.FunctionType)
        bound = self.bound_facts(call, fact)
        if bound is None:
            return OPEN
        key = (function, tuple(bound.items()))
        if key not in self.results:
            if self.depth.get(function, 0) >= DEPTH:
                return OPEN
            self.depth[function] = self.depth.get(function, 0) + 1
            self.results[key] = None
            try:
                lowered = self.lowered(function, tuple(bound))
            except S2SADError:
                self.depth[function] -= 1
                return OPEN
            defaults = {p.public: describe(p.default.value, p.public) for p in lowered.function.params if p.default}
            whole = self.unpacked(with_display(lowered.function))
            body, known = self.inferred_with(lowered, whole, {**defaults, **bound})
            self.inferred[key] = replace(lowered, function=body), known
            given = frozenset(a for f in bound.values() if f.shape for a in f.shape)
            self.depth[function] -= 1
            self.results[key] = _outward(known.get(body.result), given)
        return self.results[key] or OPEN

    def call_effects(self, call: Call, facts: Facts) -> CallEffects:
        """What a call does to the objects that it is given."""
        bound = self.bind(call)
        fact_of = self.bound_facts(call, facts.get)
        assert fact_of is not None
        key = (call.op.function, tuple(fact_of.items()))
        if key not in self.summaries:
            self.user_fact(call, facts.get)
            self.summaries[key] = None  # until it is known: for a function that calls itself
            if key in self.inferred and self.summarising.count(call.op.function) < DEPTH:
                lowered, known = self.inferred[key]
                self.summarising.append(call.op.function)
                self.summaries[key] = self.summary(lowered.function, known)
                self.summarising.pop()
        found = self.summaries[key]
        if found is None:
            return assumed(call, bound)
        # What is not given is a default, which the module holds.
        module = found.module or not found.shared <= bound.keys()
        given = frozenset(bound)
        linked = tuple(params & given for params in found.linked)
        return CallEffects(bound, found.written & given, found.shared & given, linked, module)

    def summary(self, function: Function, facts: Facts) -> CallEffects:
        """What a function does to the objects that it is given."""
        found = effects(function, facts, self.call_effects, Context())
        params = {p.name: p.public for p in function.params if facts.of[p.name].kind != "scalar"}
        groups = {found.group[n] for n in params if n in found.group}
        linked = [frozenset(params[n] for n in group if n in params) for group in groups]
        of_result = [n for n in sharers(function.result, facts, found.calls) if not n.startswith("<")]
        shared = {params[m] for n in of_result for m in found.group.get(n, (n,)) if m in params}
        return CallEffects(
            {},
            frozenset(params[n] for n in params if n in found.written),
            frozenset(shared),
            tuple([publics for publics in linked if len(publics) > 1]),
            any(n in found.module for n in of_result),
        )

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


def with_display(function: Function) -> Function:
    """``function`` with what it assigns last and returns, a name, a tuple or None, as its result."""
    last = function.body[-1] if function.body else None
    if not isinstance(last, Assign) or function.result != Var(last.target):
        return function
    shown = isinstance(last.value, Build) and last.value.kind == "tuple"
    if shown or isinstance(last.value, Var) or last.value == Const(None):
        return replace(function, body=function.body[:-1], result=last.value)
    return function


def _apart(function: Function, written: list[Param], others: list[Param], source: Source) -> Function:
    """``function`` with a test that none of the arguments that it writes shares memory with another."""
    held = Build("tuple", tuple(Var(p.name) for p in written))
    test = Call(_APART, (held if len(written) > 1 else Var(written[0].name), *(Var(p.name) for p in others)))
    line = source.node.lineno
    return replace(function, body=(Evaluate(test, Origin(line, source.line(line).strip())), *function.body))


def _with_copies(function: Function, params: list[Param], facts: Facts) -> Function:
    """``function`` working on copies of the arguments that it writes."""
    names: dict[str, Expr] = {}
    start: list[Stmt] = []
    for param in params:
        copy = f"{base(param.name)}.0"
        op = COPY if facts.of[param.name].kind == "array" else OWN
        start.append(Assign(copy, Call(op, (Var(param.name),))))
        names[param.name] = Var(copy)

    def renamed(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple([map_stmt(s, lambda e: rename(e, names), renamed) for s in block])

    return replace(function, body=(*start, *renamed(function.body)), result=rename(function.result, names))


def _activity_of(stmt: Stmt, found: Activity) -> str:
    names = [n for n in writes(stmt) if n in found.active]
    return f"active: {', '.join(names)}" if names else ""


def _is_pair(fact: Fact) -> bool:
    return fact.kind == "tuple" and fact.items is not None and len(fact.items) == 2


def _parsed(text: str) -> Any:
    return gast.parse(text, mode="eval").body


def _stable(fact: Fact) -> Fact:
    """A fact that does not depend on how long a container is."""
    return fact if fact.kind in ("scalar", "array") else replace(fact, items=None)


def _outward(fact: Fact, given: frozenset[Atom]) -> Fact:
    """A callee's fact in terms of the caller's atoms."""
    shape = fact.shape if fact.shape is not None and (fact.shape <= given or fact.dims is not None) else None
    items = None
    if fact.items is not None:
        items = tuple((k, _outward(f, given)) for k, f in fact.items)
    return replace(fact, shape=shape, items=items)
