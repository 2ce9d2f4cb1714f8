"""The adjoints of calls of functions that have source: the halves of a pair, with values, adjoints and shadows."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from s2sad.analysis.summaries import MODULE, RESULT, CallEffects, Context, assumed, bound_operands
from s2sad.differentiate.items import unpack
from s2sad.differentiate.known import Pair, sharing_params, site_of
from s2sad.differentiate.reverse_state import State
from s2sad.differentiate.selections import Selection
from s2sad.differentiate.statements import met_operands, receiving
from s2sad.differentiate.stores import ELLIPSIS, holds
from s2sad.errors import SourceError, UnsupportedError
from s2sad.frontend.unfollowed import of_unknown
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Evaluate, Expr, Global, Op, Stmt, Store, Unpack, Var
from s2sad.ir.traverse import map_stmt, names_in
from s2sad.ir.types import OPEN, OTHER, SCALAR_SHAPE, Fact, item_of
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


@dataclass(frozen=True)
class _Paired:
    """A call with the pair of its callee; ``bound`` has the operands, ``bars`` the adjoints of results, or None."""

    call: Call
    pair: Pair
    bound: Mapping[str, Expr]
    bars: Mapping[str, Expr | None]


def user_call(state: State, stmt: Assign | Unpack | Evaluate, call: Call, targets: tuple[str, ...]) -> Stmt:
    """The adjoint of a call: a call of the reverse half of its pair."""
    adjoints, shadows = state.adjoints, state.shadows
    bound = bound_operands(call)
    shadowed = _shadowed(state, call, bound, targets)
    taken = {t: adjoints.take(t) for t in targets if t not in state.storage.buffers}
    bars = {t: None if bar is None else adjoints.firm(t, bar) for t, bar in taken.items()}
    followed = any(bar is not None for bar in bars.values()) or any(t in shadows.names for t in targets)
    active = tuple(name for name, value in bound.items() if adjoints.is_active(value))
    if not active or not (followed or shadowed):
        made = [t for t in targets if t in shadows.names]
        _refuse_entangled(state, call, made, targets)
        for target in made:
            shadows.define(target, shadows.made_zero(target, call))
        return stmt
    context = replace(_context(state, bound, shadowed, targets), unread=_unread(state, bars, targets))
    try:
        pair = state.known.callees.pair(site_of(state.known, call, active, context, state.make.fact))
    except (UnsupportedError, SourceError) as error:
        state.refusals.refuse_call(call, error)
        return stmt
    adjoints.complex = adjoints.complex or pair.complex
    if not shadowed.issuperset(pair.reverse_shadows) or not shadowed.issuperset(p for p, _ in pair.forward_shadows):
        # Nobody would make the shadow that the callee asks for.
        state.refusals.refuse_buffer(call.node)
        return stmt
    paired = _Paired(call, pair, bound, bars)
    if isinstance(stmt, Unpack) and pair.count != len(targets):
        return _unpacked_call(state, stmt, paired)
    if isinstance(stmt, Assign) and pair.count is not None:
        return _packed_call(state, stmt, paired)
    return _halves_called(state, stmt, paired, targets)


def met_call(state: State, stmt: Assign, call: Call) -> Stmt:
    """The adjoint of a call of which it is known at run time only what it runs: its reverse function."""
    make, adjoints, shadows = state.make, state.adjoints, state.shadows
    callee, *args = call.args
    target = stmt.target
    bar = None if target in state.storage.buffers else adjoints.take(target)
    bar = None if bar is None else adjoints.firm(target, bar)
    if target in shadows.names:
        shadows.define(target, shadows.made_zero(target, call))
    if adjoints.is_active(callee):
        state.refusals.refuse(call.node, *of_unknown(call.op.name))
        return stmt
    operands = met_operands(call)
    bound = {"": callee, **{str(k): v for k, v in operands.items()}}
    context = _context(state, bound, frozenset(), (target,))
    active = [k for k, v in operands.items() if adjoints.is_active(v)]
    if not active or not (bar is not None or target in shadows.names):
        return replace(stmt, value=unchanging_call(call, state.known.activity.varied))
    back = make.fresh(f"{call.op.name.rpartition('.')[2]}_reverse" if _is_dotted(call.op.name) else "call_reverse")
    make.of[back] = OTHER
    given = _seed(state, target, bar)
    bars = [make.bar(next(iter(names_in(operands[k])))) for k in active]
    facts = [state.make.fact(operands[k]) for k in active]
    facts = [fact if fact.numeric else replace(fact, shape=None) for fact in facts]
    _received(state, bars, facts, Call(_APPLY, (Var(back), given)), [operands[k] for k in active])
    check = call.op.checked or ("copied" if context.overwritten else "")
    forward = _met(FORWARD[check], callee, active, args, call)
    return Unpack((target, back), forward, None, stmt.origin)


def _shadowed(state: State, call: Call, bound: Mapping[str, Expr], targets: tuple[str, ...]) -> frozenset[str]:
    """The parameters of a call whose arguments go with their shadows."""
    of, storage = state.make.of, state.storage
    known = state.effects.calls.get(call)
    if known is None:
        return frozenset()
    holding = {p for p, value in bound.items() if not storage.buffers.isdisjoint(names_in(value))}
    found = {p for p in known.written if state.adjoints.is_active(bound[p])}
    if any(t in storage.buffers for t in targets):
        found |= known.shared & holding
    grown = True
    while grown:
        names = known.names(found)
        near = {m for n in names for m in state.effects.group.get(n, (n,)) if of[n].kind != "scalar"}
        more = {p for p in holding if near & set(names_in(bound[p]))}
        more |= {p for link in known.linked if link & found for p in link & holding}
        grown = not more <= found
        found |= more
    for param in known.written & holding:
        if not state.adjoints.is_active(bound[param]):
            state.refusals.refuse_stopped(call.node)
    for param in found:
        value = bound[param]
        if not (isinstance(value, Var) and storage.is_buffer(value) and holds(of[value.name])):
            state.refusals.refuse_buffer(call.node, value.name if isinstance(value, Var) else "")
    return frozenset(found)


def _context(state: State, bound: Mapping[str, Expr], shadowed: frozenset[str], targets: tuple[str, ...]) -> Context:
    """What the callee has to know of its arguments."""
    later = state.later
    overwritten = {p for p, value in bound.items() if any(map(later.is_overwritten, names_in(value)))}
    if any(map(later.is_overwritten, targets)):
        overwritten.add(RESULT)
    if later.altered:
        overwritten.add(MODULE)
    repeated = state.known.context.repeated or state.depth > 0
    if not shadowed:
        return Context(overwritten=frozenset(overwritten), repeated=repeated, tried=state.tried)
    groups = sharing_params(bound, state.make.of, state.effects)
    turned = frozenset(p for p in shadowed if state.storage.turned & set(names_in(bound[p])))
    return Context(groups, shadowed, frozenset(overwritten), repeated, turned, state.tried)


def _unread(state: State, bars: Mapping[str, Expr | None], targets: tuple[str, ...]) -> frozenset[int]:
    """The results of several that have no adjoint: zero times what is not finite would be none."""
    if len(targets) > 1:
        return frozenset(i for i, t in enumerate(targets) if bars.get(t, t) is None and t not in state.shadows.names)
    whole = bars.get(*targets) if targets else None
    if not isinstance(whole, Build) or whole.kind == "dict":
        return frozenset()
    return frozenset(i for i, g in enumerate(whole.items) if g == Const(0.0))


def _halves_called(state: State, stmt: Assign | Unpack | Evaluate, paired: _Paired, targets: tuple[str, ...]) -> Stmt:
    """Call the forward half in place of the call, and the reverse half."""
    shadows, call, pair, bound = state.shadows, paired.call, paired.pair, paired.bound
    given = targets or tuple([_dropped(state) for _ in range(1 if pair.count is None else pair.count)])
    views = {given[i]: shadows.names.get(given[i]) or state.make.fresh("~t_bar") for i in pair.views}
    same = {given[i]: bound[param] for i, param in pair.same}
    made = [t for t in given if t in shadows.names and t not in views and t not in same]
    is_turned = state.storage.is_turned
    if any(is_turned(Var(t)) != (t in same and is_turned(same[t])) for t in given if t in shadows.names):
        # It is not known whether the result is the argument whose shadow has the other sign.
        state.refusals.refuse_buffer(call.node)
    _refuse_entangled(state, call, made, given)
    outs = [*(t for t in given if t not in same), *views.values()]
    for target in made:
        shadows.define(target, shadows.made_zero(target, call))
    saved = state.make.fresh(f"{call.op.name.rpartition('.')[2]}_saved")
    if pair.saves:
        outs.append(saved)
    passed = {*pair.reverse_shadows, *(param for param, _ in pair.forward_shadows)}
    shadow_of = {p: shadows.of(v.name) for p, v in bound.items() if p in passed and isinstance(v, Var)}
    named = tuple((public, shadow_of[param]) for param, public in pair.forward_shadows)
    held = {param: _argument(state, bound[param]) for param in pair.again}
    names = {id(bound[param]): value for param, value in held.items()}
    args = tuple([names.get(id(a), a) for a in call.args])
    kwargs = tuple([(k, names.get(id(v), v)) for k, v in call.kwargs])
    known = state.effects.calls.get(call) or assumed(call)
    into = tuple(known.names(known.written))
    computes = pair.quiet and not (into or named or known.altering)
    forward = Call(replace(pair.forward, computes=computes), args, (*kwargs, *named), call.node)
    operands: list[Expr] = [Var(saved)] if pair.saves else []
    operands += held.values()
    seeds = {i: _seed(state, given[i], paired.bars.get(given[i])) for i in pair.seeded}
    operands += [state.make.narrow(g) if i in pair.spread else g for i, g in seeds.items()]
    operands += [shadow_of[param] for param in pair.reverse_shadows]
    for target, argument in same.items():
        assert isinstance(argument, Var)
        state.make.after.append(Assign(target, argument, stmt.origin))
        passed_on = shadows.of(argument.name)
        if target in shadows.names:
            shadows.define(target, passed_on)
        if (bar := paired.bars.get(target)) is not None:
            state.make.emit(Store(passed_on, ELLIPSIS, _seed(state, target, bar), "+", state.make.origin))
    for target, shadow in views.items():
        if (bar := paired.bars.get(target)) is not None:
            # To the caller the result is an array of its own; the callee takes its adjoint from the shadow alone.
            state.make.of[shadow] = state.make.of[target]
            state.make.emit(Store(Var(shadow), ELLIPSIS, _seed(state, target, bar), "+", state.make.origin))
            shadows.names[target] = shadow
    bar = paired.bars.get(targets[0]) if pair.by_element and len(targets) == 1 else None
    selection = state.make.selected.get(bar.name) if isinstance(bar, Var) else None
    selection = None if selection is not None and selection.rarely else selection
    _reverse_half(state, pair, Call(pair.reverse, tuple(operands)), bound, selection)
    if pair.quiet and not pair.saves and not pair.seeded and (not outs or isinstance(stmt, Evaluate)):
        return Evaluate(forward, stmt.origin, into)
    return receiving(outs, forward, stmt)


def _refuse_entangled(state: State, call: Call, made: list[str], targets: tuple[str, ...]) -> None:
    """Note results with shadows of their own that may share an object which the call has made."""
    known = state.effects.calls.get(call)
    if len(made) > 1 and (known is None or known.entangles([targets.index(t) for t in made])):
        state.refusals.refuse_buffer(call.node)


def _argument(state: State, value: Expr) -> Expr:
    """An argument as the reverse part can give it once more."""
    if isinstance(value, Var) and value.name in state.effects.versions:
        return state.later.kept(value)
    return value if isinstance(value, (Var, Const)) else state.make.hold(state.make.fresh("~t"), value)


def _dropped(state: State, fact: Fact = OPEN) -> str:
    """A name of ours for a result."""
    name = state.make.fresh("~t")
    state.make.of[name] = state.make.named(fact, name)
    return name


def _seed(state: State, target: str, bar: Expr | None) -> Expr:
    """The adjoint of a result for the reverse half."""
    if target in state.shadows.names:
        return Var(state.shadows.names[target])
    if bar is None:
        return state.adjoints.zero(target)
    fact = state.make.of[target]
    return state.adjoints.real_as(Var(target), state.adjoints.realised(bar, fact), fact)


def _reverse_half(
    state: State, pair: Pair, value: Call, bound: Mapping[str, Expr], selection: Selection | None
) -> None:
    """Call the reverse half and contribute the adjoints that it returns, or a selection of each."""
    if not pair.wrt:
        if value.args:
            state.make.emit(Evaluate(value, state.make.origin))
        return
    bars = [state.make.bar(name) for name in pair.wrt]
    facts = [replace(state.make.fact(bound[name]), real=name in pair.real) for name in pair.wrt]
    # A function that takes a list for an array returns an array as its adjoint.
    facts = [f if f.numeric else OPEN if f.kind == "list" else replace(f, shape=None) for f in facts]
    _received(state, bars, facts, value, [bound[name] for name in pair.wrt], selection)


def _received(
    state: State,
    bars: list[str],
    facts: list[Fact],
    value: Call,
    operands: list[Expr],
    selection: Selection | None = None,
) -> None:
    """Name the adjoints that a reverse half returns and contribute them to the operands, or a selection of each."""
    state.make.of.update(dict(zip(bars, facts, strict=True)))
    # What a reverse half returns nothing else refers to.
    state.adjoints.owned.update(bars)
    origin = state.make.origin
    state.make.emit(Assign(bars[0], value, origin) if len(bars) == 1 else Unpack(tuple(bars), value, None, origin))
    for bar, operand in zip(bars, operands, strict=True):
        if selection is None or not selection.is_mask or state.make.of[bar].shape == SCALAR_SHAPE:
            state.adjoints.contribute(operand, Var(bar), moved=True)
        else:
            chosen = replace(selection, whole=Var(bar), name=None)
            state.adjoints.contribute(operand, chosen(Var(bar)), selection=chosen)


def _unpacked_call(state: State, stmt: Unpack, paired: _Paired) -> Stmt:
    """The adjoint of ``a, b = f(x)`` where ``f`` builds the tuple somewhere inside."""
    adjoints = state.adjoints
    if not state.storage.buffers.isdisjoint(stmt.targets):
        state.refusals.refuse_buffer(paired.call.node)
        return stmt
    whole = _dropped(state)
    adjoints.active.add(whole)
    again = replace(stmt, value=Var(whole))
    adjoints.of.update({target: bar for target, bar in paired.bars.items() if bar is not None})
    unpack(state, again)
    state.make.after.append(again)
    return _halves_called(state, stmt, replace(paired, bars={whole: adjoints.take(whole)}), (whole,))


def _packed_call(state: State, stmt: Assign, paired: _Paired) -> Stmt:
    """The adjoint of ``t = f(x)`` where ``f`` returns several results, or None."""
    if stmt.target in state.storage.buffers or paired.pair.views:
        state.refusals.refuse_buffer(paired.call.node)
        return stmt
    whole = state.make.of[stmt.target]
    results = tuple([_dropped(state, item_of(whole, i)) for i in range(paired.pair.count or 0)])
    value = Build("tuple", tuple(Var(r) for r in results)) if results else Const(None)
    state.make.after.append(Assign(stmt.target, value, stmt.origin))
    bar = paired.bars.get(stmt.target)
    if isinstance(bar, Build) and len(bar.items) != len(results):
        bar = None  # what comes of this fails when it runs
    parts = {r: None if bar is None else state.adjoints.item(bar, Const(i)) for i, r in enumerate(results)}
    return _halves_called(state, stmt, replace(paired, bars=parts), results)


def unchanging_call(call: Call, varied: Set[str], op: Op | None = None) -> Call:
    """A call met at run time of which no derivative is needed, with the check that it changes nothing."""
    callee, *args = call.args
    given = [k for k, v in met_operands(call).items() if not varied.isdisjoint(names_in(v))]
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
