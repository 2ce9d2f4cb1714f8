"""What an argument ``dtype`` asks for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from s2sad.ir.nodes import Call, Const, Expr
from s2sad.ir.types import Fact, Precision, holds_objects
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
    of_numbers = (known.each is not None and known.each.numeric) or (
        known.given is not None and known.given.kind == "other"
    )
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


# --- in which precision NumPy computes


def precision_among(values: Iterable[Fact]) -> Precision:
    """The precision in which NumPy computes with some values, and with the items of lists of them."""
    return joint(set(of_all(values)))


def precision_of_array(*values: Fact) -> Precision:
    """The precision of an array that NumPy makes of some values: of Python's numbers one in double or of integers."""
    return strong(precision_among(values))


def joint(found: set[Precision]) -> Precision:
    """The precision in which NumPy computes with values of these."""
    if "double" in found:
        return "double"
    if "" in found or not found:
        return ""
    return "single" if "single" in found else "float" if "float" in found else "weak"


def strong(precision: Precision) -> Precision:
    """The precision of what NumPy makes of a value: of Python's integers it makes integers."""
    return "double" if precision == "float" else "" if precision == "weak" else precision


def of_all(values: Iterable[Fact]) -> Iterator[Precision]:
    """The precisions of numbers and arrays, and of those in lists and tuples."""
    pending: list[Fact | None] = [*values]
    while pending:
        known = pending.pop()
        if known is None:
            yield ""
        elif known.kind in ("list", "tuple"):
            pending += [known.each] if known.items is None else [item for _, item in known.items]
        elif known.kind not in ("none", "other", "slice"):
            yield known.precision
