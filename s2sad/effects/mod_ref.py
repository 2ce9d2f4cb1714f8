"""Mod, ref and escape of functions: the summary of each code, solved over the call graph, and what asks for it.

A `Context` is a code with the shapes of its arguments: what is known of their classes, and which functions they are.
Its `Summary` says what a call does in terms of its parameters; the caller puts what it gives in their place.  A call
whose callee is not solved yet solves it at once; where that is being solved already (a recursion), its summary is what
is known so far, and who has used it is solved again when it has grown: a component of the call graph is solved
together, callees before callers, while the graph grows.

Reference: Choi, Burke, Carini, Efficient flow-sensitive interprocedural computation of pointer-induced aliases, 1993.
"""

from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from s2sad.effects.heap import Effort, Settled
from s2sad.effects.objects import ANY, NOTHING, UNKNOWN, Location, Object, Objects, Shape, shape_of
from s2sad.effects.points_to import Activation, Effect, Function
from s2sad.ir.code import Code, Operation, Value, inner
from s2sad.runtime.contents import cells_of

#: With how many different shapes of arguments a code is analysed; then with arguments of which nothing is known.
MOST_CONTEXTS = 12
#: How deep calls are followed.
MOST_DEPTH = 40


@dataclass(frozen=True)
class Summary:
    """What a call of a code does.

    Objects are parameters by their paths, objects of modules, the unknown, and, in ``result`` and ``stores``, new ones.

    Attributes:
        result: What its result may be.
        yields: What a generator gives.
        mod: The fields that it may write, of objects that were there before.
        ref: Those that it may read.
        stores: What fields may hold afterwards that they did not hold before.
        escapes: What code that is not known may have kept.
        is_open: Whether code that is not known may run.
        ordered: Why its place matters, if it does.
    """

    result: Objects = NOTHING
    yields: Objects = NOTHING
    mod: frozenset[Location] = frozenset()
    ref: frozenset[Location] = frozenset()
    stores: frozenset[tuple[Object, str, Object]] = frozenset()
    escapes: Objects = NOTHING
    is_open: bool = False
    ordered: frozenset[str] = frozenset()


class Context:
    """A code with shapes of arguments, its analysis and its summary."""

    def __init__(self, program: Program, function: Function, shapes: Mapping[Any, Shape | None], apart: bool) -> None:
        self.function = function
        self.activation = Activation(program, function, shapes, apart)
        self.summary = Summary()
        #: The contexts that have used the summary.
        self.callers: set[Context] = set()
        self.is_running = False
        self.is_stale = True

    def __repr__(self) -> str:
        return f"{self.function.code.name}({', '.join(map(_shape_text, self.activation.shapes.values()))})"


