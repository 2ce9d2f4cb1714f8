"""The text of a compilation: functions emitted and loaded, with the imports that they need."""

from __future__ import annotations

import ast
import builtins
import copy
import operator
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad.emit import emit
from s2sad.frontend.resolve import is_rebound
from s2sad.frontend.source import MADE, Snapshot, Source
from s2sad.ir.nodes import Function, Global
from s2sad.ir.traverse import expressions, subexpressions, walk
from s2sad.load import load
from s2sad.naming import with_moved_set
from s2sad.pipeline.defaults import defaults_of
from s2sad.pipeline.imports import Import, head, home_of, import_of, outer_names
from s2sad.pipeline.unknown import renamed, told_apart
from s2sad.runtime.contents import cells_of

_MISSING = object()


@dataclass
class _Part:
    """The text of one function, the imports that it needs, and the functions that it calls.

    ``open`` are the names that no import gives, each with the cell or the namespace that holds the variable, and
    ``made`` the expressions that make what some of them mean; ``needs`` are the functions that are defined in the text:
    several may have one name.
    """

    text: str
    imports: set[Import] = field(default_factory=set)
    open: dict[str, Any] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)
    needs: dict[str, types.FunctionType] = field(default_factory=dict)
    cells: list[types.CellType] = field(default_factory=list)


def _note_snapshot(part: _Part, name: str, value: Any, snapshots: Iterable[Snapshot]) -> None:
    """Note how a text makes the list or dict that a name means, where it can import what that is read from."""
    for snapshot in snapshots:
        if snapshot.copied is value and snapshot.root in snapshot.namespace:
            root = snapshot.root
            found = import_of(root, snapshot.namespace[root], snapshot.namespace)
            if found is not None:
                part.imports.add(found)
                part.made[name] = snapshot.text


