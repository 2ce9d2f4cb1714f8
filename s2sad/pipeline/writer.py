"""The text of a compilation: functions emitted and loaded, with the imports that they need."""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from s2sad import runtime
from s2sad.emit import emit
from s2sad.ir.nodes import Function
from s2sad.load import load


@dataclass
class _Part:
    """The text of one function: the imports and helpers that it needs, and the cells of the functions that it calls."""

    text: str
    imports: list[str] = field(default_factory=list)
    helpers: list[tuple[str, str]] = field(default_factory=list)
    cells: list[types.CellType] = field(default_factory=list)


class Writer:
    """Emits functions and loads them, each into the module of the function that it comes from."""

    def __init__(self) -> None:
        self.parts: dict[str, _Part] = {}
        self.used: set[str] = set()
        self.functions: dict[str, types.FunctionType] = {}
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
        parts = [part for name, part in self.parts.items() if name in wanted]
        imports = dict.fromkeys(line for part in parts for line in part.imports)
        helpers: dict[str, set[str]] = {}
        for part in parts:
            for home, text in part.helpers:
                helpers.setdefault(home, set()).add(text)
        lines = [line for home in sorted(helpers) for line in _import_lines(home, sorted(helpers[home]))]
        head = "\n".join([*imports, *lines])
        return (head + "\n\n\n" if head else "") + "\n\n".join(p.text.rstrip() + "\n" for p in parts)

    def unused(self, name: str) -> str:
        """A function name like ``name`` that this module has not used."""
        candidate, number = name, 2
        while candidate in self.used:
            candidate, number = f"{name}_{number}", number + 1
        self.used.add(candidate)
        return candidate

    def write(self, function: Function, original: types.FunctionType) -> None:
        """Emit a function and load it with the names that ``original`` sees."""
        namespace = original.__globals__
        cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
        missing = object()

        def resolves(name: str) -> Any:
            if name in cells:
                try:
                    return cells[name].cell_contents
                except ValueError:
                    return missing
            return namespace.get(name, getattr(builtins, name, missing))

        emitted = emit(function, set(cells), resolves)
        part = self.parts[function.name] = _Part(emitted.text)
        bindings = {}
        for name, value in emitted.bindings.items():
            if resolves(name) is value and hasattr(builtins, name):
                continue
            bindings[name] = value if isinstance(value, types.CellType) else types.CellType(value)
            if isinstance(value, types.ModuleType):
                part.imports.append(f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}"))
            elif isinstance(value, types.CellType):
                part.cells.append(value)
            else:
                home = "s2sad.runtime" if getattr(runtime, value.__name__, None) is value else value.__module__
                text = value.__name__ + ("" if value.__name__ == name else f" as {name}")
                part.helpers.append((home, text))
        file = f"{self.filename[:-1]} {function.name}>"
        loaded = load(emitted.text, file, namespace, cells, bindings, function.file)
        for made in loaded.values():
            if made.__defaults__ is not None:
                made.__defaults__ = original.__defaults__
            if made.__kwdefaults__ is not None:
                made.__kwdefaults__ = original.__kwdefaults__
        self.functions.update(loaded)


def _import_lines(home: str, helpers: list[str]) -> list[str]:
    line = f"from {home} import {', '.join(helpers)}"
    if len(line) <= 100:
        return [line]
    return [f"from {home} import (", *(f"    {name}," for name in helpers), ")"]
