"""What calls of functions with source may write, by the summaries of the points-to analysis.

Of arguments nothing is known here: they are taken to be of built-in classes.  A function without source is taken at its
word to change nothing, unless it is of an extension module and in no table.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2sad import ops
from s2sad.effects.heap import Effort, TooMuch
from s2sad.effects.mod_ref import Context, Program, Summary
from s2sad.effects.objects import (
    ALIKE,
    ARRAY,
    CONTAINERS,
    PLAIN,
    Location,
    Object,
    Plain,
    Shape,
    is_generator,
    is_immutable,
)
from s2sad.errors import S2SADError
from s2sad.frontend.called import has_text_of_python, is_compiled
from s2sad.frontend.lower_statements import lower_function
from s2sad.frontend.resolve import Resolver
from s2sad.frontend.source import MADE, Source, read_source
from s2sad.ir.code import Code, Constant, Operand, Operation, inner
from s2sad.ir.types import Kind
from s2sad.runtime.classes import initialises, inside, is_of_library, module_of, own_class, package_of, static_member
from s2sad.runtime.contents import items_of


@dataclass(frozen=True)
class Writes:
    """What a call may write: what its arguments for ``params`` are or hold, and with ``outside`` anything else that
    outlives the call: objects of the module, and its variables.

    It ``makes`` its result if that, and what it holds, are new objects of built-in classes.  It ``doubts`` if it may
    read or set one of the attributes that were asked for, of an object whose class is not known."""

    params: frozenset[str] = frozenset()
    outside: bool = False
    makes: bool = False
    doubts: bool = False

    def __bool__(self) -> bool:
        return bool(self.params) or self.outside


@dataclass(frozen=True)
class _Known:
    """What was found of a function, and on what that rests: its code, and the code that names of its module run."""

    writes: Writes
    code: types.CodeType
    names: tuple[tuple[str, types.CodeType], ...] = ()

    def holds(self, function: types.FunctionType) -> bool:
        """Whether it is so still."""
        own = function.__globals__
        found = ((own.get(name), code) for name, code in self.names)
        return function.__code__ is self.code and all(
            type(value) is types.FunctionType and value.__code__ is code for value, code in found
        )


NOTHING = Writes()
#: How much is done for a function, and for one of an installed package, before it is taken to write anything; and how
#: much it counts to read another, and one of an installed package.
MOST, MOST_OF_LIBRARY, OF_SOURCE, OF_LIBRARY = 100_000, 20_000, 500, 3000
_codes: weakref.WeakKeyDictionary[types.FunctionType, tuple[types.CodeType, Code | None]] = weakref.WeakKeyDictionary()
_known: weakref.WeakKeyDictionary[types.FunctionType, dict[Any, _Known]] = weakref.WeakKeyDictionary()
_changed: weakref.WeakKeyDictionary[types.FunctionType, tuple[Any, frozenset[int] | None]] = weakref.WeakKeyDictionary()
_SHAPES: dict[str, Shape | None] = {"scalar": None, "none": None, "array": Shape(ARRAY, None, ())}


def writes_of(
    function: types.FunctionType,
    owner: type | None = None,
    beyond: bool = False,
    doubtful: frozenset[str] = frozenset(),
    numbers: frozenset[str] = frozenset(),
) -> Writes:
    """What a call of a function may write.

    Args:
        function: The function.
        owner: The class of its first argument, if that is known.
        beyond: Whether what it does to the attributes of its first argument does not count.
        doubtful: The attributes of objects of which nothing is known that may run code that is not known either.
        numbers: The parameters that are surely numbers or None.
    """
    if initialises(function):
        return Writes(frozenset(function.__code__.co_varnames[:1]))
    if not is_read(function) and inside(function, "__wrapped__") is None:
        return NOTHING
    if not doubtful and (spec := ops.spec_of(function)) is not None:
        return Writes(frozenset(spec.writes))
    known = _known.setdefault(function, {})
    key = owner, beyond, doubtful, numbers
    if key not in known or not known[key].holds(function):
        known[key] = _found(function, owner, beyond, doubtful, numbers)
    return known[key].writes


def may_change(source: Source, resolver: Resolver, kinds: Mapping[str, Kind], variable: str) -> bool:
    """Whether a call of a function may write into the object of a variable of its module, or into what that leads to.

    Args:
        source: The function.
        resolver: What names mean in it.
        kinds: What its arguments are, as far as that is known.
        variable: A name, or a dotted one.
    """
    shapes = shapes_of(kinds)
    key = source.node, frozenset(shapes.items())
    known, changed = _changed.get(source.function, (None, None))
    if known != key:
        changed = _changed_by(source, shapes)
        _changed[source.function] = key, changed
    if changed is not None and not changed:
        return False
    try:
        found, value = resolver.lookup(gast.parse(variable, mode="eval").body)
    except SyntaxError:
        return True
    held = _held_by(value) if found else None
    return changed is None or held is None or not changed.isdisjoint(held)


def shapes_of(kinds: Mapping[str, Kind]) -> dict[str, Shape | None]:
    """What is known of arguments by their kinds, for the points-to analysis; those left out may be anything plain."""
    return {name: _SHAPES[kind] for name, kind in kinds.items() if kind in _SHAPES}


def _held_by(value: Any) -> set[int] | None:
    """The identities of an array or container and of those in it; None where there is anything else but constants."""
    found: set[int] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        if is_immutable(value) or id(value) in found:
            continue
        if type(value) not in (list, dict, tuple, set, frozenset, *ALIKE, ARRAY) or (
            type(value) is ARRAY and value.dtype.hasobject
        ):
            return None
        found.add(id(value))
        pending += [*items_of(value), *(value if isinstance(value, dict) else ())]
    return found


def _changed_by(source: Source, shapes: Mapping[str, Shape | None]) -> frozenset[int] | None:
    """The identities of the objects of modules that a call of a function may write; None where these may be any.

    What a container of the module holds is another object than the container.
    """
    made = lower_function(source.node)

    def find(function: types.FunctionType) -> Code | None:
        return made if function is source.function else code_of(function)

    program = Program(find, trusted=is_trusted, effort=Effort(MOST))
    known = program.function(source.function)
    assert known is not None
    try:
        context = program.context(known, {i: shapes.get(p.name, PLAIN) for i, p in enumerate(made.params)})
    except (TooMuch, RecursionError):
        return None
    written = {o for effect in context.activation.effects.values() for o, _ in effect.mod if o.kind != "param"}
    written = {o for o in written if o.is_input}
    if context.summary.is_open or any(o.kind != "global" for o in written):
        return None
    return frozenset(id(o.value) for o in written)


def is_read(function: types.FunctionType) -> bool:
    """Whether what a function does is found in its source: it is no library's that is taken at its word."""
    if MADE in function.__dict__:
        return True
    # What stands for a function of NumPy calls what it is given, and emitted code calls what writes adjoints.
    of_programs = module_of(function).startswith(("s2sad.transform.", "s2sad.runtime."))
    ours = package_of(function) == "s2sad" and not of_programs
    return not (ours or package_of(function) == "numpy" or has_text_of_python(function))


