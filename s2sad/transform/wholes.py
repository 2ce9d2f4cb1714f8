"""What a function of the new program returns that is of another sort at some of its exits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

from s2sad.ir.code import UNSET, Constant, Value
from s2sad.transform.cells import State
from s2sad.transform.known import Abstract, Content, Items, Known, Row, cell_of, is_callable
from s2sad.transform.shapes import AsWhole, Shapes, things_of


def as_wholes(
    endings: Sequence[Sequence[tuple[Abstract, str]]], shapes_of: Callable[[], list[Shapes]], initial: State
) -> list[list[tuple[Abstract | AsWhole, str]]]:
    """What a function returns at each exit; data that are of another sort at some exits are operands at all of them.

    A list or dict that the caller has as well, or that is part of two results, is one object, and no operand.
    """
    columns: list[list[Abstract]] = [list(column) for column in zip(*[[v for v, _ in e] for e in endings], strict=True)]
    rows = columns[0]
    width = len(rows[0].items) if isinstance(rows[0], Row) else -1
    is_row = width >= 0 and all(isinstance(row, Row) and row.cls is tuple and len(row.items) == width for row in rows)
    parts = [[row.items[at] for row in rows if isinstance(row, Row)] for at in range(width)] if is_row else [rows]
    states = [shape.state for shape in shapes_of()]
    held: list[set[object]] = []
    for values, state in zip(zip(*parts, *columns[1:], strict=True), states, strict=True):
        counts = Counter(thing for value in values for thing in dict.fromkeys(things_of(value, state)))
        held.append({thing for thing, count in counts.items() if count > 1 or cell_of(thing) in initial})
    found = [_alike(column, shapes_of, held) for column in (*parts, *columns[1:])]
    first: list[Any] = [Row(row) for row in zip(*found[:width], strict=True)] if is_row else found[0]
    found = [first, *found[len(parts) :]]
    return [
        [(column[at], title) for column, (_, title) in zip(found, ending, strict=True)]
        for at, ending in enumerate(endings)
    ]


def _alike(
    values: Sequence[Abstract], shapes_of: Callable[[], list[Shapes]], held: Sequence[Collection[object]]
) -> list[Any]:
    """Values at several exits, as they are if they have one shape, or where others have what is ``held``."""
    shapes = shapes_of()
    keys = {shape.of(value)[0] for value, shape in zip(values, shapes, strict=True)}
    plain = all(
        _are_data(value, shape.state) and not any(thing in others for thing in things_of(value, shape.state))
        for value, shape, others in zip(values, shapes, held, strict=True)
    )
    return list(map(AsWhole, values)) if len(keys) > 1 and plain else list(values)


def _are_data(value: Abstract, state: State) -> bool:
    """Whether there are no functions and objects in a value, but for objects that exist."""
    if isinstance(value, Items):
        content = state[value.cell]
        slots = content.slots if isinstance(content, Content) else ()
        return all(_are_data(state[slot], state) for slot in slots)
    if isinstance(value, Row):
        return all(_are_data(item, state) for item in value.items)
    return isinstance(value, (Value, Constant, Known)) and value is not UNSET and not is_callable(value)
