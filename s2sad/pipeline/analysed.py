"""The first stages: from a function to its IR and what the analyses say about it."""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from s2sad.analysis import keys
from s2sad.analysis.activity import Activity, activity, written_outside
from s2sad.analysis.containers import faults, misplaced
from s2sad.analysis.effects import Effects, effects
from s2sad.analysis.infer import Facts
from s2sad.analysis.results import held_together
from s2sad.analysis.summaries import MODULE, RESULT, Context
from s2sad.errors import UnsupportedError, Violation
from s2sad.frontend.lower import Lowered
from s2sad.ir.check import checked
from s2sad.ir.nodes import Assign, Build, Call, Const, Enter, Evaluate, Exit, Expr, Function, Op, Param, Unpack, Var
from s2sad.ir.traverse import base, names_in, walk, writes
from s2sad.ir.types import Fact
from s2sad.optimise import remove_dead
from s2sad.pipeline.causes import Causes, causes_of, is_unread
from s2sad.pipeline.entry import (
    Together,
    are_together,
    with_copies,
    with_own_containers,
    with_records_alone,
    with_written_alone,
)
from s2sad.pipeline.met import with_checked_results
from s2sad.pipeline.program import Program
from s2sad.pipeline.refused import with_obstacle
from s2sad.pipeline.sums import with_required_arithmetic
from s2sad.pipeline.typed import default_facts
from s2sad.pipeline.undecided import with_required
from s2sad.pipeline.unpacked import with_named_arrays
from s2sad.runtime import as_pair

_AS_PAIR = Op("runtime", "as_pair", as_pair, pure=False)


@dataclass(frozen=True)
class Asked:
    """A function whose derivative is asked for, with respect to the parameters ``wrt`` (public names).

    ``facts`` are the types of its arguments, ``varied`` all parameters that may carry derivatives, ``wrt`` if empty.
    A function with a ``context`` is called by another, which sees what it writes.  With ``display`` its result may be
    a tuple of several, with ``has_aux`` it is a value and something else.  ``together`` are the sets of parameters
    whose arguments share objects.  ``arrays`` are names in the IR of objects that are written and have to be arrays,
    which is checked at run time; with ``numbers`` those of which no items are written have to be numbers.  With
    ``arithmetic`` it is checked as well that no sum may join lists.
    """

    function: types.FunctionType
    wrt: tuple[str, ...]
    facts: Mapping[str, Fact]
    context: Context | None = None
    varied: frozenset[str] = frozenset()
    display: bool = False
    has_aux: bool = False
    together: Together = ()
    arrays: frozenset[str] = frozenset()
    numbers: bool = False
    arithmetic: bool = False

    @property
    def carrying(self) -> tuple[str, ...]:
        """The parameters that may carry derivatives."""
        return tuple(sorted(self.varied.union(self.wrt))) if self.varied else self.wrt


@dataclass(frozen=True)
class Analysed:
    """A lowered function, without what is dead in it, and what the analyses say about it.

    ``doubts`` are what is refused if nothing else is: a call of which nothing is known may be the reason for both.
    ``copied`` are the parameters of whose arguments the function makes copies, to change these, ``defaults`` those
    of a callee that no argument is given for, by their names, with the numbers that they are.
    """

    lowered: Lowered
    function: Function
    facts: Facts
    effects: Effects
    activity: Activity
    doubts: tuple[Violation, ...] = ()
    copied: frozenset[str] = frozenset()
    defaults: Mapping[str, Expr] = field(default_factory=dict)


