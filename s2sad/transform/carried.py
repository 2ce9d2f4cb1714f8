"""Objects, functions and tuples that a loop replaces by others of the same shape: it carries their leaves.

``p = p + v`` makes another object in each round.  The loop of the new program carries the numbers and arrays in it, of
which the object is made again where a round begins, and after the loop.  That is a copy of an object that others may
have too, so none of these objects may be changed from then on: their cells are settled (see `State`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from s2sad.ir.code import Operand, Value
from s2sad.transform.known import (
    Abstract,
    Cell,
    Choice,
    Closure,
    Known,
    Method,
    NotSpecialisedError,
    Partial,
    Record,
    Row,
    Unsure,
    is_static,
    is_switch,
    same,
)
from s2sad.transform.shapes import Again, Rebuild, Shapes
from s2sad.transform.simple import is_number
from s2sad.transform.specialiser import Specialiser


@dataclass
class Plan:
    """How a loop carries something that it replaces, as far as attempts to write it have shown.

    ``shared`` are the objects and cells that each of its values leads to, ``varying`` the leaves that change, by
    number, and ``others`` those that are numbers before the loop and something else later.
    """

    shared: frozenset[Cell | Record]
    varying: set[int] = field(default_factory=set)
    others: set[int] = field(default_factory=set)

    def copied(self) -> Plan:
        """The plan as it is now."""
        return replace(self, varying=set(self.varying), others=set(self.others))


def plan_for(s: Specialiser, first: Abstract, other: Abstract) -> Plan:
    """The plan for what is one value before a loop and another one after a round.

    Raises:
        NotSpecialisedError: if nothing may be replaced.
    """
    if not s.relied.replaces:
        raise NotSpecialisedError("carried")
    s.relied.replaced = True
    return Plan(frozenset(_things(s, first) & _things(s, other)))


def _things(s: Specialiser, value: Abstract) -> set[Cell | Record]:
    """The cells and objects to which a value leads."""
    shapes = Shapes(s.state, lambda thing: True, is_switch)
    shapes.of(value)
    return set(shapes.numbers)


def is_made(value: Abstract) -> bool:
    """Whether a value has functions or objects of the program in it, of which there is no operand."""
    match value:
        case Row(items=items):
            return any(map(is_made, items))
        case Record() | Closure() | Method() | Partial() | Choice():
            return True
    return False


def may_be_replaced(value: Abstract) -> bool:
    """Whether a loop can carry the leaves of a value in its place."""
    return is_static(value) and not isinstance(value, (Known, Unsure))


class Structure:
    """One value that a loop carries by its leaves."""

    def __init__(self, s: Specialiser, value: Abstract, plan: Plan) -> None:
        self.plan, self.shared = plan, plan.shared
        #: The leaves that are carried, by number.
        self.varying = sorted(plan.varying)
        shapes = self.shapes(s)
        self.key, self.rebuild = self.shape(shapes, value)
        self.starts: list[Operand] = shapes.leaves
        self.titles = shapes.titles
        self.things = set(shapes.numbers)
        self.numbers = {n for n, leaf in enumerate(self.starts) if is_number(s, leaf)} - plan.others

    def shapes(self, s: Specialiser) -> Shapes:
        """What finds the leaves of the values."""
        return Shapes(s.state, lambda thing: isinstance(thing, Value) or not self.is_shared(thing), is_switch)

    def is_shared(self, thing: Cell) -> bool:
        """Whether a cell, or the object of which it is the identity, is in all of the values."""
        return thing in self.shared or any(
            isinstance(other, Record) and other.identity is thing for other in self.shared
        )

    def shape(self, shapes: Shapes, value: Abstract) -> tuple[object, Rebuild]:
        """The shape of one of the values."""
        found = shapes.of(value)
        exist = any(isinstance(r, Record) and (r.origin is not None or r.own is not None) for r in shapes.numbers)
        if exist or shapes.optional:
            raise NotSpecialisedError("carried")
        return found

    def carried(self) -> Iterator[Operand]:
        """The leaves that are carried, as they are before the loop."""
        return (self.starts[n] for n in self.varying)

    def made(self, s: Specialiser, own: list[Value]) -> Abstract:
        """The value, made of new leaves, which are added to ``own``."""
        leaves = list(self.starts)
        for n in self.varying:
            leaves[n] = leaf = Value(self.titles[n])
            own.append(leaf)
            if n in self.numbers:
                s.numbers.add(leaf)
        before = set(s.state)
        value: Abstract = self.rebuild(Again(iter(leaves), s.state))
        s.state.settle(cell for cell in s.state if cell not in before)
        return value

    def leave(self, s: Specialiser, value: Abstract) -> list[Abstract]:
        """The leaves that another value hands on; what the plan did not know of them is added to it.

        Raises:
            NotSpecialisedError: if the value has another shape.
        """
        shapes = self.shapes(s)
        if self.shape(shapes, value)[0] != self.key:
            if not self.shared:
                raise NotSpecialisedError("carried")
            # What the first values lead to, others do not.
            self.plan.shared = frozenset()
            return []
        leaves = shapes.leaves
        self.plan.varying.update(
            n for n, (old, new) in enumerate(zip(self.starts, leaves, strict=True)) if not same(old, new)
        )
        self.plan.others.update(n for n in self.numbers if not is_number(s, leaves[n]))
        return [leaves[n] for n in self.varying]

    def settle(self, s: Specialiser, changed: Iterable[Cell]) -> None:
        """Let what the loop has replaced be changed no more.

        Raises:
            NotSpecialisedError: if some of it is among the cells that the loop has ``changed``.
        """
        owned = self.things - self.shared
        if any(cell in owned or cell.record in owned for cell in changed):
            raise NotSpecialisedError("carried")
        s.state.settle(thing.identity if isinstance(thing, Record) else thing for thing in owned)
