"""What operations make of adjoints that are selections: which they leave out last, and which stay what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from s2sad.differentiate.applied import Applied
from s2sad.differentiate.builder import BROADCAST, INDEX, Builder
from s2sad.differentiate.reverse_state import State
from s2sad.differentiate.selections import Selection, choice_of, left, of_select, selection_of
from s2sad.ir import algebra
from s2sad.ir.nodes import Build, Call, Const, Expr, Op, Store, Var
from s2sad.ir.types import SCALAR_SHAPE, Fact, Kind, same_shape
from s2sad.ops.spec import Rule


def selection_at(state: State, z: Var, z_bar: Expr) -> Selection | None:
    """The selection that the adjoint of ``z`` is; None where it is none."""
    if not isinstance(z_bar, Var) or (z.name in state.cleared and state.storage.is_turned(z)):
        return None
    if z.name in state.cleared:
        return left(z_bar, state.cleared[z.name].masks, state.cleared[z.name].places)
    return state.make.selected.get(z_bar.name)


def selection_for(state: State, rule: Rule, z: Var, z_bar: Expr) -> Selection | None:
    """What is selected last of the adjoints by a rule that works element by element; None where nothing is."""
    function = rule.function
    of_one = isinstance(function, np.ufunc) and function.nin == 1 and function.signature is None
    by_element = rule.kind == "elementwise" or of_one or function is abs
    return selection_at(state, z, z_bar) if by_element else None


def chosen_from(state: State, found: Applied, g: Expr, z: Var, held: Expr, operand: Expr) -> Selection | None:
    """The selection that the adjoint ``g`` of an operand is, of that of ``z``, which is ``held``, or of another."""
    make = state.make
    real = (make.of[z.name].real and make.fact(g).real) or not state.adjoints.complex
    if not real or state.storage.is_turned(z):
        return None
    choice = selection_of(g, held, make.lazy.get(held.name, held) if isinstance(held, Var) else held)
    if choice is None and (parts := choice_of(g)) is not None:
        form, whole = parts
        choice = Selection(form, whole if isinstance(whole, (Var, Const)) else _held(make, whole, None))
    if choice is None or not found.rule.broadcasts or not isinstance(held, Var):
        return choice and replace(choice, whole=_spread(make, choice.whole, operand))
    outer = make.selected.get(held.name)
    return choice if outer is None else choice.within(outer)


def _spread(make: Builder, whole: Expr, operand: Expr) -> Expr:
    """What elements are selected from, in the shape of the operand: a sum along an axis has a smaller adjoint."""
    known, wanted = make.fact(whole), make.fact(operand)
    if not isinstance(whole, Var) or None in (known.ndim, wanted.ndim) or same_shape(known, wanted):
        return whole
    fact = replace(wanted, items=None, real=known.real)
    return _held(make, Call(BROADCAST, (whole, make.shape_of(operand))), fact)


def _held(make: Builder, g: Expr, fact: Fact | None) -> Var:
    """A name for an adjoint; where that is broadcast, what broadcasts to it is known as well."""
    if not (isinstance(g, Call) and g.op.function is np.broadcast_to):
        return make.let(make.fresh("~t_bar"), g, fact)
    inner, shape = g.args
    inner = make.lazy.get(inner.name, inner) if isinstance(inner, Var) else inner
    name = make.let(make.fresh("~t_bar"), Call(BROADCAST, (inner, shape)), fact)
    make.lazy[name.name], make.broadcasts[name.name] = inner, shape
    return name


def by_choices(state: State, bound: Mapping[str, Expr], z: Var, held: Expr) -> bool:
    """The adjoint of `np.select` or `np.choose` of lists that are written out, as selections; whether they are."""
    make = state.make
    if "condlist" not in bound:
        return _by_numbers(state, bound, z, held)
    given, choices = bound["condlist"], bound["choicelist"]
    made = make.steady.get(given.name) if isinstance(given, Var) else given
    if not (isinstance(made, Build) and isinstance(choices, Build)) or not make.of[z.name].real:
        return False
    conditions: Sequence[Expr] = made.items
    if isinstance(given, Var) and not all(isinstance(item, Var) for item in conditions):
        conditions = [Call(INDEX, (given, Const(i))) for i in range(len(conditions))]
    known = list(map(state.later.snapshots(z.name), conditions))
    if len(known) != len(choices.items) or not all(make.fact(condition).numeric for condition in known):
        return False
    _select(state, (*choices.items, bound["default"]), known, z, held)
    return True


def _by_numbers(state: State, bound: Mapping[str, Expr], z: Var, held: Expr) -> bool:
    """The adjoint of `np.choose` of a list that is written out, as selections; whether it is."""
    make, number, choices = state.make, state.later.snapshots(z.name)(bound["a"]), bound["choices"]
    if not isinstance(choices, Build) or bound.get("mode", Const("raise")) != Const("raise"):
        return False
    facts = [make.fact(choice) for choice in choices.items]
    if not make.fact(number).numeric or not all(fact.numeric and fact.real for fact in facts):
        return False
    tests = [
        make.let(make.fresh("~test"), Call(Op("compare", "=="), (number, Const(place))))
        for place in range(len(choices.items) - 1)
    ]
    _select(state, choices.items, tests, z, held)
    return True


def _select(state: State, operands: Sequence[Expr], conditions: Sequence[Expr], z: Var, held: Expr) -> None:
    """Contribute what is selected of the adjoint ``held`` of ``z`` to some operands, and what is left to the last."""
    outer = state.make.selected.get(held.name) if isinstance(held, Var) else None
    for operand, chosen in zip(operands, of_select(conditions, held), strict=True):
        if state.adjoints.is_active(operand):
            selection = chosen if outer is None else chosen.within(outer)
            to_operand(state, operand, selection.whole, z, selection)


def note_picked(state: State, operand: Var, rule: Rule, held: Expr) -> None:
    """Note the adjoint that an operand has by now if elements of it, or of the result, have been picked."""
    before = state.make.selected.get(held.name) if isinstance(held, Var) else None
    bar = state.adjoints.of.get(operand.name)
    if rule.picks:
        state.make.note_picked(bar, rarely=rule.picks == "elements")
    elif before is not None and before.is_picked and rule.kind != "bilinear":
        # What moves elements leaves the others zero.
        state.make.note_picked(bar, before.rarely)


def without(state: State, full: Expr, z: Var, places: Sequence[Expr]) -> Expr:
    """An adjoint of the shape of ``z``, with zeros where what was made there has been replaced."""
    make = state.make
    if (
        not places
        or not isinstance(full, Call)
        or full.op.function is np.broadcast_to
        or make.of[z.name].kind != "array"
    ):
        return full
    held = make.let(make.fresh("~t_bar"), full, replace(make.of[z.name], items=None, real=make.fact(full).real))
    for place in places:
        make.emit(Store(held, place, Const(0.0), None, make.origin))
    return held


def continued(
    full: Expr, partial: Expr, selection: Selection, infinite: bool, shared: bool
) -> tuple[Expr, Selection | None]:
    """The adjoint of an operand, ``full``, and the selection that it is already; None where it is to be selected.

    What is zero stays zero times the ``partial`` derivative if that is a number, and in a quotient that minds zeros.
    Where an operation is not ``infinite`` zeros at constant places stay, too.  If the selection is ``shared`` with
    another operand, the negative is one of that.
    """
    own = selection.owned()
    if own is not None and shared and partial == Const(-1):
        return algebra.negate(own.whole), own
    if own is not None and isinstance(full, Call) and full.op == algebra.QUOTIENT_OR_ZERO:
        return full, own
    stays = isinstance(partial, Const) or selection.is_all or (selection.rarely and not infinite)
    return full, selection if selection.is_own and stays else None


def in_full(state: State, g: Expr, z: Var) -> Expr:
    """``g`` held in a name that is known to have the shape of ``z``."""
    if isinstance(g, (Var, Const)):
        return g
    known, of_result = state.make.fact(g), state.make.of[z.name]
    if known.shape == of_result.shape:
        return g
    loose = isinstance(g, Call) and state.adjoints.may_be_number(g)
    kind: Kind = "numeric" if loose and of_result.kind == "array" else of_result.kind
    # The adjoint of a real value may be complex on its way to a real argument.
    full = state.make.let(state.make.fresh("~t_bar"), g, replace(of_result, kind=kind, items=None, real=known.real))
    if loose:
        state.adjoints.loose.add(full.name)
    return full


def to_operand(state: State, operand: Expr, whole: Expr, z: Var, selection: Selection | None) -> None:
    """Contribute ``whole``, which has the shape of ``z``, to an operand, or what is selected of it."""
    make = state.make
    if selection is None:
        state.adjoints.contribute(operand, in_full(state, whole, z))
        return
    if isinstance(whole, Call):
        known, of_result = make.fact(whole), make.of[z.name]
        sure = known.shape in (of_result.shape, SCALAR_SHAPE)
        fact = None if sure else replace(of_result, items=None, real=known.real)
        whole = make.let(make.fresh("~t_bar"), whole, fact)
    same = whole == selection.whole and selection.name is not None
    full = selection.name if same else in_full(state, make.tidy(selection(whole)), z)
    assert full is not None
    g = make.unbroadcast(full, operand)
    kept = replace(selection, whole=whole) if g == full else None
    state.adjoints.contribute(operand, g, owned=not same, selection=kept)
