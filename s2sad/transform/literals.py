"""Specialisation of f-strings and slices of constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sad.ir.code import Constant, Operation
from s2sad.transform.specialiser import Done, Frame, Specialiser

#: What ``!s``, ``!r`` and ``!a`` do.
_CONVERSIONS: dict[int, Callable[[Any], str]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


def text(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An f-string of constants."""
    values = [s.plain(s.get(o, frame)) for o in op.operands]
    if not all(isinstance(v, Constant) and type(v.value) in (str, int, bool) for v in values):
        return None
    given = iter([v.value for v in values if isinstance(v, Constant)])
    found = ""
    for part in op.data:
        if isinstance(part, str):
            found += part
            continue
        conversion, has_format = part
        value = next(given)
        value = _CONVERSIONS[conversion](value) if conversion > 0 else value
        try:
            found += format(value, next(given) if has_format else "")
        except (ValueError, TypeError):
            return None
    return (Constant(found),)


def span(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A slice of which the bounds are known."""
    bounds = [s.plain(s.get(o, frame)) for o in op.operands]
    if not all(isinstance(b, Constant) and (b.value is None or type(b.value) is int) for b in bounds):
        return None
    made = s.emit("slice", s.operands(bounds, op.place), None, "", frame.place or op.place)
    s.needless.add(made)
    s.slices[made] = slice(*[b.value for b in bounds if isinstance(b, Constant)])
    return (made,)
