"""What the parameters of the functions that emitted text calls are called."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import types
from collections.abc import Iterator

import s2sad.runtime


def functions() -> Iterator[types.FunctionType]:
    for info in pkgutil.walk_packages(s2sad.runtime.__path__, "s2sad.runtime."):
        for value in vars(importlib.import_module(info.name)).values():
            if isinstance(value, types.FunctionType) and value.__module__ == info.name:
                yield value


def test_nothing_is_called_out() -> None:
    """A call with ``out`` writes into it, as it is read where the text of a derivative is differentiated again."""
    found = list(functions())
    assert len(found) > 500
    assert [f.__qualname__ for f in found if "out" in inspect.signature(f).parameters] == []
