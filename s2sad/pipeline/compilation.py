"""Put the stages together: gradients, and pairs of functions for calls."""

from __future__ import annotations

import itertools
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from s2sad.analysis.infer import Facts
from s2sad.analysis.sections import Sections, sections
from s2sad.analysis.summaries import MODULE, RESULT, Context
from s2sad.differentiate.builder import Builder
from s2sad.differentiate.calls import with_unchanging_calls
from s2sad.differentiate.forward import forward
from s2sad.differentiate.known import Known, Pair, Reversed, TangentCall
from s2sad.differentiate.remake import Remaker
from s2sad.differentiate.reverse import reverse
from s2sad.errors import UnsupportedError, Violation
from s2sad.frontend.source import Source
from s2sad.frontend.touched import Calls
from s2sad.ir.nodes import Assign, Build, Call, Const, Expr, Function, Op, Param, Stmt, Var
from s2sad.ir.show import show
from s2sad.ir.traverse import base, names_in
from s2sad.ir.types import SCALAR, Atom, Fact, rough, same_shape
from s2sad.optimise import fold
from s2sad.pipeline.analysed import Analysed, Analyser
from s2sad.pipeline.attributes import are_of_numbers
from s2sad.pipeline.callees import DEPTH, own_terms
from s2sad.pipeline.compiled import Compiled, Doings, Goal, tangent_names
from s2sad.pipeline.doings import doings_of
from s2sad.pipeline.entry import Together
from s2sad.pipeline.met import has_met
from s2sad.pipeline.pairs import Again, border, display, halves
from s2sad.pipeline.passes import finished, finished_forward
from s2sad.pipeline.refused import with_obstacle
from s2sad.pipeline.titles import title
from s2sad.pipeline.writer import Writer
from s2sad.runtime import constant_loss, scalar_seed
from s2sad.runtime.classes import package_of
from s2sad.runtime.tangents import as_tangent
from s2sad.runtime.trees import conformed
from s2sad.runtime.zero_tangents import zero_tangent
from s2sad.transform.instances import instances_among

_serial = itertools.count(1)
#: The goals of derivatives that are the user's, who sees no argument changed.
_OF_USERS: tuple[Goal, ...] = ("gradient", "value_and_gradient", "pair", "tangent", "tangent_alone")
_SEED = Op("runtime", "scalar_seed", scalar_seed)
# These two raise for what they do not accept, so they are not pure.
_CONFORMED = Op("runtime", "conformed", conformed)
_AS_TANGENT = Op("runtime", "as_tangent", as_tangent, pure=False)
_ZERO_TANGENT = Op("runtime", "zero_tangent", zero_tangent)
_CONSTANT_LOSS = Op("runtime", "constant_loss", constant_loss, pure=False)


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
) -> Compiled:
    """Compile the derivative of ``function`` with respect to the parameters ``wrt``.

    ``facts`` are what is known of the parameters by their public names, ``together`` the sets of those whose arguments
    share objects.  With ``conformed`` what is emitted gives gradients the structure, shape and dtype of the arguments
    itself, so that it can be differentiated; else its caller does.  What is ``exact`` is for arrays of modules of the
    sizes that they have now.

    Raises:
        SourceError: if the function has no source.
        UnsupportedError: with every place through which no derivative can pass.
    """
    return _Compilation(together, conformed, exact).run(function, wrt, facts, goal, has_aux, single)


@dataclass
class _Callee:
    """A pair in the making: the cells are filled when its text is loaded.

    Once it is ``fixed``, because a call of the function itself rests on it, what it passes does not change.
    """

    names: tuple[str, str]
    cells: tuple[types.CellType, types.CellType]
    pair: Pair | None = None
    fixed: bool = False
    done: bool = False
    doings: Doings | None = None


@dataclass
class _Tangent:
    """The tangent of a callee in the making: the cell is filled when its text is loaded."""

    call: TangentCall
    cell: types.CellType
    doings: Doings
    done: bool = False


