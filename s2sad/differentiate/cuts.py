"""The parts of the adjoint of an array that was joined, and of a display, by their places."""

from __future__ import annotations

from s2sad.differentiate.builder import INDEX, LEN, Builder
from s2sad.ir import algebra
from s2sad.ir.nodes import Build, Call, Const, Expr, Op, Slice, Var
from s2sad.ir.sizes import number_of
from s2sad.ops.infer.common import axis_of
from s2sad.runtime.dicts import at_keys
from s2sad.runtime.linear import uncolumn_stack, unconcatenate, unhstack, unstack, unvstack

_AT_KEYS = Op("runtime", "at_keys", at_keys)
_CUTS = (unconcatenate, unstack, unhstack, unvstack, uncolumn_stack)


def by_place(make: Builder, display: Build, g: Expr, loose: set[str]) -> tuple[Expr, list[tuple[Expr, Expr]]]:
    """The adjoint of a display, and each item with its index there.

    It is a list where keys of a dict may be equal, with the number 0.0 for what was replaced: one of the ``loose``.
    """
    if display.kind != "dict":
        return g, [(Const(i), item) for i, item in enumerate(display.items)]
    keys, items = display.items[::2], display.items[1::2]
    if len({key.value for key in keys if isinstance(key, Const)}) < len(keys) > 1:
        g = make.let(make.fresh("~t_bar"), Call(_AT_KEYS, (g, Build("tuple", keys))))
        loose.add(g.name)
        keys = tuple(map(Const, range(len(keys))))
    return g, list(zip(keys, items, strict=True))


def cut(make: Builder, g: Expr) -> list[Expr] | None:
    """The parts of an adjoint that a call of the runtime would cut: ``g[:len(a)]`` and ``g[len(a):]``.

    Args:
        make: What is known of the operands.
        g: A call of `unconcatenate` or its like.

    Returns:
        A part for each operand; None where it is not known what they are, or they are of several dtypes.
    """
    if not (isinstance(g, Call) and g.op.function in _CUTS and isinstance(g.args[0], Var)):
        return None
    whole, operands = g.args[:2]
    ndim = make.fact(whole).ndim
    axis = _axis(g, ndim) if ndim else None
    facts = [make.fact(a) for a in operands.items] if isinstance(operands, Build) else []
    if axis is None or not isinstance(operands, Build) or not all(f.real and f.precision == "double" for f in facts):
        return None
    layers = [g.op.function is unstack or (f.ndim == 1 and ndim == 2) for f in facts]
    if not all(f.kind == "array" and (one or f.ndim == ndim) for f, one in zip(facts, layers, strict=True)):
        if g.op.function is not unstack or not all(f.kind in ("array", "scalar") for f in facts):
            return None
    parts: list[Expr] = []
    start: Expr = Const(0)
    for position, (operand, is_layer) in enumerate(zip(operands.items, layers, strict=True)):
        end = algebra.total(start, Const(1) if is_layer else _size(make, operand, axis))
        first, last = start == Const(0), position == len(facts) - 1
        place = start if is_layer else Slice(None if first else start, None if last else end, None)
        parts.append(Call(INDEX, (whole, Build("tuple", (*(algebra.WHOLE,) * axis, place)) if axis else place)))
        start = end
    # Three sizes that are added up are longer to read than the call.
    return parts if len(facts) <= 3 or isinstance(start, Const) else None


def _axis(g: Call, ndim: int) -> int | None:
    """The axis along which the operands lie one after the other."""
    if g.op.function in (unconcatenate, unstack):
        return axis_of(g.args[2] if len(g.args) > 2 else Const(0), ndim)
    return 0 if g.op.function is unvstack or (g.op.function is unhstack and ndim == 1) else 1


def _size(make: Builder, a: Expr, axis: int) -> Expr:
    """The size of an axis: a number where that is known."""
    fact = make.fact(a)
    number = number_of(fact.dims[axis]) if fact.dims is not None else None
    if number is not None:
        return Const(number)
    if fact.ndim == 1:
        return Call(LEN, (make.of_same_shape(a),))
    return Call(INDEX, (make.shape_of(a), Const(axis)))
