"""What objects hold: items, attributes, and what those of the outside world give out that others may have, too.

Iterators, generators, weak references, exceptions, objects of classes with ``__new__`` or ``__del__`` are not copied:
what they give out is the original of what is.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import ctypes
import functools
import gc
import io
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sad.runtime.contents import attributes_of, is_disguised, items_of, shown_by

#: What holds nothing and never changes.
ATOMS = frozenset({float, int, complex, bool, str, bytes, type(None), type(...), range, slice, np.float64, np.dtype})
#: What gives the parts of some objects of the outside world, and None for the others.
Beyond = Callable[[Any], list[Any] | None]
#: The flag of types that are made at run time, as all classes written in Python are.
OF_PYTHON = 1 << 9

#: What objects of C are made of, in memory of their own or of others.
_CDATA: Any = ctypes.Array.__mro__[1]
_DICTS: tuple[dict[Any, Any], ...] = {}, collections.OrderedDict()
_VIEWS = tuple(type(view) for d in _DICTS for view in (d.keys(), d.values(), d.items()))
#: The name of this package.
_OWN = __name__.partition(".")[0]
#: What refers to far more than it was given.
_WIDE = (type, types.ModuleType, types.FunctionType)


def labelled_parts(x: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds directly, each part with what is written after the object to get it."""
    if isinstance(x, (list, tuple, collections.deque)):
        names = getattr(type(x), "_fields", None) if isinstance(x, tuple) else None
        for i, item in enumerate(items_of(x)):
            yield f".{names[i]}" if names and i < len(names) else f"[{i}]", item
    elif isinstance(x, types.MappingProxyType):
        # What is put into the dict later is seen there.
        yield "", shown_by(x)
    elif isinstance(x, dict):
        for key, value in dict.items(x):
            yield f"[{key!r}]" if type(key) in ATOMS else "[...]", value
            yield " (a key)", key
    elif isinstance(x, (set, frozenset)):
        yield from ((" (an item)", item) for item in items_of(x))
    elif isinstance(x, np.ndarray) and x.dtype.kind == "O":
        yield from ((f"[{', '.join(map(str, place))}]", x[place]) for place in np.ndindex(x.shape))
    elif isinstance(x, (types.MethodType, types.BuiltinMethodType)):
        if not isinstance(x.__self__, types.ModuleType):
            yield ".__self__", x.__self__
    elif isinstance(x, functools.partial):
        yield ".func", x.func
        yield from ((f".args[{i}]", value) for i, value in enumerate(x.args))
        yield from ((f".keywords[{name!r}]", value) for name, value in x.keywords.items())
    elif isinstance(x, np.flatiter):
        yield ".base", x.base
    if isinstance(x, collections.defaultdict):
        yield ".default_factory", x.default_factory
    if type(x).__module__.partition(".")[0] == _OWN and "__wrapped__" in attributes_of(x):
        # Of a derivative, its function: what is kept to run it, as compiled text and samples, is not the program's.
        yield ".__wrapped__", x.__wrapped__
        return
    yield from ((f".{name}", value) for name, value in attributes(x))


def attributes(x: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that an object has of its own, in its dictionary or in slots."""
    if isinstance(x, (types.MethodType, types.BuiltinMethodType)):
        return
    yield from attributes_of(x).items()
    for name, slot in slots(type(x)):
        try:
            yield name, slot.__get__(x)
        except AttributeError:
            continue


def slots(cls: type) -> Iterator[tuple[str, Any]]:
    """The attributes that the classes written in Python among those of an object name in ``__slots__``."""
    for base in cls.__mro__:
        if base.__flags__ & OF_PYTHON:
            for name, value in vars(base).items():
                if isinstance(value, types.MemberDescriptorType):
                    yield name, value


def referents(x: Any) -> list[Any]:
    """What an object of the outside world holds."""
    if isinstance(x, types.FunctionType):
        cells = [cell.cell_contents for cell in x.__closure__ or () if cell != types.CellType()]
        return [*cells, *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    found = gc.get_referents(x)
    return [*found, *(item for held in found if type(held) in (tuple, dict) for item in gc.get_referents(held))]


class HoldingRef(weakref.ref[Any]):
    """A weak reference to the copy of an object, which nothing else may hold: it keeps it alive.

    Example:
        >>> HoldingRef({1.0})()
        {1.0}
    """

    __slots__ = ("held",)

    def __init__(self, x: Any) -> None:
        """Take what it refers to."""
        self.held = x


def weakly(x: Any) -> list[Any] | None:
    """What a plain weak reference leads to; None of any other object, or if that is gone."""
    found = x() if type(x) in (weakref.ref, HoldingRef) else None
    return None if found is None else [found]


def led_to(x: Any) -> list[Any] | None:
    """What an object of the outside world leads to that others may see; None of most that are no objects of Python's.

    Example:
        >>> row = [1.0]
        >>> led_to(iter(row)) == [row], led_to(len)
        (True, None)
    """
    cls = type(x)
    if issubclass(cls, weakref.ref):
        found = x()
        return [] if found is None else [found]
    if cls in weakref.ProxyTypes:
        # A method of a proxy is one of that for which it stands, if that is still there.
        with contextlib.suppress(ReferenceError, AttributeError):
            return [x.__str__.__self__]
        return []
    if cls is types.GeneratorType:
        frame = x.gi_frame
        return (
            [] if frame is None else [*frame.f_locals.values(), *([] if x.gi_yieldfrom is None else [x.gi_yieldfrom])]
        )
    if cls is np.nditer:
        return list(x.operands)
    if cls is np.broadcast:
        return list(x.iters)
    if issubclass(cls, _CDATA):
        return [memoryview(x)]
    if issubclass(cls, BaseException):
        return [*x.args, x.__cause__, *(value for _, value in attributes(x))]
    if cls in _VIEWS:
        return [x.mapping]
    if cls is types.CellType:
        return [] if x == types.CellType() else [x.cell_contents]
    if cls is threading.local:
        return list(vars(x).values())
    if cls is contextvars.ContextVar:
        return [x.get(None)]
    if hasattr(cls, "__next__") and not issubclass(cls, io.IOBase):
        return [held for held in gc.get_referents(x) if not isinstance(held, _WIDE[:2])]
    if cls.__flags__ & OF_PYTHON and not issubclass(cls, type) and not is_disguised(x):
        return [part for _, part in labelled_parts(x)]
    return None
