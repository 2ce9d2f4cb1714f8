"""Which attributes no function that a program may call sets, or reads.

By the effects of the program, where all that runs is known; else by the names that bytecode mentions.
"""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from s2sad.frontend.resolve import Guard
from s2sad.frontend.touched import Touched
from s2sad.runtime.classes import LEAVES, inside, is_of_library, is_taken_at_its_word, module_of, own_class
from s2sad.runtime.contents import attributes_of, cells_of, items_of

#: What may set an attribute whose name is not written there.
_ANY = frozenset(("setattr", "delattr", "__setattr__", "__delattr__", "__dict__", "vars", "exec", "eval"))
#: What shows an object, and by which names and operations; ``FORMAT_VALUE`` is that of f-strings.
_SHOWING = ("__repr__", "__str__", "__format__")
_SHOWN = frozenset(("print", "str", "repr", "format", "ascii"))
_CONTAINERS = (list, tuple, set, frozenset, dict)
_READS = frozenset(("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"))
#: What runs where an object is made.
_MAKING = frozenset(("__init__", "__new__", "__post_init__"))
#: What stands behind the name of an attribute that is set.
_SET = "="
#: What stands for a call of an object.
_CALL = "()"
_WRITES = frozenset(("STORE_ATTR", "DELETE_ATTR"))


