"""Objects that are no more than their attributes: namespaces, copies and changed copies of objects."""

from __future__ import annotations

import collections
import copy
import dataclasses
import dis
import types
from collections.abc import Mapping
from typing import Any

from s2sad.ir.code import NONE, UNSET, Constant, Operation, Value
from s2sad.runtime.classes import own_class, static_member
from s2sad.transform.classes import GETTER, MAKER
from s2sad.transform.containers import called, computed, items_of, run_through
from s2sad.transform.existing import guard_class
from s2sad.transform.iterators import Given
from s2sad.transform.keys import key_of_object, objects_in, with_objects
from s2sad.transform.known import (
    Abstract,
    Cell,
    InList,
    Items,
    Kept,
    Known,
    NotSpecialisedError,
    Record,
    Row,
    Unsure,
)
from s2sad.transform.objects import member_call
from s2sad.transform.specialiser import Done, Specialiser
from s2sad.transform.typed import operand_of


def new_object(s: Specialiser, cls: type, fields: Mapping[str, Abstract]) -> Record:
    """An object with some attributes."""
    record = Record(cls)
    s.state[record.identity] = Constant(None)
    for name, value in fields.items():
        cell = record.fields[name] = Cell(name, None, record)
        s.state[cell] = value
    s.used = True
    return record


def fields_of(s: Specialiser, record: Record) -> dict[str, Abstract]:
    """The attributes of an object.

    Raises:
        NotSpecialisedError: where not all of them are known.
    """
    found = {name: s.state[cell] for name, cell in record.fields.items() if cell in s.state}
    if record.own is not None:
        whole = s.dynamic(found.pop(""))
        read = {n: s.emit("attribute", (whole,), n) for n in sorted(record.own - found.keys())}
        s.needless.update(read.values())
        found |= read
    if any(value is UNSET or isinstance(value, (Kept, Unsure, InList)) for value in found.values()):
        raise NotSpecialisedError("attributes")
    return found


def namespace(given: Given) -> Done:
    """``SimpleNamespace(...)``."""
    return None if given.values else (new_object(given.s, types.SimpleNamespace, given.named),)


def _is_dataclass(value: Abstract) -> bool:
    return isinstance(value, Record) and dataclasses.is_dataclass(value.cls)


def replaced(given: Given) -> Done:
    """``dataclasses.replace(object, ...)``."""
    if len(given.values) != 1 or not _is_dataclass(given.values[0]):
        return None
    (record,) = given.values
    assert isinstance(record, Record)
    held, s = fields_of(given.s, record), given.s
    fields = {f.name: held[f.name] for f in dataclasses.fields(record.cls) if f.init}
    if given.named.keys() - fields.keys():
        # Those that are not passed on making cannot be replaced.
        return None
    changed = {**fields, **given.named}
    return (computed(s, "call", tuple(changed), (Known(record.cls), *changed.values()), given.op, given.frame),)


def class_of_tuples(given: Given) -> Done:
    """``collections.namedtuple(name, fields)`` of constants."""
    plain = [_constant(given.s, value) for value in given.values]
    if len(plain) != 2 or None in plain or given.named:
        return None
    name, fields = [value.value for value in plain if value is not None]
    make: Any = collections.namedtuple
    try:
        cls = make(name, fields, module=given.frame.home.resolver.globals.get("__name__"))
    except (TypeError, ValueError):
        return None
    given.s.used = True
    return (given.s.outside(cls, name),)


def _constant(s: Specialiser, value: Abstract) -> Constant | None:
    """A constant, or a list or tuple of such."""
    value = s.plain(value)
    row = s.row(value)
    if row is not None:
        items = [_constant(s, item) for item in row]
        return None if None in items else Constant([item.value for item in items if item is not None])
    return value if isinstance(value, Constant) and value is not UNSET else None


