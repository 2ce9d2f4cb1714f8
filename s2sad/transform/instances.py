"""Arguments that are objects of the user's classes, whose attributes the function sets.

    def step(self, w):                        def step(self, w):
        self.n += 1                    ->         z = self.X @ w
        self.z = self.X @ w                       return np.sum(z**2)
        return np.sum(self.z**2)

Within the function, attributes that it sets are values of the residual program, so that derivatives pass through them;
the others are read from the object.  The caller's object is not changed, as no argument is.  That holds as long as the
object is reached in no other way: `alone` checks that at entry, where the types of the arguments do not exclude it.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.ir.code import Constant, Place, Value
from s2sad.ir.types import Fact
from s2sad.runtime.classes import functions_in, is_of_library, module_of, static_member
from s2sad.runtime.contents import attributes_of
from s2sad.runtime.copies import ATOMS, Reach
from s2sad.runtime.objects import array_of
from s2sad.runtime.reading import variables_of
from s2sad.transform.existing import guard_class, is_object
from s2sad.transform.known import Cell, NotSpecialisedError, Record
from s2sad.transform.objects import is_simple
from s2sad.transform.specialiser import Specialiser

#: So many functions are looked at for the attributes that they set.
_MOST = 200
_STORES = frozenset(("STORE_ATTR", "DELETE_ATTR"))
#: What runs where an object is made, or shown.
_ELSEWHERE = frozenset(("__init__", "__new__", "__post_init__", "__repr__", "__str__", "__format__", "__del__"))

#: The type of an attribute: its class; of an array of numbers its dtype and number of axes too.
AttributeType = tuple[type, str, int]


@dataclass(frozen=True)
class Instance:
    """The class of an argument, and the attributes that it has, with their types."""

    cls: type
    attributes: tuple[tuple[str, AttributeType], ...]

    @property
    def is_closed(self) -> bool:
        """Whether no attribute holds an object that may lead to others."""
        return all(cls in ATOMS or issubclass(cls, np.generic) or dtype for _, (cls, dtype, _) in self.attributes)


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
        return np.ndarray, value.dtype.char, value.ndim
    return type(value), "", 0


@functools.lru_cache(maxsize=4096)
def attributes_set(code: types.CodeType, function: _ById, cls: type) -> frozenset[str]:
    """The names of the attributes that a function with this code, or one that it calls by name, may set.

    Args:
        code: The present code of the function.
        function: The function.
        cls: The class of an argument: its methods may be called.
    """
    found: set[str] = set()
    for called in reached(function.function, cls):
        found.update(_stored(called.__code__))
    return frozenset(found)


class _ById:
    """A function that is equal to itself alone."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.function is self.function

    def __hash__(self) -> int:
        return id(self.function)


def sets_attributes(function: types.FunctionType, cls: type) -> bool:
    """Whether a function may set attributes of an argument of a class."""
    return bool(attributes_set(function.__code__, _ById(function), cls))


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


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    for base in cls.__mro__[:-1]:
        yield from vars(base).items()


def _names(code: types.CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _stored(code: types.CodeType) -> set[str]:
    found = {i.argval for i in dis.get_instructions(code) if i.opname in _STORES}
    return found.union(*(_stored(c) for c in code.co_consts if isinstance(c, types.CodeType)))


def instances_among(facts: Mapping[str, Fact]) -> dict[str, Instance]:
    """The arguments that are objects of which the function may set attributes, by parameter."""
    found = {name: (fact.owners, fact.attributes) for name, fact in facts.items() if fact.attributes}
    return {name: Instance(next(iter(owners)), own) for name, (owners, own) in found.items() if len(owners) == 1}


def part(
    s: Specialiser,
    function: types.FunctionType,
    instances: Mapping[str, Instance],
    params: dict[str, Value],
    place: Place | None,
) -> dict[str, Record]:
    """Take the arguments of a function that are objects apart; what stands for each parameter.

    Args:
        s: The specialiser.
        function: The function.
        instances: The arguments that are objects, by parameter.
        params: The values of the parameters.
        place: Where the function begins.

    Raises:
        NotSpecialisedError: where a variable of the module leads to an object of such a class.
    """
    made: dict[str, Record] = {}
    for name, instance in instances.items():
        cls = instance.cls
        _check_variables(function, cls)
        guard_class(s, cls)
        record = Record(cls, own=frozenset(n for n, _ in instance.attributes))
        s.state[record.identity] = Constant(None)
        record.fields[""] = Cell(name, None, record)
        s.state[record.fields[""]] = params[name]
        written = attributes_set(function.__code__, _ById(function), cls)
        for attribute, kind in instance.attributes:
            if attribute in written and not hasattr(type(static_member(cls, attribute)), "__set__"):
                record.fields[attribute] = Cell(attribute, None, record)
                s.state[record.fields[attribute]] = _read(s, params[name], attribute, kind, place)
        made[name] = record
    s.used = s.used or bool(made)
    return made


def _read(s: Specialiser, whole: Value, name: str, kind: AttributeType, place: Place | None) -> Value:
    """An attribute of an argument as it is at entry."""
    cls, dtype, ndim = kind
    found = s.emit("attribute", (whole,), name, place=place)
    s.needless.add(found)
    if cls in (int, float, complex):
        s.numbers.add(found)
    if dtype and ndim:
        function = s.outside(array_of, "array_of")
        operands = s.operands([function, found, Constant(ndim), Constant(dtype)], place)
        found = s.emit("call", operands, ("", "", ""), place=place)
        s.needless.add(found)
    return found


def _check_variables(function: types.FunctionType, cls: type) -> None:
    for called in reached(function, cls):
        for _, value in variables_of(called):
            if isinstance(value, (types.ModuleType, types.FunctionType, type)) or type(value) in ATOMS:
                continue
            if any(type(x) is cls for x in Reach([value]).objects.values()):
                raise NotSpecialisedError("elsewhere")
