"""The state of a function of the residual program while it is written."""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad.ir.code import Variable
from s2sad.transform.known import Home


@dataclass(eq=False)
class Making:
    """A function of the new program: its text, the functions that it calls by names of their own, and its memory."""

    home: Home
    taken: set[str]
    memory: frozenset[Variable] = frozenset()
    cells: dict[str, types.CellType] = field(default_factory=dict)
    #: The variables that are names of exceptions.
    caught: set[Variable] = field(default_factory=set)

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

    def new_memory(self, title: str) -> Variable:
        """A new variable of the new program that is memory."""
        name, number = title or "left", 2
        while name in self.taken:
            name, number = f"{title}_{number}", number + 1
        self.taken.add(name)
        variable = Variable(name)
        self.memory |= {variable}
        return variable

    @contextmanager
    def remembering(self, variables: frozenset[Variable], env: dict[Any, Any]) -> Iterator[None]:
        """Let variables of a comprehension be memory in the ``with``, whatever they are in an environment."""
        for variable in variables:
            env.pop(variable, None)
        self.memory |= variables
        try:
            yield
        finally:
            self.memory -= variables

    def reads_alike(self, name: str, home: Home) -> bool:
        """Whether a global name of another text means the same here."""
        here, there = self.home.source.function, home.source.function
        if here is there:
            return True
        hidden = {*here.__code__.co_freevars, *there.__code__.co_freevars}
        if here.__globals__ is there.__globals__ and name not in hidden:
            return True
        # What is one function or module under one name stays that: it rests on guards.
        node = gast.Name(id=name, ctx=gast.Load(), annotation=None, type_comment=None)
        (found, value), (_, other) = [h.resolver.lookup(node) for h in (self.home, home)]
        return found and value is other and (callable(value) or isinstance(value, types.ModuleType))
