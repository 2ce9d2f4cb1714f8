"""Whether the result of an operation is an object of its own, or may be or view one of its operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from s2sad import ops
from s2sad.ir.nodes import Call, Const, Expr, Function
from s2sad.ir.traverse import expressions, subexpressions, walk
from s2sad.ir.types import Fact, has_objects, some_item
from s2sad.ops.binding import UNNAMED, argument, dtype_of, given
from s2sad.ops.infer.dtypes import is_of_objects


def may_view(function: object) -> bool:
    """Whether a function gives a view or a copy with the elements in the same order.

    The shadow, of the same layout, goes the same way.
    """
    spec = ops.spec_of(function)
    return spec is not None and spec.result == "maybe_view"


def copies(index: Expr, fact: Callable[[Expr], Fact]) -> bool:
    """Whether indexing an array so surely gives a copy: by a mask or positions."""
    known = fact(index)
    parts = [part for _, part in known.items or ()] if known.kind == "tuple" else [known]
    return any(map(_are_positions, parts))


def _takes_copy(call: Call, fact: Callable[[Expr], Fact]) -> bool:
    """Whether an item of what surely is an array, or one of NumPy's numbers, surely is a copy."""
    whole, index = map(fact, call.args)
    if whole.kind == "numeric" and index.boolean == "mask" and not whole.owners:
        return True
    return whole.kind == "array" and copies(call.args[1], fact)


def _are_positions(part: Fact) -> bool:
    """Whether a part of an index is an array, list or tuple of positions, or a mask."""
    is_array = part.kind == "array" and (part.ndim or 0) > 0
    return is_array or part.kind in ("list", "tuple") or part.boolean == "mask"


def sharing(call: Call, fact: Callable[[Expr], Fact] | None = None) -> Literal["fresh", "view", "maybe"]:
    """Whether the result of an operation is an object of its own, a view of its first operand, or maybe one.

    With ``fact`` the answer is for its operands.
    """
    op = call.op
    if op.kind in ("operator", "compare"):
        return "fresh"
    if op.kind == "index" and fact is not None and _takes_copy(call, fact):
        return "fresh"
    if op.kind == "attribute":
        known = ops.attribute(op.name)
        return "view" if known is None or known.constant or known.result == "view" else "maybe"
    if op.checked == "fresh":
        return "fresh"
    if op.kind in ("index", "inplace", "change", "ifexp", "bool", "user", "met"):
        return "maybe"
    of_operands = fact if op.kind in ("function", "method") else None
    if of_operands is not None and any(has_objects(of_operands(a)) for a in call.args):
        # What seems a new array, or a number, is an object that it has, or has the same objects.
        return "maybe"
    dtype = dtype_of(call) if of_operands is not None else None
    if of_operands is not None and dtype is not None and is_of_objects(dtype, of_operands):
        return "maybe"
    spec = ops.spec_of(op.function)
    result = spec.closer(call, fact) if spec is not None and spec.closer is not None else None
    form = ops.form_of("method", op.name) if op.kind == "method" else None
    if form is not None and form.result is not None:
        result = form.result
    if result is None:
        copy = argument(call, "copy")
        if (copy is not None and copy != Const(True)) or any(name.startswith(UNNAMED) for name in given(call)):
            return "maybe"
        result = "fresh" if isinstance(op.function, np.ufunc) else "unknown" if spec is None else spec.result
    if result in ("view", "maybe_view") and op.kind == "function" and fact is not None and call.args:
        operand = fact(call.args[0])
        is_number = operand.kind == "scalar" and not operand.boxed
        if is_number or (operand.kind in ("list", "tuple", "record") and not operand.owners):
            # NumPy makes an array of it first.
            return "fresh"
    return result if result in ("fresh", "view") else "maybe"


def keeps_items(call: Call, fact: Callable[[Expr], Fact]) -> bool:
    """Whether an operation copies what may be a container, and holds the same objects as that does."""
    if call.op.kind != "method" or call.op.name != "copy":
        return False
    whole = fact(call.args[0])
    return not whole.numeric and (whole.kind not in ("list", "dict") or may_hold_objects(whole))


def views_first(call: Call) -> bool:
    """Whether a function gives a view of its first operand, or a copy of it, and nothing of what else it is given."""
    spec = ops.spec_of(call.op.function) if call.op.kind == "function" else None
    if spec is None or spec.result not in ("view", "maybe_view") or spec.variadic is not None or not call.args:
        return False
    return not spec.writes and "out" not in given(call) and not any(name.startswith(UNNAMED) for name in given(call))


def held_operands(call: Call) -> tuple[Expr, ...]:
    """The operands that a result may be, view or hold: a dtype, and axes, an order or a shape of a view, are read."""
    if views_first(call):
        return call.args[:1]
    operands = (*call.args, *(value for _, value in call.kwargs))
    spec = ops.spec_of(call.op.function)
    if spec is None:
        return operands
    return () if spec.result == "repeated" else tuple([a for a in operands if a is not dtype_of(call)])


def reshapes_itself(function: Function) -> bool:
    """Whether a function calls an operation that may view or copy an array, or orders it, as its layout has it."""
    return any(
        isinstance(inner, Call)
        and may_view(inner.op.function)
        and (sharing(inner) != "fresh" or argument(inner, "order") not in (None, Const("C"), Const("F")))
        for stmt in walk(function.body)
        for expr in expressions(stmt)
        for inner in subexpressions(expr)
    )


def may_hold_objects(whole: Fact) -> bool:
    """Whether a list or tuple may hold anything but numbers and texts, which nothing writes into."""
    item = some_item(whole)
    return item is None or not item.immutable
