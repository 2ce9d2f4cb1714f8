"""Walk, read and rewrite IR: what a statement reads and writes, its parts, and the same with other names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from s2sad.ir.nodes import (
    Assign,
    Block,
    Break,
    Build,
    Call,
    Const,
    Copy,
    Effect,
    Enter,
    Evaluate,
    Exit,
    Expr,
    For,
    Global,
    If,
    Opaque,
    Pop,
    Push,
    Slice,
    Stmt,
    Store,
    Unpack,
    Var,
    While,
)


def place_of(node: Any) -> tuple[int, ...]:
    """Where an expression stands in the user's file, and how large it is; the same for all trees of one text.

    In the text of a function that has been specialised, the parts of an expression may stand where the whole does.
    """
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, sum(1 for _ in ast.walk(node))


def base(name: str) -> str:
    """The Python name that an IR name is a version of."""
    return name.partition(".")[0]


def is_tangent(name: str) -> bool:
    """Whether an IR name is that of a tangent, or a variable of the user's that is called like one.

    Example:
        >>> is_tangent("x_dot.1"), is_tangent("x_dot_.0"), is_tangent("x.1")
        (True, True, False)
    """
    return base(name).rstrip("_").endswith("_dot")


def children(expr: Expr) -> Iterator[Expr]:
    """The direct subexpressions, in order of evaluation."""
    if isinstance(expr, Call):
        yield from expr.args
        for _, value in expr.kwargs:
            yield value
    elif isinstance(expr, Build):
        yield from expr.items
    elif isinstance(expr, Slice):
        for part in (expr.lower, expr.upper, expr.step):
            if part is not None:
                yield part


def names_in(expr: Expr) -> tuple[str, ...]:
    """Every local name that ``expr`` reads, in order, with repeats."""
    if isinstance(expr, Var):
        return (expr.name,)
    if isinstance(expr, (Call, Build, Slice)):
        return (expr.inside or _looked_into(expr))[1]
    return tuple([name for _, name in expr.names]) if isinstance(expr, Opaque) else ()


def subexpressions(expr: Expr) -> tuple[Expr, ...]:
    """``expr`` and everything inside, outermost first."""
    if isinstance(expr, (Call, Build, Slice)):
        return (expr, *(expr.inside or _looked_into(expr))[0])
    return (expr,)


def running(expr: Expr) -> tuple[Expr, ...]:
    """The parts of ``expr`` that run functions with source: calls of these, and what is not taken apart."""
    if isinstance(expr, (Call, Build, Slice)):
        inner = (expr.inside or _looked_into(expr))[2]
        return (expr, *inner) if isinstance(expr, Call) and expr.op.kind == "user" else inner
    return (expr,) if isinstance(expr, Opaque) else ()


def _looked_into(
    expr: Call | Build | Slice,
) -> tuple[tuple[Expr, ...], tuple[str, ...], tuple[Expr, ...]]:
    """What is inside an expression, the names there, and what is `running` there.

    It is kept: this is what a compilation asks for most.
    """
    parts: list[Expr] = []
    names: list[str] = []
    runs: list[Expr] = []
    for child in children(expr):
        parts += subexpressions(child)
        names += names_in(child)
        runs += running(child)
    found = tuple(parts), tuple(names), tuple(runs)
    object.__setattr__(expr, "inside", found)
    return found


def map_children(expr: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """``expr`` with ``f`` applied to each direct subexpression; the same object where nothing changes."""
    if isinstance(expr, Call):
        args = tuple([f(a) for a in expr.args])
        kwargs = tuple([(k, f(v)) for k, v in expr.kwargs]) if expr.kwargs else ()
        if all(a is b for a, b in zip(args, expr.args, strict=True)) and all(
            v is w for (_, v), (_, w) in zip(kwargs, expr.kwargs, strict=True)
        ):
            return expr
        return Call(expr.op, args, kwargs, expr.node)
    if isinstance(expr, Build):
        return Build(expr.kind, tuple([f(i) for i in expr.items]))
    if isinstance(expr, Slice):
        parts = [None if p is None else f(p) for p in (expr.lower, expr.upper, expr.step)]
        return Slice(*parts)
    return expr


def rename(expr: Expr, names: dict[str, Expr]) -> Expr:
    """Replace local names by expressions; inside :class:`Opaque` only by other names."""
    if isinstance(expr, Var):
        return names.get(expr.name, expr)
    if isinstance(expr, Opaque):
        renamed = []
        for user, name in expr.names:
            new = names.get(name)
            renamed.append((user, new.name if isinstance(new, Var) else name))
        written = [new.name if isinstance(new := names.get(n), Var) else n for n in expr.writes]
        parts = [None if part is None else rename(part, names) for part in (expr.call, expr.sketch)]
        call, sketch = [part if isinstance(part, Call) else None for part in parts]
        return replace(expr, names=tuple(renamed), writes=tuple(written), call=call, sketch=sketch)
    if names.keys().isdisjoint(names_in(expr)) and not any(isinstance(e, Opaque) for e in subexpressions(expr)):
        return expr
    return map_children(expr, lambda e: rename(e, names))


def expressions(stmt: Stmt) -> Iterator[Expr]:
    """The expressions that a statement itself evaluates (not those of its blocks)."""
    match stmt:
        case Assign(value=value) | Unpack(value=value) | Evaluate(value=value):
            yield value
        case Copy(sources=sources):
            yield from sources
        case Store(call=Call() as call):
            # What the adjoint needs of the rest it reads itself.
            yield call
        case Store(base=target, index=index, value=value):
            yield value
            yield target
            yield index
        case Effect(names=names):
            for _, name in names:
                yield Var(name)
        case Push(tape=tape, values=values):
            yield Var(tape)
            yield from values
        case Pop(tape=tape):
            yield Var(tape)
        case If(test=test) | While(test=test):
            yield test
        case For(iters=iters):
            yield from iters
        case Enter(manager=manager):
            if manager is not None:
                yield manager
        case Exit(classes=classes):
            yield from classes
        case _:
            pass


def reads(stmt: Stmt) -> tuple[str, ...]:
    """Every local name that a statement itself reads (not those of its blocks)."""
    if isinstance(stmt, Assign):
        return names_in(stmt.value)
    return tuple([name for expr in expressions(stmt) for name in names_in(expr)])


def writes(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement itself assigns."""
    match stmt:
        case Assign(target=target):
            return (target,)
        case Copy(targets=targets) | Unpack(targets=targets) | Pop(targets=targets):
            return targets
        case For(targets=targets, counter=counter):
            return targets if counter is None else (*targets, counter)
        case Enter(bound=bound):
            return () if bound is None else (bound,)
        case _:
            return ()


def blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks inside a statement."""
    match stmt:
        case If(then=then, orelse=orelse):
            return then, orelse
        case For(body=body) | While(body=body):
            return (body,)
        case Exit(handler=handler):
            return (handler,)
        case _:
            return ()


def map_stmt(stmt: Stmt, f: Callable[[Expr], Expr], g: Callable[[Block], Block]) -> Stmt:
    """A statement with ``f`` applied to its expressions and ``g`` to its blocks."""
    match stmt:
        case Assign(value=value):
            new = f(value)
            return stmt if new is value else replace(stmt, value=new)
        case Unpack(value=value):
            new = f(value)
            return stmt if new is value else replace(stmt, value=new)
        case Evaluate(value=value, writes=into):
            if into is not None:
                into = tuple([n for name in into for n in names_in(f(Var(name)))])
            return replace(stmt, value=f(value), writes=into)
        case Copy(sources=sources):
            moved = tuple([f(s) for s in sources])
            return stmt if _same(moved, sources) else replace(stmt, sources=moved)
        case Store(base=target, index=index, value=value):
            call = None if stmt.call is None else map_children(stmt.call, f)
            assert call is None or isinstance(call, Call)
            stored, whole, place = f(value), f(target), f(index)
            if _same((stored, whole, place, call), (value, target, index, stmt.call)):
                return stmt
            return Store(whole, place, stored, stmt.op, stmt.origin, call)
        case Effect(names=names, writes=written):

            def renamed(name: str) -> str:
                new = f(Var(name))
                return new.name if isinstance(new, Var) else name

            return replace(
                stmt,
                names=tuple([(user, renamed(name)) for user, name in names]),
                writes=tuple([renamed(name) for name in written]),
            )
        case Push(tape=tape, values=values):
            pushed, to = tuple([f(v) for v in values]), f(Var(tape))
            same = _same(pushed, values) and to == Var(tape)
            return stmt if same or not isinstance(to, Var) else replace(stmt, values=pushed, tape=to.name)
        case Pop(tape=tape):
            taken = f(Var(tape))
            return replace(stmt, tape=taken.name) if isinstance(taken, Var) and taken.name != tape else stmt
        case If(test=test, then=then, orelse=orelse):
            arms = f(test), g(then), g(orelse)
            return stmt if _same(arms, (test, then, orelse)) else If(*arms, stmt.origin, stmt.key)
        case While(test=test, body=body):
            return replace(stmt, test=f(test), body=g(body))
        case For(iters=iters, body=body):
            return replace(stmt, iters=tuple([f(i) for i in iters]), body=g(body))
        case Enter(manager=manager):
            return stmt if manager is None else replace(stmt, manager=f(manager))
        case Exit(classes=classes, handler=handler):
            return replace(stmt, classes=tuple([f(c) for c in classes]), handler=g(handler))
        case _:
            return stmt


def _same(new: tuple[object, ...], old: tuple[object, ...]) -> bool:
    return all(a is b for a, b in zip(new, old, strict=True))


def rename_in(block: Iterable[Stmt], names: Mapping[str, Expr]) -> Block:
    """The statements of a block with expressions in place of the names that they read."""
    known = dict(names)
    return tuple([map_stmt(s, lambda e: rename(e, known), lambda b: rename_in(b, known)) for s in block])


def walk(block: Iterable[Stmt]) -> Iterator[Stmt]:
    """Every statement of a block and of the blocks inside, in order of the text."""
    for stmt in block:
        yield stmt
        if isinstance(stmt, (If, For, While, Exit)):
            for inner in blocks(stmt):
                yield from walk(inner)


def is_atom(expr: Expr) -> bool:
    """A name or a literal: what can be read again at no cost."""
    return isinstance(expr, (Var, Const, Global))


def is_cheap(expr: Expr) -> bool:
    """Whether evaluating ``expr`` again costs next to nothing and always gives the same."""
    if isinstance(expr, (Const, Var)):
        return True
    if isinstance(expr, Global):
        return False
    if isinstance(expr, Build):
        return expr.kind == "tuple" and all(is_cheap(i) for i in expr.items)
    if isinstance(expr, Slice):
        return all(p is None or is_cheap(p) for p in (expr.lower, expr.upper, expr.step))
    return False


def is_light(expr: Expr) -> bool:
    """Whether evaluating ``expr`` again costs about as much as reading a saved value."""
    if isinstance(expr, (Var, Const)):
        return True
    if isinstance(expr, Call):
        light = expr.op.kind == "operator" and expr.op.name in ("+", "-", "/", "%", "//")
        if light or expr.op.kind in ("compare", "bool"):
            return all(is_light(a) for a in expr.args)
        return expr.op.kind == "attribute" and expr.op.name in ("ndim", "size") and is_light(expr.args[0])
    return False


def is_attempt(stmt: Stmt) -> bool:
    """Whether a branch is a ``try``: it takes its first arm if what is tried there does not raise."""
    return isinstance(stmt, If) and isinstance(stmt.test, Call) and stmt.test.op.kind == "attempt"


def is_inplace(stmt: Stmt) -> bool:
    """Whether a statement is an augmented assignment of a name."""
    return isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "inplace"


def leaves(block: Block) -> bool:
    """Whether some path through a block ends in ``break``."""
    if not block:
        return False
    last = block[-1]
    return isinstance(last, Break) or (isinstance(last, If) and (leaves(last.then) or leaves(last.orelse)))


def loop_heads(body: Block) -> Iterator[str]:
    """The join names that the end of an iteration sets: those that the next one begins with."""
    tail = [s for s in body[-2:] if not isinstance(s, Break)]
    if tail and isinstance(tail[-1], Copy):
        yield from tail[-1].targets
    elif tail and isinstance(tail[-1], If) and leaves(tail[-1:]):  # type: ignore[arg-type]
        yield from loop_heads(tail[-1].then)
        yield from loop_heads(tail[-1].orelse)


def with_names(block: Block, names: dict[str, str]) -> Block:
    """A block in which some names are called otherwise, where they are set and where they are read."""
    variables: dict[str, Expr] = {old: Var(new) for old, new in names.items()}

    def in_stmt(stmt: Stmt) -> Stmt:
        stmt = map_stmt(stmt, lambda e: rename(e, variables), lambda b: with_names(b, names))
        match stmt:
            case Assign(target=target) if target in names:
                return replace(stmt, target=names[target])
            case Enter(bound=str(bound)) if bound in names:
                return replace(stmt, bound=names[bound])
            case Copy(targets=targets) | Unpack(targets=targets) | Pop(targets=targets) | For(targets=targets):
                return replace(stmt, targets=tuple([names.get(t, t) for t in targets]))
        return stmt

    return tuple([in_stmt(s) for s in block])