def code_of(function: types.FunctionType) -> Code | None:
    """The code of a function that is read."""
    code, found = _codes.get(function, (None, None))
    if code is not function.__code__:
        found = None
        if is_read(function):
            try:
                found = lower_function(read_source(function, generators=True).node)
            except S2SADError:
                found = None
        _codes[function] = function.__code__, found
    return found


def _found(
    function: types.FunctionType, owner: type | None, beyond: bool, doubtful: frozenset[str], numbers: frozenset[str]
) -> _Known:
    looked_up: dict[tuple[int, str], Any] = {}
    writes = _analysed(function, owner, beyond, doubtful, numbers, looked_up)
    own = id(function.__globals__)
    names = [(n, v.__code__) for (m, n), v in looked_up.items() if m == own and type(v) is types.FunctionType]
    return _Known(writes, function.__code__, tuple(names))


def _analysed(
    function: types.FunctionType,
    owner: type | None,
    beyond: bool,
    doubtful: frozenset[str],
    numbers: frozenset[str],
    looked_up: dict[tuple[int, str], Any],
) -> Writes:
    names = tuple(inspect.signature(function, follow_wrapped=False).parameters)
    anything = Writes(frozenset(names), True, doubts=bool(doubtful))
    if function.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return anything
    effort = Effort(MOST_OF_LIBRARY if is_of_library(module_of(function)) else MOST)

    def find(called: types.FunctionType) -> Code | None:
        effort.spend(OF_LIBRARY if is_of_library(module_of(called)) else OF_SOURCE)
        return code_of(called)

    program = Program(find, trusted=is_trusted, doubtful=doubtful, effort=effort, looked_up=looked_up)
    known = program.function(function)
    if known is None:
        # What Python's own wrappers run beside the function in them is not known.
        return NOTHING if inside(function, "__wrapped__") is None else anything
    shapes: dict[Any, Shape | None] = {i: None if name in numbers else PLAIN for i, name in enumerate(names)}
    if owner is not None and names:
        shapes[0] = Shape(owner)
    try:
        context = program.context(known, shapes)
    except (TooMuch, RecursionError):
        return anything
    locations = {
        location
        for op, effect in context.activation.effects.items()
        for location in effect.mod
        if location[0].is_input and not (beyond and _is_own(location, op, owner))
    }
    found = _named(context, locations, dict(enumerate(names)))
    return replace(found, doubts=True) if program.doubted else found


