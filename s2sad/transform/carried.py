"""Objects, functions and tuples that a loop replaces by others of the same shape: it carries their leaves.

``p = p + v`` makes another object in each round.  The loop of the new program carries the numbers and arrays in it, of
which the object is made again where a round begins, and after the loop.  That is a copy of an object that others may
have too, so none of these objects may be changed from then on: their cells are settled (see `State`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from s2sad.ir.code import NONE, UNSET, Constant, Operand, Value
from s2sad.transform.cells import State
from s2sad.transform.choices import is_none
from s2sad.transform.known import (
    Abstract,
    Cell,
    Choice,
    Known,
    NotSpecialisedError,
    Record,
    Referred,
    Unsure,
    cell_of,
    is_static,
    same,
)
from s2sad.transform.references import References, are_there, may_refer, number_of, references_of
from s2sad.transform.shapes import Again, Rebuild, Shapes, apart_from, exists, things_of
from s2sad.transform.simple import is_number
from s2sad.transform.specialiser import Specialiser


@dataclass
class Plan:
    """How a loop carries something that it replaces, as far as attempts to write it have shown.

    ``shared`` are the objects and cells that each of its values leads to, ``varying`` the leaves that change, by
    number, and ``others`` those that are numbers before the loop and something else later.  Values of several shapes,
    which are objects that there are before the loop, are carried by their numbers in ``references``.  Of what is None
    at first, ``later`` is the shape, and whether it is None is carried as well.
    """

    shared: frozenset[Cell | Record]
    references: References | None = None
    later: Later | None = None
    varying: set[int] = field(default_factory=set)
    others: set[int] = field(default_factory=set)

    def copied(self) -> Plan:
        """The plan as it is now."""
        return replace(self, varying=set(self.varying), others=set(self.others))


@dataclass(frozen=True, eq=False)
class Later:
    """The shape of an object, how it is made again, and the names of its leaves; it ``is_unset`` before, or None."""

    key: object
    rebuild: Rebuild
    titles: tuple[str, ...]
    is_unset: bool = False


def plan_for(s: Specialiser, before: State, first: Abstract, other: Abstract) -> Plan:
    """The plan for what is one value before a loop, where the state is ``before``, and another one after a round.

    Raises:
        NotSpecialisedError: if nothing may be replaced.
    """
    if not s.relied.replaces:
        raise NotSpecialisedError("carried")
    s.relied.replaced = True
    if first is UNSET:
        return _unset_before(s, before, other.value if isinstance(other, Unsure) else other)
    if s.relied.items == "references" and are_there(before, first) and are_there(before, other):
        return Plan(frozenset(), references_of(s, other) or references_of(s, first) or References())
    if is_none(first):
        return Plan(frozenset(), later=_later(s, other))
    return Plan(frozenset(things_of(first, s.state) & things_of(other, s.state)))


def _unset_before(s: Specialiser, before: State, value: Abstract) -> Plan:
    """The plan for a variable that has no value before a loop."""
    if s.relied.items != "references" or not are_there(before, value):
        return Plan(frozenset(), later=replace(_later(s, value), is_unset=True))
    references = references_of(s, value) or References()
    later = Later("reference", lambda again: Referred(next(again.leaves), references), ("which",), True)
    return Plan(frozenset(), references, later)


def _may_be_none(value: Abstract) -> bool:
    return is_none(value) or (isinstance(value, Choice) and (_may_be_none(value.then) or _may_be_none(value.orelse)))


def _later(s: Specialiser, value: Abstract) -> Later:
    """The shape of an object that may be None."""
    while isinstance(value, Choice):
        value = value.orelse if is_none(value.then) else value.then
    shapes = apart_from((), s.state)
    key, rebuild = shapes.of(value)
    if shapes.optional or any(map(exists, shapes.numbers)):
        raise NotSpecialisedError("carried")
    return Later(key, rebuild, tuple(shapes.titles))


def may_be_replaced(value: Abstract) -> bool:
    """Whether a loop can carry the leaves of a value in its place."""
    return is_static(value) and not isinstance(value, (Known, Unsure))


def _either(test: Operand, a: Abstract, b: Abstract) -> Abstract:
    """One of two leaves by a condition."""
    is_test = isinstance(a, Constant) and a.value is True and isinstance(b, Constant) and b.value is False
    return test if is_test else Choice(test, a, b)


def _filled(given: Operand, value: Abstract) -> Unsure:
    return Unsure(value, given, True)


class Structure:
    """One value that a loop carries by its leaves."""

    def __init__(self, s: Specialiser, value: Abstract, plan: Plan, name: str) -> None:
        self.name = name
        self.s, self.plan, self.shared, self.first = s, plan, plan.shared, value
        self.references, self.later = plan.references, plan.later
        #: What the values lead to, of which there are copies: before the loop, and where its rounds end.
        self.things: set[Cell | Record] = set()
        if plan.later is not None:
            plan.varying.update(range(1 + len(plan.later.titles)))
        #: The leaves that are carried, by number.
        self.varying = sorted(plan.varying)
        shapes = self.shapes()
        self.key, self.rebuild = self.shape(shapes, value)
        self.starts: list[Any] = shapes.leaves
        self.titles = shapes.titles
        self.numbers = {n for n, leaf in enumerate(self.starts) if is_number(s, leaf)} - plan.others

    def shapes(self) -> Shapes:
        """What finds the leaves of the values."""
        return apart_from(self.shared, self.s.state)

    def shape(self, shapes: Shapes, value: Abstract) -> tuple[object, Rebuild]:
        """The shape of one of the values."""
        if (later := self.later) is not None:
            shapes.leaves[:] = self.parts(later, value)
            shapes.titles[:] = f"has_{self.name}", *(later.titles if self.references is None else (self.name,))
            if later.is_unset:
                return later.key, lambda again: _filled(next(again.leaves), later.rebuild(again))
            return later.key, lambda again: Choice(next(again.leaves), later.rebuild(again), NONE)
        if self.references is not None:
            value = Referred(number_of(self.s, self.references, value), self.references)
        found = shapes.of(value, self.name if self.references is not None else "")
        if shapes.optional or any(map(exists, shapes.numbers)):
            raise NotSpecialisedError("carried")
        self.things.update(shapes.numbers)
        return found

    def parts(self, later: Later, value: Abstract) -> list[Any]:
        """Whether something is not None, or has a value, and its leaves.

        Raises:
            NotSpecialisedError: if it is an object of another shape.
        """
        if value is UNSET or (is_none(value) and not later.is_unset):
            return [Constant(False), *(NONE for _ in later.titles)]
        if isinstance(value, Unsure):
            if value.given is None or not later.is_unset:
                raise NotSpecialisedError("carried")
            leaves = self.parts(later, value.value)[1:]
            return [value.given, *(leaf if value.is_filled else Choice(value.given, leaf, NONE) for leaf in leaves)]
        if later.is_unset and self.references is not None:
            return [Constant(True), number_of(self.s, self.references, value)]
        if isinstance(value, Choice):
            sides = zip(self.parts(later, value.then), self.parts(later, value.orelse), strict=True)
            return [a if same(a, b) else _either(value.test, a, b) for a, b in sides]
        shapes = apart_from((), self.s.state)
        if shapes.of(value)[0] != later.key or shapes.optional or any(map(exists, shapes.numbers)):
            self.s.relied.mixed |= may_refer(value)
            raise NotSpecialisedError("carried")
        self.things.update(shapes.numbers)
        return [Constant(True), *shapes.leaves]

    def carried(self) -> Iterator[Abstract]:
        """The leaves that are carried, as they are before the loop."""
        return (self.starts[n] for n in self.varying)

    def made(self, own: list[Value]) -> Abstract:
        """The value, made of new leaves, which are added to ``own``."""
        leaves = list(self.starts)
        for n in self.varying:
            leaves[n] = leaf = Value(self.titles[n])
            own.append(leaf)
            if n in self.numbers:
                self.s.numbers.add(leaf)
        before = set(self.s.state)
        value: Abstract = self.rebuild(Again(iter(leaves), self.s.state))
        self.s.state.settle(cell for cell in self.s.state if cell not in before)
        return value

    def leave(self, value: Abstract) -> list[Abstract]:
        """The leaves that another value hands on; what the plan did not know of them is added to it.

        Raises:
            NotSpecialisedError: if the value has another shape.
        """
        shapes = self.shapes()
        if self.shape(shapes, value)[0] != self.key:
            if self.shared:
                # What the first values lead to, others do not.
                self.plan.shared = frozenset()
                return []
            if self.later is None and (_may_be_none(self.first) or _may_be_none(value)):
                self.plan.later = _later(self.s, self.first)
                return []
            if self.references is not None or not (may_refer(self.first) and may_refer(value)):
                raise NotSpecialisedError("carried")
            self.s.relied.mixed = True
            if self.s.relied.items != "references":
                raise NotSpecialisedError("carried")
            self.plan.references = references_of(self.s, value) or references_of(self.s, self.first) or References()
            return []
        leaves = shapes.leaves
        self.plan.varying.update(
            n for n, (old, new) in enumerate(zip(self.starts, leaves, strict=True)) if not same(old, new)
        )
        self.plan.others.update(n for n in self.numbers if not is_number(self.s, leaves[n]))
        return [leaves[n] for n in self.varying]

    def settle(self, changed: Iterable[Cell]) -> None:
        """Let what the loop has replaced be changed no more.

        Raises:
            NotSpecialisedError: if some of it is among the cells that the loop has ``changed``.
        """
        owned = self.things - self.shared
        if any(cell in owned or cell.record in owned for cell in changed):
            raise NotSpecialisedError("carried")
        self.s.state.settle(map(cell_of, owned))
