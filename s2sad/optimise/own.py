"""Objects that are written in place, and so stay objects of their own however short what makes them gets."""

from __future__ import annotations

from collections.abc import Iterator

from s2sad.analysis.sharing import sharing
from s2sad.ir.nodes import Assign, Block, Call, Copy, Expr, For, Stmt, Unpack
from s2sad.ir.traverse import names_in, walk
from s2sad.optimise.memory import written_by


def written_into(block: Block) -> set[str]:
    """The names of objects that are written in place, or may be under other names that share them."""
    found = {name for stmt in walk(block) for name in written_by(stmt)}
    shared: dict[str, list[str]] = {}
    for stmt in walk(block):
        for target, value in _definitions(stmt):
            shared.setdefault(target, []).extend(() if is_new(value) else names_in(value))
    waiting = list(found)
    while waiting:
        more = set(shared.get(waiting.pop(), ())) - found
        found |= more
        waiting += more
    return found


def _definitions(stmt: Stmt) -> Iterator[tuple[str, Expr]]:
    """The names that a statement gives values, each with what it may be, or be a part of."""
    match stmt:
        case Copy(targets=targets, sources=sources):
            yield from zip(targets, sources, strict=True)
        case Assign(target=target, value=value):
            yield target, value
        case Unpack(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case For(targets=targets, iters=iters):
            yield from ((target, iterable) for target in targets for iterable in iters)


def as_own(value: Expr, shorter: Expr) -> Expr:
    """What is shorter for a value, unless that is a new object and the other is none: ``x`` for ``1.0 * x``."""
    return value if is_new(value) and not is_new(shorter) else shorter


def is_new(value: Expr) -> bool:
    """Whether an expression surely makes a new object, as far as that shows without types."""
    return isinstance(value, Call) and (value.op.kind == "operator" or sharing(value) == "fresh")
