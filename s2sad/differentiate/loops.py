"""What reverse mode asks of the statements of loops."""

from __future__ import annotations

from collections.abc import Iterable

from s2sad.ir.nodes import Assign, Block, Call, Copy, Evaluate, Expr, For, If, Stmt, Store, Unpack


def differentiable(stmt: Stmt) -> Iterable[Expr]:
    match stmt:
        case Assign(value=value) | Unpack(value=value) | Evaluate(value=value):
            yield value
        case Copy(sources=sources):
            yield from sources
        case For(iters=iters):
            yield from iters
        case Store(value=value):
            yield value
        case _:
            return


def of_loop(block: Block) -> Iterable[Stmt]:
    """The statements of a loop's body that are not inside an inner loop."""
    for stmt in block:
        yield stmt
        if isinstance(stmt, If):
            yield from of_loop(stmt.then)
            yield from of_loop(stmt.orelse)


def is_range(stmt: For) -> bool:
    return (
        stmt.counter is None
        and len(stmt.iters) == 1
        and isinstance(stmt.iters[0], Call)
        and stmt.iters[0].op.function is range
    )
