"""What numbers are never below: enough to see that a square root in a denominator is not zero.

Exact for floating-point numbers of the precisions that facts know: a square may vanish, but rounding never brings the
sum of a number that is not negative and a positive one below that one.  NaN has no bound and needs none.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from s2sad.ir.nodes import Call, Const, Expr, Var
from s2sad.ir.types import Fact

#: Smaller bounds may be rounded to zero in single precision.
SMALLEST = 1e-30
_DEEPEST = 12
_ROOTS = (np.sqrt, math.sqrt)
_FROM_ZERO = (
    np.square, np.absolute, np.fabs, builtins.abs, math.fabs, np.exp, math.exp, np.var, np.std, np.linalg.norm,
)  # fmt: skip
_TOTALS = (np.sum, np.mean)
#: Keywords that have no say in whether a number is negative.
_HARMLESS = ("axis", "keepdims", "ddof", "ord")
_LARGER = (np.maximum, builtins.max)
_POWERS = (np.power, builtins.pow, math.pow)
_PRODUCTS = (np.multiply, np.matmul, np.dot)


def lower_bound(
    expr: Expr, defined: Mapping[str, Expr], fact: Callable[[Expr], Fact], depth: int = _DEEPEST
) -> float | None:
    """A number, not negative and no greater than 1 or so, that ``expr`` is known never to be below; else None.

    ``defined`` has the values of the names that are assigned once and whose arrays nobody writes.
    """

    def bound(e: Expr) -> float | None:
        return lower_bound(e, defined, fact, depth - 1)

    if isinstance(expr, Const):
        return float(min(expr.value, 1.0)) if _is_number(expr) and expr.value >= 0 else None
    if isinstance(expr, Var):
        return bound(defined[expr.name]) if expr.name in defined and depth else None
    if not isinstance(expr, Call) or not expr.args or not fact(expr).real:
        return None
    if any(name not in _HARMLESS for name, _ in expr.kwargs):
        return None
    function: Any = expr.op.function
    if function in _ROOTS:
        inner = bound(expr.args[0])
        return None if inner is None else math.sqrt(inner)
    if _is_square(expr, fact):
        return 0.0
    if function in _TOTALS:
        return 0.0 if len(expr.args) <= 2 and bound(expr.args[0]) is not None else None
    if function in (np.add, np.multiply, np.divide) and len(expr.args) == 2:
        left, right = map(bound, expr.args)
        if left is None or right is None:
            return None
        return left + right if function is np.add else left * right if function is np.multiply else 0.0
    if function in _POWERS and len(expr.args) == 2:
        inner, exponent = bound(expr.args[0]), expr.args[1]
        if inner is None or not isinstance(exponent, Const) or not _is_number(exponent) or exponent.value < 0:
            return None
        return float(min(inner, 1.0) ** min(exponent.value, 1e300))
    if function in _LARGER and len(expr.args) == 2:
        known = [b for b in map(bound, expr.args) if b is not None]
        return max(known, default=None)
    return None


def _is_square(expr: Call, fact: Callable[[Expr], Fact]) -> bool:
    """Whether an operation gives squares, sums of them, or another number that is not negative by its nature."""
    # Squares of NumPy's integers may overflow.
    if any(fact(a).precision == "" or not fact(a).real for a in expr.args[:1]):
        return False
    if expr.op.function in _FROM_ZERO:
        return True
    if len(expr.args) != 2:
        return False
    first, second = expr.args
    if expr.op.function in _PRODUCTS:
        return isinstance(first, Var) and first == second and (expr.op.function is np.multiply or fact(first).ndim == 1)
    if expr.op.function not in _POWERS or not isinstance(second, Const):
        return False
    return type(second.value) is int and second.value > 0 and second.value % 2 == 0


def _is_number(expr: Const) -> bool:
    return type(expr.value) in (int, float)
