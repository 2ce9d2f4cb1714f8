"""Whether the result of an operation is an object of its own, or may be or view one of its operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from s2sad import ops
from s2sad.analysis.dtypes import dtype_of, is_of_objects
from s2sad.ir.nodes import Build, Call, Const, Expr
from s2sad.ir.types import Fact
from s2sad.runtime import own

#: What gives a view or a copy with the elements in the same order: the shadow, of the same layout, goes the same way.
AS_IT_HAPPENS = (np.reshape, np.ravel, np.asarray, np.asanyarray, np.ascontiguousarray, np.atleast_1d, np.atleast_2d)
#: Which position says whether a function copies.
_COPIES = ((np.array, 2), (np.nan_to_num, 1))
#: What makes a new object and has no rule.
_FRESH = (own, np.arange, float, int, len, abs, range, str, bool)


def copies(index: Expr, fact: Callable[[Expr], Fact]) -> bool:
    """Whether indexing an array so surely gives a copy: by a mask or positions."""
    parts = index.items if isinstance(index, Build) and index.kind == "tuple" else (index,)
    return any((f.kind == "array" and (f.ndim or 0) > 0) or f.kind == "list" for f in map(fact, parts))


def sharing(call: Call, fact: Callable[[Expr], Fact] | None = None) -> Literal["fresh", "view", "maybe"]:
    """Whether the result of an operation is an object of its own, a view of its first operand, or maybe one.

    With ``fact`` the answer is for its operands.
    """
    op = call.op
    dtype = dtype_of(call) if fact is not None and op.kind in ("function", "method") else None
    if fact is not None and dtype is not None and is_of_objects(dtype, fact):
        return "maybe"
    if fact is not None and op.kind == "index" and fact(call.args[0]).kind == "array" and copies(call.args[1], fact):
        return "fresh"
    if fact is not None and op.function is np.diag and call.args and fact(call.args[0]).ndim in (1, 2):
        return "fresh" if fact(call.args[0]).ndim == 1 else "view"
    if fact is not None and op.function in AS_IT_HAPPENS and len(call.args) == 1:
        if fact(call.args[0]).kind in ("list", "tuple"):
            return "fresh"
    if _makes_anew(call):
        return "fresh"
    if op.kind in ("operator", "compare") or (op.kind == "method" and op.name in ("copy", "flatten")):
        return "fresh"
    if op.kind == "attribute":
        return "view"
    if op.kind == "method" and op.name in ("conj", "conjugate"):
        # A real array is its own conjugate.
        return "maybe"
    maybe_copied = any(key == "copy" and value != Const(True) for key, value in call.kwargs)
    if maybe_copied or any(op.function is function and len(call.args) > place for function, place in _COPIES):
        return "maybe"
    if op.function in (max, min) or (op.function is sum and len(call.args) + len(call.kwargs) > 1):
        # An array of one element is one of those that are given; without items a sum is its start.
        return "maybe"
    if op.kind in ("index", "inplace", "change", "ifexp", "bool", "user"):
        return "maybe"
    function = op.function
    if isinstance(function, np.ufunc) or function in _FRESH or ops.is_constant(function):
        return "fresh"
    rule = ops.find(function)
    return rule.sharing if rule is not None else "maybe"


def _makes_anew(call: Call) -> bool:
    """Whether a function that may return its argument, or a view of it, surely does not with these arguments."""
    if call.op.function is np.einsum:
        # A single operand is transposed, or its diagonal taken.
        return len(call.args) > 2 and isinstance(call.args[0], Const) and isinstance(call.args[0].value, str)
    if call.op.function is np.diff:
        given = [*call.args[1:2], *(v for k, v in call.kwargs if k == "n")]
        return not given or (isinstance(given[0], Const) and given[0].value != 0)
    return False
