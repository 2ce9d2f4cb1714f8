"""Build expressions as a person would write them: ``1 * x`` is ``x``, ``x * (1 / y)`` is ``x / y``.

Only adjoint expressions are made here; the user's own are never rewritten.  No rule
assumes anything of the values but that they are numbers or arrays of
one shape: ``0 * x`` stays, since ``x`` may be infinite.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from s2sad import runtime
from s2sad.ir.nodes import Build, Call, Const, Expr, Op, Slice, Var
from s2sad.ir.traverse import map_children
from s2sad.runtime.arrays import count, power_derivative, power_dx
from s2sad.runtime.edges import power_adjoint

MULTIPLY = Op("operator", "*", np.multiply)
DIVIDE = Op("operator", "/", np.divide)
ADD = Op("operator", "+", np.add)
SUBTRACT = Op("operator", "-", np.subtract)
NEGATE = Op("operator", "-", np.negative)
POWER = Op("operator", "**", np.power)
QUOTIENT = Op("runtime", "quotient", runtime.quotient)
QUOTIENT_OR_ZERO = Op("runtime", "quotient_or_zero", runtime.quotient_or_zero)
BY_DIVISOR = Op("runtime", "by_divisor", runtime.by_divisor)
ROOT_QUOTIENT = Op("runtime", "root_quotient", runtime.root_quotient)
MATMUL = Op("operator", "@", np.matmul)
#: ``x.T`` of a matrix.
MATRIX_TRANSPOSE = Op("attribute", "T", np.matrix_transpose)
_POWER_DX = Op("runtime", "power_dx", power_dx)
_POWER_DERIVATIVE = Op("runtime", "power_derivative", power_derivative)
IF = Op("ifexp", "if")
_SIZE_ATTRIBUTE = Op("attribute", "size")
#: ``:``, all of an axis.
WHOLE = Slice(None, None, None)
#: What gives the number of elements of an array, of which no adjoint is made if there are none.
_SIZES = (len, np.size, count)


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
    if isinstance(a, Call) and (_is(a, "*") or _is(a, "/")) and _takes_sign(a):
        return Call(a.op, (negate(a.args[0]), a.args[1]))
    if isinstance(a, Call) and _is(a, "-"):
        return subtract(a.args[1], a.args[0])
    if isinstance(a, Call) and _is(a, "+") and _leading_minus(a.args[0]):
        return subtract(negate(a.args[0]), a.args[1])
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
    number, other = (a, b) if m is not None else (b, a)
    if isinstance(other, Call) and _number(number) and is_quotient(other):
        test, *parts = other.args
        if other.op == QUOTIENT:
            return quotient(multiply(number, test), *parts)
        if other.op == QUOTIENT_OR_ZERO:
            return Call(QUOTIENT_OR_ZERO, (multiply(number, test), *parts))
        return Call(other.op, (test, multiply(number, parts[0]), parts[1]))
    if n is not None:
        return multiply(b, a)
    if m is not None and isinstance(b, Call) and _is(b, "*"):
        return multiply(multiply(a, b.args[0]), b.args[1])
    front, rest = leading(b)
    if front != 1:
        # a * (2 * x) reads better as 2 * a * x.
        return multiply(multiply(Const(front), a), rest)
    return Call(MULTIPLY, (a, b))


def total(a: Expr, b: Expr) -> Expr:
    """``a + b`` of two whole numbers."""
    m, n = _number(a), _number(b)
    if m == 0:
        return b
    return Const(m + n) if m is not None and n is not None else Call(ADD, (a, b))


def divide(a: Expr, b: Expr) -> Expr:
    """``a / b``."""
    if _number(b) == 1:
        return a
    if isinstance(a, Call) and _is(a, "-", 1):
        return negate(divide(a.args[0], b))
    return Call(DIVIDE, (a, b))


def quotient(a: Expr, b: Expr) -> Expr:
    """``a / b``, and zero where both are zero: a division where ``a`` surely is not."""
    if is_nonzero(a):
        return divide(a, b)
    if isinstance(a, Call) and _is(a, "-", 1):
        return negate(quotient(a.args[0], b))
    return Call(QUOTIENT, (a, b))


def guarded(test: Expr, a: Expr, b: Expr) -> Expr:
    """``a / b if test else 0.0``."""
    return Call(IF, (test, divide(a, b), Const(0.0)))


def is_guarded(expr: Expr) -> bool:
    """Whether an expression is one of `guarded`."""
    return isinstance(expr, Call) and expr.op == IF and _is(expr.args[1], "/") and expr.args[2] == Const(0.0)


def is_quotient(expr: Expr) -> bool:
    """Whether an expression is a quotient that is zero where both operands are, or the second is."""
    return is_guarded(expr) or (isinstance(expr, Call) and (expr.op == QUOTIENT or expr.op == QUOTIENT_OR_ZERO))


def factor(expr: Expr) -> Expr:
    """A product without the numbers in front of it, and without its sign."""
    if isinstance(expr, Call) and _is(expr, "-", 1):
        return factor(expr.args[0])
    if isinstance(expr, Call) and _is(expr, "*") and _number(expr.args[0]):
        return factor(expr.args[1])
    return expr


def is_nonzero(expr: Expr) -> bool:
    """Whether an adjoint surely is not zero: the seed, numbers, and their quotients by the size of an array."""
    expr = factor(expr)
    if isinstance(expr, Call) and _is(expr, "/"):
        size = expr.args[1]
        if isinstance(size, Call) and size.op.function is max and size.args[1:] == (Const(1),):
            size = size.args[0]
        if isinstance(size, Call) and (size.op.function in _SIZES or size.op == _SIZE_ATTRIBUTE):
            return is_nonzero(expr.args[0])
    return bool(_number(expr)) or (isinstance(expr, Call) and expr.op.function is runtime.scalar_seed)


def add(a: Expr, b: Expr) -> Expr:
    """``a + b``."""
    m, n = _number(a), _number(b)
    if m is not None and n is not None:
        return Const(m + n)
    if isinstance(b, Call) and _leading_minus(b):
        return subtract(a, negate(b))
    return _together(ADD, a, b)


def subtract(a: Expr, b: Expr) -> Expr:
    """``a - b``."""
    m, n = _number(a), _number(b)
    if m is not None and n is not None:
        return Const(m - n)
    if isinstance(b, Call) and _leading_minus(b):
        return add(a, negate(b))
    return _together(SUBTRACT, a, b)


def _together(op: Op, a: Expr, b: Expr) -> Expr:
    """A sum or difference, with a number or a divisor that both have in common written once."""
    if isinstance(a, Call) and isinstance(b, Call):
        if _is(a, "/") and _is(b, "/") and a.args[1] == b.args[1] and isinstance(a.args[1], Var):
            return divide(_combined(op, a.args[0], b.args[0]), a.args[1])
        (m, first), (n, second) = leading(a), leading(b)
        if abs(m) == abs(n) != 1:
            return multiply(Const(m), _combined(op if m == n else _opposite(op), first, second))
    return Call(op, (a, b))


def _opposite(op: Op) -> Op:
    return SUBTRACT if op == ADD else ADD


def _combined(op: Op, a: Expr, b: Expr) -> Expr:
    return add(a, b) if op == ADD else subtract(a, b)


def leading(expr: Expr) -> tuple[Any, Expr]:
    """The number in front of a product, and the product without it; 1 if there is none.

    Example:
        >>> from s2sad.ir.nodes import Var
        >>> product = multiply(Const(2), multiply(Var("x.1"), Var("y.1")))
        >>> leading(product) == (2, multiply(Var("x.1"), Var("y.1")))
        True
    """
    if isinstance(expr, Call) and _is(expr, "*"):
        number = _number(expr.args[0])
        if number is not None:
            return number, expr.args[1]
        number, rest = leading(expr.args[0])
        if number != 1:
            return number, Call(MULTIPLY, (rest, expr.args[1]))
    return 1, expr


def signed(expr: Expr) -> tuple[int, Expr]:
    """The sign that a product or quotient begins with, 1 or -1, and the expression without it."""
    return (-1, negate(expr)) if _leading_minus(expr) else (1, expr)


def _leading_minus(expr: Expr) -> bool:
    """Whether a product, quotient or number begins with a minus sign."""
    while isinstance(expr, Call) and (_is(expr, "*") or _is(expr, "/")):
        expr = expr.args[0]
    value = _number(expr)
    return (value is not None and value < 0) or _is(expr, "-", 1)


def _takes_sign(expr: Expr) -> bool:
    """Whether a product or quotient begins with a number or a minus sign, so that another sign costs nothing."""
    while isinstance(expr, Call) and (_is(expr, "*") or _is(expr, "/")):
        expr = expr.args[0]
    return _number(expr) is not None or _is(expr, "-", 1)


def power(a: Expr, b: Expr) -> Expr:
    """``a ** b``."""
    return a if _number(b) == 1 else Call(POWER, (a, b))


def finished(expr: Expr) -> Expr:
    """Apply the rules above to an expression and all of its parts, and write ``1 / y * x`` as ``x / y``."""
    if not isinstance(expr, Call):
        return expr
    whole = outermost(map_children(expr, finished))
    if isinstance(whole, Call) and _is(whole, "*"):
        first, second = whole.args
        if isinstance(first, Call) and _is(first, "/") and _number(first.args[0]) == 1:
            return divide(second, first.args[1])
    return whole


def without_kept_axes(whole: Expr, index: Expr) -> Expr | None:
    """``np.sum(x, axis=1)`` for ``np.sum(x, axis=1, keepdims=True)[:, 0]``; None for what is no such item.

    Example:
        >>> from s2sad.ir.nodes import Build, Slice
        >>> x, axis = Var("x.1"), ("axis", Const(0))
        >>> kept = Call(Op("function", "np.sum", np.sum), (x,), (axis, ("keepdims", Const(True))))
        >>> without_kept_axes(kept, Const(0)).kwargs
        (('axis', Const(value=0)),)
    """
    if isinstance(whole, Call) and whole.op == NEGATE:
        inner = without_kept_axes(whole.args[0], index)
        return None if inner is None else negate(inner)
    if not isinstance(whole, Call) or whole.op.function is not np.sum or len(whole.args) != 1:
        return None
    given = dict(whole.kwargs)
    axis = given.get("axis")
    axes = axis.items if isinstance(axis, Build) else (axis,)
    parts = index.items if isinstance(index, Build) else (index,)
    taken = tuple([Const(i) for i, part in enumerate(parts) if part == Const(0)])
    others = [part for part in parts if part not in (Const(0), WHOLE)]
    if given.keys() != {"axis", "keepdims"} or given["keepdims"] != Const(True) or others or axes != taken:
        return None
    return replace(whole, kwargs=(("axis", axis),)) if axis is not None else None


def adds_axes(index: Expr) -> bool:
    """Whether an index takes all elements and puts in new axes: ``[:, None]``."""
    parts = index.items if isinstance(index, Build) and index.kind == "tuple" else (index,)
    return Const(None) in parts and all(p in (Const(None), Const(...), WHOLE) for p in parts)


def transposed_product(product: Expr) -> Expr | None:
    """``b.T @ a`` for the transpose of ``a.T @ b``, where one operand is a transpose; None for what is none.

    That of ``np.outer(a, b)`` is ``np.outer(b, a)``, and that of a transpose is what was transposed.
    """
    if isinstance(product, Call) and product.op == NEGATE:
        inner = transposed_product(product.args[0])
        return None if inner is None else negate(inner)
    if isinstance(product, Call) and product.op.function is np.outer and len(product.args) == 2:
        return replace(product, args=product.args[::-1])
    if _is_transpose(product):
        return product.args[0]
    if not isinstance(product, Call) or product.op != MATMUL or not any(map(_is_transpose, product.args)):
        return None
    a, b = [x.args[0] if _is_transpose(x) else Call(MATRIX_TRANSPOSE, (x,)) for x in product.args]
    return Call(MATMUL, (b, a))


def is_size(expr: Expr) -> bool:
    """Whether an expression is ``x.shape``, ``x.shape[0]`` or ``x.size``."""
    read = expr.args[0] if isinstance(expr, Call) and expr.op.kind == "index" else expr
    return isinstance(read, Call) and read.op.kind == "attribute" and read.op.name in ("shape", "size")


def _is_transpose(expr: Expr) -> TypeGuard[Call]:
    return isinstance(expr, Call) and expr.op == MATRIX_TRANSPOSE


def outermost(expr: Expr) -> Expr:
    """Apply the rules above to the outermost operation."""
    if not isinstance(expr, Call):
        return expr
    if expr.op == QUOTIENT:
        return quotient(*expr.args)
    if expr.op == MATRIX_TRANSPOSE:
        return transposed_product(expr.args[0]) or expr
    if expr.op.function is power_adjoint and is_nonzero(expr.args[0]):
        g, *of = expr.args
        return multiply(g, Call(_POWER_DX, tuple(of)) if len(of) == 2 else Call(_POWER_DERIVATIVE, (*of, Const(0))[:4]))
    if is_guarded(expr) and is_nonzero(expr.args[0]):
        return expr.args[1]
    if expr.op.kind != "operator":
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
    if len(args) == 2 and name in ("+", "-"):
        return add(*args) if name == "+" else subtract(*args)
    return expr


def known_item(whole: Expr, index: Expr) -> Expr | None:
    """The item of a tuple or list that is written out, at a constant place; None elsewhere, and where it raises."""
    if not (isinstance(whole, Build) and whole.kind != "dict" and isinstance(index, Const)):
        return None
    place, count = index.value, len(whole.items)
    return whole.items[place] if type(place) is int and -count <= place < count else None
