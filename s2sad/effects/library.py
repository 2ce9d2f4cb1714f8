"""What known functions, and methods of built-in classes, do to abstract objects: the table of operations says."""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from s2sad import ops
from s2sad.effects import items, operators
from s2sad.effects.objects import (
    ANY,
    ARRAY,
    CONTAINERS,
    DTYPE,
    IMMUTABLE,
    ITEMS,
    ITERATORS,
    KEYS,
    NOTHING,
    Object,
    Objects,
    Plain,
    is_generator,
)
from s2sad.ir.code import Constant, Operation
from s2sad.ir.nodes import Build, Call, Const, Expr, Op, Var
from s2sad.ops.binding import given as bound_arguments
from s2sad.ops.results import Result
from s2sad.ops.spec import OpSpec, Rule, form_of
from s2sad.runtime import protocols
from s2sad.runtime.classes import own_members
from s2sad.runtime.marks import stop_gradient

if TYPE_CHECKING:
    from s2sad.effects.points_to import Activation

#: The modules of classes of which an object is or is not by what it has.
_ABSTRACT = ("collections.abc", "numbers", "typing", "builtins")
_NUMERIC = frozenset((ARRAY, list, tuple, slice, range, np.dtype, np.ufunc, type))


@dataclass
class Arguments:
    """What a call gives: by position, by name, and what may stand at any later position or have any name."""

    positional: list[Objects] = field(default_factory=list)
    named: dict[str, Objects] = field(default_factory=dict)
    spread: Objects = NOTHING
    spread_named: Objects = NOTHING
    #: Whether there may be more by position or name than stand here.
    open: bool = False
    constants: dict[int | str, Any] = field(default_factory=dict)

    def all(self) -> Objects:
        return NOTHING.union(*self.positional, *self.named.values(), self.spread, self.spread_named)

    def after(self, *first: Objects) -> Arguments:
        """The same with some arguments before."""
        constants = {k + len(first) if isinstance(k, int) else k: v for k, v in self.constants.items()}
        positional = [*first, *self.positional]
        return Arguments(positional, self.named, self.spread, self.spread_named, self.open, constants)

    def at(self, position: int, name: str = "") -> Objects:
        """What may stand at a position, or be given by name."""
        found = self.named.get(name, self.spread_named)
        return found | (self.positional[position] if position < len(self.positional) else self.spread)


def arguments(a: Activation, op: Operation) -> Arguments:
    """The arguments of a ``call``."""
    found = Arguments()
    for operand, kind in zip(op.operands[1:], op.data, strict=True):
        objects = a.of(operand)
        if kind == "*":
            found.spread |= items.iterated(a, op, objects)
            found.open = True
        elif kind == "**":
            whole = frozenset(o for o in objects if o.cls is dict)
            found.spread_named |= a.load(whole, ITEMS)
            found.spread_named |= a.unknown(op, objects) if whole != objects else NOTHING
            found.open = True
        elif kind:
            found.named[kind] = objects
        elif found.open:
            found.spread |= objects
        else:
            found.positional.append(objects)
        if isinstance(operand, Constant) and not found.open:
            found.constants[kind or len(found.positional) - 1] = operand.value
    return found


# --- functions of the table


class _Bound:
    """The arguments of a call by the names of the parameters of its operation."""

    def __init__(self, spec: OpSpec, args: Arguments, method: str = "") -> None:
        self.args, self.spec = args, spec
        self.objects: dict[str, Objects] = {}

        def variable(key: int | str, objects: Objects) -> Expr:
            if key in args.constants:
                return Const(args.constants[key])
            self.objects[f"%{key}"] = objects
            return Var(f"%{key}")

        operator_ = Op("method", method, spec.function) if method else Op("function", spec.name, spec.function)
        positional = tuple([variable(i, o) for i, o in enumerate(args.positional)])
        named = tuple([(name, variable(name, o)) for name, o in args.named.items()])
        self.call = Call(operator_, positional, named)
        self.given = bound_arguments(self.call)

    def of(self, name: str) -> Objects:
        """What is given for a parameter, as far as that is known; all of it where it is not."""
        if self.args.open:
            return self.args.all()
        return self.value(self.given[name]) if name in self.given else NOTHING

    def value(self, expr: Expr) -> Objects:
        if isinstance(expr, Var):
            return self.objects.get(expr.name, NOTHING)
        return NOTHING.union(*map(self.value, expr.items)) if isinstance(expr, Build) else NOTHING

    def is_given(self, name: str, harmless: Any = None) -> bool:
        """Whether a parameter may be given another value than one that is harmless."""
        if self.args.open:
            return True
        found = self.given.get(name)
        return found is not None and not (isinstance(found, Const) and found.value is harmless)