def _named(context: Context, locations: set[Location], names: dict[Any, str]) -> Writes:
    """What is written, in terms of the parameters."""
    params: set[str] = set()
    outside = False
    for o, field in locations:
        if o.kind == "param" and o.path[0] in names:
            if not (is_generator(o.cls) and field == "state"):
                params.add(names[o.path[0]])
        elif not (o.kind == "global" and is_generator(o.cls)):
            outside = True
    if context.summary.is_open:
        outside = True
        params.update(names[o.path[0]] for o in context.summary.escapes if o.kind == "param" and o.path[0] in names)
    return Writes(frozenset(params), outside, _makes(context.summary))


def _makes(summary: Summary) -> bool:
    """Whether what is returned is made in the call, of built-in classes, with all that it holds."""
    held: dict[Object, set[Object]] = {}
    for o, _, part in summary.stores:
        held.setdefault(o, set()).add(part)
    pending, seen = [*summary.result], set[Object]()
    while pending:
        o = pending.pop()
        if o.kind != "site" or o.cls not in (ARRAY, Plain, *CONTAINERS):
            return False
        if o not in seen:
            seen.add(o)
            pending += held.get(o, ())
    return not summary.is_open


def _is_own(location: Location, op: Operation, owner: type | None) -> bool:
    """Whether what is written is an attribute of the first argument, and no object that the attribute holds."""
    o, field = location
    if o.kind != "param" or o.path[0] != 0:
        return False
    if op.kind == "inplace":
        return len(o.path) == 2 and owner is not None and _is_counter(owner, o.path[1])
    return len(o.path) == 1 and not field.startswith("[")


@functools.lru_cache(maxsize=4096)
def _is_counter(cls: type, name: str) -> bool:
    """Whether the methods of a class give an attribute nothing but immutable constants and what is added to them."""
    members = [m for base in cls.__mro__ if base is not object for m in vars(base).values()]
    found = [code_of(f) for f in members if isinstance(f, types.FunctionType)]
    default = static_member(cls, name)
    if None in found or not (default is None or is_immutable(default)):
        return False
    given = []
    for code in found:
        operations = list(inner(code.body)) if code is not None else []
        own = {op.result for op in operations if op.kind == "inplace"}
        items = _items_of_displays(operations)
        stores = [op.operands[1] for op in operations if op.kind == "set_attribute" and op.data == name]
        given += [isinstance(items.get(value, value), Constant) or value in own for value in stores]
    return all(given) and (default is not None or bool(given))


def _items_of_displays(operations: list[Operation]) -> dict[Operand, Operand]:
    """The items of tuples that are written out and unpacked at once, as in ``a, b = 0, n``."""
    displays: dict[Operand, tuple[Operand, ...]] = {op.result: op.operands for op in operations if op.kind == "tuple"}
    found: dict[Operand, Operand] = {}
    for op in operations:
        items = displays.get(op.operands[0], ()) if op.kind == "unpack" and op.data[1] is None else ()
        if len(items) == len(op.results):
            found.update(zip(op.results, items, strict=True))
    return found


def is_trusted(value: Any, is_used: bool) -> bool:
    """Whether what has no source is taken at its word to change nothing.

    Of a function of an extension module whose result is not used, it is what it changes that is wanted.
    """
    if isinstance(value, type):
        return value is not super and own_class(value) in (None, types.SimpleNamespace)
    if isinstance(value, types.FunctionType):
        return inside(value, "__wrapped__") is None
    return (is_used or not is_compiled(value)) and not isinstance(value, operator.methodcaller)