@dataclass
class Program:
    """The functions that are analysed together, and the objects of their modules.

    ``find`` gives the code of a Python function, None where it has none.  ``budget`` is how many operations callees may
    have in all; then they are unknown.  ``silent`` are the identities of functions that count as having no effects.
    ``trusted`` says which functions and classes without code are taken at their
    word to change nothing; where it is given, objects of which nothing is known are taken to be of built-in classes.
    Attributes of these by names that are ``doubtful`` may be others, that run code that is not known; ``doubted`` are
    those that are read, by name.  ``stands_for`` gives what is analysed in place of a function or class of a library,
    which does the same and is shorter; None where that is itself.
    """

    find: Callable[[types.FunctionType], Code | None]
    budget: int = 20_000
    trusted: Callable[[Any, bool], bool] | None = None
    silent: frozenset[int] = frozenset()
    doubtful: frozenset[str] = frozenset()
    doubted: set[str] = field(default_factory=set)
    effort: Effort = field(default_factory=Effort)
    stands_for: Callable[[Any], Any] | None = None
    #: The values of the variables of modules that were asked for, by the identity of the module's names and by name.
    looked_up: dict[tuple[int, str], Any] = field(default_factory=dict)
    #: The containers of modules that are taken to hold what they hold now.
    settled: Settled | None = None
    #: The generators that managers of ``with`` run, and nobody else.
    managing: set[Code] = field(default_factory=set)
    known: dict[int, Object] = field(default_factory=dict)
    contexts: dict[tuple[Any, ...], Context] = field(default_factory=dict)
    _functions: dict[int, tuple[Any, Function | None]] = field(default_factory=dict)
    _inner: dict[Code, Function] = field(default_factory=dict)
    _contexts: dict[Activation, Context] = field(default_factory=dict)
    _counts: dict[Code, int] = field(default_factory=dict)
    _sizes: dict[Code, int] = field(default_factory=dict)
    _depth: int = 0
    _spent: int = 0

    # --- functions

    def module(self, names: dict[str, Any]) -> Object:
        """The object that stands for the variables of a module."""
        if id(names) not in self.known:
            name = str(names.get("__name__", "module"))
            self.known[id(names)] = Object("global", name, types.ModuleType, value=names)
        return self.known[id(names)]

    def function(self, value: types.FunctionType) -> Function | None:
        """The code of a Python function, with what its names mean."""
        if id(value) not in self._functions:
            code = self.find(value)
            made = None if code is None else self._of_module(code, value)
            self._functions[id(value)] = value, made
        return self._functions[id(value)][1]

    def _of_module(self, code: Code, value: types.FunctionType) -> Function:
        names = value.__globals__
        cells = cells_of(value)

        def lookup(name: str) -> tuple[bool, Any]:
            try:
                if name in cells:
                    return True, cells[name].cell_contents
            except ValueError:
                return False, None
            if name in names:
                self.looked_up[id(names), name] = names[name]
                return True, names[name]
            return hasattr(builtins, name), getattr(builtins, name, None)

        params = inspect.signature(value, follow_wrapped=False).parameters.values()
        defaults = {p.name: p.default for p in params if p.default is not p.empty}
        return Function(code, lookup, self.module(names), defaults)

    def inner(self, code: Code) -> Function:
        """A function that another one makes."""
        return self._inner[code]

    def define(self, code: Code, outer: Function) -> None:
        """Remember of what module a function that another one makes is."""
        if code not in self._inner:
            self._inner[code] = Function(code, outer.names, outer.module)

    # --- the call graph

    def _key(self, function: Function, shapes: Mapping[Any, Shape | None], apart: bool) -> tuple[Any, ...]:
        return (function.code, apart, *map(shapes.get, (*range(len(function.code.params)), "self")))

    def context(self, function: Function, shapes: Mapping[Any, Shape | None], apart: bool = False) -> Context:
        """The context of a code for arguments of these shapes; solved, or being solved."""
        indices = (*range(len(function.code.params)), "self")
        key = self._key(function, shapes, apart)
        if key not in self.contexts and self._counts.get(function.code, 0) >= MOST_CONTEXTS:
            key, shapes = (function.code, apart, "any"), {name: Shape() for name in indices}
        found = self.contexts.get(key)
        if found is None:
            self._counts[function.code] = self._counts.get(function.code, 0) + 1
            found = self.contexts[key] = Context(self, function, shapes, apart)
            self._contexts[found.activation] = found
        if found.is_stale and not found.is_running and self._depth < MOST_DEPTH:
            self.solve(found)
        return found

    def solve(self, context: Context) -> None:
        """Find the summary of a context, and those of all that depend on it and are no longer right."""
        pending = {context: None}
        while pending:
            current = next(reversed(pending))
            del pending[current]
            current.is_running, current.is_stale = True, False
            self._depth += 1
            current.activation.run()
            self._depth -= 1
            current.is_running = False
            found = _summary(current.activation)
            if found != current.summary:
                current.summary = found
                for caller in current.callers:
                    caller.is_stale = True
                    if not caller.is_running:
                        pending[caller] = None
            if current.is_stale:
                pending[current] = None

    def applied(
        self, a: Activation, op: Operation, function: Function, given: Mapping[Any, Objects]
    ) -> tuple[Objects, Objects]:
        """Call a code; its result, and what it gives as a generator."""
        if function.code not in self._sizes:
            self._sizes[function.code] = sum(1 for _ in inner(function.code.body))
        shapes = {name: a.heap.shape(objects) for name, objects in given.items()}
        is_new = self._key(function, shapes, False) not in self.contexts
        if self._depth >= MOST_DEPTH or (is_new and self._spent > self.budget):
            self.doubted |= self.doubtful
            found = a.unknown(op, *given.values())
            return found, found
        self._spent += is_new * self._sizes[function.code]
        context = self.context(function, shapes)
        context.callers.add(self._contexts[a])
        effect = a.effect(op)
        effect.contexts.add(context)
        return _instantiated(a, op, context.summary, given)

    # --- questions

    def analysed(
        self, function: Function | types.FunctionType, args: Iterable[Any] | None = None, apart: bool = False
    ) -> Context:
        """The analysis of a function for arguments like these, or any.

        Args:
            function: A function of Python, or what this program knows of one.
            args: Arguments by position; without them nothing is known of parameters.
            apart: Whether objects of different arguments share nothing with one another, nor with the module.

        Raises:
            ValueError: for a function that has no code.
        """
        if isinstance(function, types.FunctionType):
            known = self.function(function)
            if known is None:
                raise ValueError(f"{function.__name__} has no source")
            function = known
        count = len(function.code.params)
        shapes: dict[Any, Shape | None] = {i: Shape() for i in range(count)}
        if args is not None:
            shapes.update(enumerate(map(shape_of, args)))
        return self.context(function, shapes, apart)


