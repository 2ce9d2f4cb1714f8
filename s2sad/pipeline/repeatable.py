"""Whether a program may run again from the start: what it does beside computing is done to objects of its own."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import types
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any

import gast

from s2sad import ops
from s2sad.errors import S2SADError
from s2sad.frontend.source import read_source
from s2sad.frontend.trees import nodes_of
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
#: The operations of built-in classes, those of the user's being refused as they run.
_OPERATING = ("operator", "compare", "index")
#: The modules of the functions that emitted text calls.
_OURS = "s2sad.runtime."


def is_repeatable(function: Function, written: types.FunctionType) -> bool:
    """Whether a function draws no random numbers, prints nothing, and changes nothing that is not its own.

    It is made of one that was ``written``, or emitted.  A call of which nothing is known may do something.
    """
    named = functools.partial(_named, written)
    for stmt in walk(function.body):
        if isinstance(stmt, Effect) and not isinstance(stmt.node, (ast.Raise, ast.Assert)):
            if not (_reads(stmt.node, named) or _sets_filters(stmt.node, named)):
                return False
        if isinstance(stmt, Enter) and stmt.manager is not None and not stmt.transparent:
            if not _is_undone(stmt.manager, named):
                return False
        if not all(_is_repeatable(part, named) for expr in expressions(stmt) for part in subexpressions(expr)):
            return False
    return True


def _reads(node: ast.AST, named: Callable[[Any, Collection[str]], object]) -> bool:
    """Whether a statement does no more than read a variable, attributes, or items of lists and dicts of the module."""
    value: Any = node.value if isinstance(node, ast.Expr) else node
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name) or _item(value, named) is not None


def _item(node: Any, named: Callable[[Any, Collection[str]], object]) -> object:
    """An item of a list or dict of the module under constant keys, or of a class; None of anything else."""
    if not isinstance(node, ast.Subscript):
        return named(node, ())
    if not isinstance(node.slice, ast.Constant):
        return None
    whole = _item(node.value, named)
    if type(whole) not in (list, tuple, dict):
        return None
    with contextlib.suppress(LookupError, TypeError):
        return whole[node.slice.value]  # type: ignore[index]
    return None


def _is_undone(manager: Expr, named: Callable[[Any, Collection[str]], object]) -> bool:
    """Whether what a manager does is undone where its ``with`` is left, by an exception as well."""
    call = manager.node if isinstance(manager, Opaque) else None
    local = dict(manager.names) if isinstance(manager, Opaque) else {}
    return isinstance(call, ast.Call) and named(call.func, local) is warnings.catch_warnings


def _sets_filters(node: ast.AST, named: Callable[[Any, Collection[str]], object]) -> bool:
    """Whether a statement says which warnings are shown, by constants: that may be said twice."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or call.keywords or not all(isinstance(a, ast.Constant) for a in call.args):
        return False
    return _is_among(named(call.func, ()), (warnings.simplefilter, warnings.filterwarnings))


def _is_repeatable(expr: Expr, named: Callable[[Any, Collection[str]], object]) -> bool:
    match expr:
        case Opaque(node=node, names=names, alters=alters, writes=writes, checks=checks):
            local = dict(names)
            called = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
            # What is checked has no methods of its own.
            others = [f for f in called if not (checks and isinstance(f, ast.Attribute) and f.attr in _READING)]
            known = all((isinstance(f, ast.Name) and f.id == PLAIN_NAME) or _is_quiet(named(f, local)) for f in others)
            return known and not (alters or writes)
        case Call(op=op):
            if _is_among(op.function, _OUTSIDE) or (op.kind == "method" and op.name in DRAWING_METHODS):
                return False
            # An operator of what may be None is no more than what may raise.
            if op.kind in ("runtime", "user", "change", "inplace", "attempt", *_OPERATING) or _is_ours(op.function):
                return True
            return op.pure and not (op.function is not None and is_ordered(op.function))
    return True


def _named(function: types.FunctionType, node: Any, local: Collection[str]) -> object:
    """The object of a name, or a dotted name of modules and classes, in a function; None where it is not known."""
    if isinstance(getattr(node, "attr", None), str):
        owner = _named(function, node.value, local)
        return getattr(owner, node.attr, None) if isinstance(owner, types.ModuleType | type) else None
    name = getattr(node, "id", None)
    if not isinstance(name, str) or name in local:
        return None
    cells, space = cells_of(function), function.__globals__
    with contextlib.suppress(ValueError):  # a cell may be empty
        return cells[name].cell_contents if name in cells else space.get(name, getattr(builtins, name, None))
    return None


def _is_quiet(function: object, inside: frozenset[object] = frozenset()) -> bool:
    """Whether a function neither draws nor prints, nor calls one that may; what it writes is not asked here."""
    if _is_ours(function) or function is warnings.catch_warnings:
        return True
    if (known := ops.spec_of(function)) is not None:
        return not known.ordered
    if isinstance(function, type) and issubclass(function, BaseException) and function.__module__ == "builtins":
        return True
    if not isinstance(function, types.FunctionType):
        return False
    if function in inside:
        return True
    try:
        nodes = nodes_of(read_source(function).node)
    except S2SADError:
        return False
    names = [n for n in nodes if isinstance(n, gast.Name)]
    local = {n.id for n in names if not isinstance(n.ctx, gast.Load)}
    called = [n.func for n in nodes if isinstance(n, gast.Call)]
    return all(_is_quiet(_named(function, f, local), inside | {function}) for f in called)


def _is_ours(function: object) -> bool:
    """Whether a function is one that emitted text calls, and changes nothing but what it is given."""
    return module_of(function).startswith(_OURS) and not _is_among(function, _OUTSIDE)


def _is_among(value: object, functions: Sequence[object]) -> bool:
    """Whether an object is one of some functions; it is not compared, since it may do that in its own way."""
    return any(value is function for function in functions)
