"""What objects hold, read without running a function of their class.

A subclass of ``list`` or ``dict`` may define ``__iter__``, ``__len__`` or ``values`` of its own, and any class
``__getattr__``: these may write or raise, and run only where the program runs them.
"""

from __future__ import annotations

import collections
import gc
import types
from typing import Any

import numpy as np

#: The classes of which an object is a sequence or set of items, whatever methods a subclass adds.
COLLECTIONS: tuple[Any, ...] = (list, tuple, collections.deque, set, frozenset)


#: How many items of a container, at any depth, are looked at where a function is called.
MOST_ITEMS = 256
_MOST_FIELDS = 16
DICTS = (dict, collections.OrderedDict)
_CONTAINERS = (list, tuple, *DICTS)
_LEAVES = frozenset((bool, int, float, complex, str, type(None), np.float64, np.float32, np.complex128, np.int64))


def is_disguised(x: Any) -> bool:
    """Whether an object says that it is of another class than it is, or raises when it is asked: proxies do, and mocks.

    What such an object is or holds is not known: what is true of the class is not true of it.
    """
    try:
        return x.__class__ is not type(x)
    except Exception:
        return True


class Aside:
    """The base of what the compiler keeps with objects of the program: it is no part of what these hold or lead to."""


def items_of(x: Any) -> list[Any]:
    """The items of a list, tuple, deque or set, the values of a dict; of another object none.

    Example:
        >>> items_of({"a": 1.0})
        [1.0]
    """
    # By its own type: what only says that it is of a class has no items that the class would find.
    cls = type(x)
    if issubclass(cls, dict):
        return list(dict.values(x))
    for kind in COLLECTIONS:
        if issubclass(cls, kind):
            return list(kind.__iter__(x))
    return []


def attributes_of(x: Any) -> dict[str, Any]:
    """The dictionary of an object's own attributes: the object's own one, or a read-only view if it is a class.

    Example:
        >>> attributes_of(1.0)
        {}
    """
    try:
        found: dict[str, Any] = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}
    return found


def cells_of(function: types.FunctionType) -> dict[str, types.CellType]:
    """The cells of a closure by the names of its free variables.

    Example:
        >>> def scaled(c):
        ...     return lambda x: c * x
        >>> cells_of(scaled(2.0))["c"].cell_contents
        2.0
    """
    return dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))


def contents_of(value: Any) -> Any:
    """What a container holds, by classes: of a tuple by place, of a `table_row` by key.

    It is None where there is too much, or anything else.
    It may hold arrays, numbers and texts, and containers of these.

    A call of a compiled function asks this, so that it is to be quick.
    """
    try:
        found, count = _contents(value)
    except _UnknownError:
        return None
    return None if count > MOST_ITEMS else found


def _contents(value: Any) -> tuple[Any, int]:
    """The same, and how many items there are at any depth."""
    cls = type(value)
    if cls is np.ndarray:
        if value.dtype.hasobject or value.dtype.kind == "V":
            raise _UnknownError
        return (cls, value.dtype, value.ndim), 1
    if cls not in _CONTAINERS:
        if cls not in _LEAVES:
            raise _UnknownError
        return cls, 1
    items = value.values() if cls in DICTS else value
    if len(value) > MOST_ITEMS:
        raise _UnknownError
    by_place: Any = tuple if cls is tuple or (fields := table_row(value)) else frozenset
    classes = by_place(map(type, items))
    keys = None if cls not in DICTS else fields or frozenset(map(type, value))
    if _LEAVES.issuperset(classes):
        return (cls, keys, classes), len(value)
    held = [_contents(item) for item in items]
    return (cls, keys, by_place([found for found, _ in held])), sum(count for _, count in held)


def table_row(value: Any) -> tuple[str, ...]:
    """The keys of a dict that is like a row of a table: few names of things of several classes; else there are none.

    Example:
        >>> table_row({"name": "GRS 80", "a": 6378137.0}), table_row({"a": 1.0, "b": 2.0})
        (('name', 'a'), ())
    """
    if type(value) not in DICTS or len(value) > _MOST_FIELDS or len(set(map(type, value.values()))) < 2:
        return ()
    return tuple(value) if all(type(key) is str for key in value) else ()


def holds_constants(found: Any) -> bool:
    """Whether a container of which that is known holds numbers and texts alone, and containers of these."""
    if not isinstance(found, tuple):
        return found in _LEAVES
    cls, _, parts = found
    return cls is not np.ndarray and all(map(holds_constants, parts))


class _UnknownError(Exception):
    """Raised where something is not among what is known."""


def tuple_fields(cls: type) -> tuple[str, ...] | None:
    """The names of the fields of a named tuple, or of a structure of the interpreter's; None of other classes.

    Example:
        >>> import sys
        >>> tuple_fields(type(sys.float_info))[:3]
        ('max', 'max_exp', 'max_10_exp')
    """
    if issubclass(cls, tuple) and (n := getattr(cls, "n_sequence_fields", None)) is not None:
        names: tuple[str, ...] = getattr(cls, "__match_args__", ())
        return names if n == getattr(cls, "n_fields", None) == len(names) else None
    return getattr(cls, "_fields", None)


def shown_by(value: Any) -> Any:
    """The dict under a read-only view of one; anything else itself.

    Example:
        >>> held = {"a": 1.0}
        >>> shown_by(types.MappingProxyType(held)) is held, shown_by(held) is held
        (True, True)
    """
    return gc.get_referents(value)[0] if type(value) is types.MappingProxyType else value
