"""Lists, dicts and the like of known structure: how they are made, read and changed; what runs through them."""

from __future__ import annotations

import itertools
import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from s2sad.ir.code import NONE, UNSET, Constant, Operand, Operation, Place, Value
from s2sad.transform import sizes, taken, typed
from s2sad.transform.held import held_items, held_keys, is_held, is_held_dict, runs_as_it_is
from s2sad.transform.keys import MemberKey, ObjectKey, existing_key, is_member, key_of_object, key_operand, title_of
from s2sad.transform.known import (
    Abstract,
    Cell,
    Choice,
    Content,
    Items,
    Known,
    Late,
    Lazy,
    Method,
    NotSpecialisedError,
    Part,
    Record,
    Row,
    Stream,
    Unsure,
)
from s2sad.transform.specialiser import Frame, Specialiser

#: Classes whose objects have items under keys, and those whose objects have them in a row.
MAPPINGS = (dict, OrderedDict, defaultdict, Counter)
SEQUENCES = (list, deque)
#: How many items there are at most that a list or dict is known to have, and rounds that are written out.
MOST_ITEMS = 64
#: How many objects in a list are so few that loops are written out for them.
FEW_OBJECTS = 16
#: Methods that derivatives go through only where the items are known.
UNKNOWN = frozenset(
    "setdefault popitem update insert extend remove clear reverse sort popleft appendleft extendleft rotate "
    "move_to_end _replace _asdict".split()
)


# --- making and reading


def items_of(
    s: Specialiser,
    items: Sequence[Abstract],
    keys: Sequence[Any] | None = None,
    cls: type | None = None,
    factory: Abstract | None = None,
) -> Items:
    """A list of known items, or a dict if there are keys, or an object of another such class."""
    cell = Cell("")
    made = cell.whole = Items(cell, cls or (list if keys is None else dict))
    write(s, made, items, keys, factory)
    return made


def write(
    s: Specialiser,
    items: Items,
    values: Sequence[Abstract],
    keys: Sequence[Any] | None = None,
    factory: Abstract | None = None,
) -> None:
    """Let a list or dict hold some values, each in a new place."""
    if len(values) > MOST_ITEMS:
        raise NotSpecialisedError("many items")
    titles = [""] * len(values) if keys is None else [title_of(key) for key in keys]
    slots = tuple([Cell(title, item=True) for title in titles]) if values else ()
    for slot, value in zip(slots, values, strict=True):
        s.state[slot] = value
    s.state[items.cell] = Content(slots, None if keys is None else tuple(keys), factory=factory)


def displayed(s: Specialiser, items: Items, kind: str, name: str, place: Place | None) -> Items:
    """Write the display of a list or dict at once if all of its items are operands of the new program."""
    content = s.content(items)
    assert content is not None
    items.cell.name = name
    values = [s.state[slot] for slot in content.slots]
    given = [s.ready(value) for value in values]
    if any(value is None for value in given) or (kind == "dict" and not _are_plain(content.keys)):
        return items
    operands: list[Operand] = [value for value in given if value is not None]
    if content.keys is not None:
        operands = [part for key, v in zip(content.keys, operands, strict=True) for part in (Constant(key), v)]
    operand = s.emit(kind, operands, (False,) * len(values), name, place)  # type: ignore[arg-type]
    s.needless.add(operand)
    s.state[items.cell] = Content(content.slots, content.keys, operand, tuple(v for v in given if v is not None))
    return items


def _are_plain(keys: Sequence[Any] | None) -> bool:
    return not any(isinstance(key, (tuple, MemberKey, ObjectKey)) for key in keys or ())


def key_of(s: Specialiser, value: Abstract) -> Constant | None:
    """The key that a value is, as a constant, which may be a tuple; None if it is not known."""
    value = s.plain(value)
    row = s.row(value) if isinstance(value, (Value, Row)) else None
    if row is not None and not (isinstance(value, Row) and value.cls is not tuple):
        parts = [key_of(s, item) for item in row]
        return None if None in parts else Constant(tuple([part.value for part in parts if part is not None]))
    if isinstance(value, Known) and is_member(value.value):
        return existing_key(s, value.value) if value.operand is not None else Constant(MemberKey(value.value, value))
    if isinstance(value, Record):
        found = key_of_object(s, value)
        return None if found is None else Constant(found)
    if not isinstance(value, Constant) or value is UNSET:
        return None
    known = isinstance(value.value, (str, int, type(None))) or (
        isinstance(value.value, float) and not math.isnan(value.value)
    )
    return value if known else None


def member_of_set(s: Specialiser, value: Abstract) -> Constant | None:
    """A constant or class that is put into a set."""
    is_class = isinstance(value, Known) and type(value.value) is type
    return Constant(value.value) if is_class else key_of(s, value)  # type: ignore[union-attr]


