"""Squares of absolute values, which are differentiated as one operation.

    p = np.abs(z) ** 2          z_bar = p_bar * (2 * np.conj(z))

The derivative of the absolute value is a step at 0, of which the derivative is taken for zero; that of its square is
linear, so that derivatives of any order are right there.
"""

from __future__ import annotations

import builtins
import math

import numpy as np

from s2sad.differentiate.builder import Builder
from s2sad.ir import algebra
from s2sad.ir.nodes import Call, Const, Expr, Op, Var
from s2sad.runtime.arrays import squared_modulus

_SQUARED_MODULUS = Op("runtime", "squared_modulus", squared_modulus)
_MODULI = (np.absolute, np.fabs, builtins.abs, math.fabs)


def with_moduli(call: Call, make: Builder) -> Call:
    """The square of the absolute value of ``x``, where ``call`` is one, as an operation on ``x``; else ``call``."""
    base = _squared(call)
    made = make.steady.get(base.name) if isinstance(base, Var) else base
    if not isinstance(made, Call) or made.op.function not in _MODULI or len(made.args) != 1 or made.kwargs:
        return call
    x = made.args[0]
    known = make.fact(x)
    if not isinstance(x, Var) or x.name in make.unsteady or not known.numeric:
        return call
    if known.real:
        return Call(algebra.POWER, (x, Const(2)), node=call.node)
    return Call(_SQUARED_MODULUS, (x,), node=call.node)


def _squared(call: Call) -> Expr | None:
    """What an operation multiplies by itself."""
    if call.kwargs or call.op.kind == "inplace":
        return None
    if call.op.function is np.square and len(call.args) == 1:
        return call.args[0]
    if len(call.args) != 2:
        return None
    base, other = call.args
    if call.op == algebra.POWER or call.op.function is np.power:
        return base if other in (Const(2), Const(2.0)) else None
    return base if call.op.function is np.multiply and base == other else None
