"""What an argument ``dtype`` asks for."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from s2sad.ir.nodes import Call, Const, Expr
from s2sad.ir.types import Fact, holds_objects
from s2sad.ops.infer.common import Look


def is_real(dtype: Expr, fact: Look) -> bool:
    """Whether an expression surely is a dtype of real numbers."""
    by_name = named(dtype)
    if by_name is not None:
        return by_name.kind in "fiub"
    known = fact(dtype)
    return known.kind == "other" and known.real


#: Functions that give the dtype to which their operands are converted.
_JOINING = (np.dtype, np.result_type, np.promote_types, np.min_scalar_type, np.common_type)


def joined(call: Call, fact: Look) -> Fact | None:
    """The type of the dtype of what is converted to one; None of other calls, and where it may be of objects."""
    operands = [*call.args, *(value for _, value in call.kwargs)]
    if call.op.function not in _JOINING or any(is_of_objects(operand, fact) for operand in operands):
        return None
    facts = list(map(fact, operands))
    return Fact("other", real=all(f.real for f in facts), boolean=True, each=Fact("numeric"))


def is_of_objects(dtype: Expr, fact: Look) -> bool:
    """Whether an expression may be a dtype of objects or of records, whose items are no numbers."""
    by_name = named(dtype)
    if by_name is not None:
        return holds_objects(by_name)
    known = fact(dtype)
    of_numbers = known.each is not None and known.each.numeric
    if known.kind == "none" or known.numeric or known.real or known.precision or of_numbers:
        return False
    if isinstance(dtype, Call) and dtype.op.kind == "attribute":
        return is_of_objects(dtype.args[0], fact)
    return True


def named(dtype: Expr) -> np.dtype[Any] | None:
    """The dtype that a literal string names."""
    if isinstance(dtype, Const) and isinstance(dtype.value, str):
        with contextlib.suppress(TypeError):
            return np.dtype(dtype.value)
    return None
