"""Keys of values: two with the same key are alike in all that a derivative is compiled for."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from s2sad.ir.sizes import LiteralNumbers
from s2sad.runtime.classes import LEAVES
from s2sad.runtime.contents import attributes_of, is_disguised, items_of
from s2sad.runtime.copies import layout_of
from s2sad.runtime.reached import classes_held, classes_of_attributes, classes_reached, makes_others
from s2sad.transform.given_functions import FUNCTIONS, attributes_with_functions, is_known
from s2sad.transform.instances import attribute_types, is_simple_class

ARRAY = np.ndarray

#: The classes of arguments that may say what a function is to do.
SWITCHES = frozenset((bool, str))
#: Containers of more items than this are described as a whole.
_LONG = 64


def kind(value: Any) -> Any:
    """A key that is equal only for arguments of which one derivative is right.

    Equal keys mean equal facts, and that all of the arguments or none may have a gradient.  A truth value or text may
    decide which branches a function takes, and is its own key, as is a function that may write what it is given.

    Example:
        >>> kind((1.0, np.ones(3))) == kind((2.0, np.zeros(3))), kind(True) == kind(False)
        (True, False)
    """
    return value if type(value) in SWITCHES else _kind(value)


def _kind(value: Any) -> Any:
    t: type = type(value)
    if t is ARRAY and not value.dtype.hasobject:
        flags = value.flags
        if flags.writeable and (flags.forc or not (layout := layout_of(value))):
            return value.shape, value.dtype
        return value.shape, value.dtype, layout if flags.writeable else "frozen"
    if t is float or t is int or t is str:
        return t
    if is_disguised(value):
        return t
    if isinstance(value, ARRAY):
        return t, value.shape, value.dtype, value.dtype.hasobject and classes_reached(value)
    if isinstance(value, (list, tuple)):
        held = value if t is list or t is tuple else items_of(value)
        return (t, *map(_kind, held)) if len(held) <= _LONG else (t, frozenset(map(_kind, held)))
    if isinstance(value, dict):
        items = [(k, _kind(v)) for k, v in dict.items(value)]
        return (t, *items) if len(items) <= _LONG else (t, frozenset([k for _, k in items]))
    fields = getattr(t, "__dataclass_fields__", None)
    if fields is not None:
        # An attribute that is no field may be in the place of a method.
        others = tuple([name for name in attributes_of(value) if name not in fields])
        return (t, others, *(_kind(getattr(value, name)) for name in fields))
    if t in FUNCTIONS and is_known(value):
        return value if t is not types.MethodType else (t, value.__func__, _kind(value.__self__))
    if t in LEAVES or isinstance(value, np.generic):
        return t
    reached = classes_held(value)
    if not reached and not makes_others(t):
        return (t, attribute_types(value), *_functions_of(value)) if is_simple_class(t) else t
    attributes = classes_of_attributes(value, reached)
    return (t, reached, attribute_types(value), *attributes.items(), *_functions_of(value))


def _functions_of(value: Any) -> Iterator[tuple[str, Any]]:
    """The kinds of the attributes of an object that are functions which are known, or hold some."""
    return ((name, _kind(held)) for name, held in attributes_with_functions(value))


def kinds_of(values: Sequence[Any], literal: bool = False) -> tuple[Any, ...] | None:
    """The kinds of several values; None if one of them holds itself, so that none has a gradient.

    Where facts are ``literal``, whole numbers and texts in them are part of their kinds.
    """
    try:
        found = tuple([kind(value) for value in values])
        return (*found, *literals(values)) if literal else found
    except RecursionError:
        return None


def literals(value: Any) -> Iterator[int | str]:
    """The texts and whole numbers in a value, numbers that are no size of a few items as one."""
    if type(value) is int:
        yield min(max(value, -1), LiteralNumbers.END)
    elif type(value) is str:
        yield value
    elif isinstance(value, (list, tuple)):
        yield from (number for item in items_of(value) for number in literals(item))
    elif isinstance(value, dict):
        yield from (number for item in dict.values(value) for number in literals(item))
    elif (fields := getattr(type(value), "__dataclass_fields__", None)) is not None:
        yield from (number for name in fields for number in literals(getattr(value, name)))