def position(content: Content, key: Any) -> int | None:
    """Where a dict has a key."""
    assert content.keys is not None
    return content.keys.index(key) if key in content.keys else None


def members(s: Specialiser, value: Abstract) -> Sequence[Abstract] | None:
    """What ``in`` looks through, where that is known."""
    if isinstance(value, Stream) and value.is_view and all(s.state[cell] is held for cell, held in value.sources):
        return [asked(s, item) for item in left(s, value)]
    content = s.content(value) if isinstance(value, Items) else None
    keys = held_keys(s, value) if content is None else content.keys
    return s.row(value) if keys is None else list(map(key_operand, keys))


def is_key(s: Specialiser, value: Abstract, items: Abstract) -> bool | None:
    """Whether a value is among the keys of a dict or the elements of a set, where both are known."""
    content = s.content(items) if isinstance(items, Items) else None
    key = key_of(s, value) if content is not None and content.keys is not None else None
    return None if content is None or content.keys is None or key is None else key.value in content.keys


def elements(s: Specialiser, value: Abstract) -> tuple[Abstract, ...] | None:
    """What a loop over a tuple, list or dict gives, where this is known."""
    if isinstance(value, Items) and (content := s.content(value)) is not None and content.keys is not None:
        # In which order a set has constants nobody says here; that of objects follows from where they are in memory.
        ordered = value.cls is not set or all(isinstance(key, ObjectKey) for key in content.keys)
        return tuple(map(key_operand, content.keys)) if ordered else None
    if isinstance(value, Known) and is_held(value):
        held = held_items(s, value)
        if held is not None:
            return tuple(map(key_operand, held)) if is_held_dict(value) else tuple(held.values())
    return s.row(value)


# --- changing


def change(s: Specialiser, items: Items, slots: Sequence[Cell], keys: Sequence[Any] | None = None) -> None:
    """Let a list or dict consist of some of its items."""
    content = s.content(items)
    assert content is not None
    s.used = True
    if items.cls is deque and isinstance(content.factory, Constant):
        slots = slots[max(len(slots) - content.factory.value, 0) :]
    if len(slots) > MOST_ITEMS:
        raise NotSpecialisedError("many items")
    if items.record is not None:
        names = content.keys or tuple(range(len(content.slots)))
        taken.set_fields(s, items.record, names, dict(zip(keys or range(len(slots)), slots, strict=True)))
    else:
        s.state[items.cell] = Content(tuple(slots), None if keys is None else tuple(keys), factory=content.factory)


def is_replaced(s: Specialiser, items: Items, index: Abstract, value: Abstract) -> bool:
    """Set an item of a list or dict that exists and surely, or maybe, has one there already; False if that is another.

    What else it holds need not be known.
    """
    record, key = items.record, key_of(s, index)
    cell = None if record is None or key is None else record.fields.get(key.value)
    if record is None or key is None or cell is None or s.state.get(cell, UNSET) is UNSET:
        return False
    if isinstance(s.state[cell], Unsure):
        record.loose.add(cell)
    taken.set_field(s, record, key.value, value)
    return True


def put_at(s: Specialiser, items: Items, at: int, value: Abstract) -> None:
    """Put a value in the place of another one."""
    content = s.content(items)
    assert content is not None
    if items.record is not None:
        taken.set_field(s, items.record, at if content.keys is None else content.keys[at], value)
    else:
        s.state[content.slots[at]] = value


def slot(s: Specialiser, value: Abstract, key: Any = "") -> Cell:
    """A place for an item."""
    made = Cell(title_of(key), item=True)
    s.state[made] = value
    return made


def put(s: Specialiser, items: Items, key: Any, value: Abstract) -> None:
    """``items[key] = value`` for a dict."""
    content = s.content(items)
    assert content is not None
    assert content.keys is not None
    at = position(content, key)
    if items.record is not None:
        taken.set_field(s, items.record, key, value)
    elif at is not None:
        put_at(s, items, at, value)
    else:
        change(s, items, (*content.slots, slot(s, value, key)), (*content.keys, key))


# --- running through


def stream(
    s: Specialiser,
    items: Sequence[Abstract | Cell],
    over: Sequence[Abstract],
    is_view: bool = False,
    operand: Operand | None = None,
) -> Stream:
    """What runs through known items, made of some values; the new program may have it as an ``operand``."""
    cell = Cell("items")
    s.state[cell] = Row(tuple(items))  # type: ignore[arg-type]
    sources = [(v.cell, s.state[v.cell]) for v in over if isinstance(v, Items)]
    inner = [source for v in over if isinstance(v, Stream) for source in v.sources]
    return Stream(cell, (*sources, *inner), is_view, operand)


