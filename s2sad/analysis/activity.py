"""Which names carry a derivative from the inputs to the result.

A name is *varied* if it depends on an active parameter, *useful* if the result depends on it, and
*active* if both (Hascoët and Pascual, "The Tapenade automatic differentiation tool", 2013,
section 4.2).  In SSA form both are reachability in the graph of differentiable
dependences.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from s2sad import ops
from s2sad.analysis.effects import Effects
from s2sad.analysis.infer import Facts
from s2sad.analysis.sharers import HELD, STATE
from s2sad.analysis.stopped import stale_reads, stopped_names
from s2sad.analysis.summaries import (
    CallEffects,
    constant_calls,
    only_changes,
    user_calls,
    whole_call,
    written_unseen,
)
from s2sad.analysis.versions import changed_items
from s2sad.frontend.holding import UNKNOWN
from s2sad.frontend.lower import Lowered
from s2sad.frontend.summaries import may_change
from s2sad.frontend.unfollowed import is_foreign
from s2sad.ir.nodes import (
    HOLDING,
    Assign,
    Call,
    Const,
    Copy,
    Effect,
    Evaluate,
    Expr,
    For,
    Function,
    Op,
    Opaque,
    Slice,
    Stmt,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import children, reads, walk, writes
from s2sad.ops.binding import given
from s2sad.runtime import stop_gradient

_NONE_KNOWN: Mapping[Call, CallEffects] = types.MappingProxyType({})


@dataclass(frozen=True)
class Activity:
    """The names that are varied, useful and active.

    ``stopped`` are names for an array that is written in place which come from ``stop_gradient``: what is read through
    them is a constant, what is written through them others see.  ``stale`` are the statements that read such a
    name where something that is differentiated may have been written since; None stands for the result.
    ``together`` are active names of objects that the result has in several places, if the caller may write into them.
    """

    varied: frozenset[str]
    useful: frozenset[str]
    active: frozenset[str]
    stopped: frozenset[str] = frozenset()
    stale: tuple[Stmt | None, ...] = ()
    together: frozenset[str] = frozenset()

    def is_unused(self, written: Expr) -> bool:
        """Whether what is differentiated may be written into an object, but the result does not depend on that."""
        name = written.name if isinstance(written, Var) else None
        return name in self.varied and name not in self.useful and name not in self.stopped


def passes(expr: Expr) -> bool:
    """Whether a derivative can pass through an operation (its operands aside)."""
    if isinstance(expr, Call):
        op = expr.op
        if op.kind in ("compare",) or (op.kind == "bool" and op.name == "not"):
            return False
        if op.kind == "attribute":
            return not ops.is_constant_attribute(op.name)
        return op.function is not stop_gradient and not ops.is_constant(op.function)
    return not isinstance(expr, Slice)


def carriers(expr: Expr, calls: Mapping[Call, CallEffects] = _NONE_KNOWN) -> Iterator[str]:
    """The names in ``expr`` through which a derivative passes to its value, by what is known of ``calls`` in it."""
    if isinstance(expr, Var):
        yield expr.name
    elif isinstance(expr, Opaque):
        if expr.refusal is not None:
            yield from (name for _, name in expr.names)
    elif passes(expr):
        operands: Iterable[Expr] = children(expr)
        if (known := whole_call(expr, calls)) is not None and known.through is not None:
            operands = _operands(known, known.through)
        if isinstance(expr, Call) and expr.op.kind == "index":
            operands = expr.args[:1]
        elif isinstance(expr, Call) and expr.op.kind == "ifexp":
            operands = expr.args[1:]
        elif isinstance(expr, Call) and (rule := ops.find(expr.op.function)) is not None and rule.steps:
            operands = [operand for name, operand in given(expr).items() if name not in rule.steps]
        for operand in operands:
            yield from carriers(operand, calls)


def _operands(known: CallEffects, params: Collection[str]) -> list[Expr]:
    """The operands that a call has for some parameters."""
    return [operand for param, operand in known.bound.items() if param in params]


def _item_carriers(value: Expr, count: int, calls: Mapping[Call, CallEffects]) -> list[set[str]]:
    """The names through which a derivative passes to each of ``count`` items of a value."""
    known = whole_call(value, calls) if isinstance(value, Call) else None
    if known is None or known.parts is None or len(known.parts) != count:
        return [set(carriers(value, calls))] * count
    return [
        {name for operand in _operands(known, part.through) for name in carriers(operand, calls)}
        for part in known.parts
    ]


class Flows:
    """The graph of differentiable dependences between the names of a function; ``roots`` are its active parameters.

    What a loop over a dict gives are keys, of which `s2sad.analysis.keys` makes sure that they carry no derivative.
    """

    def __init__(self, function: Function, roots: Iterable[str], effects: Effects, facts: Facts) -> None:
        self.calls = effects.calls
        self.stopped = stopped_names(function, effects)
        self.forward: dict[str, list[str]] = {}
        self.backward: dict[str, list[str]] = {}
        self.written_beside: dict[str, list[str]] = {}
        for start, end in _edges(function, [*roots], effects, facts, self.stopped):
            self.forward.setdefault(start, []).append(end)
            self.backward.setdefault(end, []).append(start)
        for stmt in walk(function.body):
            written = list(effects.written_by_calls(stmt))
            for target in writes(stmt) if written else ():
                self.written_beside.setdefault(target, []).extend(written)

    def from_names(self, names: Iterable[str]) -> set[str]:
        """The names whose values may depend on those of ``names``, with these."""
        return _reach(names, self.forward)

    def to_value(self, value: Expr) -> set[str]:
        """The names on whose values an expression may depend."""
        return _reach(carriers(value, self.calls), self.backward)

    def useful_to(self, value: Expr) -> set[str]:
        """The same, with what the calls write that compute these: the derivative of a call follows its writes."""
        return _reach(carriers(value, self.calls), self.backward, self.written_beside)


def activity(function: Function, roots: Iterable[str], effects: Effects, facts: Facts) -> Activity:
    """Find the active names of ``function`` for the active parameters ``roots`` (IR names)."""
    roots = [*roots]
    flows = Flows(function, roots, effects, facts)
    varied, useful, stopped = flows.from_names(roots), flows.useful_to(function.result), flows.stopped
    active = (varied & useful) - stopped
    stale = stale_reads(function, effects, stopped, frozenset(varied), frozenset(useful), carriers)
    return Activity(frozenset(varied), frozenset(useful), frozenset(active), stopped, stale)


def _edges(
    function: Function, roots: list[str], effects: Effects, facts: Facts, stopped: frozenset[str]
) -> list[tuple[str, str]]:
    """The pairs of names of which a derivative passes directly from the first to the second."""
    groups = {n: effects.group[n] for n in effects.written if n in effects.group}
    edges: list[tuple[str, str]] = []
    integers = _integer_items(function)

    def join(sources: Iterable[str], target: str) -> None:
        if not facts.get(Var(target)).fixed:
            edges.extend((source, target) for source in set(sources))

    def link(value: Expr, targets: Iterable[str]) -> None:
        for target in targets:
            join(carriers(value, effects.calls), target)

    for stmt in walk(function.body):
        match stmt:
            case Assign(value=Call(op=op, args=(Var(name=name), *rest))) if _item(op, rest) in integers.get(name, ()):
                pass
            case Assign(target=target, value=Call(op=Op(kind="exception", name=name))) if name == HOLDING:
                edges.extend((root, target) for root in roots)
            case Assign(target=target, value=value):
                link(value, (target,))
            case Copy(targets=targets, sources=copied):
                for target, source in zip(targets, copied, strict=True):
                    link(source, (target,))
            case Unpack(targets=targets, value=value, star=star):
                known = integers.get(value.name, ()) if isinstance(value, Var) and star is None else ()
                items = _item_carriers(value, len(targets), effects.calls if star is None else {})
                for i, (target, sources) in enumerate(zip(targets, items, strict=True)):
                    if i not in known:
                        join(sources, target)
            case Store(base=Var(name=name), value=value):
                link(value, (name,))
            case For(targets=targets, iters=iters, body=body):
                for target, iterable in zip(targets, iters, strict=True):
                    if facts.get(iterable).kind == "dict":
                        continue
                    link(iterable, (target,))
                    # Python sees at the next item how the loop has changed what it runs over.
                    for changed in changed_items(body, iterable, effects.versions):
                        edges.extend((changed, held) for held in carriers(iterable))
            case _:
                pass
        unseen = list(written_unseen(stmt))
        # What is written unseen may come from all that the statement reads, but for keys (`s2sad.analysis.keys`).
        keys = stmt.keys if isinstance(stmt, Effect) else ()
        edges.extend((name, into) for name in reads(stmt) for into in unseen if name != into and name not in keys)
        for call in user_calls(stmt):
            # A callee may write any argument into any other that it writes.
            written = set(effects.written_by_calls(Evaluate(call)))
            for operand in (*call.args, *(v for _, v in call.kwargs)):
                link(operand, written)
    for name, group in groups.items():
        edges.extend((name, other) for other in group - stopped if other != name)
        if name in stopped:
            # What is written into one after all is seen by the others.
            edges.extend((name, other) for other in group & stopped if other != name)
    return edges


def _integer_items(function: Function) -> dict[str, tuple[int | str, ...]]:
    """The items that are integers, and so carry no derivative, of the names of results that have such items."""
    found: dict[str, tuple[int | str, ...]] = {}
    for stmt in walk(function.body):
        if isinstance(stmt, Assign) and isinstance(stmt.value, Var):
            found[stmt.target] = found.get(stmt.value.name, ())
        elif isinstance(stmt, Assign) and isinstance(stmt.value, Call):
            rule = ops.find(stmt.value.op.function)
            if rule is not None and rule.integers:
                found[stmt.target] = rule.integers
    return found


def _item(op: Op, rest: Sequence[Expr]) -> int | str | None:
    """The item that an operation reads of a tuple, if that is known."""
    if op.kind == "attribute":
        return op.name
    known = op.kind == "index" and len(rest) == 1 and isinstance(rest[0], Const) and rest[0].value
    return known if isinstance(known, int) and not isinstance(known, bool) else None


@dataclass(frozen=True)
class Outside:
    """A statement that writes into what outlives the call: what it does, and the ``calls`` in it that do so.

    It is ``sure`` if the object is known, and not feared because a call is not.
    """

    stmt: Stmt
    what: str
    sure: bool
    calls: tuple[Call, ...] = ()


def written_outside(
    function: Function,
    facts: Facts,
    effects: Effects,
    varied: Collection[str],
    lowered: Lowered,
) -> Iterator[Outside]:
    """The statements that write an array, or what is ``varied``, into what outlives the call, and what they do.

    What reads it later does not know where the value came from, nor under how many names the module has the array.
    Of a variable of the module that holds numbers alone these are replaced and not written; a list that holds an array
    of the module is not that array.  The names of a group are not told apart by what holds what; which objects of the
    module may be written at all the points-to analysis says.
    """
    resolver = lowered.resolver
    kinds = {p.public: facts.of[p.name].kind for p in function.params}
    changed = functools.cache(lambda name: may_change(lowered.source, resolver, kinds, name.removesuffix(HELD)))
    for stmt in walk(function.body):
        for name in sorted(effects.written_openly(stmt) & effects.owners.keys()):
            owners = {owner for owner in effects.owners[name] if owner and not owner.endswith(STATE)}
            owners = {owner for owner in owners if owner == UNKNOWN or changed(owner)}
            named = {n.removesuffix(HELD) for n in owners - {UNKNOWN}}
            owner = min(named, default="")
            calls = tuple([c for c in user_calls(stmt) if name in effects.written_by_calls(Evaluate(c))])
            done = f"{calls[0].op.name}(...) may write into it" if calls else "is written in place"
            if owners and name in varied:
                whose = f"{owner} is the module's" if owner else "this may be an array of the module"
                yield Outside(stmt, f"{whose}, and what is differentiated is written into it", bool(owner), calls)
                break
            kind = facts.of[name].kind
            replaced = isinstance(stmt, Store) and stmt.op is None and kind != "open"
            if only_changes(stmt, effects.calls):
                replaced |= all(n.endswith(HELD) or resolver.is_array(n) for n in owners - {UNKNOWN})
            if owner and (kind in ("array", "numeric") or not (replaced or all(map(resolver.counts, named)))):
                yield Outside(stmt, f"{owner} is the module's, and {done}", True, calls)
                break
        for call in (*user_calls(stmt), *constant_calls(stmt)):
            known = effects.calls.get(call)
            operands = (*call.args, *(v for _, v in call.kwargs))
            if known is not None and known.overwriting and not _is_foreign(call, lowered):
                what = f"{call.op.name}(...) changes an array, list or dict that it is not given"
                yield Outside(stmt, what, True, (call,))
            elif known is not None and known.outside and any(n in varied for e in operands for n in carriers(e)):
                what = f"{call.op.name}(...) writes what is differentiated into an object that it is not given"
                yield Outside(stmt, what, False, (call,))


def _is_foreign(call: Call, lowered: Lowered) -> bool:
    """Whether a call is of a function of an installed package that the caller is not of.

    It has no arrays of the caller's but those that it was given, and what may be an array of its own is saved.
    """
    function = call.op.function
    return isinstance(function, types.FunctionType) and is_foreign(function, lowered.source.file)


def _reach(start: Iterable[str], *graphs: Mapping[str, list[str]]) -> set[str]:
    """The names that the edges of some graphs lead to."""
    found = set(start)
    pending = list(found)
    while pending:
        name = pending.pop()
        for graph in graphs:
            for other in graph.get(name, ()):
                if other not in found:
                    found.add(other)
                    pending.append(other)
    return found
