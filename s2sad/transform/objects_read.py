"""The functions and modules that the operations of a `Code` read by global names."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from s2sad.ir.code import Operand, Operation, Value

#: The object behind a global name; None if it isn't known.
Lookup = Callable[[str], Any]
#: Methods of built-in containers and of arrays.
METHODS = frozenset(
    name
    for cls in (list, dict, set, str, np.ndarray)
    for name in dir(cls)
    if name[:1] != "_" and callable(getattr(cls, name))
)


def object_of(operand: Operand, made: Mapping[Value, Operation], lookup: Lookup) -> Any:
    """The object that an operand is, if it is read from a global name or a module; None if it isn't known.

    Args:
        operand: The operand.
        made: The operation that makes each value.
        lookup: What global names mean.

    Example:
        >>> a, b = Value(), Value()
        >>> made = {a: Operation("global", (), (a,), "np"), b: Operation("attribute", (a,), (b,), "zeros")}
        >>> object_of(b, made, {"np": np}.get) is np.zeros
        True
    """
    op = made.get(operand) if isinstance(operand, Value) else None
    if op is None:
        return None
    if op.kind == "global":
        return lookup(op.data)
    if op.kind == "attribute":
        module = object_of(op.operands[0], made, lookup)
        if isinstance(module, (types.ModuleType, np.ufunc)):
            return getattr(module, op.data, None)
    return None


def may_be_read_later(op: Operation, made: Mapping[Value, Operation], lookup: Lookup) -> bool:
    """Whether an operation that stands before others gives the same after them.

    So do reads of known functions and modules, and of methods of built-in containers and arrays, and lambdas.
    """
    if len(op.results) != 1 or op.results[0].name:
        return False
    if (op.kind == "attribute" and op.data in METHODS) or (op.kind == "lambda" and not op.operands):
        return True
    if op.kind not in ("global", "attribute"):
        return False
    found = object_of(op.results[0], made, lookup)
    return callable(found) or isinstance(found, types.ModuleType)
