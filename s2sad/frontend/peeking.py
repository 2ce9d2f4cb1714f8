"""Calls that see more than their arguments: the variables of a function, or the exception that is handled."""

from __future__ import annotations

import inspect
import sys
import traceback
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
_EXCEPTION = (sys.exc_info, getattr(sys, "exception", sys.exc_info), traceback.format_exc)


def peeking(nodes: Iterable[Any], lookup: Callable[[Any], tuple[bool, Any]]) -> Iterator[tuple[Any, str, str]]:
    """Such calls among the nodes of a function, each with what it does and a remedy.

    What a statement does with the exception for its effect, as printing it does, is none.
    """
    nodes = list(nodes)
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
