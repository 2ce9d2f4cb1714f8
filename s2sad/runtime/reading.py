"""What functions read beside their arguments, as far as the names tell that are mentioned in them.

A function may call each function, and use each class, that it mentions by a name: of its module, of a function around
it, or, as an attribute, of a module that it mentions.  Functions of libraries are taken to read nothing.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from s2sad.runtime.classes import is_of_library, own_class
from s2sad.runtime.contents import cells_of, is_disguised
from s2sad.runtime.copies import Reach, hold_mutable, is_followed
from s2sad.runtime.parts import ATOMS, led_to

#: What reads attributes or variables of which the name is not written there.
_ANY = frozenset(("getattr", "vars", "__dict__", "globals", "eval", "exec", "attrgetter", "methodcaller"))
#: The instructions that read attributes, the names that are imported from a module among them.
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER", "IMPORT_FROM")
#: What is around functions, and where it has them.
_AROUND = (
    *(types.FunctionType, types.MethodType, staticmethod, classmethod, property, functools.partial),
    *(functools.cached_property, functools.partialmethod, functools.singledispatchmethod, functools._lru_cache_wrapper),
)
_INSIDE = ("__func__", "fget", "fset", "fdel", "func", "__wrapped__")


class Mentioned(NamedTuple):
    """The names that a function and those inside of it mention: variables, attributes, imported modules."""

    variables: tuple[str, ...]
    attributes: tuple[str, ...]
    imported: tuple[str, ...]


@functools.lru_cache(maxsize=1 << 16)
def mentioned(code: types.CodeType) -> Mentioned:
    """The names that a function mentions, and those inside of it.

    Example:
        >>> def f(x):
        ...     return [scale(np.sin(y)) for y in x]
        >>> mentioned(f.__code__)
        Mentioned(variables=('scale', 'np'), attributes=('sin',), imported=())
    """
    variables, attributes, imported = list(code.co_freevars), list[str](), list[str]()
    for i in dis.get_instructions(code):
        if i.opname == "IMPORT_NAME":
            imported.append(i.argval)
        elif i.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            variables.append(i.argval)
        elif isinstance(i.argval, str) and i.opname.startswith(_ATTRIBUTES):
            attributes.append(i.argval)
    own = {*code.co_varnames, *code.co_cellvars}
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found = mentioned(inner)
            variables += [name for name in found.variables if name not in own]
            attributes += found.attributes
            imported += found.imported
    return Mentioned(*(tuple(dict.fromkeys(names)) for names in (variables, attributes, imported)))


def variables_of(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables of the module and of functions around that a function mentions, with their values.

    Of one that is not what it says it is nothing is known, but for what stands for another object.
    """
    space = function.__globals__
    cells = cells_of(function)
    for name in mentioned(function.__code__).variables:
        try:
            value = cells[name].cell_contents if name in cells else space[name]
        except (KeyError, ValueError):
            continue
        if not is_disguised(value) or led_to(value):
            yield name, value


