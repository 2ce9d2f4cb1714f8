"""The adjoints of statements that make, view or change what has a shadow."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np

from s2sad.analysis.infer import are_alike
from s2sad.analysis.sharing import copies, may_view, sharing
from s2sad.differentiate.builder import COPY, INDEX
from s2sad.differentiate.cuts import by_place
from s2sad.differentiate.items import item
from s2sad.differentiate.later import OWN
from s2sad.differentiate.operations import ruled
from s2sad.differentiate.reverse_state import State
from s2sad.differentiate.selecting import selection_at
from s2sad.differentiate.stores import (
    CONTAINERS,
    ELLIPSIS,
    gives_its_own,
    holds,
    holds_containers,
    is_slice_of_list,
    may_be_none,
)
from s2sad.ir import algebra
from s2sad.ir.nodes import UNSET, Assign, Build, Call, Const, Evaluate, Expr, Op, Opaque, Origin, Store, Var
from s2sad.ir.traverse import base, names_in
from s2sad.runtime import add_copy, own, stop_gradient, unbroadcast
from s2sad.runtime.objects import plain
from s2sad.runtime.shadows import each_once

_APPEND = Op("method", "append", list.append)
#: What takes the last item out of the shadow of a list.
TAKE_LAST = Op("method", "pop", list.pop, pure=False)
_EACH_ONCE = Op("runtime", "each_once", each_once)
_ADD_COPY = Op("runtime", "add_copy", add_copy, pure=False)


def buffer_assign(state: State, stmt: Assign) -> None:
    """The adjoint of a statement that makes, views or names a buffer."""
    shadows, storage, refusals = state.shadows, state.storage, state.refusals
    target, value = stmt.target, stmt.value
    kind, made = state.make.of[target].kind, target in shadows.names
    if value == UNSET or (value == Const(None) and _is_else_array(state, target)):
        if made:
            shadows.define(target, value)
        return
    if not holds(state.make.of[target]):
        refusals.refuse_buffer(getattr(value, "node", None) or stmt.origin.line, target)
        return
    if target in storage.stopped:
        if isinstance(value, Call) and value.op.kind == "inplace":
            # The result is a constant to its own name, and was a derivative to the others.
            refusals.refuse_stopped(stmt.origin.line)
        elif made:
            shadows.define(target, shadows.stopped(value))
        return
    match value:
        case Var() if storage.is_buffer(value):
            if value.name in storage.stopped:
                refusals.refuse_stopped(stmt.origin.line)
            if made:
                shadows.define(target, shadows.of(value.name))
        case Call(op=Op(function=check), args=(Var() as first, *_)) if check is plain and storage.is_buffer(first):
            # It is the very object, which has been looked at.
            if made:
                shadows.define(target, shadows.of(first.name))
        case Build():
            if made:
                shadows.define(target, shadows.displayed(value, Var(target)))
                _undisplayed(state, value, shadows.of(target))
        case Call(op=Op(kind="inplace")):
            _augmented(state, value, target)
        case Call(op=Op(kind="change")):
            _changed(state, value, target)
        case Call() if _copies_numbers(state, value, target):
            _new(state, stmt, value)
        case Call(op=Op(kind="operator")) if kind in CONTAINERS:
            _repeated(state, value, target)
        case Call(args=(Var() as first, *_)) if storage.is_buffer(first) and _is_viewing(state, value, first):
            _viewed(state, value, first, target)
        case Call():
            _new(state, stmt, value)
        case Opaque() if gives_its_own(value, (target,), state.effects, state.make.fact):
            if made:
                shadows.define(target, shadows.made_zero(target, value))
        case _:
            refusals.refuse_buffer(stmt.origin.line)


def _is_viewing(state: State, value: Call, first: Var) -> bool:
    """Whether the result of an operation may be ``first`` or a part of it, or is a copy of it as a container."""
    copied = value.op.name == "copy" and state.make.of[first.name].kind in CONTAINERS
    return copied or value.op.kind == "index" or sharing(value, state.make.fact) != "fresh"


def _viewed(state: State, value: Call, first: Var, target: str) -> None:
    """The shadow of a view of a buffer, of an item, or of a copy of a container."""
    shadows, made = state.shadows, target in state.shadows.names
    if value.op.name == "copy" and state.make.of[first.name].kind in CONTAINERS:
        # The copy holds the same arrays, and numbers of its own.
        if not shadows.holds_arrays(first):
            state.refusals.refuse_buffer(value.node)
        elif made:
            shadows.define(target, replace(value, args=(shadows.of(first.name),)))
        return
    view = shadows.viewed(value)
    if view is None and value.op.kind == "index" and copies(value.args[1], state.make.fact):
        if made:
            shadows.define(target, shadows.made_zero(target, value))
            item(state, first, value.args[1], shadows.of(target))
    elif view is None:
        state.refusals.refuse_buffer(value.node)
    elif made:
        shadows.define(target, view)
        if value.op.kind != "index" and may_view(value.op.function):
            order = dict(value.kwargs).get("order")
            if value.op.function is np.ravel and len(value.args) > 1:
                order = value.args[1]
            given = (shadows.of(first.name), shadows.of(target), *((order,) if order else ()))
            state.make.emit(Evaluate(Call(_ADD_COPY, given), state.make.origin))


def _new(state: State, stmt: Assign, value: Call) -> None:
    """The adjoint of an operation whose result is a buffer of its own."""
    shadows, adjoints, target = state.shadows, state.adjoints, stmt.target
    alone = value.op.function is stop_gradient and target not in state.effects.stops
    near = state.effects.group.get(target, frozenset()) & set(names_in(value))
    is_own = sharing(value, state.make.fact) == "fresh" or _copies_numbers(state, value, target)
    if near and not alone and not is_own and target not in state.storage.heirs:
        for name in sorted(near):
            state.refusals.refuse_buffer(value.node or state.make.origin.line, name)
        return
    if target not in shadows.names:
        return
    shadows.define(target, shadows.made_zero(target, value))
    bar = shadows.settled(target, state.make.after)
    if not adjoints.is_active(value):
        return
    if value.op.function is own or value.op.function is np.copy:
        adjoints.owned.add(bar.name)
        selection = selection_at(state, Var(target), bar)
        adjoints.contribute(value.args[0], bar, moved=True, selection=selection)
    elif value.op.kind == "index":
        item(state, value.args[0], value.args[1], bar)
    else:
        shared = value.op.function is deepcopy and holds_containers(state.make.of[target])
        ruled(state, value, Var(target), Call(_EACH_ONCE, (bar,)) if shared else bar)


def _changed(state: State, value: Call, target: str) -> None:
    """Change the shadow of a container that holds buffers as the container is changed."""
    shadows, storage, fact = state.shadows, state.storage, state.make.fact
    whole, *operands = value.args
    if not (isinstance(whole, Var) and storage.is_buffer(whole)):
        state.refusals.refuse_buffer(value.node)
        return
    made = target in shadows.names
    if target in storage.same and storage.is_number_put(value, fact):
        _number_put(state, value, shadows.of(target))
        return
    if value.op.name not in ("pop", "moved"):
        *place, put = operands
        if value.op.name == "append" and fact(put).kind == "scalar" and are_alike(fact(whole), fact(put)):
            if made:
                _number_appended(state, shadows.of(whole.name), put, target)
            return
        if state.adjoints.is_active(put) and not storage.is_buffer(put):
            what = "a number that is differentiated is put into a container of arrays that are written in place"
            state.refusals.refuse(value.node, what, "Keep it in a variable or container of its own.")
            return
        operands = [*place, shadows.part(put, put)]
        if storage.is_put_back(value, fact):
            # The array has changed, and is where it was.
            if made and target not in storage.same:
                shadows.define(target, shadows.of(whole.name))
            return
    elif made and (known := fact(whole)).kind in ("list", "dict") and not shadows.holds_arrays(whole):
        if value.op.name != "pop" or known.kind != "list" or operands:
            state.refusals.refuse_buffer(value.node)
            return
        # What is taken off in the forward part is zero by then, and its place there again before it is read.
        state.make.emit(appended_to(shadows.of(target), Const(0.0), state.make.origin))
    if made:
        how = value.op
        if how.name.startswith("."):
            # The shadow of a dataclass is a dict.
            how, operands = Op("change", "[]"), [Const(how.name[1:]), *operands]
        shadows.define(target, Call(how, (shadows.of(whole.name), *operands)))


def appended_to(whole: Expr, item: Expr, origin: Origin) -> Store:
    """``whole.append(item)`` of the shadow or the tangent of a list."""
    return Store(whole, Const(-1), item, None, origin, Call(_APPEND, (whole, item)))


def _number_appended(state: State, bar: Var, put: Expr, target: str) -> None:
    """The adjoint of a number after the last of a list: its shadow is longer until then."""
    state.shadows.define(target, bar)
    state.make.after.append(appended_to(bar, Const(0.0), state.make.origin))
    taken = Call(TAKE_LAST, (state.shadows.of(target),))
    if state.adjoints.is_active(put):
        state.adjoints.contribute(put, state.make.let(state.make.fresh("~t_bar"), taken, state.make.fact(put)))
    else:
        state.make.emit(Evaluate(taken, state.make.origin))


def _number_put(state: State, change: Call, bar: Var) -> None:
    """The adjoint of a number that takes the place of another in a container: of an element, as it were."""
    *place, put = change.args[1:]
    key = state.later.kept(place[0]) if place else Const(change.op.name[1:])
    g = state.make.let(state.make.fresh("~t_bar"), Call(INDEX, (bar, key)), state.make.fact(put))
    state.make.emit(Store(bar, key, Const(0.0), None, state.make.origin))
    if state.adjoints.is_active(put):
        state.adjoints.contribute(put, g)


def _copies_numbers(state: State, value: Call, target: str) -> bool:
    """Whether a call makes a list of its own of the numbers in others."""
    fact, op = state.make.of[target], value.op
    held = [fact.each] if fact.items is None else [item for _, item in fact.items]
    of_numbers = fact.kind == "list" and all(item is not None and item.kind == "scalar" for item in held)
    copied = op.kind == "operator" or op.function is list or (op.kind == "method" and op.name == "copy")
    return of_numbers and (copied or (op.kind == "index" and is_slice_of_list(value, state.make.fact)))


def _repeated(state: State, value: Call, target: str) -> None:
    """The shadow of a sum of lists, or of a list times a number: the same, of the shadows."""
    shadows = state.shadows
    lists = value.args if value.op.name == "+" else value.args[:1]
    if value.op.name not in ("+", "*") or not all(
        state.storage.is_buffer(e) and shadows.holds_arrays(e) for e in lists
    ):
        state.refusals.refuse_buffer(value.node)
    elif target in shadows.names:
        parts = [shadows.of(e.name) if isinstance(e, Var) and e in lists else e for e in value.args]
        shadows.define(target, Call(value.op, tuple(parts)))


def _undisplayed(state: State, value: Build, bar: Expr) -> None:
    """Hand the parts of a display's shadow that are no shadows themselves to the items."""
    adjoints = state.adjoints
    parts, items = by_place(state.make, value, bar, adjoints.loose)
    for place, put in items:
        if state.storage.is_buffer(put) or not adjoints.is_active(put):
            continue
        part = adjoints.item(parts, place)
        if isinstance(put, Build):
            _undisplayed(state, put, part)
        else:
            adjoints.contribute(put, part)


