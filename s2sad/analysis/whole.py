"""Expressions that stay whole as expressions in the IR, as far as these say what type they have."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from s2sad.frontend.operators import BINARY
from s2sad.ir.nodes import PLAIN_NAME, Call, Const, Expr, Global, Op, Opaque, Slice, Var

_INDEX = Op("index", "[]")


def taken_apart(whole: Opaque) -> Expr | None:
    """An expression of the same type, of names, subscripts and operators; None where there is none."""
    found = _expr(whole.node, dict(whole.names))
    return None if isinstance(found, Opaque) else found


def _expr(node: ast.expr, names: Mapping[str, str]) -> Expr:
    match node:
        case ast.Name(id=name):
            return Var(names[name]) if name in names else Global(name)
        case ast.Constant(value=value):
            return Const(value)
        case ast.Attribute(value=whole, attr=attribute):
            # An attribute of a variable of the module, which may be one of its classes.
            held = _expr(whole, names)
            return (
                Global(f"{held.text}.{attribute}") if isinstance(held, Global) else Opaque(node, tuple(names.items()))
            )
        case ast.Call(func=ast.Name(id=name), args=[checked, *_]) if name == PLAIN_NAME:
            return _expr(checked, names)
        case ast.Subscript(value=whole, slice=ast.Slice(lower, upper, step)):
            bounds = [None if b is None else _expr(b, names) for b in (lower, upper, step)]
            return Call(_INDEX, (_expr(whole, names), Slice(*bounds)))
        case ast.Subscript(value=whole, slice=index):
            return Call(_INDEX, (_expr(whole, names), _expr(index, names)))
        case ast.BinOp(left=left, op=op, right=right):
            sign, function = BINARY[type(op).__name__]
            return Call(Op("operator", sign, function), (_expr(left, names), _expr(right, names)))
    return Opaque(node, tuple(names.items()))
