"""Lower a function's syntax tree to IR in static single assignment form.

Statements, and what they become:

* ``a = b = e``, ``(a, *b), c = e``: one assignment or :class:`Unpack` a target;
* ``a += e``: ``a.2 = inplace(a.1, e)``, decided later as Python would;
* ``a[i] = e``, ``a[i] += e``: :class:`Store`;
* ``if``, ``for``, ``while``: the same, with :class:`Copy` moves into join names;
* ``for i, (x, y) in enumerate(zip(xs, ys))``: one :class:`For` with its counter;
* ``assert``, ``raise``, ``print(...)``: :class:`Effect`.

Early exits are gone before (:mod:`s2sad.frontend.jumps`).
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2sad import ops
from s2sad.errors import UnsupportedError, Violation
from s2sad.frontend import operators, postponed, unfollowed
from s2sad.frontend.called import ONE_BY_ONE, is_compiled, obstacle
from s2sad.frontend.captures import late_captures
from s2sad.frontend.definite import read_without_value
from s2sad.frontend.dependence import Dependence, assigned, free_names
from s2sad.frontend.desugar import Unswallowed, desugared
from s2sad.frontend.emitted import tapes
from s2sad.frontend.frozen import unfrozen
from s2sad.frontend.given import given, is_built_in
from s2sad.frontend.indexed import as_many, makers_as_values, place_of
from s2sad.frontend.jumps import single_exit
from s2sad.frontend.met import calls_at_once, is_unknown
from s2sad.frontend.moments import moment_names
from s2sad.frontend.opaque import user_operation
from s2sad.frontend.outs import is_writing
from s2sad.frontend.parameters import default_values, parameters
from s2sad.frontend.peeking import peeking
from s2sad.frontend.recorded import path_of, recordings
from s2sad.frontend.resolve import Guard, Resolver, aliases
from s2sad.frontend.source import Source
from s2sad.frontend.special import classes_led_to, is_constant_call
from s2sad.frontend.trees import Ids, head_of, is_starred, new_name, nodes_of
from s2sad.frontend.tries import Protected
from s2sad.frontend.unaccepted import accepted, names_bound
from s2sad.frontend.writing import is_fresh, keeping_calls, may_write, written_by, written_in
from s2sad.ir.moves import without_dead_moves
from s2sad.ir.nodes import (
    UNSET,
    Assign,
    Break,
    Build,
    Call,
    Const,
    Copy,
    Effect,
    Evaluate,
    Expr,
    Function,
    Global,
    Op,
    Opaque,
    Origin,
    Param,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import is_atom, walk
from s2sad.ir.unset import with_needed_checks
from s2sad.runtime.objects import record, remember

Node = Any


@dataclass(frozen=True)
class Lowered:
    """A lowered function, and on what the lowering rests: guards, and names that may be ``unbound``.

    Where it is ``unsure``, what an operation writes depends on which parameters carry derivatives.  What is
    differentiated is ``recorded`` in what these variables of the module have.  It is ``refused`` if a branch remains
    in which something is not accepted, see `postponed`.
    """

    function: Function
    source: Source
    guards: tuple[Guard, ...]
    unbound: frozenset[str]
    resolver: Resolver
    unsure: bool
    recorded: frozenset[str] = frozenset()
    refused: UnsupportedError | None = None


def lower(
    source: Source,
    active: Iterable[str],
    containers: frozenset[tuple[int, str]] = frozenset(),
    owners: Mapping[str, frozenset[type]] | None = None,
    records: bool = False,
    moments: frozenset[str] = frozenset(),
) -> Lowered:
    """Lower ``source`` for derivatives with respect to the parameters named in ``active``.

    ``containers`` are the stores that are known to be into lists or dicts: line and variable.  ``owners`` has the
    classes of the user's of which the objects of variables may be, or hold.  A function that ``records`` may put what
    is differentiated into lists of the module that it does not read.  The parameters ``moments`` have dates and times.

    Raises:
        UnsupportedError: with every construct that is not accepted, each with its place.
    """
    said: UnsupportedError | None = None
    while True:
        lowering = _Lowering(source, frozenset(active), containers, owners or {}, records, moments)
        try:
            return replace(lowering.run(), refused=said)
        except UnsupportedError as error:
            said = said or error
            shorter = postponed.without(source, lowering.unaccepted)
        if shorter is None:
            raise said
        source = shorter


class _Lowering(Protected):
    def __init__(
        self,
        source: Source,
        active: frozenset[str],
        containers: frozenset[tuple[int, str]],
        owners: Mapping[str, frozenset[type]],
        records: bool,
        moments: frozenset[str],
    ) -> None:
        self.source, self.recorded = source, set[str]()
        self.violations, self.unaccepted = [], list[Node]()
        self.containers = containers
        self.active = active
        self.unbound, self.never = set[str](), set[str]()
        self.params = parameters(source)
        names = {n.id for n in nodes_of(source.node) if isinstance(n, gast.Name)}
        local = {name for name, _ in self.params} | set(assigned(source.node.body))
        self.used = names | local | set(source.function.__globals__) | set(source.function.__code__.co_freevars)
        node = unfrozen(source.node, Resolver(source.function, frozenset(local)).lookup, self.unused)
        body, self.nodes = node.body, nodes_of(node)
        local |= set(assigned(body))
        self.lost: set[str] = set()
        self.check_parameters()
        lookup = Resolver(source.function, frozenset(local), aliases(body, self.params), owners).lookup
        body, refused = accepted(desugared(node, body, lookup, self.unused))
        local |= set(assigned(body))
        for refusal in refused:
            self.violation(refusal.node, refusal.message, refusal.remedy)
            self.lost.update(names_bound(refusal.node))
        local |= self.lost
        exits = single_exit(body, self.unused)
        self.body, self.results = exits.body, (exits.result, *exits.parts)
        self.result = exits.result
        self.own = exits.flags | {*self.results}
        local |= self.own
        resolver = Resolver(source.function, frozenset(local), aliases(body, self.params), owners)
        self.loops: list[list[tuple[str, str]]] = []
        self.tracked, self.leaving = [], []
        self.recording = recordings(nodes_of(gast.Module(self.body, [])), resolver.lookup, source) if records else {}
        self.check_calls(resolver)
        dependence = Dependence(
            self.body,
            {*active, *(tapes(source) & local)},
            lambda call: is_constant_call(call, resolver.lookup),
            resolver.is_plain,
            local,
            lambda call: written_by(call, resolver.lookup),
            lambda f: ops.find(resolver.lookup(f)[1]) is not None,
            lambda f: is_built_in(f, resolver.lookup),
            self.met_calls(resolver).__contains__,
            lambda f: is_fresh(f, resolver.lookup),
            lambda call: given(call, resolver.lookup).as_keys(),
            moment_names(self.nodes, resolver.lookup, moments),
            lambda call: resolver.lookup(call.func)[1],
        )
        self.varied_too = dependence.names.add
        super().__init__(resolver, dependence.depends)

    def met_calls(self, resolver: Resolver) -> Ids:
        """The calls of which it is known at run time only what they run, as far as they are lowered to that."""
        found = Ids()
        for s in self.body:
            for call in calls_at_once(s):
                if is_unknown(call, resolver.lookup, resolver.local.__contains__):
                    found.add(call)
        return found

    def unused(self, hint: str) -> str:
        return new_name(hint, self.used)

    def violation(self, node: Node, message: str, remedy: str) -> None:
        place = self.source.place(node)
        self.unaccepted.append(node)
        if all(v.place != place for v in self.violations):
            self.violations.append(Violation(place, message, remedy))

    def check_parameters(self) -> None:
        """Find the parameters that are not accepted."""
        arguments = self.source.node.args
        for stars, star in (("*", arguments.vararg), ("**", arguments.kwarg)):
            if star is not None:
                what = f"the parameter {stars}{star.id} is not supported"
                self.violation(self.source.node, what, "Name the parameters.")

    def check_calls(self, resolver: Resolver) -> None:
        """Find the calls that read or write variables unseen, and the functions that see them when they are called."""
        makers = makers_as_values(self.nodes, resolver.lookup, resolver.aliases.values())
        for node, what, remedy in (*peeking(self.nodes, resolver.lookup), *makers):
            self.violation(node, what, remedy)
        for node, what, remedy in late_captures(self.nodes, [name for name, _ in self.params], resolver.lookup):
            self.violation(node, what, remedy)

    def run(self) -> Lowered:
        params = []
        defaults = default_values(self.source.function)
        for name, keyword_only in self.params:
            self.env[name] = self.fresh(name)
            params.append(Param(self.env[name], name, keyword_only, defaults.get(name)))
        for name in self.results:
            self.env[name] = start = self.fresh(name)
            self.emit(Assign(start, UNSET))
            self.unbound.add(start)
        self.statements(self.body)
        result: Expr = Var(self.env[self.result]) if self.result in self.env else Const(None)
        refusals = [r for r in self.refusals if self.lost.isdisjoint(free_names(r.node, frozenset()))]
        for refusal in refusals:
            if any(keeping_calls(refusal.node, self.resolver.lookup, self.depends, followed=True)):
                # Whether or not what it gives is needed.
                self.violation(refusal.node, refusal.message, refusal.remedy)
        if self.violations:
            # What may be refused later is said in the same breath.
            for refusal in refusals:
                self.violation(refusal.node, refusal.message, refusal.remedy)
            raise UnsupportedError(self.violations, obscure=True)
        function = Function(self.source.name, tuple(params), tuple(self.block), result, self.source.file)
        grown = True
        while grown:
            before = len(self.unbound)
            for stmt in walk(function.body):
                if isinstance(stmt, Copy):
                    for target, value in zip(stmt.targets, stmt.sources, strict=True):
                        if isinstance(value, Var) and value.name in self.unbound:
                            self.unbound.add(target)
            grown = len(self.unbound) > before
        function = with_needed_checks(function, self.unbound, lambda: read_without_value(self.source.node))
        guards, unbound, recorded = self.resolver.guards.values(), frozenset(self.unbound), frozenset(self.recorded)
        function = without_dead_moves(function)
        return Lowered(function, self.source, tuple(guards), unbound, self.resolver, self.unsure, recorded)

    # --- statements

    def statement(self, s: Node) -> bool:
        self.origin = self.origin_of(s)
        self.check_special_members(s)
        self.require_values(head_of(s))
        if id(s) in self.recording and any(map(self.depends, nodes_of(s.value))):
            self.recorded.add(self.recording[id(s)])
            self.resolver.fact(*path_of(s))
            self.effect(s, self.whole)
            return False
        match s:
            case gast.Assign():
                self.assignment(s.targets, s.value)
            case gast.AnnAssign():
                if s.value is not None:
                    self.assignment([s.target], s.value)
            case gast.AugAssign():
                self.augmented(s)
            case Unswallowed():
                self.unswallowed(s)
            case gast.Expr():
                self.expression(s)
            case gast.Assert() | gast.Raise():
                self.effect(s)
            case gast.If():
                return self.branch(s)
            case gast.For():
                self.for_loop(s)
            case gast.While():
                self.while_loop(s)
            case gast.With():
                self.with_statement(s)
            case gast.Try():
                self.try_statement(s)
            case gast.Break():
                moves = [(h, name) for name, h in self.loops[-1] if self.env.get(name, h) != h]
                if moves:
                    self.copy(moves)
                self.emit(Break(self.origin))
                return True
            case gast.Delete():
                for target in s.targets:
                    if not isinstance(target, gast.Name):
                        self.violation(s, "del of an item or attribute is not supported", "Make a new object instead.")
                    else:
                        self.env[target.id] = f"{target.id}.0"
                        self.unbound.add(f"{target.id}.0")
            case gast.Pass():
                pass
            case _:
                self.violation(s, f"a {type(s).__name__.lower()} statement is not supported", "Write it differently.")
        return False

    def origin_of(self, s: Node) -> Origin:
        first = s.lineno
        last = first if hasattr(s, "body") else (s.end_lineno or first)
        lines = [f"  {self.source.line(n).strip()}".partition("  #")[0].strip() for n in range(first, last + 1)]
        text = " ".join(line for line in lines if line)
        return Origin(first, text.strip().removesuffix(":") if hasattr(s, "body") else text.strip())

    # --- assignment

    def assignment(self, targets: list[Node], value: Node) -> None:
        first = targets[0]
        hint = first.id if isinstance(first, gast.Name) else "~t"
        lowered = self.value(value, hint)
        if len(targets) > 1 and (isinstance(lowered, Global) or not is_atom(lowered)):
            # The first name has it, and the others are further names of that.
            lowered = self.assign(hint, lowered)
        for target in targets:
            self.bind(target, lowered)

    def bind(self, target: Node, value: Expr) -> None:
        match target:
            case gast.Name():
                made = self.block[-1] if self.block else None
                if isinstance(value, Var) and isinstance(made, Assign) and made.target == value.name:
                    if value.name.partition(".")[0] == target.id and value.name not in self.env.values():
                        self.env[target.id] = value.name
                        return
                self.env[target.id] = self.assign(target.id, value).name
            case gast.Tuple() | gast.List():
                self.unpack(target, value)
            case gast.Subscript() if self.is_container(target):
                self.store_item(target, self.held(value))
            case gast.Subscript() | gast.Attribute() if self.is_place(target):
                self.store_into(target, self.atom(value))
            case gast.Attribute() if self.is_field(target):
                self.store_field(target, self.held(value))
            case _:
                self.violation(target, "assigning to an attribute is not supported", "Make a new object instead.")

    def unpack(self, target: Node, value: Expr) -> None:
        elements = target.elts
        stars = [i for i, e in enumerate(elements) if isinstance(e, gast.Starred)]
        count = len(value.items) if isinstance(value, Build) and value.kind != "dict" else -1
        if isinstance(value, Build) and (count == len(elements) or (stars and count >= len(elements) - 1)):
            items = [self.held(i) for i in value.items]
            if stars:
                first, end = stars[0], stars[0] + 1 + len(items) - len(elements)
                items[first:end] = [Build("list", tuple(items[first:end]))]
            for element, item in zip(elements, items, strict=True):
                self.bind(element.value if isinstance(element, gast.Starred) else element, item)
            return
        parts = [element.value if isinstance(element, gast.Starred) else element for element in elements]
        names = [self.fresh(part.id if isinstance(part, gast.Name) else "~t") for part in parts]
        self.emit(Unpack(tuple(names), value, stars[0] if stars else None, self.origin))
        self.bind_in_order([(part, Var(name)) for part, name in zip(parts, names, strict=True)])

    def store_into(self, target: Node, value: Expr) -> None:
        """Write a value into a part of an array."""
        if isinstance(target, gast.Attribute) and target.attr != "flat":
            self.emit(Store(self.operand(target), Const(...), value, None, self.origin))
            return
        base, index = place_of(target, self.resolver.lookup, self.operand, self.index_of)
        self.emit(Store(base, index, self.atom(as_many(value, index, target)), None, self.origin))

    def held(self, item: Expr) -> Expr:
        """An item evaluated now; of a display, every item of it."""
        if isinstance(item, Build):
            return Build(item.kind, tuple([self.held(i) for i in item.items]))
        return item if isinstance(item, Const) else self.atom(item)

    def augmented(self, s: Node) -> None:
        symbol, function = operators.BINARY[type(s.op).__name__]
        if isinstance(s.target, gast.Subscript) and self.is_container(s.target):
            self.augment_item(s, Op("inplace", symbol, function))
        elif self.is_part(s.target) and s.target.attr != "flat":
            whole = self.operand(s.target)
            self.emit(Store(whole, Const(...), self.operand(s.value), symbol, self.origin))
        elif self.is_field(s.target):
            self.augment_field(s, Op("inplace", symbol, function))
        elif self.is_extended(s):
            self.appended(s.target, s.value, s)
        elif isinstance(s.target, gast.Name):
            old = self.name(s.target)
            value = self.operand(s.value)
            op = Op("inplace", symbol, function)
            self.env[s.target.id] = self.assign(s.target.id, Call(op, (old, value), (), s)).name
        elif isinstance(s.target, gast.Subscript):
            base, index = place_of(s.target, self.resolver.lookup, self.operand, self.index_of)
            if any(True for _ in written_in(s.value, self.resolver.lookup)):
                # Python takes the item first, then runs the right side, which may write into the array.
                old = self.assign("~t", Call(Op("index", "[]"), (base, index), (), s.target))
                op = Op("inplace", symbol, function)
                new = self.assign("~t", Call(op, (old, self.operand(s.value)), (), s))
                self.emit(Store(base, index, new, None, self.origin))
                return
            self.emit(Store(base, index, self.operand(s.value), symbol, self.origin))
        else:
            self.violation(s, "assigning to an attribute is not supported", "Make a new object instead.")

    def expression(self, s: Node) -> None:
        if isinstance(s.value, gast.Constant):
            return
        function = self.resolver.lookup(s.value.func)[1] if isinstance(s.value, gast.Call) else None
        if function is remember or function is record:
            self.remember(s)
            return
        if (loop := self.extension(s)) is not None:
            self.for_loop(loop)
            return
        if self.write(s.value) is not None:
            return
        if isinstance(s.value, gast.Call) and self.is_met(s.value):
            self.value(s.value)
            return
        if self.depends(s.value) and isinstance(s.value, gast.Call):
            func, call = s.value.func, s.value
            if not is_starred(call) and is_writing(call, self.resolver.lookup):
                self.violation(s, *unfollowed.of_writer(call, self.resolver.lookup, self.depends))
                return
            if is_compiled(function):
                # Nobody takes its result, so it is there for what it does, and that cannot be seen.
                self.violation(s, *unfollowed.of_compiled(self.resolver.text(func)))
                return
            user = function if isinstance(function, types.FunctionType) and ops.find(function) is None else None
            if user is not None and (may_write(user) or user_operation(call, user, self.resolver).writes):
                text, why = self.resolver.text(func), obstacle(call, user)
                if is_starred(call):
                    self.violation(s, f"{text}(...) is called with * or **", ONE_BY_ONE)
                    return
                if why is not None:
                    self.violation(s, f"{text} writes into what it is given, and {why[0]}", why[1])
                    return
                args, kwargs = self.arguments(call, named=True)
                op = user_operation(call, user, self.resolver)
                self.emit(Evaluate(Call(op, args, kwargs, call), self.origin))
                return
        if self.decides(s.value):
            self.value(s.value)
            return
        if isinstance(function, types.FunctionType):
            whole = self.constant_call(s.value)
            if isinstance(whole, Call) and ops.is_check(function):
                self.emit(Evaluate(replace(whole, op=replace(whole.op, kind="runtime")), self.origin))
                return
            if isinstance(whole, Opaque) and whole.call is not None:
                # What the function does to what the module holds is known.
                self.emit(Evaluate(whole, self.origin))
                return
        with self.taken_out(s.value) as rest:
            self.effect(s if rest is s.value else gast.copy_location(gast.Expr(value=rest), s))

    def effect(self, s: Node, whole: Callable[[Node], Opaque] | None = None) -> None:
        node = gast.gast_to_ast(s)
        assert isinstance(node, ast.stmt)
        over = isinstance(s, gast.Raise)
        stored = set(classes_led_to(s.value, self.resolver.lookup)) if isinstance(s, gast.Assign) else set[type]()
        parts = [whole(part) if whole else self.opaque(part, ended=over) for part in gast.iter_child_nodes(s)]
        # Nothing of the function runs after it has raised.
        seen = [] if over else parts
        calls = [n for n in nodes_of(s) if isinstance(n, gast.Call)]
        keyed = [n for call in calls for key in given(call, self.resolver.lookup).as_keys() for n in nodes_of(key)]
        keys = [n.id for n in keyed if isinstance(n, gast.Name)]
        effect = Effect(
            node,
            tuple({name: at for part in parts for name, at in part.names}.items()),
            self.origin,
            writes=tuple(dict.fromkeys(name for part in seen for name in part.writes)),
            alters=any(part.alters for part in seen),
            kept=tuple(dict.fromkeys(name for part in seen for name in part.kept)),
            receivers=tuple([receiver for part in parts for receiver in part.receivers]),
            puts=tuple(dict.fromkeys(name for part in seen for name in part.puts)),
            changes=all(part.changes or not (part.writes or part.alters) for part in parts),
            stores=frozenset(stored.union(*(part.stores for part in parts))),
            keys=tuple([self.env[n] for n in (*keys, *self.constants_in(s, calls)) if n in self.env]),
        )
        self.emit(effect)

    def constants_in(self, s: Node, calls: Sequence[Node]) -> list[str]:
        """The variables that a statement only reads for what is constant: in ``stop_gradient(...)`` and the like."""
        inside = Ids()
        for call in calls:
            if is_constant_call(call, self.resolver.lookup):
                for node in nodes_of(call):
                    inside.add(node)
        names = [n for n in nodes_of(s) if isinstance(n, gast.Name)]
        others = {n.id for n in names if n not in inside}
        return list(dict.fromkeys(n.id for n in names if n.id not in others))
