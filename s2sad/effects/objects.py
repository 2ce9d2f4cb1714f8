"""The abstract objects of `s2sad.effects.points_to`.

An abstract `Object` stands for any number of objects of one run:

========== ===========================================================================================================
`param`    what the call is given: a parameter, and by a path of fields what could be reached from it at the call
`site`     what one operation makes, one for each class; what a callee makes belongs to the call
`global`   an object that is known when the program is analysed: a function, class, module, or an object of a module
`unknown`  anything else that existed before the call, or was made by unknown code, and all that has escaped
========== ===========================================================================================================

Numbers, texts, ``None`` and tuples of them are no objects: the points-to set of a value leaves them out, so that an
empty one says that it is immutable.  A view of an array is the array.  Where the class of an object is not exactly
known, `Object.cls` is None.

Fields are attributes by name, items of containers ``[]`` (``[0]`` of a tuple or ``['w']`` of a dict where the index is
a constant), ``keys`` of a dict, ``value`` of a cell, and the variables that a function captures.
"""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from s2sad.ir.code import Operation
from s2sad.runtime.moments import MOMENTS, is_moment

#: How far the paths of parameters go; what lies beyond is one object.
DEPTH = 4
#: The field that stands for all others.
ANY = "*"
ITEMS = "[]"
KEYS = "keys"
#: The classes whose operators, subscripts and methods run no function of the user's, but for those of their items.
ARRAY = np.ndarray
CONTAINERS = (list, tuple, dict, set, frozenset)
#: Classes of Python's library of which objects have the operators and methods of these, and change where they do.
ALIKE: tuple[type, ...] = (collections.OrderedDict, collections.deque)
#: What is iterated once, or shows the items of another object.
ITERATORS: tuple[type, ...] = (
    enumerate, zip, map, filter, reversed, type(iter([])), type({}.keys()), type({}.values()), type({}.items()),
)  # fmt: skip
CALLABLE = (types.FunctionType, types.MethodType)


class Plain:
    """Stands for the class of an object that is of some built-in class, or has operators and methods like these."""


_SAFE = frozenset((ARRAY, Plain, *CONTAINERS, *ITERATORS, *CALLABLE, slice, range, np.dtype,
                   types.CellType, types.BuiltinFunctionType, types.ModuleType, type, np.ufunc))  # fmt: skip
#: Objects of these classes never change and hold nothing that does.
IMMUTABLE: tuple[type, ...] = (
    bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, np.bool_, np.number,
    np.str_, np.dtype, *MOMENTS,
)  # fmt: skip
#: Names and attributes that are such objects are taken to stay what they are while a function runs.
CONSTANT = (*CALLABLE, type(np.sum), types.BuiltinFunctionType, type, types.ModuleType, np.ufunc)
_GENERATORS = ("Generator", "RandomState")
Kind = Literal["param", "site", "global", "unknown"]


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of an argument: its exact class, what it calls or is, and what its fields hold at the call.

    ``cls`` is None where nothing is known, ``fields`` where they are not.  A field that holds immutables only has None.
    """

    cls: type | None = None
    value: Any = None
    fields: tuple[tuple[str, Shape | None], ...] | None = None

    def field(self, name: str) -> tuple[bool, Shape | None]:
        """Whether a field can hold an object at the call, and the shape of that."""
        if self.fields is None:
            return True, ANYTHING
        found = dict(self.fields)
        return (True, found[name]) if found.get(name) is not None else (False, None)


ANYTHING = Shape()
PLAIN = Shape(Plain)


class Object:
    """An abstract object, see the head of this module."""

    __slots__ = ("cls", "kind", "name", "operation", "path", "shape", "value")

    def __init__(
        self,
        kind: Kind,
        name: str,
        cls: type | None = None,
        *,
        value: Any = None,
        path: tuple[Any, ...] = (),
        shape: Shape = ANYTHING,
        operation: Operation | None = None,
    ) -> None:
        self.kind, self.name, self.cls, self.value = kind, name, cls, value
        #: Of a parameter: its index and the fields that lead to it.
        self.path, self.shape, self.operation = path, shape, operation

    def __repr__(self) -> str:
        return self.name

    @property
    def is_input(self) -> bool:
        """Whether it existed before the call."""
        return self.kind != "site"

    @property
    def is_safe(self) -> bool:
        """Whether what operators do with it is known from its class, which is a built-in one."""
        return self.cls in _SAFE or is_generator(self.cls)

    @property
    def is_row(self) -> bool:
        """Whether it is a tuple, or of a class made by ``NamedTuple``."""
        cls = self.cls
        return cls is tuple or (cls is not None and issubclass(cls, tuple) and _is_named_row(cls))


def is_generator(cls: type | None) -> bool:
    """Whether a class is one of NumPy's random generators, of a module that is loaded when it is used."""
    return cls is not None and str(cls.__module__).startswith("numpy.random.") and cls.__name__ in _GENERATORS


