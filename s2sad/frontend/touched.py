"""Which attributes a program sets or reads on objects that exist, by the points-to analysis of all that it calls.

The arguments of the whole program are numbers, arrays, texts, and containers of such.  With what its functions are
called follows from there, so that one that has been specialised is analysed for these calls alone.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from s2sad.effects.heap import Effort, TooMuch
from s2sad.effects.mod_ref import Context, Program
from s2sad.effects.objects import ANY, ARRAY, CONTAINERS, KEYS, PLAIN, Location, Object, Plain, Shape
from s2sad.frontend.lower_statements import lower_function
from s2sad.frontend.resolve import Guard
from s2sad.frontend.source import Source
from s2sad.frontend.summaries import code_of, is_trusted
from s2sad.ir.code import Code
from s2sad.runtime.classes import is_of_library, module_of
from s2sad.runtime.objects import record, remember

#: How much is done for a whole program, and for one of its functions, before it is taken to touch anything.
MOST_OF_ALL, MOST = 200_000, 100_000

Shapes = Mapping[Any, Shape | None]


@dataclass(frozen=True)
class Touched:
    """What a program does to objects that it has not made.

    Attributes:
        written: The names of the attributes that it may set or delete.
        read: The names of those that functions which run as they stand may read.
        containers: The identities of the lists and dicts of modules into which it may write; None where it may be any.
        guards: The functions on which that rests.
    """

    written: frozenset[str]
    read: frozenset[str]
    containers: frozenset[int] | None
    guards: tuple[Guard, ...]


class Calls:
    """The shapes of the arguments that the functions of a program are called with.

    Args:
        function: The function with which the program begins.
    """

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function

    @functools.cached_property
    def _contexts(self) -> dict[Code, list[Shapes]]:
        program = Program(code_of, trusted=is_trusted, effort=Effort(MOST_OF_ALL))
        known = program.function(self.function)
        if known is None:
            return {}
        try:
            program.context(known, dict.fromkeys(range(len(known.code.params)), PLAIN))
        except (TooMuch, RecursionError):
            return {}
        found: dict[Code, list[Shapes]] = {}
        for context in program.contexts.values():
            found.setdefault(context.function.code, []).append(context.activation.shapes)
        return found

    def touched(
        self, function: types.FunctionType, source: Source, own: Collection[types.FunctionType] = ()
    ) -> Touched | None:
        """What a function of the program touches after it has been specialised; None if that is not known.

        Args:
            function: The function as it is written.
            source: The source of what has been made of it.
            own: The functions that have been made for it.
        """
        code = code_of(function)
        shapes = self._contexts.get(code, []) if code is not None else []
        if not shapes or any(shape == Shape() for each in shapes for shape in each.values()):
            return None
        return _touched(source, own, shapes)


def _touched(source: Source, own: Collection[types.FunctionType], shapes: Collection[Shapes]) -> Touched | None:
    made = lower_function(source.node)

    def find(function: types.FunctionType) -> Code | None:
        return made if function is source.function else code_of(function)

    # What is remembered is set by the program itself, and known to whoever has specialised it.
    silent = frozenset((id(remember), id(record)))
    program = Program(find, trusted=is_trusted, silent=silent, effort=Effort(MOST))
    known = program.function(source.function)
    assert known is not None
    try:
        contexts = [program.context(known, each) for each in shapes]
    except (TooMuch, RecursionError):
        return None
    if any(context.summary.is_open for context in contexts):
        return None
    codes = {made, *(code_of(function) for function in own)}
    others = [context for context in program.contexts.values() if context.function.code not in codes]
    written = frozenset(_attributes(location for context in contexts for location in context.summary.mod))
    read = frozenset(_attributes(location for context in others for location in _read(context)))
    if ANY in written or ANY in read or any(ANY in _attributes(_read(c)) for c in program.contexts.values()):
        return None
    changed = [o for context in contexts for o, field in context.summary.mod if _is_item(o, field) and o.is_input]
    known_ones = all(o.kind in ("global", "param") for o in changed)
    containers = frozenset(id(o.value) for o in changed if o.kind == "global") if known_ones else None
    return Touched(written, read, containers, tuple(_guards(program)))


def _read(context: Context) -> Iterator[Location]:
    for effect in context.activation.effects.values():
        yield from effect.ref


def _attributes(locations: Iterator[Location]) -> Iterator[str]:
    """The names of those locations that are attributes of objects which existed before."""
    for o, field in locations:
        is_plain = o.cls in (ARRAY, types.CellType) or (field == ANY and o.cls is Plain)
        if o.is_input and not is_plain and not _is_item(o, field):
            yield field


def _is_item(o: Object, field: str) -> bool:
    return field.startswith("[") or (field == KEYS and o.cls in CONTAINERS)


def _guards(program: Program) -> Iterator[Guard]:
    """That the functions which run as they stand are the same still."""
    for (space, name), value in program.looked_up.items():
        if type(value) is types.FunctionType and not is_of_library(module_of(value)):
            yield Guard(program.known[space].value, name, value)
