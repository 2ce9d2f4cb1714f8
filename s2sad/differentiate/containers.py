"""The adjoints of lists and dicts that are changed: lists and dicts of adjoints, which change the other way round.

    h.append(v)             v_bar += h_bar.pop()

    h[i] = v                v_bar += h_bar[i]
                            h_bar[i] = 0.0

    v = h[-1]; h.pop()      h_bar.append(v_bar)

    moved(h, moves)         moved(h_bar, moved_back(moves))

A container of which the reverse part reads what it holds is copied (not what is in it) where it changes later.
"""

from __future__ import annotations

from dataclasses import replace

from s2sad.differentiate.builder import INDEX, ZEROS, ZEROS_LIKE
from s2sad.differentiate.reverse_state import State
from s2sad.ir.nodes import MOVED, Assign, Build, Call, Const, Copy, Expr, If, Op, Stmt, Unpack, Var
from s2sad.ir.traverse import names_in
from s2sad.ir.types import Fact, same_shape
from s2sad.runtime.moves import moved_back, put_at

_IN = Op("compare", "in")
_GET = Op("method", "get")
_BACK = Op("runtime", "moved_back", moved_back)
_PUT_AT = Op("runtime", "put_at", put_at)


def changed(state: State, stmt: Assign, call: Call) -> None:
    """The adjoint of a change of a container."""
    adjoints = state.adjoints
    z_bar = adjoints.take(stmt.target)
    whole, *operands = call.args
    if stmt.target not in adjoints.active or not isinstance(whole, Var) or z_bar is None:
        return
    bar = adjoints.of_own(z_bar, stmt.target)
    match call.op.name:
        case "append":
            rest = _taken_item(state, bar, Const(-1), operands[0], ())
        case "insert":
            rest = _taken_item(state, bar, operands[0], operands[1], (operands[0],))
        case "pop":
            rest = _put_back(state, stmt.target, call, bar)
        case "moved":
            rest = _change(state, bar, MOVED, Call(_BACK, (state.later.kept(operands[0]),)))
        case how if how.startswith("."):
            rest = _replaced_field(state, call, bar)
        case _:
            rest = _replaced(state, call, bar)
    if whole.name in adjoints.active:
        adjoints.of[whole.name] = rest


def _change(state: State, bar: Var, how: str | Op, *operands: Expr) -> Var:
    """``bar`` after a change."""
    name = state.make.fresh(bar.name.partition(".")[0])
    return state.adjoints.let_owned(name, Call(Op("change", how) if isinstance(how, str) else how, (bar, *operands)))


def _taken_item(state: State, bar: Var, place: Expr, value: Expr, key: tuple[Expr, ...]) -> Var:
    """Take an item out of an adjoint and hand it to ``value``; returns the rest."""
    g = _item_bar(state, bar, place, value)
    rest = _change(state, bar, "pop", *key)
    parts = value.items if isinstance(value, Build) and value.kind == "tuple" else ()
    facts = [state.make.fact(part) for part in parts]
    if parts and all(fact.numeric for fact in facts):
        names = tuple([state.make.fresh("~t_bar") for _ in parts])
        state.make.of.update(dict(zip(names, facts, strict=True)))
        state.make.emit(Unpack(names, g, None, state.make.origin))
        for part, name in zip(parts, names, strict=True):
            _handed(state, part, Var(name))
    else:
        _handed(state, value, g)
    return rest


def _item_bar(state: State, bar: Var, place: Expr, value: Expr) -> Var:
    """The adjoint of the item that is ``value``."""
    fact = state.make.fact(value)
    name = state.make.fresh("~t_bar")
    known = fact if fact.numeric else state.make.named(Fact("open"), name)
    return state.make.let(name, Call(INDEX, (bar, place)), known)


def _handed(state: State, value: Expr, g: Var) -> None:
    """Contribute the adjoint of an item that is nowhere else."""
    if state.adjoints.is_active(value):
        state.adjoints.contribute(value, g, moved=True)


def _replaced(state: State, call: Call, bar: Var) -> Var:
    """The adjoint of ``whole[place] = value``: what was there before is put back, as zero."""
    whole, index, value = call.args
    place = state.later.kept(index)
    g = _item_bar(state, bar, place, value)
    known = state.make.fact(whole)
    if known.kind == "dict":
        there = None
        if known.items is not None and isinstance(index, Const):
            there = any(k == index.value for k, _ in known.items)
        if there is None:
            return _replaced_or_new(state, call, bar, place, g)
        if not there:
            rest = _change(state, bar, "pop", place)
            _handed(state, value, g)
            return rest
    zero = _zero_item(state, Call(INDEX, (whole, index)), value, g)
    rest = _change(state, bar, "[]", place, zero)
    _handed(state, value, g)
    return rest


