"""The state of a function of the residual program while it is written."""

from __future__ import annotations

import types
from dataclasses import dataclass, field

from s2sad.ir.code import Variable
from s2sad.transform.known import Home


@dataclass(eq=False)
class Making:
    """A function of the new program: its text, the functions that it calls by names of their own, and its memory."""

    home: Home
    taken: set[str]
    memory: frozenset[Variable] = frozenset()
    cells: dict[str, types.CellType] = field(default_factory=dict)

    def refer(self, function: types.CellType, title: str) -> str:
        """The name under which the function in a cell is called here."""
        for name, known in self.cells.items():
            if known is function:
                return name
        name, number = title, 2
        while name in self.taken:
            name, number = f"{title}_{number}", number + 1
        self.taken.add(name)
        self.cells[name] = function
        return name
