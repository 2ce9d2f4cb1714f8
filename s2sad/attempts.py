"""``with`` and ``try`` as text: from `Enter`, `Exit` and attempts to statements of Python's syntax tree."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from s2sad.errors import S2SADError
from s2sad.ir.nodes import Assign, Block, Call, Const, Copy, Effect, Enter, Exit, Expr, Function, If, Opaque, Stmt
from s2sad.ir.traverse import blocks, expressions, is_attempt, map_stmt, subexpressions, walk


def noted(stmt: If, name: str) -> If:
    """A branch that is known once it is over: ``name`` says then whether its first arm has run."""

    def arm(block: Block, first: bool) -> Block:
        *rest, last = block or (Exit(),)
        if not isinstance(last, Copy):
            return (*block, Copy((name,), (Const(first),)))
        return (*rest, replace(last, targets=(*last.targets, name), sources=(*last.sources, Const(first))))

    return replace(stmt, then=arm(stmt.then, True), orelse=arm(stmt.orelse, False))


def tried(block: Block, around: bool = False) -> set[int]:
    """The ids of the statements of which it is seen if they raise: those in a block, if it is tried, or in it are."""
    found: set[int] = set()
    begun: list[bool] = [around]
    for stmt in block:
        if isinstance(stmt, Enter):
            begun.append(begun[-1] or stmt.manager is None)
        elif isinstance(stmt, Exit):
            begun.pop()
        if begun[-1]:
            found.add(id(stmt))
        for inner in blocks(stmt):
            found |= tried(inner, begun[-1])
    return found


def is_guard(cls: Expr) -> bool:
    """Whether the class of a handler is that of our errors, which is there so that the others do not catch them."""
    return isinstance(cls, Call) and cls.op.function is S2SADError


def without_guards(function: Function) -> Function:
    """``function`` where a ``try`` lets our errors pass only if one may be raised in it, and would not be again.

    What its handlers do before they raise again, as to set something back, they do for our errors as well.
    """

    def in_block(block: Block) -> Block:
        out: list[Stmt] = []
        begun: list[int] = []
        for stmt in block:
            if isinstance(stmt, Enter):
                begun.append(len(out))
            elif isinstance(stmt, Exit):
                tried = out[begun.pop() :]
                if _passes_on(stmt) or not _may_refuse(tried):
                    stmt = replace(stmt, classes=_unguarded(stmt.classes))
            elif isinstance(stmt, If) and is_attempt(stmt) and isinstance(stmt.test, Call):
                if not _may_refuse(stmt.then):
                    stmt = replace(stmt, test=Call(stmt.test.op, _unguarded(stmt.test.args)))
            out.append(map_stmt(stmt, lambda e: e, in_block))
        return tuple(out)

    if not any(isinstance(s, Exit) for s in walk(function.body)):
        return function
    return replace(function, body=in_block(function.body))


def _passes_on(stmt: Exit) -> bool:
    """Whether all handlers raise again what they have caught."""
    handlers = [_of_handler(stmt.handler, which) for which in range(len(_unguarded(stmt.classes)))]
    last = [_raise_of(handler[-1]) if handler else None for handler in handlers]
    return all(node is not None and node.exc is None for node in last)


def _raise_of(stmt: Stmt) -> ast.Raise | None:
    return stmt.node if isinstance(stmt, Effect) and isinstance(stmt.node, ast.Raise) else None


def _unguarded(classes: tuple[Expr, ...]) -> tuple[Expr, ...]:
    return tuple([cls for cls in classes if not is_guard(cls)])


def _may_refuse(block: Iterable[Stmt]) -> bool:
    """Whether statements call what may raise one of our errors, or raise what may be one."""
    block = list(block)
    if any(map(_raises_another, walk(block))):
        return True
    parts = [e for s in walk(block) for x in expressions(s) for e in subexpressions(x)]
    return any(
        isinstance(e, Opaque) or (isinstance(e, Call) and e.op.kind in ("user", "met", "runtime")) for e in parts
    )


def _raises_another(stmt: Stmt) -> bool:
    """Whether a statement raises what is no exception of Python's own, and has not been caught."""
    node = _raise_of(stmt)
    if node is None or node.exc is None:
        return False
    cls = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    known = getattr(builtins, cls.id, None) if isinstance(cls, ast.Name) else None
    return not (isinstance(known, type) and issubclass(known, BaseException))


def handlers(
    classes: Iterable[Expr],
    block: Block,
    expr: Callable[[Expr], ast.expr],
    named: Callable[[str], str],
    write: Callable[[Block], list[ast.stmt]],
) -> Iterator[ast.ExceptHandler]:
    """The handlers of a ``try``.

    Args:
        classes: Their classes, None for any.
        block: What they do, with branches that ask which of them it is.
        expr: Writes an expression,
        named: gives the Python name of an IR name,
        write: and writes a block.
    """
    which = 0
    for cls in classes:
        if is_guard(cls):
            caught = expr(cls)
            assert isinstance(caught, ast.Call)
            yield ast.ExceptHandler(caught.func, None, [ast.Raise()])
            continue
        own = _of_handler(block, which)
        bound = next((target for s in own if (target := _bound(s))), None)
        body = write(tuple([s for s in own if not _bound(s)]))
        name = None if bound is None else named(bound)
        yield ast.ExceptHandler(None if cls == Const(None) else expr(cls), name, body or [ast.Pass()])
        which += 1


def _of_handler(block: Block, which: int) -> Block:
    """What one handler does, of what they all do: its arm of the branches that ask which of them it is."""
    out: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, If) and isinstance(stmt.test, Call) and stmt.test.op.kind == "caught":
            first = stmt.test.args == (Const(which),)
            out += stmt.then if first else _of_handler(stmt.orelse, which)
        else:
            out.append(stmt)
    return tuple(out)


def _bound(stmt: Stmt) -> str:
    """The name that a statement gives the exception; empty for any other statement."""
    binds = isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "exception"
    return stmt.target if binds else ""  # type: ignore[union-attr]


def attempted(made: list[ast.stmt], found: list[ast.ExceptHandler]) -> list[ast.stmt]:
    """What a ``try`` does where nothing is raised, with its handlers; what comes after is not tried."""
    at = next(i for i, node in enumerate(made) if isinstance(node, ast.Try) and not node.handlers)
    whole, rest = made[at], made[at + 1 :]
    assert isinstance(whole, ast.Try)
    whole.handlers = found
    if all(map(_is_plain, rest)):
        whole.body = [*whole.body, *rest]
    else:
        whole.orelse = rest
    if len(whole.body) > 1:
        whole.body = [s for s in whole.body if not isinstance(s, ast.Pass)]
    return made[: at + 1]


def _is_plain(node: ast.stmt) -> bool:
    """Whether a statement is no more than a move, which raises nothing."""
    return isinstance(node, ast.Assign) and isinstance(node.value, (ast.Constant, ast.Name))
