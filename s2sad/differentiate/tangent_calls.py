"""The tangents of calls: of functions that have source, and of what is known at run time only.

y = f(u, v)                             y, y_dot = f_jvp(u, v, u_dot=u_dot)
y = layer.forward(x)                    y, y_dot = pushed(layer.forward, (0,), (x_dot,), x)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from s2sad.analysis.summaries import Context, bound_operands
from s2sad.differentiate.known import sharing_params, site_of
from s2sad.differentiate.statements import met_operands, receiving
from s2sad.differentiate.tangent_state import State
from s2sad.errors import SourceError, UnsupportedError
from s2sad.frontend.unfollowed import of_unknown
from s2sad.ir.nodes import Assign, Build, Call, Const, Evaluate, Expr, Op, Stmt, Unpack, Var
from s2sad.ir.traverse import names_in
from s2sad.ir.types import item_of
from s2sad.runtime.calls import pushed, pushed_apart, pushed_fresh

_PUSHED = {
    "": Op("runtime", "pushed", pushed, pure=False),
    "apart": Op("runtime", "pushed_apart", pushed_apart, pure=False),
    "fresh": Op("runtime", "pushed_fresh", pushed_fresh, pure=False),
}


def user_call(state: State, stmt: Assign | Unpack | Evaluate, call: Call, targets: tuple[str, ...]) -> Stmt:
    """A call of a function that has source: of its tangent, if something active goes in or is written."""
    bound = bound_operands(call)
    active = tuple([name for name, value in bound.items() if state.tangents.is_active(value)])
    written = [t for t in state.effects.written_by(stmt) if t in state.dots]
    if not active or not (written or any(t in state.dots for t in targets)):
        state.zeroed(targets, call)
        return stmt
    site = site_of(state.known, call, active, _context(state, bound), state.make.fact)
    try:
        made = state.known.callees.tangent(site)
    except (UnsupportedError, SourceError) as error:
        state.refusals.refuse_call(call, error)
        return stmt
    given = tuple([(dot, state.tangents.held(bound[param])) for param, dot in made.params])
    value = Call(made.function, call.args, (*call.kwargs, *given), call.node)
    if made.count is None:
        if isinstance(stmt, Evaluate):
            outs = [state.dropped(), state.dropped()]
        elif isinstance(stmt, Unpack):
            outs = [state.dropped(), state.dropped()]
            state.make.after.insert(0, replace(stmt, value=Var(outs[0])))
            dots = tuple(map(state.dot_or_dummy, targets))
            if made.active:
                state.make.emit(replace(stmt, targets=dots, value=Var(outs[1])))
            else:
                state.zeroed(targets, call)
        else:
            outs = [targets[0], state.dot_or_dummy(targets[0])]
            if not made.active:
                outs[1] = state.dropped()
                state.zeroed(targets, call)
        if not made.active:
            outs.pop()
        return receiving(outs, value, stmt)
    if isinstance(stmt, Unpack) and len(targets) != made.count:
        return receiving([*targets], value, stmt)  # it raises, as it did
    results = list(targets) if isinstance(stmt, Unpack) else [state.dropped() for _ in range(made.count)]
    dots_of = {i: state.dot_or_dummy(results[i]) if isinstance(stmt, Unpack) else state.dropped() for i in made.active}
    if isinstance(stmt, Unpack):
        state.zeroed([t for i, t in enumerate(results) if i not in made.active], call)
    elif isinstance(stmt, Assign):
        whole = state.make.of[stmt.target]
        for i, name in enumerate(results):
            state.make.of[name] = state.make.named(item_of(whole, i), name)
        items = Build("tuple", tuple(map(Var, results))) if made.count else Const(None)
        state.make.after.insert(0, Assign(stmt.target, items, stmt.origin))
        if stmt.target in state.dots:
            parts = [Var(dots_of[i]) if i in dots_of else state.tangents.zeros(Var(r)) for i, r in enumerate(results)]
            state.define(stmt.target, Build("tuple", tuple(parts)) if made.count else Const(None))
    return receiving([*results, *dots_of.values()], value, stmt)


def _context(state: State, bound: Mapping[str, Expr]) -> Context:
    """What the callee has to know of its arguments: which of them are written, and may share memory."""
    buffers = frozenset(param for param, value in bound.items() if any(map(state.is_buffer, names_in(value))))
    same = sharing_params(bound, state.make.of, state.effects) if buffers else ()
    return Context(same, buffers, tried=state.tried)


def met_call(state: State, stmt: Assign, target: str, call: Call) -> Stmt:
    """A call of which it is known at run time only what it runs."""
    callee, *args = call.args
    if state.tangents.is_varied(callee):
        state.refusals.refuse(call.node, *of_unknown(call.op.name))
        return stmt
    operands = met_operands(call)
    active = [k for k, v in operands.items() if state.tangents.is_active(v)]
    if not active or target not in state.dots:
        state.zeroed([target], call)
        return stmt
    which = Build("tuple", tuple(map(Const, active)))
    dots = Build("tuple", tuple([state.tangents.held(operands[k]) for k in active]))
    value = Call(_PUSHED[call.op.checked], (callee, which, dots, *args), call.kwargs, call.node)
    return Unpack((target, state.dots[target]), value, None, stmt.origin)
