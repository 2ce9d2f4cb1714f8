"""How many axes arrays have that the program asks for it: ``if a.ndim != 1: raise ValueError``.

After that an array has so many.  So has what it was copied from, if that is what it was still: this is checked
where it is relied on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from s2sad.ir.code import Constant, Operand, Operation, Value

if TYPE_CHECKING:
    from s2sad.transform.specialiser import Specialiser

_COPYING = (np.array, np.asarray)


def asked(s: Specialiser, test: Operand) -> tuple[Value, int, bool] | None:
    """The array of which a condition asks how many axes it has, a number, and whether it holds if there are so many."""
    made = _maker(s, test)
    if made is None or made.kind != "compare" or made.data not in ("==", "!="):
        return None
    left, right = made.operands
    asking = _maker(s, left)
    number = right.value if isinstance(right, Constant) else None
    if asking is None or asking.kind != "attribute" or asking.data != "ndim" or type(number) is not int:
        return None
    array = asking.operands[0]
    return (array, number, made.data == "==") if isinstance(array, Value) else None


def of(s: Specialiser, array: Operand) -> int | None:
    """How many axes an array of NumPy's own class has, if that is known."""
    if not isinstance(array, Value) or array not in s.arrays:
        return None
    fact = s.types.get(array) or s.scalars.get(array)
    return s.ranks.get(array) if fact is None or fact.kind != "array" else fact.ndim


def wrote(s: Specialiser, op: Operation, operands: Sequence[Operand], results: Sequence[Value]) -> None:
    """Take notice of what an operation of the new program gives of an array with a known number of axes."""
    if op.kind == "attribute" and op.data == "ndim" and (number := of(s, operands[0])) is not None:
        s.constants[results[0]] = Constant(number)
        s.needless.add(results[0])
    elif op.kind in ("binary", "unary") and op.data != "not":
        known = [o in s.numbers or (isinstance(o, Constant) and isinstance(o.value, (int, float))) for o in operands]
        s.numbers.update(results if all(known) else ())
    elif op.kind == "call" and len(operands) == 2 and (number := of(s, operands[1])) is not None:
        if any(s.paths.get(operands[0]) is one for one in _COPYING):  # type: ignore[arg-type]
            s.ranks[results[0]] = number


def note(s: Specialiser, array: Value, number: int) -> None:
    """Take notice that an array has so many axes."""
    s.ranks[array] = number
    if (source := source_of(s, array)) is not None:
        s.ranks[source] = number


def source_of(s: Specialiser, array: Operand) -> Value | None:
    """What an array is a copy of, or the same as."""
    made = _maker(s, array)
    while made is not None and made.kind == "copy":
        made = _maker(s, made.operands[0])
    if made is None or made.kind != "call" or len(made.operands) != 2:
        return None
    function, source = s.paths.get(made.operands[0]), made.operands[1]  # type: ignore[arg-type]
    return source if any(function is one for one in _COPYING) and isinstance(source, Value) else None


def _maker(s: Specialiser, operand: Operand) -> Operation | None:
    return next((op for op in reversed(s.out) if operand in op.results), None) if isinstance(operand, Value) else None
