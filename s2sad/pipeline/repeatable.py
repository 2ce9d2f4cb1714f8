"""Whether a program may run again from the start: what it does beside computing is done to objects of its own."""

from __future__ import annotations

import ast

from s2sad.ir.nodes import Call, Effect, Enter, Expr, Function, Opaque
from s2sad.ir.traverse import expressions, subexpressions, walk
from s2sad.runtime.objects import record, remember

#: What changes objects of the module.
_OUTSIDE = (record, remember)


def is_repeatable(function: Function) -> bool:
    """Whether a function draws no random numbers, prints nothing, and changes nothing that is not its own."""
    for stmt in walk(function.body):
        if isinstance(stmt, Effect) and not isinstance(stmt.node, (ast.Raise, ast.Assert)):
            return False
        if isinstance(stmt, Enter) and stmt.manager is not None and not stmt.transparent:
            return False
        if not all(_is_repeatable(part) for expr in expressions(stmt) for part in subexpressions(expr)):
            return False
    return True


def _is_repeatable(expr: Expr) -> bool:
    match expr:
        case Opaque(alters=alters, writes=writes):
            return not (alters or writes)
        case Call(op=op):
            is_own = op.kind in ("runtime", "user", "change", "inplace") and op.function not in _OUTSIDE
            return op.pure or is_own
    return True
