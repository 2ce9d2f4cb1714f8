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
    Known,
    NotSpecialisedError,
    Record,
    Unsure,
    cell_of,
    is_static,
    same,
)
from s2sad.transform.shapes import Again, Rebuild, Shapes, apart_from, exists, things_of
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
    return Plan(frozenset(things_of(first, s.state) & things_of(other, s.state)))


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
        return apart_from(self.shared, s.state)

    def shape(self, shapes: Shapes, value: Abstract) -> tuple[object, Rebuild]:
        """The shape of one of the values."""
        found = shapes.of(value)
        if shapes.optional or any(map(exists, shapes.numbers)):
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
        s.state.settle(map(cell_of, owned))