#: What methods of dicts that are run through give for a key and an item.
_VIEWS: dict[str, Callable[[Any, Abstract], Abstract]] = {
    "keys": lambda key, item: key_operand(key),
    "values": lambda key, item: item,
    "items": lambda key, item: Row((key_operand(key), item)),
}


def view(s: Specialiser, method: Method, pairs: Sequence[tuple[Any, Abstract]], place: Place | None) -> Stream:
    """What a method of a dict that exists gives, of which the keys and items are known."""
    operand = s.emit("call", s.operands([method], place), (), place=place)
    s.needless.add(operand)
    assert isinstance(method.function, Known)
    given = _VIEWS[method.function.value.__name__]
    made = stream(s, [given(key, item) for key, item in pairs], (), True, operand)
    return replace(made, of_structures=True, is_keys=given is _VIEWS["keys"])


def left(s: Specialiser, value: Stream) -> tuple[Abstract | Cell, ...]:
    """The items that an iterator or view still has, as they stand there."""
    content = s.state[value.cell]
    if not isinstance(content, Row) or any(s.state[cell] is not before for cell, before in value.sources):
        raise NotSpecialisedError("iterator")
    return content.items


def asked(s: Specialiser, item: Abstract | Cell) -> Abstract:
    """An item of an iterator when it is asked for."""
    if isinstance(item, Cell):
        if item.of is not None:
            # Memory may have something else by now.
            raise NotSpecialisedError("items")
        return s.state[item]
    if isinstance(item, Part):
        return sizes.item(s, item.whole, item.key)
    if isinstance(item, Row) and any(isinstance(part, (Cell, Part, Row)) for part in item.items):
        return Row(tuple([asked(s, part) for part in item.items]), item.cls)
    return item


def places(s: Specialiser, value: Abstract) -> tuple[Abstract | Cell, ...] | None:
    """What a loop over a value gives, where this is known: cells stand for what they hold then."""
    if isinstance(value, Items) and (content := s.content(value)) is not None and content.keys is None:
        return content.slots
    return _parts(s, value) if is_counted(s, value) else elements(s, value)


def is_counted(s: Specialiser, value: Abstract) -> bool:
    """Whether a value is an operand of the new program of which it is known that it has few items, and how many."""
    number = sizes.count(s, value)
    return number is not None and number <= MOST_ITEMS


def is_long(s: Specialiser, value: Abstract) -> bool:
    """Whether so many items are known that a loop over them rather fills a list of objects than is written out."""
    if s.relied.items != "leaves" or s.relied.writes_out:
        return False
    if isinstance(value, Known) and isinstance(value.value, range):
        return len(value.value) > FEW_OBJECTS
    if isinstance(value, Stream):
        items = s.state[value.cell]
        return isinstance(items, Row) and len(items.items) > FEW_OBJECTS
    number = sizes.count(s, value)
    return number is not None and number > FEW_OBJECTS


def _parts(s: Specialiser, value: Abstract) -> tuple[Abstract, ...]:
    """The items of a value of which it is known how many it has; the keys of a dict."""
    assert isinstance(value, Value)
    keys = sizes.keys(s, value)
    if keys is not None:
        return tuple(map(key_operand, keys))
    return tuple([Part(value, number) for number in range(sizes.count(s, value) or 0)])


def view_of_operand(s: Specialiser, method: Late, place: Place | None) -> Stream | None:
    """What ``items()`` and the like give of a dict that is an operand of the new program, if its keys are known."""
    whole = method.receiver
    keys = sizes.keys(s, whole) if isinstance(whole, Value) else None
    if not isinstance(whole, Value) or keys is None or len(keys) > MOST_ITEMS or method.name not in _VIEWS:
        return None
    operand = s.emit("call", s.operands([method], place), (), place=place)
    s.needless.add(operand)
    given = _VIEWS[method.name]
    made = stream(s, [given(key, Part(whole, key)) for key in keys], (), True, operand)
    return replace(made, is_keys=method.name == "keys")


