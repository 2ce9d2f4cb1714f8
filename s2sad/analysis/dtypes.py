"""What is known of the dtype of a result: whether it may be of booleans, and in what precision it is."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from s2sad.ir.nodes import Call, Const, Expr
from s2sad.ir.types import Fact, Precision, common, precision_of_dtype
from s2sad.ops import OpSpec, Rule
from s2sad.ops.binding import dtype_of
from s2sad.ops.infer.common import Look
from s2sad.ops.infer.dtypes import joint, named, of_all, precision_among, strong

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
#: The arguments of a call by name, where the operation is known and they can be bound.
Bound = Mapping[str, Expr] | None


def may_be_boolean(expr: Call, spec: OpSpec | None, bound: Bound, fact: Look) -> bool:
    """Whether the value of a call, or an element of it, may be a boolean."""
    op, args = expr.op, expr.args
    if op.kind in ("compare", "bool") or op.name in ("&", "|", "^", "~"):
        # Of what is no number for sure nothing says that it is no boolean.
        return op.kind != "operator" or any(f.boolean or not f.numeric for f in map(fact, args))
    if op.kind in ("operator", "inplace"):
        # NumPy's booleans added or multiplied are booleans.
        return op.name in ("+", "*", "@") and all(fact(a).boolean for a in args)
    if isinstance(op.function, np.ufunc):
        # Sums and the like take booleans for what they are; comparisons make them of everything.
        return _truths(op.function) > 1 or any(_holds_booleans(fact(a)) for a in args)
    if spec is not None and spec.dtype == "truth":
        return True
    dtype = dtype_of(expr)
    if dtype is not None:
        if isinstance(dtype, Const) and isinstance(dtype.value, str):
            return dtype.value in ("?", "b1", "bool", "bool_")
        return fact(dtype).kind != "other" or fact(dtype).boolean is not False
    if spec is not None and spec.dtype in ("double", "steps", "float"):
        return False
    if isinstance(spec, Rule) and bound is not None and spec.dtype != "array":
        return any(_holds_booleans(fact(v)) for name, v in bound.items() if name in spec.wrt)
    return any(_holds_booleans(fact(a)) for a in (args[1:] if op.kind == "ifexp" else args[:1]))


def is_mask(expr: Call, fact: Look) -> bool:
    """Whether the value of a call surely is one of NumPy's booleans, or an array of them.

    Python's own have another meaning for ``~``, and comparisons of its numbers give those.
    """
    op, known = expr.op, [fact(a) for a in expr.args]
    if not all(f.numeric and not f.owners and not f.boxed for f in known) or expr.kwargs:
        return False
    if op.kind == "operator" and op.name in ("&", "|", "^", "~"):
        return all(f.boolean == "mask" for f in known)
    if op.kind == "index":
        return known[0].boolean == "mask"
    if op.kind == "compare":
        of_numpy = any(f.kind == "array" or f.precision in ("single", "double") for f in known)
        return op.name in _COMPARISONS and of_numpy
    return isinstance(op.function, np.ufunc) and _truths(op.function) == len(_of_numbers(op.function))


def _holds_booleans(known: Fact) -> bool:
    """Whether a value, or an item of it at any depth, may be a boolean."""
    if known.items is not None:
        return any(_holds_booleans(item) for _, item in known.items)
    return known.boolean is not False or (known.each is not None and _holds_booleans(known.each))


@functools.cache
def _truths(function: np.ufunc) -> int:
    """How many of the loops of a ufunc give truth values."""
    return sum(signature.endswith("?") for signature in _of_numbers(function))


def _of_numbers(function: np.ufunc) -> list[str]:
    """The loops of a ufunc for numbers, times and texts."""
    return [signature for signature in function.types if "O" not in signature]


@functools.cache
def _makes_integers(function: np.ufunc) -> bool:
    return any(signature[-1] in "bBhHiIlLqQ" for signature in function.types)


@functools.cache
def _widens(function: np.ufunc) -> bool:
    """Whether numbers of Python's beside operands in single precision make a ufunc compute in double.

    NumPy then takes the first loop to which the operands can be converted safely; some ufuncs of SciPy have those in
    double first.
    """
    floats = (operands for operands in (t.partition("->")[0] for t in function.types) if set(operands) & set("fFdD"))
    return bool(set(next(floats, "")) & set("dD"))


def precision_of(call: Call, found: Fact, spec: OpSpec | None, bound: Bound, fact: Look) -> Precision:
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
        return "" if found.boolean else precision_among(map(fact, args))
    if kind == "ifexp":
        return precision_among(map(fact, args[1:])) if fact(args[1]).precision == fact(args[2]).precision else ""
    dtype = dtype_of(call)
    if dtype is not None:
        by_name = named(dtype)
        if by_name is not None:
            return precision_of_dtype(by_name)
        return fact(dtype).precision if fact(dtype).kind == "other" else ""
    if isinstance(function, np.ufunc):
        joined = precision_among(map(fact, args))
        if joined == "weak" and not _makes_integers(function):
            joined = "float"
        if joined == "single" and _widens(function) and any(fact(a).precision != "single" for a in args):
            return ""
        return "" if found.boolean else strong(joined)
    if isinstance(function, type) and issubclass(function, np.number):
        return precision_of_dtype(np.dtype(function))
    if spec is None:
        return precision_among(map(fact, args)) if kind == "runtime" and found.precision == "" else found.precision
    return _declared(call, found, spec, bound, fact)


def _declared(call: Call, found: Fact, spec: OpSpec, bound: Bound, fact: Look) -> Precision:
    """The precision of the result of an operation that says where it takes that from."""
    args = call.args
    first = fact(args[0]) if args else None
    match spec.dtype:
        case "operands" | "python" if bound is not None:
            operands = [v for name, v in bound.items() if name in spec.wrt] if isinstance(spec, Rule) else args
            joined = precision_among(map(fact, operands))
            return joined if spec.dtype == "python" else strong(joined)
        case "double":
            return "double"
        case "array" if first is not None:
            return strong(precision_among([first]))
        case "fill_value":
            given = args[1:] or [v for k, v in call.kwargs if k == "fill_value"]
            return strong(precision_among(map(fact, given)))
        case "steps" if bound is not None:
            return strong(joint({"float", *of_all(map(fact, list(bound.values())[:2]))}))
        case "choice":
            precisions = list(of_all(map(fact, args)))
            return functools.reduce(common, precisions) if precisions else ""
        case "float":
            return "float"
        case "whole":
            return "weak"
        case "item" if first is not None:
            return "float" if first.precision in ("single", "double", "float") else "weak"
        case "wide" if first is not None:
            return "double" if first.kind == "array" else "weak"
        case "inferred":
            known = found.precision
            return precision_among(map(fact, args)) if call.op.kind == "runtime" and known == "" else known
    return ""
