"""The tangents of writes into arrays: the same writes, into the tangents of the arrays."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

import numpy as np

from s2sad import ops
from s2sad.analysis.infer import Facts
from s2sad.analysis.sharing import sharing
from s2sad.analysis.versions import appends, appends_alike
from s2sad.differentiate.builder import INDEX
from s2sad.differentiate.stores import (
    CONTAINERS,
    ELLIPSIS,
    READS_ITS_OUTPUT,
    check_of_flat,
    is_view_index,
    makes_fresh,
    mirrors,
    reads_what_it_writes,
    takes_part,
)
from s2sad.differentiate.tangent_state import State
from s2sad.differentiate.tangents import COPYING
from s2sad.differentiate.writes import appended_to
from s2sad.frontend import operators
from s2sad.ir.nodes import Build, Call, Const, Evaluate, Expr, Function, Op, Store, Var
from s2sad.ir.traverse import names_in, walk
from s2sad.ir.types import Fact, same_dtype, same_shape
from s2sad.runtime import own, require_floats
from s2sad.runtime.items import require_ndarray, require_replaceable
from s2sad.runtime.tangents import assigned, broadcast_like, placed_tangent
from s2sad.runtime.zero_tangents import joined_tangent, own_tangent, viewed_tangent, viewed_tangents

#: What gives views that cannot be written.
_READ_ONLY = (np.diag, np.diagonal, np.linalg.diagonal)
_OWN = Op("runtime", "own", own)
_OWN_TANGENT = Op("runtime", "own_tangent", own_tangent)
_JOINED_TANGENT = Op("runtime", "joined_tangent", joined_tangent)
_VIEWED_TANGENT = Op("runtime", "viewed_tangent", viewed_tangent)
_VIEWED_TANGENTS = Op("runtime", "viewed_tangents", viewed_tangents)
_ASSIGNED = Op("runtime", "assigned", assigned, pure=False)
_PLACED_TANGENT = Op("runtime", "placed_tangent", placed_tangent)
_REQUIRE_FLOATS = Op("runtime", "require_floats", require_floats, pure=False)
_REQUIRE_REPLACEABLE = Op("runtime", "require_replaceable", require_replaceable, pure=False)
_REQUIRE_NDARRAY = Op("runtime", "require_ndarray", require_ndarray, pure=False)
_MAYBE_NUMBERS = ("scalar", "numeric")
_FUNCTIONS = dict(operators.BINARY.values())


def owned(state: State, target: str, value: Expr, dot: Expr) -> Expr:
    """The tangent of a value as an object of its own, where that is one and may be written in place."""
    if _is_kept(state, target, value) or isinstance(dot, Const):
        return dot
    if state.make.of[target].kind == "scalar":
        return _as_number(state, dot, Var(target))
    if isinstance(value, (Var, Build)) or (isinstance(value, Call) and value.op.kind == "change"):
        return dot
    if isinstance(value, Call) and not _is_fresh(state, value):
        return _viewed(state, target, value, dot)
    if isinstance(value, Call) and value.op.function in COPYING and not state.effects.reshapes:
        return dot
    known, fact = state.make.fact(dot), state.make.of[target]
    if fact.kind in CONTAINERS:
        return _owned_items(state, target, value, dot) if isinstance(value, Call) else Call(_OWN, (dot,))
    fits = same_shape(known, fact) and same_dtype(known, fact)
    if not state.is_written(target) and isinstance(dot, Call) and makes_fresh(dot):
        return dot
    exact = known.kind == fact.kind == "array" and fits and not state.effects.reshapes
    if exact and isinstance(dot, Call) and (makes_fresh(dot) or dot.op.function in (np.zeros_like, np.copy, own)):
        return dot
    return Call(_JOINED_TANGENT if _may_join(value, fact) else _OWN_TANGENT, (bare(dot), Var(target)))


def _may_join(value: Expr, fact: Fact) -> bool:
    """Whether an operation may make a list, tuple or dict of the items of its operands."""
    return (
        fact.kind == "open"
        and isinstance(value, Call)
        and value.op.kind == "operator"
        and value.op.name in ("+", "*", "|")
    )


def _owned_items(state: State, target: str, value: Call, dot: Expr) -> Expr:
    """The tangents of several results, each of which may be or view that of an operand, as objects of their own."""
    rule = ops.find(value.op.function)
    if isinstance(dot, Call) and rule is not None and rule.kind == "general" and state.is_written(target):
        return Call(_OWN_TANGENT, (dot, Var(target)))
    if not isinstance(dot, Build) or dot.kind == "dict":
        return dot
    items = list(dot.items)
    for n, item in enumerate(items):
        is_fresh = isinstance(item, Call) and makes_fresh(item)
        if not (is_fresh or isinstance(item, Const) or state.make.fact(item).kind == "scalar"):
            items[n] = Call(_OWN_TANGENT, (bare(item), Call(INDEX, (Var(target), Const(n)))))
    return replace(dot, items=tuple(items))


def _is_kept(state: State, target: str, value: Expr) -> bool:
    """Whether nothing writes into a value or its operands, and callers do not have it either."""
    return target not in state.returned and not any(map(state.is_written, (target, *names_in(value))))


def _as_number(state: State, dot: Expr, like: Expr) -> Expr:
    """The tangent of a number as one: that of an array without axes, of which the number is made, may be written."""
    is_number = state.make.fact(dot).kind == "scalar" or (isinstance(dot, Call) and makes_fresh(dot))
    return dot if is_number else Call(_OWN_TANGENT, (bare(dot), like))


def _viewed(state: State, target: str, value: Call, dot: Expr) -> Expr:
    """The tangent of what may be, or view, an operand: the same of the tangent of that, which has the same layout."""
    first = value.args[0] if value.args else None
    rule = ops.find(value.op.function)
    if rule is None or first is None or value.op.kind in ("index", "ifexp", "user", "met"):
        return dot
    if any(value.op.function is one for one in (viewed_tangent, viewed_tangents)):
        # The tangent of a tangent is the same part of that of the other.
        return dot
    whole = state.make.fact(first)
    if whole.kind in CONTAINERS or not state.tangents.is_active(first):
        return dot
    first_dot = state.tangents.held(first)
    if state.make.of[target].kind in CONTAINERS:
        return _all_viewed(state, target, value, dot)
    # Nothing is written through a view that may only be read.
    mirrored = mirrors(value) or any(value.op.function is one for one in _READ_ONLY)
    viewing = rule.result in ("view", "maybe_view") or sharing(value, state.make.fact) == "view"
    # Whether it converts is another question to tangents, which are floats of what are whole numbers as well.
    converts = "dtype" in rule.parameters and not whole.precision and (len(value.args) > 1 or bool(value.kwargs))
    if viewing and mirrored and not converts and not value.op.checked and whole.kind == "array":
        return replace(value, args=(first_dot, *value.args[1:]))
    return Call(_VIEWED_TANGENT, (Var(target), first, first_dot, bare(dot)))


def _all_viewed(state: State, target: str, value: Call, dot: Expr) -> Expr:
    """The tangent of several results that may be, or view, operands."""
    rule = ops.find(value.op.function)
    if rule is not None and rule.result == "view" and mirrors(value):
        return dot
    names = [n for n in dict.fromkeys(names_in(value)) if n in state.dots and state.make.of[n].kind != "scalar"]
    if any(state.make.of[n].kind in ("other", "dataclass", "record") for n in names):
        what = f"what {value.op.name} gives may be parts of arrays, which are written in place"
        state.refusals.refuse(state.make.origin.line, what, "Take copies of its results, or of what it is given.")
    sources, dots = (Build("tuple", tuple(map(Var, part))) for part in (names, [state.dots[n] for n in names]))
    return Call(_VIEWED_TANGENTS, (Var(target), sources, dots, dot))


def bare(dot: Expr) -> Expr:
    """A tangent as it is before it is broadcast, for what does that itself."""
    while isinstance(dot, Call) and dot.op.function in (broadcast_like, np.broadcast_to):
        dot = dot.args[0]
    return dot


def _is_fresh(state: State, value: Call) -> bool:
    """Whether the result of an operation is a new object."""
    if value.op.kind == "index":
        whole = state.make.fact(value.args[0])
        return whole.kind == "array" and _copies(state, value.args[1])
    return sharing(value, state.make.fact) == "fresh"


def _copies(state: State, index: Expr) -> bool:
    """Whether indexing an array so surely makes a copy."""
    parts = index.items if isinstance(index, Build) else (index,)
    return any(state.make.fact(p).kind in ("array", "list") for p in parts if not isinstance(p, Const))


def _added(state: State, target: str, symbol: str, left: Expr, dot: Expr) -> None:
    """``x_dot += dot`` after ``x += e``."""
    state.make.out = state.make.after
    state.define(target, Call(Op("inplace", symbol, _FUNCTIONS[symbol]), (left, dot)))


def augmented(state: State, target: str, call: Call) -> None:
    """The tangent of ``x op= e``: that of ``x op e``, found before ``x`` changes, written into that of ``x``."""
    left = call.args[0]
    state.make.out = state.make.before
    plain = Call(Op("operator", call.op.name, call.op.function), call.args, (), call.node)
    kind = state.make.of[target].kind
    grows = kind != "scalar" and state.make.fact(left).kind == "scalar"  # a number that becomes an array
    in_place = state.is_buffer(target) and isinstance(left, Var) and left.name in state.dots and not grows
    if in_place and call.op.name in ("+", "-") and kind == "array":
        assert isinstance(left, Var)
        right = state.tangents.of(call.args[1])
        if right is not None:
            _added(state, target, call.op.name, Var(state.dots[left.name]), right)
        else:
            state.define(target, Var(state.dots[left.name]))
        return
    if in_place and call.op.name == "+" and kind != "scalar":
        # What may be a list takes the items of the other operand, whatever that is; `l += t` is not `l = l + t`.
        assert isinstance(left, Var)
        _added(state, target, "+", Var(state.dots[left.name]), state.tangents.items(call.args[1]))
        return
    if kind == "scalar" and call.op.name in ("+", "-") and isinstance(left, Var) and left.name in state.dots:
        _added(state, target, call.op.name, Var(state.dots[left.name]), state.tangents.held(call.args[1]))
        return
    if (kind in ("list", "tuple") and in_place) or state.tangents.merges(call):
        dot = state.tangents.of_call(call, plain)
    else:
        z: Expr = plain
        dot = state.tangents.of_call(plain, z) if state.tangents.is_active(plain) else None
    if not in_place:
        made = state.tangents.zeros(plain) if dot is None else dot
        if grows and state.is_buffer(target):
            held = state.make.let(state.make.fresh("~t_dot"), bare(made))
            state.make.out = state.make.after
            state.define(target, Call(_OWN_TANGENT, (held, Var(target))))
            return
        is_fresh = isinstance(made, Call) and makes_fresh(made)  # `broadcast_like` may be the tangent of the operand
        if kind == "scalar" and dot is not None and not _is_kept(state, target, plain):
            made = _as_number(state, made, left)
        elif isinstance(left, Var) and kind != "scalar" and not is_fresh:
            made = Call(_OWN, (made,))
        state.define(target, made)
        return
    assert isinstance(left, Var)
    old = Var(state.dots[left.name])
    new = dot if dot is not None else state.tangents.zeros(left)
    if kind == "array":
        state.make.emit(Store(old, ELLIPSIS, bare(new), None, state.make.origin))
        state.define(target, old)
    else:
        state.define(target, Call(_ASSIGNED, (old, new)))


def store(state: State, stmt: Store) -> None:
    """The tangent of ``base[index] = value`` and ``base[index] op= value``: a store into that of the base."""
    whole = state.tangents.of(stmt.base)
    value = stmt.value
    if (check := check_of_flat(stmt, state.effects.group)) is not None:
        state.make.before.append(check)
    if whole is None:
        if state.tangents.is_active(value) and not state.known.activity.is_unused(stmt.base):
            what = "a value that is differentiated is written into an array that is not, as far as is known"
            state.refusals.refuse(stmt.origin.line, what, "Make the array in this function (np.zeros(...)).")
        return
    if appends(stmt):
        _appended(state, stmt, whole)
        return
    if isinstance(stmt.base, Var) and state.tangents.is_active(value) and state.make.of[stmt.base.name].precision == "":
        state.make.before.append(Evaluate(Call(_REQUIRE_FLOATS, (stmt.base,)), stmt.origin))
    if stmt.op is not None and state.tried and state.make.fact(stmt.base).kind not in ("array", "list", "dict"):
        # The item of a tuple is changed before the assignment raises.
        state.make.before.append(Evaluate(Call(_REQUIRE_REPLACEABLE, (stmt.base, stmt.index)), stmt.origin))
    if stmt.call is not None and not _is_accepted(state, stmt, stmt.call):
        return
    if stmt.call is not None and stmt.call.op.kind == "method" and state.make.fact(stmt.base).kind in _MAYBE_NUMBERS:
        # The methods of NumPy's numbers write nothing.
        state.make.before.append(Evaluate(Call(_REQUIRE_NDARRAY, (stmt.base,)), stmt.origin))
    if stmt.op is not None and stmt.call is not None:
        _unbuffered(state, stmt, stmt.call, whole)
        return
    if stmt.op in (None, "+", "-"):
        dot = state.tangents.of(value)
        if stmt.op is not None and state.make.fact(stmt.base).kind != "array":
            dot = state.tangents.items(value)
        if dot is None and stmt.op is not None:
            return
        made = Const(0.0) if dot is None else dot
        given = value.name if isinstance(value, Var) else ""
        if isinstance(made, Var) and state.is_buffer(given) and state.make.fact(stmt.base).kind != "array":
            # An array takes the numbers, from where they overlap in the order in which it took those of the value.
            made = Call(_PLACED_TANGENT, (whole, made))
        if stmt.call is not None and takes_part(stmt, stmt.call) and not is_view_index(stmt.index, state.make.fact):
            # The call may be given a copy of a part; then nothing hears of what it writes, here neither.
            part = state.make.let(state.make.fresh("~t_dot"), Call(INDEX, (whole, stmt.index)))
            state.make.emit(Store(part, ELLIPSIS, made, None, stmt.origin))
            return
        state.make.emit(Store(whole, stmt.index, made, stmt.op, stmt.origin))
        return
    state.make.out = state.make.before
    item = Call(INDEX, (stmt.base, stmt.index))
    old = state.make.let(state.make.fresh("~t"), item)
    old_dot = state.make.let(state.make.fresh("~t_dot"), Call(INDEX, (whole, stmt.index)))
    state.dots[old.name] = old_dot.name
    call = Call(Op("operator", stmt.op, _FUNCTIONS[stmt.op]), (old, value))
    dot = state.tangents.of_call(call, call)
    assert dot is not None
    if state.make.fact(stmt.base).kind != "array":
        # Where the base is no array, its item may be one that has other names.
        dot = Call(_ASSIGNED, (old_dot, bare(dot)))
    state.make.emit(Store(whole, stmt.index, dot, None, stmt.origin))


def _appended(state: State, stmt: Store, whole: Expr) -> None:
    """The tangent of ``base.append(value)``: that of the value goes to the end of that of the base."""
    if not appends_alike(stmt, state.make.fact):
        what = "an item is appended to a list of which the types do not say what it holds"
        state.refusals.refuse(stmt.origin.line, what, "Make a new list of all items.")
        return
    dot = state.tangents.of(stmt.value)
    made = dot if dot is not None else state.tangents.zeros(stmt.value)
    state.make.emit(appended_to(whole, made, stmt.origin))


def sorted_unsurely(function: Function, facts: Facts, active: Set[str]) -> frozenset[str]:
    """What is sorted in place where the types do not say whether it is an array or a list."""
    found = set[str]()
    for stmt in walk(function.body):
        match stmt:
            case Store(base=Var(name=name) as base, call=Call(op=Op(kind="method", name="sort"))) if name in active:
                if facts.get(base).kind not in ("array", "numeric", "list"):
                    found.add(name)
    return frozenset(found)


def _is_accepted(state: State, stmt: Store, call: Call) -> bool:
    """Whether a call that writes surely does what its store says; else it is refused."""
    assert isinstance(stmt.base, Var)
    if reads_what_it_writes(call, stmt.base, state.effects.group):
        state.refusals.refuse(call.node, f"{call.op.name} {READS_ITS_OUTPUT}", "Copy what it reads: x.copy().")
        return False
    kind = state.make.fact(stmt.base).kind
    if call.op.kind != "method" or call.op.name != "sort" or kind in ("array", "numeric"):
        return True
    # A list sorts itself as well.
    if kind == "list":
        state.refusals.refuse(
            call.node, "the list that is sorted here is differentiated", "Make a new list: sorted(...)."
        )
        return False
    state.refusals.refuse_buffer(call.node, stmt.base.name)
    return False


def _unbuffered(state: State, stmt: Store, call: Call, whole: Expr) -> None:
    """The tangent of ``np.add.at(base, index, value)``, where an index that repeats counts each time."""
    if stmt.op not in ("+", "-"):
        what = f"{call.op.name} has no tangent"
        state.refusals.refuse(call.node, what, "Write a loop over the indices.")
        return
    dot = state.tangents.of(stmt.value)
    if dot is None:
        return
    changed = {id(stmt.base): whole, id(stmt.value): dot}
    args = tuple([changed.get(id(a), a) for a in call.args])
    kwargs = tuple([(k, changed.get(id(v), v)) for k, v in call.kwargs])
    writing = replace(call.op, pure=False)
    state.make.emit(Evaluate(replace(call, op=writing, args=args, kwargs=kwargs), stmt.origin))
