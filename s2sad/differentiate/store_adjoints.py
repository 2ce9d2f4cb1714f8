"""The adjoints of stores: ``base[index] = value`` and ``base[index] op= value``, and of the calls that do them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from s2sad import ops
from s2sad.analysis.sharing import copies, sharing
from s2sad.analysis.stopped import keeps_some
from s2sad.analysis.versions import appends, appends_alike, puts_number
from s2sad.differentiate.builder import COPY, INDEX, SHAPE_ATTRIBUTE, ZEROS_LIKE, as_value
from s2sad.differentiate.distinct import is_distinct
from s2sad.differentiate.items import ADD_AT
from s2sad.differentiate.later import OWN
from s2sad.differentiate.operations import ruled
from s2sad.differentiate.reverse_state import State
from s2sad.differentiate.stores import (
    READS_ITS_OUTPUT,
    UNREAD,
    check_of_flat,
    is_view_index,
    may_be_none,
    reads_what_it_writes,
    takes_part,
)
from s2sad.differentiate.writes import TAKE_LAST, appended_to, give
from s2sad.frontend import operators
from s2sad.ir import algebra
from s2sad.ir.nodes import Assign, Build, Call, Const, Copy, Evaluate, Expr, For, Op, Slice, Store, Unpack, Var
from s2sad.ir.traverse import children, names_in, reads, walk
from s2sad.ir.types import Fact
from s2sad.ops.binding import spelled
from s2sad.runtime import orderly, require_floats
from s2sad.runtime.positions import along_places, diagonal_places, flat_index, flat_places, mask_places

_ORDERLY = Op("runtime", "orderly", orderly, pure=False)
_REQUIRE_FLOATS = Op("runtime", "require_floats", require_floats, pure=False)
#: The helpers that make an index from the shape of an array.
_PLACES = (along_places, diagonal_places, flat_index, flat_places, mask_places)
_FUNCTIONS = dict(operators.BINARY.values())


def store(state: State, stmt: Store) -> None:
    """The adjoint of a store: what stands in the shadow there is the adjoint of the value."""
    make, shadows, base = state.make, state.shadows, stmt.base
    active = state.adjoints.is_active(stmt.value)
    if appends(stmt):
        _appended(state, stmt, active)
        return
    if (check := check_of_flat(stmt, state.effects.group)) is not None:
        make.before.append(check)
    if not _is_accepted(state, stmt, active):
        return
    assert isinstance(base, Var)
    if stmt.op is None and _may_overlap(state, stmt, base):
        place = Call(INDEX, (base, stmt.index))
        make.before.append(Evaluate(Call(_ORDERLY, (place, stmt.value)), stmt.origin))
    if stmt.op is None and stmt.call is None and _is_masked(state, stmt, base):
        make.before.append(Evaluate(Call(UNREAD, (base, stmt.value, stmt.index)), stmt.origin))
    if (
        active
        and make.of[base.name].kind == "array"
        and make.of[base.name].precision == ""
        and _is_item(state, base.name)
    ):
        make.before.append(Evaluate(Call(_REQUIRE_FLOATS, (base,)), stmt.origin))
    bar = shadows.of(base.name)
    index = state.later.kept(stmt.index)
    if isinstance(index, Call) and index.op.function in _PLACES:
        # The shadow has the shape of the array.
        index = replace(index, args=(Call(SHAPE_ATTRIBUTE, (bar,)), *index.args[1:]))
    is_view = is_view_index(index, make.fact) and make.fact(base).kind == "array"
    is_flat = isinstance(index, Call) and index.op.function is flat_index and is_distinct(state.make, index)
    adds = stmt.op in ("+", "-") and (is_view or is_flat)
    if stmt.op is not None and (stmt.call is not None or adds):
        # What was there stays; where a call writes, every position counts.
        if active:
            item = Call(INDEX, (bar, index))
            scalar = stmt.call is None and make.fact(item).kind == "scalar"
            copied = item if scalar else Call(OWN if stmt.call is not None else COPY, (item,))
            g = make.unbroadcast(make.let(make.fresh("~t_bar"), copied), stmt.value)
            minus = (stmt.op == "-") != state.storage.is_turned(base)
            give(state, stmt.value, algebra.negate(g) if minus else g)
        return
    g = shadows.taken(stmt, bar, index)
    if stmt.op is not None:
        _operation(state, stmt, bar, index, g)
    elif active:
        give(state, stmt.value, g if _fits(stmt) else make.unbroadcast(g, stmt.value), moved=True)


def _appended(state: State, stmt: Store, active: bool) -> None:
    """The adjoint of ``base.append(value)``: its shadow becomes longer as well, and shorter in the reverse part."""
    make, base, value = state.make, stmt.base, stmt.value
    if not (active or state.adjoints.is_active(base)) or not state.storage.unread.isdisjoint(names_in(base)):
        return
    if not (isinstance(base, Var) and state.storage.is_buffer(base) and appends_alike(stmt, make.fact)):
        state.refusals.refuse_buffer(stmt.origin.line, base.name if isinstance(base, Var) else "")
        return
    bar = state.shadows.of(base.name)
    of_floats = make.fact(value).kind == "array" and make.fact(value).precision != ""
    own = of_floats and isinstance(value, Var) and not state.storage.is_buffer(value)
    part = Call(ZEROS_LIKE, (value,)) if own else state.shadows.part(value, Call(INDEX, (base, Const(-1))))
    make.after.append(appended_to(bar, part, stmt.origin))
    taken = Call(TAKE_LAST, (bar,))
    if active and not state.storage.is_buffer(value):
        give(state, value, make.let(make.fresh("~t_bar"), taken, make.fact(value)), moved=True)
    else:
        make.emit(Evaluate(taken, stmt.origin))


def _is_accepted(state: State, stmt: Store, active: bool) -> bool:
    """Whether a store has an adjoint, if its value is ``active``; else that is refused, or there is nothing to do."""
    base, refusals = stmt.base, state.refusals
    if stmt.call is not None and not _is_store(state, stmt, stmt.call):
        what = "this call changes an object that is not surely an array, or a copy of part of one"
        refusals.refuse(stmt.call.node, what, "Make a new object instead, or write to a slice of an array.")
        return False
    stopped = isinstance(base, Var) and base.name in state.storage.stopped
    if stopped and (active or stmt.op is not None or keeps_some(stmt.call)):
        refusals.refuse_stopped(stmt.origin.line)
        return False
    if not state.adjoints.is_active(base) and not stopped:
        if active and not state.known.activity.is_unused(base):
            refusals.refuse_buffer(stmt.origin.line)
        return False
    fact = state.make.fact(base)
    known = fact.kind in ("array", "numeric") or may_be_none(fact) or puts_number(stmt, state.make.fact)
    if not (isinstance(base, Var) and state.storage.is_buffer(base) and known):
        refusals.refuse_buffer(stmt.origin.line, base.name if isinstance(base, Var) else "")
        return False
    if stmt.call is not None and reads_what_it_writes(stmt.call, base, state.effects.group):
        refusals.refuse(stmt.call.node, f"{stmt.call.op.name} {READS_ITS_OUTPUT}", "Copy what it reads: x.copy().")
        return False
    return True


def _is_item(state: State, name: str) -> bool:
    """Whether an array may have been taken out of a container, where arrays of integers have shadows too."""
    made = state.storage.definitions.get(name)
    if made is None:
        return name not in {p.name for p in state.known.function.params}
    if isinstance(made, Call) and made.op.kind in ("index", "attribute"):
        return state.make.fact(made.args[0]).kind != "array"
    return isinstance(made, Var) and _is_item(state, made.name)


def _is_store(state: State, stmt: Store, call: Call) -> bool:
    """Whether a call surely does what the store says: to an array, and to a view where it is given one."""
    if takes_part(stmt, call):
        return is_view_index(stmt.index, state.make.fact)
    # What other objects do when their method is called nobody knows.
    known = state.make.fact(stmt.base).kind in ("array", "numeric")
    return known or (call.op.kind == "function" and not state.adjoints.is_active(stmt.base))


def _may_overlap(state: State, stmt: Store, base: Var) -> bool:
    """Whether NumPy may read, in copying one row into another, what it has written already."""
    value, fact = stmt.value, state.make.fact
    if not isinstance(value, Var) or value.name not in state.effects.group.get(base.name, ()):
        return False
    if copies(stmt.index, fact) or fact(Call(INDEX, (base, stmt.index))).ndim not in (None, 1):
        return False
    made = state.storage.definitions.get(value.name)
    while isinstance(made, Var):
        made = state.storage.definitions.get(made.name)
    if isinstance(made, Call) and made.op.kind == "index" and isinstance(made.args[0], Var):
        alike = made.args[0] == base or not {made.args[0].name, base.name} & _maybe_views(state)
        return not alike or _pattern(made.args[1], fact) != _pattern(stmt.index, fact)
    return isinstance(made, Call) or made is None


def _is_masked(state: State, stmt: Store, base: Var) -> bool:
    """Whether NumPy may read, in writing the elements of a mask one by one, what it has written already."""
    value, index, fact = stmt.value, stmt.index, state.make.fact
    if not isinstance(value, Var) or value.name not in state.effects.group.get(base.name, ()):
        return False
    known = fact(index)
    maybe = isinstance(index, Var) and not is_view_index(index, fact) and (known.kind != "array" or known.boolean)
    return maybe and known.kind not in ("list", "tuple", "scalar")


def _maybe_views(state: State) -> set[str]:
    """The names that may stand for a part of an array, or an array in another layout."""
    function = state.known.function
    found = {p.name for p in function.params}
    grown = True
    while grown:
        before = len(found)
        for stmt in walk(function.body):
            match stmt:
                case Assign(target=target, value=Var(name=name)) if name in found:
                    found.add(target)
                case Assign(target=target, value=Call() as value) if sharing(value) != "fresh":
                    found.add(target)
                case Copy(targets=targets, sources=sources):
                    found |= {t for t, s in zip(targets, sources, strict=True) if found & set(names_in(s))}
                case Unpack(targets=targets) | For(targets=targets):
                    found |= set(targets)
        grown = len(found) > before
    return found


def _operation(state: State, stmt: Store, bar: Var, index: Expr, g: Expr) -> None:
    """The adjoint of ``base[index] op= value``: of the operation on the old elements."""
    make, adjoints, symbol = state.make, state.adjoints, stmt.op
    assert symbol is not None
    old, new = make.fresh("~t"), make.fresh("~t")
    item = Call(INDEX, (stmt.base, stmt.index))
    make.of[old] = make.of[new] = known = make.named(make.fact(item), old)
    if known.kind == "array" and isinstance(g, Var):
        # An operation in place leaves an array its shape.
        make.of[g.name] = replace(make.of[g.name], shape=known.shape, ndim=known.ndim, dims=known.dims)
    call = Call(Op("operator", symbol, _FUNCTIONS[symbol]), (Var(old), stmt.value))
    start = len(make.out)
    adjoints.active.add(old)
    ruled(state, call, Var(new), g)
    read = {n for s in make.out[start:] for n in reads(s)} | set(names_in(adjoints.of.get(old, Const(0))))
    copied = Call(OWN, (item,))
    if old in read:
        make.before.append(Assign(old, copied, stmt.origin))
    if new in read:
        stays = id(stmt) in state.sections.stores and is_view_index(stmt.index, make.fact)
        make.after.append(Assign(new, item if stays else copied, stmt.origin))
        if stays:
            state.later.stable.add(new)
    bar_old = adjoints.take(old)
    if bar_old is None:
        return
    if is_distinct(state.make, index):
        make.emit(Store(bar, index, bar_old, "-" if state.storage.is_turned(stmt.base) else "+", stmt.origin))
    else:
        given = state.shadows.adjoint_of(stmt.base, bar_old)
        make.emit(Evaluate(Call(ADD_AT, (bar, as_value(index), given)), stmt.origin))


def _fits(stmt: Store) -> bool:
    """Whether the value of a store surely has the shape of what it is written into: it was made for it."""
    if stmt.call is None or stmt.value in children(stmt.call):
        return False
    options = dict(stmt.call.kwargs)
    return spelled(ops.spec_of(stmt.call.op.function), "out") not in options or "where" in options


def _pattern(index: Expr, fact: Callable[[Expr], Fact]) -> tuple[object, ...]:
    """How an index goes through an array: which axes it keeps, and with what steps."""
    parts = index.items if isinstance(index, Build) else (index,)
    return tuple(
        [("along", p.step) if isinstance(p, Slice) else "at" if fact(p).kind == "scalar" else p for p in parts]
    )