def _deep(given: Given, value: Abstract) -> Abstract:
    """What ``asdict`` makes of the value of a field."""
    s = given.s
    if _is_dataclass(value):
        assert isinstance(value, Record)
        fields = fields_of(s, value)
        names = [f.name for f in dataclasses.fields(value.cls)]
        return items_of(s, [_deep(given, fields[name]) for name in names], tuple(names))
    if isinstance(value, Items) and (content := s.content(value)) is not None and value.cls in (list, dict):
        if any(True for key in content.keys or () for _ in objects_in(key)):
            raise NotSpecialisedError("key")
        return items_of(s, [_deep(given, s.state[slot]) for slot in content.slots], content.keys)
    if isinstance(value, Row):
        return Row(tuple([_deep(given, item) for item in value.items]), value.cls)
    if isinstance(value, Value):
        function = s.outside(copy.deepcopy, "deepcopy")
        return s.emit("call", s.operands([function, value], given.op.place), ("",), value.name, given.op.place)
    if isinstance(value, Constant):
        return value
    raise NotSpecialisedError("asdict")


def as_dict(given: Given) -> Done:
    """``dataclasses.asdict(object)``."""
    return (_deep(given, given.values[0]),) if len(given.values) == 1 and _is_dataclass(given.values[0]) else None


def fields_of_class(given: Given) -> Done:
    """``dataclasses.fields(object)``, or of a class."""
    (value,) = given.values if len(given.values) == 1 and not given.named else (None,)
    cls = value.value if isinstance(value, Known) else value.cls if isinstance(value, Record) else None
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls) or own_class(cls) is None:
        return None
    guard_class(given.s, cls)
    given.s.used = True
    return (Row(tuple([given.s.outside(f, f.name) for f in dataclasses.fields(cls)])),)


def as_tuple(given: Given) -> Done:
    """``dataclasses.astuple(object)``."""
    made = as_dict(given)
    if not isinstance(made, tuple):
        return made
    row = run_through(given.s, _values(given.s, made[0]))
    return None if row is None else (Row(row),)


def _values(s: Specialiser, made: Abstract) -> Abstract:
    assert isinstance(made, Items)
    content = s.content(made)
    assert content is not None
    values = [s.state[slot] for slot in content.slots]
    if any(isinstance(value, Items) for value in values):
        raise NotSpecialisedError("astuple")
    return Row(tuple(values))


def copied(given: Given) -> Done:
    """``copy.copy(...)`` of an object, list or dict."""
    (value,) = given.values if len(given.values) == 1 else (None,)
    s = given.s
    if isinstance(value, Items) and (content := s.content(value)) is not None:
        s.used = True
        held = [s.state[slot] for slot in content.slots]
        return (items_of(s, held, content.keys, value.cls, content.factory),)
    if isinstance(value, Row):
        return (value,)
    if isinstance(value, Record) and isinstance(static_member(value.cls, "__copy__"), types.FunctionType):
        return member_call(s, value, "__copy__", [], given.op, given.frame)
    if not isinstance(value, Record) or not _copies_by_attributes(value.cls, "__copy__"):
        return None
    return (new_object(s, value.cls, fields_of(s, value)),)


def _copies_by_attributes(cls: type, method: str) -> bool:
    """Whether the copy of an object of a class has its attributes, or copies of them, and nothing else is done."""
    special = ("__getstate__", "__setstate__", "__reduce__", "__reduce_ex__", GETTER)
    plain = all(static_member(cls, name) is vars(object).get(name) for name in (*special, MAKER))
    return plain and static_member(cls, method) is None


def _uses_memo(method: types.FunctionType) -> bool:
    """Whether a ``__deepcopy__`` asks which objects have been copied already."""
    memo = method.__code__.co_varnames[1:2]
    return any(i.argval in memo for i in dis.get_instructions(method) if i.opname.startswith("LOAD_"))


