"""Which statements do no more than to compute real numbers from real numbers.

What they raise, if anything, says that a number is zero or too large, or that a variable has no value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import UNSET, Assign, Block, Call, Const, Copy, Evaluate, Expr, Global, If, Op, Var, While
from s2sad.ir.types import Fact
from s2sad.runtime.objects import require_value

#: Whether a function of the user's does no more in a call.
Computes = Callable[[Call], bool]
#: The classes of exceptions that such statements do not raise.
NOT_RAISED = (ValueError, TypeError, LookupError, AttributeError)
_OPERATORS = ("+", "-", "*", "/", "//", "%")


def only_computes(block: Block, facts: Facts, computes: Computes) -> bool:
    """Whether all that a block does is to compute real numbers from real numbers."""

    def safe(expr: Expr) -> bool:
        match expr:
            case Const(value=value):
                return isinstance(value, int | float) or expr == UNSET
            case Var() | Global():
                return is_number(facts.get(expr)) and facts.get(expr).real
            case Call(op=Op(kind="compare" | "bool"), args=args):
                return all(map(safe, args))
            case Call(op=Op(kind="operator" | "inplace" | "function"), args=args, kwargs=()):
                return all(map(safe, args)) and _takes(expr.op, [facts.get(a) for a in args])
            case Call(op=Op(kind="user"), args=args):
                return not expr.kwargs and all(map(safe, args)) and computes(expr)
        return False

    for s in block:
        match s:
            case Assign(value=value) if safe(value):
                pass
            case Copy(sources=sources) if all(map(safe, sources)):
                pass
            case Evaluate(value=Call(op=Op(function=f))) if f is require_value:
                pass
            case If(test=test, then=then, orelse=orelse) if safe(test):
                if not (only_computes(then, facts, computes) and only_computes(orelse, facts, computes)):
                    return False
            case While(test=test, body=body) if safe(test) and only_computes(body, facts, computes):
                pass
            case _:
                return False
    return True


def _takes(op: Op, operands: list[Fact]) -> bool:
    """Whether an operator or function surely takes such numbers."""
    if op.name == "**" or op.function is np.power:
        # Powers of whole numbers with negative exponents raise a ValueError.
        return operands[0].precision in ("float", "single", "double")
    if op.function in (abs, bool, float):
        return len(operands) == 1
    if any(fact.boolean for fact in operands):
        # NumPy's truth values cannot be subtracted.
        return False
    if op.kind != "function":
        return op.name in _OPERATORS
    function, count = op.function, len(operands)
    if not isinstance(function, np.ufunc) or function.signature is not None or function.nin != count:
        return False
    return any(types.startswith("d" * count) for types in function.types)


def is_number(fact: Fact) -> bool:
    """Whether a value surely is a number, which has no items."""
    return fact.kind == "scalar" and is_plain(fact)


def is_plain(fact: Fact) -> bool:
    """Whether a value surely is of no class but those of Python and NumPy, and is a number or array of them."""
    return not (fact.owners or fact.boxed or fact.reach) and fact.precision != ""
