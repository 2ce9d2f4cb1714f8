"""What arguments are made of: the objects of the user's classes to which they lead, by the types of the arguments.

A `Composite` says of which class an object surely is, and which objects are its attributes or items.  The class of an
argument is part of its kind, so that this needs no check when the program runs; that no list, dict or object changes
which objects it holds is found by the points-to analysis of what has been made of the program (`may_change`).
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2sad.effects.heap import Effort, TooMuch
from s2sad.effects.mod_ref import Program
from s2sad.effects.objects import ANYTHING, ITEMS, Shape, item_field
from s2sad.frontend.lower_statements import lower_function
from s2sad.frontend.source import Source
from s2sad.frontend.summaries import code_of, is_trusted
from s2sad.frontend.touched import MOST
from s2sad.ir.types import Fact
from s2sad.runtime.classes import does_as, static_member
from s2sad.transform.classes import is_named_tuple, is_simple

_CONTAINERS: dict[str, type] = {"list": list, "tuple": tuple, "dict": dict}
#: So many items of a container are told apart; of more it is known what each of them is.
_MOST = 64


@dataclass(frozen=True)
class Composite:
    """An object or container that an argument is, or leads to.

    ``cls`` is its class.  ``parts`` are its attributes or items by name, position or key, with None for those that are
    no objects of the user's.  ``own`` are the names of an object's attributes.  Of a list or tuple of unknown length
    every one is an ``item``.  Attributes that are ``functions`` carry no derivative.  It may be a ``function`` itself
    that is known, or a method with such a function, and its object among the parts.
    """

    cls: type
    parts: tuple[tuple[Any, Composite | None], ...] = ()
    own: frozenset[str] = frozenset()
    item: Composite | None = None
    functions: frozenset[str] = frozenset()
    function: Callable[..., Any] | None = None

    @property
    def is_container(self) -> bool:
        """Whether it is a list, tuple or dict, also a tuple with named fields."""
        return issubclass(self.cls, (list, tuple, dict))

    @property
    def each(self) -> Composite | None:
        """What every item is, if these are alike."""
        if self.item is not None:
            return self.item
        return functools.reduce(_either, [part for _, part in self.parts]) if self.parts else None

    def part(self, key: Any) -> Composite | None:
        """An attribute or item."""
        if self.item is not None:
            return self.item
        if issubclass(self.cls, (list, tuple)) and type(key) is int and key < 0:
            key += len(self.parts)
        return next((part for name, part in self.parts if name == key), None)


def _either(a: Composite | None, b: Composite | None) -> Composite | None:
    """What holds for one of two."""
    if a is None or b is None or a == b:
        return a if a == b else None
    if a.cls is not b.cls or a.own != b.own or a.function is not None:
        return None
    if [k for k, _ in a.parts] != [k for k, _ in b.parts]:
        item = _either(a.each, b.each) if a.cls in (list, tuple) else None
        return Composite(a.cls, item=item) if item is not None else None
    parts = tuple([(k, _either(p, q)) for (k, p), (_, q) in zip(a.parts, b.parts, strict=True)])
    # Functions that differ are known where each item is taken for itself.
    known = {key for key, part in a.parts if part is not None and part.function is not None}
    lost = any(key in known and part is None for key, part in parts)
    return None if lost else replace(a, parts=parts)


def composite_of(fact: Fact) -> Composite | None:
    """What a value of a type is made of; None where no object of the user's is known in it."""
    if fact.function is not None and fact.items is None:
        return Composite(type(fact.function), function=fact.function)
    parts = tuple([(key, composite_of(f)) for key, f in fact.items or ()])
    if fact.function is not None:
        return Composite(types.MethodType, parts, function=fact.function) if None not in dict(parts).values() else None
    if fact.instance is not None:
        cls, own = fact.instance
        functions = frozenset(key for key, f in fact.items or () if _is_function(f))
        if is_simple(cls) or is_named_tuple(cls):
            return Composite(cls, parts, frozenset(own), functions=functions)
        return None
    if fact.kind in _CONTAINERS and not fact.owners and any(part is not None for _, part in parts):
        return Composite(_CONTAINERS[fact.kind], parts)
    if fact.kind in ("list", "tuple") and not fact.owners and fact.each is not None:
        item = composite_of(fact.each)
        return Composite(_CONTAINERS[fact.kind], item=item) if item is not None else None
    return None


