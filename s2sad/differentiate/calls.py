"""The adjoints of calls of functions that have source: the halves of a pair, with values, adjoints and shadows."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from s2sad.analysis.summaries import MODULE, RESULT, CallEffects, Context, assumed
from s2sad.attempts import tried
from s2sad.differentiate.buffers import HOLDERS
from s2sad.differentiate.containers import Containers
from s2sad.differentiate.known import Known, Pair
from s2sad.errors import Place, SourceError, UnsupportedError
from s2sad.frontend.unfollowed import of_unknown
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Evaluate, Expr, Global, Op, Stmt, Unpack, Var
from s2sad.ir.traverse import map_stmt, names_in
from s2sad.ir.types import OPEN, OTHER, Fact, item_of
from s2sad.runtime.calls import (
    checked,
    forward,
    forward_apart,
    forward_copied,
    forward_fresh,
    unchanging,
    unchanging_apart,
    unchanging_fresh,
)

_APPLY = Op("met", "", pure=False)
#: By what is checked of the result.  What is copied serves where what the call reads or returns is written later.
FORWARD = {
    "": Op("runtime", "forward", forward, pure=False),
    "copied": Op("runtime", "forward_copied", forward_copied, pure=False),
    "apart": Op("runtime", "forward_apart", forward_apart, pure=False),
    "fresh": Op("runtime", "forward_fresh", forward_fresh, pure=False),
}
UNCHANGING = {
    "": Op("runtime", "unchanging", unchanging, pure=False),
    "apart": Op("runtime", "unchanging_apart", unchanging_apart, pure=False),
    "fresh": Op("runtime", "unchanging_fresh", unchanging_fresh, pure=False),
}
CHECKED = Op("runtime", "checked", checked, pure=False)


class Calls(Containers):
    """The part of reverse mode that knows the adjoint of a call."""

    def __init__(self, known: Known) -> None:
        super().__init__(known)
        self.callees = known.callees
        self.varied = known.activity.varied
        self.repeated = known.context.repeated
        #: The statements of which it is seen whether they raise; the one that is reversed.
        self.trying = tried(known.function.body)
        self.tried = False
        self.depth = 0
        #: The calls that are refused with all that is in them.
        self.refused_calls: list[Place] = []

    def user_call(self, stmt: Assign | Unpack | Evaluate, call: Call, targets: tuple[str, ...]) -> Stmt:
        """The adjoint of a call: a call of the reverse half of its pair."""
        bound = self.callees.bind(call)
        shadowed = self.shadowed(call, bound, targets)
        taken = {t: self.take(t) for t in targets if not self.is_buffer(Var(t))}
        bars = {t: None if bar is None else self.firm(t, bar) for t, bar in taken.items()}
        followed = any(bar is not None for bar in bars.values()) or any(t in self.shadows for t in targets)
        active = tuple(name for name, value in bound.items() if self.is_active(value))
        if not active or not (followed or shadowed):
            made = [t for t in targets if t in self.shadows]
            self.refuse_entangled(call, made, targets)
            for target in made:
                self.define(target, self.made_zero(target, call))
            return stmt
        facts = self.callees.bound_facts(call, self.fact)
        assert facts is not None
        try:
            known = self.effects.calls.get(call)
            varied = known.varied if known is not None and known.met else frozenset()
            pair = self.callees.pair(call, active, facts, self.context(bound, shadowed, targets), varied)
        except (UnsupportedError, SourceError) as error:
            here = self.place(call.node)
            derived = isinstance(error, UnsupportedError) and error.derived
            (self.misused if derived else self.violations).extend(self.callees.refused(call, error, here))
            self.refused_calls.append(here)
            self.explained |= not isinstance(error, UnsupportedError) or error.obscure
            return stmt
        self.complex = self.complex or pair.complex
        if not shadowed.issuperset(pair.reverse_shadows) or not shadowed.issuperset(p for p, _ in pair.forward_shadows):
            # Nobody would make the shadow that the callee asks for.
            self.refuse_buffer(call.node)
            return stmt
        if isinstance(stmt, Unpack) and pair.count != len(targets):
            return self.unpacked_call(stmt, call, pair, bars, bound)
        if isinstance(stmt, Assign) and pair.count is not None:
            return self.packed_call(stmt, call, pair, bars, bound)
        return self.paired(stmt, call, pair, targets, bars, bound)

    def met_call(self, stmt: Assign, call: Call) -> Stmt:
        """The adjoint of a call of which it is known at run time only what it runs: its reverse function."""
        callee, *args = call.args
        target = stmt.target
        bar = None if self.is_buffer(Var(target)) else self.take(target)
        bar = None if bar is None else self.firm(target, bar)
        if target in self.shadows:
            self.define(target, self.made_zero(target, call))
        if self.is_active(callee):
            self.violation(call.node, *of_unknown(call.op.name))
            return stmt
        operands: dict[int | str, Expr] = {**dict(enumerate(args)), **dict(call.kwargs)}
        context = self.context({"": callee, **{str(k): v for k, v in operands.items()}}, frozenset(), (target,))
        active = [k for k, v in operands.items() if self.is_active(v)]
        if not active or not (bar is not None or target in self.shadows):
            return replace(stmt, value=unchanging_call(call, self.varied))
        back = self.fresh(f"{call.op.name.rpartition('.')[2]}_reverse" if _is_dotted(call.op.name) else "call_reverse")
        self.of[back] = OTHER
        given = self.seed(target, bar)
        bars = [self.bar(next(iter(names_in(operands[k])))) for k in active]
        for name, key in zip(bars, active, strict=True):
            fact = self.fact(operands[key])
            self.of[name] = fact if fact.numeric else replace(fact, shape=None)
            self.owned.add(name)
        value = Call(_APPLY, (Var(back), given))
        made = Assign(bars[0], value, self.origin) if len(bars) == 1 else Unpack(tuple(bars), value, None, self.origin)
        self.emit(made)
        for name, key in zip(bars, active, strict=True):
            self.contribute(operands[key], Var(name), moved=True)
        forward = _met(
            FORWARD[call.op.checked or ("copied" if context.overwritten else "")], callee, active, args, call
        )
        return Unpack((target, back), forward, None, stmt.origin)

    def shadowed(self, call: Call, bound: Mapping[str, Expr], targets: tuple[str, ...]) -> frozenset[str]:
        """The parameters of a call whose arguments go with their shadows."""
        known = self.effects.calls.get(call)
        if known is None:
            return frozenset()
        found = {p for p in known.written if self.is_active(bound[p])}
        if any(self.is_buffer(Var(t)) for t in targets):
            found |= {p for p in known.shared if self.holds_buffer(bound[p])}
        grown = True
        while grown:
            names = known.names(found)
            near = {m for n in names for m in self.effects.group.get(n, (n,)) if self.of[n].kind != "scalar"}
            more = {p for p in bound if self.holds_buffer(bound[p]) and near & set(names_in(bound[p]))}
            more |= {p for link in known.linked if link & found for p in link if self.holds_buffer(bound[p])}
            grown = not more <= found
            found |= more
        for param in known.written:
            value = bound[param]
            if self.holds_buffer(value) and not self.is_active(value):
                self.refuse_stopped(call.node)
        for param in found:
            value = bound[param]
            if not (isinstance(value, Var) and self.is_buffer(value) and self.of[value.name].kind in HOLDERS):
                self.refuse_buffer(call.node, value.name if isinstance(value, Var) else "")
        return frozenset(found)

    def holds_buffer(self, value: Expr) -> bool:
        """Whether an argument is a buffer, or may hold one."""
        return any(self.is_buffer(Var(name)) for name in names_in(value))

    def context(self, bound: Mapping[str, Expr], shadowed: frozenset[str], targets: tuple[str, ...]) -> Context:
        """What the callee has to know of its arguments."""
        overwritten = {p for p, value in bound.items() if any(self.is_overwritten(n) for n in names_in(value))}
        if any(self.is_overwritten(t) for t in targets):
            overwritten.add(RESULT)
        if self.altered_later:
            overwritten.add(MODULE)
        repeated = self.repeated or self.depth > 0
        if not shadowed:
            return Context(overwritten=frozenset(overwritten), repeated=repeated, tried=self.tried)
        same: dict[frozenset[str], set[str]] = {}
        for param, value in bound.items():
            for name in names_in(value):
                if self.of[name].kind != "scalar":
                    same.setdefault(self.effects.group.get(name, frozenset({name})), set()).add(param)
        groups = sorted((frozenset(g) for g in same.values() if len(g) > 1), key=sorted)
        turned = frozenset(p for p in shadowed if self.turned & set(names_in(bound[p])))
        return Context(tuple(groups), shadowed, frozenset(overwritten), repeated, turned, self.tried)

    def paired(
        self,
        stmt: Assign | Unpack | Evaluate,
        call: Call,
        pair: Pair,
        targets: tuple[str, ...],
        bars: Mapping[str, Expr | None],
        bound: Mapping[str, Expr],
    ) -> Stmt:
        """Call the forward half in place of the call, and the reverse half."""
        wanted = 1 if pair.count is None else pair.count
        given = targets or tuple([self.dropped() for _ in range(wanted)])
        viewed = {given[i] for i in pair.views}
        self.refuse_entangled(call, [t for t in given if t in self.shadows and t not in viewed], given)
        outs = [*given, *(self.shadows.get(given[i]) or self.fresh("~t_bar") for i in pair.views)]
        for target in given:
            if target in self.shadows and target not in viewed:
                self.define(target, self.made_zero(target, call))
        saved = self.fresh(f"{call.op.name.rpartition('.')[2]}_saved")
        if pair.saves:
            outs.append(saved)
        passed = {*pair.reverse_shadows, *(param for param, _ in pair.forward_shadows)}
        shadows = {p: self.shadow(v.name) for p, v in bound.items() if p in passed and isinstance(v, Var)}
        named = tuple((public, shadows[param]) for param, public in pair.forward_shadows)
        held = {param: self.argument(bound[param]) for param in pair.again}
        names = {id(bound[param]): value for param, value in held.items()}
        args = tuple([names.get(id(a), a) for a in call.args])
        kwargs = tuple([(k, names.get(id(v), v)) for k, v in call.kwargs])
        known = self.effects.calls.get(call) or assumed(call)
        into = tuple(known.names(known.written))
        computes = pair.quiet and not (into or named or known.altering)
        forward = Call(replace(pair.forward, computes=computes), args, (*kwargs, *named), call.node)
        operands: list[Expr] = [Var(saved)] if pair.saves else []
        operands += held.values()
        operands += [self.seed(given[i], bars.get(given[i])) for i in pair.seeded]
        operands += [shadows[param] for param in pair.reverse_shadows]
        self.reverse_half(pair, Call(pair.reverse, tuple(operands)), bound)
        if pair.quiet and not pair.saves and not pair.seeded and isinstance(stmt, Evaluate):
            return Evaluate(forward, stmt.origin, into)
        if not outs:
            return Evaluate(forward, stmt.origin)
        if len(outs) == 1:
            return Assign(outs[0], forward, stmt.origin)
        return Unpack(tuple(outs), forward, None, stmt.origin)

    def refuse_entangled(self, call: Call, made: list[str], targets: tuple[str, ...]) -> None:
        """Note results with shadows of their own that may share an object which the call has made."""
        known = self.effects.calls.get(call)
        if len(made) > 1 and (known is None or known.entangles([targets.index(t) for t in made])):
            self.refuse_buffer(call.node)

    def argument(self, value: Expr) -> Expr:
        """An argument as the reverse part can give it once more."""
        if isinstance(value, Var) and value.name in self.versions:
            return self.kept(value)
        if isinstance(value, (Var, Const)):
            return value
        name = self.fresh("~t")
        self.of[name] = self.named(self.fact(value), name)
        self.before.append(Assign(name, value, self.origin))
        return Var(name)

    def dropped(self, fact: Fact = OPEN) -> str:
        """A name of ours for a result."""
        name = self.fresh("~t")
        self.of[name] = self.named(fact, name)
        return name

    def seed(self, target: str, bar: Expr | None) -> Expr:
        """The adjoint of a result for the reverse half."""
        if target in self.shadows:
            return Var(self.shadows[target])
        if bar is None:
            return self.zero(target)
        return self.real_as(Var(target), self.realised(bar, self.of[target]), self.of[target])

    def reverse_half(self, pair: Pair, value: Call, bound: Mapping[str, Expr]) -> None:
        """Call the reverse half and contribute the adjoints that it returns."""
        if not pair.wrt:
            if value.args:
                self.emit(Evaluate(value, self.origin))
            return
        bars = [self.bar(name) for name in pair.wrt]
        for name, bar in zip(pair.wrt, bars, strict=True):
            fact = replace(self.fact(bound[name]), real=name in pair.real)
            # A function that takes a list for an array returns an array as its adjoint.
            self.of[bar] = fact if fact.numeric else OPEN if fact.kind == "list" else replace(fact, shape=None)
            # What a reverse half returns nothing else refers to.
            self.owned.add(bar)
        if len(bars) == 1:
            self.emit(Assign(bars[0], value, self.origin))
        else:
            self.emit(Unpack(tuple(bars), value, None, self.origin))
        for name, bar in zip(pair.wrt, bars, strict=True):
            self.contribute(bound[name], Var(bar), moved=True)

    def unpacked_call(
        self,
        stmt: Assign | Unpack | Evaluate,
        call: Call,
        pair: Pair,
        bars: Mapping[str, Expr | None],
        bound: Mapping[str, Expr],
    ) -> Stmt:
        """The adjoint of ``a, b = f(x)`` where ``f`` builds the tuple somewhere inside."""
        assert isinstance(stmt, Unpack)
        if any(self.is_buffer(Var(t)) for t in stmt.targets):
            self.refuse_buffer(call.node)
            return stmt
        whole = self.dropped()
        self.active = self.active | {whole}
        again = replace(stmt, value=Var(whole))
        for target, bar in bars.items():
            if bar is not None:
                self.adj[target] = bar
        self.unpack(again, stmt.targets, Var(whole))
        self.after.append(again)
        return self.paired(stmt, call, pair, (whole,), {whole: self.take(whole)}, bound)

    def packed_call(
        self, stmt: Assign, call: Call, pair: Pair, bars: Mapping[str, Expr | None], bound: Mapping[str, Expr]
    ) -> Stmt:
        """The adjoint of ``t = f(x)`` where ``f`` returns several results, or None."""
        if self.is_buffer(Var(stmt.target)) or pair.views:
            self.refuse_buffer(call.node)
            return stmt
        whole = self.of[stmt.target]
        results = tuple([self.dropped(item_of(whole, i)) for i in range(pair.count or 0)])
        value = Build("tuple", tuple(Var(r) for r in results)) if results else Const(None)
        self.after.append(Assign(stmt.target, value, stmt.origin))
        bar = bars.get(stmt.target)
        if isinstance(bar, Build) and len(bar.items) != len(results):
            bar = None  # what comes of this fails when it runs
        parts = {r: None if bar is None else self.item(bar, Const(i)) for i, r in enumerate(results)}
        return self.paired(stmt, call, pair, results, parts, bound)


def unchanging_call(call: Call, varied: Set[str], op: Op | None = None) -> Call:
    """A call met at run time of which no derivative is needed, with the check that it changes nothing."""
    callee, *args = call.args
    operands: dict[int | str, Expr] = {**dict(enumerate(args)), **dict(call.kwargs)}
    given = [k for k, v in operands.items() if not varied.isdisjoint(names_in(v))]
    return _met(op or UNCHANGING[call.op.checked], callee, given, args, call)


def with_unchanging_calls(block: Block, varied: Set[str], calls: Mapping[Call, CallEffects]) -> Block:
    """A block in which the calls met at run time that no adjoint has are checked to change nothing.

    So are those in the functions that are called.
    """

    def with_check(value: Expr) -> Expr:
        if isinstance(value, Call) and value.op.kind == "met":
            return unchanging_call(value, varied)
        if isinstance(value, Call) and value.op.kind == "user" and value in calls and calls[value].met:
            known = calls[value]
            given = {n for p in known.varied for n in names_in(known.bound[p])}
            return unchanging_call(replace(value, args=(Global(value.op.name), *value.args)), given, CHECKED)
        return value

    return tuple([map_stmt(s, with_check, lambda b: with_unchanging_calls(b, varied, calls)) for s in block])


def _met(op: Op, callee: Expr, active: list[int | str], args: list[Expr], call: Call) -> Call:
    """A call by a helper, which is told what is active."""
    which = Build("tuple", tuple(map(Const, active)))
    return Call(op, (callee, which, *args), call.kwargs, call.node)


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))
