"""Variables that may have no value yet where they are saved, or moved to another name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from functools import partial
from typing import TypeGuard

import numpy as np

from s2sad.ir.nodes import (
    Assign,
    Block,
    Break,
    Build,
    Call,
    Const,
    Copy,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Op,
    Origin,
    Push,
    Slice,
    Stmt,
    Store,
    Var,
    While,
)
from s2sad.ir.traverse import base, blocks, children, expressions, loop_heads, map_stmt, names_in, reads, walk, writes
from s2sad.runtime.objects import require_value, unset

_UNSET = Op("runtime", "unset", unset)
#: The operations that raise of an operand without a value; of functions those of NumPy.
_RAISING = ("operator", "inplace", "index", "attribute", "method")
_LIBRARY = ("numpy", "numpy.linalg", "numpy.fft")
_REQUIRE_VALUE = Op("runtime", "require_value", require_value, pure=False)


def unset_of(name: str) -> Expr:
    """What stands for a variable without a value."""
    return Call(_UNSET, (Const(base(name)),))


def set_first(body: Block, names: set[str], unbound: frozenset[str]) -> Block:
    """``body`` with a value for each of ``names``, and for what may become it, before it has one of its own.

    It stands for none: who uses it gets Python's own error.
    """
    wanted = set(names)
    moves = list(moves_in(body))
    grown = bool(wanted)
    while grown:
        before = len(wanted)
        wanted |= {source for target, source in moves if target in wanted and source in unbound}
        grown = len(wanted) > before
    wanted -= set(_entered(body))
    out: list[Stmt] = []
    for stmt in body:
        first = sorted(wanted & {n for s in walk((stmt,)) for n in writes(s)})
        if first:
            out.append(Copy(tuple(first), tuple(map(unset_of, first))))
            wanted.difference_update(first)
        out.append(stmt)
    return tuple(out)


def moves_in(body: Block) -> Iterator[tuple[str, str]]:
    """The moves of what one version of a variable is to another, and into join names: targets and sources."""
    for stmt in walk(body):
        if isinstance(stmt, Copy):
            yield from ((t, s.name) for t, s in zip(stmt.targets, stmt.sources, strict=True) if isinstance(s, Var))
        elif isinstance(stmt, Assign) and isinstance(stmt.value, Var) and base(stmt.target) == base(stmt.value.name):
            yield stmt.target, stmt.value.name


def given_at_exits(body: Block, active: Set[str]) -> frozenset[str]:
    """The join names of loops that get a value through which a derivative passes only as their loop is left.

    In all turns before the last they have no value, or one that carries no derivative.
    """
    at_exits: set[str] = set()
    elsewhere: set[str] = set()

    def scan(block: Block) -> None:
        for position, stmt in enumerate(block):
            for inner in blocks(stmt):
                scan(inner)
            pairs = zip(stmt.targets, stmt.sources, strict=True) if isinstance(stmt, Copy) else ()
            given = {target for target, source in pairs if not active.isdisjoint(names_in(source))}
            leaves = any(isinstance(s, Break) for s in block[position + 1 : position + 2])
            (at_exits if leaves else elsewhere).update(given)

    scan(body)
    return frozenset(at_exits - elsewhere)


def _entered(block: Block, heads: frozenset[str] = frozenset()) -> Iterator[str]:
    """The join names that are set to what other names hold: right before their loop, or in both arms of a branch."""
    moved: set[str] = set()
    for stmt in block:
        if isinstance(stmt, Copy):
            moved.update(stmt.targets)
        elif isinstance(stmt, (For, While)):
            own = frozenset(loop_heads(stmt.body))
            yield from moved & own
            yield from _entered(stmt.body, heads | own)
        elif isinstance(stmt, If):
            # An arm that leaves a loop, or ends its turn, moves into what the loop begins with.
            yield from set(_moved(stmt.then)) & set(_moved(stmt.orelse)) - heads
            yield from _entered(stmt.then, heads)
            yield from _entered(stmt.orelse, heads)


def _moved(block: Block) -> Iterator[str]:
    """The join names that a block sets itself."""
    return (target for stmt in block if isinstance(stmt, Copy) for target in stmt.targets)


def required(name: str, origin: Origin) -> Evaluate:
    """The statement that reads a variable, and raises Python's own error if it has no value.

    The derivative of ``np.sum(z)`` needs no ``z``, and is one only where ``z`` has a value.
    """
    return Evaluate(Call(_REQUIRE_VALUE, (Var(name),)), origin)


def is_required(stmt: Stmt) -> TypeGuard[Evaluate]:
    """Whether a statement is a read of :func:`required`."""
    return isinstance(stmt, Evaluate) and isinstance(stmt.value, Call) and stmt.value.op == _REQUIRE_VALUE


def with_needed_checks(function: Function, unbound: Set[str], variables: Callable[[], Set[str]]) -> Function:
    """``function`` with those reads of :func:`required` that may raise, the first of each version in its block.

    ``variables`` says which variables may have no value where they are read, as far as the text says.
    """
    if not any(map(is_required, walk(function.body))):
        return function
    doubtful = variables()

    def in_block(block: Block, known: frozenset[str]) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            if is_required(stmt):
                (name,) = reads(stmt)
                if name in known or name not in unbound or base(name) not in doubtful:
                    continue
                known |= {name}
            known -= set(writes(stmt))
            inner = known - {n for s in walk((stmt,)) for n in writes(s)} if blocks(stmt) else known
            out.append(map_stmt(stmt, lambda e: e, partial(in_block, known=inner)) if blocks(stmt) else stmt)
            known &= inner
        return tuple(out)

    return replace(function, body=in_block(function.body, frozenset()))


def without_needless_reads(function: Function) -> Function:
    """``function`` without the statements of :func:`required` after which the variable is read in any case."""
    body = _without_reads(function.body, {n for s in function.reverse or () for n in _used(s)})
    return function if body == function.body else replace(function, body=body)


def _without_reads(body: Block, later: Set[str]) -> Block:
    """``body`` without those reads, where all of ``later`` are read after it."""
    read = set(later)
    out: list[Stmt] = []
    for stmt in reversed(body):
        if is_required(stmt) and read.issuperset(reads(stmt)):
            continue
        if any(isinstance(s, Break) for s in walk((stmt,))):
            read = set()
        if blocks(stmt):
            stmt = map_stmt(stmt, lambda e: e, partial(_without_reads, later=frozenset(read)))
        out.append(stmt)
        read.update(_used(stmt))
    return tuple(reversed(out))


def _used(stmt: Stmt) -> Iterator[str]:
    """The variables that a statement does something with, so that they must have values."""
    if isinstance(stmt, Store) and stmt.call is None:
        yield from _named(stmt.base)
    for expr in () if isinstance(stmt, (Copy, Push)) else expressions(stmt):
        yield from _operands(expr)


def _operands(expr: Expr) -> Iterator[str]:
    """The variables that are operands of what raises of :class:`~s2sad.runtime.objects.Unset`, in any case."""
    if isinstance(expr, Call):
        args = expr.args[:1] if expr.op.kind in ("bool", "ifexp") else expr.args
        function = expr.op.function
        library = isinstance(function, np.ufunc) or getattr(function, "__module__", None) in _LIBRARY
        if expr.op.kind in _RAISING or (expr.op.kind == "function" and library):
            yield from (name for arg in args for name in _named(arg))
        for arg in args:
            yield from _operands(arg)
    elif isinstance(expr, (Build, Slice)):
        for part in children(expr):
            yield from _operands(part)


def _named(expr: Expr) -> tuple[str, ...]:
    return (expr.name,) if isinstance(expr, Var) else ()
