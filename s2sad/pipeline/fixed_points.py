"""Which of what is found of functions rests on what is not final yet: on functions that call themselves.

What is known of a recursive function is the least fixed point of what follows from itself, found by iteration.  What is
found of other functions meanwhile has to be found again only where it rests on what changes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager


class FixedPoints:
    """The entries that are being found, and which of those that were found rest on these.

    Example:
        >>> points = FixedPoints()
        >>> start = points.begin("f")
        >>> with points.round() as asked:
        ...     inner = points.begin("g")
        ...     with points.round() as asked_by_g:
        ...         points.ask("f")
        ...     points.end("g", inner, asked_by_g)
        >>> asked, points.resting_on("f", start)
        ({'f'}, ['g'])
    """

    def __init__(self) -> None:
        self._pending: set[Hashable] = set()
        #: Of each entry that was found, those on which it rests that were not final then.
        self._rests: dict[Hashable, set[Hashable]] = {}
        #: What was found, in this order.
        self._order: list[Hashable] = []
        self._asked: list[set[Hashable]] = [set()]

    def ask(self, entry: Hashable) -> None:
        """Note that what is being found rests on an entry."""
        self._asked[-1] |= {entry} if entry in self._pending else self._rests.get(entry, set())

    def begin(self, entry: Hashable) -> int:
        """Begin to find an entry; what is found from now on comes after the position that is returned."""
        self._pending.add(entry)
        return len(self._order)

    @contextmanager
    def round(self) -> Iterator[set[Hashable]]:
        """One step of an iteration; gives the entries that are not final and have been asked for, once it is over."""
        self._asked.append(set())
        try:
            yield self._asked[-1]
        finally:
            self._asked.pop()

    def resting_on(self, entry: Hashable, start: int) -> list[Hashable]:
        """What was found since ``start`` and rests on an entry."""
        return [other for other in self._order[start:] if entry in self._rests[other]]

    def forget(self, entries: list[Hashable], start: int) -> None:
        """Let entries that were found since ``start`` be as if they had not been."""
        self._order[start:] = [other for other in self._order[start:] if other not in entries]
        for entry in entries:
            del self._rests[entry]

    def end(self, entry: Hashable, start: int, asked: set[Hashable]) -> None:
        """An entry has been found, by a last step that asked for others."""
        self._pending.discard(entry)
        rests = asked - {entry}
        for other in self.resting_on(entry, start):
            self._rests[other] = self._rests[other] - {entry} | rests
        self._rests[entry] = rests
        self._order.append(entry)
        self._asked[-1] |= rests