class _Deep:
    """``copy.deepcopy`` of objects and containers that are known: what is one in the original is one in the copy.

    The values of the new program are copied together, since some may be one array under two names.
    """

    def __init__(self, given: Given) -> None:
        self.given, self.s = given, given.s
        self.values: dict[Value, Abstract] = {}
        self.made: dict[Cell, Abstract] = {}
        self.fields: dict[Cell, dict[str, Abstract]] = {}
        #: The object among these to which an argument leads; two may be one.
        self.existing: Record | None = None

    def look(self, value: Abstract) -> None:
        """Find the values to be copied."""
        match value:
            case Value():
                self.values[value] = value
            case Row():
                for item in value.items:
                    self.look(item)
            case Record() if operand_of(self.s.state, value) is not None and self.existing not in (None, value):
                raise NotSpecialisedError("deepcopy")
            case Record() if _copies_by_attributes(value.cls, "__deepcopy__"):
                self.existing = value if operand_of(self.s.state, value) is not None else self.existing
                fields = self.fields.setdefault(value.identity, fields_of(self.s, value))
                self.inside(value.identity, list(fields.values()))
            case Record() if (own := static_member(value.cls, "__deepcopy__")) is not None and value.origin is None:
                if not isinstance(own, types.FunctionType) or _uses_memo(own):
                    raise NotSpecialisedError("deepcopy")
            case Items() if (content := self.s.content(value)) is not None:
                named = [record for key in content.keys or () for record in objects_in(key)]
                self.inside(value.cell, [*named, *(self.s.state[slot] for slot in content.slots)])
            case Items():
                operand = self.s.dynamic(value)
                assert isinstance(operand, Value)
                self.values[operand] = operand
            case Constant():
                pass
            case Known() if isinstance(value.value, (type, types.FunctionType, types.BuiltinFunctionType)):
                pass
            case _:
                raise NotSpecialisedError("deepcopy")

    def inside(self, cell: Cell, held: list[Abstract]) -> None:
        if cell not in self.made:
            self.made[cell] = NONE
            for value in held:
                self.look(value)

    def copy(self) -> None:
        """Write the copies of values."""
        s, place = self.s, self.given.frame.place or self.given.op.place
        self.made.clear()
        function, values = s.outside(copy.deepcopy, "deepcopy"), list(self.values)
        if len(values) == 1:
            self.values = {values[0]: s.emit("call", s.operands([function, *values], place), ("",), "", place)}
        elif values:
            together = s.emit("tuple", values, (False,) * len(values), "", place)
            made = s.emit("call", s.operands([function, together], place), ("",), "", place)
            copies = tuple([Value(v.name) for v in values])
            s.write(Operation("unpack", (made,), copies, (len(copies), None), (), place))
            self.values = dict(zip(values, copies, strict=True))

    def of(self, value: Abstract) -> Abstract:
        """The copy of something."""
        match value:
            case Value():
                return self.values[value]
            case Row():
                return Row(tuple(map(self.of, value.items)), value.cls)
            case Record() if static_member(value.cls, "__deepcopy__") is not None:
                if value.identity not in self.made:
                    memo = items_of(self.s, [], ())
                    op, frame = self.given.op, self.given.frame
                    method = computed(self.s, "attribute", "__deepcopy__", (value,), op, frame)
                    self.made[value.identity] = called(self.s, method, [memo], op, frame)
                return self.made[value.identity]
            case Record():
                if value.identity not in self.made:
                    record = self.made[value.identity] = new_object(self.s, value.cls, {})
                    for name, held in self.fields[value.identity].items():
                        record.fields[name] = Cell(name, None, record)
                        self.s.state[record.fields[name]] = self.of(held)
                return self.made[value.identity]
            case Items():
                content = self.s.content(value)
                if content is None:
                    operand = self.s.dynamic(value)
                    return self.values[operand] if isinstance(operand, Value) else operand
                if value.cell not in self.made:
                    items = [self.of(self.s.state[slot]) for slot in content.slots]
                    keys = content.keys and tuple(map(self.key, content.keys))
                    self.made[value.cell] = items_of(self.s, items, keys, value.cls, content.factory)
                return self.made[value.cell]
        return value

    def key(self, key: Any) -> Any:
        """The copy of a key, which may be an object or have some in it."""
        copies = [self.of(record) for record in objects_in(key)]
        if not all(isinstance(made, Record) and key_of_object(self.s, made) for made in copies):
            raise NotSpecialisedError("key")
        return with_objects(key, iter(copies))


def deeply_copied(given: Given) -> Done:
    """``copy.deepcopy(...)`` of an object or container."""
    (value,) = given.values if len(given.values) == 1 and not given.named else (None,)
    if not isinstance(value, (Items, Row, Record)):
        return None
    deep = _Deep(given)
    deep.look(value)
    deep.copy()
    given.s.used = True
    return (deep.of(value),)
