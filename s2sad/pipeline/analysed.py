"""The first stages: from a function to its IR and what the analyses say about it."""

from __future__ import annotations

import inspect
import re
import types
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from s2sad.analysis.activity import Activity, activity
from s2sad.analysis.containers import faults
from s2sad.analysis.effects import (
    CallEffects,
    Context,
    Effects,
    assumed,
    effects,
    sharers,
    user_calls,
    written_unseen,
)
from s2sad.analysis.evaluate import evaluate
from s2sad.analysis.facts import OPEN, Atom, Fact, describe, sized
from s2sad.analysis.infer import Facts, infer
from s2sad.analysis.versions import container_stores
from s2sad.errors import S2SADError, UnsupportedError, Violation
from s2sad.frontend.lower import Lowered, lower
from s2sad.frontend.resolve import Guard
from s2sad.frontend.source import Source, read_source
from s2sad.frontend.writing import may_write
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
    Store,
    Unpack,
    Var,
)
from s2sad.ir.show import show
from s2sad.ir.traverse import base, map_stmt, names_in, reads, rename, walk, writes
from s2sad.optimise import remove_dead, take_decided
from s2sad.runtime import apart, as_pair, own, sole

#: The names in the text of a size.
_NAME = re.compile(r"[~^@\w]+\.\d*")
#: How often a recursive function is followed with other facts about its arguments each time.
DEPTH = 3
_AS_PAIR = Op("runtime", "as_pair", as_pair, pure=False)
_APART = Op("runtime", "apart", apart, pure=False)
_SOLE = Op("runtime", "sole", sole, pure=False)
#: A copy with the layout of the original, since NumPy adds up in the order of memory.
COPY = Op("runtime", "np.copy", np.copy)
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
        self.spaces: dict[int, int] = {}
        #: How each stage reads; written only when somebody asks.
        self.stages: dict[str, Callable[[], str]] = {}

    def source(self, function: types.FunctionType) -> Source:
        """The source of a function."""
        if function not in self.sources:
            self.sources[function] = read_source(function)
        return self.sources[function]

    def lowered(
        self, function: types.FunctionType, wrt: tuple[str, ...], containers: frozenset[tuple[int, str]] = frozenset()
    ) -> Lowered:
        """A function in IR, lowered for derivatives with respect to ``wrt``; ``containers`` are stores into such."""
        key = (function, wrt, containers)
        if key not in self.lowereds:
            self.lowereds[key] = lowered = lower(self.source(function), wrt, containers)
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
        lowered, ir, known = self.typed(function, wrt, facts, display or has_aux)
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
            ir = _with_copies(ir, copied, known, shared.reshapes)
            others = [p for p in ir.params if p not in written and known.of[p.name].kind != "scalar"]
            if others or len(written) > 1 or known.of[written[0].name].kind != "array":
                ir = _apart(ir, written, others, lowered.source)
            ir, known = self.inferred_with(lowered, ir, facts)
            shared = effects(ir, known, self.call_effects, overwritten=beyond)
        if shared.versions:
            if context is None and any(p.name in shared.versions for p in ir.params):
                ir = _with_own_containers(ir, shared, known, lowered.source)
                ir, known = self.inferred_with(lowered, ir, facts)
                shared = effects(ir, known, self.call_effects, overwritten=beyond)
            _check_changes(ir, known, shared, lowered)
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

    def typed(
        self, function: types.FunctionType, wrt: tuple[str, ...], facts: Mapping[str, Fact], display: bool
    ) -> tuple[Lowered, Function, Facts]:
        """A function in IR that tells containers from arrays, and the facts about it.

        With ``display`` its result may be a tuple.
        """
        containers: frozenset[tuple[int, str]] = frozenset()
        while True:
            lowered = self.lowered(function, wrt, containers)
            ir = self.unpacked(with_display(lowered.function) if display else lowered.function)
            ir, known = self.inferred_with(lowered, ir, {**_defaults(ir), **facts})
            found = frozenset(container_stores(walk(ir.body), known))
            if found <= containers:
                return lowered, ir, known
            containers |= found

    def inferred_with(self, lowered: Lowered, ir: Function, facts: Mapping[str, Fact]) -> tuple[Function, Facts]:
        """A function without the branches that the facts about its parameters decide, and the facts about the rest."""
        changing: frozenset[str] = frozenset()
        while True:
            known = infer(ir, facts, lambda text: self.global_fact(lowered, text), self.user_fact, changing)
            more = changing | self.changing(ir, known)
            taken = take_decided(ir, known) if more == changing else ir
            if taken == ir and more == changing:
                return ir, known
            ir, changing = taken, more

    def changing(self, function: Function, known: Facts) -> frozenset[str]:
        """The names that may hold a container of which something that it holds is replaced."""
        found: set[str] = set()
        calls: list[Call] = []
        for stmt in walk(function.body):
            found.update(n for n in written_unseen(stmt) if known.of[n].kind not in ("scalar", "array", "numeric"))
            if isinstance(stmt, Store) and known.get(stmt.base).kind not in ("scalar", "array", "numeric"):
                found.update(names_in(stmt.base))
            calls += user_calls(stmt)
        if not found and not any(may_write(call.op.function) for call in calls):  # type: ignore[arg-type]
            return frozenset()
        shared = effects(function, known, self.call_effects)
        for call in calls:
            if call in shared.calls:
                found |= shared.calls[call].names(shared.calls[call].changing)
        return frozenset(m for n in found for m in shared.group.get(n, (n,)))

    def global_fact(self, lowered: Lowered, text: str) -> Fact:
        """What is known of a global name or attribute."""
        node = _parsed(text)
        # What one module calls n is not what another, or a function, does.
        resolver = lowered.resolver
        holder = resolver.cells.get(text.partition(".")[0], resolver.globals)
        space = self.spaces.setdefault(id(holder), len(self.spaces))
        found = resolver.fact(node, lambda value: _stable(describe(value, f"@{space}_{text.replace('.', '_')}")))
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
                lowered, body, known = self.typed(
                    function, tuple(bound), {n: _inward(f) for n, f in bound.items()}, True
                )
            except S2SADError:
                self.depth[function] -= 1
                return OPEN
            self.inferred[key] = replace(lowered, function=body), known
            self.depth[function] -= 1
            self.results[key] = _outward(known.get(body.result))
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
            elif key not in self.inferred:
                # It is being inferred right now.
                del self.summaries[key]
        found = self.summaries.get(key)
        if found is None:
            return assumed(call, bound)
        # What is not given is a default, which the module holds.
        module = found.module or not found.shared <= bound.keys()
        given = frozenset(bound)
        linked = tuple(params & given for params in found.linked)
        return replace(
            found,
            bound=bound,
            written=found.written & given,
            shared=found.shared & given,
            linked=linked,
            module=module,
            changing=found.changing & given,
        )

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
            found.reshapes,
            frozenset(params[n] for n in self.changing(function, facts) | found.versions.keys() if n in params),
            _entangled(function.result, facts, found),
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


