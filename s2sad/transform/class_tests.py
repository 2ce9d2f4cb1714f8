"""Questions about the classes of values: ``isinstance`` and ``inspect.isclass``."""

from __future__ import annotations

import abc
import decimal
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad.frontend.resolve import Guard
from s2sad.ir.code import Constant, Value
from s2sad.runtime.classes import own_class
from s2sad.transform.choices import asked, is_object_or_none
from s2sad.transform.constants import is_instance
from s2sad.transform.existing import is_existing, use_known
from s2sad.transform.held import held_items
from s2sad.transform.known import Abstract, Choice, Items, Known, Record, Row, is_callable
from s2sad.transform.specialiser import Done, Specialiser


def instance_test(s: Specialiser, values: list[Abstract]) -> Done:
    """``isinstance(value, classes)``, where that is known; None where it is not."""
    if len(values) != 2:
        return None
    value, cls = values
    if isinstance(value, Value) and value in s.rows:
        value = Row(s.rows[value])
    held = held_items(s, cls) if isinstance(cls, Known) and type(cls.value) is tuple else None
    classes = s.row(cls) or tuple(held.values() if held else ()) or (cls,)
    if isinstance(value, Choice) and is_object_or_none(value):
        return (asked(s, value, lambda side: is_instance(side, classes), s.relied.at),)
    if any(isinstance(c, Known) and isinstance(c.value, abc.ABCMeta) for c in classes):
        # A class may be registered with it before the next call.
        s.guard(Guard(abc, "get_cache_token", abc.get_cache_token(), _called))
    known = is_instance(value, classes, np.ndarray if value in s.arrays else _class_of_existing(s, value))
    if known is None and isinstance(value, Value) and all(isinstance(c, Known) and _is_users(c.value) for c in classes):
        known = False if _is_built_in(s, value) else None
        s.relied.asks_kinds |= known is None
    elif known is None and isinstance(value, Value) and (base := _base_of(s, value)) is not None:
        is_other = all(isinstance(c, Known) and c.value in _APART and not issubclass(c.value, base) for c in classes)
        known = False if is_other else None
    return None if known is None else (Constant(known),)


def _base_of(s: Specialiser, value: Value) -> Any:
    """The class of which a value surely is an instance, or numbers."""
    fact = s.types.get(value) or s.scalars.get(value)
    kind = "scalar" if value in s.numbers else "array" if value in s.arrays else None if fact is None else fact.kind
    return _BASES.get(kind)


#: Classes of which no object is one of two.
_APART = frozenset({tuple, list, dict, set, frozenset, str, bytes, np.ndarray, int, float, complex, decimal.Decimal})
#: The classes of values by what is known of their types; numbers are instances of various ones.
_BASES: dict[str | None, Any] = {
    "tuple": tuple,
    "list": list,
    "dict": dict,
    "array": np.ndarray,
    "scalar": (int, float, complex, decimal.Decimal),
}


def _called(function: Callable[[], Any]) -> Any:
    return function()


def class_test(s: Specialiser, values: list[Abstract]) -> Done:
    """``inspect.isclass(value)``, where that is known; None where it is not."""
    (value,) = values
    if isinstance(value, Known):
        return (Constant(isinstance(use_known(s, value), type)),)
    is_known = isinstance(value, (Record, Constant, Items, Row)) or value in s.numbers or value in s.arrays
    return (Constant(False),) if is_known or is_callable(value) else None


def _class_of_existing(s: Specialiser, value: Abstract) -> type | None:
    """The class of an object of the user's that exists, which has been read under a name."""
    return type(use_known(s, value)) if isinstance(value, Known) and is_existing(value) and value.read else None


def _is_users(cls: Any) -> bool:
    """Whether a class is a plain one of the user's, of which no number, array or container is an instance."""
    return type(cls) is type and own_class(cls) is not None and not issubclass(cls, _BUILT_IN)


def _is_built_in(s: Specialiser, value: Value) -> bool:
    """Whether a value is known to be a number, an array or a container of Python's."""
    fact = s.types.get(value)
    is_typed = fact is not None and fact.kind in ("array", "list", "tuple", "dict", "scalar")
    return is_typed or value in s.numbers or value in s.scalars or value in s.arrays


#: The classes of such values, of which the user's may be subclasses.
_BUILT_IN = (int, float, complex, np.generic, np.ndarray, list, tuple, dict)
