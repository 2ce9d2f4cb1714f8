"""The classes of the user's whose members may act, of all that an object leads to, or that its class makes."""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import types
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from s2sad.runtime.classes import (
    HEAP_TYPE,
    LEAVES,
    OPEN_CLASSES,
    acts,
    functions_in,
    is_class_of_library,
    is_of_library,
    module_of,
    own_class,
    static_member,
)
from s2sad.runtime.contents import attributes_of

#: So many objects are looked at for what is reached from one, and so many items of a container.
_MOST_OBJECTS, _MOST_ITEMS = 1000, 500


def classes_reached(value: Any) -> frozenset[type]:
    """The classes that :func:`acts` tells of, of an object and of what can be reached from it.

    Of containers the first items are looked at; functions and objects of libraries are not looked into.
    """
    return _reached([value]) if type(value) not in LEAVES else frozenset()


def classes_held(value: Any) -> frozenset[type]:
    """The classes of `classes_reached` of what an object holds."""
    return _reached(_parts(value)) if type(value) not in LEAVES else frozenset()


def _reached(pending: list[Any]) -> frozenset[type]:
    found: set[type] = set()
    seen: set[int] = set()
    while pending and len(seen) < _MOST_OBJECTS:
        x = pending.pop()
        if id(x) not in seen:
            seen.add(id(x))
            cls: Any = type(x)
            if cls is np.ndarray and not x.dtype.hasobject:
                continue
            if issubclass(cls, type):
                found |= classes_of_object(x)
            else:
                found |= _acting(cls)
                pending += _parts(x)
    return frozenset(found)


@functools.cache
def _acting(cls: type) -> frozenset[type]:
    return frozenset((cls,)) if cls not in LEAVES and acts(cls) else frozenset()


@functools.cache
def _way(cls: Any) -> Literal["array", "dict", "sequence", "referents", ""]:
    """How the parts of the objects of a class are found, if they may have any."""
    if issubclass(cls, np.ndarray):
        return "array"
    if issubclass(cls, dict):
        return "dict"
    if cls in (list, tuple, set, frozenset):
        return "sequence"
    is_closed = is_class_of_library(cls) and cls.__flags__ & HEAP_TYPE and cls not in OPEN_CLASSES
    return "" if is_closed else "referents"


def _parts(x: Any) -> list[Any]:
    """What an object holds that may lead to an object of a class of the user's."""
    cls: Any = type(x)
    way = _way(cls)
    if way == "sequence":
        held: Iterable[Any] = x
    elif way == "dict":
        held = (*itertools.islice(dict.keys(x), _MOST_ITEMS), *itertools.islice(dict.values(x), _MOST_ITEMS))
    elif way == "array" and x.dtype.hasobject:
        held = x.flat
    elif way == "" or cls is np.ndarray:
        return []
    else:
        held = gc.get_referents(x)
    found = [part for part in itertools.islice(held, 2 * _MOST_ITEMS) if type(part) not in LEAVES and part is not cls]
    own = attributes_of(x) if way == "dict" else None
    return [*found, own] if own else found


def classes_of_attributes(
    value: Any, held: frozenset[type] | None = None
) -> dict[str, tuple[frozenset[type], frozenset[type]]]:
    """For each attribute of an object its class, if :func:`acts` tells of it, and those that can be reached from it.

    It is empty if none can be reached from any.  ``held`` is what :func:`classes_held` says of the object, if that was
    asked before.

    Of an object that makes attributes the others are told apart by name.

    Example:
        >>> classes_of_attributes(types.SimpleNamespace(v=1.0))
        {}
    """
    cls: type = type(value)
    held = classes_held(value) if held is None else held
    if not (held or makes_others(cls)):
        return {}
    own = attributes_of(value)
    slots = {}
    for base in cls.__mro__:
        for name, m in vars(base).items():
            if isinstance(m, types.MemberDescriptorType):
                with contextlib.suppress(AttributeError):
                    slots[name] = m.__get__(value)
    return {name: (classes_of_object(held), classes_held(held)) for name, held in {**slots, **own}.items()}


def classes_of_object(x: Any) -> frozenset[type]:
    """The class of an object, or a class and its own class, if :func:`acts` tells of them."""
    if issubclass(type(x), type):
        return frozenset(filter(acts, (x, type(x)))) if own_class(x) is not None else frozenset()
    cls: Any = type(x)
    return _acting(cls)


@functools.cache
def makes_others(cls: type) -> bool:
    """Whether a class makes attributes that an object does not have.

    Example:
        >>> makes_others(types.SimpleNamespace)
        False
    """
    return static_member(cls, "__getattr__") is not None


@functools.cache
def classes_made(cls: type) -> frozenset[type]:
    """The classes that :func:`acts` tells of, of what the functions of a class may make or read of their modules.

    Example:
        >>> classes_made(types.SimpleNamespace)
        frozenset()
    """
    pending = _functions_of(cls)
    found: set[type] = set()
    seen: set[types.CodeType] = set()
    makers = {cls}
    while pending:
        function = pending.pop()
        codes = [function.__code__]
        for code in codes:
            codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        if seen.issuperset(codes):
            continue
        seen.update(codes)
        cells = [c.cell_contents for c in function.__closure__ or () if c != types.CellType()]
        names = dict.fromkeys(name for code in codes for name in code.co_names)
        for value in (*(function.__globals__[n] for n in names if n in function.__globals__), *cells):
            if isinstance(value, types.FunctionType) and not is_of_library(module_of(value)):
                pending.append(value)
                continue
            found |= classes_reached(value)
            if isinstance(value, type) and own_class(value) is not None and value not in makers:
                makers.add(value)
                pending += _functions_of(value)
    return frozenset(found)


def _functions_of(cls: type) -> list[types.FunctionType]:
    """The functions that a class and its bases of the user's have."""
    own = [m for base in cls.__mro__ if not is_class_of_library(base) for m in vars(base).values()]
    return [f for m in own for f in functions_in(m) or ()]
