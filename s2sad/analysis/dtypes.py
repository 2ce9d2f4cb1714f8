"""What is known of the dtype of a result: whether it may be of booleans, and in what precision it is."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from s2sad.ir.nodes import Call, Const, Expr
from s2sad.ir.types import Fact, Precision, common, precision_of_dtype, some_item
from s2sad.ops import OpSpec, Rule
from s2sad.ops.binding import dtype_of
from s2sad.ops.infer.common import Look
from s2sad.ops.infer.dtypes import named

#: The arguments of a call by name, where the operation is known and they can be bound.
Bound = Mapping[str, Expr] | None


def may_be_boolean(expr: Call, spec: OpSpec | None, bound: Bound, fact: Look) -> bool:
    """Whether the value of a call, or an element of it, may be a boolean."""
    op, args = expr.op, expr.args
    if op.kind in ("compare", "bool") or op.name in ("&", "|", "^", "~"):
        return op.kind != "operator" or any(fact(a).boolean for a in args)
    if op.kind in ("operator", "inplace"):
        # NumPy's booleans added or multiplied are booleans.
        return op.name in ("+", "*", "@") and all(fact(a).boolean for a in args)
    if isinstance(op.function, np.ufunc):
        # Sums and the like take booleans for what they are; comparisons make them of everything.
        return _truths(op.function) > 1 or any(fact(a).boolean for a in args)
    if spec is not None and spec.dtype == "truth":
        return True
    dtype = dtype_of(expr)
    if dtype is not None:
        if isinstance(dtype, Const) and isinstance(dtype.value, str):
            return dtype.value in ("?", "b1", "bool", "bool_")
        return fact(dtype).kind != "other" or fact(dtype).boolean
    if spec is not None and spec.dtype in ("double", "steps", "float"):
        return False
    if isinstance(spec, Rule) and bound is not None and spec.dtype != "array":
        return any(_holds_booleans(fact(v)) for name, v in bound.items() if name in spec.wrt)
    known = [fact(a) for a in (args[1:] if op.kind == "ifexp" else args[:1])]
    return any(f.boolean or ((item := some_item(f)) is not None and item.boolean) for f in known)


def _holds_booleans(known: Fact) -> bool:
    """Whether a value, or an item of it at any depth, may be a boolean."""
    if known.items is not None:
        return any(_holds_booleans(item) for _, item in known.items)
    return known.boolean or (known.each is not None and _holds_booleans(known.each))


@functools.cache
def _truths(function: np.ufunc) -> int:
    """How many of the loops of a ufunc give truth values."""
    return sum(signature.endswith("?") for signature in function.types)


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
        return "" if found.boolean else _joined(args, fact)
    if kind == "ifexp":
        return _joined(args[1:], fact) if fact(args[1]).precision == fact(args[2]).precision else ""
    dtype = dtype_of(call)
    if dtype is not None:
        by_name = named(dtype)
        if by_name is not None:
            return precision_of_dtype(by_name)
        return fact(dtype).precision if fact(dtype).kind == "other" else ""
    if isinstance(function, np.ufunc):
        joined = _joined(args, fact)
        if joined == "weak" and not _makes_integers(function):
            joined = "float"
        if joined == "single" and _widens(function) and any(fact(a).precision != "single" for a in args):
            return ""
        return "" if found.boolean else _strong(joined)
    if isinstance(function, type) and issubclass(function, np.number):
        return precision_of_dtype(np.dtype(function))
    if spec is None:
        return _joined(args, fact) if kind == "runtime" and found.precision == "" else found.precision
    return _declared(call, found, spec, bound, fact)


def _declared(call: Call, found: Fact, spec: OpSpec, bound: Bound, fact: Look) -> Precision:
    """The precision of the result of an operation that says where it takes that from."""
    args = call.args
    first = fact(args[0]) if args else None
    match spec.dtype:
        case "operands" | "python" if bound is not None:
            operands = [v for name, v in bound.items() if name in spec.wrt] if isinstance(spec, Rule) else args
            joined = _joined(operands, fact)
            return joined if spec.dtype == "python" else _strong(joined)
        case "double":
            return "double"
        case "array" if first is not None:
            return first.precision if first.kind == "array" else ""
        case "fill_value":
            given = args[1:] or [v for k, v in call.kwargs if k == "fill_value"]
            return _strong(_joined(given, fact))
        case "steps" if bound is not None:
            return _strong(_common({"float", *_of_all(list(bound.values())[:2], fact)}))
        case "choice":
            precisions = [p for a in args for p in _precisions(a, fact)]
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
            return _joined(args, fact) if call.op.kind == "runtime" and found.precision == "" else found.precision
    return ""


def _joined(values: Iterable[Expr], fact: Look) -> Precision:
    """The precision in which NumPy computes with some values, and with the items of lists of them."""
    return _common(_of_all(values, fact))


def _of_all(values: Iterable[Expr], fact: Look) -> set[Precision]:
    return {p for value in values for p in _precisions(value, fact)}


def _common(found: set[Precision]) -> Precision:
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
