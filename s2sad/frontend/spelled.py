"""Which calls may be of certain functions, before anything is looked up: by the names that there are for these."""

from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any

import gast

from s2sad.runtime.contents import cells_of

Node = Any
Test = Callable[[Node], bool]


class Spelled:
    """Some functions, by identity and by their own names."""

    def __init__(self, functions: Collection[Any]) -> None:
        self.functions = tuple(functions)
        self.names = frozenset(f.__name__ for f in functions)
        self.known = frozenset(map(id, functions))

    def test_in(self, function: types.FunctionType) -> Test:
        """Whether what a function calls may be one of them: it has the name of one, or is one under another name."""
        cells = {name: cell for name, cell in cells_of(function).items() if cell != types.CellType()}
        closure = {name: cell.cell_contents for name, cell in cells.items()}
        scopes = closure, function.__globals__, vars(builtins)

        def may_be_one(func: Node) -> bool:
            named = getattr(func, "attr", getattr(func, "id", None)) in self.names
            return named or id(_object(func, scopes)) in self.known

        return may_be_one


def _object(node: Node, scopes: Collection[Mapping[str, Any]]) -> Any:
    """What a name stands for outside of a function, or an attribute of a module or class; None of anything else."""
    if isinstance(node, gast.Name):
        return next((scope[node.id] for scope in scopes if node.id in scope), None)
    base = _object(node.value, scopes) if isinstance(node, gast.Attribute) else None
    if not isinstance(base, (types.ModuleType, type)):
        return None
    found = inspect.getattr_static(base, node.attr, None)
    return found.__func__ if isinstance(found, staticmethod) else found
