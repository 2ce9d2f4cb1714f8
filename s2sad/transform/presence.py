"""Variables and attributes that may have no value: where the program reads one, the exception that Python raises."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from s2sad.ir.code import NONE, UNSET, Constant, Exit, Operand, Operation, Place, Region, Value
from s2sad.transform.cells import State
from s2sad.transform.known import (
    Abstract,
    Cell,
    Container,
    Content,
    InList,
    Items,
    Kept,
    Loose,
    NotSpecialisedError,
    Record,
    Unsure,
    is_static,
)

if TYPE_CHECKING:
    from s2sad.transform.shapes import Shapes
    from s2sad.transform.specialiser import Specialiser


def variable(s: Specialiser, found: Abstract, name: str) -> Abstract:
    """The value of a local variable that is read; of one that is no value of the new program that is checked.

    Raises:
        NotSpecialisedError: where it surely has none, or nothing says whether there is one.
    """
    if found is UNSET:
        raise NotSpecialisedError("unset")
    if not isinstance(found, Unsure):
        return found
    if is_static(found.value):
        text = f"cannot access local variable {name!r} where it is not associated with a value"
        check(s, found, UnboundLocalError, text)
    return found.value


def assign(s: Specialiser, cell: Cell, value: Abstract, place: Place | None = None) -> None:
    """Give a variable or attribute another value."""
    held = s.state.get(cell)
    if isinstance(held, InList) and held.held is None:
        s.write(Operation("set_item", (held.whole, Constant(held.at), s.dynamic(value)), (), None, (), place))
    elif isinstance(held, InList):
        raise NotSpecialisedError("carried")
    elif isinstance(held, Kept) and held.is_set:
        s.write(Operation("store", (s.dynamic(value),), (), held.variable, (), place))
        if held.given is not None:
            s.write(Operation("store", (Constant(True),), (), held.given, (), place))
    else:
        s.state[cell] = value


def read(s: Specialiser, kept: Kept, name: str, place: Place | None) -> Abstract:
    """What memory has that stands for a variable or attribute."""
    value = s.emit("load", (), kept.variable, name, place)
    return value if kept.given is None else Unsure(value, s.emit("load", (), kept.given, f"has_{name}", place))


def returned(s: Specialiser, place: Place | None) -> State:
    """What cells hold where a function returns: what memory stands for is read there."""
    state = s.state.copied()
    for cell, held in s.state.items():
        if isinstance(held, Kept) and held.is_set:
            if held.variable in s.finals:
                # It has another value after the ``finally``.
                raise NotSpecialisedError("try")
            dict.__setitem__(state, cell, read(s, held, cell.name, place))
    return state


@contextlib.contextmanager
def loaded(s: Specialiser, place: Place | None) -> Iterator[None]:
    """Memory that stands for attributes is read, for a call that gives none of these another value.

    Raises:
        NotSpecialisedError: where it does.
    """
    kept = {cell: held for cell, held in s.state.items() if isinstance(held, Kept) and held.is_set}
    if not kept:
        yield
        return
    start = len(s.out)
    loads = {cell: read(s, held, cell.name, place) for cell, held in kept.items()}
    s.needless.update(op.result for op in s.out[start:])
    state, written = s.state, s.state.written
    state.written = set()
    dict.update(state, loads)
    try:
        yield
        changed = [cell for cell, load in loads.items() if s.state[cell] is not load or cell in s.state.written]
    finally:
        state.written |= written
        dict.update(state, kept)
    if changed:
        raise NotSpecialisedError("changed")


def may_lack(found: object) -> TypeGuard[Unsure | Constant]:
    """Whether a local variable may have no value."""
    return found is UNSET or isinstance(found, Unsure)


def attribute(s: Specialiser, unsure: Unsure, record: Record, name: str, place: Place | None) -> Abstract:
    """The value of an attribute, which is checked."""
    check(s, unsure, AttributeError, _no_attribute(record, name), place)
    return unsure.value


def as_items(state: State, record: Record) -> Items:
    """The ``__dict__`` of an object, or the list or dict that exists and that a record stands for."""
    cell = Cell("")
    cls = dict if record.cls is not Container or record.origin is None else type(record.origin.value)
    made = cell.whole = Items(cell, cls, record)
    state[cell] = NONE
    return made


def cell_for(state: State, record: Record, name: Any, title: str) -> Cell:
    """The cell of an attribute or item that is going to be set; a new one comes after those that are there."""
    cell = record.fields.get(name)
    if cell is None:
        cell = record.fields[name] = Cell(title, None, record)
    elif cell not in state:
        # It has been set on another way, or in an attempt that was given up.
        record.fields[name] = record.fields.pop(name)
    return cell


def loosen(new: Sequence[Cell], states: Sequence[State]) -> None:
    """Take notice of new fields of objects that some states have in different orders, and else of the order."""
    for record in {cell.record for cell in new if cell.record is not None}:
        own = {cell: name for name, cell in record.fields.items() if cell in new}
        orders = {tuple([cell for cell in state if cell in own]) for state in states}
        if len(orders) > 1:
            record.loose.update(own)
        for cell in next(iter(orders)):
            record.fields[own[cell]] = record.fields.pop(own[cell])


def fields_of(s: Specialiser, record: Record) -> Content:
    """What the ``__dict__`` of an object, or the list or dict that a record stands for, holds.

    Raises:
        NotSpecialisedError: where it has an attribute on some ways only, or a list of the new program has it.
    """
    held = {name: _now(s, cell) for name, cell in record.fields.items() if s.state.get(cell, UNSET) is not UNSET}
    is_list = record.cls is Container and record.origin is not None and type(record.origin.value) is list
    if is_list:
        return Content(tuple([held[at] for at in range(len(held))]), None)
    ordered = tuple if record.loose.isdisjoint(record.fields[name] for name in held) else Loose
    return Content(ordered(held.values()), ordered(held))


def _now(s: Specialiser, cell: Cell) -> Cell:
    """The cell of an attribute or item, or one that has what the memory has which stands for it."""
    held = s.state[cell]
    if isinstance(held, (Unsure, InList)) or (isinstance(held, Kept) and not (held.is_set and held.given is None)):
        raise NotSpecialisedError("__dict__")
    if not isinstance(held, Kept):
        return cell
    made, found = Cell(cell.name, item=True, of=cell), read(s, held, cell.name, s.relied.at)
    assert isinstance(found, Value)
    s.needless.add(found)
    s.state[made] = found
    return made


def missing(s: Specialiser, record: Record, name: str, place: Place | None) -> Value:
    """The exception of reading an attribute that an object does not have.

    Raises:
        NotSpecialisedError: where no statement can stand.
    """
    if s.expression:
        raise NotSpecialisedError("expression")
    return exception(s, AttributeError, _no_attribute(record, name), place)


def check(s: Specialiser, unsure: Unsure, error: type[Exception], text: str, place: Place | None = None) -> None:
    """Write the test of a value, unless it stands in the same block already.

    Raises:
        NotSpecialisedError: where nothing says whether there is a value, and where no statement can stand.
    """
    if unsure.given is None or s.expression:
        raise NotSpecialisedError("unset")
    if any(op.kind == "unary" and op.data == "not" and op.operands == (unsure.given,) for op in s.out):
        return
    test = s.emit("unary", (unsure.given,), "not", place=place)
    with s.apart() as out:
        raised = exception(s, error, text, place)
    arms = Region((), tuple(out), Exit("raise", (raised,), place)), Region((), (), Exit("yield"))
    s.write(Operation("if", (test,), (), None, arms, place))


def decided(s: Specialiser, test: Operand) -> list[dict[Cell, Abstract]]:
    """What cells hold where a condition is true, and where it is false, if it says whether they have a value."""
    unsure = {c: v for c, v in s.state.items() if isinstance(v, Unsure) and v.given is not None}
    if not unsure:
        return [{}, {}]
    is_negated = False
    for op in reversed(s.out):
        if test in op.results and (op.kind == "copy" or (op.kind == "unary" and op.data == "not")):
            is_negated ^= op.kind == "unary"
            (test,) = op.operands
    held = {c: v.value for c, v in unsure.items() if v.given is test}
    arms: list[dict[Cell, Abstract]] = [held, dict.fromkeys(held, UNSET)]
    return arms[::-1] if is_negated else arms


def undecided(before: State, arms: Sequence[tuple[dict[Cell, Abstract], State]]) -> None:
    """Let cells hold what they held before a condition was asked, where neither arm has given them another value."""
    for cell in {cell for held, _ in arms for cell in held}:
        if len(arms) == 2 and all(state[cell] is held[cell] for held, state in arms):
            for _, state in arms:
                dict.__setitem__(state, cell, before[cell])


def filled(s: Specialiser, shapes: Shapes, numbers: Iterable[int]) -> list[Operand]:
    """Some leaves of a shape, with None for those that have no value."""
    found = []
    for number in numbers:
        leaf, given = shapes.leaves[number], shapes.optional.get(number)
        if given is not None and isinstance(leaf, Value):
            regions = [Region((), (), Exit("yield", (operand,))) for operand in (leaf, NONE)]
            leaf = Value(shapes.titles[number])
            s.write(Operation("choose", (given,), (leaf,), None, tuple(regions)))
        found.append(leaf)
    return found


def alike(contents: list[Abstract]) -> list[Abstract]:
    """What an attribute is at each exit of a function, with what says whether it is, if that is not the same at all."""
    if not any(content is UNSET or isinstance(content, Unsure) for content in contents):
        return contents
    return [
        v if isinstance(v, Unsure) else Unsure(NONE if v is UNSET else v, Constant(v is not UNSET)) for v in contents
    ]


def _no_attribute(record: Record, name: str) -> str:
    return f"{record.cls.__name__!r} object has no attribute {name!r}"


def exception(s: Specialiser, error: type[Exception], text: str, place: Place | None) -> Value:
    operands = s.operands([s.outside(error, error.__name__), Constant(text)], place)
    return s.emit("call", operands, ("",), place=place)