def analysed(program: Program, asked: Asked) -> Analysed:
    """A function in IR with its types, effects and activity.

    Raises:
        SourceError: if the function has no source.
        UnsupportedError: with what is refused of it, whatever is differentiated.
    """
    context, together = asked.context, asked.together if asked.context is None else ()
    lowered, ir, known = program.types.settled_typed(
        asked.function, asked.carrying, asked.facts, asked.display or asked.has_aux, together
    )
    checked(ir, "lower")
    facts = {**default_facts(ir), **asked.facts}
    if asked.arithmetic:
        ir, known = program.types.inferred_with(lowered, with_required_arithmetic(ir, known), facts)
    classes = functools.partial(program.types.classes, lowered)
    if asked.arrays:
        required = with_required(ir, asked.arrays, known, classes, asked.numbers)
        ir, known = program.types.inferred_with(lowered, required, facts)
    if asked.has_aux:
        ir, known = _with_aux(program, lowered, ir, facts)
    program.guards.add_resolved(lowered.resolver)
    # A user may write into the arguments, the result and the module of a function before calling its pullback.
    kept_pair = asked.display and context is None
    beyond = frozenset({RESULT, MODULE, *(p.public for p in ir.params)}) if kept_pair else frozenset()
    roots = [p.name for p in ir.params if p.public in asked.carrying]
    summarise = program.effects.summaries_of(ir, roots)
    ir, shared = with_checked_results(ir, lambda f: effects(f, known, summarise, context, beyond))
    written = [p for p in ir.params if p.name in shared.modified and known.of[p.name].kind != "scalar"]
    copied = written if context is None else []

    def again(changed: Function) -> tuple[Function, Facts, Effects]:
        """A changed function with its types and effects."""
        changed, types_of = program.types.inferred_with(lowered, changed, facts)
        summarise = program.effects.summaries_of(changed, roots)
        return changed, types_of, effects(changed, types_of, summarise, context, beyond)

    apart = context is not None and RESULT in context.overwritten
    if (named := with_named_arrays(ir, known, shared, apart)) is not ir:
        ir, known, shared = again(named)
    checked_before = len(ir.body)
    if copied:
        ir, known, shared = again(with_copies(ir, copied, known, shared, asked.wrt, lowered.source))
    changed = [p for p in ir.params if p.name in shared.versions] if context is None else []
    if changed:
        added = len(ir.body) - checked_before
        ir, known, shared = again(with_own_containers(ir, shared, known, lowered.source, added))
    if asked.arrays and (checked_ := with_required(ir, asked.arrays, known, classes, asked.numbers)) is not ir:
        # Copies of arguments have names of their own.
        ir, known, shared = again(checked_)
    if lowered.recorded:
        ir = with_records_alone(ir, lowered.recorded, known, lowered.source)
    sources = program.types.sources
    if (sources.recorded or sources.state) and asked.function is sources.recording:
        ir = with_written_alone(ir, sources.recorded, sources.state, known, lowered.source)
    handed = sources.handing.handed_params(sources.whole(asked.function))
    try:
        _check_changes(ir, known, shared, lowered)
        _check_handed([p for p in ir.params if p.public in handed], known, lowered)
    except UnsupportedError:
        if replaced := [p.public for p in ir.params if p.name in shared.versions]:
            sources.note_changing(asked.function, replaced)
        for called, does in shared.calls.items():
            containers = [p for p in does.changing if known.get(does.bound[p]).kind in ("list", "dict")]
            if containers and isinstance(called.op.function, types.FunctionType):
                sources.note_changing(called.op.function, containers)
        raise
    if context is not None and context.tried:
        ir = replace(ir, body=(Enter(), *ir.body, Exit()))
    # The caller sees what a callee writes.
    seen = tuple([p.name for p in written]) if context is not None else ()
    kept = [*(("~loss.1", "~aux.1") if asked.has_aux else ()), *seen, *sorted(shared.written & shared.module)]
    ir = remove_dead(ir, shared.objects(), kept)
    active = [p.name for p in ir.params if p.public in asked.wrt]
    result: Expr = Var("~loss.1") if asked.has_aux else Build("tuple", (ir.result, *map(Var, seen)))
    found = activity(replace(ir, result=result), active, shared, known)
    _check_keys(ir, known, found, lowered)
    if together and are_together(ir, found.varied):
        what = "two arguments share what the function changes and differentiates"
        raise UnsupportedError([Violation(lowered.source.place(lowered.source.node), what, "Pass a copy of one.")])
    outside = list(written_outside(ir, known, shared, found.varied, lowered))
    causes: Causes = {}
    doubts = [violation for item in outside for violation in causes_of(program.effects, item, known, lowered, causes)]
    # What cannot be read is refused where it is called, beside whatever else is refused.
    if any(item.sure and not is_unread(program.effects, item, known) for item in outside):
        with with_obstacle(lowered.source):
            raise UnsupportedError(doubts)
    present = {n for s in walk(ir.body) for n in writes(s)}
    lowered = replace(lowered, unbound=lowered.unbound & present)
    defaults = {} if context is None else _numbers_by_default(ir, asked.facts)
    parted = sources.parted.get(asked.function, ()) if context is None else ()
    own = frozenset({*(p.public for p in (*copied, *changed)), *parted, *chain(*together)})
    return Analysed(lowered, ir, known, shared, found, tuple(doubts), own, defaults)