def applied(a: Activation, op: Operation, spec: OpSpec, args: Arguments, method: str = "") -> Objects:
    """What a function of the table gives, or a method that is the same operation."""
    function, everything = spec.function, args.all()
    if function is stop_gradient:
        return args.at(0, "x")
    if function is type:
        return operators.class_of(a, op, args.at(0)) if len(args.positional) == 1 else a.unknown(op, everything)
    if _makes_immutable(spec) and spec.special is not None and spec.special <= protocols.CHECKING:
        for o in a.heap.reach(args.at(1)) if spec.special else ():
            if not (o.kind == "global" and isinstance(o.value, type) and o.value.__module__ in _ABSTRACT):
                operators.special(a, op, o, tuple(spec.special), [everything])
        return NOTHING
    if function is len:
        for o in args.at(0):
            operators.special(a, op, o, ("__len__",), [])
        a.ref(op, args.at(0), ITEMS)
        return NOTHING
    reached = a.heap.reach(everything)
    home = spec.name.partition(".")[0]
    called = _callables(spec, reached)
    numbers = _NUMERIC if not spec.consumes else _NUMERIC | {types.GeneratorType, *ITERATORS}
    expected = called or spec.calls
    numeric = home not in ("numpy", "scipy") or all(
        o.cls in numbers or is_generator(o.cls) or (expected and o in called) for o in reached
    )
    own = NOTHING
    if a.trusts(function):
        own = _run_own(a, op, reached)
    elif (
        not numeric
        or not all(o.is_safe for o in reached)
        or any(o.kind == "param" and o.shape.fields is None and o.cls is not ARRAY for o in reached - everything)
    ):
        return a.unknown(op, everything)
    if spec.defers is not None:
        return a.unknown(op, everything)
    bound = _Bound(spec, args, method)
    a.ref(op, reached, ITEMS)
    lazy = frozenset(o for o in reached if o.cls is types.GeneratorType or o.cls in ITERATORS)
    reached = a.heap.reach(reached | a.iterate(op, lazy)) if lazy else reached
    results = NOTHING
    if called:
        inside = reached | a.site(op, ARRAY)
        results = a.call(op, frozenset(called), [], spread=inside)
    written = NOTHING.union(*map(bound.of, spec.writes))
    into = frozenset(o for o in a.heap.reach(bound.of("out")) if o.cls is not type and o is not DTYPE)
    if spec.overwrites is not None and bound.is_given(*spec.overwrites):
        written |= bound.of(spec.parameters[0]) if spec.parameters else everything
        results |= written
    a.mod(op, written | into, ITEMS)
    if spec.stores:
        _store(a, op, written, NOTHING.union(*map(bound.of, spec.stores)))
    if spec.ordered:
        a.effect(op).ordered.add("ordered")
        a.mod(op, [o for o in everything if is_generator(o.cls)], "state")
    results |= own | frozenset(o for o in into if o.cls is ARRAY)
    return results | _result(a, op, spec, bound, everything, method)


def trusted(a: Activation, op: Operation, args: Arguments, is_fresh: bool = False) -> Objects:
    """Call what has no code and changes nothing but by what it calls; it gives something new, or what it is given."""
    everything = args.all()
    reached = a.heap.reach(everything)
    own = _run_own(a, op, reached)
    a.ref(op, reached, ITEMS)
    made = a.site(op, None)
    # What is new may hold more that is new.
    a.store(made, ITEMS, made | (reached if not is_fresh else a.heap.reach(a.load(everything, ANY))))
    functions = frozenset(_callables(None, reached))
    found = own | (made if is_fresh else reached | made)
    return found.union(*(a.callbacks.call(a, op, function, reached | made) for function in functions))


def of_plain(a: Activation, op: Operation, name: str, args: Arguments) -> Objects:
    """Call a method of an object of some built-in class, which is the first argument."""
    spec = ops.method(name)
    everything = args.all()
    bound = _Bound(spec, args, name) if spec is not None else None
    if spec is not None and bound is not None and (spec.writes or "out" in args.named or args.open):
        written = NOTHING.union(*map(bound.of, spec.writes)) | a.heap.reach(bound.of("out"))
        a.mod(op, written, ITEMS)
        a.mod(op, written, KEYS)
        _store(a, op, written, a.heap.reach(everything))
    return trusted(a, op, args, spec is not None and bound is not None and _kind(spec, bound, name) == "fresh")