class Steady:
    """What a new program may run as it stands.

    ``direct`` says which attributes it touches, where all that it runs is known.  Else it is found by names.
    Every function of the modules around that has a name that is mentioned counts as called.  So does every special
    method, but for those that are called to show an object, as long as nothing is shown, to make one, as long as its
    class is not mentioned, and to call it, as long as the program calls nothing that is not known (``calls_unknown``).

    Nothing is looked at before the first question.  What has been found waits in two lists, since chains of objects may
    be longer than Python's limit of recursion.
    """

    def __init__(
        self,
        program: Iterable[types.FunctionType],
        calls_unknown: bool = True,
        direct: Callable[[], Touched | None] = lambda: None,
    ) -> None:
        self.direct = direct
        self.calls_unknown = calls_unknown
        self.mentioned: set[str] = set()
        self.written: set[str] = set()
        self.known: dict[str, list[types.FunctionType]] = {}
        self.waiting: dict[str, list[Any]] = {}
        self.seen: set[int] = set()
        self.pending: list[types.FunctionType] = []
        self.values: list[tuple[str, Any]] = []
        self.beyond: set[str] = set()
        if calls_unknown:
            self.mention((_CALL,))
        self.program = frozenset(map(id, (program := list(program))))
        for function in program:
            self.reach(function)

    @functools.cached_property
    def touched(self) -> Touched | None:
        """What is known without the names."""
        return self.direct()

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What the answers rest on."""
        return () if self.touched is None else self.touched.guards

    def changed(self, names: Collection[str]) -> Collection[str]:
        """Those of some names of attributes that a function may write, of objects that it has not made."""
        if not names:
            return names
        if self.touched is not None:
            return self.touched.written.intersection(names)
        self.scan_all()
        return names if "__class__" in self.written or self.mentioned & _ANY else self.written.intersection(names)

    def may_change(self, containers: Collection[int]) -> bool:
        """Whether a function may write into one of some lists and dicts, which are known by identity."""
        return (
            self.touched is None
            or self.touched.containers is None
            or not self.touched.containers.isdisjoint(containers)
        )

    def reads_kept(self) -> bool:
        """Whether something reads or changes a list or dict of the program's state but by what is taken apart."""
        return self.touched is None or self.touched.kept

    def reads_state(self) -> bool:
        """Whether something reads an array that the program reads at its start, and writes."""
        return self.touched is None or self.touched.state

    def reads(self, names: Collection[str]) -> bool:
        """Whether a function that runs as it stands, beside those of the new program, may read such an attribute."""
        if self.touched is not None:
            return self.touched.read is None or not self.touched.read.isdisjoint(names)
        if self.calls_unknown:
            return True
        self.scan_all()
        by_any_name = self.mentioned & (_ANY | {"getattr", "__getattribute__"})
        return bool(by_any_name or not self.beyond.isdisjoint(names))

    def scan_all(self) -> None:
        """Go through all values that have names, and all functions that may be called."""
        while self.values or self.pending:
            if self.values:
                self.look_at(*self.values.pop())
            else:
                self.scan(self.pending.pop())

    def reach(self, function: types.FunctionType) -> None:
        """A function that may be called."""
        if id(function) in self.seen or is_taken_at_its_word(module_of(function)):
            return
        self.seen.add(id(function))
        self.pending.append(function)

    def surroundings(self, function: types.FunctionType) -> None:
        """What a function can name: its module, and what it captures."""
        self.space(function.__globals__)
        for cell in function.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:
                continue
            self.value("", content)
            for inner in _functions(content):
                self.reach(inner)

    def cls(self, cls: type, name: str = "", made: bool = True) -> None:
        """A class of which objects may be used, and made under a name, or one of which has a name."""
        for base in cls.__mro__:
            if own_class(base) is None:
                continue
            for member in _MAKING & vars(base).keys():
                for function in _functions(vars(base)[member]):
                    for called in (*((name,) if made else ()), cls.__name__, _CALL):
                        self.function(called, function)
            for function in _functions(vars(base).get("__call__")):
                for called in (name, cls.__name__):
                    self.function(f"{called}{_CALL}", function)
            if id(base) in self.seen:
                continue
            self.seen.add(id(base))
            for title, member in vars(base).items():
                for function in _functions(member) if title not in _MAKING else ():
                    self.function(title, function)
                for function in _functions(member) if isinstance(member, property) else ():
                    self.function(f"{title}{_SET}", function)
            module = sys.modules.get(module_of(base))
            if module is not None:
                self.space(vars(module))

    def space(self, space: dict[str, Any]) -> None:
        """The names of a module.

        Of installed packages, and of containers, count those alone that something mentions: of what a program is given
        operators are known, or checked to be those of built-in classes.
        """
        if id(space) in self.seen:
            return
        self.seen.add(id(space))
        installed = is_of_library(str(space.get("__name__", "")))
        for name, value in list(space.items()):
            waits = installed or issubclass(type(value), _CONTAINERS) or _is_installed(value)
            if waits and name not in self.mentioned:
                self.waiting.setdefault(name, []).append(value)
            else:
                self.value(name, value)

    def value(self, name: str, value: Any) -> None:
        """A value that has a name, to be looked at."""
        if type(value) not in LEAVES or type(value) in (types.FunctionType, types.ModuleType):
            self.values.append((name, value))

    def look_at(self, name: str, value: Any) -> None:
        """The functions and classes of a value that has a name, by its type: a proxy runs code for ``__class__``."""
        kind = type(value)
        for function in _functions(value):
            self.function(name, function)
            self.function(function.__name__, function)
        if issubclass(kind, types.ModuleType):
            if not is_taken_at_its_word(value.__name__):
                self.space(vars(value))
        elif issubclass(kind, _CONTAINERS):
            self.items(value)
        elif kind is not types.FunctionType and (cls := own_class(value)) is not None:
            self.cls(cls, name, cls is value)
            if cls is not value and id(value) not in self.seen:
                self.seen.add(id(value))
                for part, content in list(attributes_of(value).items()):
                    self.value(part, content)

    def items(self, container: Any) -> None:
        """The items of a container, which are called by no names of theirs."""
        if id(container) in self.seen:
            return
        self.seen.add(id(container))
        for item in items_of(container):
            self.value("", item)
            for function in _functions(item):
                self.reach(function)

    def function(self, name: str, function: types.FunctionType) -> None:
        name = _CALL if name == "__call__" else name
        special = name[:2] == "__" and name[-2:] == "__" and name not in _SHOWING
        if special or name in self.mentioned:
            self.reach(function)
        else:
            self.known.setdefault(name, []).append(function)

    def mention(self, names: Iterable[str]) -> None:
        """Names that something which runs mentions."""
        for name in set(names) - self.mentioned:
            self.mentioned.add(name)
            for found in self.known.pop(name, ()):
                self.reach(found)
            for value in self.waiting.pop(name, ()):
                self.value(name, value)

    def own(self, function: types.FunctionType) -> frozenset[str]:
        """The names under which a function of the program calls others of it: these are no functions as they stand."""
        known = id(function) in self.program
        return frozenset([name for name, cell in cells_of(function).items() if known and self._is_own(cell)])

    def _is_own(self, cell: types.CellType) -> bool:
        try:
            return id(cell.cell_contents) in self.program
        except ValueError:
            return False

    def scan(self, function: types.FunctionType) -> None:
        """What a function mentions, reads and writes."""
        self.surroundings(function)
        own = self.own(function)
        for code in _codes(function.__code__):
            found = _names(code)
            self.mention({*code.co_names, *code.co_freevars} - found.stored_only - (own - set(code.co_names)))
            self.mention(f"{name}{_SET}" for name in found.stored)
            if id(function) not in self.program:
                self.beyond |= found.read
                if found.matches:
                    self.mention(("getattr",))
                self.mention(f"{name}{_CALL}" for name in (*code.co_names, *code.co_freevars))
                if found.calls_values:
                    self.mention((_CALL,))
            self.written |= found.written
            if found.shows:
                self.mention(_SHOWING)


