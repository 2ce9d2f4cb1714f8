"""Which attributes of objects nothing changes while a program runs, as far as its functions can be seen by name."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Iterator
from typing import Any

from s2sad.runtime.classes import module_of, own_class

#: What may set an attribute whose name is not written there.
_ANY = frozenset(("setattr", "delattr", "__setattr__", "__delattr__", "__dict__", "vars", "exec", "eval"))
_WRITES = frozenset(("STORE_ATTR", "DELETE_ATTR"))


class Steady:
    """The functions that a program may reach, by the names that they mention.

    Every function of the modules around that has a name that is mentioned counts as called, and every special method.
    """

    def __init__(self, function: types.FunctionType) -> None:
        self.mentioned: set[str] = set()
        self.written: set[str] = set()
        self.known: dict[str, list[types.FunctionType]] = {}
        self.seen: set[int] = set()
        self.pending: list[types.FunctionType] = []
        self.reach(function)

    def is_steady(self, name: str) -> bool:
        """Whether no function that may be reached writes an attribute of a name, or one whose name is not known."""
        while self.pending:
            self.scan(self.pending.pop())
        return self.written.isdisjoint((name, "__class__")) and not self.mentioned & _ANY

    def reach(self, function: types.FunctionType) -> None:
        """A function that may be called."""
        if id(function) in self.seen or is_library(module_of(function)):
            return
        self.seen.add(id(function))
        self.pending.append(function)
        self.space(function.__globals__)
        for cell in function.__closure__ or ():
            try:
                self.value("", cell.cell_contents)
            except ValueError:
                continue

    def cls(self, cls: type) -> None:
        """A class of which objects may be used."""
        for base in cls.__mro__:
            if own_class(base) is None or id(base) in self.seen:
                continue
            self.seen.add(id(base))
            for name, member in vars(base).items():
                for function in _functions(member):
                    self.function(name, function)
            module = sys.modules.get(module_of(base))
            if module is not None:
                self.space(vars(module))

    def space(self, space: dict[str, Any]) -> None:
        """The names of a module."""
        if id(space) in self.seen:
            return
        self.seen.add(id(space))
        for name, value in list(space.items()):
            self.value(name, value)

    def value(self, name: str, value: Any) -> None:
        for function in _functions(value):
            self.function(name, function)
            self.function(function.__name__, function)
        if isinstance(value, types.ModuleType):
            if not is_library(value.__name__):
                self.space(vars(value))
        elif not isinstance(value, types.FunctionType) and (cls := own_class(value)) is not None:
            self.cls(cls)

    def function(self, name: str, function: types.FunctionType) -> None:
        if name in self.mentioned or (name[:2] == "__" and name[-2:] == "__"):
            self.reach(function)
        else:
            self.known.setdefault(name, []).append(function)

    def scan(self, function: types.FunctionType) -> None:
        for code in _codes(function.__code__):
            for name in {*code.co_names, *code.co_freevars} - self.mentioned:
                self.mentioned.add(name)
                for found in self.known.pop(name, ()):
                    self.reach(found)
            self.written |= set(_written(code))


def is_library(name: str | None) -> bool:
    """Whether a module is a part of Python or of an installed package, by its name."""
    file = getattr(sys.modules.get(name or ""), "__file__", None) or ""
    package = (name or "").partition(".")[0]
    return package in (*sys.stdlib_module_names, "numpy", "scipy", "s2sad") or "-packages" in file


def _functions(value: Any) -> Iterator[types.FunctionType]:
    """The functions of a member or value."""
    inside = [getattr(value, name, None) for name in ("__func__", "fget", "fset", "fdel", "func", "__wrapped__")]
    yield from (found for found in (value, *inside) if isinstance(found, types.FunctionType))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


def _written(code: types.CodeType) -> Iterator[str]:
    """The names of the attributes that a function writes, those of a new object in its ``__init__`` aside."""
    own = code.co_varnames[0] if code.co_name in ("__init__", "__post_init__") and code.co_argcount else ""
    before: Any = None
    for instruction in dis.get_instructions(code):
        if instruction.opname in _WRITES:
            held = before if isinstance(before, tuple) else (before,)
            if not own or held[-1] != own:
                yield instruction.argval
        before = instruction.argval if instruction.opname.startswith("LOAD_FAST") else None
