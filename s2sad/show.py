"""A function and its derivative side by side."""

from __future__ import annotations

import itertools
import types

from s2sad.frontend.source import read_source


def side_by_side(function: types.FunctionType, derivative: str, gap: int = 4) -> str:
    """The text of ``function`` on the left, ``derivative`` on the right."""
    left = list(read_source(function).lines)
    right = derivative.rstrip().splitlines()
    width = max((len(line) for line in left), default=0) + gap
    rows = itertools.zip_longest(left, right, fillvalue="")
    return "\n".join(f"{a:<{width}}{b}".rstrip() for a, b in rows)
