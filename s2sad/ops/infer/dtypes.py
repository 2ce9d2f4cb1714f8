"""What an argument ``dtype`` asks for."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from s2sad.ir.nodes import Const, Expr
from s2sad.ir.types import OBJECTS
from s2sad.ops.infer.common import Look


def is_real(dtype: Expr, fact: Look) -> bool:
    """Whether an expression surely is a dtype of real numbers."""
    by_name = named(dtype)
    if by_name is not None:
        return by_name.kind in "fiub"
    known = fact(dtype)
    return known.kind == "other" and known.real


def is_of_objects(dtype: Expr, fact: Look) -> bool:
    """Whether an expression is a dtype of objects, of which nothing is known."""
    by_name = named(dtype)
    return fact(dtype) == OBJECTS if by_name is None else by_name.hasobject


def named(dtype: Expr) -> np.dtype[Any] | None:
    """The dtype that a literal string names."""
    if isinstance(dtype, Const) and isinstance(dtype.value, str):
        with contextlib.suppress(TypeError):
            return np.dtype(dtype.value)
    return None
