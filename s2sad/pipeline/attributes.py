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
from s2sad.runtime.classes import static_member
from s2sad.runtime.contents import DICTS, attributes_of, contents_of, items_of, table_row
from s2sad.runtime.copies import Reach
from s2sad.transform.existing import is_object
from s2sad.transform.steady import Steady


@dataclass(frozen=True)
class _Path:
    """The classes of objects on the way to a number, array or container, and what that is; None if none is there."""

    names: tuple[str, ...]
    sized: bool

    def __call__(self, value: Any) -> tuple[Any, ...] | None:
        found: list[Any] = []
        for name in self.names:
            found.append(value if isinstance(value, type) else type(value))
            value = _attribute(value, name)
        if type(value) in _NUMBERS:
            return *found, type(value)
        if type(value) in _CONTAINING:
            inside = contents_of(value)
            return None if inside is None else (*found, inside)
        if type(value) is not np.ndarray or value.dtype.hasobject:
            return None
        return *found, value.dtype, value.shape if self.sized else value.ndim


def _attribute(value: Any, name: str) -> Any:
    """An attribute that an object or class has, and none of its class; None if there is none, or code would find it."""
    if is_object(value):
        return None if name in vars(type(value)) else attributes_of(value).get(name)
    if not isinstance(value, type) or static_member(type(value), "__getattribute__") is not type.__getattribute__:
        return None
    return static_member(value, name) if static_member(type(value), name) is None else None


def _typed(value: Any) -> Fact:
    """The type of such a container, however many items it has."""
    cls = type(value)
    if cls is tuple:
        return Fact("tuple", items=tuple([(i, _typed(v)) for i, v in enumerate(value)]))
    if cls in _CONTAINING:
        held = [_typed(v) for v in items_of(value)]
        if fields := table_row(value):
            return Fact("dict", items=tuple(zip(fields, held, strict=True)))
        each = _each(held)
        return Fact("list", each=each) if cls is list else Fact("dict", each=each, keys=key_among(value))
    return timeless(describe(value, ""))


def _each(held: list[Fact]) -> Fact | None:
    """What holds for each item of a container that nothing writes into: of rows of a table, by their keys."""
    rows = [fact.items for fact in held if fact.kind == "dict" and fact.items is not None]
    if len(rows) < len(held) or len({tuple([key for key, _ in row]) for row in rows}) != 1:
        return either(held)
    fields = [key for key, _ in rows[0]]
    parts = [_each([row[place][1] for row in rows]) or OPEN for place in range(len(fields))]
    return Fact("dict", items=tuple(zip(fields, parts, strict=True)))


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

    def fact(
        self, resolver: Resolver, text: str, name: str, sizes: Sizes | None, known: Fact
    ) -> tuple[Fact, Guard | None]:
        """What is known of ``a.b.c``, where ``a`` is a variable and the others are attributes, and what it rests on.

        Where nothing is known of the attribute so, it is what is known otherwise.
        """
        root, *names = text.split(".")
        space: Any = resolver.cells.get(root, resolver.globals)
        if self.steady is None or not names or root in resolver.local or resolver.is_rebound(root):
            return known, None
        value = Guard(space, root, None).current()
        probe = _Path(tuple(names), sizes is not None)
        expected = probe(value)
        if expected is None or self.steady.changed(names):
            return known, None
        for attribute in names:
            value = _attribute(value, attribute)
        if type(value) in _CONTAINING:
            may_change = self.steady.may_change(Reach([value]).objects.keys())
            return (known, None) if may_change else (_typed(value), Guard(space, root, expected, probe))
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
