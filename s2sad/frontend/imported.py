"""Imports inside functions.

What an import finds is known where the module has been imported, or is imported whenever the function runs: then the
name is a cell of the function, as if it stood outside, and the statement is gone.  Where it is not known (the import
is one of a branch, or may fail), it is a call of a function, whose result is an object of which nothing is known.

    if debug:                       if debug:
        from inspector import dump      dump = imported("inspector", "dump")
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2sad.frontend.recompile import function_of
from s2sad.frontend.resolve import Guard
from s2sad.frontend.source import Source
from s2sad.frontend.trees import nodes_of
from s2sad.runtime.imports import imported

Node = Any
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)


@dataclass(frozen=True)
class _Import:
    """One name that a statement imports: a ``module`` or its ``attribute``, once a module has been ``loaded``."""

    name: str
    module: str
    loaded: str
    attribute: str | None = None

    def found(self, sure: bool) -> tuple[bool, Any]:
        """Whether it is known what it finds, and that; what is ``sure`` to be imported is."""
        try:
            if sure:
                importlib.import_module(self.loaded)
            _, module = sys.modules[self.loaded], sys.modules[self.module]
            if self.attribute is None:
                return True, module
            if not hasattr(module, self.attribute) and sure:
                importlib.import_module(f"{self.module}.{self.attribute}")
            return True, getattr(module, self.attribute)
        except (ImportError, KeyError, AttributeError):
            return False, None

    def expression(self, function: str) -> str:
        """What the import does, as a call: of ``function``, or of Python's own where a package is what it finds."""
        if self.loaded != self.module:
            return f"__import__({self.loaded!r})"
        names = (self.module,) if self.attribute is None else (self.module, self.attribute)
        return f"{function}({', '.join(map(repr, names))})"


def with_imports(source: Source) -> tuple[Source, tuple[Guard, ...]]:
    """A function without import statements, and on what that rests."""
    if not any(isinstance(node, (gast.Import, gast.ImportFrom)) for node in nodes_of(source.node)):
        return source, ()
    within = list(_own(source.node.body))
    bound: dict[str, int] = {}
    for node in nodes_of(source.node):
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            bound[node.id] = 1
        elif isinstance(node, (gast.Global, gast.Nonlocal)):
            bound |= dict.fromkeys(node.names, 1)
    package = str(source.function.__globals__.get("__package__") or "")
    known: dict[str, Any] = {}
    guards: list[Guard] = []
    unknown: set[str] = set()
    for statement in within:
        for made in _imports(statement, package):
            found, value = made.found(any(statement is s for s in source.node.body))
            if not found or made.name in bound or known.get(made.name, value) is not value:
                unknown.add(made.name)
                continue
            known[made.name] = value
            if made.attribute is not None and not isinstance(value, types.ModuleType):
                guards.append(Guard(sys.modules[made.module], made.attribute, value))
    known = {name: value for name, value in known.items() if name not in unknown}
    node = copy.copy(source.node)
    helper = "imported"
    names = {n.id for n in nodes_of(source.node) if isinstance(n, gast.Name)} | source.function.__globals__.keys()
    while helper in names:
        helper += "_"
    node.body = _without(node.body, package, known, helper)
    if unknown:
        known[helper] = imported
    cells = {name: types.CellType(value) for name, value in known.items()}
    function = function_of(gast.gast_to_ast(node), source.function, cells)
    return replace(source, function=function, node=node), tuple(guards)


def _own(body: list[Node]) -> Iterator[Node]:
    """The import statements of a function, not those of functions inside."""
    for s in body:
        if isinstance(s, (gast.Import, gast.ImportFrom)):
            yield s
        elif not isinstance(s, _FUNCTIONS):
            for name in _BLOCKS:
                yield from _own(getattr(s, name, None) or [])


def _imports(s: Node, package: str) -> Iterator[_Import]:
    """The names that a statement imports."""
    for alias in s.names:
        if isinstance(s, gast.ImportFrom):
            module = s.module or ""
            if s.level:
                relative = "." * s.level + module
                module = importlib.util.resolve_name(relative, package) if package else relative
            yield _Import(alias.asname or alias.name, module, module, alias.name)
        elif alias.asname is not None or "." not in alias.name:
            yield _Import(alias.asname or alias.name, alias.name, alias.name)
        else:
            package = alias.name.partition(".")[0]
            yield _Import(package, package, alias.name)


def _without(body: list[Node], package: str, known: dict[str, Any], helper: str) -> list[Node]:
    """A block without what is known of imports, and with calls for the rest."""
    out: list[Node] = []
    for s in body:
        if isinstance(s, (gast.Import, gast.ImportFrom)):
            for made in _imports(s, package):
                if made.name not in known:
                    (new,) = gast.parse(f"{made.name} = {made.expression(helper)}").body
                    for node in nodes_of(new):
                        gast.copy_location(node, s)
                    out.append(new)
        elif any(getattr(s, name, None) for name in _BLOCKS) and not isinstance(s, _FUNCTIONS):
            s = copy.copy(s)
            for name in _BLOCKS:
                if inner := getattr(s, name, None):
                    setattr(s, name, _without(inner, package, known, helper))
            out.append(s)
        else:
            out.append(s)
    return out or [gast.copy_location(gast.Pass(), body[0])]
