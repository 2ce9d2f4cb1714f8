"""What the cells of variables, attributes and items hold at one place of the program."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from s2sad.ir.code import Constant, Value
from s2sad.transform.known import Abstract, Cell, Closure, Content, NotSpecialisedError


class State(dict[Cell, Abstract]):
    """What cells hold.  ``written`` has those that were given a content, here or in a copy.

    Those that are ``settled`` belong to objects of which there are copies: they can be given no content any more.
    ``members`` are the objects to which lists of the new program may refer, with their numbers
    (`s2sad.transform.references`).
    """

    def __init__(
        self,
        content: Mapping[Cell, Abstract] | None = None,
        written: set[Cell] | None = None,
        settled: frozenset[Cell] = frozenset(),
        members: Mapping[Any, Mapping[Any, int]] | None = None,
    ) -> None:
        super().__init__(content or {})
        self.written = set() if written is None else written
        self.settled = settled
        self.members = members or {}

    def __setitem__(self, cell: Cell, value: Abstract) -> None:
        if self.settled and (cell in self.settled or (cell.record and cell.record.identity in self.settled)):
            raise NotSpecialisedError("carried")
        self.written.add(cell)
        super().__setitem__(cell, value)

    def settle(self, cells: Iterable[Cell]) -> None:
        """Let some cells hold for good what they hold."""
        self.settled = self.settled.union(cells)

    def refer(self, members: Mapping[Any, Mapping[Any, int]]) -> None:
        """Let lists refer to some objects, which have numbers, as well."""
        if members is not self.members:
            more = {key: {**self.members.get(key, {}), **numbers} for key, numbers in members.items()}
            self.members = {**self.members, **more}

    def copied(self) -> State:
        """What the cells hold now."""
        return self.of(self)

    def of(self, other: State) -> State:
        """A state like this one that holds what another does."""
        return State(other, other.written, other.settled, other.members)

    def is_apart(self, cell: Cell) -> bool:
        """Whether a cell is that of a list, dict or function that is no object of the new program."""
        if isinstance(cell.whole, Closure):
            return isinstance(self.get(cell), Constant)
        return cell.whole is not None and isinstance(self.get(cell), Content)

    def as_a_whole(self, changed: Collection[Cell]) -> dict[Cell, None]:
        """Some cells, those of lists and dicts for those of their items."""
        found: dict[Cell, None] = dict.fromkeys(changed)
        for cell, content in self.items():
            if isinstance(content, Content) and not set(changed).isdisjoint(content.slots):
                for slot in content.slots:
                    found.pop(slot, None)
                found[cell] = None
        return found

    def wrote(self, cells: Collection[Cell]) -> list[Cell]:
        """Which of some cells were given a content, or an attribute that they did not have, on any way.

        Lists come before those that they hold, which were made before them.
        """
        found = self.written | {c.record.identity for c in self.written if c.record is not None and c not in cells}
        return [cell for cell in reversed(list(cells)) if cell in found]


@dataclass(frozen=True, eq=False)
class Returned:
    """What a function returns at one of its exits, and the contents of cells then; ``token`` stands for it."""

    token: Value
    value: Abstract
    state: State
