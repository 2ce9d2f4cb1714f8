"""Put the stages together: gradients, and pairs of functions for calls."""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from s2sad.analysis.facts import OPEN, SCALAR, Atom, Fact
from s2sad.differentiate.operations import Pair
from s2sad.differentiate.reverse import Reversed, reverse
from s2sad.errors import Place, UnsupportedError, Violation
from s2sad.frontend.source import Source
from s2sad.ir.nodes import Assign, Build, Call, Const, Copy, Expr, For, Function, If, Op, Param, Stmt, Unpack, Var
from s2sad.ir.show import show
from s2sad.ir.traverse import names_in, reads, walk, writes
from s2sad.optimise import fold
from s2sad.pipeline.analysed import DEPTH, Analysed, Analyser
from s2sad.pipeline.compiled import Compiled, Goal
from s2sad.pipeline.passes import finished, in_place
from s2sad.pipeline.writer import Writer
from s2sad.runtime import constant_loss, scalar_seed

_serial = itertools.count(1)
_SEED = Op("runtime", "scalar_seed", scalar_seed)
# These two raise for what they do not accept, so they are not pure.
_CONSTANT_LOSS = Op("runtime", "constant_loss", constant_loss, pure=False)


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
class _Callee:
    """A pair in the making: the cells are filled when its text is loaded."""

    names: tuple[str, str]
    cells: tuple[types.CellType, types.CellType]
    wrt: tuple[str, ...]


class _Compilation(Analyser):
    """One compilation: a function and all that it calls."""

    def __init__(self) -> None:
        super().__init__()
        self.writer = Writer()
        self.pairs: dict[Any, _Callee] = {}
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
        stem = self.source(function).name
        self.writer.filename = f"<s2sad {stem} {next(_serial)}>"
        if goal == "pair":
            callee = self.make_pair(function, wrt, facts, stem)
            names: tuple[str, ...] = callee.names
        else:
            prefix = f"{stem}_value_and_grad_" if goal == "value_and_gradient" else f"{stem}_grad_"
            names = (self.writer.unused(prefix + "_".join(wrt)),)
            gradient = self.gradient(function, wrt, facts, goal, has_aux, single, names[0])
            self.stages["adjoint"] = show(gradient)
            self.writer.write(gradient, function)
        text = self.writer.source
        self.stages["source"] = text
        return Compiled(text, self.writer.functions, tuple(self.guards.values()), self.stages, names, self.once)

    def differentiate(
        self, a: Analysed, seed: Mapping[str, Expr], wrt: tuple[str, ...], seed_facts: Mapping[str, Fact]
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
        whole = finished(a, whole, made)
        whole = in_place(a, whole, made.facts)
        return fold(whole)

    # --- calls

    def bind(self, call: Call) -> dict[str, Expr]:
        """Map the parameters of the user's function to the arguments of ``call``."""
        signature = inspect.signature(call.op.function)  # type: ignore[arg-type]
        return dict(signature.bind_partial(*call.args, **dict(call.kwargs)).arguments)

    def pair(self, call: Call, active: tuple[str, ...], facts: Mapping[str, Fact]) -> Pair:
        """The pair of functions for a call with these active arguments."""
        function = call.op.function
        assert isinstance(function, types.FunctionType)
        own_facts = {name: _renamed(fact, name) for name, fact in facts.items()}
        if sum(known is not None and known[0] is function for known in self.pairs) > DEPTH:
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
        names = (self.writer.unused(f"{stem}_forward"), self.writer.unused(f"{stem}_reverse"))
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
        whole = finished(a, whole, made)
        whole = in_place(a, whole, made.facts)
        back = whole.reverse
        assert back is not None
        assert isinstance(whole.result, Build)
        gradients = whole.result.items[1]
        needed = _free_in(back, gradients)
        needed.pop(bar, None)
        self.once = self.once or not made.shadows.isdisjoint(needed)
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
            (*start, *back),
        )
        self.stages.setdefault("adjoint", show(whole))
        self.writer.write(fold(forward), function)
        self.writer.write(fold(backward), function)
        for name, cell in zip(names, callee.cells, strict=True):
            cell.cell_contents = self.writer.functions[name]
        return callee

    def refuse_written_params(self, a: Analysed) -> None:
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


def _title(source: Source, wrt: tuple[str, ...], goal: str) -> tuple[str, ...]:
    file = source.file.rpartition("/")[2]
    what = {"gradient": "gradient", "value_and_gradient": "value and gradient", "pair": "forward part"}[goal]
    names = ", ".join(wrt)
    first = f"s2sad: {what} of {source.name} ({file}:{source.node.lineno}) with respect to {names}"
    return (first, "v_bar is the adjoint of v: d(result)/d(v)")


def _renamed(fact: Fact, name: str) -> Fact:
    """The fact with the atoms of a parameter of its own."""
    shape = fact.shape
    if shape and fact.dims is None:
        shape = frozenset({Atom(name)})
    items = None
    if fact.items is not None:
        items = tuple((k, _renamed(f, f"{name}[{k!r}]")) for k, f in fact.items)
    return replace(fact, shape=shape, items=items)
