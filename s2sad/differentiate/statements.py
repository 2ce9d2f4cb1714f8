"""What both modes ask of statements: calls in them, what is in a loop."""

from __future__ import annotations

from collections.abc import Iterable

from s2sad.ir.nodes import Assign, Block, Call, Copy, Evaluate, Expr, For, If, Op, Stmt, Store, Unpack


def user_call_of(stmt: Stmt) -> tuple[Assign | Unpack | Evaluate, Call, tuple[str, ...]] | None:
    """A statement that is a call of a function that has source, the call and its targets; None for any other."""
    match stmt:
        case Assign(target=target, value=Call(op=Op(kind="user")) as call):
            return stmt, call, (target,)
        case Unpack(targets=targets, value=Call(op=Op(kind="user")) as call, star=None):
            return stmt, call, targets
        case Evaluate(value=Call(op=Op(kind="user")) as call):
            return stmt, call, ()
        case _:
            return None


def receiving(outs: list[str], value: Call, stmt: Stmt) -> Stmt:
    """A statement in the place of ``stmt`` that takes what a call returns."""
    if not outs:
        return Evaluate(value, stmt.origin)
    if len(outs) == 1:
        return Assign(outs[0], value, stmt.origin)
    return Unpack(tuple(outs), value, None, stmt.origin)


def met_operands(call: Call) -> dict[int | str, Expr]:
    """The arguments of a call met at run time, by position or name."""
    return {**dict(enumerate(call.args[1:])), **dict(call.kwargs)}


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
