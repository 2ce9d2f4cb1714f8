"""The stages of a compilation, in order.

source text            frontend.source      read_source
-> IR in SSA form      frontend.lower       lower
-> facts               analysis.facts       infer
-> sharing, writes     analysis.effects     effects
-> active names        analysis.activity    activity
-> adjoint             differentiate.reverse
-> joins, dead code    optimise
-> tapes               differentiate.recording
-> temporaries folded  optimise.fold
-> text                emit
-> function            load
"""

from __future__ import annotations

import builtins
import inspect
import itertools
import types
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import gast
import numpy as np

from s2sad import runtime
from s2sad.analysis.activity import Activity, activity
from s2sad.analysis.effects import Effects, effects
from s2sad.analysis.facts import OPEN, SCALAR, Atom, Fact, describe
from s2sad.analysis.infer import Facts, infer
from s2sad.differentiate.builder import Builder
from s2sad.differentiate.recording import record
from s2sad.differentiate.reverse import Pair, Reversed, is_light, reverse
from s2sad.emit import Emitted, emit
from s2sad.errors import Place, S2SADError, UnsupportedError, Violation
from s2sad.frontend.lower import Lowered, lower
from s2sad.frontend.resolve import Guard
from s2sad.frontend.source import Source, read_source
from s2sad.ir import check
from s2sad.ir.nodes import Assign, Build, Call, Const, Copy, Expr, For, Function, If, Op, Param, Push, Stmt, Unpack, Var
from s2sad.ir.show import show
from s2sad.ir.traverse import base, map_children, map_stmt, names_in, reads, rename, walk, writes
from s2sad.load import load
from s2sad.optimise import fold, remove_dead, remove_trivial_joins, shorten_stores, sunk, tidy_loops
from s2sad.runtime import as_pair, constant_loss, own, scalar_seed

Goal = Literal["gradient", "value_and_gradient", "pair"]

_MISSING = object()
#: How often a recursive function is followed with other facts about its arguments each time.
_DEPTH = 3
_serial = itertools.count(1)
_SEED = Op("runtime", "scalar_seed", scalar_seed)
# These two raise for what they do not accept, so they are not pure.
_CONSTANT_LOSS = Op("runtime", "constant_loss", constant_loss, pure=False)
_AS_PAIR = Op("runtime", "as_pair", as_pair, pure=False)
_COPY = Op("method", "copy", np.copy)
_OWN = Op("runtime", "own", own)


@dataclass
class Compiled:
    """A compiled derivative: its text, its functions by name, and the guards that it rests on."""

    text: str
    functions: dict[str, types.FunctionType]
    guards: tuple[Guard, ...]
    stages: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # A call checks these each time: the common sorts are laid out flat.
        self._names = [
            (g.space, g.name, g.space.get(g.name, _MISSING))
            for g in self.guards
            if g.probe is None and isinstance(g.space, dict)
        ]
        self._codes = [(g.space, g.expected) for g in self.guards if g.name == "__code__"]
        self._others = [
            g for g in self.guards if g.probe is not None or not (isinstance(g.space, dict) or g.name == "__code__")
        ]

    def holds(self) -> bool:
        """Whether every name that was resolved still means the same."""
        for space, name, expected in self._names:
            if space.get(name, _MISSING) is not expected:
                return False
        for function, code in self._codes:
            if function.__code__ is not code:
                return False
        return not self._others or all([guard.holds() for guard in self._others])


def compile_gradient(
    function: types.FunctionType,
    wrt: tuple[str, ...],
    facts: Mapping[str, Fact],
    goal: Goal,
    has_aux: bool = False,
    single: bool = True,
) -> Compiled:
    """Compile the derivative of ``function`` with respect to the parameters ``wrt``.

    ``facts`` are what is known of the parameters by their public names.

    Raises:
        SourceError: if the function has no source.
        UnsupportedError: with every place through which no derivative can pass.
    """
    return _Compilation().run(function, wrt, facts, goal, has_aux, single)


@dataclass
class _Analysed:
    lowered: Lowered
    function: Function
    facts: Facts
    effects: Effects
    activity: Activity


@dataclass
class _Callee:
    """A pair in the making: the cells are filled when its text is loaded."""

    names: tuple[str, str]
    cells: tuple[types.CellType, types.CellType]
    wrt: tuple[str, ...]


