"""Functions that work element by element, as the operations that they are made of do."""

from __future__ import annotations

import numpy as np

from s2sad import ops
from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Assign, Call, Const, Expr, Function, Global, Var
from s2sad.ir.types import SCALAR_SHAPE


def works_by_element(function: Function, facts: Facts) -> bool:
    """Whether an element of the result depends on the arrays that a function takes by their elements there alone.

    It does if every value is a number or has the shape of the result, and nothing but operations that work element by
    element makes one of another.

    Example:
        True for ``s = 1 / r; return s**12 - s**6`` of an array ``r``; False for ``return r / np.sum(r)``.
    """
    if not isinstance(function.result, Var) or not all(isinstance(stmt, Assign) for stmt in function.body):
        return False
    shape = facts.get(function.result).shape
    names = [p.name for p in function.params] + [stmt.target for stmt in function.body if isinstance(stmt, Assign)]
    shapes = (shape, SCALAR_SHAPE)
    return bool(shape) and all(
        [facts.of[name].numeric and facts.of[name].shape in shapes for name in names]
        + [_is_elementwise(stmt.value, facts) for stmt in function.body if isinstance(stmt, Assign)]
    )


def _is_elementwise(value: Expr, facts: Facts) -> bool:
    """Whether a value is made element by element of the names in it."""
    match value:
        case Const() | Var():
            return True
        case Global():
            return facts.get(value).shape == SCALAR_SHAPE
        case Call(op=op, args=args, kwargs=()):
            spec, function = ops.spec_of(op.function), op.function
            known = op.kind in ("compare", "bool") or (isinstance(function, np.ufunc) and function.signature is None)
            known = known or (isinstance(spec, ops.Rule) and spec.broadcasts)
            return known and all(_is_elementwise(arg, facts) for arg in args)
    return False
