"""Resolve names through a function's real closure, globals and builtins."""

from __future__ import annotations

import abc
import builtins
import dis
import functools
import types
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.frontend.trees import nodes_of
from s2sad.runtime.classes import INDEX_MAKERS, functions_in, makes_attribute, member, own_class
from s2sad.runtime.contents import attributes_of, cells_of, is_disguised, items_of
from s2sad.runtime.reached import classes_held, classes_of_object

#: What stands for the value of a name that has none.
MISSING = object()
_UFUNC = np.ufunc
#: How many items of a container are looked at.
_MOST_ITEMS = 64


@dataclass(frozen=True)
class Guard:
    """What a name meant at compile time; :meth:`holds` tells whether it still does.

    ``expected`` is compared by identity where the name stands for a module or callable, and
    through ``probe`` (a function of the value) where only a fact about the value was used.  With ``by_kind`` that
    depends on nothing of an array but its shape and dtype.
    """

    space: Any
    name: str
    expected: Any
    probe: Callable[[Any], Any] | None = None
    by_kind: bool = False

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells guards apart; functions that are made in one place count as one."""
        return id(self.space), self.name, getattr(self.probe, "__code__", self.probe)

    def current(self) -> Any:
        if isinstance(self.space, types.CellType):
            try:
                return self.space.cell_contents
            except ValueError:
                return MISSING
        if isinstance(self.space, dict):
            value = self.space.get(self.name, MISSING)
            return getattr(builtins, self.name, MISSING) if value is MISSING else value
        return getattr(self.space, self.name, MISSING)

    def holds(self) -> bool:
        """Whether the name still means what it did."""
        return self.holds_for(self.current())

    def holds_for(self, value: Any) -> bool:
        """Whether ``value``, to which the name is bound now, is what it meant."""
        if self.probe is None:
            return value is self.expected
        return value is not MISSING and is_same(self.probe(value), self.expected)


class Emitting(abc.ABC):
    """A derivative: an object with a text of its own, which may be differentiated itself."""

    @abc.abstractmethod
    def stand_in(self) -> Any:
        """The target of a call, with a function for which the derivative stands."""

    @abc.abstractmethod
    def emitted(self) -> tuple[types.FunctionType, Sequence[Guard]] | None:
        """What runs for arguments of any kind, and on what it rests; None if there is no one function."""


def is_jitted(function: Any) -> bool:
    """Whether an object is a function that Numba compiles when it is called; its ``py_func`` is what it compiles."""
    return any(c.__name__ == "Dispatcher" and c.__module__ == "numba.core.dispatcher" for c in type(function).__mro__)


@dataclass(frozen=True)
class Member:
    """A method or attribute of an object of the user's: its name says nothing about what it does.

    ``functions`` are those that run, ``classes`` the user's classes of which it, or what it holds, may be; None where
    that is not known.
    """

    functions: tuple[types.FunctionType, ...] | None
    classes: frozenset[type] | None = None


def is_same(found: Any, expected: Any) -> bool:
    """Whether two values are equal; arrays among them are if all their numbers are."""
    if found is expected:
        return True
    if isinstance(found, np.ndarray) and type(found) is type(expected):
        return found.dtype == expected.dtype and np.array_equal(found, expected)
    try:
        return bool(found == expected)
    except ValueError:
        # There are arrays in what is compared.
        pass
    if type(found) is not type(expected):
        return False
    if isinstance(found, dict) and list(dict.keys(found)) != list(dict.keys(expected)):
        return False
    one, two = items_of(found), items_of(expected)
    return isinstance(found, (list, tuple, dict)) and len(one) == len(two) and all(map(is_same, one, two))


def _is_library(space: Any) -> bool:
    """Whether a namespace is a module of NumPy, SciPy or Python itself, whose functions stay what they are."""
    name = getattr(space, "__name__", "") if isinstance(space, types.ModuleType) else ""
    return name.partition(".")[0] in ("numpy", "scipy", "math", "builtins")


def _may_change(space: Any) -> bool:
    """Whether a namespace may give a name another function, as modules and classes of the user's may."""
    if isinstance(space, type):
        return own_class(space) is not None
    return not (isinstance(space, _UFUNC) or ops.has_methods(space) or _is_library(space))


def _itself(value: Any) -> Any:
    return value


def _has_arrays(value: Any, depth: int = 3) -> bool:
    """Whether a value is an array, or a container or module of one's own with arrays."""
    if is_disguised(value):
        return False
    if isinstance(value, types.ModuleType):
        value = () if _is_library(value) else vars(value)
    held = items_of(value)
    return isinstance(value, np.ndarray) or (depth > 0 and any(_has_arrays(v, depth - 1) for v in held))