def _is_function(fact: Fact) -> bool:
    """Whether an argument surely is a function."""
    return fact.kind == "other" and fact.real and fact.each is None


def leads_to_objects(fact: Fact) -> bool:
    """Whether an argument is an object of the user's, or a container of some."""
    held = [item for _, item in fact.items or ()] if fact.each is None else [fact.each]
    return fact.instance is not None or any(map(leads_to_objects, held))


def composites_of(facts: Mapping[str, Fact]) -> dict[str, Composite]:
    """What arguments of some types are made of, by parameter."""
    found = {name: composite_of(fact) for name, fact in facts.items() if leads_to_objects(fact)}
    return {name: made for name, made in found.items() if made is not None}


def shapes_of(facts: Mapping[str, Fact]) -> dict[str, Shape]:
    """What the points-to analysis is told of arguments of some types, by parameter."""
    return {name: shape for name, fact in facts.items() if (shape := _shape(fact)) is not None}


def may_change(source: Source, composites: Mapping[str, Composite], shapes: Mapping[str, Shape]) -> bool:
    """Whether a program may change what lists, dicts and objects hold, to which its arguments lead.

    Args:
        source: The program, in which their methods have been followed.
        composites: What its arguments are made of, by parameter.
        shapes: The same for the points-to analysis.
    """
    code = lower_function(source.node)
    program = Program(lambda f: code if f is source.function else code_of(f), trusted=is_trusted, effort=Effort(MOST))
    known = program.function(source.function)
    assert known is not None
    given = {n: shapes[p.name] for n, p in enumerate(code.params) if p.name in shapes}
    try:
        summary = program.context(known, given).summary
    except (TooMuch, RecursionError):
        return True
    escaped = {code.params[o.path[0]].name for o in summary.escapes if o.kind == "param"}
    if not escaped.isdisjoint(composites):
        return True
    names = set().union(*map(_names, composites.values()))
    for o, name in summary.mod:
        if o.kind == "param" and o.cls is not np.ndarray and not _is_computed_once(o.cls, name):
            return True
        if o.kind != "site" and o.cls is not np.ndarray and name in names:
            return True
    return False


def _is_computed_once(cls: type | None, name: str) -> bool:
    """Whether what is set is what a `functools.cached_property` has computed."""
    return cls is not None and does_as(static_member(cls, name), functools.cached_property)


def _names(composite: Composite) -> Iterable[str]:
    """The names of attributes that are objects of the user's, and of all that these have."""
    for name, part in composite.parts:
        if part is not None:
            yield from (name, *_names(part)) if not composite.is_container else _names(part)
    if composite.item is not None:
        yield from _names(composite.item)


def _shape(fact: Fact) -> Shape | None:
    """What the points-to analysis is told of a value of a type."""
    if fact.kind == "scalar" and not fact.owners:
        return None
    if fact.kind == "array" and not fact.owners:
        return Shape(np.ndarray, None, ())
    if _is_function(fact):
        # What it writes is found when it is called, and refused.
        return Shape(np.ufunc, np.positive, ())
    cls = fact.instance[0] if fact.instance is not None else _CONTAINERS.get(fact.kind)
    if cls is None or (fact.owners and fact.instance is None):
        return ANYTHING if cls is None else Shape(cls)
    if fact.items is None:
        held = None if fact.each is None or cls not in (list, tuple) else _shape(fact.each)
        return Shape(cls) if held is None else Shape(cls, None, ((ITEMS, held),))
    if cls not in _CONTAINERS.values():
        return Shape(cls, None, tuple(sorted([(str(k), _shape(f)) for k, f in fact.items])))
    fields: dict[str, Shape | None] = {}
    for key, item in fact.items[:_MOST]:
        name, shape = item_field(key, cls), _shape(item)
        fields[name] = shape if name not in fields or fields[name] in (shape, None) else ANYTHING
    return Shape(cls, None, tuple(sorted(fields.items())))
