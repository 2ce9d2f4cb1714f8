"""Where numbers may be infinite that are made of finite ones: by a division, a logarithm, a root, a negative power."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from s2sad.ir.nodes import Call, Const, Expr, Var

_DEEPEST = 12
_POLES = (
    np.reciprocal, np.log, np.log2, np.log10, np.log1p, np.cbrt,
    np.arcsin, np.arccos, np.arctan2, np.arccosh, np.arctanh,
)  # fmt: skip


def may_be_infinite(expr: Expr, defined: Mapping[str, Expr], depth: int = _DEEPEST) -> bool:
    """Whether an operation in ``expr``, or the derivative of one, may have a pole at a finite operand.

    ``defined`` has the values of the names that are assigned once and whose arrays nobody writes.  Overflow does not
    count.
    """
    if isinstance(expr, Var):
        return depth > 0 and expr.name in defined and may_be_infinite(defined[expr.name], defined, depth - 1)
    if not isinstance(expr, Call) or not isinstance(expr.op.function, np.ufunc):
        return False
    if expr.op.function in _POLES:
        return True
    if expr.op.function is np.divide and not isinstance(expr.args[1], Const):
        return True
    if expr.op.function in (np.power, np.float_power):
        exponent = expr.args[1].value if isinstance(expr.args[1], Const) else -1
        if not (isinstance(exponent, (int, float)) and exponent >= 0):
            return True
    return any(may_be_infinite(arg, defined, depth) for arg in expr.args)