def is_rebound(name: str, value: Any, namespace: Mapping[str, Any], around: Sequence[Any] = ()) -> bool:
    """Whether a function of a module, or one ``around``, gives a variable another value than the present one."""
    if callable(value) or issubclass(type(value), types.ModuleType):
        return False
    functions = [f for f in _functions_in([*namespace.values(), *around]) if f.__globals__ is namespace]
    return any(_binds(f.__code__, name) for f in functions)


def _functions_in(values: Sequence[Any]) -> Iterator[types.FunctionType]:
    """The functions among values, what they wrap, and the methods of the classes among them."""
    for value in values:
        if is_disguised(value):
            continue
        if isinstance(value, types.FunctionType):
            yield value
        wrapped = attributes_of(value).get("__wrapped__") if not isinstance(value, types.ModuleType) else None
        if wrapped is not None:
            yield from _functions_in([wrapped])
        if isinstance(value, type):
            yield from _functions_in([f for f in vars(value).values() if isinstance(f, types.FunctionType)])


def _binds(code: types.CodeType, name: str) -> bool:
    """Whether running ``code``, or a function inside of it, may bind ``name`` outside of it."""
    if (name in code.co_names or name in code.co_freevars) and name in _bound(code):
        return True
    return any(_binds(inner, name) for inner in code.co_consts if isinstance(inner, types.CodeType))


@functools.lru_cache(2000)
def _bound(code: types.CodeType) -> frozenset[str]:
    """The names outside of a function that its own code binds."""
    found = set()
    for instruction in dis.get_instructions(code):
        in_cell = instruction.opname == "STORE_DEREF" and instruction.argval in code.co_freevars
        if in_cell or instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            found.add(instruction.argval)
    return frozenset(found)


def _classes_in(value: Any, depth: int = 3) -> frozenset[type]:
    """The classes of the user's of an object and of what it holds."""
    if depth < 0 or is_disguised(value) or isinstance(value, (types.ModuleType, types.FunctionType)):
        return frozenset()
    cls = own_class(value)
    if isinstance(value, type) and own_class(type(value)) is not None:
        return frozenset((value, type(value)))
    inner = [_classes_in(v, depth - 1) for v in items_of(value)[:_MOST_ITEMS]]
    return frozenset(() if cls is None else (cls,)).union(*inner)


def classes_of(node: Any, lookup: Callable[[Any], tuple[bool, Any]]) -> frozenset[type]:
    """The classes of the user's of which the value of an expression, or what it was made of, may be or hold objects."""
    found: set[type] = set()
    for name in (node,) if isinstance(node, gast.Name) else nodes_of(node):
        if isinstance(name, gast.Name):
            there, value = lookup(name)
            found |= _classes_in(value) if there else (value or frozenset())
    return frozenset(found)


