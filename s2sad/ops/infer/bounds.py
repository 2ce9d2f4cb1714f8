"""Below which number a result never is, where that follows from bounds of the operands.

Exact for floating-point numbers of the precisions that types know: a square may vanish, but rounding never brings the
sum of a number that is not negative and a positive one below that one.  NaN has no bound and needs none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from s2sad.ir.nodes import Const, Expr, Var
from s2sad.ops.infer.common import Bounded, Look


def not_negative(operands: Sequence[Expr], fact: Look, bound: Bounded) -> float | None:
    """Moduli, squares, deviations, exponentials."""
    return 0.0 if len(operands) == 1 and _is_float(operands[0], fact) else None


def root(operands: Sequence[Expr], fact: Look, bound: Bounded) -> float | None:
    inner = bound(operands[0]) if len(operands) == 1 else None
    return None if inner is None else math.sqrt(inner)


def total(operands: Sequence[Expr], fact: Look, bound: Bounded) -> float | None:
    """Sums and means of elements, of which there may be none."""
    return 0.0 if len(operands) == 1 and bound(operands[0]) is not None else None


def added(operands: Sequence[Expr], fact: Look, bound: Bounded) -> float | None:
    pair = _of_two(operands, fact, bound)
    return None if pair is None else pair[0] + pair[1]


def multiplied(operands: Sequence[Expr], fact: Look, bound: Bounded) -> float | None:
    """The product of two numbers, or a square."""
    if _is_square(operands, fact):
        return 0.0
    pair = _of_two(operands, fact, bound)
    return None if pair is None else pair[0] * pair[1]


def divided(operands: Sequence[Expr], fact: Look, bound: Bounded) -> float | None:
    return None if _of_two(operands, fact, bound) is None else 0.0


def inner_product(operands: Sequence[Expr], fact: Look, bound: Bounded) -> float | None:
    """The sum of the squares of a vector."""
    return 0.0 if _is_square(operands, fact) and fact(operands[0]).ndim == 1 else None


def raised(operands: Sequence[Expr], fact: Look, bound: Bounded) -> float | None:
    """Powers with a literal for an exponent."""
    base, exponent = operands if len(operands) == 2 else (None, None)
    if base is None or not _is_float(base, fact):
        return None
    if not isinstance(exponent, Const) or type(exponent.value) not in (int, float):
        return None
    whole, power = type(exponent.value) is int, float(exponent.value)
    if whole and power > 0 and power % 2 == 0:
        return 0.0
    inner = bound(base)
    return None if inner is None or power < 0 else min(inner, 1.0) ** min(power, 1e300)


def larger(operands: Sequence[Expr], fact: Look, bound: Bounded) -> float | None:
    """The larger of two numbers."""
    known = [b for b in map(bound, operands) if b is not None]
    return max(known) if known and len(operands) == 2 else None


def _of_two(operands: Sequence[Expr], fact: Look, bound: Bounded) -> tuple[float, float] | None:
    """The bounds of two operands, where both are known."""
    if len(operands) != 2 or not all(_is_float(operand, fact) for operand in operands):
        return None
    left, right = map(bound, operands)
    return None if left is None or right is None else (left, right)


def _is_square(operands: Sequence[Expr], fact: Look) -> bool:
    """Whether a value is multiplied by itself."""
    return (
        len(operands) == 2
        and isinstance(operands[0], Var)
        and operands[0] == operands[1]
        and _is_float(operands[0], fact)
    )


def _is_float(operand: Expr, fact: Look) -> bool:
    """Whether an operand is real and of a precision that is known: NumPy's integers may overflow."""
    known = fact(operand)
    return known.real and known.precision != ""
