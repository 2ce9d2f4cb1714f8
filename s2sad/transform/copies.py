"""Objects that are no more than their attributes: namespaces, copies and changed copies of objects."""

from __future__ import annotations

import copy
import dataclasses
import types
from collections.abc import Mapping

from s2sad.ir.code import UNSET, Constant, Value
from s2sad.runtime.classes import static_member
from s2sad.transform.containers import computed, items_of, run_through
from s2sad.transform.iterators import Given
from s2sad.transform.known import (
    Abstract,
    Cell,
    Items,
    Known,
    NotSpecialisedError,
    Record,
    Row,
    Unsure,
)
from s2sad.transform.specialiser import Done, Specialiser


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
    """The attributes of an object."""
    found = {name: s.state[cell] for name, cell in record.fields.items() if cell in s.state}
    if any(value is UNSET or isinstance(value, Unsure) for value in found.values()):
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
    if len(fields) < len(dataclasses.fields(record.cls)):
        return None
    changed = {**fields, **given.named}
    return (computed(s, "call", tuple(changed), (Known(record.cls), *changed.values()), given.op, given.frame),)


def _deep(given: Given, value: Abstract) -> Abstract:
    """What ``asdict`` makes of the value of a field."""
    s = given.s
    if _is_dataclass(value):
        assert isinstance(value, Record)
        fields = fields_of(s, value)
        names = [f.name for f in dataclasses.fields(value.cls)]
        return items_of(s, [_deep(given, fields[name]) for name in names], tuple(names))
    if isinstance(value, Items) and (content := s.content(value)) is not None and value.cls in (list, dict):
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
    if not isinstance(value, Record) or static_member(value.cls, "__copy__") is not None:
        return None
    special = ("__getstate__", "__setstate__", "__reduce__", "__reduce_ex__")
    if any(static_member(value.cls, name) is not vars(object).get(name) for name in special):
        return None
    return (new_object(s, value.cls, fields_of(s, value)),)
