"""What ``stop_gradient`` does to an array that is written in place and has other names.

``stop_gradient(x)`` is ``x`` itself: the values that are there when it is called are constants to whoever reads them
through its result, and derivatives to the others.  A value that is differentiated and is written after that is
none to either, so that a read through the result is then *stale*: one name cannot say which of its elements are
constants.  The result of ``stop_gradient`` of a new object is no more than an array of constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass

from s2sad import ops
from s2sad.analysis.effects import Effects
from s2sad.analysis.sharing import sharing
from s2sad.analysis.summaries import user_calls, written_unseen
from s2sad.ir.nodes import (
    UNSET,
    Assign,
    Block,
    Break,
    Call,
    Copy,
    Expr,
    For,
    Function,
    If,
    Stmt,
    Store,
    Unpack,
    Var,
    While,
)
from s2sad.ir.traverse import expressions, names_in, reads, walk, writes
from s2sad.ops.binding import given
from s2sad.runtime import stop_gradient

Carriers = Callable[[Expr], Iterable[str]]


def stopped_names(function: Function, effects: Effects) -> frozenset[str]:
    """The names of written arrays all of whose definitions come from ``stop_gradient`` of what has other names."""
    objects = effects.objects()
    if objects.keys().isdisjoint(effects.stops):
        return frozenset()
    definitions: dict[str, list[Expr]] = {}
    for stmt in walk(function.body):
        for name, value in _definitions(stmt):
            definitions.setdefault(name, []).append(value)
    found: set[str] = set()
    grown = True
    while grown:
        grown = False
        for name in objects.keys() & effects.stops & definitions.keys() - found:
            if all(_is_stopped(value, found) for value in definitions[name]):
                found.add(name)
                grown = True
    return frozenset(found)


def keeps_some(call: Call | None) -> bool:
    """Whether a call that writes into an array may leave elements as they are, which its value then has as well."""
    if call is None:
        return False
    spec = ops.spec_of(call.op.function)
    mask = None if spec is None else spec.mask
    # All universal functions take a mask where they are given ``out``.
    return not given(call).keys().isdisjoint((mask, "where"))


def _definitions(stmt: Stmt) -> Iterator[tuple[str, Expr]]:
    """The names that a statement defines, each with what it is, is a part of, or runs over."""
    match stmt:
        case Assign(target=target, value=value):
            yield target, value
        case Copy(targets=targets, sources=sources):
            yield from zip(targets, sources, strict=True)
        case Unpack(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case For(targets=targets, iters=iters, unpacked=False):
            yield from zip(targets, iters, strict=True)
        case _:
            yield from ((name, UNSET) for name in writes(stmt))


def _is_stopped(value: Expr, found: Set[str]) -> bool:
    if isinstance(value, Var):
        return value.name in found
    if not isinstance(value, Call):
        return False
    if value.op.function is stop_gradient:
        # What nobody else has a name for is no more than an array of constants.
        operand = value.args[0] if value.args else UNSET
        return not (
            isinstance(operand, Call) and operand.op.kind not in ("user", "met") and sharing(operand) == "fresh"
        )
    view = value.op.kind in ("index", "attribute") or sharing(value) in ("view", "maybe")
    return view and value.op.kind not in ("user", "met") and bool(value.args) and _is_stopped(value.args[0], found)


@dataclass
class StaleReads:
    """Runs through a function, noting where a stopped name is read that may have got a derivative since.

    ``stopped`` are the names that come from ``stop_gradient``, ``varied`` and ``useful`` are those of `activity`.
    ``carriers`` gives the names from which an expression takes a derivative.
    """

    effects: Effects
    stopped: frozenset[str]
    varied: frozenset[str]
    useful: frozenset[str]
    carriers: Carriers

    def __post_init__(self) -> None:
        self.stale: set[str] = set()
        self.found: dict[int, Stmt] = {}
        #: The names of what calls have given ``stop_gradient``, and other names for it or not.
        self.handed: set[str] = set()
        self.left: set[str] = set()

    def block(self, block: Block) -> None:
        """Run through a block, from the state that the names are in before it to that after it."""
        for stmt in block:
            match stmt:
                case If(then=then, orelse=orelse):
                    self.read(stmt)
                    before = set(self.stale)
                    self.block(then)
                    after, self.stale = self.stale, before
                    self.block(orelse)
                    self.stale |= after
                case For() | While():
                    self.loop(stmt)
                case Break():
                    self.left |= self.stale
                case _:
                    self.read(stmt)
                    self.define(_definitions(stmt))
                    self.write(stmt)

    def loop(self, stmt: For | While) -> None:
        """A loop, run through until nothing more becomes stale."""
        outer, self.left = self.left, set()
        before: set[str] = set()
        handed: set[str] | None = None
        while (before, handed) != (self.stale, self.handed):
            before, handed = set(self.stale), set(self.handed)
            self.read(stmt)
            if isinstance(stmt, For):
                # Whatever was written meanwhile is seen by the items that come.
                inside = {n for s in walk(stmt.body) for n in self.written(s)}
                for target, items in _definitions(stmt):
                    self.define([(target, items)])
                    group = {m for n in names_in(items) for m in self.effects.group.get(n, ())}
                    if not (_is_stopped(items, self.stopped) and group & inside):
                        continue
                    if target in self.stopped:
                        self.stale.add(target)
                    elif target in self.useful:
                        self.found.setdefault(id(stmt), stmt)
            self.block(stmt.body)
            self.stale |= before | self.left
        self.left = outer

    def read(self, stmt: Stmt) -> None:
        """Note a statement that takes a derivative from a stale name, unless it only names the object again."""
        if not self.stale:
            return
        defined = dict(_definitions(stmt))
        if isinstance(stmt, Store):
            taken = set(self.carriers(stmt.value)) | (set(names_in(stmt.base)) if stmt.op else set())
        elif defined and not any(user_calls(stmt)):
            inplace = {n for n, v in defined.items() if isinstance(v, Call) and v.op.kind == "inplace"}
            kept = defined.keys() & self.stopped - inplace
            taken = {name for target, value in defined.items() if target not in kept for name in self.carriers(value)}
        else:
            taken = {name for expr in expressions(stmt) for name in self.carriers(expr)} | set(written_unseen(stmt))
        if taken & self.stale & self.useful:
            self.found.setdefault(id(stmt), stmt)

    def define(self, definitions: Iterable[tuple[str, Expr]]) -> None:
        """New names for stopped arrays: stale if they come from such."""
        for target, value in list(definitions):
            if target not in self.stopped:
                continue
            new = not (isinstance(value, Call) and value.op.function is stop_gradient)
            if new and not self.stale.isdisjoint(names_in(value)):
                self.stale.add(target)
            else:
                self.stale.discard(target)

    def write(self, stmt: Stmt) -> None:
        """Whoever may see what a statement writes is stale if that has a derivative.

        Which names come from ``stop_gradient`` by a call is not known: nothing may be written after it.
        """
        if self.handed & self.varied & self.useful and not self.handed.isdisjoint(self.effects.written_by(stmt)):
            self.found.setdefault(id(stmt), stmt)
        for call in user_calls(stmt):
            if (known := self.effects.calls.get(call)) is not None and known.stopping:
                given = known.names(known.stopping)
                self.handed |= {m for n in (*given, *writes(stmt)) for m in self.effects.group.get(n, ())}
        seen = self.written(stmt)
        self.stale |= {name for name in self.stopped if self.effects.group[name] & seen}

    def written(self, stmt: Stmt) -> set[str]:
        """The names whose objects a statement writes something into that may have a derivative."""
        written = self.effects.written_by(stmt)
        if not written:
            return set()
        sources = set(reads(stmt))
        if isinstance(stmt, Store) and stmt.op is None and stmt.call is None:
            sources = set(self.carriers(stmt.value))
        varied = sources & self.varied - (self.stopped - self.stale)
        return written if varied else set()


def stale_reads(
    function: Function,
    effects: Effects,
    stopped: frozenset[str],
    varied: frozenset[str],
    useful: frozenset[str],
    carriers: Carriers,
) -> tuple[Stmt | None, ...]:
    """The statements that read a stopped name of which they cannot know what is a constant; None for the result."""
    if effects.objects().keys().isdisjoint(effects.stops):
        return ()
    run = StaleReads(effects, stopped, varied, useful, carriers)
    run.block(function.body)
    found: list[Stmt | None] = list(run.found.values())
    if run.stale & set(carriers(function.result)):
        found.append(None)
    return tuple(found)