class _Compilation:
    """One compilation: a function and all that it calls."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.imports: dict[str, None] = {}
        self.helpers: dict[str, dict[str, None]] = {}
        self.guards: dict[tuple[int, str], Guard] = {}
        self.pairs: dict[Any, _Callee] = {}
        self.results: dict[Any, Fact | None] = {}
        self.sources: dict[types.FunctionType, Source] = {}
        self.lowereds: dict[Any, Lowered] = {}
        self.used: set[str] = set()
        self.depth: dict[types.FunctionType, int] = {}
        self.functions: dict[str, types.FunctionType] = {}
        self.stages: dict[str, str] = {}
        self.filename = ""

    def run(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        facts: Mapping[str, Fact],
        goal: Goal,
        has_aux: bool,
        single: bool,
    ) -> Compiled:
        stem = self.source(function).name
        self.filename = f"<s2sad {stem} {next(_serial)}>"
        if goal == "pair":
            callee = self.make_pair(function, wrt, facts, stem)
            names: tuple[str, ...] = callee.names
        else:
            prefix = f"{stem}_value_and_grad_" if goal == "value_and_gradient" else f"{stem}_grad_"
            names = (self.unused(prefix + "_".join(wrt)),)
            gradient = self.gradient(function, wrt, facts, goal, has_aux, single, names[0])
            self.stages["adjoint"] = show(gradient)
            self.write(gradient, function)
        head = "\n".join(
            [
                *self.imports,
                *[line for home in sorted(self.helpers) for line in _import_lines(home, sorted(self.helpers[home]))],
            ]
        )
        text = (head + "\n\n\n" if head else "") + "\n\n".join(t.rstrip() + "\n" for t in self.texts)
        self.stages["source"] = text
        return Compiled(text, self.functions, tuple(self.guards.values()), self.stages, names)

    # --- the stages of one function

    def source(self, function: types.FunctionType) -> Source:
        if function not in self.sources:
            self.sources[function] = read_source(function)
        return self.sources[function]

    def lowered(self, function: types.FunctionType, wrt: tuple[str, ...]) -> Lowered:
        key = (function, wrt)
        if key not in self.lowereds:
            self.lowereds[key] = lowered = lower(self.source(function), wrt)
            for guard in lowered.guards:
                self.guard(guard)
            self.guard(Guard(function, "__code__", function.__code__))
            for name in ("__defaults__", "__kwdefaults__"):
                if getattr(function, name) is not None:
                    self.guard(Guard(function, name, getattr(function, name)))
        return self.lowereds[key]

    def guard(self, guard: Guard) -> None:
        self.guards.setdefault((id(guard.space), guard.name), guard)

    def analysed(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        facts: Mapping[str, Fact],
        has_aux: bool = False,
        callee: bool = False,
    ) -> _Analysed:
        lowered = self.lowered(function, wrt)
        ir = lowered.function
        if has_aux:
            ir = replace(ir, body=(*ir.body, Unpack(("~loss.1", "~aux.1"), ir.result)))
        given = {p.public: describe(p.default.value, p.public) for p in ir.params if p.default is not None}
        facts = {**given, **facts}
        checked(ir, "lower")
        known = infer(ir, facts, lambda text: self.global_fact(lowered, text), self.user_fact)
        for guard in lowered.resolver.guards.values():
            self.guard(guard)
        if has_aux and not _is_pair(known.get(ir.result)):
            *body, pair = ir.body
            ir = replace(ir, body=(*body, Assign("~pair.1", Call(_AS_PAIR, (ir.result,))), pair))
        shared = effects(ir, known)
        copied = [
            p for p in ir.params if p.name in shared.written - shared.private and known.of[p.name].kind != "scalar"
        ]
        if copied and not callee:
            ir = _with_copies(ir, copied, known)
            known = infer(ir, facts, lambda text: self.global_fact(lowered, text), self.user_fact)
            shared = effects(ir, known)
        ir = remove_dead(ir, shared.objects(), ("~loss.1",) if has_aux else ())
        roots = [p.name for p in ir.params if p.public in wrt]
        target = replace(ir, result=Var("~loss.1")) if has_aux else ir
        groups = {n: shared.group[n] for n in shared.written if n in shared.group}
        found = activity(target, roots, groups)
        if "ir" not in self.stages:
            self.stages["ir"] = show(ir)
            self.stages["activity"] = show(ir, lambda s: _activity_of(s, found))
        present = {n for s in walk(ir.body) for n in writes(s)}
        lowered = replace(lowered, unbound=lowered.unbound & present)
        return _Analysed(lowered, ir, known, shared, found)

    def global_fact(self, lowered: Lowered, text: str) -> Fact:
        node = _parsed(text)
        found = lowered.resolver.fact(node, lambda value: _stable(describe(value, text)))
        return found if isinstance(found, Fact) else OPEN

    def differentiate(
        self, a: _Analysed, seed: Mapping[str, Expr], wrt: tuple[str, ...], seed_facts: Mapping[str, Fact]
    ) -> Reversed:
        names = {p.public: p.name for p in a.function.params}
        source = a.lowered.source

        def place(node: Any) -> Place:
            if isinstance(node, int):
                node = node or source.node.lineno
                text = source.line(node)
                column = len(text) - len(text.lstrip())
                return Place(source.file, node, column, len(text.rstrip()), text)
            return source.place(node)

        return reverse(
            a.function,
            a.facts,
            a.effects,
            a.activity,
            seed,
            [names[w] for w in wrt],
            self,
            place,
            a.lowered.unbound,
            seed_facts,
        )

    def finished(self, a: _Analysed, function: Function, made: Reversed) -> Function:
        """The passes after the adjoint is written: joins, dead code, tapes, temporaries."""
        function = checked(remove_trivial_joins(checked(function, "reverse")), "joins")
        groups = a.effects.objects()
        groups.update(_shadow_group(function, made.shadows))
        function = remove_dead(function, groups)
        facts = Facts(made.facts, a.facts.globals)
        maker = Builder(function, facts)

        def rebuildable(value: Expr) -> bool:
            if set(names_in(value)) & a.effects.written:
                return False
            if isinstance(value, Call) and value.op.kind == "index" and isinstance(value.args[0], Var):
                return facts.get(value.args[0]).kind == "array" and maker_is_basic(facts, value.args[1])
            if isinstance(value, Call) and value.op.kind == "attribute" and value.op.name in ("T", "shape", "ndim"):
                return isinstance(value.args[0], Var) and facts.get(value.args[0]).kind == "array"
            return isinstance(value, Const) or (is_light(value) and facts.get(value).kind == "scalar")

        assert function.reverse is not None
        body, back = record(function.body, function.reverse, maker.fresh, rebuildable, a.lowered.unbound | made.unbound)
        function = checked(replace(function, body=body, reverse=back), "recording")
        groups.update(_shadow_group(function, made.shadows))
        function = remove_dead(tidy_loops(remove_dead(function, groups)), groups)
        function = sunk(function, made.shadows)
        return shorten_stores(_on_copies(function))

    def in_place(self, a: _Analysed, function: Function, made: Mapping[str, Fact]) -> Function:
        """Decide each augmented assignment: of a number, of an array that is not read later, or of a copy."""
        needed: set[str] = set()
        for stmt in walk(function.reverse or ()):
            needed.update(reads(stmt))
        for stmt in walk(function.body):
            if isinstance(stmt, Push):
                needed.update(reads(stmt))
        needed.update(names_in(function.result))
        params = {p.name for p in function.params}

        def in_stmt(stmt: Stmt) -> Stmt:
            if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "inplace":
                call = stmt.value
                left = call.args[0]
                fact = made.get(left.name, OPEN) if isinstance(left, Var) else a.facts.get(left)
                if fact.kind == "scalar":
                    op = Op("operator", call.op.name, call.op.function)
                    return replace(stmt, value=Call(op, call.args, (), call.node))
                group = a.effects.group.get(stmt.target, frozenset({stmt.target}))
                private = stmt.target in a.effects.private
                if private and (group | set(names_in(left))) & (needed | params):
                    return replace(stmt, value=Call(call.op, (Call(_OWN, (left,)), call.args[1]), (), call.node))
                return stmt
            return map_stmt(stmt, lambda e: e, lambda b: tuple([in_stmt(s) for s in b]))

        return replace(function, body=tuple([in_stmt(s) for s in function.body]))

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
        seeds: dict[str, Expr] = {}
        head: tuple[Stmt, ...] = ()
        seed_facts: dict[str, Fact] = {}
        if not any(name in a.activity.active for name in names_in(loss)):
            # A result that is no float, and no derivative either, is a mistake.
            head = (Assign("~zero.1", Call(_CONSTANT_LOSS, (loss,))),)
            seed_facts["~zero.1"] = SCALAR
        elif isinstance(loss, Var):
            if fact.kind == "scalar" and fact.real:
                seeds[loss.name] = Const(1.0)
            else:
                bar = "~loss_bar.1"
                head = (Assign(bar, Call(_SEED, (loss,))),)
                seeds[loss.name] = Var(bar)
                seed_facts[bar] = SCALAR
        made = self.differentiate(a, seeds, wrt, seed_facts)
        gradients = made.adjoints[0] if single else Build("tuple", made.adjoints)
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
            title=_title(a.lowered.source, wrt, goal),
        )
        whole = self.finished(a, whole, made)
        whole = self.in_place(a, whole, made.facts)
        return fold(whole)

    # --- calls

    def bind(self, call: Call) -> dict[str, Expr]:
        """Map the parameters of the user's function to the arguments of ``call``."""
        signature = inspect.signature(call.op.function)  # type: ignore[arg-type]
        return dict(signature.bind_partial(*call.args, **dict(call.kwargs)).arguments)

    def user_fact(self, call: Call, facts: list[Fact]) -> Fact:
        """What is known of the result of a call."""
        function = call.op.function
        assert isinstance(function, types.FunctionType)
        try:
            bound = inspect.signature(function).bind_partial(*facts, **{k: OPEN for k, _ in call.kwargs}).arguments
        except TypeError:
            return OPEN
        key = (function, tuple(bound.items()))
        if key not in self.results:
            if self.depth.get(function, 0) >= _DEPTH:
                return OPEN
            self.depth[function] = self.depth.get(function, 0) + 1
            self.results[key] = None
            try:
                lowered = self.lowered(function, tuple(bound))
            except S2SADError:
                self.depth[function] -= 1
                return OPEN
            known = infer(lowered.function, dict(bound), lambda text: self.global_fact(lowered, text), self.user_fact)
            given = frozenset(a for f in facts if f.shape for a in f.shape)
            self.depth[function] -= 1
            self.results[key] = _outward(known.get(lowered.function.result), given)
        return self.results[key] or OPEN

    def pair(self, call: Call, active: tuple[str, ...], facts: Mapping[str, Fact]) -> Pair:
        """The pair of functions for a call with these active arguments."""
        function = call.op.function
        assert isinstance(function, types.FunctionType)
        own_facts = {name: _renamed(fact, name) for name, fact in facts.items()}
        if sum(known is not None and known[0] is function for known in self.pairs) > _DEPTH:
            own_facts = dict.fromkeys(own_facts, OPEN)
        key = (function, active, tuple(own_facts.items()))
        if key not in self.pairs:
            self.make_pair(function, active, own_facts, self.source(function).name, key)
        callee = self.pairs[key]
        forward = Op("runtime", callee.names[0], callee.cells[0], pure=False)  # type: ignore[arg-type]
        backward = Op("runtime", callee.names[1], callee.cells[1], pure=False)  # type: ignore[arg-type]
        return Pair(forward, backward, callee.wrt, OPEN)

    def make_pair(
        self, function: types.FunctionType, wrt: tuple[str, ...], facts: Mapping[str, Fact], stem: str, key: Any = None
    ) -> _Callee:
        names = (self.unused(f"{stem}_forward"), self.unused(f"{stem}_reverse"))
        callee = _Callee(names, (types.CellType(), types.CellType()), wrt)
        self.pairs[key] = callee
        a = self.analysed(function, wrt, facts, callee=key is not None)
        if key is not None:
            self.refuse_written_params(a)
        result = a.function.result
        seeds: dict[str, Expr] = {}
        seed_facts: dict[str, Fact] = {}
        bar = "result_bar.0"
        if isinstance(result, Var):
            seeds[result.name] = Var(bar)
            fact = a.facts.get(result)
            seed_facts[bar] = fact
        made = self.differentiate(a, seeds, wrt, seed_facts)
        gradients = made.adjoints[0] if len(made.adjoints) == 1 else Build("tuple", made.adjoints)
        probe = result.name if isinstance(result, Var) else "~result.0"
        held = made.body if isinstance(result, Var) else (*made.body, Assign(probe, result))
        whole = replace(a.function, body=held, reverse=made.reverse, result=Build("tuple", (Var(probe), gradients)))
        whole = self.finished(a, whole, made)
        whole = self.in_place(a, whole, made.facts)
        assert whole.reverse is not None and isinstance(whole.result, Build)
        gradients = whole.result.items[1]
        needed = _free_in(whole.reverse, gradients)
        needed.pop(bar, None)
        kept: Expr = Var(next(iter(needed))) if len(needed) == 1 else Build("tuple", tuple(Var(n) for n in needed))
        title = _title(a.lowered.source, wrt, "pair")
        loose = [n for n in needed if n not in _settled(whole)]
        if loose:
            blank = Copy(tuple(loose), tuple(Const(0.0) for _ in loose))
            whole = replace(whole, body=(blank, *whole.body))
        forward = replace(whole, name=names[0], reverse=None, result=Build("tuple", (Var(probe), kept)), title=title)
        start: list[Stmt] = []
        if len(needed) == 1:
            start.append(Assign(next(iter(needed)), Var("saved.0")))
        elif needed:
            start.append(Unpack(tuple(needed), Var("saved.0")))
        backward = Function(
            names[1],
            (Param("saved.0", "saved"), Param(bar, "result_bar")),
            (),
            gradients,
            whole.file,
            (f"reverse of {names[0]}: the adjoints of {', '.join(wrt)}",),
            (*start, *whole.reverse),
        )
        self.stages.setdefault("adjoint", show(whole))
        self.write(fold(forward), function)
        self.write(fold(backward), function)
        for name, cell in zip(names, callee.cells, strict=True):
            cell.cell_contents = self.functions[name]
        return callee

    def refuse_written_params(self, a: _Analysed) -> None:
        """A callee may not write into what its caller holds (yet)."""
        for param in a.function.params:
            name = param.name
            if name in a.effects.written and a.facts.of[name].kind != "scalar":
                line = a.lowered.source.node.lineno
                source = a.lowered.source
                text = source.line(line)
                place = Place(source.file, line, len(text) - len(text.lstrip()), None, text)
                what = f"{source.name} writes into its argument {param.public}"
                raise UnsupportedError([Violation(place, what, "Let it return a new array.")])

    # --- text

    def unused(self, name: str) -> str:
        candidate, number = name, 2
        while candidate in self.used:
            candidate, number = f"{name}_{number}", number + 1
        self.used.add(candidate)
        return candidate

    def write(self, function: Function, original: types.FunctionType) -> Emitted:
        """Emit and load one function."""
        namespace = original.__globals__
        cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
        missing = object()

        def resolves(name: str) -> Any:
            if name in cells:
                try:
                    return cells[name].cell_contents
                except ValueError:
                    return missing
            return namespace.get(name, getattr(builtins, name, missing))

        emitted = emit(function, set(cells), resolves)
        self.texts.append(emitted.text)
        bindings = {}
        for name, value in emitted.bindings.items():
            if resolves(name) is value and hasattr(builtins, name):
                continue
            bindings[name] = value if isinstance(value, types.CellType) else types.CellType(value)
            if isinstance(value, types.ModuleType):
                self.imports[f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}")] = None
            elif not isinstance(value, types.CellType):
                home = "s2sad.runtime" if getattr(runtime, value.__name__, None) is value else value.__module__
                text = value.__name__ + ("" if value.__name__ == name else f" as {name}")
                self.helpers.setdefault(home, {})[text] = None
        file = f"{self.filename[:-1]} {function.name}>"
        loaded = load(emitted.text, file, namespace, cells, bindings)
        for made in loaded.values():
            if made.__defaults__ is not None:
                made.__defaults__ = original.__defaults__
            if made.__kwdefaults__ is not None:
                made.__kwdefaults__ = original.__kwdefaults__
        self.functions.update(loaded)
        return emitted


