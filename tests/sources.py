"""Functions of texts, as if they stood in a file."""

from __future__ import annotations

import itertools
import linecache
import textwrap
from typing import Any

import numpy as np

_NUMBERS = itertools.count()


def names_of(text: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """The names of a module with this text, whose source `inspect` finds; those given, and ``np``, are there before."""
    text, file = textwrap.dedent(text).lstrip(), f"<text {next(_NUMBERS)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = {"np": np, "__name__": __name__, **(names or {})}
    exec(compile(text, file, "exec"), module)
    return module


def function_of(text: str, names: dict[str, Any] | None = None, name: str = "f") -> Any:
    """A function of such a module: ``f``, if no other is named."""
    return names_of(text, names)[name]
