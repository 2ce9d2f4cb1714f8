"""The operators by the names of their classes in syntax trees: how they are written, and the functions that they apply
to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.ir import signs

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
