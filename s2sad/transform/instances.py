"""Arguments that are objects of the user's classes, whose attributes the function sets or whose arrays it writes.

    def step(self, w):                        def step(self, w):
        self.n += 1                    ->         z = self.X @ w
        self.z = self.X @ w                       return np.sum(z**2)
        return np.sum(self.z**2)

Within the function, attributes that it sets are values of the residual program, so that derivatives pass through them;
the others are read from the object.  Arrays that it writes are copied at entry (`copy_of`).  The caller's object is not
changed, as no argument is.  That holds as long as the object and the memory of such arrays are reached in no other way:
`alone` and `in_one_place` check that at entry, where the types of the arguments do not exclude it.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2sad.effects.heap import Effort, TooMuch
from s2sad.effects.mod_ref import Program
from s2sad.effects.objects import ANYTHING, IMMUTABLE, Shape, item_field
from s2sad.frontend.resolve import Guard
from s2sad.frontend.summaries import code_of, is_trusted
from s2sad.frontend.touched import MOST
from s2sad.ir.attributes import AttributeType
from s2sad.ir.code import NONE, Constant, Place, Value
from s2sad.ir.types import Fact, describe
from s2sad.runtime.classes import does_as, functions_in, is_of_library, module_of, own_class, static_member
from s2sad.runtime.contents import attributes_of, cells_of
from s2sad.runtime.copies import Reach, is_followed
from s2sad.runtime.objects import array_of, copy_of
from s2sad.runtime.parts import ATOMS
from s2sad.runtime.reading import variables_of
from s2sad.transform.classes import is_generated, is_simple
from s2sad.transform.composites import Composite
from s2sad.transform.containers import items_of
from s2sad.transform.existing import guard_class, is_object
from s2sad.transform.known import Abstract, Cell, Items, NotSpecialisedError, Record
from s2sad.transform.regions import CHANGING
from s2sad.transform.specialiser import Specialiser

#: So many functions are looked at for the attributes that they set.
_MOST = 200
_STORES = frozenset(("STORE_ATTR", "DELETE_ATTR"))
_READS = frozenset(("LOAD_ATTR", "LOAD_METHOD"))
_ITEMS = frozenset(("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"))
_COMPARES = frozenset(("IS_OP", "CONTAINS_OP", "COMPARE_OP"))
#: What gives an array another shape or dtype.
_FORM = frozenset(("shape", "dtype", "strides"))
#: What runs where an object is made, or shown.
_ELSEWHERE = frozenset(("__init__", "__new__", "__post_init__", "__repr__", "__str__", "__format__", "__del__"))

#: So many items of a list or dict at most belong to its type, and what they are then.
_MOST_ITEMS = 32
_ITEM = (float, int, complex, bool, str, type(None), np.ndarray)


@dataclass(frozen=True)
class Instance:
    """The class of an argument, and the attributes that it has, with their types."""

    cls: type
    attributes: tuple[tuple[str, AttributeType], ...]


def attribute_types(value: Any) -> tuple[tuple[str, AttributeType], ...]:
    """The attributes of an object of a simple class of the user's with their types; none of anything else.

    Example:
        >>> attribute_types(1.0)
        ()
    """
    cls: Any = type(value)
    if not (is_simple_class(cls) and is_object(value)):
        return ()
    return tuple([(name, _type_of(held)) for name, held in attributes_of(value).items()])


@functools.lru_cache(maxsize=4096)
def is_simple_class(cls: Any) -> bool:
    """Whether objects of a class of the user's are no more than a dictionary of attributes and the class's methods."""
    return isinstance(cls, type) and bool(cls.__dictoffset__) and is_simple(cls)


def _type_of(value: Any) -> AttributeType:
    if type(value) is np.ndarray and value.dtype.kind in "fiubc":
        return AttributeType(np.ndarray, value.dtype.char, value.ndim)
    return AttributeType(type(value), parts=_parts_of(value))


def _parts_of(value: Any) -> tuple[tuple[Any, AttributeType], ...] | None:
    """The types of the items of a small dict, or list of arrays."""
    if type(value) not in (list, dict) or len(value) > _MOST_ITEMS:
        return None
    pairs = list(value.items() if type(value) is dict else enumerate(value))
    allowed = _ITEM if type(value) is dict else (np.ndarray,)
    if not all(type(key) in (str, int) and type(item) in allowed for key, item in pairs):
        return None
    return tuple([(key, _type_of(item)) for key, item in pairs])


@dataclass(frozen=True)
class Changed:
    """The names of the attributes that functions may set, and of those whose lists or dicts they may change."""

    stored: frozenset[str] = frozenset()
    items: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.stored or self.items)


def changed_by(function: types.FunctionType, cls: type) -> Changed:
    """The attributes of an argument of a class that a function, or one that it calls by name, may change.

    None counts as changed where too many functions are called to tell.
    """
    called = reached(function, cls)
    if len(called) >= _MOST:
        return Changed()
    found = [_changed(f.__code__) for f in called]
    return Changed(frozenset().union(*(c.stored for c in found)), frozenset().union(*(c.items for c in found)))


def reached(function: types.FunctionType, cls: type) -> list[types.FunctionType]:
    """A function and those that it may call by name: of its module, and methods of a class."""
    found: dict[int, types.FunctionType] = {id(function): function}
    pending = [function]
    special = [m for n, m in _members(cls) if n[:2] == "__" and n not in _ELSEWHERE]
    for member in special:
        pending += [f for f in functions_in(member) or () if found.setdefault(id(f), f) is f]
    while pending and len(found) < _MOST:
        called = pending.pop()
        members = [static_member(cls, name) for name in _names(called.__code__)]
        values = [value for _, value in variables_of(called)]
        for value in (*members, *values):
            for inner in functions_in(value) or () if not isinstance(value, type) else ():
                if id(inner) not in found and not is_of_library(module_of(inner)):
                    found[id(inner)] = inner
                    pending.append(inner)
    return list(found.values())


def _gives_to_methods(function: types.FunctionType, cls: type) -> bool:
    """Whether a function, or one that it calls by name, may call a method of a class that may write what it is given.

    Any method of a dataclass counts, whose fields may carry derivatives; operators of the class are none.
    """
    needed = 0 if dataclasses.is_dataclass(cls) else 1
    own = set()
    for name, member in _members(cls):
        own_arguments = needed + (not does_as(member, staticmethod, property))
        if name[:2] != "__":
            own |= {id(f) for f in functions_in(member) or () if _arguments(f) >= own_arguments}
    return any(id(f) in own for f in reached(function, cls) if f is not function)


def _arguments(function: types.FunctionType) -> int:
    return function.__code__.co_argcount + function.__code__.co_kwonlyargcount


def _compares(function: types.FunctionType, cls: type) -> bool:
    """Whether a function, or one that it calls by name, may ask whether two objects are one."""
    written = [f for f in reached(function, cls) if not is_generated(f)]
    return any(i.opname in _COMPARES for f in written for i in _steps(f.__code__))


def _steps(code: types.CodeType) -> Iterator[dis.Instruction]:
    yield from dis.get_instructions(code)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _steps(inner)


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    for base in cls.__mro__[:-1]:
        yield from vars(base).items()


def _names(code: types.CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


@functools.lru_cache(maxsize=4096)
def _changed(code: types.CodeType) -> Changed:
    """The attributes that a function with this code changes itself."""
    steps = list(dis.get_instructions(code))
    names = {i.argval for i in steps if i.opname in _READS}
    stored = {i.argval for i in steps if i.opname in _STORES}
    # Whether it is items of an attribute that are stored or a method of it that is called is not looked at.
    items = names if any(i.opname in _ITEMS for i in steps) or not CHANGING.isdisjoint(names) else set[str]()
    inner = [_changed(c) for c in code.co_consts if isinstance(c, types.CodeType)]
    return Changed(
        frozenset(stored.union(*(c.stored for c in inner))), frozenset(items.union(*(c.items for c in inner)))
    )


def with_attributes(name: str, value: Any, fact: Fact, function: types.FunctionType) -> Fact:
    """The type of an argument with the types of its attributes, if the function is to be given it in parts.

    That is where it may set some, or write their arrays, and where methods are called that have to be followed.

    Args:
        name: The parameter.
        value: The argument, an object of a simple class.
        fact: Its type.
        function: The function.
    """
    changed = changed_by(function, type(value))
    own = tuple([(n, t if n in changed.items else t._replace(parts=None)) for n, t in attribute_types(value)])
    writes = (own and changed) or _gives_to_methods(function, type(value))
    if not writes and not arrays_written(function, name, Instance(type(value), own)):
        return fact
    items = fact.items
    if items is None:
        steady = attributes_of(value).keys() - changed.stored if _keeps_form(changed) else ()
        found = [(n, describe(attributes_of(value)[n], f"{name}.{n}")) for n, kind in own if n in steady and kind.dtype]
        items = tuple(found) or None
    return replace(fact, items=items, attributes=own)


def _keeps_form(changed: Changed) -> bool:
    """Whether arrays keep their number of axes and dtype."""
    return _FORM.isdisjoint(changed.stored) and "resize" not in changed.items


def instances_among(facts: Mapping[str, Fact]) -> dict[str, Instance]:
    """The arguments that are objects which the function is to be given in parts (`with_attributes`), by parameter."""
    found = {name: (fact.owners, fact.attributes) for name, fact in facts.items() if fact.attributes is not None}
    return {name: Instance(next(iter(owners)), own) for name, (owners, own) in found.items() if len(owners) == 1}


def part(
    s: Specialiser,
    function: types.FunctionType,
    instances: Mapping[str, Instance],
    params: dict[str, Value],
    place: Place | None,
    composites: Mapping[str, Composite],
) -> dict[str, tuple[Record, tuple[str, ...] | None]]:
    """Take the arguments of a function that are objects apart; what stands for each parameter, and what was copied.

    Copies are made of the lists, dicts and arrays among the attributes of which the function may change items.  It is
    None for an object that may as well be reached in another way, since nothing sets its attributes or asks which
    object it is.

    Args:
        s: The specialiser.
        function: The function.
        instances: The arguments that are objects, by parameter.
        params: The values of the parameters.
        place: Where the function begins.
        composites: Of which objects arguments are made.

    Raises:
        NotSpecialisedError: where a variable of the module leads to an object of such a class.
    """
    made: dict[str, tuple[Record, tuple[str, ...] | None]] = {}
    for name, instance in instances.items():
        cls, changed, copied = instance.cls, changed_by(function, instance.cls), []
        arrays = arrays_written(function, name, instance)
        is_alone = bool(changed or arrays) or _compares(function, cls)
        if is_alone:
            _check_variables(s, function, cls)
        guard_class(s, cls)
        record = Record(cls, own=frozenset(n for n, _ in instance.attributes), made_of=composites.get(name))
        s.state[record.identity] = Constant(None)
        record.fields[""] = Cell(name, None, record)
        s.state[record.fields[""]] = params[name]
        for attribute, kind in instance.attributes:
            has_items = (kind.cls in (list, dict) and attribute in changed.items) or attribute in arrays
            is_plain = not hasattr(type(static_member(cls, attribute)), "__set__")
            if is_plain and (has_items or attribute in changed.stored):
                is_array = bool(kind.dtype)
                read = _read(s, params[name], attribute, kind, place, attribute in arrays)
                content: Abstract = read
                if has_items:
                    copied.append(attribute)
                if has_items and kind.parts is not None and attribute not in arrays:
                    content = _in_parts(s, read, kind, place)
                elif has_items and not is_array:
                    content = _copied(s, read, kind.cls, place)
                record.fields[attribute] = Cell(attribute, None, record)
                s.state[record.fields[attribute]] = s.named(content, attribute, place) if has_items else content
        made[name] = record, tuple(copied) if is_alone else None
    s.used = s.used or bool(made)
    return made


def arrays_written(function: types.FunctionType, param: str, instance: Instance) -> frozenset[str]:
    """The attributes of an argument that have, or hold, arrays into which a function may write.

    That is what the points-to analysis says.

    Args:
        function: The function.
        param: Its parameter.
        instance: The class and attributes of the argument.
    """
    code = code_of(function)
    arrays = frozenset(name for name, kind in instance.attributes if _has_arrays(kind))
    if not arrays or code is None:
        return frozenset()
    program = Program(code_of, trusted=is_trusted, effort=Effort(MOST))
    known = program.function(function)
    assert known is not None
    index = next((n for n, p in enumerate(code.params) if p.name == param), None)
    fields = tuple([(name, _shape(kind)) for name, kind in sorted(instance.attributes)])
    if index is None:
        return frozenset()
    try:
        context = program.context(known, {index: Shape(instance.cls, None, fields)})
    except (TooMuch, RecursionError):
        return frozenset()
    mod = [o for o, _ in context.summary.mod if o.kind == "param" and o.path[0] == index]
    # That another item is put into a list or dict is no write into an array of it.
    return arrays.intersection(o.path[1] for o in mod if o.path[1:] and (o.cls is np.ndarray or len(o.path) > 2))


def _has_arrays(kind: AttributeType) -> bool:
    is_array = bool(kind.dtype and kind.axes)
    return is_array or any(_has_arrays(part) for _, part in kind.parts or ())


def _shape(kind: AttributeType) -> Shape | None:
    """What is known of an attribute by its type."""
    if kind.dtype:
        return Shape(np.ndarray, None, ())
    if kind.parts is not None:
        fields = [(item_field(key, kind.cls), _shape(part)) for key, part in kind.parts]
        return Shape(kind.cls, None, tuple(dict(fields).items()))
    return None if kind.cls in IMMUTABLE else ANYTHING


def _read(s: Specialiser, whole: Value, name: str, kind: AttributeType, place: Place | None, is_written: bool) -> Value:
    """An attribute of an argument as it is at entry; a copy of an array that is written."""
    found = s.emit("attribute", (whole,), name, place=place)
    s.needless.add(found)
    return _known(s, found, kind, place, is_written)


def _known(s: Specialiser, read: Value, kind: AttributeType, place: Place | None, is_written: bool = False) -> Value:
    """An attribute or item that has been read, with what is known of it; a copy of an array that is written."""
    if kind.cls in (int, float, complex):
        s.numbers.add(read)
    if not (kind.dtype and kind.axes):
        return read
    function = s.outside(copy_of, "copy_of") if is_written else s.outside(array_of, "array_of")
    operands = s.operands([function, read, Constant(kind.axes), Constant(kind.dtype)], place)
    made = s.emit("call", operands, ("", "", ""), place=place)
    s.needless.add(made)
    return made


def _in_parts(s: Specialiser, whole: Value, kind: AttributeType, place: Place | None) -> Items:
    """A list or dict with the items that one among the attributes has at entry."""
    items: list[Abstract] = []
    for key, part in kind.parts or ():
        read = s.emit("item", (whole, Constant(key)), place=place)
        s.needless.add(read)
        items.append(_known(s, read, part, place))
    return items_of(s, items, [key for key, _ in kind.parts or ()] if kind.cls is dict else None, kind.cls)


def _copied(s: Specialiser, value: Value, cls: type, place: Place | None) -> Value:
    """A copy of a list or dict."""
    operands = (value,) if cls is list else (NONE, value)
    found = s.emit("list" if cls is list else "dict", operands, (True,), place=place)
    s.needless.add(found)
    return found


@dataclass(frozen=True)
class _Leads:
    """Whether a value leads to an object of a class."""

    cls: type

    def __call__(self, value: Any) -> bool:
        if isinstance(value, type):
            value = [member for base in value.__mro__ if own_class(base) is not None for member in vars(base).values()]
        return any(type(x) is self.cls for x in Reach([value]).objects.values())


def _check_variables(s: Specialiser, function: types.FunctionType, cls: type) -> None:
    """Let the new program rest on that no variable which the function may read leads to an object of a class.

    Raises:
        NotSpecialisedError: if one does.
    """
    leads = _Leads(cls)
    for called in reached(function, cls):
        cells = cells_of(called)
        for name, value in (*variables_of(called), (cls.__name__, cls)):
            if isinstance(value, (types.ModuleType, types.FunctionType)) or type(value) in ATOMS:
                continue
            if leads(value):
                raise NotSpecialisedError("elsewhere")
            if not isinstance(value, type) and is_followed(value):
                s.guard(Guard(cells.get(name, called.__globals__), name, False, leads))
