"""Which attributes a program sets or reads on objects that exist, by the points-to analysis of all that it calls.

The arguments of the whole program are numbers, arrays, texts, and containers of such.  With what its functions are
called follows from there, so that one that has been specialised is analysed for these calls alone.
"""

from __future__ import annotations

import functools
import re
import types
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from s2sad import ops
from s2sad.effects.heap import Effort, Settled, TooMuch
from s2sad.effects.mod_ref import Context, Program
from s2sad.effects.objects import (
    ANY,
    ARRAY,
    CONTAINERS,
    ITEMS,
    KEYS,
    NOTHING,
    PLAIN,
    Location,
    Object,
    Plain,
    Shape,
)
from s2sad.frontend.lower_statements import lower_function
from s2sad.frontend.resolve import Guard
from s2sad.frontend.source import Source
from s2sad.frontend.state_reads import Path, is_array, is_harmless, is_read
from s2sad.frontend.summaries import code_of, is_trusted, shapes_of
from s2sad.ir.code import Code, inner
from s2sad.ir.types import Kind
from s2sad.runtime.classes import is_of_library, module_of, own_class
from s2sad.runtime.contents import contents_of, shown_by
from s2sad.runtime.copies import Reach
from s2sad.runtime.objects import record, remember

#: How much is done for a whole program, and for one of its functions, before it is taken to touch anything.
MOST_OF_ALL, MOST = 200_000, 100_000

Shapes = Mapping[Any, Shape | None]
T = TypeVar("T")
#: What gives a variable of a module another value, and what reads variables whose names are not written there.
_SETTING = ("store_global", "set_attribute")
ANY_VARIABLE = frozenset(("globals", "vars", "eval", "exec", "__import__"))
_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Touched:
    """What a program does to objects that it has not made.

    Attributes:
        written: The names of the attributes that it may set or delete.
        read: The names of those that functions which run as they stand may read; None where these may be any.
        containers: The identities of the lists and dicts of modules into which it may write; None where it may be any.
        state: Whether something reads the arrays and variables of the program's state but `state_of`.
        kept: Whether something but the new program at its start, and `record`, reads or changes what it takes apart, or
            records in.
        guards: The functions on which that rests.
    """

    written: frozenset[str]
    read: frozenset[str] | None
    containers: frozenset[int] | None
    state: bool
    kept: bool
    guards: tuple[Guard, ...]


@dataclass(frozen=True)
class State:
    """What exists and a program writes, and the codes that read it.

    Attributes:
        arrays: The arrays, lists and dicts, by identity, with their names.
        variables: The variables of modules and classes, by the identity of what has them and their names, with that.
        read: Those that the new program reads at its start as attributes.
        codes: Those that read or write one of these, or call one that does.
        containers: The lists and dicts that are taken apart, by identity, with the ways along which they are read.
        recorded: Those in which it records.
    """

    arrays: Mapping[int, tuple[str, Any]] = field(default_factory=dict)
    variables: Mapping[tuple[int, str], Any] = field(default_factory=dict)
    codes: frozenset[Code] = frozenset()
    read: frozenset[tuple[int, str]] = frozenset()
    containers: Mapping[int, Path] = field(default_factory=dict)
    recorded: Mapping[int, Path] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.arrays or self.variables)

    def is_read_by(self, function: types.FunctionType) -> bool:
        """Whether a function, or one that it calls, reads something of the state from a variable."""
        return bool(self.codes) and code_of(function) in self.codes


