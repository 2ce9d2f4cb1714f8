"""Groups of names that may share an object, and which way objects get from one name to another.

Groups are symmetric (Steensgaard 1996): ``y = a if c else b`` makes one of ``a``, ``b`` and ``y``.  Objects go one way
(Andersen 1994): what is written through ``y`` may be ``a``, what is written through ``b`` is not.  What can hold other
objects is taken both ways, since it may get more of them under any of its names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection


class Provenance:
    """Names, and marks for the objects of a caller and of the module; all of these are texts.

    ``holds`` says whether the object of a name may hold other objects.
    """

    def __init__(self, holds: Callable[[str], bool]) -> None:
        self.holds = holds
        self.parent: dict[str, str] = {}
        #: To which names the object of a name gets.
        self.forth: dict[str, set[str]] = {}
        #: Names, each with one that may hold its object.
        self.held: list[tuple[str, str]] = []

    def find(self, name: str) -> str:
        """The name that stands for the group of a name."""
        parent = self.parent.setdefault(name, name)
        while parent != self.parent[parent]:
            self.parent[parent] = self.parent[self.parent[parent]]
            parent = self.parent[parent]
        self.parent[name] = parent
        return parent

    def join(self, a: str, b: str) -> None:
        """Put two names into one group."""
        self.parent[self.find(a)] = self.find(b)

    def hand(self, source: str, target: str) -> None:
        """Note that ``target`` may be the object of ``source``, view or hold it."""
        self.join(target, source)
        self._pass(source, target)
        if self.holds(target):
            self.held.append((source, target))
            if self.holds(source):
                self._pass(target, source)

    def link(self, a: str, b: str) -> None:
        """Note that one of two objects may hold the other, or what it holds."""
        self.join(a, b)
        for source, target in ((a, b), (b, a)):
            if self.holds(target):
                self.hand(source, target)

    def mix(self, a: str, b: str) -> None:
        """Note that two names may stand for one object."""
        self.join(a, b)
        self._pass(a, b)
        self._pass(b, a)

    def _pass(self, source: str, target: str) -> None:
        self.forth.setdefault(source, set()).add(target)

    def groups(self) -> list[set[str]]:
        """The groups."""
        found: dict[str, set[str]] = {}
        for name in self.parent:
            found.setdefault(self.find(name), set()).add(name)
        return list(found.values())

    def marks(self, passing: Collection[str], lasting: Collection[str]) -> dict[str, set[str]]:
        """For each name, the marks of the objects for which it may stand.

        What may hold an object with a ``lasting`` mark may be one itself, and what it holds gets that mark; not so the
        ``passing`` ones.
        """
        members = {name: group for group in self.groups() for name in group}
        holders, enduring = {target for _, target in self.held}, frozenset(lasting)
        #: Of a lasting mark, the groups that have it as a whole.
        whole: set[tuple[str, str]] = set()
        found: dict[str, set[str]] = {}
        pending = [(mark, mark) for mark in (*passing, *lasting)]
        while pending:
            name, mark = pending.pop()
            marks = found.setdefault(name, set())
            if mark in marks:
                continue
            marks.add(mark)
            pending += [(other, mark) for other in self.forth.get(name, ())]
            if name in holders and mark in enduring and (group := (self.find(name), mark)) not in whole:
                # What it holds is of its group.
                whole.add(group)
                pending += [(other, mark) for other in members[name]]
        return found
