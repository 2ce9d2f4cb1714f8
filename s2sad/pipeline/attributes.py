"""Arrays and numbers that are attributes of the user's objects which a variable of the module, or a closure, has.

What they are is a fact as it is of a variable (`MODEL.weights` as `WEIGHTS`), behind a guard, if nothing that may run
gives an attribute of that name another value.  So are the types of what lists and dicts of the module hold, if nothing
that may run writes into them.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.source import Source
from s2sad.frontend.touched import Calls
from s2sad.ir.sizes import Sizes
from s2sad.ir.types import OPEN, Fact, describe, either, key_among, timeless
from s2sad.runtime.contents import DICTS, attributes_of, contents_of, items_of
from s2sad.runtime.copies import Reach
from s2sad.transform.existing import is_object
from s2sad.transform.steady import Steady


@dataclass(frozen=True)
class _Path:
    """The classes of the objects on the way to a number, or an array with dtype and shape; None if none is there."""

    names: tuple[str, ...]
    sized: bool

    def __call__(self, value: Any) -> tuple[Any, ...] | None:
        found: list[Any] = []
        for name in self.names:
            own = attributes_of(value) if is_object(value) else {}
            if name not in own or name in vars(type(value)):
                return None
            found.append(type(value))
            value = own[name]
        if type(value) in _NUMBERS:
            return *found, type(value)
        if type(value) is not np.ndarray or value.dtype.hasobject:
            return None
        return *found, value.dtype, value.shape if self.sized else value.ndim


def _typed(value: Any) -> Fact:
    """The type of such a container, however many items it has."""
    cls = type(value)
    if cls is tuple:
        return Fact("tuple", items=tuple([(i, _typed(v)) for i, v in enumerate(value)]))
    if cls in _CONTAINING:
        each = either([_typed(v) for v in items_of(value)])
        return Fact("list", each=each) if cls is list else Fact("dict", each=each, keys=key_among(value))
    return timeless(describe(value, ""))


_CONTAINING = (list, tuple, *DICTS)
_NUMBERS = (float, int, complex)


def are_of_numbers(facts: Mapping[str, Fact], program: types.FunctionType) -> bool:
    """Whether the arguments of a function, and default values, lead to no function or object of the user's."""
    defaults = (*(program.__defaults__ or ()), *(program.__kwdefaults__ or {}).values())
    given = [*facts.values(), *(describe(value, "") for value in defaults if not issubclass(type(value), str))]
    return all(map(_is_of_numbers, given))


def _is_of_numbers(fact: Fact) -> bool:
    """Whether a value is a number, array, text or None, or a container of such."""
    if fact.kind in ("scalar", "array", "numeric", "none") or fact.text or isinstance(fact.value, str):
        return True
    held = [f for _, f in fact.items or ()]
    return fact.items is not None and fact.kind in _CONTAINERS and all(map(_is_of_numbers, held))


_CONTAINERS = ("tuple", "list", "dict", "record", "dataclass")


class Attributes:
    """What is known of attributes while one function runs."""

    def __init__(self) -> None:
        self.steady: Steady | None = None

    def begin(self, function: types.FunctionType, source: Source, program: Calls | None) -> None:
        """Take notice of what runs: whatever that calls may give attributes other values.

        What is given to it may be, or hold, functions that do so and have no name here; then nothing is known.

        Args:
            function: The function as it is written.
            source: The source of what has been made of it.
            program: The calls of the whole program, if they are known.
        """
        if program is not None:
            self.steady = Steady((source.function,), direct=lambda: program.touched(function, source))

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What the facts rest on, but for the attributes themselves."""
        return () if self.steady is None else self.steady.guards

    def fact(self, resolver: Resolver, text: str, name: str, sizes: Sizes | None) -> tuple[Fact, Guard | None]:
        """What is known of ``a.b.c``, where ``a`` is a variable and the others are attributes, and what it rests on."""
        root, *names = text.split(".")
        space: Any = resolver.cells.get(root, resolver.globals)
        if self.steady is None or not names or root in resolver.local or resolver.is_rebound(root):
            return OPEN, None
        value = Guard(space, root, None).current()
        probe = _Path(tuple(names), sizes is not None)
        expected = probe(value)
        if expected is None or self.steady.changed(names):
            return OPEN, None
        for attribute in names:
            value = attributes_of(value)[attribute]
        fact = describe(value, name, sizes)
        return timeless(fact) if type(value) in _NUMBERS else fact, Guard(space, root, expected, probe)

    def contents(self, resolver: Resolver, name: str, known: Fact) -> tuple[Fact, Guard | None]:
        """What a list or dict is that a variable has, with the types of its items, and what that rests on.

        Where these are not known it is what is known otherwise.
        """
        space: Any = resolver.cells.get(name, resolver.globals)
        value = Guard(space, name, None).current()
        expected = contents_of(value)
        if expected is None or self.steady is None or name in resolver.local or resolver.is_rebound(name):
            return known, None
        if self.steady.may_change(Reach([value]).objects.keys()):
            return known, None
        return _typed(value), Guard(space, name, expected, contents_of)
