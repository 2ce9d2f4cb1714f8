"""Managers of ``with`` that generator functions make."""

from __future__ import annotations

import contextlib
import inspect
import types
from typing import Any

#: What the calls of functions decorated with `contextlib.contextmanager` run.
_HELPER = contextlib.contextmanager(lambda: iter(())).__code__


def managed(function: object) -> types.FunctionType | None:
    """The generator function that `contextlib.contextmanager` decorates; None for any other function.

    Example:
        >>> @contextlib.contextmanager
        ... def around(x):
        ...     yield x
        >>> managed(around).__name__, managed(len)
        ('around', None)
    """
    if not isinstance(function, types.FunctionType) or function.__code__ is not _HELPER:
        return None
    made: Any = inspect.getclosurevars(function).nonlocals.get("func")
    return made if isinstance(made, types.FunctionType) else None