def with_active_results(a: Analysed) -> Analysed:
    """A callee with tangents, of their own memory, for what its caller is given in several places and may write into.

    They are zero in the callee if they are not active there; in its caller what is written into one is in all.  Where
    no result of them has a tangent, the caller makes these.
    """
    result, active = a.function.result, a.activity.active
    parts = result.items if isinstance(result, Build) and result.kind == "tuple" else (result,)
    with_tangents = [p for p in parts if not active.isdisjoint(names_in(p))]
    near = {m for p in with_tangents for n in names_in(p) for m in a.effects.group.get(n, (n,))}
    held = (held_together(result, a.facts, a.effects) & near) - a.activity.stopped
    return replace(a, activity=replace(a.activity, active=active | held, together=held))


def _numbers_by_default(ir: Function, given: Mapping[str, Fact]) -> dict[str, Expr]:
    """The parameters that have a number by default, where no argument is ``given``."""
    defaults = {p.name: p.default.value for p in ir.params if p.default is not None and p.public not in given}
    return {name: Const(value) for name, value in defaults.items() if type(value) in (int, float)}


def _with_aux(program: Program, lowered: Lowered, ir: Function, facts: Mapping[str, Fact]) -> tuple[Function, Facts]:
    """A function with names for the value and what else it returns, and the types of its names."""
    if isinstance(ir.result, Build) and len(ir.result.items) == 2:
        loss, aux = ir.result.items
        origin = lowered.function.body[-1].origin
        ir = replace(ir, body=(*ir.body, Assign("~loss.1", loss, origin), Assign("~aux.1", aux, origin)))
    else:
        ir = replace(ir, body=(*ir.body, Unpack(("~loss.1", "~aux.1"), ir.result)))
    checked(ir, "lower")
    ir, known = program.types.inferred_with(lowered, ir, facts)
    returned = known.get(ir.result)
    if returned.kind == "tuple" and returned.items is not None:
        as_pair(tuple(returned.items))  # it raises if these are not two
    elif isinstance(ir.body[-1], Unpack):
        *body, pair = ir.body
        ir = replace(ir, body=(*body, Evaluate(Call(_AS_PAIR, (ir.result,))), pair))
    return ir, known


def _check_changes(function: Function, facts: Facts, shared: Effects, lowered: Lowered) -> None:
    """Refuse to change containers that others may hold, and parts of what may be no array."""
    ends = base(names_in(lowered.function.result)[0]) if names_in(lowered.function.result) else ""
    place = lowered.source.place
    remedy = "Change a list or dict that only this variable holds (x.copy() makes one), or make a new one."
    found = [Violation(place(call.node), why, remedy) for call, why in faults(function, facts, shared.calls, ends)]
    remedy = "Write z.imag[...] = x where z is an array; a dataclass keeps it under another name."
    found += [Violation(place(call.node), why, remedy) for call, why in misplaced(function, facts)]
    if found:
        raise UnsupportedError(found)


def _check_handed(params: Sequence[Param], facts: Facts, lowered: Lowered) -> None:
    """Refuse to hand anything but lists and dicts back: arrays have views."""
    others = [p for p in params if facts.of[p.name].kind not in ("list", "dict")]
    remedy = "Return what it makes."
    what = [f"{p.public} is the caller's, and this changes it" for p in others]
    if what:
        raise UnsupportedError([Violation(lowered.source.place(lowered.source.node), text, remedy) for text in what])


def _check_keys(function: Function, facts: Facts, found: Activity, lowered: Lowered) -> None:
    """Refuse to read keys again that depend on what is differentiated."""
    places = [lowered.source.place(s.origin.line) for s in keys.read_back(function, facts, found.varied)]
    if places:
        raise UnsupportedError([Violation(place, keys.MESSAGE, keys.REMEDY) for place in places])