class Writer:
    """Emits functions and loads them, each into the module of the function that it comes from."""

    def __init__(self) -> None:
        self.parts: dict[str, _Part] = {}
        self.used: set[str] = set()
        self.users: set[str] = set()
        self.meanings: dict[str, Import] = {}
        self.values: dict[str, Any] = {}
        self.functions: dict[str, types.FunctionType] = {}
        self.made: dict[str, types.FunctionType] = {}
        #: Names of functions that mean different ones in different places.
        self.clashing: set[str] = set()
        self.filename = ""

    def source(self, names: Iterable[str]) -> str:
        """The text of some functions and of those that they call: imports, then functions."""
        wanted: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in wanted:
                wanted.add(name)
                pending += [cell.cell_contents.__name__ for cell in self.parts[name].cells]
                pending += self.parts[name].needs
        parts = [part for name, part in self.parts.items() if name in wanted - self.clashing]
        imports = {i for part in parts for i in part.imports}
        given = told_apart([part.text for part in parts], [part.open for part in parts], {i.alias for i in imports})
        made = {names[n]: text for part, names in zip(parts, given, strict=True) for n, text in part.made.items()}
        unknown = {name for names in given for name in names.values() if name not in made} | (wanted & self.clashing)
        items = "\n".join(
            ["# The items for which this text is written.", *(f"{n} = {text}" for n, text in made.items())]
        )
        first = "\n\n".join(part for part in (head(imports, unknown), items if made else "") if part)
        texts = [renamed(part.text.rstrip(), names) for part, names in zip(parts, given, strict=True)]
        return (first + "\n\n\n" if first else "") + "\n\n".join(text + "\n" for text in texts)

    def note(self, part: _Part, name: str, value: Any, holder: dict[str, Any] | types.CellType) -> None:
        """Note where a text finds the value of a name: in a module, as a function in the text, or nowhere.

        ``holder`` is the module's namespace, or the cell, that has the variable.
        """
        if self.is_defined(part, name, value):
            return
        namespace = holder if isinstance(holder, dict) else None
        found = None if value is _MISSING else import_of(name, value, namespace)
        if found is not None:
            part.imports.add(found)
        else:
            part.open[name] = holder

    def is_defined(self, part: _Part, name: str, value: Any) -> bool:
        """Whether a value is a function that specialisation has made, and has its definition in the text."""
        source = value.__dict__.get(MADE) if type(value) is types.FunctionType else None
        if source is None:
            return False
        part.needs[name] = value
        if self.made.setdefault(name, value) is not value:
            self.clashing.add(name)
        if name not in self.parts:
            self.define(name, value, source)
        return True

    def define(self, name: str, function: types.FunctionType, source: Source) -> None:
        """The text of a function that specialisation has made, and that is no more than called or handed on."""
        node = copy.copy(gast.gast_to_ast(source.node))
        node.name = name
        part = self.parts[name] = _Part(ast.unparse(node))
        cells = cells_of(function)
        for used in {*outer_names(function.__code__), *cells}:
            if used in cells:
                self.note(part, used, cells[used].cell_contents, cells[used])
            elif used in function.__globals__:
                self.note(part, used, function.__globals__[used], function.__globals__)

    def avoid(self, code: types.CodeType) -> None:
        """Call no function of ours by a name in a function of the user's."""
        self.users.update(code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)

    def unused(self, name: str) -> str:
        """A function name like ``name`` that nothing else has."""
        candidate, number = name, 2
        while candidate in self.used or candidate in self.users:
            candidate, number = f"{name}_{number}", number + 1
        self.used.add(candidate)
        return candidate

    def is_same(self, name: str, other: str) -> bool:
        """Whether two functions that were written differ in their names alone."""
        one, two = self.parts[name], self.parts[other]
        # Cells that are the same may still be empty, where functions call each other.
        same_cells = len(one.cells) == len(two.cells) and all(map(operator.is_, one.cells, two.cells))
        is_same_text = one.text.replace(f"def {name}(", f"def {other}(") == two.text
        same_names = one.open.keys() == two.open.keys() and all(one.open[n] is two.open[n] for n in one.open)
        # Functions are equal if they are the same.
        same_names = same_names and (one.imports, one.needs) == (two.imports, two.needs)
        return is_same_text and same_cells and same_names

    def forget(self, names: Iterable[str]) -> None:
        """Take back functions that were written, of which nothing is called."""
        for name in names:
            del self.parts[name], self.functions[name]
            self.used.discard(name)

    def write(
        self,
        function: Function,
        source: Source,
        written: types.FunctionType,
        whole: types.FunctionType,
        other: Mapping[str, str] | None = None,
    ) -> Mapping[str, str]:
        """Emit a function and load it with the names that the ``source`` sees, or that from which it was made.

        The text of the ``whole`` function says what default values are called; ``other`` are the names in the other
        half of the function.  Returns the names in this one.
        """
        function, original = with_moved_set(function), source.function
        namespace = original.__globals__
        cells = cells_of(original)
        if others := cells_of(written).keys() - cells.keys():
            parts = [part for s in walk(function.body) for e in expressions(s) for part in subexpressions(e)]
            read = {part.text.partition(".")[0] for part in parts if isinstance(part, Global)}
            cells |= {name: cells_of(written)[name] for name in others & read}

        def resolves(name: str) -> Any:
            if name in cells:
                try:
                    return cells[name].cell_contents
                except ValueError:
                    return _MISSING
            return namespace.get(name, getattr(builtins, name, _MISSING))

        defaults = defaults_of(function.params, whole)

        values: dict[str, Any] = {}
        local: dict[str, str] = {}

        def load_it(qualified: dict[str, types.ModuleType]) -> tuple[_Part, dict[str, types.FunctionType]]:
            emitted = emit(
                function, {*cells, *defaults.names()}, resolves, qualified, defaults.texts, self.values, other
            )
            local.update(emitted.local)
            part = _Part(emitted.text, {i for i in defaults.imports if i.alias not in qualified})
            part.open.update((name, whole) for name in defaults.open)
            bindings = {}
            for name, value in emitted.bindings.items():
                if resolves(name) is value and hasattr(builtins, name):
                    continue
                bindings[name] = value if isinstance(value, types.CellType) else types.CellType(value)
                if isinstance(value, types.CellType):
                    part.cells.append(value)
                else:
                    found = import_of(name, value)
                    assert found is not None
                    part.imports.add(found)
                    values[name] = value
            file = f"{self.filename[:-1]} {function.name}>"
            loaded = load(emitted.text, file, namespace, cells, bindings, function.file, original)
            for made in loaded.values():
                for name in made.__code__.co_freevars:
                    value = resolves(name)
                    is_module = issubclass(type(value), types.ModuleType)
                    found = import_of(name, value) if callable(value) or is_module else None
                    if name in bindings or self.is_defined(part, name, value):
                        continue
                    if found is not None:
                        part.imports.add(found)
                    else:
                        part.open[name] = cells.get(name, namespace)
                        _note_snapshot(part, name, value, source.snapshots.values())
                for name in emitted.names.intersection(outer_names(made.__code__)):
                    value = resolves(name)
                    self.note(part, name, value, namespace)
            return part, loaded

        part, loaded = load_it({})
        # One name that means one thing here and another in a function written before is read from its module, and so
        # is a variable that a function of the module gives another value.
        clashes = {i.alias for i in part.imports if self.meanings.get(i.alias, i) != i or i.alias in self.used}
        own = {i.alias for i in part.imports if i.alias in namespace and i.alias not in cells}
        clashes |= {name for name in own if is_rebound(name, namespace[name], namespace)}
        home = home_of(namespace)
        if clashes and home is not None:
            part, loaded = load_it({name: home if name in namespace else builtins for name in clashes})
        self.meanings.update((i.alias, i) for i in part.imports)
        self.values.update(values)
        self.parts[function.name] = part
        self.functions.update(loaded)
        return local