@dataclass(frozen=True)
class _Names:
    """What the instructions of a code do to attributes, by name.

    ``stored`` are those that it sets or deletes, ``stored_only`` those that it does nothing else with, ``written``
    those that it sets on objects that it has not made, and ``read`` those that it reads.  It ``matches`` patterns of
    classes, ``calls_values`` that are no global names and no methods, or ``shows`` objects as text.
    """

    stored: frozenset[str]
    stored_only: frozenset[str]
    written: frozenset[str]
    read: frozenset[str]
    matches: bool
    calls_values: bool
    shows: bool


@functools.lru_cache(maxsize=1 << 15)
def _names(code: types.CodeType) -> _Names:
    instructions = list(dis.get_instructions(code))
    operations = {i.opname for i in instructions}
    stored = frozenset(i.argval for i in instructions if i.opname in _WRITES)
    other = {i.argval for i in instructions if isinstance(i.argval, str) and i.opname not in _WRITES}
    return _Names(
        stored,
        stored - other,
        frozenset(_written(code, instructions)),
        frozenset(i.argval for i in instructions if i.opname in _READS),
        "MATCH_CLASS" in operations,
        "PUSH_NULL" in operations,
        not _SHOWN.isdisjoint(code.co_names) or "FORMAT_VALUE" in operations,
    )


def _is_installed(value: Any) -> bool:
    """Whether a class or function, or the class of an object, is of an installed package."""
    kind = type(value)
    if issubclass(kind, types.ModuleType):
        return False
    return is_of_library(module_of(value if issubclass(kind, (type, types.FunctionType)) else kind))


def _functions(value: Any) -> Iterator[types.FunctionType]:
    """The functions of a member or value."""
    if type(value) in LEAVES and type(value) is not types.FunctionType:
        return
    parts = [inside(value, name) for name in ("__func__", "fget", "fset", "fdel", "func", "__wrapped__")]
    yield from (found for found in (value, *parts) if type(found) is types.FunctionType)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


def _written(code: types.CodeType, instructions: Iterable[dis.Instruction]) -> Iterator[str]:
    """The names of the attributes that a function writes, those of a new object in its ``__init__`` aside."""
    own = code.co_varnames[0] if code.co_name in ("__init__", "__post_init__") and code.co_argcount else ""
    before: Any = None
    for instruction in instructions:
        if instruction.opname in _WRITES:
            held = before if isinstance(before, tuple) else (before,)
            if not own or held[-1] != own:
                yield instruction.argval
        before = instruction.argval if instruction.opname.startswith("LOAD_FAST") else None
