"""Which statements do no more than to compute real numbers from real numbers, or to operate on what they are given.

What the first raise, if anything, says that a number is zero or too large, or that a variable has no value; what the
others raise, that an operation does not take its operands.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from s2sad import ops
from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import (
    UNSET,
    Assign,
    Block,
    Build,
    Call,
    Const,
    Copy,
    Evaluate,
    Expr,
    Global,
    If,
    Op,
    Slice,
    Store,
    Var,
    While,
)
from s2sad.ir.traverse import children, is_attempt
from s2sad.ir.types import Fact
from s2sad.runtime.objects import require_value

#: Whether a function of the user's does no more in a call.
Computes = Callable[[Call], bool]
#: The classes of exceptions that such statements do not raise.
NOT_RAISED = (ValueError, TypeError, LookupError, AttributeError)
#: Those that operations do not raise.
MISSING = (NameError, ImportError)
_OPERATORS = ("+", "-", "*", "/", "//", "%")
_OPERATING = ("operator", "inplace", "compare", "bool", "index", "attribute", "ifexp")
_OPERANDS = ("array", "scalar", "numeric", "none", "list", "tuple")


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


def only_operates(block: Block, facts: Facts) -> bool:
    """Whether all that a block does are operations of Python and NumPy on numbers, arrays, lists and tuples."""

    def safe(expr: Expr) -> bool:
        match expr:
            case Const():
                return True
            case Var() | Global():
                return _is_operand(facts.get(expr))
            case Build() | Slice():
                return all(map(safe, children(expr)))
            case Call(op=Op(kind=kind, function=function)):
                known = kind in _OPERATING or (kind in ("function", "runtime") and ops.spec_of(function) is not None)
                return known and all(map(safe, children(expr)))
        return False

    for s in block:
        match s:
            case Assign(value=value) if safe(value):
                pass
            case Store(base=target, index=index, value=value) if safe(target) and safe(index) and safe(value):
                pass
            case Copy(sources=sources) if all(map(safe, sources)):
                pass
            case If(test=test, then=then, orelse=orelse) if not is_attempt(s) and safe(test):
                if not (only_operates(then, facts) and only_operates(orelse, facts)):
                    return False
            case _:
                return False
    return True


def _is_operand(fact: Fact) -> bool:
    """Whether a value surely is none whose class is the user's, which may do anything where it is operated on."""
    return fact.kind in _OPERANDS and not (fact.owners or fact.boxed or fact.reach)


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
