"""What an object of the program's gets from its class: methods, bound to it, and constants."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import gast
import numpy as np

from s2sad import ops
from s2sad.errors import S2SADError
from s2sad.frontend.resolve import Guard
from s2sad.ir.code import Constant, Operand, Operation, Value, inner, regions_in
from s2sad.runtime.classes import does_as, static_member
from s2sad.transform.classes import GETTER, static_function
from s2sad.transform.existing import is_container, is_object, owner
from s2sad.transform.known import Abstract, Known, Method, NotSpecialisedError, Partial, Record, Row, is_plain
from s2sad.transform.specialiser import Done, End, Specialiser

#: How many items a tuple of constants has at most that is known item by item.
_MOST_SHOWN = 8
_CONTAINERS = (list, tuple, dict, set, frozenset, np.ndarray)


def of_class(s: Specialiser, record: Record, member: Any, name: str) -> Abstract:
    """The attribute of an object that a ``member`` of its class gives, which is no property."""
    cls = record.cls
    if isinstance(member, (types.FunctionType, functools.singledispatchmethod)):
        return Method(Known(member), record, owner(cls, name))
    if does_as(member, functools.partialmethod):
        keywords = tuple([(key, existing_value(s, value, key)) for key, value in member.keywords.items()])
        args = tuple([existing_value(s, value, name) for value in member.args])
        return Partial(Method(Known(member.func), record, owner(cls, name)), args, keywords)
    if (static := static_function(member)) is not None:
        return Known(static)
    if does_as(member, classmethod) and isinstance(member.__func__, types.FunctionType):
        return Method(Known(member.__func__), s.outside(cls, cls.__name__), owner(cls, name))
    if is_plain(member):
        return Constant(member)
    is_class = isinstance(member, type) and not hasattr(type(member), "__get__")
    is_one = is_object(member) and not hasattr(type(member), "__get__")
    if is_class or is_one or type(member) is object or isinstance(member, _CONTAINERS):
        return reached(s, s.outside(member, name), owner(cls, name), name)
    raise NotSpecialisedError(name)


def reached(s: Specialiser, known: Known, cls: type, name: str) -> Known:
    """An object that a class has as an attribute; its items are known where a variable of the module has the class."""
    functions = [m for base in cls.__mro__ for m in vars(base).values() if isinstance(m, types.FunctionType)]
    is_asked = is_container(known.value) or is_object(known.value)
    if not is_asked or not functions or functions[0].__globals__.get(cls.__name__) is not cls:
        return known
    with contextlib.suppress(S2SADError):  # generated methods have no source
        return replace(known, read=(s.home(functions[0]), cls.__name__, (name,)))
    return known


def asks_the_class(
    s: Specialiser, cls: type, function: types.FunctionType, done: Done, made: Sequence[Operation]
) -> bool:
    """Whether Python may ask `__getattr__` after a property, which it does where that raises an AttributeError.

    The operations ``made`` are what the ``function`` of the property has become, and ``done`` is what it gives.
    """
    if static_member(cls, GETTER) is None:
        return False
    body = s.code(function).body
    regions = [*regions_in(body), *(region for op in made for part in op.regions for region in regions_in(part))]
    raises = isinstance(done, End) or any(region.exit.kind == "raise" for region in regions)
    return raises or any(op.kind == "call" and not _is_harmless(s, function, op) for op in inner(body))


def _is_harmless(s: Specialiser, function: types.FunctionType, op: Operation) -> bool:
    """Whether a call in a function raises no AttributeError: of ``super()``, and of what the table of operations has.

    What ``super()`` finds has been looked for.
    """
    made = {result: one for one in inner(s.code(function).body) for result in one.results}

    def called(value: Operand) -> Any:
        one = made.get(value) if isinstance(value, Value) else None
        if one is None or one.kind not in ("global", "attribute"):
            return None
        if one.kind == "attribute":
            base = called(one.operands[0])
            return getattr(base, one.data, None) if isinstance(base, types.ModuleType) else None
        name = gast.Name(id=one.data, ctx=gast.Load(), annotation=None, type_comment=None)
        return s.home(function).resolver.lookup(name)[1]

    found = called(op.operands[0])
    return (found is super and not op.data) or ops.spec_of(found) is not None


def existing_value(s: Specialiser, value: object, title: str) -> Abstract:
    """The abstract value of an object that exists."""
    if is_plain(value):
        return Constant(value)
    if is_row_of_constants(value):
        return Row(tuple([existing_value(s, item, title) for item in value]))
    return s.outside(value, title)


def is_row_of_constants(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Whether something is a tuple of a few constants, or of tuples of such."""
    return type(value) is tuple and len(value) <= _MOST_SHOWN and _is_of_constants(value)


def existing_partial(s: Specialiser, value: functools.partial[Any]) -> Partial:
    """The abstract value of a partial function that exists; the new program rests on its named arguments."""
    s.guard(Guard(value, "keywords", dict(value.keywords), dict))
    given = tuple([existing_value(s, item, "part") for item in value.args])
    named = tuple([(name, existing_value(s, item, name)) for name, item in value.keywords.items()])
    return Partial(existing_value(s, value.func, value.func.__name__), given, named)


def _is_of_constants(value: object) -> bool:
    """Whether something is a constant, or a tuple of such."""
    return all(map(_is_of_constants, value)) if type(value) is tuple else is_plain(value)
