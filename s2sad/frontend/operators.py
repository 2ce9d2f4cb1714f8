"""The operators by the names of their classes in syntax trees: how they are written, and the functions that they apply
to arrays; and those functions in a dtype."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from s2sad.ir import signs
from s2sad.ir.nodes import Call, Const, Expr, Op

_BINARY: dict[str, Any] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mult": np.multiply,
    "Div": np.divide,
    "Pow": np.power,
    "MatMult": np.matmul,
    "Mod": np.remainder,
    "FloorDiv": np.floor_divide,
    "LShift": np.left_shift,
    "RShift": np.right_shift,
    "BitOr": np.bitwise_or,
    "BitXor": np.bitwise_xor,
    "BitAnd": np.bitwise_and,
}
_UNARY: dict[str, Any] = {"USub": np.negative, "UAdd": np.positive, "Invert": np.invert}
BINARY: dict[str, tuple[str, Any]] = {name: (signs.BINARY[name], function) for name, function in _BINARY.items()}
UNARY: dict[str, tuple[str, Any]] = {name: (signs.UNARY[name], function) for name, function in _UNARY.items()}
_POSITIVE = Op("runtime", "np.positive", np.positive)


def unary(node: Any, operand: Expr) -> Expr:
    """The operation of a ``gast.UnaryOp``; of a literal the negative one."""
    symbol, function = UNARY[type(node.op).__name__]
    if symbol == "-" and isinstance(operand, Const) and isinstance(operand.value, (int, float, complex)):
        return Const(-operand.value)
    return Call(Op("operator", symbol, function), (operand,), (), node)


def in_dtype(call: Call, assign: Callable[[str, Expr], Expr]) -> Call:
    """A call of a universal function that computes in a dtype, with operands that are converted to it before."""
    function, dtype = call.op.function, dict(call.kwargs).get("dtype")
    if not isinstance(function, np.ufunc) or function is np.positive or dtype is None or dtype == Const(None):
        return call
    # The dtype is that of the result, and of all operands too where the function has no loop with others for floats.
    if f"{'d' * function.nin}->{'d' * function.nout}" not in function.types:
        return call
    how = (("dtype", dtype), *[(name, value) for name, value in call.kwargs if name == "casting"])
    args = [assign("~t", Call(_POSITIVE, (a,), how, call.node)) for a in call.args]
    return replace(call, args=tuple(args), kwargs=tuple([(n, v) for n, v in call.kwargs if n != "dtype"]))


def has_no_buffer(call: Any) -> bool:
    """Whether a call of ``np.ndarray`` makes an array of its own, as ``np.empty`` does of the same arguments."""
    return len(call.args) <= 2 and all(k.arg in ("shape", "dtype", "order") for k in call.keywords)
