"""The operators by their syntax: how they are written, and the functions that they apply."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

BINARY: dict[type, tuple[str, Any]] = {
    gast.Add: ("+", np.add),
    gast.Sub: ("-", np.subtract),
    gast.Mult: ("*", np.multiply),
    gast.Div: ("/", np.divide),
    gast.Pow: ("**", np.power),
    gast.MatMult: ("@", np.matmul),
    gast.Mod: ("%", np.remainder),
    gast.FloorDiv: ("//", np.floor_divide),
    gast.LShift: ("<<", np.left_shift),
    gast.RShift: (">>", np.right_shift),
    gast.BitOr: ("|", np.bitwise_or),
    gast.BitXor: ("^", np.bitwise_xor),
    gast.BitAnd: ("&", np.bitwise_and),
}

UNARY: dict[type, tuple[str, Any]] = {
    gast.USub: ("-", np.negative),
    gast.UAdd: ("+", np.positive),
    gast.Invert: ("~", np.invert),
}

COMPARE: dict[type, str] = {
    gast.Eq: "==",
    gast.NotEq: "!=",
    gast.Lt: "<",
    gast.LtE: "<=",
    gast.Gt: ">",
    gast.GtE: ">=",
    gast.Is: "is",
    gast.IsNot: "is not",
    gast.In: "in",
    gast.NotIn: "not in",
}