def one_by_one(s: Specialiser, value: Abstract, first: int = 0) -> Iterator[Abstract]:
    """The items of a known value, each as it stands there when it is asked for, where the ``first`` ones have been."""
    if isinstance(value, Lazy):
        if first or not (value.resumes or s.state.get(value.cell) is NONE):
            raise NotSpecialisedError("iterator")
        if not value.resumes:
            s.state[value.cell] = UNSET
        yield from value.rounds()
        return
    if is_counted(s, value):
        yield from (asked(s, part) for part in _parts(s, value)[first:])
        return
    number = first
    if isinstance(value, Stream):
        # An iterator has come as far already.
        number = first if value.is_view else 0
        while (items := left(s, value))[number:]:
            if value.is_view:
                number += 1
            else:
                s.state[value.cell] = Row(items[1:])  # type: ignore[arg-type]
            yield asked(s, items[number - value.is_view])
        return
    before = s.content(value) if isinstance(value, Items) else None
    while (row := elements(s, value)) is not None:
        now = s.content(value) if isinstance(value, Items) else None
        if before is not None and now is not None and before.keys != now.keys:
            raise NotSpecialisedError("iterator")
        if number >= len(row):
            return
        number += 1
        yield row[number - 1]
    raise NotSpecialisedError("loop")


def is_known(s: Specialiser, value: Abstract) -> bool:
    """Whether the items of a value are known, of one that is no operand."""
    if isinstance(value, (Stream, Lazy)) or is_held(value) or typed.differ(value):
        return True
    return isinstance(value, (Row, Items)) and elements(s, value) is not None


def is_object_as_well(s: Specialiser, value: Abstract) -> bool:
    """Whether a loop can run through a value as an object of the new program."""
    if isinstance(value, Known):
        return runs_as_it_is(value)
    if typed.differ(value):
        return False
    if isinstance(value, Stream) and value.of_structures:
        return False
    return not (isinstance(value, Items) and value.cls in MAPPINGS) and s.ready(value) is not None


def numbered(value: Abstract) -> Abstract:
    """The numbers of a known range or the characters of a known text, or the value itself."""
    if isinstance(value, Known) and isinstance(value.value, range):
        return Row(tuple(map(Constant, value.value)))
    if isinstance(value, Constant) and isinstance(value.value, str):
        return Row(tuple(map(Constant, value.value)))
    return value


def run_through(s: Specialiser, value: Abstract) -> tuple[Abstract, ...] | None:
    """The items that a loop over a value gives, where these are known; an iterator has none then."""
    if not isinstance(value, (Stream, Lazy)):
        return elements(s, value)
    found = tuple(itertools.islice(one_by_one(s, value), MOST_ITEMS + 1))
    if len(found) > MOST_ITEMS:
        raise NotSpecialisedError("many items")
    return found


def keyed(s: Specialiser, pairs: Sequence[Abstract] | None) -> list[tuple[object, Abstract]] | None:
    """Pairs of keys and values; None where a key is not known."""
    found: list[tuple[object, Abstract]] = []
    for pair in pairs or ():
        row = run_through(s, pair)
        key = key_of(s, row[0]) if row is not None and len(row) == 2 else None
        if row is None or key is None:
            return None
        found.append((key.value, row[1]))
    return None if pairs is None else found


def rounds(s: Specialiser, value: Abstract) -> tuple[Abstract | Cell, ...] | None:
    """The items of a value that something else runs through from now on, and nobody besides."""
    if isinstance(value, Lazy):
        return None
    if not isinstance(value, Stream):
        return places(s, value)
    items = left(s, value)
    if not value.is_view:
        s.state[value.cell] = NONE
    return items


# --- operations that are none of the program


def computed(s: Specialiser, kind: str, data: Any, values: Sequence[Abstract], op: Operation, frame: Frame) -> Abstract:
    """What an operation gives for some values that are none of the program's."""
    result = Value()
    performed(s, kind, data, values, op, frame, (result,))
    return s.get(result, frame)


def performed(
    s: Specialiser,
    kind: str,
    data: Any,
    values: Sequence[Abstract],
    op: Operation,
    frame: Frame,
    results: tuple[Value, ...] = (),
) -> None:
    """Do an operation that is none of the program's."""
    operands = tuple([Value() for _ in values])
    frame.env.update(zip(operands, values, strict=True))
    if s.operation(Operation(kind, operands, results, data, (), op.place), frame) is not None:  # type: ignore[arg-type]
        raise NotSpecialisedError("end")


def called(s: Specialiser, function: Abstract, args: Sequence[Abstract], op: Operation, frame: Frame) -> Abstract:
    """What a function gives for some arguments."""
    return computed(s, "call", ("",) * len(args), (function, *args), op, frame)


def may_be_none(function: Abstract) -> bool:
    """Whether what stands where a function or None may stand is None, or nobody knows."""
    if isinstance(function, Choice):
        return may_be_none(function.then) or may_be_none(function.orelse)
    return isinstance(function, (Constant, Value))


Thunk = Callable[[], Iterator[Abstract]]


def lazy(s: Specialiser, thunk: Thunk) -> Lazy:
    """What makes items when it is run through."""
    cell = Cell("items")
    s.state[cell] = NONE
    return Lazy(thunk, cell)
