"""Specialisation of calls of Python's own functions that are given something static."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2sad.ir.code import Constant, Operation, Value
from s2sad.runtime.classes import own_class
from s2sad.transform.constants import is_instance
from s2sad.transform.known import (
    WRAPPING,
    Abstract,
    Items,
    Known,
    Method,
    Partial,
    Row,
    is_callable,
)
from s2sad.transform.simple import is_structure, items_of, run_through, stream
from s2sad.transform.specialiser import Done, Frame, Specialiser

Args = Sequence[tuple[str, Abstract]]


def built_in(s: Specialiser, function: Any, args: Args, op: Operation, frame: Frame) -> Done:
    """What a function of Python's own gives for static arguments; None where that is not known."""
    values = [value for kind, value in args if not kind]
    if len(values) < len(args) and function is not functools.partial:
        if function is not zip or not _is_strict(s, values, args):
            return None
    values = [s.plain(value) for value in values]
    if function is range and args and all(isinstance(v, Constant) and type(v.value) is int for v in values):
        numbers = [v.value for v in values if isinstance(v, Constant)]
        given = [s.get(op.operands[0], frame), *(v for _, v in args)]
        operand = s.emit("call", s.operands(given, frame.place or op.place), op.data, place=frame.place or op.place)
        s.needless.add(operand)
        try:
            return (Known(range(*numbers), (), operand),)
        except (TypeError, ValueError):
            return None
    if function is not isinstance and not any(
        is_structure(v) or isinstance(v, Constant) or v in s.rows for v in values
    ):
        return None
    if function is functools.wraps and len(args) == 1:
        return (WRAPPING,)
    if function is functools.partial:
        return (
            (Partial(values[0], tuple(values[1:]), tuple([(k, v) for k, v in args if k])),)
            if is_callable(values[0])
            else None
        )
    try:
        made = _FUNCTIONS.get(function)
    except TypeError:
        return None
    return None if made is None else made(s, values)


def _is_strict(s: Specialiser, values: list[Abstract], args: Args) -> bool:
    """Whether ``zip(..., strict=True)`` is given rows that are equally long."""
    rows = [s.row(value) for value in values]
    strict = [isinstance(value, Constant) and kind == "strict" for kind, value in args if kind]
    return strict == [True] and len({len(row) if row is not None else -1 for row in rows}) == 1


def _callable(s: Specialiser, values: list[Abstract]) -> Done:
    return (Constant(True),) if len(values) == 1 and is_callable(values[0]) else None


def _isinstance(s: Specialiser, values: list[Abstract]) -> Done:
    if len(values) != 2:
        return None
    value, cls = values
    if isinstance(value, Value) and value in s.rows:
        value = Row(s.rows[value])
    classes = s.row(cls) or (cls,)
    known = is_instance(value, classes)
    if known is None and value in s.numbers and all(isinstance(c, Known) and _is_users(c.value) for c in classes):
        known = False
    return None if known is None else (Constant(known),)


def _is_users(cls: Any) -> bool:
    """Whether a class is a plain one of the user's, of which no number is an instance."""
    return type(cls) is type and own_class(cls) is not None and not issubclass(cls, (int, float, complex, np.generic))


def _len(s: Specialiser, values: list[Abstract]) -> Done:
    (value,) = values
    row = s.row(value)
    if isinstance(value, Items) and value.keys is not None and isinstance(s.state[value.cell], Row):
        return (Constant(len(value.keys)),)
    return None if row is None else (Constant(len(row)),)


def _sequence(kind: Callable[[Specialiser, list[Abstract]], Abstract]) -> Callable[[Specialiser, list[Abstract]], Done]:
    def made(s: Specialiser, values: list[Abstract]) -> Done:
        row = run_through(s, values[0]) if len(values) == 1 else None
        return None if row is None else (kind(s, list(row)),)

    return made


def _zip(s: Specialiser, values: list[Abstract]) -> Done:
    found = [run_through(s, value, True) for value in values]
    rows = [row for row in found if row is not None]
    if len(rows) < len(found):
        return None
    return (stream(s, [Row(items) for items in zip(*rows, strict=False)], values),)


def _enumerate(s: Specialiser, values: list[Abstract]) -> Done:
    start = values[1] if len(values) > 1 else Constant(0)
    if not isinstance(start, Constant) or type(start.value) is not int:
        return None
    row = run_through(s, values[0], True)
    if row is None:
        return None
    return (stream(s, [Row((Constant(i), v)) for i, v in enumerate(row, start.value)], values[:1]),)


def _reversed(s: Specialiser, values: list[Abstract]) -> Done:
    row = s.row(values[0]) if len(values) == 1 else None
    return None if row is None else (stream(s, row[::-1], values),)


_FUNCTIONS: dict[Any, Callable[[Specialiser, list[Abstract]], Done]] = {
    callable: _callable,
    isinstance: _isinstance,
    len: _len,
    list: _sequence(lambda s, row: items_of(s, row)),
    tuple: _sequence(lambda s, row: Row(tuple(row))),
    reversed: _reversed,
    zip: _zip,
    enumerate: _enumerate,
}


def list_method(s: Specialiser, items: Items, name: str, values: list[Abstract]) -> Done:
    """A call of a method of a list or dict of known items."""
    content = s.state[items.cell]
    if not isinstance(content, Row):
        return None
    row = content.items
    if items.keys is None:
        if name == "append" and len(values) == 1:
            s.state[items.cell] = Row((*row, values[0]))
            return (Constant(None),)
        if name == "extend" and len(values) == 1 and (more := run_through(s, values[0])) is not None:
            s.state[items.cell] = Row((*row, *more))
            return (Constant(None),)
        return None
    if values:
        return None
    if name == "values":
        return (stream(s, row, [items], True),)
    if name == "keys":
        return (stream(s, [Constant(key) for key in items.keys], [items], True),)
    if name == "items":
        return (stream(s, [Row((Constant(k), v)) for k, v in zip(items.keys, row, strict=True)], [items], True),)
    return None


def is_list_method(method: Method) -> bool:
    """Whether a method is one of a list or dict of known items."""
    return isinstance(method.receiver, Items)