class Resolver:
    """Looks names up as the function would, and remembers on what the answers rest."""

    def __init__(
        self,
        function: types.FunctionType,
        local: frozenset[str],
        aliases: Mapping[str, Any] | None = None,
        owners: Mapping[str, frozenset[type]] | None = None,
    ) -> None:
        self.local = local
        #: The classes of the user's of which the objects of local names, and of their attributes, may be, or hold;
        #: those of all that ``s`` holds are at ``s.``.
        self.owners = dict(owners or {})
        self.aliases = aliases or {}
        self.globals = function.__globals__
        self.file = function.__code__.co_filename
        self.cells = cells_of(function)
        self.guards: dict[tuple[Any, ...], Guard] = {}
        self.rebound: dict[str, bool] = {}
        #: The functions, classes and modules by names that are not local, and by attributes of modules and classes,
        #: which mean the same while it is compiled; with the object that has the name, which keeps its identity.
        self.known: dict[str | tuple[int, str], tuple[Any, tuple[bool, Any]]] = {}

    def lookup(self, node: Any) -> tuple[bool, Any]:
        """Whether ``node`` (a name or a dotted name of modules) has a value now, and the value.

        The answer rests on a guard by identity for modules, classes and callables.  Without a value the second item
        says what is known: of a local name the classes of the user's of which its object may be or hold others, of an
        attribute the `Member` that it may be, or those classes, of an item of an object those of what it holds; else
        None.
        """
        if isinstance(node, gast.Name):
            if node.id in self.local:
                target = self.aliases.get(node.id)
                found, value = (False, None) if target is None else self.lookup(target)
                is_one = found and (callable(value) or makes_of_index(value))
                return (True, value) if is_one else (False, self.owners.get(node.id))
            if node.id in self.known:
                return self.known[node.id][1]
            space: Any = self.cells.get(node.id, self.globals)
            guard = Guard(space, node.id, None)
            value = guard.current()
            key: str | tuple[int, str] = node.id
            name = node.id
        elif isinstance(node, gast.Attribute):
            found, owner = self.lookup(node.value)
            key = id(owner), node.attr
            if found and key in self.known:
                return self.known[key][1]
            methods = found and ops.has_methods(owner) and ops.spec_of(getattr(owner, node.attr, None)) is not None
            if not found or not (isinstance(owner, (types.ModuleType, type, _UFUNC)) or methods):
                known, reached = self.member(node), self.reached(node)
                return False, reached if known is None else replace(known, classes=reached)
            space, name = owner, node.attr
            value = getattr(owner, name, MISSING)
        else:
            return False, self.held(node.value) if isinstance(node, gast.Subscript) else None
        answer = self.meaning(space, name, value)
        if callable(answer[1]) or isinstance(answer[1], types.ModuleType):
            self.known[key] = space, answer
        return answer

    def meaning(self, space: Any, name: str, value: Any) -> tuple[bool, Any]:
        """What the value of a name in some space is to a program, guarded; see `lookup`."""
        if value is MISSING or is_disguised(value):
            return False, None
        if (callable(value) or isinstance(value, types.ModuleType)) and _may_change(space):
            # A class makes the same bound method anew each time.
            self.guard(Guard(space, name, value, _itself if isinstance(value, types.MethodType) else None))
        if is_jitted(value):
            value = value.py_func
        made = value.emitted() if isinstance(value, Emitting) else None
        if made is not None:
            value, guards = made
            for guard in guards:
                self.guard(guard)
        return True, value

    def guard(self, guard: Guard) -> None:
        """Note what the answers rest on."""
        self.guards.setdefault(guard.key, guard)

    def is_absent(self, node: Any) -> bool:
        """Whether a global name, or one of a module, has no value, which is guarded.

        A call of it raises before its arguments are evaluated.
        """
        if isinstance(node, gast.Name) and node.id not in self.local:
            guard = Guard(self.cells.get(node.id, self.globals), node.id, MISSING)
        elif isinstance(node, gast.Attribute) and isinstance(module := self.lookup(node.value)[1], types.ModuleType):
            guard = Guard(module, node.attr, MISSING)
        else:
            return False
        if guard.holds():
            self.guard(guard)
        return guard.holds()

    def member(self, node: Any) -> Member | None:
        """What an attribute of an object may be other than that of a built-in class; None for nothing else."""
        functions: list[types.FunctionType] = []
        named = isinstance(node.value, gast.Name)
        found, value = self.lookup(node.value)
        if found and isinstance(value, types.FunctionType):
            return Member(None)
        owner = own_class(value) if found else None
        classes = classes_of(node.value, self.lookup) if owner is None else {owner}
        for cls in sorted(classes, key=lambda c: c.__qualname__):
            built_in, what = member(cls, node.attr)
            if built_in or (not named and what is None):
                continue
            inside = functions_in(what) if what is not None and named else None
            if inside is None:
                return Member(None)
            functions += inside
        return Member(tuple(functions)) if functions else None

    def reached(self, node: Any) -> frozenset[type] | None:
        """The classes of the user's of which an attribute of an object may be; None if not known."""
        path = dotted(node)
        if path is None:
            whole = node.value.value if isinstance(node.value, gast.Subscript) else None
            is_container = isinstance(whole, gast.Name) and self.lookup(whole) == (False, frozenset())
            return self.owners.get(f"{whole.id}.[].{node.attr}") if is_container and whole is not None else None
        root = path.partition(".")[0]
        if root in self.local:
            if any(makes_attribute(cls, node.attr, path in self.owners) for cls in self.owners.get(root, ())):
                return None
            return self.owners.get(path, self.owners.get(f"{root}.") if path == f"{root}.{node.attr}" else None)
        found, owner = self.lookup(node.value)
        own = attributes_of(owner) if found else {}
        if node.attr not in own:
            return None
        return self.classes_by(classes_of_object, owner, node.attr)

    def held(self, node: Any) -> frozenset[type] | None:
        """The classes of the user's of which what an object holds may be; None if not known."""
        path = dotted(node)
        if path is None or path.partition(".")[0] in self.local:
            return self.owners.get(f"{path}.")
        found, owner = self.lookup(node.value) if isinstance(node, gast.Attribute) else (False, None)
        own = attributes_of(owner) if found else {}
        return self.classes_by(classes_held, owner, node.attr) if found and node.attr in own else None

    def classes_by(self, look: Callable[[Any], frozenset[type]], owner: Any, name: str) -> frozenset[type]:
        """What ``look`` finds of an attribute of an object, which is guarded."""
        expected = look(vars(owner)[name])
        self.guard(Guard(owner, name, expected, look))
        return expected

    def is_plain(self, node: Any) -> bool:
        """Whether subscripting an object does no more than pick an item of it."""
        found, value = self.lookup(node)
        return not found or isinstance(value, (list, tuple, dict, str, bytes, range, np.ndarray))

    def holds_arrays(self, name: str, node: Any) -> bool:
        """Whether a variable of the module that ``node`` reads is an array or holds some now; of a module, what is
        read of it there."""
        found, value = self.lookup(gast.Name(id=name, ctx=gast.Load(), annotation=None, type_comment=None))
        if not (found and isinstance(value, types.ModuleType)):
            return found and _has_arrays(value)
        return any(_has_arrays(v) for v in self.read_of(name, node) if not isinstance(v, types.ModuleType))

    def read_of(self, name: str, node: Any) -> Iterator[Any]:
        """The values of the dotted names in ``node`` that begin with ``name``."""
        for inner in nodes_of(node):
            root = inner
            while isinstance(root, gast.Attribute):
                root = root.value
            if root is not inner and isinstance(root, gast.Name) and root.id == name and self.lookup(inner)[0]:
                yield self.lookup(inner)[1]

    def is_rebound(self, name: str) -> bool:
        """Whether a function that is known around here gives a variable of the module or closure another value."""
        if name not in self.rebound:
            around = [Guard(cell, n, None).current() for n, cell in self.cells.items()] if name in self.cells else []
            found, value = self.lookup(gast.Name(id=name, ctx=gast.Load(), annotation=None, type_comment=None))
            self.rebound[name] = found and is_rebound(name, value, self.globals, around)
        return self.rebound[name]

    def counts(self, text: str) -> bool:
        """Whether a variable, of this dotted name, is a list or dict of numbers and texts alone."""
        _, value = self.lookup(gast.parse(text, mode="eval").body)
        held = items_of(value) if isinstance(value, (list, dict)) else [value]
        return all(issubclass(type(v), (int, float, complex, str)) for v in held)

    def is_array(self, text: str) -> bool:
        """Whether a variable, of this dotted name, is an array now."""
        return isinstance(self.lookup(gast.parse(text, mode="eval").body)[1], np.ndarray)

    def text(self, node: Any) -> str:
        """A called name as emitted code writes it: a local alias stands for what it was set to."""
        if isinstance(node, gast.Name) and node.id in self.local and self.lookup(node)[0]:
            return self.text(self.aliases[node.id])
        if isinstance(node, gast.Attribute) and isinstance(node.value, (gast.Name, gast.Attribute)):
            return f"{self.text(node.value)}.{node.attr}"
        return str(gast.unparse(node)).strip()

    def fact(self, node: Any, probe: Callable[[Any], Any], by_kind: bool = False) -> Any:
        """A fact about the present value of a global name, guarded; None where there is no value.

        With ``by_kind`` it depends on nothing of an array but its shape and dtype.
        """
        found, value = self.lookup(node)
        if not found:
            return None
        expected = probe(value)
        if isinstance(node, gast.Name):
            space: Any = self.cells.get(node.id, self.globals)
            name = node.id
        else:
            space, name = self.lookup(node.value)[1], node.attr
        self.guard(Guard(space, name, expected, probe, by_kind))
        return expected


