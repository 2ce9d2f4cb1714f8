"""Calls that see more than their arguments: the variables of a function, the exception that is handled, what is
printed, and which warnings operations give."""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gast

from s2sad.frontend.trees import nodes_of

#: The functions that see the variables of the function that calls them with so many arguments, or with any (None).
_VARIABLES = (
    (0, (locals, vars, dir)),
    (1, (eval, exec)),
    (None, (sys._getframe, inspect.currentframe, inspect.stack, inspect.trace)),
)
#: What prints into the object that is its first argument.
_REDIRECTING = (contextlib.redirect_stdout, contextlib.redirect_stderr)
_EXCEPTION = (sys.exc_info, getattr(sys, "exception", sys.exc_info), traceback.format_exc)


def peeking(nodes: Iterable[Any], lookup: Callable[[Any], tuple[bool, Any]]) -> Iterator[tuple[Any, str, str]]:
    """Such calls among the nodes of a function, each with what it does and a remedy.

    What a statement does with the exception for its effect, as printing it does, is none.
    """
    nodes = list(nodes)
    yield from _observing(nodes, lookup)
    for_effect = {id(inner) for node in nodes if isinstance(node, gast.Expr) for inner in nodes_of(node)}
    for node in nodes:
        if not isinstance(node, gast.Call) or node.keywords:
            continue
        found, value = lookup(node.func)
        if not found:
            continue
        name = gast.unparse(node.func).strip()
        if any(value is f for count, functions in _VARIABLES for f in functions if count in (None, len(node.args))):
            yield node, f"{name}(...) reads the variables of the function unseen", "Name the variables that it needs."
        elif any(value is f for f in _EXCEPTION) and id(node) not in for_effect:
            what = f"{name}(...) reads the exception that is handled unseen"
            remedy = "Name the exception where it is caught (except Error as e), and hand numbers on in variables."
            yield node, what, remedy


def _observing(nodes: list[Any], lookup: Callable[[Any], tuple[bool, Any]]) -> Iterator[tuple[Any, str, str]]:
    """The managers that hold what is printed, or which warnings are given, where the function may read that.

    Texts of what is differentiated are constant for the compiler, and operations whose results nobody reads are left
    out with their warnings.
    """
    bound = {id(item.context_expr): item.optional_vars for n in nodes if isinstance(n, gast.With) for item in n.items}
    names = [n for n in nodes if isinstance(n, gast.Name)]
    stored = {n.id for n in names if isinstance(n.ctx, gast.Store)}
    loads = Counter(n.id for n in names if isinstance(n.ctx, gast.Load))

    def is_read(value: Any, but: int) -> bool:
        if isinstance(value, gast.Name):
            return value.id not in stored or loads[value.id] > but
        return value is not None and not isinstance(value, gast.Call)

    for node in nodes:
        if not isinstance(node, gast.Call):
            continue
        found, function = lookup(node.func)
        target, what = bound.get(id(node)), ""
        if found and any(function is known for known in _REDIRECTING):
            into = node.args[0] if node.args else None
            known, stream = (False, None) if into is None else lookup(into)
            if target is not None or (is_read(into, 1) if not known else _is_readable(stream)):
                what = "what is printed into the object that {}(...) is given may be read again"
        elif found and function is warnings.catch_warnings and target is not None and is_read(target, 0):
            what = "which warnings {}(...) records is read" if any(k.arg == "record" for k in node.keywords) else ""
        if what:
            remedy = "Do it in a function of its own, and call that with constants: f(stop_gradient(x))."
            yield node, what.format(gast.unparse(node.func).strip()), remedy


def _is_readable(stream: Any) -> bool:
    """Whether what is printed into an object of the module may be read from it."""
    standard = (None, sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    return not any(stream is known for known in standard) and may_give_back(stream)


def may_give_back(stream: Any) -> bool:
    """Whether what is written into an object may be read from it again; not from a file that is only written."""
    return not (isinstance(stream, io.IOBase) and (stream.closed or not stream.readable()))