def _summary(a: Activation) -> Summary:
    """What the caller of an activation needs to know."""
    effects = [*a.effects.values(), a.exits]

    def old(part: str) -> frozenset[Location]:
        return frozenset((o, name) for e in effects for o, name in getattr(e, part) if o.is_input)

    stored: set[tuple[Object, str, Object]] = set()
    pending = [o for o in a.heap.fields if o.is_input]
    pending += [*a.result, *a.yields, *a.heap.escaped]
    seen: set[Object] = set()
    while pending:
        o = pending.pop()
        if o in seen:
            continue
        seen.add(o)
        for name, held in a.heap.fields.get(o, {}).items():
            stored.update((o, name, x) for x in held)
            pending += held
    return Summary(
        a.result,
        a.yields,
        old("mod"),
        old("ref"),
        frozenset(stored),
        frozenset(a.heap.escaped),
        a.heap.is_open,
        frozenset(why for e in effects for why in e.ordered),
    )


def _instantiated(
    a: Activation, op: Operation, summary: Summary, given: Mapping[Any, Objects]
) -> tuple[Objects, Objects]:
    """Apply a summary at a call: what its objects are for the caller."""
    found: dict[Object, Objects] = {}

    def of(o: Object) -> Objects:
        if o not in found:
            found[o] = _counterpart(a, op, o, given)
        return found[o]

    def of_all(objects: Iterable[Object]) -> Objects:
        return NOTHING.union(*map(of, objects))

    a.program.effort.spend(len(summary.stores) + len(summary.mod) + len(summary.ref))
    for o, name, held in summary.stores:
        # What the call stores into its parameters it may then find there.
        a.store(of(o), name, of(held))
    effect = a.effect(op)
    for o, name in summary.mod:
        effect.mod.update((x, name) for x in of(o))
    for o, name in summary.ref:
        effect.ref.update((x, name) for x in of(o))
    effect.ordered |= summary.ordered - {"yields"}
    a.heap.escape(of_all(summary.escapes))
    if summary.is_open:
        a.unknown(op)
    return of_all(summary.result), of_all(summary.yields)


def _counterpart(a: Activation, op: Operation, o: Object, given: Mapping[Any, Objects]) -> Objects:
    """What an object of a callee is for the caller."""
    if o.kind == "site":
        if o.cls is types.MethodType or o.cls is types.BuiltinFunctionType:
            return frozenset((a.heap.site(op, o.cls, o.value, o.name),))
        # A tuple that holds another one is not that.
        inside = o.operation if o.is_row else None
        return frozenset((a.heap.site(op, o.cls, o.value, _label(o), inside),))
    if o.kind != "param":
        return frozenset((o,))
    first, *path = o.path
    objects = given.get(first, NOTHING)
    for name in path:
        objects = a.heap.reach(objects) if name == ANY else a.load(objects, name)
    return objects


def _label(o: Object) -> str:
    return o.name.partition("@")[0]


# --- text


def _shape_text(shape: Shape | None) -> str:
    return "value" if shape is None else "any" if shape.cls is None else shape.cls.__name__


def _objects_text(objects: Iterable[Object]) -> str:
    return ", ".join(sorted({o.name for o in objects})) or "value"


def _locations_text(locations: Iterable[Location]) -> str:
    names = set()
    for o, name in locations:
        names.add(o.name if o is UNKNOWN else f"{o.name}{name}" if name.startswith("[") else f"{o.name}.{name}")
    return ", ".join(sorted(names)) or "nothing"


def show_summary(context: Context) -> str:
    """A summary as text."""
    s = context.summary
    lines = [f"{context!r}", f"    result: {_objects_text(s.result)}"]
    if s.yields:
        lines.append(f"    yields: {_objects_text(s.yields)}")
    if s.mod:
        lines.append(f"    mod: {_locations_text(s.mod)}")
    if s.ref:
        lines.append(f"    ref: {_locations_text(s.ref)}")
    kept = {(o, name, x) for o, name, x in s.stores if o.is_input}
    if kept:
        texts = {f"{_locations_text([(o, name)])} = {x.name}" for o, name, x in kept}
        lines.append(f"    stores: {', '.join(sorted(texts))}")
    if s.escapes:
        lines.append(f"    escapes: {_objects_text(s.escapes)}")
    if s.ordered:
        lines.append(f"    ordered: {', '.join(sorted(s.ordered))}")
    return "\n".join(lines)


def show_effects(context: Context) -> str:
    """What each value of a code points to, and what each operation writes, as text."""
    a = context.activation
    found: dict[str, set[Object]] = {}
    for value, objects in a.values.items():
        if value.name and objects:
            found.setdefault(value.name, set()).update(objects)
    lines = [f"{name} -> {_objects_text(objects)}" for name, objects in found.items()]
    for op, effect in a.effects.items():
        if effect.mod or effect.ordered:
            line = f"{op.place.line}: " if op.place else ""
            why = f" ({', '.join(sorted(effect.ordered))})" if effect.ordered else ""
            lines.append(f"{line}{op.kind} mod {_locations_text(effect.mod)}{why}")
    return "\n".join(lines)


__all__ = ["Context", "Effect", "Program", "Summary", "Value", "show_effects", "show_summary"]
