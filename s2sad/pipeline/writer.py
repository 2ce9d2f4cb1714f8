"""The text of a compilation: functions emitted and loaded, with the imports that they need."""

from __future__ import annotations

import builtins
import types
from typing import Any

from s2sad import runtime
from s2sad.emit import emit
from s2sad.ir.nodes import Function
from s2sad.load import load


class Writer:
    """Emits functions and loads them, each into the module of the function that it comes from."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.imports: dict[str, None] = {}
        self.helpers: dict[str, dict[str, None]] = {}
        self.used: set[str] = set()
        self.functions: dict[str, types.FunctionType] = {}
        self.filename = ""

    @property
    def source(self) -> str:
        """The text of the whole: imports, then functions."""
        lines = [line for home in sorted(self.helpers) for line in _import_lines(home, sorted(self.helpers[home]))]
        head = "\n".join([*self.imports, *lines])
        return (head + "\n\n\n" if head else "") + "\n\n".join(t.rstrip() + "\n" for t in self.texts)

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
        self.texts.append(emitted.text)
        bindings = {}
        for name, value in emitted.bindings.items():
            if resolves(name) is value and hasattr(builtins, name):
                continue
            bindings[name] = value if isinstance(value, types.CellType) else types.CellType(value)
            if isinstance(value, types.ModuleType):
                self.imports[f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}")] = None
            elif not isinstance(value, types.CellType):
                home = "s2sad.runtime" if getattr(runtime, value.__name__, None) is value else value.__module__
                text = value.__name__ + ("" if value.__name__ == name else f" as {name}")
                self.helpers.setdefault(home, {})[text] = None
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
