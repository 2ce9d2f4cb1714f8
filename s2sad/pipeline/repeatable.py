"""Whether a program may run again from the start: what it does beside computing is done to objects of its own."""

from __future__ import annotations

import ast
import contextlib
import types
from collections.abc import Callable

from s2sad.ir.nodes import PLAIN_NAME, Call, Effect, Enter, Expr, Function, Opaque
from s2sad.ir.traverse import expressions, subexpressions, walk
from s2sad.ops import is_ordered
from s2sad.runtime.classes import DRAWING_METHODS, module_of
from s2sad.runtime.contents import cells_of
from s2sad.runtime.objects import record, remember

#: What changes objects of the module.
_OUTSIDE = (record, remember)
#: Methods of dicts and lists that change nothing.
_READING = frozenset({"items", "keys", "values", "get", "index", "count", "copy"})
#: The modules of the functions that emitted text calls.
_OURS = "s2sad.runtime."


def is_repeatable(function: Function, written: types.FunctionType) -> bool:
    """Whether a function draws no random numbers, prints nothing, and changes nothing that is not its own.

    It is made of one that was ``written``, or emitted.  A call of which nothing is known may do something.
    """
    cells = cells_of(written)

    def is_ours(name: str) -> bool:
        with contextlib.suppress(ValueError):  # a cell may be empty
            return _is_ours(cells[name].cell_contents if name in cells else written.__globals__.get(name))
        return False

    for stmt in walk(function.body):
        if isinstance(stmt, Effect) and not isinstance(stmt.node, (ast.Raise, ast.Assert)) and not _reads(stmt.node):
            return False
        if isinstance(stmt, Enter) and stmt.manager is not None and not stmt.transparent:
            return False
        if not all(_is_repeatable(part, is_ours) for expr in expressions(stmt) for part in subexpressions(expr)):
            return False
    return True


def _reads(node: ast.AST) -> bool:
    """Whether a statement does no more than read a variable, or attributes."""
    value = node.value if isinstance(node, ast.Expr) else node
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name)


def _is_repeatable(expr: Expr, is_ours: Callable[[str], bool]) -> bool:
    match expr:
        case Opaque(node=node, alters=alters, writes=writes, checks=checks):
            called = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
            # What is checked has no methods of its own.
            others = [f for f in called if not (checks and isinstance(f, ast.Attribute) and f.attr in _READING)]
            known = all(isinstance(f, ast.Name) and (f.id == PLAIN_NAME or is_ours(f.id)) for f in others)
            return known and not (alters or writes)
        case Call(op=op):
            if op.function in _OUTSIDE or (op.kind == "method" and op.name in DRAWING_METHODS):
                return False
            if op.kind in ("runtime", "user", "change", "inplace") or _is_ours(op.function):
                return True
            return op.pure and not (op.function is not None and is_ordered(op.function))
    return True


def _is_ours(function: object) -> bool:
    """Whether a function is one that emitted text calls, and changes nothing but what it is given."""
    return module_of(function).startswith(_OURS) and function not in _OUTSIDE