def _import_lines(home: str, helpers: list[str]) -> list[str]:
    line = f"from {home} import {', '.join(helpers)}"
    if len(line) <= 100:
        return [line]
    return [f"from {home} import (", *(f"    {name}," for name in helpers), ")"]


def _shadow_group(function: Function, shadows: frozenset[str]) -> dict[str, frozenset[str]]:
    """All shadows, and the copies of their names that the reverse part has made, as one group."""
    stems = {base(s) for s in shadows}
    names = {n for s in walk((*function.body, *(function.reverse or ()))) for n in writes(s) if base(n) in stems}
    whole = frozenset(names | shadows)
    return dict.fromkeys(whole, whole)


def maker_is_basic(facts: Facts, index: Expr) -> bool:
    """Whether an index makes a view or an item, by literals and numbers alone."""
    parts = index.items if isinstance(index, Build) else (index,)
    for part in parts:
        if isinstance(part, (Const, Var)) and facts.get(part).kind == "scalar":
            continue
        if isinstance(part, Const) and (part.value is None or part.value is Ellipsis):
            continue
        if not isinstance(part, (Const, Var, Call, Build)) or is_light(part) and facts.get(part).kind == "scalar":
            continue
        return False
    return True


def _with_copies(function: Function, params: list[Param], facts: Facts) -> Function:
    """``function`` working on copies of the arguments that it writes."""
    names: dict[str, Expr] = {}
    start: list[Stmt] = []
    for param in params:
        copy = f"{base(param.name)}.0"
        op = _COPY if facts.of[param.name].kind == "array" else _OWN
        start.append(Assign(copy, Call(op, (Var(param.name),))))
        names[param.name] = Var(copy)

    def renamed(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple([map_stmt(s, lambda e: rename(e, names), renamed) for s in block])

    return replace(function, body=(*start, *renamed(function.body)), result=rename(function.result, names))


def _on_copies(function: Function) -> Function:
    """Let the reverse part make its zeros like the copy of an argument, where there is one."""
    params = {p.name for p in function.params}
    copies: dict[str, Expr] = {}
    for stmt in function.body:
        if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op in (_COPY, _OWN):
            source = stmt.value.args[0]
            if isinstance(source, Var) and source.name in params and base(source.name) == base(stmt.target):
                copies[source.name] = Var(stmt.target)

    def renamed(expr: Expr) -> Expr:
        if isinstance(expr, Call) and expr.op.function in (np.zeros_like, np.shape) and not expr.kwargs:
            return Call(expr.op, tuple([rename(a, copies) for a in expr.args]))
        return map_children(expr, renamed)

    def in_block(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple([map_stmt(s, renamed, in_block) for s in block])

    return replace(function, reverse=in_block(function.reverse or ())) if copies else function


def checked(function: Function, stage: str) -> Function:
    """The function, verified if ``S2SAD_CHECK`` is set."""
    return check.check(function, stage) if check.ENABLED else function


def _settled(function: Function) -> set[str]:
    """The names that surely have a value at the end of a function's body."""
    found = {p.name for p in function.params}
    for stmt in function.body:
        found.update(writes(stmt) if not isinstance(stmt, For) else ())
        if isinstance(stmt, If):
            arms = [{t for s in arm if isinstance(s, Copy) for t in s.targets} for arm in (stmt.then, stmt.orelse)]
            found |= arms[0] & arms[1]
    return found


def _free_in(block: tuple[Stmt, ...], result: Expr) -> dict[str, None]:
    own = {n for s in walk(block) for n in writes(s)}
    found = {n: None for s in walk(block) for n in reads(s) if n not in own}
    found.update({n: None for n in names_in(result) if n not in own})
    return found


def _activity_of(stmt: Stmt, found: Activity) -> str:
    names = [n for n in writes(stmt) if n in found.active]
    return f"active: {', '.join(names)}" if names else ""


def _title(source: Source, wrt: tuple[str, ...], goal: str) -> tuple[str, ...]:
    file = source.file.rpartition("/")[2]
    what = {"gradient": "gradient", "value_and_gradient": "value and gradient", "pair": "forward part"}[goal]
    names = ", ".join(wrt)
    first = f"s2sad: {what} of {source.name} ({file}:{source.node.lineno}) with respect to {names}"
    return (first, "v_bar is the adjoint of v: d(result)/d(v)")


def _is_pair(fact: Fact) -> bool:
    return fact.kind == "tuple" and fact.items is not None and len(fact.items) == 2


def _parsed(text: str) -> Any:
    return gast.parse(text, mode="eval").body


def _stable(fact: Fact) -> Fact:
    """A fact that does not depend on how long a container is."""
    return fact if fact.kind in ("scalar", "array") else replace(fact, items=None)


def _renamed(fact: Fact, name: str) -> Fact:
    """The fact with the atoms of a parameter of its own."""
    shape = fact.shape
    if shape and fact.dims is None:
        shape = frozenset({Atom(name)})
    items = None
    if fact.items is not None:
        items = tuple((k, _renamed(f, f"{name}[{k!r}]")) for k, f in fact.items)
    return replace(fact, shape=shape, items=items)


def _outward(fact: Fact, given: frozenset[Atom]) -> Fact:
    """A callee's fact in terms of the caller's atoms."""
    shape = fact.shape if fact.shape is not None and (fact.shape <= given or fact.dims is not None) else None
    items = None
    if fact.items is not None:
        items = tuple((k, _outward(f, given)) for k, f in fact.items)
    return replace(fact, shape=shape, items=items)