class _Compilation(Analyser):
    """One compilation: a function and all that it calls."""

    def __init__(self, together: Together, conformed: bool, exact: bool) -> None:
        super().__init__(exact)
        self.together = together
        self.conformed = conformed
        self.writer = Writer()
        self.pairs: dict[Any, _Callee] = {}
        self.tangents: dict[Any, _Tangent] = {}
        self.once = False

    def run(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        facts: Mapping[str, Fact],
        goal: Goal,
        has_aux: bool,
        single: bool,
    ) -> Compiled:
        self.package = package_of(function)
        function = self.pruned(function, facts)
        if goal in _OF_USERS and not self.together:
            # A call within a program sets attributes for whoever looks at them later.
            self.instances[function] = instances_among(facts)
            self.recording = function
        if are_of_numbers(facts, function):
            self.calls = Calls(function)
        stem = _stem(self.source(function).name)
        self.attributes.begin(function, self.source(function), self.calls)
        names: tuple[str, ...] = ()
        self.writer.filename = f"<s2sad {stem} {next(_serial)}>"
        pair = None
        doings = None
        tangent = None
        if goal in ("tangent", "tangent_call", "tangent_alone"):
            context = Context() if goal == "tangent_call" else None
            alone = goal == "tangent_alone"
            name = f"{stem}_jvp"
            made = self.make_tangent(function, wrt, facts, name, None, context, has_aux=has_aux, alone=alone)
            tangent, doings, names = made.call, made.doings, (made.call.function.name,)
        elif goal == "effects":
            a = self.analysed(function, wrt, facts, context=Context(), display=True)
            if a.doubts:
                raise UnsupportedError(a.doubts)
            if not has_met(a.function, a.effects):
                return Compiled("", {}, tuple(self.guards.values()), doings=doings_of(a))
            callee = self.make_pair(function, wrt, facts, stem, None, Context(), True, inactive=True)
            pair, names = callee.pair, callee.names
            doings = callee.doings
        elif goal in ("call", "copied_call"):
            beyond = {*function.__code__.co_varnames, RESULT, MODULE} if goal == "copied_call" else ()
            context = Context(overwritten=frozenset(beyond), tried=True)
            callee = self.make_pair(function, wrt, facts, stem, None, context, True)
            pair, names = callee.pair, callee.names
            doings = callee.doings
        elif goal == "pair":
            callee = self.make_pair(function, wrt, facts, stem)
            pair = callee.pair
            names = callee.names
        else:
            prefix = f"{stem}_value_and_grad_" if goal == "value_and_gradient" else f"{stem}_grad_"
            names = (self.writer.unused(prefix + "_".join(wrt)),)
            gradient = self.gradient(function, wrt, facts, goal, has_aux, single, names[0])
            self.stages["adjoint"] = lambda: show(gradient)
            self.writer.write(gradient, self.source(function).function)
        text = self.writer.source(names)
        self.stages["source"] = lambda: text
        guards = tuple(self.guards.values())
        functions, stages = self.writer.functions, self.stages
        return Compiled(text, functions, guards, stages, names, self.once, pair, self.written, doings, tangent)

    def source(self, function: types.FunctionType) -> Source:
        """The source of a function."""
        self.writer.avoid(function.__code__)
        return super().source(function)

    def differentiate(
        self,
        a: Analysed,
        seeds: Sequence[tuple[str, Expr]],
        wrt: tuple[str, ...],
        seed_facts: Mapping[str, Fact],
        passed: Mapping[str, str] | None = None,
        views: tuple[str, ...] = (),
        context: Context | None = None,
    ) -> Reversed:
        """The adjoint of a function; its caller passes shadows and is given those of ``views``."""
        names = {p.public: p.name for p in a.function.params}
        place = a.lowered.source.place
        parts = sections(a.function, a.facts, a.effects)
        around = context or Context()
        known = Known(
            a.function, a.facts, a.effects, a.activity, parts, a.lowered.unbound, place, self, around, self.conformed
        )
        with with_obstacle(a.lowered.source):
            made = reverse(known, seeds, [names[w] for w in wrt], seed_facts, passed or {}, views)
        if a.doubts:
            raise UnsupportedError(a.doubts)
        return replace(made, body=with_unchanging_calls(made.body, a.activity.varied, a.effects.calls))

    def gradient(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        facts: Mapping[str, Fact],
        goal: Goal,
        has_aux: bool,
        single: bool,
        name: str,
    ) -> Function:
        a = self.analysed(function, wrt, facts, has_aux)
        loss: Expr = Var("~loss.1") if has_aux else a.function.result
        fact = a.facts.get(loss)
        seeds: list[tuple[str, Expr]] = []
        head: tuple[Stmt, ...] = ()
        seed_facts: dict[str, Fact] = {}
        if not any(name in a.activity.active for name in names_in(loss)):
            # A result that is no float, and no derivative either, is a mistake.
            head = (Assign("~zero.1", Call(_CONSTANT_LOSS, (loss,))),)
            seed_facts["~zero.1"] = SCALAR
        elif isinstance(loss, Var):
            if fact.kind == "scalar" and fact.real:
                seeds.append((loss.name, Const(1.0)))
            else:
                bar = "~loss_bar.1"
                head = (Assign(bar, Call(_SEED, (loss,))),)
                seeds.append((loss.name, Var(bar)))
                seed_facts[bar] = SCALAR
        made = self.differentiate(a, seeds, wrt, seed_facts)
        adjoints = made.adjoints
        if self.conformed:
            params = {p.public: p.name for p in a.function.params}
            look = Facts(made.facts, a.facts.globals)
            pairs = zip(adjoints, wrt, strict=True)
            adjoints = tuple([_conformed(bar, Var(params[name]), a.facts, look) for bar, name in pairs])
        gradients = adjoints[0] if single else Build("tuple", adjoints)
        if goal == "value_and_gradient":
            value: Expr = Build("tuple", (loss, Var("~aux.1"))) if has_aux else loss
            result: Expr = Build("tuple", (value, gradients))
        else:
            result = Build("tuple", (gradients, Var("~aux.1"))) if has_aux else gradients
        whole = replace(
            a.function,
            name=name,
            body=made.body,
            reverse=(*head, *made.reverse),
            result=result,
            title=title(a.lowered.source, wrt, goal, facts, self.read(self.unpruned.get(function, function))),
        )
        whole, memory = finished(a, whole, made, self.conformed)
        return fold(whole, memory)

    # --- calls

    def called(
        self, call: Call, facts: Mapping[str, Fact], made: Mapping[Any, _Callee | _Tangent]
    ) -> tuple[types.FunctionType, dict[str, Fact]]:
        """The function that a call runs, and the facts about its parameters in its own terms."""
        function = call.op.function
        assert isinstance(function, types.FunctionType)
        own_facts = own_terms(facts)
        # A function that calls itself, each time with other facts, is not followed for ever.
        pending = [known[0] for known, c in made.items() if known is not None and not c.done]
        if sum(self.unpruned.get(f, f) is function for f in pending) > DEPTH:
            own_facts = {name: rough(fact, frozenset({Atom(name)})) for name, fact in own_facts.items()}
        return self.concrete(function, own_facts), own_facts

    def tangent(
        self,
        call: Call,
        active: tuple[str, ...],
        facts: Mapping[str, Fact],
        context: Context,
        varied: frozenset[str] = frozenset(),
    ) -> TangentCall:
        """The tangent of the callee for a call with these active arguments, of all those that are ``varied``."""
        function, own_facts = self.called(call, facts, self.tangents)
        key = (function, active, tuple(own_facts.items()), context, varied)
        if key not in self.tangents:
            name = f"{_stem(self.source(function).name)}_jvp"
            self.make_tangent(function, active, own_facts, name, key, context, varied)
        return self.tangents[key].call

    def make_tangent(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        facts: Mapping[str, Fact],
        stem: str,
        key: Any,
        context: Context | None,
        varied: frozenset[str] = frozenset(),
        has_aux: bool = False,
        alone: bool = False,
    ) -> _Tangent:
        """Write the tangent of a function: for a call, or, without ``context``, for a user."""
        every = tuple(sorted(varied.union(wrt))) if varied else wrt
        a = self.analysed(function, wrt, facts, context=context, display=True, varied=every)
        cell = types.CellType()
        op = Op("runtime", self.writer.unused(stem), cell, pure=False)  # type: ignore[arg-type]
        own = [p for p in a.function.params if p.public in wrt]
        named = tangent_names([p.public for p in a.function.params], [p.public for p in own])
        given = {p.name: f"{public}.0" for p, public in zip(own, named, strict=True)}
        result = a.function.result
        items = result.items if isinstance(result, Build) else () if result == Const(None) else (result,)
        active = [i for i, item in enumerate(items) if not a.activity.active.isdisjoint(names_in(item))]
        publics = {p.name: p.public for p in a.function.params}
        params = tuple([(publics[name], dot.removesuffix(".0")) for name, dot in given.items()])
        count = None if not (isinstance(result, Build) or result == Const(None)) else len(items)
        found = _Tangent(TangentCall(op, params, count, tuple(active)), cell, doings_of(a))
        self.tangents[key] = found
        names = {p.public: p.name for p in a.function.params}
        around = context or Context()
        known = Known(
            a.function,
            a.facts,
            a.effects,
            a.activity,
            Sections(),
            a.lowered.unbound,
            a.lowered.source.place,
            self,
            around,
            self.conformed,
        )
        with with_obstacle(a.lowered.source):
            made = forward(known, {names[public]: f"{dot}.0" for public, dot in params})
        if a.doubts:
            raise UnsupportedError(a.doubts)
        whole = replace(
            a.function,
            name=op.name,
            params=(
                *a.function.params,
                *(Param(dot, dot.removesuffix(".0"), keyword_only=True) for dot in given.values()),
            ),
            body=with_unchanging_calls(made.body, a.activity.varied, a.effects.calls),
            result=display((*items, *made.dots)),
            title=title(
                a.lowered.source,
                wrt,
                "tangent_alone" if alone else "tangent",
                facts,
                self.read(self.unpruned.get(function, function)) if context is None else None,
            ),
        )
        if alone:
            dots = dict(zip(active, made.dots, strict=True))
            parts = tuple([dots.get(i) or Call(_ZERO_TANGENT, (item,)) for i, item in enumerate(items)])
            whole = replace(whole, result=parts[0] if isinstance(result, Var) else Build("tuple", parts))
        if self.conformed and context is None:
            if has_aux and not (isinstance(result, Build) and len(items) == 2):
                what = "the value and aux are not put together where they are returned"
                raise UnsupportedError([Violation(a.lowered.source.place(0), what, "Return value, aux.")])
            whole = _with_tangent(whole, result, dict(zip(active, made.dots, strict=True)), given, a.facts, has_aux)
        # The caller sees what is written, and its tangents.
        written = [p.name for p in a.function.params if p.name in a.effects.modified and context is not None]
        shown = finished_forward(a, whole, made, [*written, *(given[name] for name in written if name in given)])
        self.stages.setdefault("adjoint", lambda: show(shown))
        self.writer.write(shown, self.source(function).function)
        cell.cell_contents = self.writer.functions[op.name]
        found.done = True
        return found

    def pair(
        self,
        call: Call,
        active: tuple[str, ...],
        facts: Mapping[str, Fact],
        context: Context,
        varied: frozenset[str] = frozenset(),
    ) -> Pair:
        """The pair of functions for a call with these active arguments, of all those that are ``varied``."""
        function, own_facts = self.called(call, facts, self.pairs)
        key = (function, active, tuple(own_facts.items()), context, varied)
        if key not in self.pairs or self.pairs[key].pair is None:
            stem = _stem(self.source(function).name)
            self.make_pair(function, active, own_facts, stem, key, context, varied=varied)
        callee = self.pairs[key]
        assert callee.pair is not None
        callee.fixed = True
        return callee.pair

    def make_pair(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        facts: Mapping[str, Fact],
        stem: str,
        key: Any = None,
        context: Context | None = None,
        met: bool = False,
        inactive: bool = False,
        varied: frozenset[str] = frozenset(),
    ) -> _Callee:
        """Write the two halves of a function's derivative: for a call, or, without ``context``, for a user.

        A call that is ``met`` at run time passes no shadows, and all its arguments once.  With ``inactive`` there is
        nothing to differentiate.
        """
        names = (self.writer.unused(f"{stem}_forward"), self.writer.unused(f"{stem}_reverse"))
        callee = _Callee(names, (types.CellType(), types.CellType()), fixed=context is None or met)
        self.pairs[key] = callee
        every = tuple(sorted(varied.union(wrt))) if varied else wrt
        a = self.analysed(function, wrt, facts, context=context, display=True, varied=every)
        callee.doings = doings_of(a)
        if inactive:
            a, wrt = replace(a, activity=replace(a.activity, active=frozenset())), ()
        edge = border(a, names, callee.cells, wrt, context)
        callee.pair = edge.pair
        seeds = [(name, Var(bar)) for name, bar in edge.seeds]
        around = context or Context(overwritten=frozenset({MODULE}))
        made = self.differentiate(a, seeds, edge.pair.wrt, edge.seed_facts, edge.passed, edge.views, around)
        written = [p.name for p in a.function.params if p.name in a.effects.modified] if context is not None else []
        kept = [*written, *edge.passed.values(), *made.outward]
        parts = (edge.items, made.adjoints, tuple(Var(n) for n in kept))
        result = Build("tuple", tuple(Build("tuple", part) for part in parts))
        whole = replace(a.function, body=made.body, reverse=made.reverse, result=result)
        whole, memory = finished(a, whole, made, self.conformed)
        self.stages.setdefault("adjoint", lambda: show(whole))
        titles = title(a.lowered.source, wrt, "pair"), title(a.lowered.source, wrt, "reverse")[:1]
        closed = not a.effects.written & a.effects.module
        known = Facts(made.facts, a.facts.globals)
        real = tuple([w for w, g in zip(edge.pair.wrt, made.adjoints, strict=True) if known.get(g).real])
        edge = replace(edge, pair=replace(edge.pair, real=real, complex=made.complex))
        if context is not None and context.repeated and not callee.fixed:
            remaker = Remaker(lambda n: known.get(Var(n)), a.effects, Builder(whole, known).fresh)
            again = Again(remaker, a.lowered.unbound | made.unbound)
        else:
            again = None
        forward, backward, callee.pair, once = halves(whole, edge, made, facts, closed, callee.fixed, titles, again)
        self.once = self.once or once
        self.writer.write(fold(forward, memory), self.source(function).function)
        self.writer.write(fold(backward, memory), self.source(function).function)
        for name, cell in zip(names, callee.cells, strict=True):
            cell.cell_contents = self.writer.functions[name]
        callee.done = True
        return callee


