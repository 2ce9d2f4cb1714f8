"""Variables that are memory: one slot each."""

from __future__ import annotations

from typing import Any

#: What a variable holds that has no value.
MISSING = object()


class Cell:
    """A variable that is memory: one slot."""

    def __init__(self) -> None:
        self.value: Any = MISSING


class RealCell:
    """A cell of a function that Python made."""

    def __init__(self, cell: Any) -> None:
        self.cell = cell

    @property
    def value(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            return MISSING

    @value.setter
    def value(self, x: Any) -> None:
        if x is MISSING:
            del self.cell.cell_contents
        else:
            self.cell.cell_contents = x