class Calls:
    """What the functions of a program are called with, and what it does besides each of them.

    Args:
        function: The function with which the program begins.
        is_whole: Whether no other program calls that.
        kinds: What its arguments are, as far as that is known.
    """

    def __init__(self, function: types.FunctionType, is_whole: bool, kinds: Mapping[str, Kind]) -> None:
        self.function, self.is_whole, self.kinds = function, is_whole, kinds

    def _analysed(self, program: Program) -> tuple[Program, Context] | None:
        known = program.function(self.function)
        if known is None:
            return None
        shapes = shapes_of(self.kinds)
        try:
            whole = program.context(known, {i: shapes.get(p.name, PLAIN) for i, p in enumerate(known.code.params)})
        except (TooMuch, RecursionError):
            return None
        return program, whole

    @functools.cached_property
    def _settled(self) -> tuple[Program, Context] | None:
        """The program, of which containers of constants are taken to stay such."""
        return self._analysed(_program(code_of, MOST_OF_ALL, settled=True))

    @functools.cached_property
    def _program(self) -> tuple[Program, Context] | None:
        """The program without assumptions."""
        if self._settled is None or not _settled_guards(self._settled[0]):
            # What is too much with assumptions is too much without.
            return self._settled
        return self._analysed(_program(code_of, MOST_OF_ALL))

    @functools.cached_property
    def state(self) -> State:
        """The arrays that exist, and the variables of modules, that the program writes."""
        if self._program is None or not self.is_whole:
            return State()
        program, _ = self._program
        contexts = program.contexts.values()
        written = {o for c in contexts for e in c.activation.effects.values() for o, _ in e.mod if is_array(o)}
        variables = _set_by(contexts)
        if not written and not variables:
            return State()
        # Of arrays that have one name those are first that the variables lead to first.
        found = {number: n for n, number in enumerate(Reach(list(program.looked_up.values())).objects)}
        ordered = sorted(written, key=lambda o: (o.name, found.get(id(o.value), len(found))))
        reading = [c for c in contexts if any(not written.isdisjoint(held) for held in c.activation.values.values())]
        reading += [c for c in contexts if any(key in variables for _, key, _ in _variables(c))]
        pending = list(reading)
        while pending:
            more = pending.pop().callers.difference(reading)
            reading += more
            pending += more
        arrays = {id(o.value): (_NAME.findall(f"state.{o.name}")[-1], o.value) for o in ordered}
        return State(arrays, variables, frozenset(c.function.code for c in reading))

    @functools.cached_property
    def kept(self) -> frozenset[Object]:
        """The lists and dicts of modules that the program changes."""
        return frozenset(o for o, name in self._modified if _is_item(o, name) and type(o.value) in (list, dict))

    @functools.cached_property
    def _unplaced(self) -> list[Object]:
        """Those of them that the program reads, and changes at places which only the run knows."""
        changed = {o for o, name in self._modified if name == ITEMS and o in self.kept}
        return sorted([o for o in changed if id(o.value) in self.read], key=lambda o: o.name)

    @property
    def holds(self) -> bool:
        """Whether the state may have lists and dicts."""
        return bool(self._unplaced)

    @functools.cached_property
    def held(self) -> State:
        """The state with lists and dicts that the program changes at places which only the run knows."""
        arrays = {id(o.value): (_NAME.findall(f"state.{o.name}")[-1], o.value) for o in self._unplaced}
        codes = self.state.codes | self.touching(self._unplaced)
        return replace(self.state, arrays={**self.state.arrays, **arrays}, codes=codes)

    @functools.cached_property
    def read(self) -> frozenset[int]:
        """The lists and dicts of modules that the program changes and reads, by identity."""
        contexts = self._program[0].contexts.values() if self._program is not None and self.kept else ()
        found = {o for c in contexts for e in c.activation.effects.values() for o, _ in e.ref}
        return frozenset(id(o.value) for o in found & self.kept)

    @functools.cached_property
    def changed(self) -> frozenset[Object]:
        """The objects of the user's classes that are found in modules, and of which the program sets attributes."""
        found = [o for o, name in self._modified if not _is_item(o, name) and not isinstance(o.value, type)]
        return frozenset(o for o in found if own_class(o.value) is not None)

    @functools.cached_property
    def _modified(self) -> frozenset[Location]:
        """What the program changes that is found in modules."""
        if self._program is None or not self.is_whole:
            return frozenset()
        effects = [e for c in self._program[0].contexts.values() for e in c.activation.effects.values()]
        return frozenset(location for e in effects for location in e.mod if location[0].kind == "global")

    def touching(self, some: Collection[Object]) -> frozenset[Code]:
        """The codes that read or change some objects, or call one that does."""
        contexts = self._program[0].contexts.values() if self._program is not None and some else ()
        effects = [(c, e) for c in contexts for e in c.activation.effects.values()]
        return frozenset(c.function.code for c, e in effects if any(o in some for o, _ in (*e.mod, *e.ref)))

    def touched(
        self,
        function: types.FunctionType,
        source: Source,
        own: Collection[types.FunctionType] = (),
        state: State | None = None,
    ) -> Touched | None:
        """What the program touches after one of its functions has been specialised; None if that is not known.

        That is what the function does then, and for one that is called by others what these do besides.

        Args:
            function: The function as it is written.
            source: The source of what has been made of it.
            own: The functions that have been made for it.
            state: The arrays that it reads at its start.
        """
        code = code_of(function)
        surely = self._settled if self._settled is not None and _stays(self._settled[0]) else self._program
        if surely is None or code is None:
            return None
        program, whole = surely
        shapes = [c.activation.shapes for c in program.contexts.values() if c.function.code is code]
        if not shapes or any(shape == Shape() for each in shapes for shape in each.values()):
            return None
        found = _touched(source, own, shapes, State() if state is None else state)
        if found is None:
            return None
        found = replace(found, guards=(*found.guards, *_settled_guards(program)))
        if not self.is_whole:
            found = replace(found, read=None)
        if function is self.function:
            return found
        besides = _touched_besides(whole, code)
        if besides is None:
            return None
        return Touched(
            found.written | besides.written,
            _union(found.read, besides.read),
            _union(found.containers, besides.containers),
            found.state,
            found.kept,
            found.guards,
        )