def _stem(name: str) -> str:
    """What the names of emitted functions begin with: ``call`` for ``__call__``."""
    return name.strip("_") if name.startswith("__") and name.strip("_") else name


def _conformed(bar: Expr, param: Var, facts: Facts, made: Facts) -> Expr:
    """The adjoint of a parameter in the form of that, as which it may be known already."""
    wanted, found = facts.get(param), made.get(bar)
    alike = wanted.kind == found.kind and wanted.kind in ("array", "scalar") and same_shape(wanted, found)
    if alike and wanted.real and found.real and wanted.precision == found.precision != "":
        return bar
    return Call(_CONFORMED, (bar, param))


def _with_tangent(
    function: Function,
    result: Expr,
    dots: Mapping[int, Expr],
    given: Mapping[str, str],
    facts: Facts,
    has_aux: bool,
) -> Function:
    """The tangent of a function that takes tangents as a user gives them, and returns the value and the tangent of it.

    Args:
        function: The tangent, in terms of the names of the function itself.
        result: The result of that.
        dots: The tangents of the items of the result that have one.
        given: The tangents of the parameters by their names.
        facts: What is known of the function itself.
        has_aux: The second of two results has no tangent.
    """
    single = not isinstance(result, Build)
    items = result.items if isinstance(result, Build) else (result,)
    tangents = [dots.get(i) or Call(_ZERO_TANGENT, (item,)) for i, item in enumerate(items)]
    if has_aux:
        whole = Build("tuple", (items[0], tangents[0], items[1]))
    else:
        parts = (result, tangents[0]) if single else (result, Build("tuple", tuple(tangents)))
        whole = Build("tuple", parts)
    checks = [Assign(dot, Call(_AS_TANGENT, (Var(f"{base(dot)}.given"), Var(name)))) for name, dot in given.items()]
    names = {dot: f"{base(dot)}.given" for dot in given.values()}
    params = tuple([replace(p, name=names.get(p.name, p.name)) for p in function.params])
    return replace(function, params=params, body=(*checks, *function.body), result=whole)
