"""The way of a function to its derivative: the stages, in order, for each sort of derivative.

source text            `Sources`: frontend.source, read_source; transform.specialise
-> IR in SSA form      `Types`: frontend.lower, lower
-> types               `Types`: analysis.infer, infer
-> effects             `analysed`: analysis.effects, effects
-> active names        `analysed`: analysis.activity, activity
-> adjoint, tangent    differentiate: reverse, forward
-> joins, dead code, tapes, shared values    `finished`
-> temporaries folded  optimise.fold, fold
-> text, function      `Writer`: emit, load
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from s2sad.analysis.sections import Sections, sections
from s2sad.analysis.summaries import MODULE, RESULT, Context
from s2sad.differentiate.calls import with_unchanging_calls
from s2sad.differentiate.forward import forward
from s2sad.differentiate.known import CallSite, Known, Pair, Reversed, Seeds, TangentCall
from s2sad.differentiate.reverse import reverse
from s2sad.differentiate.tangent_writes import sorted_unsurely
from s2sad.errors import Place, S2SADError, UnsupportedError, Violation
from s2sad.frontend.source import name_of
from s2sad.frontend.touched import Calls
from s2sad.ir.nodes import Block, Call, Expr, Function, Op, Stmt
from s2sad.ir.show import show
from s2sad.ir.traverse import writes
from s2sad.ir.types import Atom, Fact
from s2sad.naming import saved_copies
from s2sad.optimise import fold
from s2sad.pipeline.analysed import Analysed, Asked, analysed, with_active_results
from s2sad.pipeline.attributes import are_of_numbers
from s2sad.pipeline.callees import Callee, CalleeTangent, pair_like, tangent_like
from s2sad.pipeline.compiled import Compiled, Doings, Goal, Sizes
from s2sad.pipeline.doings import doings_of
from s2sad.pipeline.entry import Together
from s2sad.pipeline.gradients import GradientForm, assembled_gradient, loss_of, seeds_of
from s2sad.pipeline.met import has_met
from s2sad.pipeline.operands import special_classes
from s2sad.pipeline.pairs import Border, again_of, assembled_pair, border, halves
from s2sad.pipeline.passes import finished, finished_forward
from s2sad.pipeline.program import Attempts, Program
from s2sad.pipeline.refused import of_callee, with_calls_inlined, with_obstacle
from s2sad.pipeline.repeatable import is_repeatable
from s2sad.pipeline.results import DEPTH, rough
from s2sad.pipeline.reverse_halves import ReverseHalf, ReverseHalves
from s2sad.pipeline.sums import has_unsure_sums
from s2sad.pipeline.tangents import Form, assembled_tangent, tangent_border
from s2sad.pipeline.terms import own_terms
from s2sad.pipeline.titles import title
from s2sad.pipeline.writer import Writer
from s2sad.runtime.classes import package_of
from s2sad.transform.foreign import given_of
from s2sad.transform.instances import instances_among

#: So many functions at most hand lists and dicts of their callers back.
_MOST_HANDING = 32
_Made = TypeVar("_Made")
_serial = itertools.count(1)
#: The goals of derivatives that are the user's, who sees no argument changed.
_OF_USERS: tuple[Goal, ...] = ("gradient", "value_and_gradient", "pair", "tangent", "tangent_alone")


def compile_gradient(
    function: types.FunctionType,
    wrt: tuple[str, ...],
    facts: Mapping[str, Fact],
    goal: Goal,
    has_aux: bool = False,
    single: bool = True,
    together: Together = (),
    conformed: bool = False,
    exact: bool = False,
    sizes: Sizes = "",
    numbers: bool = False,
    attempts: Attempts | None = None,
) -> Compiled:
    """Compile the derivative of ``function`` with respect to the parameters ``wrt``.

    ``facts`` are what is known of the parameters by their public names, ``together`` the sets of those whose arguments
    share objects.  With ``conformed`` what is emitted gives gradients the structure, shape and dtype of the arguments
    itself, so that it can be differentiated; else its caller does.  What is ``exact`` is for arrays of modules of the
    sizes that they have now; where the facts have numbers for ``sizes``, loops that make objects are written out, and
    for the sake of ``"rounds"`` those that change lists and dicts as well; or what changes those of its caller is
    ``"inlined"``; lists and dicts that exist and change at unknown places are ``"held"``, as copies; what is not
    followed in a branch is ``"raised"`` there as it runs.  Where it may be that numbers are taken for arrays, lists are
    ``"handed"`` back to callers only if that is asked.
    What is changed as a whole, and may be an array or a number, is taken for an array, or a number with ``numbers``.
    The ``attempts`` are those to compile the function for the same arguments.

    Raises:
        SourceError: if the function has no source.
        UnsupportedError: with every place through which no derivative can pass.
    """
    asked = Asked(function, wrt, facts, has_aux=has_aux, together=together)
    inlines: frozenset[types.FunctionType] = frozenset()
    changed: Mapping[types.FunctionType, frozenset[str]] = {}
    refused: UnsupportedError | None = None
    follows = True
    attempts = None if sizes else attempts
    while True:
        before = attempts.known(exact) if attempts is not None and follows and numbers and not changed else None
        compilation = _Compilation(conformed, exact, numbers, before)
        sources = compilation.program.sources
        sources.follows_arguments = follows
        sources.writes_out, sources.inlines = sizes in ("rounds", "raised rounds"), inlines
        sources.holds = sizes == "held"
        sources.may_raise = sizes in ("raised", "raised rounds")
        sources.hand_back(changed)
        try:
            made = compilation.run(asked, goal, single, sizes not in ("", "held"))
            if sources.handing.wanted and (more := sources.to_be_handed) != changed:
                # A caller that hands nothing back keeps its list as it was.
                changed = more
                continue
            return replace(
                made, of_sizes=sources.asks_sizes, of_rounds=sources.fills_containers and sizes in ("", "sizes")
            )
        except UnsupportedError as error:
            if attempts is not None and follows:
                attempts.program = compilation.program
            if refused is None:
                refused = with_calls_inlined(error, sources.led)
                refused.of_sizes = sources.asks_sizes or sources.asks_kinds
                refused.of_rounds = sources.fills_containers
                refused.of_inlining = bool(sources.changing)
                refused.of_arms = sources.has_arms
                refused.of_held = sources.calls is not None and sources.calls.holds
                refused.of_numbers = compilation.unsure and not numbers
            # Of what is taken for arrays, and may be numbers, this is asked for by itself.
            is_sure = numbers or bool(sizes) or not compilation.unsure
            more = sources.to_be_handed
            refused.of_handing = not is_sure and bool(more)
            if is_sure and sizes != "inlined" and more != changed and len(changed) < _MOST_HANDING:
                changed = more
            elif sizes == "inlined" and not sources.changing <= inlines:
                inlines |= sources.changing
            elif any(given.composites for given in sources.foreign.values()):
                # What objects among the arguments do may be done as it is written.
                follows = False
            else:
                raise refused from None


class _Compilation:
    """One compilation: a function and all that it calls; answers what differentiation asks of callees (`Callees`)."""

    def __init__(self, conformed: bool, exact: bool, numbers: bool, before: Program | None = None) -> None:
        self.conformed, self.numbers = conformed, numbers
        self.writer = Writer()
        self.program = before or Program(exact)
        self.program.sources.tell(self.writer.avoid)
        self.pairs: dict[Any, Callee] = {}
        self.tangents: dict[Any, CalleeTangent] = {}
        #: Why pairs are refused: those that call them ask again with other types of their own.
        self.unmade: dict[Any, UnsupportedError] = {}
        #: How each stage reads; written only when somebody asks.
        self.stages: dict[str, Callable[[], str]] = {}
        self.halves = ReverseHalves(self.writer, self.write)
        self.once, self.repeats = False, True
        self.unsure = False  # whether something may be a number or an array, and is changed as a whole
        self.copied: frozenset[str] = frozenset()

    def run(self, asked: Asked, goal: Goal, single: bool, literal: bool) -> Compiled:
        """Compile what is asked for, and all that it calls."""
        sources = self.program.sources
        sources.package = package_of(asked.function)
        asked = replace(asked, function=sources.pruned(asked.function, asked.facts))
        self.program.types.special = special_classes(f for name, f in asked.facts.items() if name in asked.carrying)
        if literal:
            sources.literal[asked.function] = asked.facts
        found = given_of(asked.facts, asked.carrying)
        sources.foreign[asked.function] = found if sources.follows_arguments else replace(found, composites={})
        if goal in _OF_USERS and not asked.together:
            # A call within a program sets attributes for whoever looks at them later.
            sources.instances[asked.function] = instances_among(asked.facts)
            sources.recording = asked.function
        if are_of_numbers(asked.facts, asked.function):
            kinds = {name: fact.kind for name, fact in asked.facts.items()}
            sources.calls = Calls(asked.function, goal in _OF_USERS, kinds)
        source = sources.source(asked.function)
        self.program.types.attributes.begin(asked.function, source, sources.calls)
        stem = self.stem(asked.function)
        self.writer.filename = f"<s2sad {stem} {next(_serial)}>"
        if goal in ("gradient", "value_and_gradient"):
            return self.compiled((self.make_gradient(asked, goal, single, stem),))
        context = Context(tried=goal == "tangent_call") if goal in ("tangent_call", "effects") else None
        asked = replace(asked, context=context, display=True)
        if goal in ("tangent", "tangent_call", "tangent_alone"):
            made = self.make_tangent(asked, f"{stem}_jvp", None, goal == "tangent_alone")
            return self.compiled((made.call.function.name,), doings=made.doings, tangent=made.call)
        if goal == "effects":
            a = self.analysed(asked)
            _check(a)
            if not has_met(a.function, a.effects):
                return self.compiled((), doings=doings_of(a))
        elif goal != "pair":
            beyond = {*asked.function.__code__.co_varnames, RESULT, MODULE} if goal == "copied_call" else ()
            asked = replace(asked, context=Context(overwritten=frozenset(beyond), tried=True))
        callee = self.make_pair(asked, stem, None, goal != "pair", goal == "effects")
        return self.compiled(callee.names, pair=callee.pair, doings=callee.doings if goal != "pair" else None)

    def compiled(
        self,
        names: tuple[str, ...],
        pair: Pair | None = None,
        doings: Doings | None = None,
        tangent: TangentCall | None = None,
    ) -> Compiled:
        """The functions ``names`` with all that they call, as they are handed out."""
        text = self.writer.source(names)
        self.stages["source"] = lambda: text
        guards = tuple(self.program.guards.found.values())
        functions, stages = self.writer.functions, self.stages
        made = Compiled(text, functions, guards, stages, names, self.once, pair, self.copied, doings, tangent)
        return replace(made, repeats=self.repeats)

    # --- the three sorts of derivative: analyses, derivative, passes, text

    def make_gradient(self, asked: Asked, goal: Goal, single: bool, stem: str) -> str:
        """Write the gradient of a function; returns its name."""
        prefix = f"{stem}_value_and_grad_" if goal == "value_and_gradient" else f"{stem}_grad_"
        name = self.writer.unused(prefix + "_".join(asked.wrt))

        def reversed_(a: Analysed) -> tuple[Analysed, Reversed, Block]:
            seeds, head = seeds_of(a, loss_of(a, asked))
            return a, self.adjoint(a, seeds, asked.wrt, None), head

        a, made, head = self.with_arrays(asked, reversed_)
        titled = title(a.lowered.source, asked.wrt, goal, asked.facts, self.program.sources.written(asked.function))
        form = GradientForm(name, titled, single, goal == "value_and_gradient", self.conformed)
        whole, memory = finished(a, assembled_gradient(a, made, head, asked, form), made, self.conformed)
        gradient = self.halves.with_constant_seeds(fold(whole, memory))
        self.stages["adjoint"] = lambda: show(gradient)
        self.write(gradient, asked)
        return name

    def make_pair(self, asked: Asked, stem: str, key: Any, met: bool = False, inactive: bool = False) -> Callee:
        """Write the two halves of a function's derivative: for a call, or, without context, for a user.

        A call that is ``met`` at run time passes no shadows, and all its arguments once.  With ``inactive`` there is
        nothing to differentiate.
        """
        context = asked.context
        names = (self.writer.unused(f"{stem}_forward"), self.writer.unused(f"{stem}_reverse"))
        callee = Callee(names, (types.CellType(), types.CellType()), fixed=context is None or met)
        self.pairs[key] = callee
        wrt = () if inactive else asked.wrt

        def reversed_(a: Analysed) -> tuple[Analysed, Border, Reversed]:
            callee.doings = doings_of(a)
            if inactive:
                a = replace(a, activity=replace(a.activity, active=frozenset()))
            edge = border(a, names, callee.cells, wrt, context, callee.fixed)
            callee.pair = edge.pair
            around = context or Context(overwritten=frozenset({MODULE}))
            return a, edge, self.adjoint(a, edge.seeds, edge.pair.wrt, around)

        a, edge, made = self.with_arrays(replace(asked, has_aux=False), reversed_)
        whole, memory = finished(a, assembled_pair(a, made, edge, context), made, self.conformed, split=True)
        self.stages.setdefault("adjoint", lambda: show(whole))
        titles = title(a.lowered.source, wrt, "pair"), title(a.lowered.source, wrt, "reverse")[:1]
        again = None
        if context is not None and context.repeated and not callee.fixed:
            again = again_of(a, whole, made)
        forward_, backward, callee.pair, once = halves(
            a, whole, edge, made, asked.facts, callee.fixed, titles, again, self.halves.passes
        )
        self.once = self.once or once
        names_ahead = self.write(fold(forward_, memory), asked)
        copies = saved_copies(forward_.body, backward.reverse or ())
        like = {**names_ahead, **{copy: names_ahead[name] for copy, name in copies.items() if name in names_ahead}}
        self.write(fold(backward, memory), asked, like)
        for name, cell in zip(names, callee.cells, strict=True):
            cell.cell_contents = self.writer.functions[name]
        twin = None if callee.fixed or key is None else pair_like(callee, self.pairs, self.writer)
        if twin is not None:
            # What is known of the function and its arguments made no difference.
            self.writer.forget(names)
            callee.names, callee.cells, callee.pair = twin.names, twin.cells, twin.pair
        else:
            bars = {bar for i, bar in zip(edge.pair.seeded, edge.bars, strict=True) if i in callee.pair.spread}
            self.halves.add(ReverseHalf(backward, callee.cells[1], memory, bars, asked, like))
        callee.done = True
        return callee

    def make_tangent(self, asked: Asked, stem: str, key: Any, alone: bool = False) -> CalleeTangent:
        """Write the tangent of a function: for a call, or, without context, for a user."""
        begun = set(self.tangents)
        a = self.analysed(replace(asked, has_aux=False))
        if unsure := sorted_unsurely(a.function, a.facts, a.activity.active):
            # Each tangent stands before what it is the tangent of, and so before any check there.
            a = self.analysed(replace(asked, has_aux=False, arrays=asked.arrays | unsure))
        if asked.context is not None:
            a = with_active_results(a)
        cell = types.CellType()
        op = Op("runtime", self.writer.unused(stem), cell, pure=False)  # type: ignore[arg-type]
        edge = tangent_border(a, asked.wrt, op)
        found = self.tangents[key] = CalleeTangent(edge.call, cell, doings_of(a))
        try:
            with with_obstacle(a.lowered.source):
                made = forward(self.known(a, asked.context, Sections()), edge.given)
            _check(a)
        except UnsupportedError:
            if asked.arithmetic or not has_unsure_sums(a.function, a.facts):
                raise
            # Callees that are refused have no functions.
            self.tangents = {k: t for k, t in self.tangents.items() if t.done or k in begun}
            other = self.make_tangent(replace(asked, arithmetic=True), stem, key, alone)
            # What calls the function in turn has met the first one.
            cell.cell_contents = other.cell.cell_contents
            return other
        made = replace(made, body=with_unchanging_calls(made.body, a.activity.varied, a.effects.calls))
        of_user = asked.context is None
        whole_source = self.program.sources.written(asked.function) if of_user else None
        goal = "tangent_alone" if alone else "tangent"
        titled = title(a.lowered.source, asked.wrt, goal, asked.facts, whole_source)
        form: Form = "user" if of_user and self.conformed else "alone" if alone else "call"
        whole = assembled_tangent(a, edge, made, titled, asked.has_aux, form)
        # The caller sees what is written, and its tangents.
        seen = [] if of_user else [p.name for p in a.function.params if p.name in a.effects.modified]
        shown = finished_forward(a, whole, made, [*seen, *(edge.given[name] for name in seen if name in edge.given)])
        self.stages.setdefault("adjoint", lambda: show(shown))
        self.write(shown, asked)
        cell.cell_contents = self.writer.functions[op.name]
        twin = None if found.fixed or key is None else tangent_like(found, self.tangents, self.writer)
        if twin is not None:
            self.writer.forget((op.name,))
            found.call, cell.cell_contents = twin.call, twin.cell.cell_contents
        found.done = True
        return found

    # --- the stages

    def analysed(self, asked: Asked) -> Analysed:
        """A function in IR, and what the analyses say of it."""
        a = analysed(self.program, asked)
        if "ir" not in self.stages:
            self.stages["ir"] = lambda: show(a.function)
            self.stages["activity"] = lambda: show(a.function, lambda s: _active(s, a))
        self.copied = a.copied or self.copied
        return a

    def with_arrays(self, asked: Asked, use: Callable[[Analysed], _Made]) -> _Made:
        """What is made of a function; objects that are written, and may be arrays or not, are required to be."""
        begun = set(self.pairs)
        refused: UnsupportedError | None = None
        while True:
            a: Analysed | None = None
            try:
                return use(a := self.analysed(asked))
            except UnsupportedError as error:
                refused = refused or error
                self.unsure = self.unsure or bool(error.undecided)
                if error.undecided <= asked.arrays:
                    raise refused from None
                if a is not None and not asked.arithmetic and has_unsure_sums(a.function, a.facts):
                    asked = replace(asked, arithmetic=True)
                else:
                    asked = replace(asked, arrays=asked.arrays | error.undecided, numbers=self.numbers)
                # Callees that are refused have no functions; they are asked about again, with other types.
                self.pairs = {key: c for key, c in self.pairs.items() if c.done or key in begun}

    def known(self, a: Analysed, context: Context | None, parts: Sections) -> Known:
        """A function as it is differentiated."""
        unbound, place = a.lowered.unbound, a.lowered.source.place
        around, again = context or Context(), self.conformed
        return Known(a.function, a.facts, a.effects, a.activity, parts, unbound, place, self, around, again, a.defaults)

    def adjoint(self, a: Analysed, seeds: Seeds, wrt: tuple[str, ...], context: Context | None) -> Reversed:
        """The adjoint of a function; its caller passes shadows and is given others."""
        names = {p.public: p.name for p in a.function.params}
        known = self.known(a, context, sections(a.function, a.facts, a.effects))
        with with_obstacle(a.lowered.source):
            made = reverse(known, seeds, tuple([names[w] for w in wrt]))
        _check(a)
        return replace(made, body=with_unchanging_calls(made.body, a.activity.varied, a.effects.calls))

    def write(self, function: Function, asked: Asked, other: Mapping[str, str] | None = None) -> Mapping[str, str]:
        """Emit and load a function that is made of the one that is asked about; returns the names in its text.

        ``other`` are those in the other half of the same function.
        """
        sources = self.program.sources
        self.halves.note(function)
        source, whole = sources.source(asked.function), sources.whole(asked.function)
        self.repeats = self.repeats and is_repeatable(function, source.function)
        return self.writer.write(function, source, asked.function, whole, other)

    # --- the derivatives of callees

    def bound_facts(self, call: Call, fact: Callable[[Expr], Fact]) -> dict[str, Fact] | None:
        """What is known of the arguments of a call by parameter; None where they do not fit."""
        return self.program.results.bound_facts(call, fact)

    def refused(self, call: Call, error: S2SADError, place: Place) -> list[Violation]:
        """What is refused of a call whose callee is."""
        return of_callee(call, error, place)

    def stem(self, function: types.FunctionType) -> str:
        """What the names of functions emitted for a function begin with: ``call`` for ``__call__``."""
        name = name_of(function, self.program.sources.source(function).name)
        return name.strip("_") if name.startswith("__") and name.strip("_") else name

    def pair(self, site: CallSite) -> Pair:
        """The pair of functions for a call."""
        asked, key = self.callee(site, self.pairs)
        if key in self.unmade:
            raise self.unmade[key].with_traceback(None)
        if key not in self.pairs or self.pairs[key].pair is None:
            try:
                self.make_pair(asked, self.stem(asked.function), key)
            except UnsupportedError as error:
                self.unmade[key] = error
                raise
        callee = self.pairs[key]
        assert callee.pair is not None
        callee.fixed = True
        return callee.pair

    def tangent(self, site: CallSite) -> TangentCall:
        """The tangent of the callee for a call."""
        asked, key = self.callee(site, self.tangents)
        if key not in self.tangents:
            self.make_tangent(asked, f"{self.stem(asked.function)}_jvp", key)
        self.tangents[key].fixed = True
        return self.tangents[key].call

    def callee(self, site: CallSite, made: Mapping[Any, Callee | CalleeTangent]) -> tuple[Asked, Any]:
        """The function that a call runs, with the types of its parameters in its own terms, and under what it is."""
        function = site.call.op.function
        assert isinstance(function, types.FunctionType)
        facts = own_terms(site.facts)
        # A function that calls itself, each time with other facts, is not followed for ever.
        whole = self.program.sources.whole
        pending = [known[0] for known, c in made.items() if known is not None and not c.done]
        if sum(whole(f) is whole(function) for f in pending) > DEPTH:
            facts = {name: rough(fact, frozenset({Atom(name)})) for name, fact in facts.items()}
        function = self.program.results.concrete(function, facts)
        asked = Asked(function, site.active, facts, site.context, site.varied, display=True)
        return asked, (function, site.active, tuple(facts.items()), site.context, site.varied)


def _check(a: Analysed) -> None:
    """Raise what is refused of a function of which nothing else is.

    Raises:
        UnsupportedError: with its doubts, if it has any.
    """
    if a.doubts:
        with with_obstacle(a.lowered.source):
            raise UnsupportedError(a.doubts)


def _active(stmt: Stmt, a: Analysed) -> str:
    """The active names that a statement assigns, as a comment."""
    names = [n for n in writes(stmt) if n in a.activity.active]
    return f"active: {', '.join(names)}" if names else ""
