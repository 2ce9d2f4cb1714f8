"""The order of known items: ``sorted``, ``min`` and ``max`` by keys that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from s2sad.ir.code import NONE, Constant, Operation
from s2sad.transform.containers import (
    called,
    items_of,
    key_of,
    run_through,
)
from s2sad.transform.iterators import Given, plainly
from s2sad.transform.known import Abstract, Items, key_operand
from s2sad.transform.specialiser import Done, Frame, Specialiser


def in_order(
    s: Specialiser, row: Sequence[Abstract], named: Mapping[str, Abstract], op: Operation, frame: Frame
) -> list[int] | None:
    """Where the items of a list are in order, if that is known."""
    reverse, key = named.get("reverse", Constant(False)), named.get("key", NONE)
    if not isinstance(reverse, Constant):
        return None
    keys = _sort_keys(s, row, key, op, frame)
    return None if keys is None else sorted(range(len(row)), key=keys.__getitem__, reverse=bool(reverse.value))


def _sort_keys(s: Specialiser, row: Sequence[Abstract], key: Abstract, op: Operation, frame: Frame) -> list[Any] | None:
    """Known keys of items that can be compared with each other; None where they are not known."""
    if isinstance(key, Constant) and key.value is None:
        found = [key_of(s, item) for item in row]
    else:
        before, used, lifted = s.mark(), s.used, dict(s.lifted)
        found = [key_of(s, called(s, key, [item], op, frame)) for item in row]
        if None in found:
            s.back(before)
            s.used, s.lifted = used, lifted
    if any(f is None for f in found):
        return None
    keys = [f.value for f in found if f is not None]
    try:
        sorted(keys)
    except TypeError:
        return None
    return keys


def sorted_(given: Given) -> Done:
    if len(given.values) != 1:
        return None
    row: Sequence[Abstract] | None = run_through(given.s, given.values[0])
    row = _set_of(given) if row is None else row
    if row is None:
        return None
    order = in_order(given.s, row, given.named, given.op, given.frame)
    if order is None:
        return plainly(given, row)
    given.s.used = True
    return (items_of(given.s, [row[at] for at in order]),)


def _set_of(given: Given) -> Sequence[Abstract] | None:
    """The elements of a set of constants, in any order."""
    value = given.values[0]
    content = given.s.content(value) if isinstance(value, Items) else None
    return None if content is None or content.keys is None else [key_operand(key) for key in content.keys]


def min_(given: Given) -> Done:
    return _extreme(given, min)


def max_(given: Given) -> Done:
    return _extreme(given, max)


def _extreme(given: Given, choose: Callable[..., Any]) -> Done:
    if not given.values:
        return None
    row = run_through(given.s, given.values[0]) if len(given.values) == 1 else tuple(given.values)
    if not row:
        return None
    keys = _sort_keys(given.s, row, given.named.get("key", NONE), given.op, given.frame)
    if keys is None:
        return plainly(given, row) if len(given.values) == 1 else None
    given.s.used = True
    return (row[choose(range(len(row)), key=keys.__getitem__)],)
