"""Which names are needed after each place at which one gets a value (liveness)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from s2sad.ir.nodes import Assign, Break, Call, Copy, Enter, Exit, For, If, Stmt, Var, While
from s2sad.ir.traverse import is_attempt, names_in, reads, writes

#: What is told of a name: itself, what is needed once it has got its value, and the statement that gives it.
Defined = Callable[[str, Set[str], Stmt], None]


class Liveness:
    """Walks blocks backwards and says at each definition which other names are needed after it.

    Reference: Appel, Modern Compiler Implementation, 2nd edition 2002, section 10.1 (liveness), for structured code.
    """

    def __init__(self, defined: Defined, names: Set[str] | None = None) -> None:
        """``defined`` is called for each definition, in loops several times; with ``names`` only these are followed."""
        self.defined, self.names = defined, names
        self.ends: list[set[str]] = []
        #: What the handlers need of what is tried, from outside in; and those of the attempt whose end comes next.
        self.needed: list[set[str]] = []
        self.handling: set[str] = set()

    def define(self, name: str, live: set[str], stmt: Stmt) -> None:
        if self.names is None or name in self.names:
            self.defined(name, live.union(*self.needed), stmt)

    def block(self, block: Iterable[Stmt], live: set[str]) -> None:
        """Walk backwards; ``live`` is what is needed after the block, and becomes what is needed before."""
        after: Stmt | None = None
        for stmt in reversed(tuple(block)):
            if isinstance(stmt, Assign) and isinstance(after, Exit):
                # Where the last of what is tried raises, it assigns nothing.
                needed = self.needed.pop()
                self.statement(stmt, live)
                self.needed.append(needed)
            else:
                self.statement(stmt, live)
            after = stmt

    def use(self, names: Iterable[str], live: set[str]) -> None:
        live.update(names if self.names is None else [n for n in names if n in self.names])

    def statement(self, stmt: Stmt, live: set[str]) -> None:
        match stmt:
            case Assign(target=target, value=Call(op=op, args=(left, right))) if op.kind == "inplace":
                live.discard(target)
                # The right operand is read before the left one changes, if that has the target's name: ``x -= f(x)``.
                held = {left.name} if isinstance(left, Var) else set()
                self.define(target, live | (set(names_in(right)) - held), stmt)
                self.use(reads(stmt), live)
            case Assign(target=target, value=Call(op=op, args=(left, *rest))) if op.kind == "change":
                live.discard(target)
                # The operands are there before the change.
                self.define(target, live | ({n for e in rest for n in names_in(e)} - set(names_in(left))), stmt)
                self.use(reads(stmt), live)
            case Assign(target=target):
                live.discard(target)
                self.define(target, live, stmt)
                self.use(reads(stmt), live)
            case Copy(targets=targets):
                live.difference_update(targets)
                for target in targets:
                    self.define(target, live | set(targets), stmt)
                self.use(reads(stmt), live)
            case If(then=then, orelse=orelse):
                other, outer = set(live), self.handling
                self.block(orelse, other)
                self.handling = other if is_attempt(stmt) else outer
                self.block(then, live)
                self.handling = outer
                live |= other
                self.use(reads(stmt), live)
            case For() | While():
                self.loop(stmt, live)
            case Exit(handler=handler, attempt=attempt):
                other = set(self.handling if attempt else ())
                self.block(handler, other)
                self.use(reads(stmt), other)
                self.needed.append(other)
            case Enter():
                live |= self.needed.pop()
                for target in writes(stmt):
                    live.discard(target)
                    self.define(target, live, stmt)
                self.use(reads(stmt), live)
            case Break():
                live.clear()
                live |= self.ends[-1]
            case _:
                targets = writes(stmt)
                live.difference_update(targets)
                for target in targets:
                    self.define(target, live | set(targets), stmt)
                self.use(reads(stmt), live)

    def loop(self, stmt: For | While, live: set[str]) -> None:
        self.ends.append(set(live))
        if isinstance(stmt, While):
            self.use(reads(stmt), live)
        head = set(live)
        while True:
            body = set(head)
            self.block(stmt.body, body)
            targets = writes(stmt)
            body.difference_update(targets)
            for target in targets:
                self.define(target, body | set(targets) | (self.ends[-1] if isinstance(stmt, For) else set()), stmt)
            if isinstance(stmt, While):
                self.use(reads(stmt), body)
            new = head | body
            if new == head:
                break
            head = new
        self.ends.pop()
        live.clear()
        live |= head
        if isinstance(stmt, For):
            self.use(reads(stmt), live)