def _replaced_field(state: State, call: Call, bar: Var) -> Var:
    """The adjoint of ``whole.name = value``: what was there before is put back, as zero."""
    whole, value = call.args
    name = call.op.name[1:]
    g = _item_bar(state, bar, Const(name), value)
    zero = _zero_item(state, Call(Op("attribute", name), (whole,)), value, g)
    rest = _change(state, bar, "[]", Const(name), zero)
    _handed(state, value, g)
    return rest


def _zero_item(state: State, item: Expr, value: Expr, g: Var) -> Expr:
    """A zero adjoint of what ``value``, whose adjoint is ``g``, takes the place of."""
    old, new = state.make.fact(item), state.make.fact(value)
    if old.kind == "scalar":
        return Const(0.0)
    if old.kind == "array" and same_shape(old, new) and old.real == new.real:
        return Call(ZEROS_LIKE, (g,))
    return Call(ZEROS, (state.make.hold(state.make.fresh("~t"), item),))


def _replaced_or_new(state: State, call: Call, bar: Var, place: Expr, g: Var) -> Var:
    """The adjoint of a store into a dict of which only the run knows whether the key was there before."""
    whole, index, value = call.args
    make, adjoints = state.make, state.adjoints
    had = make.hold(make.fresh("~t"), Call(_IN, (index, whole)))
    old = make.hold(make.fresh("~t"), Call(_GET, (whole, index)))
    arms: list[tuple[Stmt, ...]] = []
    rest = make.fresh(bar.name.partition(".")[0])
    for how, *operands in (("[]", place, Call(ZEROS, (old,))), ("pop", place)):
        with make.into([]) as arm:
            new = _change(state, bar, how, *operands)
            adjoints.owned.discard(new.name)
        arms.append((*arm, Copy((rest,), (new,), make.origin)))
    make.of[rest] = Fact("dict")
    adjoints.owned.add(rest)
    make.emit(If(had, arms[0], arms[1], make.origin))
    _handed(state, value, g)
    return Var(rest)


def _put_back(state: State, target: str, call: Call, bar: Var) -> Var:
    """The adjoint of ``whole.pop()``: that of the item goes back to where the item was."""
    whole, *key = call.args
    item = Call(INDEX, (whole, key[0] if key else Const(-1)))
    is_dict = state.make.fact(whole).kind == "dict"
    # A key is kept before the adjoint is taken, which a refusal leaves as it is.
    place = state.later.kept(key[0]) if key else Const(-1)
    g = _of_popped(state, target, state.make.fact(item))
    if g is None:
        is_number = state.make.fact(item).kind == "scalar"
        g = Const(0.0) if is_number else Call(ZEROS, (state.make.hold(state.make.fresh("~t"), item),))
    if is_dict:
        return _change(state, bar, "[]", place, g)
    if place == Const(0):
        return _change(state, bar, "insert", place, g)
    longer = _change(state, bar, "append", g)
    return longer if place == Const(-1) else _change(state, longer, MOVED, Call(_PUT_AT, (longer, place)))


def _of_popped(state: State, target: str, fact: Fact) -> Expr | None:
    """The adjoint of an item that is taken out of a list, as far as it is known; None for zero, and if it is unsure."""
    adjoints = state.adjoints
    for name in state.popped.get(target, ()):
        g = adjoints.of.get(name)
        if g is None or name in state.storage.changed or name in state.storage.buffers:
            continue
        parts = g.items if isinstance(g, Build) else (g,)
        facts = [item for _, item in fact.items or ()] if isinstance(g, Build) else [fact]
        if len(facts) != len(parts) or not all(map(adjoints.is_firm, parts, facts)):
            continue
        del adjoints.of[name]
        adjoints.owned.difference_update(names_in(g))
        found = tuple(map(adjoints.realised, parts, facts))
        return _as_lists(replace(g, items=found)) if isinstance(g, Build) else found[0]
    return None


def _as_lists(g: Expr) -> Expr:
    """An adjoint with lists for tuples, as `zeros` has them, so that all items of a container are of one type."""
    if not isinstance(g, Build) or g.kind == "dict":
        return g
    return Build("list", tuple(map(_as_lists, g.items)))