def read_of(module: types.ModuleType, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The variables of a module of the user's that are among ``names``; all, where names may be put together."""
    if not is_of_library(module.__name__):
        space = vars(module)
        every = not _ANY.isdisjoint(names)
        yield from [(name, space[name]) for name in (list(space) if every else names) if name in space]


class Reading:
    """What the functions read that some objects lead to, each with the name of who reads it, as it is found."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self._roots = roots
        self._found: list[tuple[str, Any]] = []
        self._attributes: dict[str, None] = {}
        self._modules: dict[int, types.ModuleType] = {}
        # The objects are kept here, so that none gets the identity of another.
        self._read: dict[int, Any] = {}
        self._seen: dict[int, Any] = {}
        self._functions: dict[int, types.FunctionType | types.GeneratorType[Any, Any, Any]] = {}
        self._classes: dict[int, type] = {}
        self._pending: list[types.FunctionType | types.GeneratorType[Any, Any, Any]] = []

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for x in self._roots:
            self._value(x, "")
        yield from self._taken()
        while self._pending:
            while self._pending:
                self._function(self._pending.pop())
                yield from self._taken()
            for module in list(self._modules.values()):
                for _, value in read_of(module, self._attributes):
                    self._value(value, module.__name__)
                yield from self._taken()

    def _taken(self) -> list[tuple[str, Any]]:
        """What was found since this was asked last."""
        found, self._found = self._found, []
        return found

    def _function(self, function: types.FunctionType | types.GeneratorType[Any, Any, Any]) -> None:
        """Take in what a function reads, or a generator that has not ended."""
        if isinstance(function, types.FunctionType):
            code, space = function.__code__, function.__globals__
        elif function.gi_frame is not None:
            code, space = function.gi_code, function.gi_frame.f_globals
        else:
            return
        if is_of_library(str(space.get("__name__", ""))):
            return
        names = mentioned(code)
        self._attributes.update(dict.fromkeys((*names.attributes, *_ANY.intersection(names.variables))))
        values = list(space.values()) if "globals" in names.variables else []
        values += [sys.modules.get(name) for name in names.imported]
        if isinstance(function, types.FunctionType):
            values += [value for _, value in variables_of(function)]
            values += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
            # What is compiled for a function is kept there too.
            values += [value for name, value in vars(function).items() if not name.startswith("__s2sad")]
        else:
            values += [space[name] for name in names.variables if name in space]
        for value in values:
            self._value(value, function.__qualname__)

    def _value(self, x: Any, reader: str) -> None:
        """Take in an object with what it holds; without a ``reader``, one that no function reads."""
        if type(x) in ATOMS or issubclass(type(x), np.generic):
            return
        leads = bool(led_to(x))
        if is_disguised(x) and not leads:
            return
        if reader and (leads or is_followed(x)) and id(x) not in self._read:
            self._read[id(x)] = x
            self._found.append((reader, x))
        if id(x) in self._seen:
            return
        self._seen[id(x)] = x
        if type(x) is np.ndarray and not x.dtype.hasobject:
            return
        reach = Reach([x], led_to)
        for y in reach.outside:
            self._outside(y)
        for y in reach.objects.values():
            if is_disguised(y):
                continue
            if isinstance(y, types.MethodType):
                self._outside(y.__func__)
            elif isinstance(y, types.GeneratorType):
                self._take(y)
            elif (cls := own_class(y)) is not None:
                self._class(cls)

    def _outside(self, x: Any) -> None:
        """Take in what is no container or plain object."""
        if is_disguised(x):
            return
        if isinstance(x, types.ModuleType):
            self._modules[id(x)] = x
        elif isinstance(x, type):
            self._class(x)
        else:
            for function in _functions(x):
                self._take(function)

    def _take(self, function: types.FunctionType | types.GeneratorType[Any, Any, Any]) -> None:
        """Note a function to be read, once."""
        if id(function) not in self._functions:
            self._functions[id(function)] = function
            self._pending.append(function)

    def _class(self, cls: type) -> None:
        """Take in the members of a class of the user's."""
        for base in (*cls.__mro__, *inspect.getmro(type(cls))):
            if id(base) not in self._classes and own_class(base) is not None:
                self._classes[id(base)] = base
                for value in list(vars(base).values()):
                    self._outside(value)
                    if not isinstance(value, types.FunctionType):
                        self._value(value, base.__qualname__)


def _functions(x: Any) -> Iterator[types.FunctionType]:
    """The functions of a value or member of a class: itself, and what it is around."""
    if isinstance(x, types.FunctionType):
        yield x
    for name in _INSIDE if isinstance(x, _AROUND) else ():
        inner = getattr(x, name, None)
        if inner is not None and inner is not x:
            yield from _functions(inner)


def can_change(value: Any) -> bool:
    """Whether a value is or holds what can change, or leads to it by functions."""
    if type(value) in ATOMS:
        return False
    # What it holds is asked first: what functions read may be much more.
    return hold_mutable([value], led_to) or any(hold_mutable([x], led_to) for _, x in Reading([value]))
