"""What the lowering of a function to `Code` keeps while it goes over the source: operations, and what names mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from s2sad.frontend.scopes import Scope
from s2sad.ir.code import UNSET, Exit, Kind, Operand, Operation, Place, Region, Value, Variable

Node = Any
#: What a name stands for: a value, or memory.
Meaning = Operand | Variable


def place_of(node: Node) -> Place | None:
    """Where a node of the syntax tree stands."""
    line = getattr(node, "lineno", None)
    if line is None:
        return None
    return Place(line, node.col_offset, node.end_lineno or line, node.end_col_offset or 0)


@dataclass
class Branch:
    """A part of the program that may be run or not: what it does, and what names mean after it."""

    operations: tuple[Operation, ...]
    exit: Exit | None
    env: dict[str, Meaning]


@dataclass
class Builder:
    """The code of one function as far as it is lowered.

    ``env`` says what the local names mean here, ``loops`` has the names that each loop around carries, ``rounds`` those
    that comprehensions around bind: they are no others, though the function declares them ``global`` or ``nonlocal``.
    """

    scope: Scope
    outer: Builder | None = None
    is_class: bool = False
    env: dict[str, Meaning] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)
    loops: list[tuple[str, ...]] = field(default_factory=list)
    rounds: frozenset[str] = frozenset()
    variables: dict[str, Variable] = field(default_factory=dict)
    captures: dict[Variable, None] = field(default_factory=dict)
    seen: dict[Value, None] = field(default_factory=dict)
    #: Memory that nothing is ever stored in: what is read before it is bound.
    never: dict[str, Variable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in sorted(self.scope.memory):
            self.env[name] = self.variable(name)

    def variable(self, name: str) -> Variable:
        """The memory of a local variable."""
        if name not in self.variables:
            self.variables[name] = Variable(name, name in self.scope.captured)
        return self.variables[name]

    # --- operations

    def emit(
        self,
        kind: Kind,
        operands: Iterable[Operand] = (),
        data: Any = None,
        *,
        name: str = "",
        node: Node = None,
        regions: tuple[Region, ...] = (),
        awaits: bool = False,
    ) -> Value:
        """Add an operation with one result, called ``name``."""
        result = Value(name)
        self.add(Operation(kind, tuple(operands), (result,), data, regions, place_of(node), awaits))
        return result

    def effect(self, kind: Kind, operands: Iterable[Operand] = (), data: Any = None, *, node: Node = None) -> None:
        """Add an operation without result."""
        self.add(Operation(kind, tuple(operands), (), data, (), place_of(node)))

    def add(self, operation: Operation) -> None:
        self.operations.append(operation)

    @contextmanager
    def apart(self) -> Iterator[Branch]:
        """What is lowered in the ``with`` goes into a branch of its own; names mean afterwards what they did before."""
        operations, env = self.operations, self.env
        self.operations, self.env = [], dict(env)
        branch = Branch((), None, {})
        yield branch
        branch.operations, branch.env = tuple(self.operations), self.env
        self.operations, self.env = operations, env

    # --- names

    def is_global(self, name: str) -> bool:
        """Whether a name is one of the module here, as a declaration says."""
        return name in self.scope.globals and name not in self.rounds

    def is_of_outer(self, name: str) -> bool:
        """Whether a name is one of a function around here, as a declaration says."""
        return name in self.scope.outer and name not in self.rounds

    def read(self, name: str, node: Node = None) -> Operand:
        """The value of a name here."""
        if self.is_global(name):
            return self.emit("global", (), name, node=node)
        meaning = self.env.get(name)
        if meaning is None and name in self.scope.local:
            meaning = UNSET
        if meaning is None:
            meaning = self.of_outer(name)
        if isinstance(meaning, Variable):
            return self.emit("load", (), meaning, node=node)
        if meaning is UNSET:
            return self.emit("load", (), self.never.setdefault(name, Variable(name)), node=node)
        return self.emit("global", (), name, node=node) if meaning is None else meaning

    def of_outer(self, name: str) -> Meaning | None:
        """What a name means that belongs to a function around; None if it is global."""
        around = self.outer
        if around is None:
            return None
        if around.is_class or (name not in around.env and name not in around.scope.local):
            found = None if name in around.scope.globals else around.of_outer(name)
        else:
            found = around.env.get(name)
        if isinstance(found, Variable):
            self.captures[found] = None
        elif isinstance(found, Value):
            self.seen[found] = None
        return found

    def memory_of(self, name: str) -> Variable:
        """The variable of a function around that is declared ``nonlocal``, or the memory of a local one."""
        meaning = self.of_outer(name) if self.is_of_outer(name) else self.env.get(name)
        if not isinstance(meaning, Variable):
            # Only ``__class__`` has no place where it is bound.
            meaning = self.never.setdefault(name, Variable(name, captured=True))
            self.captures[meaning] = None
        return meaning

    def bind(self, name: str, value: Operand, node: Node = None) -> None:
        """Let a name stand for a value from here on."""
        if self.is_global(name):
            self.effect("store_global", (value,), name, node=node)
            return
        if not self.is_value(name):
            self.effect("store", (value,), self.memory_of(name), node=node)
        elif isinstance(value, Value) and value.name == name:
            self.env[name] = value
        else:
            self.env[name] = self.emit("copy", (value,), name=name, node=node)

    def is_value(self, name: str) -> bool:
        """Whether to bind a name is to name a value, and no operation."""
        declared = self.is_global(name) or self.is_of_outer(name)
        return not declared and not isinstance(self.env.get(name), Variable)