def _is_named_row(cls: type) -> bool:
    own = ("__iter__", "__getitem__", "__len__", "__getattribute__", "__contains__")
    return hasattr(cls, "_fields") and all(getattr(cls, name) is getattr(tuple, name) for name in own)


UNKNOWN = Object("unknown", "unknown")
#: The same where objects of which nothing is known are taken to be of built-in classes.
FOREIGN = Object("unknown", "foreign", Plain)
#: A slice of immutable bounds, and a dtype of numbers.
SLICE = Object("global", "slice", slice, value=slice(None))
DTYPE = Object("global", "dtype", np.dtype, value=np.dtype(float))
#: What stands in a shape for one of these.
SINGLE = {"slice": SLICE, "dtype": DTYPE}
Objects = frozenset[Object]
NOTHING: Objects = frozenset()
#: A field of an object.
Location = tuple[Object, str]


def item_field(key: object, cls: type | None = None) -> str:
    """The field for the item of a constant index.

    Example:
        >>> item_field(0, tuple), item_field("w", dict), item_field(0, list)
        ('[0]', "['w']", '[]')
    """
    if cls is tuple and isinstance(key, int) and key >= 0:
        return f"[{key}]"
    return f"[{key!r}]" if cls is dict and isinstance(key, str) else ITEMS


def is_a(value: object, *classes: type) -> bool:
    """``isinstance`` by the class alone: nothing of the object's own is run.

    Example:
        >>> is_a(True, int), is_a([], tuple, set)
        (True, False)
    """
    return issubclass(type(value), classes)


def is_immutable(value: object) -> bool:
    """Whether an object never changes, nor what it holds."""
    if type(value) is tuple:
        return all(map(is_immutable, value))
    return is_moment(value) or (
        is_a(value, *IMMUTABLE) and type(value).__module__ in ("builtins", "numpy", "numpy.dtypes")
    )


Fields = tuple[tuple[str, Shape | None], ...]


def merged_fields(a: Fields | None, b: Fields | None) -> Fields | None:
    """The fields of an object that is one of two."""
    if a is None or b is None:
        return None
    first, second = dict(a), dict(b)
    found: list[tuple[str, Shape | None]] = []
    for name in sorted(first.keys() | second.keys()):
        left, right = first.get(name), second.get(name)
        found.append((name, left if right is None or left == right else right if left is None else ANYTHING))
    return tuple(found)


def _is_plain(cls: type) -> bool:
    """Whether the objects of a class have nothing but their attributes, in a dict."""
    return bool(cls.__flags__ & 1 << 9) and not vars(cls).get("__slots__") and cls.__module__ != "functools"


def shape_of(value: object, depth: int = 3) -> Shape | None:
    """The shape of a real argument.

    Example:
        >>> shape_of([np.ones(3), 1.0]).fields[0]
        ('[]', Shape(cls=<class 'numpy.ndarray'>, value=None, fields=()))
    """
    if is_immutable(value):
        return None
    cls = type(value)
    if cls is slice:
        return Shape(slice, "slice") if is_immutable((value.start, value.stop, value.step)) else ANYTHING  # type: ignore[attr-defined]
    if is_a(value, types.BuiltinFunctionType):
        owner = value.__self__  # type: ignore[attr-defined]
        return Shape(cls, value) if owner is None or is_a(owner, *CONSTANT) else ANYTHING
    if is_a(value, *CONSTANT) and cls is not types.MethodType:
        return Shape(cls, value)
    if cls is ARRAY:
        return ANYTHING if value.dtype.hasobject else Shape(cls, None, ())  # type: ignore[attr-defined]
    if depth == 0:
        return Shape(cls)
    held, call = _fields_of(value, cls)
    if held is None:
        return Shape(cls)
    if cls is list:
        parts = {shape_of(item, depth - 1) for item in held.values()} - {None}
        only = next(iter(parts)) if len(parts) == 1 else ANYTHING if parts else None
        return Shape(cls, None, ((ITEMS, only),))
    return Shape(cls, call, tuple([(name, shape_of(item, depth - 1)) for name, item in sorted(held.items())]))


def _fields_of(value: Any, cls: type) -> tuple[Mapping[str, Any] | None, Any]:
    """What the fields of an object hold, None where that is not known; and what it calls."""
    if cls is dict and all(type(key) is str for key in value):
        return {item_field(key, dict): item for key, item in value.items()}, None
    if is_a(value, tuple) and (cls is tuple or _is_named_row(cls)):
        return {f"[{i}]": item for i, item in enumerate(value)}, None
    if cls is list:
        return {str(i): item for i, item in enumerate(value)}, None
    if cls is functools.partial:
        named = {f"={name}": item for name, item in value.keywords.items()}
        rest = {f"[{i}]": item for i, item in enumerate(value.args)}
        return {"function": value.func, **rest, **named}, len(value.args)
    if cls is types.MethodType and is_a(value.__func__, types.FunctionType):
        return {"__self__": value.__self__}, value.__func__
    if all(base is object or _is_plain(base) for base in cls.__mro__):
        return object.__getattribute__(value, "__dict__"), None
    return None, None