def _entangled(result: Expr, facts: Facts, found: Effects) -> bool:
    """Whether two results of a function, or two parts of one, may share an object that it has made."""
    seen: set[str] = set()
    for item in result.items if isinstance(result, Build) and result.kind == "tuple" else (result,):
        if facts.get(item).kind not in ("scalar", "array", "numeric", "none"):
            return True
        names = {m for n in sharers(item, facts, found.calls) for m in found.group.get(n, frozenset({n}))}
        if names & seen:
            return True
        seen |= names
    return False


def _defaults(function: Function) -> dict[str, Fact]:
    """What is known of the parameters by their default values."""
    return {p.public: _default(p.public, p.default.value) for p in function.params if p.default is not None}


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


def _check_changes(function: Function, facts: Facts, shared: Effects, lowered: Lowered) -> None:
    """Refuse to change containers that others may hold."""
    ends = base(names_in(lowered.function.result)[0]) if names_in(lowered.function.result) else ""
    place = lowered.source.place
    remedy = "Change a list or dict that only this variable holds (x.copy() makes one), or make a new one."
    found = [Violation(place(call.node), why, remedy) for call, why in faults(function, facts, shared.calls, ends)]
    if found:
        raise UnsupportedError(found)


def _with_own_containers(function: Function, shared: Effects, facts: Facts, source: Source) -> Function:
    """``function`` working on copies of the lists and dicts among its arguments that it changes."""
    changed = [p for p in function.params if p.name in shared.versions]
    holders = [p for p in function.params if facts.of[p.name].kind not in ("scalar", "array", "none")]
    function = _with_copies(function, changed, facts, shared.reshapes)
    if len(holders) < 2:
        return function
    test = Call(_SOLE, (Build("tuple", tuple(Var(p.name) for p in changed)), *(Var(p.name) for p in holders)))
    line = source.node.lineno
    return replace(function, body=(Evaluate(test, Origin(line, source.line(line).strip())), *function.body))


def _with_copies(function: Function, params: list[Param], facts: Facts, reshapes: bool) -> Function:
    """``function`` working on copies of the arguments that it writes, of the same layout if it ``reshapes``."""
    names: dict[str, Expr] = {}
    start: list[Stmt] = []
    for param in params:
        copy = f"{base(param.name)}.0"
        op = COPY if facts.of[param.name].kind == "array" and not reshapes else OWN
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


def _default(name: str, value: Any) -> Fact:
    """The fact about a default, in terms that no caller has for something else."""
    return evaluate(Const(value), {}, {}) if type(value) is int else describe(value, f"{name}=")


def _inward(fact: Fact) -> Fact:
    """A caller's fact in terms of a callee: atoms and sizes are marked, so that the callee has none like them."""
    size = fact.size and _NAME.sub(_marked, str(fact.size)) if fact.size != 1 else 1
    if fact.dims is not None:
        dims = tuple([d if d == 1 else _NAME.sub(_marked, str(d)) for d in fact.dims])
        return replace(sized(dims, fact.real, fact.kind), size=size, items=fact.items)
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
        return replace(sized(dims, fact.real, fact.kind), size=size, items=items)
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
