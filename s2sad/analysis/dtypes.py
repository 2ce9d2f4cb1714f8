"""What is known of the dtype of a result: whether it is real, may be of booleans, and in what precision it is."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from s2sad import ops
from s2sad.ir.nodes import Call, Const, Expr
from s2sad.ir.types import OBJECTS, Fact, Precision, common, precision_of_dtype, some_item
from s2sad.ops.binding import bind
from s2sad.runtime import unbroadcast, unreduce, widened

Look = Callable[[Expr], Fact]

#: Where functions without a signature, or a rule that says so, take their dtype.
_DTYPES: dict[Any, int] = {
    **dict.fromkeys((np.zeros, np.ones, np.empty, np.array, np.asarray, np.asanyarray, np.ascontiguousarray), 1),
    **dict.fromkeys((np.zeros_like, np.ones_like, np.empty_like, np.identity, np.fromiter), 1),
    **dict.fromkeys((np.full, np.full_like, np.tri), 2),
    **dict.fromkeys((np.arange, np.eye), 3),
    np.linspace: 5,
}


def dtype_of(expr: Call) -> Expr | None:
    """The expression for the dtype that a call asks for; None where it takes that of its operands."""
    for key, value in expr.kwargs:
        if key == "dtype":
            return None if value == Const(None) else value
    function = expr.op.function
    if expr.op.name.rpartition(".")[2] == "astype":
        position = 1
    else:
        found = _DTYPES.get(function) if callable(function) else None
        if found is None:
            rule = ops.find(function)
            if rule is None or isinstance(function, np.ufunc) or "dtype" not in rule.parameters:
                return None
            found = rule.parameters.index("dtype")
        position = found
    value_ = expr.args[position] if position < len(expr.args) else None
    return None if value_ == Const(None) else value_


def is_real(dtype: Expr, fact: Look) -> bool:
    """Whether an expression surely is a dtype of real numbers."""
    named = _named(dtype)
    if named is not None:
        return named.kind in "fiub"
    known = fact(dtype)
    return known.kind == "other" and known.real


def is_of_objects(dtype: Expr, fact: Look) -> bool:
    """Whether an expression is a dtype of objects, of which nothing is known."""
    named = _named(dtype)
    return fact(dtype) == OBJECTS if named is None else named.hasobject


def _named(dtype: Expr) -> np.dtype[Any] | None:
    """The dtype that a literal string names."""
    if isinstance(dtype, Const) and isinstance(dtype.value, str):
        with contextlib.suppress(TypeError):
            return np.dtype(dtype.value)
    return None


#: What says yes or no, beside the ufuncs that do.
_TRUTHS = {
    *(bool, isinstance, callable, all, any, math.isnan, math.isinf, math.isfinite, math.isclose),
    *(np.any, np.all, np.isclose, np.allclose, np.array_equal, np.isin, np.isreal, np.iscomplex),
    *(np.isneginf, np.isposinf),
}


def may_be_boolean(expr: Call, fact: Look) -> bool:
    """Whether the value of a call, or an element of it, may be a boolean."""
    op, args = expr.op, expr.args
    if op.kind in ("compare", "bool") or op.name in ("&", "|", "^", "~"):
        return op.kind != "operator" or any(fact(a).boolean for a in args)
    if op.kind in ("operator", "inplace"):
        # NumPy's booleans added or multiplied are booleans.
        return op.name in ("+", "*") and all(fact(a).boolean for a in args)
    function = op.function
    if isinstance(function, np.ufunc):
        # Sums and the like take booleans for what they are; comparisons make them of everything.
        return sum(signature.endswith("?") for signature in function.types) > 1 or any(fact(a).boolean for a in args)
    if function in _TRUTHS:
        return True
    dtype = dtype_of(expr)
    if dtype is not None:
        if isinstance(dtype, Const) and isinstance(dtype.value, str):
            return dtype.value in ("?", "b1", "bool", "bool_")
        return fact(dtype).kind != "other" or fact(dtype).boolean
    first = args[1:] if op.kind == "ifexp" or function in (np.where, np.full, np.full_like) else args[:1]
    first = (*first, *(v for k, v in expr.kwargs if k == "fill_value"))
    known = [fact(a) for a in first]
    return any(f.boolean or ((item := some_item(f)) is not None and item.boolean) for f in known)


#: The functions that make floating-point numbers of whatever they get.
_MAKES_DOUBLES = (np.zeros, np.ones, np.empty, np.eye, np.identity, np.linspace, np.tri)
#: The functions that make a new array with the precision of another.
_LIKE = (np.zeros_like, np.ones_like, np.empty_like, np.full_like)
#: The functions of ``math`` that give whole numbers, or take a number for what it is.
_MAYBE_WHOLE = frozenset("prod sumprod floor ceil trunc comb perm factorial gcd lcm isqrt".split())
_AS_IT_IS = (unbroadcast, unreduce, np.broadcast_to)


def precision_of(call: Call, found: Fact, fact: Look) -> Precision:
    """The precision of the result of a call, of which the rest is known."""
    kind, function, args = call.op.kind, call.op.function, call.args
    if kind == "compare":
        return "weak" if all(fact(a).precision in ("weak", "float") for a in args) else ""
    if kind == "index" or (kind == "attribute" and call.op.name in ("real", "imag", "T", "mT")):
        whole = fact(args[0])
        return whole.precision if whole.numeric or whole.kind == "open" else found.precision
    if kind == "inplace" and fact(args[0]).kind == "array":
        return fact(args[0]).precision
    if kind in ("operator", "inplace"):
        return "" if found.boolean else _joined(args, fact)
    if kind == "ifexp":
        return _joined(args[1:], fact) if fact(args[1]).precision == fact(args[2]).precision else ""
    dtype = dtype_of(call)
    if dtype is not None:
        return _asked_for(dtype, fact)
    if isinstance(function, np.ufunc):
        joined = _joined(args, fact)
        if joined == "weak" and not any(signature[-1] in "bBhHiIlLqQ" for signature in function.types):
            joined = "float"
        return "" if found.boolean else _strong(joined)
    if function in _MAKES_DOUBLES:
        return "double"
    if function is np.full:
        return _strong(_joined(args[1:] or [v for k, v in call.kwargs if k == "fill_value"], fact))
    if function is widened:
        return "double" if fact(args[0]).kind == "array" else "weak"
    if function in _LIKE:
        return fact(args[0]).precision if fact(args[0]).kind == "array" else ""
    if function in _AS_IT_IS:
        return _strong(fact(args[0]).precision) if found.kind != "scalar" else fact(args[0]).precision
    if function in (max, min):
        found_ = [p for a in args for p in _precisions(a, fact)]
        return functools.reduce(common, found_) if found_ else ""
    if function in (abs, sum):
        return _joined(args, fact)
    if getattr(function, "__module__", "") == "math":
        return "weak" if call.op.function.__name__ in _MAYBE_WHOLE else "float"  # type: ignore[union-attr]
    if isinstance(function, type) and issubclass(function, np.number):
        return precision_of_dtype(np.dtype(function))
    if ops.is_constant(function):
        # ``len`` gives a number of Python's.
        return found.precision if getattr(function, "__module__", "") == "builtins" else ""
    rule = ops.find(function)
    if rule is not None:
        try:
            bound = bind(call)
        except TypeError:
            return ""
        return _strong(_joined([v for name, v in bound.items() if name in rule.wrt], fact))
    return _joined(args, fact) if kind == "runtime" and found.precision == "" else found.precision


def _asked_for(dtype: Expr, fact: Look) -> Precision:
    """The precision of a dtype."""
    named = _named(dtype)
    if named is not None:
        return precision_of_dtype(named)
    return fact(dtype).precision if fact(dtype).kind == "other" else ""


def _joined(values: Iterable[Expr], fact: Look) -> Precision:
    """The precision in which NumPy computes with some values, and with the items of lists of them."""
    found = {p for value in values for p in _precisions(value, fact)}
    if "double" in found:
        return "double"
    if "" in found or not found:
        return ""
    return "single" if "single" in found else "float" if "float" in found else "weak"


def _precisions(value: Expr, fact: Look) -> Iterator[Precision]:
    """The precisions of a number or array, or of those in a list or tuple."""
    pending: list[Fact | None] = [fact(value)]
    while pending:
        known = pending.pop()
        if known is None:
            yield ""
        elif known.kind in ("list", "tuple"):
            pending += [known.each] if known.items is None else [item for _, item in known.items]
        elif known.kind not in ("none", "other", "slice"):
            yield known.precision


def _strong(precision: Precision) -> Precision:
    """The precision of what NumPy makes of a value: of Python's integers it makes integers."""
    return "double" if precision == "float" else "" if precision == "weak" else precision