def _is_else_array(state: State, target: str) -> bool:
    """Whether a variable that is None here is an array, or may be, wherever it is something else."""
    of = state.make.of
    others = [fact for name, fact in of.items() if base(name) == base(target) and fact.kind != "none"]
    return all(fact.kind in ("array", "numeric") or may_be_none(fact) for fact in others)


def _augmented(state: State, value: Call, target: str) -> None:
    """The adjoint of ``a op= e`` for an array."""
    make, shadows = state.make, state.shadows
    left, right = value.args
    if make.fact(left).kind in CONTAINERS:
        # A list and an array make a new array; with what else there is the list is joined, or repeated.
        what = f"{value.op.name}= of a list or tuple that is differentiated"
        state.refusals.refuse(value.node, what, "Make an array of it before, with np.array(...), or append items.")
        return
    if not (isinstance(left, Var) and state.storage.is_buffer(left)) or make.of[target].kind != "array":
        state.refusals.refuse_buffer(value.node, target)
        return
    bar = shadows.of(left.name)
    if target in shadows.names and shadows.of(target) != bar:
        shadows.define(target, bar)
    if value.op.name in ("+", "-"):
        if state.adjoints.is_active(right):
            g = make.unbroadcast(bar, right)
            minus = (value.op.name == "-") != state.storage.is_turned(left)
            give(state, right, algebra.negate(g) if minus else _apart(state, g))
        return
    g = make.let(make.fresh("~t_bar"), shadows.taken_out(left, bar), make.of[bar.name])
    make.emit(Store(bar, ELLIPSIS, Const(0.0), None, make.origin))
    ruled(state, value, Var(target), g)


def give(state: State, x: Expr, g: Expr, moved: bool = False) -> None:
    """Add ``g`` to the adjoint of what is written; that of a real one, written into a complex array, is real."""
    real = state.adjoints.realised(g, state.make.fact(x))
    state.adjoints.contribute(x, real, moved=moved and real is g)


def _apart(state: State, g: Expr) -> Expr:
    """``g`` as a value: a shadow goes on changing, and what fits comes back from ``unbroadcast`` as it is."""
    if isinstance(g, Call) and g.op.function is unbroadcast:
        return Call(OWN, (g,))
    return Call(COPY, (g,)) if isinstance(g, Var) and g.name in state.shadows.names.values() else g
