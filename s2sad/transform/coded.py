"""Objects in lists of the new program: tuples of their leaves, or lists that hold what their attributes hold."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2sad.ir.code import NONE, Exit, Operand, Operation, Place, Region, Value
from s2sad.transform.boxes import Box, boxed
from s2sad.transform.cells import State
from s2sad.transform.known import (
    Abstract,
    Cell,
    Choice,
    Content,
    InList,
    Items,
    NotSpecialisedError,
    Record,
    Row,
    cell_of,
)
from s2sad.transform.references import References, number_of, references_of, refers
from s2sad.transform.shapes import Rebuild, Shapes, exists
from s2sad.transform.standing import Table

if TYPE_CHECKING:
    from s2sad.transform.specialiser import Specialiser


@dataclass(frozen=True, eq=False)
class Shape(Table):
    """How the items of a list are made again, and the names of their leaves."""

    rebuild: Rebuild
    titles: tuple[str, ...]


def is_object(value: Abstract) -> bool:
    """Whether a value is an object that the program makes, or one of several by conditions."""
    return isinstance(value, Record) or (
        isinstance(value, Choice) and is_object(value.then) and is_object(value.orelse)
    )


def has_objects(value: Abstract) -> bool:
    """Whether a value is such an object, or a tuple with some."""
    return any(map(has_objects, value.items)) if isinstance(value, Row) else is_object(value)


def encoded(
    s: Specialiser, value: Abstract, place: Place | None, known: Shape | Box | None = None
) -> tuple[Operand, Shape | Box]:
    """The tuple of the new program for an object, which may be changed no more but where it is referred to.

    Args:
        s: The specialiser.
        value: The object, or a tuple with objects.
        place: Where it is put into a list.
        known: The shape of what the list has already.

    Raises:
        NotSpecialisedError: for what has no such tuple.
    """
    to = None
    if s.relied.items == "references":
        to = known.references if isinstance(known, Shape) else references_of(s, value)
        to = to or References()
    elif isinstance(value, Choice):
        return _of_choice(s, value, place)
    elif s.relied.items == "boxes" and isinstance(value, Record):
        return boxed(s, value, place)
    refer = None if to is None else (to, functools.partial(number_of, s, to))
    shapes = Shapes(s.state, lambda thing: True, lambda constant: constant.value is None, refer=refer)
    key, rebuild = shapes.of(value, "which" if refers(value) else "")
    if shapes.optional or any(map(exists, shapes.numbers)) or not shapes.leaves:
        raise mixed(s)
    s.state.settle(map(cell_of, shapes.numbers))
    leaves = s.operands(shapes.leaves, place)
    made = s.emit("tuple", leaves, (False,) * len(leaves), place=place) if len(leaves) > 1 else leaves[0]
    return made, Shape((key, to), rebuild, tuple(shapes.titles), references=to)


def mixed(s: Specialiser) -> NotSpecialisedError:
    """Take notice of objects in a list that are not of one shape."""
    s.relied.mixed = True
    return NotSpecialisedError("shape")


def _of_choice(s: Specialiser, value: Choice, place: Place | None) -> tuple[Operand, Shape | Box]:
    (then, shape), (orelse, other) = encoded(s, value.then, place), encoded(s, value.orelse, place)
    if shape.key != other.key:
        raise mixed(s)
    made = Value()
    sides = tuple([Region((), (), Exit("yield", (side,))) for side in (then, orelse)])
    with s.stand_ins.reading():
        s.write(Operation("choose", (value.test,), (made,), None, sides, place))
    return made, shape


def list_of_objects(s: Specialiser, items: Items, content: Content) -> Value | None:
    """A list of objects as one of the new program, where what is done to it depends on the run; None for others.

    Raises:
        NotSpecialisedError: if the objects are not of one shape, or what sees the list takes its items for objects.
    """
    objects = [s.state[slot] for slot in content.slots]
    if items.cls is not list or not objects or not all(map(has_objects, objects)):
        return None
    if s.stand_ins.reads:
        raise NotSpecialisedError("Record")
    made = [encoded(s, objects[0], None)]
    _, shape = made[0]
    made += [encoded(s, value, None, shape) for value in objects[1:]]
    if any(other.key != shape.key for _, other in made):
        raise mixed(s)
    whole = s.emit("list", [operand for operand, _ in made], (False,) * len(made), items.cell.name)
    s.stand_ins[whole] = shape
    return whole


def rows_of_arms(
    s: Specialiser, values: Sequence[Abstract], arms: Sequence[tuple[State, State]]
) -> tuple[list[Abstract], Shape | Box, list[Cell]] | None:
    """What is such a list in each arm of a branch, and another one in some; None of anything else.

    Args:
        values: What it is, by arms.
        arms: The state at the end of each arm, and before.

    Returns:
        The lists, the shape of their objects, and the cells of those that have to be such lists before.

    Raises:
        NotSpecialisedError: if the objects are not of one shape.
    """
    if all(value is values[0] for value in values):
        return None
    wholes: list[Abstract] = []
    shapes: list[Shape | Box] = []
    known: list[Cell] = []
    for value, (state, before) in zip(values, arms, strict=True):
        held = state.get(value.cell) if isinstance(value, Items) else value
        shape = s.stand_ins.get(held) if isinstance(held, Value) else None
        if isinstance(shape, (Shape, Box)):
            shapes.append(shape)
        elif isinstance(value, Items) and isinstance(held, Content) and before.is_apart(value.cell):
            known.append(value.cell)
        else:
            return None
        wholes.append(held if isinstance(held, Value) else NONE)
    if not shapes:
        return None
    if any(shape.key != shapes[0].key for shape in shapes):
        raise mixed(s)
    return wholes, shapes[0], known


def put_into_lists(changed: Sequence[Cell], before: State, states: Sequence[State]) -> dict[Record, None]:
    """The objects from before that are put into lists in some arms, and are lists from there on."""
    found: dict[Record, None] = {}
    for cell in changed:
        if cell.record is not None and cell.record.identity in before and not isinstance(before.get(cell), InList):
            if any(isinstance(state.get(cell), InList) for state in states):
                found[cell.record] = None
    return found