def _touched(
    source: Source, own: Collection[types.FunctionType], shapes: Collection[Shapes], state: State
) -> Touched | None:
    """What a function touches, and those that it calls; containers of constants stay such, if nothing writes there."""
    made = lower_function(source.node)

    def find(function: types.FunctionType) -> Code | None:
        return made if function is source.function else code_of(function)

    # What is remembered is set by the program itself, and known to whoever has specialised it.
    silent = frozenset((id(remember), id(record)))
    for settled in (True, False):
        program = _program(find, MOST, silent, settled)
        known = program.function(source.function)
        assert known is not None
        try:
            contexts = [program.context(known, each) for each in shapes]
        except (TooMuch, RecursionError):
            return None
        if not settled or _stays(program):
            break
    if any(context.summary.is_open for context in contexts):
        return None
    codes = {made, *(code_of(function) for function in own)}
    others = [context for context in program.contexts.values() if context.function.code not in codes]
    if any(ANY in _attributes(_read(c)) for c in program.contexts.values()):
        return None
    written = [location for context in contexts for location in context.summary.mod]
    guards = (*_guards(program), *_settled_guards(program))
    found = _named(written, [location for context in others for location in _read(context)], guards)
    contexts = list(program.contexts.values())
    if found is None:
        return None
    reads = bool(state.arrays) and is_read(contexts, state.arrays.keys())
    reads = reads or any(_has_variables(c, made, state) for c in contexts if state.variables)
    containers = {**state.containers, **state.recorded}
    along = made, frozenset(containers.values())
    kept = bool(containers) and is_read(contexts, containers, along, state.recorded)
    return replace(found, state=reads, kept=kept)


def _program(
    find: Callable[[types.FunctionType], Code | None],
    most: int,
    silent: frozenset[int] = frozenset(),
    settled: bool = False,
) -> Program:
    program = Program(find, trusted=is_trusted, silent=silent, effort=Effort(most), stands_for=ops.model_of)
    if settled:
        program.settled = Settled(program.looked_up)
    return program


def _stays(program: Program) -> bool:
    """Whether what the program takes to stay as it is does so."""
    if program.settled is None or not program.settled.roots:
        return True
    effects = [e for c in program.contexts.values() for e in c.activation.effects.values()]
    known = all("unknown" not in e.ordered for e in effects)
    return known and program.settled.stays(o for e in effects for o, _ in e.mod)


def _settled_guards(program: Program) -> tuple[Guard, ...]:
    """That the containers which it takes to stay as they are hold the same still."""
    roots = program.settled.roots.items() if program.settled is not None else ()
    return tuple([Guard(program.known[space].value, name, contents_of(v), contents_of) for (space, name), v in roots])


def _variables(context: Context) -> Iterator[tuple[str, tuple[int, str], Any]]:
    """What a function does to variables of modules and classes: how, each by its key, and what has it."""
    a, space = context.activation, context.function.module.value
    for op in inner(a.code.body):
        if op.kind in ("global", "store_global", "delete_global"):
            yield op.kind, (id(space), op.data), space
        elif "attribute" in op.kind:
            for o in a.of(op.operands[0]):
                if isinstance(o.value, types.ModuleType):
                    yield op.kind, (id(vars(o.value)), op.data), vars(o.value)
                elif isinstance(o.value, type) and op.kind in _SETTING:
                    yield op.kind, (id(o.value), op.data), o.value
                elif op.kind == "attribute" and isinstance(
                    cls := o.value if isinstance(o.value, type) else o.cls, type
                ):
                    base = owner_of(cls, op.data)
                    if base is not None:
                        yield op.kind, (id(base), op.data), base


