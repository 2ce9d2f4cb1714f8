"""Objects that are lists in the new program: what an attribute holds is an item of the list.

Objects of a long list that are changed have such a list each, so that whoever has the object sees what it is set to:

    cells = [Cell(u) for u in start]        cells = []
                                            for u in start:
                                                cells.append([u, 0.0])
    for c in cells:                         for c in cells:
        c.flux = rate(c.u)                      c[1] = rate(c[0])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from s2sad.ir.code import UNSET, Constant, Operand, Value
from s2sad.transform.cells import State
from s2sad.transform.known import Abstract, Cell, InList, Known, NotSpecialisedError, Record, is_static
from s2sad.transform.standing import Table


@dataclass(frozen=True, eq=False)
class Box(Table):
    """How objects of a class are made of their lists: each attribute is an item, which may be a box, or static."""

    cls: type
    fields: tuple[tuple[str, Known | Box | None], ...]

    def made(self, state: State, whole: Value) -> Record:
        """The object of which something is the list."""
        record = Record(self.cls)
        state[record.identity] = Constant(None)
        at = 0
        for name, held in self.fields:
            record.fields[name] = cell = Cell(name, None, record)
            if isinstance(held, Known):
                state[cell] = held
            else:
                state[cell], at = InList(whole, at, held, self), at + 1
        state.settle([record.identity])
        return record


def box_of(state: State, record: Record) -> InList | None:
    """An item of the list that an object is; None of any other object."""
    return next((held for c in record.fields.values() if isinstance(held := state.get(c), InList)), None)


def boxed(s: Any, record: Record, place: Any) -> tuple[Value, Box]:
    """Let an object be a list from here on.

    Raises:
        NotSpecialisedError: for one that cannot be.
    """
    if (known := box_of(s.state, record)) is not None:
        return known.whole, known.of
    if record.origin is not None or record.own is not None or record.axes is not None or record.kin:
        raise NotSpecialisedError("Record")
    items: list[Operand] = []
    fields: list[tuple[str, Known | Box | None]] = []
    for name, cell in record.fields.items():
        held: Abstract = s.state.get(cell, UNSET)
        if isinstance(held, Known) and held.operand is None:
            fields.append((name, held))
            continue
        inner: Box | None = None
        if isinstance(held, Record):
            held, inner = boxed(s, held, place)
        if is_static(held) or held is UNSET:
            raise NotSpecialisedError("Record")
        items.append(s.dynamic(held))
        fields.append((name, inner))
    if not items:
        raise NotSpecialisedError("Record")
    parts = tuple([(n, id(h.value) if isinstance(h, Known) else h.key if h else None) for n, h in fields])
    box = Box(("box", id(record.cls), parts), record.cls, tuple(fields))
    whole = s.emit("list", items, (False,) * len(items), place=place)
    at = 0
    for (name, field_of), cell in zip(fields, record.fields.values(), strict=True):
        if not isinstance(field_of, Known):
            s.state[cell], at = InList(whole, at, field_of, box), at + 1
        assert name == cell.name
    s.state.settle([record.identity])
    return whole, box


def read(s: Any, held: InList, name: str, place: Any) -> Abstract:
    """What an attribute holds."""
    item: Value = s.emit("item", (held.whole, Constant(held.at)), name="" if s.expression else name, place=place)
    found: Abstract = item if held.held is None else held.held.made(s.state, item)
    return found
