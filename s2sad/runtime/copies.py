"""Copies of the caller's objects: all that is reachable from arguments, with sharing, views and cycles as they were.

Copied are arrays, built-in containers and instances of classes written in Python.  Everything else (random generators,
iterators, files, modules, functions, classes) belongs to the outside world and stays the same object.
"""

from __future__ import annotations

import array
import collections
import functools
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.contents import Aside, attributes_of, is_disguised, items_of
from s2sad.runtime.overlaps import overlap
from s2sad.runtime.parts import (
    ATOMS,
    OF_PYTHON,
    Beyond,
    HoldingRef,
    attributes,
    labelled_parts,
    led_to,
    referents,
    slots,
    weakly,
)

Array = np.ndarray[Any, Any]
#: An array with other strides than NumPy gives its copy is spaced, or repeated if elements may be one in memory.
Layout = Literal["", "spaced", "repeated"]

MEMORY = (np.ndarray, memoryview, bytearray, array.array)
_CONTAINERS = (list, dict, set, collections.deque, types.SimpleNamespace)
#: What cannot change, but may hold what can: made anew only where an item was copied.
_HOLDERS = (
    *(tuple, frozenset, types.MethodType, types.BuiltinMethodType, types.MappingProxyType, np.flatiter),
    functools.partial,
)
#: The dictionaries and queues of the standard library that are made in a way of their own.
_MADE_ANEW: dict[type, Any] = {
    collections.OrderedDict: lambda x: collections.OrderedDict(),
    collections.defaultdict: lambda x: collections.defaultdict(x.default_factory),
    collections.deque: lambda x: collections.deque(maxlen=x.maxlen),
}


def copy_reachable(x: Any) -> Any:
    """A copy of an object and of all that it reaches.

    Raises:
        UndefinedDerivativeError: if an iterator or the like holds what is copied.
    """
    return _copied((x,), is_mutable)[0]


def copy_arrays(x: Any) -> Any:
    """As :func:`copy_reachable`, of arrays and of what holds arrays alone; the rest stays the same objects."""
    return _copied((x,), lambda part: isinstance(part, MEMORY))[0]


def copy_together(*arguments: Any) -> tuple[Any, ...]:
    """As :func:`copy_reachable`, of several objects: what they share, their copies share.

    Example:
        >>> numbers = [1.0, 2.0]
        >>> a, b = copy_together(numbers, {"same": numbers})
        >>> a is b["same"], a is numbers
        (True, False)
    """
    return _copied(arguments, is_mutable)


def _copied(arguments: tuple[Any, ...], wanted: Callable[[Any], bool]) -> tuple[Any, ...]:
    copies = _Copies(Reach(arguments, weakly), wanted)
    return tuple([copies.of(x) for x in arguments])


class Reach:
    """All objects that some roots reach: ``objects`` by identity, ``parts`` what each holds directly.

    ``outside`` are those of the outside world, whose parts are not followed; ``beyond`` gives the parts of some of them
    (`led_to`), and None for the others.
    """

    def __init__(self, roots: Iterable[Any], beyond: Beyond | None = None) -> None:
        self.objects: dict[int, Any] = {}
        self.parts: dict[int, list[Any]] = {}
        self.outside: list[Any] = []
        pending = [x for x in roots if type(x) not in ATOMS]
        while pending:
            x = pending.pop()
            if id(x) in self.objects:
                continue
            self.objects[id(x)] = x
            held: Iterable[Any] | None
            if is_followed(x):
                held = [p for _, p in labelled_parts(x)]
            else:
                held = None if beyond is None else beyond(x)
                if held is None:
                    self.outside.append(x)
                    continue
            self.parts[id(x)] = parts = [p for p in held if type(p) not in ATOMS]
            pending += reversed(parts)


def contents(roots: Iterable[Any]) -> list[tuple[Any, list[Any]]]:
    """All objects that some roots reach, with what each holds directly now."""
    reach = Reach(roots)
    return [(x, [p for _, p in labelled_parts(x)]) for i, x in reach.objects.items() if i in reach.parts]


def have_changed(held: Iterable[tuple[Any, list[Any]]]) -> bool:
    """Whether an object holds other things than it did.

    Example:
        >>> items = [1.0]
        >>> before = contents([items])
        >>> items.append(2.0)
        >>> have_changed(before)
        True
    """
    for x, before in held:
        now = [p for _, p in labelled_parts(x)]
        if len(now) != len(before) or any(a is not b for a, b in zip(now, before, strict=True)):
            return True
    return False


