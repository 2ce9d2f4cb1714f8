"""``__array_wrap__`` of the user's subclasses of arrays: what becomes of the results of universal functions.

    r = a * b       is      r = a.__array_wrap__(the product, (np.multiply, (a, b), 0), False)

where ``a`` is the first operand of such a class.  What is found has NumPy's own class, and of one without axes the
last argument is true.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Sequence
from typing import Any

import gast
import numpy as np

from s2sad.ir.code import NONE, Constant, Operation, Region, Value, codes, inner
from s2sad.runtime.classes import does_as, static_member
from s2sad.transform.containers import called
from s2sad.transform.existing import guard_member, owner
from s2sad.transform.known import Abstract, NotSpecialisedError, Record, Row
from s2sad.transform.specialiser import Done, Frame, Specialiser

WRAP, FINALIZE = "__array_wrap__", "__array_finalize__"
#: The attributes of an array that are no arrays.
_PLAIN = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes"})
_NAME = gast.Name(id="getattr", ctx=gast.Load(), annotation=None, type_comment=None)
#: The universal functions that operators of arrays call, whatever the operands are.
_UFUNCS: dict[tuple[str, str], np.ufunc] = {
    ("binary", "+"): np.add, ("binary", "-"): np.subtract, ("binary", "*"): np.multiply,
    ("binary", "/"): np.true_divide, ("binary", "//"): np.floor_divide, ("binary", "%"): np.remainder,
    ("unary", "-"): np.negative, ("unary", "+"): np.positive, ("compare", "<"): np.less,
    ("compare", "<="): np.less_equal, ("compare", ">"): np.greater, ("compare", ">="): np.greater_equal,
    ("compare", "=="): np.equal, ("compare", "!="): np.not_equal,
}  # fmt: skip


def ufunc_of(kind: str, data: Any) -> np.ufunc | None:
    """The universal function that an operator of arrays calls; None where that depends on the operands."""
    return _UFUNCS.get((kind, data))


def wrapped(
    s: Specialiser,
    like: Record,
    found: Abstract,
    made_by: tuple[np.ufunc | None, Sequence[Abstract]] | None,
    number: int | None,
    op: Operation,
    frame: Frame,
) -> Done:
    """What ``__array_wrap__`` of an object makes of a result with a ``number`` of axes.

    It is told by which universal function it was ``made_by``, and of which operands, if it was one.

    Raises:
        NotSpecialisedError: where the number of axes is not known, or what the method asks for.
    """
    method = static_member(like.cls, WRAP)
    if not isinstance(method, types.FunctionType) or not _takes_all(method):
        raise NotSpecialisedError("subclass")
    if number is None:
        s.relied.asks_sizes = True
        raise NotSpecialisedError("axes")
    context: Abstract = NONE
    if made_by is not None and _reads(s, method, 2):
        ufunc, operands = made_by
        if ufunc is None:
            raise NotSpecialisedError("subclass")
        context = Row((s.outside(ufunc, ufunc.__name__), Row(tuple(operands)), Constant(0)))
    if number == 0:
        found = called(s, s.outside(np.asarray, "asarray"), [found], op, frame)
    if isinstance(found, Value):
        s.arrays.add(found)
        s.ranks[found] = number
    return _call(s, like, method, (found, context, Constant(number == 0)), op, frame)


def wrapped_alone(
    s: Specialiser, like: Record, found: Abstract, number: int | None, op: Operation, frame: Frame
) -> Done:
    """What ``__array_wrap__`` of an object makes of an array with a ``number`` of axes, of which it is told nothing."""
    method = static_member(like.cls, WRAP)
    if not isinstance(method, types.FunctionType) or not number or not isinstance(found, Value):
        raise NotSpecialisedError("subclass")
    s.arrays.add(found)
    s.ranks[found] = number
    return _call(s, like, method, (found,), op, frame)


def _call(
    s: Specialiser,
    like: Record,
    method: types.FunctionType,
    values: Sequence[Abstract],
    op: Operation,
    frame: Frame,
) -> Done:
    guard_member(s, like.cls, WRAP)
    args = [("", value) for value in (like, *values)]
    return s.call_function(s, method, args, op, frame, (owner(like.cls, WRAP), like))


def mean_of(a: Any, axis: Any = None) -> Any:
    """``np.mean`` of an object whose class has an ``__array_wrap__``: it gets the sum, and the quotient of that."""
    return np.sum(a, axis=axis) / int(np.size(a, axis))


#: What functions do that call ``__array_wrap__`` more than once.
MODELS: dict[Any, Any] = {np.mean: mean_of, np.ndarray.mean: mean_of}


def sees_nothing(s: Specialiser, cls: type) -> bool:
    """Whether ``__array_finalize__`` of a class does no more than give its object attributes, and raises nothing.

    Nobody sees then what it does to objects that are used for nothing.
    """
    method = static_member(cls, FINALIZE)
    if not isinstance(method, types.FunctionType):
        return True
    code = s.code(method)
    first = code.params[0].target if code.params else None
    found: dict[Any, str] = {}
    for op in inner(code.body):
        is_own = bool(op.operands) and op.operands[0] is first
        match op.kind:
            case "attribute" if is_own and op.data in _PLAIN:
                found[op.result] = op.data
            case "global" if op.data == "getattr" and s.home(method).resolver.lookup(_NAME)[1] is getattr:
                found[op.result] = op.data
            case "call" if found.get(op.operands[0]) == "getattr" and len(op.operands) == 4 and not any(op.data):
                pass
            case "set_attribute" if is_own and not does_as(static_member(cls, op.data), property):
                pass
            case "compare" if op.data in ("is", "is not"):
                pass
            case "item" if found.get(op.operands[0]) == "shape" and _is_tried(code.body, op):
                pass
            case "copy" | "if" | "try" | "global" if op.kind != "global" or op.data in ("IndexError", "Exception"):
                pass
            case _:
                return False
    return static_member(cls, "__setattr__") is object.__setattr__


def _is_tried(region: Region, item: Operation) -> bool:
    """Whether an operation stands in a ``try``."""
    parts = [r for op in region.operations for r in (op.regions[:1] if op.kind == "try" else op.regions)]
    tried = (o for op in region.operations if op.kind == "try" for o in inner(op.regions[0]))
    return any(o is item for o in tried) or any(_is_tried(part, item) for part in parts)


def _takes_all(method: types.FunctionType) -> bool:
    """Whether a method takes all that NumPy hands it."""
    try:
        inspect.signature(method).bind(None, None, None, False)
    except TypeError:
        return False
    return True


def _reads(s: Specialiser, method: types.FunctionType, number: int) -> bool:
    """Whether a method reads one of its parameters."""
    code = s.code(method)
    if len(code.params) <= number:
        return True
    target = code.params[number].target
    users = (o for made in codes(code) for o in inner(made.body))
    return any(target in o.operands or o.data is target for o in users) or target in code.body.exit.operands
