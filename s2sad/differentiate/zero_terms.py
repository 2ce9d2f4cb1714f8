"""The bodies of rules for tangents without the terms that are zero, and calls without options that say nothing."""

from __future__ import annotations

from dataclasses import replace

from s2sad import ops
from s2sad.ir import algebra
from s2sad.ir.nodes import Call, Const, Expr, Var
from s2sad.ir.traverse import names_in
from s2sad.ops.spec import Rule


def without_zeros(expr: Expr, gone: set[str]) -> Expr | None:
    """An expression without the terms in which a factor is zero; None if nothing is left."""
    match expr:
        case Var(name=name):
            return None if name in gone else expr
        case Call(op=op, args=args) if gone.isdisjoint(names_in(expr)):
            return expr
        case Call(op=op, args=args) if op.kind == "operator":
            parts = [without_zeros(a, gone) for a in args]
            if op.name in ("+", "-") and len(args) == 2:
                left, right = parts
                if left is None and right is not None and op.name == "-":
                    return algebra.negate(right)
                if left is None or right is None:
                    return left if right is None else right
                return Call(op, (left, right))
            if op.name in ("*", "@") and any(p is None for p in parts):
                return None
            if parts[0] is None and (op.name == "/" or len(args) == 1):
                return None
            return expr
        case Call(op=op, args=args):
            spec = ops.spec_of(op.function)
            parts = [without_zeros(a, gone) for a in args]
            if isinstance(spec, Rule) and spec.kind in ("linear", "bilinear") and not spec.offsets:
                left_of = dict(zip(spec.parameters, parts, strict=False))
                zero = [n for n in spec.wrt if n in left_of and left_of[n] in (None, Const(0))]
                if None in left_of.values() and (spec.kind == "bilinear" or len(zero) == len(spec.wrt)):
                    return None
            return replace(expr, args=tuple([a if p is None else p for a, p in zip(args, parts, strict=True)]))
        case _:
            return expr


def without_defaults(expr: Expr) -> Expr:
    """A call without the options that have their default values."""
    if not isinstance(expr, Call) or not expr.kwargs:
        return expr
    spec = ops.spec_of(expr.op.function)
    known = spec.defaults if spec is not None else {}
    kept = [(k, v) for k, v in expr.kwargs if not (k in known and isinstance(v, Const) and v.value == known[k])]
    return replace(expr, kwargs=tuple(kept))
