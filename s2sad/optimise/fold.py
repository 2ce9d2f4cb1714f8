"""Put temporaries that are read once back into the expression that reads them.

    t = x - m
    t_2 = np.exp(t)           s = np.sum(np.exp(x - m))
    s = np.sum(t_2)

A temporary is carried along until it is read.  What could change its value or the order
of effects (a write into an object, a call that is not pure, a branch, a loop) makes it
stay where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from s2sad.ir import algebra
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
    Function,
    Global,
    If,
    Op,
    Opaque,
    Push,
    Slice,
    Stmt,
    Store,
    Var,
    While,
)
from s2sad.ir.traverse import expressions, map_children, map_stmt, names_in, reads, rename, subexpressions, walk
from s2sad.optimise.dead import is_pure, writes_into
from s2sad.optimise.finish import finished
from s2sad.optimise.memory import Memory
from s2sad.runtime import own

#: How many operations and characters a line of the reverse part may have.
_WEIGHT, _WIDTH = 9, 84


def fold(function: Function, memory: Memory, tangents: bool = False) -> Function:
    """Fold the temporaries of ``function`` (names that begin with ``~``); ``memory`` tells what a write changes.

    With ``tangents``, statements of ours stand between those of the user, and their writes disturb nothing else.
    """
    uses: Counter[str] = Counter(names_in(function.result))
    opaque: set[str] = set()
    for stmt in walk((*function.body, *(function.reverse or ()))):
        uses.update(reads(stmt))
        if isinstance(stmt, Effect):
            opaque.update(name for _, name in stmt.names)
        for expr in expressions(stmt):
            for inner in subexpressions(expr):
                if isinstance(inner, Opaque):
                    opaque.update(name for _, name in inner.names)
    once = {n for n, count in uses.items() if count == 1 and n.startswith("~") and n not in opaque}
    views = {
        stmt.base.name
        for stmt in walk(function.reverse or ())
        if isinstance(stmt, Store) and isinstance(stmt.base, Var)
    }
    views.update(n for s in walk(function.reverse or ()) if (n := writes_into(s)) is not None)
    body, kept = _Folder(once, None, frozenset(), memory, tangents).block(function.body, ())
    assert not kept
    if function.reverse is None:
        return replace(function, body=finished(body, memory.fact) if tangents else body)
    reverse, left = _Folder(once, _WEIGHT, frozenset(views), memory).block(function.reverse, names_in(function.result))
    names: dict[str, Expr] = dict(left)
    reverse = finished(reverse, memory.fact)
    return replace(function, body=body, reverse=reverse, result=rename(function.result, names))


def width(expr: Expr | None) -> int:
    """How many characters an expression takes, about."""
    match expr:
        case None:
            return 0
        case Var(name=name):
            return len(name.partition(".")[0])
        case Const(value=value):
            return len(repr(value))
        case Global(text=text):
            return len(text)
        case Slice(lower=lower, upper=upper, step=step):
            return 1 + width(lower) + width(upper) + width(step)
        case Opaque():
            return 20
        case Build(items=items):
            return sum(map(width, items)) + 2 * len(items)
    operands = sum(map(width, expr.args)) + sum(width(v) + len(k) + 1 for k, v in expr.kwargs)
    between = len(expr.op.name) + 2 if expr.op.kind in ("operator", "compare", "bool") else 2
    return operands + between * max(len(expr.args) - 1, 1) + (0 if between > 2 else len(expr.op.name))


def weight(expr: Expr) -> int:
    """How long an expression is to read: its operations, but for reading sizes."""
    return sum(isinstance(e, Call) and not algebra.is_size(e) for e in subexpressions(expr))


class _Folder:
    def __init__(
        self, once: set[str], limit: int | None, views: frozenset[str], memory: Memory, tangents: bool = False
    ) -> None:
        self.by_memory = limit is not None or tangents
        self.once = once
        self.limit = limit
        self.views = views
        self.memory = memory

    def is_number(self, name: str) -> bool:
        """Whether a name surely stands for a number or an array of numbers."""
        return self.memory.fact(Var(name)).numeric

    def is_of_numbers(self, value: Expr) -> bool:
        """Whether an expression surely computes something of numbers and arrays of numbers that have names."""
        return self.is_closed(value) and all(map(self.is_number, names_in(value)))

    def is_closed(self, value: Expr) -> bool:
        """Whether an expression reads nothing of the module, or of what is around the function, that may change."""
        return not any(isinstance(e, Global) and self.memory.fact(e).kind != "scalar" for e in subexpressions(value))

    def putting(self, taken: dict[str, Expr]) -> Callable[[Expr], Expr]:
        """What puts ``taken`` into an expression; adjoints are then written anew."""
        if not taken:
            return lambda e: e
        if self.limit is None:
            return lambda e: rename(e, taken)
        return lambda e: _outermost(rename(e, taken))

    def block(self, block: Block, after: Iterable[str]) -> tuple[Block, dict[str, Expr]]:
        """Fold a block; returns it and what may be folded into the names read ``after`` it."""
        out: list[Stmt] = []
        pending: dict[str, Assign] = {}

        def flush(names: Iterable[str]) -> None:
            out.extend([pending.pop(name) for name in names])

        for stmt in block:
            wanted = [n for n in dict.fromkeys(reads(stmt)) if n in pending]
            if isinstance(stmt, (While, Enter, Exit)):
                flush(list(pending))
                wanted = []
            taken: dict[str, Expr] = {}
            total = sum(weight(e) for e in expressions(stmt)) if self.limit is not None else 0
            length = sum(width(e) for e in expressions(stmt)) if wanted and self.limit is not None else 0
            for name in wanted:
                value = pending[name].value
                if self.limit is not None:
                    total += weight(value)
                    length += width(value)
                if self.limit is None or (total <= self.limit and length <= _WIDTH):
                    taken[name] = value
                    del pending[name]
                else:
                    flush([name])
            if _disturbs(stmt):
                into = writes_into(stmt) or _augmented(stmt)
                if into is not None and self.by_memory:
                    # A view that is itself written into stays the same view.
                    held = self.memory.find(into)
                    read = [
                        name
                        for name, s in pending.items()
                        if any(self.memory.find(n) == held for n in names_in(s.value))
                        or (self.limit is None and not self.is_closed(s.value))
                    ]
                    flush([n for n in read if n not in self.views])
                elif self.by_memory and _is_change(stmt):
                    # What is computed of numbers alone is the same before and after a container changes.
                    flush([name for name, s in pending.items() if not self.is_of_numbers(s.value)])
                else:
                    flush(list(pending))
            new = map_stmt(stmt, self.putting(taken), lambda b: self.block(b, ())[0])
            if isinstance(new, Assign) and new.target in self.once and is_pure(new.value) and not _changes(new):
                pending[new.target] = new
            else:
                out.append(new)
        last = [n for n in dict.fromkeys(after) if n in pending]
        left = {n: pending.pop(n).value for n in last}
        flush(list(pending))
        return tuple(out), left


def _outermost(expr: Expr) -> Expr:
    expr = map_children(expr, _outermost)
    if isinstance(expr, Call) and expr.op.kind == "index":
        whole, index = expr.args
        if (item := algebra.known_item(whole, index)) is not None:
            return item
        if isinstance(whole, Call) and whole.op == algebra.NEGATE and algebra.adds_axes(index):
            return Call(algebra.NEGATE, (Call(expr.op, (whole.args[0], index)),))
        expr = algebra.without_kept_axes(whole, index) or expr
    if isinstance(expr, Call) and expr.op.kind == "operator":
        # What is computed at once from an array needs no copy of it.
        expr = replace(expr, args=tuple(map(_uncopied, expr.args)))
    inner = _uncopied(expr)
    if inner is not expr and isinstance(inner, Call) and _is_arithmetic(inner):
        expr = inner
    new = algebra.outermost(expr)
    if isinstance(expr, Call) and expr.op == algebra.MATRIX_TRANSPOSE:
        return new
    # ``-(-x)`` is a new array and ``x`` is not; the name that gets it may be written in place.
    return new if isinstance(new, Call) and (new.op.kind == "operator" or algebra.is_quotient(new)) else expr


def _is_arithmetic(call: Call) -> bool:
    """Whether an operator is applied that makes a new array of arrays."""
    return call.op.kind == "operator" and call.op != algebra.MATRIX_TRANSPOSE


def _uncopied(expr: Expr) -> Expr:
    """What is copied, or the expression itself."""
    if isinstance(expr, Call) and len(expr.args) == 1 and not expr.kwargs:
        if expr.op.function is own or (expr.op.kind == "method" and expr.op.name == "copy"):
            return expr.args[0]
    return expr


def _disturbs(stmt: Stmt) -> bool:
    """Whether a statement may change what an expression before it would give, or has an effect."""
    if isinstance(stmt, (Store, Effect, Evaluate, If, For, While, Break)):
        return True
    if isinstance(stmt, Assign):
        return not is_pure(stmt.value) or _changes(stmt)
    return isinstance(stmt, (Push, Copy)) is False and hasattr(stmt, "value") and not is_pure(stmt.value)


def _augmented(stmt: Stmt) -> str | None:
    """The name of the array that an augmented assignment writes into, where that is all that it does."""
    if not (isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "inplace"):
        return None
    left, right = stmt.value.args
    return left.name if isinstance(left, Var) and is_pure(right) else None


def _is_change(stmt: Stmt) -> bool:
    """Whether a statement changes a container, and computes nothing that may have another effect."""
    match stmt:
        case Assign(value=Call(op=Op(kind="change"), args=args)):
            return all(map(is_pure, args))
    return False


def _changes(stmt: Assign) -> bool:
    """Whether an assignment changes an object, an array or container, in place."""
    return isinstance(stmt.value, Call) and stmt.value.op.kind in ("inplace", "change")
