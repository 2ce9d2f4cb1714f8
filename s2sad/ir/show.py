"""Print the IR as text: what the stages show, and what tests of the stages compare.

y.2 = * (x.1, t.1)
for i.1 in range(n.1):
    y.3 <- y.4
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

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


def show(function: Function, note: Callable[[Stmt], str] = lambda _: "") -> str:
    """The text of a function's IR, one statement a line; ``note`` adds a remark to a line."""
    head = f"function {function.name}({', '.join(p.name for p in function.params)})"
    lines = [head, *_lines(function.body, 1, note)]
    if function.reverse is not None:
        lines += ["    reverse", *_lines(function.reverse, 1, note)]
    return "\n".join([*lines, f"    return {text(function.result)}"]) + "\n"


def _lines(block: Block, depth: int, note: Callable[[Stmt], str]) -> Iterator[str]:
    indent = "    " * depth
    for stmt in block:
        line = indent + _head(stmt)
        remark = note(stmt)
        yield f"{line:<48}  # {remark}" if remark else line
        if isinstance(stmt, If):
            yield from _lines(stmt.then, depth + 1, note)
            if stmt.orelse:
                yield f"{indent}else"
                yield from _lines(stmt.orelse, depth + 1, note)
        elif isinstance(stmt, (For, While)):
            yield from _lines(stmt.body, depth + 1, note)
        elif isinstance(stmt, Exit):
            yield from _lines(stmt.handler, depth + 1, note)


def _head(stmt: Stmt) -> str:
    match stmt:
        case Assign(target=target, value=value):
            return f"{target} = {text(value)}"
        case Copy(targets=targets, sources=sources):
            return f"{', '.join(targets)} <- {', '.join(text(s) for s in sources)}"
        case Unpack(targets=targets, value=value, star=star):
            names = [f"*{t}" if i == star else t for i, t in enumerate(targets)]
            return f"{', '.join(names)} = unpack {text(value)}"
        case Store(base=base, index=index, value=value, op=op, call=call):
            written = f" by {text(call)}" if call is not None else ""
            return f"{text(base)}[{text(index)}] {op or ''}= {text(value)}{written}"
        case Effect(node=node):
            return f"effect {ast.unparse(node)}"
        case Evaluate(value=value):
            return f"evaluate {text(value)}"
        case Push(tape=tape, values=values):
            return f"push {tape}: {', '.join(text(v) for v in values)}"
        case Pop(targets=targets, tape=tape):
            return f"{', '.join(targets)} = pop {tape}"
        case If(test=test):
            return f"if {text(test)}"
        case While(test=test):
            return f"while {text(test)}"
        case For(targets=targets, iters=iters, counter=counter):
            count = f" counted by {counter}" if counter else ""
            return f"for {', '.join(targets)} in {', '.join(text(i) for i in iters)}{count}"
        case Break():
            return "break"
        case Enter(manager=manager, bound=bound):
            name = f" as {bound}" if bound is not None else ""
            return f"enter {text(manager)}{name}" if manager is not None else "enter"
        case Exit(classes=classes):
            return f"exit, except {', '.join(map(text, classes))}" if classes else "exit"


def text(expr: Expr) -> str:
    """The text of an expression."""
    match expr:
        case Const(value=value):
            return repr(value)
        case Var(name=name):
            return name
        case Global(text=name):
            return name
        case Build(kind=kind, items=items):
            return f"{kind}({', '.join(text(i) for i in items)})"
        case Slice(lower=lower, upper=upper, step=step):
            parts = [text(p) if p is not None else "" for p in (lower, upper)]
            return ":".join(parts) + (f":{text(step)}" if step is not None else "")
        case Opaque(node=node):
            return f"<{ast.unparse(node)}>"
        case Call(op=op, args=args, kwargs=kwargs):
            shown = [text(a) for a in args] + [f"{k}={text(v)}" for k, v in kwargs]
            if op.kind == "index":
                return f"{shown[0]}[{shown[1]}]"
            if op.kind in ("operator", "compare", "bool") and len(args) == 2:
                return f"({shown[0]} {op.name} {shown[1]})"
            if op.kind == "met":
                return f"{shown[0]}({', '.join(shown[1:])})"
            prefix = "." if op.kind in ("method", "attribute", "field") else ""
            return f"{prefix}{op.name}({', '.join(shown)})"
