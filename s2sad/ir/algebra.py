"""Build expressions as a person would write them: ``1 * x`` is ``x``, ``x * (1 / y)`` is ``x / y``.

Only adjoint expressions are made here; the user's own are never rewritten.  No rule
assumes anything of the values but that they are numbers or arrays of
one shape: ``0 * x`` stays, since ``x`` may be infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.ir.nodes import Call, Const, Expr, Op

MULTIPLY = Op("operator", "*", np.multiply)
DIVIDE = Op("operator", "/", np.divide)
ADD = Op("operator", "+", np.add)
SUBTRACT = Op("operator", "-", np.subtract)
NEGATE = Op("operator", "-", np.negative)
POWER = Op("operator", "**", np.power)


def _number(expr: Expr) -> Any:
    if isinstance(expr, Const) and isinstance(expr.value, (int, float)) and not isinstance(expr.value, bool):
        return expr.value
    return None


def _is(expr: Expr, symbol: str, arity: int = 2) -> bool:
    return isinstance(expr, Call) and expr.op.kind == "operator" and expr.op.name == symbol and len(expr.args) == arity


def negate(a: Expr) -> Expr:
    """``-a``."""
    value = _number(a)
    if value is not None:
        return Const(-value)
    if _is(a, "-", 1):
        assert isinstance(a, Call)
        return a.args[0]
    if isinstance(a, Call) and (_is(a, "*") or _is(a, "/")):
        first = a.args[0]
        if _number(first) is not None or _is(first, "-", 1):
            return Call(a.op, (negate(first), a.args[1]))
    return Call(NEGATE, (a,))


def multiply(a: Expr, b: Expr) -> Expr:
    """``a * b``."""
    m, n = _number(a), _number(b)
    if m is not None and n is not None:
        return Const(m * n)
    if m == 1:
        return b
    if n == 1:
        return a
    if m == -1:
        return negate(b)
    if n == -1:
        return negate(a)
    if isinstance(b, Call) and _is(b, "/"):
        numerator, denominator = b.args
        return divide(multiply(a, numerator), denominator)
    if isinstance(b, Call) and _is(b, "-", 1):
        return negate(multiply(a, b.args[0]))
    if n is not None:
        return Call(MULTIPLY, (b, a))
    if isinstance(b, Call) and _is(b, "*") and _number(b.args[0]) is not None:
        # a * (2 * x) reads better as 2 * a * x.
        return multiply(multiply(b.args[0], a), b.args[1])
    return Call(MULTIPLY, (a, b))


def divide(a: Expr, b: Expr) -> Expr:
    """``a / b``."""
    if _number(b) == 1:
        return a
    if isinstance(a, Call) and _is(a, "-", 1):
        return negate(divide(a.args[0], b))
    return Call(DIVIDE, (a, b))


def add(a: Expr, b: Expr) -> Expr:
    """``a + b``."""
    m, n = _number(a), _number(b)
    if m is not None and n is not None:
        return Const(m + n)
    if isinstance(b, Call) and _is(b, "-", 1):
        return Call(SUBTRACT, (a, b.args[0]))
    if isinstance(b, Call) and (_is(b, "*") or _is(b, "/")) and _leading_minus(b):
        return Call(SUBTRACT, (a, negate(b)))
    return Call(ADD, (a, b))


def _leading_minus(expr: Expr) -> bool:
    first = expr.args[0] if isinstance(expr, Call) else expr
    value = _number(first)
    return (value is not None and value < 0) or _is(first, "-", 1)


def power(a: Expr, b: Expr) -> Expr:
    """``a ** b``."""
    return a if _number(b) == 1 else Call(POWER, (a, b))


def outermost(expr: Expr) -> Expr:
    """Apply the rules above to the outermost operation."""
    if not isinstance(expr, Call) or expr.op.kind != "operator":
        return expr
    name, args = expr.op.name, expr.args
    if name == "*":
        return multiply(*args)
    if name == "/":
        return divide(*args)
    if name == "**":
        return power(*args)
    if name == "-" and len(args) == 1:
        return negate(args[0])
    m, n = (_number(a) for a in args) if len(args) == 2 else (None, None)
    if name == "-" and m is not None and n is not None:
        return Const(m - n)
    return add(*args) if name == "+" and len(args) == 2 else expr