def makes_of_index(value: Any) -> bool:
    """Whether subscripting an object of NumPy's makes something of the index: ``np.r_``, ``np.mgrid``."""
    return isinstance(value, INDEX_MAKERS)


def aliases(body: Sequence[Any], params: Sequence[tuple[str, bool]]) -> dict[str, Any]:
    """The local names that stand for one function throughout: ``g = np.sin`` at the top of a body.

    Such a name is bound once, by a plain assignment of a name or dotted name that is no branch's or
    loop's, and read only after it.  Whether what is assigned is a function is :class:`Resolver`'s question.
    """
    found: dict[str, Any] = {}
    bound = Counter(name for name, _ in params)
    early: set[str] = set()
    for s in body:
        names = [node for node in nodes_of(s) if isinstance(node, gast.Name)]
        early.update(n.id for n in names if isinstance(n.ctx, gast.Load) and n.id not in found)
        bound.update(n.id for n in names if not isinstance(n.ctx, gast.Load))
        if isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name):
            if dotted(s.value) is not None:
                found[s.targets[0].id] = s.value
    return {name: value for name, value in found.items() if bound[name] == 1 and name not in early}


def dotted(node: Any) -> str | None:
    """The text of a name or of an attribute of one; None for any other expression."""
    names = []
    while isinstance(node, gast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, gast.Name) else None
