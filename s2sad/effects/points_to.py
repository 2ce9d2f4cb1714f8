"""What each value of a `Code` may point to, and what each operation may write, read and let escape.

Values are in SSA form, so what they point to is known place by place; what fields hold is one set for the whole run
(`s2sad.effects.heap`), and one that grows after it was read asks for another round.  COMPILER.md has a table.

Reference: Andersen, Program Analysis and Specialization for the C Programming Language, 1994, section 4 (subsets).
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from s2sad.effects import calls, items, operators
from s2sad.effects.callbacks import Callbacks
from s2sad.effects.forwarding import stored_before, targets
from s2sad.effects.heap import Heap
from s2sad.effects.library import Arguments
from s2sad.effects.objects import ANY, CONSTANT, FOREIGN, ITEMS, NOTHING, UNKNOWN, Location, Object, Objects, Shape
from s2sad.ir.code import (
    Code,
    Constant,
    Definition,
    Handlers,
    Operand,
    Operation,
    Region,
    Value,
    Variable,
    inner,
    uses,
)

if TYPE_CHECKING:
    from s2sad.effects.mod_ref import Context, Program

#: The exceptions that hold text alone where Python or NumPy raises them; what ``raise`` gives them has escaped.
_OF_TEXT = (
    ValueError, TypeError, IndexError, ArithmeticError, ZeroDivisionError, OverflowError, FloatingPointError,
    AssertionError, RuntimeError, NotImplementedError, RecursionError, np.linalg.LinAlgError,
)  # fmt: skip
VALUE = "value"  #: The field of a cell.


@dataclass
class Effect:
    """What one operation may do: the fields that it writes and reads, and that it needs its place.

    ``ordered`` says why: it ``raises``, ``prints or draws``, ``yields``, ``imports``, or runs ``unknown`` code.
    ``contexts`` are the calls of known code.
    """

    mod: set[Location] = field(default_factory=set)
    ref: set[Location] = field(default_factory=set)
    ordered: set[str] = field(default_factory=set)
    contexts: set[Context] = field(default_factory=set)


@dataclass(frozen=True, eq=False)
class Function:
    """A function to analyse: its code, what its free names mean, and its default values."""

    code: Code
    names: Callable[[str], tuple[bool, Any]]
    #: The module that it is of, as one object for all its functions.
    module: Object
    defaults: Mapping[str, Any] = field(default_factory=dict)


class Activation:
    """The analysis of one code for parameters of some shapes."""

    def __init__(self, program: Program, function: Function, shapes: Mapping[Any, Shape | None], apart: bool) -> None:
        self.program, self.function, self.code = program, function, function.code
        self.heap = Heap(program.known, program.effort, apart, program.trusted is not None, program.settled)
        self.values: dict[Value, Objects] = {}
        self.effects: dict[Operation, Effect] = {}
        #: What happens at the exits of regions.
        self.exits = Effect()
        self.result: Objects = NOTHING
        self.yields: Objects = NOTHING
        self.shapes = dict(shapes)
        self._loops: list[tuple[Sequence[Value], Sequence[Value]]] = []
        self._sinks: list[list[Objects]] = []
        self._again = False
        self.closure: Objects = NOTHING
        self.callbacks = Callbacks()
        #: The iterators that others run through, while they do.
        self.busy: set[Object] = set()
        self._begin()

    def _begin(self) -> None:
        """Give the parameters, and what the code sees of functions around it, what they point to."""
        for i, param in enumerate(self.code.params):
            found = self.heap.param(i, param.name, self.shapes.get(i))
            if isinstance(param.target, Value):
                self.values[param.target] = found
            else:
                self.heap.store(self.cell(param.target), VALUE, found)
        self.closure = self.heap.param("self", self.code.name, self.shapes.get("self"))
        for i, value in enumerate(self.code.seen):
            self.values[value] = self.load(self.closure, f"seen {i}") if self.closure else frozenset((UNKNOWN,))

    def run(self) -> None:
        """Go over the operations until nothing grows."""
        while True:
            self.heap.start()
            self.callbacks.start()
            self._again = False
            for effect in self.effects.values():
                # Those of the last round are general enough.
                effect.contexts.clear()
            if self.code.seen or self.code.captures:
                for i, value in enumerate(self.code.seen):
                    self.values[value] |= self.load(self.closure, f"seen {i}")
            self.region(self.code.body)
            if not (self._again or self.heap.grown or self.callbacks.has_grown):
                return

    @functools.cached_property
    def _uses(self) -> tuple[frozenset[Operand], frozenset[Operand]]:
        return uses(self.code)

    @functools.cached_property
    def _stored(self) -> Mapping[Operation, Operand]:
        return stored_before(self.code)

    def uses(self, op: Operation) -> bool:
        """Whether something is done with a result of an operation."""
        return any(not users.isdisjoint(op.results) for users in self._uses)

    def only_calls(self, op: Operation) -> bool:
        """Whether nothing is done with the results of an operation but to call them."""
        return self._uses[1].isdisjoint(op.results)

    # --- values and effects

    def of(self, operand: Operand) -> Objects:
        return NOTHING if isinstance(operand, Constant) else self.values.get(operand, NOTHING)

    def all(self, operands: Iterable[Operand]) -> Objects:
        return NOTHING.union(*map(self.of, operands))

    def give(self, value: Value, objects: Iterable[Object]) -> None:
        before = self.values.get(value, NOTHING)
        self.values[value] = before.union(objects)

    def hand(self, targets: Sequence[Value], operands: Sequence[Operand]) -> None:
        """Values that were read before it comes to this: those that a loop carries."""
        for target, operand in zip(targets, operands, strict=False):
            before = self.values.get(target, NOTHING)
            self.give(target, self.of(operand))
            self._again = self._again or self.values[target] != before

    def effect(self, op: Operation) -> Effect:
        found = self.effects.get(op)
        if found is None:
            found = self.effects[op] = Effect()
        return found

    def mod(self, op: Operation, objects: Iterable[Object], name: str) -> None:
        self.effect(op).mod.update((o, name) for o in objects)

    def ref(self, op: Operation, objects: Iterable[Object], name: str) -> None:
        self.effect(op).ref.update((o, name) for o in objects)

    def load(self, objects: Iterable[Object], name: str) -> Objects:
        return NOTHING.union(*(self.heap.load(o, name) for o in objects))

    def store(self, objects: Iterable[Object], name: str, held: Objects) -> None:
        for o in objects:
            self.heap.store(o, name, held)

    def site(self, op: Operation, cls: type | None, value: Any = None, name: str = "") -> Objects:
        return frozenset((self.heap.site(op, cls, value, name),))

    def call(self, op: Operation, functions: Objects, given: Sequence[Objects], spread: Objects = NOTHING) -> Objects:
        """Call any of some functions with arguments by position, and perhaps more of these."""
        args = Arguments(list(given), spread=spread, open=bool(spread))
        return calls.called(self, op, functions, args)

    def iterate(self, op: Operation, objects: Objects) -> Objects:
        return items.iterated(self, op, objects)

    def resume(self, op: Operation, o: Object) -> Objects:
        return calls.resumed(self, op, o)

    def trusts(self, value: Any, is_used: bool = True) -> bool:
        """Whether what has no code is taken at its word to change nothing, if its result is used."""
        return value is not None and self.program.trusted is not None and self.program.trusted(value, is_used)

    def unknown(self, op: Operation, *given: Iterable[Object]) -> Objects:
        """Code that is not known runs, and gets some objects; what it may give back."""
        self.heap.open()
        for objects in given:
            self.heap.escape(objects)
        effect = self.effect(op)
        effect.mod.add((UNKNOWN, ANY))
        effect.ref.add((UNKNOWN, ANY))
        effect.ordered.add("unknown")
        return frozenset((FOREIGN if self.heap.plain else UNKNOWN,))

    # --- regions

    def region(self, region: Region) -> tuple[Operand, ...]:
        """Go over a region; the operands that it yields."""
        for op in region.operations:
            handler = _HANDLERS.get(op.kind)
            if handler is not None:
                handler(self, op)
            else:
                self.give_all(op, _SIMPLE[op.kind](self, op))
        end = region.exit
        if end.kind == "yield":
            return end.operands
        if end.kind == "return":
            self.result |= self.all(end.operands)
        elif end.kind == "raise":
            self.exits.ordered.add("raises")
            self.heap.escape(self.all(end.operands))
        elif end.kind == "continue":
            self.hand(self._loops[-1][0], end.operands)
        elif end.kind == "break":
            self.hand(self._loops[-1][1], end.operands)
        return ()

    def give_all(self, op: Operation, objects: Objects) -> None:
        for result in op.results:
            self.give(result, objects)

    def _yielding(self, op: Operation) -> None:
        """Operations of which one region is taken, and hands on the results: ``if``, ``choose``, ``and``, ``chain``."""
        if op.kind in ("and", "or"):
            self.give_all(op, self.of(op.operands[0]))
        if op.kind in ("if", "choose", "and", "or", "assert"):
            operators.tested(self, op, op.operands[0])
        for region in op.regions:
            given = self.region(region)
            if op.kind == "chain":
                self.give_all(op, operators.compared(self, op, self.all((*op.operands, *given))))
            elif op.kind != "assert":
                for result, operand in zip(op.results, given, strict=False):
                    self.give(result, self.of(operand))
            else:
                self.heap.escape(self.all(given))
            if op.kind in ("and", "or") and given:
                operators.tested(self, op, given[0])
        if op.kind == "assert":
            self.effect(op).ordered.add("raises")

    def _for(self, op: Operation) -> None:
        body, rest = op.regions
        item, *carried = body.params
        self.give(item, items.iterated(self, op, self.of(op.operands[0])))
        self.hand(carried, op.operands[1:])
        self._loops.append((carried, op.results))
        self.region(body)
        self._loops.pop()
        for last, value in zip(rest.params, carried, strict=True):
            self.give(last, self.values.get(value, NOTHING))
        for result, operand in zip(op.results, self.region(rest), strict=False):
            self.give(result, self.of(operand))

    def _while(self, op: Operation) -> None:
        test, body, rest = op.regions
        self.hand(test.params, op.operands)
        given = self.region(test)
        operators.tested(self, op, given[0])
        self._loops.append((test.params, op.results))
        self.region(body)
        self._loops.pop()
        for result, operand in zip(op.results, self.region(rest), strict=False):
            self.give(result, self.of(operand))

    def _try(self, op: Operation) -> None:
        data: Handlers = op.data
        regions = list(op.regions)
        body = regions.pop(0)
        self.region(body)
        for has_class, name in zip(data.classes, data.names, strict=True):
            caught = self.heap.reach(self.all(self.region(regions.pop(0)))) if has_class else NOTHING
            if name is not None:
                if not caught or not all(o.cls is tuple or any(o.value is e for e in _OF_TEXT) for o in caught):
                    # The exception may hold what the operation that raised it was given.
                    self.heap.escape(self.all(o for inside in inner(body) for o in inside.operands))
                self._bind(op, name, frozenset((UNKNOWN,)))
            self.region(regions.pop(0))
        for region in regions:
            self.region(region)

    def _with(self, op: Operation) -> None:
        manager = self.of(op.operands[0])
        entered = calls.entered(self, op, manager)
        if op.awaits:
            entered |= self.unknown(op, manager)
        self.give(op.regions[0].params[0], entered)
        self.region(op.regions[0])

    def _match(self, op: Operation) -> None:
        subject = self.of(op.operands[0])
        reached = self.heap.reach(subject)
        if not operators.is_plain(self, subject):
            reached |= self.unknown(op, subject)
        parts = reached | self.site(op, list) | self.site(op, dict)
        self.store(self.site(op, list) | self.site(op, dict), ITEMS, reached)
        self.store(self.site(op, dict), "keys", reached)
        regions = list(op.regions)
        for pattern, guarded in zip(op.data.patterns, op.data.guards, strict=True):
            for target in targets(pattern):
                self._bind(op, target, parts if subject else NOTHING)
            if guarded:
                operators.tested(self, op, self.region(regions.pop(0))[0])
            self._taken(op, regions.pop(0))
        for region in regions:
            self._taken(op, region)

    def _taken(self, op: Operation, region: Region) -> None:
        for result, operand in zip(op.results, self.region(region), strict=False):
            self.give(result, self.of(operand))

    def _comprehension(self, op: Operation) -> None:
        self._sinks.append([])
        self._round(op, op.regions[0], items.iterated(self, op, self.of(op.operands[0])))
        parts = self._sinks.pop()
        made = self.site(op, {"list": list, "set": set, "dict": dict}[op.data])
        if op.data == "dict":
            self.store(made, "keys", NOTHING.union(*parts[::2]))
            self.store(made, ITEMS, NOTHING.union(*parts[1::2]))
        else:
            self.store(made, ITEMS, NOTHING.union(*parts))
        self.give_all(op, made)

    def _round(self, op: Operation, region: Region, item: Objects) -> None:
        """A round of a comprehension or generator expression."""
        for param in region.params:
            before = self.values.get(param, NOTHING)
            self.give(param, item)
            self._again = self._again or (bool(before) and self.values[param] != before)
        given = self.region(region)
        if given and self._sinks:
            self._sinks[-1] += [self.of(o) for o in given]
        elif given:
            self.yields |= self.all(given)

    def _each(self, op: Operation) -> None:
        self._round(op, op.regions[0], items.iterated(self, op, self.of(op.operands[0])))

    def _only(self, op: Operation) -> None:
        operators.tested(self, op, op.operands[0])
        self._round(op, op.regions[0], NOTHING)

    # --- variables

    def cell(self, variable: Variable) -> Object:
        """The memory of a variable of this code."""
        return self.heap.site(None, types.CellType, variable, variable.name)

    def cells(self, variable: Variable) -> Objects:
        """The memory of a variable, which a function around may own."""
        if variable in self.code.captures:
            return self.load(self.closure, variable.name) if self.closure else frozenset((UNKNOWN,))
        return frozenset((self.cell(variable),))

    def _bind(self, op: Operation, target: Variable | str, held: Objects) -> None:
        if isinstance(target, str):
            self.mod(op, [self.function.module], target)
            self.heap.store(self.function.module, target, held)
            self.heap.escape(held)
        else:
            found = self.cells(target)
            self.mod(op, found, VALUE)
            self.store(found, VALUE, held)

    def _load(self, op: Operation) -> None:
        found = self.cells(op.data)
        self.ref(op, found, VALUE)
        stored = self._stored.get(op)
        self.give_all(op, self.load(found, VALUE) if stored is None else self.of(stored))

    def _store(self, op: Operation) -> None:
        held = self.of(op.operands[0])
        self._bind(op, op.data, held)
        self.give_all(op, held)

    def _delete(self, op: Operation) -> None:
        if isinstance(op.data, str):
            self.mod(op, [self.function.module], op.data)
        else:
            self.mod(op, self.cells(op.data), VALUE)

    def _global(self, op: Operation) -> None:
        module = self.function.module
        has, value = self.function.names(op.data)
        found = self.heap.known(value, op.data) if has else NOTHING
        stored = self.heap.stored(module, op.data)
        is_data = not issubclass(type(value), CONSTANT)
        if stored or is_data:
            self.ref(op, [module], op.data)
        # Names of functions, classes and modules keep their meaning, unless this program gives them another.
        unseen = frozenset((UNKNOWN,)) if is_data and self.heap.is_open else NOTHING
        self.give_all(op, found | stored | unseen)

    # --- functions

    def _closure(self, op: Operation) -> None:
        data: Definition = op.data
        made = self.site(op, types.FunctionType, data, data.code.name)
        self.captured(made, data.code)
        given = op.operands[data.decorators :]
        for name, operand in zip(data.defaults, given, strict=False):
            self.store(made, f"default {name}", self.of(operand))
        for operand in reversed(op.operands[: data.decorators]):
            made = calls.called(self, op, self.of(operand), Arguments([made]))
        self.give_all(op, made)

    def captured(self, made: Objects, code: Code) -> None:
        """Store what a function sees of this one into it."""
        self.program.define(code, self.function)
        for variable in code.captures:
            self.store(made, variable.name, self.cells(variable))
        for i, value in enumerate(code.seen):
            self.store(made, f"seen {i}", self.values.get(value, NOTHING))

    def _generator(self, op: Operation) -> None:
        made = self.site(op, types.GeneratorType, op.data, "generator")
        self.captured(made, op.data)
        self.store(made, "parameter 0", self.of(op.operands[0]))
        if op.data.awaits:
            made |= self.unknown(op, made)
        self.give_all(op, made)

    def _class(self, op: Operation) -> None:
        code = op.data.code
        seen = [*self.values.values(), *(self.cells(v) for v in code.captures)]
        self.give_all(op, self.unknown(op, self.all(op.operands), *seen))

    def _suspend(self, op: Operation) -> None:
        """Whoever runs a generator, or anything at all, may do anything before it goes on."""
        given = self.all(op.operands)
        self.yields |= given
        self.effect(op).ordered.add("yields")
        if self.code in self.program.managing:
            return
        found = NOTHING.union(*(self.heap.param(i, p.name, self.shapes.get(i)) for i, p in enumerate(self.code.params)))
        self.give_all(op, self.unknown(op, given, found, self.closure))

    def _import(self, op: Operation) -> None:
        module, names, level, renamed = op.data
        self.effect(op).ordered.add("imports")
        found = sys.modules.get(module)
        if found is None or level:
            self.give_all(op, self.unknown(op))
            return
        if names is None:
            first = found if renamed else sys.modules[module.partition(".")[0]]
            self.give_all(op, self.heap.known(first))
            return
        for name, result in zip(names, op.results, strict=True):
            has = name in vars(found)
            self.give(result, self.heap.known(vars(found)[name], name) if has else self.unknown(op))


def _copied(a: Activation, op: Operation) -> Objects:
    return a.of(op.operands[0])


def _annotated(a: Activation, op: Operation) -> Objects:
    return NOTHING


def _unpacked(a: Activation, op: Operation) -> None:
    items.unpacked(a, op)


#: Operations of one result that is found from the operands alone.
_SIMPLE: dict[str, Callable[[Activation, Operation], Objects]] = {
    "copy": _copied, "unary": operators.unary, "binary": operators.binary, "inplace": operators.inplace,
    "compare": operators.compare, "attribute": operators.attribute, "item": items.item,
    "set_attribute": operators.set_attribute, "set_item": items.set_item,
    "delete_attribute": operators.delete_attribute, "delete_item": items.delete_item, "slice": operators.slice_,
    "tuple": items.display, "list": items.display, "set": items.display, "dict": items.dict_display,
    "call": calls.call, "text": operators.text, "annotate": _annotated,
}  # fmt: skip
_HANDLERS: dict[str, Callable[[Activation, Operation], None]] = {
    "if": Activation._yielding, "choose": Activation._yielding, "and": Activation._yielding,
    "or": Activation._yielding, "chain": Activation._yielding, "assert": Activation._yielding,
    "for": Activation._for, "while": Activation._while, "try": Activation._try, "with": Activation._with,
    "match": Activation._match, "comprehension": Activation._comprehension, "each": Activation._each,
    "only": Activation._only, "load": Activation._load, "store": Activation._store, "delete": Activation._delete,
    "store_global": Activation._store, "delete_global": Activation._delete, "global": Activation._global,
    "function": Activation._closure, "lambda": Activation._closure, "generator": Activation._generator,
    "class": Activation._class, "yield": Activation._suspend, "yield_from": Activation._suspend,
    "await": Activation._suspend, "import": Activation._import, "unpack": _unpacked,
}  # fmt: skip
