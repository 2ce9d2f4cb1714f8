"""What is known of context managers."""

from __future__ import annotations

import contextlib
import decimal
import threading
import warnings
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
#: Managers that leave nothing behind where nothing is done inside of them.
_TRANSPARENT = (np.errstate, np.printoptions, warnings.catch_warnings, decimal.localcontext)
#: Managers that swallow no exception, and do what they do without changing an object that they are given.
_KNOWN = (*_TRANSPARENT, open, contextlib.redirect_stdout, contextlib.redirect_stderr)
_LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Semaphore)


def bound_value(manager: Node, lookup: Lookup) -> Node | None:
    """What ``with nullcontext(value)`` binds; None for any other manager."""
    if isinstance(manager, gast.Call) and lookup(manager.func)[1] is contextlib.nullcontext and not manager.keywords:
        if not manager.args:
            return gast.copy_location(gast.Constant(value=None, kind=None), manager)
        return manager.args[0] if len(manager.args) == 1 else None
    return None


def suppressed(manager: Node, lookup: Lookup) -> list[Node] | None:
    """The classes of exceptions that ``suppress(...)`` swallows, tuples taken apart; None for any other manager."""
    if isinstance(manager, gast.Call) and lookup(manager.func)[1] is contextlib.suppress and not manager.keywords:
        return [cls for argument in manager.args for cls in _classes(argument, lookup)]
    return None


def _classes(argument: Node, lookup: Lookup) -> list[Node]:
    """What stands in the tuple of an ``except`` for a class or a tuple of classes, which is not taken apart there."""
    if isinstance(argument, gast.Tuple):
        return [cls for item in argument.elts for cls in _classes(item, lookup)]
    if isinstance(lookup(argument)[1], tuple):
        return [gast.copy_location(gast.Starred(argument, gast.Load()), argument)]
    return [argument]


def is_transparent(manager: Node, lookup: Lookup) -> bool:
    """Whether a manager leaves nothing behind where there is nothing inside."""
    function = lookup(manager.func)[1] if isinstance(manager, gast.Call) else None
    return any(function is known for known in _TRANSPARENT)


def is_known(manager: Node, lookup: Lookup) -> bool:
    """Whether a manager surely swallows no exception, and changes no object that it is given."""
    found, value = lookup(manager.func if isinstance(manager, gast.Call) else manager)
    if isinstance(manager, gast.Call):
        return found and any(value is known for known in _KNOWN)
    return found and isinstance(value, _LOCKS)