def _run_own(a: Activation, op: Operation, reached: Objects) -> Objects:
    """Run what the classes of the user's among some objects have under the names of built-in methods."""
    found = NOTHING
    for o in reached:
        if o.cls is type and isinstance(o.value, type) and issubclass(o.value, ARRAY) and not a.trusts(o.value):
            # A view of this class runs what the class has.
            found |= a.unknown(op, reached)
        elif not o.is_safe:
            names = () if o.cls is None else tuple(own_members(o.cls))
            found |= operators.special(a, op, o, names, [reached])
    return found


def _callables(spec: OpSpec | None, reached: Objects) -> list[Object]:
    """The functions among the arguments that the operation may call."""
    if spec is not None and spec.calls == ():
        return []
    return [
        o
        for o in reached
        if o.cls in (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
        or (o.cls is type and not (isinstance(o.value, type) and _is_number(o.value)))
    ]


def _is_number(cls: type) -> bool:
    """Whether a class that is given is one of numbers, or known in the table: no function of the user's."""
    return issubclass(cls, np.generic) or ops.spec_of(cls) is not None


def _makes_immutable(spec: OpSpec) -> bool:
    return spec.makes is not None and issubclass(spec.makes, IMMUTABLE)


def _store(a: Activation, op: Operation, into: Objects, held: Objects) -> None:
    """Store values, or the items of them, into containers."""
    parts = held | a.iterate(op, held)
    for o in into:
        if o.cls is dict:
            a.store([o], KEYS, parts)
        if o.cls is not ARRAY:
            a.store([o], ITEMS, parts | a.load([h for h in held if h.cls is dict], ITEMS))


def _kind(spec: OpSpec, bound: _Bound, method: str) -> Result:
    """What the result of a call of the operation is of its operands, as far as its arguments tell."""
    kind: Result = spec.result
    if spec.closer is not None:
        kind = spec.closer(bound.call, None) or kind if not bound.args.open else "unknown"
    if method:
        form = form_of("method", method)
        kind = form[1].result or kind if form is not None and form[0] is spec else kind
    return "maybe_view" if kind == "fresh" and bound.is_given("copy", True) else kind


def _result(a: Activation, op: Operation, spec: OpSpec, bound: _Bound, everything: Objects, method: str) -> Objects:
    kind = _kind(spec, bound, method)
    home, _, name = spec.name.rpartition(".")
    if home in ("math", "cmath") or _makes_immutable(spec):
        return NOTHING
    if spec.writes and kind == "unknown":
        return NOTHING
    if kind == "element":
        return everything | a.load([o for o in everything if o.cls in CONTAINERS], ITEMS)
    if home == "builtins" and kind == "fresh" and not any(o.cls is ARRAY for o in a.heap.reach(everything)):
        return NOTHING
    if spec.dtype in ("float", "whole") and kind == "fresh":
        return NOTHING
    if kind == "unknown" and not (isinstance(spec, Rule) or spec.gives):
        return a.heap.reach(everything) | a.site(op, None, name=name)
    new = a.site(op, ARRAY if _has_numbers(a, bound) else None)
    if kind not in ("fresh", "repeated"):
        first = a.heap.reach(everything) if kind == "unknown" else a.heap.reach(bound.value(_first(bound)))
        arrays = frozenset(o for o in first if o.cls in (ARRAY, Plain))
        # A list, or a number, is made a new array.
        new = arrays if kind == "view" and arrays and all(o.cls is ARRAY for o in first) else arrays | new
    holders = [cls for cls in spec.gives if cls is not np.ndarray]
    if not holders:
        return new
    made = NOTHING.union(*(a.site(op, cls) for cls in holders))
    a.store(made, ITEMS, new)
    return made | new if np.ndarray in spec.gives else made


def _first(bound: _Bound) -> Expr:
    """The first operand; all where it is not known."""
    call = bound.call
    if bound.args.open or not call.args or bound.spec.variadic is not None:
        return Build("tuple", (*call.args, *(value for _, value in call.kwargs)))
    return call.args[0]


def _has_numbers(a: Activation, bound: _Bound) -> bool:
    """Whether a new array holds no references: the dtype that is asked for is one of numbers."""
    if bound.args.open and (bound.args.spread or bound.args.spread_named):
        return all(o.cls in (ARRAY, list, tuple) for o in bound.args.all())
    found = bound.given.get("dtype")
    if found is None:
        return True
    if isinstance(found, Const):
        return found.value is None or (isinstance(found.value, str) and not found.value.startswith(("O", "o", "|O")))
    objects = bound.value(found)
    numbers = (bool, int, float, complex)
    return bool(objects) and all(
        o is DTYPE
        or any(o.value is n for n in numbers)
        or (isinstance(o.value, type) and issubclass(o.value, np.number))
        for o in objects
    )
