"""The first stages: from a function to its IR and what the analyses say about it."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from s2sad.analysis.activity import Activity, activity
from s2sad.analysis.effects import Effects, effects
from s2sad.analysis.facts import OPEN, Atom, Fact, describe
from s2sad.analysis.infer import Facts, infer
from s2sad.errors import S2SADError
from s2sad.frontend.lower import Lowered, lower
from s2sad.frontend.resolve import Guard
from s2sad.frontend.source import Source, read_source
from s2sad.ir.check import checked
from s2sad.ir.nodes import Assign, Call, Expr, Function, Op, Param, Stmt, Unpack, Var
from s2sad.ir.show import show
from s2sad.ir.traverse import base, map_stmt, rename, walk, writes
from s2sad.optimise import remove_dead
from s2sad.runtime import as_pair, own

#: How often a recursive function is followed with other facts about its arguments each time.
DEPTH = 3
_AS_PAIR = Op("runtime", "as_pair", as_pair, pure=False)
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
        self.sources: dict[types.FunctionType, Source] = {}
        self.lowereds: dict[Any, Lowered] = {}
        self.depth: dict[types.FunctionType, int] = {}
        self.stages: dict[str, str] = {}

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
        callee: bool = False,
    ) -> Analysed:
        """A function with what is known of it; a ``callee`` may not copy what it writes."""
        lowered = self.lowered(function, wrt)
        ir = lowered.function
        if has_aux:
            ir = replace(ir, body=(*ir.body, Unpack(("~loss.1", "~aux.1"), ir.result)))
        given = {p.public: describe(p.default.value, p.public) for p in ir.params if p.default is not None}
        facts = {**given, **facts}
        checked(ir, "lower")
        known = infer(ir, facts, lambda text: self.global_fact(lowered, text), self.user_fact)
        for guard in lowered.resolver.guards.values():
            self.guard(guard)
        if has_aux and not _is_pair(known.get(ir.result)):
            *body, pair = ir.body
            ir = replace(ir, body=(*body, Assign("~pair.1", Call(_AS_PAIR, (ir.result,))), pair))
        shared = effects(ir, known)
        copied = [
            p for p in ir.params if p.name in shared.written - shared.private and known.of[p.name].kind != "scalar"
        ]
        if copied and not callee:
            ir = _with_copies(ir, copied, known)
            known = infer(ir, facts, lambda text: self.global_fact(lowered, text), self.user_fact)
            shared = effects(ir, known)
        ir = remove_dead(ir, shared.objects(), ("~loss.1",) if has_aux else ())
        roots = [p.name for p in ir.params if p.public in wrt]
        target = replace(ir, result=Var("~loss.1")) if has_aux else ir
        groups = {n: shared.group[n] for n in shared.written if n in shared.group}
        found = activity(target, roots, groups)
        if "ir" not in self.stages:
            self.stages["ir"] = show(ir)
            self.stages["activity"] = show(ir, lambda s: _activity_of(s, found))
        present = {n for s in walk(ir.body) for n in writes(s)}
        lowered = replace(lowered, unbound=lowered.unbound & present)
        return Analysed(lowered, ir, known, shared, found)

    def global_fact(self, lowered: Lowered, text: str) -> Fact:
        """What is known of a global name or attribute."""
        node = _parsed(text)
        found = lowered.resolver.fact(node, lambda value: _stable(describe(value, text)))
        return found if isinstance(found, Fact) else OPEN

    def user_fact(self, call: Call, facts: list[Fact]) -> Fact:
        """What is known of the result of a call."""
        function = call.op.function
        assert isinstance(function, types.FunctionType)
        try:
            bound = inspect.signature(function).bind_partial(*facts, **{k: OPEN for k, _ in call.kwargs}).arguments
        except TypeError:
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
            known = infer(lowered.function, dict(bound), lambda text: self.global_fact(lowered, text), self.user_fact)
            given = frozenset(a for f in facts if f.shape for a in f.shape)
            self.depth[function] -= 1
            self.results[key] = _outward(known.get(lowered.function.result), given)
        return self.results[key] or OPEN


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