def owner_of(cls: type, name: str) -> type | None:
    """The class that has what objects of a class find under a name, if they have nothing of their own there."""
    return next((base for base in cls.__mro__ if name in vars(base)), None)


def _set_by(contexts: Iterable[Context]) -> dict[tuple[int, str], Any]:
    """The variables of modules and classes that functions set; of a class those that it has already."""
    found = {key: space for c in contexts for kind, key, space in _variables(c) if kind in _SETTING}
    new = {name for (_, name), space in found.items() if isinstance(space, type) and name not in vars(space)}
    return {key: space for key, space in found.items() if not (isinstance(space, type) and key[1] in new)}


def _has_variables(context: Context, whole: Code, state: State) -> bool:
    """Whether a function reads or sets a variable of the state, or may do so by the module that has one.

    The new program itself reads each once, at its start: one of another module or of a class as an attribute.
    """
    a = context.activation
    used = Counter((kind, key) for kind, key, _ in _variables(context) if key in state.variables)
    for (kind, key), n in used.items():
        if a.code is not whole or (kind != "global" and (kind != "attribute" or n > (key in state.read))):
            return True
    if any(op.kind == "global" and op.data in ANY_VARIABLE for op in inner(a.code.body)):
        return True
    spaces, names = {number for number, _ in state.variables}, {name for _, name in state.variables}

    def has_one(o: Object) -> bool:
        return isinstance(o.value, types.ModuleType) and id(vars(o.value)) in spaces

    for op in inner(a.code.body):
        objects = {o for operand in op.operands for o in a.of(operand)}
        if op.kind == "attribute" and op.data in names and any(o.kind == "unknown" for o in objects):
            return True
        if op.kind == "attribute" and op.data == "__dict__" and any(isinstance(o.value, type) for o in objects):
            return True
        if op.kind == "call" and any(o.value is getattr for o in a.of(op.operands[0])):
            return True
        if "attribute" not in op.kind and any(map(has_one, objects)):
            if op.kind != "call" or not is_harmless(a, op, NOTHING):
                return True
    return False


def _touched_besides(whole: Context, code: Code) -> Touched | None:
    """What a program touches besides one of its functions; None if that is not known."""
    written: list[Location] = []
    read: list[Location] = []
    pending, seen = [whole], {whole}
    while pending:
        context = pending.pop()
        if context.function.code is code:
            continue
        for op, effect in context.activation.effects.items():
            if "unknown" in effect.ordered:
                return None
            pending += effect.contexts - seen
            seen |= effect.contexts
            if not (effect.contexts and op.kind == "call"):
                # What a call does, the function does that it calls.
                written += effect.mod
                read += effect.ref
    return _named(written, read, ())


def _named(written: Collection[Location], read: Collection[Location], guards: tuple[Guard, ...]) -> Touched | None:
    """What is written and read, by name."""
    names, others = frozenset(_attributes(written)), frozenset(_attributes(read))
    if ANY in names or ANY in others:
        return None
    changed = [o for o, field in written if _is_item(o, field) and o.is_input]
    known = all(o.kind in ("global", "param") for o in changed)
    containers = frozenset(id(shown_by(o.value)) for o in changed if o.kind == "global") if known else None
    return Touched(names, others, containers, False, False, guards)


def _union(some: frozenset[T] | None, others: frozenset[T] | None) -> frozenset[T] | None:
    """All of two sets; None, which stands for anything, if one is."""
    return None if some is None or others is None else some | others


def _read(context: Context) -> Iterator[Location]:
    for effect in context.activation.effects.values():
        yield from effect.ref


def _attributes(locations: Iterable[Location]) -> Iterator[str]:
    """The names of those locations that are attributes of objects which existed before."""
    for o, name in locations:
        is_plain = o.cls in (ARRAY, types.CellType) or (name == ANY and o.cls is Plain)
        if o.is_input and not is_plain and not _is_item(o, name):
            yield name


def _is_item(o: Object, field: str) -> bool:
    return field.startswith("[") or (field == KEYS and o.cls in CONTAINERS)


def _guards(program: Program) -> Iterator[Guard]:
    """That the functions which run as they stand are the same still."""
    for (space, name), value in program.looked_up.items():
        if type(value) is types.FunctionType and not is_of_library(module_of(value)):
            yield Guard(program.known[space].value, name, value)