def is_followed(x: Any) -> bool:
    """Whether an object is no part of the outside world, which proxies are."""
    return not is_disguised(x) and (isinstance(x, (*MEMORY, *_CONTAINERS, *_HOLDERS)) or is_instance(x))


def is_instance(x: Any) -> bool:
    """Whether an object is a plain instance of a class written in Python, which is no more than its attributes."""
    cls: Any = type(x)
    if not cls.__flags__ & OF_PYTHON or cls.__new__ is not object.__new__ or hasattr(cls, "__del__"):
        return False
    if Aside in cls.__mro__:
        return False
    words = sum(1 for _ in slots(cls)) + (cls.__dictoffset__ > 0) + (cls.__weakrefoffset__ > 0)
    return bool(cls.__basicsize__ <= object.__basicsize__ + words * tuple.__itemsize__)


def _is_frozen(x: Any) -> bool:
    """Whether an object is of a frozen dataclass."""
    params = getattr(type(x), "__dataclass_params__", None)
    return params is not None and params.frozen


def is_mutable(x: Any) -> bool:
    """Whether an object can change itself, apart from what it holds."""
    if is_disguised(x):
        return False
    if isinstance(x, (*MEMORY, *_CONTAINERS)):
        return True
    return is_instance(x) and not _is_frozen(x) and not _is_sentinel(x)


def hold_mutable(roots: Iterable[Any], beyond: Beyond | None = None) -> bool:
    """Whether one of some objects, or of those that they reach, can change itself; ``beyond`` is that of `Reach`.

    Example:
        >>> hold_mutable([([],)]), hold_mutable([(1.0, "a")])
        (True, False)
    """
    return any(map(is_mutable, Reach(roots, beyond).objects.values()))


def _is_sentinel(x: Any) -> bool:
    """Whether an instance is there to be recognised: it has no attributes, and a name in the module of its class."""
    if any(True for _ in attributes(x)):
        return False
    return any(value is x for value in vars(sys.modules.get(type(x).__module__, object)).values())


