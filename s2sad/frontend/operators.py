"""The operators by their syntax: how they are written, and the functions that they apply."""

from __future__ import annotations

from typing import Any

import numpy as np

BINARY: dict[str, tuple[str, Any]] = {
    "Add": ("+", np.add),
    "Sub": ("-", np.subtract),
    "Mult": ("*", np.multiply),
    "Div": ("/", np.divide),
    "Pow": ("**", np.power),
    "MatMult": ("@", np.matmul),
    "Mod": ("%", np.remainder),
    "FloorDiv": ("//", np.floor_divide),
    "LShift": ("<<", np.left_shift),
    "RShift": (">>", np.right_shift),
    "BitOr": ("|", np.bitwise_or),
    "BitXor": ("^", np.bitwise_xor),
    "BitAnd": ("&", np.bitwise_and),
}

UNARY: dict[str, tuple[str, Any]] = {
    "USub": ("-", np.negative),
    "UAdd": ("+", np.positive),
    "Invert": ("~", np.invert),
}

COMPARE: dict[str, str] = {
    "Eq": "==",
    "NotEq": "!=",
    "Lt": "<",
    "LtE": "<=",
    "Gt": ">",
    "GtE": ">=",
    "Is": "is",
    "IsNot": "is not",
    "In": "in",
    "NotIn": "not in",
}
