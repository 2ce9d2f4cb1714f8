"""The ways in which the specialiser tries objects in lists and loops."""

from __future__ import annotations

from dataclasses import dataclass, field

from s2sad.transform.relied import Items


@dataclass
class Ways:
    """The ways in which objects in lists and loops are tried, one after the other: see `Relied`."""

    now: tuple[Items, bool] = ("leaves", True)
    tried: set[tuple[Items, bool]] = field(default_factory=set)
    mixed: bool = False
    replaced: bool = False
    tables: bool = False

    def is_another(self, mixed: bool, replaced: bool, tables: bool) -> bool:
        """Whether there is another way by what the attempts until now have met, which is tried next."""
        self.tried.add(self.now)
        self.mixed, self.replaced, self.tables = self.mixed | mixed, self.replaced | replaced, self.tables | tables
        ways: tuple[tuple[tuple[Items, bool], bool], ...] = (
            (("references", True), self.mixed or self.replaced),
            (("leaves", False), self.replaced),
            (("boxes", True), self.tables),
            (("boxes", False), self.tables and self.replaced),
            (("references", True), self.tables),
        )
        self.now = next((way for way, helps in ways if helps and way not in self.tried), self.now)
        return self.now not in self.tried