class _Copies:
    """The copies of what is reached, as far as it is ``wanted`` or holds what is."""

    def __init__(self, reach: Reach, wanted: Callable[[Any], bool]) -> None:
        self.reach = reach
        self.made: dict[int, Any] = {}
        needed = self._needed(wanted)
        memory = [x for x in (reach.objects[i] for i in needed) if isinstance(x, MEMORY)]
        for x in reach.outside:
            given = [] if isinstance(x, _UNSEEN) else [*referents(x), *Reach(led_to(x) or (), led_to).objects.values()]
            for held in given:
                if id(held) in needed or (isinstance(held, MEMORY) and any(overlap(a, held) for a in memory)):
                    raise UndefinedDerivativeError(
                        f"an object of type {type(x).__name__} among the arguments holds an object of type "
                        f"{type(held).__name__} that the function may change",
                        "Make it inside the function.",
                    )
        self.needed = needed
        for together in _components(memory):
            self.made.update(_memory_copies(together))
        others = [x for x in (reach.objects[i] for i in needed) if not isinstance(x, (*MEMORY, *_HOLDERS, weakref.ref))]
        # The hash of a key may need its attributes.
        others = sorted((x for x in others if not _is_frozen(x)), key=lambda x: isinstance(x, (dict, set)))
        for x in others:
            self.made[id(x)] = _blank(x)
        for x in (*memory, *others):
            self._fill(self.made[id(x)], x)

    def _needed(self, wanted: Callable[[Any], bool]) -> dict[int, None]:
        """The identities of what is copied: what is wanted, and all that holds it."""
        holders: dict[int, list[int]] = {}
        for holder, parts in self.reach.parts.items():
            for part in parts:
                holders.setdefault(id(part), []).append(holder)
        pending = [i for i in self.reach.parts if wanted(self.reach.objects[i])]
        found: dict[int, None] = {}
        while pending:
            i = pending.pop()
            if i not in found:
                found[i] = None
                pending += holders.get(i, ())
        return {i: None for i in self.reach.parts if i in found}

    def of(self, x: Any) -> Any:
        """The copy of an object, or itself if it stays."""
        if type(x) in ATOMS:
            return x
        if id(x) in self.made:
            return self.made[id(x)]
        if id(x) not in self.needed:
            return x
        if isinstance(x, weakref.ref):
            return HoldingRef(self.of(x()))
        if is_instance(x):
            new = self.made[id(x)] = object.__new__(type(x))
            self._set_attributes(new, x)
        else:
            new = self.made[id(x)] = self._rebuilt(x)
        return new

    def _rebuilt(self, x: Any) -> Any:
        """What cannot change, with copies for its parts."""
        if isinstance(x, tuple):
            new = tuple.__new__(type(x), [self.of(item) for item in x])
            self._set_attributes(new, x)
            return new
        if isinstance(x, frozenset):
            return frozenset([self.of(item) for item in x])
        if isinstance(x, types.MethodType):
            return types.MethodType(x.__func__, self.of(x.__self__))
        if isinstance(x, types.BuiltinMethodType):
            return getattr(self.of(x.__self__), x.__name__)
        if isinstance(x, functools.partial):
            held = {name: self.of(value) for name, value in x.keywords.items()}
            made = functools.partial.__new__(type(x), self.of(x.func), *map(self.of, x.args), **held)
            self._set_attributes(made, x)
            return made
        if isinstance(x, types.MappingProxyType):
            return types.MappingProxyType({self.of(k): self.of(v) for k, v in x.items()})
        new = self.of(x.base).flat
        for _ in range(x.index):
            next(new)
        return new

    def _fill(self, new: Any, x: Any) -> None:
        """Put copies of the parts of ``x`` into its empty copy."""
        if isinstance(x, list):
            list.extend(new, [self.of(item) for item in items_of(x)])
        elif isinstance(x, collections.deque):
            collections.deque.extend(new, [self.of(item) for item in items_of(x)])
        elif isinstance(x, dict):
            setter = collections.OrderedDict if isinstance(x, collections.OrderedDict) else dict
            for key, value in dict.items(x):
                setter.__setitem__(new, self.of(key), self.of(value))
        elif isinstance(x, set):
            items = [self.of(item) for item in items_of(x)]
            # A copy of a set has the order of the set.
            set.update(new, x if all(a is b for a, b in zip(items, items_of(x), strict=True)) else items)
        elif isinstance(x, np.ndarray) and x.dtype.kind == "O":
            for place in np.ndindex(x.shape):
                new[place] = self.of(x[place])
        if isinstance(x, np.ndarray) and not x.flags.writeable:
            new.flags.writeable = False
        self._set_attributes(new, x)

    def _set_attributes(self, new: Any, x: Any) -> None:
        own = attributes_of(x)
        if own:
            attributes_of(new).update({name: self.of(value) for name, value in own.items()})
        for _, slot in slots(type(x)):
            try:
                slot.__set__(new, self.of(slot.__get__(x)))
            except AttributeError:
                continue


#: What refers to far more than it was given.
_UNSEEN = (type, types.ModuleType, types.BuiltinFunctionType, np.generic)


def _blank(x: Any) -> Any:
    """An empty object of the class of ``x``, made without running what its class does when one is made."""
    cls = type(x)
    if cls in _MADE_ANEW:
        return _MADE_ANEW[cls](x)
    if is_instance(x):
        return object.__new__(cls)
    base: Any = next(t for t in (*_MADE_ANEW, *_CONTAINERS) if isinstance(x, t))
    new = base.__new__(cls)
    if base is collections.defaultdict:
        new.default_factory = x.default_factory
    return new


def dict_like(x: dict[Any, Any], items: dict[Any, Any]) -> Any:
    """A dictionary of the class of ``x``, with its attributes, that holds other items.

    Example:
        >>> numbers = collections.defaultdict(float, a=1.0)
        >>> dict_like(numbers, {"a": 2.0})["b"]
        0.0
    """
    made = _blank(x)
    setter = collections.OrderedDict if isinstance(x, collections.OrderedDict) else dict
    for key, value in items.items():
        setter.__setitem__(made, key, value)
    if own := attributes_of(x):
        attributes_of(made).update(own)
    return made


def _bounds(x: Any) -> tuple[int, int]:
    """The addresses of the memory that an object has or views."""
    return np.lib.array_utils.byte_bounds(x if isinstance(x, np.ndarray) else np.frombuffer(x, np.uint8))


def _components(memory: list[Any]) -> list[list[Any]]:
    """Arrays and the like, those together that overlap in memory, directly or by others."""
    found: list[list[Any]] = []
    end = 0
    spans = [(_bounds(x), x) if _size(x) else ((0, 0), x) for x in memory]
    for (low, high), x in sorted(spans, key=lambda span: span[0]):
        if low < end:
            found[-1].append(x)
        else:
            found.append([x])
        end = max(end, high)
    return found


def _size(x: Any) -> int:
    return x.size if isinstance(x, np.ndarray) else memoryview(x).nbytes


