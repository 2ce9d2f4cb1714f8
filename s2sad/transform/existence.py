"""Operands of the residual program: objects that have to exist at run time, and copies under names of variables."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from s2sad.ir.code import Constant, Definition, Exit, Operand, Operation, Place, Region, Value
from s2sad.transform import sizes
from s2sad.transform.coded import list_of_objects
from s2sad.transform.constants import makes_array, makes_new, makes_number
from s2sad.transform.keys import key_operand
from s2sad.transform.known import (
    Abstract,
    Choice,
    Closure,
    Content,
    Items,
    Known,
    Method,
    NotSpecialisedError,
    Record,
    Row,
    Stream,
    Typed,
)
from s2sad.transform.later import code_again
from s2sad.transform.typed import operand_of

if TYPE_CHECKING:
    from s2sad.transform.specialiser import Specialiser


def ready(s: Specialiser, value: Abstract) -> Operand | None:
    """The operand that the new program has for a value already."""
    match value:
        case Value() | Constant():
            return value
        case Known() | Method() | Stream():
            return value.operand
        case Record() | Typed():
            return operand_of(s.state, value)
        case Items():
            content = s.content(value)
            if content is None:
                return s.dynamic(value)
            same = (s.ready(s.state[c]) is g for c, g in zip(content.slots, content.given, strict=False))
            return content.operand if content.operand is not None and all(same) else None
    return None


def tuple_made(s: Specialiser, row: Row) -> Value:
    """Make a tuple, which may have named fields."""
    items = tuple([s.dynamic(item) for item in row.items])
    if row.cls is tuple:
        return s.emit("tuple", items, (False,) * len(items))
    made = s.dynamic(s.outside(row.cls, row.cls.__name__))
    whole = s.emit("call", (made, *items), ("",) * len(items))
    s.named_tuples.add(whole)
    return whole


def named(s: Specialiser, value: Abstract, name: str, place: Place | None) -> Abstract:
    """A value under the name of a variable, of which the same is known."""
    if not name or not isinstance(value, Value) or value.name == name:
        return value
    copy = s.emit("copy", (value,), name=name, place=place)
    note_same(s, value, copy)
    return copy


def note_same(s: Specialiser, value: Abstract, other: Value) -> None:
    """Note of a value what is known of another one that is the same."""
    known = s.plain(value)
    if isinstance(known, Constant):
        s.constants[other] = known
    if not isinstance(value, Value):
        return
    if value in s.rows:
        s.rows[other] = s.rows[value]
    if value in s.types:
        s.types[other] = s.types[value]
    if value in s.scalars:
        s.scalars[other] = s.scalars[value]
    if value in s.foreign:
        s.foreign[other] = s.foreign[value]
    for values in (s.numbers, s.arrays):
        if value in values:
            values.add(other)


def note_returned(
    s: Specialiser, function: object, kinds: Sequence[str], given: Sequence[Operand], results: Sequence[Value]
) -> None:
    """Note what is known of what a function that is known gives."""
    if makes_array(function, kinds):
        s.arrays.update(results)
    elif makes_number(function):
        s.numbers.update(results)
    elif function is type and s.caught.issuperset(given):
        s.caught.update(results)
    if isinstance(function, type) and issubclass(function, BaseException) and function.__module__ == "builtins":
        s.errors.update(dict.fromkeys(results, function))
    if makes_new(function, kinds):
        s.relied.new.update(results)


def unpacked(s: Specialiser, value: Value, op: Operation, place: Place | None) -> tuple[Abstract, ...]:
    """The items of a tuple of the new program under names of variables, of which the same is known."""
    made = tuple([Value(result.name) for result in op.results])
    s.write(Operation("unpack", (value,), made, op.data, (), place))
    for item, result in zip(s.rows[value], made, strict=True):
        note_same(s, item, result)
    return tuple(
        [item if isinstance(item, Known) else result for item, result in zip(s.rows[value], made, strict=True)]
    )


def chosen(s: Specialiser, choice: Choice) -> Value:
    """One of two objects."""
    regions = []
    before = s.state
    for side in (choice.then, choice.orelse):
        with s.apart() as out:
            operand = s.dynamic(side)
            if any(s.state[cell] is not held for cell, held in before.items()):
                raise NotSpecialisedError("choice")
        regions.append(Region((), tuple(out), Exit("yield", (operand,))))
    made = Value()
    s.write(Operation("choose", (choice.test,), (made,), None, tuple(regions)))
    return made


def freeze(s: Specialiser, thing: Items | Closure, changes: bool) -> None:
    """Let a function, list or dict be an object of the new program; if it ``changes`` another may stand for it."""
    if isinstance(thing, Closure):
        if thing.identity not in s.state:
            raise NotSpecialisedError("function")
        if s.state.is_apart(thing.identity):
            s.state[thing.identity] = function_again(s, thing)
        return
    if thing.record is not None:
        raise NotSpecialisedError("__dict__")
    content = s.content(thing)
    if content is None:
        return
    operand = s.ready(thing)
    if operand is None and (whole := list_of_objects(s, thing, content)) is not None:
        s.state[thing.cell] = whole
        return
    values = [s.dynamic(s.state[slot]) for slot in content.slots]
    if operand is None:
        operand = display(s, thing, content, values, changes)
    s.state[thing.cell] = operand


def display(s: Specialiser, items: Items, content: Content, values: list[Operand], stands_in: bool = False) -> Value:
    """Write the display of a list, dict or set, which ``stands_in`` for a deque or dict of another class."""
    flags = (False,) * len(content.slots if content.keys is None else content.keys)
    keys = [s.dynamic(key_operand(key)) for key in content.keys or ()]
    name = items.cell.name if stands_in or items.cls in (list, dict, set) else ""
    if content.keys is None:
        made = s.emit("list", values, flags, name)
    elif items.cls is set:
        made = s.emit("set", keys, flags, name)
    else:
        pairs = [part for pair in zip(keys, values, strict=True) for part in pair]
        made = s.emit("dict", pairs, flags, name)
    if items.cls in (list, dict, set):
        return made
    if stands_in and items.cls in (deque, defaultdict, OrderedDict):
        s.stand_ins[made], s.used = content.factory, True
        return made
    s.relied.makes_others = True
    factory = [] if content.factory is None else [s.dynamic(content.factory)]
    cls = s.dynamic(s.outside(items.cls, items.cls.__name__))
    given = (made, *factory) if items.cls is deque else (*factory, made)
    return s.emit("call", (cls, *given), ("",) * len(given), items.cell.name)


def function_again(s: Specialiser, closure: Closure) -> Operand:
    """A function of the program as a value of the new program."""
    if closure.home is not s.making.home:
        raise NotSpecialisedError("function")
    definition = closure.definition
    frame = s.frame(closure)
    operands = [s.dynamic(closure.defaults[name]) for name in definition.defaults]
    data = Definition(code_again(s, definition.code, frame), defaults=definition.defaults)
    if closure.is_lambda:
        return s.emit("lambda", operands, data, place=closure.place)
    return s.emit("function", operands, data, definition.code.name, closure.place)


def read_path(s: Specialiser, known: Known, place: Place | None = None) -> Value:
    """Read an object that exists in the new program."""
    name, *attributes = known.path
    if known.cell is None and known.home is not None and not s.making.reads_alike(name, known.home):
        known, attributes = s.outside(known.value, known.path[-1]), []
    if known.cell is not None:
        name = s.making.refer(known.cell, known.path[0])
    found = s.emit("global", (), name, place=place)
    s.reads.add(found)
    s.needless.add(found)
    if s.sized and sizes.is_harmless(known.value):
        s.harmless.add(found)
    for attribute in attributes:
        found = s.emit("attribute", (found,), attribute, place=place)
        s.reads.add(found)
        s.needless.add(found)
        s.paths[found] = None
    s.paths[found] = known.value
    return found
