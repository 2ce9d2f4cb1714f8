"""The adjoints of operations: by their rules, and of lists and tuples that are joined, repeated or made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from s2sad.analysis.poles import may_be_infinite
from s2sad.differentiate.adjoints import LIST
from s2sad.differentiate.applied import (
    Applied,
    NotDifferentiableError,
    applied,
    bound_twice,
    drops_imaginary,
    in_precision,
    maybe_complex,
)
from s2sad.differentiate.builder import INDEX
from s2sad.differentiate.items import PACKED, field, is_field
from s2sad.differentiate.reverse_state import State
from s2sad.differentiate.selecting import (
    by_choices,
    chosen_from,
    continued,
    in_full,
    note_picked,
    selection_at,
    selection_for,
    to_operand,
    without,
)
from s2sad.differentiate.selections import Selection
from s2sad.differentiate.smooth import smoothed
from s2sad.differentiate.splice import Spliced, UnknownLength, splice
from s2sad.ir import algebra
from s2sad.ir.nodes import Build, Call, Const, Evaluate, Expr, Op, Var
from s2sad.ir.traverse import names_in, rename, subexpressions
from s2sad.ir.types import Fact
from s2sad.ops.spec import Rule
from s2sad.runtime import joined
from s2sad.runtime.edges import by_divisor, power_adjoint, quotient, quotient_or_zero, root_quotient
from s2sad.runtime.items import require_arithmetic, require_real, require_real_operand, require_sequence, unrepeated

#: What gives all elements of an array in another shape, in a view that may be written or in a new array.
_SHAPED = (np.transpose, np.matrix_transpose, np.swapaxes, np.moveaxis, np.reshape, np.squeeze, np.expand_dims, np.flip)
_ARRAY = Op("runtime", "np.array", np.array)
#: The quotients that are zero where the adjoint is.
_MINDING = (by_divisor, quotient, quotient_or_zero, root_quotient, power_adjoint)
_JOINED = Op("runtime", "joined", joined)
_REQUIRE_REAL = Op("runtime", "require_real", require_real, pure=False)
_REQUIRE_REAL_OPERAND = Op("runtime", "require_real_operand", require_real_operand, pure=False)
_REQUIRE_ARITHMETIC = Op("runtime", "require_arithmetic", require_arithmetic, pure=False)
_REQUIRE_SEQUENCE = Op("runtime", "require_sequence", require_sequence, pure=False)
_UNREPEATED = Op("runtime", "unrepeated", unrepeated)


def ruled(state: State, call: Call, z: Var, z_bar: Expr) -> None:
    """The adjoint of ``z = call``, an operation through which a derivative passes."""
    op, fact = call.op, state.make.fact
    if (op.kind == "attribute" and op.function is None) or is_field(state, call):
        field(state, call, z_bar)
    elif _is_new(call, fact) and op.name in ("+", "*") and fact(call).kind in ("tuple", "list"):
        _of_lists(state, call, z, z_bar)
    elif op.function in (list, tuple) and fact(call.args[0]).kind in ("array", "numeric", "tuple", "list", "open"):
        items = state.later.snapshots(z.name)(call.args[0])
        if fact(items).kind == "open":
            state.make.before.append(Evaluate(Call(_REQUIRE_SEQUENCE, (call.args[0],)), state.make.origin))
        made = Call(LIST, (z_bar,)) if fact(items).kind in ("tuple", "list") else Call(PACKED, (items, z_bar))
        state.adjoints.contribute(call.args[0], made)
    elif op.kind == "inplace" and fact(call.args[0]).kind in ("list", "tuple"):
        what = f"{op.name}= of a list or tuple that is differentiated"
        state.refusals.refuse(call.node, what, "Make a new one (x = x + y), or append the items one by one.")
    else:
        call, factor = smoothed(call, state.make, state.adjoints.is_active)
        if factor is not None:
            z_bar = state.make.times(z_bar, state.later.snapshots(z.name)(factor))
        try:
            found = applied(call, fact, state.adjoints.is_active)
        except NotDifferentiableError as error:
            state.refusals.refuse(call.node, error.message, error.remedy)
        else:
            _by_rule(state, call, found, z, z_bar)


def _is_new(call: Call, fact: Callable[[Expr], Fact]) -> bool:
    """Whether an operator makes a new object; what is written ``n *= items`` does so too, of a number."""
    return call.op.kind == "operator" or (call.op.kind == "inplace" and fact(call.args[0]).kind == "scalar")


def _of_lists(state: State, call: Call, z: Var, z_bar: Expr) -> None:
    """The adjoint of two lists or tuples that are joined, or of one that is repeated."""
    if call.op.name == "+":
        for operand, part in zip(call.args, ("head", "tail"), strict=True):
            if state.adjoints.is_active(operand):
                first = state.later.snapshots(z.name)(call.args[0])
                state.adjoints.contribute(operand, Call(_JOINED, (z_bar, Const(part), first)))
    else:
        repeated = call.args[state.make.fact(call.args[0]).kind == "scalar"]
        first = state.later.snapshots(z.name)(repeated)
        state.adjoints.contribute(repeated, Call(_UNREPEATED, (z_bar, first)))


def _by_rule(state: State, call: Call, found: Applied, z: Var, z_bar: Expr) -> None:
    """The adjoint of an operation that has a rule."""
    make, op = state.make, call.op
    if _may_turn_complex(state, call):
        make.emit(Evaluate(Call(_REQUIRE_REAL, (z,)), make.origin))
    if op.function is np.array and len(call.args) == 1 and not call.kwargs:
        places = dict(_numbers_in(state, call.args[0], ()))
        if places and all(isinstance(item, (Var, Const)) for item in places.values()):
            _of_numbers(state, places, z, z_bar)
            return
    if op.kind == "operator" and op.name in ("+", "*") and not op.checked and _may_be_lists(state, op.name, call.args):
        # A list that is joined or repeated is no array: the type of the result says that it is none.
        make.before.append(Evaluate(Call(_REQUIRE_ARITHMETIC, call.args), make.origin))
    rule, bound = found.rule, found.bound
    for name in maybe_complex(found, make.fact):
        operand = state.later.snapshots(z.name)(bound[name])
        make.emit(Evaluate(Call(_REQUIRE_REAL_OPERAND, (operand, Const(op.name))), make.origin))
    operands = _operands(state, call, found, z)
    if operands is None:
        return
    if drops_imaginary(found, make.fact) and not all(make.fact(bound[n]).real for n in rule.wrt if n in bound):
        z_bar = state.adjoints.realised(z_bar, make.fact(call))
    wide = in_precision(rule, operands, call, _is_strong(state, z_bar), make.fact)
    selection = selection_for(state, rule, z, z_bar)
    # The elements that are not taken are left out last.
    whole = z_bar if selection is None else selection.whole
    if op.function is np.multiply and bound_twice(bound) and operands == bound == wide:
        # x * x, written with one partial.
        x = call.args[0]
        partial = state.later.snapshots(z.name)(Call(algebra.MULTIPLY, (Const(2), x)))
        to_operand(state, x, make.times(whole, partial), z, selection)
        return
    held = _held(state, rule, z, whole)
    if rule.function in (np.select, np.choose) and by_choices(state, bound, z, held):
        return
    try:
        spliced = splice(rule, wide, z, held, make.fact, make.fresh)
        if selection is not None and whole != z_bar and _minds_zeros(spliced):
            # What is selected of what is selected may not be halved twice.
            held = _held(state, rule, z, z_bar)
            selection = selection.masked() if selection.is_mask or make.again else None
            spliced = splice(rule, wide, z, held, make.fact, make.fresh)
    except UnknownLength:
        what = f"{op.name} of a list whose length is known only at run time"
        state.refusals.refuse(call.node, what, "Write the list out in the call.")
    else:
        _to_operands(state, found, spliced, z, held, selection)


def _held(state: State, rule: Rule, z: Var, z_bar: Expr) -> Expr:
    """The adjoint of ``z`` as the body of a rule takes it."""
    make = state.make
    held = z_bar if rule.kind == "elementwise" else state.adjoints.firm(z.name, z_bar)
    if rule.multiplied:
        held = make.plain(z_bar, make.of[z.name])
    several = rule.kind != "elementwise" or (rule.multiplied and not algebra.is_nonzero(held))
    if (several and not isinstance(held, (Var, Const))) or not state.later.moving.isdisjoint(names_in(held)):
        # An adjoint that is an array of the forward part is that array as it is by now, unlike the operands.
        held = _named_parts(state, held) if isinstance(held, Build) else make.let(make.bar(z.name), held)
    return held


def _minds_zeros(spliced: Spliced) -> bool:
    """Whether the body of a rule asks where the adjoint is zero, at the edge of a domain."""
    values = [*spliced.values, *[value for _, value in spliced.lets]]
    calls = [part for value in values for part in subexpressions(value) if isinstance(part, Call)]
    return any(call.op.function in _MINDING for call in calls)


def _named_parts(state: State, held: Build) -> Build:
    """The adjoint of a tuple with a name for each part that is computed, or is an array of the forward part."""
    make = state.make

    def is_named(part: Expr) -> bool:
        return isinstance(part, Const) or (isinstance(part, Var) and part.name not in state.later.moving)

    parts = [p if is_named(p) else make.let(make.fresh("~t_bar"), p) for p in held.items]
    return Build(held.kind, tuple(parts))


def _to_operands(
    state: State, found: Applied, spliced: Spliced, z: Var, held: Expr, selection: Selection | None
) -> None:
    """Contribute what the body of a rule computes, of the adjoint that is ``held``, to the operands."""
    make, adjoints, rule, bound = state.make, state.adjoints, found.rule, found.bound
    renamed = state.later.snapshots(z.name)
    sizes: dict[str, Expr] = {}
    made: dict[str, Expr] = {}
    for name, value in spliced.lets:
        let = make.tidy(rename(renamed(make.untransposed(value)), sizes))
        if algebra.is_size(let):
            sizes[name] = let
        else:
            make.let(name, let)
            made[name] = let
    values = [rename(value, sizes) for value in spliced.values]
    wanted = [(n, v) for n, v in zip(rule.wrt, values, strict=True) if adjoints.is_active(bound[n])]
    if len(wanted) == 2 and bound[wanted[0][0]] == bound[wanted[1][0]] and rule.kind == "bilinear":
        first, second = (make.tidy(renamed(value)) for _, value in wanted)
        if first == second:
            adjoints.contribute(bound[wanted[0][0]], algebra.multiply(Const(2), first))
            return
    made_here = Call(Op("runtime", "", rule.function), tuple(bound.values()))
    infinite = selection is not None and may_be_infinite(made_here, make.steady)
    for name, value in wanted:
        value, operand = renamed(make.untransposed(value)), bound[name]
        if rule.kind != "elementwise":
            g = make.tidy(value)
            is_view = isinstance(g, Call) and g.op.function in _SHAPED and g.args[:1] == (held,)
            owned = is_view and len(wanted) == 1 and adjoints.is_owned(held)
            if selection is not None and selection.is_own and g == algebra.negate(held):
                adjoints.contribute(operand, g, selection=selection)
            elif selection is not None and not (selection.rarely and selection.is_own and not infinite):
                to_operand(state, operand, g, z, selection)
            elif (chosen := chosen_from(state, found, rename(g, made), z, held, operand)) is not None:
                adjoints.contribute(operand, chosen(chosen.whole), owned, selection=chosen)
            else:
                fresh = operand if isinstance(operand, Var) and operand.name not in adjoints.of else None
                adjoints.contribute(operand, g, owned, selection=selection_at(state, z, held) if g == held else None)
                if fresh is not None and name == rule.wrt[0]:
                    note_picked(state, fresh, rule, held)
            continue
        full, kept = make.tidy(value) if rule.multiplied else make.times(held, value), None
        if selection is not None:
            full = without(state, full, z, selection.places if infinite else ())
            full, kept = continued(full, value, selection, infinite, len(wanted) > 1)
            if kept is None:
                to_operand(state, operand, full, z, selection)
                continue
        negative = isinstance(full, Call) and full.op == algebra.NEGATE
        if isinstance(full, Call) and negative:
            full = full.args[0]
        # What works element by element and does not broadcast takes numbers, or arrays without axes.
        g = make.unbroadcast(whole := in_full(state, full, z), operand) if rule.broadcasts else (whole := full)
        if g != whole and adjoints.is_loose(whole):
            g = make.unbroadcast(adjoints.firm(z.name, whole), operand)
        kept = kept if g == whole else None
        if negative:
            g = algebra.negate(g)
        adjoints.contribute(operand, g, moved=len(wanted) == 1 and g == held, selection=kept)


def _operands(state: State, call: Call, found: Applied, z: Var) -> dict[str, Expr] | None:
    """The operands, with arrays for lists where NumPy takes a list for an array; None where that is refused."""
    fact, is_active, bound, rule = state.make.fact, state.adjoints.is_active, found.bound, found.rule
    lists = {v: None for v in bound.values() if fact(v).kind in ("list", "tuple")}
    arrays = [v for v in bound.values() if fact(v).kind == "array" or (fact(v).numeric and is_active(v))]
    of_lists = call.op.kind == "operator" and not arrays and any(map(is_active, lists))
    maybe = [v for v in bound.values() if fact(v).kind in ("open", "numeric")]
    if call.op.kind == "operator" and not arrays and lists and maybe and (of_lists or any(map(is_active, maybe))):
        # Of what may be an array, and not a number that repeats a list.
        state.make.before.append(Evaluate(Call(_REQUIRE_ARITHMETIC, call.args), state.make.origin))
        arrays = maybe
    if call.op.kind == "operator" and not arrays:
        if of_lists:
            remedy = "To compute with it, convert it with np.array(...) first."
            remedy = f"To repeat it, write * int(n). {remedy}" if call.op.name == "*" else remedy
            state.refusals.refuse(call.node, f"{call.op.name} of a list or tuple", remedy)
            return None
    elif rule.broadcasts or (rule.kind == "general" and not rule.consumes):
        # The operators of an adjoint take no list for an array.
        renamed, make = state.later.snapshots, state.make
        taken = {v for name, v in bound.items() if rule.broadcasts or (name in rule.wrt and rule.takes_array(name))}
        made = {v: make.let(make.fresh("~t"), renamed(z.name)(Call(_ARRAY, (v,)))) for v in lists if v in taken}
        return {name: made.get(value, value) for name, value in bound.items()}
    return dict(bound)


def _may_be_lists(state: State, symbol: str, operands: tuple[Expr, ...]) -> bool:
    """Whether ``+`` or ``*`` may join lists, or repeat one, where it is not known what they are."""
    known = [state.make.fact(operand) for operand in operands]
    numbers = ("scalar", "array", "numeric") if symbol == "+" else ("array", "numeric")
    if len(known) != 2 or any(f.kind in numbers or f.precision in ("float", "single", "double") for f in known):
        return False
    return any(f.kind in ("open", "other") for f in known)


def _is_strong(state: State, g: Expr) -> bool:
    """Whether an adjoint is an array, which does not give way, and not one number broadcast, which is left out."""
    make = state.make
    spread = g.name in make.lazy if isinstance(g, Var) else isinstance(g, Call) and g.op.function is np.broadcast_to
    return make.fact(g).kind == "array" and not spread


def _numbers_in(state: State, whole: Expr, place: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Expr | None]]:
    """The numbers and arrays in a display, by their place; None for what is not surely one, or no display.

    What is constant, a row of numbers as well, counts as 0.  Arrays beside each other have one shape.
    """
    if isinstance(whole, Build) and whole.kind != "dict":
        for i, item in enumerate(whole.items):
            yield from _numbers_in(state, item, (*place, i))
    elif place and not state.adjoints.is_active(whole):
        yield place, Const(0)
    else:
        known = state.make.fact(whole)
        yield place, whole if place and known.numeric and not known.boxed and known.given is None else None


def _of_numbers(state: State, places: Mapping[tuple[int, ...], Expr | None], z: Var, z_bar: Expr) -> None:
    """The adjoint of an array of numbers or arrays: to each of them, what stands in its place."""
    make, adjoints = state.make, state.adjoints
    held = adjoints.firm(z.name, z_bar)
    held = held if isinstance(held, Var) else make.let(make.bar(z.name), held)
    for place, item in places.items():
        if item is not None and adjoints.is_active(item):
            index = Const(place[0]) if len(place) == 1 else Build("tuple", tuple(map(Const, place)))
            g = make.let(make.fresh("~t_bar"), Call(INDEX, (held, index)))
            adjoints.contribute(item, adjoints.realised(g, make.fact(item)))


def _may_turn_complex(state: State, call: Call) -> bool:
    """Whether a power of Python's floats may be complex: that of a negative one, unless the exponent is whole."""
    power = (call.op.name == "**" and call.op.kind in ("operator", "inplace")) or call.op.function is pow
    known = state.make.fact(call)
    if not power or len(call.args) != 2 or not known.real:
        return False
    base, exponent = call.args
    whole = isinstance(exponent, Const) and isinstance(exponent.value, int)
    positive = state.make.lower_bound(base) is not None
    # A negative number of NumPy's has no power that is complex: it is NaN.
    of_numpy = known.precision in ("single", "double")
    return known.kind in ("scalar", "numeric") and not (whole or positive or of_numpy)