def _memory_copies(together: list[Any]) -> Iterator[tuple[int, Any]]:
    """The copies of arrays that overlap in memory, which overlap in the same way."""
    first = together[0]
    if len(together) == 1:
        if isinstance(first, np.ndarray):
            yield id(first), _array_copy(first)
        elif isinstance(first, memoryview):
            yield id(first), _array_copy(np.asarray(first)).data
        else:
            yield id(first), first[:]
        return
    arrays = [np.asarray(x) if isinstance(x, memoryview) else x for x in together]
    if any(not isinstance(a, np.ndarray) or a.dtype.hasobject for a in arrays):
        raise UndefinedDerivativeError(
            "arrays of objects, or a bytearray and an array, share memory that the function may change",
            "Pass a copy of one of them (x.copy()).",
        )
    low, high = _bounds(first)[0], max(_bounds(a)[1] for a in arrays)
    memory = np.zeros(high - low + 64, np.uint8)
    # NumPy may compute in another order where memory is aligned in another way.
    offset = (low - memory.ctypes.data) % 64
    for x, a in zip(together, arrays, strict=True):
        view = np.ndarray(a.shape, a.dtype, memory, offset + a.ctypes.data - low, a.strides)
        view[...] = a
        yield id(x), view.data if isinstance(x, memoryview) else _of_class(view, type(a))


def _array_copy(x: Array) -> Array:
    """A copy of an array with its class and strides, so that NumPy views and copies it where it would ``x``."""
    if x.dtype.kind == "O":
        # What it holds is filled in later.
        return _of_class(np.empty_like(x, subok=False), type(x))
    if x.flags.c_contiguous:
        return _of_class(np.array(x, subok=False), type(x))
    copy = laid_out_like(x)
    copy[...] = x
    return _of_class(copy, type(x))


def _of_class(x: Array, cls: type) -> Array:
    return x if cls is np.ndarray else x.view(cls)


def is_repeated(x: Array) -> bool:
    """Whether elements of an array may be one in memory, as those of a broadcast row are.

    Example:
        >>> is_repeated(np.broadcast_to(np.ones(3), (2, 3))), is_repeated(np.ones((2, 3)).T[::2])
        (True, False)
    """
    reach = x.itemsize
    for stride, n in sorted([(abs(s), n) for s, n in zip(x.strides, x.shape, strict=True) if n > 1]):
        if stride < reach:
            return bool(x.size)
        reach += stride * (n - 1)
    return False


def is_spaced(x: Array) -> bool:
    """Whether an array has other strides than its copy by NumPy: there are gaps in its memory, or it is reversed.

    Example:
        >>> is_spaced(np.ones((2, 3)).T), is_spaced(np.ones(6)[::2]), is_spaced(np.ones(6)[::-1])
        (False, True, True)
    """
    stride = x.itemsize
    for held, n in sorted([(s, n) for s, n in zip(x.strides, x.shape, strict=True) if n > 1]):
        if held != stride:
            return bool(x.size)
        stride *= n
    return False


def layout_of(x: Array) -> Layout:
    """What of the memory of an array makes a copy another than that of NumPy; nothing of one that is read-only.

    Example:
        >>> layout_of(np.ones((2, 3)).T), layout_of(np.ones(6)[::2])
        ('', 'spaced')
    """
    if not x.flags.writeable or x.flags.forc or not is_spaced(x):
        return ""
    return "repeated" if is_repeated(x) else "spaced"


def require_apart(x: Array) -> None:
    """Refuse to write an array in place of which elements may be one in memory: an adjoint has one for each.

    Raises:
        UndefinedDerivativeError: if ``x`` is one that may be written.
    """
    if is_repeated(x) and x.flags.writeable:
        raise UndefinedDerivativeError(
            "elements of an array that is written in place are one in memory", "Take a copy of it (x.copy())."
        )


def apart_like(x: Array) -> Array:
    """An array of zeros with the strides of ``x``, if these keep its elements apart in memory."""
    return np.zeros_like(x, subok=False) if is_repeated(x) else laid_out_like(x)


def laid_out_like(x: Array) -> Array:
    """An array of zeros with the strides of ``x``."""
    made = np.zeros_like(x, subok=False)
    if made.strides == x.strides:
        return made
    low, high = np.lib.array_utils.byte_bounds(x)
    start = x.__array_interface__["data"][0] - low
    return np.ndarray(x.shape, x.dtype, np.zeros(high - low, np.uint8), start, x.strides)
